package executiontest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// BesideText is a statement that [Beside] measures.
type BesideText struct{ Name, SQL string }

// Beside measures statements through the whole gateway, and by bare, which asks the same
// server without ktx. It reports the first in times of the second. Both ask in turn. bare
// returns how many rows it read, or -1 when it does not count them.
func Beside(b *testing.B, d sqlguard.Dialect, open func(context.Context, sqlguard.ID) (execution.Backend, error), texts []BesideText, bare func(sql string) int) {
	b.Helper()
	log, err := audit.Open(filepath.Join(b.TempDir(), "audit"), audit.Config{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	g, err := execution.NewGateway(b.Context(), log, execution.Connection{ID: "warehouse", Dialect: d, Policy: sqlguard.DefaultPolicy(), Open: open})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(g.Close(context.Background()), log.Close()); err != nil {
			b.Error(err)
		}
	})
	for _, text := range texts {
		b.Run(text.Name, func(b *testing.B) {
			ask := func() int {
				res, err := g.Query(b.Context(), execution.Request{ConnectionID: "warehouse", SQL: text.SQL})
				if err != nil {
					b.Fatal(err)
				}
				return len(res.Rows)
			}
			if asked, rows := ask(), bare(text.SQL); rows >= 0 && rows != asked {
				b.Fatalf("%d rows without the gateway, %d with it", rows, asked)
			}
			var through, alone []time.Duration
			for b.Loop() {
				start := time.Now()
				bare(text.SQL)
				alone = append(alone, time.Since(start))
				start = time.Now()
				ask()
				through = append(through, time.Since(start))
			}
			slices.Sort(through)
			slices.Sort(alone)
			for name, at := range map[string]int{"p50": 50, "p99": 99} {
				b.ReportMetric(float64(through[len(through)*at/100])/float64(alone[len(alone)*at/100]), name)
			}
			b.ReportMetric(float64(alone[len(alone)/2].Nanoseconds()), "alone-ns-p50")
			b.ReportMetric(0, "ns/op")
		})
	}
}
