package tds

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Options of PRELOGIN (MS-TDS 2.2.6.5).
const (
	preloginEncryption = 1
	preloginEnd        = 0xFF

	encryptOn       = 1
	encryptNone     = 2
	encryptRequired = 3
	encryptStrict   = 4

	// versionStrict is TDS 8.0 in LOGIN7.
	versionStrict = 0x08000000
)

// maxLogin bounds the answers to prelogin and login.
const maxLogin = 64 << 10

// login is the connection that the driver sees while it logs in. The driver
// writes PRELOGIN and LOGIN7 and reads one answer to each. TLS is below it.
type login struct {
	d    *dialer
	nc   net.Conn // the TLS connection, if TLS is used
	wire net.Conn
	way  Transport
	in   packets

	requests int
	reply    bytes.Reader // the answer to the last request, once it was read
	tls      *tls.Conn
}

// loginAnswer is the content of the answer to LOGIN7.
type loginAnswer struct {
	acknowledged bool
	facts        Facts
	size         int
	errors       []Message
}

// Write takes one packet of the driver's. It accepts only packets that belong
// to a login.
func (l *login) Write(b []byte) (int, error) {
	if len(b) < headerSize {
		return 0, l.d.fail(malformed("the driver wrote %d bytes", len(b)))
	}
	switch kind := b[0]; {
	case kind == packetPrelogin && l.requests == 0:
		l.requests++
		return len(b), l.d.fail(l.prelogin(b))
	case kind == packetLogin && (l.requests == 1 || l.requests == 2):
		l.reply.Reset(nil)
		if l.requests == 1 {
			if len(b) < headerSize+loginFixed {
				return 0, l.d.fail(malformed("the driver wrote a login of %d bytes", len(b)))
			}
			b = bytes.Clone(b)
			measure(b[headerSize:])
			if l.way.Strict {
				binary.LittleEndian.PutUint32(b[headerSize+4:], versionStrict)
			}
		}
		l.requests = 2
		_, err := l.nc.Write(b)
		return len(b), l.d.fail(err)
	default:
		return 0, l.d.fail(malformed("the driver wrote a packet of type %#x", kind))
	}
}

// Read gives the driver the answer to its last request.
func (l *login) Read(b []byte) (int, error) {
	if l.reply.Len() == 0 {
		if l.requests < 2 {
			return 0, io.EOF
		}
		if err := l.d.fail(l.readAnswer()); err != nil {
			return 0, err
		}
	}
	return l.reply.Read(b)
}

// prelogin sends the driver's PRELOGIN with this package's choice of
// encryption, sets up TLS, and tells the driver that there is no encryption.
func (l *login) prelogin(b []byte) error {
	wish := byte(encryptNone)
	switch {
	case l.way.Strict:
		wish = encryptStrict
	case l.way.Config != nil:
		wish = encryptOn
	}
	request := bytes.Clone(b)
	at, err := encryption(request[headerSize:])
	if err != nil {
		return err
	}
	request[headerSize+at] = wish
	if _, err := l.nc.Write(request); err != nil {
		return err
	}
	answer, err := l.readMessage()
	if err != nil {
		return err
	}
	if at, err = encryption(answer); err != nil {
		return err
	}
	switch got := answer[at]; {
	case l.way.Strict: // TDS 8.0 ignores the option
	case got == encryptOn && wish == encryptOn, got == encryptRequired && wish == encryptOn:
		if err := l.secure(); err != nil {
			return fmt.Errorf("%w: %w", ErrTLS, err)
		}
	case got == encryptNone && wish == encryptNone:
	case got == encryptNone:
		return ErrNoTLS
	case got == encryptRequired:
		return ErrNeedTLS
	default:
		return malformed("the answer %d about encryption", got)
	}
	answer[at] = encryptNone
	l.setReply(answer)
	return nil
}

