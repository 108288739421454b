package audit_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

var small4K = audit.Config{RotateBytes: 4 << 10}

// later returns a time after every event of a test.
func later() time.Time { return time.Now().Add(time.Hour) }

func archived(t *testing.T, dir, to string, before time.Time) audit.Archived {
	t.Helper()
	moved, err := audit.Archive(t.Context(), dir, small4K, to, before)
	if err != nil {
		t.Fatal(err)
	}
	return moved
}

func bases(paths []string) []string {
	out := []string{}
	for _, path := range paths {
		out = append(out, filepath.Base(path))
	}
	return out
}

func TestArchive(t *testing.T) {
	t.Parallel()
	dir, to := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "archive", "2026")
	fill(t, dir, small4K, 50)
	all, whole := segmentFiles(t, dir), sound(t, dir)
	old, err := audit.LoadAnchor(filepath.Join(dir, "anchor.json"))
	if err != nil {
		t.Fatal(err)
	}
	planned, err := audit.Archivable(t.Context(), dir, later())
	if err != nil {
		t.Fatal(err)
	}
	moved := archived(t, dir, to, later())
	if diff := cmp.Diff(planned, moved); diff != "" {
		t.Errorf("moved other segments than Archivable said: %s", diff)
	}
	rest := len(all) - len(moved.Segments)
	if diff := cmp.Diff(bases(all[:len(all)-rest]), moved.Segments); diff != "" || rest != 1 {
		t.Errorf("%d segments are left; %s", rest, diff)
	}
	if diff := cmp.Diff(moved.Segments, bases(segmentFiles(t, to))); diff != "" {
		t.Error(diff)
	}

	live, archive := sound(t, dir), sound(t, to)
	if live.Before != moved.Events || live.Before != archive.Events || live.LastSeq != whole.LastSeq+1 || archive.LastHash != moved.Last.Hash {
		t.Errorf("moved %+v, live %+v", moved, live)
	}
	if len(live.Notes) != 1 || live.Notes[0].Event.Type != audit.LogArchived || live.Notes[0].Event.Log.Records != moved.Events {
		t.Errorf("notes %+v", live.Notes)
	}
	// The archive's anchor names the event that the log continues. An older
	// anchor names an event of the archive, a newer one an event of the log.
	kept, err := audit.LoadAnchor(filepath.Join(to, "anchor.json"))
	if err != nil {
		t.Fatal(err)
	}
	if report := verify(t, dir, kept, old); !report.OK {
		t.Errorf("with the anchor of the archive: %v", report.Problems)
	}
	earlier := kept
	earlier.Seq--
	if report := verify(t, dir, earlier); report.OK || report.Problems[0].Kind != audit.ProblemReplaced {
		t.Errorf("an anchor of an archived event: %v", report.Problems)
	}
	kept.Hash[0] ^= 1
	if report := verify(t, dir, kept); report.OK || report.Problems[0].Kind != audit.ProblemReplaced {
		t.Errorf("an anchor of another archive: %v", report.Problems)
	}

	// The rest is still a log: a writer can append and rotate, and a reader can
	// read in both directions.
	fill(t, dir, small4K, 50)
	sound(t, dir)
	if got := records(t, dir); got[0].Event.Seq != moved.Last.Seq+1 {
		t.Errorf("the log begins with event %d", got[0].Event.Seq)
	}
	// Archive and rest together are the original log.
	for _, path := range segmentFiles(t, to) {
		write(t, filepath.Join(dir, filepath.Base(path)), read(t, path))
	}
	if report := sound(t, dir); report.Before != 0 || report.Segments[0].FirstSeq != 1 {
		t.Errorf("put together: %+v", report)
	}
}

func TestArchiveChooses(t *testing.T) {
	t.Parallel()
	dir, to := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "archive")
	log := openLog(t, dir, small4K)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 80 {
		e := small(fmt.Sprint(n))
		e.Time = day.Add(time.Duration(n) * time.Hour)
		appendAll(t, log, e)
	}
	closeLog(t, log)
	report := sound(t, dir)
	if len(report.Segments) < 4 {
		t.Fatalf("%d segments", len(report.Segments))
	}
	// The seals carry today's time. Archive looks at the time of every event.
	if moved := archived(t, dir, to, day.Add(100*time.Hour)); len(moved.Segments) != 0 {
		t.Errorf("moved %v, whose seals are younger", moved.Segments)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of an empty archive: %v", err)
	}
	moved := archived(t, dir, to, later())
	if len(moved.Segments) != len(report.Segments)-1 {
		t.Errorf("moved %v of %d segments", moved.Segments, len(report.Segments))
	}
	if moved := archived(t, dir, to, later()); len(moved.Segments) != 0 {
		t.Errorf("moved %v again", moved.Segments)
	}
}

// TestArchiveAgain: later archives continue in the same folder. They may also
// go to another folder that has the event for the first archive.
func TestArchiveAgain(t *testing.T) {
	t.Parallel()
	dir, first, second := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	fill(t, dir, small4K, 40)
	archived(t, dir, first, later())
	fill(t, dir, small4K, 40)
	last := archived(t, dir, first, later()).Last
	fill(t, dir, small4K, 40)
	moved := archived(t, dir, second, later())
	for _, d := range []string{dir, first, second} {
		report := sound(t, d)
		t.Logf("%s: %d events, %d before", filepath.Base(d), report.Events, report.Before)
	}
	if moved.FirstSeq != last.Seq+1 {
		t.Errorf("the second folder begins with event %d, the first one ends with %d", moved.FirstSeq, last.Seq)
	}
}

