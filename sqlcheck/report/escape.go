package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"unicode"
	"unicode/utf8"
)

// EscapeJSON escapes, in a JSON text, what a terminal would act upon. JSON
// itself already escapes the characters below U+0020.
func EscapeJSON(text []byte) []byte {
	acts := func(r rune) bool { return r >= 0x7f && Control(r) }
	if bytes.IndexFunc(text, acts) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if acts(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// Control reports the characters that act on a terminal instead of being shown:
// C0, C1, and those that turn the direction of text (UAX #9).
func Control(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x61c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	default:
		return false
	}
}

// Runners of continuous integration act on what stands in a log: Azure Pipelines
// on ##vso[…], GitHub Actions on ##[…], TeamCity on ##teamcity[…], wherever in a
// line it stands, and GitHub on :: where a line begins.
var logCommand = regexp.MustCompile(`##[\w.]*\[`)

// quiet is a text for a line of a log, in which nothing is a command: of two
// number signs before a word and a bracket, the second stands apart.
func quiet(text string) string {
	return logCommand.ReplaceAllStringFunc(text, func(found string) string { return "# " + found[1:] })
}

// shownPath is a path at the start of a line of a log: one that begins with
// anything but what names of files mostly begin with has ./ in front.
func shownPath(name string) string {
	name = quiet(printable(name))
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsLetter(first) || unicode.IsDigit(first) || first == '.' || first == '/' || first == '_' {
		return name
	}
	return "./" + name
}

// escaping writes JSON texts, each in one call of Write. In them two number
// signs stand in literals only, where the second can be an escape.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	text := bytes.ReplaceAll(EscapeJSON(p), []byte("##"), []byte(`#\u0023`))
	if _, err := e.w.Write(text); err != nil {
		return 0, err //nolint:wrapcheck // a writer's own
	}
	return len(p), nil
}
