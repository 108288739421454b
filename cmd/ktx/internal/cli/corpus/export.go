package corpus

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/corpus"
)

// formatJSONL has one case on each line.
const formatJSONL = "jsonl"

func exportCommand(a *console.App) *cobra.Command {
	var (
		filter  caseFilter
		mutants mutation
		format  string
	)
	c := &cobra.Command{
		Use:   "export",
		Short: "Print the cases with all their fields, for other programs",
		Long: `Print the cases with all their fields, for other programs. json is the format of
cases.json. jsonl has one case on each line, as ktx corpus run --corpus reads it.
csv has one case in each row (RFC 4180); a space separates the items of a list.

In csv, a statement that contains NUL or is not valid UTF-8 is in sql_b64 instead
of sql. Cells are exact. Import the column as text, because a spreadsheet takes
some statements for a formula.`,
		Example: `  ktx corpus export --dialect postgres --format csv > cases.csv`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := console.OneOf("--format", format, []string{console.FormatJSON, formatJSONL, console.FormatCSV}); err != nil {
				return err
			}
			if a.JSON && format == console.FormatCSV {
				return console.Usage("--json and --format csv contradict each other")
			}
			cases, err := filter.of(corpus.Cases(), classNames())
			if err != nil {
				return err
			}
			if len(cases) == 0 {
				return console.Usage("no case is selected")
			}
			if cases, err = mutants.of(cases); err != nil {
				return err
			}
			var b bytes.Buffer
			switch format {
			case console.FormatCSV:
				casesCSV(a, cases)
				return nil
			case formatJSONL:
				err = corpus.WriteJSONLines(&b, cases)
			default:
				err = corpus.WriteJSON(&b, corpus.Version(), cases)
			}
			if err != nil {
				return console.Failed("%w", err)
			}
			a.PrintRawJSON(b.Bytes())
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", console.FormatJSON, "json, jsonl or csv")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{console.FormatJSON, formatJSONL, console.FormatCSV}, cobra.ShellCompDirectiveNoFileComp))
	filter.flags(c)
	mutants.flags(c)
	return c
}

// casesCSV prints one case in each row. A value that a case does not have is an
// empty cell.
func casesCSV(a *console.App, cases []corpus.Case) {
	headers := []string{
		"id", "class", "dialect", "flavour", "title", "sql", "sql_b64", "expect", "codes", "policy_key", "policy_default", "effect", "contained_by_read_only_tx",
		"engine", "engine_min", "engine_max", "engine_needs", "cwe", "cve", "urls", "benign_twin", "since",
	}
	var rows [][]console.Cell
	for _, c := range cases {
		row := console.Texts(c.ID, c.Class, c.Dialect, c.Flavour, c.Title)
		if utf8.ValidString(c.SQL) && !strings.ContainsRune(c.SQL, 0) {
			row = append(row, console.Cell{Text: c.SQL}, console.Cell{Null: true})
		} else {
			row = append(row, console.Cell{Null: true}, console.Cell{Text: base64.StdEncoding.EncodeToString([]byte(c.SQL))})
		}
		row = append(row, console.Texts(string(c.Expect), strings.Join(c.Codes, " "))...)
		policy, engine := corpus.PolicyNote{}, corpus.Engine{}
		if c.Policy != nil {
			policy = *c.Policy
		}
		if c.Engine != nil {
			engine = *c.Engine
		}
		kind, contained := "", ""
		if c.Effect != nil {
			kind = c.Effect.Kind
			if c.Effect.ContainedByReadOnlyTx != nil {
				contained = "false"
				if *c.Effect.ContainedByReadOnlyTx {
					contained = "true"
				}
			}
		}
		row = append(row, console.Texts(
			policy.Key, string(policy.Default), kind, contained, engine.Name, engine.Min, engine.Max, strings.Join(engine.Needs, " "),
			strings.Join(c.Refs.CWE, " "), strings.Join(c.Refs.CVE, " "), strings.Join(c.Refs.URLs, " "), c.BenignTwin, c.Since,
		)...)
		for i := range row {
			row[i].Null = row[i].Null || row[i].Text == "" && headers[i] != "sql"
		}
		rows = append(rows, row)
	}
	a.Table(console.FormatCSV, headers, rows)
}
