package audit

import (
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/execution/audit"
)

func statsCommand(a *console.App) *cobra.Command {
	var filter conditions
	c := &cobra.Command{
		Use:   "stats",
		Short: "Count events, verdicts, codes, connections and times",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := logDir(a, cmd)
			if err != nil {
				return err
			}
			if err := filter.resolve(cmd, time.Now()); err != nil {
				return err
			}
			sum, err := summarize(a, cmd, dir, filter.Since)
			if err != nil {
				return notYet(dir, err)
			}
			printStats(a, sum)
			return nil
		},
	}
	filter.addSince(c)
	indexFlag(c)
	return c
}

func printStats(a *console.App, sum audit.Summary) {
	if a.JSON {
		a.PrintJSON(struct {
			Schema string `json:"schema"`
			audit.Summary
		}{"ktx-audit-stats/1", sum})
		return
	}
	a.Printf("%d events, %d bytes\n", sum.Events, sum.Bytes)
	if !sum.First.IsZero() {
		a.Printf("from %s to %s\n", sum.First.UTC().Format(time.RFC3339), sum.Last.UTC().Format(time.RFC3339))
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
		a.Printf("%s\n", a.Paint(a.Out, console.StyleBold, part.name))
		for _, k := range slices.Sorted(maps.Keys(part.counts)) {
			a.Printf("  %-24s %d\n", console.EscapeControls(k), part.counts[k])
		}
	}
	a.Printf("decision time in µs: p50 %.0f, p95 %.0f, max %.0f\n", sum.LatencyUS.P50, sum.LatencyUS.P95, sum.LatencyUS.Max)
	a.Printf("execution time in ms: p50 %.1f, p95 %.1f, max %.1f\n", sum.ExecMS.P50, sum.ExecMS.P95, sum.ExecMS.Max)
	if sum.Unfinished > 0 {
		a.Printf("%d statements without a recorded end\n", sum.Unfinished)
	}
	if sum.Lost > 0 {
		a.Printf("%d events could not be recorded\n", sum.Lost)
	}
	if sum.BadLines > 0 {
		a.Printf("%d lines are no events: run ktx audit verify\n", sum.BadLines)
	}
}
