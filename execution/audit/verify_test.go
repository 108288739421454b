package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// tamperings is how many random attacks TestVerifyFindsTampering makes; the
// variable KTX_AUDIT_TAMPERINGS sets another number.
func tamperings(t *testing.T) int {
	t.Helper()
	text := os.Getenv("KTX_AUDIT_TAMPERINGS")
	if text == "" {
		return 600
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("KTX_AUDIT_TAMPERINGS: %v", err)
	}
	return n
}

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

// tampered is a log in memory that is attacked: the lines of each segment.
type tampered struct {
	segments [][][]byte
	rng      *rand.Rand
}

// pick returns a random place.
func (l *tampered) pick() (segment, line int) {
	segment = l.rng.IntN(len(l.segments))
	return segment, l.rng.IntN(len(l.segments[segment]))
}

// finding is what Verify must say first.
type finding struct {
	segment int // index; −1: not looked at
	line    int // from 1; −1: not looked at
	kinds   []audit.ProblemKind
}

func anyKind(segment, line int) finding { return finding{segment: segment, line: line} }

// after returns the finding for what is missing before the line at (segment,
// line), where the lines are those after the attack.
func (l *tampered) after(segment, line int) finding {
	for segment < len(l.segments) && line >= len(l.segments[segment]) {
		segment, line = segment+1, 0
	}
	if segment == len(l.segments) {
		return finding{segment: -1, line: -1, kinds: []audit.ProblemKind{audit.ProblemTruncated}}
	}
	return anyKind(segment, line+1)
}

