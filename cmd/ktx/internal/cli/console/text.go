package console

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/report"
)

// DisplayPath returns a path relative to the current directory when it lies below
// it, and the path itself otherwise.
func DisplayPath(path string) string {
	current, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(current, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// EscapeControls makes line ends and control characters visible, so that text from
// elsewhere cannot move the cursor, change the direction of text or break a column.
func EscapeControls(s string) string {
	if strings.IndexFunc(s, report.Control) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case report.Control(r):
			writeEscape(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// EscapeLines is [EscapeControls] for each line; it keeps the line ends.
func EscapeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = EscapeControls(strings.TrimSuffix(lines[i], "\r"))
	}
	return strings.Join(lines, "\n")
}

func writeEscape(w io.Writer, r rune) { _, _ = fmt.Fprintf(w, `\u%04x`, r) }

// Shorten cuts s to n columns of a terminal, and ends what it cuts with an
// ellipsis.
func Shorten(s string, n int) string {
	if len(s) <= n || report.Width(s) <= n {
		return s
	}
	width := 0
	for i, r := range s {
		if width += report.Width(string(r)); width > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// Count returns a number with its noun: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
