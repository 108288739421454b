// Package report prints verdicts: for people, with the place marked by a
// caret, and as JSON. It adds nothing to a verdict and judges nothing.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// Result is the judgement of one text. Findings lie in Text, which may be a
// whole file of which Verdict judges one statement.
type Result struct {
	Name    string // file, or what the text is called
	Text    string
	Verdict sqlguard.Verdict
}

// Style says how human output looks.
type Style struct{ Color bool }

func (s Style) paint(code, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Human prints every finding with its place, a caret under it, and its hint.
func Human(w io.Writer, results []Result, style Style) {
	for _, r := range results {
		for _, f := range r.Verdict.Findings {
			_, _ = fmt.Fprintf(w, "%s: %s: %s\n", style.paint("1", fmt.Sprintf("%s:%d:%d", r.Name, f.Line, f.Column)), style.paint("31", string(f.Code)), printable(f.Message))
			Caret(w, r.Text, f.Span, style)
			if f.Hint != "" {
				_, _ = fmt.Fprintf(w, "  hint: %s\n", printable(f.Hint))
			}
		}
	}
}

// maxExcerpt bounds the part of a line that is shown.
const maxExcerpt = 100

// Caret prints the line of a span with a caret under its first line.
func Caret(w io.Writer, text string, span sqlguard.Span, style Style) {
	if text == "" {
		return
	}
	from := strings.LastIndexAny(text[:span.Start], "\r\n") + 1
	to := len(text)
	if i := strings.IndexAny(text[span.Start:], "\r\n"); i >= 0 {
		to = span.Start + i
	}
	line, _ := sqlguard.Position(text, span.Start)
	before := printable(text[from:span.Start])
	marked := printable(text[span.Start:max(span.Start, min(span.End, to))])
	after := printable(text[max(span.Start, min(span.End, to)):to])
	if n := utf8.RuneCountInString(before); n > maxExcerpt/2 {
		before = "…" + string([]rune(before)[n-maxExcerpt/2:])
	}
	carets := min(max(1, utf8.RuneCountInString(marked)), maxExcerpt)
	excerpt := []rune(before + marked + after)
	if len(excerpt) > maxExcerpt {
		excerpt = append(excerpt[:maxExcerpt-1], '…')
	}
	gutter := fmt.Sprintf("%4d | ", line)
	carets = max(1, min(carets, len(excerpt)-utf8.RuneCountInString(before)))
	_, _ = fmt.Fprintf(w, "%s%s\n", style.paint("2", gutter), string(excerpt))
	_, _ = fmt.Fprintf(w, "%s%s%s\n", style.paint("2", "     | "), strings.Repeat(" ", utf8.RuneCountInString(before)), style.paint("31", strings.Repeat("^", carets)))
}

// printable replaces what would move the cursor or hide text: a tab becomes a
// space, other control and direction-changing characters a middle dot.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r == utf8.RuneError:
			return '·'
		default:
			return r
		}
	}, s)
}

// File is the judgement of one file, for JSON.
type File struct {
	Path       string      `json:"path"`
	Dialect    string      `json:"dialect,omitempty"`
	Statements []Statement `json:"statements"`
	// Findings are those of the file itself, such as not_checked.
	Findings []sqlguard.Finding `json:"findings"`
}

// Statement is one statement of a file; all positions lie in the file.
type Statement struct {
	Span sqlguard.Span `json:"span"`
	sqlguard.Verdict
}

// Summary counts a check.
type Summary struct {
	Files      int `json:"files"`
	Statements int `json:"statements"`
	Refused    int `json:"refused"`
	NotChecked int `json:"notChecked"`
}

// JSON prints the whole check as one document.
func JSON(w io.Writer, files []File, summary Summary) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Schema  string  `json:"schema"`
		Summary Summary `json:"summary"`
		Files   []File  `json:"files"`
	}{"ktx-check/1", summary, files})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
