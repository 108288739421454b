package wiring

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/upstream"
)

// OpenProject is a project with its open gateway and audit log, and the tools over
// them.
type OpenProject struct {
	Project *project.Project
	Gateway *execution.Gateway
	Log     *audit.Writer
	Service *research.Service
	// Upstream are other MCP servers; nil before StartUpstreams, and without any.
	Upstream *upstream.Manager

	judge  *upstreamJudge
	eager  bool     // servers of upstreams that start eagerly do so
	root   *os.Root // the project's folder
	stores research.Stores
	skills skillStores
}

// DrainTime is how long a process that stops waits for its running statements.
const DrainTime = 5 * time.Second

// WithGateway finds and loads the project, opens its audit log and gateway,
// calls f, and closes both. Transport is what the log names as the way in. The
// context that f gets names the local user as the actor.
func WithGateway(ctx context.Context, a *console.App, transport string, f func(context.Context, *OpenProject) error) (err error) {
	p, err := LoadProject(a)
	if err != nil {
		return err
	}
	return WithProject(ctx, a, p, transport, f)
}

// WithProject is [WithGateway] for a project that is loaded already.
func WithProject(ctx context.Context, a *console.App, p *project.Project, transport string, f func(context.Context, *OpenProject) error) error {
	return WithConnections(ctx, a, p, Connections(a, p), transport, f)
}

// WithConnections is [WithProject] with connections that the caller has changed.
func WithConnections(ctx context.Context, a *console.App, p *project.Project, conns []execution.Connection, transport string, f func(context.Context, *OpenProject) error) (err error) {
	if err := IgnoreState(p.Dir); err != nil {
		return execution.AuditUnavailable("the project's state cannot be written: "+err.Error(), err)
	}
	log, err := audit.Open(p.Config.Audit.Dir(p.Dir), p.Config.Audit, a.Logger())
	if err != nil {
		return execution.AuditUnavailable("the audit log cannot be opened: "+err.Error(), err)
	}
	defer func() {
		if closing := log.Close(); closing != nil && err == nil {
			err = execution.AuditUnavailable("the audit log cannot be closed: "+closing.Error(), closing)
		}
	}()
	ctx = audit.WithActor(ctx, audit.Actor{Principal: "local", Client: audit.Client{Name: "ktx", Version: a.Version, Transport: transport, User: SystemUser()}})
	gateway, err := execution.NewGateway(ctx, log, conns...)
	if err != nil {
		if execution.CodeOf(err) == "" {
			return console.AsUsage(err)
		}
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), DrainTime)
		defer cancel()
		err = errors.Join(err, gateway.Close(closing))
	}()
	open := &OpenProject{Project: p, Gateway: gateway, Log: log}
	closeService, err := open.openService(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeService()) }()
	return f(ctx, open)
}

// OneConnection returns the connection that was asked for, or the only one of the
// project.
func OneConnection(ctx context.Context, open *OpenProject, asked string) (execution.ConnectionInfo, error) {
	if asked != "" {
		return open.Gateway.Connection(ctx, asked)
	}
	all := open.Gateway.Connections(ctx)
	switch len(all) {
	case 0:
		return execution.ConnectionInfo{}, console.Usage("no connection is configured in %s", open.Project.File)
	case 1:
		return all[0], nil
	}
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return execution.ConnectionInfo{}, console.Usage("name a connection with -c: %s", strings.Join(ids, ", "))
}

// SystemUser returns the name of the operating system's user who runs this process, or
// its number when the system has no name for it.
func SystemUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}
