package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/sqlcheck/report"
)

// The formats of tables.
const (
	formatPretty = "pretty" // aligned, long values shortened
	formatPlain  = "plain"  // tab-separated, control characters escaped
	formatJSON   = "json"
	formatCSV    = "csv" // RFC 4180; NULL is empty, an empty text is ""
)

var tableFormats = []string{formatPretty, formatPlain, formatJSON, formatCSV}

// outputFlag adds --output to a command that prints a table.
func outputFlag(c *cobra.Command, output *string) {
	c.Flags().StringVar(output, "output", "", "pretty, plain, json or csv (default: pretty on a terminal, plain elsewhere; json and csv are exact)")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(tableFormats, cobra.ShellCompDirectiveNoFileComp))
}

// outputFormat returns the format of a table: what --output or --json asks for,
// else pretty on a terminal and plain elsewhere.
func (a *app) outputFormat(asked string) (string, error) {
	if asked != "" {
		if err := oneOf("--output", asked, tableFormats); err != nil {
			return "", err
		}
	}
	switch {
	case asked != "" && asked != formatJSON && a.json:
		return "", usage("--json and --output %s contradict each other", asked)
	case asked != "":
		return asked, nil
	case a.json:
		return formatJSON, nil
	case a.out.terminal && !a.automated():
		return formatPretty, nil
	default:
		return formatPlain, nil
	}
}

// automated reports whether a build system runs the command.
func (a *app) automated() bool {
	value, _ := a.lookup("CI")
	return value != "" && value != "false" && value != "0"
}

// printJSON writes v as one JSON document with a line end.
func (a *app) printJSON(v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		a.out.fail(err)
		return
	}
	a.printRawJSON(b.Bytes())
}

// document is a JSON object whose members keep their order, so that the name
// of its shape comes first.
type document []member

type member struct {
	key   string
	value any
}

// newDocument returns a document of a shape, which schema names.
func newDocument(schema string) document { return document{}.with("schema", schema) }

// with returns the document with one more member at its end.
func (d document) with(key string, value any) document {
	return append(slices.Clip(d), member{key, value})
}

// MarshalJSON writes the members in order.
func (d document) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, m := range d {
		b.WriteByte("{,"[min(i, 1)])
		if err := e.Encode(m.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// printRawJSON writes a JSON text. What a terminal would act upon is escaped,
// which changes no value.
func (a *app) printRawJSON(text []byte) { _, _ = a.out.Write(report.EscapeJSON(text)) }

// cell is one value of a table.
type cell struct {
	text string
	null bool
}

// texts makes a row of cells.
func texts(values ...string) []cell {
	row := make([]cell, len(values))
	for i, v := range values {
		row[i].text = v
	}
	return row
}

// table prints headers and rows in a format other than json, and says whether
// values were shortened.
func (a *app) table(format string, headers []string, rows [][]cell) (shortened bool) {
	var b bytes.Buffer
	all := append([][]cell{texts(headers...)}, rows...)
	switch format {
	case formatCSV:
		for _, row := range all {
			a.csvRow(&b, row)
		}
	case formatPlain:
		for _, row := range all {
			for i, c := range row {
				if i > 0 {
					b.WriteByte('\t')
				}
				b.WriteString(c.shown())
			}
			b.WriteByte('\n')
		}
	default:
		shortened = a.prettyTable(&b, all)
	}
	_, _ = a.out.Write(b.Bytes())
	return shortened
}

// shown is the cell as people read it.
func (c cell) shown() string {
	if c.null {
		return "NULL"
	}
	return escapeControls(c.text)
}

// csvRow writes one record. Values are verbatim, except on a terminal.
func (a *app) csvRow(b *bytes.Buffer, row []cell) {
	for i, c := range row {
		if i > 0 {
			b.WriteByte(',')
		}
		text := c.text
		if a.out.terminal {
			text = escapeControls(text)
		}
		switch {
		case c.null:
		case text == "" || strings.ContainsAny(text, "\",\r\n") || strings.TrimSpace(text) != text:
			b.WriteByte('"')
			b.WriteString(strings.ReplaceAll(text, `"`, `""`))
			b.WriteByte('"')
		default:
			b.WriteString(text)
		}
	}
	b.WriteByte('\n')
}

// maxCell bounds the width of a column of a pretty table.
const maxCell = 80

func (a *app) prettyTable(b *bytes.Buffer, all [][]cell) (shortened bool) {
	widths := make([]int, len(all[0]))
	shown := make([][]string, len(all))
	for n, row := range all {
		shown[n] = make([]string, len(row))
		for i, c := range row {
			text := c.shown()
			short := shorten(text, maxCell)
			shortened = shortened || short != text
			shown[n][i] = short
			widths[i] = max(widths[i], report.Width(short))
		}
	}
	for n, row := range shown {
		for i, text := range row {
			pad := ""
			if i < len(row)-1 {
				pad = strings.Repeat(" ", widths[i]-report.Width(text)+2)
			}
			switch {
			case n == 0:
				text = a.paint(a.out, styleBold, text)
			case all[n][i].null:
				text = a.paint(a.out, styleDim, text)
			}
			b.WriteString(text)
			b.WriteString(pad)
		}
		b.WriteByte('\n')
	}
	return shortened
}

// escapeControls makes line ends and control characters visible: data must
// not move the cursor, turn the direction of text or break a column.
func escapeControls(s string) string {
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

// escapeLines is escapeControls that keeps the lines.
func escapeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = escapeControls(strings.TrimSuffix(lines[i], "\r"))
	}
	return strings.Join(lines, "\n")
}

func writeEscape(w io.Writer, r rune) { _, _ = fmt.Fprintf(w, `\u%04x`, r) }

// shorten cuts s to n columns of a terminal, the last of them an ellipsis.
func shorten(s string, n int) string {
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

// count is a number with its noun: "1 file", "2 files".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
