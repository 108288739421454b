package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// tamperings is the number of random attacks on a log. KTX_TEST_FULL raises the
// number, and KTX_AUDIT_TAMPERINGS sets it.
func tamperings(t *testing.T) int {
	t.Helper()
	text := os.Getenv("KTX_AUDIT_TAMPERINGS")
	switch {
	case text != "":
	case os.Getenv("KTX_TEST_FULL") != "":
		return 400
	default:
		return 150
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("KTX_AUDIT_TAMPERINGS: %v", err)
	}
	return n
}

// tampered is a log in memory under attack: the lines of each segment, the
// number in each segment's name, and the anchor, which is nil when there is
// none.
type tampered struct {
	segments [][][]byte
	numbers  []int
	anchor   []byte
	rng      *rand.Rand
	before   int64      // events that were archived
	hash     audit.Hash // hash of the last archived event
}

// pick returns a random segment and line.
func (l *tampered) pick() (segment, line int) {
	segment = l.rng.IntN(len(l.segments))
	return segment, l.rng.IntN(len(l.segments[segment]))
}

// finding is the first problem that Verify must report.
type finding struct {
	segment int // index; −1: not checked
	line    int // from 1; −1: not checked
	kinds   []audit.ProblemKind
}

// atEnd is the finding when only the end of the log or the anchor is wrong.
func atEnd(kind audit.ProblemKind) finding {
	return finding{segment: -1, line: -1, kinds: []audit.ProblemKind{kind}}
}

// editAnchor replaces the first occurrence of from in the anchor.
func (l *tampered) editAnchor(from, to string) {
	changed := bytes.Replace(l.anchor, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, l.anchor) {
		panic("nothing to change in " + string(l.anchor))
	}
	l.anchor = changed
}

// anchored returns the anchor's event.
func (l *tampered) anchored() (a audit.Anchor) {
	if err := json.Unmarshal(l.anchor, &a); err != nil {
		panic(err)
	}
	return a
}

// hashAt returns the hash that the line at (segment, line) carries.
func (l *tampered) hashAt(segment, line int) string {
	return string(l.segments[segment][line][len(`{"chain":{"hash":"`):][:64])
}

// place returns the position of the event seq in an untouched log, or the first
// line when the event was archived.
func (l *tampered) place(seq int64) (segment, line int) {
	if seq <= l.before {
		return 0, 0
	}
	seq -= l.before
	for s, lines := range l.segments {
		if seq <= int64(len(lines)) {
			return s, int(seq) - 1
		}
		seq -= int64(len(lines))
	}
	panic("no such event")
}

func anyKind(segment, line int) finding { return finding{segment: segment, line: line} }

