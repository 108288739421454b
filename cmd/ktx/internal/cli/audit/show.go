package audit

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution/audit"
)

func showCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "show SEQ | QUERY_ID",
		Short: "Print one event, or all events of a statement, with all fields",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := logDir(a, cmd)
			if err != nil {
				return err
			}
			filter := audit.Filter{QueryID: args[0]}
			if seq, err := strconv.ParseInt(args[0], 10, 64); err == nil {
				if filter = (audit.Filter{Seq: seq}); seq < 1 {
					return console.Usage("events are numbered from 1")
				}
			}
			r, err := openLog(dir)
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			found := []json.RawMessage{}
			for rec, err := range r.All(cmd.Context()) {
				if err := noteBadLine(a, err); err != nil {
					return err
				}
				if err == nil && filter.Match(rec.Event) {
					found = append(found, bytes.TrimSpace(rec.Raw))
				}
			}
			if len(found) == 0 {
				return console.Usage("no event has the number or query id %s", console.EscapeControls(args[0]))
			}
			if a.JSON {
				a.PrintJSON(console.NewDocument("ktx-audit-events/1").With("events", found))
				return nil
			}
			for _, raw := range found {
				a.PrintJSON(raw)
			}
			return nil
		},
	}
}
