package tds

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
	"unicode/utf16"
)

// Types and status bits of packets (MS-TDS 2.2.3.1).
const (
	packetBatch     = 0x01
	packetReply     = 0x04
	packetAttention = 0x06
	packetLogin     = 0x10
	packetPrelogin  = 0x12

	statusEnd   = 0x01
	statusReset = 0x08

	headerSize    = 8
	minPacketSize = 512
	maxPacketSize = 32767
	// defaultPacketSize is what the driver asks for.
	defaultPacketSize = 4096
)

// ErrMalformed is the error of an answer that is not the protocol's.
var ErrMalformed = errors.New("the server's answer does not fit the protocol")

// ErrCut is the error, beside ErrMalformed, of a message that ends inside of a
// token, and of a value that ends before its length, as what an attention ends
// may.
var ErrCut = fmt.Errorf("%w: it ends too early", ErrMalformed)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// packets reads messages, which are packets up to one with the bit statusEnd.
type packets struct {
	r       *bufio.Reader
	left    int  // bytes of the current packet
	last    bool // the current packet ends its message
	scratch []byte
	// handshake accepts packets of the type PRELOGIN, in which servers answer
	// while TLS is set up.
	handshake bool
}

func newPackets(r io.Reader) packets {
	return packets{r: bufio.NewReaderSize(r, maxPacketSize+1), last: true}
}

// begin starts a message.
func (p *packets) begin() error {
	if !p.ended() {
		return malformed("a message goes on behind its last token")
	}
	p.last = false
	return p.next()
}

// ended reports whether the message was read to its end.
func (p *packets) ended() bool { return p.last && p.left == 0 }

// next reads the header of a packet.
func (p *packets) next() error {
	h, err := p.r.Peek(headerSize)
	if err != nil {
		return err
	}
	size := int(binary.BigEndian.Uint16(h[2:]))
	if known := h[0] == packetReply || h[0] == packetPrelogin && p.handshake; !known || size < headerSize || size > maxPacketSize {
		return malformed("a packet of type %#x and %d bytes", h[0], size)
	}
	p.left, p.last = size-headerSize, h[1]&statusEnd != 0
	_, err = p.r.Discard(headerSize)
	return err
}

