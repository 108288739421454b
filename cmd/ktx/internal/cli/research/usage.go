package research

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/usage"
)

// UsageCommand returns the command ktx usage.
func UsageCommand(a *console.App) *cobra.Command {
	return console.Group("usage", "Count which tables, columns and joins statements use", usageBuildCommand(a))
}

func usageBuildCommand(a *console.App) *cobra.Command {
	var connection string
	var since time.Duration
	c := &cobra.Command{
		Use:   "build",
		Short: "Count the statements in the audit log, for search and for entity_details",
		Long: `Read the audit log of the project, and count for each connection how many accepted
statements read each table and each column, when they last did, and which pairs of
columns they joined. The counts go to raw-sources/CONNECTION/usage/usage.json, which
the team can commit. It holds no principal, no statement and no literal.

With search.usage: true in ktx.yaml, ktx orders search results that are otherwise
equal by these counts, and entity_details shows them. The next scan takes columns
that at least five statements joined as candidates for a relationship.

Only tables of the last scan are counted. Statements of scans are left out, and so
are statements that ended with an error.

Exit codes: 0 done · 2 wrong usage or configuration · 3 the log could not be read.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("since") && since <= 0 {
				return console.Usage("--since %s: expected more than 0", since)
			}
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				return buildUsage(ctx, a, open, connection, since)
			})
		},
	}
	flags := c.Flags()
	flags.StringVarP(&connection, "connection", "c", "", "count this connection only")
	flags.DurationVar(&since, "since", 0, "count the statements of this time until now, such as 720h (default: the whole log)")
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

// buildUsage counts and writes the artifacts.
func buildUsage(ctx context.Context, a *console.App, open *wiring.OpenProject, connection string, since time.Duration) (err error) {
	p := open.Project
	r, err := audit.OpenReader(p.Config.Audit.Dir(p.Dir))
	if err != nil {
		return console.Failed("read the audit log: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	now := time.Now()
	statements := audit.Statements(r.All(ctx))
	if since > 0 {
		all, from := statements, now.Add(-since)
		statements = func(yield func(audit.Statement, error) bool) {
			for s, err := range all {
				if (err != nil || !s.Decision.Time.Before(from)) && !yield(s, err) {
					return
				}
			}
		}
	}
	out, err := open.Service.Usage(ctx, research.UsageInput{ConnectionID: connection, Statements: statements, Dialect: dialects.Lookup, Now: now})
	if err != nil {
		return err
	}
	for _, f := range out.Files {
		if err := writeUsage(p.Dir, f); err != nil {
			return console.Failed("write usage of %s: %w", f.ConnectionID, err)
		}
	}
	if a.JSON {
		a.PrintJSON(struct {
			Schema string `json:"schema"`
			research.Usage
		}{"ktx-usage/1", out})
		return nil
	}
	for _, f := range out.Files {
		a.Printf("%s: %d statements, %d tables, %d columns, %d joins\n", f.ConnectionID, f.Statements, len(f.Tables), len(f.Columns), len(f.Joins))
		if f.Unread > 0 {
			a.Errorf("warning: %s: %d statements could not be read again from the log\n", f.ConnectionID, f.Unread)
		}
	}
	for _, s := range out.Skipped {
		a.Errorf("warning: %s was not counted: %s\n", s.ConnectionID, s.Reason)
	}
	if out.Damaged > 0 {
		a.Errorf("warning: the audit log could not be read in %d places; see ktx audit verify\n", out.Damaged)
	}
	if !p.Config.Search.Usage {
		a.Errorf("note: search does not use the counts; set search.usage: true in %s\n", filepath.Base(p.File))
	}
	return nil
}

// writeUsage replaces the artifact of a connection as a whole.
func writeUsage(dir string, f *usage.File) error {
	text, err := f.Encode()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, filepath.FromSlash(usage.Path(f.ConnectionID)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // an artifact is shared through version control
		return err
	}
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
