package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// findProject returns the directory of the project.
func (a *app) findProject() (string, error) {
	dir, err := project.Find(a.projectDir, a.lookup)
	if err != nil {
		return "", asUsage(err)
	}
	return dir, nil
}

// project finds and loads the project, and prints its warnings.
func (a *app) project() (*project.Project, error) {
	dir, err := a.findProject()
	if err != nil {
		return nil, err
	}
	return a.load(dir)
}

// loadProject reads the project of a directory.
func loadProject(dir string) (*project.Project, error) {
	return project.Load(dir, doublestar.ValidatePattern)
}

// load reads the project of a directory, and prints its warnings.
func (a *app) load(dir string) (*project.Project, error) {
	p, err := loadProject(dir)
	if problems, ok := errors.AsType[*project.InvalidError](err); ok {
		problems.File = display(problems.File)
	}
	if err != nil {
		return nil, asUsage(err)
	}
	p.File = display(p.File)
	for _, w := range p.Warnings {
		a.errorf("%s\n", escapeControls(w.In(p.File)))
	}
	return p, nil
}

// display shortens a path to one relative to the current directory when it
// lies in it.
func display(path string) string {
	current, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(current, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// asUsage marks an error as one of usage or configuration.
func asUsage(err error) error {
	return &exitError{code: exitUsage, err: err}
}

// connections turns the configuration into the gateway's connections.
func (a *app) connections(p *project.Project) []execution.Connection {
	var out []execution.Connection
	for _, id := range slices.Sorted(maps.Keys(p.Config.Connections)) {
		c := p.Config.Connections[id]
		guard := p.Config.GuardOf(id)
		c.Guard = guard
		conn := execution.Connection{
			ID: id, Name: c.Name, Description: c.Description, Engine: strings.ToUpper(c.Driver), Policy: c.Policy(guard),
			Concurrency: c.Limits.Concurrency,
			OnProbe: func(id string, report execution.ProbeReport) {
				a.warnOfRole(id, report)
				a.remember(p, id, report)
			},
			Limits: execution.Limits{
				Rows: c.Limits.Rows, Bytes: int64(c.Limits.Bytes), CellBytes: int64(c.Limits.CellBytes), Columns: c.Limits.Columns,
				Timeout: time.Duration(c.Limits.Timeout), LockTimeout: time.Duration(c.Limits.LockTimeout),
			},
		}
		e, ok := engineOf(c.Driver)
		if !ok {
			conn.Unavailable = execution.NewError(sqlguard.CodeNoBackend, "this version runs no statements on "+c.Driver, nil)
			out = append(out, conn)
			continue
		}
		conn.Engine, conn.Dialect, conn.Policy, conn.RefuseWritableRole = e.name, e.dialect, e.policy(c, guard), e.refusesRole(guard)
		// A turn without a connection would only wait again, and in no order
		// of principals.
		conn.Concurrency = min(cmp.Or(conn.Concurrency, execution.DefaultConcurrency), cmp.Or(c.MaxConnections, e.connections))
		conn.Objects = e.objects && guard.Catalog != nil && *guard.Catalog
		open, err := e.opener(a, p, c)
		if err != nil {
			conn.Unavailable = execution.NewError(sqlguard.CodeNotConfigured, "connection "+id+": "+err.Error(), err)
		}
		conn.Open, conn.Settings = open, a.settings(p, c)
		out = append(out, conn)
	}
	return out
}

// door is an open gateway with its log.
type door struct {
	project *project.Project
	gateway *execution.Gateway
	log     *audit.Writer
}

// drainTime is how long a stopping process waits for its statements.
const drainTime = 5 * time.Second

// withGateway opens the project's audit log and gateway, calls f, and closes
// both. The context that f gets names the local user as the actor.
func (a *app) withGateway(ctx context.Context, transport string, f func(context.Context, *door) error) (err error) {
	p, err := a.project()
	if err != nil {
		return err
	}
	return a.withProject(ctx, p, transport, f)
}

func (a *app) withProject(ctx context.Context, p *project.Project, transport string, f func(context.Context, *door) error) error {
	return a.withConnections(ctx, p, a.connections(p), transport, f)
}

func (a *app) withConnections(ctx context.Context, p *project.Project, conns []execution.Connection, transport string, f func(context.Context, *door) error) (err error) {
	if err := ignoreState(p.Dir); err != nil {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the project's state cannot be written: "+err.Error(), err)
	}
	log, err := audit.Open(p.Config.Audit.Dir(p.Dir), p.Config.Audit, a.logger())
	if err != nil {
		return execution.NewError(sqlguard.CodeAuditUnavailable, "the audit log cannot be opened: "+err.Error(), err)
	}
	defer func() {
		if closing := log.Close(); closing != nil && err == nil {
			err = execution.NewError(sqlguard.CodeAuditUnavailable, "the audit log cannot be closed: "+closing.Error(), closing)
		}
	}()
	ctx = audit.WithActor(ctx, audit.Actor{Principal: "local", Client: audit.Client{Name: "ktx", Version: a.version, Transport: transport}})
	gateway, err := execution.NewGateway(ctx, log, conns...)
	if err != nil {
		if execution.CodeOf(err) == "" {
			return asUsage(err)
		}
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		err = errors.Join(err, gateway.Close(closing))
	}()
	return f(ctx, &door{project: p, gateway: gateway, log: log})
}

// warnOfRole tells the operator, once for each connection that opens, when its
// role can do more than read.
func (a *app) warnOfRole(id string, report execution.ProbeReport) {
	for _, f := range report.Findings {
		if f.Level == execution.ProbeWarning {
			a.errorf("warning: connection %s: %s (see ktx doctor)\n", id, escapeControls(f.Message))
		}
	}
}

// ignoreState keeps local state and secrets out of version control.
func ignoreState(dir string) error {
	state := filepath.Join(dir, ".ktx")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", state, err)
	}
	err := atomicfile.WriteNew(filepath.Join(state, ".gitignore"), 0o600, []byte("*\n"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// logger writes to standard error, which never carries results.
func (a *app) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// completeConnections completes connection ids, with their names.
func (a *app) completeConnections() cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		dir, err := a.findProject()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := loadProject(dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, id := range slices.Sorted(maps.Keys(p.Config.Connections)) {
			c := p.Config.Connections[id]
			about := c.Driver
			if name := cmp.Or(c.Name, c.Description); name != "" {
				about = name + " (" + c.Driver + ")"
			}
			out = append(out, cobra.CompletionWithDesc(id, escapeControls(about)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeConnection completes the only argument of a command as a connection id.
func (a *app) completeConnection() cobra.CompletionFunc {
	all := a.completeConnections()
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return all(cmd, args, word)
	}
}
