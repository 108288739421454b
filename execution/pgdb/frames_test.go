package pgdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution/pgdb"
)

// message returns one message of the server.
func message(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body))+4), body...)
}

// row returns a DataRow; nil is NULL.
func row(cells ...[]byte) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(cells)))
	for _, c := range cells {
		if c == nil {
			body = binary.BigEndian.AppendUint32(body, 1<<32-1)
			continue
		}
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(c))), c...)
	}
	return message('D', body)
}

func x(n int) []byte { return bytes.Repeat([]byte("x"), n) }

// reads are ways in which bytes can arrive and be requested.
var reads = []struct {
	name  string
	in    func(io.Reader) io.Reader
	ahead int // bytes requested at a time
}{
	{"whole", func(r io.Reader) io.Reader { return r }, 1 << 20},
	{"one byte in", iotest.OneByteReader, 1 << 16},
	{"one byte out", func(r io.Reader) io.Reader { return r }, 1},
	{"one byte in and out", iotest.OneByteReader, 1},
	{"half", iotest.HalfReader, 100},
	{"data with the end", iotest.DataErrReader, 7},
	{"timeouts", iotest.TimeoutReader, 64},
}

// readAll reads to the end, ahead bytes at a time. It continues after timeouts.
func readAll(r io.Reader, ahead int) ([]byte, error) {
	var all []byte
	p := make([]byte, ahead)
	for {
		n, err := r.Read(p)
		all = append(all, p[:n]...)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.Is(err, iotest.ErrTimeout):
		case err != nil:
			return all, err
		}
	}
}

func TestFrames(t *testing.T) {
	const cell, whole, columns = 100, 1000, 5
	ready := message('Z', []byte{'I'})
	cut := message('D', []byte{0, 0})
	many := func(n, size int) [][]byte {
		cells := make([][]byte, n)
		for i := range cells {
			cells[i] = x(size)
		}
		return cells
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name     string
		in, want []byte
		column   int
		size     int64
	}{
		{"short rows", join(row(x(1), nil, x(0)), row(x(90)), ready), join(row(x(1), nil, x(0)), row(x(90)), ready), -2, 0},
		{"cells at the limit", join(row(x(100), x(100), nil), ready), join(row(x(100), x(100), nil), ready), -2, 0},
		{"cell over the limit", join(row(x(3)), row(x(100), x(101), x(4)), row(x(1)), ready), join(row(x(3)), cut, ready), 1, 101},
		{"first of two such cells", join(row(x(500), x(600)), row(x(700)), ready), join(cut, ready), 0, 500},
		{"empty cells around", join(row(x(0), x(100), x(0), nil, x(0)), ready), join(row(x(0), x(100), x(0), nil, x(0)), ready), -2, 0},
		{"columns beyond the limit", join(row(many(9, 20)...), ready), join(row(many(5, 20)...), ready), -2, 0},
		{"long cell beyond the columns", join(row(append(many(5, 20), x(5000))...), ready), join(row(many(5, 20)...), ready), -2, 0},
		{"row without columns", join(row(), row(), ready), join(row(), row(), ready), -2, 0},
		{"short notice", join(message('N', x(100)), ready), join(message('N', x(100)), ready), -2, 0},
		{"long message of another kind", join(message('T', x(5000)), ready), join(message('T', x(5000)), ready), -2, 0},
	} {
		for _, r := range reads {
			t.Run(c.name+"/"+r.name, func(t *testing.T) {
				f := pgdb.NewFrames(r.in(bytes.NewReader(c.in)), cell, whole, columns)
				got, err := readAll(f, r.ahead)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, c.want) {
					t.Errorf("got %q\nwant %q", got, c.want)
				}
				column, size, ok := f.Cut()
				if ok != (c.column >= -1) || ok && (column != c.column || size != c.size) {
					t.Errorf("cut %t at column %d of %d bytes, want column %d of %d", ok, column, size, c.column, c.size)
				}
			})
		}
	}
	t.Run("row over the limit as a whole", func(t *testing.T) {
		f := pgdb.NewFrames(bytes.NewReader(join(row(many(5, 30)...), row(x(1)), ready)), 100, 120, columns)
		got, err := readAll(f, 1000)
		if err != nil || !bytes.Equal(got, join(cut, ready)) {
			t.Errorf("got %q, %v", got, err)
		}
		if column, _, ok := f.Cut(); !ok || column != -1 {
			t.Errorf("cut %t at column %d, want the row as a whole", ok, column)
		}
	})
	t.Run("cell over the limit behind that", func(t *testing.T) {
		long := row(x(100), nil, x(90), x(101), x(1))
		for _, r := range reads {
			f := pgdb.NewFrames(r.in(bytes.NewReader(join(long, row(x(1)), ready))), 100, 120, columns)
			got, err := readAll(f, r.ahead)
			if err != nil || !bytes.Equal(got, join(cut, ready)) {
				t.Errorf("%s: got %q, %v", r.name, got, err)
			}
			if column, size, ok := f.Cut(); !ok || column != 3 || size != 101 {
				t.Errorf("%s: cut %t at column %d of %d bytes, want column 3 of 101", r.name, ok, column, size)
			}
		}
	})
}

