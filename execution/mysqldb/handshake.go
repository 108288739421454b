package mysqldb

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/mysqldb/wire"
)

// Capabilities that client and server agree on (include/mysql_com.h, CLIENT_*).
const (
	clientLongPassword  = 1 << 0 // a MariaDB server does not offer this
	clientLongFlag      = 1 << 2
	clientConnectWithDB = 1 << 3
	clientProtocol41    = 1 << 9
	clientSSL           = 1 << 11
	clientTransactions  = 1 << 13
	clientSecureConn    = 1 << 15
	clientPluginAuth    = 1 << 19
	clientConnectAttrs  = 1 << 20
	clientPluginLenEnc  = 1 << 21

	// clientAgreed is every capability that may be agreed on. It does not
	// contain several statements in one query, several results of one
	// statement, local files, compression, or leaving out the end of the column
	// definitions.
	clientAgreed = clientLongPassword | clientLongFlag | clientConnectWithDB | clientProtocol41 | clientSSL |
		clientTransactions | clientSecureConn | clientPluginAuth | clientConnectAttrs | clientPluginLenEnc
	// clientNeeded are the capabilities that a server must have.
	clientNeeded = clientConnectWithDB | clientProtocol41 | clientTransactions | clientSecureConn | clientPluginAuth

	// extendedTypes is the only capability of MariaDB's own that this package
	// requests, MARIADB_CLIENT_EXTENDED_METADATA.
	extendedTypes = 1 << 3
)

const (
	maxHandshakePacket = 64 << 10
	responseHead       = 32 // of the client's first packet: capabilities, size, collation, filler
)

// handshake is the connection on which the driver logs in. It sits between the
// driver and the network until the server has accepted the account:
//
//   - It removes the capabilities that must not be agreed on from the server's
//     greeting, and checks the driver's answer for them.
//   - It begins TLS at the point that the protocol defines, below the driver,
//     so that the encrypted connection can be used without the driver
//     afterwards.
//
// It never reads more than the requested packet. So bytes that a server sends
// before TLS are never read as bytes that it sends inside TLS.
type handshake struct {
	raw    net.Conn // the network
	conn   net.Conn // raw, or TLS on it
	target *target

	version  string // the server's
	id       uint32 // of the connection
	offered  uint32 // the server's capabilities
	extended bool   // column definitions have extended type information

	out      []byte // what the driver reads next
	answered bool   // the driver's first packet was sent
	shift    byte   // how far the server's packet numbers are ahead of the driver's
	failed   error  // why the driver's read or write failed
	detached bool   // the driver no longer uses the connection
}

var errHandshake = fmt.Errorf("%w: in the handshake", wire.ErrFormat)

// greeting reads the server's first packet.
func (h *handshake) greeting() error {
	p, err := h.packet()
	if err != nil {
		return err
	}
	body := p[4:]
	if body[0] == 0xff {
		return greetingError(body)
	}
	end := bytes.IndexByte(body, 0)
	// After the version follow the connection ID, scramble, zero, lower
	// capabilities, collation, status, upper capabilities, length of the
	// scramble, and reserved bytes. The last four of the reserved bytes are
	// MariaDB's own capabilities.
	const rest = 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10
	if body[0] != 10 || end < 1 || len(body) < end+1+rest+13 {
		return errHandshake
	}
	h.version = strings.ToValidUTF8(string(body[1:end]), "?")
	f := body[end+1:]
	h.id = binary.LittleEndian.Uint32(f)
	lower, upper, own := f[13:15], f[18:20], f[27:31]
	h.offered = uint32(binary.LittleEndian.Uint16(lower)) | uint32(binary.LittleEndian.Uint16(upper))<<16
	if h.offered&clientNeeded != clientNeeded {
		return fmt.Errorf("%w: the server is too old", errHandshake)
	}
	h.extended = h.offered&clientLongPassword == 0 && binary.LittleEndian.Uint32(own)&extendedTypes != 0
	binary.LittleEndian.PutUint16(lower, uint16(h.offered&clientAgreed&^clientSSL&0xffff))
	binary.LittleEndian.PutUint16(upper, uint16(h.offered&clientAgreed>>16))
	clear(own)
	switch h.target.mode {
	case sslDisabled:
	case sslPreferred:
	case sslRequired, sslVerifyCA, sslVerifyIdentity:
		if h.offered&clientSSL == 0 {
			return errNoTLS
		}
	default:
		return errNoTLS
	}
	h.out = p
	return nil
}

