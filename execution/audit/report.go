package audit

import "fmt"

// ProblemKind says what is wrong with a log.
type ProblemKind string

// The kinds of problems.
const (
	// ProblemEdited: the line is not an event, or its content does not match
	// its hash.
	ProblemEdited ProblemKind = "edited"
	// ProblemMissing: events between the previous one and this one are missing.
	ProblemMissing ProblemKind = "missing"
	// ProblemMisplaced: the event does not belong here; it was inserted,
	// repeated or moved.
	ProblemMisplaced ProblemKind = "misplaced"
	// ProblemChain: the event has the next number but names another event as
	// the previous one.
	ProblemChain ProblemKind = "chain_broken"
	// ProblemSegment: a segment is missing, has events after its seal, or does
	// not match its seal.
	ProblemSegment ProblemKind = "segment"
	// ProblemTruncated: the log ends before the event of an anchor.
	ProblemTruncated ProblemKind = "truncated"
	// ProblemReplaced: the event that an anchor names has another hash.
	ProblemReplaced ProblemKind = "replaced"
	// ProblemAnchor: the anchor is missing or cannot be read.
	ProblemAnchor ProblemKind = "anchor"
	// ProblemLost: when the log was opened, events that had been written, or
	// the anchor, were missing. The writer recorded that and continued.
	ProblemLost ProblemKind = "lost"
)

// Problem is one fault of a log.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	// Segment is the file, empty when the fault is not in a file.
	Segment string `json:"segment,omitempty"`
	// Line counts from 1 in the segment; 0 when the fault is not in a line.
	Line int `json:"line,omitempty"`
	// Seq is the first event that is wrong or missing, when that is known.
	Seq int64 `json:"seq,omitempty"`
	// Detail describes the fault.
	Detail string `json:"detail"`
}

func (p Problem) String() string {
	switch {
	case p.Segment == "":
		return fmt.Sprintf("%s: %s", p.Kind, p.Detail)
	case p.Line == 0:
		return fmt.Sprintf("%s: %s: %s", p.Segment, p.Kind, p.Detail)
	default:
		return fmt.Sprintf("%s line %d (event %d): %s: %s", p.Segment, p.Line, p.Seq, p.Kind, p.Detail)
	}
}

// Note is an event in which the log reports a repair, a gap or an archive.
type Note struct {
	Segment string `json:"segment"`
	Line    int    `json:"line"`
	Event   Event  `json:"event"`
}

// SegmentReport describes the content of a segment.
type SegmentReport struct {
	Name     string `json:"name"`
	Events   int64  `json:"events"`
	FirstSeq int64  `json:"firstSeq"`
	LastSeq  int64  `json:"lastSeq"`
	Bytes    int64  `json:"bytes"`
	Sealed   bool   `json:"sealed"`
}

// Torn is an unfinished last line. Either a writer is writing it, or a writer
// crashed and the log has not been opened since.
type Torn struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"`
}

// Report is the result of Verify.
type Report struct {
	// OK is true when there is no problem. Notes and an unfinished last line
	// are not problems.
	OK       bool            `json:"ok"`
	Events   int64           `json:"events"`
	LastSeq  int64           `json:"lastSeq"`
	LastHash Hash            `json:"lastHash"`
	Segments []SegmentReport `json:"segments"`
	// Before is the number of events before the first one in the log. They were
	// archived, or they are missing, which is a problem.
	Before int64 `json:"before,omitempty"`
	// Anchor is the log's own anchor, nil when there is none.
	Anchor *Anchor `json:"anchor"`
	// Unanchored is the number of events after the anchor. Verify would not
	// notice when they were cut off.
	Unanchored int64 `json:"unanchored"`
	// Problems are in the order of the log, the first bad event first. There
	// are at most 100; More counts the rest.
	Problems []Problem `json:"problems"`
	More     int64     `json:"more,omitempty"`
	// Notes are the log.recovered, log.gap and log.archived events.
	Notes []Note `json:"notes"`
	Torn  *Torn  `json:"torn,omitempty"`
}

// maxProblems bounds Report.Problems.
const maxProblems = 100

func (r *Report) add(p Problem) {
	if len(r.Problems) >= maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, p)
}
