package sql

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research"
)

// The formats that only ktx sql has.
const (
	formatTable    = "table" // another name of pretty
	formatTSV      = "tsv"
	formatMarkdown = "markdown"
	formatParquet  = "parquet"
)

// formats are the formats of ktx sql.
var formats = []string{console.FormatPretty, formatTable, "plain", console.FormatJSON, console.FormatCSV, formatTSV, formatMarkdown, formatParquet}

// outputFlag adds --output to ktx sql.
func outputFlag(c *cobra.Command, output *string) {
	c.Flags().StringVar(output, "output", "", strings.Join(formats, ", ")+" (default: pretty on a terminal, plain elsewhere; json, csv, tsv and parquet are exact)")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// expansion says when a pretty table has one line for each value.
type expansion string

const (
	expandOn   expansion = "on"
	expandWide expansion = "auto"
)

var expansions = []string{"auto", "on", "off"}

// formatOf returns the format that the flags ask for.
func formatOf(a *console.App, asked string) (string, error) {
	switch asked {
	case formatTable:
		asked = console.FormatPretty
	case formatTSV, formatMarkdown, formatParquet:
		if a.JSON {
			return "", console.Usage("--json and --output %s contradict each other", asked)
		}
		if asked == formatParquet && a.Out.Terminal {
			return "", console.Usage("--output parquet is not for a terminal: redirect it into a file")
		}
		return asked, nil
	case "":
	default:
		if err := console.OneOf("--output", asked, formats); err != nil {
			return "", err
		}
	}
	return a.OutputFormat(asked)
}

// printResult prints the rows in a format. It reports whether it shortened values.
func printResult(ctx context.Context, a *console.App, format string, o runOptions, out *research.SQLExecutionOutput) (shortened bool, err error) {
	var b bytes.Buffer
	switch format {
	case console.FormatJSON:
		a.PrintRawJSON(rowsJSON(out))
		return false, nil
	case formatTSV:
		writeTSV(&b, out)
	case formatMarkdown:
		writeMarkdown(&b, out)
	case formatParquet:
		err = writeParquet(&b, out)
	case console.FormatPretty:
		text, shortened := a.Pretty(out.Headers, console.Cells(out.Rows), string(o.expanded))
		if o.noPager {
			_, _ = a.Out.Write(text)
		} else {
			a.Page(ctx, text)
		}
		return shortened, nil
	default:
		return a.Table(format, out.Headers, console.Cells(out.Rows)), nil
	}
	if err != nil {
		return false, console.Failed("write the rows as %s: %w", format, err)
	}
	_, _ = a.Out.Write(b.Bytes())
	return false, nil
}

// tsvEscapes are the escapes of PostgreSQL's COPY in its text format.
var tsvEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// writeTSV writes the headers and rows as PostgreSQL's COPY in its text format does: a
// tab between values, \N for NULL, and escapes with a backslash.
func writeTSV(b *bytes.Buffer, out *research.SQLExecutionOutput) {
	for i, h := range out.Headers {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(tsvEscapes.Replace(h))
	}
	b.WriteByte('\n')
	for _, row := range out.Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			if v.Kind == execution.Null {
				b.WriteString(`\N`)
			} else {
				b.WriteString(tsvEscapes.Replace(v.Text))
			}
		}
		b.WriteByte('\n')
	}
}

// markdownEscapes keeps a value in its cell.
var markdownEscapes = strings.NewReplacer("\\", `\\`, "|", `\|`, "<", "&lt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`)

// writeMarkdown writes a table of GitHub's Markdown. Numbers are aligned to the right.
func writeMarkdown(b *bytes.Buffer, out *research.SQLExecutionOutput) {
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	cells, rules := make([]string, len(out.Headers)), make([]string, len(out.Headers))
	for i, h := range out.Headers {
		cells[i], rules[i] = markdownEscapes.Replace(console.EscapeControls(h)), "---"
		if numeric(out, i) {
			rules[i] = "---:"
		}
	}
	line(cells)
	line(rules)
	for _, row := range out.Rows {
		for i, v := range row {
			cells[i] = "NULL"
			if v.Kind != execution.Null {
				cells[i] = markdownEscapes.Replace(console.EscapeControls(v.Text))
			}
		}
		line(cells)
	}
}

// numeric reports whether a column has numbers, and nothing else but NULL.
func numeric(out *research.SQLExecutionOutput, column int) bool {
	found := false
	for _, row := range out.Rows {
		switch row[column].Kind {
		case execution.Number:
			found = true
		case execution.Null:
		case execution.String, execution.Bool:
			return false
		}
	}
	return found
}

// exactDouble reports whether a number is the shortest text of a double, trailing zeros
// aside.
func exactDouble(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	digits := func(s string) string {
		s, _, _ = strings.Cut(strings.ToLower(s), "e")
		s = strings.Trim(strings.ReplaceAll(strings.TrimLeft(s, "+-"), ".", ""), "0")
		return s
	}
	return digits(strconv.FormatFloat(f, 'e', -1, 64)) == digits(text)
}

// uniqueNames returns the headers, with a number behind those that stood before.
func uniqueNames(headers []string) []string {
	seen := map[string]bool{}
	for _, h := range headers {
		seen[h] = true
	}
	used := map[string]bool{}
	out := make([]string, len(headers))
	for i, h := range headers {
		name := h
		for n := 2; used[name] || n > 2 && seen[name]; n++ {
			name = h + "_" + strconv.Itoa(n)
		}
		used[name], out[i] = true, name
	}
	return out
}
