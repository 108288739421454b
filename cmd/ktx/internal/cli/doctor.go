package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
)

// The levels of a doctor's finding.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelWarning = "warning"
	levelError   = "error"
)

// finding is one line of ktx doctor.
type finding struct {
	Subject string `json:"subject"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	var script bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything: configuration, audit log, every connection and its role",
		Long: `Check the configuration, the audit log and its chain, and every connection:
whether it answers, what its role may do, and whether the engine really refuses
a write in the session that ktx uses (a harmless one is tried and rolled back).

Exit codes: 0 nothing worse than a note · 1 warnings · 2 no project, or a
configuration that is not valid · 3 something is broken.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			e := examination{app: a, project: p, findings: []finding{}, scripts: map[string]string{}}
			e.run(cmd.Context())
			if a.json {
				a.printJSON(document{{"schema", "ktx-doctor/1"}, {"findings", e.findings}, {"roleScripts", e.scripts}})
			} else {
				a.printFindings(e.findings)
				if script {
					for _, id := range slices.Sorted(maps.Keys(e.scripts)) {
						a.printf("\n-- a role that can only read, for connection %s\n%s", id, escapeLines(e.scripts[id]))
					}
				}
			}
			if code := e.exitCode(); code != exitOK {
				return &exitError{code: code}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&script, "role-script", false, "print the script that makes a read-only role for each connection")
	return c
}

func (a *app) printFindings(findings []finding) {
	styles := map[string]string{levelOK: styleGreen, levelNote: styleDim, levelWarning: styleYellow, levelError: styleRed}
	for _, f := range findings {
		a.printf("%s  %s: %s\n", a.paint(a.out, styles[f.Level], fmt.Sprintf("%-7s", f.Level)), f.Subject, escapeControls(f.Message))
		if f.Fix != "" {
			a.printf("         fix: %s\n", escapeControls(f.Fix))
		}
	}
}

// examination looks at everything that can be wrong with a project.
type examination struct {
	app      *app
	project  *project.Project
	findings []finding
	scripts  map[string]string // of roles, by connection
}

func (e *examination) add(subject, level, message, fix string) {
	e.findings = append(e.findings, finding{subject, level, message, fix})
}

func (e *examination) exitCode() int {
	worst := exitOK
	for _, f := range e.findings {
		switch f.Level {
		case levelError:
			worst = exitFailed
		case levelWarning:
			worst = max(worst, exitFindings)
		}
	}
	return worst
}

func (e *examination) run(ctx context.Context) {
	e.configuration()
	log := e.project.Config.Audit.Dir(e.project.Dir)
	err := e.app.withProject(ctx, e.project, "cli", func(ctx context.Context, d *door) error {
		e.add("audit log", levelOK, "writable: "+log, "")
		all := d.gateway.Connections()
		if len(all) == 0 {
			e.add("connections", levelNote, "none is configured", "add one to "+e.project.File)
		}
		for _, c := range all {
			if c.Runs {
				e.connection(ctx, d, c.ID)
			}
		}
		return nil
	})
	if err != nil {
		e.add("audit log", levelError, err.Error(), "")
		return
	}
	rep, err := audit.Verify(ctx, log)
	switch {
	case err != nil:
		e.add("audit log", levelError, err.Error(), "")
	case !rep.OK:
		e.add("audit log", levelError, "its chain is broken: "+rep.Problems[0].String(), "run ktx audit verify")
	default:
		e.add("audit log", levelOK, "its chain of "+count(int(rep.Events), "event")+" is whole", "")
	}
}

// configuration looks at what can be judged without opening anything.
func (e *examination) configuration() {
	config := &e.project.Config
	e.add("configuration", levelOK, e.project.Dir, "")
	for _, w := range e.project.Warnings {
		e.add("configuration", levelWarning, w.In(e.project.File), "")
	}
	for _, c := range e.app.connections(e.project) {
		subject := "connection " + c.ID
		configured := config.Connections[c.ID]
		switch {
		case c.Open != nil:
		case c.Dialect == nil:
			e.add(subject, levelNote, "artifact-only: statements cannot be run on "+c.Engine, "")
		case c.Unavailable != nil:
			e.add(subject, levelNote, "artifact-only: "+c.Unavailable.Message, "")
		}
		if configured.Password.Literal() || configured.URL.LiteralPassword() {
			e.add(subject, levelWarning, "a password stands in "+e.project.File, "move it to an environment variable (env:NAME) or a file (file:/path)")
		}
		if configured.TLS == "off" {
			e.add(subject, levelWarning, "TLS is off: statements, rows and the password travel in clear text", "remove tls: off")
		}
	}
	if config.Audit.OnFailure == audit.FailDegrade {
		e.add("audit log", levelWarning, "statements run even when they cannot be recorded (onFailure: degrade)", "remove audit.onFailure")
	}
	if config.Audit.SQL == audit.SQLFull {
		e.add("audit log", levelNote, "the text of statements is kept, literals included (sql: full)", "")
	}
}

// connection opens one connection and reports what its role may do.
func (e *examination) connection(ctx context.Context, d *door, id string) {
	subject := "connection " + id
	r := e.app.probe(ctx, d, id)
	if !r.OK {
		e.add(subject, levelError, r.err.Error(), hintOf(r.err))
		return
	}
	e.add(subject, levelOK, "answers: "+r.Report.Server, "")
	if r.Report.ReadOnly {
		e.add(subject, levelOK, "a write that was tried was refused by the engine", "")
	} else {
		e.add(subject, levelError, "a write that was tried in the read-only session was not refused by the engine", "")
	}
	for _, f := range r.Report.Findings {
		e.add(subject, string(f.Level), f.Message, f.Fix)
	}
	if r.Report.RoleScript != "" {
		e.scripts[id] = r.Report.RoleScript
	}
}
