package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

func TestVerifyUntouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{RotateBytes: 4 << 10}, 60)
	report := sound(t, dir)
	if len(report.Segments) < 3 {
		t.Fatalf("%d segments, the test wants at least 3", len(report.Segments))
	}
	for i, seg := range report.Segments {
		if last := i == len(report.Segments)-1; seg.Sealed == last {
			t.Errorf("%s: sealed %v", seg.Name, seg.Sealed)
		}
	}
	if want := int64(60 + len(report.Segments) - 1); report.Events != want || report.LastSeq != want {
		t.Errorf("%d events up to %d, want %d", report.Events, report.LastSeq, want)
	}
	want := &audit.Anchor{
		Seq: report.LastSeq, Hash: report.LastHash, Segment: report.Segments[len(report.Segments)-1].Name,
	}
	if diff := cmp.Diff(want, report.Anchor); diff != "" || report.Unanchored != 0 {
		t.Errorf("after Close %d events are not anchored; anchor:\n%s", report.Unanchored, diff)
	}
}

// TestVerifyWhileWritten: a log that grows and rotates during Verify has no
// problem.
func TestVerifyWhileWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{RotateBytes: 4 << 10, Sync: audit.SyncOff})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 3000 {
			if err := log.Append(context.Background(), small(name(i))); err != nil {
				t.Error(err)
				return
			}
			if i%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	}()
	defer func() { <-done }()
	last := int64(0)
	for writing := true; writing; {
		select {
		case <-done:
			writing = false
		default:
		}
		report := sound(t, dir)
		if report.LastSeq < last {
			t.Errorf("the log ended at event %d and now at %d", last, report.LastSeq)
		}
		last = report.LastSeq
	}
	if want := sound(t, dir).Events; last < 3000 || last != want {
		t.Errorf("the last of %d events is %d", want, last)
	}
}

// TestVerifyForgedTail shows the limit of an unkeyed chain: an event forged
// with the right chain after the last anchor counts only as not anchored.
func TestVerifyForgedTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 3)
	report := sound(t, dir)
	path := segmentFiles(t, dir)[0]
	line, _, err := audit.Line(audit.Event{Seq: 4, Type: audit.QueryFinished}, report.LastHash, false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, append(read(t, path), line...))
	if report := verify(t, dir); report.Unanchored != 1 {
		t.Errorf("%d events are not anchored, want 1", report.Unanchored)
	}
}

// TestVerifyKeptAnchor: a copy of an older anchor reveals that both log and
// anchor were replaced.
func TestVerifyKeptAnchor(t *testing.T) {
	t.Parallel()
	dir, forged := t.TempDir(), t.TempDir()
	fill(t, dir, audit.Config{}, 5)
	kept, err := audit.LoadAnchor(filepath.Join(dir, "anchor.json"))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, dir, audit.Config{}, 5)
	if report := verify(t, dir, kept); !report.OK {
		t.Errorf("the log that the anchor is from: %v", report.Problems)
	}
	fill(t, forged, audit.Config{}, 12)
	report := verify(t, forged, kept)
	if report.OK || report.Problems[0].Kind != audit.ProblemReplaced || report.Problems[0].Seq != 5 {
		t.Errorf("a replaced log: %v", report.Problems)
	}
}

// TestVerifyWrongSeal: the chain is right, but a seal does not match its
// segment.
func TestVerifyWrongSeal(t *testing.T) {
	t.Parallel()
	const segment = "audit-000001.jsonl"
	first, hash, err := audit.Line(audit.Event{Seq: 1, Type: audit.SessionOpen}, audit.Hash{}, false)
	if err != nil {
		t.Fatal(err)
	}
	right := audit.LogInfo{Segment: segment, Bytes: int64(len(first)), FirstSeq: 1, Records: 1}
	for want, info := range map[string]audit.LogInfo{
		"right":   right,
		"name":    {Segment: "audit-000002.jsonl", Bytes: right.Bytes, FirstSeq: 1, Records: 1},
		"bytes":   {Segment: segment, Bytes: right.Bytes + 1, FirstSeq: 1, Records: 1},
		"first":   {Segment: segment, Bytes: right.Bytes, FirstSeq: 2, Records: 1},
		"records": {Segment: segment, Bytes: right.Bytes, FirstSeq: 1, Records: 2},
	} {
		dir := t.TempDir()
		seal, last, err := audit.Line(audit.Event{Seq: 2, Type: audit.SegmentSeal, Log: info}, hash, false)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, segment), append(bytes.Clone(first), seal...))
		write(t, filepath.Join(dir, "anchor.json"), fmt.Appendf(nil, `{"seq":2,"hash":"%s","segment":"%s"}`+"\n", last, segment))
		report := verify(t, dir)
		if report.OK != (want == "right") {
			t.Errorf("%s: problems %v", want, report.Problems)
		}
		if !report.OK && (report.Problems[0].Kind != audit.ProblemSegment || report.Problems[0].Line != 2) {
			t.Errorf("%s: first problem %v", want, report.Problems[0])
		}
	}
}

