package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endingsVariable sets how many calls the tests end early, for each way to speak to
// ktx and each server. Each of them must then end within the time that the product
// promises. Without the variable every ending is tried once, with the limit hang.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

const (
	goneWithin   = 250 * time.Millisecond // of the end of a call, its statement is gone
	killedWithin = time.Second            // of a SIGKILL, so are the statements
	hang         = 2 * time.Minute        // far above what anything takes
)

// timeLimit is the time limit of the statements that end by it. It leaves them time
// to begin on a busy machine.
var timeLimit = 5 * time.Second

// ending is a way in which a call ends. Its function ends the call, and returns the
// time from which the statement should no longer run.
type ending struct {
	name  string
	limit bool // it is the statement's time limit that ends it
	end   func(t *testing.T, c *caller, began time.Time) time.Time
}

// now returns the ending of a call that do ends at once.
func now(name string, do func(t *testing.T, c *caller)) ending {
	return ending{name, false, func(t *testing.T, c *caller, _ time.Time) time.Time {
		t.Helper()
		do(t, c)
		return time.Now()
	}}
}

// inTime returns the ending of a call by its time limit, whatever do does.
func inTime(name string, do func(c *caller)) ending {
	return ending{name, true, func(_ *testing.T, c *caller, began time.Time) time.Time {
		do(c)
		end := began.Add(timeLimit)
		time.Sleep(time.Until(end))
		return end
	}}
}

