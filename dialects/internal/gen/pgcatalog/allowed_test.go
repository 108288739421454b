package main_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	pgcatalog "github.com/ktxhq/ktx/dialects/internal/gen/pgcatalog"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// polymorphic types take a literal as it is; every other is cast.
var polymorphic = []string{
	"anyarray", "anyelement", "anynonarray", `"any"`, "anycompatible", "anycompatiblearray", "anycompatiblenonarray",
	"anyrange", "anymultirange", "anycompatiblerange", "anycompatiblemultirange", "record",
}

// literals have a value for the types that most functions take.
var literals = map[string]string{
	"text": "'abc'", "name": "'abc'", "cstring": "'1'", "character": "'a'", "character varying": "'a'", `"char"`: "'a'",
	"integer": "1", "bigint": "1", "smallint": "1", "numeric": "1.5", "double precision": "1.5", "real": "1.5", "money": "'1'",
	"boolean": "true", "oid": "1259", "bytea": `'\x616263'`, "uuid": "'00000000-0000-0000-0000-000000000000'",
	"bit": "B'1'", "bit varying": "B'1'", "xid": "'3'", "xid8": "'3'", "tid": "'(0,1)'", "pg_lsn": "'0/1'", "pg_snapshot": "'1:2:'",
	"date": "'2020-01-01'", "interval": "'1 day'", "time without time zone": "'10:00'", "time with time zone": "'10:00+00'",
	"timestamp without time zone": "'2020-01-01'", "timestamp with time zone": "'2020-01-01'",
	"regclass": "'pg_class'", "regtype": "'int4'", "regprocedure": "'abs(integer)'", "regconfig": "'simple'", "regdictionary": "'simple'",
	"json": `'{"a":1}'`, "jsonb": `'{"a":1}'`, "jsonpath": "'$.a'", "xml": "'<a/>'", "tsvector": "'a b'", "tsquery": "'a'",
	"inet": "'1.2.3.4'", "cidr": "'1.2.3.0/24'", "macaddr": "'08:00:2b:01:02:03'", "macaddr8": "'08:00:2b:01:02:03:04:05'",
	"point": "'(1,1)'", "box": "'(1,1),(2,2)'", "lseg": "'[(1,1),(2,2)]'", "circle": "'<(1,1),1>'", "path": "'((1,1),(2,2))'",
	"polygon": "'((1,1),(2,2),(3,1))'", "line": "'{1,2,3}'", "refcursor": "'x'", "int2vector": "'1'", "oidvector": "'1'",
	"text[]": "'{a}'", "integer[]": "'{1}'", "bigint[]": "'{1,2}'", "double precision[]": "'{1,2,3}'",
	"anyarray": "array[1,2]", "anyelement": "1", "anynonarray": "1", `"any"`: "1", "anycompatible": "1",
	"anycompatiblearray": "array[1,2]", "anycompatiblenonarray": "1", "anyrange": "int4range(1,2)", "record": "row(1,2)",
	"anymultirange": "int4multirange(int4range(1,2))", "anycompatiblerange": "int4range(1,2)",
	"anycompatiblemultirange": "int4multirange(int4range(1,2))",
}

// callText writes a call with literals. It returns false when a type has no literal.
func callText(c pgcatalog.Call) (string, bool) {
	var args []string
	if c.Args != "" {
		for t := range strings.SplitSeq(c.Args, ",") {
			literal, ok := literals[t]
			if !ok {
				return "", false
			}
			if !slices.Contains(polymorphic, t) {
				literal += "::" + t
			}
			args = append(args, literal)
		}
	}
	return fmt.Sprintf("SELECT pg_catalog.%s(%s)", pgx.Identifier{c.Name}.Sanitize(), strings.Join(args, ", ")), true
}

// traceQuery returns the effects of a transaction that a read does not have.
const traceQuery = `SELECT
	(SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'),
	pg_current_xact_id_if_assigned() IS NOT NULL,
	(SELECT md5(string_agg(name || '=' || setting, ';' ORDER BY name)) FROM pg_settings),
	(SELECT count(*) FROM pg_listening_channels()),
	(SELECT count(*) FROM pg_cursors WHERE name <> '')`

type trace struct {
	advisoryLocks int
	transactionID bool
	settings      string
	channels      int
	cursors       int
}

// runTraced runs a statement in a read-only transaction and returns the effects that it
// left. The error is that of the statement.
func runTraced(ctx context.Context, conn *pgx.Conn, statement string) (trace, error, error) {
	var left trace
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return left, nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if statement != "" {
		if _, err := tx.Exec(ctx, statement, pgx.QueryExecModeExec); err != nil {
			return left, err, nil
		}
	}
	err = tx.QueryRow(ctx, traceQuery).Scan(&left.advisoryLocks, &left.transactionID, &left.settings, &left.channels, &left.cursors)
	return left, nil, err
}

// TestAllowedFunctionsLeaveNothing calls the allowed functions of the test server with
// plain values, as a superuser in a read-only transaction. They must leave no effects and
// must not try to write. A crash of the server ends the test.
func TestAllowedFunctionsLeaveNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("calls two thousand functions")
	}
	server := testdb.Postgres(t)
	f := readFacts(t)
	if server.Version() > f.Newest() {
		t.Skipf("the facts end with major version %d", f.Newest())
	}
	conn, err := pgx.Connect(t.Context(), server.NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), "SET statement_timeout = '10s'; SET TimeZone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	clean, failed, err := runTraced(t.Context(), conn, "")
	if failed != nil || err != nil {
		t.Fatal(failed, err)
	}

	// The review refuses each of these, and each must leave a trace here.
	if _, err := conn.Exec(t.Context(), "CREATE SEQUENCE traced"); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"SELECT pg_advisory_lock(1)", "SELECT txid_current()", "SELECT set_config('work_mem', '1MB', true)", "SELECT nextval('traced')",
	} {
		left, failed, err := runTraced(t.Context(), conn, statement)
		if err != nil {
			t.Fatal(err)
		}
		if left == clean && !readOnlyViolation(failed) {
			t.Fatalf("%s leaves no trace", statement)
		}
		if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
			t.Fatal(err)
		}
	}

	calls, err := pgcatalog.AllowedCalls(f, server.Version())
	if err != nil {
		t.Fatal(err)
	}
	ran, errored, skipped := 0, 0, 0
	for _, call := range calls {
		statement, ok := callText(call)
		if !ok {
			skipped++
			continue
		}
		left, failed, err := runTraced(t.Context(), conn, statement)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", statement, err)
		case readOnlyViolation(failed):
			t.Errorf("%s wants to write: %v", statement, failed)
		case failed != nil:
			errored++
		case left != clean:
			t.Errorf("%s leaves %+v, want %+v", statement, left, clean)
		default:
			ran++
		}
		if conn.IsClosed() {
			t.Fatalf("%s ended the connection", statement)
		}
	}
	t.Logf("major %d: %d calls ran, %d ended in an error, %d have a type without a literal", server.Version(), ran, errored, skipped)
	if ran < 1500 {
		t.Errorf("only %d calls ran", ran)
	}
}

func readOnlyViolation(err error) bool {
	violation, ok := errors.AsType[*pgconn.PgError](err)
	return ok && violation.Code == "25006"
}