func TestVerifyAnchorGone(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "{}", "null", `{"seq":-1,"hash":"","segment":""}`, "x"} {
		dir := t.TempDir()
		fill(t, dir, audit.Config{}, 2)
		path := filepath.Join(dir, "anchor.json")
		if content == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, path, []byte(content))
		}
		if report := verify(t, dir); report.OK || report.Problems[0].Kind != audit.ProblemAnchor {
			t.Errorf("anchor %q: %v", content, report.Problems)
		}
		// After the gateway has opened the log, the log reports the loss for
		// good.
		fill(t, dir, audit.Config{}, 1)
		if report := verify(t, dir); report.OK || report.Problems[0].Kind != audit.ProblemLost || report.Problems[0].Seq != 3 {
			t.Errorf("anchor %q, then opened: %v", content, report.Problems)
		}
	}
}

func TestVerifyNothing(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := audit.Verify(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want that there is no log", dir, err)
		}
	}
	dir := t.TempDir()
	fill(t, dir, audit.Config{}, 0)
	if report := sound(t, dir); report.Events != 0 {
		t.Errorf("%d events in a new log", report.Events)
	}
}

var update = flag.Bool("update", false, "write testdata/log anew")

// TestVerifyKnownLog pins the format: a log written once verifies, and its
// hashes can be computed with only SHA-256 and the line.
func TestVerifyKnownLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "log")
	if *update {
		writeKnownLog(t, dir)
	}
	report := sound(t, dir)
	prev := bytes.Repeat([]byte{'0'}, 64)
	for _, path := range segmentFiles(t, dir) {
		for i, line := range splitLines(read(t, path)) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			hash := line[len(`{"chain":{"hash":"`):][:64]
			without := append([]byte(`{"chain":{`), line[len(`{"chain":{"hash":"",`)+64:]...)
			if got := fmt.Sprintf("%x", sha256.Sum256(without)); got != string(hash) {
				t.Errorf("%s line %d: hash %s, the content has %s", path, i+1, hash, got)
			}
			if !bytes.Contains(line, append([]byte(`"prev":"`), prev...)) {
				t.Errorf("%s line %d does not name %s", path, i+1, prev)
			}
			prev = hash
		}
	}
	if report.Events != 7 || len(report.Segments) != 2 || len(report.Notes) != 1 {
		t.Errorf("%d events, %d segments, %d notes; want 7, 2, 1", report.Events, len(report.Segments), len(report.Notes))
	}
}

// writeKnownLog writes a log with a seal and a repaired line.
func writeKnownLog(t *testing.T, dir string) {
	t.Helper()
	temp := t.TempDir()
	log := openLog(t, temp, audit.Config{RotateBytes: 4 << 10})
	for i := range 5 {
		if err := log.Append(analyst(t.Context()), decision(name(i))); err != nil {
			t.Fatal(err)
		}
	}
	closeLog(t, log)
	paths := segmentFiles(t, temp)
	path := paths[len(paths)-1]
	write(t, path, append(read(t, path), `{"chain":{"hash":`...))
	closeLog(t, openLog(t, temp, audit.Config{}))
	for _, name := range []string{"key", "lock"} {
		if err := os.Remove(filepath.Join(temp, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	copyDir(t, temp, dir)
}
