package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/execution"
)

func (a *app) connectionCommand() *cobra.Command {
	var output string
	list := &cobra.Command{
		Use:   "list",
		Short: "List the configured connections",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			format, err := a.outputFormat(output)
			if err != nil {
				return err
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			a.listConnections(a.connections(p), format)
			return nil
		},
	}
	outputFlag(list, &output)
	test := &cobra.Command{
		Use:   "test [ID]",
		Short: "Connect, and report what the role may do",
		Long: `Connect to one connection, or to all that can run statements, and report the
server, what its role may do and what the read-only session really stops.

Exit codes: 0 all answer · 2 unknown or not configured · 3 some do not answer.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeConnection(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withGateway(cmd.Context(), "cli", func(ctx context.Context, d *door) error {
				return a.testConnections(ctx, d, args)
			})
		},
	}
	return group("connection", "List and test the connections of the project", list, test)
}

type connectionJSON struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Engine      string `json:"connectionType"`
	Dialect     string `json:"dialect,omitempty"`
	Runs        bool   `json:"runsStatements"`
}

func (a *app) listConnections(all []execution.Connection, format string) {
	list := []connectionJSON{}
	for _, c := range all {
		entry := connectionJSON{ID: c.ID, Name: cmp.Or(c.Name, c.ID), Description: c.Description, Engine: c.Engine, Runs: c.Open != nil}
		if c.Dialect != nil {
			entry.Dialect = c.Dialect.Name()
		}
		list = append(list, entry)
	}
	if format == formatJSON {
		a.printJSON(newDocument("ktx-connections/1").with("connections", list))
		return
	}
	var rows [][]cell
	for _, c := range list {
		runs := "yes"
		if !c.Runs {
			runs = "no"
		}
		rows = append(rows, texts(c.ID, c.Name, c.Engine, runs))
	}
	a.table(format, []string{"id", "name", "engine", "runs statements"}, rows)
}

// probeResult is what a test of one connection found.
type probeResult struct {
	ID     string                 `json:"id"`
	OK     bool                   `json:"ok"`
	Report *execution.ProbeReport `json:"report,omitempty"`
	Error  *errorJSON             `json:"error,omitempty"`
	err    error
}

// probeTime bounds the test of one connection.
const probeTime = 15 * time.Second

func (a *app) probe(ctx context.Context, d *door, id string, limit time.Duration) probeResult {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	rep, err := d.gateway.Probe(ctx, id)
	if err != nil {
		failure := a.errorJSON(err)
		return probeResult{ID: id, Error: &failure, err: err}
	}
	if rep.Findings == nil {
		rep.Findings = []execution.ProbeFinding{}
	}
	return probeResult{ID: id, OK: true, Report: &rep}
}

func (a *app) testConnections(ctx context.Context, d *door, args []string) error {
	ids := args
	if len(ids) == 0 {
		for _, c := range d.gateway.Connections(ctx) {
			if c.Runs {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) == 0 {
			return usage("no connection that can run statements is configured in %s", d.project.File)
		}
	} else if _, err := d.gateway.Connection(ctx, ids[0]); err != nil {
		return err
	}
	code := exitOK
	results := []probeResult{}
	for _, id := range ids {
		r := a.probe(ctx, d, id, probeTime)
		results = append(results, r)
		if !r.OK {
			code = max(code, a.exitCode(r.err))
		}
		if !a.json {
			a.printProbe(r)
		}
	}
	if a.json {
		a.printJSON(newDocument("ktx-connection-test/1").with("connections", results))
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

func (a *app) printProbe(r probeResult) {
	if !r.OK {
		a.printf("%s %s: %s\n", a.paint(a.out, styleRed, "failed"), r.ID, escapeControls(r.err.Error()))
		if hint := connectHint(r.err); hint != "" {
			a.printf("   hint: %s\n", escapeControls(hint))
		}
		return
	}
	a.printf("%s %s: %s", a.paint(a.out, styleGreen, "ok"), r.ID, escapeControls(r.Report.Server))
	if r.Report.Role != "" {
		a.printf(", role %s", escapeControls(r.Report.Role))
	}
	a.printf("\n")
	if r.Report.ReadOnly {
		a.printf("   a write that was tried was refused by the engine\n")
	} else {
		a.printf("   %s\n", a.paint(a.out, styleYellow, "a write that was tried was not refused by the engine"))
	}
	for _, f := range r.Report.Findings {
		style := styleDim
		if f.Level == levelWarning {
			style = styleYellow
		}
		a.printf("   %s\n", a.paint(a.out, style, fmt.Sprintf("%s: %s", f.Level, escapeControls(f.Message))))
		if f.Fix != "" {
			a.printf("      fix: %s\n", escapeControls(f.Fix))
		}
	}
}
