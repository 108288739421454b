package research_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
)

func limited(t *testing.T, limits execution.Limits) *research.Service {
	t.Helper()
	conn := sqliteConnection(t, "a")
	conn.Limits = limits
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return research.New(gateway, slog.New(slog.DiscardHandler), storesOf(t))
}

// numbers returns a query for n rows, each with a number and a text of size
// bytes.
func numbers(n, size int) string {
	return fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i, printf('%%0%dd', i) AS text FROM s", n, size)
}

// TestWhatALimitSays checks that the notes name every limit that applied, once,
// and say what to do next.
func TestWhatALimitSays(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits execution.Limits
		in     research.SQLExecutionInput
		rows   int
		by     execution.TruncatedBy
		notes  []string // parts of the notes; # is replaced by the number of the first missing row
	}{
		{"whole", execution.Limits{}, research.SQLExecutionInput{SQL: numbers(1000, 10)}, 1000, "", nil},
		{"default rows", execution.Limits{}, research.SQLExecutionInput{SQL: numbers(1001, 10)}, 1000, "rows", []string{"more rows than the 1000", "maxRows may be up to 10000"}},
		{"default rows above the ceiling", execution.Limits{Rows: 7}, research.SQLExecutionInput{SQL: numbers(9, 10)}, 7, "rows", []string{"more rows than the 7"}},
		{"rows that were asked for", execution.Limits{Rows: 70}, research.SQLExecutionInput{SQL: numbers(9, 10), MaxRows: 3}, 3, "rows", []string{"maxRows may be up to 70"}},
		{"rows above the ceiling", execution.Limits{Rows: 7}, research.SQLExecutionInput{SQL: numbers(9, 10), MaxRows: 8}, 7, "rows", []string{"maxRows was lowered from 8 to this connection's limit of 7", "more rows than the 7"}},
		{"rows above the ceiling, all returned", execution.Limits{Rows: 7}, research.SQLExecutionInput{SQL: numbers(7, 10), MaxRows: 8}, 7, "", []string{"maxRows was lowered"}},
		{"bytes above the ceiling", execution.Limits{Bytes: 2000}, research.SQLExecutionInput{SQL: numbers(9, 10), MaxBytes: 3000}, 9, "", []string{"maxBytes was lowered from 3000 to this connection's limit of 2000"}},
		// The values fit into the limit, but the answer with its names and
		// brackets does not.
		{"bytes of the answer", execution.Limits{}, research.SQLExecutionInput{SQL: numbers(100, 10), MaxBytes: 1250}, 55, "bytes", []string{"before row #, with which they would have more than 1250 bytes", "maxBytes may be up to 8388608"}},
		{"bytes of the answer, after the rows", execution.Limits{}, research.SQLExecutionInput{SQL: numbers(100, 10), MaxBytes: 1250, MaxRows: 80}, 55, "bytes", []string{"before row #"}},
		{"bytes of the answer, at the ceiling", execution.Limits{Bytes: 1250}, research.SQLExecutionInput{SQL: numbers(100, 10), MaxBytes: 1250}, 56, "bytes", []string{"fewer rows"}},
		{"bytes of the answer, and columns", execution.Limits{Columns: 1}, research.SQLExecutionInput{SQL: numbers(1000, 10), MaxBytes: 1024}, 132, "bytes", []string{"before row #", "first 1 of 2 columns"}},
		{"columns", execution.Limits{Columns: 1}, research.SQLExecutionInput{SQL: numbers(10, 10)}, 10, "columns", []string{"first 1 of 2 columns"}},
		{"cell", execution.Limits{CellBytes: 9}, research.SQLExecutionInput{SQL: numbers(10, 10)}, 0, "cell", []string{`column "text" has 10 bytes, more than the 9`, "substr"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := limited(t, c.limits)
			c.in.ConnectionID = "a"
			out, err := s.SQLExecution(t.Context(), c.in)
			if err != nil {
				t.Fatal(err)
			}
			// The time in the answer may have one more digit on a slow machine.
			if c.by == execution.TruncatedByBytes && len(out.Rows) == c.rows-1 {
				c.rows--
			}
			if len(out.Rows) != c.rows || out.Truncated != (c.by != "") || out.TruncatedBy != c.by {
				t.Errorf("%d rows, truncated %t by %q; want %d by %q", len(out.Rows), out.Truncated, out.TruncatedBy, c.rows, c.by)
			}
			all := strings.Join(out.Notes, "\n")
			for _, part := range c.notes {
				part = strings.ReplaceAll(part, "#", strconv.Itoa(len(out.Rows)+1))
				if !strings.Contains(all, part) {
					t.Errorf("the notes do not have %q: %s", part, all)
				}
			}
			if len(c.notes) == 0 && all != "" || strings.Count(all, "may be up to") > 1 {
				t.Errorf("the notes are %s", all)
			}
		})
	}
}

// TestAnswersAreBounded checks that an answer has at most maxBytes, has every
// row that fits, and says whether it is complete.
func TestAnswersAreBounded(t *testing.T) {
	s := limited(t, execution.Limits{})
	const rows = 40
	whole := 0
	for size := int64(1024); size < 1500; size++ {
		out, err := s.SQLExecution(t.Context(), research.SQLExecutionInput{ConnectionID: "a", SQL: numbers(rows, 24), MaxBytes: size})
		if err != nil {
			t.Fatal(err)
		}
		answer := out.AppendJSON(nil)
		var told struct {
			Rows        [][]any `json:"rows"`
			RowCount    int     `json:"rowCount"`
			Truncated   bool    `json:"truncated"`
			TruncatedBy string  `json:"truncatedBy"`
		}
		if err := json.Unmarshal(answer, &told); err != nil {
			t.Fatal(err)
		}
		n := len(told.Rows)
		switch {
		case int64(len(answer)) > size:
			t.Errorf("an answer of %d bytes for a limit of %d", len(answer), size)
		case n != told.RowCount || told.Truncated != (n < rows) || told.Truncated != (told.TruncatedBy == "bytes"):
			t.Errorf("%d rows, rowCount %d, truncated %t by %q", n, told.RowCount, told.Truncated, told.TruncatedBy)
		case told.Truncated && size-int64(len(answer)) > 64:
			t.Errorf("an answer of %d bytes for a limit of %d, although a row has 32", len(answer), size)
		}
		if n == rows {
			whole++
		}
	}
	if whole == 0 {
		t.Error("no limit was wide enough")
	}
}
