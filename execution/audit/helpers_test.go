package audit_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
)

// decision returns an event of usual size.
func decision(id string) audit.Event {
	return audit.Event{
		Type:       audit.QueryDecision,
		QueryID:    id,
		Connection: audit.Connection{ID: "warehouse", Dialect: "postgres"},
		SQL: audit.SQL{
			Fingerprint: strings.Repeat("9f86d081", 8),
			Normalized: `SELECT c.name, count(*) FROM public.orders o JOIN public.customers c ON c.id = o.customer_id ` +
				`WHERE o.placed_at >= ? AND o.status <> ? GROUP BY c.name ORDER BY count(*) DESC LIMIT ?`,
			HMAC:      strings.Repeat("2c26b46b", 8),
			Bytes:     214,
			Kind:      "select",
			Tables:    []string{"public.orders", "public.customers"},
			Functions: []string{"count"},
		},
		Decision: audit.Decision{
			Verdict: audit.VerdictAllow, Policy: strings.Repeat("fcde2b2e", 8), Parser: "libpg_query 17", LatencyUS: 87,
		},
		Limits: audit.Limits{
			Rows: 10000, Bytes: 8 << 20, CellBytes: 256 << 10, Columns: 1000, TimeoutMS: 30000, LockTimeoutMS: 1000,
		},
	}
}

// small returns a small event.
func small(id string) audit.Event { return audit.Event{Type: audit.SessionOpen, QueryID: id} }

func analyst(ctx context.Context) context.Context {
	return audit.WithActor(ctx, audit.Actor{
		Principal: "analyst",
		Client:    audit.Client{Name: "claude-code", Version: "2.0.1", Transport: "http"},
	})
}

func openLog(t *testing.T, dir string, cfg audit.Config) *audit.Writer {
	t.Helper()
	log, err := audit.Open(dir, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeLog(t, log) })
	return log
}

func closeLog(t *testing.T, log *audit.Writer) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}

func appendAll(t *testing.T, log audit.Log, events ...audit.Event) {
	t.Helper()
	for _, e := range events {
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

// fill writes a log of n small events into dir and closes it.
func fill(t *testing.T, dir string, cfg audit.Config, n int) {
	t.Helper()
	log := openLog(t, dir, cfg)
	for i := range n {
		appendAll(t, log, small(name(i)))
	}
	closeLog(t, log)
}

func name(i int) string { return "q" + strings.Repeat("i", i%5) + string(rune('a'+i%26)) }

func verify(t *testing.T, dir string, anchors ...audit.Anchor) audit.Report {
	t.Helper()
	report, err := audit.Verify(t.Context(), dir, anchors...)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// sound fails the test when the log in dir has a problem.
func sound(t *testing.T, dir string) audit.Report {
	t.Helper()
	report := verify(t, dir)
	if !report.OK {
		t.Fatalf("problems in a log that nobody touched: %v", report.Problems)
	}
	return report
}

// records reads the whole log.
func records(t *testing.T, dir string) []audit.Record {
	t.Helper()
	r, err := audit.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	var all []audit.Record
	for rec, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	return all
}

func types(all []audit.Record) []audit.Type {
	var list []audit.Type
	for _, rec := range all {
		list = append(list, rec.Event.Type)
	}
	return list
}

// segmentFiles lists the segments in dir, in order.
func segmentFiles(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// splitLines returns the lines of data with their newlines.
func splitLines(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte{'\n'})
	return lines[:len(lines)-1]
}

// copyDir copies the files of a log.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// quickDir is a temporary folder, in memory when there is such a file system.
// It is for tests that create thousands of files and do not test the disk.
func quickDir(t *testing.T) string {
	t.Helper()
	const memory = "/dev/shm"
	dir, err := os.MkdirTemp(memory, "ktx-audit-") //nolint:usetesting // t.TempDir cannot choose the parent directory
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
