package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// memory returns a figure of a process from /proc/PID/status in MB (proc(5)).
func memory(tb testing.TB, pid int, name string) float64 {
	tb.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				tb.Fatal(err)
			}
			return kb / 1024
		}
	}
	tb.Fatalf("no %s in /proc/%d/status", name, pid)
	return 0
}

// processorTime returns the processor time that a process has used, in ms. The kernel
// counts it in hundredths of a second.
func processorTime(tb testing.TB, pid int) float64 {
	tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may have spaces
	fields, sum := strings.Fields(rest), 0.0
	for _, text := range fields[11:13] { // utime and stime
		ticks, err := strconv.ParseFloat(text, 64)
		if err != nil {
			tb.Fatal(err)
		}
		sum += 10 * ticks
	}
	return sum
}

// BenchmarkPeakMemory reports the greatest resident size of ktx mcp stdio
// during a call as a multiple of its resident size before, when it has answered
// a hundred small calls. The calls read a cell of 250 MB, which no limit lets
// through, and a table of ten million rows, of which the answer holds as many
// as the limits allow.
func BenchmarkPeakMemory(b *testing.B) {
	url := testdb.Postgres(b).NewDatabase(b,
		"CREATE TABLE cells AS SELECT 1 AS n, repeat('ktx ', 62500000) AS cell",
		"CREATE TABLE numbers AS SELECT n, n * 2 AS twice, 'row ' || n AS name FROM generate_series(1, 10000000) AS n")
	dir := b.TempDir()
	config := "connections:\n  warehouse:\n    driver: postgres\n    url: env:KTX_BENCH_URL\n    tls: off\n    limits: {timeout: 5m}\n"
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct{ name, sql, want string }{
		{"cell", "SELECT n, cell FROM cells", "cell"},
		{"rows", "SELECT n, twice, name FROM numbers", "rows"},
	} {
		b.Run(q.name, func(b *testing.B) {
			worst, idle := 0.0, 0.0
			for b.Loop() {
				before, peak := peakMemory(b, dir, url, q.sql, q.want)
				if peak/before > worst {
					worst, idle = peak/before, before
				}
			}
			b.ReportMetric(worst, "peak/idle")
			b.ReportMetric(idle, "MB-idle")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// peakMemory makes one call on a fresh process and returns its resident size
// before, and the greatest during the call, in MB.
func peakMemory(b *testing.B, dir, url, sql, truncatedBy string) (before, peak float64) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), binary(b), "mcp", "stdio", "--project-dir", dir)
	cmd.Env = append(os.Environ(), "KTX_BENCH_URL="+url)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReaderSize(out, 64<<10)
	send := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			b.Fatal(err)
		}
	}
	call := func(id int, sql string) string {
		text, err := json.Marshal(sql)
		if err != nil {
			b.Fatal(err)
		}
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":"warehouse","sql":%s,"maxRows":10000,"maxBytes":8388608}}}`, id, text))
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				b.Fatal(err)
			}
			if strings.Contains(line, fmt.Sprintf(`"id":%d,`, id)) || strings.Contains(line, fmt.Sprintf(`"id":%d}`, id)) {
				return line
			}
		}
	}
	send(strings.SplitAfter(session, "\n")[0] + strings.SplitAfter(session, "\n")[1])
	for i := range 100 {
		call(10+i, "SELECT "+strconv.Itoa(i))
	}
	before = memory(b, cmd.Process.Pid, "VmRSS")
	// 5 sets the peak to what is resident now (proc(5)).
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", cmd.Process.Pid), []byte("5"), 0o600); err != nil {
		b.Fatal(err)
	}
	answer := call(1000, sql)
	peak = memory(b, cmd.Process.Pid, "VmHWM")
	if !strings.Contains(answer, `"truncatedBy":"`+truncatedBy+`"`) {
		b.Fatalf("answered %.300s", answer)
	}
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return before, peak
}
