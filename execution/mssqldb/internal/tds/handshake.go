package tds

import (
	"encoding/binary"
	"net"
	"time"
)

// handshake carries the messages of a TLS handshake in packets. After the
// handshake it passes the bytes on unchanged.
type handshake struct {
	nc   net.Conn
	in   *packets
	done bool
	out  []byte
}

// Write collects the client's bytes until the client reads. After the handshake
// it writes them directly.
func (h *handshake) Write(b []byte) (int, error) {
	if h.done {
		if err := h.flush(); err != nil {
			return 0, err
		}
		return h.nc.Write(b)
	}
	h.out = append(h.out, b...)
	return len(b), nil
}

// flush writes the collected bytes, in packets of a size that every server
// accepts.
func (h *handshake) flush() error {
	out := h.out
	h.out = nil
	for number := byte(1); len(out) > 0; number++ {
		n := min(len(out), defaultPacketSize-headerSize)
		var status byte
		if n == len(out) {
			status = statusEnd
		}
		packet := binary.BigEndian.AppendUint16([]byte{packetPrelogin, status}, uint16(headerSize+n))
		packet = append(append(packet, 0, 0, number, 0), out[:n]...)
		if _, err := h.nc.Write(packet); err != nil {
			return err
		}
		out = out[n:]
	}
	return nil
}

// Read reads the server's bytes.
func (h *handshake) Read(b []byte) (int, error) {
	if h.done {
		return h.nc.Read(b)
	}
	if err := h.flush(); err != nil {
		return 0, err
	}
	if h.in.ended() {
		if err := h.in.begin(); err != nil {
			return 0, err
		}
	}
	p, err := h.in.piece(len(b))
	return copy(b, p), err
}

func (h *handshake) Close() error                       { return h.nc.Close() }
func (h *handshake) LocalAddr() net.Addr                { return h.nc.LocalAddr() }
func (h *handshake) RemoteAddr() net.Addr               { return h.nc.RemoteAddr() }
func (h *handshake) SetDeadline(t time.Time) error      { return h.nc.SetDeadline(t) }
func (h *handshake) SetReadDeadline(t time.Time) error  { return h.nc.SetReadDeadline(t) }
func (h *handshake) SetWriteDeadline(t time.Time) error { return h.nc.SetWriteDeadline(t) }
