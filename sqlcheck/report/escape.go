package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// EscapeJSON escapes the characters of a JSON text that a terminal would act
// on. JSON itself already escapes the characters below U+0020.
func EscapeJSON(text []byte) []byte {
	acts := func(r rune) bool { return r >= 0x7f && Control(r) }
	if !slices.ContainsFunc(text, func(c byte) bool { return c >= 0x7f }) || bytes.IndexFunc(text, acts) < 0 {
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

// Control reports whether a terminal acts on a character instead of showing it:
// C0, C1, and the characters that change the direction of text (UAX #9).
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

// Continuous integration services run commands that they find in a log: Azure
// Pipelines runs ##vso[…], GitHub Actions runs ##[…], and TeamCity runs
// ##teamcity[…], at any position of a line. GitHub also runs :: at the start of
// a line.
var logCommand = regexp.MustCompile(`##[\w.]*\[`)

// quiet returns a text for a line of a log without commands: it separates two
// number signs that precede a word and a bracket.
func quiet(text string) string {
	return logCommand.ReplaceAllStringFunc(text, func(found string) string { return "# " + found[1:] })
}

// shownPath returns a path for the start of a line of a log. It puts ./ before
// a path that begins with an unusual character.
func shownPath(name string) string {
	name = quiet(printable(name))
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsLetter(first) || unicode.IsDigit(first) || first == '.' || first == '/' || first == '_' {
		return name
	}
	return "./" + name
}

// escaping writes JSON texts, each in one call of Write. It escapes the second
// of two number signs, which occur only in string literals.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	text := bytes.ReplaceAll(EscapeJSON(p), []byte("##"), []byte(`#\u0023`))
	if _, err := e.w.Write(text); err != nil {
		return 0, err //nolint:wrapcheck // a writer's own
	}
	return len(p), nil
}
