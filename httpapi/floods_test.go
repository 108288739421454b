package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw sends an incomplete request and keeps the connection open.
func (d *desk) raw(t *testing.T, text string) net.Conn {
	t.Helper()
	conn := d.dial(t)
	_, _ = io.WriteString(conn, text)
	return conn
}

// firstLine reads the first line of an answer.
func firstLine(t *testing.T, conn net.Conn) string {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return line
}

// TestFloods sends headers and bodies without an end, half-closed connections,
// and many of each. The server still answers.
func TestFloods(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for range 200 { // headers without an end
		d.raw(t, "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Drip: ")
	}
	for range 50 { // bodies without an end
		d.raw(t, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	}
	for range 50 { // half-closed connections
		conn := d.dial(t)
		_, _ = io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_ = conn.CloseWrite()
	}
	conn := d.raw(t, "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
	if line := firstLine(t, conn); line != "" && !strings.Contains(line, "431") {
		t.Errorf("1 MB of headers: %q", line)
	}
	if got := d.ask(t, "GET", "/health", ""); got.status != http.StatusOK {
		t.Errorf("after all that: %d", got.status)
	}
}

// TestLongBodies sends bodies of 100 MB, many at a time. The server refuses one
// with a length at once, and one without a length when it reaches the bound.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for range 20 {
		if line := firstLine(t, d.raw(t, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 104857600\r\n\r\n")); !strings.Contains(line, "413") {
			t.Errorf("100 MB: %q", line)
		}
	}
	chunk := "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n"
	var conns []net.Conn
	for range 20 {
		conn := d.dial(t)
		conns = append(conns, conn)
		go func() {
			_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
			for range 1600 {
				if _, err := io.WriteString(conn, chunk); err != nil {
					return
				}
			}
		}()
	}
	for _, conn := range conns {
		if line := firstLine(t, conn); !strings.Contains(line, "413") {
			t.Errorf("100 MB in chunks: %q", line)
		}
	}
	if got := d.ask(t, "GET", "/health", ""); got.status != http.StatusOK {
		t.Errorf("after all that: %d", got.status)
	}
}
