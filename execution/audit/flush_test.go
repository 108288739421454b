package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// disk counts flushes and fails or blocks on demand.
type disk struct {
	flushes atomic.Int64
	fail    atomic.Bool
	hold    chan struct{} // when set, a flush waits for a value
}

func (d *disk) flush(f *os.File) error {
	d.flushes.Add(1)
	if d.hold != nil && strings.Contains(f.Name(), "audit-") {
		<-d.hold
	}
	if d.fail.Load() {
		return &os.PathError{Op: "sync", Path: f.Name(), Err: syscall.EIO}
	}
	return f.Sync()
}

func openOn(t *testing.T, d *disk, dir string, cfg audit.Config) *audit.Writer {
	t.Helper()
	log, err := audit.OpenWith(dir, cfg, nil, d.flush, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestSyncAlways(t *testing.T) {
	t.Parallel()
	var d disk
	log := openOn(t, &d, t.TempDir(), audit.Config{Sync: audit.SyncAlways})
	defer closeLog(t, log)
	for i := range 5 {
		before := d.flushes.Load()
		appendAll(t, log, small("q"))
		if d.flushes.Load() != before+1 {
			t.Errorf("append %d: %d flushes", i, d.flushes.Load()-before)
		}
		if h := log.Health(); h.Synced != int64(i+1) {
			t.Errorf("append %d returned with event %d flushed", i, h.Synced)
		}
	}
}

// TestGroupCommit: events that are written while a flush is running share the
// next flush.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	d := disk{hold: make(chan struct{})}
	dir := t.TempDir()
	log := openOn(t, &d, dir, audit.Config{Sync: audit.SyncAlways})
	const goroutines = 16
	var returned atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			if err := log.Append(t.Context(), small(fmt.Sprintf("%d-0", g))); err != nil {
				t.Error(err)
			}
			returned.Add(1)
		})
	}
	for log.Health().Seq < goroutines { // all are written while the first flush waits
		time.Sleep(time.Millisecond)
	}
	if n := returned.Load(); n != 0 {
		t.Errorf("%d appends returned before any flush", n)
	}
	close(d.hold)
	wg.Wait()
	if n := d.flushes.Load(); n > 2 {
		t.Errorf("%d flushes for %d appends at once, want 2", n, goroutines)
	}
	closeLog(t, log)
	sound(t, dir)
	once(t, dir, goroutines, 1)
}

func TestSyncInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		dir := t.TempDir()
		log := openOn(t, &d, dir, audit.Config{})
		appendAll(t, log, small("a"), small("b"))
		if n := d.flushes.Load(); n != 0 {
			t.Errorf("%d flushes within Append", n)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if n := d.flushes.Load(); n != 1 {
			t.Errorf("%d flushes in the first second, want 1", n)
		}
		if a := sound(t, dir).Anchor; a == nil || a.Seq != 2 {
			t.Errorf("after a second the anchor is %v", a)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := d.flushes.Load(); n != 1 {
			t.Errorf("%d flushes while nothing was written", n-1)
		}
		appendAll(t, log, small("c"))
		closeLog(t, log)
		if n := d.flushes.Load(); n != 2 {
			t.Errorf("%d flushes at Close", n-1)
		}
		if report := sound(t, dir); report.Unanchored != 0 {
			t.Errorf("after Close %d events are not anchored", report.Unanchored)
		}
	})
}

func TestSyncOff(t *testing.T) {
	t.Parallel()
	var d disk
	dir := t.TempDir()
	log := openOn(t, &d, dir, audit.Config{Sync: audit.SyncOff, RotateBytes: 4 << 10})
	for range 40 {
		appendAll(t, log, small("q"))
	}
	closeLog(t, log)
	if n := d.flushes.Load(); n != 0 {
		t.Errorf("%d flushes", n)
	}
	if report := sound(t, dir); report.Unanchored != 0 || len(report.Segments) < 2 {
		t.Errorf("%d events not anchored in %d segments", report.Unanchored, len(report.Segments))
	}
}

