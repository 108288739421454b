package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
)

func typical() audit.Event {
	return audit.Event{
		Type:       audit.QueryDecision,
		QueryID:    "q-01HZX3V8K2M4N6P8",
		Connection: audit.Connection{ID: "warehouse", Dialect: "postgres"},
		SQL: audit.SQL{
			Fingerprint: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			Normalized:  `SELECT c.name, count(*) FROM public.orders o JOIN public.customers c ON c.id = o.customer_id WHERE o.placed_at >= ? AND o.status <> ? GROUP BY c.name ORDER BY count(*) DESC LIMIT ?`,
			HMAC:        "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
			Bytes:       214,
			Kind:        "select",
			Tables:      []string{"public.orders", "public.customers"},
			Functions:   []string{"count"},
		},
		Decision: audit.Decision{Verdict: audit.VerdictAllow, Policy: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9", Parser: "libpg_query 17-6.1.0", LatencyUS: 87},
		Limits:   audit.Limits{Rows: 10000, Bytes: 8 << 20, CellBytes: 256 << 10, Columns: 1000, TimeoutMS: 30000, LockTimeoutMS: 1000},
	}
}

func BenchmarkAppend(b *testing.B) {
	ctx := audit.WithActor(context.Background(), audit.Actor{
		Principal: "analyst", Client: audit.Client{Name: "claude-code", Version: "2.0.1", Transport: "http"},
	})
	for _, mode := range []audit.SyncMode{audit.SyncOff, audit.SyncInterval, audit.SyncAlways} {
		for _, goroutines := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", mode, goroutines), func(b *testing.B) {
				log, err := audit.Open(filepath.Join(b.TempDir(), "audit"), audit.Config{Sync: mode}, nil)
				if err != nil {
					b.Fatal(err)
				}
				e := typical()
				work := make(chan struct{}, 1024)
				done := make(chan error, goroutines)
				b.ReportAllocs()
				b.ResetTimer()
				if goroutines == 1 {
					for range b.N {
						if err := log.Append(ctx, e); err != nil {
							b.Fatal(err)
						}
					}
				} else {
					for range goroutines {
						go func() {
							var err error
							for range work {
								if err == nil {
									err = log.Append(ctx, e)
								}
							}
							done <- err
						}()
					}
					for range b.N {
						work <- struct{}{}
					}
					close(work)
					for range goroutines {
						if err := <-done; err != nil {
							b.Fatal(err)
						}
					}
				}
				b.StopTimer()
				if err := log.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func TestX(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := log.Append(t.Context(), typical()); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	es, _ := os.ReadDir(dir)
	for _, e := range es {
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		i, _ := e.Info()
		t.Logf("%s %v\n%s", e.Name(), i.Mode(), data)
	}
}
