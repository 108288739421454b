package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// piece is a run of text with one format.
type piece struct {
	Text   string
	Code   bool // it replaces a character or byte that is not visible
	Marked bool // it is in the span of a finding
}

// hidden reports whether a page would not show a character as what it is:
// controls, formats (zero width, direction), line separators, blanks other than
// the space, variation selectors, and unassigned characters. With keepLines,
// line ends and tabs are not hidden.
func hidden(r rune, keepLines bool) bool {
	switch {
	case r == '\n' || r == '\t':
		return !keepLines
	case r >= ' ' && r < 0x7f:
		return false
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	default:
		return !unicode.IsGraphic(r)
	}
}

// number returns the number of a character that is not visible.
func number(r rune, size int, text string) string {
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("\\x%02X", text[0])
	}
	return fmt.Sprintf("U+%04X", r)
}

// line returns a text on one line, with invisible characters as their numbers.
func line(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || hidden(r, false) }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || hidden(r, false) {
			b.WriteString("⟨" + number(r, n, text[i:]) + "⟩")
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// short returns line, cut to a number of characters.
func short(text string, most int) string {
	n := 0
	for at := range text {
		if n++; n > most {
			return line(text[:at]) + "…"
		}
	}
	return line(text)
}

// How many bytes of a long statement are shown, at its start and its end.
const (
	shownStart = 1600
	shownEnd   = 300
)

// statement is a statement as a page shows it.
type statement struct {
	Pieces []piece
	Cut    []piece // the end of a long text, whose start is Pieces
	Left   int     // bytes between them
	Bytes  int
}

// newStatement splits a statement at marked spans and at invisible characters.
func newStatement(sql string, marks []sqlguard.Span) statement {
	s := statement{Bytes: len(sql)}
	if len(sql) <= shownStart+shownEnd+200 {
		s.Pieces = pieces(sql, 0, len(sql), marks)
		return s
	}
	start, end := shownStart, len(sql)-shownEnd
	for start > 0 && !utf8.RuneStart(sql[start]) && shownStart-start < utf8.UTFMax {
		start--
	}
	for end < len(sql) && !utf8.RuneStart(sql[end]) && end < len(sql)-shownEnd+utf8.UTFMax {
		end++
	}
	s.Pieces, s.Cut, s.Left = pieces(sql, 0, start, marks), pieces(sql, end, len(sql), marks), end-start
	return s
}

// pieces splits sql[from:to].
func pieces(sql string, from, to int, marks []sqlguard.Span) []piece {
	var out []piece
	last := from
	flush := func(at int, marked bool) {
		if at > last {
			out = append(out, piece{Text: sql[last:at], Marked: marked})
		}
		last = at
	}
	marked := func(at int) bool {
		return slices.ContainsFunc(marks, func(s sqlguard.Span) bool { return s.Start <= at && at < s.End })
	}
	was := false
	for i := from; i < to; {
		r, n := utf8.DecodeRuneInString(sql[i:to])
		if is := marked(i); is != was {
			flush(i, was)
			was = is
		}
		// A CR alone starts a line for the server, but not on the page.
		if r == utf8.RuneError && n == 1 || hidden(r, true) {
			flush(i, was)
			out = append(out, piece{Text: number(r, n, sql[i:]), Code: true, Marked: was})
			last = i + n
		}
		i += n
	}
	flush(to, was)
	return out
}