// after returns the finding for events missing before the line at (segment,
// line), counted in the log after the attack.
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
		if at == len(line)-1 { // the newline: the line is joined with the next
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
		hash, err := plainHash(line)
		if err != nil {
			panic(err)
		}
		copy(line[len(`{"chain":{"hash":"`):], hash)
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
		if last { // the anchor names its number
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
	"move a block of lines": func(l *tampered) finding {
		s, i := l.pick()
		lines := l.segments[s]
		for len(lines)-i < 2 {
			s, i = l.pick()
			lines = l.segments[s]
		}
		n := 1 + l.rng.IntN(len(lines)-i-1)          // lines i…i+n−1
		to := i + n + 1 + l.rng.IntN(len(lines)-i-n) // move them after line to−1
		moved := slices.Clone(lines[:i])
		moved = append(append(append(moved, lines[i+n:to]...), lines[i:i+n]...), lines[to:]...)
		l.segments[s] = moved
		return anyKind(s, i+1)
	},
	"move lines into the next segment": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments) - 1)
		at := l.rng.IntN(len(l.segments[s]))
		seal := len(l.segments[s]) - at // the line that the seal moves to
		l.segments[s+1] = append(slices.Clone(l.segments[s][at:]), l.segments[s+1]...)
		l.segments[s] = l.segments[s][:at]
		return finding{s + 1, seal, []audit.ProblemKind{audit.ProblemSegment}}
	},
	"truncate a sealed segment": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments) - 1)
		i := l.rng.IntN(len(l.segments[s]))
		line := l.segments[s][i]
		l.segments[s] = append(l.segments[s][:i:i], line[:l.rng.IntN(len(line))])
		if len(l.segments[s][i]) == 0 {
			l.segments[s] = l.segments[s][:i]
			return l.after(s, i)
		}
		return anyKind(s, i+1)
	},
	"empty a segment": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments))
		l.segments[s] = [][]byte{}
		return l.after(s, 0)
	},
	"rename a segment": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments))
		l.numbers[s] += 1 + len(l.segments) + l.rng.IntN(5)
		switch {
		case s == len(l.segments)-1:
			return finding{s, 0, []audit.ProblemKind{audit.ProblemSegment}}
		default: // the next segment reports that it is missing
			return finding{s + 1, 0, []audit.ProblemKind{audit.ProblemSegment}}
		}
	},
	"rename all segments": func(l *tampered) finding {
		by := 1 + l.rng.IntN(3)
		for i := range l.numbers {
			l.numbers[i] += by
		}
		return finding{0, 0, []audit.ProblemKind{audit.ProblemSegment}}
	},
	"copy a segment to the end": func(l *tampered) finding {
		s := l.rng.IntN(len(l.segments))
		l.segments = append(l.segments, l.segments[s])
		l.numbers = append(l.numbers, l.numbers[len(l.numbers)-1]+1)
		return anyKind(len(l.segments)-1, 1)
	},
	"edit two lines": func(l *tampered) finding {
		s1, i1 := l.pick()
		s2, i2 := l.pick()
		for s1 == s2 && i1 == i2 {
			s2, i2 = l.pick()
		}
		for _, p := range [][2]int{{s1, i1}, {s2, i2}} {
			line := bytes.Clone(l.segments[p[0]][p[1]])
			line[l.rng.IntN(len(line)-1)] ^= 1
			l.segments[p[0]][p[1]] = line
		}
		if s2 < s1 || s1 == s2 && i2 < i1 {
			s1, i1 = s2, i2
		}
		return anyKind(s1, i1+1)
	},
	"remove the anchor": func(l *tampered) finding {
		l.anchor = nil
		return atEnd(audit.ProblemAnchor)
	},
	"cut the end and remove the anchor": func(l *tampered) finding {
		s := len(l.segments) - 1
		l.segments[s] = l.segments[s][:l.rng.IntN(len(l.segments[s]))]
		l.anchor = nil
		return atEnd(audit.ProblemAnchor)
	},
	"damage the anchor": func(l *tampered) finding {
		l.anchor = bytes.Clone(l.anchor)
		switch at := l.rng.IntN(len(l.anchor)); l.rng.IntN(4) {
		case 0:
			l.anchor = l.anchor[:at]
		case 1:
			l.anchor = append(l.anchor, l.anchor...)
		case 2:
			l.anchor = slices.Insert(l.anchor, at, ' ')
		default:
			l.anchor[at] ^= 1 << l.rng.IntN(8)
			return finding{segment: -1, line: -1} // any kind, depending on the byte that was hit
		}
		return atEnd(audit.ProblemAnchor)
	},
	"edit the hash of the anchor": func(l *tampered) finding {
		a := l.anchored()
		l.editAnchor(a.Hash.String(), fmt.Sprintf("%064x", l.rng.Uint64()))
		s, i := l.place(a.Seq)
		return finding{s, i + 1, []audit.ProblemKind{audit.ProblemReplaced}}
	},
	"edit the number of the anchor": func(l *tampered) finding {
		a := l.anchored()
		seq := l.rng.Int64N(2 * a.Seq)
		if seq == a.Seq {
			seq++
		}
		l.editAnchor(fmt.Sprintf(`"seq":%d`, a.Seq), fmt.Sprintf(`"seq":%d`, seq))
		switch {
		case seq == 0:
			return atEnd(audit.ProblemAnchor)
		case seq > a.Seq:
			return atEnd(audit.ProblemTruncated)
		}
		s, i := l.place(seq)
		return finding{s, i + 1, []audit.ProblemKind{audit.ProblemReplaced}}
	},
	"edit the segment of the anchor": func(l *tampered) finding {
		a := l.anchored()
		l.editAnchor(a.Segment, fmt.Sprintf("audit-%06d.jsonl", 50+l.rng.IntN(50)))
		return finding{segment: -1, line: -1, kinds: []audit.ProblemKind{audit.ProblemAnchor}}
	},
	"let the anchor name another event's hash": func(l *tampered) finding {
		a := l.anchored()
		s, i := l.pick()
		for l.hashAt(s, i) == a.Hash.String() {
			s, i = l.pick()
		}
		l.editAnchor(a.Hash.String(), l.hashAt(s, i))
		s, i = l.place(a.Seq)
		return finding{s, i + 1, []audit.ProblemKind{audit.ProblemReplaced}}
	},
	"swap segments": func(l *tampered) finding {
		perm := l.rng.Perm(len(l.segments))[:2]
		a, b := min(perm[0], perm[1]), max(perm[0], perm[1])
		l.segments[a], l.segments[b] = l.segments[b], l.segments[a]
		return anyKind(a, 1)
	},
}