const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`

var (
	overStdio = []ending{
		now("cancelled", func(t *testing.T, c *caller) {
			t.Helper()
			c.process.send(t, c.in(cancel))
		}),
		inTime("time limit", func(*caller) {}),
		now("client closes its end", func(_ *testing.T, c *caller) { _ = c.process.in.Close() }),
		now("client is gone", func(_ *testing.T, c *caller) { _, _ = c.process.in.Close(), c.process.pipe.Close() }),
	}
	// By the protocol, a dropped connection cancels nothing in a session.
	inSessions = []ending{
		now("cancelled", func(t *testing.T, c *caller) {
			t.Helper()
			c.client.post(t, http.StatusAccepted, cancel)
		}),
		now("session deleted", func(t *testing.T, c *caller) {
			t.Helper()
			if status, text, err := c.client.do(t.Context(), http.MethodDelete, ""); err != nil || status != http.StatusNoContent {
				t.Fatalf("DELETE: %d %s %v", status, text, err)
			}
		}),
		inTime("time limit", func(*caller) {}),
		inTime("connection closed, time limit", func(c *caller) { _ = c.conn.Close() }),
	}
	// Without sessions the end of the stream cancels the call.
	inStreams = []ending{
		now("stream closed", func(_ *testing.T, c *caller) { _ = c.conn.Close() }),
		now("client closes its half", func(_ *testing.T, c *caller) { _ = c.conn.CloseWrite() }),
		now("stream reset", func(_ *testing.T, c *caller) { _, _ = c.conn.SetLinger(0), c.conn.Close() }),
		inTime("time limit", func(*caller) {}),
	}
)

// ways are the ways to speak to ktx, with the endings that each has.
var ways = []struct {
	name    string
	caller  caller
	endings []ending
}{
	{"stdio, 2025-11-25", caller{}, overStdio},
	{"stdio, 2026-07-28", caller{modern: true}, overStdio},
	{"HTTP, 2025-11-25", caller{http: true}, inSessions},
	{"HTTP, 2026-07-28", caller{http: true, modern: true}, inStreams},
}

// caller is a client with its own ktx process.
type caller struct {
	http, modern bool

	process *process
	client  *client
	conn    *net.TCPConn // that of the call, over HTTP
}

// start starts ktx and shakes hands with it.
func (c *caller) start(t *testing.T, dir string) {
	t.Helper()
	if !c.http {
		c.process = run(t, dir, "mcp", "stdio")
		if !c.modern {
			c.process.send(t, initialize, ready)
			c.process.answer(t, 1)
		}
		return
	}
	c.process = run(t, dir, "mcp", "start", "--foreground", "--port", "0")
	c.client = &client{url: foreground(t, dir)}
	if !c.modern {
		c.client.begin(t)
	}
}

// foreground waits until a server in the foreground listens, and returns its
// address.
func foreground(t *testing.T, dir string) string {
	t.Helper()
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(dir, ".ktx", "mcp.json")); return err == nil })
	return "http://127.0.0.1:" + strconv.Itoa(stateOf(t, dir).Port) + "/mcp"
}

// in returns a message in the form of the caller's protocol version.
func (c *caller) in(message string) string {
	if c.modern {
		return strings.TrimSuffix(message, "}}") + modernMeta + "}}"
	}
	return message
}

func (c *caller) headers() []string {
	if c.modern {
		return modernHeaders
	}
	return nil
}

// connect makes a call that is answered, so that ktx knows its database. On a busy
// machine the call may reach its time limit first.
func (c *caller) connect(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(hang); ; {
		text := c.ask(t, query("SELECT 1"))
		if strings.Contains(text, "[[1]]") {
			return
		}
		if time.Now().After(end) || !strings.Contains(text, `"timeout"`) {
			t.Fatalf("answered %s", text)
		}
	}
}

// ask makes a call and returns its answer.
func (c *caller) ask(t *testing.T, message string) string {
	t.Helper()
	if c.http {
		return c.client.post(t, http.StatusOK, c.in(message), c.headers()...)
	}
	c.process.send(t, c.in(strings.Replace(message, `"id":2`, `"id":9`, 1)))
	text, err := json.Marshal(c.process.answer(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// call makes a call and does not wait. Over HTTP it has a connection of its own.
func (c *caller) call(t *testing.T, message string) {
	t.Helper()
	if !c.http {
		c.process.send(t, c.in(message))
		return
	}
	r, err := c.client.request(t.Context(), http.MethodPost, c.in(message), c.headers()...)
	if err != nil {
		t.Fatal(err)
	}
	c.conn = dial(t, c.client.url)
	if err := r.Write(c.conn); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, c.conn) }() // it ends with the connection
}

// dial connects to the server of a URL until the test ends.
func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", u.Host)
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

// TestCallsThatEndLeaveNothingRunning ends calls in every way and during every kind
// of work, and checks on the server itself that nothing still runs.
func TestCallsThatEndLeaveNothingRunning(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each call")
	}
	calls, within := 0, hang
	v := os.Getenv(endingsVariable)
	if v == "" {
		t.Parallel() // most of it is waiting
	} else {
		n, err := strconv.Atoi(v)
		if err != nil || n <= 0 {
			t.Fatalf("%s=%s is not a number of calls", endingsVariable, v)
		}
		calls, within, timeLimit = n, goneWithin, 1500*time.Millisecond
	}
	for _, newStage := range []func(t *testing.T) *stage{postgresStage, mariadbStage} {
		s := newStage(t)
		for w, way := range ways {
			t.Run(s.driver+"/"+way.name, func(t *testing.T) {
				callsEnd(t, s, way.caller, way.endings, max(calls, len(way.endings)), w*len(way.endings), within)
			})
		}
	}
}

// callsEnd ends calls in every way that c has. It begins with the given kind of work,
// so that a few calls of each way cover different kinds.
func callsEnd(t *testing.T, s *stage, c caller, endings []ending, calls, first int, within time.Duration) {
	t.Helper()
	took := map[string][]time.Duration{}
	var all []time.Duration
	good := 0
	for i := range calls {
		e := endings[i%len(endings)]
		w := s.works[(first+i+i/len(endings))%len(s.works)]
		t.Run(fmt.Sprintf("%d %s, %s", i, w.name, e.name), func(t *testing.T) {
			c := c
			limit := 5 * time.Minute
			if e.limit {
				limit = timeLimit
			}
			began := s.begin(t, &c, w, limit)
			time.Sleep(time.Duration(i*37%100) * time.Millisecond)
			end := e.end(t, &c, began)
			s.gone(t, w)
			d := time.Since(end)
			took[e.name] = append(took[e.name], d)
			took[w.name] = append(took[w.name], d)
			all = append(all, d)
			if d > within {
				t.Errorf("gone after %v, want within %v", d, within)
			} else {
				good++
			}
		})
	}
	for _, e := range endings {
		t.Log(distribution(e.name, took[e.name]))
	}
	for _, w := range s.works {
		t.Log(distribution(w.name, took[w.name]))
	}
	t.Log(distribution("all", all))
	t.Logf("%d of %d gone within %v", good, calls, within)
}

// distribution returns a summary of durations for the log of the test.
func distribution(name string, of []time.Duration) string {
	if len(of) == 0 {
		return name + ": none"
	}
	of = slices.Sorted(slices.Values(of))
	at := func(percent int) time.Duration {
		return of[min(len(of)*percent/100, len(of)-1)].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%-29s %3d calls: p50 %v, p90 %v, p99 %v, max %v", name, len(of), at(50), at(90), at(99), at(100))
}

// TestKilledGatewayLeavesNothingRunning kills ktx, so that the server itself must
// notice that its client is gone.
func TestKilledGatewayLeavesNothingRunning(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process for each call")
	}
	s := postgresStage(t)
	if s.version < 14 {
		t.Skip("servers before 14 do not look after their clients")
	}
	within := hang
	rounds := 1
	if os.Getenv(endingsVariable) == "" {
		t.Parallel()
	} else {
		within, rounds = killedWithin, 5
	}
	took := map[string][]time.Duration{}
	var names []string
	for round := range rounds {
		for i, w := range s.works {
			if w.connecting {
				continue
			}
			w.via = nil
			stopped := w.event == "ClientWrite"
			if stopped {
				w.event = ""
			}
			t.Run(w.name, func(t *testing.T) {
				c := ways[(round+i)%len(ways)].caller
				s.begin(t, &c, w, 5*time.Minute)
				if stopped { // so that nobody reads what the server sends
					c.process.signal(t, syscall.SIGSTOP)
					s.until(t, func() (runs bool) { _, runs = s.began(t, w.sql, "ClientWrite"); return runs })
				}
				c.process.signal(t, syscall.SIGKILL)
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
