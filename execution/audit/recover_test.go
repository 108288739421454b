package audit_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// crashed makes a log of three anchored events. After them, the process wrote
// tail and crashed.
func crashed(t *testing.T, base, dir string, tail []byte) (path string, whole []byte) {
	t.Helper()
	copyDir(t, base, dir)
	path = segmentFiles(t, dir)[0]
	whole = read(t, path)
	write(t, path, append(bytes.Clone(whole), tail...))
	return path, whole
}

// TestCrashAtEveryByte cuts the last event at every byte. Reopening the log
// loses no earlier event, keeps the cut bytes, and records the cut.
func TestCrashAtEveryByte(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "base")
	fill(t, base, audit.Config{}, 3)
	report := sound(t, base)
	line, _, err := audit.Line(audit.Event{Seq: 4, Type: audit.SessionOpen, QueryID: "torn é"}, report.LastHash, false)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(line) + 1 {
		dir := filepath.Join(quickDir(t), "log")
		path, whole := crashed(t, base, dir, line[:cut])
		torn := cut > 0 && cut < len(line)

		// Before anybody opens the log, it is whole except for an unfinished
		// line.
		before := sound(t, dir)
		if (before.Torn != nil) != torn || torn && before.Torn.Bytes != int64(cut) {
			t.Fatalf("cut at %d: before reopening %+v", cut, before.Torn)
		}
		fill(t, dir, audit.Config{}, 1)
		after := sound(t, dir)
		if after.Torn != nil || (len(after.Notes) == 1) != torn {
			t.Fatalf("cut at %d: after reopening torn %v, notes %v", cut, after.Torn, after.Notes)
		}
		if !bytes.HasPrefix(read(t, path), whole) {
			t.Fatalf("cut at %d: earlier events changed", cut)
		}
		if !torn {
			continue
		}
		want := audit.LogInfo{
			Reason: audit.ReasonTorn, Segment: filepath.Base(path), Offset: int64(len(whole)), Bytes: int64(cut),
			SHA256: fmt.Sprintf("%x", sha256.Sum256(line[:cut])), Saved: after.Notes[0].Event.Log.Saved,
		}
		if diff := cmp.Diff(want, after.Notes[0].Event.Log); diff != "" {
			t.Fatalf("cut at %d: %s", cut, diff)
		}
		if saved := read(t, filepath.Join(dir, want.Saved)); !bytes.Equal(saved, line[:cut]) {
			t.Fatalf("cut at %d: saved %q", cut, saved)
		}
	}
}

// TestTornTails covers the bytes that a power cut leaves: zeros, garbage, few
// or many.
func TestTornTails(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "base")
	fill(t, base, audit.Config{}, 3)
	for name, tail := range map[string][]byte{
		"zeros":          make([]byte, 5000),
		"a megabyte":     bytes.Repeat([]byte("x"), 1<<20),
		"garbage lines":  bytes.Repeat([]byte("{}\n"), 3000),
		"line and zeros": append([]byte("{\"chain\":\n"), make([]byte, 100)...),
		"newlines":       []byte("\n\n\n"),
	} {
		dir := filepath.Join(t.TempDir(), "log")
		path, whole := crashed(t, base, dir, tail)
		fill(t, dir, audit.Config{}, 1)
		report := sound(t, dir)
		if len(report.Notes) != 1 || report.Notes[0].Event.Log.Bytes != int64(len(tail)) {
			t.Errorf("%s: notes %v", name, report.Notes)
		}
		if !bytes.HasPrefix(read(t, path), whole) || report.Events != 5 {
			t.Errorf("%s: %d events", name, report.Events)
		}
	}
}

// TestCrashDuringRepair stops a repair after each of its steps. The next repair
// has the same result.
func TestCrashDuringRepair(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "base")
	fill(t, base, audit.Config{}, 3)
	tail := []byte(`{"chain":{"hash":"12`)
	repaired := filepath.Join(t.TempDir(), "repaired")
	crashed(t, base, repaired, tail)
	fill(t, repaired, audit.Config{}, 0)
	side := sound(t, repaired).Notes[0].Event.Log.Saved

	for name, stop := range map[string]func(path, side string){
		"saved half": func(_, side string) { write(t, side, tail[:7]) },
		"saved":      func(_, side string) { write(t, side, tail) },
		"cut off": func(path, side string) {
			write(t, side, tail)
			if err := os.Truncate(path, int64(len(read(t, path))-len(tail))); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := filepath.Join(t.TempDir(), "log")
		path, _ := crashed(t, base, dir, tail)
		stop(path, filepath.Join(dir, side))
		fill(t, dir, audit.Config{}, 1)
		fill(t, dir, audit.Config{}, 1)
		report := sound(t, dir)
		if len(report.Notes) != 1 || report.Notes[0].Event.Log.Bytes != int64(len(tail)) || report.Events != 6 {
			t.Errorf("%s: %d events, notes %v", name, report.Events, report.Notes)
		}
		if got := read(t, filepath.Join(dir, side)); !bytes.Equal(got, tail) {
			t.Errorf("%s: saved %q", name, got)
		}
	}
}

