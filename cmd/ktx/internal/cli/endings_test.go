package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// endingsVariable asks for so many calls that end before their time, and holds
// each to the time that the product promises. Without it every case runs once,
// held to hang.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

const (
	goneWithin   = 250 * time.Millisecond // of the end of a call, its statement is gone
	killedWithin = time.Second            // of a SIGKILL, so are the statements
	timeLimit    = 1500 * time.Millisecond
	hang         = 20 * time.Second // far above what anything takes
)

// work is something that a call may be at when it ends.
type work struct {
	name string
	sql  string
	// event is the server's word for what the statement waits for; any will
	// do when it is empty.
	event string
	// via stands between ktx and the server; nil means that nothing does.
	via func(t *testing.T, server string) *link
	// connecting says that the call waits for its connection, so that its
	// session must be gone.
	connecting bool
}

// works are the things that calls are at.
var works = []work{
	{name: "sleeping", sql: "SELECT public.nap(600)", event: "PgSleep"},
	{name: "computing", sql: "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b WHERE a = -b"},
	{name: "waiting for a lock", sql: "SELECT id FROM public.held", event: "relation"},
	{name: "streaming rows", sql: "SELECT i, repeat('x', 1000), public.nap(0.002) FROM generate_series(1, 9000) AS i", event: "PgSleep"},
	{name: "in a cell of 100 MB", sql: "SELECT cell FROM public.large", event: "ClientWrite", via: slowLink},
	{name: "connecting", sql: "SELECT 1", via: silentLink, connecting: true},
}

// endings are how calls end: each returns the moment from which the statement
// has no reason to run.
var endings = []struct {
	name  string
	limit time.Duration // of the statement
	end   func(t *testing.T, p *process, began time.Time) time.Time
}{
	{"cancelled", 5 * time.Minute, func(t *testing.T, p *process, _ time.Time) time.Time {
		t.Helper()
		p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		return time.Now()
	}},
	{"time limit", timeLimit, func(t *testing.T, _ *process, began time.Time) time.Time {
		t.Helper()
		end := began.Add(timeLimit)
		time.Sleep(time.Until(end))
		return end
	}},
	{"client closes its end", 5 * time.Minute, func(t *testing.T, p *process, _ time.Time) time.Time {
		t.Helper()
		_ = p.in.Close()
		return time.Now()
	}},
	{"client is gone", 5 * time.Minute, func(t *testing.T, p *process, _ time.Time) time.Time {
		t.Helper()
		_, _ = p.in.Close(), p.pipe.Close()
		return time.Now()
	}},
}

