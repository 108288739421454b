package audit_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution/audit"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	log := openLog(t, dir, audit.Config{})
	ctx := analyst(t.Context())
	before := time.Now()
	want := decision("q1")
	if err := log.Append(ctx, want); err != nil {
		t.Fatal(err)
	}
	finished := audit.Event{
		Type: audit.QueryFinished, QueryID: "q1", Principal: "someone else",
		Result: audit.Result{Status: audit.StatusOK, Rows: 3, Bytes: 120, ExecMS: 0.412},
	}
	appendAll(t, log, finished)
	closeLog(t, log)

	all := records(t, dir)
	if len(all) != 2 {
		t.Fatalf("%d events, want 2", len(all))
	}
	got := all[0].Event
	if got.Time.Before(before) || got.Time.After(time.Now()) || got.Time.Location() != time.UTC {
		t.Errorf("time %v is not now in UTC", got.Time)
	}
	want.Seq, want.Time, want.Chain = 1, got.Time, got.Chain
	if want.Process.Run = got.Process.Run; len(got.Process.Run) != 12 {
		t.Errorf("the decision has no run: %+v", got.Process)
	}
	want.Principal = "analyst"
	want.Client = audit.Client{Name: "claude-code", Version: "2.0.1", Transport: "http"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := all[1].Event; got.Principal != "someone else" || got.Client != (audit.Client{}) || got.Seq != 2 {
		t.Errorf("second event: %+v", got)
	}
	if all[0].Event.Chain.Prev != strings.Repeat("0", 64) || all[1].Event.Chain.Prev != all[0].Event.Chain.Hash {
		t.Errorf("chain %v → %v", all[0].Event.Chain, all[1].Event.Chain)
	}
	sound(t, dir)
}

// TestCancelledContext: the event of a cancelled query is appended with the
// context of that query.
func TestCancelledContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	ctx, cancel := context.WithCancel(analyst(t.Context()))
	cancel()
	if err := log.Append(ctx, audit.Event{Type: audit.QueryCancelled, QueryID: "q"}); err != nil {
		t.Fatal(err)
	}
	if got := records(t, dir); len(got) != 1 || got[0].Event.Principal != "analyst" {
		t.Errorf("got %v", got)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	log := openLog(t, t.TempDir(), audit.Config{})
	for _, kind := range []audit.Type{"", audit.SegmentSeal, audit.LogRecovered, audit.LogGap} {
		if err := log.Append(t.Context(), audit.Event{Type: kind}); err == nil {
			t.Errorf("an event of type %q was accepted", kind)
		}
	}
	closeLog(t, log)
	if err := log.Append(t.Context(), small("q")); !errors.Is(err, audit.ErrUnavailable) || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

func TestCallerCannotSpeakForTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	e := small("q")
	e.Seq, e.Chain, e.Log = 77, audit.Chain{Prev: "x", Hash: "y"}, audit.LogInfo{Lost: 5}
	appendAll(t, log, e)
	if got := records(t, dir)[0].Event; got.Seq != 1 || got.Log != (audit.LogInfo{}) {
		t.Errorf("got %+v", got)
	}
	sound(t, dir)
}

func TestImpossibleTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	for _, at := range []time.Time{
		{},
		time.Date(-3, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -3600*5)),
	} {
		e := small("q")
		e.Time = at
		appendAll(t, log, e)
	}
	for _, rec := range records(t, dir) {
		if d := time.Since(rec.Event.Time); d < 0 || d > time.Minute {
			t.Errorf("an impossible time became %v", rec.Event.Time)
		}
	}
}

func TestRawTextOnlyWhenConfigured(t *testing.T) {
	t.Parallel()
	for mode, want := range map[audit.SQLMode]bool{"": false, audit.SQLNormalized: false, audit.SQLFull: true} {
		dir := t.TempDir()
		log := openLog(t, dir, audit.Config{SQL: mode})
		e := decision("q")
		e.SQL.Text = "SELECT 'secret literal'"
		appendAll(t, log, e)
		closeLog(t, log)
		for _, path := range segmentFiles(t, dir) {
			if got := bytes.Contains(read(t, path), []byte("secret literal")); got != want {
				t.Errorf("mode %q: raw text in the log: %v", mode, got)
			}
		}
	}
}

