package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/gowebpki/jcs"
)

// Verify walks the log in dir and reports every fault that it finds, the first
// bad event first: events edited, deleted, inserted or moved, and an end cut
// off before the event of an anchor. It checks the log's own anchor and the
// given anchors, which are copies of anchor.json kept elsewhere. It only reads.
// It returns an error when the log cannot be read, and a report when the log is
// damaged.
func Verify(ctx context.Context, dir string, anchors ...Anchor) (Report, error) {
	return verify(ctx, dir, nil, anchors)
}

// Checked reads the log in dir as [Reader.All] does and checks it as [Verify]
// does, in one pass. report is complete when the iteration has ended by itself.
// When the caller ended the iteration, report describes the part that was read.
// A yielded event may still turn out to be misplaced, so a caller that must not
// pass on a damaged log checks report first.
func Checked(ctx context.Context, dir string, report *Report, anchors ...Anchor) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r, err := verify(ctx, dir, yield, anchors)
		*report = r
		if err != nil && !errors.Is(err, errStopped) {
			yield(Record{}, err)
		}
	}
}

// errStopped: the caller wants no more events.
var errStopped = errors.New("the reading was ended")

func verify(ctx context.Context, dir string, visit func(Record, error) bool, anchors []Anchor) (Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", err)
	}
	v := newVerifier(root, visit, nil)
	err = errors.Join(v.run(ctx, anchors), root.Close())
	if err != nil {
		return v.report, fmt.Errorf("verify audit log in %s: %w", dir, err)
	}
	return v.report, nil
}

func newVerifier(root *os.Root, visit func(Record, error) bool, from *Checkpoint) *verifier {
	v := &verifier{root: root, visit: visit, next: 1, linked: true}
	if from != nil {
		v.resume(*from)
	}
	return v
}

// verifier holds the state that the next line must continue.
type verifier struct {
	root    *os.Root
	visit   func(Record, error) bool // gets every event; may be nil
	report  Report
	anchors []Anchor // anchors not yet passed, by sequence number

	next   int64 // sequence number of the next event
	prev   Hash  // hash that the next event must name
	linked bool  // false when prev is not known

	event   Event // the current line, when decoded is set
	decoded bool
	buf     []byte

	current SegmentReport // of the segment that is being read
	at      place         // after the last line
	after   *Checkpoint   // after the last event, when the check is over

	from     *Checkpoint // nil for the beginning of the log
	keeps    bool        // checkpoints are wanted
	doubtful *Checkpoint // before the lines at the end that are not events
	last     []byte      // the last line that is an event
	lastHash Hash        // of that line, before the first one is read
	found    Anchor      // the last anchor found in the log
	modified map[string]int64

	gone  *beginning     // nil when the log begins with its first segment
	seals map[int64]Hash // hashes of the seals in the log, when gone is not nil
}

// beginning is the beginning of a log whose first segments are not there. Such
// a log is valid when one of its events says that they were archived.
type beginning struct {
	Segment int // number of the first segment in the log
	Read    bool
	Name    string // segment of the first undamaged line
	Line    int
	Damaged int      // damaged lines before it
	Before  int64    // number of the last event before the log begins
	Hash    Hash     // hash of that event, known when Damaged is 0
	Told    *LogInfo // the last log.archived event
	Said    bool     // Told names exactly the missing segments
}

func (v *verifier) run(ctx context.Context, anchors []Anchor) error {
	// Read the anchor before the segments, so that a writer does not move it
	// past the events that are read.
	v.anchors = slices.Clone(anchors)
	own, anchorErr := readOwnAnchor(v.root)
	if anchorErr == nil {
		v.anchors = append(v.anchors, own)
	}
	slices.SortFunc(v.anchors, func(a, b Anchor) int { return cmp.Compare(a.Seq, b.Seq) })
	v.anchors = slices.DeleteFunc(v.anchors, func(a Anchor) bool { return a.Seq == 0 })

	numbers, err := segments(v.root)
	if err != nil {
		return err
	}
	if len(numbers) == 0 && errors.Is(anchorErr, fs.ErrNotExist) {
		return fmt.Errorf("neither segments nor %s: %w", anchorName, fs.ErrNotExist)
	}
	expected := 1
	switch {
	case v.from != nil:
		if numbers, err = v.continues(numbers); err != nil {
			return err
		}
		if err := v.passed(); err != nil {
			return err
		}
		expected = v.from.Segment
	default:
		v.report.Segments, v.report.Problems, v.report.Notes = []SegmentReport{}, []Problem{}, []Note{}
		if len(numbers) > 0 && numbers[0] > 1 {
			v.gone, v.seals = &beginning{Segment: numbers[0]}, map[int64]Hash{}
			expected = numbers[0]
		}
	}
	stopped := false
	for i, number := range numbers {
		if number != expected {
			v.report.add(Problem{
				Kind: ProblemSegment, Segment: segmentName(number), Seq: v.next,
				Detail: fmt.Sprintf("the segment before it, %s, is missing", segmentName(number-1)),
			})
		}
		expected = number + 1
		if err := v.segment(ctx, number, i == len(numbers)-1); err != nil && !errors.Is(err, errStopped) {
			return err
		} else if stopped = err != nil; stopped {
			break
		}
	}
	v.after = v.state()
	v.end()
	if stopped {
		return errStopped
	}
	v.concludes(own, anchorErr)
	return nil
}

