package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
)

// Options are what a [Manager] needs.
type Options struct {
	Root    *os.Root // the folder of the project
	Log     audit.Log
	Judge   Judge
	Logger  *slog.Logger
	Version string // of ktx, which servers are told
	// Observe is called at the end of each call, with "" as the code of one that ended
	// well. It may be nil.
	Observe func(server, tool, code string, took time.Duration, bytes int64)
}

// Judge decides whether an argument that is SQL may be sent.
type Judge interface {
	// Judge returns the decision, and an error that explains a refusal. Whoever cannot
	// judge returns an error too.
	Judge(ctx context.Context, rule SQLRule, sql string) (Judgement, error)
}

// Judgement is what the log keeps of a decision about SQL.
type Judgement struct {
	Connection audit.Connection
	SQL        audit.SQL
	Decision   audit.Decision
}

// Manager holds the servers. It is safe for concurrent use.
type Manager struct {
	options Options
	logger  *slog.Logger
	ctx     context.Context //nolint:containedctx // the life of the manager, which connections and background work share
	cancel  context.CancelFunc
	wait    sync.WaitGroup
	current atomic.Pointer[setup]

	mu       sync.Mutex
	closed   bool
	pins     pinsState
	pinsRead os.FileInfo // of the file that pins is from
	pinsErr  error
	cache    cacheState

	lists atomic.Int64 // counts the lists of tools that were read
	made  sync.Mutex
	index atomic.Pointer[catalogue]
}

// setup is one configuration. It is immutable.
type setup struct {
	config Config
	rules  []rule
	links  map[string]*link
	names  []string
}

// New returns a manager without servers.
func New(o Options) *Manager {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{options: o, logger: o.Logger, ctx: ctx, cancel: cancel}
	m.pins, m.pinsErr = readPins(o.Root)
	m.pinsRead, _ = o.Root.Stat(pinsFile)
	m.cache = readCache(o.Root)
	m.current.Store(&setup{links: map[string]*link{}})
	return m
}

// Configure replaces the configuration. A call sees the one before or this one. Servers
// that are the same in both keep their connections; the connections of others are closed
// when their last call has ended.
func (m *Manager) Configure(c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	rules, err := compileRules(c.Rules)
	if err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return fmt.Errorf("the manager is closed")
	}
	before := m.current.Load()
	s := &setup{config: c, rules: rules, links: make(map[string]*link, len(c.Servers))}
	for i := range c.Servers {
		server := c.Servers[i]
		s.names = append(s.names, server.Name)
		if old := before.links[server.Name]; old != nil && old.takes(server) {
			s.links[server.Name] = old
			continue
		}
		l := newLink(m, server)
		if kept, ok := m.cache.Servers[server.Name]; ok && !c.NoCache && kept.Identity == server.Identity {
			tools, problems := parseTools(server.Name, kept.Tools)
			l.listed = newListing(tools, kept.Listed, problems)
			l.listed.title = clean(kept.Title, 2*maxName)
		}
		s.links[server.Name] = l
	}
	m.current.Store(s)
	m.lists.Add(1)
	m.mu.Unlock()
	for name, old := range before.links {
		if s.links[name] != old {
			old.retire()
		}
	}
	for _, name := range s.names {
		l := s.links[name]
		if l.server.Eager && !l.server.Disabled {
			m.spawn(func(ctx context.Context) { _ = l.fresh(ctx) })
		}
	}
	return nil
}

// takes replaces the settings of a link by those of the same server, and reports whether
// it is the same.
func (l *link) takes(s Server) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	plain := func(s Server) Server {
		s.Args, s.Env, s.Headers, s.URL = nil, nil, nil, nil // the identity has what the file says of them
		s.Description, s.Keywords, s.OAuth.ClientSecret = "", nil, nil
		return s
	}
	if !reflect.DeepEqual(plain(l.server), plain(s)) {
		return false
	}
	l.server = s
	l.stale = l.stale || l.session != nil // whoever reloads wants to see the tools as they are now
	return true
}

// Close ends every connection and every process, and waits for them.
func (m *Manager) Close() {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return
	}
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	var closing sync.WaitGroup
	for _, l := range m.current.Load().links {
		l.mu.Lock()
		s := l.session
		l.session, l.retired = nil, true
		if l.idle != nil {
			l.idle.Stop()
		}
		l.mu.Unlock()
		if s != nil {
			closing.Go(s.close)
		}
	}
	closing.Wait()
	m.wait.Wait()
}

// spawn runs f in the background. Close waits for it. It reports whether it started f.
func (m *Manager) spawn(f func(context.Context)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.wait.Go(func() { f(m.ctx) })
	return true
}

func (m *Manager) ttl() time.Duration {
	if ttl := m.current.Load().config.TTL; ttl > 0 {
		return ttl
	}
	return DefaultTTL
}

func (m *Manager) resultBytes() int64 { return m.current.Load().resultBytes() }

func (s *setup) resultBytes() int64 {
	if s.config.ResultBytes > 0 {
		return s.config.ResultBytes
	}
	return DefaultResultBytes
}

// of returns what of a configuration the actor of a context may use. Other servers are
// unknown to it.
func (s *setup) of(ctx context.Context) *setup {
	actor, _ := audit.ActorFrom(ctx)
	if actor.Upstreams == nil {
		return s
	}
	part := &setup{config: s.config, rules: s.rules, links: map[string]*link{}}
	for _, name := range s.names {
		if slices.Contains(actor.Upstreams, name) {
			part.names, part.links[name] = append(part.names, name), s.links[name]
		}
	}
	return part
}

