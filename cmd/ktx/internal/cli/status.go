package cli

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
)

// statusJSON is the shape of ktx status --json.
type statusJSON struct {
	Schema      string             `json:"schema"`
	Version     string             `json:"version"`
	ProjectDir  string             `json:"projectDir"`
	Warnings    []project.Problem  `json:"warnings"`
	Connections []statusConnection `json:"connections"`
	Audit       statusAudit        `json:"audit"`
}

type statusConnection struct {
	ID         string `json:"id"`
	Engine     string `json:"connectionType"`
	Runs       bool   `json:"runsStatements"`
	TLS        string `json:"tls,omitempty"`
	Role       string `json:"role"`
	Configured string `json:"problem,omitempty"`
}

type statusAudit struct {
	Dir      string `json:"dir"`
	Events   int64  `json:"events"`
	LastTime string `json:"last,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the project: connections, safety settings, audit log",
		Long:  "Show the project as configured, without connecting to a database. ktx doctor connects.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			s := a.status(cmd.Context(), p)
			if a.json {
				a.printJSON(s)
				return nil
			}
			a.printf("project  %s\n", s.ProjectDir)
			a.printf("audit    %s: %d events", s.Audit.Dir, s.Audit.Events)
			if s.Audit.LastTime != "" {
				a.printf(", last %s", s.Audit.LastTime)
			}
			a.printf("\n")
			if s.Audit.Problem != "" {
				a.printf("         %s\n", a.paint(a.out, styleRed, s.Audit.Problem))
			}
			for _, c := range s.Connections {
				a.printf("%-8s %s", c.ID, c.Engine)
				if c.TLS == "off" {
					a.printf(", %s", a.paint(a.out, styleYellow, "TLS off"))
				}
				if c.Configured != "" {
					a.printf(", %s", a.paint(a.out, styleYellow, c.Configured))
				}
				a.printf("\n")
			}
			return nil
		},
	}
}

func (a *app) status(ctx context.Context, p *project.Project) statusJSON {
	s := statusJSON{
		Schema: "ktx-status/1", Version: productVersion(), ProjectDir: p.Dir, Warnings: append([]project.Problem{}, p.Warnings...),
		Connections: []statusConnection{}, Audit: statusAudit{Dir: p.Config.Audit.Dir(p.Dir)},
	}
	for _, c := range a.connections(p) {
		configured := p.Config.Connections[c.ID]
		role := p.Config.GuardOf(c.ID).Role
		if role == "" {
			role = "warn"
		}
		entry := statusConnection{ID: c.ID, Engine: c.Engine, Runs: c.Open != nil, TLS: configured.TLS, Role: role}
		if c.Unavailable != nil {
			entry.Configured = c.Unavailable.Message
		}
		s.Connections = append(s.Connections, entry)
	}
	if _, err := os.Stat(s.Audit.Dir); err != nil {
		return s // nothing has run yet
	}
	sum, err := audit.Summarize(ctx, s.Audit.Dir, audit.Filter{})
	if err != nil {
		s.Audit.Problem = err.Error()
		return s
	}
	s.Audit.Events = sum.Events
	if !sum.Last.IsZero() {
		s.Audit.LastTime = sum.Last.UTC().Format(time.RFC3339)
	}
	return s
}

// finding is one line of ktx doctor.
type finding struct {
	Subject string `json:"subject"`
	Level   string `json:"level"` // ok, note, warning or error
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

Exit code: 0 nothing worse than a note, 1 warnings, 3 something is broken.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			findings, scripts := a.examine(cmd.Context(), p)
			if a.json {
				a.printJSON(map[string]any{"schema": "ktx-doctor/1", "findings": findings, "roleScripts": scripts})
			} else {
				a.printFindings(findings)
				if script {
					for _, id := range slices.Sorted(maps.Keys(scripts)) {
						a.printf("\n-- a role that can only read, for connection %s\n%s", id, scripts[id])
					}
				}
			}
			worst := exitOK
			for _, f := range findings {
				switch f.Level {
				case "error":
					worst = exitFailed
				case "warning":
					worst = max(worst, exitFindings)
				}
			}
			if worst != exitOK {
				return &exitError{code: worst}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&script, "role-script", false, "print the script that makes a read-only role for each connection")
	return c
}

func (a *app) printFindings(findings []finding) {
	styles := map[string]string{"ok": styleGreen, "note": styleDim, "warning": styleYellow, "error": styleRed}
	for _, f := range findings {
		a.printf("%s  %s: %s\n", a.paint(a.out, styles[f.Level], fmt.Sprintf("%-7s", f.Level)), f.Subject, f.Message)
		if f.Fix != "" {
			a.printf("         fix: %s\n", f.Fix)
		}
	}
}

// examine looks at everything that can be wrong.
func (a *app) examine(ctx context.Context, p *project.Project) (findings []finding, scripts map[string]string) {
	add := func(subject, level, message, fix string) {
		findings = append(findings, finding{subject, level, message, fix})
	}
	scripts = map[string]string{}
	add("configuration", "ok", p.Dir, "")
	for _, w := range p.Warnings {
		add("configuration", "warning", w.String(), "")
	}
	for _, id := range slices.Sorted(maps.Keys(p.Config.Connections)) {
		c := p.Config.Connections[id]
		if c.Password.Literal() || c.URL.Literal() && hasPassword(string(c.URL)) {
			add("connection "+id, "warning", "a password stands in ktx.yaml", "move it to an environment variable (env:NAME) or a file (file:/path)")
		}
		if c.TLS == "off" {
			add("connection "+id, "warning", "TLS is off: statements, rows and the password travel in clear text", "remove tls: off")
		}
	}
	if p.Config.Audit.OnFailure == audit.FailDegrade {
		add("audit log", "warning", "statements run even when they cannot be recorded (onFailure: degrade)", "remove audit.onFailure")
	}
	err := a.withProject(ctx, p, "cli", func(ctx context.Context, d *door) error {
		add("audit log", "ok", "writable: "+p.Config.Audit.Dir(p.Dir), "")
		for _, c := range d.gateway.Connections() {
			subject := "connection " + c.ID
			if !c.Runs {
				add(subject, "note", "artifact-only: statements cannot be run on "+c.Engine, "")
				continue
			}
			r := probe(ctx, d, c.ID)
			if !r.OK {
				add(subject, "error", r.err.Error(), "")
				continue
			}
			add(subject, "ok", "answers: "+r.Report.Server, "")
			if r.Report.ReadOnly {
				add(subject, "ok", "a write that was tried was refused by the engine", "")
			} else {
				add(subject, "error", "a write that was tried in the read-only session was not refused by the engine", "")
			}
			for _, f := range r.Report.Findings {
				add(subject, f.Level, f.Message, f.Fix)
			}
			if r.Report.RoleScript != "" {
				scripts[c.ID] = r.Report.RoleScript
			}
		}
		return nil
	})
	if err != nil {
		add("audit log", "error", err.Error(), "")
		return findings, scripts
	}
	rep, err := audit.Verify(ctx, p.Config.Audit.Dir(p.Dir))
	switch {
	case err != nil:
		add("audit log", "error", err.Error(), "")
	case !rep.OK:
		add("audit log", "error", "its chain is broken: "+rep.Problems[0].String(), "run ktx audit verify")
	default:
		add("audit log", "ok", fmt.Sprintf("its chain of %d events is whole", rep.Events), "")
	}
	return findings, scripts
}

// hasPassword reports whether a URL carries a password; one that cannot be
// read counts as carrying one.
func hasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	_, set := u.User.Password()
	return set || u.Query().Has("password")
}
