package pgdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/ktxhq/ktx/execution/internal/network"
)

// Bounds of the messages other than rows that a server may send. The widest row
// description (1,664 columns with names of 63 bytes) has 137 KB.
const (
	maxTextBody    = 64 << 10 // of an error or a notice; longer ones are cut
	maxMessageBody = 1 << 20  // of every other message; a longer one ends the connection
	maxColumns     = 1664     // of a result, MaxTupleAttributeNumber
)

// errFrame says that the server's bytes do not follow the protocol.
var errFrame = errors.New("the server sent a message that is not of the protocol")

// frameReader bounds what the server sends before it is held in memory. It
// is between the connection and pgproto3's reader and changes three kinds
// of message:
//
//   - a DataRow with a cell over the limit, or one that is over the limit as a
//     whole, becomes a row without columns, and every later row is dropped;
//   - a DataRow keeps the first columns only, when it is too long to pass
//     unread;
//   - an error or notice is cut.
//
// It never holds more than one row within the limits. A frameReader belongs to
// the goroutine that reads its connection.
type frameReader struct {
	r   io.Reader
	buf []byte // the read buffer; its unread part is buf[start:end]
	err error  // error of r, reported after the bytes before it
	// now is what r reads from, while nothing is waited for: what has not arrived is an
	// error then, like a deadline. Otherwise it is nil.
	now net.Conn

	start, end int
	arrived    atomic.Int64 // bytes in total; any goroutine may read it

	// The next output, in this order, before the head of the next message.
	out  []byte // bytes made here
	pass int    // bytes of the message to hand on unread
	tail []byte // bytes made here
	skip int    // bytes of the message to drop

	head  [5]byte
	headN int

	row      rowScan
	inRow    bool
	dropRows bool
	cut      *rowCut

	cellBytes, rowBytes int64
	columns             int
}

// rowCut says why a row was replaced.
type rowCut struct {
	column int   // column of the cell that is too long; -1 when the row as a whole is
	size   int64 // size of the cell
}

// newFrameReader returns a reader that passes rows whole until limits are set.
func newFrameReader(r io.Reader) *frameReader {
	f := &frameReader{r: r, buf: make([]byte, 16<<10)}
	f.limit(maxMessageBody, maxMessageBody, maxColumns)
	return f
}

// limit sets the bounds for the rows of the next statement: for one cell, for
// all cells of a row together, and the number of columns returned. Call it
// between statements.
func (f *frameReader) limit(cellBytes, rowBytes int64, columns int) {
	f.cellBytes, f.rowBytes, f.columns = cellBytes, rowBytes, min(columns, maxColumns)
	f.dropRows, f.cut = false, nil
}

// dropRemaining drops the rows that have not arrived yet.
func (f *frameReader) dropRemaining() { f.dropRows = true }

// takeCut returns why a row without columns replaced a row, or nil when the
// server itself sent the row without columns.
func (f *frameReader) takeCut() *rowCut { return f.cut }

// Read returns the server's messages with rows, errors and notices bounded.
func (f *frameReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := f.step(p[n:])
		n += m
		switch {
		case err == nil:
			continue
		case errors.Is(err, errNeedBytes):
			if n > 0 {
				return n, nil
			}
			if err := f.fill(); err != nil {
				return 0, err
			}
		default:
			return n, err
		}
	}
	return n, nil
}

var errNeedBytes = errors.New("more bytes are needed")

