package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
)

// TestFullDisk fills a real file system. While it is full, no event is recorded
// and the chain stays whole. When there is space again, appends succeed.
func TestFullDisk(t *testing.T) {
	disk, mounted := audittest.SmallDisk(t, 256<<10)
	if !mounted {
		return
	}
	dir := filepath.Join(disk, "audit")
	for _, mode := range []audit.SyncMode{audit.SyncInterval, audit.SyncAlways} {
		log := openLog(t, dir, audit.Config{Sync: mode, RotateBytes: 16 << 10})
		ballast := filepath.Join(disk, "ballast")
		write(t, ballast, make([]byte, 64<<10))
		start := log.Health().Seq
		refused := 0
		for i := 0; refused < 5; i++ {
			err := log.Append(t.Context(), decision(fmt.Sprintf("0-%d", i)))
			if err == nil {
				continue
			}
			if !errors.Is(err, audit.ErrUnavailable) || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("append to a full disk: %v", err)
			}
			refused++
			if report := sound(t, dir); report.Torn != nil {
				t.Fatalf("a refused event is in the log in part: %+v", report.Torn)
			}
		}
		if h := log.Health(); h.Lost != 5 || h.Seq-start < 10 {
			t.Errorf("%s: health %+v", mode, h)
		}

		// Another process that starts now cannot append either, and does no
		// harm.
		second := openLog(t, dir, audit.Config{})
		if err := second.Append(t.Context(), decision("x")); !errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("%s: a second writer on a full disk: %v", mode, err)
		}

		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		appendAll(t, second, small("y"))
		appendAll(t, log, small("z"))
		closeLog(t, second)
		closeLog(t, log)
		report := sound(t, dir)
		lost := int64(0)
		for _, n := range report.Notes {
			lost += n.Event.Log.Lost
		}
		if lost != 6 || report.Unanchored != 0 {
			t.Errorf("%s: %d events counted as lost, want 6; notes %v", mode, lost, report.Notes)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDiskDegrades: under onFailure degrade a full disk refuses no event,
// and the log records the number of lost events as soon as there is space.
func TestFullDiskDegrades(t *testing.T) {
	disk, mounted := audittest.SmallDisk(t, 256<<10)
	if !mounted {
		return
	}
	dir := filepath.Join(disk, "audit")
	log := openLog(t, dir, audit.Config{OnFailure: audit.FailDegrade, RotateBytes: 16 << 10})
	ballast := filepath.Join(disk, "ballast")
	write(t, ballast, make([]byte, 64<<10))
	appended := 0
	for log.Health().Lost < 5 {
		appendAll(t, log, decision("q"))
		appended++
	}
	if report := sound(t, dir); report.Torn != nil {
		t.Errorf("a lost event is in the log in part: %+v", report.Torn)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, small("z"))
	closeLog(t, log)
	report := sound(t, dir)
	if len(report.Notes) != 1 || report.Notes[0].Event.Type != audit.LogGap || report.Notes[0].Event.Log.Lost != 5 {
		t.Errorf("notes %v", report.Notes)
	}
	kept := 0
	for _, rec := range records(t, dir) {
		if rec.Event.Type == audit.QueryDecision {
			kept++
		}
	}
	if kept != appended-5 {
		t.Errorf("%d of %d decisions are in the log, want all but 5", kept, appended)
	}
}

// TestFullDiskAfterACrash: a torn line is repaired only when the cut bytes can
// be kept and the repair recorded. Until then no event is appended.
func TestFullDiskAfterACrash(t *testing.T) {
	disk, mounted := audittest.SmallDisk(t, 256<<10)
	if !mounted {
		return
	}
	dir := filepath.Join(disk, "audit")
	fill(t, dir, audit.Config{}, 3)
	path := segmentFiles(t, dir)[0]
	write(t, path, append(read(t, path), `{"chain":`...))
	ballast, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	if err := ballast.Close(); err != nil {
		t.Fatal(err)
	}
	log := openLog(t, dir, audit.Config{})
	for range 3 {
		if err := log.Append(t.Context(), small("q")); !errors.Is(err, audit.ErrUnavailable) {
			t.Fatalf("append: %v", err)
		}
	}
	if err := os.Remove(ballast.Name()); err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, small("q"))
	closeLog(t, log)
	report := sound(t, dir)
	if len(report.Notes) != 2 || report.Notes[0].Event.Log.Reason != audit.ReasonTorn || report.Notes[1].Event.Log.Lost != 3 {
		t.Errorf("notes %v", report.Notes)
	}
}

// TestFullDiskAtFirstStart: without space for the key, Open fails.
func TestFullDiskAtFirstStart(t *testing.T) {
	disk, mounted := audittest.SmallDisk(t, 16<<10)
	if !mounted {
		return
	}
	write(t, filepath.Join(disk, "ballast"), make([]byte, 16<<10))
	dir := filepath.Join(disk, "audit")
	if log, err := audit.Open(dir, audit.Config{}, nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("open: %v", err)
		if err == nil {
			closeLog(t, log)
		}
	}
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	fill(t, dir, audit.Config{}, 1)
	sound(t, dir)
}
