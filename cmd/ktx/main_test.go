package main_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/executable"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestMain(m *testing.M) {
	os.Exit(executable.Run(func() int { return testdb.Run(m) }))
}

// binary returns the program to measure: that of KTX_BENCH_BINARY, else the one
// that the tests build.
func binary(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv("KTX_BENCH_BINARY"); path != "" {
		return path
	}
	return executable.KTX(tb)
}

// project makes a project with the demo shop.
func project(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if out, err := exec.CommandContext(tb.Context(), binary(tb), "init", "--demo", dir).CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return dir
}

const session = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":"demo","sql":"SELECT status, count(*) FROM orders GROUP BY status"}}}
`

// firstAnswer starts ktx mcp stdio and returns the time from there to the
// answer of its first sql_execution.
func firstAnswer(tb testing.TB, path, dir string) time.Duration {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), path, "mcp", "stdio", "--project-dir", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.WriteString(in, session); err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewReader(out)
	var took time.Duration
	for took == 0 {
		line, err := lines.ReadString('\n')
		if err != nil {
			tb.Fatalf("no answer: %v: %s", err, stderr.Bytes())
		}
		if strings.Contains(line, `"id":2`) {
			if took = time.Since(start); !strings.Contains(line, "delivered") {
				tb.Fatalf("answered %s", line)
			}
		}
	}
	if err := in.Close(); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		tb.Fatalf("%v: %s", err, stderr.Bytes())
	}
	return took
}

// TestFirstAnswer holds that the first answer of a new process is right.
// BenchmarkFirstAnswer measures how soon it comes.
func TestFirstAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	firstAnswer(t, binary(t), project(t))
}

// median runs f once for each iteration and reports the median in ms.
func median(b *testing.B, f func() time.Duration) {
	b.Helper()
	times := make([]time.Duration, 0, 64)
	for b.Loop() {
		times = append(times, f())
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms/median")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFirstAnswer is the time from the start of ktx mcp stdio to the
// answer of its first sql_execution, on SQLite.
func BenchmarkFirstAnswer(b *testing.B) {
	dir, path := project(b), binary(b)
	median(b, func() time.Duration { return firstAnswer(b, path, dir) })
}

// BenchmarkProcess is the whole time of a process, from its start to its end.
func BenchmarkProcess(b *testing.B) {
	dir, path := project(b), binary(b)
	file := filepath.Join(dir, "q.sql")
	if err := os.WriteFile(file, []byte("SELECT status, count(*) FROM orders GROUP BY status;\nSELECT 1;\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name string
		args []string
	}{
		{"version", []string{"version"}},
		{"demo", []string{"demo"}},
		{"sql", []string{"sql", "--project-dir", dir, "SELECT status, count(*) FROM orders GROUP BY status"}},
		{"check-sqlite", []string{"sql", "check", "--dialect", "sqlite", file}},
		{"check-postgres", []string{"sql", "check", "--dialect", "postgres", file}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			median(b, func() time.Duration {
				start := time.Now()
				out, err := exec.CommandContext(b.Context(), path, bench.args...).CombinedOutput()
				if err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				return time.Since(start)
			})
		})
	}
}