// attacks change the log and say what Verify must find first.
var attacks = map[string]func(l *tampered) finding{
	"flip a bit": func(l *tampered) finding {
		s, i := l.pick()
		line := bytes.Clone(l.segments[s][i])
		at := l.rng.IntN(len(line))
		line[at] ^= 1 << l.rng.IntN(8)
		l.segments[s][i] = line
		if at == len(line)-1 { // the newline: the line runs into the next
			if s == len(l.segments)-1 && i == len(l.segments[s])-1 {
				return finding{segment: -1, line: -1, kinds: []audit.ProblemKind{audit.ProblemTruncated}}
			}
		}
		return anyKind(s, i+1)
	},
	"replace bytes": func(l *tampered) finding {
		s, i := l.pick()
		line := bytes.Clone(l.segments[s][i])
		from := l.rng.IntN(len(line) - 1)
		to := from + 1 + l.rng.IntN(len(line)-from-1)
		insert := []byte(fmt.Sprintf("%x", l.rng.Uint64()))[:l.rng.IntN(4)]
		if bytes.Equal(line[from:to], insert) {
			insert = append(insert, '0')
		}
		l.segments[s][i] = append(append(line[:from:from], insert...), line[to:]...)
		return anyKind(s, i+1)
	},
	"add white space": func(l *tampered) finding {
		s, i := l.pick()
		line := l.segments[s][i]
		comma := bytes.LastIndexByte(line, ',')
		l.segments[s][i] = append(append(bytes.Clone(line[:comma+1]), ' '), line[comma+1:]...)
		return anyKind(s, i+1)
	},
	"add white space and hash anew": func(l *tampered) finding {
		s, i := l.pick()
		line := bytes.Clone(l.segments[s][i])
		comma := bytes.LastIndexByte(line, ',')
		line = slices.Insert(line, comma+1, ' ')
		const open, member = len(`{"chain":{`), len(`"hash":"",`) + 64
		plain := append(bytes.Clone(line[:open]), line[open+member:len(line)-1]...)
		copy(line[open+len(`"hash":"`):], fmt.Sprintf("%x", sha256.Sum256(plain)))
		l.segments[s][i] = line
		return anyKind(s, i+1)
	},
	"cut the newline of a seal": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments) - 1)
		last := len(l.segments[s]) - 1
		line := l.segments[s][last]
		l.segments[s][last] = line[:len(line)-1]
		return anyKind(s, last+1)
	},
	"delete lines": func(l *tampered) finding {
		s, i := l.pick()
		n := 1 + l.rng.IntN(len(l.segments[s])-i)
		l.segments[s] = append(l.segments[s][:i:i], l.segments[s][i+n:]...)
		return l.after(s, i)
	},
	"swap lines": func(l *tampered) finding {
		s1, i1 := l.pick()
		s2, i2 := l.pick()
		for s1 == s2 && i1 == i2 {
			s2, i2 = l.pick()
		}
		if s2 < s1 || s1 == s2 && i2 < i1 {
			s1, i1, s2, i2 = s2, i2, s1, i1
		}
		l.segments[s1][i1], l.segments[s2][i2] = l.segments[s2][i2], l.segments[s1][i1]
		return anyKind(s1, i1+1)
	},
	"repeat a line": func(l *tampered) finding {
		s1, i1 := l.pick()
		s2, i2 := l.pick()
		line := l.segments[s1][i1]
		same := bytes.Equal(line, l.segments[s2][i2])
		l.segments[s2] = append(l.segments[s2][:i2:i2], append([][]byte{line}, l.segments[s2][i2:]...)...)
		if same {
			return anyKind(s2, i2+2)
		}
		return anyKind(s2, i2+1)
	},
	"insert a forged line without a chain": func(l *tampered) finding {
		s, i := l.pick()
		line, _, _ := audit.Line(audit.Event{Seq: int64(i), Type: audit.QueryFinished}, audit.Hash{1}, false)
		l.segments[s] = append(l.segments[s][:i:i], append([][]byte{line}, l.segments[s][i:]...)...)
		return anyKind(s, i+1)
	},
	"insert a forged line that fits": func(l *tampered) finding {
		s, i := l.pick()
		prev, seq := l.chain(s, i)
		line, _, _ := audit.Line(audit.Event{Seq: seq, Type: audit.QueryFinished}, prev, false)
		last := s == len(l.segments)-1 && i == len(l.segments[s])-1
		l.segments[s] = append(l.segments[s][:i:i], append([][]byte{line}, l.segments[s][i:]...)...)
		if last { // its number is the anchor's
			return anyKind(s, i+1)
		}
		return anyKind(s, i+2)
	},
	"append a forged line without a chain": func(l *tampered) finding {
		s := len(l.segments) - 1
		line, _, _ := audit.Line(audit.Event{Seq: 9999, Type: audit.QueryFinished}, audit.Hash{}, false)
		l.segments[s] = append(l.segments[s], line)
		return anyKind(s, len(l.segments[s]))
	},
	"append after a seal": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments) - 1)
		prev, seq := l.chain(s+1, 0)
		line, _, _ := audit.Line(audit.Event{Seq: seq, Type: audit.QueryFinished}, prev, false)
		l.segments[s] = append(l.segments[s], line)
		return anyKind(s, len(l.segments[s]))
	},
	"replace a line by a forged one that fits": func(l *tampered) finding {
		s, i := l.pick()
		prev, seq := l.chain(s, i)
		line, _, _ := audit.Line(audit.Event{Seq: seq, Type: audit.QueryFinished, Reason: "forged"}, prev, false)
		l.segments[s][i] = line
		if s == len(l.segments)-1 && i == len(l.segments[s])-1 {
			return finding{s, i + 1, []audit.ProblemKind{audit.ProblemReplaced}}
		}
		return l.after(s, i+1)
	},
	"replace everything from a line on": func(l *tampered) finding {
		s, i := l.pick()
		prev, seq := l.chain(s, i)
		for ; s < len(l.segments); s, i = s+1, 0 {
			for ; i < len(l.segments[s]); i++ {
				l.segments[s][i], prev, _ = audit.Line(audit.Event{Seq: seq, Type: audit.QueryFinished}, prev, false)
				seq++
			}
		}
		last := len(l.segments) - 1
		return finding{last, len(l.segments[last]), []audit.ProblemKind{audit.ProblemReplaced}}
	},
	"cut the end": func(l *tampered) finding {
		s, i := l.pick()
		l.segments = l.segments[:s+1]
		l.segments[s] = l.segments[s][:i:i]
		if l.rng.IntN(2) == 0 && i > 0 { // in the middle of a line
			line := l.segments[s][i-1]
			l.segments[s][i-1] = line[:1+l.rng.IntN(len(line)-1)]
		}
		return finding{segment: -1, line: -1, kinds: []audit.ProblemKind{audit.ProblemTruncated}}
	},
	"delete a segment": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments))
		l.segments[s] = nil
		if s == len(l.segments)-1 {
			return finding{segment: -1, line: -1, kinds: []audit.ProblemKind{audit.ProblemTruncated}}
		}
		return finding{s + 1, 0, []audit.ProblemKind{audit.ProblemSegment}}
	},
	"swap segments": func(l *tampered) finding {
		perm := l.rng.Perm(len(l.segments))[:2]
		a, b := min(perm[0], perm[1]), max(perm[0], perm[1])
		l.segments[a], l.segments[b] = l.segments[b], l.segments[a]
		return anyKind(a, 1)
	},
}

