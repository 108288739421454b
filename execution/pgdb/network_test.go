package pgdb_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// silent returns the address of a server that accepts and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener in a test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// proxy is between a backend and its server and can misbehave.
type proxy struct {
	listener net.Listener
	server   string

	hole    atomic.Bool  // the proxy passes nothing on, in either direction
	held    atomic.Int64 // pieces that arrived during the hole
	passed  atomic.Int64 // bytes that went to clients
	one     atomic.Bool  // one byte at a time
	pooler  atomic.Bool  // the proxy gives connections its own process IDs
	accepts atomic.Int64 // connections accepted

	// accepted, if there is one, may take a new connection, which the proxy then leaves alone.
	accepted atomic.Value // of func(net.Conn) (taken bool)

	mu    sync.Mutex
	ended bool // no connection is passed on any more
	conns map[net.Conn]bool
	keys  map[string][]byte // as a pooler: the proxy's key → the server's key
	work  sync.WaitGroup
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener in a test
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, conns: map[net.Conn]bool{}, keys: map[string][]byte{}}
	p.work.Go(p.serve)
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		p.ended = true // a connection that was accepted just now is in no list yet
		p.mu.Unlock()
		p.cut()
		p.work.Wait()
	})
	return p
}

// through returns a URL of the server as a URL of the proxy.
func (p *proxy) through(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

// cut breaks every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.accepts.Add(1)
		if takes, ok := p.accepted.Load().(func(net.Conn) bool); ok && takes(client) {
			continue
		}
		server, err := net.Dial("tcp", p.server) //nolint:noctx // ended by cut
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		ended := p.ended
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		if ended {
			_ = client.Close()
			_ = server.Close()
			return
		}
		p.work.Go(func() { p.copy(server, client, p.toServer()) })
		p.work.Go(func() { p.copy(counted{client, &p.passed}, server, p.toClient()) })
	}
}

// counted counts the bytes that are written to a connection.
type counted struct {
	net.Conn
	bytes *atomic.Int64
}