// concludes adds what only the end of the log shows.
func (v *verifier) concludes(own Anchor, anchorErr error) {
	if anchorErr == nil {
		v.report.Anchor = &own
	}
	for _, a := range v.anchors {
		v.report.add(Problem{
			Kind: ProblemTruncated, Segment: a.Segment, Seq: v.next,
			Detail: fmt.Sprintf("the log ends before event %d, which the anchor names", a.Seq),
		})
	}
	switch {
	case errors.Is(anchorErr, fs.ErrNotExist):
		if v.report.Events > 0 {
			v.report.add(Problem{Kind: ProblemAnchor, Detail: anchorName + " is missing"})
		}
	case anchorErr != nil:
		v.report.add(Problem{Kind: ProblemAnchor, Detail: anchorErr.Error()})
	default:
		v.report.Unanchored = max(0, v.report.LastSeq-own.Seq)
	}
	if v.gone != nil && !v.gone.Said {
		v.unsaid()
	}
	v.report.OK = len(v.report.Problems) == 0
}

// end closes the report of the segment that was read last.
func (v *verifier) end() {
	if v.current.Name == "" {
		return
	}
	v.report.Events += v.current.Events
	v.report.Segments = append(v.report.Segments, v.current)
	v.current = SegmentReport{}
}

// unsaid reports that segments are missing at the beginning. This problem comes
// before all others.
func (v *verifier) unsaid() {
	g := v.gone
	p := Problem{
		Kind: ProblemSegment, Segment: segmentName(g.Segment), Seq: 1,
		Detail: fmt.Sprintf("the segment before it, %s, is missing, and no event says that it was archived", segmentName(g.Segment-1)),
	}
	if g.Read && g.Told != nil && g.Told.Segment == segmentName(g.Segment-1) {
		p = Problem{
			Kind: ProblemMisplaced, Segment: g.Name, Line: g.Line, Seq: g.Told.KnownSeq + 1,
			Detail: fmt.Sprintf("event %d, which was archived last, is not the one before it", g.Told.KnownSeq),
		}
	}
	v.report.Problems = slices.Insert(v.report.Problems, 0, p)
}

// begins takes the first undamaged line as the beginning of the log.
func (v *verifier) begins(segment string, line int, h head) {
	g := v.gone
	g.Name, g.Line = segment, line
	g.Read, g.Before, g.Hash = true, h.seq-1-int64(g.Damaged), h.prev
	v.next, v.linked = h.seq, false
	v.report.Before = max(0, g.Before)
	for i := range v.report.Problems { // the problems of the lines before, which were counted from 1
		v.report.Problems[i].Seq += g.Before
	}
}

// segment checks one file, or the part of it that comes after the checkpoint.
func (v *verifier) segment(ctx context.Context, number int, last bool) error {
	name, from := segmentName(number), spot{}
	if v.current.Name == name {
		from = spot{line: v.from.Line, offset: v.from.Offset}
	} else {
		if v.current.Name != "" {
			if err := v.finished(v.current.Name); err != nil {
				return err
			}
		}
		v.end()
		v.current = SegmentReport{Name: name}
	}
	if v.at.number != number {
		v.at = place{number: number}
	}
	f, err := openRegular(v.root, name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	seg := &v.current
	lines := linesFrom(io.NewSectionReader(f, from.offset, math.MaxInt64-from.offset), from.line, from.offset)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, whole, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errLong) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if !whole && last {
			v.report.Torn = &Torn{Segment: name, Offset: lines.start, Bytes: lines.end - lines.start}
			break
		}
		if err == nil && !whole {
			err = errUnfinished
		}
		h, headErr := v.head(line, err)
		if !v.decoded {
			v.doubt()
		}
		seg.Bytes = lines.end
		if seg.Sealed {
			v.problem(ProblemSegment, name, lines.number, v.next, "the line follows the seal of the segment")
		}
		v.line(line, lines, h, headErr)
		v.at.spot = spot{line: lines.number, offset: lines.end}
		if v.decoded {
			v.at.event, v.doubtful = spot{line: lines.number, offset: lines.start}, nil
			v.last = append(v.last[:0], line...)
		}
		if v.visit != nil && whole && !v.show(name, line, lines, err) {
			return errStopped
		}
	}
	return nil
}

