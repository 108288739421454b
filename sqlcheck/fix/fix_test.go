package fix_test

import (
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck/fix"
	"github.com/ktxhq/ktx/sqlguard"
)

func guardOf(t *testing.T, dialect string) *sqlguard.Guard {
	t.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		t.Fatal(dialect)
	}
	g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dialect, sql, want string }{
		{"postgres", "SELECT id FROM orders ORDER BY id LIMIT 5, 10", "SELECT id FROM orders ORDER BY id LIMIT 10 OFFSET 5"},
		{"postgres", "SELECT 1;\nSELECT `id` FROM `orders` LIMIT 5,10;", "SELECT 1;\nSELECT \"id\" FROM \"orders\" LIMIT 10 OFFSET 5;"},
		{"postgres", "SELECT `Id` FROM orders", ""},
		{"postgres", "SELECT 'LIMIT 5, 10' -- LIMIT 5, 10", ""},
		{"postgres", "DELETE FROM orders LIMIT 5, 10", ""},
		{"postgres", "SELECT id FROM orders LIMIT 5, 10 WHERE", ""},
		{"postgres", "\uFEFF-- café\r\nSELECT id FROM orders LIMIT 5, 10;\r\n", "\uFEFF-- café\r\nSELECT id FROM orders LIMIT 10 OFFSET 5;\r\n"},
		{"postgres", "SELECT id /* of */ FROM orders LIMIT 5, 10 -- ten", "SELECT id /* of */ FROM orders LIMIT 10 OFFSET 5 -- ten"},
		{"postgres", "SELECT id FROM orders LIMIT 5 /* skipped */, 10", ""},
		{"mysql", "SELECT id FROM orders LIMIT 5, 10", ""},
		{"mysql", "SELECT id FROM orders OFFSET 5 LIMIT 10", "SELECT id FROM orders LIMIT 10 OFFSET 5"},
		{"mysql", "SELECT id FROM orders WHERE id == 1", "SELECT id FROM orders WHERE id = 1"},
		{"sqlite", "SELECT id FROM orders FETCH FIRST 3 ROWS ONLY", "SELECT id FROM orders LIMIT 3"},
		{"sqlite", "SELECT id FROM orders WHERE id == 1", ""},
		{"sqlserver", "SELECT id FROM orders ORDER BY id LIMIT 10", "SELECT id FROM orders ORDER BY id OFFSET 0 ROWS FETCH NEXT 10 ROWS ONLY"},
		{"sqlserver", "SELECT id FROM orders LIMIT 10", ""},
		{"sqlserver", "SELECT id FROM orders ORDER BY id LIMIT 0", ""},
		{"sqlserver", "SELECT TOP 3 id FROM orders ORDER BY id LIMIT 10", ""},
	} {
		guard := guardOf(t, c.dialect)
		edits := fix.Text(guard, c.sql)
		want := c.want
		if want == "" {
			want = c.sql
		}
		if got := fix.Apply(c.sql, edits); got != want {
			t.Errorf("%s: %s\n got %s\nwant %s (%s)", c.dialect, c.sql, got, want, guard.CheckOnce(want).Code)
		}
	}
}

// TestNothingRefusedIsFixed: no case that must be refused becomes one that is
// allowed, except where the text was not readable and its meaning is the same.
func TestNothingRefusedIsFixed(t *testing.T) {
	t.Parallel()
	guards := map[string]*sqlguard.Guard{}
	for _, d := range dialects.All() {
		guards[d.Name()] = guardOf(t, d.Name())
	}
	for _, c := range corpus.Cases() {
		if c.Expect != corpus.Reject || guards[c.Dialect] == nil || c.Effect.Kind == "none" {
			continue
		}
		if edits := fix.Statement(guards[c.Dialect], c.SQL); len(edits) > 0 {
			t.Errorf("%s would become %s", c.ID, fix.Apply(c.SQL, edits))
		}
	}
}
