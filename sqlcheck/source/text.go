package source

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// Text is one text of SQL in a file.
type Text struct {
	// Span is the expression in the file that produces the text.
	Span sqlguard.Span
	// Call is the offset of the call that the expression is an argument of.
	Call int
	// Sink is the function that the text is passed to, such as db.QueryContext.
	// Certain reports whether that function sends it to a database. Otherwise
	// the text only looks like SQL. Configured reports whether the project's
	// configuration names the function.
	Sink                string
	Certain, Configured bool
	// Receiver is the name of what the function is called on, such as db.
	Receiver string
	// Tagged reports whether it is a template with the tag of a library, which
	// binds values and quotes names.
	Tagged bool
	Holes  []Hole
	// Emptied reports whether a list that the program joins was taken as empty
	// in this text, which it may never be.
	Emptied bool

	sql     []byte
	pieces  []piece
	percent bool // %s and %(name)s are parameters
	tables  bool // a parameter can stand for a table
}

// piece is a run of the text. Each byte of a run that is in the file as it is
// has its own position. All bytes of an escape have the position of the escape.
type piece struct {
	at       int // in the text
	file     sqlguard.Span
	verbatim bool
}

// Hole is a position in a text where the program inserts a value at run time.
type Hole struct {
	At   int           // the offset in the text
	Span sqlguard.Span // of the expression in the file
	// Number says that the value is a number.
	Number bool
	// Value says that the driver sends it as a parameter, unless it is a part of
	// a statement that a library made. Bound says that it is none.
	Value, Bound bool
	// Quoted says that a library quotes it as a name.
	Quoted bool
	// nothing says that the statement is read as if nothing stood here.
	nothing bool
}

// SQL returns the text with nothing in its holes.
func (t *Text) SQL() string { return string(t.sql) }

// Quotes reports whether a library quotes what fills the hole at a span of the file.
func (t *Text) Quotes(hole sqlguard.Span) bool {
	found := false
	for _, h := range t.Holes {
		if h.Span == hole {
			if !h.Quoted {
				return false
			}
			found = true
		}
	}
	return found
}

// unknown makes t a text of which nothing is known.
func unknown(t *Text) *Text {
	t.sql, t.pieces, t.Holes = nil, nil, []Hole{{Span: t.Span}}
	return t
}

// verbatim appends a run that the file has, as it is, at an offset.
func (t *Text) verbatim(run string, at int) {
	if run == "" {
		return
	}
	t.pieces = append(t.pieces, piece{len(t.sql), sqlguard.Span{Start: at, End: at + len(run)}, true})
	t.sql = append(t.sql, run...)
}

// escaped appends the value of an escape in the file.
func (t *Text) escaped(run string, span sqlguard.Span) {
	if run == "" {
		return
	}
	t.pieces = append(t.pieces, piece{len(t.sql), span, false})
	t.sql = append(t.sql, run...)
}

// lineEnd returns the length of the line end at the start of s: LF, CR LF or
// CR. It returns 0 if there is none.
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

// lines appends a run that the file has at an offset. Its line ends become LF,
// as languages read them.
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

// unixLines returns the text with LF for all line ends.
func (t *Text) unixLines() *Text {
	sql := string(t.sql)
	if !strings.Contains(sql, "\r") {
		return t
	}
	out := &Text{Span: t.Span, Emptied: t.Emptied}
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

// hole appends a hole.
func (t *Text) hole(span sqlguard.Span, number bool) {
	t.Holes = append(t.Holes, Hole{At: len(t.sql), Span: span, Number: number})
}

// values says that the driver sends the holes at these spans as parameters.
// Those at the spans in bound are no part of a statement.
func (t *Text) values(spans, bound []sqlguard.Span) {
	for i := range t.Holes {
		h := &t.Holes[i]
		h.Value = h.Value || slices.Contains(spans, h.Span)
		h.Bound = h.Bound || slices.Contains(bound, h.Span)
	}
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
	t.Emptied = t.Emptied || other.Emptied
}

// place maps an offset of the text to the file. If end is set, the offset is
// the end of a span, which then ends in the literal in which it began.
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
