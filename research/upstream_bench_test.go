package research_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/research/upstream/upstreamtest"
)

// ownTools is how many tools upstreamtest has beside generated ones.
const ownTools = 18

// BenchmarkUpstream measures tool_search, tool_details and tool_call over MCP with many
// tools of another server, which is a process. The overhead of a call is its time through
// ktx less its time without ktx, at the 95th of 100.
func BenchmarkUpstream(b *testing.B) {
	for _, tools := range []int{527, 1500} {
		b.Run(strconv.Itoa(tools), func(b *testing.B) {
			program, err := os.Executable()
			if err != nil {
				b.Fatal(err)
			}
			log := filepath.Join(b.TempDir(), "log")
			args := []string{upstreamtest.Argument, "-tools", strconv.Itoa(tools - ownTools), "-log", log}
			agent, manager, server := benchAgent(b, program, args)
			direct, err := mcp.NewClient(&mcp.Implementation{Name: "direct", Version: "1"}, nil).Connect(b.Context(), &mcp.CommandTransport{Command: exec.CommandContext(context.WithoutCancel(b.Context()), program, args...)}, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = direct.Close() })
			call := func(s *mcp.ClientSession, name string, arguments any) {
				if res, err := s.CallTool(b.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments}); err != nil || res.IsError {
					b.Fatalf("%s %v: %+v, %v", name, arguments, res, err)
				}
			}
			call(agent, "tool_search", map[string]any{"query": []string{"send an email"}}) // connects, and makes the index
			echo := map[string]any{"text": "x"}
			var search, details, through, plain []time.Duration
			took := func(list *[]time.Duration, f func()) {
				start := time.Now()
				f()
				*list = append(*list, time.Since(start))
			}
			i := 0
			for b.Loop() {
				i++
				var tool struct{ Name, Description string }
				if err := json.Unmarshal([]byte(upstreamtest.Generated(i%(tools-ownTools))), &tool); err != nil {
					b.Fatal(err)
				}
				words := strings.Fields(tool.Description)
				took(&search, func() {
					call(agent, "tool_search", map[string]any{"query": []string{strings.Join(words[3:8], " ") + " with the permissions of the caller"}})
				})
				took(&details, func() {
					call(agent, "tool_details", map[string]any{"server": "many", "tool": tool.Name})
				})
				took(&plain, func() { call(direct, "echo", echo) })
				took(&through, func() {
					call(agent, "tool_call", map[string]any{"server": "many", "tool": "echo", "arguments": echo})
				})
			}
			for name, list := range map[string][]time.Duration{"search-p95-ms": search, "details-p95-ms": details} {
				b.ReportMetric(p95(list), name)
			}
			b.ReportMetric(p95(through)-p95(plain), "overhead-p95-ms")
			runtime.GC()
			b.ReportMetric(residentMB(b), "rss-MB")
			b.ReportMetric(day(b, manager, server, log), "hits-%")
		})
	}
}

// benchAgent returns a client of a ktx that has the server "many", its manager, and the
// server.
func benchAgent(b *testing.B, program string, args []string) (*mcp.ClientSession, *upstream.Manager, upstream.Server) {
	b.Helper()
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = root.Close() })
	log, err := audit.Open(b.TempDir(), audit.Config{}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	m := upstream.New(upstream.Options{Root: root, Log: log, Judge: noJudge{}, Logger: slog.New(slog.DiscardHandler)})
	b.Cleanup(m.Close)
	server := upstream.Server{Name: "many", Command: program}
	for _, arg := range args {
		server.Args = append(server.Args, func() (string, error) { return arg, nil })
	}
	if err := m.Configure(upstream.Config{Servers: []upstream.Server{server}}); err != nil {
		b.Fatal(err)
	}
	tools, err := research.New(nil, slog.New(slog.DiscardHandler), research.Stores{Upstream: m}).Server("1.2.3")
	if err != nil {
		b.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := tools.Connect(b.Context(), far, nil); err != nil {
		b.Fatal(err)
	}
	agent, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(b.Context(), near, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = agent.Close() })
	return agent, m, server
}

// dayScale is how much faster than a real one the replayed day is.
const dayScale = 60_000

