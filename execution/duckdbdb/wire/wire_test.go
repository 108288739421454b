package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
)

func TestFrames(t *testing.T) {
	var pipe bytes.Buffer
	c := wire.New(&pipe, &pipe)
	if err := c.Write(wire.Query, nil); err == nil {
		t.Error("Write wrote a statement")
	}
	if err := errors.Join(c.SendStatement(wire.Statement{SQL: "SELECT 1"}), c.Write(wire.Done, nil)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []wire.Kind{wire.Query, wire.Done} {
		kind, _, err := c.Read(wire.MaxControl)
		if kind != want || err != nil {
			t.Errorf("%q, %v; want %q", kind, err, want)
		}
	}
	if _, _, err := c.Read(wire.MaxControl); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// A reader does not make room for a length before its bytes are there.
func TestLengthsAreNotTrusted(t *testing.T) {
	head := binary.BigEndian.AppendUint32([]byte{byte(wire.Rows)}, 1<<31)
	c := wire.New(bytes.NewReader(head), io.Discard)
	if _, _, err := c.Read(1 << 20); !errors.Is(err, wire.ErrTooLong) {
		t.Errorf("a length beyond the limit: %v", err)
	}
	allocated := testing.AllocsPerRun(1, func() {
		if _, _, err := wire.New(bytes.NewReader(head), io.Discard).Read(1 << 40); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a length without bytes: %v", err)
		}
	})
	if allocated > 20 {
		t.Errorf("%v allocations", allocated)
	}
}

func FuzzNextRow(f *testing.F) {
	f.Add([]byte{0, 1, 3, 'a', 'b'}, uint8(3))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, uint8(1))
	f.Fuzz(func(t *testing.T, payload []byte, columns uint8) {
		cells := make([][]byte, columns)
		rest, err := wire.NextRow(payload, cells)
		if err != nil {
			return
		}
		// What was read is written as bytes that are read the same.
		var again []byte
		for _, c := range cells {
			again = wire.AppendCell(again, c, c == nil)
		}
		same := make([][]byte, columns)
		if _, err := wire.NextRow(append(again, rest...), same); err != nil || !cmp.Equal(cells, same) {
			t.Errorf("%q became %q: %v", cells, same, err)
		}
	})
}