// chain returns what an event at (segment, line) would have to continue.
func (l *tampered) chain(segment, line int) (prev audit.Hash, seq int64) {
	seq = 1
	for s := range segment + 1 {
		for i, text := range l.segments[s] {
			if s == segment && i == line {
				return prev, seq
			}
			_ = prev.UnmarshalText(text[len(`{"chain":{"hash":"`):][:64])
			seq++
		}
	}
	return prev, seq
}

func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	fill(t, base, audit.Config{RotateBytes: 4 << 10}, 50)
	var original [][][]byte
	for _, path := range segmentFiles(t, base) {
		original = append(original, splitLines(read(t, path)))
	}
	anchor := read(t, filepath.Join(base, "anchor.json"))
	names := slices.Sorted(maps.Keys(attacks))
	dir := t.TempDir()
	write(t, filepath.Join(dir, "anchor.json"), anchor)
	for n := range tamperings(t) {
		name := names[n%len(names)]
		seed := uint64(n)
		l := &tampered{rng: rand.New(rand.NewPCG(seed, 1))}
		for _, lines := range original {
			l.segments = append(l.segments, append([][]byte(nil), lines...))
		}
		want := attacks[name](l)
		for i := range original {
			path := filepath.Join(dir, fmt.Sprintf("audit-%06d.jsonl", i+1))
			if i >= len(l.segments) || l.segments[i] == nil {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				continue
			}
			write(t, path, bytes.Join(l.segments[i], nil))
		}
		report := verify(t, dir)
		if report.OK || len(report.Problems) == 0 {
			t.Errorf("%s (%d): not found", name, n)
			continue
		}
		got := report.Problems[0]
		place := want.segment < 0 || got.Segment == fmt.Sprintf("audit-%06d.jsonl", want.segment+1) &&
			(want.line < 0 || got.Line == want.line)
		kind := want.kinds == nil
		for _, k := range want.kinds {
			kind = kind || k == got.Kind
		}
		if !place || !kind {
			t.Errorf("%s (%d): first problem is %v, want segment %d line %d %v", name, n, got, want.segment+1, want.line, want.kinds)
		}
	}
}

// TestVerifyWhileWritten: a log that grows and rotates while it is verified
// has no problem.
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

// TestVerifyForgedTail says how far an unkeyed chain reaches: an event forged
// with the right chain after the last anchor is counted as not anchored.
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

// TestVerifyKeptAnchor: whoever replaces log and anchor is caught by a copy of
// an older anchor.
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

// TestVerifyWrongSeal: a chain that is right says of a segment what is wrong.
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
		write(t, filepath.Join(dir, "anchor.json"), fmt.Appendf(nil, `{"seq":2,"hash":"%s","segment":"%s"}`, last, segment))
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
		// A gateway that goes on with the log says so for good.
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
// hashes can be computed with nothing but SHA-256 and the line.
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
