package audit_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// BenchmarkAppend compares the sync modes with one writer and with 16
// concurrent goroutines. Under SyncAlways, the 16 share flushes.
func BenchmarkAppend(b *testing.B) {
	for _, mode := range []audit.SyncMode{audit.SyncOff, audit.SyncInterval, audit.SyncAlways} {
		for _, goroutines := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", mode, goroutines), func(b *testing.B) {
				var flushes atomic.Int64
				log, err := audit.OpenWith(filepath.Join(b.TempDir(), "audit"), audit.Config{Sync: mode}, nil, func(f *os.File) error {
					flushes.Add(1)
					return f.Sync()
				}, time.Minute)
				if err != nil {
					b.Fatal(err)
				}
				ctx, e := analyst(b.Context()), decision("q-01HZX3V8K2M4N6P8")
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for g := range goroutines {
					wg.Go(func() {
						for range (b.N + g) / goroutines {
							if err := log.Append(ctx, e); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				b.ReportMetric(float64(b.N)/float64(max(1, flushes.Load())), "events/flush")
				if err := log.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkAppendTwoWriters alternates between two writers. Each must read the
// events that the other wrote.
func BenchmarkAppendTwoWriters(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "audit")
	var logs [2]*audit.Writer
	for i := range logs {
		var err error
		if logs[i], err = audit.Open(dir, audit.Config{}, nil); err != nil {
			b.Fatal(err)
		}
	}
	ctx, e := analyst(b.Context()), decision("q-01HZX3V8K2M4N6P8")
	b.ResetTimer()
	for i := range b.N {
		if err := logs[i%2].Append(ctx, e); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	for _, log := range logs {
		if err := log.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	e := decision("q-01HZX3V8K2M4N6P8")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := audit.Line(e, audit.Hash{}, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify reports the time for one event.
func BenchmarkVerify(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		if err := log.Append(b.Context(), decision("q-01HZX3V8K2M4N6P8")); err != nil {
			b.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	report, err := audit.Verify(b.Context(), dir)
	if err != nil || !report.OK {
		b.Fatal(report.Problems, err)
	}
}

// BenchmarkRead reports the time for one event. A statement has two events.
func BenchmarkRead(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		b.Fatal(err)
	}
	const events = 20_000
	for i := range events / 2 {
		id := fmt.Sprint(i)
		if err := errors.Join(log.Append(b.Context(), decision(id)), log.Append(b.Context(), ended(id, 1))); err != nil {
			b.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := audit.OpenReader(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // nothing was written
	var report audit.Report
	for name, statements := range map[string]func() iter.Seq2[audit.Statement, error]{
		"query": func() iter.Seq2[audit.Statement, error] { return audit.NewestStatements(r.Newest(b.Context())) },
		"export": func() iter.Seq2[audit.Statement, error] {
			return audit.Statements(audit.Checked(b.Context(), dir, &report))
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for s, err := range statements() {
					if err != nil {
						b.Fatal(err)
					}
					if name == "query" {
						continue
					}
					if _, err := audit.OCSF(s, "0.1.0"); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
	}
}
