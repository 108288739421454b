package embedded

import (
	"slices"

	"github.com/ktxhq/ktx/sqlguard"
)

// Text is one SQL text of a file.
type Text struct {
	// Span is the expression in the file that makes the text.
	Span sqlguard.Span
	// Sink is what the text is given to, such as db.QueryContext. Certain says
	// that it is a database; otherwise the text only looks like SQL.
	Sink    string
	Certain bool
	Holes   []Hole

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
