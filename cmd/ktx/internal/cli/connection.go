package cli

import (
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			format, err := a.outputFormat(output)
			if err != nil {
				return err
			}
			return a.withGateway(cmd.Context(), "cli", func(_ context.Context, d *door) error {
				return a.listConnections(d.gateway.Connections(), format)
			})
		},
	}
	list.Flags().StringVar(&output, "output", "", "pretty, plain, json or csv")
	test := &cobra.Command{
		Use:               "test [ID]",
		Short:             "Connect, and report what the role may do",
		Long:              "Connect to one connection, or to all, and report the server, what its role may do and what the read-only session really stops.",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeConnections,
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

func (a *app) listConnections(all []execution.ConnectionInfo, format string) error {
	if format == "json" {
		list := []connectionJSON{}
		for _, c := range all {
			list = append(list, connectionJSON{c.ID, c.Name, c.Description, c.Engine, c.Dialect, c.Runs})
		}
		a.printJSON(map[string]any{"schema": "ktx-connections/1", "connections": list})
		return nil
	}
	var rows [][]string
	for _, c := range all {
		runs := "yes"
		if !c.Runs {
			runs = "no"
		}
		rows = append(rows, []string{c.ID, c.Name, c.Engine, runs})
	}
	return a.table(format, []string{"id", "name", "engine", "runs statements"}, rows)
}

// probeResult is what a test of one connection found.
type probeResult struct {
	ID     string                 `json:"id"`
	OK     bool                   `json:"ok"`
	Report *execution.ProbeReport `json:"report,omitempty"`
	Error  map[string]any         `json:"error,omitempty"`
	err    error
}

// probeTime bounds the test of one connection.
const probeTime = 15 * time.Second

func probe(ctx context.Context, d *door, id string) probeResult {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	rep, err := d.gateway.Probe(ctx, id)
	if err != nil {
		return probeResult{ID: id, Error: errorJSON(err), err: err}
	}
	return probeResult{ID: id, OK: true, Report: &rep}
}

func (a *app) testConnections(ctx context.Context, d *door, args []string) error {
	ids := args
	if len(ids) == 0 {
		for _, c := range d.gateway.Connections() {
			ids = append(ids, c.ID)
		}
	} else if _, err := d.gateway.Connection(ids[0]); err != nil {
		return err
	}
	if len(ids) == 0 {
		return usage("no connection is configured")
	}
	failed := 0
	results := []probeResult{}
	for _, id := range ids {
		r := probe(ctx, d, id)
		results = append(results, r)
		if !r.OK {
			failed++
		}
	}
	if a.json {
		a.printJSON(map[string]any{"schema": "ktx-connection-test/1", "connections": results})
	} else {
		for _, r := range results {
			a.printProbe(r)
		}
	}
	if failed > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

func (a *app) printProbe(r probeResult) {
	if !r.OK {
		a.printf("%s %s: %v\n", a.paint(a.out, styleRed, "failed"), r.ID, r.err)
		return
	}
	a.printf("%s %s: %s", a.paint(a.out, styleGreen, "ok"), r.ID, r.Report.Server)
	if r.Report.Role != "" {
		a.printf(", role %s", r.Report.Role)
	}
	a.printf("\n")
	if r.Report.ReadOnly {
		a.printf("   a write that was tried was refused by the engine\n")
	} else {
		a.printf("   %s\n", a.paint(a.out, styleYellow, "a write that was tried was not refused by the engine"))
	}
	for _, f := range r.Report.Findings {
		style := styleDim
		if f.Level == "warning" {
			style = styleYellow
		}
		a.printf("   %s\n", a.paint(a.out, style, fmt.Sprintf("%s: %s", f.Level, f.Message)))
		if f.Fix != "" {
			a.printf("      %s\n", f.Fix)
		}
	}
}
