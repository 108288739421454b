package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/audit"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/corpus"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/mcp"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/research"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/scan"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/semantic"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/setup"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/skills"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/sql"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/upstream"
)

// newRoot returns the command ktx with all commands below it.
func newRoot(a *console.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "ktx",
		Short: "Run agents' SQL safely: judged by the parser, read-only, limited, recorded",
		Long: `ktx judges SQL with the parser of its dialect, refuses whatever is not a pure
read, runs the rest in a read-only session with limits, and records it.

Start with:  ktx demo

Exit codes: 0 done · 1 findings, or refused by policy · 2 wrong usage or
configuration · 3 it could not be done.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		Annotations:   map[string]string{console.AnnotationGroup: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, _ := cmd.Flags().GetBool("version"); asked && len(args) == 0 {
				a.Printf("ktx %s\n", a.Version)
				return nil
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			return console.UnknownCommand(cmd, args[0])
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.Started = true
			return checkGlobalFlags(a, cmd)
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(a, c, err) })
	root.SetUsageFunc(usage(root.UsageFunc()))
	root.Flags().BoolP("version", "v", false, "version for ktx") // ktx version says more
	flags := root.PersistentFlags()
	flags.StringVar(&a.ProjectDir, "project-dir", "", "project directory (default: the nearest folder with a ktx.yaml)")
	flags.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	flags.StringVar(&a.Color, "color", "auto", "colour: auto, always or never")
	_ = root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	_ = root.MarkPersistentFlagDirname("project-dir")
	root.AddCommand(
		project.DemoCommand(a), project.InitCommand(a), sql.Command(a), sql.ExplainCommand(a), sql.LSPCommand(a), project.ConnectionCommand(a), project.DoctorCommand(a),
		scan.Command(a), scan.IngestCommand(a),
		project.StatusCommand(a), research.DiscoverCommand(a), research.EntityCommand(a), research.DictionaryCommand(a), research.WikiCommand(a), research.MemoryCommand(a),
		semantic.Command(a), skills.Command(a), upstream.Command(a), research.UsageCommand(a), audit.Command(a), project.ConfigCommand(a), corpus.Command(a), mcp.Command(a), setup.Command(a), versionCommand(a), manCommand(a),
	)
	root.SetHelpCommand(helpCommand())
	completionGroup(root)
	countArgs(root)
	return root
}

// checkGlobalFlags checks the flags that all commands have.
func checkGlobalFlags(a *console.App, cmd *cobra.Command) error {
	switch a.Color {
	case "auto", "always", "never":
	default:
		err := console.Usage("--color %s: expected auto, always or never", a.Color)
		a.Color = "never"
		return err
	}
	if cmd.Flags().Changed("project-dir") && strings.TrimSpace(a.ProjectDir) == "" {
		return console.Usage("--project-dir is blank")
	}
	return nil
}