func TestHMAC(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	key := read(t, filepath.Join(dir, audit.KeyName))
	if len(key) != audit.KeySize {
		t.Fatalf("the key has %d bytes", len(key))
	}
	const raw = "SELECT * FROM t WHERE x = '\xff'"
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(raw))
	if got, want := log.HMAC(raw), hex.EncodeToString(mac.Sum(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	closeLog(t, log)
	if second := openLog(t, dir, audit.Config{}); second.HMAC(raw) != log.HMAC(raw) {
		t.Error("the log has another key when it is opened again")
	}
	if other := openLog(t, t.TempDir(), audit.Config{}); other.HMAC(raw) == log.HMAC(raw) {
		t.Error("two directories have one key")
	}
	if !bytes.Equal(key, read(t, filepath.Join(dir, audit.KeyName))) {
		t.Error("the key was replaced")
	}
}

func TestBadKeyIsRefused(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 31, 33} {
		dir := t.TempDir()
		key := bytes.Repeat([]byte{1}, size)
		write(t, filepath.Join(dir, audit.KeyName), key)
		if log, err := audit.Open(dir, audit.Config{}, nil); err == nil {
			t.Errorf("a key of %d bytes was accepted", size)
			closeLog(t, log)
		}
		if !bytes.Equal(read(t, filepath.Join(dir, audit.KeyName)), key) {
			t.Errorf("a key of %d bytes was replaced", size)
		}
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	dir := filepath.Join(t.TempDir(), "audit")
	fill(t, dir, audit.Config{RotateBytes: 4 << 10}, 40)
	mode := func(path string) fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	check := func(when string) {
		t.Helper()
		if got := mode(dir); got != 0o700 {
			t.Errorf("%s: directory %v", when, got)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if got := mode(filepath.Join(dir, e.Name())); got != 0o600 {
				t.Errorf("%s: %s %v", when, e.Name(), got)
			}
		}
	}
	check("new")

	// When the log is opened, it removes permissions that somebody has added:
	// of the directory, which guards all files, and of every file that is used
	// again.
	paths := segmentFiles(t, dir)
	loose := []string{
		dir, paths[len(paths)-1],
		filepath.Join(dir, audit.KeyName), filepath.Join(dir, audit.LockName), filepath.Join(dir, "anchor.json"),
	}
	for _, path := range loose {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue // the lock, on systems without flock
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, dir, audit.Config{}, 1)
	check("narrowed")
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"audit-000001.jsonl", audit.KeyName} {
		for _, inside := range []bool{false, true} {
			dir := t.TempDir()
			file := filepath.Join(t.TempDir(), "file")
			target := file
			if inside {
				file, target = filepath.Join(dir, "file"), "file"
			}
			write(t, file, bytes.Repeat([]byte{'x'}, audit.KeySize))
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if log, err := audit.Open(dir, audit.Config{}, nil); err == nil {
				t.Errorf("%s may be a link, inside %v", name, inside)
				closeLog(t, log)
			}
			if got := string(read(t, file)); got != strings.Repeat("x", audit.KeySize) {
				t.Errorf("%s: the file linked to became %q", name, got)
			}
		}
	}
}

