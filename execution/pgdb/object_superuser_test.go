package pgdb_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// A guard with a catalogue does not see these objects. Only a superuser can
// create them: the server refuses them to a role that may create everything
// else.
var superuserOnly = []struct {
	name, sql string
	since     int
}{
	{"a function in C", "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler'", 0},
	{"a function in internal code", "CREATE FUNCTION f(float8) RETURNS void LANGUAGE internal AS 'pg_sleep'", 0},
	{"an operator class", "CREATE OPERATOR CLASS c DEFAULT FOR TYPE mood USING btree AS FUNCTION 1 cmp(mood, mood)", 0},
	{"an operator family", "CREATE OPERATOR FAMILY f USING btree", 0},
	{"a member of an operator family", "ALTER OPERATOR FAMILY integer_ops USING btree ADD FUNCTION 1 (int, mood) cmp(mood, mood)", 0},
	{"an estimator in PL/pgSQL", "CREATE FUNCTION f(internal, oid, internal, int) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'", 0},
	{"an estimator in SQL", "CREATE FUNCTION f(internal, oid, internal, int) RETURNS float8 LANGUAGE sql AS 'SELECT 1.0::float8'", 0},
	{"a support function of the planner", "CREATE FUNCTION f(mood) RETURNS int LANGUAGE sql IMMUTABLE SUPPORT pg_catalog.textlike_support AS 'SELECT 1'", 0},
	{"a base type", "CREATE TYPE t (INPUT = textin, OUTPUT = textout)", 0},
	{"a shell of a type", "CREATE TYPE t", 0},
	{"a text search template", "CREATE TEXT SEARCH TEMPLATE t (LEXIZE = dsimple_lexize)", 0},
	{"a text search parser", "CREATE TEXT SEARCH PARSER p (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)", 0},
	{"a conversion in PL/pgSQL", "CREATE FUNCTION f(int, int, cstring, internal, int, boolean) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'", 0},
	{"a conversion in SQL", "CREATE FUNCTION f(int, int, cstring, internal, int, boolean) RETURNS int LANGUAGE sql AS 'SELECT 1'", 0},
	{"a sampling method in PL/pgSQL", "CREATE FUNCTION f(internal) RETURNS tsm_handler LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", 0},
	{"an access method", "CREATE ACCESS METHOD a TYPE TABLE HANDLER heap_tableam_handler", 0},
	{"a foreign data wrapper", "CREATE FOREIGN DATA WRAPPER w", 0},
	{"a transform", "CREATE TRANSFORM FOR mood LANGUAGE plpgsql (FROM SQL WITH FUNCTION prsd_lextype(internal))", 0},
	{"an event trigger", "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION et()", 0},
	{"an event trigger on login", "CREATE EVENT TRIGGER e ON login EXECUTE FUNCTION et()", 17},
	{"a built-in function, replaced", "CREATE OR REPLACE FUNCTION pg_catalog.lower(text) RETURNS text LANGUAGE sql AS 'SELECT 1::text'", 0},
	{"an untrusted language", "CREATE LANGUAGE l HANDLER plpgsql_call_handler", 0},
	// No role can create the following.
	{"a column computed when read with a function of somebody's", "CREATE TABLE v (a int, b int GENERATED ALWAYS AS (cmp('a', 'a')) VIRTUAL)", 18},
	{"a column computed when read with an operator of somebody's", "CREATE TABLE v (a mood, b boolean GENERATED ALWAYS AS (a <# 'b') VIRTUAL)", 18},
}

func TestWhatOnlySuperusersMake(t *testing.T) {
	t.Parallel()
	server := testdb.Postgres(t)
	role := server.NewRole(t)
	conn, err := pgx.Connect(t.Context(), server.NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	exec := func(sql string) error {
		_, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	if err := exec("CREATE SCHEMA own AUTHORIZATION " + role + "; SET search_path = own; DO $$ BEGIN EXECUTE format('GRANT ALL ON DATABASE %I TO " + role + "', current_database()); END $$; SET ROLE " + role + `;
		CREATE TYPE mood AS ENUM ('a', 'b');
		CREATE FUNCTION cmp(mood, mood) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
		CREATE FUNCTION less(mood, mood) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
		CREATE OPERATOR <# (LEFTARG = mood, RIGHTARG = mood, FUNCTION = less);
		CREATE FUNCTION et() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
		SET check_function_bodies = off`); err != nil {
		t.Fatal(err)
	}
	for _, c := range superuserOnly {
		if c.since > server.Version() {
			continue
		}
		// The reason must not be a syntax error or a missing object.
		e, ok := errors.AsType[*pgconn.PgError](exec(c.sql))
		switch {
		case !ok:
			t.Errorf("a plain role makes %s", c.name)
		case e.Code == "42601" || e.Code == "42704" || e.Code == "42883":
			t.Errorf("%s: %v", c.name, e)
		case testing.Verbose():
			t.Logf("%s: %s", c.name, e.Message)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