// Write writes to the connection.
func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (p *proxy) copy(to, from net.Conn, change func([]byte) []byte) {
	defer to.Close()   //nolint:errcheck // nothing to save
	defer from.Close() //nolint:errcheck // nothing to save
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 && p.hole.Load() {
			p.held.Add(1)
		}
		for p.hole.Load() {
			p.mu.Lock()
			open := p.conns[from]
			p.mu.Unlock()
			if !open {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		out := change(b[:n])
		step := len(out)
		if p.one.Load() {
			step = 1
		}
		for len(out) > 0 {
			m, err := to.Write(out[:min(step, len(out))])
			if err != nil {
				return
			}
			out = out[m:]
		}
		if err != nil {
			return
		}
	}
}

// toClient gives a connection a key made by the proxy, as poolers do. It
// expects BackendKeyData in one piece, which is how the server sends it.
func (p *proxy) toClient() func([]byte) []byte {
	done := false
	return func(b []byte) []byte {
		i := strings.Index(string(b), "K\x00\x00\x00\x0c")
		if done || !p.pooler.Load() || i < 0 || len(b) < i+13 {
			return b
		}
		done = true
		key := b[i+5 : i+13]
		p.mu.Lock()
		own := binary.BigEndian.AppendUint64(nil, uint64(len(p.keys)+1)<<32|7)
		p.keys[string(own)] = append([]byte(nil), key...)
		p.mu.Unlock()
		copy(key, own)
		return b
	}
}

// toServer puts the server's key into cancel requests.
func (p *proxy) toServer() func([]byte) []byte {
	return func(b []byte) []byte {
		if p.pooler.Load() && len(b) == 16 && binary.BigEndian.Uint32(b[4:]) == 80877102 {
			p.mu.Lock()
			copy(b[8:], p.keys[string(b[8:])])
			p.mu.Unlock()
		}
		return b
	}
}

func TestOneByteAtATime(t *testing.T) {
	server := testdb.Postgres(t)
	p := newProxy(t, server.Addr())
	p.one.Store(true)
	c := open(t, p.through(t, server.NewDatabase(t)), pgdb.Config{MaxConnections: 1})
	res, err := c.Try(t.Context(), t, "SELECT i, repeat('x', i * 30) FROM generate_series(1, 20) AS i", execution.Limits{CellBytes: 400})
	if err != nil || len(res.Rows) != 13 || res.TruncatedBy != execution.TruncatedByCell {
		t.Errorf("%v, %v", res, err)
	}
	if got := c.One(t, "SELECT 'Grüße'"); got != "Grüße" {
		t.Errorf("got %s", got)
	}
}

// TestPooler shows that the backend detects a pooler, then prepares nothing,
// and does not use a connection again after a cancel.
func TestPooler(t *testing.T) {
	server := testdb.Postgres(t)
	p := newProxy(t, server.Addr())
	p.pooler.Store(true)
	url := server.NewDatabase(t)
	const prepared = "SELECT count(*) FROM pg_prepared_statements"
	c := open(t, p.through(t, url), pgdb.Config{MaxConnections: 1})
	if got := c.One(t, prepared); got != "0" || !c.Pooled() {
		t.Errorf("%s prepared statements, a pooler was found %t", got, c.Pooled())
	}
	pid := c.One(t, backendPID)
	if got := c.One(t, "SELECT pg_advisory_lock(7)::text || current_setting('transaction_read_only')"); got != "on" {
		t.Errorf("got %s", got)
	}
	if got := c.One(t, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"); got != "0" {
		t.Errorf("%s advisory locks are left", got)
	}
	if e := c.Fails(t, "INSERT INTO pg_class DEFAULT VALUES", execution.Limits{}); e.SQLState != "25006" {
		t.Errorf("%v", e)
	}
	if now := c.One(t, backendPID); now != pid {
		t.Errorf("the connection was replaced")
	}
	res, err := c.Try(t.Context(), t, "SELECT generate_series(1, 1000000000)", execution.Limits{Rows: 5})
	if err != nil || len(res.Rows) != 5 {
		t.Errorf("%v, %v", res, err)
	}
	if now := c.One(t, backendPID); now == pid {
		t.Errorf("the connection was used again after a cancel")
	}
	off := open(t, p.through(t, url), pgdb.Config{Pooler: pgdb.PoolerOff})
	if got := off.One(t, prepared); got != "10" {
		t.Errorf("%s prepared statements with Pooler set to off", got)
	}
	p.pooler.Store(false)
	on := open(t, p.through(t, url), pgdb.Config{Pooler: pgdb.PoolerOn})
	if got := on.One(t, prepared); got != "0" {
		t.Errorf("%s prepared statements with Pooler set to on", got)
	}
}

// TestBlackHole shows that an unreachable server blocks a caller for a bounded
// time, and no longer than the caller waits.
func TestBlackHole(t *testing.T) {
	server := testdb.Postgres(t)
	p := newProxy(t, server.Addr())
	url := server.NewDatabase(t)
	c := open(t, p.through(t, url)+"&connect_timeout=1", pgdb.Config{MaxConnections: 1})
	for _, step := range []struct {
		name   string
		before bool // the hole begins before the statement is sent
		limit  time.Duration
		wait   time.Duration // how long the caller waits; 0 means no limit
		codes  []sqlguard.Code
	}{
		{"during a statement", false, 200 * time.Millisecond, 0, []sqlguard.Code{sqlguard.CodeTimeout}},
		{"during a statement, caller leaves", false, time.Minute, 200 * time.Millisecond, []sqlguard.Code{sqlguard.CodeTimeout}},
		// The reset after the last statement may or may not have arrived.
		{"before", true, 200 * time.Millisecond, 0, []sqlguard.Code{sqlguard.CodeTimeout, sqlguard.CodeConnectionLost}},
		{"before, caller leaves", true, time.Minute, 100 * time.Millisecond, []sqlguard.Code{sqlguard.CodeTimeout}},
	} {
		t.Run(step.name, func(t *testing.T) {
			p.hole.Store(false)
			p.cut()
			recovers(t, c)
			ctx, cancel := context.WithCancel(t.Context())
			if step.wait > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), step.wait)
			}
			defer cancel()
			p.hole.Store(step.before)
			ended := make(chan error, 1)
			go func() {
				_, err := c.Try(ctx, t, "SELECT pg_sleep(3)", execution.Limits{Timeout: step.limit})
				ended <- err
			}()
			if !step.before {
				executiontest.Eventually(t, "the statement runs, or has ended already", func() bool {
					return query[int](t, url, running) == 1 || len(ended) == 1
				})
				p.hole.Store(true)
			}
			if err := <-ended; !slices.Contains(step.codes, execution.CodeOf(err)) {
				t.Errorf("error %v, want %v", err, step.codes)
			}
		})
	}
	p.hole.Store(false)
	recovers(t, c)
}

