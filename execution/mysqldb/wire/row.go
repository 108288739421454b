package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Row is one row, and the limits for holding it. Its values are valid until the
// next read into it.
type Row struct {
	// Columns is the number of columns of the answer. Keep is how many of them,
	// from the first, are kept.
	Columns, Keep int
	// CellBytes bounds one kept value, and RowBytes all kept values of a row.
	CellBytes, RowBytes int64
	// Drop makes Row skip every row.
	Drop bool

	// Values are the first Keep values, nil for NULL.
	Values [][]byte
	// Cut says why there are no values: one of them is too long, or all of them
	// together are.
	Cut *Cut
	// Status is the status of the session after the last row. Err is the
	// server's error, if an error ended the rows.
	Status Status
	Err    *Error

	buf  []byte
	ends []int // of the values in buf; -1 for NULL
}

// Cut says which part of a row is too long.
type Cut struct {
	Column int   // of the value; -1 when the row as a whole is
	Size   int64 // of the value
}

// Row reads the next row of an answer into r. It reports false when there is
// none. Then r.Status and r.Err say how the answer ended.
func (c *Conn) Row(r *Row) (bool, error) {
	if !c.inRows {
		return false, fmt.Errorf("%w: no rows are due", ErrFormat)
	}
	r.Values, r.Cut = r.Values[:0], nil
	if err := c.inTurn(); err != nil {
		return false, err
	}
	first, err := c.next(1)
	if err != nil {
		return false, err
	}
	if len(first) == 0 {
		return false, fmt.Errorf("%w: an empty packet among rows", ErrFormat)
	}
	switch lead := first[0]; {
	case lead == packetError:
		c.inRows = false
		r.Err, err = c.refusal()
		return false, err
	case lead == packetEnd && c.length < 9: // a row that begins with this byte has eight bytes of length
		c.inRows = false
		b, err := c.short(nil)
		if err != nil {
			return false, err
		}
		if len(b) != 4 {
			return false, fmt.Errorf("%w: an end of rows of %d bytes", ErrFormat, len(b))
		}
		r.Status = Status(binary.LittleEndian.Uint16(b[2:]))
		return false, nil
	case r.Drop:
		return true, c.skip(-1)
	default:
		return true, c.values(r, lead)
	}
}

// values reads the values of a row whose first byte is lead.
func (c *Conn) values(r *Row, lead byte) error {
	if r.buf == nil {
		r.buf = make([]byte, 0, 1<<10) // a value without bytes is not NULL
	}
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	var size int64
	for i := range r.Columns {
		if i > 0 {
			b, err := c.next(1)
			if err != nil {
				return err
			}
			if len(b) == 0 {
				return fmt.Errorf("%w: a row of %d values where %d were described", ErrFormat, i, r.Columns)
			}
			lead = b[0]
		}
		n, null, err := c.length64(lead)
		switch {
		case err != nil:
			return err
		case null && i < r.Keep:
			r.ends = append(r.ends, -1)
			continue
		case null:
			continue
		case i >= r.Keep:
			if err := c.skip(n); err != nil {
				return err
			}
			continue
		case n > r.CellBytes:
			r.Cut = &Cut{Column: i, Size: n}
			return c.skip(-1)
		}
		if size += n; size > r.RowBytes {
			// A later value may be too long by itself. Such a value is reported
			// instead of the row.
			r.Cut = &Cut{Column: -1}
		}
		if r.Cut != nil {
			err = c.skip(n)
		} else {
			r.buf, err = c.append(r.buf, int(n))
			r.ends = append(r.ends, len(r.buf))
		}
		if err != nil {
			return err
		}
	}
	if !c.atEnd() {
		if b, err := c.next(1); err != nil || len(b) > 0 {
			return fmt.Errorf("%w: a row goes on behind its last value", ErrFormat)
		}
	}
	if r.Cut == nil {
		r.slice()
	}
	return nil
}

// slice sets r.Values from the bytes that were read.
func (r *Row) slice() {
	from := 0
	for _, end := range r.ends {
		if end < 0 {
			r.Values = append(r.Values, nil)
			continue
		}
		r.Values = append(r.Values, r.buf[from:end:end])
		from = end
	}
}

// length64 reads the rest of a value's length. Null says that the value is
// NULL.
func (c *Conn) length64(lead byte) (n int64, null bool, err error) {
	var width int
	switch lead {
	case 0xfb:
		return 0, true, nil
	case 0xfc:
		width = 2
	case 0xfd:
		width = 3
	case 0xfe:
		width = 8
	case 0xff:
		return 0, false, fmt.Errorf("%w: a value of no length", ErrFormat)
	default:
		return int64(lead), false, nil
	}
	var raw [8]byte
	b, err := c.append(raw[:0], width)
	if err != nil {
		return 0, false, err
	}
	copy(raw[:], b)
	u := binary.LittleEndian.Uint64(raw[:])
	if u > math.MaxInt64 {
		return 0, false, fmt.Errorf("%w: a value of %d bytes", ErrFormat, u)
	}
	return int64(u), false, nil
}
