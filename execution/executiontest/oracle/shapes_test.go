package oracle_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// numbered returns a SELECT of n columns.
func numbered(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("%d AS c%[1]d", i+1)
	}
	return "SELECT " + strings.Join(items, ", ")
}

// thousand returns the headers for the first thousand of such columns, which is
// the default limit of a result.
func thousand(typ string) string {
	names, types, values := make([]string, 1000), make([]string, 1000), make([]string, 1000)
	for i := range names {
		names[i], types[i], values[i] = fmt.Sprintf(`"c%d"`, i+1), `"`+typ+`"`, fmt.Sprint(i+1)
	}
	s := `{"headers":[` + strings.Join(names, ",") + `],`
	if typ != "" {
		s += `"headerTypes":[` + strings.Join(types, ",") + `],`
	}
	return s + `"rows":[[` + strings.Join(values, ",") + `]],"rowCount":1,"truncated":`
}

// TestShapes compares the whole answer for results that readers often handle
// wrongly: names that are repeated, missing or need quotes, empty results, and
// results that are too large.
func TestShapes(t *testing.T) {
	t.Parallel()
	url := testdb.Postgres(t).NewDatabase(t, named)
	file := testdb.SQLiteFile(t, sqliteTables, `INSERT INTO plain (n, t) VALUES (1, '')`,
		"CREATE TABLE odd (\"\" INT, \"a\"\"b\" TEXT, \"line\nbreak\t\" TEXT, \"größe\" REAL, \"cut\xff\" BLOB, \"no type\", \"t\" \"my \xc3 type\")", "INSERT INTO odd VALUES (1, 2, 3, 4, 5, 6, 7)")
	connection := func(id string, d sqlguard.Dialect, open func(context.Context, sqlguard.ID) (execution.Backend, error)) execution.Connection {
		return execution.Connection{ID: id, Engine: "TEST", Dialect: d, Open: open}
	}
	openPG := func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(url)}, guard)
	}
	openSQLite := func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
		return sqlitedb.Open(ctx, sqlitedb.Config{Path: file}, guard)
	}
	s := service(t,
		connection("postgres", postgres.Dialect{}, openPG), connection("postgres-unguarded", executiontest.Permissive{DialectName: "postgres"}, openPG),
		connection("sqlite", sqlite.Dialect{}, openSQLite), connection("sqlite-unguarded", executiontest.Permissive{DialectName: "sqlite"}, openSQLite),
	)
	for _, v := range []struct{ connection, sql, want string }{
		{"postgres", "SELECT 1 AS a, 2 AS a, '3' AS a", `{"headers":["a","a","a"],"headerTypes":["int4","int4","text"],"rows":[[1,2,"3"]],"rowCount":1,"truncated":false`},
		{"postgres", "SELECT a.n, b.n FROM (VALUES (1)) AS a (n), (VALUES (2)) AS b (n)", `{"headers":["n","n"],"headerTypes":["int4","int4"],"rows":[[1,2]],"rowCount":1,"truncated":false`},
		{"postgres", "SELECT 1, 'x', count(*), true AS \"a\"\"b\nc\\\"", `{"headers":["?column?","?column?","count","a\"b\nc\\"],"headerTypes":["int4","text","int8","bool"],"rows":[[1,"x",1,true]],"rowCount":1,"truncated":false`},
		{"postgres", "SELECT FROM (VALUES (1), (2), (3)) AS v", `{"headers":[],"rows":[[],[],[]],"rowCount":3,"truncated":false`},
		{"postgres", "SELECT 1 AS n, NULL AS t WHERE false", `{"headers":["n","t"],"headerTypes":["int4","text"],"rows":[],"rowCount":0,"truncated":false`},
		{"postgres", "SELECT FROM (VALUES (1)) AS v WHERE false", `{"headers":[],"rows":[],"rowCount":0,"truncated":false`},
		{"postgres", "SELECT NULL AS a, '' AS b, NULL::bool AS c, NULL::int4 AS d", `{"headers":["a","b","c","d"],"headerTypes":["text","text","bool","int4"],"rows":[[null,"",null,null]],"rowCount":1,"truncated":false`},
		{
			"postgres-unguarded", "SELECT 'sad'::cells.mood AS e, 7::cells.more AS d, '(,,,)'::cells.\"we\"\"ird, Täble\" AS c, 1.5::numeric(38,18) AS n, 'x'::char(3) AS b, 'x'::\"char\" AS q, '{1}'::numeric(5,2)[] AS l",
			`{"headers":["e","d","c","n","b","q","l"],"headerTypes":["mood","int4","we\"ird, Täble","numeric","bpchar","char","numeric[]"],"rows":[["sad",7,"(,,,)","1.500000000000000000","x  ","x","{1.00}"]],"rowCount":1,"truncated":false`,
		},
		{"postgres", numbered(1000), thousand("int4") + "false"},
		{"postgres", numbered(1001), thousand("int4") + `true,"truncatedBy":"columns"`},
		{"postgres", numbered(1600), thousand("int4") + `true,"truncatedBy":"columns"`},
		{"postgres-unguarded", "-- nothing", `{"headers":[],"rows":[],"rowCount":0,"truncated":false`},

		{"sqlite", "SELECT 1 AS a, 2 AS a, '3' AS a", `{"headers":["a","a","a"],"rows":[[1,2,"3"]],"rowCount":1,"truncated":false`},
		{"sqlite", "SELECT 1, 'x', count(*), '' AS \"a\"\"b\nc\\\"", `{"headers":["1","'x'","count(*)","a\"b\nc\\"],"rows":[[1,"x",1,""]],"rowCount":1,"truncated":false`},
		{"sqlite", "SELECT id, t FROM plain WHERE false", `{"headers":["id","t"],"headerTypes":["INTEGER","TEXT"],"rows":[],"rowCount":0,"truncated":false`},
		{"sqlite", "SELECT d, c, yes FROM plain", `{"headers":["d","c","yes"],"headerTypes":["DECIMAL(38,18)","VARCHAR(3)","BOOLEAN"],"rows":[[null,null,null]],"rowCount":1,"truncated":false`},
		{"sqlite", "SELECT id, n, count(*) FROM plain", `{"headers":["id","n","count(*)"],"rows":[[1,1,1]],"rowCount":1,"truncated":false`},
		{"sqlite", "SELECT * FROM odd", `{"headers":["","a\"b","line\nbreak\t","größe","\\x637574ff","no type","t"],"rows":[[1,"2","3",4.0,5,6,7]],"rowCount":1,"truncated":false`},
		{"sqlite", "SELECT t FROM odd", `{"headers":["t"],"headerTypes":["\\x6d7920c32074797065"],"rows":[[7]],"rowCount":1,"truncated":false`},
		{"sqlite", numbered(1000), thousand("") + "false"},
		{"sqlite", numbered(1600), thousand("") + `true,"truncatedBy":"columns"`},
	} {
		out, err := s.SQLExecution(t.Context(), research.SQLExecutionInput{ConnectionID: v.connection, SQL: v.sql})
		if err != nil {
			t.Errorf("%s: %.200s: %v", v.connection, v.sql, err)
			continue
		}
		got, _, ok := strings.Cut(string(out.AppendJSON(nil)), `,"elapsedMs":`)
		got, _, _ = strings.Cut(got, `,"notes":`)
		if !ok || got != v.want {
			t.Errorf("%s: %.200s:\n got %.2000s\nwant %.2000s", v.connection, v.sql, got, v.want)
		}
		if out.Truncated != (len(out.Notes) == 1) {
			t.Errorf("%s: %.200s: truncated %t, with the notes %q", v.connection, v.sql, out.Truncated, out.Notes)
		}
	}
}
