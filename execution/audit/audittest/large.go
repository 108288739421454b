package audittest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// LargeLog writes a log of n statements like those of agents: 20 principals, 5
// connections, a twelfth refused, and 2,000 statements without their literals.
func LargeLog(tb testing.TB, dir string, n int) {
	tb.Helper()
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same log each time
	columns := []string{"id", "placed_at", "status", "total", "customer_id", "region", "sku", "quantity", "discount", "currency"}
	forms := make([]audit.SQL, 2000)
	for i := range forms {
		table, other := fmt.Sprintf("public.t%03d", r.IntN(200)), fmt.Sprintf("sales.u%03d", r.IntN(100))
		forms[i] = audit.SQL{
			Fingerprint: fmt.Sprintf("%064x", r.Uint64()),
			Normalized: fmt.Sprintf("SELECT a.%s, count(*) AS n%d FROM %s AS a JOIN %s AS b ON b.id = a.%s WHERE a.%s >= ? AND b.%s <> ? GROUP BY a.%[1]s ORDER BY n%[2]d DESC LIMIT ?",
				columns[r.IntN(10)], i, table, other, columns[r.IntN(10)], columns[r.IntN(10)], columns[r.IntN(10)]),
			HMAC: strings.Repeat("2c26b46b", 8), Bytes: 214, Kind: "select", Tables: []string{table, other}, Functions: []string{"count"},
		}
	}
	codes := []string{"write_statement", "table_denied", "function_unlisted", "multiple_statements", "function_file_access"}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at = at.Add(time.Duration(r.IntN(5000)) * time.Millisecond)
		e := audit.Event{
			Time: at, Type: audit.QueryDecision, QueryID: fmt.Sprintf("q-%026x", r.Uint64()), Session: fmt.Sprintf("s-%012x", i/50),
			Principal: fmt.Sprintf("analyst-%d", r.IntN(20)), Client: audit.Client{Name: []string{"claude-code", "cursor", "codex"}[r.IntN(3)], Version: "2.0.1", Transport: "http", Address: fmt.Sprintf("10.0.0.%d:%d", r.IntN(50), 40000+r.IntN(100))},
			Connection: audit.Connection{ID: fmt.Sprintf("warehouse-%d", r.IntN(5)), Dialect: "postgres"},
			SQL:        forms[min(r.IntN(2000), r.IntN(2000))],
			Decision:   audit.Decision{Verdict: audit.VerdictAllow, Policy: strings.Repeat("fcde2b2e", 8), Parser: "libpg_query 17", LatencyUS: int64(40 + r.IntN(200))},
			Limits:     audit.Limits{Rows: 10000, Bytes: 8 << 20, CellBytes: 256 << 10, Columns: 1000, TimeoutMS: 30000, LockTimeoutMS: 1000},
		}
		if r.IntN(12) == 0 {
			e.Decision.Verdict, e.Decision.Codes = audit.VerdictReject, []string{codes[r.IntN(len(codes))]}
		}
		if err := log.Append(tb.Context(), e); err != nil {
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
		if err := log.Append(tb.Context(), end); err != nil {
			tb.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		tb.Fatal(err)
	}
}
