package cli_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// link is a proxy between ktx and its server.
type link struct {
	listener net.Listener
	server   string
	letIn    string        // what the server says to whom it has let in
	pause    time.Duration // after every 40 KB of what the server sends
	silent   atomic.Bool   // nothing that it sends is passed on once it has let ktx in

	mu    sync.Mutex
	conns []net.Conn
	work  sync.WaitGroup
}

// slowLink carries 8 MB a second.
func slowLink(t *testing.T, server, letIn string) *link {
	t.Helper()
	return newLink(t, server, letIn, 5*time.Millisecond)
}

// silentLink passes everything on until it is silenced.
func silentLink(t *testing.T, server, letIn string) *link {
	t.Helper()
	return newLink(t, server, letIn, 0)
}

func newLink(t *testing.T, server, letIn string, pause time.Duration) *link {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, server: server, letIn: letIn, pause: pause}
	l.work.Go(func() { l.serve(context.WithoutCancel(t.Context())) })
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
		l.work.Wait()
	})
	return l
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// silence stops all traffic on open connections. On new connections it stops the
// traffic after the login.
func (l *link) silence() {
	l.silent.Store(true)
	l.cut()
}

func (l *link) serve(ctx context.Context) {
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		server, err := new(net.Dialer).DialContext(ctx, "tcp", l.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, client, server)
		l.mu.Unlock()
		for _, c := range []net.Conn{client, server} {
			if tcp, ok := c.(*net.TCPConn); ok { // little is on the way
				_, _ = tcp.SetReadBuffer(64<<10), tcp.SetWriteBuffer(64<<10)
			}
		}
		both := func() { _, _ = client.Close(), server.Close() }
		l.work.Go(func() {
			defer both()
			_, _ = io.Copy(server, client)
		})
		l.work.Go(func() {
			defer both()
			l.toClient(client, server)
		})
	}
}

// toClient passes on the bytes from the server.
func (l *link) toClient(client io.Writer, server io.Reader) {
	b := make([]byte, 40<<10)
	for silent := false; ; {
		n, err := server.Read(b)
		silent = silent || l.silent.Load() && strings.Contains(string(b[:n]), l.letIn)
		if !silent {
			if _, err := client.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
		time.Sleep(l.pause)
	}
}
