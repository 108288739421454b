package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// The tests in this file check on a real server what the judges assume about it.

// TestRowFunctionsOfTheServer: in t.f a function reads the whole row of t. rowFunctions
// must list every function of the server that returns the content of that row, because
// column rules depend on it.
func TestRowFunctionsOfTheServer(t *testing.T) {
	server := testdb.Postgres(t)
	var known []string
	for _, name := range postgres.RowFunctions() {
		known = append(known, "'"+name+"'")
	}
	server.NewDatabase(t, "CREATE TABLE t (a int, secret text)", "INSERT INTO t VALUES (1, 'TOPSECRET')", fmt.Sprintf(`
DO $body$
DECLARE
	f text;
	r text;
	seen int := 0;
BEGIN
	FOR f IN SELECT DISTINCT proname FROM pg_proc WHERE pronargs - pronargdefaults <= 1 LOOP
		BEGIN
			EXECUTE format('SELECT string_agg(x::text, '','') FROM (SELECT t.%%I AS x FROM t) s', f) INTO r;
		EXCEPTION WHEN OTHERS THEN
			CONTINUE;
		END;
		CONTINUE WHEN r IS NULL OR r NOT LIKE '%%TOPSECRET%%' AND r NOT LIKE '%%544f50534543524554%%';
		seen := seen + 1;
		IF f <> ALL (ARRAY[%s]) THEN
			RAISE EXCEPTION '%% returns the whole row', f;
		END IF;
	END LOOP;
	IF seen < 10 THEN
		RAISE EXCEPTION 'only %% functions returned the row', seen;
	END IF;
END $body$`, strings.Join(known, ", ")))
}

// TestNotationsOfTheServer: some calls look like other syntax. A type's name with a
// literal in brackets is a cast, whatever functions exist.
func TestNotationsOfTheServer(t *testing.T) {
	server := testdb.Postgres(t)
	check := func(sql, want string) string {
		return fmt.Sprintf(`DO $body$ DECLARE r text; BEGIN EXECUTE $sql$%s$sql$ INTO r; IF r IS DISTINCT FROM '%s' THEN RAISE EXCEPTION 'got %%', r; END IF; END $body$`, sql, want)
	}
	server.NewDatabase(t,
		"CREATE FUNCTION f(text) RETURNS text LANGUAGE sql AS $$ SELECT 'called with ' || $1 $$",
		"CREATE FUNCTION uuid(text) RETURNS text LANGUAGE sql AS $$ SELECT 'called' $$",
		"CREATE FUNCTION jsonb(text) RETURNS text LANGUAGE sql AS $$ SELECT 'called' $$",
		check("SELECT x.f FROM unnest(ARRAY['a']) AS x", "called with a"),
		check("SELECT ('a'::text).f", "called with a"),
		check("SELECT (ARRAY['a'])[1].f", "called with a"),
		check("SELECT (SELECT 'a'::text).f", "called with a"),
		check("SELECT x.upper FROM unnest(ARRAY['a']) AS x", "A"),
		check("SELECT treat('abc' AS upper)", "ABC"),
		check("SELECT jsonb('{}')", "{}"),
		check("SELECT jsonb('{}'::text)", "called"),
		check("SELECT uuid('00000000-0000-0000-0000-000000000000')", "00000000-0000-0000-0000-000000000000"),
		// A name of WITH is not visible in its own query or in an earlier one.
		"CREATE TABLE t (a text)",
		"INSERT INTO t VALUES ('table')",
		check("WITH t AS (SELECT a || ' through' FROM t) SELECT * FROM t", "table through"),
		check("WITH x AS (SELECT * FROM t), t AS (SELECT 'with') SELECT * FROM x", "table"),
		check("WITH RECURSIVE x AS (SELECT * FROM t), t AS (SELECT 'with') SELECT * FROM x", "with"),
		check("WITH t AS (SELECT 'with') SELECT * FROM public.t", "table"),
		check("SELECT * FROM (WITH t AS (SELECT 'with') SELECT 1) x, t", "1"),
		// A sub-query in FROM does not see the other items of FROM.
		check("SELECT (SELECT d.a FROM (SELECT t.a) d, (VALUES ('beside')) t (a)) FROM t", "table"),
	)
}

// TestColumnsOfScalarFunctions: a function of FROM that does not return a row has one
// column. The column's name is the alias, or one of the names that hasColumn knows.
func TestColumnsOfScalarFunctions(t *testing.T) {
	server := testdb.Postgres(t)
	server.NewDatabase(t, `
DO $body$
DECLARE
	f text;
BEGIN
	SELECT string_agg(proname || '.' || name, ', ') INTO f
	FROM pg_proc, unnest(proargnames, proargmodes) AS a (name, mode)
	WHERE pronamespace = 'pg_catalog'::regnamespace AND prorettype <> 'record'::regtype AND mode IN ('o', 't', 'b')
	AND proname <> 'pg_event_trigger_table_rewrite_oid' AND name NOT IN ('value', 'relid');
	IF f IS NOT NULL THEN
		RAISE EXCEPTION 'columns that the reader takes for calls: %', f;
	END IF;
END $body$`)
	failing := "SELECT x.f FROM generate_series(1, 1) AS x"
	server.NewDatabase(t, fmt.Sprintf(`
DO $body$ BEGIN
	EXECUTE $sql$%s$sql$;
	RAISE EXCEPTION 'no error';
EXCEPTION WHEN undefined_column THEN NULL;
END $body$`, failing))
}
