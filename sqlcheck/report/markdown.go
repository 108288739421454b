package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// maxMarkdown is the most rows of a table. A comment on GitHub may have 64 KiB.
const maxMarkdown = 200

// writeMarkdown writes a table for a comment or a job summary.
func writeMarkdown(w io.Writer, c *Check) error {
	var b bytes.Buffer
	s := c.Summary
	fmt.Fprintf(&b, "### ktx sql check\n\n%s\n", SummaryLine(s))
	limited := *c
	if limited.Max <= 0 || limited.Max > maxMarkdown {
		limited.Max = maxMarkdown
	}
	rows := 0
	all := limited.shown(func(file *File, f *Finding) {
		rows++
		if rows == 1 {
			b.WriteString("\n| | place | code | finding |\n|---|---|---|---|\n")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Severity, code(fmt.Sprintf("%s:%d:%d", file.Path, f.Line, f.Column)), code(string(f.Code)), code(f.advice()))
	})
	if all > rows {
		fmt.Fprintf(&b, "\n%d more are not shown.\n", all-rows)
	}
	_, err := b.WriteTo(w)
	return err //nolint:wrapcheck // Write says what it did
}

// code returns text as an HTML code element in which every character of
// punctuation is a character reference. So no markup, link, mention or command
// in it has an effect.
func code(text string) string {
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range printable(text) {
		plain := r >= 0x80 || r == ' ' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if plain {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}

// SummaryLine returns the summary as a sentence.
func SummaryLine(s Summary) string {
	line := fmt.Sprintf("%s, %s: %d refused, %s not checked", plural(s.Files, "file"), plural(s.Statements, "statement"), s.Refused, plural(s.NotChecked, "file"))
	if s.Skipped > 0 {
		var engines []string
		for _, name := range slices.Sorted(maps.Keys(s.Engines)) {
			engines = append(engines, fmt.Sprintf("%d for %s", s.Engines[name], printable(name)))
		}
		line += fmt.Sprintf(", %s skipped, whose dialect has no reader (%s)", plural(s.Skipped, "file"), strings.Join(engines, ", "))
	}
	if s.Holes > 0 {
		line += fmt.Sprintf(", %s that nothing proves", plural(s.Holes, "hole"))
	}
	if s.Suppressed > 0 {
		line += fmt.Sprintf(", %s permitted by a comment", plural(s.Suppressed, "finding"))
	}
	if s.Baseline > 0 {
		line += fmt.Sprintf(", %s in the baseline", plural(s.Baseline, "finding"))
	}
	return line
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
