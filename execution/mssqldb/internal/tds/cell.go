package tds

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// Cell is one value of a row.
type Cell struct {
	// Raw is the value as the server sent it. It is valid until the next read.
	// It is nil if the value is NULL or longer than the limit.
	Raw  []byte
	Null bool
	// Over says that the value is longer than the limit. Size is then the
	// length of its text in bytes.
	Over bool
	Size int64
}

// Cell reads the row's next value. It holds at most most bytes of it, as sent
// on the wire.
func (r *Response) Cell(most int64) (Cell, error) {
	if r.err != nil {
		return Cell{}, r.err
	}
	if !r.inRow {
		return Cell{}, malformed("a value outside of a row")
	}
	i := r.at
	c := &r.Columns[i]
	r.at++
	if r.at == len(r.Columns) {
		r.inRow = false
	}
	if r.hasNulls && r.nulls[i/8]&(1<<(i%8)) != 0 {
		return Cell{Null: true}, nil
	}
	var cell Cell
	switch c.layout {
	case layoutFixed:
		cell = r.body(c, int64(c.size), most)
		cell.Null = c.id == typeNull
	case layoutByte:
		if n := r.u8(); n > 0 {
			cell = r.body(c, int64(n), most)
		} else {
			cell.Null = true
		}
	case layoutShort:
		if n := r.u16(); n != 0xFFFF {
			cell = r.body(c, int64(n), most)
		} else {
			cell.Null = true
		}
	case layoutPointer:
		n := r.u8()
		if n == 0 {
			cell.Null = true
			break
		}
		r.skip(int64(n) + 8)
		size := r.u32()
		if size > maxValue {
			r.fail(malformed("a value of %d bytes", size))
		}
		cell = r.body(c, int64(size), most)
	case layoutVariant:
		switch n := r.u32(); {
		case n == 0:
			cell.Null = true
		case n > maxVariant:
			r.fail(malformed("a variant of %d bytes", n))
		default:
			cell = r.body(c, int64(n), most)
		}
	case layoutChunks:
		cell = r.chunks(c, most)
	default:
		r.fail(malformed("a value of no layout"))
	}
	return cell, r.err
}

const (
	maxValue   = 1<<31 - 1
	maxVariant = 8016 + 64 // 8,016 bytes, and room for what describes them
)

// body reads a value of n bytes.
func (r *Response) body(c *Column, n, most int64) Cell {
	m := meter{r: r, c: c, most: most}
	m.start(n)
	m.read(n)
	return m.cell()
}

// chunks reads a value in chunks.
func (r *Response) chunks(c *Column, most int64) Cell {
	const null, unknown = 1<<64 - 1, 1<<64 - 2
	total := r.u64()
	if total == null {
		return Cell{Null: true}
	}
	if total != unknown && total > maxValue {
		r.fail(malformed("a value of %d bytes", total))
	}
	m := meter{r: r, c: c, most: most}
	if total != unknown {
		m.start(int64(total)) //nolint:gosec // checked above
	} else {
		m.start(0)
	}
	for r.err == nil {
		n := int64(r.u32())
		if n == 0 {
			break
		}
		if m.seen+n > maxValue || total != unknown && m.seen+n > int64(total) { //nolint:gosec // checked above
			r.fail(malformed("a value that is longer than its length"))
			break
		}
		m.read(n)
	}
	if r.err == nil && total != unknown && m.seen != int64(total) { //nolint:gosec // checked above
		r.fail(fmt.Errorf("%w: a value is shorter than its length", ErrCut))
	}
	return m.cell()
}

// meter holds the bytes of a value up to a limit. Beyond the limit it only
// counts the bytes of the value's text.
type meter struct {
	r    *Response
	c    *Column
	most int64
	seen int64
	over bool
	text int64 // bytes of text for what was read
	half []byte
}

// start prepares for a value of n bytes, as the server states.
func (m *meter) start(n int64) {
	m.r.cell = m.r.cell[:0]
	if n > m.most {
		m.exceed()
	}
}

// exceed records that the value is longer than the limit.
func (m *meter) exceed() {
	m.over = true
	if m.r.Over != nil && m.most > 0 {
		m.r.Over()
	}
}

// read reads n more bytes.
func (m *meter) read(n int64) {
	for n > 0 && m.r.err == nil {
		b, err := m.r.p.piece(int(min(n, 1<<15)))
		if err != nil {
			m.r.fail(err)
			return
		}
		n -= int64(len(b))
		m.seen += int64(len(b))
		if !m.over && m.seen > m.most {
			m.exceed()
			m.count(m.r.cell)
		}
		if m.over {
			m.count(b)
		} else {
			m.r.cell = append(m.r.cell, b...)
		}
	}
}

// count adds the number of bytes that b has as text. A UTF-16 character may lie
// on the border of two pieces.
func (m *meter) count(b []byte) {
	if !m.c.wide() {
		m.text += int64(len(b))
		return
	}
	if len(m.half) > 0 {
		b = append(m.half, b...)
		m.half = nil
	}
	for ; len(b) >= 2; b = b[2:] {
		switch u := binary.LittleEndian.Uint16(b); {
		case u < utf8.RuneSelf:
			m.text++
		case u < 0x800, u >= 0xD800 && u < 0xE000: // half of four bytes
			m.text += 2
		default:
			m.text += 3
		}
	}
	m.half = append(m.half, b...)
}

// cell returns what was read.
func (m *meter) cell() Cell {
	if !m.over {
		return Cell{Raw: m.r.cell}
	}
	size := m.text
	if m.c.binary() {
		size = 2 + 2*m.seen
	}
	return Cell{Over: true, Size: size}
}
