package report

import (
	"bytes"
	"fmt"
	"io"
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

// escaping writes JSON texts, each in one call of Write.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	if _, err := e.w.Write(EscapeJSON(p)); err != nil {
		return 0, err //nolint:wrapcheck // a writer's own
	}
	return len(p), nil
}
