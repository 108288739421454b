package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
)

// The levels of a doctor's finding.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelWarning = "warning"
	levelError   = "error"
)

// The groups of a doctor's findings.
const (
	groupConfiguration = "configuration"
	groupAudit         = "audit"
	groupConnection    = "connection"
	groupMCP           = "mcp"
)

// finding is one line of ktx doctor.
type finding struct {
	Group      string `json:"group"`
	Connection string `json:"connection,omitempty"`
	// Topic is that of a probe's finding: role, session, transport or server.
	Topic   string `json:"topic,omitempty"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// subject is what people read in front of the message.
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

func (a *app) doctorCommand() *cobra.Command {
	var (
		script  bool
		only    string
		timeout time.Duration
	)
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything: configuration, audit log, every connection and its role, MCP",
		Long: `Check the configuration, the audit log and its chain, every connection and the
list of tools. Of a connection: whether it answers, how it is protected, what its
role may do beyond reading, and whether the engine really refuses what the
session must stop (harmless writes are tried and rolled back). A connection that
does not answer in time does not hold up the others.

With --role-script, print the SQL that makes a role which can only read, for
psql, and nothing else:

  ktx doctor --role-script --connection shop | psql -d shop

Exit codes: 0 nothing worse than a note · 1 warnings · 2 no project, an unknown
connection, or a configuration that is not valid · 3 something is broken.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usage("--timeout %s: expected a time such as 15s", timeout)
			}
			p, err := a.project()
			if err != nil {
				return err
			}
			if _, known := p.Config.Connections[only]; only != "" && !known {
				return usage("no connection has the id %q%s", only, didYouMean(only, slices.Sorted(maps.Keys(p.Config.Connections))))
			}
			e := &examination{app: a, project: p, only: only, timeout: timeout, findings: []finding{}, results: []probeResult{}}
			if script {
				return e.printScripts(cmd.Context())
			}
			e.run(cmd.Context())
			if a.json {
				a.printJSON(newDocument("ktx-doctor/1").
					with("projectDir", p.Dir).
					with("findings", e.findings).
					with("counts", e.counts()).
					with("connections", e.results).
					with("roleScripts", e.scripts()))
			} else {
				a.printFindings(e.findings)
			}
			if code := e.exitCode(); code != exitOK {
				return &exitError{code: code}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&script, "role-script", false, "print the script that makes a read-only role, and nothing else")
	c.Flags().StringVarP(&only, "connection", "c", "", "check this connection only")
	c.Flags().DurationVar(&timeout, "timeout", probeTime, "time for each connection")
	_ = c.RegisterFlagCompletionFunc("connection", a.completeConnections())
	return c
}

func (a *app) printFindings(findings []finding) {
	styles := map[string]string{levelOK: styleGreen, levelNote: styleDim, levelWarning: styleYellow, levelError: styleRed}
	for _, f := range findings {
		a.printf("%s  %s: %s\n", a.paint(a.out, styles[f.Level], fmt.Sprintf("%-7s", f.Level)), f.subject(), escapeControls(f.Message))
		if f.Fix != "" {
			a.printf("         fix: %s\n", escapeControls(f.Fix))
		}
	}
}

// examination looks at everything that can be wrong with a project.
type examination struct {
	app      *app
	project  *project.Project
	only     string // the connection to look at; "" for all
	timeout  time.Duration
	findings []finding
	results  []probeResult
}

func (e *examination) add(f finding) { e.findings = append(e.findings, f) }

// counts are the findings of each level.
func (e *examination) counts() map[string]int {
	n := map[string]int{levelOK: 0, levelNote: 0, levelWarning: 0, levelError: 0}
	for _, f := range e.findings {
		n[f.Level]++
	}
	return n
}

// scripts are the role scripts by connection.
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
		return exitFailed
	case n[levelWarning] > 0:
		return exitFindings
	default:
		return exitOK
	}
}

func (e *examination) run(ctx context.Context) {
	e.configuration()
	e.auditFiles(ctx)
	err := e.open(ctx, func(ctx context.Context, d *door) error {
		e.add(finding{Group: groupAudit, Level: levelOK, Message: "an event was written to " + e.logDir()})
		e.connections(ctx, d)
		e.tools(ctx, d)
		return nil
	})
	if err != nil {
		e.add(finding{Group: groupAudit, Level: levelError, Message: err.Error(), Fix: "make the folder writable to this user, or name another one in audit.path"})
		return
	}
	e.chain(ctx)
}

// open opens the project for an examination: a role that can write is examined
// even where statements of it are refused, and no probe runs before the one
// whose report is wanted.
func (e *examination) open(ctx context.Context, f func(context.Context, *door) error) error {
	conns := e.app.connections(e.project)
	for i := range conns {
		conns[i].RefuseWritableRole, conns[i].OnProbe = false, nil
	}
	return e.app.withConnections(ctx, e.project, conns, "cli", f)
}

// printScripts prints the scripts of roles that can only read.
func (e *examination) printScripts(ctx context.Context) error {
	err := e.open(ctx, func(ctx context.Context, d *door) error {
		e.probes(ctx, d)
		return nil
	})
	if err != nil {
		return err
	}
	code := exitOK
	printed := 0
	for _, r := range e.results {
		switch {
		case !r.OK:
			code = max(code, e.app.exitCode(r.err))
			e.app.errorf("ktx: connection %s: %s\n", r.ID, escapeControls(r.err.Error()))
		case r.Report.RoleScript == "":
			e.app.errorf("ktx: connection %s: %s has no roles: run ktx as a user that may only read the file\n", r.ID, escapeControls(r.Report.Server))
		case !e.app.json:
			if printed++; printed > 1 {
				e.app.printf("\n")
			}
			text := r.Report.RoleScript
			if e.app.out.terminal {
				text = escapeLines(text)
			}
			e.app.printf("-- For connection %s.\n%s", r.ID, text)
		}
	}
	if e.app.json {
		e.app.printJSON(newDocument("ktx-role-script/1").with("roleScripts", e.scripts()))
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// writable reports whether a probe found a role that can do more than read.
func writable(r *execution.ProbeReport) bool {
	return slices.ContainsFunc(r.Findings, execution.ProbeFinding.Writable)
}
