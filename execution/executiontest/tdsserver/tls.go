package tdsserver

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
)

// handshakeConn carries the records of a TLS handshake in PRELOGIN packets
// ([MS-TDS] 2.2.6.5, 3.3.5.2). After the handshake it passes the records on
// unchanged.
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

// tlsWithin returns the configuration of a handshake in PRELOGIN packets. It
// excludes TLS 1.3, which belongs to TDS 8.0. A server of TLS 1.3 sends another
// record after the handshake, when the client no longer accepts packets
// ([MS-TDS] 1.7).
func tlsWithin(c tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}
}

// tlsBefore returns the configuration of TDS 8.0 ([MS-TDS] 1.7). TLS comes
// first, and the protocol is negotiated by name.
func tlsBefore(c tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12, NextProtos: []string{"tds/8.0"}}
}