// recovers waits until c answers. While the network was gone, the server could not
// be asked whether the last statement is over, so its place is still held. On a busy
// machine, connecting may take longer than the time for it.
func recovers(t *testing.T, c *client) {
	t.Helper()
	executiontest.Eventually(t, "the connection answers", func() bool {
		_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{})
		if code := execution.CodeOf(err); err != nil && code != sqlguard.CodeBusy && code != sqlguard.CodeConnectionLost {
			t.Fatalf("error %v, want %s or %s", err, sqlguard.CodeBusy, sqlguard.CodeConnectionLost)
		}
		return err == nil
	})
}

// TestBrokenMidway shows that a connection lost after rows were read causes an
// error without rows, and that the statement is not tried again.
func TestBrokenMidway(t *testing.T) {
	server := testdb.Postgres(t)
	url := server.NewDatabase(t)
	p := newProxy(t, server.Addr())
	c := open(t, p.through(t, url), pgdb.Config{MaxConnections: 1})
	c.One(t, "SELECT 1")
	before := p.accepts.Load()
	var work sync.WaitGroup
	defer work.Wait()
	idle := p.passed.Load()
	work.Go(func() {
		executiontest.Eventually(t, "rows have come", func() bool { return p.passed.Load() > idle+50_000 })
		p.cut()
	})
	e := c.Fails(t, "SELECT repeat('x', 10000), pg_sleep(0.01)::text FROM generate_series(1, 1000)", execution.Limits{Bytes: 1 << 30})
	if e.Code != sqlguard.CodeConnectionLost || !e.Retryable {
		t.Errorf("%v", e)
	}
	// pgconn sends a cancel request for a statement whose connection broke.
	if n := p.accepts.Load() - before; n > 1 {
		t.Errorf("%d new connections, want none except one for a cancel", n)
	}
	executiontest.Eventually(t, "no statement runs", func() bool { return query[int](t, url, running) == 0 })
}

// TestLostWhileIdle shows that a connection is replaced without an error when
// it was lost unnoticed while idle, for example by a firewall that dropped its
// state.
func TestLostWhileIdle(t *testing.T) {
	server := testdb.Postgres(t)
	p := newProxy(t, server.Addr())
	c := open(t, p.through(t, server.NewDatabase(t)), pgdb.Config{MaxConnections: 1})
	c.One(t, "SELECT 1")
	time.Sleep(1100 * time.Millisecond)
	p.hole.Store(true)
	done := make(chan string, 1)
	go func() { done <- c.One(t, "SELECT 'again'") }()
	executiontest.Eventually(t, "the statement is in the hole", func() bool { return p.held.Load() > 0 })
	p.cut()
	p.hole.Store(false)
	if got := <-done; got != "again" {
		t.Errorf("got %s", got)
	}
}

func TestTLS(t *testing.T) {
	server := testdb.StartPostgres(t, testdb.Options{TLS: true, Settings: map[string]string{"listen_addresses": "127.0.0.1,127.0.0.2"}})
	plain := server.NewDatabase(t)
	base, _, _ := strings.Cut(plain, "?")
	secure := base + "?sslmode=verify-full&sslrootcert=" + server.CertificateFile()
	c := open(t, secure, pgdb.Config{MaxConnections: 1})
	if got := c.One(t, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); got != "t" {
		t.Errorf("ssl is %s", got)
	}
	report, err := c.Probe(t.Context())
	if err != nil || !report.TLS {
		t.Errorf("the probe says TLS %t, %v", report.TLS, err)
	}
	// A result in many TLS records with one cell that is too long, and a cancel
	// over TLS.
	res, err := c.Try(t.Context(), t, "SELECT repeat('x', CASE WHEN i = 3000 THEN 3000000 ELSE 100 END) FROM (SELECT generate_series(1, 100000000) AS i) AS s", execution.Limits{})
	if err != nil || len(res.Rows) != 2999 || res.TruncatedBy != execution.TruncatedByCell {
		t.Errorf("%v", err)
	}
	e := c.Fails(t, "SELECT pg_sleep(300)", execution.Limits{Timeout: 30 * time.Millisecond})
	if e.Code != sqlguard.CodeTimeout {
		t.Errorf("%v", e)
	}
	if got := c.One(t, "SELECT 'next'"); got != "next" {
		t.Errorf("got %s", got)
	}
	for range 10 { // the server's last message may arrive together with an earlier one
		query[bool](t, plain, "SELECT bool_and(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'ktx'")
		executiontest.Eventually(t, "the session is gone", func() bool { return query[int](t, plain, sessions) == 0 })
		if got := c.One(t, "SELECT 1"); got != "1" {
			t.Errorf("got %s", got)
		}
	}

	bare := testdb.Postgres(t).NewDatabase(t)
	for _, c := range []struct{ name, url, message, hint string }{
		{"a certificate of another authority", base + "?sslmode=verify-full&sslrootcert=" + writeCertificate(t), "not of an authority that is trusted here", "sslrootcert"},
		{"a certificate of another name", strings.Replace(base, "127.0.0.1", "127.0.0.2", 1) + "?sslmode=verify-full&sslrootcert=" + server.CertificateFile(), "for another host name", "host name of the server's certificate"},
		{"a server without TLS", strings.Replace(bare, "sslmode=disable", "sslmode=verify-full", 1), "does not offer TLS", "tls: off"},
	} {
		e := open(t, c.url, pgdb.Config{}).Fails(t, "SELECT 1", execution.Limits{})
		if e.Code != sqlguard.CodeConnectionLost || e.Retryable || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: %v (%s)", c.name, e, e.Hint)
		}
	}
	preferred := open(t, base+"?sslmode=prefer", pgdb.Config{})
	if got := preferred.One(t, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); got != "t" {
		t.Errorf("ssl is %s with sslmode=prefer", got)
	}
}

