package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// stream is a connection whose server has already sent everything.
type stream struct {
	io.Reader
	sent bytes.Buffer
}

func (s *stream) Write(b []byte) (int, error)      { return s.sent.Write(b) }
func (*stream) Close() error                       { return nil }
func (*stream) LocalAddr() net.Addr                { return nil }
func (*stream) RemoteAddr() net.Addr               { return nil }
func (*stream) SetDeadline(time.Time) error        { return nil }
func (*stream) SetReadDeadline(time.Time) error    { return nil }
func (*stream) SetWriteDeadline(t time.Time) error { return nil }

// packets puts each body into a frame, numbered from 1.
func packets(bodies ...[]byte) []byte {
	var b []byte
	seq := byte(1)
	for _, body := range bodies {
		for {
			n := min(len(body), 1<<24-1)
			b = append(b, byte(n), byte(n>>8), byte(n>>16), seq)
			b = append(b, body[:n]...)
			body = body[n:]
			seq++
			if n < 1<<24-1 {
				break
			}
		}
	}
	return b
}

// text is a length-encoded string.
func text(s string) []byte {
	switch n := len(s); {
	case n < 0xfb:
		return append([]byte{byte(n)}, s...)
	case n < 1<<16:
		return append([]byte{0xfc, byte(n), byte(n >> 8)}, s...)
	case n < 1<<24:
		return append([]byte{0xfd, byte(n), byte(n >> 8), byte(n >> 16)}, s...)
	default:
		return append(binary.LittleEndian.AppendUint64([]byte{0xfe}, uint64(n)), s...)
	}
}

func column(name string, t wire.Type, extended ...byte) []byte {
	b := bytes.Join([][]byte{text("def"), text("db"), text("t"), text("t"), text(name), text(name)}, nil)
	if extended != nil {
		b = append(b, text(string(extended))...)
	}
	b = append(b, 0x0c, 45, 0)
	b = binary.LittleEndian.AppendUint32(b, 1020)
	b = append(b, byte(t))
	b = binary.LittleEndian.AppendUint16(b, uint16(wire.FlagUnsigned))
	return append(b, 0, 0, 0)
}

func row(values ...string) []byte {
	var b []byte
	for _, v := range values {
		if v == "NULL" {
			b = append(b, 0xfb)
			continue
		}
		b = append(b, text(v)...)
	}
	return b
}

var (
	end  = []byte{0xfe, 0, 0, 0x03, 0x20}
	okay = []byte{0, 0, 0, 0x02, 0, 0, 0}
)

func connect(sent []byte, extended bool) *wire.Conn {
	return wire.New(&stream{Reader: bytes.NewReader(sent)}, extended)
}