// link returns the link of a server that is configured and not disabled.
func (s *setup) link(server string) (*link, error) {
	l := s.links[server]
	if l == nil {
		for _, name := range s.names { // names of servers are few
			if fold(name) == fold(server) {
				l = s.links[name]
			}
		}
	}
	if l == nil {
		e := &Error{Code: CodeServerNotFound, Server: clean(server, maxName), Message: fmt.Sprintf("no server is called %q", clean(server, maxName)), Hint: "server_list shows the servers"}
		if near := nearest(server, s.enabledNames()); near != "" {
			e.Hint = "did you mean " + near + "? " + e.Hint
		}
		return nil, e
	}
	if l.settings().Disabled {
		return nil, &Error{Code: CodeServerNotFound, Server: l.name(), Message: fmt.Sprintf("the server %s is disabled in ktx.yaml", l.name()), Hint: "server_list shows the servers"}
	}
	return l, nil
}

func (l *link) settings() Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

func (l *link) name() string { return l.settings().Name }

func (s *setup) enabledNames() []string {
	var out []string
	for _, name := range s.names {
		if !s.links[name].settings().Disabled {
			out = append(out, name)
		}
	}
	return out
}

// standing returns what the rules say about a tool. A tool whose SQL the guard judges
// counts as read-only, because only reads get through.
func (s *setup) standing(t *Tool) Standing {
	return standing(s.rules, t.Server, t.Name, t.ReadOnly)
}

// readOnly reports whether a tool may be called with tool_call.
func readOnly(t *Tool, st *Standing) bool { return t.ReadOnly || len(st.SQL) > 0 }

// Writes reports whether a rule enables a tool that is not read-only, or may do so: the
// tools of a server that was never connected are not known.
func (m *Manager) Writes() bool {
	s := m.current.Load()
	for _, name := range s.names {
		l := s.links[name]
		if l.settings().Disabled {
			continue
		}
		listed := l.known()
		if listed == nil {
			if slices.ContainsFunc(s.rules, func(r rule) bool { return r.Enabled != nil && *r.Enabled && r.SQL == nil && r.of(name) }) {
				return true
			}
			continue
		}
		for _, t := range listed.tools {
			if st := s.standing(t); st.Enabled && !readOnly(t, &st) {
				return true
			}
		}
	}
	return false
}

// pin compares the tools of a server with those that are trusted, and trusts those that
// it sees for the first time.
func (m *Manager) pin(server string, tools []*Tool) error {
	err := locked(m.options.Root, func() error {
		pins, err := readPins(m.options.Root)
		if err != nil {
			return err
		}
		of := pins.Servers[server]
		if of == nil {
			of = map[string]pinned{}
			pins.Servers[server] = of
		}
		trust := m.current.Load().config.TrustChanges
		anew, size := false, 0
		for _, p := range of {
			size += len(p.Definition)
		}
		for _, t := range tools {
			if old, ok := of[t.Name]; !ok || trust && old.Hash != t.Hash {
				of[t.Name] = pinned{Hash: t.Hash, Definition: t.Definition, Since: time.Now().UTC()}
				anew = true
				size += len(t.Definition) - len(old.Definition)
			}
		}
		if anew && (len(of) > maxPins || size > maxPinBytes) {
			return &Error{
				Code: CodeConfiguration, Server: server, Message: fmt.Sprintf("the server has listed too many different tools: ktx keeps %d definitions or %d bytes of them at most, to see changes", maxPins, maxPinBytes),
				Hint: "remove the part of this server from " + pinsFile + " to trust the tools that it lists now",
			}
		}
		if anew {
			if err := writeState(m.options.Root, pinsFile, pins); err != nil {
				return err
			}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.pins, m.pinsErr = pins, nil
		m.pinsRead, _ = m.options.Root.Stat(pinsFile)
		return nil
	})
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if err != nil {
		m.logger.Error("the trusted tools cannot be read or written", "error", err)
		return &Error{Code: CodeConfiguration, Server: server, Message: "the definitions of tools that are trusted cannot be read or written", Hint: "see the log of ktx, and " + pinsFile, Err: err}
	}
	return nil
}

// changed reports whether the definition of a tool is not the one that is trusted.
func (m *Manager) changed(t *Tool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	differs := func() bool {
		p, ok := m.pins.Servers[t.Server][t.Name]
		return ok && p.Hash != t.Hash
	}
	if !differs() {
		return false
	}
	// Another process may have approved the change.
	if info, err := m.options.Root.Stat(pinsFile); err == nil && (m.pinsRead == nil || !os.SameFile(info, m.pinsRead) || !info.ModTime().Equal(m.pinsRead.ModTime())) {
		if pins, err := readPins(m.options.Root); err == nil {
			m.pins, m.pinsRead = pins, info
			m.lists.Add(1)
		}
	}
	return differs()
}

// keep writes the tools of a server to the cache.
func (m *Manager) keep(server Server, l *listing, raws []json.RawMessage) {
	s := m.current.Load()
	if s.config.NoCache || s.links[server.Name] == nil {
		return
	}
	kept := cached{Identity: server.Identity, Listed: l.at.UTC(), Title: l.title, Tools: []json.RawMessage{}}
	total := 0
	for _, raw := range raws {
		if total += len(raw); total > maxListBytes || len(kept.Tools) == maxTools {
			break
		}
		kept.Tools = append(kept.Tools, compacted(raw))
	}
	err := locked(m.options.Root, func() error {
		c := readCache(m.options.Root)
		maps.DeleteFunc(c.Servers, func(name string, _ cached) bool { return s.links[name] == nil })
		c.Servers[server.Name] = kept
		return writeState(m.options.Root, cacheFile, c)
	})
	if err != nil {
		m.logger.Warn("the list of tools was not kept", "server", server.Name, "error", err)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
