package oracle_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	driver "github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/sqlguard"
)

// sqliteTables have a column for every affinity and for the usual names of
// types, generated columns, and the types of strict tables. The virtual columns
// compute the same values in every version of the engine.
const sqliteTables = `CREATE TABLE plain (id INTEGER PRIMARY KEY, n, i INTEGER, r REAL, u NUMERIC, t TEXT, b BLOB, yes BOOLEAN, day DATE, at DATETIME, d DECIMAL(38,18), c VARCHAR(3), big BIGINT UNSIGNED, j JSON,
		g AS (CASE WHEN typeof(n) IN ('real', 'blob') THEN n ELSE n || 'x' END), s AS (i + 1) STORED, h TEXT GENERATED ALWAYS AS (typeof(n)) VIRTUAL);
	CREATE TABLE strict (id INTEGER PRIMARY KEY, i INT, n INTEGER, r REAL, t TEXT, b BLOB, a ANY) STRICT;
	CREATE TABLE keyed (k ANY PRIMARY KEY, v) WITHOUT ROWID;
	CREATE VIEW seen AS SELECT id AS "i""d", n AS "", t FROM plain;`

// sqliteTexts are further queries, with their number of columns.
var sqliteTexts = map[string]int{
	"SELECT 1, true, false, NULL, 1 = 1, NULL IS NULL, 0x7fffffffffffffff, -9223372036854775808, 9223372036854775807, 9007199254740992, 9007199254740993, -9007199254740993":                                                                                       12,
	"SELECT 1, 1.0, -0.0, 0.1, 1e15, 1e16, 1e300, 9e999, -9e999, 5e-324, 1.7976931348623157e308, 9007199254740993.0, 100000.0, 1e-5, 123456789012345678.0":                                                                                                         15,
	"SELECT '', x'', ' ', 'NULL', '1', '1.0', x'00', x'31', char(0), 'a' || char(0) || 'b', CAST(x'ff' AS TEXT), CAST(x'c3' AS TEXT), char(55296), char(65534, 1114111)":                                                                                           14,
	`SELECT json('{"b":1,"b":9007199254740993, "a" : 1.0}'), json_array(1, 2.5, NULL, '"', x'31' IS NULL), json('[1e400]'), json_extract('{"a":[1,{"b":null}]}', '$.a'), '{"a":9007199254740993}' -> 'a', '{"a":9007199254740993}' ->> 'a', json_object('k', 'é')`: 7,
	"SELECT date('2024-02-29'), time('23:59:59'), datetime('2024-02-29 12:34:56.789'), julianday('2024-02-29'), strftime('%f %s', '2024-02-29 12:34:56.789'), date('0044-03-15'), date('-4713-11-24'), date('9999-12-31', '+1 day')":                               8,
	"SELECT key, value, type, atom, fullkey FROM json_each('{\"a\":1,\"b\":[1.5,null,\"\"],\"c\":true}')":                                                                                                                                                          5,
	"SELECT hex(zeroblob(3)), zeroblob(3), zeroblob(0), printf('%05d', 7), quote('it''s'), typeof(1.0), length(char(0, 65)), unicode('😀'), abs(-9223372036854775807)":                                                                                              9,
	"SELECT printf('%0*d', 3000000, 7), zeroblob(1500000)": 2, "VALUES (1, 'a'), (NULL, NULL), (3, '')": 2,
	"SELECT count(*), max(id), min(n), max(n), group_concat(id) FROM plain":                                 5,
	"SELECT sql, rootpage FROM sqlite_schema ORDER BY name":                                                 2,
	"SELECT * FROM seen ORDER BY 1":                                                                         3,
	"SELECT * FROM keyed ORDER BY 1":                                                                        2,
	"SELECT CAST(id AS TEXT), CAST(id AS REAL), CAST(id AS BLOB), id + 0.5, -id, id / 3, id % 7 FROM plain": 7,
}

