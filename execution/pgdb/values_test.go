package pgdb_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
)

// edges are values at the edges of every built-in type, each an expression.
var edges = map[string][]string{
	"bool":        {"true", "false"},
	"int2":        {"-32768", "32767", "0"},
	"int4":        {"-2147483648", "2147483647", "-1"},
	"int8":        {"-9223372036854775808", "9223372036854775807", "9007199254740992", "9007199254740993", "-9007199254740992", "-9007199254740993", "999999999999999", "1000000000000000"},
	"oid":         {"0", "4294967295"},
	"float4":      {"0", "-0", "1e38", "1.17549435e-38", "NaN", "Infinity", "-Infinity", "0.1", "3.4028235e38", "16777217"},
	"float8":      {"0", "-0", "0.1", "0.30000000000000004", "1e300", "1.7976931348623157e308", "5e-324", "NaN", "Infinity", "-Infinity", "9007199254740993", "1e15", "1e16", "123456789012345678", "1e-5", "100000"},
	"numeric":     {"0", "-0.00", "NaN", "12345678901234567890.123450", "0.000000000000000001", "1e100", "99999999999999999999.999999999999999999", "9007199254740993"},
	"money":       {"-92233720368547758.08", "0", "1.5"},
	"text":        {"", " ", "NULL", `a"b\c`, "line\nbreak\ttab", "Grüße 世界 😀", "\u2028\ufeff", "\x01\x1f\x7f", "{a,b}", "'"},
	"varchar":     {"", "x"},
	"bpchar":      {"x ", ""},
	"name":        {"x", ""},
	`"char"`:      {"x", ""},
	"bytea":       {"", `\x00ff10`, `\x5c78`},
	"date":        {"2024-02-29", "0044-03-15 BC", "4713-01-01 BC", "5874897-12-31", "infinity", "-infinity", "0001-01-01", "10000-01-01"},
	"time":        {"00:00", "24:00:00", "23:59:59.999999", "12:00:00.5"},
	"timetz":      {"24:00:00+00", "12:00:00-15:59", "00:00:00.000001+05:30"},
	"timestamp":   {"infinity", "-infinity", "294276-12-31 23:59:59.999999", "4713-01-01 00:00:00 BC", "2024-02-29 12:34:56.78"},
	"timestamptz": {"infinity", "-infinity", "2024-03-31 01:30:00+01", "0001-12-31 23:59:59+00 BC", "294276-12-31 23:59:59.999999+00"},
	"interval":    {"0", "1 day 2 hours", "-178000000 years", "1 year -1 day +00:00:00.000001", "-1 mon +3 days -04:05:06.789", "2147483647 days"},
	"uuid":        {"00000000-0000-0000-0000-00000000002a", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"},
	"json":        {`{"b":1,"b":9007199254740993, "a" : 1.0}`, "null", `"\u00e9"`, "[]"},
	"jsonb":       {`{"b":1,"b":9007199254740993,"a":1.0}`, "null", "1e400", "12345678901234567890.10", `"\ud83d\ude00"`},
	"xml":         {"<a>&lt;</a>", ""},
	"inet":        {"192.168.0.1/24", "::1", "2001:db8::/32", "10.0.0.1"},
	"cidr":        {"10.0.0.0/8", "2001:db8::/32"},
	"macaddr":     {"08:00:2b:01:02:03"},
	"macaddr8":    {"08:00:2b:01:02:03:04:05"},
	"bit":         {"1", "0"},
	"varbit":      {"", "101"},
	"point":       {"(1.5,-2)", "(NaN,Infinity)", "(1e300,0)"},
	"line":        {"{1,2,3}"},
	"lseg":        {"[(0,0),(1,1)]"},
	"box":         {"(1,1),(0,0)"},
	"path":        {"[(0,0),(1,1)]", "((0,0),(1,1))"},
	"polygon":     {"((0,0),(1,1),(1,0))"},
	"circle":      {"<(0,0),1>"},
	"tsvector":    {"a:1A b:2,3", ""},
	"tsquery":     {"a & !b | (c <-> d)"},
	"int4range":   {"empty", "[1,5)", "(,5]", "[1,)", "(,)"},
	"numrange":    {"[1.10,2.0)", "(,)"},
	"tstzrange":   {"[2024-01-01 00:00:00+00,infinity)", `["2024-01-01 12:00+02",)`},
	"daterange":   {"[2024-01-01,2024-01-31]", "empty"},
	"pg_lsn":      {"16/B374D848"},
	"xid":         {"4294967295"},
	"xid8":        {"18446744073709551615"},
	"cid":         {"1"},
	"tid":         {"(0,1)"},
	"regclass":    {"pg_class", "0"},
	"regproc":     {"now"},
	"regtype":     {"int4"},
	"int4[]":      {"{}", "{1,NULL,3}", "{{1,2},{3,4}}", "[0:1]={1,2}", "[-1:0][2:3]={{1,2},{3,4}}"},
	"text[]":      {`{"",NULL,"NULL","a,b","c\"d","e\\f"," g "}`, "{Grüße}"},
	"float8[]":    {"{NaN,Infinity,0.1}"},
	"bool[]":      {"{t,f,NULL}"},
	"bytea[]":     {`{"\\x00","\\xff"}`},
	"jsonb[]":     {`{"{\"a\": 1}"}`},
	"date[]":      {"{infinity,\"0044-03-15 BC\"}"},
	"jsonpath":    {"$.a[*] ? (@ > 1)"},
}

// composed are expressions whose types have no literal.
var composed = []string{
	"ROW(1, 'a', NULL, 'b,c', ROW(2))", "ROW()", "(SELECT v FROM pair AS v)", "(SELECT array_agg(v) FROM pair AS v)", "'happy'::mood", "ARRAY['sad','happy']::mood[]",
	"'7'::positive", "ARRAY[7]::positive[]", "NULL", "NULL::int4", "'x'", "1", "1.0", "now() IS NOT NULL", "ARRAY[ARRAY['a'],ARRAY['b']]",
	"to_tsvector('simple', 'a b a')", "'{[1,2),[5,6)}'::int4multirange", "'[1.5,2.5]'::span", "pg_sleep(0)", "'\\x'::bytea || '\\x00'",
	"interval '1 day' * 1.5", "2 ^ 0.5", "avg(n) FROM (VALUES (1), (2), (2)) AS t(n)", "sum(1.10)", "1::int8 << 60", "chr(128512)", "repeat('é', 3000)",
}

const valueTypes = `CREATE TYPE mood AS ENUM ('sad', 'happy');
	CREATE DOMAIN positive AS int4 CHECK (VALUE > 0);
	CREATE TYPE span AS RANGE (subtype = numeric);
	CREATE TABLE pair AS SELECT 1 AS n, 'a "b"'::text AS t, '{"x": 1.00}'::jsonb AS j;`

// TestValuesArePsqls compares the text of every value with what psql prints.
func TestValuesArePsqls(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t, valueTypes)
	var texts []string
	for typ, values := range edges {
		for _, v := range values {
			texts = append(texts, "SELECT '"+strings.ReplaceAll(v, "'", "''")+"'::"+typ)
		}
	}
	for _, e := range composed {
		if !strings.Contains(e, "multirange") || server.Version() >= 14 {
			texts = append(texts, "SELECT "+e)
		}
	}
	slices.Sort(texts)
	want := psql(t, url, texts)
	c := open(t, url, pgdb.Config{})
	equal := 0
	for i, sql := range texts {
		res := c.get(t, sql)
		got := res.Rows[0][0]
		text := got.Text
		if got.Kind == execution.Null {
			text = psqlNull
		}
		if text != want[i] {
			t.Errorf("%s is %q, psql prints %q", sql, text, want[i])
			continue
		}
		if strings.HasPrefix(res.Columns[0].Type, "oid ") || res.Columns[0].Type == "" {
			t.Errorf("%s has the type %q", sql, res.Columns[0].Type)
		}
		equal++
	}
	t.Logf("%d of %d values are equal", equal, len(texts))
}

