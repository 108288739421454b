package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Change is a tool whose definition is not the one that is trusted.
type Change struct {
	Server string          `json:"server"`
	Tool   string          `json:"tool"`
	Since  time.Time       `json:"since"` // the trusted definition
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`

	hash string
}

// Changes connects to a server, and returns its tools whose definitions have changed
// since they were trusted: those that are named, or all.
func (m *Manager) Changes(ctx context.Context, server string, tools ...string) ([]Change, error) {
	s := m.current.Load()
	l, err := s.link(server)
	if err != nil {
		return nil, err
	}
	if err := waitFor(ctx, l, l.fresh); err != nil {
		return nil, err
	}
	listed := l.known()
	for _, name := range tools {
		if _, err := s.find(listed, l, name); err != nil {
			return nil, err
		}
	}
	if listed.untested != nil {
		return nil, listed.untested
	}
	out := []Change{}
	for _, t := range listed.tools {
		if !m.changed(t) || len(tools) > 0 && !slices.Contains(tools, t.Name) {
			continue
		}
		m.mu.Lock()
		p := m.pins.Servers[t.Server][t.Name]
		m.mu.Unlock()
		out = append(out, Change{Server: t.Server, Tool: t.Name, Since: p.Since, Before: p.Definition, After: t.Definition, hash: t.Hash})
	}
	return out, nil
}

// Approve trusts the definitions of the changes, as they were when they were read.
func (m *Manager) Approve(changes ...Change) error {
	return locked(m.options.Root, func() error {
		pins, err := readPins(m.options.Root)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if pins.Servers[c.Server] == nil {
				pins.Servers[c.Server] = map[string]pinned{}
			}
			pins.Servers[c.Server][c.Tool] = pinned{Hash: c.hash, Definition: c.After, Since: time.Now().UTC()}
		}
		if err := writeState(m.options.Root, pinsFile, pins); err != nil {
			return err
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.pins = pins
		m.pinsRead, _ = m.options.Root.Stat(pinsFile)
		m.lists.Add(1)
		return nil
	})
}

// The levels of a [Finding].
const (
	LevelNote    = "note"
	LevelWarning = "warning"
	LevelError   = "error"
)

// Finding is something that a person should know about a server.
type Finding struct {
	Server  string `json:"server,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// sqlNames are names of arguments that are mostly SQL.
var sqlNames = []string{"sql", "query", "statement"}

// Check connects to a server, or to all, and returns what a person should know about
// them, by server and tool.
func (m *Manager) Check(ctx context.Context, server string) ([]Finding, error) {
	s := m.current.Load()
	names := s.names
	if server != "" {
		l, err := s.link(server)
		if err != nil {
			return nil, err
		}
		names = []string{l.name()}
	}
	out := []Finding{}
	matched := map[int]bool{}
	for _, name := range names {
		l := s.links[name]
		if l.settings().Disabled {
			out = append(out, Finding{Server: name, Level: LevelNote, Message: "it is disabled"})
			continue
		}
		if err := waitFor(ctx, l, l.fresh); err != nil {
			out = append(out, Finding{Server: name, Level: LevelError, Message: err.Error(), Fix: "run its command by hand, or try its address"})
			if ctx.Err() != nil {
				return out, nil //nolint:nilerr // the finding says it
			}
			continue
		}
		out = append(out, m.checkTools(s, l, matched)...)
	}
	if server == "" {
		for _, r := range s.rules {
			if !matched[r.position] && len(out) == len(slices.DeleteFunc(slices.Clone(out), func(f Finding) bool { return f.Level == LevelError })) {
				out = append(out, Finding{Level: LevelWarning, Message: fmt.Sprintf("rule %d matches no tool: %s", r.position, clean(strings.Join(r.Match, " "), maxMessage)), Fix: "correct or remove it"})
			}
		}
	}
	return out, nil
}

func (m *Manager) checkTools(s *setup, l *link, matched map[int]bool) []Finding {
	name, listed := l.name(), l.known()
	var out []Finding
	if listed.untested != nil {
		out = append(out, Finding{Server: name, Level: LevelError, Message: listed.untested.Error()})
	}
	for _, p := range listed.problems {
		out = append(out, Finding{Server: name, Level: LevelWarning, Message: p})
	}
	enabled := 0
	for _, t := range listed.tools {
		for i := range s.rules {
			if r := &s.rules[i]; r.of(name) && r.match.Match(name, t.Name) {
				matched[r.position] = true
			}
		}
		if m.changed(t) {
			out = append(out, Finding{Server: name, Tool: t.Name, Level: LevelWarning, Message: "its definition has changed since it was trusted, so it is not called", Fix: "ktx upstream approve " + name + " " + t.Name})
		}
		st := s.standing(t)
		if !st.Enabled {
			continue
		}
		enabled++
		if _, err := t.checker(); err != nil {
			out = append(out, Finding{Server: name, Tool: t.Name, Level: LevelWarning, Message: "it cannot be called: " + err.Error()})
		}
		for _, p := range t.Parameters {
			if p.Type == "string" && slices.Contains(sqlNames, strings.ToLower(p.Name)) && !slices.ContainsFunc(st.SQL, func(r SQLRule) bool { return r.Argument == p.Name }) {
				out = append(out, Finding{
					Server: name, Tool: t.Name, Level: LevelWarning, Message: fmt.Sprintf("its argument %s may be SQL, and no rule has the guard judge it", p.Name),
					Fix: fmt.Sprintf("if it is, add a rule: {match: [%q], server: %s, sql: {argument: %s, connection: ID}}", t.Name, name, p.Name),
				})
			}
		}
		for _, r := range st.SQL {
			if !slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Name == r.Argument }) {
				out = append(out, Finding{Server: name, Tool: t.Name, Level: LevelWarning, Message: fmt.Sprintf("a rule names the argument %s as SQL, which the tool does not have, so every call is refused", r.Argument), Fix: "correct the rule"})
			}
		}
	}
	return append([]Finding{{Server: name, Level: LevelNote, Message: fmt.Sprintf("connected; %d tools, %d enabled", len(listed.tools), enabled)}}, out...)
}

// Known returns the names of the tools of a server that are known without a connection.
func (m *Manager) Known(server string) []string {
	var out []string
	if l := m.current.Load().links[server]; l != nil {
		if listed := l.known(); listed != nil {
			for _, t := range listed.tools {
				out = append(out, t.Name)
			}
		}
	}
	return out
}
