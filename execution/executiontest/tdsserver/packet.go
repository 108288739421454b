package tdsserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// packetType is the first byte of a packet ([MS-TDS] 2.2.3.1.1).
type packetType byte

const (
	packetBatch       packetType = 1
	packetRPC         packetType = 3
	packetReply       packetType = 4
	packetAttention   packetType = 6
	packetTransaction packetType = 14
	packetLogin       packetType = 16
	packetPrelogin    packetType = 18
)

// The bits of a packet's status ([MS-TDS] 2.2.3.1.2).
const (
	statusEndOfMessage  = 0x01
	statusIgnore        = 0x02
	statusReset         = 0x08
	statusResetSkipTran = 0x10
)

const (
	headerSize     = 8
	firstSize      = 4096  // of packets until the login has negotiated a size
	smallestPacket = 512   // [MS-TDS] 2.2.6.4, PacketSize
	largestPacket  = 32767 // the same
	largestInTLS   = 16383 // the largest that a server grants on an encrypted connection
	largestMessage = 64 << 20
)

// errProtocol is the error of a client that breaks the protocol.
var errProtocol = errors.New("not what [MS-TDS] allows")

// message is one request of a client, assembled from its packets.
type message struct {
	typ     packetType
	status  byte // of the first packet, with the end and ignore bits of the last
	payload []byte
	packets int
}

// readMessage reads packets up to the end of a message ([MS-TDS] 2.2.3). An
// attention is a message of one packet without data.
func readMessage(r io.Reader) (message, error) {
	var m message
	for {
		var head [headerSize]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			if m.packets > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return m, err
		}
		typ, status := packetType(head[0]), head[1]
		size := int(binary.BigEndian.Uint16(head[2:]))
		switch {
		case size < headerSize || size > largestPacket:
			return m, fmt.Errorf("%w: a packet of %d bytes", errProtocol, size)
		case m.packets > 0 && typ != m.typ:
			return m, fmt.Errorf("%w: a packet of type %d within a message of type %d", errProtocol, typ, m.typ)
		case status&statusIgnore != 0 && status&statusEndOfMessage == 0:
			return m, fmt.Errorf("%w: a packet to ignore that ends no message", errProtocol)
		case len(m.payload)+size > largestMessage:
			return m, fmt.Errorf("%w: a message of more than %d bytes", errProtocol, largestMessage)
		}
		if m.packets == 0 {
			m.typ, m.status = typ, status
		} else {
			m.status |= status & (statusEndOfMessage | statusIgnore)
		}
		m.packets++
		if size > headerSize {
			start := len(m.payload)
			m.payload = append(m.payload, make([]byte, size-headerSize)...)
			if _, err := io.ReadFull(r, m.payload[start:]); err != nil {
				if errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return m, err
			}
		}
		if status&statusEndOfMessage != 0 {
			return m, nil
		}
	}
}

// packetWriter splits a message into packets. It holds one packet at a time.
type packetWriter struct {
	w    io.Writer
	typ  packetType
	spid uint16
	buf  []byte // one packet, header included
	n    int    // bytes of buf that are filled
	id   byte
}

func newPacketWriter(w io.Writer, typ packetType, spid uint16, size int) *packetWriter {
	return &packetWriter{w: w, typ: typ, spid: spid, buf: make([]byte, size), n: headerSize}
}

// Write adds p to the message and sends every packet that is full. The last
// packet of a message is sent by end, so that it can be marked.
func (p *packetWriter) Write(b []byte) (int, error) {
	total := len(b)
	for len(b) > 0 {
		if p.n == len(p.buf) {
			if err := p.send(0); err != nil {
				return total - len(b), err
			}
		}
		k := copy(p.buf[p.n:], b)
		p.n += k
		b = b[k:]
	}
	return total, nil
}

// flush sends the buffered bytes without ending the message.
func (p *packetWriter) flush() error {
	if p.n == headerSize {
		return nil
	}
	return p.send(0)
}

// end sends the last packet of the message.
func (p *packetWriter) end() error {
	err := p.send(statusEndOfMessage)
	p.id = 0
	return err
}

func (p *packetWriter) send(status byte) error {
	p.id++
	putHeader(p.buf, p.typ, status, p.n, p.spid, p.id)
	_, err := p.w.Write(p.buf[:p.n])
	p.n = headerSize
	return err
}

// putHeader writes a packet header ([MS-TDS] 2.2.3.1).
func putHeader(b []byte, typ packetType, status byte, size int, spid uint16, id byte) {
	b[0], b[1] = byte(typ), status
	binary.BigEndian.PutUint16(b[2:], uint16(size))
	binary.BigEndian.PutUint16(b[4:], spid)
	b[6], b[7] = id, 0
}
