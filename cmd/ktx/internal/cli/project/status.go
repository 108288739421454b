package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// statusJSON is what ktx status --json prints.
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
	Driver     string `json:"driver"`
	Runs       bool   `json:"runsStatements"`
	TLS        string `json:"tls,omitempty"` // "off" when it is
	Catalog    bool   `json:"catalog"`       // whether the guard judges with the objects of the database
	Role       string `json:"role"`          // what happens when the role can write: warn or refuse
	MaxBytes   int    `json:"maxBytes"`
	Rows       int    `json:"rows"`
	TimeoutMS  int64  `json:"timeoutMs"`
	Configured string `json:"problem,omitempty"`
	// Probed is what was found when the connection was last opened. It is absent
	// when the connection was not opened since its configuration changed.
	Probed *statusProbe `json:"lastProbe,omitempty"`
	// Held are the statements that the server was asked to end and that it may still run.
	Held []audit.HeldStatement `json:"held,omitempty"`
}

type statusProbe struct {
	At       string   `json:"at"`
	Server   string   `json:"server"`
	Role     string   `json:"role,omitempty"`
	Warnings []string `json:"warnings"`
}

type statusAudit struct {
	Dir       string `json:"dir"`
	Events    int64  `json:"events"`
	LastTime  string `json:"last,omitempty"`
	SQL       string `json:"sql"`
	OnFailure string `json:"onFailure"`
	Problem   string `json:"problem,omitempty"`
}

