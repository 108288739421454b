package pgdb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// A function in another language passes when the operator vouches for it with the types
// of its arguments, and no other function of its name does.
func TestTrustedFunctions(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres(t).NewDatabase(t, `CREATE TYPE mood AS ENUM ('ok');
		CREATE FUNCTION score(n int, t text) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN n; END';
		CREATE FUNCTION score(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN n; END';
		CREATE FUNCTION tags(t text[], m mood) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
		CREATE FUNCTION owned(n int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN n; END';
		CREATE FUNCTION calls(n int) RETURNS int LANGUAGE sql STABLE AS 'SELECT public.score(n, ''a'')';
		CREATE PROCEDURE proc(n int) LANGUAGE plpgsql AS 'BEGIN END'`)
	catalog, err := open(t, url, pgdb.Config{Objects: true, SearchPath: []string{"public"}}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check := func(trusted, allowed []string, sql string) sqlguard.Verdict {
		t.Helper()
		p := sqlguard.DefaultPolicy()
		p.Trusted, p.Functions.Allow = trusted, allowed
		g, err := sqlguard.New(postgres.Dialect{}, p, catalog)
		if err != nil {
			t.Fatal(err)
		}
		return g.Check(sql)
	}
	both := []string{"public.score(integer, text)", "public.tags(text[], public.mood)", "public.owned(int4)"}
	for _, sql := range []string{"SELECT score(1, 'a')", "SELECT public.score(1, 'a')", "SELECT tags('{a}', 'ok'::mood)"} {
		if v := check(both, nil, sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
		if v := check(nil, []string{"public.score", "public.tags"}, sql); v.Allowed || !strings.Contains(v.Findings[0].Message, "plpgsql") && !strings.Contains(v.Findings[0].Message, "VOLATILE") {
			t.Errorf("%s without trust: %v %+v", sql, v.Allowed, v.Findings)
		}
	}
	if v := check(both, []string{"public.calls"}, "SELECT calls(1)"); !v.Allowed {
		t.Errorf("a function in SQL that calls a trusted one: %+v", v.Findings)
	}
	for _, sql := range []string{"SELECT score(1)", "SELECT owned(1)", "SELECT calls(1)"} {
		if v := check(both, nil, sql); v.Allowed {
			t.Errorf("%s passes", sql)
		}
	}
	for _, trusted := range []string{"public.score(text, integer)", "public.score(integer)", "other.score(integer, text)", "public.score()", "public.tags(text, mood)"} {
		if v := check([]string{trusted}, nil, "SELECT score(1, 'a')"); v.Allowed {
			t.Errorf("trusting %s lets score(1, 'a') pass", trusted)
		}
	}
	for _, wrong := range []string{"public.score", "score(int)", "public.score(int", "public.s*(int)", "public.score(,)"} {
		p := sqlguard.DefaultPolicy()
		p.Trusted = []string{wrong}
		if p.Validate() == nil {
			t.Errorf("%q is valid", wrong)
		}
	}
}

// A function of an extension passes with the schema of the extension, without a
// catalogue of objects too.
func TestExtensionsBySchema(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres(t).NewDatabase(t, `CREATE SCHEMA extensions; CREATE EXTENSION "uuid-ossp" SCHEMA extensions; CREATE EXTENSION pgcrypto`)
	catalog, err := open(t, url, pgdb.Config{SearchPath: []string{"public"}}).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), catalog)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{
		"SELECT extensions.uuid_generate_v4()": true, "SELECT public.digest('a', 'sha256')": true, "SELECT digest('a', 'sha256')": true,
		"SELECT public.uuid_generate_v4()": false, "SELECT uuid_generate_v4()": false, "SELECT public.crypt('a', 'b')": false,
	} {
		if v := g.Check(sql); v.Allowed != want {
			t.Errorf("%s: allowed %v: %+v", sql, v.Allowed, v.Findings)
		}
	}
}
