package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
)

func (a *app) auditCommand() *cobra.Command {
	c := group("audit", "Read and verify the audit log",
		a.auditTail(), a.auditQuery(), a.auditShow(), a.auditVerify(), a.auditExport(), a.auditStats(), a.auditArchive())
	for _, sub := range c.Commands() {
		if sub.Name() != "archive" {
			sub.Flags().String("dir", "", "read the log in this folder, such as an archive, not the project's")
			_ = sub.MarkFlagDirname("dir")
		}
	}
	return c
}

// auditDir returns the directory of the log that a command reads: the
// project's, unless --dir names another.
func (a *app) auditDir(cmd *cobra.Command) (string, error) {
	if dir, err := cmd.Flags().GetString("dir"); err == nil && cmd.Flags().Changed("dir") {
		if dir == "" {
			return "", usage("--dir is blank")
		}
		return dir, nil
	}
	p, err := a.project()
	if err != nil {
		return "", err
	}
	if f := cmd.Flags().Lookup("connection"); f != nil && f.Changed {
		a.noteConnection(p, f.Value.String())
	}
	return p.Config.Audit.Dir(p.Dir), nil
}

// noteConnection tells of a connection that ktx.yaml does not have. The log may
// have it all the same, from an earlier time.
func (a *app) noteConnection(p *project.Project, id string) {
	if _, ok := p.Config.Connections[id]; !ok {
		near := didYouMean(id, slices.Sorted(maps.Keys(p.Config.Connections)))
		a.errorf("note: %s has no connection %s%s\n", project.FileName, escapeControls(id), near)
	}
}

func (a *app) auditTail() *cobra.Command {
	var (
		n      int
		follow bool
		filter auditFilter
	)
	c := &cobra.Command{
		Use:   "tail",
		Short: "Print the last events",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.auditDir(cmd)
			if err != nil {
				return err
			}
			if n < 1 {
				return usage("--lines %d: expected at least 1", n)
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
					a.errorf("note: %s\n", escapeControls(err.Error()))
					continue
				}
				if err != nil {
					if follow && cmd.Context().Err() != nil {
						return nil
					}
					return err
				}
				if a.json {
					a.printRawJSON(append(bytes.TrimSpace(rec.Raw), '\n'))
				} else {
					a.printf("%s\n", a.eventLine(rec.Event))
				}
				if a.out.failure() != nil {
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

// openLog opens the log for reading.
func openLog(dir string) (*audit.Reader, error) {
	r, err := audit.OpenReader(dir)
	return r, notYet(dir, err)
}

// notYet says of a log that is not there what that means.
func notYet(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return failed("there is no audit log in %s; the first statement makes it", dir)
	}
	return err
}

// eventLine is one event on one line.
func (a *app) eventLine(e audit.Event) string {
	line := fmt.Sprintf("%s  %6d  %-15s", e.Time.UTC().Format("2006-01-02 15:04:05.000"), e.Seq, escapeControls(string(e.Type)))
	if e.Connection.ID != "" {
		line += "  " + escapeControls(e.Connection.ID)
	}
	switch {
	case e.Decision.Verdict == audit.VerdictReject:
		line += "  " + a.paint(a.out, styleRed, "reject") + " " + escapeControls(strings.Join(e.Decision.Codes, ","))
	case e.Decision.Verdict != "":
		line += "  " + a.paint(a.out, styleGreen, escapeControls(e.Decision.Verdict))
	case e.Result.Status != "":
		line += "  " + escapeControls(e.Result.Status)
		if e.Result.Code != "" {
			line += " " + escapeControls(e.Result.Code)
		} else {
			line += fmt.Sprintf(" %s %.1f ms", count(int(e.Result.Rows), "row"), e.Result.ExecMS)
		}
	}
	if e.SQL.Normalized != "" {
		line += "  " + shorten(escapeControls(e.SQL.Normalized), 100)
	}
	return strings.TrimRight(line, " ")
}

func (a *app) auditShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show SEQ | QUERY_ID",
		Short: "Print the events of a number or of a statement, whole",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.auditDir(cmd)
			if err != nil {
				return err
			}
			filter := audit.Filter{QueryID: args[0]}
			if seq, err := strconv.ParseInt(args[0], 10, 64); err == nil {
				if filter = (audit.Filter{Seq: seq}); seq < 1 {
					return usage("events are numbered from 1")
				}
			}
			r, err := openLog(dir)
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			found := []json.RawMessage{}
			for rec, err := range r.All(cmd.Context()) {
				if err := a.noteBadLine(err); err != nil {
					return err
				}
				if err == nil && filter.Match(rec.Event) {
					found = append(found, bytes.TrimSpace(rec.Raw))
				}
			}
			if len(found) == 0 {
				return usage("no event has the number or query id %s", escapeControls(args[0]))
			}
			if a.json {
				a.printJSON(newDocument("ktx-audit-events/1").with("events", found))
				return nil
			}
			for _, raw := range found {
				a.printJSON(raw)
			}
			return nil
		},
	}
}

