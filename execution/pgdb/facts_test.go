package pgdb_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// A generated column shows the column that it is computed from, and the name of an
// extension's function can be a user's own where the extension is missing.
func TestFacts(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t, `CREATE TABLE people (
			id int, name text, secret text,
			loud text GENERATED ALWAYS AS (upper(secret)) STORED,
			both_ text GENERATED ALWAYS AS (name || secret) STORED,
			short text GENERATED ALWAYS AS (left(name, 3)) STORED
		)`,
		`CREATE TABLE heirs (own text GENERATED ALWAYS AS (lower(secret)) STORED) INHERITS (people)`,
		`CREATE FUNCTION is_valid(text) RETURNS bool LANGUAGE sql AS 'DELETE FROM people RETURNING true'`,
		`CREATE FUNCTION digest(text, text) RETURNS text LANGUAGE sql AS 'SELECT secret FROM people'`,
		`CREATE EXTENSION IF NOT EXISTS pg_trgm`)
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "public.people.secret"}}
	for _, objects := range []bool{false, true} {
		client := open(t, url, pgdb.Config{Objects: objects})
		catalog, err := client.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		guard, err := sqlguard.New(postgres.Dialect{}, policy, catalog)
		if err != nil {
			t.Fatal(err)
		}
		refused := map[string]sqlguard.Code{
			"SELECT loud FROM people": sqlguard.CodeColumnNotAllowed, "SELECT count(*) FROM people WHERE both_ LIKE 'x%'": sqlguard.CodeColumnNotAllowed,
			"SELECT is_valid('x')": "", "SELECT digest('a', 'b')": "", "SELECT vector_norm('[1]')": sqlguard.CodeUnresolvedObject,
		}
		if objects {
			refused["SELECT own FROM heirs"] = sqlguard.CodeColumnNotAllowed
			refused["SELECT loud FROM heirs"] = sqlguard.CodeColumnNotAllowed
		}
		for sql, code := range refused {
			if v := guard.Check(sql); v.Allowed || code != "" && v.Code != code {
				t.Errorf("objects %t: %s: %v, want %q", objects, sql, v.Findings, code)
			}
		}
		for _, sql := range []string{"SELECT short, name FROM people", "SELECT similarity(name, 'x') FROM people", "SELECT gen_random_uuid()"} {
			if v := guard.Check(sql); !v.Allowed {
				t.Errorf("objects %t: %s: %v", objects, sql, v.Findings)
			}
		}
	}
}
