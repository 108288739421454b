package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// Result is what was found in one text.
type Result struct {
	Name     string // the file, or another name for the text
	Text     string
	Findings []sqlguard.Finding // their spans are in Text
}

// Style sets how the output for people looks.
type Style struct{ Color bool }

func (s Style) paint(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// flushAt is how many bytes of output are collected before they are written.
const flushAt = 64 << 10

// Human prints every finding with its position, a caret under it, and its hint.
func Human(w io.Writer, results []Result, style Style) {
	var b bytes.Buffer
	for _, r := range results {
		for _, f := range r.Findings {
			place := fmt.Sprintf("%s:%d:%d", shownPath(r.Name), f.Line, f.Column)
			fmt.Fprintf(&b, "%s: %s: %s\n", style.paint("1", place), style.paint("31", string(f.Code)), quiet(printable(f.Message)))
			if r.Text != "" {
				caret(&b, quote(r.Text, f.Span), f.Line, style)
			}
			if f.Hint != "" {
				fmt.Fprintf(&b, "  hint: %s\n", quiet(printable(f.Hint)))
			}
			if b.Len() > flushAt {
				_, _ = b.WriteTo(w)
			}
		}
	}
	_, _ = b.WriteTo(w)
}

// ByteOrderMark begins a file in some editors. It is encoding, not text.
const ByteOrderMark = "\uFEFF"

// maxExcerpt is the most columns of a line that are shown, and maxBefore the
// most columns before the position.
const (
	maxExcerpt = 100
	maxBefore  = 50
)

// maxLine is how many bytes on either side of a position are searched for the
// ends of its line. Some files are a single line.
const maxLine = 4 << 10

// Quoted is what reports show of the text of a file beside a finding.
type Quoted struct {
	// Before, Marked and After are the line on which the finding begins: what
	// stands before it, what of it is on the line, and what follows.
	Before, Marked, After string
	// Snippet is the text of the finding, unless it is empty or too long.
	Snippet string
}

// Quote sets what reports show of the text of the file.
func (f *Finding) Quote(text string) {
	if text == "" {
		return
	}
	q := quote(text, f.Span)
	q.Snippet = snippet(text, f.Span)
	for _, part := range []*string{&q.Before, &q.Marked, &q.After, &q.Snippet} {
		*part = strings.Clone(*part)
	}
	f.Quoted = &q
}

// quote returns the line on which a span begins.
func quote(text string, span sqlguard.Span) Quoted {
	start := boundary(text, span.Start)
	if start > 0 && start < len(text) && text[start-1] == '\r' && text[start] == '\n' {
		start++ // a position inside a line end counts as its end
	}
	from := boundary(text, start-maxLine)
	if i := strings.LastIndexAny(text[from:start], "\r\n"); i >= 0 {
		from += i + 1
	}
	if from == 0 && strings.HasPrefix(text, ByteOrderMark) {
		from = min(len(ByteOrderMark), start)
	}
	to := boundary(text, start+maxLine)
	if i := strings.IndexAny(text[start:to], "\r\n"); i >= 0 {
		to = start + i
	}
	end := max(start, min(boundary(text, span.End), to))
	q := Quoted{Before: tail(text[from:start], maxBefore)}
	room := maxExcerpt - Width(q.Before)
	q.Marked = head(text[start:end], room)
	q.After = head(text[end:to], room-Width(q.Marked))
	if logCommand.MatchString(q.Before + q.Marked + q.After) { // a command would be read; the result is as wide
		for _, part := range []*string{&q.Before, &q.Marked, &q.After} {
			*part = strings.ReplaceAll(*part, "#", "·")
		}
	}
	return q
}

// caret prints the line on which a finding begins, with carets under the part
// of the finding that lies on it, at least one.
func caret(b *bytes.Buffer, q Quoted, line int, style Style) {
	fmt.Fprintf(b, "%s%s%s%s\n", style.paint("2", fmt.Sprintf("%4d | ", line)), q.Before, q.Marked, q.After)
	fmt.Fprintf(b, "%s%s%s\n", style.paint("2", "     | "), strings.Repeat(" ", Width(q.Before)), style.paint("31", strings.Repeat("^", max(1, Width(q.Marked)))))
}

// boundary clips an offset to text and moves it back to the start of a
// character.
func boundary(text string, offset int) int {
	offset = min(max(offset, 0), len(text))
	for offset > 0 && offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset--
	}
	return offset
}

// head returns the start of a text in at most n columns, with an ellipsis if it
// was cut.
func head(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if fits(s, n) {
		return printable(s)
	}
	width := 0
	for i, r := range s {
		if width += runeWidth(visible(r)); width > n-1 {
			return printable(s[:i]) + "…"
		}
	}
	return printable(s)
}

// fits reports whether a text takes at most n columns.
func fits(s string, n int) bool {
	for _, r := range s {
		if n -= runeWidth(visible(r)); n < 0 {
			return false
		}
	}
	return true
}

// tail returns the end of a text in at most n columns, with an ellipsis if it
// was cut.
func tail(s string, n int) string {
	kept, width := len(s), 0
	for kept > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:kept])
		w := runeWidth(visible(r))
		if width+w > n || width+w > n-1 && kept > size {
			return "…" + printable(s[kept:])
		}
		width += w
		kept -= size
	}
	return printable(s)
}

// printable replaces characters that would move the cursor or hide text. A tab
// becomes a space. Other control, hidden and direction-changing characters
// become a middle dot.
func printable(s string) string { return strings.Map(visible, s) }

func visible(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == 0x61c, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff, r == utf8.RuneError:
		return '·'
	default:
		return r
	}
}
