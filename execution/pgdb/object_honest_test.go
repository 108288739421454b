package pgdb_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// honestTables are tables as applications create them. Each can be read without
// any function on an allow list.
var honestTables = []struct{ extension, sql string }{
	{"", "CREATE INDEX ON honest (lower(email)); CREATE UNIQUE INDEX ON honest (email) WHERE deleted IS NULL"},
	{"", "CREATE INDEX ON honest (((data ->> 'x')::int)); CREATE INDEX ON honest ((data -> 'a' ->> 'b')) WHERE data ? 'a'; CREATE INDEX ON honest USING gin (data jsonb_path_ops)"},
	{"", "CREATE INDEX ON honest (date_trunc('day', at AT TIME ZONE 'UTC')); CREATE INDEX ON honest (extract(year FROM at AT TIME ZONE 'UTC'))"},
	{"", "CREATE INDEX ON honest USING gin (to_tsvector('english', coalesce(email, '') || ' ' || coalesce(title, '')))"},
	{"", "CREATE TYPE state AS ENUM ('new', 'paid'); ALTER TABLE honest ADD state state DEFAULT 'new' CHECK (state = 'new' OR paid); CREATE INDEX ON honest (id) WHERE state IN ('new', 'paid'); CREATE INDEX ON honest (id) WHERE state = 'new' OR NOT paid"},
	{"", "ALTER TABLE honest ADD CHECK (total >= 0), ADD CHECK (email ~* '^[^@]+@[^@]+$'), ADD CHECK (paid OR total IS NULL OR total BETWEEN 0 AND 1000)"},
	{"", "CREATE DOMAIN zip AS text CHECK (VALUE ~ '^\\d{5}$'); ALTER TABLE honest ADD zip zip; CREATE INDEX ON honest (zip) WHERE zip <> '00000'; ALTER TABLE honest ADD CHECK (length(zip) = 5)"},
	{"", "CREATE FUNCTION slug(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN regexp_replace(lower($1), '[^a-z]+', '-', 'g'); END $$; CREATE INDEX ON honest (slug(title)); CREATE UNIQUE INDEX ON honest (slug(title), id) WHERE slug(title) IS NOT NULL; ALTER TABLE honest ADD CHECK (slug(title) <> '')"},
	{"", "CREATE FUNCTION full_title(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT coalesce($1, '') || ' ' || coalesce($2, '') $$; CREATE INDEX ON honest (full_title(title, email)); ALTER TABLE honest ADD whole text GENERATED ALWAYS AS (full_title(title, email)) STORED"},
	{"", "CREATE FUNCTION slug2(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END'; ALTER TABLE honest ADD slug text GENERATED ALWAYS AS (slug2(title)) STORED"},
	{"", "CREATE STATISTICS st ON id, paid FROM honest"},
	{"", "CREATE TABLE members (org int, who text); GRANT SELECT ON members TO PUBLIC; ALTER TABLE honest ENABLE ROW LEVEL SECURITY; CREATE POLICY a ON honest USING (org = current_setting('app.org', true)::int); CREATE POLICY b ON honest FOR SELECT USING (EXISTS (SELECT 1 FROM members m WHERE m.org = honest.org AND m.who = current_user)); CREATE POLICY c ON honest FOR ALL USING (pg_has_role(current_user, 'pg_monitor', 'member')) WITH CHECK (true)"},
	{"", "CREATE FUNCTION uid() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT coalesce(nullif(current_setting('request.sub', true), ''), (nullif(current_setting('request.claims', true), '')::jsonb ->> 'sub'))::uuid $$; ALTER TABLE honest ENABLE ROW LEVEL SECURITY; CREATE POLICY a ON honest USING ((SELECT uid() AS uid) = owner)"},
	{"", "CREATE TYPE span AS RANGE (subtype = timestamptz); ALTER TABLE honest ADD during span, ADD EXCLUDE USING gist (during WITH &&), ADD CHECK (NOT isempty(during)); CREATE INDEX ON honest (id) WHERE upper_inf(during)"},
	{"", "CREATE TYPE pair AS (a int, b text); ALTER TABLE honest ADD p pair; CREATE INDEX ON honest (((p).a)); ALTER TABLE honest ADD CHECK ((p).b <> '')"},
	{"citext", "ALTER TABLE honest ADD c citext CHECK (c <> ''); CREATE UNIQUE INDEX ON honest (c) WHERE c <> 'none' AND c IS NOT NULL; CREATE INDEX ON honest (c) WHERE c = 'a' OR c = 'b'; CREATE INDEX ON honest (replace(c, 'a', 'b'))"},
	{"pg_trgm", "CREATE INDEX ON honest USING gin (title gin_trgm_ops); CREATE INDEX ON honest (similarity(title, 'x'))"},
	{"hstore", "ALTER TABLE honest ADD h hstore; CREATE INDEX ON honest USING gin (h); CREATE INDEX ON honest ((h -> 'a')) WHERE h ? 'a'; ALTER TABLE honest ADD CHECK (h -> 'kind' IN ('a', 'b'))"},
	{"ltree", "ALTER TABLE honest ADD l ltree; CREATE INDEX ON honest USING gist (l); CREATE INDEX ON honest (subpath(l, 0, 1)) WHERE nlevel(l) > 1; CREATE INDEX ON honest (id) WHERE l <@ 'top' OR l @> 'top'"},
	{"btree_gist", "ALTER TABLE honest ADD EXCLUDE USING gist (id WITH =, tstzrange(at, deleted) WITH &&) WHERE (paid)"},
	{"unaccent", "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT public.unaccent('public.unaccent', $1) $$; CREATE INDEX ON honest (plain(title))"},
	{"cube", "CREATE EXTENSION earthdistance; ALTER TABLE honest ADD lat float8, ADD lng float8; CREATE INDEX ON honest USING gist (ll_to_earth(lat, lng))"},
	{"intarray", "ALTER TABLE honest ADD ids int[]; CREATE INDEX ON honest USING gin (ids gin__int_ops); CREATE INDEX ON honest (id) WHERE ids && '{1}'"},
	{"uuid-ossp", "ALTER TABLE honest ADD u uuid DEFAULT uuid_generate_v4(); CREATE INDEX ON honest (uuid_generate_v5(uuid_ns_url(), title))"},
	{"pgcrypto", "CREATE INDEX ON honest (digest(title, 'sha256'))"},
	{"fuzzystrmatch", "CREATE INDEX ON honest (metaphone(title, 10)); CREATE INDEX ON honest (soundex(title))"},
	{"isn", "ALTER TABLE honest ADD isbn isbn; CREATE INDEX ON honest (isbn); ALTER TABLE honest ADD CHECK (is_valid(isbn))"},
}

