package tdsserver

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
)

// handshakeConn carries the records of a TLS handshake in PRELOGIN packets
// ([MS-TDS] 2.2.6.5, 3.3.5.2). Once the handshake is over, records travel as
// they are.
type handshakeConn struct {
	net.Conn
	spid uint16
	over bool
	rest bytes.Reader
}

func (c *handshakeConn) Read(b []byte) (int, error) {
	if c.over {
		return c.Conn.Read(b)
	}
	for c.rest.Len() == 0 {
		m, err := readMessage(c.Conn)
		if err != nil {
			return 0, err
		}
		if m.typ != packetPrelogin {
			return 0, fmt.Errorf("%w: a packet of type %d within the TLS handshake", errProtocol, m.typ)
		}
		c.rest.Reset(m.payload)
	}
	return c.rest.Read(b)
}

func (c *handshakeConn) Write(b []byte) (int, error) {
	if c.over {
		return c.Conn.Write(b)
	}
	w := newPacketWriter(c.Conn, packetPrelogin, c.spid, firstSize)
	if _, err := w.Write(b); err != nil {
		return 0, err
	}
	if err := w.end(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// tlsWithin is the configuration of a handshake in PRELOGIN packets. TLS 1.3
// belongs to TDS 8.0: its server speaks once more after the handshake, when
// the client already takes no more packets ([MS-TDS] 1.7).
func tlsWithin(c tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}
}

// tlsBefore is the configuration of TDS 8.0 ([MS-TDS] 1.7): TLS first, with
// the protocol agreed on by name.
func tlsBefore(c tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12, NextProtos: []string{"tds/8.0"}}
}
