package sqlitedb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
)

// A column can hold values of any type, and every value keeps its type.
func TestMixedColumn(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, v);
		INSERT INTO t (v) VALUES (1), ('1'), (1.0), (x'31'), (NULL), (CAST(x'ff' AS TEXT)), (''), (x'')`), 1)
	res, err := c.Try(t.Context(), t, "SELECT v FROM t ORDER BY id", execution.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) []execution.Value { return []execution.Value{{Kind: execution.String, Text: s}} }
	number := func(s string) []execution.Value { return []execution.Value{{Kind: execution.Number, Text: s}} }
	want := [][]execution.Value{number("1"), text("1"), number("1.0"), text(`\x31`), {{}}, text(`\xff`), text(""), text(`\x`)}
	if diff := cmp.Diff(want, res.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// Bytes and a text of hexadecimal digits look alike. The types of the columns tell them
// apart.
func TestTypesTellBytes(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t, `CREATE TABLE t (id INTEGER PRIMARY KEY, v, note TEXT, data BLOB)`, `INSERT INTO t VALUES (1, x'31', x'32', x'33'), (2, 1.5, '\\x32', NULL)`), 1)
	for sql, want := range map[string]string{
		`SELECT x'31', '\\x31', 1, NULL`:        "BLOB, TEXT, INTEGER, NULL",
		`SELECT id, v, note, data FROM t`:       "INTEGER, REAL or BLOB, TEXT or BLOB, BLOB",
		`SELECT note, 1 FROM t WHERE id = 2`:    "TEXT, ",
		`SELECT v || '', x'' FROM t LIMIT 1`:    "TEXT, BLOB",
		`SELECT CAST(x'ff' AS TEXT) AS invalid`: "BLOB",
	} {
		res, err := c.Try(t.Context(), t, sql, execution.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, column := range res.Columns {
			types = append(types, column.Type)
		}
		if got := strings.Join(types, ", "); got != want {
			t.Errorf("%s: types %s, want %s", sql, got, want)
		}
	}
}

// In a result that is larger than one block of values, every value is in the
// right row and column.
func TestManyValues(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	for _, columns := range []int{1, 3, 7, 600} {
		var list strings.Builder
		for i := range columns {
			fmt.Fprintf(&list, ", value * 1000 + %d, CASE WHEN (value + %[1]d) %% 5 THEN printf('%%0*d', value * 37 %% 900, %[1]d) END", i)
		}
		rows := min(20_000/columns, 9_000)
		res, err := c.Try(t.Context(), t, fmt.Sprintf("SELECT %s FROM generate_series(1, %d)", list.String()[2:], rows), execution.Limits{Columns: 2000, Bytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Rows) != rows {
			t.Fatalf("%d rows of %d columns, want %d: %s", len(res.Rows), columns, rows, res.Note)
		}
		var size int64
		for r, row := range res.Rows {
			for i := range columns {
				n := r + 1
				wantNumber := execution.IntegerValue(fmt.Sprint(n*1000 + i))
				var wantText execution.Value
				if (n+i)%5 != 0 {
					wantText = execution.Value{Kind: execution.String, Text: fmt.Sprintf("%0*d", n*37%900, i)}
				}
				if row[2*i] != wantNumber || row[2*i+1] != wantText {
					t.Fatalf("row %d, column %d: %v and %v, want %v and %v", n, i, row[2*i], row[2*i+1], wantNumber, wantText)
				}
				size += int64(len(wantNumber.Text) + len(wantText.Text))
			}
		}
		if res.Bytes != size {
			t.Errorf("Bytes is %d, want %d", res.Bytes, size)
		}
	}
}

// When a limit on rows or bytes and a limit on columns are both reached, the
// result names the first, and the note mentions both.
func TestTwoLimits(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	res, err := c.Try(t.Context(), t, "SELECT value, value, value FROM generate_series(1, 9)", execution.Limits{Columns: 2, Rows: 4})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Rows) != 4 || len(res.Rows[0]) != 2 || res.TruncatedBy != execution.TruncatedByRows ||
		!strings.Contains(res.Note, "more rows") || !strings.Contains(res.Note, "3 columns") {
		t.Errorf("%d rows by %d, cut by %q: %s", len(res.Rows), len(res.Rows[0]), res.TruncatedBy, res.Note)
	}
}

// The length of a BLOB is the length of its text form.
func TestLongBlob(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	for size, cut := range map[int]bool{499: false, 500: true} {
		res, err := c.Try(t.Context(), t, fmt.Sprintf("SELECT zeroblob(%d) AS body", size), execution.Limits{CellBytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if res.Truncated != cut || cut != strings.Contains(res.Note, `substr("body"`) {
			t.Errorf("%d bytes: truncated %t, note %q", size, res.Truncated, res.Note)
		}
	}
}

// The encoding of the file has no effect on the result.
func TestUTF16(t *testing.T) {
	for _, encoding := range []string{"UTF-16le", "UTF-16be"} {
		c := open(t, testdb.SQLiteFile(t, "PRAGMA encoding = '"+encoding+"'; CREATE TABLE t (Größe); INSERT INTO t VALUES ('世界 😀')"), 1)
		res, err := c.Try(t.Context(), t, "SELECT Größe FROM t", execution.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Columns[0].Name != "Größe" || res.Rows[0][0].Text != "世界 😀" {
			t.Errorf("%s: column %q, value %q", encoding, res.Columns[0].Name, res.Rows[0][0].Text)
		}
	}
}

// A value that is longer than a connection can read is an error that says so.
// The other columns of its row can be read.
func TestLongestValue(t *testing.T) {
	const size = sqlitedb.MaxValueBytes + 1<<20
	path := testdb.SQLiteFile(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)")
	conn, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(fmt.Sprintf("INSERT INTO t VALUES (1, zeroblob(%d))", size)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	c := open(t, path, 1)
	e := c.fails(t, "SELECT * FROM t")
	if e.SQLState != "SQLITE_TOOBIG" || !strings.Contains(e.Hint, "64 MiB") {
		t.Errorf("error %+v", e)
	}
	if got := c.rows(t, "SELECT id, length(body) FROM t"); got[0][1] != fmt.Sprint(size) {
		t.Errorf("read %v", got)
	}
}
