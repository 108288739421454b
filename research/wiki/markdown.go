package wiki

import (
	"iter"
	"strings"
)

// line is a line of a Markdown text.
type line struct {
	text       string // without its end
	start, end int    // byte offsets in the text; end is that of the next line
	number     int    // from 1
	code       bool   // in a fenced block, or one of its fences
}

// lines returns the lines of a text. A block of code that is fenced by ``` or ~~~
// ends at a fence of the same kind that is at least as long, or with the text.
func lines(text string) iter.Seq[line] {
	return func(yield func(line) bool) {
		open := ""
		for at, n := 0, 1; at < len(text); n++ {
			end := len(text)
			if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
			l := line{text: strings.TrimRight(text[at:end], "\r\n"), start: at, end: end, number: n, code: open != ""}
			mark, rest := codeFence(l.text)
			switch {
			case open == "" && mark != "":
				open, l.code = mark, true
			case open != "" && strings.HasPrefix(mark, open) && rest == "":
				open = ""
			}
			if !yield(l) {
				return
			}
			at = end
		}
	}
}

// codeFence returns the fence that begins a line, at least three of ` or ~, and what
// follows it. The fence is "" if the line has none.
func codeFence(text string) (mark, rest string) {
	trimmed := strings.TrimLeft(text, " ")
	if len(text)-len(trimmed) > 3 {
		return "", ""
	}
	for _, c := range []string{"`", "~"} {
		n := len(trimmed) - len(strings.TrimLeft(trimmed, c))
		rest := strings.TrimSpace(trimmed[n:])
		if n >= 3 && (c != "`" || !strings.Contains(rest, "`")) {
			return trimmed[:n], rest
		}
	}
	return "", ""
}

// heading returns the level of an ATX heading and its text, or 0.
func heading(text string) (level int, name string) {
	trimmed := strings.TrimLeft(text, " ")
	if len(text)-len(trimmed) > 3 {
		return 0, ""
	}
	rest := strings.TrimLeft(trimmed, "#")
	level = len(trimmed) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	name = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))
	if name == "" {
		return 0, ""
	}
	return level, name
}