func TestOpenRefusesBadConfig(t *testing.T) {
	t.Parallel()
	if _, err := audit.Open(t.TempDir(), audit.Config{Sync: "sometimes"}, nil); err == nil {
		t.Error("an unknown sync mode was accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	if _, err := audit.Open(file, audit.Config{}, nil); err == nil {
		t.Error("a file was accepted as the log directory")
	}
}

func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	for _, mode := range []audit.SyncMode{audit.SyncAlways, audit.SyncInterval, audit.SyncOff} {
		dir := t.TempDir()
		log := openLog(t, dir, audit.Config{Sync: mode, RotateBytes: 16 << 10})
		const goroutines, each = 16, 40
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := range each {
					if err := log.Append(analyst(t.Context()), small(fmt.Sprintf("%d-%d", g, i))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		closeLog(t, log)
		report := sound(t, dir)
		if len(report.Segments) < 3 {
			t.Errorf("%s: %d segments", mode, len(report.Segments))
		}
		once(t, dir, goroutines, each)
	}
}

// once fails the test unless each id g-i is in the log exactly once, in the
// order of i.
func once(t *testing.T, dir string, groups, each int) {
	t.Helper()
	next := map[string]int{}
	for _, rec := range records(t, dir) {
		if rec.Event.QueryID == "" {
			continue
		}
		group, number, _ := strings.Cut(rec.Event.QueryID, "-")
		if want := fmt.Sprint(next[group]); number != want {
			t.Fatalf("event %d is %s, want number %s of its group", rec.Event.Seq, rec.Event.QueryID, want)
		}
		next[group]++
	}
	if len(next) != groups {
		t.Errorf("%d groups, want %d", len(next), groups)
	}
	for group, n := range next {
		if n != each {
			t.Errorf("group %s has %d events, want %d", group, n, each)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	log := openLog(t, t.TempDir(), audit.Config{Sync: audit.SyncAlways})
	appendAll(t, log, small("a"), small("b"))
	want := audit.Health{Seq: 2, Synced: 2, Segment: "audit-000001.jsonl"}
	if diff := cmp.Diff(want, log.Health()); diff != "" {
		t.Error(diff)
	}
}

func TestCloseEndsWhatOpenStarted(t *testing.T) {
	before := goleak.IgnoreCurrent()
	log := openLog(t, t.TempDir(), audit.Config{})
	appendAll(t, log, small("q"))
	closeLog(t, log)
	closeLog(t, log)
	goleak.VerifyNone(t, before)
}

// logged is a handler that keeps the logged lines.
type logged struct{ bytes.Buffer }

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// TestDirectoryTakenAway: the log continues in a new directory with the same
// key, and records that its earlier events are gone.
func TestDirectoryTakenAway(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	log := openLog(t, dir, audit.Config{})
	appendAll(t, log, small("a"), small("b"))
	hmac := log.HMAC("x")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, small("c"))
	if log.HMAC("x") != hmac {
		t.Error("the key changed while the log was open")
	}
	closeLog(t, log)
	if again := openLog(t, dir, audit.Config{}); again.HMAC("x") != hmac {
		t.Error("the new directory has another key")
	}
	if diff := cmp.Diff([]audit.Type{audit.LogRecovered, audit.SessionOpen}, types(records(t, dir))); diff != "" {
		t.Error(diff)
	}
	report := verify(t, dir)
	if report.OK || report.Problems[0].Kind != audit.ProblemSegment || report.LastSeq != 4 {
		t.Errorf("up to event %d: %v", report.LastSeq, report.Problems)
	}
}

// TestSegmentTakenAway covers external log rotation and an editor while the log
// is open: Verify finds each change, and later appends succeed.
func TestSegmentTakenAway(t *testing.T) {
	t.Parallel()
	for what, do := range map[string]func(t *testing.T, path string) audit.ProblemKind{
		"renamed": func(t *testing.T, path string) audit.ProblemKind {
			t.Helper()
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			return audit.ProblemSegment
		},
		"linked elsewhere": func(t *testing.T, path string) audit.ProblemKind {
			t.Helper()
			if err := errors.Join(os.Link(path, path+".1"), os.Remove(path)); err != nil {
				t.Fatal(err)
			}
			return audit.ProblemSegment
		},
		"rewritten": func(t *testing.T, path string) audit.ProblemKind {
			t.Helper()
			data := bytes.Replace(read(t, path), []byte(`"b"`), []byte(`"x"`), 1)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			write(t, path, data)
			return audit.ProblemEdited
		},
		"emptied": func(t *testing.T, path string) audit.ProblemKind {
			t.Helper()
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			return audit.ProblemMissing
		},
		"shortened": func(t *testing.T, path string) audit.ProblemKind {
			t.Helper()
			if err := os.Truncate(path, int64(len(splitLines(read(t, path))[0]))); err != nil {
				t.Fatal(err)
			}
			return audit.ProblemLost
		},
	} {
		dir := t.TempDir()
		log := openLog(t, dir, audit.Config{})
		appendAll(t, log, small("a"), small("b"), small("c"))
		want := do(t, segmentFiles(t, dir)[0])
		appendAll(t, log, small("d"))
		closeLog(t, log)
		report := verify(t, dir)
		if report.OK || report.Problems[0].Kind != want {
			t.Errorf("%s: %v, want %s first", what, report.Problems, want)
		}
		all := records(t, dir)
		if len(all) == 0 || all[len(all)-1].Event.QueryID != "d" {
			t.Errorf("%s: the event appended afterwards is not the last: %v", what, types(all))
		}
	}
}
