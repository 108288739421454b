package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution/audit"
)

func tailCommand(a *console.App) *cobra.Command {
	var (
		n      int
		follow bool
		filter conditions
	)
	c := &cobra.Command{
		Use:   "tail",
		Short: "Print the last events",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := logDir(a, cmd)
			if err != nil {
				return err
			}
			if n < 1 {
				return console.Usage("--lines %d: expected at least 1", n)
			}
			if err := filter.resolve(cmd, time.Now()); err != nil {
				return err
			}
			r, err := openLog(dir)
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			for rec, err := range r.Tail(cmd.Context(), n, follow, filter.Filter) {
				if _, bad := errors.AsType[*audit.LineError](err); bad {
					a.Errorf("note: %s\n", console.EscapeControls(err.Error()))
					continue
				}
				if err != nil {
					if follow && cmd.Context().Err() != nil {
						return nil
					}
					return err
				}
				if a.JSON {
					a.PrintRawJSON(append(bytes.TrimSpace(rec.Raw), '\n'))
				} else {
					a.Printf("%s\n", eventLine(a, rec.Event))
				}
				if a.Out.Failure() != nil {
					return nil
				}
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.IntVarP(&n, "lines", "n", 20, "number of events")
	flags.BoolVarP(&follow, "follow", "f", false, "wait for further events")
	filter.addCommon(a, c)
	return c
}

// eventLine returns one event as one line.
func eventLine(a *console.App, e audit.Event) string {
	line := fmt.Sprintf("%s  %6d  %-15s", e.Time.UTC().Format("2006-01-02 15:04:05.000"), e.Seq, console.EscapeControls(string(e.Type)))
	if who := whoAsked(e); who != "" {
		line += "  " + console.EscapeControls(who)
	}
	if e.Connection.ID != "" {
		line += "  " + console.EscapeControls(e.Connection.ID)
	}
	if e.Tool.Name != "" {
		line += "  " + console.EscapeControls(e.Tool.Name)
	}
	if e.Reason != "" {
		line += "  " + console.EscapeControls(e.Reason)
	}
	if e.Unrecorded > 0 {
		line += fmt.Sprintf("  and %d more before it", e.Unrecorded)
	}
	switch {
	case e.Decision.Verdict == audit.VerdictReject:
		line += "  " + a.Paint(a.Out, console.StyleRed, "reject") + " " + console.EscapeControls(strings.Join(e.Decision.Codes, ","))
	case e.Decision.Verdict != "":
		line += "  " + a.Paint(a.Out, console.StyleGreen, console.EscapeControls(e.Decision.Verdict))
	case e.Result.Status != "":
		line += "  " + console.EscapeControls(e.Result.Status)
		if e.Result.Code != "" {
			line += " " + console.EscapeControls(e.Result.Code)
		} else {
			line += fmt.Sprintf(" %s %.1f ms", console.Count(int(e.Result.Rows), "row"), e.Result.ExecMS)
		}
	}
	if e.SQL.Normalized != "" {
		line += "  " + console.Shorten(console.EscapeControls(e.SQL.Normalized), 100)
	}
	return strings.TrimRight(line, " ")
}

// whoAsked returns the principal of an event, with the user of the operating system and
// the address, as far as they are known.
func whoAsked(e audit.Event) string {
	who := e.Principal
	if e.Client.User != "" {
		who += " (" + e.Client.User + ")"
	}
	if e.Client.Address != "" {
		who += " " + e.Client.Address
	}
	return strings.TrimSpace(who)
}
