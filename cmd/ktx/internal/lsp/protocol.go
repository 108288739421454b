package lsp

import (
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// The parts of the protocol that the server uses, as version 3.17 names them.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // UTF-16 code units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type document struct {
	URI      string `json:"uri"`
	Language string `json:"languageId,omitempty"`
	Version  *int   `json:"version,omitempty"`
	Text     string `json:"text,omitempty"`
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type published struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

// change is an edit that was made in the editor. Without a range the text is the
// whole document.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	IsPreferred bool          `json:"isPreferred,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

// The kinds of code actions.
const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll.ktx"
)

// lines converts between offsets in a text and positions in it.
type lines struct {
	text   string
	starts []int
}

func newLines(text string) lines {
	l := lines{text: text, starts: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

func (l lines) position(offset int) position {
	offset = min(max(offset, 0), len(l.text))
	line := 0
	for low, high := 0, len(l.starts); low < high; {
		middle := (low + high) / 2
		if l.starts[middle] <= offset {
			line, low = middle, middle+1
		} else {
			high = middle
		}
	}
	return position{line, units(l.text[l.starts[line]:offset])}
}

// units counts UTF-16 code units.
func units(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

func (l lines) offset(p position) int {
	if p.Line < 0 || p.Line >= len(l.starts) {
		return len(l.text)
	}
	at, left := l.starts[p.Line], p.Character
	for at < len(l.text) && left > 0 && l.text[at] != '\n' && l.text[at] != '\r' {
		r, size := utf8.DecodeRuneInString(l.text[at:])
		at += size
		left--
		if r > 0xFFFF {
			left--
		}
	}
	return at
}

func (l lines) span(s sqlguard.Span) span { return span{l.position(s.Start), l.position(s.End)} }

// changed returns the text with changes made, one after the other.
func changed(l lines, changes []change) string {
	for _, c := range changes {
		text := c.Text
		if c.Range != nil {
			start := l.offset(c.Range.Start)
			text = l.text[:start] + text + l.text[max(start, l.offset(c.Range.End)):]
		}
		l = newLines(text)
	}
	return l.text
}

// permit returns the edit that writes a comment on the statement at an offset: on a
// line of its own, or behind the first word when another statement, to which a
// comment between the two would belong, ends on its line.
func (l lines) permit(offset int, comment string) textEdit {
	at := l.position(offset)
	start := l.starts[at.Line]
	indent := l.text[start:offset]
	if strings.Trim(indent, " \t") != "" {
		for offset < len(l.text) && (l.text[offset]|0x20 >= 'a' && l.text[offset]|0x20 <= 'z') {
			offset++
		}
		at = l.position(offset)
		return textEdit{span{at, at}, " /* " + comment + " */"}
	}
	end := "\n"
	if before := l.text[:start]; strings.HasSuffix(before, "\r\n") || start == 0 && len(l.starts) > 1 && strings.HasSuffix(l.text[:l.starts[1]], "\r\n") {
		end = "\r\n"
	}
	line := position{at.Line, 0}
	return textEdit{span{line, line}, indent + "-- " + comment + end}
}
