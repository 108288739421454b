package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// peersVariable names the directory into which npm installed the peers: MCP
// servers of others that run SQL.
const peersVariable = "KTX_BENCH_PEERS"

// A peer is an MCP server that runs a statement on PostgreSQL.
type peer struct {
	name string
	call string   // the parameters of tools/call for SELECT 1
	rows string   // the same for 1,000 rows
	want string   // part of each answer
	cmd  []string // over standard input and output
	http []string // over HTTP; nil when the peer does not have it
	url  string   // of the latter
	env  []string
}

const thousand = "SELECT i, i * 2 AS n, 'row ' || i AS t FROM generate_series(1, 1000) AS i"

// peers returns ktx and, when they are installed, the servers of others.
func peers(b *testing.B) []peer {
	b.Helper()
	database := testdb.Postgres(b).NewDatabase(b)
	tool := func(name, rest string) (one, rows string) {
		text := `{"name":"` + name + `","arguments":{` + rest + `"sql":"%s"}}`
		return fmt.Sprintf(text, "SELECT 1"), fmt.Sprintf(text, thousand)
	}
	own := func(name, program string) peer {
		dir, port := b.TempDir(), freePort(b)
		config := "server: {port: %d}\nconnections:\n  warehouse: {driver: postgres, url: env:KTX_BENCH_URL}\n"
		if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), fmt.Appendf(nil, config, port), 0o600); err != nil {
			b.Fatal(err)
		}
		p := peer{
			name: name, want: `rows`, cmd: []string{program, "mcp", "stdio", "--project-dir", dir},
			http: []string{program, "mcp", "start", "--foreground", "--project-dir", dir},
			url:  "http://127.0.0.1:" + strconv.Itoa(port) + "/mcp",
			env:  []string{"KTX_BENCH_URL=" + database},
		}
		p.call, p.rows = tool("sql_execution", `"connectionId":"warehouse",`)
		return p
	}
	list := []peer{own("ktx", binary(b))}
	if other := os.Getenv("KTX_BENCH_OTHER"); other != "" { // another build, to compare two of ktx in one run
		list = append(list, own("other", other))
	}
	modules := os.Getenv(peersVariable)
	if modules == "" {
		return list
	}
	at := func(parts ...string) string {
		return filepath.Join(append([]string{modules, "node_modules"}, parts...)...)
	}
	node, err := filepath.Glob(at("node-linux-*", "bin", "node"))
	if err != nil || len(node) == 0 {
		b.Fatalf("no Node in %s: %v", modules, err)
	}
	u, err := url.Parse(database)
	if err != nil {
		b.Fatal(err)
	}
	password, _ := u.User.Password()
	binaries, err := filepath.Glob(at("@toolbox-sdk", "server-linux-*", "bin", "toolbox"))
	if err != nil || len(binaries) == 0 {
		b.Fatalf("no toolbox in %s: %v", modules, err)
	}
	port := freePort(b)
	toolbox := peer{
		name: "toolbox", want: `"result"`, cmd: []string{binaries[0], "--prebuilt", "postgres", "--stdio"},
		http: []string{binaries[0], "--prebuilt", "postgres", "--port", strconv.Itoa(port)},
		url:  "http://127.0.0.1:" + strconv.Itoa(port) + "/mcp",
		env: []string{
			"POSTGRES_HOST=" + u.Hostname(), "POSTGRES_PORT=" + u.Port(), "POSTGRES_DATABASE=" + strings.TrimPrefix(u.Path, "/"),
			"POSTGRES_USER=" + u.User.Username(), "POSTGRES_PASSWORD=" + password,
		},
	}
	toolbox.call, toolbox.rows = tool("execute_sql", "")
	server := peer{name: "server-postgres", want: `"result"`, cmd: []string{node[0], at("@modelcontextprotocol", "server-postgres", "dist", "index.js"), database}}
	server.call, server.rows = tool("query", "")
	port = freePort(b)
	dbhub := peer{
		name: "dbhub", want: `"result"`, cmd: []string{node[0], at("@bytebase", "dbhub", "dist", "index.js"), "--transport", "stdio", "--dsn", database},
		http: []string{node[0], at("@bytebase", "dbhub", "dist", "index.js"), "--transport", "http", "--port", strconv.Itoa(port), "--dsn", database},
		url:  "http://127.0.0.1:" + strconv.Itoa(port) + "/mcp",
	}
	dbhub.call, dbhub.rows = tool("execute_sql", "")
	return append(list, toolbox, server, dbhub)
}

