package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// image is the content of a log directory at one time: name → content.
type image map[string][]byte

func snapshot(t *testing.T, dir string) image {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	im := image{}
	for _, e := range entries {
		if e.Name() != audit.LockName {
			im[e.Name()] = read(t, filepath.Join(dir, e.Name()))
		}
	}
	return im
}

func (im image) with(name string, content []byte) image {
	out := maps.Clone(im)
	out[name] = content
	return out
}

// restore makes dir hold the image and nothing else.
func (im image) restore(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range im {
		write(t, filepath.Join(dir, name), content)
	}
}

// rank is the order in which a writer changes files.
func rank(before image, name string) string {
	_, anchored := before["anchor.json"]
	switch {
	case name == audit.KeyName:
		return "0"
	case name == "anchor.json" && !anchored:
		return "1"
	case strings.Contains(name, ".torn-"):
		return "2"
	case name == "anchor.json":
		return "4"
	default:
		return "3" + name
	}
}

// between lists the contents that the directory can have when the process dies
// between before and after. A file that is appended to can end at every byte. A
// file that is replaced can have a temporary file beside it that ends at every
// byte.
func between(before, after image) []image {
	var changed []string
	for name := range after {
		if old, ok := before[name]; !ok || !bytes.Equal(old, after[name]) {
			changed = append(changed, name)
		}
	}
	slices.SortFunc(changed, func(a, b string) int { return strings.Compare(rank(before, a), rank(before, b)) })
	images := []image{before}
	now := before
	for _, name := range changed {
		old, is := now[name], after[name]
		switch _, there := now[name]; {
		case name == audit.KeyName, name == "anchor.json":
			for n := range len(is) + 1 {
				images = append(images, now.with(name+".tmp", is[:n]))
			}
		case there && !bytes.HasPrefix(is, old): // the writer cuts off a torn end, then appends
			kept := old[:bytes.LastIndexByte(old, '\n')+1]
			for n := range len(is) - len(kept) {
				images = append(images, now.with(name, is[:len(kept)+n]))
			}
		default:
			for n := range len(is) - len(old) {
				images = append(images, now.with(name, is[:len(old)+n]))
			}
		}
		now = now.with(name, is)
		images = append(images, now)
	}
	return images
}

// torn returns the bytes of the last segment after its last whole line.
func (im image) torn() (rest []byte) {
	for _, name := range slices.Sorted(maps.Keys(im)) {
		if strings.HasPrefix(name, "audit-") && strings.HasSuffix(name, ".jsonl") {
			rest = im[name][bytes.LastIndexByte(im[name], '\n')+1:]
		}
	}
	return rest
}

// survives opens a log that a crash left, and appends. It checks that no whole
// event was lost, that the cut bytes were kept and recorded, and that the chain
// is whole.
func (im image) survives(t *testing.T, dir string, cfg audit.Config) error {
	t.Helper()
	im.restore(t, dir)
	log, err := audit.Open(dir, cfg, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(log.Append(t.Context(), small("after the crash")), log.Close()); err != nil {
		return err
	}
	report, err := audit.Verify(t.Context(), dir)
	if err != nil {
		return err
	}
	if !report.OK || report.Torn != nil || report.Unanchored != 0 {
		return fmt.Errorf("problems %v, torn %v, %d not anchored", report.Problems, report.Torn, report.Unanchored)
	}
	now := snapshot(t, dir)
	if _, left := now["anchor.json.tmp"]; left {
		return errors.New("a temporary anchor is left")
	}
	for name, was := range im {
		if whole := was[:bytes.LastIndexByte(was, '\n')+1]; strings.HasSuffix(name, ".jsonl") && !bytes.HasPrefix(now[name], whole) {
			return fmt.Errorf("whole events of %s are gone", name)
		}
	}
	rest := im.torn()
	if len(rest) == 0 {
		return nil
	}
	for name, content := range now {
		if strings.Contains(name, ".torn-") && bytes.Equal(content, rest) {
			for _, note := range report.Notes {
				if note.Event.Log.Reason == audit.ReasonTorn && note.Event.Log.Saved == name {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("no event records the %d bytes that were cut", len(rest))
}

// everyType is an event of each type that callers append.
func everyType() []audit.Event {
	var out []audit.Event
	for _, kind := range audit.Types() {
		if audit.Own(kind) {
			continue
		}
		e := audit.Event{QueryID: "torn é", Reason: "why"}
		if kind == audit.QueryDecision {
			e = decision("q")
		}
		e.Type = kind
		out = append(out, e)
	}
	return out
}

// TestCrashAtEveryByteOfEverything writes a log with every type of event, a
// rotation, a repair, a segment that cannot be flushed, a gap and anchors. It
// lets the process die at bytes of every write: in events, seals, the key, the
// anchor, and in the files that a repair keeps. With KTX_TEST_FULL it tries
// every byte, otherwise every fifth.
func TestCrashAtEveryByteOfEverything(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "log")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := audit.Config{Sync: audit.SyncAlways, RotateBytes: 4 << 10}
	failing := false
	flush := func(*os.File) error {
		if failing {
			return errors.New("input/output error")
		}
		return nil
	}
	states := []image{snapshot(t, dir)}
	step := func() { states = append(states, snapshot(t, dir)) }
	open := func() *audit.Writer {
		log, err := audit.OpenWith(dir, cfg, nil, flush, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		step()
		return log
	}
	log := open()
	for _, e := range everyType() {
		appendAll(t, log, e)
		step()
	}
	for len(segmentFiles(t, dir)) < 2 {
		appendAll(t, log, small("fill"))
		step()
	}
	failing = true // written and then not flushed: the writer leaves the segment and records a gap
	if err := log.Append(t.Context(), small("not flushed")); !errors.Is(err, audit.ErrUnavailable) {
		t.Fatalf("append that is not flushed: %v", err)
	}
	failing = false
	step()
	appendAll(t, log, small("after the gap"))
	step()
	closeLog(t, log)
	step()
	paths := segmentFiles(t, dir)
	write(t, paths[len(paths)-1], append(read(t, paths[len(paths)-1]), `{"chain":{"hash":"12`...))
	step()
	closeLog(t, open())
	step()
	sound(t, dir)

	seen := map[audit.Type]bool{}
	for _, rec := range records(t, dir) {
		seen[rec.Event.Type] = true
	}
	for _, kind := range audit.Types() {
		// TestArchiveCutShort and TestCrashedRun test these two.
		if !seen[kind] && kind != audit.LogArchived && kind != audit.GatewayCrashed {
			t.Errorf("no %s was written", kind)
		}
	}
	stride := 5
	switch {
	case testing.Short():
		stride = 23
	case os.Getenv("KTX_TEST_FULL") != "":
		stride = 1
	}
	crash, images := filepath.Join(quickDir(t), "crash"), 0
	cfg.Sync = audit.SyncOff // the files are in memory, so no flush is needed
	for i := range states[1:] {
		crashes := between(states[i], states[i+1])
		last := len(crashes) - 1
		for n, im := range crashes {
			if n%stride != 0 && n != last {
				continue
			}
			images++
			if err := im.survives(t, crash, cfg); err != nil {
				t.Fatalf("step %d, crash %d: %v", i+1, n, err)
			}
		}
	}
	t.Logf("%d crashes in %d steps", images, len(states)-1)
}
