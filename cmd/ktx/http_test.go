package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// BenchmarkHTTP is the time of one sql_execution over HTTP, in a session: from
// the request of a client to the end of the answer, with all that is between.
func BenchmarkHTTP(b *testing.B) {
	dir := project(b)
	config := "connections:\n  demo: {driver: sqlite, path: shop.db}\n  warehouse: {driver: postgres, url: env:KTX_BENCH_URL}\n"
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("KTX_BENCH_URL", testdb.Postgres(b).NewDatabase(b))
	ktx := func(args ...string) []byte {
		cmd := exec.Command(binary(b), append(args, "--project-dir", dir)...) //nolint:noctx // it also runs when the benchmark has ended
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("ktx %v: %v %s", args, err, out)
		}
		return out
	}
	var started struct{ URL string }
	b.Cleanup(func() { ktx("mcp", "stop") })
	if err := json.Unmarshal(ktx("mcp", "start", "--port", "0", "--json"), &started); err != nil {
		b.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	b.Cleanup(client.CloseIdleConnections)
	id := ""
	post := func(body string, status int) []byte {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, started.URL, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": id} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		res, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != status {
			b.Fatalf("%d %s %v", res.StatusCode, text, err)
		}
		if given := res.Header.Get("Mcp-Session-Id"); given != "" {
			id = given
		}
		return text
	}
	lines := strings.SplitAfter(session, "\n")
	post(lines[0], http.StatusOK)
	post(lines[1], http.StatusAccepted)
	for _, q := range []struct{ name, connection, sql string }{
		{"sqlite", "demo", "SELECT status, count(*) FROM orders GROUP BY status"},
		{"postgres", "warehouse", "SELECT 1"},
	} {
		b.Run(q.name, func(b *testing.B) {
			call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":"` + q.connection + `","sql":"` + q.sql + `"}}}`
			one := func() time.Duration {
				start := time.Now()
				text := post(call, http.StatusOK)
				took := time.Since(start)
				if !bytes.Contains(text, []byte(`"rows":[[`)) {
					b.Fatalf("answered %s", text)
				}
				return took
			}
			for range 100 {
				one()
			}
			median(b, one)
		})
	}
}
