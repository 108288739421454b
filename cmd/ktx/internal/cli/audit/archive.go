package audit

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution/audit"
)

// archiveOptions are the flags of ktx audit archive.
type archiveOptions struct {
	before, to string
	dryRun     bool
}

func archiveCommand(a *console.App) *cobra.Command {
	var o archiveOptions
	c := &cobra.Command{
		Use:   "archive --before TIME --to FOLDER",
		Short: "Move old segments to a folder, in a way that the chain still verifies",
		Long: `Move the segments of the log whose events are all older than --before to a
folder. Nothing is deleted: you decide what becomes of the folder. The segment in
use stays, and other processes may go on writing.

The command verifies the log and then the copies. When both are whole, it writes
an event log.archived, which names the last event that moved, and then removes the
segments. Without that event, ktx audit verify reports a log whose beginning is
missing as broken. To prove that the log continues the archive, give the
anchor.json of the folder to ktx audit verify --anchor. To verify the archive
itself, run ktx audit verify --dir.

Exit codes: 0 moved, or nothing was old enough · 1 the chain is broken, nothing
was moved · 2 wrong usage · 3 it could not be done.`,
		Example: `  ktx audit archive --before 90d --to /var/archive/ktx
  ktx audit verify --anchor /var/archive/ktx/anchor.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.before == "" {
				return console.Usage("--before is required: the time before which events are moved")
			}
			before, err := moment("--before", o.before, time.Now())
			if err != nil {
				return err
			}
			if o.to == "" && !o.dryRun {
				return console.Usage("--to is required: the folder to move the segments to")
			}
			return archive(a, cmd, o, before)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.before, "before", "", "only events before this time: 2026-03-01, 2026-03-01T12:00:00Z, or 90d ago")
	flags.StringVar(&o.to, "to", "", "the folder to move the segments to; it is made when it is missing")
	flags.BoolVar(&o.dryRun, "dry-run", false, "say what would be moved")
	_ = c.MarkFlagDirname("to")
	return c
}

func archive(a *console.App, cmd *cobra.Command, o archiveOptions, before time.Time) error {
	p, err := wiring.LoadProject(a)
	if err != nil {
		return err
	}
	dir := p.Config.Audit.Dir(p.Dir)
	var moved audit.Archived
	if o.dryRun {
		moved, err = audit.Archivable(cmd.Context(), dir, before)
	} else {
		ctx := audit.WithActor(cmd.Context(), audit.Actor{
			Principal: "local", Client: audit.Client{Name: "ktx", Version: a.Version, Transport: "cli"},
		})
		moved, err = audit.Archive(ctx, dir, p.Config.Audit, o.to, before)
	}
	switch {
	case errors.Is(err, audit.ErrBroken):
		return &console.ExitError{Code: console.ExitFindings, Err: err}
	case err != nil:
		return notYet(dir, err)
	}
	printArchived(a, moved, o)
	return nil
}

func printArchived(a *console.App, moved audit.Archived, o archiveOptions) {
	if a.JSON {
		a.PrintJSON(struct {
			Schema string `json:"schema"`
			DryRun bool   `json:"dryRun"`
			To     string `json:"to,omitempty"`
			audit.Archived
		}{"ktx-audit-archive/1", o.dryRun, o.to, moved})
		return
	}
	if len(moved.Segments) == 0 {
		a.Printf("nothing to move: no segment has only events from before that time\n")
		return
	}
	verb := "moved"
	if o.dryRun {
		verb = "would move"
	}
	for _, name := range moved.Segments {
		a.Printf("%s %s\n", verb, console.EscapeControls(name))
	}
	a.Printf("%s, up to event %d, hash %s\n", console.Count(int(moved.Events), "event"), moved.Last.Seq, moved.Last.Hash)
}