// show passes a line to the caller and returns whether the caller wants more.
func (v *verifier) show(name string, line []byte, at *lines, err error) bool {
	rec := Record{Segment: name, Line: at.number, Offset: at.start}
	if err == nil {
		rec.Raw = slices.Clone(line)
		if v.decoded {
			rec.Event = v.event
		} else {
			err = json.Unmarshal(line, &rec.Event)
		}
	}
	if err != nil {
		return v.visit(Record{}, &LineError{Segment: name, Line: at.number, Err: err})
	}
	return v.visit(rec, nil)
}

// head decodes a line and checks its hash, as [readHead] does. It decodes the
// line only once.
func (v *verifier) head(line []byte, readErr error) (head, error) {
	v.event, v.decoded = Event{}, false
	if readErr != nil {
		return head{}, readErr
	}
	v.decoded = json.Unmarshal(line, &v.event) == nil
	h, err := readChain(line)
	if err != nil {
		return head{}, err
	}
	if !v.decoded {
		return readHead(line)
	}
	h.seq, h.kind = v.event.Seq, v.event.Type
	return h, h.check(line)
}

// line checks one line against the chain. It continues with the number and hash
// that the line claims, so that one fault is one problem.
func (v *verifier) line(line []byte, at *lines, h head, err error) {
	seg := &v.current
	switch {
	case err != nil && !errors.Is(err, errHash):
		v.edited(seg.Name, at.number, err)
		return
	case err != nil:
		v.edited(seg.Name, at.number, err)
	default:
		if v.gone != nil && !v.gone.Read {
			v.begins(seg.Name, at.number, h)
			v.archivedAnchors(seg.Name, at.number)
		}
		if !v.canonical(line) {
			v.problem(ProblemEdited, seg.Name, at.number, v.next, "the line is not in canonical form")
		} else {
			v.follows(seg.Name, at.number, h)
		}
		v.next, v.prev, v.linked = h.seq+1, h.hash, true
	}
	seg.Events++
	if seg.FirstSeq == 0 {
		seg.FirstSeq = h.seq
	}
	seg.LastSeq = h.seq
	v.report.LastSeq, v.report.LastHash = h.seq, h.hash
	v.anchored(seg.Name, at.number, h)
	if err == nil {
		v.own(seg, line, at, h)
	}
}

// canonical reports whether line is in the form of RFC 8785. The writer's
// output for the same event is in that form, so comparing with it avoids a
// second parser.
func (v *verifier) canonical(line []byte) bool {
	if v.decoded {
		if v.buf = appendAnew(v.buf[:0], &v.event, nil); bytes.Equal(v.buf, line) {
			return true
		}
	}
	form, err := jcs.Transform(line)
	return err == nil && bytes.Equal(form, line)
}

// errUnfinished is the error for a last line without a newline in a segment
// that is followed by another.
var errUnfinished = errors.New("the line has no end")

// edited reports a line whose number and hash cannot be trusted. The next line
// counts as its successor.
func (v *verifier) edited(segment string, line int, err error) {
	v.problem(ProblemEdited, segment, line, v.next, err.Error())
	v.next++
	v.linked = false
	if v.gone != nil && !v.gone.Read {
		v.gone.Damaged++
	}
}

// follows checks that h continues the chain.
func (v *verifier) follows(segment string, line int, h head) {
	switch {
	case h.seq > v.next && h.seq-1 == v.next:
		v.problem(ProblemMissing, segment, line, v.next, fmt.Sprintf("event %d is missing before event %d", v.next, h.seq))
	case h.seq > v.next:
		v.problem(ProblemMissing, segment, line, v.next,
			fmt.Sprintf("events %d to %d are missing before event %d", v.next, h.seq-1, h.seq))
	case h.seq < v.next:
		v.problem(ProblemMisplaced, segment, line, h.seq, fmt.Sprintf("event %d stands where event %d belongs", h.seq, v.next))
	case v.linked && h.prev != v.prev:
		v.problem(ProblemChain, segment, line, h.seq, "it names another event as the one before it")
	}
}

