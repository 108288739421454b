package tds

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
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
	// defaultPacketSize is the size that the driver requests.
	defaultPacketSize = 4096
)

// ErrMalformed is the error for an answer that does not fit the protocol.
var ErrMalformed = errors.New("the server's answer does not fit the protocol")

// ErrCut is added to ErrMalformed for a message that ends inside of a token,
// and for a value that ends before its stated length. An answer that an
// attention ended may look like that.
var ErrCut = fmt.Errorf("%w: it ends too early", ErrMalformed)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// packets reads messages. A message consists of packets, up to one with the bit
// statusEnd.
type packets struct {
	r       *bufio.Reader
	left    int           // bytes of the current packet
	last    bool          // the current packet ends its message
	session uint16        // the server's session, as the last packet says
	count   *atomic.Int64 // of packets
	scratch []byte
	// handshake accepts packets of the type PRELOGIN, which servers send while
	// TLS is set up.
	handshake bool
}

func newPackets(r io.Reader) packets {
	return packets{r: bufio.NewReaderSize(r, maxPacketSize+1), last: true, count: new(atomic.Int64)}
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
	p.session = binary.BigEndian.Uint16(h[4:])
	p.count.Add(1)
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

// take returns the next n bytes of the message, at most 65,535. They are valid
// until the next read.
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

// Conn is one connection after the login. One goroutine at a time sends and
// reads. Others may call Arrived, Attention and Sever.
type Conn struct {
	nc    net.Conn
	in    packets
	size  int // of the packets that are sent
	facts Facts
	// transaction is the descriptor of the open transaction; 0 without one.
	transaction uint64

	mu        sync.Mutex // guards writes, and the fields below
	flying    bool       // a request is not answered yet
	attention bool       // the server was told to end it
	out       []byte
}

// Facts are what the server reported about itself and the connection at login.
type Facts struct {
	Program  string // such as "Microsoft SQL Server"
	Version  string // such as "16.0.4085"
	Database string
	TLS      string // such as "TLS 1.2"; "" without TLS
	Verified bool   // the certificate was verified
}

// Facts returns what the server reported at login.
func (c *Conn) Facts() Facts { return c.facts }

// Arrived returns how many packets have come from the server.
func (c *Conn) Arrived() int64 { return c.in.count.Load() }

// Session returns the number of the session at the server, as its last packet says.
func (c *Conn) Session() uint16 { return c.in.session }

// InTransaction reports whether the server said that a transaction began, and
// did not say that it ended.
func (c *Conn) InTransaction() bool { return c.transaction != 0 }

// Deadline bounds reading and writing; the zero time removes the bound.
func (c *Conn) Deadline(t time.Time) error { return c.nc.SetDeadline(t) }

// Sever cuts the connection, which wakes any goroutine that reads or writes it.
func (c *Conn) Sever() {
	// Closing a TLS connection sends a closing message. The deadline in the
	// past keeps that from waiting for a peer that does not read.
	_ = c.nc.SetDeadline(time.Unix(1, 0))
	_ = c.nc.Close()
}

// The bytes of a batch before its statement.
const (
	allHeadersSize = 22 // one header, of the transaction (MS-TDS 2.2.5.3)
	transactionHdr = 2
)

// SendBatch sends text as one SQLBatch message. With reset, the server first
// resets the session, as sp_reset_connection does. The caller must read the
// answer to [TokenEnd] before it sends the next batch.
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
		status &^= statusReset // only in the first packet
	}
}

// Attention tells the server to end the current request. It does nothing if
// there is none.
func (c *Conn) Attention() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.flying || c.attention {
		return nil
	}
	c.attention = true
	return c.message(packetAttention, 0, nil)
}

// answered records that a message of the answer has ended. It reports whether
// the request is over. It is not while an attention is still unacknowledged.
func (c *Conn) answered(acknowledged bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.attention && !acknowledged {
		return false
	}
	c.flying, c.attention = false, false
	return true
}
