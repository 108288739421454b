package pgdb_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// The guard knows members of reviewed extensions by their extension, in
// whichever schema it is installed. The names of such members mean nothing when
// the extension is not installed in the database.
func TestExtensionsAreKnown(t *testing.T) {
	extensions := []struct {
		name    string
		allowed []string // "@." is replaced by the schema and a dot, or by nothing
		refused map[string]sqlguard.Code
	}{
		{"citext", []string{
			"SELECT 'A'::@.citext OPERATOR(@.=) 'a'::@.citext", "SELECT @.replace('A'::@.citext, 'a', 'b')",
			"SELECT c, c::text AS t, lower(c), to_json(c) FROM words WHERE c = 'A' AND c IN ('a', 'b') ORDER BY c",
		}, nil},
		{"hstore", []string{"SELECT @.hstore('a', 'b') OPERATOR(@.->) 'a'", "SELECT (@.each('a=>1'::@.hstore)).key", "SELECT '{}'::text || 'a', '{1}'::int[] || 2"}, nil},
		{"pg_trgm", []string{"SELECT @.similarity('a', 'b')", "SELECT 'a' OPERATOR(@.<->) 'b'", "SELECT 'a' LIKE 'b'"}, map[string]sqlguard.Code{
			"SELECT @.set_limit(0.1)": sqlguard.CodeFunctionSideEffect,
		}},
		{"ltree", []string{"SELECT 'a.b'::@.ltree OPERATOR(@.<@) 'a'::@.ltree", "SELECT @.nlevel('a.b')"}, nil},
		{"intarray", []string{"SELECT @.idx('{1,2}', 2)", "SELECT '{1}'::int[] && '{2}'::int[]", "SELECT id = ANY ('{1,2}') FROM words"}, nil},
		{"btree_gist", []string{"SELECT id FROM words WHERE id = 1"}, nil},
		{"cube", []string{"SELECT @.cube(1)"}, nil},
		{"isn", []string{"SELECT id, '978-0-393-04002-9'::@.isbn FROM words WHERE id = 1 AND id < 2"}, nil},
		{"unaccent", []string{"SELECT @.unaccent('a')"}, nil},
		{"fuzzystrmatch", []string{"SELECT @.levenshtein('a', 'b')"}, nil},
		{"pgcrypto", []string{"SELECT @.digest('a', 'sha256')"}, map[string]sqlguard.Code{"SELECT @.crypt('a', 'b')": sqlguard.CodeFunctionNotAllowed}},
		{"tablefunc", []string{"SELECT * FROM @.normal_rand(1, 2, 3)"}, map[string]sqlguard.Code{"SELECT * FROM @.crosstab('SELECT 1, 2, 3') AS c (a int, b int)": sqlguard.CodeDynamicSQL}},
		{"dblink", nil, map[string]sqlguard.Code{"SELECT @.dblink_connect('x')": sqlguard.CodeFunctionNetworkAccess}},
		{"lo", nil, map[string]sqlguard.Code{"SELECT @.lo_oid(1)": sqlguard.CodeFunctionNotAllowed}},
		{"pg_stat_statements", nil, map[string]sqlguard.Code{"SELECT query FROM @.pg_stat_statements": sqlguard.CodeCredentialRelation}},
	}
	for _, schema := range []string{"public", "ext"} {
		url := testdb.Postgres(t).NewDatabase(t, "CREATE SCHEMA ext")
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		client := open(t, url, pgdb.Config{Objects: true, SearchPath: []string{"public", schema}})
		guardNow := func() *sqlguard.Guard {
			catalog, err := client.Catalog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			guard, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), catalog)
			if err != nil {
				t.Fatal(err)
			}
			return guard
		}
		missing := guardNow()
		installed := map[string]bool{}
		for _, e := range extensions {
			if _, err := conn.Exec(t.Context(), "CREATE EXTENSION "+`"`+e.name+`" SCHEMA `+schema); err != nil {
				t.Logf("%s is not available here: %v", e.name, err)
				continue
			}
			installed[e.name] = true
		}
		column := "text"
		if installed["citext"] {
			column = schema + ".citext"
		}
		if _, err := conn.Exec(t.Context(), "CREATE TABLE words (id int, c "+column+"); SET search_path = public, "+schema, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		guard, checked := guardNow(), 0
		for _, e := range extensions {
			if !installed[e.name] {
				continue
			}
			for _, prefix := range []string{"", schema + "."} {
				for _, text := range e.allowed {
					sql := strings.ReplaceAll(text, "@.", prefix)
					checked++
					if v := guard.Check(sql); !v.Allowed {
						t.Errorf("%s in %s: %s: %v", e.name, schema, sql, v.Findings)
					} else if _, err := conn.Exec(t.Context(), sql); err != nil {
						t.Errorf("%s in %s: %s: %v", e.name, schema, sql, err)
					}
				}
				for text, code := range e.refused {
					sql := strings.ReplaceAll(text, "@.", prefix)
					checked++
					if v := guard.Check(sql); v.Code != code {
						t.Errorf("%s in %s: %s: got %q %v, want %q", e.name, schema, sql, v.Code, v.Findings, code)
					}
				}
			}
		}
		if checked == 0 {
			t.Error("the server has none of the extensions")
		}
		for _, sql := range []string{"SELECT similarity('a', 'b')", "SELECT 'a'::citext", "SELECT " + schema + ".nlevel('a')"} {
			if v := missing.Check(sql); v.Code != sqlguard.CodeUnresolvedObject {
				t.Errorf("without the extension: %s: got %q %v", sql, v.Code, v.Findings)
			}
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