func TestRotationFlushes(t *testing.T) {
	t.Parallel()
	var d disk
	dir := t.TempDir()
	log := openOn(t, &d, dir, audit.Config{RotateBytes: 4 << 10})
	defer closeLog(t, log)
	for i := 0; len(segmentFiles(t, dir)) < 2; i++ {
		if d.flushes.Load() != 0 {
			t.Fatal("flushed before rotation")
		}
		appendAll(t, log, decision(name(i)))
	}
	if n := d.flushes.Load(); n != 1 {
		t.Errorf("%d flushes at rotation, want 1", n)
	}
}

// TestFailedFlush: an event that could not be flushed is not recorded, the
// writer leaves the segment, and the log says so.
func TestFailedFlush(t *testing.T) {
	t.Parallel()
	var d disk
	dir := t.TempDir()
	log := openOn(t, &d, dir, audit.Config{Sync: audit.SyncAlways})
	appendAll(t, log, small("a"))
	d.fail.Store(true)
	for _, id := range []string{"b", "c"} {
		if err := log.Append(t.Context(), small(id)); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("append with a failing disk: %v", err)
		}
	}
	if h := log.Health(); h.Synced != 1 || h.Lost != 1 {
		t.Errorf("health %+v", h)
	}
	d.fail.Store(false)
	appendAll(t, log, small("d"))
	closeLog(t, log)
	report := sound(t, dir)
	if report.Unanchored != 0 {
		t.Errorf("%d events not anchored", report.Unanchored)
	}
	var notes []string
	for _, n := range report.Notes {
		notes = append(notes, fmt.Sprint(n.Event.Type, " ", n.Event.Log.Reason, n.Event.Log.Segment, n.Event.Log.Lost))
	}
	want := []string{
		"log.recovered sync_failedaudit-000001.jsonl0",
		"log.gap 1", // for b; the gap for c is below
		"log.recovered sync_failedaudit-000002.jsonl0",
		"log.gap 1",
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
}

// TestNoFlushMakesGoodAFailedOne: events that were written before a failed
// flush, or later to the same file, never count as flushed, even when the next
// flush of that file succeeds.
func TestNoFlushMakesGoodAFailedOne(t *testing.T) {
	t.Parallel()
	file := func() *os.File {
		f, err := os.CreateTemp(t.TempDir(), "segment")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	var d disk
	f := audit.NewFlusher(d.flush, file())
	check := func(seq int64, want bool) {
		t.Helper()
		if err := f.Through(seq); (err == nil) != want {
			t.Errorf("event %d: %v", seq, err)
		}
	}
	f.Wrote(2)
	check(2, true)
	f.Wrote(4)
	d.fail.Store(true)
	check(3, false)
	d.fail.Store(false)
	f.Wrote(5)
	check(5, false)
	f.Wrote(6)
	if err := f.Use(file(), "next"); err != nil {
		t.Fatal(err)
	}
	f.Wrote(8)
	check(8, true)
	for seq := range int64(9) {
		check(seq, seq <= 2 || seq >= 7)
	}
}

// TestFailedFlushInTheBackground: under SyncInterval nobody waits for the flush
// that fails, but the log records the failure before the next event.
func TestFailedFlushInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		var out logged
		dir := t.TempDir()
		log, err := audit.OpenWith(dir, audit.Config{}, out.logger(), d.flush, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, log, small("a"))
		d.fail.Store(true)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		d.fail.Store(false)
		if n := strings.Count(out.String(), "cannot be flushed"); n != 1 {
			t.Errorf("the failure was logged %d times:\n%s", n, out.String())
		}
		if a := sound(t, dir).Anchor; a == nil || a.Seq != 0 {
			t.Errorf("the anchor names an event that is not flushed: %v", a)
		}
		appendAll(t, log, small("b"))
		closeLog(t, log)
		report := sound(t, dir)
		if len(report.Notes) != 1 || report.Notes[0].Event.Log.Reason != audit.ReasonSync || report.Unanchored != 0 {
			t.Errorf("notes %v, %d events not anchored", report.Notes, report.Unanchored)
		}
		want := []audit.Type{audit.SessionOpen, audit.SegmentSeal, audit.LogRecovered, audit.SessionOpen}
		if diff := cmp.Diff(want, types(records(t, dir))); diff != "" {
			t.Error(diff)
		}
	})
}