const psqlNull = "\u2400 null \u2400"

// psql runs statements of one value each and returns what it prints.
func psql(t *testing.T, url string, texts []string) []string {
	t.Helper()
	program := ""
	if dir, err := testdb.Binaries(); err == nil {
		program = filepath.Join(dir, "psql")
	}
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("psql"); err != nil {
			t.Skip("no psql on this machine")
		}
	}
	args := []string{"-X", "-A", "-t", "-0", "-P", "null=" + psqlNull, "-v", "ON_ERROR_STOP=1", "-d", url}
	for _, sql := range texts {
		args = append(args, "-c", sql)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "PGCLIENTENCODING=UTF8", "PGTZ=UTC", "PGDATESTYLE=ISO",
		"PGOPTIONS=-c intervalstyle=postgres -c bytea_output=hex -c extra_float_digits=1 -c standard_conforming_strings=on")
	out, err := cmd.Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it bare
			t.Fatalf("psql: %v: %s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	values := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(values) != len(texts) {
		t.Fatalf("psql printed %d values for %d statements", len(values), len(texts))
	}
	return values
}

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
		for range 2 { // asked, and remembered
			res := c.get(t, v.sql)
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

// TestNotUTF8 shows that bytes which are not text are never shown as if they
// were.
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
	// The limits are on what is returned.
	res, err = pgdb.Render(execution.Limits{CellBytes: 9}, oids, cells)
	if err != nil || len(res.Rows) != 0 || res.TruncatedBy != execution.TruncatedByCell {
		t.Errorf("%v, %v; want the row left out, since its text is too long", res, err)
	}
	res, err = pgdb.Render(execution.Limits{Bytes: 20}, oids, cells)
	if err != nil || len(res.Rows) != 0 || res.TruncatedBy != execution.TruncatedByBytes {
		t.Errorf("%v, %v; want the row left out, since it is too long", res, err)
	}

	// A database without an encoding: the server refuses to call its bytes
	// UTF-8.
	server := testdb.Postgres(t)
	name := server.NewRole(t) // a name that is free
	server.Admin(t, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), server.URL("", ""))
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background()) //nolint:errcheck // nothing is left to save
		if _, err := conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	server.Exec(t, server.URL(name, ""), `CREATE TABLE t AS SELECT convert_from('\x4772fc6e'::bytea, 'SQL_ASCII') AS latin, 'plain'::text AS ascii`)
	c := open(t, server.URL(name, ""), pgdb.Config{})
	if got := c.one(t, "SELECT ascii FROM t"); got != "plain" {
		t.Errorf("got %s", got)
	}
	if e := c.fails(t, "SELECT latin FROM t", execution.Limits{}); e.SQLState != "22021" || !strings.Contains(e.Hint, "convert_to") {
		t.Errorf("%v, hint %q", e, e.Hint)
	}
	if got := c.one(t, "SELECT convert_to(latin, 'SQL_ASCII') FROM t"); got != `\x4772fc6e` {
		t.Errorf("got %s", got)
	}
}

