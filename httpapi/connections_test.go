package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/httpapi"
)

// hang is far longer than anything in these tests takes.
const hang = 2 * time.Minute

// dial connects until the test ends.
func (d *desk) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		t.Fatalf("%T is no TCP connection", conn)
	}
	return tcp
}

// closed reports whether the server has closed a connection, or closes it
// within the time.
func closed(t *testing.T, conn net.Conn, within time.Duration) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// metric returns the value of a metric that must have one.
func (d *desk) metric(t *testing.T, name string) (value string) {
	t.Helper()
	for line := range strings.Lines(d.ask(t, "GET", "/metrics", "").body) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatalf("no %s", name)
	return ""
}

// silence is what a client may send without a complete request.
var silence = map[string]string{
	"nothing":       "",
	"half a header": "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Drip: ",
	"half a body":   "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
}

// TestConnectionsThatWaitMakeRoom sends a flood of connections without a
// request. They displace each other, the oldest first, and other clients are
// still served.
func TestConnectionsThatWaitMakeRoom(t *testing.T) {
	t.Parallel()
	for name, text := range silence {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, func(c *httpapi.Config) { c.MaxConnections, c.Sessions, c.HeaderTime, c.BodyTime = 32, nil, hang, hang })
			var flood []net.Conn
			for i := range 200 {
				conn := d.dial(t)
				_, _ = io.WriteString(conn, text)
				flood = append(flood, conn)
				if i%20 == 0 {
					if got := d.ask(t, "GET", "/health", ""); got.status != http.StatusOK {
						t.Fatalf("behind %d connections: %d", i, got.status)
					}
				}
			}
			if got := d.ask(t, "POST", "/mcp", "{}"); got.body != "handled for local" {
				t.Errorf("behind all of them: %d %s", got.status, got.body)
			}
			for i, conn := range flood[:100] {
				if !closed(t, conn, hang) {
					t.Fatalf("connection %d of 200 is open", i)
				}
			}
			if last := flood[len(flood)-1]; closed(t, last, 50*time.Millisecond) {
				t.Error("the last connection is closed")
			}
			if n, err := strconv.Atoi(d.metric(t, "ktx_http_connections")); err != nil || n < 16 || n > 32 {
				t.Errorf("%d connections are counted: %v", n, err)
			}
			if n := d.metric(t, `ktx_http_denied_total{reason="connections"}`); n == "0" {
				t.Error("no displaced connection is counted")
			}
		})
	}
}

// TestRequestsAtWorkKeepTheirConnections checks that requests that are being
// handled are answered, whatever connects meanwhile. Their number is limited,
// so that some connections always wait.
func TestRequestsAtWorkKeepTheirConnections(t *testing.T) {
	t.Parallel()
	const most = 29 // of 32 connections
	arrived, release := make(chan struct{}, 100), make(chan struct{})
	block := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "worked on")
	})
	d := newDesk(t, func(c *httpapi.Config) { c.MaxConnections, c.Stateless, c.Sessions = 32, block, nil })
	const post = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
	var working []net.Conn
	for range most {
		conn := d.dial(t)
		_, _ = io.WriteString(conn, post)
		working = append(working, conn)
		<-arrived
	}
	got := d.ask(t, "POST", "/mcp", "{}")
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "too_many_requests") || got.header.Get("Retry-After") == "" {
		t.Errorf("one more: %d %s", got.status, got.body)
	}
	for range 100 {
		d.dial(t)
	}
	if got := d.ask(t, "GET", "/health", ""); got.status != http.StatusOK {
		t.Errorf("/health: %d", got.status)
	}
	close(release)
	for i, conn := range working {
		if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "200") {
			t.Errorf("request %d: %q %v", i, line, err)
		}
	}
	// After that their connections wait again, and can be displaced.
	for range 100 {
		d.dial(t)
	}
	for i, conn := range working {
		_, _ = io.Copy(io.Discard, conn) // returns when the server has closed the connection
		if !closed(t, conn, hang) {
			t.Errorf("connection %d is open", i)
		}
	}
	if got := d.ask(t, "POST", "/mcp", "{}"); got.body != "worked on" {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
}

// TestLongBodiesTakeTurns sends as many long bodies as may be read at one time,
// slowly. Short bodies pass meanwhile, and further long bodies wait only until
// these have been read.
func TestLongBodiesTakeTurns(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *httpapi.Config) { c.Sessions = nil })
	send := func(length, sent int) net.Conn {
		conn := d.dial(t)
		go func() {
			_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", length, strings.Repeat("x", sent))
		}()
		return conn
	}
	var slow []net.Conn
	for range 8 {
		slow = append(slow, send(100_000, 70_000))
	}
	time.Sleep(200 * time.Millisecond) // until they have their turns
	long := send(3<<20, 3<<20)
	if got := d.ask(t, "POST", "/mcp", "{}"); got.body != "handled for local" {
		t.Errorf("a short body: %d %s", got.status, got.body)
	}
	if closed(t, long, 100*time.Millisecond) {
		t.Error("the long body is refused")
	}
	_ = slow[0].Close()
	if err := long.SetReadDeadline(time.Now().Add(hang)); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(long).ReadString('\n'); !strings.Contains(line, "200") {
		t.Errorf("a long body: %q %v", line, err)
	}
}
