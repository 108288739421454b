package bigquerydb_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
)

// FuzzPage reads pages that may be anything. What is returned is within the limits, and each
// row has a value for each column.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{"rows": [{"f": [{"v": "1"}, {"v": "AP8="}, {"v": "1709210096000000"}, {"v": [{"v": {"f": [{"v": "x"}, {"v": null}]}}]}]}], "pageToken": "a"}`,
		`{"kind": "x", "rows": [{"f": [{"v": null}, {"v": null}, {"v": null}, {"v": []}]}, {"f": [{"v": "2"}]}]}`,
		`{"rows": [{"f": [{"v": "\ud83d\ude00"}, {"v": ""}, {"v": true}, {"v": [{}]}]}]}`, `{"rows": []}`, `{}`, `[]`, `{"rows": {"f": 1}}`, `{"a": ` + strings.Repeat("[", 300),
	} {
		f.Add([]byte(seed))
	}
	fields := []wire.Field{
		{Name: "a", Type: "STRING"},
		{Name: "b", Type: "BYTES"},
		{Name: "c", Type: "TIMESTAMP"},
		{Name: "d", Type: "RECORD", Mode: "REPEATED", Fields: []wire.Field{{Name: "x", Type: "STRING"}, {Name: "y", Type: "TIMESTAMP"}}},
	}
	lim := execution.Limits{Rows: 3, Bytes: 300, CellBytes: 100}.WithDefaults()
	f.Fuzz(func(t *testing.T, raw []byte) {
		res, err := bigquerydb.ReadPage(raw, fields, lim)
		if err != nil {
			return
		}
		total := 0
		for _, row := range res.Rows {
			if len(row) != len(fields) {
				t.Fatalf("a row of %d values", len(row))
			}
			for _, v := range row {
				total += len(v.Text)
				if len(v.Text) > int(lim.CellBytes) || !utf8.ValidString(v.Text) {
					t.Fatalf("a value of %d bytes: %q", len(v.Text), v.Text)
				}
			}
		}
		if len(res.Rows) > lim.Rows || total > int(lim.Bytes) || int64(total) != res.Bytes {
			t.Fatalf("%d rows of %d bytes, %d counted", len(res.Rows), total, res.Bytes)
		}
	})
}
