package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
)

// Checkpoint is the state of a check between two events: how far the log was
// read, what the next event must continue, and what was found up to there. It
// can be kept as JSON. The zero value is the beginning of the log.
type Checkpoint struct {
	// Segment is the number of the segment that is being read, Line the number of
	// its lines read, Offset where the next one begins, and Event where the last
	// event begins.
	Segment int
	Line    int
	Offset  int64
	Event   int64
	// Last is the SHA-256 of the line of the last event.
	Last Hash
	// Next is the number that the next event must have. Prev is the hash that it
	// must name, when Linked is set.
	Next   int64
	Prev   Hash
	Linked bool
	// Current describes the segment so far, Report everything before it.
	Current SegmentReport
	Report  Report
	Gone    *beginning
	Seals   map[int64]Hash
	// Anchor is the last of the log's own anchors that was found in the log.
	Anchor Anchor
	// Modified has the time at which each file before Segment was last written, in
	// nanoseconds. A segment that another one follows is never written again.
	Modified map[string]int64
}

// ErrReplaced says that a log does not continue a checkpoint: it was archived,
// replaced, or changed in a part that had been read.
var ErrReplaced = errors.New("the log is not the one that was read before")

// CheckedFrom is [Checked] for the part of the log after cp. When the iteration
// is over, whether it ended by itself or was ended, cp is the state after the
// last event that was yielded. Lines at the end that are not events are yielded
// again the next time, because a writer may cut them off. report covers the
// whole log, and says how it ends only when the iteration ended by itself.
//
// The error wraps [ErrReplaced] when the log does not continue cp. What was read
// before is compared by the hash of its last event, and by the sizes and times of
// the finished segments. It is not read again.
func CheckedFrom(ctx context.Context, dir string, cp *Checkpoint, report *Report) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			yield(Record{}, fmt.Errorf("read audit log: %w", err))
			return
		}
		v := newVerifier(root, yield, nil)
		if cp.Segment != 0 {
			v = newVerifier(root, yield, cp)
		}
		v.keeps = true
		err = errors.Join(v.run(ctx, nil), root.Close())
		if v.after != nil {
			*cp, *report = *v.after, v.report
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Record{}, fmt.Errorf("read audit log in %s: %w", dir, err))
		}
	}
}

// resume continues at cp.
func (v *verifier) resume(cp Checkpoint) {
	v.from = &cp
	v.next, v.prev, v.linked = cp.Next, cp.Prev, cp.Linked
	v.current, v.report = cp.Current, cp.Report.clone()
	v.lastHash = cp.Last
	v.seals, v.modified, v.found = maps.Clone(cp.Seals), maps.Clone(cp.Modified), cp.Anchor
	if cp.Gone != nil {
		gone := *cp.Gone
		v.gone = &gone
	}
	v.at = place{number: cp.Segment, spot: spot{cp.Line, cp.Offset}, event: spot{cp.Line, cp.Event}}
}

// clone returns a copy that later findings do not change.
func (r *Report) clone() Report {
	c := *r
	c.Segments, c.Problems, c.Notes = slices.Clone(r.Segments), slices.Clone(r.Problems), slices.Clone(r.Notes)
	return c
}

// doubt keeps the state before lines that are not events, from which a later check
// continues unless an event follows them.
func (v *verifier) doubt() {
	if v.keeps && v.doubtful == nil {
		v.doubtful = v.state()
	}
}

// state returns the state of the check.
func (v *verifier) state() *Checkpoint {
	if v.doubtful != nil {
		return v.doubtful
	}
	cp := &Checkpoint{
		Segment: v.at.number, Line: v.at.line, Offset: v.at.offset, Event: v.at.event.offset,
		Next: v.next, Prev: v.prev, Linked: v.linked, Current: v.current, Report: v.report.clone(),
		Seals: maps.Clone(v.seals), Modified: maps.Clone(v.modified), Anchor: v.found,
	}
	cp.Report.Torn = nil
	if cp.Last = v.lastHash; len(v.last) > 0 {
		cp.Last = sha256.Sum256(v.last)
	}
	if v.gone != nil {
		gone := *v.gone
		cp.Gone = &gone
	}
	return cp
}

// finished keeps the time of a file that is never written again.
func (v *verifier) finished(name string) error {
	if !v.keeps {
		return nil
	}
	info, err := v.root.Lstat(name)
	if err != nil {
		return err
	}
	if v.modified == nil {
		v.modified = map[string]int64{}
	}
	v.modified[name] = info.ModTime().UnixNano()
	return nil
}

// continues checks that the log is the one of the checkpoint, and returns the
// segments from there on.
func (v *verifier) continues(numbers []int) ([]int, error) {
	cp, first := v.from, 1
	if cp.Gone != nil {
		first = cp.Gone.Segment
	}
	at := slices.Index(numbers, cp.Segment)
	if at < 0 || numbers[0] != first || at != len(cp.Report.Segments) {
		return nil, fmt.Errorf("%w: it has other segments", ErrReplaced)
	}
	for _, seg := range cp.Report.Segments {
		info, err := v.root.Lstat(seg.Name)
		if err != nil || info.Size() < seg.Bytes || info.ModTime().UnixNano() != cp.Modified[seg.Name] {
			return nil, fmt.Errorf("%w: %s was written again", ErrReplaced, seg.Name)
		}
	}
	if cp.Offset == 0 {
		return numbers[at:], nil
	}
	f, err := openRegular(v.root, segmentName(cp.Segment))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	line, whole, err := linesFrom(io.NewSectionReader(f, cp.Event, cp.Offset-cp.Event), cp.Line-1, cp.Event).next()
	if err != nil || !whole {
		return nil, fmt.Errorf("%w: the event that was read last is gone", ErrReplaced)
	}
	if Hash(sha256.Sum256(line)) != cp.Last {
		return nil, fmt.Errorf("%w: another event stands where the last one was", ErrReplaced)
	}
	return numbers[at:], nil
}

// passed compares the anchors that name events before the checkpoint. They are
// looked for backwards from there, because an anchor follows the log closely.
func (v *verifier) passed() error {
	for len(v.anchors) > 0 && v.anchors[0].Seq < v.next {
		a := v.anchors[0]
		if a == v.found {
			v.anchors = v.anchors[1:]
			continue
		}
		h, err := v.lookBack(a)
		if err != nil {
			return err
		}
		h.seq = max(h.seq, a.Seq)
		v.anchored(a.Segment, 0, h)
	}
	return nil
}

// lookBack returns the head of the event with the anchor's number, or the zero head.
func (v *verifier) lookBack(a Anchor) (head, error) {
	number, ok := segmentNumber(a.Segment)
	if !ok || number > v.from.Segment {
		return head{}, nil
	}
	f, err := openRegular(v.root, a.Segment)
	if err != nil {
		return head{}, nil // an anchor that names a file which is not there names no event
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return head{}, err
	}
	low := info.Size()
	if number == v.from.Segment {
		low = v.from.Offset
	}
	b := backLines{r: f, low: low}
	for {
		line, _, _, err := b.next()
		switch {
		case errors.Is(err, errLong):
			continue
		case errors.Is(err, io.EOF):
			return head{}, nil
		case err != nil:
			return head{}, err
		}
		if h, err := readHead(line); err == nil && h.seq <= a.Seq {
			if h.seq < a.Seq {
				return head{}, nil
			}
			return h, nil
		}
	}
}
