package pgdb_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
)

const valueTypes = `CREATE TYPE mood AS ENUM ('sad', 'happy');
	CREATE DOMAIN positive AS int4 CHECK (VALUE > 0);
	CREATE TYPE span AS RANGE (subtype = numeric);
	CREATE TABLE pair AS SELECT 1 AS n, 'a "b"'::text AS t, '{"x": 1.00}'::jsonb AS j;`

func TestTypes(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t, valueTypes, "CREATE SCHEMA hr", "CREATE TYPE hr.mood AS ENUM ('x')")
	c := open(t, url, pgdb.Config{})
	for _, v := range []struct {
		sql, typ string
		kind     execution.ValueKind
		json     string
	}{
		{"SELECT 1", "int4", execution.Number, "1"},
		{"SELECT 1::int2", "int2", execution.Number, "1"},
		{"SELECT 9007199254740993", "int8", execution.String, `"9007199254740993"`},
		{"SELECT 26::oid", "oid", execution.Number, "26"},
		{"SELECT 1.5::float4", "float4", execution.Number, "1.5"},
		{"SELECT 1e300::float8", "float8", execution.Number, "1e+300"},
		{"SELECT 'NaN'::float8", "float8", execution.String, `"NaN"`},
		{"SELECT 1.50", "numeric", execution.String, `"1.50"`},
		{"SELECT true", "bool", execution.Bool, "true"},
		{"SELECT false", "bool", execution.Bool, "false"},
		{"SELECT NULL::bool", "bool", execution.Null, "null"},
		{"SELECT ''", "text", execution.String, `""`},
		{"SELECT '1'::json", "json", execution.String, `"1"`},
		{"SELECT ARRAY[1,2]", "int4[]", execution.String, `"{1,2}"`},
		{"SELECT 7::positive", "int4", execution.Number, "7"},
		{"SELECT 'sad'::mood", "mood", execution.String, `"sad"`},
		{"SELECT '{sad}'::mood[]", "mood[]", execution.String, `"{sad}"`},
		{"SELECT 'x'::hr.mood", "mood", execution.String, `"x"`},
		{"SELECT v FROM pair AS v", "pair", execution.String, `"(1,\"a \"\"b\"\"\",\"{\"\"x\"\": 1.00}\")"`},
		{"SELECT ROW(1)", "record", execution.String, `"(1)"`},
		{"SELECT pg_sleep(0)", "void", execution.String, `""`},
		{"SELECT attname FROM pg_attribute LIMIT 0", "name", execution.Null, ""},
	} {
		for range 2 { // the first time the name is queried, then it is remembered
			res := c.Get(t, v.sql, execution.Limits{})
			if len(res.Columns) != 1 || res.Columns[0].Type != v.typ {
				t.Errorf("%s: columns %v, want the type %s", v.sql, res.Columns, v.typ)
			}
			if v.json == "" {
				continue
			}
			if got := res.Rows[0][0]; got.Kind != v.kind || string(got.AppendJSON(nil)) != v.json {
				t.Errorf("%s is %s of kind %d, want %s of kind %d", v.sql, got.AppendJSON(nil), got.Kind, v.json, v.kind)
			}
		}
	}
}