// TestFailedWrite lets a write fail after any number of its bytes, also when
// the written bytes cannot be truncated. The event is refused and counted, no
// part of it is in the log, and later appends succeed.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	for _, onFailure := range []audit.FailureMode{audit.FailReject, audit.FailDegrade} {
		for _, lostFile := range []bool{false, true} {
			dir := filepath.Join(quickDir(t), "audit")
			cut := -1 // bytes of the next write that get through; −1: all
			log, err := audit.OpenWriting(dir, audit.Config{OnFailure: onFailure, Sync: audit.SyncOff}, func(f *os.File, p []byte) (int, error) {
				if cut < 0 {
					return f.Write(p)
				}
				n, err := f.Write(p[:min(cut, len(p))])
				if lostFile {
					_ = f.Close() // so that it cannot be truncated either
				}
				return n, errors.Join(err, syscall.EIO)
			})
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, log, small("first"))
			line, _, err := audit.Line(small("refused"), audit.Hash{}, false)
			if err != nil {
				t.Fatal(err)
			}
			rounds := int64(0)
			for n := 0; n < len(line); n += 7 {
				rounds++
				cut = n
				err := log.Append(t.Context(), small("refused"))
				if onFailure == audit.FailReject && (!errors.Is(err, audit.ErrUnavailable) || !errors.Is(err, syscall.EIO)) {
					t.Fatalf("cut at %d: %v", n, err)
				}
				if onFailure == audit.FailDegrade && err != nil {
					t.Fatalf("cut at %d: %v", n, err)
				}
				if report := sound(t, dir); report.Torn != nil && !lostFile {
					t.Fatalf("cut at %d: a part is in the log: %+v", n, report.Torn)
				}
				cut = -1
				appendAll(t, log, small("kept"))
			}
			closeLog(t, log)
			report := sound(t, dir)
			lost, torn := int64(0), int64(0)
			for _, note := range report.Notes {
				lost += note.Event.Log.Lost
				if note.Event.Log.Reason == audit.ReasonTorn {
					torn++
				}
			}
			if lost != rounds || (torn > 0) != lostFile {
				t.Errorf("%s, file lost %v: %d of %d events counted as lost, %d torn ends recorded", onFailure, lostFile, lost, rounds, torn)
			}
			for _, rec := range records(t, dir) {
				if rec.Event.QueryID == "refused" {
					t.Fatal("a refused event is in the log")
				}
			}
		}
	}
}

func TestDegrade(t *testing.T) {
	t.Parallel()
	var d disk
	var out logged
	dir := t.TempDir()
	log, err := audit.OpenWith(dir, audit.Config{Sync: audit.SyncAlways, OnFailure: audit.FailDegrade}, out.logger(), d.flush, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, small("a"))
	d.fail.Store(true)
	appendAll(t, log, small("b"))
	if h := log.Health(); h.Lost != 1 {
		t.Errorf("health %+v", h)
	}
	d.fail.Store(false)
	appendAll(t, log, small("c"))
	closeLog(t, log)
	if err := log.Append(t.Context(), small("d")); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("append after close: %v", err)
	}
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines logged, want one for the loss and one for its end:\n%s", n, out.String())
	}
	report := sound(t, dir)
	if len(report.Notes) != 2 || report.Notes[1].Event.Type != audit.LogGap || report.Notes[1].Event.Log.Lost != 1 {
		t.Errorf("notes %v", report.Notes)
	}
}
