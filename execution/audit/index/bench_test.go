package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// benchStatements is how many statements the benchmark's log has; KTX_BENCH_STATEMENTS
// sets another number. The figures in docs/evidence/performance.md are for 1,000,000.
func benchStatements(tb testing.TB) int {
	tb.Helper()
	n, err := strconv.Atoi(os.Getenv("KTX_BENCH_STATEMENTS"))
	if err != nil || n < 1 {
		return 20_000
	}
	return n
}

// largeLog writes a log of n statements like those of agents: 20 principals, 5
// connections, a twelfth refused, and 2,000 statements without their literals.
func largeLog(tb testing.TB, dir string, n int) {
	tb.Helper()
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same log each time
	columns := []string{"id", "placed_at", "status", "total", "customer_id", "region", "sku", "quantity", "discount", "currency"}
	type form struct{ audit.SQL }
	forms := make([]form, 2000)
	for i := range forms {
		table, other := fmt.Sprintf("public.t%03d", r.IntN(200)), fmt.Sprintf("sales.u%03d", r.IntN(100))
		forms[i] = form{audit.SQL{
			Fingerprint: fmt.Sprintf("%064x", r.Uint64()),
			Normalized: fmt.Sprintf("SELECT a.%s, count(*) AS n%d FROM %s AS a JOIN %s AS b ON b.id = a.%s WHERE a.%s >= ? AND b.%s <> ? GROUP BY a.%[1]s ORDER BY n%[2]d DESC LIMIT ?",
				columns[r.IntN(10)], i, table, other, columns[r.IntN(10)], columns[r.IntN(10)], columns[r.IntN(10)]),
			HMAC: strings.Repeat("2c26b46b", 8), Bytes: 214, Kind: "select", Tables: []string{table, other}, Functions: []string{"count"},
		}}
	}
	codes := []string{"write_statement", "table_denied", "function_unlisted", "multiple_statements", "function_file_access"}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at = at.Add(time.Duration(r.IntN(5000)) * time.Millisecond)
		e := audit.Event{
			Time: at, Type: audit.QueryDecision, QueryID: fmt.Sprintf("q-%026x", r.Uint64()), Session: fmt.Sprintf("s-%012x", i/50),
			Principal: fmt.Sprintf("analyst-%d", r.IntN(20)), Client: audit.Client{Name: []string{"claude-code", "cursor", "codex"}[r.IntN(3)], Version: "2.0.1", Transport: "http", Address: fmt.Sprintf("10.0.0.%d:%d", r.IntN(50), 40000+r.IntN(100))},
			Connection: audit.Connection{ID: fmt.Sprintf("warehouse-%d", r.IntN(5)), Dialect: "postgres"},
			SQL:        forms[min(r.IntN(2000), r.IntN(2000))].SQL,
			Decision:   audit.Decision{Verdict: audit.VerdictAllow, Policy: strings.Repeat("fcde2b2e", 8), Parser: "libpg_query 17", LatencyUS: int64(40 + r.IntN(200))},
			Limits:     audit.Limits{Rows: 10000, Bytes: 8 << 20, CellBytes: 256 << 10, Columns: 1000, TimeoutMS: 30000, LockTimeoutMS: 1000},
		}
		if r.IntN(12) == 0 {
			e.Decision.Verdict, e.Decision.Codes = audit.VerdictReject, []string{codes[r.IntN(len(codes))]}
		}
		if err := log.Append(context.Background(), e); err != nil {
			tb.Fatal(err)
		}
		if e.Decision.Verdict == audit.VerdictReject {
			continue
		}
		end := audit.Event{
			Time: at.Add(20 * time.Millisecond), Type: audit.QueryFinished, QueryID: e.QueryID, Session: e.Session, Principal: e.Principal, Client: e.Client, Connection: e.Connection,
			Result: audit.Result{Status: audit.StatusOK, Rows: int64(r.IntN(1000)), Bytes: int64(r.IntN(100000)), ExecMS: float64(r.IntN(1_000_000)) / 1000, QueueMS: 0.1},
		}
		if r.IntN(50) == 0 {
			end.Result.Status, end.Result.Code = audit.StatusError, "timeout"
		}
		if err := log.Append(context.Background(), end); err != nil {
			tb.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkIndex builds the index of a large log and asks it questions. Each figure is
// for the whole of one question.
func BenchmarkIndex(b *testing.B) {
	n := benchStatements(b)
	root := os.Getenv("KTX_BENCH_DIR") // keeps the log and the index for the next run
	if root == "" {
		root = b.TempDir()
	}
	dir, path := filepath.Join(root, "audit"), filepath.Join(root, "index.db")
	if _, err := os.Stat(dir); err != nil {
		largeLog(b, dir, n)
	}
	ctx := context.Background()
	x, err := index.Open(ctx, dir, path)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // a temporary file
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			if err := x.Rebuild(ctx, nil); err != nil {
				b.Fatal(err)
			}
		}
		s, err := x.State(ctx)
		if err != nil || !s.Report.OK {
			b.Fatal(s.Report.Problems, err)
		}
		b.ReportMetric(float64(s.Events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		size := int64(0)
		for _, name := range []string{path, path + "-wal"} {
			if info, err := os.Stat(name); err == nil {
				size += info.Size()
			}
		}
		b.ReportMetric(float64(size)/float64(index.Size(dir)), "of-the-log")
	})
	middle := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 1250 * time.Millisecond)
	for _, q := range []struct {
		name string
		f    audit.Filter
	}{
		{"all", audit.Filter{}},
		{"principal", audit.Filter{Principal: "analyst-3"}},
		{"code", audit.Filter{Code: "table_denied"}},
		{"table", audit.Filter{Table: "t007"}},
		{"text", audit.Filter{Text: "customer_id >= ? and b.sku"}},
		{"rare_text", audit.Filter{Text: "as n1777 from"}},
		{"session", audit.Filter{Session: "s-000000000011"}},
		{"address", audit.Filter{Address: "10.0.0.7"}},
		{"period", audit.Filter{Since: middle, Until: middle.Add(time.Minute)}},
		{"slow", audit.Filter{MinExecMS: 999.9}},
		{"nothing", audit.Filter{Connection: "warehouse-1", Status: audit.StatusOK, MinRows: 100000}},
		{"query", audit.Filter{QueryID: "q-none"}},
	} {
		b.Run("page/"+q.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Statements(ctx, q.f, index.Page{Limit: 50}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, q := range []struct {
		name string
		f    audit.Filter
	}{{"all", audit.Filter{}}, {"principal", audit.Filter{Principal: "analyst-3"}}, {"code", audit.Filter{Code: "table_denied"}}, {"week", audit.Filter{Since: middle, Until: middle.Add(7 * 24 * time.Hour)}}} {
		b.Run("count/"+q.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Count(ctx, q.f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
