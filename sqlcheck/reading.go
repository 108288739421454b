package sqlcheck

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// reading collects the findings and suppressions of one text.
type reading struct {
	file  *report.File
	text  string
	shift int // from offsets in text to offsets in the file
	lines lineIndex

	allows     []allow
	comments   []allow // not yet assigned to a statement
	allowLines lineIndex

	// The last statement: its span and whether it was judged. And the number of
	// statements, including those that were not judged.
	last   sqlguard.Span
	judged bool
	seen   int

	touched *touched // nil if everything is judged

	// keeps, if set, gets every statement with its whole verdict.
	keeps func(report.Statement)
}

// statement adds a statement and the verdict on it.
func (r *reading) statement(span sqlguard.Span, v sqlguard.Verdict) {
	number, before := r.file.Judged, len(r.file.Findings)
	r.file.Judged++
	if !v.Allowed {
		r.file.Refused++
		fingerprint := v.Fingerprint
		if fingerprint == "" { // the guard could not split it into tokens
			sum := sha256.Sum256([]byte(r.text[span.Start:span.End]))
			fingerprint = hex.EncodeToString(sum[:])
		}
		for i := range v.Findings {
			at := v.Findings[i].Span
			r.add(v.Findings[i], sqlguard.Span{Start: at.Start + span.Start, End: at.End + span.Start}, number, fingerprint)
		}
	}
	r.keep(v, span, before)
}

// keep hands on the whole verdict on the statement at a span of the text. Its
// findings are those that the file got since it had before of them, with their
// positions in the file.
func (r *reading) keep(v sqlguard.Verdict, span sqlguard.Span, before int) {
	if r.keeps == nil {
		return
	}
	findings := []sqlguard.Finding{} // the guard keeps its own slice
	for _, f := range r.file.Findings[before:] {
		findings = append(findings, f.Finding)
	}
	v.Findings = findings
	r.keeps(report.Statement{Span: sqlguard.Span{Start: span.Start + r.shift, End: span.End + r.shift}, Verdict: v})
}

// add adds a finding about a span of the text.
func (r *reading) add(f sqlguard.Finding, span sqlguard.Span, statement int, fingerprint string) {
	f.Line, f.Column = r.lines.position(span.Start)
	endLine, endColumn := r.end(f.Line, f.Column, span)
	f.Span = sqlguard.Span{Start: span.Start + r.shift, End: span.End + r.shift}
	severity := report.DefaultSeverity(f.Code)
	if f.Code == sqlguard.CodeDynamicSQLUnprovable {
		severity = report.SeverityError // it is a note only in code that may be no SQL, and in templates
		if f.Message == templateMessage || f.Message == templateUnread {
			severity = report.SeverityNote
		}
	}
	r.file.Findings = append(r.file.Findings, report.Finding{
		Finding: f, Severity: severity, EndLine: endLine, EndColumn: endColumn, Fingerprint: fingerprint, Statement: statement,
	})
}

// end returns the position at the end of a span that begins at a line and
// column.
func (r *reading) end(line, column int, span sqlguard.Span) (endLine, endColumn int) {
	start := min(span.Start, len(r.text))
	endLine, endColumn = sqlguard.Position(r.text[start:], max(span.End-start, 0))
	if endLine == 1 {
		endColumn += column - 1
	}
	return endLine + line - 1, endColumn
}

// comment collects a comment that may be a suppression.
func (r *reading) comment(span sqlguard.Span) {
	a, ok := parseAllow(r.text[span.Start:span.End])
	if !ok {
		return
	}
	a.Span = span
	r.comments = append(r.comments, a)
}

// attach begins the next statement of the text, and reports whether it is to be
// judged. It assigns the suppressions up to its end: to the statement that
// contains the comment, else to the statement that ends before the comment on
// its line, else to the next statement.
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

// suppressions assigns suppressions up to the end of span. If wanted is false,
// it drops those on a statement that is not judged.
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