// greetingError returns the error that a server sent instead of a greeting.
func greetingError(body []byte) error {
	if len(body) < 3 {
		return errHandshake
	}
	e := &wire.Error{Number: binary.LittleEndian.Uint16(body[1:]), State: "08004"}
	text := string(body[3:])
	if len(text) >= 6 && text[0] == '#' {
		e.State, text = text[1:6], text[6:]
	}
	e.Message = strings.ToValidUTF8(text, "\uFFFD")
	return e
}

// encrypts reports whether TLS is used.
func (h *handshake) encrypts() bool { return h.target.mode != sslDisabled && h.offered&clientSSL != 0 }

// secure reports whether nobody can listen on the connection.
func (h *handshake) secure() bool { return h.encrypts() || h.target.network == "unix" }

// packet reads one packet of the server, including its header.
func (h *handshake) packet() ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(h.conn, head); err != nil {
		return nil, err
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if n == 0 || n > maxHandshakePacket {
		return nil, fmt.Errorf("%w: %d bytes", errHandshake, n)
	}
	p := make([]byte, len(head)+n)
	copy(p, head)
	if _, err := io.ReadFull(h.conn, p[4:]); err != nil {
		return nil, err
	}
	return p, nil
}

// Read hands the server's packets to the driver.
func (h *handshake) Read(b []byte) (int, error) {
	if h.detached {
		return 0, net.ErrClosed
	}
	if len(h.out) == 0 {
		p, err := h.packet()
		if err != nil {
			h.failed = err
			return 0, err
		}
		p[3] -= h.shift
		h.out = p
	}
	n := copy(b, h.out)
	h.out = h.out[n:]
	return n, nil
}

// Write hands the driver's packets to the server.
func (h *handshake) Write(b []byte) (int, error) {
	if h.detached {
		return len(b), nil
	}
	if err := h.send(b); err != nil {
		h.failed = err
		return 0, err
	}
	return len(b), nil
}

func (h *handshake) send(b []byte) error {
	if len(b) < 4 || len(b)-4 != int(b[0])|int(b[1])<<8|int(b[2])<<16 {
		return errors.New("the driver sent a part of a packet")
	}
	p := bytes.Clone(b)
	if !h.answered {
		if err := h.response(p); err != nil {
			return err
		}
		h.answered = true
	}
	p[3] += h.shift
	_, err := h.conn.Write(p)
	return err
}

// response checks and completes the driver's first packet. It begins TLS before
// the packet is sent.
func (h *handshake) response(p []byte) error {
	if len(p) < 4+responseHead {
		return errors.New("the driver answered the greeting with too little")
	}
	agreed := binary.LittleEndian.Uint32(p[4:])
	if agreed&^(clientAgreed&h.offered) != 0 || agreed&clientNeeded != clientNeeded {
		return fmt.Errorf("the driver agreed on capabilities %#x", agreed)
	}
	if h.extended {
		binary.LittleEndian.PutUint32(p[4+responseHead-4:], extendedTypes)
	}
	if !h.encrypts() {
		return nil
	}
	binary.LittleEndian.PutUint32(p[4:], agreed|clientSSL)
	request := append([]byte{responseHead, 0, 0, p[3]}, p[4:4+responseHead]...)
	if _, err := h.raw.Write(request); err != nil {
		return err
	}
	t := tls.Client(h.raw, h.target.tls)
	if err := t.Handshake(); err != nil { //nolint:noctx // the context's end severs the connection
		return err
	}
	h.conn, h.shift = t, 1
	return nil
}

// Close closes the network, unless the connection was taken from the driver.
func (h *handshake) Close() error {
	if h.detached {
		return nil
	}
	return h.raw.Close()
}

// LocalAddr returns the address of the network connection.
func (h *handshake) LocalAddr() net.Addr { return h.raw.LocalAddr() }

// RemoteAddr returns the address of the network connection.
func (h *handshake) RemoteAddr() net.Addr { return h.raw.RemoteAddr() }

// SetDeadline does nothing: the caller of connect sets the deadline.
func (h *handshake) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing, like SetDeadline.
func (h *handshake) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, like SetDeadline.
func (h *handshake) SetWriteDeadline(time.Time) error { return nil }
