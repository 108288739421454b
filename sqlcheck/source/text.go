package source

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Text is one SQL text of a file.
type Text struct {
	// Span is the expression in the file that makes the text.
	Span sqlguard.Span
	// Call is where the call begins that the expression is an argument of.
	Call int
	// Sink is what the text is given to, such as db.QueryContext. Certain says
	// that it is a database; otherwise the text only looks like SQL. Configured
	// says that the project names it.
	Sink                string
	Certain, Configured bool
	Holes               []Hole

	sql    []byte
	pieces []piece
}

// piece is a run of the text. Of one that stands in the file as it is, each
// byte has its place; of an escape, all have that of the escape.
type piece struct {
	at       int // in the text
	file     sqlguard.Span
	verbatim bool
}

// Hole is a place in a text where something is filled in at run time.
type Hole struct {
	At   int           // the offset in the text
	Span sqlguard.Span // of the expression in the file
	// Number says that only a number can be filled in.
	Number bool
}

// SQL returns the text, with nothing in the place of its holes.
func (t *Text) SQL() string { return string(t.sql) }

// unknown makes t a text of which nothing is known.
func unknown(t *Text) *Text {
	t.sql, t.pieces, t.Holes = nil, nil, []Hole{{Span: t.Span}}
	return t
}

// verbatim appends a run that stands at an offset of the file as it is.
func (t *Text) verbatim(run string, at int) {
	if run == "" {
		return
	}
	t.pieces = append(t.pieces, piece{len(t.sql), sqlguard.Span{Start: at, End: at + len(run)}, true})
	t.sql = append(t.sql, run...)
}

// escaped appends what an escape of the file stands for.
func (t *Text) escaped(run string, span sqlguard.Span) {
	if run == "" {
		return
	}
	t.pieces = append(t.pieces, piece{len(t.sql), span, false})
	t.sql = append(t.sql, run...)
}

// lineEnd returns the length of the end of a line at the start of s: LF, CR LF or
// CR; 0 when none is there.
func lineEnd(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case s != "" && (s[0] == '\n' || s[0] == '\r'):
		return 1
	default:
		return 0
	}
}

// firstLine returns a text up to the end of its first line.
func firstLine(s string) string {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		return s[:i]
	}
	return s
}

// lines appends a run that stands at an offset of the file, with LF for the ends
// of its lines, as languages read them.
func (t *Text) lines(run string, at int) {
	for {
		i := strings.IndexByte(run, '\r')
		if i < 0 {
			t.verbatim(run, at)
			return
		}
		n := lineEnd(run[i:])
		t.verbatim(run[:i], at)
		t.escaped("\n", sqlguard.Span{Start: at + i, End: at + i + n})
		run, at = run[i+n:], at+i+n
	}
}

// unixLines returns the text with LF for the ends of its lines.
func (t *Text) unixLines() *Text {
	sql := string(t.sql)
	if !strings.Contains(sql, "\r") {
		return t
	}
	out := &Text{Span: t.Span}
	from := 0
	for i := 0; i < len(sql); i++ {
		if sql[i] == '\r' {
			n := lineEnd(sql[i:])
			out.run(t, from, i)
			out.escaped("\n", t.span(i, i+n))
			from = i + n
			i = from - 1
		}
	}
	out.run(t, from, len(sql))
	return out
}

// hole appends a place where something is filled in.
func (t *Text) hole(span sqlguard.Span, number bool) {
	t.Holes = append(t.Holes, Hole{At: len(t.sql), Span: span, Number: number})
}

// add appends another text.
func (t *Text) add(other *Text) {
	for _, p := range other.pieces {
		p.at += len(t.sql)
		t.pieces = append(t.pieces, p)
	}
	for _, h := range other.Holes {
		h.At += len(t.sql)
		t.Holes = append(t.Holes, h)
	}
	t.sql = append(t.sql, other.sql...)
}

// place returns where an offset of the text stands in the file. The end of a
// run is the end of its piece, so that a span ends in the literal in which it
// began.
func (t *Text) place(offset int, end bool) int {
	if len(t.pieces) == 0 {
		return t.Span.Start
	}
	i, found := slices.BinarySearchFunc(t.pieces, offset, func(p piece, at int) int { return p.at - at })
	if !found || end && i > 0 {
		i = max(i-1, 0)
	}
	p := t.pieces[i]
	into := max(offset-p.at, 0)
	switch {
	case p.verbatim:
		return min(p.file.Start+into, p.file.End)
	case end:
		return p.file.End
	default:
		return p.file.Start
	}
}
