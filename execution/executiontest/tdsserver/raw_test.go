package tdsserver_test

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// rawConn logs in with the driver and returns the network connection of the
// driver.
func rawConn(t *testing.T, s *tdsserver.Server) net.Conn {
	t.Helper()
	connector, err := mssql.NewConnector(s.URL("encrypt", "disable"))
	if err != nil {
		t.Fatal(err)
	}
	d := &keepingDialer{}
	connector.Dialer = d
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() }) // the test has used the connection without the driver
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := d.conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return d.conn
}

// keepingDialer keeps the connection that it made.
type keepingDialer struct{ conn net.Conn }

func (d *keepingDialer) DialContext(ctx context.Context, network, address string) (conn net.Conn, err error) {
	conn, err = new(net.Dialer).DialContext(ctx, network, address)
	d.conn = conn
	return conn, err
}

// packets returns a message in packets. The first has the given status.
func packets(t *testing.T, typ byte, payload []byte, status byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tdsserver.WriteMessage(&b, typ, payload, 4096); err != nil {
		t.Fatal(err)
	}
	b.Bytes()[1] |= status
	return b.Bytes()
}

// plain starts a server that does not require encryption.
func plain(t *testing.T, config tdsserver.Config) *tdsserver.Server {
	t.Helper()
	none := tdsserver.EncryptNotSupported
	config.Encryption = &none
	return tdsserver.Start(t, config)
}

const (
	packetBatch     = 1
	packetAttention = 6
	statusIgnore    = 2
)

// TestAttentionAtOnce checks that an attention ends its request even if both
// arrive together.
func TestAttentionAtOnce(t *testing.T) {
	s := plain(t, tdsserver.Config{})
	conn := rawConn(t, s)
	for range 30 {
		both := append(packets(t, packetBatch, batch("WAITFOR DELAY '01:00'"), 0), packets(t, packetAttention, nil, 0)...)
		if _, err := conn.Write(both); err != nil {
			t.Fatal(err)
		}
		_, payload, _, err := tdsserver.ReadMessage(conn)
		if err != nil {
			t.Fatal(err)
		}
		if len(payload) != 13 || payload[0] != 0xFD || payload[1]&tdsserver.DoneAttention == 0 {
			t.Fatalf("the answer is % x, want a DONE that acknowledges", payload)
		}
	}
}

// TestLateAttention checks that an attention after the end of an answer gets an
// answer of its own.
func TestLateAttention(t *testing.T) {
	s := plain(t, tdsserver.Config{})
	conn := rawConn(t, s)
	if _, err := conn.Write(packets(t, packetBatch, batch("SELECT 1"), 0)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := tdsserver.ReadMessage(conn); err != nil { //nolint:dogsled // the content does not matter
		t.Fatal(err)
	}
	if _, err := conn.Write(packets(t, packetAttention, nil, 0)); err != nil {
		t.Fatal(err)
	}
	_, payload, _, err := tdsserver.ReadMessage(conn)
	if err != nil || len(payload) != 13 || payload[1]&tdsserver.DoneAttention == 0 {
		t.Fatalf("the answer is % x, %v", payload, err)
	}
}

// TestIgnored checks that the server does not run a request that the client
// takes back.
func TestIgnored(t *testing.T) {
	s := plain(t, tdsserver.Config{})
	conn := rawConn(t, s)
	if _, err := conn.Write(packets(t, packetBatch, batch("SELECT 1")[:9], statusIgnore)); err != nil {
		t.Fatal(err)
	}
	_, payload, _, err := tdsserver.ReadMessage(conn)
	if err != nil || len(payload) != 13 || payload[1]&tdsserver.DoneError == 0 {
		t.Fatalf("the answer is % x, %v", payload, err)
	}
	if m := s.Of(tdsserver.KindBatch); len(m) != 1 || !m[0].Ignored || m[0].Text != "" {
		t.Errorf("recorded %+v", m)
	}
}

// TestRequestViolations checks that a request that no client may send ends the
// connection.
func TestRequestViolations(t *testing.T) {
	for name, wire := range map[string][]byte{
		"no headers":        packets(t, packetBatch, []byte{1, 0, 0, 0}, 0),
		"half a character":  packets(t, packetBatch, batch("SELECT 1")[:23], 0),
		"unknown request":   packets(t, 7, batch("SELECT 1"), 0),
		"attention, data":   packets(t, packetAttention, []byte{1}, 0),
		"unknown procedure": packets(t, 3, append(batch(""), 0xFF, 0xFF, 99, 0, 0, 0), 0),
		"many at once":      bytes.Repeat(packets(t, packetBatch, batch("WAITFOR DELAY '01:00'"), 0), 9),
	} {
		s := plain(t, tdsserver.Config{Violations: true})
		conn := rawConn(t, s)
		if _, err := conn.Write(wire); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
		s.Stop()
		if n := len(s.Of(tdsserver.KindViolation)); n != 1 {
			t.Errorf("%s: %d violations", name, n)
		}
	}
}
