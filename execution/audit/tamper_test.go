package audit_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

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
