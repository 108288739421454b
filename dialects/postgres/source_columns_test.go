package postgres_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestSourceColumns checks that no form of a query shows the text of views, and that
// queries on other columns pass.
func TestSourceColumns(t *testing.T) {
	t.Parallel()
	g, err := sqlguard.New(postgres.Dialect{}, sqlguard.Policy{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]sqlguard.Code{
		"SELECT definition FROM pg_views":                                   sqlguard.CodeColumnNotAllowed,
		"SELECT d FROM pg_views AS v(a, b, c, d)":                           sqlguard.CodeColumnNotAllowed,
		"SELECT v.d FROM (TABLE pg_views) v(a, b, c, d)":                    sqlguard.CodeColumnNotAllowed,
		"SELECT v.d FROM (SELECT * FROM pg_views) v(a, b, c, d)":            sqlguard.CodeColumnNotAllowed,
		"SELECT x.* FROM pg_views v, LATERAL (SELECT v.*) x":                sqlguard.CodeColumnNotAllowed,
		"SELECT x.* FROM (pg_views CROSS JOIN a) j, LATERAL (SELECT j.*) x": sqlguard.CodeColumnNotAllowed,
		"SELECT (SELECT v) FROM pg_views v":                                 sqlguard.CodeColumnNotAllowed,
		"SELECT tgargs FROM pg_trigger":                                     sqlguard.CodeColumnNotAllowed,
		"SELECT tgqual FROM pg_trigger":                                     sqlguard.CodeColumnNotAllowed,
		"SELECT * FROM pg_trigger":                                          sqlguard.CodeColumnNotAllowed,
		"SELECT encode(t.tgargs, 'escape') FROM pg_trigger t":               sqlguard.CodeColumnNotAllowed,
		"SELECT action_statement FROM information_schema.triggers":          sqlguard.CodeColumnNotAllowed,
		"SELECT action_condition FROM information_schema.triggers":          sqlguard.CodeColumnNotAllowed,
		"SELECT pg_get_triggerdef(oid) FROM pg_trigger":                     sqlguard.CodeFunctionNotAllowed,
		"SELECT pg_get_triggerdef(oid, true) FROM pg_trigger":               sqlguard.CodeFunctionNotAllowed,
		"SELECT tgname, tgenabled FROM pg_trigger":                          "",
		"SELECT trigger_name FROM information_schema.triggers":              "",
		"SELECT viewname FROM pg_views":                                     "",
		"SELECT count(*) FROM pg_views":                                     "",
		"SELECT q.* FROM (SELECT viewname FROM pg_views) q":                 "",
		"SELECT * FROM a, (SELECT viewname FROM pg_views) q":                "",
	} {
		if v := g.Check(sql); v.Code != want {
			t.Errorf("%s: %q, want %q: %v", sql, v.Code, want, v.Findings)
		}
	}
}
