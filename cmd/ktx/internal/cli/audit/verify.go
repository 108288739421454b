package audit

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution/audit"
)

func verifyCommand(a *console.App) *cobra.Command {
	var anchorFile string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check the chain: find any edit, deletion, reorder or truncation",
		Long: `Check the hash of every event and its place in the chain. The chain must reach
the log's own anchor, and the anchor that was kept elsewhere (--anchor FILE).

Exit codes: 0 the chain is whole · 1 it is not · 3 the log could not be read.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := logDir(a, cmd)
			if err != nil {
				return err
			}
			var anchors []audit.Anchor
			if anchorFile != "" {
				anchor, err := audit.LoadAnchor(anchorFile)
				if err != nil {
					return err
				}
				anchors = append(anchors, anchor)
			}
			rep, err := audit.Verify(cmd.Context(), dir, anchors...)
			if err != nil {
				return notYet(dir, err)
			}
			printVerify(a, rep)
			if !rep.OK {
				return &console.ExitError{Code: console.ExitFindings}
			}
			return nil
		},
	}
	c.Flags().StringVar(&anchorFile, "anchor", "", "an anchor.json that was copied elsewhere")
	return c
}

func printVerify(a *console.App, rep audit.Report) {
	if a.JSON {
		a.PrintJSON(struct {
			Schema string `json:"schema"`
			audit.Report
		}{"ktx-audit-verify/1", rep})
		return
	}
	for _, p := range rep.Problems {
		a.Printf("%s %s\n", a.Paint(a.Out, console.StyleRed, "broken"), console.EscapeControls(p.String()))
	}
	if rep.More > 0 {
		a.Printf("and %d more\n", rep.More)
	}
	for _, n := range rep.Notes {
		a.Printf("note   %s line %d: %s %s\n", console.EscapeControls(n.Segment), n.Line, console.EscapeControls(string(n.Event.Type)), console.EscapeControls(noteDetail(n.Event)))
	}
	if rep.OK {
		a.Printf("%s %s in %s, last hash %s\n", a.Paint(a.Out, console.StyleGreen, "whole "), console.Count(int(rep.Events), "event"), console.Count(len(rep.Segments), "segment"), rep.LastHash)
		if rep.Before > 0 {
			a.Printf("note   the log begins with event %d; the %s before it are in an archive\n", rep.Before+1, console.Count(int(rep.Before), "event"))
		}
		if rep.Unanchored > 0 {
			a.Printf("note   the last %d events are not anchored yet: their loss would not be found\n", rep.Unanchored)
		}
	}
}

// noteDetail returns what an event about the log itself says.
func noteDetail(e audit.Event) string {
	switch e.Type { //nolint:exhaustive // the other notes have a reason
	case audit.LogArchived:
		return fmt.Sprintf("events up to %d were moved to an archive", e.Log.KnownSeq)
	case audit.LogGap:
		return fmt.Sprintf("%s could not be recorded before it", console.Count(int(e.Log.Lost), "event"))
	default:
		return e.Log.Reason
	}
}
