package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
)

func manCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write man pages of every command into a folder",
		Args:   cobra.ExactArgs(1),
		Long:   "Write one man page for each command into a folder, dated by SOURCE_DATE_EPOCH when that is set.",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // man pages are for everyone
				return fmt.Errorf("write man pages: %w", err)
			}
			if err := doc.GenManTree(cmd.Root(), &doc.GenManHeader{Section: "1", Source: "ktx " + a.Version, Manual: "ktx"}, args[0]); err != nil {
				return fmt.Errorf("write man pages: %w", err)
			}
			return nil
		},
	}
}