// TestPlainAfterTLS: a server that takes no TLS and then breaks is a server that
// breaks, and one that says nothing is not the statement's fault.
func TestPlainAfterTLS(t *testing.T) {
	for _, silent := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a listener in a test
		if err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		work.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer func() { _ = conn.Close() }()
				n, _ := conn.Read(make([]byte, 1000))
				if silent {
					continue
				}
				if n == 8 { // the request for TLS
					_, _ = io.WriteString(conn, "N")
				}
				_ = conn.Close()
			}
		})
		c := open(t, "postgres://u:p@"+l.Addr().String()+"/d", pgdb.Config{})
		e := c.Fails(t, "SELECT 1", execution.Limits{Timeout: map[bool]time.Duration{false: time.Minute, true: 100 * time.Millisecond}[silent]})
		if want := map[bool]sqlguard.Code{false: sqlguard.CodeConnectionLost, true: sqlguard.CodeTimeout}[silent]; e.Code != want || !e.Retryable {
			t.Errorf("silent %t: %+v", silent, e)
		}
		if strings.Contains(e.Message, "TLS") || silent && !strings.Contains(e.Hint, "does not answer") {
			t.Errorf("silent %t: %s (%s)", silent, e.Message, e.Hint)
		}
		_ = l.Close()
		work.Wait()
	}
}

// TestBrokenInTLS: a server that ends the connection when it is asked for TLS has
// broken; one that answers with something else than TLS stays wrong.
func TestBrokenInTLS(t *testing.T) {
	for _, c := range []struct {
		answer, message string
		retryable       bool
	}{
		{"", "closed the connection", true},
		{"S", "closed the connection", true},
		{"SHTTP/1.1 400 Bad Request\r\n\r\n", "transport security failed", false},
		{"S\x15\x03\x03\x00\x02\x02\x28", "transport security failed", false}, // the alert handshake_failure
	} {
		address := answering(t, func(conn net.Conn) {
			_, _ = io.ReadFull(conn, make([]byte, 8)) // the request for TLS
			_, _ = io.WriteString(conn, c.answer)
			if len(c.answer) > 1 {
				_, _ = conn.Read(make([]byte, 4000)) // the client's hello
			}
		})
		e := open(t, "postgres://u:p@"+address+"/d?sslmode=verify-full", pgdb.Config{}).Fails(t, "SELECT 1", execution.Limits{Timeout: time.Minute})
		if e.Code != sqlguard.CodeConnectionLost || e.Retryable != c.retryable || !strings.Contains(e.Message, c.message) {
			t.Errorf("%q: %+v", c.answer, e)
		}
	}
}

// TestNotAServer shows that bytes that do not follow the protocol cause an
// error.
func TestNotAServer(t *testing.T) {
	for _, answer := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "E", "R\x00\x00\x00\x03", "R\x7f\xff\xff\xff\x00\x00\x00\x00", "", "Z\x00\x00\x00\x05I"} {
		address := answering(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1000))
			_, _ = io.WriteString(conn, answer)
		})
		c := open(t, "postgres://u:p@"+address+"/d?sslmode=disable", pgdb.Config{})
		if _, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{}); execution.CodeOf(err) != sqlguard.CodeConnectionLost {
			t.Errorf("%q: error %v, want %s", answer, err, sqlguard.CodeConnectionLost)
		} else if errors.Is(err, io.EOF) {
			t.Logf("%q: %v", answer, err)
		}
	}
}