// fill reads from the connection once.
func (f *frameReader) fill() error {
	if f.err != nil {
		err := f.err
		f.err = nil
		return err
	}
	var n int
	var err error
	if f.now != nil {
		n, err = network.ReadNow(f.now, f.buf)
	} else {
		n, err = f.r.Read(f.buf)
	}
	f.start, f.end = 0, n
	f.arrived.Add(int64(n))
	if n > 0 {
		f.err = err
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// take returns up to n unread bytes and moves past them.
func (f *frameReader) take(n int) []byte {
	n = min(n, f.end-f.start)
	b := f.buf[f.start : f.start+n]
	f.start += n
	return b
}

// step makes one step and returns how many bytes of p it filled.
func (f *frameReader) step(p []byte) (int, error) {
	switch {
	case len(f.out) > 0:
		n := copy(p, f.out)
		f.out = f.out[n:]
		return n, nil
	case f.pass > 0:
		b := f.take(min(len(p), f.pass))
		f.pass -= len(b)
		return copy(p, b), need(b)
	case len(f.tail) > 0:
		n := copy(p, f.tail)
		f.tail = f.tail[n:]
		return n, nil
	case f.skip > 0:
		b := f.take(f.skip)
		f.skip -= len(b)
		return 0, need(b)
	case f.inRow:
		return 0, f.scanRow()
	default:
		b := f.take(len(f.head) - f.headN)
		f.headN += copy(f.head[f.headN:], b)
		if f.headN < len(f.head) {
			return 0, need(b)
		}
		f.headN = 0
		return 0, f.message(f.head[0], int(int32(binary.BigEndian.Uint32(f.head[1:])))-4) //nolint:gosec // the wire's length is signed; a negative one is refused
	}
}

// need returns errNeedBytes when a step found no bytes.
func need(b []byte) error {
	if len(b) == 0 {
		return errNeedBytes
	}
	return nil
}

// message decides how to handle a message of this kind and body length.
func (f *frameReader) message(kind byte, body int) error {
	switch {
	case body < 0:
		return fmt.Errorf("%w: type %q with a negative length", errFrame, kind)
	case kind == 'D' && f.dropRows:
		f.skip = body
	case kind == 'D' && int64(body) > min(f.cellBytes, f.rowBytes):
		f.inRow, f.row = true, rowScan{left: body}
	case (kind == 'E' || kind == 'N') && body > maxTextBody:
		// Fields end with a zero byte, and so does the list of fields.
		f.out = appendHead(nil, kind, maxTextBody)
		f.pass, f.tail, f.skip = maxTextBody-2, []byte{0, 0}, body-(maxTextBody-2)
	case kind != 'D' && body > maxMessageBody:
		return fmt.Errorf("%w: type %q with %d bytes", errFrame, kind, body)
	default:
		f.out, f.pass = f.head[:], body
	}
	return nil
}

// appendHead appends the head of a message.
func appendHead(b []byte, kind byte, body int) []byte {
	return binary.BigEndian.AppendUint32(append(b, kind), uint32(body)+4) //nolint:gosec // bodies are bounded far below 2^31
}

// rowScan reads one long DataRow: a count, then for each column a length and
// that many bytes. A length of -1 means NULL.
type rowScan struct {
	left   int // bytes of the body not read yet
	field  [4]byte
	fieldN int
	state  rowState
	column int // the current one
	total  int // number of columns, as the row says
	cell   int // bytes of the current cell not read yet
	size   int64
	kept   []byte // the new message, its head filled in at the end; nil when the row is too long
}

type rowState uint8

const (
	rowCount rowState = iota
	rowLength
	rowCell
)

// scanRow reads the part of a long row that has arrived.
func (f *frameReader) scanRow() error {
	s := &f.row
	switch s.state {
	case rowCount:
		ok, err := f.number(2)
		if !ok {
			return err
		}
		s.total = int(binary.BigEndian.Uint16(s.field[:]))
		if s.total > maxColumns {
			return fmt.Errorf("%w: a row of %d columns", errFrame, s.total)
		}
		s.kept = binary.BigEndian.AppendUint16(make([]byte, len(f.head)), uint16(min(s.total, f.columns))) //nolint:gosec // at most maxColumns
		return f.nextColumn()
	case rowLength:
		ok, err := f.number(4)
		if !ok {
			return err
		}
		n := int32(binary.BigEndian.Uint32(s.field[:])) //nolint:gosec // the wire's length is signed
		switch {
		case n == -1:
			if s.kept != nil {
				s.kept = append(s.kept, s.field[:]...)
			}
			s.column++
			return f.nextColumn()
		case n < 0 || int(n) > s.left:
			return fmt.Errorf("%w: a cell of %d bytes in a row with %d left", errFrame, n, s.left)
		}
		s.size += int64(n)
		if int64(n) > f.cellBytes {
			f.replaceRow(rowCut{column: s.column, size: int64(n)})
			return nil
		}
		if s.size > f.rowBytes {
			s.kept = nil // the row is dropped; a later cell may still be too long
		}
		if s.kept != nil {
			s.kept = append(s.kept, s.field[:]...)
		}
		s.cell, s.state = int(n), rowCell
		return f.endCell()
	case rowCell:
		b := f.take(s.cell)
		if s.kept != nil {
			s.kept = append(s.kept, b...)
		}
		s.cell -= len(b)
		s.left -= len(b)
		if err := need(b); err != nil {
			return err
		}
		return f.endCell()
	default:
		return errFrame
	}
}

func (f *frameReader) endCell() error {
	if f.row.cell > 0 {
		return nil
	}
	f.row.column++
	return f.nextColumn()
}

// nextColumn continues with the next column to return, or ends the row.
func (f *frameReader) nextColumn() error {
	s := &f.row
	if s.column < min(s.total, f.columns) {
		s.state = rowLength
		return nil
	}
	if s.column == s.total && s.left != 0 {
		return fmt.Errorf("%w: %d bytes behind the last column", errFrame, s.left)
	}
	if s.kept == nil {
		f.replaceRow(rowCut{column: -1})
		return nil
	}
	appendHead(s.kept[:0], 'D', len(s.kept)-len(f.head))
	f.out = s.kept
	f.endRow()
	return nil
}

// replaceRow replaces this row with a row without columns.
func (f *frameReader) replaceRow(why rowCut) {
	f.cut, f.dropRows = &why, true
	f.out = append(appendHead(nil, 'D', 2), 0, 0)
	f.endRow()
}

func (f *frameReader) endRow() {
	f.skip = f.row.left
	f.inRow, f.row = false, rowScan{}
}

// number reads a field of n bytes; it reports whether the field is complete.
func (f *frameReader) number(n int) (bool, error) {
	s := &f.row
	if s.fieldN == 0 && s.left < n {
		return false, fmt.Errorf("%w: a row that ends too early", errFrame)
	}
	b := f.take(n - s.fieldN)
	copy(s.field[s.fieldN:n], b)
	s.fieldN += len(b)
	s.left -= len(b)
	if s.fieldN < n {
		return false, need(b)
	}
	s.fieldN = 0
	return true, nil
}

// buffered reports whether bytes from the server are buffered here.
func (f *frameReader) buffered() bool {
	return f.end > f.start || len(f.out) > 0 || len(f.tail) > 0 || f.err != nil
}
