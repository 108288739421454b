package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// ErrFormat says that the server's bytes do not fit the protocol.
var ErrFormat = errors.New("the server sent a packet that is not of the protocol")

// The commands that this package sends (include/my_command.h).
const (
	comQuit  = 0x01
	comQuery = 0x03
	comReset = 0x1f
)

const (
	headLen  = 4
	frameMax = 1<<24 - 1 // a frame of this length is followed by another
	textMax  = 64 << 10  // of a packet that is not a row
)

// Conn is one connection. One goroutine at a time uses it. Only Sever and
// Arrived may be called by others meanwhile.
type Conn struct {
	nc       net.Conn
	extended bool // column definitions have the extended type information

	buf        []byte
	start, end int // the unread part of buf
	arrived    atomic.Int64

	seq    byte // of the next frame
	left   int  // unread bytes of the frame
	more   bool // another frame of the packet follows
	length int  // of the first frame of the packet

	inRows bool // the rows of an answer are not read to their end
	names  []byte
}

// New returns a connection on nc, which must be authenticated and have nothing
// unread. Extended says whether MARIADB_CLIENT_EXTENDED_METADATA was agreed on.
func New(nc net.Conn, extended bool) *Conn {
	return &Conn{nc: nc, extended: extended, buf: make([]byte, 16<<10)}
}

// SendQueries sends each string as one statement, all in one write. The server
// reads each string as a single statement, because CLIENT_MULTI_STATEMENTS was
// not agreed on, and answers them in order.
func (c *Conn) SendQueries(texts ...string) error {
	var b []byte
	for _, text := range texts {
		b = appendCommand(b, comQuery, text)
	}
	return c.write(b)
}

// SendQueryAndReset sends a statement, and after it the command that resets the
// session to its state after the log-in.
func (c *Conn) SendQueryAndReset(text string) error {
	return c.write(appendCommand(appendCommand(nil, comQuery, text), comReset, ""))
}

// appendCommand appends the frames of one command.
func appendCommand(b []byte, command byte, text string) []byte {
	rest, seq, first := 1+len(text), byte(0), true
	for {
		n := min(rest, frameMax)
		b = append(b, byte(n), byte(n>>8), byte(n>>16), seq) //nolint:gosec // the three bytes of a number below 1<<24
		take := n
		if first {
			b = append(b, command)
			take, first = n-1, false
		}
		b, text = append(b, text[:take]...), text[take:]
		rest -= n
		seq++
		if n < frameMax {
			return b
		}
	}
}

func (c *Conn) write(b []byte) error {
	_, err := c.nc.Write(b)
	return err
}

// SetDeadline bounds every read and write from now on; the zero time removes
// the bound.
func (c *Conn) SetDeadline(t time.Time) error { return c.nc.SetDeadline(t) }

// Arrived returns how many bytes the server has sent so far.
func (c *Conn) Arrived() int64 { return c.arrived.Load() }

// Sever cuts the connection, which wakes any goroutine that reads or writes it.
// It may be called at any time by any goroutine.
func (c *Conn) Sever() {
	// Closing a TLS connection sends a closing message. The deadline in the
	// past keeps that from waiting for a peer that does not read.
	_ = c.nc.SetDeadline(time.Unix(1, 0))
	_ = c.nc.Close()
}

// byeWait is how long Bye waits for the server to close the connection.
const byeWait = 100 * time.Millisecond

// Bye ends an idle connection with the protocol's COM_QUIT.
func (c *Conn) Bye() {
	_ = c.nc.SetDeadline(time.Now().Add(time.Second))
	if c.write(appendCommand(nil, comQuit, "")) == nil {
		// The server closes the connection when it has ended the session, so
		// that a caller who makes another one next is not one too many.
		_ = c.nc.SetReadDeadline(time.Now().Add(byeWait))
		_, _ = c.nc.Read(make([]byte, 1))
	}
	_ = c.nc.Close()
}

// fill reads from the connection once, and appends the bytes to the unread
// ones.
func (c *Conn) fill() error {
	if c.start == c.end {
		c.start, c.end = 0, 0
	} else if c.end == len(c.buf) {
		c.end = copy(c.buf, c.buf[c.start:c.end])
		c.start = 0
	}
	n, err := c.nc.Read(c.buf[c.end:])
	c.end += n
	c.arrived.Add(int64(n))
	switch {
	case n > 0:
		return nil // the next read returns the error again
	case err == nil:
		return io.ErrNoProgress
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	default:
		return err
	}
}

// frame reads the head of the next frame and returns its length and number.
func (c *Conn) frame() (length int, seq byte, err error) {
	for c.end-c.start < headLen {
		if err := c.fill(); err != nil {
			return 0, 0, err
		}
	}
	head := binary.LittleEndian.Uint32(c.buf[c.start:])
	c.start += headLen
	return int(head & frameMax), byte(head >> 24), nil
}

// packet begins the next packet of an answer. The packet before must have been
// read to its end. It reports whether the frame has the expected number.
func (c *Conn) packet() (inTurn bool, err error) {
	n, seq, err := c.frame()
	if err != nil {
		return false, err
	}
	inTurn = seq == c.seq
	c.seq = seq + 1
	c.left, c.more, c.length = n, n == frameMax, n
	return inTurn, nil
}

// next returns at least one and up to n bytes of the packet that have arrived,
// or none at the packet's end. They are valid until the next call.
func (c *Conn) next(n int) ([]byte, error) {
	for c.left == 0 {
		if !c.more {
			return nil, nil
		}
		length, seq, err := c.frame()
		if err != nil {
			return nil, err
		}
		if seq != c.seq {
			return nil, fmt.Errorf("%w: frame %d where %d was due", ErrFormat, seq, c.seq)
		}
		c.seq++
		c.left, c.more = length, length == frameMax
	}
	if c.start == c.end {
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
	n = min(n, c.left, c.end-c.start)
	b := c.buf[c.start : c.start+n]
	c.start += n
	c.left -= n
	return b, nil
}

// append appends n bytes of the packet to b. A packet that ends earlier is an
// error.
func (c *Conn) append(b []byte, n int) ([]byte, error) {
	for n > 0 {
		part, err := c.next(n)
		if err != nil {
			return b, err
		}
		if len(part) == 0 {
			return b, fmt.Errorf("%w: it ends too early", ErrFormat)
		}
		b = append(b, part...)
		n -= len(part)
	}
	return b, nil
}

// skip drops n bytes of the packet, or all of it if n is negative.
func (c *Conn) skip(n int64) error {
	for n != 0 {
		most := frameMax
		if n > 0 {
			most = int(min(n, frameMax))
		}
		part, err := c.next(most)
		if err != nil {
			return err
		}
		if len(part) == 0 {
			if n < 0 {
				return nil
			}
			return fmt.Errorf("%w: it ends too early", ErrFormat)
		}
		if n > 0 {
			n -= int64(len(part))
		}
	}
	return nil
}

// atEnd reports whether the packet was read to its end.
func (c *Conn) atEnd() bool { return c.left == 0 && !c.more }

// short reads the rest of the packet, which must not be long.
func (c *Conn) short(b []byte) ([]byte, error) {
	if c.more || len(b)+c.left > textMax {
		return nil, fmt.Errorf("%w: %d bytes where few were due", ErrFormat, c.length)
	}
	return c.append(b, c.left)
}