// archivedAnchors checks the anchors that name archived events. The log can
// confirm only an anchor of the last archived event.
func (v *verifier) archivedAnchors(segment string, line int) {
	for len(v.anchors) > 0 && v.anchors[0].Seq <= v.gone.Before {
		a := v.anchors[0]
		v.anchors = v.anchors[1:]
		switch {
		case a.Seq < v.gone.Before:
			v.problem(ProblemReplaced, segment, line, a.Seq, fmt.Sprintf(
				"the log begins after event %d, which the anchor names: verify the archive against it", a.Seq))
		case a.Hash != v.gone.Hash:
			v.problem(ProblemReplaced, segment, line, a.Seq, "the first event names another event as the one before it than the anchor")
		}
	}
}

// archived reads a log.archived event.
func (v *verifier) archived(info LogInfo) {
	if v.gone == nil {
		return // the log still has its first segment
	}
	v.gone.Told = &info
	n, ok := segmentNumber(info.Segment)
	if !ok || n < v.gone.Segment-1 {
		return
	}
	switch {
	case info.KnownSeq == v.gone.Before:
		v.gone.Said = v.gone.Damaged > 0 || info.KnownHash == v.gone.Hash.String()
	case info.KnownSeq > v.gone.Before: // Archive was interrupted before it removed all segments
		hash, there := v.seals[info.KnownSeq]
		v.gone.Said = there && info.KnownHash == hash.String()
	}
}

// anchored compares h with the anchors up to its number.
func (v *verifier) anchored(segment string, line int, h head) {
	for len(v.anchors) > 0 && v.anchors[0].Seq <= h.seq {
		a := v.anchors[0]
		v.anchors = v.anchors[1:]
		switch {
		case a.Seq < h.seq:
			v.problem(ProblemReplaced, segment, line, a.Seq, fmt.Sprintf("event %d, which the anchor names, is missing before event %d", a.Seq, h.seq))
		case a.Hash != h.hash:
			v.problem(ProblemReplaced, segment, line, a.Seq, "the anchor names another event with this number")
		case a.Segment != segment:
			v.problem(ProblemAnchor, segment, line, a.Seq, fmt.Sprintf("the anchor has this event in %s", clip(a.Segment, 80)))
		default:
			v.found = a
		}
	}
}

// own reads an event that the log wrote about itself.
func (v *verifier) own(seg *SegmentReport, line []byte, at *lines, h head) {
	if !h.kind.own() {
		return
	}
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		v.problem(ProblemEdited, seg.Name, at.number, h.seq, err.Error())
		return
	}
	if h.kind == SegmentSeal {
		seg.Sealed = true
		if v.seals != nil {
			v.seals[h.seq] = h.hash
		}
		info := e.Log
		if info.Segment != seg.Name || info.Bytes != at.start ||
			info.FirstSeq != 0 && (info.FirstSeq != seg.FirstSeq || info.Records != seg.Events-1) {
			v.problem(ProblemSegment, seg.Name, at.number, h.seq, fmt.Sprintf(
				"the seal speaks of %s with %d bytes and %d events from %d on; the file has %d bytes and %d events from %d on before it",
				info.Segment, info.Bytes, info.Records, info.FirstSeq, at.start, seg.Events-1, seg.FirstSeq))
		}
		return
	}
	v.report.Notes = append(v.report.Notes, Note{Segment: seg.Name, Line: at.number, Event: e})
	if h.kind == LogArchived {
		v.archived(e.Log)
	}
	switch e.Log.Reason {
	case ReasonMissing:
		v.problem(ProblemLost, seg.Name, at.number, h.seq, fmt.Sprintf(
			"when the log was opened it ended before event %d with the hash %s, which had been written", e.Log.KnownSeq, e.Log.KnownHash))
	case ReasonAnchor:
		v.problem(ProblemLost, seg.Name, at.number, h.seq, "when the log was opened its anchor was gone: events before this one may be missing")
	}
}

func (v *verifier) problem(kind ProblemKind, segment string, line int, seq int64, detail string) {
	v.report.add(Problem{Kind: kind, Segment: segment, Line: line, Seq: seq, Detail: detail})
}
