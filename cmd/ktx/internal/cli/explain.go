package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain CODE",
		Short: "Explain a code: what it means, why, and how to write it safely",
		Long:  "Explain a code. Without CODE, list all codes.",
		Args:  cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codeNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listCodes()
			}
			name := strings.ToLower(strings.TrimSpace(args[0]))
			info, ok := sqlguard.LookupCode(sqlguard.Code(name))
			if !ok {
				near := ""
				if n := execution.Nearest(name, codeNames()); n != "" {
					near = "; did you mean " + n + "?"
				}
				return usage("unknown code %q%s (ktx explain lists all)", args[0], near)
			}
			if a.json {
				a.printJSON(struct {
					Schema string `json:"schema"`
					sqlguard.CodeInfo
					Page  string   `json:"page"`
					Cases []string `json:"cases"`
				}{"ktx-code/1", info, info.Page, casesOf(info.Code)})
				return nil
			}
			a.printf("%s", info.Page)
			if cases := casesOf(info.Code); len(cases) > 0 {
				a.printf("\n## Cases\n\n%d in the corpus (ktx corpus show ID): %s\n", len(cases), strings.Join(cases[:min(len(cases), 12)], ", "))
			}
			return nil
		},
	}
}

// casesOf returns the ids of the corpus cases that this code explains best.
func casesOf(code sqlguard.Code) []string {
	ids := []string{}
	for _, c := range corpus.Cases() {
		if len(c.Codes) > 0 && c.Codes[0] == string(code) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func codeNames() []string {
	var names []string
	for _, c := range sqlguard.Codes() {
		names = append(names, string(c.Code))
	}
	return names
}

func (a *app) listCodes() error {
	if a.json {
		a.printJSON(map[string]any{"schema": "ktx-codes/1", "codes": sqlguard.Codes()})
		return nil
	}
	format, err := a.outputFormat("")
	if err != nil {
		return err
	}
	var rows [][]string
	for _, c := range sqlguard.Codes() {
		rows = append(rows, []string{string(c.Code), string(c.Family), c.Summary})
	}
	return a.table(format, []string{"code", "family", "summary"}, rows)
}