// TestCrashDuringRotation: a sealed segment without a next one, and a next
// segment that is empty or torn.
func TestCrashDuringRotation(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "base")
	cfg := audit.Config{RotateBytes: 4 << 10}
	fill(t, base, cfg, 30)
	paths := segmentFiles(t, base)
	if len(paths) != 2 {
		t.Fatalf("%d segments, the test wants 2", len(paths))
	}
	sealed := sound(t, base).Segments[0]
	first := splitLines(read(t, paths[0]))
	var hash audit.Hash
	if err := hash.UnmarshalText(first[len(first)-1][len(`{"chain":{"hash":"`):][:64]); err != nil {
		t.Fatal(err)
	}
	anchor := fmt.Sprintf(`{"seq":%d,"hash":"%s","segment":"%s"}`, sealed.LastSeq, hash, sealed.Name)
	for name, next := range map[string]func(path string) error{
		"no next segment": os.Remove,
		"empty":           func(path string) error { return os.Truncate(path, 0) },
		"torn":            func(path string) error { return os.Truncate(path, 50) },
	} {
		dir := filepath.Join(t.TempDir(), "log")
		copyDir(t, base, dir)
		write(t, filepath.Join(dir, "anchor.json"), []byte(anchor))
		if err := next(segmentFiles(t, dir)[1]); err != nil {
			t.Fatal(err)
		}
		fill(t, dir, cfg, 2)
		report := sound(t, dir)
		if len(report.Segments) != 2 || report.Segments[1].FirstSeq != sealed.LastSeq+1 {
			t.Errorf("%s: segments %+v", name, report.Segments)
		}
	}
}

// TestLostEventsAreSaidForGood: events that the anchor names are cut off and
// the gateway continues. From then on, the log itself reports the loss.
func TestLostEventsAreSaidForGood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 5)
	path := segmentFiles(t, dir)[0]
	lines := splitLines(read(t, path))
	write(t, path, append(bytes.Join(lines[:3], nil), lines[3][:20]...))
	fill(t, dir, audit.Config{}, 4)
	report := verify(t, dir)
	if len(report.Problems) != 1 || report.Problems[0].Kind != audit.ProblemLost || report.Problems[0].Line != 5 {
		t.Errorf("problems %v", report.Problems)
	}
	var reasons []string
	for _, n := range report.Notes {
		reasons = append(reasons, fmt.Sprint(n.Event.Log.Reason, n.Event.Log.KnownSeq))
	}
	if diff := cmp.Diff([]string{"torn_write0", "events_missing5"}, reasons); diff != "" {
		t.Error(diff)
	}
	if report.Unanchored != 0 || report.LastSeq != 9 {
		t.Errorf("up to event %d, %d not anchored", report.LastSeq, report.Unanchored)
	}
}

// TestLostEventsAreSaidOnce: the loss is one note no matter how often the log
// is opened, and the anchor matches the log again.
func TestLostEventsAreSaidOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 9)
	path := segmentFiles(t, dir)[0]
	write(t, path, splitLines(read(t, path))[0])
	for range 3 {
		fill(t, dir, audit.Config{}, 0)
	}
	report := verify(t, dir)
	if len(report.Problems) != 1 || report.Problems[0].Kind != audit.ProblemLost || len(report.Notes) != 1 {
		t.Errorf("problems %v, notes %v", report.Problems, report.Notes)
	}
	if report.Anchor.Seq != 2 || report.LastSeq != 2 {
		t.Errorf("anchor %v of a log up to %d", report.Anchor, report.LastSeq)
	}
}

// TestReplacedLastEvent: the event that the anchor names was replaced by
// another with the same number, and the gateway continues.
func TestReplacedLastEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 3)
	path := segmentFiles(t, dir)[0]
	lines := splitLines(read(t, path))
	var prev audit.Hash
	if err := prev.UnmarshalText(lines[1][len(`{"chain":{"hash":"`):][:64]); err != nil {
		t.Fatal(err)
	}
	var err error
	if lines[2], _, err = audit.Line(audit.Event{Seq: 3, Type: audit.SessionOpen, QueryID: "forged"}, prev, false); err != nil {
		t.Fatal(err)
	}
	write(t, path, bytes.Join(lines, nil))
	fill(t, dir, audit.Config{}, 2)
	report := verify(t, dir)
	if len(report.Problems) != 1 || report.Problems[0].Kind != audit.ProblemLost || report.Problems[0].Line != 4 {
		t.Errorf("problems %v", report.Problems)
	}
}

// TestDamagedFirstLine: a segment whose first line is damaged can still be
// appended to and sealed.
func TestDamagedFirstLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := audit.Config{RotateBytes: 4 << 10}
	fill(t, dir, cfg, 3)
	path := segmentFiles(t, dir)[0]
	data := read(t, path)
	data[5] ^= 1
	write(t, path, data)
	fill(t, dir, cfg, 30)
	report := verify(t, dir)
	if len(report.Problems) != 1 || report.Problems[0].Line != 1 || len(report.Segments) != 2 {
		t.Errorf("%d segments, problems %v", len(report.Segments), report.Problems)
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 1)
	for _, name := range []string{"anchor.json.tmp", "key.tmp", "audit-1.jsonl", "audit-000000.jsonl", "audit-000009.jsonl.gz", "notes.txt"} {
		write(t, filepath.Join(dir, name), []byte("left over"))
	}
	fill(t, dir, audit.Config{}, 1)
	if report := sound(t, dir); report.Events != 2 {
		t.Errorf("%d events", report.Events)
	}
	if err := os.Remove(filepath.Join(dir, audit.KeyName)); err != nil {
		t.Fatal(err)
	}
	fill(t, dir, audit.Config{}, 1)
	if _, err := os.Stat(filepath.Join(dir, "key.tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("key.tmp: %v", err)
	}
	if got := len(read(t, filepath.Join(dir, audit.KeyName))); got != audit.KeySize {
		t.Errorf("the new key has %d bytes", got)
	}
}