func TestHugeCells(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	pid := c.one(t, backendPID)
	res := c.get(t, "SELECT 1 AS id, 'small' AS big UNION ALL SELECT 2, repeat('x', 250000000)")
	if len(res.Rows) != 1 || res.TruncatedBy != execution.TruncatedByCell {
		t.Errorf("%d rows, truncated by %q", len(res.Rows), res.TruncatedBy)
	}
	for _, part := range []string{`"big"`, "row 2", "250000000", "substring(big for "} {
		if !strings.Contains(res.Note, part) {
			t.Errorf("the note %q does not have %q", res.Note, part)
		}
	}
	// An error can be as long as a cell.
	e := c.fails(t, "SELECT repeat('x', 50000000)::int", execution.Limits{})
	if e.SQLState != "22P02" || len(e.Message) > 70_000 {
		t.Errorf("%s with a message of %d bytes", e.SQLState, len(e.Message))
	}
	// 1,600 columns, of which the long one is beyond the limit.
	var wide strings.Builder
	for range 1599 {
		wide.WriteString("1, ")
	}
	res = c.get(t, "SELECT "+wide.String()+"repeat('x', 10000000)")
	if len(res.Columns) != 1000 || len(res.Rows) != 1 || len(res.Rows[0]) != 1000 || res.TruncatedBy != execution.TruncatedByColumns {
		t.Errorf("%d columns, %d rows, truncated by %q", len(res.Columns), len(res.Rows), res.TruncatedBy)
	}
	if now := c.one(t, backendPID); now != pid {
		t.Error("the connection was replaced")
	}
}

func TestEmptyTexts(t *testing.T) {
	url := testdb.Postgres(t).NewDatabase(t)
	c := open(t, url, pgdb.Config{MaxConnections: 1})
	for _, sql := range []string{"-- nothing", ";", " "} {
		res := c.get(t, sql)
		if len(res.Columns) != 0 || len(res.Rows) != 0 || res.Truncated {
			t.Errorf("%q: %v", sql, res)
		}
	}
	for _, sql := range []string{"SHOW server_version", "EXPLAIN SELECT 1", "VALUES (1), (2)", "TABLE pg_am", "(SELECT 1) UNION (SELECT 2)", "SELECT 1;"} {
		if res := c.get(t, sql); len(res.Columns) == 0 || len(res.Rows) == 0 {
			t.Errorf("%q: %v", sql, res)
		}
	}
}
