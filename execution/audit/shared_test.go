package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/filelock"
)

// TestTwoWriters alternates between two writers of one directory. Each of them
// rotates segments.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := audit.Config{RotateBytes: 4 << 10}
	logs := []*audit.Writer{openLog(t, dir, cfg), openLog(t, dir, cfg)}
	for i := range 120 {
		appendAll(t, logs[i/3%2], small(fmt.Sprintf("0-%d", i)))
	}
	for _, log := range logs {
		closeLog(t, log)
	}
	report := sound(t, dir)
	if len(report.Segments) < 3 || report.Unanchored != 0 {
		t.Errorf("%d segments, %d events not anchored", len(report.Segments), report.Unanchored)
	}
	once(t, dir, 1, 120)
}

// TestAnchorNeverMovesBack: a writer that knows fewer events than another
// leaves the other's anchor unchanged.
func TestAnchorNeverMovesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := openLog(t, dir, audit.Config{}), openLog(t, dir, audit.Config{})
	appendAll(t, first, small("a"))
	appendAll(t, second, small("b"))
	closeLog(t, second)
	closeLog(t, first)
	if report := sound(t, dir); report.Anchor.Seq != 2 {
		t.Errorf("the anchor names event %d, want 2", report.Anchor.Seq)
	}
}

// TestAnotherWriterCrashes: an open writer finds the torn line of another
// process and repairs it before it appends.
func TestAnotherWriterCrashes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, other := openLog(t, dir, audit.Config{}), openLog(t, dir, audit.Config{})
	appendAll(t, log, small("a"))
	appendAll(t, other, small("b"))
	path := segmentFiles(t, dir)[0]
	torn := splitLines(read(t, path))[1][:70]
	write(t, path, append(read(t, path), torn...))
	appendAll(t, log, small("c"))
	appendAll(t, other, small("d"))
	want := []audit.Type{audit.SessionOpen, audit.SessionOpen, audit.LogRecovered, audit.SessionOpen, audit.SessionOpen}
	if diff := cmp.Diff(want, types(records(t, dir))); diff != "" {
		t.Error(diff)
	}
	sound(t, dir)
}

// TestLockHeldByAnother: a process that stopped while it held the lock does not
// block others for longer than the wait, and they record nothing meanwhile. All
// appends share one wait: one after the other, they would take five minutes.
func TestLockHeldByAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const wait, appends = 300 * time.Millisecond, 1000
	log, err := audit.OpenWith(dir, audit.Config{}, nil, (*os.File).Sync, wait)
	if err != nil {
		t.Fatal(err)
	}
	patient, err := audit.OpenWith(dir, audit.Config{}, nil, (*os.File).Sync, patience)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, small("a"))
	other, err := os.OpenFile(filepath.Join(dir, audit.LockName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := filelock.Lock(other); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for range appends {
		wg.Go(func() {
			if err := log.Append(t.Context(), small("b")); !errors.Is(err, audit.ErrUnavailable) {
				t.Errorf("append without the lock: %v", err)
			}
		})
	}
	wg.Wait()
	if d := time.Since(start); d < wait || d > patience {
		t.Errorf("%d appends gave up after %v, want %v for all of them", appends, d, wait)
	}
	wg.Go(func() {
		if err := patient.Append(t.Context(), small("p")); err != nil {
			t.Errorf("append that waits for the lock: %v", err)
		}
	})
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	appendAll(t, log, small("c"))
	closeLog(t, log)
	closeLog(t, patient)
	want := []audit.Type{audit.SessionOpen, audit.SessionOpen, audit.LogGap, audit.SessionOpen}
	all := records(t, dir)
	if diff := cmp.Diff(want, types(all)); diff != "" {
		t.Fatal(diff)
	}
	if lost := all[2].Event.Log.Lost; lost != appends {
		t.Errorf("%d events counted as lost, want %d", lost, appends)
	}
	sound(t, dir)
}

// TestLockReplaced: when the lock file was removed and another process made a
// new one, a writer that still holds the old one changes to the new one.
func TestLockReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := audit.OpenWith(dir, audit.Config{}, nil, (*os.File).Sync, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, audit.LockName)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other := openLog(t, dir, audit.Config{})
	appendAll(t, other, small("a"))
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := filelock.Lock(lock); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(t.Context(), small("b")); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("append under the old lock: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, small("c"))
	closeLog(t, log)
	closeLog(t, other)
	sound(t, dir)
}