// piece returns between 1 and most bytes of the message, which are valid until
// the next read.
func (p *packets) piece(most int) ([]byte, error) {
	for p.left == 0 {
		if p.last {
			return nil, ErrCut
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if p.r.Buffered() == 0 {
		if _, err := p.r.Peek(1); err != nil {
			return nil, err
		}
	}
	n := min(most, p.left, p.r.Buffered())
	b, err := p.r.Peek(n)
	if err != nil {
		return nil, err
	}
	p.left -= n
	_, err = p.r.Discard(n)
	return b, err
}

// take returns n bytes of the message, at most 65,535, which are valid until
// the next read.
func (p *packets) take(n int) ([]byte, error) {
	if n <= p.left && n <= p.r.Buffered() {
		if n == 0 {
			return nil, nil
		}
		return p.piece(n)
	}
	p.scratch = p.scratch[:0]
	for len(p.scratch) < n {
		b, err := p.piece(n - len(p.scratch))
		if err != nil {
			return nil, err
		}
		p.scratch = append(p.scratch, b...)
	}
	return p.scratch, nil
}

// Conn is one connection that is logged in. One goroutine at a time sends and
// reads; Attention and Sever may be called by others.
type Conn struct {
	nc    net.Conn
	in    packets
	size  int // of packets that are sent
	facts Facts
	// transaction is the descriptor of the open transaction; 0 without one.
	transaction uint64

	mu        sync.Mutex // of what is written, and of the fields below
	flying    bool       // a request is not answered yet
	attention bool       // it was told to end
	out       []byte
}

// Facts are what the server said of itself and of the connection at login.
type Facts struct {
	Program  string // such as "Microsoft SQL Server"
	Version  string // such as "16.0.4085"
	Database string
	TLS      string // such as "TLS 1.2"; "" without
	Verified bool   // the certificate was checked
}

// Facts returns what is known since the login.
func (c *Conn) Facts() Facts { return c.facts }

// InTransaction reports whether the server said that a transaction began and
// not that it ended.
func (c *Conn) InTransaction() bool { return c.transaction != 0 }

// Deadline bounds reading and writing; the zero time removes the bound.
func (c *Conn) Deadline(t time.Time) error { return c.nc.SetDeadline(t) }

// Sever cuts the connection to wake whoever reads or writes it.
func (c *Conn) Sever() {
	// A TLS connection says goodbye when it is closed, which must not wait for
	// a peer that does not read.
	_ = c.nc.SetDeadline(time.Unix(1, 0))
	_ = c.nc.Close()
}

// Bytes of a batch around its text.
const (
	allHeadersSize = 22 // one header, of the transaction (MS-TDS 2.2.5.3)
	transactionHdr = 2
)

// SendBatch sends text as one SQLBatch message. With reset the server resets
// the session first, as sp_reset_connection does. The answer must be read to
// [TokenEnd] before the next batch.
func (c *Conn) SendBatch(text string, reset bool) (*Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flying {
		return nil, errors.New("a batch was sent before the last one was answered")
	}
	c.flying, c.attention = true, false
	body := c.out[:0]
	body = binary.LittleEndian.AppendUint32(body, allHeadersSize)
	body = binary.LittleEndian.AppendUint32(body, allHeadersSize-4)
	body = binary.LittleEndian.AppendUint16(body, transactionHdr)
	body = binary.LittleEndian.AppendUint64(body, c.transaction)
	body = binary.LittleEndian.AppendUint32(body, 1) // outstanding requests
	for _, r := range text {
		if hi, lo := utf16.EncodeRune(r); r > 0xFFFF {
			body = binary.LittleEndian.AppendUint16(body, uint16(hi)) //nolint:gosec // a surrogate has 16 bits
			body = binary.LittleEndian.AppendUint16(body, uint16(lo)) //nolint:gosec // a surrogate has 16 bits
			continue
		}
		body = binary.LittleEndian.AppendUint16(body, uint16(r)) //nolint:gosec // checked above
	}
	var status byte
	if reset {
		status = statusReset
	}
	err := c.message(packetBatch, status, body)
	c.out = body[:0]
	if cap(c.out) > 64<<10 {
		c.out = nil
	}
	if err != nil {
		return nil, err
	}
	return &Response{c: c, p: &c.in}, nil
}

// message writes body in packets. The caller holds mu.
func (c *Conn) message(kind, status byte, body []byte) error {
	packet := make([]byte, 0, min(c.size, headerSize+len(body)))
	for number := byte(1); ; number++ {
		n := min(len(body), c.size-headerSize)
		if n == len(body) {
			status |= statusEnd
		}
		packet = binary.BigEndian.AppendUint16(append(packet[:0], kind, status), uint16(headerSize+n)) //nolint:gosec // at most c.size
		packet = append(append(packet, 0, 0, number, 0), body[:n]...)
		if _, err := c.nc.Write(packet); err != nil {
			return err
		}
		if body = body[n:]; len(body) == 0 {
			return nil
		}
		status &^= statusReset // of the first packet only
	}
}

// Attention tells the server to end the request that it works on. Without one
// it does nothing.
func (c *Conn) Attention() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.flying || c.attention {
		return nil
	}
	c.attention = true
	return c.message(packetAttention, 0, nil)
}

// answered takes note of the end of a message that ended an answer. It reports
// whether that was the end of the request, or an attention is still to be
// acknowledged.
func (c *Conn) answered(acknowledged bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.attention && !acknowledged {
		return false
	}
	c.flying, c.attention = false, false
	return true
}
