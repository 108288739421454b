package sql

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// ExplainCommand returns the command ktx explain.
func ExplainCommand(a *console.App) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain a code: what it means, why, and how to write it safely",
		Long:  "Explain a code. Without CODE, list all codes.",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []string
			for _, c := range allCodes() {
				out = append(out, cobra.CompletionWithDesc(string(c.Code), c.Summary))
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listCodes(a, output)
			}
			if cmd.Flags().Changed("output") {
				return console.Usage("--output applies to the list of codes only; one code is printed as text, or as JSON with --json")
			}
			name := strings.TrimSpace(args[0])
			codes := allCodes()
			i := slices.IndexFunc(codes, func(c sqlguard.CodeInfo) bool { return strings.EqualFold(string(c.Code), name) })
			if i < 0 {
				var names []string
				for _, c := range codes {
					names = append(names, string(c.Code))
				}
				return console.Usage("unknown code %q%s (ktx explain lists all)", args[0], console.DidYouMean(strings.ToLower(name), names))
			}
			info := codes[i]
			if a.JSON {
				a.PrintJSON(struct {
					Schema string `json:"schema"`
					sqlguard.CodeInfo
					Page  string   `json:"page"`
					Cases []string `json:"cases"`
				}{"ktx-code/1", info, report.Help(info), report.Cases(info.Code)})
				return nil
			}
			a.Printf("%s", report.Help(info))
			return nil
		},
	}
	console.OutputFlag(c, &output)
	return c
}

// allCodes returns the codes of the guard, those of the profile for migrations, and those
// that only tools have.
func allCodes() []sqlguard.CodeInfo {
	return slices.Concat(sqlguard.Codes(), migration.Codes(), research.Codes())
}

func listCodes(a *console.App, output string) error {
	format, err := a.OutputFormat(output)
	if err != nil {
		return err
	}
	if format == console.FormatJSON {
		a.PrintJSON(console.NewDocument("ktx-codes/1").With("codes", allCodes()))
		return nil
	}
	var rows [][]console.Cell
	for _, c := range allCodes() {
		rows = append(rows, console.Texts(string(c.Code), string(c.Family), c.Summary))
	}
	a.Table(format, []string{"code", "family", "summary"}, rows)
	return nil
}
