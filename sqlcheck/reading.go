package sqlcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// reading gathers what is found in one text.
type reading struct {
	file  *report.File
	text  string
	shift int // of offsets in text to those in the file
	lines lineIndex

	allows     []allow
	comments   []allow // that have no statement yet
	allowLines lineIndex

	// The last statement: where it is, and whether it was judged; and how many
	// there were, those included that are not judged.
	last   sqlguard.Span
	judged bool
	seen   int

	touched *touched // nil where everything is judged
}

// statement adds a statement and what the guard says of it.
func (r *reading) statement(span sqlguard.Span, v sqlguard.Verdict, whole bool) {
	number := r.file.Judged
	r.file.Judged++
	if !v.Allowed {
		r.file.Refused++
		fingerprint := v.Fingerprint
		if fingerprint == "" { // too raw to be split into tokens
			sum := sha256.Sum256([]byte(r.text[span.Start:span.End]))
			fingerprint = hex.EncodeToString(sum[:])
		}
		for i := range v.Findings {
			at := v.Findings[i].Span
			r.add(v.Findings[i], sqlguard.Span{Start: at.Start + span.Start, End: at.End + span.Start}, number, fingerprint)
		}
	}
	if !whole {
		return
	}
	findings := make([]sqlguard.Finding, 0, len(v.Findings)) // the guard keeps its own
	for _, f := range r.file.Findings[len(r.file.Findings)-len(v.Findings):] {
		findings = append(findings, f.Finding)
	}
	v.Findings = findings
	r.file.Statements = append(r.file.Statements, report.Statement{Span: sqlguard.Span{Start: span.Start + r.shift, End: span.End + r.shift}, Verdict: v})
}

// add adds a finding over a span of the text.
func (r *reading) add(f sqlguard.Finding, span sqlguard.Span, statement int, fingerprint string) {
	f.Line, f.Column = r.lines.position(span.Start)
	endLine, endColumn := r.end(f.Line, f.Column, span)
	f.Span = sqlguard.Span{Start: span.Start + r.shift, End: span.End + r.shift}
	r.file.Findings = append(r.file.Findings, report.Finding{
		Finding: f, Severity: report.SeverityError, EndLine: endLine, EndColumn: endColumn, Fingerprint: fingerprint, Statement: statement,
	})
}

// end returns the place behind a span that begins at a line and column.
func (r *reading) end(line, column int, span sqlguard.Span) (endLine, endColumn int) {
	start := min(span.Start, len(r.text))
	endLine, endColumn = sqlguard.Position(r.text[start:], max(span.End-start, 0))
	if endLine == 1 {
		endColumn += column - 1
	}
	return endLine + line - 1, endColumn
}

// comment notes a comment that may be a suppression.
func (r *reading) comment(span sqlguard.Span) {
	a, ok := parseAllow(r.text[span.Start:span.End])
	if !ok {
		return
	}
	a.Span = span
	r.comments = append(r.comments, a)
}

// attach begins a statement, the next one of the text, and reports whether it
// is to be judged. It gives the suppressions up to its end to the statement
// that they stand on: the one that they stand in, else the one that ends before
// them on their line, else the next.
func (r *reading) attach(span sqlguard.Span) bool {
	wanted := true
	if r.touched != nil {
		line, column := r.lines.position(span.Start)
		ends, _ := r.end(line, column, span)
		wanted = r.touched.statement(r.seen, line, ends)
	}
	r.seen++
	r.suppressions(span, wanted)
	r.last = span
	return wanted
}

// suppressions gives suppressions to statements, up to the end of span. Those
// on a statement that is not judged are left out.
func (r *reading) suppressions(span sqlguard.Span, wanted bool) {
	for ; len(r.comments) > 0 && r.comments[0].Span.Start < span.End; r.comments = r.comments[1:] {
		a := r.comments[0]
		before := r.last != sqlguard.Span{} && a.Span.Start < span.Start && !strings.ContainsAny(r.text[r.last.End:a.Span.Start], "\r\n")
		switch {
		case before && !r.judged, !before && !wanted:
			continue
		case before:
			a.Statement, a.Last = r.file.Judged-1, r.file.Judged-1
		case span.Start < len(r.text):
			a.Statement, a.Last = r.file.Judged, r.file.Judged
		}
		r.permit(a)
	}
	r.judged = wanted
}