// stage is a database on which calls are made and looked at from outside.
type stage struct {
	server  *testdb.PostgresServer
	address string
	watcher *pgx.Conn
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{server: testdb.Postgres(t)}
	s.address = s.server.NewDatabase(
		t,
		"CREATE FUNCTION public.nap(seconds float8) RETURNS text LANGUAGE sql AS 'SELECT pg_catalog.pg_sleep(seconds)::text'",
		// Compiling a statement just in time cannot be interrupted.
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET jit = off', current_database()); END $$",
		"CREATE TABLE public.held (id int)",
		"CREATE TABLE public.large (cell text)",
		"ALTER TABLE public.large ALTER cell SET STORAGE EXTERNAL",
		"INSERT INTO public.large SELECT repeat('x', 100000000)",
	)
	s.watcher = s.connect(t)
	holder := s.connect(t)
	if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE public.held IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// project makes a project on the stage's database, by way of a link if there
// is one.
func (s *stage) project(t *testing.T, limit time.Duration, via *link) (dir string) {
	t.Helper()
	address, err := url.Parse(s.address)
	if err != nil {
		t.Fatal(err)
	}
	if via != nil {
		address.Host = via.listener.Addr().String()
	}
	dir = t.TempDir()
	secret := filepath.Join(dir, "url")
	config := fmt.Sprintf(`connections:
  demo:
    driver: postgres
    url: file:%s
    functions: {allow: [public.nap]}
    limits: {timeout: %s, lockTimeout: 5m, bytes: 400MiB, cellBytes: 200MiB}
`, secret, limit)
	for path, text := range map[string]string{secret: address.String(), filepath.Join(dir, "ktx.yaml"): config} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// count counts the sessions of ktx: those that run something, those that wait
// for event, or all.
func (s *stage) count(t *testing.T, condition, event string) (n int) {
	t.Helper()
	err := s.watcher.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'ktx'
		AND CASE $1 WHEN 'all' THEN true WHEN 'event' THEN state = 'active' AND wait_event = $2 ELSE state = 'active' END`, condition, event).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// begin starts ktx, makes a call of w and waits until the server is at it.
// It returns when the statement began, or was sent, where it waits for its
// connection.
func (s *stage) begin(t *testing.T, w work, limit time.Duration) (p *process, began time.Time) {
	t.Helper()
	var via *link
	if w.via != nil {
		via = w.via(t, s.server.Addr())
	}
	p = run(t, s.project(t, limit, via), "mcp", "stdio")
	p.send(t, initialize, ready)
	p.answer(t, 1)
	p.send(t, strings.Replace(query("SELECT 1"), `"id":2`, `"id":9`, 1))
	p.answer(t, 9)
	if w.connecting { // the gateway knows the server, and needs a new connection
		via.silence()
		s.gone(t, w)
	}
	began = time.Now()
	p.send(t, strings.Replace(query(w.sql), `"connectionId"`, `"maxRows":9999,"maxBytes":400000000,"connectionId"`, 1))
	switch {
	case w.connecting:
		s.until(t, func() bool { return s.count(t, "all", "") > 0 })
		return p, began
	case w.event != "":
		s.until(t, func() bool { return s.count(t, "event", w.event) > 0 })
	default:
		s.until(t, func() bool { return s.count(t, "active", "") > 0 })
	}
	err := s.watcher.QueryRow(t.Context(), `SELECT min(query_start) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'ktx' AND state = 'active'`).Scan(&began)
	if err != nil {
		t.Fatal(err)
	}
	return p, began
}

// gone waits for the end of what w had at the server.
func (s *stage) gone(t *testing.T, w work) {
	t.Helper()
	condition := "active"
	if w.connecting {
		condition = "all"
	}
	s.until(t, func() bool { return s.count(t, condition, "") == 0 })
}

func (s *stage) until(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v", hang)
		}
	}
}

// TestCallsThatEndLeaveNothingRunning ends calls in every way, at everything
// that they may be at, and looks at the server from outside.
func TestCallsThatEndLeaveNothingRunning(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each call")
	}
	calls, within := len(works)*len(endings), hang
	if v := os.Getenv(endingsVariable); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			t.Fatalf("%s=%s is not a number of calls", endingsVariable, v)
		}
		calls, within = n, goneWithin
	}
	s := newStage(t)
	took := map[string][]time.Duration{}
	var all []time.Duration
	inTime := 0
	for i := range calls {
		w, e := works[i%len(works)], endings[i/len(works)%len(endings)]
		t.Run(fmt.Sprintf("%d %s, %s", i, w.name, e.name), func(t *testing.T) {
			p, began := s.begin(t, w, e.limit)
			time.Sleep(time.Duration(i*37%100) * time.Millisecond)
			end := e.end(t, p, began)
			s.gone(t, w)
			d := time.Since(end)
			took[e.name] = append(took[e.name], d)
			took[w.name] = append(took[w.name], d)
			all = append(all, d)
			if d > within {
				t.Errorf("gone after %v, want within %v", d, within)
			} else {
				inTime++
			}
		})
	}
	for _, e := range endings {
		t.Log(distribution(e.name, took[e.name]))
	}
	for _, w := range works {
		t.Log(distribution(w.name, took[w.name]))
	}
	t.Log(distribution("all", all))
	t.Logf("%d of %d gone within %v", inTime, calls, within)
}

// distribution tells how durations are spread.
func distribution(name string, of []time.Duration) string {
	if len(of) == 0 {
		return name + ": none"
	}
	of = slices.Sorted(slices.Values(of))
	at := func(percent int) time.Duration {
		return of[min(len(of)*percent/100, len(of)-1)].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%-22s %3d calls: p50 %v, p90 %v, p99 %v, max %v", name, len(of), at(50), at(90), at(99), at(100))
}

// TestKilledGatewayLeavesNothingRunning kills ktx, which leaves the server to
// find out by itself.
func TestKilledGatewayLeavesNothingRunning(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each call")
	}
	s := newStage(t)
	if s.server.Version() < 14 {
		t.Skip("servers before 14 do not look after their clients")
	}
	within := hang
	rounds := 1
	if os.Getenv(endingsVariable) != "" {
		within, rounds = killedWithin, 5
	}
	took := map[string][]time.Duration{}
	var names []string
	for range rounds {
		for _, w := range works {
			if w.connecting {
				continue
			}
			w.via = nil
			stopped := w.event == "ClientWrite"
			if stopped {
				w.event = ""
			}
			t.Run(w.name, func(t *testing.T) {
				p, _ := s.begin(t, w, 5*time.Minute)
				if stopped { // so that nobody reads what the server sends
					p.signal(t, syscall.SIGSTOP)
					s.until(t, func() bool { return s.count(t, "event", "ClientWrite") > 0 })
				}
				p.signal(t, syscall.SIGKILL)
				start := time.Now()
				s.gone(t, w)
				d := time.Since(start)
				if !slices.Contains(names, w.name) {
					names = append(names, w.name)
				}
				took[w.name] = append(took[w.name], d)
				if d > within {
					t.Errorf("gone after %v, want within %v", d, within)
				}
			})
		}
	}
	for _, name := range names {
		t.Log(distribution(name, took[name]))
	}
}

// link stands between ktx and its server.
type link struct {
	listener net.Listener
	server   string
	pause    time.Duration // after every 40 KB of what the server sends
	silent   atomic.Bool   // nothing that it sends is passed on once it has let ktx in

	mu    sync.Mutex
	conns []net.Conn
	work  sync.WaitGroup
}

// slowLink carries 8 MB a second.
func slowLink(t *testing.T, server string) *link {
	t.Helper()
	return newLink(t, server, 5*time.Millisecond)
}

// silentLink carries everything until it is silenced.
func silentLink(t *testing.T, server string) *link {
	t.Helper()
	return newLink(t, server, 0)
}

func newLink(t *testing.T, server string, pause time.Duration) *link {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, server: server, pause: pause}
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

// silence cuts what there is, and lets nothing through on new connections once
// the server has let ktx in.
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

// toClient passes on what the server sends.
func (l *link) toClient(client io.Writer, server io.Reader) {
	const letIn = "R\x00\x00\x00\x08\x00\x00\x00\x00" // AuthenticationOk
	b := make([]byte, 40<<10)
	for silent := false; ; {
		n, err := server.Read(b)
		silent = silent || l.silent.Load() && strings.Contains(string(b[:n]), letIn)
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
