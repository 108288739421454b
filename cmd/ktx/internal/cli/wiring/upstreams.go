package wiring

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/sqlguard"
)

// StartUpstreams makes the other MCP servers of the project available to the tools, if
// ktx.yaml names some. It connects to them when they are needed; if eager is set, to
// those at once that ktx.yaml says so of. The project closes them. Observe may be nil.
func (o *OpenProject) StartUpstreams(a *console.App, eager bool, observe func(server, tool, code string, took time.Duration, bytes int64)) error {
	if !o.Project.Config.Upstreams.Set() || o.Upstream != nil {
		return nil
	}
	judge := &upstreamJudge{gateway: o.Gateway, log: o.Log}
	judge.set(o.Project)
	m := upstream.New(upstream.Options{Root: o.root, Log: o.Log, Judge: judge, Logger: a.Logger(), Version: a.Version, Observe: observe})
	o.eager = eager
	if err := m.Configure(upstreamConfig(a, o.Project, eager)); err != nil {
		m.Close()
		return console.AsUsage(err)
	}
	o.Upstream, o.judge, o.stores.Upstream = m, judge, m
	o.Service.SetStores(o.stores)
	return nil
}

// reloadUpstreams applies another ktx.yaml to the servers.
func (o *OpenProject) reloadUpstreams(a *console.App, p *project.Project) {
	if o.Upstream == nil {
		if p.Config.Upstreams.Set() {
			a.Errorf("ktx: the block upstreams is new, which takes effect at the next start\n")
		}
		return
	}
	if err := o.Upstream.Configure(upstreamConfig(a, p, o.eager)); err != nil {
		a.Errorf("ktx: upstreams: %s; the present servers stay in force\n", console.EscapeControls(err.Error()))
		return
	}
	o.judge.set(p)
}

// upstreamConfig returns the servers of a project in the form that the manager takes.
func upstreamConfig(a *console.App, p *project.Project, eager bool) upstream.Config {
	u := p.Config.Upstreams
	value := func(s project.Secret) upstream.Value {
		return func() (string, error) { return s.Resolve(p.Environment(a.Lookup)) }
	}
	values := func(m map[string]project.Secret) map[string]upstream.Value {
		out := map[string]upstream.Value{}
		for name, s := range m {
			out[name] = value(s)
		}
		return out
	}
	is := func(b *bool, otherwise bool) bool {
		if b == nil {
			return otherwise
		}
		return *b
	}
	c := upstream.Config{
		NoCache: !is(u.Cache.Enabled, true), TTL: time.Duration(u.Cache.TTL), TrustChanges: !is(u.Trust.Pin, true),
		ResultBytes: int64(u.Limits.ResultBytes), CallsPerMinute: u.Limits.CallsPerMinute,
	}
	for _, name := range slices.Sorted(maps.Keys(u.Servers)) {
		s := u.Servers[name]
		server := upstream.Server{
			Name: name, Description: s.Description, Keywords: s.Keywords, Command: s.Command, Env: values(s.Env), Dir: p.Dir,
			Headers: values(s.Headers), Transport: s.Transport, Identity: s.Identity(), Timeout: time.Duration(s.Timeout), Idle: time.Duration(s.Idle),
			Eager: eager && s.Start == "eager", Disabled: !is(s.Enabled, true),
		}
		for _, arg := range s.Args {
			server.Args = append(server.Args, value(arg))
		}
		if s.Cwd != "" {
			if server.Dir = s.Cwd; !filepath.IsAbs(server.Dir) {
				server.Dir = filepath.Join(p.Dir, server.Dir)
			}
		}
		if s.URL.Set() {
			server.URL = value(s.URL)
			server.OAuth = upstream.OAuth{ClientID: s.OAuth.ClientID, Scopes: s.OAuth.Scopes}
			if s.OAuth.ClientSecret.Set() {
				server.OAuth.ClientSecret = value(s.OAuth.ClientSecret)
			}
		}
		c.Servers = append(c.Servers, server)
	}
	for _, r := range u.Rules {
		rule := upstream.Rule{Match: r.Match, Server: r.Server, Enabled: r.Enabled, Tags: r.Tags}
		if r.SQL != nil {
			rule.SQL = &upstream.SQLRule{Argument: r.SQL.Argument, Dialect: r.SQL.Dialect, Connection: r.SQL.Connection}
		}
		c.Rules = append(c.Rules, rule)
	}
	return c
}

// upstreamJudge judges the SQL in calls of other servers' tools.
type upstreamJudge struct {
	gateway *execution.Gateway
	log     audit.Log

	mu      sync.Mutex
	project *project.Project
	guards  map[string]*sqlguard.Guard // by dialect
}

var _ upstream.Judge = (*upstreamJudge)(nil)

// set replaces the project, whose guard block applies to dialects.
func (j *upstreamJudge) set(p *project.Project) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.project, j.guards = p, map[string]*sqlguard.Guard{}
}

func (j *upstreamJudge) guard(dialect string) (*sqlguard.Guard, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if g := j.guards[dialect]; g != nil {
		return g, nil
	}
	d, err := LookupDialect(dialect)
	if err != nil {
		return nil, err
	}
	g, err := DialectGuard(j.project, "", "", d)
	if err == nil {
		j.guards[dialect] = g
	}
	return g, err
}

// Judge implements [upstream.Judge].
func (j *upstreamJudge) Judge(ctx context.Context, rule upstream.SQLRule, sql string) (upstream.Judgement, error) {
	start := time.Now()
	var v sqlguard.Verdict
	var id sqlguard.ID
	var err error
	if rule.Connection != "" {
		if v, err = j.gateway.Check(ctx, rule.Connection, sql); err != nil {
			return upstream.Judgement{}, err
		}
		if id, err = j.gateway.GuardID(ctx, rule.Connection); err != nil {
			return upstream.Judgement{}, err
		}
	} else {
		g, err := j.guard(rule.Dialect)
		if err != nil {
			return upstream.Judgement{}, err
		}
		v, id = g.Check(sql), g.ID()
	}
	out := upstream.Judgement{Connection: audit.Connection{ID: rule.Connection, Dialect: v.Dialect}}
	out.SQL, out.Decision = execution.Described(v)
	out.SQL.HMAC, out.SQL.Bytes = j.log.HMAC(sql), int64(len(sql))
	out.Decision.Policy, out.Decision.LatencyUS = id.String(), time.Since(start).Microseconds()
	if !v.Allowed {
		return out, &sqlguard.RejectedError{Verdict: v}
	}
	return out, nil
}

// WithUpstreams calls f with the other MCP servers of the project, as far as they are
// known without a connection. It is for completions.
func WithUpstreams(a *console.App, f func(*upstream.Manager) error) (err error) {
	dir, err := FindProject(a)
	if err != nil {
		return err
	}
	p, err := ReadProject(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return console.Failed("open the project: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	m := upstream.New(upstream.Options{Root: root, Logger: a.Logger()})
	defer m.Close()
	if err := m.Configure(upstreamConfig(a, p, false)); err != nil {
		return err
	}
	return f(m)
}
