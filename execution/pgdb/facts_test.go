package pgdb_test

import (
	"slices"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// A generated column shows the column that it is computed from, a function that gets a row
// and is read as a column shows all of its columns, and the name of an extension's function
// can be a user's own where the extension is missing.
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
		`CREATE FUNCTION label(people) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1.secret'`,
		`CREATE FUNCTION shown(anyelement, text DEFAULT '') RETURNS text LANGUAGE sql STABLE AS 'SELECT $1::text'`,
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
			"SELECT p.label FROM people p": "", "SELECT people.shown FROM people": "", "SELECT x.l FROM people p, LATERAL (SELECT p.label AS l) x": "",
			"SELECT p.num_nulls FROM people p": sqlguard.CodeColumnNotAllowed, "SELECT p.pg_column_size FROM people p": sqlguard.CodeColumnNotAllowed,
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
		for _, sql := range []string{"SELECT short, name FROM people", "SELECT p.short, people.name FROM people AS p, people", "SELECT o.label FROM (SELECT name AS label FROM people) AS o", "SELECT similarity(name, 'x') FROM people", "SELECT gen_random_uuid()"} {
			if v := guard.Check(sql); !v.Allowed {
				t.Errorf("objects %t: %s: %v", objects, sql, v.Findings)
			}
		}
	}
}

// TestRasterFact: the server tells whether a raster can name a file. A stand-in for the
// extension takes the place of PostGIS.
func TestRasterFact(t *testing.T) {
	for setting, closed := range map[string]bool{"off": true, "on": false, "": false} {
		statements := []string{
			`CREATE SCHEMA "g i's"`,
			`CREATE FUNCTION "g i's".postgis_raster_lib_version() RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT '3'$$`,
			`SET allow_system_table_mods = on`,
			`INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
				SELECT 1, 'postgis_raster', n.nspowner, n.oid, false, '3' FROM pg_namespace AS n WHERE nspname = 'g i''s'`,
		}
		if setting != "" {
			statements = append(statements, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET postgis.enable_outdb_rasters = `+setting+`', current_database()); END $$`)
		}
		url := testdb.Postgres(t).NewDatabase(t, statements...)
		catalog, err := open(t, url, pgdb.Config{}).Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(catalog.Closed, "postgis_raster"); got != closed || catalog.ExtensionSchemas["postgis_raster"] != "g i's" {
			t.Errorf("%q: closed %t, want %t (%v)", setting, got, closed, catalog.ExtensionSchemas)
		}
	}
}