// freePort returns a port that was free a moment ago.
func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if addr, ok := l.Addr().(*net.TCPAddr); ok {
		return addr.Port
	}
	tb.Fatal("not a TCP address")
	return 0
}

// asked is a running peer.
type asked struct {
	peer
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ask    func(client int, params string) ([]byte, error)
	end    func()

	times  []time.Duration
	counts []float64
	calls  atomic.Int64
	err    atomic.Pointer[error]
}

const (
	greeting  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	greeted   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callIntro = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`
)

func (a *asked) start(b *testing.B, args []string) {
	b.Helper()
	a.cmd = exec.Command(args[0], args[1:]...) //nolint:noctx // end ends it
	a.cmd.Env = append(os.Environ(), a.env...)
	a.cmd.Stderr = &a.stderr
}

// overStdio starts a peer over standard input and output.
func overStdio(b *testing.B, p peer) *asked {
	b.Helper()
	a := &asked{peer: p}
	a.start(b, p.cmd)
	in, err := a.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	waiting := map[int]chan []byte{}
	next := 0
	go func() {
		lines := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			id, ok := idOf(line)
			mu.Lock()
			if c := waiting[id]; ok && c != nil {
				delete(waiting, id)
				c <- line
			}
			mu.Unlock()
		}
	}()
	send := func(id int, text string) ([]byte, error) {
		c := make(chan []byte, 1)
		mu.Lock()
		waiting[id] = c
		_, err := io.WriteString(in, text+"\n")
		mu.Unlock()
		if err != nil {
			return nil, err
		}
		select {
		case line := <-c:
			return line, nil
		case <-time.After(time.Minute):
			return nil, errors.New("no answer within a minute")
		}
	}
	a.ask = func(_ int, params string) ([]byte, error) {
		mu.Lock()
		next++
		id := next
		mu.Unlock()
		return send(id, fmt.Sprintf(callIntro, id, params))
	}
	a.end = func() {
		_ = in.Close()
		late := time.AfterFunc(10*time.Second, func() { _ = a.cmd.Process.Kill() })
		defer late.Stop()
		_ = a.cmd.Wait() // some peers do not end by themselves
	}
	if _, err := send(0, greeting); err != nil {
		b.Fatalf("%s: %v: %s", p.name, err, a.stderr.Bytes())
	}
	if _, err := io.WriteString(in, greeted+"\n"); err != nil {
		b.Fatal(err)
	}
	return a
}

// idOf finds the ID of an answer. Some peers write it last, and their results
// contain no member id.
func idOf(line []byte) (int, bool) {
	i := bytes.Index(line, []byte(`"id":`))
	if i < 0 {
		return 0, false
	}
	if j := bytes.LastIndex(line, []byte(`"id":`)); j > i && len(line)-j < 32 {
		i = j
	}
	digits := line[i+5:]
	n := 0
	for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
		n++
	}
	id, err := strconv.Atoi(string(digits[:n]))
	return id, err == nil
}

// overHTTP starts a peer over HTTP. Each client has a connection and, where the
// peer has sessions, a session of its own.
func overHTTP(b *testing.B, p peer) *asked {
	b.Helper()
	a := &asked{peer: p}
	a.start(b, p.http)
	if err := a.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	post := func(session, text string) ([]byte, string, error) {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, p.url, strings.NewReader(text))
		if err != nil {
			return nil, "", err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header["Idempotency-Key"] = nil // not sent: a peer that has closed an idle connection is asked again on another
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
		res, err := client.Do(r)
		if err != nil {
			return nil, "", err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		return body, res.Header.Get("Mcp-Session-Id"), err
	}
	var err error
	for range 600 { // until it listens
		if _, _, err = post("", greeting); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		b.Fatalf("%s: %v: %s", p.name, err, a.stderr.Bytes())
	}
	sessions := make([]string, many)
	for i := range sessions {
		if _, sessions[i], err = post("", greeting); err != nil {
			b.Fatal(err)
		}
		if _, _, err = post(sessions[i], greeted); err != nil {
			b.Fatal(err)
		}
	}
	a.ask = func(i int, params string) ([]byte, error) {
		body, _, err := post(sessions[i], fmt.Sprintf(callIntro, 1, params))
		return body, err
	}
	a.end = func() {
		client.CloseIdleConnections()
		_ = a.cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(10*time.Second, func() { _ = a.cmd.Process.Kill() })
		defer late.Stop()
		_ = a.cmd.Wait() // how it ends says nothing
	}
	return a
}

const many = 32

// one makes one call and checks its answer.
func (a *asked) one(client int, params string) error {
	text, err := a.ask(client, params)
	if err != nil {
		return err
	}
	a.calls.Add(1)
	if !bytes.Contains(text, []byte(a.want)) || bytes.Contains(text, []byte(`"isError":true`)) {
		return fmt.Errorf("%s answered %.300s", a.name, text)
	}
	return nil
}

// together lets n clients ask for a while, and returns the calls in a second.
func (a *asked) together(b *testing.B, n int, params string, d time.Duration) float64 {
	b.Helper()
	before, start := a.calls.Load(), time.Now()
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			for time.Since(start) < d {
				if err := a.one(i, params); err != nil {
					a.err.Store(&err)
					return
				}
			}
		})
	}
	clients.Wait()
	if err := a.err.Load(); err != nil {
		b.Fatalf("%v: %s", *err, a.stderr.Bytes())
	}
	return float64(a.calls.Load()-before) / time.Since(start).Seconds()
}

// BenchmarkPeers asks ktx and servers of others in turns for SELECT 1 and for
// 1,000 rows. It reports the median of one client, the rate of 32, and the CPU
// time of the server for a call. The ratios divide a figure of ktx by that of a
// peer.
func BenchmarkPeers(b *testing.B) {
	for _, transport := range []struct {
		name  string
		start func(*testing.B, peer) *asked
		has   func(peer) bool
	}{
		{"stdio", overStdio, func(peer) bool { return true }},
		{"http", overHTTP, func(p peer) bool { return p.http != nil }},
	} {
		for _, q := range []string{"one", "rows"} {
			if transport.name == "http" && q == "rows" {
				continue // the transport of an answer with many rows is a small part of its time
			}
			b.Run(transport.name+"/"+q, func(b *testing.B) {
				var all []*asked
				for _, p := range peers(b) {
					if !transport.has(p) {
						continue
					}
					if q == "rows" {
						p.call = p.rows
					}
					all = append(all, transport.start(b, p))
				}
				ended := false
				end := func() {
					if !ended {
						ended = true
						for _, a := range all {
							a.end()
						}
					}
				}
				b.Cleanup(end)
				for _, a := range all { // warm
					a.together(b, many, a.call, 300*time.Millisecond)
				}
				for b.Loop() {
					for _, a := range all {
						for range 50 {
							start := time.Now()
							if err := a.one(0, a.call); err != nil {
								b.Fatalf("%v: %s", err, a.stderr.Bytes())
							}
							a.times = append(a.times, time.Since(start))
						}
					}
					for _, a := range all {
						a.counts = append(a.counts, a.together(b, many, a.call, 250*time.Millisecond))
					}
				}
				end()
				b.ReportMetric(0, "ns/op")
				for _, a := range all {
					slices.Sort(a.times)
					slices.Sort(a.counts)
					p50, rate := a.times[len(a.times)/2].Seconds()*1e3, a.counts[len(a.counts)/2]
					cpu := (a.cmd.ProcessState.UserTime() + a.cmd.ProcessState.SystemTime()).Seconds() * 1e6 / float64(a.calls.Load())
					b.ReportMetric(p50, a.name+"-p50-ms")
					b.ReportMetric(rate, a.name+"-calls/s")
					b.ReportMetric(cpu, a.name+"-cpu-µs")
					if own := all[0]; a != own {
						b.ReportMetric(own.times[len(own.times)/2].Seconds()*1e3/p50, "p50/"+a.name)
						b.ReportMetric(own.counts[len(own.counts)/2]/rate, "calls/"+a.name)
					}
				}
			})
		}
	}
}