// sqliteEdges are values at the edges of the storage classes, and texts that
// look like values of other classes.
var sqliteEdges = []any{
	nil, int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64), int64(1 << 53), int64(1<<53 + 1), int64(-1 << 53), int64(-1<<53 - 1), int64(999_999_999_999_999), int64(1_000_000_000_000_000),
	0.0, math.Copysign(0, -1), 0.1, 0.30000000000000004, 1e15, 1e16, 1e17, 1e22, 1e23, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308, math.Inf(1), math.Inf(-1), math.NaN(),
	9007199254740993.0, 123456789012345678.0, 100000.0, 1e-4, 1e-5, 1.0, 9223372036854775807.0, -9223372036854775808.0,
	"", " ", "NULL", "1", "1.0", "007", "1e5", "0x10", " 12 ", "9223372036854775808", "-9223372036854775809", "1e400", "Inf", "NaN", "true", "2024-02-29", "2024-02-29 12:34:56", "\x00", "a\x00b", "\x00\x00",
	"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "é\xe4\xb8", `\x00ff`, "Grüße 世界 😀", "\ufeff", "\ufffd", "\U0010ffff\uffff", "\x01\x1f\x7f", strings.Repeat("é", 200_000),
	[]byte{},
	[]byte{0},
	[]byte("text"), []byte("1"), []byte("\xff\x00"), []byte("é"), make([]byte, 200_000),
}

func randomStored(r *rand.Rand) any {
	switch r.IntN(8) {
	case 0:
		return sqliteEdges[r.IntN(len(sqliteEdges)-2)] // without the longest
	case 1:
		n, _ := strconv.ParseInt(randomInteger(r, 64), 10, 64)
		return n
	case 2:
		return math.Float64frombits(r.Uint64())
	case 3:
		return float64(r.IntN(2_000_000)-1_000_000) / pick(r, 1.0, 10, 100, 8, 3)
	case 4:
		return pick(r, randomInteger(r, 64), randomNumeric(r), randomFloat(r, 64), randomDay(r, 9999), randomMoment(r, ""), randomJSON(r, 2, false))
	case 5:
		raw := make([]byte, r.IntN(30))
		for i := range raw {
			raw[i] = byte(r.IntN(256))
		}
		if r.IntN(2) == 0 {
			return string(raw) // hardly ever UTF-8
		}
		return raw
	case 6:
		return randomText(r) + pick(r, "", "\x00", "\x00"+randomText(r))
	default:
		return randomText(r)
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	for encoding, rows := range map[string]int{"UTF-8": 2000, "UTF-16le": 300, "UTF-16be": 300} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			path := testdb.SQLiteFile(t, "PRAGMA encoding = '"+encoding+"'", sqliteTables)
			fill(t, path, encoding, source(t), randomRows(t, rows))
			atLeast := least()
			if encoding != "UTF-8" {
				atLeast = least() / 10
			}
			compareSQLite(t, path, encoding, atLeast)
		})
	}
}

func compareSQLite(t *testing.T, path, encoding string, atLeast int) {
	t.Helper()
	s := service(t, execution.Connection{
		ID: guarded, Engine: "SQLITE", Dialect: sqlite.Dialect{}, Limits: limits,
		Policy: sqlguard.Policy{MaxConstant: longConstants, Reveal: []sqlguard.Group{sqlguard.GroupDefinitions}},
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return sqlitedb.Open(ctx, sqlitedb.Config{Path: path, Session: sqlite.Dialect{}.Session()}, guard)
		},
	})
	queries, columns := []string{"SELECT * FROM plain ORDER BY id", "SELECT * FROM strict ORDER BY id"}, []int{17, 7}
	for sql, n := range sqliteTexts {
		queries, columns = append(queries, sql), append(columns, n)
	}
	want := sqlite3(t, path, encoding, queries, columns)
	var f figure
	classes := map[string]int{}
	for i, sql := range queries {
		got := ask(t, s, guarded, sql)
		if len(got.Headers) != columns[i] || len(got.Rows) != len(want[i]) {
			t.Errorf("%.100s: %d rows of %d columns, sqlite3 prints %d of %d", sql, len(got.Rows), len(got.Headers), len(want[i]), columns[i])
			f.cells += len(want[i]) * columns[i]
			continue
		}
		for n, row := range got.Rows {
			for m, c := range row {
				w := want[i][n][m]
				classes[w.class]++
				place := fmt.Sprintf("%.100s: row %d, column %q", sql, n+1, got.Headers[m])
				compareStored(t, &f, place, c, w)
			}
		}
	}
	f.report(t, "SQLite "+encoding, atLeast)
	t.Logf("storage classes: %v", classes)
	for _, class := range []string{"null", "integer", "real", "text", "blob"} {
		if classes[class] == 0 {
			t.Errorf("no value of the class %s was compared", class)
		}
	}
}

