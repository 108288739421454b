package catalog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
)

// TestConcurrentChanges has callers ask all the time while scans come, change and
// go. Every answer must be one whole scan, and no older than the call.
func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	const tables, rounds = 20, 30
	// The tables of generation n are all named n.
	write := func(n int) {
		var names []string
		for i := range tables {
			names = append(names, fmt.Sprintf("a.g%d_%d", n, i))
		}
		catalogtest.Write(t, p.dir, "w", scanOf(fmt.Sprintf("s%d", n), "2026-01-01T00:00:00Z", names...))
	}
	write(0)
	var latest atomic.Int64
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				least := latest.Load()
				s, err := p.store.Snapshot(t.Context(), "w", catalogtest.All{})
				if err != nil {
					t.Error(err)
					return
				}
				var generation int64
				if _, err := fmt.Sscanf(s.SyncID(), "s%d", &generation); err != nil || generation < least || len(s.Tables()) != tables {
					t.Errorf("scan %s with %d tables after generation %d was complete", s.SyncID(), len(s.Tables()), least)
					return
				}
				for _, table := range s.Tables() {
					if !strings.HasPrefix(table.Name, fmt.Sprintf("g%d_", generation)) {
						t.Errorf("scan %s holds %s", s.SyncID(), table.Name)
						return
					}
				}
			}
		})
	}
	folder := catalogtest.Folder(p.dir, "w")
	for n := 1; n <= rounds; n++ {
		write(n)
		latest.Store(int64(n))
		if n > 2 { // an older one goes, its report first
			for _, path := range []string{reportOf(folder, n-2), filepath.Join(folder, fmt.Sprintf("s%d", n-2))} {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	close(stop)
	readers.Wait()
	// The latest goes: the scan before it counts at once.
	if err := os.Remove(reportOf(folder, rounds)); err != nil {
		t.Fatal(err)
	}
	if s := p.snapshot(); s.SyncID() != fmt.Sprintf("s%d", rounds-1) {
		t.Errorf("after the latest was deleted: %s", s.SyncID())
	}
}

func reportOf(folder string, n int) string {
	return filepath.Join(folder, fmt.Sprintf("s%d", n), "scan-report.json")
}

// TestConcurrentCalls has many callers ask at once for what nobody has read yet: they
// all get the same snapshot.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	catalogtest.Write(t, p.dir, "w", scanOf("s", "2026-01-01T00:00:00Z", "a.x"))
	store := catalog.NewStore(catalogtest.Open(t, p.dir), func() time.Time { return time.Now().Add(time.Hour) })
	got := make([]*catalog.Snapshot, 8)
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() {
			s, err := store.Snapshot(t.Context(), "w", catalogtest.All{})
			if err != nil {
				t.Error(err)
			}
			got[i] = s
			if _, err := store.Snapshot(t.Context(), "none", catalogtest.All{}); !errors.Is(err, catalog.ErrNoScan) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, s := range got {
		if s != got[0] {
			t.Error("two calls got different snapshots")
		}
	}
}
