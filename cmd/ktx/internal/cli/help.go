package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
)

// usageTemplate returns cobra's template without the usage line of a group, which
// suggests that the group alone does something.
func usageTemplate(c *cobra.Command) string {
	return strings.Replace(c.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (not (eq (index .Annotations "`+console.AnnotationGroup+`") "yes"))}}`, 1)
}

// completionGroup makes the library's completion command answer like a group.
func completionGroup(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		console.MakeGroup(c)
	}
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []string
			for _, c := range at.Commands() {
				if c.IsAvailableCommand() {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at, rest, err := cmd.Root().Find(args)
			if err != nil {
				return console.Usage("%v", err)
			}
			if len(rest) > 0 {
				return console.UnknownCommand(at, rest[0])
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}