// day searches once in each minute of a day, and returns the share of the searches, in
// percent, for which the server was not asked for its tools.
func day(b *testing.B, m *upstream.Manager, server upstream.Server, log string) float64 {
	b.Helper()
	// Each minute of the day is a millisecond.
	if err := m.Configure(upstream.Config{Servers: []upstream.Server{server}, TTL: upstream.DefaultTTL / dayScale}); err != nil {
		b.Fatal(err)
	}
	lists := func() int {
		text, err := os.ReadFile(log)
		if err != nil {
			b.Fatal(err)
		}
		return strings.Count(string(text), "list\n")
	}
	before := lists()
	const minutes = 24 * 60
	tick := time.NewTicker(time.Minute / dayScale)
	defer tick.Stop()
	for i := range minutes {
		<-tick.C
		if _, err := m.Search(b.Context(), upstream.Query{Texts: []string{fmt.Sprintf("report %d", i)}, Limit: 5}); err != nil {
			b.Fatal(err)
		}
	}
	return 100 * (1 - float64(lists()-before)/minutes)
}

func p95(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)*95/100].Microseconds()) / 1000
}

// residentMB returns the memory of this process that is resident, which has the
// benchmark's own client in it.
func residentMB(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	b.Fatal("the kernel does not say")
	return 0
}

// The phases of [BenchmarkUpstreamBeside], with the other server and without it, and the
// pause between two calls to the other one.
const (
	besidePhase = 5 * time.Second
	besidePause = 10 * time.Millisecond
)

// BenchmarkUpstreamBeside measures the calls to one server while another one misbehaves: a
// ratio of their times at the 95th of 100 in a phase with the other server, which is
// configured and started within it, and in one without it; the median of all pairs. The
// other one is called all the time. Everything shares the processors, so it also counts
// what the other server burns.
func BenchmarkUpstreamBeside(b *testing.B) {
	for _, bad := range []struct {
		name      string
		args      []string
		tool      string
		arguments string
	}{
		{"well-behaved", nil, "echo", `{"text":"x"}`},
		{"hangs", nil, "hang", "{}"},
		{"dies", nil, "die", "{}"},
		{"50-MB-answers", nil, "big", `{"bytes":52428800}`},
		{"invalid-lines", []string{"-noise"}, "invalid", "{}"},
		{"never-connected", []string{"-hang-initialize"}, "echo", `{"text":"x"}`},
		{"endless-pages", []string{"-endless"}, "t_1", `{}`},
		{"changes-its-tools", []string{"-restless", "-tools", "100"}, "echo", `{"text":"x"}`},
		{"floods-stderr", []string{"-flood"}, "echo", `{"text":"x"}`},
	} {
		b.Run(bad.name, func(b *testing.B) {
			program, err := os.Executable()
			if err != nil {
				b.Fatal(err)
			}
			agent, m, good := benchAgent(b, program, []string{upstreamtest.Argument})
			other := upstream.Server{Name: "other", Command: program, Timeout: 5 * time.Second}
			for _, arg := range append([]string{upstreamtest.Argument}, bad.args...) {
				other.Args = append(other.Args, func() (string, error) { return arg, nil })
			}
			phase := func() (took []time.Duration) {
				for end := time.Now().Add(besidePhase); time.Now().Before(end); {
					start := time.Now()
					res, err := agent.CallTool(b.Context(), &mcp.CallToolParams{Name: "tool_call", Arguments: map[string]any{"server": "many", "tool": "echo", "arguments": map[string]any{"text": "x"}}})
					if err != nil || res.IsError {
						b.Fatalf("%+v, %v", res, err)
					}
					took = append(took, time.Since(start))
				}
				return took
			}
			configure := func(servers ...upstream.Server) {
				if err := m.Configure(upstream.Config{Servers: servers}); err != nil {
					b.Fatal(err)
				}
			}
			phase() // connects
			var ratios []float64
			for b.Loop() {
				quiet := p95(phase())
				configure(good, other)
				ctx, cancel := context.WithCancel(b.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for ctx.Err() == nil {
						one, stop := context.WithTimeout(ctx, time.Second)
						_, _ = m.Call(one, upstream.Request{Server: "other", Tool: bad.tool, Arguments: json.RawMessage(bad.arguments)})
						stop()
						time.Sleep(besidePause) // refusals without a connection are fast
					}
				}()
				ratios = append(ratios, p95(phase())/quiet)
				cancel()
				<-ended
				configure(good)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "p95-ratio")
		})
	}
}