// TestNotUTF8 shows that bytes that are not text are never returned as text.
func TestNotUTF8(t *testing.T) {
	cells := [][]byte{[]byte("Gr\xfcn"), []byte("\xff\xfe"), []byte("Grün"), nil, {}}
	oids := []uint32{25, 23, 25, 25, 25}
	res, err := pgdb.Render(execution.Limits{}, oids, cells)
	want := []execution.Value{
		{Kind: execution.String, Text: `\x4772fc6e`},
		{Kind: execution.String, Text: `\xfffe`},
		{Kind: execution.String, Text: "Grün"},
		{},
		{Kind: execution.String},
	}
	if err != nil || !slices.Equal(res.Rows[0], want) || res.Bytes != 10+6+5 {
		t.Errorf("%v, %v; want %v", res, err, want)
	}
	// The limits apply to the returned values.
	res, err = pgdb.Render(execution.Limits{CellBytes: 9}, oids, cells)
	if err != nil || len(res.Rows) != 0 || res.TruncatedBy != execution.TruncatedByCell {
		t.Errorf("%v, %v; want the row left out, since its text is too long", res, err)
	}
	res, err = pgdb.Render(execution.Limits{Bytes: 20}, oids, cells)
	if err != nil || len(res.Rows) != 0 || res.TruncatedBy != execution.TruncatedByBytes {
		t.Errorf("%v, %v; want the row left out, since it is too long", res, err)
	}

	// In a database without an encoding, the server refuses to convert bytes to
	// UTF-8.
	url := testdb.Postgres(t).NewDatabaseWith(t, "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'",
		`CREATE TABLE t AS SELECT convert_from('\x4772fc6e'::bytea, 'SQL_ASCII') AS latin, 'plain'::text AS ascii`)
	c := open(t, url, pgdb.Config{})
	if got := c.One(t, "SELECT ascii FROM t"); got != "plain" {
		t.Errorf("got %s", got)
	}
	if e := c.Fails(t, "SELECT latin FROM t", execution.Limits{}); e.SQLState != "22021" || !strings.Contains(e.Hint, "convert_to") {
		t.Errorf("%v, hint %q", e, e.Hint)
	}
	if got := c.One(t, "SELECT convert_to(latin, 'SQL_ASCII') FROM t"); got != `\x4772fc6e` {
		t.Errorf("got %s", got)
	}
}

func TestHugeCells(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	huge := 50_000_000
	if executiontest.Full() {
		huge = 250_000_000
	}
	res := c.Get(t, fmt.Sprintf("SELECT 1 AS id, 'small' AS big UNION ALL SELECT 2, repeat('x', %d)", huge), execution.Limits{})
	if len(res.Rows) != 1 || res.TruncatedBy != execution.TruncatedByCell {
		t.Errorf("%d rows, truncated by %q", len(res.Rows), res.TruncatedBy)
	}
	for _, part := range []string{`"big"`, "row 2", strconv.Itoa(huge), "substring(big for "} {
		if !strings.Contains(res.Note, part) {
			t.Errorf("the note %q does not have %q", res.Note, part)
		}
	}
	// The message of an error can be as long as a cell.
	e := c.Fails(t, "SELECT repeat('x', 10000000)::int", execution.Limits{})
	if e.SQLState != "22P02" || len(e.Message) > 70_000 {
		t.Errorf("%s with a message of %d bytes", e.SQLState, len(e.Message))
	}
	// 1,600 columns. The long one is beyond the column limit.
	var wide strings.Builder
	for range 1599 {
		wide.WriteString("1, ")
	}
	res = c.Get(t, "SELECT "+wide.String()+"repeat('x', 10000000)", execution.Limits{})
	if len(res.Columns) != 1000 || len(res.Rows) != 1 || len(res.Rows[0]) != 1000 || res.TruncatedBy != execution.TruncatedByColumns {
		t.Errorf("%d columns, %d rows, truncated by %q", len(res.Columns), len(res.Rows), res.TruncatedBy)
	}
	// The connection is kept or not, depending on how fast the rest arrived.
	if got := c.One(t, "SELECT 'next'"); got != "next" {
		t.Errorf("got %s", got)
	}
}

func TestEmptyTexts(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	for _, sql := range []string{"-- nothing", ";", " "} {
		res := c.Get(t, sql, execution.Limits{})
		if len(res.Columns) != 0 || len(res.Rows) != 0 || res.Truncated {
			t.Errorf("%q: %v", sql, res)
		}
	}
	for _, sql := range []string{"SHOW server_version", "EXPLAIN SELECT 1", "VALUES (1), (2)", "TABLE pg_am", "(SELECT 1) UNION (SELECT 2)", "SELECT 1;"} {
		if res := c.Get(t, sql, execution.Limits{}); len(res.Columns) == 0 || len(res.Rows) == 0 {
			t.Errorf("%q: %v", sql, res)
		}
	}
}