func TestFramesCutErrors(t *testing.T) {
	long := strings.Repeat("m", 300_000)
	response := &pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "22P02", Message: long, Hint: "lost"}
	in, err := response.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	notice, err := (*pgproto3.NoticeResponse)(response).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	in = append(append(in, notice...), message('Z', []byte{'E'})...)
	for _, r := range reads {
		t.Run(r.name, func(t *testing.T) {
			if r.ahead == 1 || strings.HasPrefix(r.name, "timeouts") {
				t.Skip("pgproto3 asks for more, and gives up on an error")
			}
			front := pgproto3.NewFrontend(pgdb.NewFrames(r.in(bytes.NewReader(in)), 100, 100, 5), io.Discard)
			front.SetMaxBodyLen(pgdb.MaxTextBody)
			for _, want := range []string{"*pgproto3.ErrorResponse", "*pgproto3.NoticeResponse"} {
				msg, err := front.Receive()
				if err != nil || fmt.Sprintf("%T", msg) != want {
					t.Fatalf("%T, %v; want %s", msg, err, want)
				}
				if e, ok := msg.(*pgproto3.ErrorResponse); ok && (e.Code != "22P02" || len(e.Message) < 60_000 || !strings.HasPrefix(long, e.Message) || e.Hint != "") {
					t.Errorf("code %q, %d bytes of message, hint %q", e.Code, len(e.Message), e.Hint)
				}
			}
			msg, err := front.Receive()
			if z, ok := msg.(*pgproto3.ReadyForQuery); !ok || z.TxStatus != 'E' {
				t.Errorf("%v, %v", msg, err)
			}
		})
	}
}

func TestFramesRefuse(t *testing.T) {
	head := func(kind byte, n int32) []byte { return binary.BigEndian.AppendUint32([]byte{kind}, uint32(n)) }
	long := row(x(200), x(200))
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"negative length", head('Z', -1)},
		{"length below its own", head('Z', 3)},
		{"long message", append(head('T', pgdb.MaxMessageBody+5), x(100)...)},
		{"row with too many columns", append(head('D', 1000), 0xff, 0xff)},
		{"row that ends in its count", append(head('D', 5), 1)},
		{"cell longer than its row", bytes.Replace(long, []byte{0, 0, 0, 200}, []byte{0, 0, 2, 200}, 1)},
		{"cell of negative length", bytes.Replace(long, []byte{0, 0, 0, 200}, []byte{0xff, 0xff, 0xff, 0xfe}, 1)},
		{"bytes behind the last column", append(head('D', int32(4+2+4+150+60)), append(append([]byte{0, 1, 0, 0, 0, 150}, x(150)...), x(60)...)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range reads {
				if _, err := readAll(pgdb.NewFrames(r.in(bytes.NewReader(c.in)), 160, 160, 5), r.ahead); !errors.Is(err, pgdb.ErrFrame) && !strings.Contains(c.name, "count") {
					t.Errorf("%s: error %v, want %v", r.name, err, pgdb.ErrFrame)
				}
			}
		})
	}
}

// TestFramesHold shows that a reader buffers at most one row within the limits.
func TestFramesHold(t *testing.T) {
	const size = 64 << 20
	head := binary.BigEndian.AppendUint32([]byte{'D'}, 4+2+4+1000+4+size)
	head = append(head, 0, 2, 0, 0, 3, 0xe8)
	head = append(head, x(1000)...)
	head = binary.BigEndian.AppendUint32(head, size)
	in := io.MultiReader(bytes.NewReader(head), io.LimitReader(zeros{}, size), bytes.NewReader(message('Z', []byte{'I'})))
	f := pgdb.NewFrames(in, 256<<10, 8<<20, 10)
	got, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := append(message('D', []byte{0, 0}), message('Z', []byte{'I'})...); !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
	if column, n, ok := f.Cut(); !ok || column != 1 || n != size {
		t.Errorf("cut %t at column %d of %d bytes", ok, column, n)
	}
	if f.Held() > 64<<10 {
		t.Errorf("the reader holds %d bytes", f.Held())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// FuzzFrames compares the reader with one that has every message in memory: the
// result does not depend on the pieces in which the bytes arrive.
func FuzzFrames(f *testing.F) {
	f.Add(append(row(x(10), nil), message('Z', []byte{'T'})...), uint8(3))
	f.Add(append(row(x(90), x(90)), row(x(101))...), uint8(1))
	f.Add(row(x(30), x(30), x(30), x(30), x(30), x(30), x(30)), uint8(9))
	f.Add(message('E', x(70_000)), uint8(200))
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		const cell, whole, columns = 100, 150, 3
		want, wantErr := readAll(pgdb.NewFrames(bytes.NewReader(in), cell, whole, columns), 1<<20)
		got, err := readAll(pgdb.NewFrames(&pieces{in, int(piece) + 1}, cell, whole, columns), int(piece)+1)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) || !bytes.HasPrefix(want, got) {
			t.Errorf("in pieces of %d: %v, %s", int(piece)+1, err, cmp.Diff(want, got))
		}
		front := pgproto3.NewFrontend(bytes.NewReader(want), io.Discard)
		for {
			msg, err := front.Receive()
			if err != nil {
				return
			}
			if r, ok := msg.(*pgproto3.DataRow); ok {
				size := 0
				for i, v := range r.Values {
					size += len(v)
					if len(v) > cell && i < columns {
						t.Errorf("a cell of %d bytes passed", len(v))
					}
				}
				if size > whole {
					t.Errorf("a row of %d bytes passed", size)
				}
			}
		}
	})
}

// pieces reads bytes n at a time.
type pieces struct {
	left []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.n)], p.left)
	p.left = p.left[n:]
	return n, nil
}