// TestArchiveRefuses: when Archive refuses, the log stays unchanged.
func TestArchiveRefuses(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "base")
	fill(t, base, small4K, 50)
	for name, c := range map[string]struct {
		spoil func(dir, to string)
		want  string
	}{
		"a broken log": {func(dir, _ string) {
			path := segmentFiles(t, dir)[2]
			data := read(t, path)
			data[100] ^= 1
			write(t, path, data)
		}, "the chain is broken: audit-000003.jsonl line 1"},
		"another file in the way": {func(_, to string) {
			write(t, filepath.Join(to, "audit-000002.jsonl"), []byte("something else\n"))
		}, "copy audit-000002.jsonl: another file of this name is there already"},
		"an archive that goes on": {func(dir, to string) {
			for _, path := range segmentFiles(t, dir) {
				write(t, filepath.Join(to, filepath.Base(path)), read(t, path))
			}
		}, "so nothing was removed"},
		"an archive of another log": {func(_, to string) {
			other := filepath.Join(filepath.Dir(to), "other")
			fill(t, other, small4K, 200)
			for _, path := range segmentFiles(t, other)[4:] {
				write(t, filepath.Join(to, filepath.Base(path)), read(t, path))
			}
		}, "so nothing was removed"},
	} {
		root := t.TempDir()
		dir, to := filepath.Join(root, "log"), filepath.Join(root, "archive")
		copyDir(t, base, dir)
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		c.spoil(dir, to)
		before := snapshot(t, dir)
		_, err := audit.Archive(t.Context(), dir, small4K, to, later())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Errorf("%s: the log changed: %s", name, diff)
		}
	}
	if _, err := audit.Archive(t.Context(), base, small4K, base, later()); err == nil {
		t.Error("a log was archived into itself")
	}
	sound(t, base)
}

// TestArchiveCutShort interrupts an archive at every step. Both logs are whole,
// and a second run completes the archive.
func TestArchiveCutShort(t *testing.T) {
	t.Parallel()
	root := quickDir(t)
	dir, to := filepath.Join(root, "log"), filepath.Join(root, "archive")
	fill(t, dir, small4K, 50)
	path := segmentFiles(t, dir)[2]
	write(t, path, append(read(t, path), `{"chain"`...)) // so that a file of cut bytes is archived too
	fill(t, dir, small4K, 30)
	before := snapshot(t, dir)
	moved := archived(t, dir, to, later())
	after, copied := snapshot(t, dir), snapshot(t, to)
	if len(moved.Segments) < 3 || len(copied) != len(moved.Segments)+2 {
		t.Fatalf("moved %v, copied %d files", moved.Segments, len(copied))
	}

	type state struct{ log, archive image }
	var states []state
	now := image{}
	var names []string
	for name := range copied {
		if name != "anchor.json" {
			names = append(names, name)
		}
	}
	// The file of bytes cut from a segment comes before the segment.
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(a+"~", b+"~") })
	for _, name := range append(slices.Clone(names), "anchor.json") {
		for _, part := range []int{0, 1, len(copied[name]) / 2, len(copied[name])} {
			states = append(states, state{before, now.with(name+".tmp", copied[name][:part])})
		}
		now = now.with(name, copied[name])
		states = append(states, state{before, now})
	}
	for i, im := range between(before, before.with("audit-"+lastOf(after), after["audit-"+lastOf(after)])) {
		if i%9 == 0 {
			states = append(states, state{im, now})
		}
	}
	log := before.with("audit-"+lastOf(after), after["audit-"+lastOf(after)]).with("anchor.json", after["anchor.json"])
	for _, name := range names {
		log = log.with(name, nil)
		delete(log, name)
		states = append(states, state{log, now})
	}
	for i, s := range states {
		s.log.restore(t, dir)
		s.archive.restore(t, to)
		if report := verify(t, dir); !report.OK {
			t.Fatalf("state %d: %v", i, report.Problems)
		}
		if _, err := audit.Archive(t.Context(), dir, small4K, to, later()); err != nil {
			t.Fatalf("state %d: %v", i, err)
		}
		sound(t, dir)
		if report := sound(t, to); report.LastSeq < moved.Last.Seq {
			t.Fatalf("state %d: the archive ends with event %d", i, report.LastSeq)
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("state %d: %s is still there", i, name)
			}
		}
	}
	t.Logf("%d states", len(states))
}

// lastOf returns the name of the last segment, without its prefix.
func lastOf(im image) string {
	last := ""
	for name := range im {
		if strings.HasPrefix(name, "audit-") && strings.HasSuffix(name, ".jsonl") {
			last = max(last, strings.TrimPrefix(name, "audit-"))
		}
	}
	return last
}

// TestArchiveAtWork: other writers append while the log is archived again and
// again.
func TestArchiveAtWork(t *testing.T) {
	t.Parallel()
	dir, to := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "archive")
	fill(t, dir, small4K, 1)
	var wg sync.WaitGroup
	const writers, each = 4, 150
	for g := range writers {
		log := openLog(t, dir, small4K)
		wg.Go(func() {
			for i := range each {
				if err := log.Append(t.Context(), small(fmt.Sprintf("%d-%d", g, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	moved := 0
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	for working := true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		moved += len(archived(t, dir, to, later()).Segments)
	}
	t.Logf("%d segments were archived", moved)
	sound(t, dir)
	sound(t, to)
	all := append(records(t, to), records(t, dir)...)
	next := map[string]int{}
	for i, rec := range all {
		if rec.Event.Seq != int64(i+1) {
			t.Fatalf("got event %d, want event %d", rec.Event.Seq, i+1)
		}
		next[strings.SplitN(rec.Event.QueryID, "-", 2)[0]]++
	}
	for g := range writers {
		if next[fmt.Sprint(g)] != each {
			t.Errorf("writer %d has %d events, want %d", g, next[fmt.Sprint(g)], each)
		}
	}
}
