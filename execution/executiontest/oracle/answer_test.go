package oracle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/research"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// least is how many cells a run must compare, so that the test finds a
// generator that makes nothing. When the caller sets the size of a run, the
// caller must judge the number.
func least() int {
	if executiontest.Full() {
		return 50_000
	}
	return 10_000
}

// limits are wide enough for every table here.
var limits = execution.Limits{Rows: 10_000_000, Bytes: 1 << 30, CellBytes: 64 << 20, Columns: 1600, Timeout: 5 * time.Minute}

// longConstants is the limit of guard.maxConstant for values that are longer than usual.
const longConstants = 1 << 30

// service serves the connections in the same way as the product.
func service(t *testing.T, conns ...execution.Connection) *research.Service {
	t.Helper()
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, conns...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return research.New(gateway, slog.New(slog.DiscardHandler), research.Stores{})
}

// A cell is one value as a reader of the JSON gets it.
type cell struct {
	kind byte   // the kind of JSON value: 0 null, 's' string, 'n' number, 'b' true or false
	text string // of a number as it is written; "t" or "f"
}

func (c cell) String() string {
	switch c.kind {
	case 0:
		return "NULL"
	case 's':
		return strconv.Quote(c.text)
	default:
		return c.text
	}
}

// answer is one answer of sql_execution, read back from its JSON.
type answer struct {
	Headers     []string `json:"headers"`
	HeaderTypes []string `json:"headerTypes"`
	Rows        [][]cell `json:"rows"`
	RowCount    int      `json:"rowCount"`
	Truncated   bool     `json:"truncated"`
	TruncatedBy string   `json:"truncatedBy"`
}

// UnmarshalJSON reads one value of a row.
func (c *cell) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
		*c = cell{}
	case string(b) == "true":
		*c = cell{'b', "t"}
	case string(b) == "false":
		*c = cell{'b', "f"}
	case b[0] == '"':
		c.kind = 's'
		return json.Unmarshal(b, &c.text)
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		*c = cell{'n', string(b)}
	default:
		return fmt.Errorf("a value that is not a JSON scalar: %.40s", b)
	}
	return nil
}

// ask runs one statement and reads the JSON of its answer. It fails the test if
// the answer is not complete.
func ask(t *testing.T, s *research.Service, connection, sql string) answer {
	t.Helper()
	out, err := s.SQLExecution(t.Context(), research.SQLExecutionInput{
		ConnectionID: connection, SQL: sql, MaxRows: limits.Rows, MaxBytes: limits.Bytes,
	})
	if err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
	text := out.AppendJSON(nil)
	if !utf8.Valid(text) {
		t.Fatalf("%.200s: the answer is not UTF-8", sql)
	}
	var a answer
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	full := struct {
		*answer
		ElapsedMs int64 `json:"elapsedMs"`
	}{answer: &a}
	if err := d.Decode(&full); err != nil {
		t.Fatalf("%.200s: the answer is not JSON: %v", sql, err)
	}
	if a.Truncated || a.RowCount != len(a.Rows) {
		t.Fatalf("%.200s: %d of %d rows, cut by %q %v", sql, len(a.Rows), a.RowCount, a.TruncatedBy, out.Notes)
	}
	for i, row := range a.Rows {
		if len(row) != len(a.Headers) {
			t.Fatalf("%.200s: row %d has %d values for %d headers", sql, i+1, len(row), len(a.Headers))
		}
	}
	return a
}

// figure counts the compared cells, and those that are equal.
type figure struct{ equal, cells int }

// maxShown bounds the differences that are printed; all are counted.
const maxShown = 40

// compare counts a cell, and reports it if it differs.
func (f *figure) compare(t *testing.T, place string, got, want cell) bool {
	t.Helper()
	f.cells++
	if (got.kind == 0) == (want.kind == 0) && got.text == want.text {
		f.equal++
		return true
	}
	if f.cells-f.equal <= maxShown {
		t.Errorf("%s: ktx has %s, the command line %s", place, shortened(got), shortened(want))
	}
	return false
}

func shortened(c cell) string {
	const most = 400
	if s := c.String(); len(s) <= most {
		return s
	}
	return fmt.Sprintf("%.*s… (%d bytes)", most, c.String(), len(c.text))
}

// report logs the share of equal cells, which must be 1.
func (f *figure) report(t *testing.T, what string, atLeast int) {
	t.Helper()
	t.Logf("%s: %d of %d cells are equal (%.6f)", what, f.equal, f.cells, float64(f.equal)/float64(max(f.cells, 1)))
	if f.equal != f.cells {
		t.Errorf("%s: %d cells differ", what, f.cells-f.equal)
	}
	if f.cells < atLeast && os.Getenv("KTX_ORACLE_ROWS") == "" || f.cells == 0 {
		t.Errorf("%s: %d cells were compared, fewer than %d", what, f.cells, atLeast)
	}
}

// source returns the random numbers of this run.
func source(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("KTX_ORACLE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("KTX_ORACLE_SEED: %v", err)
		}
	}
	t.Logf("KTX_ORACLE_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// randomRows returns how many random rows each type gets: full of them when
// KTX_TEST_FULL is set, and a quarter when it is not.
func randomRows(t *testing.T, full int) int {
	t.Helper()
	text := os.Getenv("KTX_ORACLE_ROWS")
	switch {
	case text != "":
	case executiontest.Full():
		return full
	default:
		return max(full/4, 1)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("KTX_ORACLE_ROWS: %q is no number of rows", text)
	}
	return n
}
