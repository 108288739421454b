package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/embedded"
	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// source judges the SQL in a file of another language, and returns the
// suppressions in it.
func (c *Checker) source(ctx context.Context, guard *sqlguard.Guard, in Input, found *embedded.Source, body string, shift int, file *report.File) []allow {
	r := reading{file: file, text: body, shift: shift, lines: lineIndex{text: body}, allowLines: lineIndex{text: body}}
	if in.partly {
		before := strings.TrimPrefix(string(in.before), report.ByteOrderMark)
		known := map[string]bool{}
		if old, err := embedded.Find(in.Path, before, c.options(in)); err == nil {
			for _, t := range old.Texts {
				known[unixLines(t.SQL())] = true
			}
		}
		r.touched = compare(before, body, known)
	}
	lines := newLineTable(body)
	var allows []allow
	for i, span := range found.Comments {
		if a, ok := parseAllow(found.Comment(i, body)); ok {
			a.Span = span
			allows = append(allows, a)
		}
	}
	for _, t := range found.Texts {
		if ctx.Err() != nil {
			return nil
		}
		first, last := lines.of(t.Span.Start), lines.of(t.Span.End)
		if r.touched != nil && !r.touched.statement(t.SQL(), first-1, first, last) {
			continue
		}
		from := file.Judged
		r.embedded(guard, t, c.Whole)
		for i := range allows { // on the line before, or in the lines of the text
			line := lines.of(allows[i].Span.Start)
			if line >= first && line <= last || line == first-1 && alone(body, allows[i].Span.Start) {
				if allows[i].Statement < 0 {
					allows[i].Statement = from
				}
				allows[i].Last = file.Judged - 1
			}
		}
	}
	for i := range allows {
		a := &allows[i]
		if r.touched != nil && a.Statement < 0 {
			continue // on what is not judged
		}
		a.Line, a.Column = r.allowLines.position(a.Span.Start)
		a.EndLine, a.EndColumn = r.end(a.Line, a.Column, a.Span)
		a.Span = sqlguard.Span{Start: a.Span.Start + shift, End: a.Span.End + shift}
		r.allows = append(r.allows, *a)
	}
	slices.SortStableFunc(file.Findings, func(x, y report.Finding) int { return x.Span.Start - y.Span.Start })
	return r.allows
}

// embedded judges the statements of one text.
func (r *reading) embedded(guard *sqlguard.Guard, t *embedded.Text, whole bool) {
	filled := t.Fill(guard.Dialect())
	severity := report.SeverityError
	message := "what is filled in here is no value, so that the statement can be anything"
	switch {
	case t.SQL() == "": // it comes from elsewhere, and may be judged there
		severity, message = report.SeverityNote, "the text is made elsewhere, so that the statement can be anything"
	case !t.Certain: // the name of the function is not enough to say that it is SQL
		severity = report.SeverityNote
	}
	number := r.file.Judged
	sum := sha256.Sum256([]byte(t.SQL()))
	fingerprint := hex.EncodeToString(sum[:])
	for _, span := range filled.Unproved {
		r.add(sqlguard.Finding{
			Code: sqlguard.CodeDynamicSQLUnprovable, Message: message,
			Hint: "choose between whole statements, and fill in values only", Retryable: true,
		}, span, number, fingerprint)
		r.file.Findings[len(r.file.Findings)-1].Severity = severity
	}
	if t.SQL() == "" {
		return
	}
	for _, span := range sqlguard.Split(guard.Dialect(), filled.SQL) {
		v := guard.Check(filled.SQL[span.Start:span.End])
		number := r.file.Judged
		r.file.Judged++
		before := len(r.file.Findings)
		for _, f := range v.Findings {
			if f.Code == sqlguard.CodeParseError && len(filled.Unproved) > 0 {
				continue // of what stands in the place of the unknown
			}
			r.add(f, filled.Place(sqlguard.Span{Start: f.Span.Start + span.Start, End: f.Span.End + span.Start}), number, v.Fingerprint)
			if f.Code == sqlguard.CodeParseError {
				r.file.Findings[len(r.file.Findings)-1].Severity = severity
			}
		}
		if !v.Allowed {
			r.file.Refused++
		}
		if whole {
			findings := []sqlguard.Finding{}
			for _, f := range r.file.Findings[before:] {
				findings = append(findings, f.Finding)
			}
			v.Findings = findings
			place := filled.Place(span)
			r.file.Statements = append(r.file.Statements, report.Statement{Span: sqlguard.Span{Start: place.Start + r.shift, End: place.End + r.shift}, Verdict: v})
		}
	}
}

// alone reports whether nothing but white space, and the quote that begins a line
// of a notebook's cell, stands before an offset on its line. A comment behind
// code belongs to its own line.
func alone(text string, offset int) bool {
	line := text[:offset]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), `"`)) == ""
}

// lineTable has the offsets at which the lines of a text begin.
type lineTable []int

func newLineTable(text string) lineTable {
	t := lineTable{0}
	for i := range len(text) {
		if text[i] == '\n' {
			t = append(t, i+1)
		}
	}
	return t
}

// of returns the line of an offset, from 1.
func (t lineTable) of(offset int) int {
	i, found := slices.BinarySearch(t, offset)
	if found {
		i++
	}
	return i
}
