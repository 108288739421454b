package project

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/execution"
)

// ConnectionCommand returns the command ktx connection.
func ConnectionCommand(a *console.App) *cobra.Command {
	var output string
	list := &cobra.Command{
		Use:   "list",
		Short: "List the configured connections",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			format, err := a.OutputFormat(output)
			if err != nil {
				return err
			}
			p, err := wiring.LoadProject(a)
			if err != nil {
				return err
			}
			listConnections(a, wiring.Connections(a, p), format)
			return nil
		},
	}
	console.OutputFlag(list, &output)
	test := &cobra.Command{
		Use:   "test [ID]",
		Short: "Connect, and report what the role may do",
		Long: `Open one connection, or all that can run statements, and report the server, what
the role may do, and whether the read-only session stops writes.

Exit codes: 0 all answer · 2 unknown or not configured · 3 some do not answer.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: wiring.CompleteConnection(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return wiring.WithGateway(cmd.Context(), a, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				return testConnections(ctx, a, open, args)
			})
		},
	}
	return console.Group("connection", "List and test the connections of the project", list, test)
}

type connectionJSON struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Engine      string `json:"connectionType"`
	Dialect     string `json:"dialect,omitempty"`
	Runs        bool   `json:"runsStatements"`
}

func listConnections(a *console.App, all []execution.Connection, format string) {
	list := []connectionJSON{}
	for _, c := range all {
		entry := connectionJSON{ID: c.ID, Name: cmp.Or(c.Name, c.ID), Description: c.Description, Engine: c.Engine, Runs: c.Open != nil}
		if c.Dialect != nil {
			entry.Dialect = c.Dialect.Name()
		}
		list = append(list, entry)
	}
	if format == console.FormatJSON {
		a.PrintJSON(console.NewDocument("ktx-connections/1").With("connections", list))
		return
	}
	var rows [][]console.Cell
	for _, c := range list {
		runs := "yes"
		if !c.Runs {
			runs = "no"
		}
		rows = append(rows, console.Texts(c.ID, c.Name, c.Engine, runs))
	}
	a.Table(format, []string{"id", "name", "engine", "runs statements"}, rows)
}

// probeResult is the result of the test of one connection.
type probeResult struct {
	ID     string                 `json:"id"`
	OK     bool                   `json:"ok"`
	Report *execution.ProbeReport `json:"report,omitempty"`
	Error  *console.ErrorJSON     `json:"error,omitempty"`
	err    error
}

// probeTime is the time limit of the test of one connection.
const probeTime = 15 * time.Second

func probe(ctx context.Context, a *console.App, open *wiring.OpenProject, id string, limit time.Duration) probeResult {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	rep, err := open.Gateway.Probe(ctx, id)
	if err != nil {
		failure := a.ErrorJSON(err)
		return probeResult{ID: id, Error: &failure, err: err}
	}
	if rep.Findings == nil {
		rep.Findings = []execution.ProbeFinding{}
	}
	return probeResult{ID: id, OK: true, Report: &rep}
}

func testConnections(ctx context.Context, a *console.App, open *wiring.OpenProject, args []string) error {
	ids := args
	if len(ids) == 0 {
		for _, c := range open.Gateway.Connections(ctx) {
			if c.Runs {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) == 0 {
			return console.Usage("no connection that can run statements is configured in %s", open.Project.File)
		}
	} else if _, err := open.Gateway.Connection(ctx, ids[0]); err != nil {
		return err
	}
	code := console.ExitOK
	results := []probeResult{}
	for _, id := range ids {
		r := probe(ctx, a, open, id, probeTime)
		results = append(results, r)
		if !r.OK {
			code = max(code, a.ExitCode(r.err))
		}
		if !a.JSON {
			printProbe(a, r)
		}
	}
	if a.JSON {
		a.PrintJSON(console.NewDocument("ktx-connection-test/1").With("connections", results))
	}
	if code != console.ExitOK {
		return &console.ExitError{Code: code}
	}
	return nil
}

func printProbe(a *console.App, r probeResult) {
	if !r.OK {
		a.Printf("%s %s: %s\n", a.Paint(a.Out, console.StyleRed, "failed"), r.ID, console.EscapeControls(r.err.Error()))
		if hint := connectHint(r.err); hint != "" {
			a.Printf("   hint: %s\n", console.EscapeControls(hint))
		}
		return
	}
	a.Printf("%s %s: %s", a.Paint(a.Out, console.StyleGreen, "ok"), r.ID, console.EscapeControls(r.Report.Server))
	if r.Report.Role != "" {
		a.Printf(", role %s", console.EscapeControls(r.Report.Role))
	}
	a.Printf("\n")
	switch {
	case r.Report.ReadOnly:
		a.Printf("   the engine refused a write that was tried\n")
	case r.Report.Refused:
		a.Printf("   %s\n", a.Paint(a.Out, console.StyleYellow, "the engine refused a write that was tried, but the role may do more than read"))
	default:
		a.Printf("   %s\n", a.Paint(a.Out, console.StyleYellow, "the engine did not refuse a write that was tried"))
	}
	for _, f := range r.Report.Findings {
		style := console.StyleDim
		if f.Level == levelWarning {
			style = console.StyleYellow
		}
		a.Printf("   %s\n", a.Paint(a.Out, style, fmt.Sprintf("%s: %s", f.Level, console.EscapeControls(f.Message))))
		if f.Fix != "" {
			a.Printf("      fix: %s\n", console.EscapeControls(f.Fix))
		}
	}
}
