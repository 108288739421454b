package console

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlcheck/report"
)

// The formats of tables.
const (
	FormatPretty = "pretty" // aligned, long values shortened
	formatPlain  = "plain"  // tab-separated, control characters escaped
	FormatJSON   = "json"
	FormatCSV    = "csv" // RFC 4180; NULL is empty, an empty text is ""
)

var tableFormats = []string{FormatPretty, formatPlain, FormatJSON, FormatCSV}

// OutputFlag adds --output to a command that prints a table.
func OutputFlag(c *cobra.Command, output *string) {
	c.Flags().StringVar(output, "output", "", "pretty, plain, json or csv (default: pretty on a terminal, plain elsewhere; json and csv are exact)")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(tableFormats, cobra.ShellCompDirectiveNoFileComp))
}

// OutputFormat returns the format of a table. The flag --output decides, which
// asked is the value of, or --json. Without them it is pretty on a terminal and
// plain elsewhere.
func (a *App) OutputFormat(asked string) (string, error) {
	if asked != "" {
		if err := OneOf("--output", asked, tableFormats); err != nil {
			return "", err
		}
	}
	switch {
	case asked != "" && asked != FormatJSON && a.JSON:
		return "", Usage("--json and --output %s contradict each other", asked)
	case asked != "":
		return asked, nil
	case a.JSON:
		return FormatJSON, nil
	case a.Out.Terminal && !a.automated():
		return FormatPretty, nil
	default:
		return formatPlain, nil
	}
}

// Cell is one value of a table.
type Cell struct {
	Text string
	Null bool
}

// Texts returns a row of cells with these texts.
func Texts(values ...string) []Cell {
	row := make([]Cell, len(values))
	for i, v := range values {
		row[i].Text = v
	}
	return row
}

// Table prints headers and rows in a format other than json. It reports whether
// it shortened values.
func (a *App) Table(format string, headers []string, rows [][]Cell) (shortened bool) {
	var b bytes.Buffer
	all := append([][]Cell{Texts(headers...)}, rows...)
	switch format {
	case FormatCSV:
		for _, row := range all {
			a.CSVRow(&b, row)
		}
	case formatPlain:
		for _, row := range all {
			for i, c := range row {
				if i > 0 {
					b.WriteByte('\t')
				}
				b.WriteString(c.Shown())
			}
			b.WriteByte('\n')
		}
	default:
		shortened = a.prettyTable(&b, all)
	}
	_, _ = a.Out.Write(b.Bytes())
	return shortened
}

// Shown returns the cell for people: control characters are escaped.
func (c Cell) Shown() string {
	if c.Null {
		return "NULL"
	}
	return EscapeControls(c.Text)
}

// CSVRow writes one record of RFC 4180. Values are exact, except on a terminal,
// where control characters are escaped.
func (a *App) CSVRow(b *bytes.Buffer, row []Cell) {
	for i, c := range row {
		if i > 0 {
			b.WriteByte(',')
		}
		text := c.Text
		if a.Out.Terminal {
			text = EscapeControls(text)
		}
		switch {
		case c.Null:
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

// MaxCell bounds the width of a column of a pretty table, in columns of the
// terminal.
const MaxCell = 80

// Pretty returns a pretty table. Expanded is on, off, or auto: on a terminal that is too
// narrow for the table, each value stands on a line of its own, as after \x in psql.
func (a *App) Pretty(headers []string, rows [][]Cell, expanded string) (text []byte, shortened bool) {
	var b bytes.Buffer
	if expanded != "on" {
		shortened = a.prettyTable(&b, append([][]Cell{Texts(headers...)}, rows...))
		width := a.Out.Columns()
		if expanded == "off" || width == 0 || len(rows) == 0 || widest(b.String()) <= width {
			return b.Bytes(), shortened
		}
		b.Reset()
	}
	shortened = a.expandedTable(&b, headers, rows)
	return b.Bytes(), shortened
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// widest returns the width of the longest line, without its colours.
func widest(text string) int {
	width := 0
	for line := range strings.Lines(sgr.ReplaceAllString(text, "")) {
		width = max(width, report.Width(strings.TrimRight(line, " \n")))
	}
	return width
}

// expandedTable writes a line for each value, and one before each row.
func (a *App) expandedTable(b *bytes.Buffer, headers []string, rows [][]Cell) (shortened bool) {
	width := 0
	names := make([]string, len(headers))
	for i, h := range headers {
		names[i] = Cell{Text: h}.Shown()
		width = max(width, report.Width(names[i]))
	}
	for n, row := range rows {
		b.WriteString(a.Paint(a.Out, StyleDim, "-[ row "+strconv.Itoa(n+1)+" ]-") + "\n")
		for i, c := range row {
			text := c.Shown()
			short := Shorten(text, MaxCell)
			shortened = shortened || short != text
			if c.Null {
				short = a.Paint(a.Out, StyleDim, short)
			}
			b.WriteString(a.Paint(a.Out, StyleBold, names[i]) + strings.Repeat(" ", width-report.Width(names[i])) + " | " + short + "\n")
		}
	}
	return shortened
}

func (a *App) prettyTable(b *bytes.Buffer, all [][]Cell) (shortened bool) {
	widths := make([]int, len(all[0]))
	shown := make([][]string, len(all))
	for n, row := range all {
		shown[n] = make([]string, len(row))
		for i, c := range row {
			text := c.Shown()
			short := Shorten(text, MaxCell)
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
				text = a.Paint(a.Out, StyleBold, text)
			case all[n][i].Null:
				text = a.Paint(a.Out, StyleDim, text)
			}
			b.WriteString(text)
			b.WriteString(pad)
		}
		b.WriteByte('\n')
	}
	return shortened
}

// Cells returns the rows of a result as rows of a table.
func Cells(rows [][]execution.Value) [][]Cell {
	out := make([][]Cell, len(rows))
	for i, row := range rows {
		out[i] = make([]Cell, len(row))
		for j, v := range row {
			out[i][j] = Cell{Text: v.Text, Null: v.Kind == execution.Null}
		}
	}
	return out
}