// loginFixed is the size of a LOGIN7 before its strings. LoginTexts holds, for
// each string in their order, the offset of the field with its position and
// length (MS-TDS 2.2.6.4). The last is SSPI.
const loginFixed = 94

var loginTexts = [...]int{36, 40, 44, 48, 52, 60, 64, 68, 78}

// measure sets the lengths of the strings of a LOGIN7. They count units of
// UTF-16. The driver counts characters instead, and a character above U+FFFF
// has two units. Each string ends where the next begins.
func measure(login []byte) {
	begins := func(i int) uint16 { return binary.LittleEndian.Uint16(login[loginTexts[i]:]) }
	for i := range len(loginTexts) - 1 {
		binary.LittleEndian.PutUint16(login[loginTexts[i]+2:], (begins(i+1)-begins(i))/2)
	}
}

// encryption returns the position of the encryption option in a prelogin.
func encryption(b []byte) (int, error) {
	for at := 0; at+5 <= len(b) && b[at] != preloginEnd; at += 5 {
		offset, size := int(binary.BigEndian.Uint16(b[at+1:])), int(binary.BigEndian.Uint16(b[at+3:]))
		if b[at] == preloginEncryption && size >= 1 && offset < len(b) {
			return offset, nil
		}
	}
	return 0, malformed("a prelogin that does not speak of encryption")
}

// secure sets up TLS. The handshake is sent in packets of the type PRELOGIN.
func (l *login) secure() error {
	l.in.handshake = true
	inner := &handshake{nc: l.nc, in: &l.in}
	c := tls.Client(inner, l.way.Config)
	if err := c.HandshakeContext(context.Background()); err != nil { // ends with the connection
		return err
	}
	inner.done = true
	if !l.in.ended() || l.in.r.Buffered() > 0 {
		return malformed("a handshake that goes on behind its end")
	}
	l.inside(c)
	return nil
}

// inside continues the login within TLS.
func (l *login) inside(c *tls.Conn) {
	l.tls, l.nc, l.in = c, c, newPackets(c)
}

// strict sets up TLS before anything else, as TDS 8.0 does (MS-TDS 3.2.5.1).
func (l *login) strict(ctx context.Context) error {
	conf := l.way.Config.Clone()
	conf.NextProtos = []string{"tds/8.0"}
	c := tls.Client(l.nc, conf)
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	l.inside(c)
	return nil
}

// readMessage reads a whole message.
func (l *login) readMessage() ([]byte, error) {
	if err := l.in.begin(); err != nil {
		return nil, err
	}
	var message []byte
	for !l.in.ended() {
		b, err := l.in.piece(maxLogin)
		if err != nil {
			return nil, err
		}
		if message = append(message, b...); len(message) > maxLogin {
			return nil, malformed("an answer to a login of more than %d bytes", maxLogin)
		}
	}
	return message, nil
}

// readAnswer reads the answer to LOGIN7. The driver gets it only if it fits the
// protocol.
func (l *login) readAnswer() error {
	message, err := l.readMessage()
	if err != nil {
		return err
	}
	answer := loginAnswer{size: defaultPacketSize}
	in := newPackets(bytes.NewReader(message))
	in.left = len(message)
	r := Response{p: &in, begun: true, login: &answer}
	for {
		token, err := r.Next()
		if err != nil {
			return err
		}
		switch token {
		case TokenEnd:
			if !answer.acknowledged && len(answer.errors) == 0 {
				return malformed("a login that is neither acknowledged nor refused")
			}
			l.d.mu.Lock()
			l.d.answer = answer
			l.d.mu.Unlock()
			l.setReply(message)
			return nil
		case TokenError:
			if len(answer.errors) < maxMessages {
				answer.errors = append(answer.errors, r.Message)
			}
		case TokenInfo, TokenChange, TokenDone:
		case TokenColumns, TokenRow, TokenProcedure:
			return malformed("rows in the answer to a login")
		default:
			return malformed("a token of no kind")
		}
	}
}

