package mssqldb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
)

// SET ROWCOUNT limits the rows from which a document is made, and the document
// looks complete all the same. The backend returns it only when the server
// counted no more rows than the limit.
func TestDocuments(t *testing.T) {
	const most = 10
	for _, c := range []struct {
		name, column string
		status       uint16
		count        uint64
		whole        bool
	}{
		{"within the limit", "JSON_F52E2B61-18A1-11d1-B105-00805F49916B", 0x10, most, true},
		{"one row more", "JSON_F52E2B61-18A1-11d1-B105-00805F49916B", 0x10, most + 1, false},
		{"XML of one row more", "XML_F52E2B61-18A1-11d1-B105-00805F49916B", 0x10, most + 1, false},
		{"not counted", "XML_F52E2B61-18A1-11d1-B105-00805F49916B", 0, most, false},
		{"no document", "v", 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{})
			s.On("SELECT document", func(r *tdsserver.Reply) error {
				if err := r.Columns(tdsserver.Column{Name: c.column, Type: tdsserver.NVarCharMax}); err != nil {
					return err
				}
				for _, part := range []string{`[{"a":1},`, `{"a":2}]`} {
					if err := r.Row(part); err != nil {
						return err
					}
				}
				return r.Done(0xFD, c.status, 0xC1, c.count)
			})
			db := open(t, trusted(s), mssqldb.Config{})
			res, err := db.Try(t.Context(), t, "SELECT document", execution.Limits{Rows: most})
			if err != nil {
				t.Fatal(err)
			}
			if res.Truncated == c.whole || (len(res.Rows) == 2) != c.whole || !c.whole && (res.TruncatedBy != execution.TruncatedByRows || res.Bytes != 0) {
				t.Errorf("%d rows, truncated %t by %q", len(res.Rows), res.Truncated, res.TruncatedBy)
			}
		})
	}
}

// The note on a value that is too long names the column as T-SQL would write
// it, and the size of the value as text.
func TestLongValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		t     tdsserver.Type
		value any
		want  string // parts of the note
	}{
		{"plain", tdsserver.VarCharMax, tdsserver.Blob{Size: 2000, Fill: 'x'}, "has 2000 bytes|substring(plain, 1, 250)"},
		{"a ] b", tdsserver.VarCharMax, tdsserver.Blob{Size: 2000, Fill: 'x'}, "has 2000 bytes|substring([a ]] b], 1, 250)"},
		{"n", tdsserver.NVarCharMax, tdsserver.Blob{Size: 4000, Fill: 'x', Zero: true}, "has 2000 bytes"},
		{"n", tdsserver.NVarCharMax, oddChunks(strings.Repeat("x世", 1000)), "has 4000 bytes"},
		{"n", tdsserver.NVarCharMax, strings.Repeat("世", 500), "has 1500 bytes"},
		{"n", tdsserver.NVarCharMax, strings.Repeat("😀", 1500), "has 6000 bytes"},
		{"n", tdsserver.NVarChar(4000), strings.Repeat("ä", 501), "has 1002 bytes"},
		{"b", tdsserver.VarBinaryMax, tdsserver.Blob{Size: 500, Fill: 1}, "has 1002 bytes"},
		{"b", tdsserver.Image, []byte(strings.Repeat("x", 600)), "has 1202 bytes"},
		{"t", tdsserver.Text, []byte(strings.Repeat("x", 1001)), "has 1001 bytes"},
		{"x", tdsserver.XML, "<a>" + strings.Repeat("x", 1000) + "</a>", "has 1007 bytes"},
		{"v", tdsserver.Variant, tdsserver.Of{Type: tdsserver.VarChar(8000), Value: []byte(strings.Repeat("x", 3000))}, "has 3000 bytes"},
		{"s", tdsserver.VarChar(8000), []byte(strings.Repeat("\xe4", 800)), "has 1600 bytes"},
	} {
		s := tdsserver.Start(t, tdsserver.Config{})
		s.On("SELECT long", func(r *tdsserver.Reply) error {
			if err := r.Columns(tdsserver.Column{Name: "id", Type: tdsserver.Int}, tdsserver.Column{Name: c.name, Type: c.t}); err != nil {
				return err
			}
			if err := r.Row(int64(1), nil); err != nil {
				return err
			}
			return r.Row(int64(2), c.value)
		})
		db := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
		res, err := db.Try(t.Context(), t, "SELECT long", execution.Limits{CellBytes: 1000})
		if err != nil {
			t.Fatalf("%s: %v", c.t, err)
		}
		if len(res.Rows) != 1 || res.Rows[0][1] != (execution.Value{}) || res.TruncatedBy != execution.TruncatedByCell {
			t.Errorf("%s: %v, truncated by %q", c.t, res.Rows, res.TruncatedBy)
		}
		for part := range strings.SplitSeq(c.want, "|") {
			if !strings.Contains(res.Note, part) {
				t.Errorf("%s: no %q in %q", c.t, part, res.Note)
			}
		}
		if db.One(t, "SELECT 1 AS n") != "1" || logins(s) != 1 {
			t.Errorf("%s: the connection was not used again", c.t)
		}
	}
}