// StatusCommand returns the command ktx status.
func StatusCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the project: connections, safety settings, audit log",
		Long: `Show the project without connecting to a database: what ktx.yaml configures, the
state of the audit log, and what was found when each connection was last opened.
ktx doctor connects.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := wiring.LoadProject(a)
			if err != nil {
				return err
			}
			s := statusOf(cmd.Context(), a, p)
			if a.JSON {
				a.PrintJSON(s)
			} else {
				printStatus(a, s)
			}
			return nil
		},
	}
}

func printStatus(a *console.App, s statusJSON) {
	a.Printf("project  %s\n", console.EscapeControls(s.ProjectDir))
	a.Printf("audit    %s: %d events", console.EscapeControls(s.Audit.Dir), s.Audit.Events)
	if s.Audit.LastTime != "" {
		a.Printf(", last %s", s.Audit.LastTime)
	}
	a.Printf("\n")
	if s.Audit.OnFailure == string(audit.FailDegrade) {
		a.Printf("         %s\n", a.Paint(a.Out, console.StyleYellow, "statements run even if they cannot be recorded"))
	}
	if s.Audit.SQL == string(audit.SQLFull) {
		a.Printf("         %s\n", a.Paint(a.Out, console.StyleYellow, "the log has the statements with their literals"))
	}
	if s.Audit.Problem != "" {
		a.Printf("         %s\n", a.Paint(a.Out, console.StyleRed, console.EscapeControls(s.Audit.Problem)))
	}
	if len(s.Connections) == 0 {
		a.Printf("no connection is configured\n")
	}
	for _, c := range s.Connections {
		a.Printf("%-8s %s", c.ID, c.Engine)
		switch {
		case c.Configured != "":
			a.Printf(", %s", a.Paint(a.Out, console.StyleYellow, console.EscapeControls(c.Configured)))
		default:
			a.Printf(", at most %d rows and %s a call, if the role can write: %s", c.Rows, time.Duration(c.TimeoutMS)*time.Millisecond, c.Role)
		}
		if c.TLS == "off" {
			a.Printf(", %s", a.Paint(a.Out, console.StyleYellow, "TLS off"))
		}
		a.Printf("\n")
		printProbed(a, c.Probed)
		if len(c.Held) > 0 {
			a.Printf("         %s\n", a.Paint(a.Out, console.StyleYellow, heldText(c.Held)))
		}
	}
}

// heldText says which statements may still run at the server.
func heldText(held []audit.HeldStatement) string {
	return fmt.Sprintf("%s whose end is not confirmed may still run at the server, the first since %s (query %s)",
		console.Count(len(held), "statement"), held[0].Asked.UTC().Format(time.RFC3339), held[0].QueryID)
}

// heldSince is how long ago a statement may have been asked to end that is looked for.
const heldSince = 24 * time.Hour

// heldStatements returns the statements of each connection that may still run at their
// server. ktx does not ask SQL Server and ClickHouse whether a statement is over, so nothing is
// known of their statements.
func heldStatements(ctx context.Context, p *project.Project) (map[string][]audit.HeldStatement, error) {
	list, err := audit.HeldStatements(ctx, p.Config.Audit.Dir(p.Dir), time.Now().Add(-heldSince))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing has run yet
	}
	held := map[string][]audit.HeldStatement{}
	for _, h := range list {
		if h.Dialect != "sqlserver" && h.Dialect != "clickhouse" {
			held[h.Connection] = append(held[h.Connection], h)
		}
	}
	return held, err
}

// printProbed prints what was found when a connection was last opened.
func printProbed(a *console.App, p *statusProbe) {
	if p == nil {
		return
	}
	role := ""
	if p.Role != "" {
		role = ", role " + p.Role
	}
	a.Printf("         %s\n", a.Paint(a.Out, console.StyleDim, console.EscapeControls("opened "+p.At+": "+p.Server+role)))
	for _, w := range p.Warnings {
		a.Printf("         %s\n", a.Paint(a.Out, console.StyleYellow, console.EscapeControls(w)))
	}
}

func statusOf(ctx context.Context, a *console.App, p *project.Project) statusJSON {
	s := statusJSON{
		Schema: "ktx-status/1", Version: a.Version, ProjectDir: p.Dir, Warnings: append([]project.Problem{}, p.Warnings...),
		Connections: []statusConnection{},
		Audit: statusAudit{
			Dir: p.Config.Audit.Dir(p.Dir), SQL: string(cmp.Or(p.Config.Audit.SQL, audit.SQLNormalized)),
			OnFailure: string(cmp.Or(p.Config.Audit.OnFailure, audit.FailReject)),
		},
	}
	held, err := heldStatements(ctx, p)
	if err != nil {
		s.Audit.Problem = err.Error()
	}
	for _, c := range wiring.Connections(a, p) {
		limits := c.Limits.WithDefaults()
		entry := statusConnection{
			ID: c.ID, Engine: c.Engine, Driver: p.Config.Connections[c.ID].Driver, Runs: c.Open != nil, TLS: p.Config.Connections[c.ID].TLS, Catalog: c.Objects,
			Role: map[bool]string{true: "refuse", false: "warn"}[wiring.RefusesRole(p, c.ID)], MaxBytes: cmp.Or(c.Policy.MaxBytes, sqlguard.DefaultMaxBytes),
			Rows: limits.Rows, TimeoutMS: limits.Timeout.Milliseconds(),
		}
		if c.Unavailable != nil {
			entry.Configured = c.Unavailable.Message
		}
		if last, ok := wiring.LastProbe(p, c.ID); ok {
			entry.Probed = &statusProbe{At: last.At.Format(time.RFC3339), Server: last.Server, Role: last.Role, Warnings: append([]string{}, last.Warnings...)}
		}
		entry.Held = held[c.ID]
		s.Connections = append(s.Connections, entry)
	}
	sum, err := audit.Summarize(ctx, s.Audit.Dir, audit.Filter{})
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing has run yet
	case err != nil:
		s.Audit.Problem = err.Error()
	default:
		s.Audit.Events = sum.Events
		if !sum.Last.IsZero() {
			s.Audit.LastTime = sum.Last.UTC().Format(time.RFC3339)
		}
		if sum.BadLines > 0 {
			s.Audit.Problem = console.Count(int(sum.BadLines), "line") + " of it cannot be read as events; run ktx audit verify"
		}
	}
	return s
}