func TestHonestTablesCanBeRead(t *testing.T) {
	role := testdb.Postgres(t).NewRole(t)
	url := testdb.Postgres(t).NewDatabase(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	client, read := open(t, url, pgdb.Config{Objects: true}), 0
	for _, h := range honestTables {
		sql := "DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO " + role
		if h.extension != "" {
			sql += `; CREATE EXTENSION "` + h.extension + `"`
		}
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Logf("%s is not available here: %v", h.extension, err)
			continue
		}
		const table = `CREATE TABLE honest (id int, org int, owner uuid, email text, title text, data jsonb, at timestamptz, deleted timestamptz, paid boolean, total numeric);
			INSERT INTO honest (id, email, title) VALUES (1, 'a@b', 'x y')`
		for _, text := range []string{table, h.sql, "GRANT SELECT ON honest TO " + role} {
			if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		catalog, err := client.Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		guard, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), catalog)
		if err != nil {
			t.Fatal(err)
		}
		asks := armed(t, url, role)
		for _, text := range []string{
			"SELECT * FROM honest", "SELECT count(*), max(id) FROM honest WHERE paid AND total > 5 OR email = 'a'", "SELECT DISTINCT title FROM honest ORDER BY title LIMIT 5",
			"SELECT h.id, x.title FROM honest h JOIN honest x USING (id)",
		} {
			if v := guard.Check(text); !v.Allowed {
				t.Errorf("%s\n\t%s: %v", h.sql, text, v.Findings[0].Message)
			} else if _, err := asks.Exec(t.Context(), text); err != nil {
				t.Errorf("%s\n\t%s: %v", h.sql, text, err)
			}
			read++
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if read == 0 {
		t.Error("nothing was read")
	}
}