func (a *app) auditVerify() *cobra.Command {
	var anchorFile string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check the chain: find any edit, deletion, reorder or truncation",
		Long: `Check every event's hash and place in the chain, up to the log's own anchor and
to an anchor that was kept elsewhere (--anchor FILE).

Exit code: 0 the chain is whole, 1 it is not, 3 it could not be read.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.auditDir(cmd)
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
			a.printVerify(rep)
			if !rep.OK {
				return &exitError{code: exitFindings}
			}
			return nil
		},
	}
	c.Flags().StringVar(&anchorFile, "anchor", "", "an anchor.json that was copied elsewhere")
	return c
}

func (a *app) printVerify(rep audit.Report) {
	if a.json {
		a.printJSON(struct {
			Schema string `json:"schema"`
			audit.Report
		}{"ktx-audit-verify/1", rep})
		return
	}
	for _, p := range rep.Problems {
		a.printf("%s %s\n", a.paint(a.out, styleRed, "broken"), escapeControls(p.String()))
	}
	if rep.More > 0 {
		a.printf("and %d more\n", rep.More)
	}
	for _, n := range rep.Notes {
		a.printf("note   %s line %d: %s %s\n", escapeControls(n.Segment), n.Line, escapeControls(string(n.Event.Type)), escapeControls(noteDetail(n.Event)))
	}
	if rep.OK {
		a.printf("%s %s in %s, last hash %s\n", a.paint(a.out, styleGreen, "whole "), count(int(rep.Events), "event"), count(len(rep.Segments), "segment"), rep.LastHash)
		if rep.Before > 0 {
			a.printf("note   the log begins with event %d; the %s before it are in an archive\n", rep.Before+1, count(int(rep.Before), "event"))
		}
		if rep.Unanchored > 0 {
			a.printf("note   the last %d events are not anchored yet: their loss would not be found\n", rep.Unanchored)
		}
	}
}

// noteDetail says what an event of the log about itself tells.
func noteDetail(e audit.Event) string {
	switch e.Type { //nolint:exhaustive // the others have a reason, or are no notes
	case audit.LogArchived:
		return fmt.Sprintf("events up to %d were moved to an archive", e.Log.KnownSeq)
	case audit.LogGap:
		return fmt.Sprintf("%s could not be recorded before it", count(int(e.Log.Lost), "event"))
	default:
		return e.Log.Reason
	}
}

func (a *app) auditStats() *cobra.Command {
	var filter auditFilter
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count events, verdicts, codes, connections and times",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.auditDir(cmd)
			if err != nil {
				return err
			}
			if err := filter.resolve(cmd, time.Now()); err != nil {
				return err
			}
			sum, err := audit.Summarize(cmd.Context(), dir, filter.Filter)
			if err != nil {
				return notYet(dir, err)
			}
			a.printStats(sum)
			return nil
		},
	}
	filter.addSince(c)
	return c
}

func (a *app) printStats(sum audit.Summary) {
	if a.json {
		a.printJSON(struct {
			Schema string `json:"schema"`
			audit.Summary
		}{"ktx-audit-stats/1", sum})
		return
	}
	a.printf("%d events, %d bytes\n", sum.Events, sum.Bytes)
	if !sum.First.IsZero() {
		a.printf("from %s to %s\n", sum.First.UTC().Format(time.RFC3339), sum.Last.UTC().Format(time.RFC3339))
	}
	types := map[string]int64{}
	for k, n := range sum.Types {
		types[string(k)] = n
	}
	for _, part := range []struct {
		name   string
		counts map[string]int64
	}{{"events", types}, {"verdicts", sum.Verdicts}, {"codes", sum.Codes}, {"connections", sum.Connections}, {"principals", sum.Principals}} {
		if len(part.counts) == 0 {
			continue
		}
		a.printf("%s\n", a.paint(a.out, styleBold, part.name))
		for _, k := range slices.Sorted(maps.Keys(part.counts)) {
			a.printf("  %-24s %d\n", escapeControls(k), part.counts[k])
		}
	}
	a.printf("decision time in µs: p50 %.0f, p95 %.0f, max %.0f\n", sum.LatencyUS.P50, sum.LatencyUS.P95, sum.LatencyUS.Max)
	a.printf("execution time in ms: p50 %.1f, p95 %.1f, max %.1f\n", sum.ExecMS.P50, sum.ExecMS.P95, sum.ExecMS.Max)
	if sum.Unfinished > 0 {
		a.printf("%d statements without a recorded end\n", sum.Unfinished)
	}
	if sum.Lost > 0 {
		a.printf("%d events could not be recorded\n", sum.Lost)
	}
	if sum.BadLines > 0 {
		a.printf("%d lines are no events: run ktx audit verify\n", sum.BadLines)
	}
}
