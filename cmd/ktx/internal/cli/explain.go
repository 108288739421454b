package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

func (a *app) explainCommand() *cobra.Command {
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
			for _, c := range sqlguard.Codes() {
				out = append(out, cobra.CompletionWithDesc(string(c.Code), c.Summary))
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listCodes(output)
			}
			if cmd.Flags().Changed("output") {
				return usage("--output is for the list of codes; a page is text, or JSON with --json")
			}
			name := strings.ToLower(strings.TrimSpace(args[0]))
			info, ok := sqlguard.LookupCode(sqlguard.Code(name))
			if !ok {
				return usage("unknown code %q%s (ktx explain lists all)", args[0], didYouMean(name, codeNames()))
			}
			if a.json {
				a.printJSON(struct {
					Schema string `json:"schema"`
					sqlguard.CodeInfo
					Page  string   `json:"page"`
					Cases []string `json:"cases"`
				}{"ktx-code/1", info, report.Help(info), report.Cases(info.Code)})
				return nil
			}
			a.printf("%s", report.Help(info))
			return nil
		},
	}
	outputFlag(c, &output)
	return c
}

func codeNames() []string {
	var names []string
	for _, c := range sqlguard.Codes() {
		names = append(names, string(c.Code))
	}
	return names
}

func (a *app) listCodes(output string) error {
	format, err := a.outputFormat(output)
	if err != nil {
		return err
	}
	if format == formatJSON {
		a.printJSON(newDocument("ktx-codes/1").with("codes", sqlguard.Codes()))
		return nil
	}
	var rows [][]cell
	for _, c := range sqlguard.Codes() {
		rows = append(rows, texts(string(c.Code), string(c.Family), c.Summary))
	}
	a.table(format, []string{"code", "family", "summary"}, rows)
	return nil
}