// oddChunks returns a value in chunks of seven bytes, so that characters cross
// the borders.
func oddChunks(text string) tdsserver.Wire {
	wire := le64(1<<64 - 2)
	for raw := utf16le(text); len(raw) > 0; {
		n := min(7, len(raw))
		wire = append(append(wire, le32(uint32(n))...), raw[:n]...)
		raw = raw[n:]
	}
	return append(wire, le32(0)...)
}

// Values at the limit pass, however long they are on the wire.
func TestValuesAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		t     tdsserver.Type
		value any
		text  string
	}{
		{tdsserver.VarCharMax, []byte(strings.Repeat("x", 1000)), strings.Repeat("x", 1000)},
		{tdsserver.VarCharMax, []byte(strings.Repeat("\xe4", 500)), strings.Repeat("ä", 500)},
		{tdsserver.NVarCharMax, strings.Repeat("x", 1000), strings.Repeat("x", 1000)},
		{tdsserver.NVarCharMax, strings.Repeat("😀", 250), strings.Repeat("😀", 250)},
		{tdsserver.VarBinaryMax, []byte(strings.Repeat("\x01", 499)), `\x` + strings.Repeat("01", 499)},
		{tdsserver.Variant, tdsserver.Of{Type: tdsserver.NVarChar(1000), Value: strings.Repeat("x", 1000)}, strings.Repeat("x", 1000)},
	} {
		s := tdsserver.Start(t, tdsserver.Config{})
		s.On("SELECT full", func(r *tdsserver.Reply) error {
			if err := r.Columns(tdsserver.Column{Name: "v", Type: c.t}); err != nil {
				return err
			}
			return r.Row(c.value)
		})
		db := open(t, trusted(s), mssqldb.Config{})
		res, err := db.Try(t.Context(), t, "SELECT full", execution.Limits{CellBytes: 1000})
		if err != nil || len(res.Rows) != 1 || res.Rows[0][0].Text != c.text || res.Truncated {
			t.Errorf("%s: %v, %v", c.t, res, err)
		}
	}
}

// Rows with and without a NULL bitmap, and columns beyond the limit.
func TestColumnsBeyondTheLimit(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	s.On("SELECT wide", func(r *tdsserver.Reply) error {
		columns := []tdsserver.Column{{Name: "a", Type: tdsserver.Int}, {Name: "b", Type: tdsserver.NVarCharMax}, {Name: "c", Type: tdsserver.Int}}
		if err := r.Columns(columns...); err != nil {
			return err
		}
		for i := range int64(3) {
			if err := r.Row(i, tdsserver.Blob{Size: 1 << 20, Fill: 'x'}, nil); err != nil {
				return err
			}
			if err := r.NBCRow(nil, "x", i); err != nil {
				return err
			}
		}
		return nil
	})
	db := open(t, trusted(s), mssqldb.Config{})
	res, err := db.Try(t.Context(), t, "SELECT wide", execution.Limits{Columns: 1, CellBytes: 1000})
	if err != nil || len(res.Rows) != 6 || res.OmittedColumns != 2 || res.TruncatedBy != execution.TruncatedByColumns {
		t.Fatalf("%+v, %v", res, err)
	}
	for i, row := range res.Rows {
		want := execution.Value{}
		if i%2 == 0 {
			want = execution.Value{Kind: execution.Number, Text: string(rune('0' + i/2))}
		}
		if len(row) != 1 || row[0] != want {
			t.Errorf("row %d is %v", i, row)
		}
	}
}