// maxMessages is how many messages of one answer are kept.
const maxMessages = 16

// loginToken reads LOGINACK and FEATUREEXTACK (MS-TDS 2.2.7.14, 2.2.7.11).
func (r *Response) loginToken(id byte) {
	if id == tokenFeatures {
		for r.err == nil && r.u8() != preloginEnd {
			r.skip(int64(r.u32()))
		}
		return
	}
	b := r.take(int(r.u16()))
	if r.err != nil {
		return
	}
	const head = 1 + 4 + 1 // interface, version of TDS, length of the name
	if len(b) < head || len(b) != head+2*int(b[5])+4 {
		r.fail(malformed("a login that is acknowledged without a version"))
		return
	}
	if version := binary.BigEndian.Uint32(b[1:]); version>>24 != 0x74 && version>>24 != 0x73 && version != versionStrict {
		r.fail(malformed("a server of TDS %#x, older than SQL Server 2008", version))
		return
	}
	v := b[len(b)-4:]
	r.login.acknowledged = true
	r.login.facts.Program = strings.TrimRight(messageText(b[head:len(b)-4]), "\x00")
	r.login.facts.Version = fmt.Sprintf("%d.%d.%d", v[0], v[1], binary.BigEndian.Uint16(v[2:]))
}

// change records a change that the server reports during the login. B is what
// follows the kind.
func (a *loginAnswer) change(kind Change, b []byte) error {
	if kind != ChangeDatabase && kind != ChangePacketSize {
		return nil
	}
	if len(b) < 1 || len(b) < 1+2*int(b[0]) {
		return malformed("a change without a value")
	}
	value := messageText(b[1 : 1+2*int(b[0])])
	if kind == ChangeDatabase {
		a.facts.Database = value
		return nil
	}
	size, err := strconv.Atoi(value)
	if err != nil || size < minPacketSize || size > maxPacketSize {
		return malformed("packets of %q bytes", value)
	}
	a.size = size
	return nil
}

// setReply makes message the driver's next answer, in packets of a size that it
// accepts.
func (l *login) setReply(message []byte) {
	var out []byte
	for number := byte(1); ; number++ {
		n := min(len(message), minPacketSize-headerSize)
		var status byte
		if n == len(message) {
			status = statusEnd
		}
		out = binary.BigEndian.AppendUint16(append(out, packetReply, status), uint16(headerSize+n))
		out = append(append(out, 0, 0, number, 0), message[:n]...)
		if message = message[n:]; len(message) == 0 {
			break
		}
	}
	l.reply.Reset(out)
}

// conn returns the connection after the login.
func (l *login) conn(answer loginAnswer) (*Conn, error) {
	if l.reply.Len() > 0 || !l.in.ended() {
		_ = l.Close()
		return nil, malformed("a login that does not end")
	}
	c := &Conn{nc: l.nc, in: l.in, size: answer.size, facts: answer.facts}
	if l.tls != nil {
		c.facts.TLS, c.facts.Verified = tls.VersionName(l.tls.ConnectionState().Version), l.way.Verified
	}
	return c, nil
}

// sever cuts the connection.
func (l *login) sever() {
	_ = l.wire.SetDeadline(time.Unix(1, 0))
}

// Close closes the connection.
func (l *login) Close() error {
	l.sever()
	return l.wire.Close()
}

// errNotHere is the error of the other methods of net.Conn.
var errNotHere = errors.New("not while a login goes on")

func (l *login) LocalAddr() net.Addr              { return l.nc.LocalAddr() }
func (l *login) RemoteAddr() net.Addr             { return l.nc.RemoteAddr() }
func (l *login) SetDeadline(time.Time) error      { return errNotHere }
func (l *login) SetReadDeadline(time.Time) error  { return errNotHere }
func (l *login) SetWriteDeadline(time.Time) error { return errNotHere }
