package project

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
)

// The levels of a finding.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelWarning = "warning"
	levelError   = "error"
)

// The groups of findings.
const (
	groupConfiguration = "configuration"
	groupAudit         = "audit"
	groupConnection    = "connection"
	groupMCP           = "mcp"
	groupUpstream      = "upstream"
)

// finding is one line of ktx doctor.
type finding struct {
	Group      string `json:"group"`
	Connection string `json:"connection,omitempty"`
	// Topic is the topic of a finding of a probe: role, session, transport, server
	// or names.
	Topic   string `json:"topic,omitempty"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// subject returns what stands before the message.
func (f finding) subject() string {
	switch {
	case f.Connection != "":
		return "connection " + f.Connection
	case f.Group == groupAudit:
		return "audit log"
	case f.Group == groupMCP:
		return "MCP"
	default:
		return f.Group
	}
}

// DoctorCommand returns the command ktx doctor.
func DoctorCommand(a *console.App) *cobra.Command {
	var (
		script  bool
		only    string
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything: configuration, audit log, every connection and its role, MCP",
		Long: `Check the configuration, the audit log and its chain, every connection, other MCP
servers and the list of tools.

For each connection, report whether it answers, whether it uses TLS, what its role
may do beyond reading, and whether the engine refuses writes in the read-only
session: harmless writes are tried and rolled back. A connection that does not
answer in time does not delay the others.

With --role-script, print only the SQL that makes a role which can only read:

  ktx doctor --role-script --connection shop | psql -d shop

Exit codes: 0 nothing worse than a note · 1 warnings · 2 no project, an unknown
connection, or a configuration that is not valid · 3 something is broken.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return console.Usage("--timeout %s: expected a time such as 15s", timeout)
			}
			p, err := wiring.LoadProject(a)
			if err != nil {
				return err
			}
			if _, known := p.Config.Connections[only]; only != "" && !known {
				return console.Usage("no connection has the id %q%s", only, console.DidYouMean(only, slices.Sorted(maps.Keys(p.Config.Connections))))
			}
			e := &examination{app: a, project: p, only: only, timeout: timeout, findings: []finding{}, results: []probeResult{}}
			if script {
				return e.printScripts(cmd.Context())
			}
			e.run(cmd.Context())
			if a.JSON {
				a.PrintJSON(console.NewDocument("ktx-doctor/1").
					With("projectDir", p.Dir).
					With("findings", e.findings).
					With("counts", e.counts()).
					With("connections", e.results).
					With("roleScripts", e.scripts()))
			} else {
				printFindings(a, e.findings)
			}
			if code := e.exitCode(); code != console.ExitOK {
				return &console.ExitError{Code: code}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&script, "role-script", false, "print only the script that makes a read-only role")
	c.Flags().StringVarP(&only, "connection", "c", "", "check this connection only")
	c.Flags().DurationVar(&timeout, "timeout", probeTime, "time limit for each connection")
	_ = c.RegisterFlagCompletionFunc("connection", wiring.CompleteConnections(a))
	return c
}

func printFindings(a *console.App, findings []finding) {
	styles := map[string]string{levelOK: console.StyleGreen, levelNote: console.StyleDim, levelWarning: console.StyleYellow, levelError: console.StyleRed}
	for _, f := range findings {
		a.Printf("%s  %s: %s\n", a.Paint(a.Out, styles[f.Level], fmt.Sprintf("%-7s", f.Level)), f.subject(), console.EscapeControls(f.Message))
		if f.Fix != "" {
			a.Printf("         fix: %s\n", console.EscapeControls(f.Fix))
		}
	}
}

// examination collects what is wrong with a project.
type examination struct {
	app      *console.App
	project  *project.Project
	only     string // the only connection to examine; "" for all
	timeout  time.Duration
	findings []finding
	results  []probeResult
}

func (e *examination) add(f finding) { e.findings = append(e.findings, f) }

// counts returns the number of findings of each level.
func (e *examination) counts() map[string]int {
	n := map[string]int{levelOK: 0, levelNote: 0, levelWarning: 0, levelError: 0}
	for _, f := range e.findings {
		n[f.Level]++
	}
	return n
}

// scripts returns the role scripts by connection.
func (e *examination) scripts() map[string]string {
	out := map[string]string{}
	for _, r := range e.results {
		if r.OK && r.Report.RoleScript != "" {
			out[r.ID] = r.Report.RoleScript
		}
	}
	return out
}

func (e *examination) exitCode() int {
	switch n := e.counts(); {
	case n[levelError] > 0:
		return console.ExitFailed
	case n[levelWarning] > 0:
		return console.ExitFindings
	default:
		return console.ExitOK
	}
}

func (e *examination) run(ctx context.Context) {
	e.configuration()
	e.auditFiles(ctx)
	err := e.open(ctx, func(ctx context.Context, open *wiring.OpenProject) error {
		e.add(finding{Group: groupAudit, Level: levelOK, Message: "an event was written to " + e.logDir()})
		e.connections(ctx, open)
		e.upstreams(ctx, open)
		e.tools(ctx, open)
		return nil
	})
	if err != nil {
		e.add(finding{Group: groupAudit, Level: levelError, Message: err.Error(), Fix: "make the folder writable to this user, or name another one in audit.path"})
		return
	}
	e.chain(ctx)
}

// open opens the project for an examination. The gateway opens a connection even
// if it would refuse statements because the role can write, and warns of nothing.
func (e *examination) open(ctx context.Context, f func(context.Context, *wiring.OpenProject) error) error {
	conns := wiring.Connections(e.app, e.project)
	for i := range conns {
		conns[i].RefuseWritableRole, conns[i].OnProbe = false, nil
	}
	return wiring.WithConnections(ctx, e.app, e.project, conns, "cli", f)
}

// printScripts prints the scripts that make roles which can only read.
func (e *examination) printScripts(ctx context.Context) error {
	err := e.open(ctx, func(ctx context.Context, open *wiring.OpenProject) error {
		e.probes(ctx, open)
		return nil
	})
	if err != nil {
		return err
	}
	code := console.ExitOK
	printed := 0
	for _, r := range e.results {
		switch {
		case !r.OK:
			code = max(code, e.app.ExitCode(r.err))
			e.app.Errorf("ktx: connection %s: %s\n", r.ID, console.EscapeControls(r.err.Error()))
		case r.Report.RoleScript == "":
			e.app.Errorf("ktx: connection %s: %s has no roles; run ktx as a user that can only read the file\n", r.ID, console.EscapeControls(r.Report.Server))
		case !e.app.JSON:
			if printed++; printed > 1 {
				e.app.Printf("\n")
			}
			text := r.Report.RoleScript
			if e.app.Out.Terminal {
				text = console.EscapeLines(text)
			}
			e.app.Printf("-- For connection %s.\n%s", r.ID, text)
		}
	}
	if e.app.JSON {
		e.app.PrintJSON(console.NewDocument("ktx-role-script/1").With("roleScripts", e.scripts()))
	}
	if code != console.ExitOK {
		return &console.ExitError{Code: code}
	}
	return nil
}

// writable reports whether a probe found a role that can do more than read.
func writable(r *execution.ProbeReport) bool {
	return slices.ContainsFunc(r.Findings, execution.ProbeFinding.Writable)
}
