package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// printf writes to standard output; errorf to standard error. A closed pipe is
// no fault of the command.
func (a *app) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.out, format, args...) }
func (a *app) errorf(format string, args ...any) { _, _ = fmt.Fprintf(a.err, format, args...) }

// printJSON writes v as one JSON document with a line end.
func (a *app) printJSON(v any) {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v)
}

// terminal reports whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // a descriptor fits an int
}

// colored reports whether w gets colour.
func (a *app) colored(w io.Writer) bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	if _, set := a.lookup("NO_COLOR"); set {
		return false
	}
	return terminal(w)
}

// The styles of terminal output (ECMA-48, SGR).
const (
	styleBold   = "1"
	styleRed    = "31"
	styleGreen  = "32"
	styleYellow = "33"
	styleDim    = "2"
)

// paint puts text in a style when w gets colour.
func (a *app) paint(w io.Writer, style, text string) string {
	if !a.colored(w) {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// outputFormat returns the format of a table: what --output or --json asks for,
// else pretty on a terminal and plain elsewhere.
func (a *app) outputFormat(asked string) (string, error) {
	switch {
	case a.json:
		return "json", nil
	case asked == "":
		if _, ci := a.lookup("CI"); !ci && terminal(a.out) {
			return "pretty", nil
		}
		return "plain", nil
	case asked == "pretty", asked == "plain", asked == "json", asked == "csv":
		return asked, nil
	default:
		return "", usage("--output %s: expected pretty, plain, json or csv", asked)
	}
}

// table prints headers and rows in a format other than json.
func (a *app) table(format string, headers []string, rows [][]string) error {
	switch format {
	case "csv":
		w := csv.NewWriter(a.out)
		if err := w.Write(headers); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
		if err := w.WriteAll(rows); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
		return nil
	case "plain":
		for _, row := range append([][]string{headers}, rows...) {
			for i, cell := range row {
				row[i] = escapeControls(cell)
			}
			a.printf("%s\n", strings.Join(row, "\t"))
		}
		return nil
	}
	widths := make([]int, len(headers))
	clean := make([][]string, 0, len(rows)+1)
	for _, row := range append([][]string{headers}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = shorten(escapeControls(cell), 80)
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		clean = append(clean, cells)
	}
	for n, row := range clean {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
			}
		}
		text := line.String()
		if n == 0 {
			text = a.paint(a.out, styleBold, text)
		}
		a.printf("%s\n", text)
	}
	return nil
}

// escapeControls makes line ends and control characters visible: data must
// not move the cursor or break a column.
func escapeControls(s string) string {
	if strings.IndexFunc(s, control) < 0 {
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
		case control(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func control(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