// read reads one answer with all its rows.
func read(c *wire.Conn, r *wire.Row) (a wire.Answer, rows [][]string, err error) {
	a, err = c.Answer()
	if err != nil || a.Columns == nil {
		return a, nil, err
	}
	r.Columns = len(a.Columns)
	if r.Keep == 0 {
		r.Keep = r.Columns
	}
	for {
		more, err := c.Row(r)
		if err != nil || !more {
			return a, rows, err
		}
		if r.Cut != nil || r.Drop {
			continue
		}
		var values []string
		for _, v := range r.Values {
			if v == nil {
				values = append(values, "NULL")
			} else {
				values = append(values, string(v))
			}
		}
		rows = append(rows, values)
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", 1<<24+100)
	sent := bytes.Join([][]byte{
		packets([]byte{2}, column("a", wire.TypeLong), column("b", wire.TypeVarString), end,
			row("1", "one"), row("NULL", ""), row("3", strings.Repeat("y", 70_000)), row("4", long), end),
		packets(okay),
		packets([]byte("\xff\x28\x04#42000no \xff such")),
		packets([]byte{1}, column("a", wire.TypeLong), end, row("1"), []byte("\xff\x25\x05#70100ended")),
	}, nil)
	for name, r := range map[string]io.Reader{
		"at once":      bytes.NewReader(sent),
		"in pieces":    iotest.HalfReader(bytes.NewReader(sent)),
		"with the end": iotest.DataErrReader(bytes.NewReader(sent)),
	} {
		t.Run(name, func(t *testing.T) {
			c := wire.New(&stream{Reader: r}, false)
			var into wire.Row
			into.CellBytes, into.RowBytes = 1<<25, 1<<25
			a, rows, err := read(c, &into)
			if err != nil {
				t.Fatal(err)
			}
			wantColumns := []wire.Column{
				{Name: "a", Type: wire.TypeLong, Charset: 45, Length: 1020, Flags: wire.FlagUnsigned},
				{Name: "b", Type: wire.TypeVarString, Charset: 45, Length: 1020, Flags: wire.FlagUnsigned},
			}
			if diff := cmp.Diff(wantColumns, a.Columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			want := [][]string{{"1", "one"}, {"NULL", ""}, {"3", strings.Repeat("y", 70_000)}, {"4", long}}
			if !cmp.Equal(want, rows) {
				t.Error("the rows differ from those that were sent")
			}
			if !into.Status.Has(wire.InTransaction | wire.InReadOnlyTransaction) {
				t.Errorf("status %#x", into.Status)
			}
			if a, _, err = read(c, &into); err != nil || a.Columns != nil || a.Status != wire.Autocommit {
				t.Errorf("an OK gave %+v, %v", a, err)
			}
			a, _, err = read(c, &into)
			if diff := cmp.Diff(&wire.Error{Number: 1064, State: "42000", Message: "no \uFFFD such"}, a.Err); diff != "" || err != nil {
				t.Errorf("an error gave %v (-want +got):\n%s", err, diff)
			}
			_, rows, err = read(c, &into)
			if err != nil || len(rows) != 1 || into.Err == nil || into.Err.Number != 1317 {
				t.Errorf("an error after rows gave %v, %v, %v", rows, into.Err, err)
			}
		})
	}
}

func TestExtendedTypes(t *testing.T) {
	c := connect(packets([]byte{2}, column("u", wire.TypeString, append([]byte{0}, text("uuid")...)...),
		column("j", wire.TypeBlob, append([]byte{1}, text("json")...)...), end, end), true)
	a, _, err := read(c, &wire.Row{CellBytes: 10, RowBytes: 10})
	if err != nil {
		t.Fatal(err)
	}
	if a.Columns[0].Extended != "uuid" || a.Columns[1].Format != "json" {
		t.Errorf("columns %+v", a.Columns)
	}
}

func TestLimits(t *testing.T) {
	answer := func(rows ...[]byte) []byte {
		bodies := append([][]byte{{3}, column("a", 3), column("b", 253), column("c", 253), end}, rows...)
		return packets(append(bodies, end)...)
	}
	for _, test := range []struct {
		name string
		row  []byte
		keep int
		cut  *wire.Cut
	}{
		{"at the limits", row("1", "12345678", "12345678"), 3, nil},
		{"a long value", row("1", "123456789", "1"), 3, &wire.Cut{Column: 1, Size: 9}},
		{"a long row", row("1", "12345678", "123456789"[:8]+""), 3, nil},
		{"too long together", row("22", "12345678", "12345678"), 3, &wire.Cut{Column: -1}},
		{"a long value behind what is too long together", row("22222222", "12345678", "1234567890"), 3, &wire.Cut{Column: 2, Size: 10}},
		{"a long value left out", row("1", "2", strings.Repeat("z", 100_000)), 2, nil},
		{"very long", row("1", strings.Repeat("z", 1<<24+5), "3"), 3, &wire.Cut{Column: 1, Size: 1<<24 + 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := connect(append(answer(test.row, row("5", "6", "7")), packets(okay)...), false)
			r := wire.Row{CellBytes: 8, RowBytes: 17, Keep: test.keep}
			a, err := c.Answer()
			if err != nil {
				t.Fatal(err)
			}
			r.Columns = len(a.Columns)
			if more, err := c.Row(&r); err != nil || !more {
				t.Fatalf("no row: %v", err)
			}
			if diff := cmp.Diff(test.cut, r.Cut); diff != "" {
				t.Errorf("cut (-want +got):\n%s", diff)
			}
			if want := test.keep; test.cut == nil && len(r.Values) != want || test.cut != nil && len(r.Values) != 0 {
				t.Errorf("%d values", len(r.Values))
			}
			if more, err := c.Row(&r); err != nil || !more || string(r.Values[0]) != "5" || r.Cut != nil {
				t.Errorf("the next row is %q, %v", r.Values, err)
			}
			if more, err := c.Row(&r); err != nil || more {
				t.Errorf("a further row, %v", err)
			}
			if a, err := c.Answer(); err != nil || a.Status != wire.Autocommit {
				t.Errorf("the next answer is %+v, %v", a, err)
			}
		})
	}
}

// Bytes that do not fit the protocol are an ErrFormat, and no value is taken
// from them.
func TestNotTheProtocol(t *testing.T) {
	outOfTurn := packets(okay)
	outOfTurn[3] = 7
	secondFrame := packets([]byte{1}, column("a", 3), end, row(strings.Repeat("x", 1<<24+5)), end)
	secondFrame[len(packets([]byte{1}, column("a", 3), end))+4+1<<24-1+3] = 99
	for name, sent := range map[string][]byte{
		"a request for a file":            packets([]byte("\xfb/etc/passwd")),
		"out of turn":                     outOfTurn,
		"a second frame out of turn":      secondFrame,
		"an OK that is too short":         packets([]byte{0, 0}),
		"an error that is too short":      packets([]byte{0xff, 1}),
		"no columns":                      packets([]byte{0xfc, 0, 0}),
		"too many columns":                packets([]byte{0xfc, 0xff, 0xff}),
		"more behind the columns":         packets([]byte{1, 1}),
		"a column that is too short":      packets([]byte{1}, []byte("\x03def"), end),
		"columns without an end":          packets([]byte{1}, column("a", 3), row("1")),
		"a row with a value too few":      packets([]byte{2}, column("a", 3), column("b", 3), end, row("1"), end),
		"a row with a value too many":     packets([]byte{1}, column("a", 3), end, row("1", "2"), end),
		"a value longer than its row":     packets([]byte{1}, column("a", 3), end, []byte{5, '1'}, end),
		"a value of a negative length":    packets([]byte{1}, column("a", 3), end, append([]byte{0xfe}, bytes.Repeat([]byte{0xff}, 8)...), end),
		"an empty packet among rows":      packets([]byte{1}, column("a", 3), end, nil, end),
		"an end of rows that is too long": packets([]byte{1}, column("a", 3), end, append(bytes.Clone(end), 1)),
		"a long definition":               packets([]byte{1}, column(strings.Repeat("a", 70_000), 3), end, end),
		"an empty packet":                 packets(nil),
	} {
		t.Run(name, func(t *testing.T) {
			_, rows, err := read(connect(sent, false), &wire.Row{CellBytes: 1 << 10, RowBytes: 1 << 10})
			if !errors.Is(err, wire.ErrFormat) {
				t.Errorf("%d rows, error %v, want ErrFormat", len(rows), err)
			}
		})
	}
}

// An error out of turn, such as a server's farewell, is an error of the
// connection.
func TestFarewell(t *testing.T) {
	sent := packets([]byte("\xff\xbf\x0f#HY000idle"))
	sent[3] = 0
	_, err := connect(sent, false).Answer()
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Number != 4031 {
		t.Errorf("error %v, want the server's", err)
	}
}

func TestEnd(t *testing.T) {
	full := packets([]byte{1}, column("a", 3), end, row("1"), end)
	for n := range full {
		if _, _, err := read(connect(full[:n], false), &wire.Row{CellBytes: 10, RowBytes: 10}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d of %d bytes gave error %v", n, len(full), err)
		}
	}
}

func TestSends(t *testing.T) {
	s := &stream{Reader: strings.NewReader("")}
	c := wire.New(s, false)
	if err := c.SendQueries("SELECT 1", "ä"); err != nil {
		t.Fatal(err)
	}
	if err := c.SendQueryAndReset("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	want := "\x09\x00\x00\x00\x03SELECT 1" + "\x03\x00\x00\x00\x03ä" + "\x09\x00\x00\x00\x03ROLLBACK" + "\x01\x00\x00\x00\x1f"
	if diff := cmp.Diff(want, s.sent.String()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	s.sent.Reset()
	if err := c.SendQueries(strings.Repeat("x", 1<<24-2)); err != nil {
		t.Fatal(err)
	}
	b := s.sent.Bytes()
	if len(b) != 4+1<<24-1+4 || string(b[:5]) != "\xff\xff\xff\x00\x03" || string(b[len(b)-4:]) != "\x00\x00\x00\x01" {
		t.Errorf("a statement that fills a frame was sent as %d bytes, %x … %x", len(b), b[:5], b[len(b)-4:])
	}
}

// Whatever bytes arrive, the reader must not panic, loop, or hold more than its
// limits.
func FuzzAnswer(f *testing.F) {
	f.Add(packets([]byte{2}, column("a", 3), column("b", 253), end, row("1", "x"), row("NULL", "y"), end), true)
	f.Add(packets(okay), false)
	f.Add(packets([]byte("\xff\x28\x04#42000no")), false)
	f.Add(packets([]byte{1}, column("a", 3), end, []byte{0xfe, 1, 0, 0, 0, 0, 0, 0, 0, 'x'}, end), false)
	f.Fuzz(func(t *testing.T, sent []byte, extended bool) {
		c := connect(sent, extended)
		r := wire.Row{CellBytes: 100, RowBytes: 150, Keep: 2}
		for {
			a, err := c.Answer()
			if err != nil {
				return
			}
			r.Columns = len(a.Columns)
			for more := a.Columns != nil; more; {
				if more, err = c.Row(&r); err != nil {
					return
				}
				size := 0
				for _, v := range r.Values {
					size += len(v)
				}
				if size > 150 || len(r.Values) > 2 {
					t.Fatalf("%d values of %d bytes", len(r.Values), size)
				}
			}
		}
	})
}