// chain returns the hash and number that an event at (segment, line) must
// continue.
func (l *tampered) chain(segment, line int) (prev audit.Hash, seq int64) {
	prev, seq = l.hash, l.before+1
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

// TestVerifyFindsTampering attacks a whole log, and one whose first segments
// were archived.
func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	cfg := audit.Config{RotateBytes: 4 << 10}
	t.Run("whole", func(t *testing.T) {
		t.Parallel()
		base := t.TempDir()
		fill(t, base, cfg, 50)
		attack(t, base, 0, audit.Hash{})
	})
	t.Run("archived", func(t *testing.T) {
		t.Parallel()
		base := t.TempDir()
		fill(t, base, cfg, 50)
		moved, err := audit.Archive(t.Context(), base, cfg, t.TempDir(), time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		fill(t, base, cfg, 40)
		attack(t, base, moved.Last.Seq, moved.Last.Hash)
	})
}

// attack makes the tamperings, each on a fresh copy of the log in base.
func attack(t *testing.T, base string, before int64, hash audit.Hash) {
	t.Helper()
	sound(t, base)
	var original [][][]byte
	var numbers []int
	for _, path := range segmentFiles(t, base) {
		original = append(original, splitLines(read(t, path)))
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "audit-"), ".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	if len(original) < 3 {
		t.Fatalf("%d segments, the attacks want 3", len(original))
	}
	anchor := read(t, filepath.Join(base, "anchor.json"))
	names := slices.Sorted(maps.Keys(attacks))
	dir := quickDir(t)
	made, found, named := map[string]int{}, 0, 0
	total := tamperings(t)
	for n := range total {
		name := names[n%len(names)]
		made[name]++
		l := &tampered{
			anchor: anchor, rng: rand.New(rand.NewPCG(uint64(n), 1)), numbers: slices.Clone(numbers), before: before, hash: hash,
		}
		for _, lines := range original {
			l.segments = append(l.segments, append([][]byte(nil), lines...))
		}
		want := attacks[name](l)
		if before > 0 && !l.tells() {
			// The event that says that the beginning was archived is gone.
			want = finding{l.first(), 0, []audit.ProblemKind{audit.ProblemSegment}}
		}
		l.writeTo(t, dir)
		report := verify(t, dir)
		if report.OK || len(report.Problems) == 0 {
			t.Errorf("%s (%d): not found", name, n)
			continue
		}
		found++
		got := report.Problems[0]
		place := want.segment < 0 || got.Segment == fmt.Sprintf("audit-%06d.jsonl", l.numbers[want.segment]) &&
			(want.line < 0 || got.Line == want.line)
		kind := want.kinds == nil
		for _, k := range want.kinds {
			kind = kind || k == got.Kind
		}
		if !place || !kind {
			t.Errorf("%s (%d): first problem is %v, want segment %d line %d %v", name, n, got, want.segment+1, want.line, want.kinds)
			continue
		}
		named++
	}
	t.Logf("%d tamperings of %d kinds: %d found, %d with the first bad event named", total, len(made), found, named)
}

// tells reports whether the log.archived event is in the log, unchanged.
func (l *tampered) tells() bool {
	for _, lines := range l.segments {
		for _, line := range lines {
			if bytes.Contains(line, []byte(`"event":"log.archived"`)) && bytes.HasSuffix(line, []byte("}\n")) {
				if sum, err := plainHash(line); err == nil && bytes.HasPrefix(line, []byte(`{"chain":{"hash":"`+sum+`",`)) {
					return true
				}
			}
		}
	}
	return false
}

// plainHash computes the hash of a line without the package's code, over the
// line without its own hash.
func plainHash(line []byte) (string, error) {
	const open, member = len(`{"chain":{`), len(`"hash":"",`) + 64
	if len(line) < open+member {
		return "", errors.New("the line is too short")
	}
	plain := append(bytes.Clone(line[:open]), line[open+member:len(line)-1]...)
	return fmt.Sprintf("%x", sha256.Sum256(plain)), nil
}

// first returns the index of the segment with the lowest number.
func (l *tampered) first() int {
	lowest := -1
	for i, lines := range l.segments {
		if lines != nil && (lowest < 0 || l.numbers[i] < l.numbers[lowest]) {
			lowest = i
		}
	}
	return lowest
}

// writeTo replaces the content of dir with the log.
func (l *tampered) writeTo(t *testing.T, dir string) {
	t.Helper()
	for _, path := range append(segmentFiles(t, dir), filepath.Join(dir, "anchor.json")) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	for i, lines := range l.segments {
		if lines != nil {
			write(t, filepath.Join(dir, fmt.Sprintf("audit-%06d.jsonl", l.numbers[i])), bytes.Join(lines, nil))
		}
	}
	if l.anchor != nil {
		write(t, filepath.Join(dir, "anchor.json"), l.anchor)
	}
}
