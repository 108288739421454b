package httpapi_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/httpapi"
)

// TestSlowClientsLoseTheirConnections checks that the server closes the
// connection when a client sends too slowly, sends nothing, or does not read.
func TestSlowClientsLoseTheirConnections(t *testing.T) {
	t.Parallel()
	written := make(chan struct{}, 1)
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for chunk := bytes.Repeat([]byte("x"), 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				written <- struct{}{}
				return
			}
		}
	})
	// Only one of the times is short, so that a busy machine does not pass another one first.
	begin := func(t *testing.T, short func(c *httpapi.Config) *time.Duration) *desk {
		t.Helper()
		return newDesk(t, func(c *httpapi.Config) {
			c.Tokens = []httpapi.Token{{Principal: "token", Sum: httpapi.Sum("secret")}}
			c.Stateless, c.Sessions = endless, nil
			c.HeaderTime, c.BodyTime, c.IdleTime, c.WriteTime = 2*hang, 2*hang, 2*hang, 2*hang
			*short(c) = 300 * time.Millisecond
		})
	}
	header := func(c *httpapi.Config) *time.Duration { return &c.HeaderTime }
	bodies := func(c *httpapi.Config) *time.Duration { return &c.BodyTime }
	idle := func(c *httpapi.Config) *time.Duration { return &c.IdleTime }
	writes := func(c *httpapi.Config) *time.Duration { return &c.WriteTime }
	const (
		token = "Authorization: Bearer secret\r\n"
		body  = "Content-Length: 100000\r\n\r\n{"
	)
	for name, test := range map[string]struct {
		text, answer string
		drips        bool
		short        func(c *httpapi.Config) *time.Duration
	}{
		"nothing":               {"", "", false, header},
		"half a header":         {"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Drip: ", "", true, header},
		"half a body":           {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + token + body, "408", true, bodies},
		"half a chunk":          {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + token + "Transfer-Encoding: chunked\r\n\r\n10000\r\n{", "408", true, bodies},
		"half a body for none":  {"POST /nothing HTTP/1.1\r\nHost: localhost\r\n" + token + body, "408", true, bodies},
		"half a refused body":   {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + body, "401", true, bodies},
		"half a foreign body":   {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\n" + body, "403", true, bodies},
		"a whole request, idle": {"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", false, idle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := begin(t, test.short).raw(t, test.text)
			if test.drips {
				go drip(conn)
			}
			if err := conn.SetReadDeadline(time.Now().Add(hang)); err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(conn) // a reset may follow the answer
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the connection is open")
			}
			if line, _, _ := strings.Cut(string(text), "\n"); !strings.Contains(line, test.answer) {
				t.Errorf("answered %q, want %s", line, test.answer)
			}
		})
	}
	t.Run("an answer that is not read", func(t *testing.T) {
		t.Parallel()
		begin(t, writes).raw(t, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"+token+"Content-Length: 2\r\n\r\n{}")
		select {
		case <-written:
		case <-time.After(hang):
			t.Error("the server still writes the answer")
		}
	})
}

// drip sends a byte from time to time until the connection is closed.
func drip(conn net.Conn) {
	for {
		if _, err := conn.Write([]byte("x")); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