// compareStored compares a cell with a stored value: a REAL as a float, and all
// others as bytes.
func compareStored(t *testing.T, f *figure, place string, got cell, want stored) {
	t.Helper()
	kind := byte('s')
	switch want.class {
	case "null":
		kind = 0
	case "integer":
		if n, ok := new(big.Int).SetString(got.text, 10); ok && n.CmpAbs(big.NewInt(1<<53)) <= 0 {
			kind = 'n'
		}
	case "real":
		exact := want.float()
		if !math.IsInf(exact, 0) {
			kind = 'n'
		}
		read, err := strconv.ParseFloat(got.text, 64)
		if err == nil && read == exact { // the engine prints no sign for -0.0
			got.text = want.shown()
		}
		f.compare(t, place, got, cell{kind, want.shown()})
	}
	if want.class != "real" {
		f.compare(t, place, got, want.cell())
	}
	if got.kind != kind {
		t.Errorf("%s: the %s %s is of JSON kind %q, want %q", place, want.class, shortened(got), got.kind, kind)
	}
	if got.kind == 'n' {
		checkNumber(t, place, got.text, want.class == "real")
	}
}

// fill writes the edges and random values into every column of the tables.
func fill(t *testing.T, path, encoding string, r *rand.Rand, rows int) {
	t.Helper()
	conn, err := driver.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := conn.Exec("BEGIN"); err != nil {
		t.Fatal(err)
	}
	insert := func(sql string, values ...any) error {
		stmt, _, err := conn.Prepare(sql)
		if err != nil {
			return err
		}
		for i, v := range values {
			if err := bind(stmt, i+1, v); err != nil {
				return err
			}
		}
		stmt.Step()
		return stmt.Close()
	}
	for i := range len(sqliteEdges) + rows {
		values := make([]any, 13)
		for n := range values {
			if values[n] = randomStored(r); i < len(sqliteEdges) {
				values[n] = sqliteEdges[i]
			}
			// In a UTF-16 file, current versions of the engine remove the byte
			// order mark from a text of over 4,000 bytes. Versions of some
			// years ago did not.
			if text, ok := values[n].(string); ok && encoding != "UTF-8" && len(text) > 1000 {
				values[n] = strings.TrimLeft(text, "\ufeff")
			}
		}
		if err := insert("INSERT INTO plain (n, i, r, u, t, b, yes, day, at, d, c, big, j) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values...); err != nil {
			t.Fatal(err)
		}
		v := values[0]
		number, isInt := v.(int64)
		float, isFloat := v.(float64)
		text, isText := v.(string)
		blob, isBlob := v.([]byte)
		if err := insert("INSERT INTO strict (i, n, r, t, b, a) VALUES (?, ?, ?, ?, ?, ?)", or(isInt, number), or(isInt, number), or(isFloat, float), or(isText, text), or(isBlob, blob), v); err != nil {
			t.Fatal(err)
		}
		if v != nil {
			if err := insert("INSERT OR IGNORE INTO keyed SELECT ?1, ?2 WHERE ?1 IS NOT NULL", v, values[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := conn.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
}

// or returns v, or NULL if the value has another type.
func or[T any](is bool, v T) any {
	if !is {
		return nil
	}
	return v
}

func bind(stmt *driver.Stmt, i int, v any) error {
	switch v := v.(type) {
	case nil:
		return stmt.BindNull(i)
	case int64:
		return stmt.BindInt64(i, v)
	case float64:
		return stmt.BindFloat(i, v)
	case string:
		return stmt.BindText(i, v)
	case []byte:
		return stmt.BindBlob(i, v)
	default:
		return fmt.Errorf("no binding for %T", v)
	}
}
