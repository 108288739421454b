package cli

import (
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
)

// usage returns the library's usage without the line of a group, which suggests that the
// group alone does something. A template of the library would do the same, but the linker
// then keeps every method of ktx: 6 MB.
func usage(library func(*cobra.Command) error) func(*cobra.Command) error {
	return func(c *cobra.Command) error {
		if c.Annotations[console.AnnotationGroup] == "yes" {
			run := c.RunE
			c.RunE = nil
			defer func() { c.RunE = run }()
		}
		return library(c)
	}
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
