package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// ServerInfo is what agents see of a server.
type ServerInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
	// Tools, Enabled and Hidden count the tools that are known, those that may be called,
	// and the others. They are nil for a server whose tools were never read.
	Tools     *int   `json:"tools,omitempty"`
	Enabled   *int   `json:"enabled,omitempty"`
	Hidden    *int   `json:"hidden,omitempty"`
	Changed   int    `json:"changed,omitempty"` // hidden until they are approved
	LastError string `json:"lastError,omitempty"`
}

// Servers returns the servers, by name. It connects to none.
func (m *Manager) Servers(ctx context.Context) []ServerInfo {
	s := m.current.Load().of(ctx)
	out := make([]ServerInfo, 0, len(s.names))
	for _, name := range s.names {
		l := s.links[name]
		settings := l.settings()
		info := ServerInfo{Name: name, Description: clean(settings.Description, maxDescription)}
		status, failure := l.status()
		info.Status = status
		if failure != nil {
			info.LastError = failure.Error()
		}
		if listed := l.known(); listed != nil && !settings.Disabled {
			all, enabled := len(listed.tools), 0
			for _, t := range listed.tools {
				switch changed := m.changed(t); {
				case changed:
					info.Changed++
				case s.standing(t).Enabled:
					enabled++
				}
			}
			hidden := all - enabled
			info.Tools, info.Enabled, info.Hidden = &all, &enabled, &hidden
			if info.Description == "" {
				info.Description = listed.title
			}
		}
		out = append(out, info)
	}
	return out
}

// Summary is what a list of tools shows of one.
type Summary struct {
	Tool     string   `json:"tool"`
	Summary  string   `json:"summary"`
	ReadOnly bool     `json:"readOnly"`
	Tags     []string `json:"tags,omitempty"`
	State    string   `json:"state,omitempty"` // disabled or changed; "" is enabled
}

// The states of a tool.
const (
	StateEnabled  = "enabled"
	StateDisabled = "disabled"
	StateChanged  = "changed"
)

// pageSize is how many tools a page of a list has.
const pageSize = 100

// List returns a page of the tools of a server, by name. It connects if the tools are
// not known.
func (m *Manager) List(ctx context.Context, server, cursor string, includeDisabled bool) (page []Summary, next string, hidden int, err error) {
	s := m.current.Load().of(ctx)
	l, err := s.link(server)
	if err != nil {
		return nil, "", 0, err
	}
	listed, err := m.listing(ctx, l)
	if err != nil {
		return nil, "", 0, err
	}
	from := 0
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 {
			return nil, "", 0, &Error{Code: CodeValidation, Server: l.name(), Message: "cursor is not one that tool_list gave", Hint: "call again without cursor"}
		}
	}
	page = []Summary{}
	at := 0
	for _, t := range listed.tools {
		st := s.standing(t)
		state := ""
		switch {
		case m.changed(t):
			state = StateChanged
		case !st.Enabled:
			state = StateDisabled
		}
		if state != "" {
			hidden++
			if !includeDisabled {
				continue
			}
		}
		if at++; at <= from {
			continue
		}
		if len(page) == pageSize {
			if next == "" {
				next = strconv.Itoa(from + pageSize)
			}
			continue
		}
		page = append(page, Summary{Tool: t.Name, Summary: t.Summary, ReadOnly: readOnly(t, &st), Tags: st.Tags, State: state})
	}
	return page, next, hidden, nil
}

// Trust is why a tool may be called or not, as the operator sees it.
type Trust struct {
	Rule  string // what decided, such as "rule 2"
	Pin   string // the hash of the definition that is trusted; "" for none
	Since time.Time
}

// Trusts returns why the tools of a server may be called or not, by name. It has none of a
// server whose tools are not known.
func (m *Manager) Trusts(ctx context.Context, server string) map[string]Trust {
	s := m.current.Load().of(ctx)
	l, err := s.link(server)
	if err != nil {
		return nil
	}
	listed := l.known()
	if listed == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]Trust{}
	for _, t := range listed.tools {
		pin := m.pins.Servers[t.Server][t.Name]
		out[t.Name] = Trust{Rule: s.standing(t).Reason, Pin: pin.Hash, Since: pin.Since}
	}
	return out
}

// listing returns the tools of a server, and connects if they are not known. Tools that
// are old are read again in the background.
func (m *Manager) listing(ctx context.Context, l *link) (*listing, error) {
	listed := l.known()
	if listed == nil {
		if err := waitFor(ctx, l, l.fresh); err != nil {
			return nil, err
		}
		return l.known(), nil
	}
	if l.outdated() {
		m.refresh(l)
	}
	return listed, nil
}

// refresh reads the tools of a server in the background.
func (m *Manager) refresh(l *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refreshing {
		return
	}
	l.refreshing = m.spawn(func(ctx context.Context) {
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.refreshing = false
		}()
		_ = l.fresh(ctx) // the failure is shown by Servers
	})
}

// waitFor gives an error of the context a code.
func waitFor(ctx context.Context, l *link, f func(context.Context) error) error {
	err := f(ctx)
	var own *Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: CodeServerConnection, Server: l.name(), Message: "the server did not answer in time", Retryable: true, Err: err}
	}
	return err
}

// Details is all that is known about one tool.
type Details struct {
	Server       string          `json:"server"`
	Tool         string          `json:"tool"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
	Example      json.RawMessage `json:"example"`
	State        string          `json:"state"`
	Reason       string          `json:"reason"`
	CallWith     string          `json:"callWith"` // tool_call or tool_call_write
	Tags         []string        `json:"tags,omitempty"`
	SQL          []string        `json:"sqlArguments,omitempty"`
}

// Details returns what a server says about a tool, with an example of a call.
func (m *Manager) Details(ctx context.Context, server, tool string) (Details, error) {
	s := m.current.Load().of(ctx)
	l, err := s.link(server)
	if err != nil {
		return Details{}, err
	}
	listed, err := m.listing(ctx, l)
	if err != nil {
		return Details{}, err
	}
	t, err := s.find(listed, l, tool)
	if err != nil {
		return Details{}, err
	}
	var d definition
	if err := json.Unmarshal(t.Definition, &d); err != nil {
		return Details{}, err
	}
	st := s.standing(t)
	out := Details{
		Server: t.Server, Tool: t.Name, Title: t.Title, Description: t.Description, InputSchema: d.InputSchema, OutputSchema: d.OutputSchema, Annotations: d.Annotations,
		State: StateEnabled, Reason: st.Reason, CallWith: "tool_call_write", Tags: st.Tags,
	}
	if len(out.InputSchema) == 0 || out.InputSchema[0] != '{' {
		out.InputSchema = json.RawMessage(`{}`)
	}
	if readOnly(t, &st) {
		out.CallWith = "tool_call"
	}
	switch {
	case m.changed(t):
		out.State, out.Reason = StateChanged, "its definition has changed; a person has to approve it with ktx upstream approve"
	case !st.Enabled:
		out.State = StateDisabled
	}
	for _, rule := range st.SQL {
		if !slices.Contains(out.SQL, rule.Argument) {
			out.SQL = append(out.SQL, rule.Argument)
		}
	}
	out.Example, err = json.Marshal(struct {
		Server    string          `json:"server"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}{t.Server, t.Name, example(d.InputSchema)})
	return out, err
}

// find returns a tool by its name.
func (s *setup) find(listed *listing, l *link, tool string) (*Tool, error) {
	if listed.untested != nil {
		return nil, listed.untested
	}
	if t := listed.byName[tool]; t != nil {
		return t, nil
	}
	var names []string
	for _, t := range listed.tools {
		if fold(t.Name) == fold(tool) {
			return t, nil
		}
		if s.standing(t).Enabled {
			names = append(names, t.Name)
		}
	}
	e := &Error{Code: CodeToolNotFound, Server: l.name(), Tool: clean(tool, maxName), Message: fmt.Sprintf("the server %s has no tool %q", l.name(), clean(tool, maxName)), Hint: "find it with tool_search"}
	if near := nearest(tool, names); near != "" {
		e.Hint = "did you mean " + near + "? Otherwise " + e.Hint
	}
	return nil, e
}

// maxExample bounds the depth of an example.
const maxExample = 4

// example returns arguments that fit a schema, as far as it is plain. Only arguments that
// are required are in it.
func example(schema json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	if len(schema) == 0 || d.Decode(&v) != nil {
		return json.RawMessage(`{}`)
	}
	out, err := json.Marshal(exampleOf(v, v, 0))
	if err != nil || len(out) > 4<<10 || out[0] != '{' {
		return json.RawMessage(`{}`)
	}
	return out
}

func exampleOf(root, v any, depth int) any {
	s, ok := v.(map[string]any)
	if !ok || depth > maxExample {
		return "…"
	}
	if ref, ok := s["$ref"].(string); ok {
		target, ok := resolve(root, ref)
		if !ok {
			return "…"
		}
		return exampleOf(root, target, depth+1)
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := s[key]; ok && v != nil {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			return list[0]
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 && s["properties"] == nil {
			return exampleOf(root, list[0], depth+1)
		}
	}
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	switch kind {
	case "integer", "number":
		if low, ok := s["minimum"]; ok {
			return low
		}
		return 1
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		if s["items"] == nil {
			return []any{}
		}
		return []any{exampleOf(root, s["items"], depth+1)}
	case "string":
		return "…"
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	out := map[string]any{}
	for _, name := range required {
		if name, ok := name.(string); ok {
			out[name] = exampleOf(root, properties[name], depth+1)
		}
	}
	return out
}

// missing connects to the servers whose tools are not known, and waits a while for them.
// It returns the names of those that are still not known.
func (m *Manager) missing(ctx context.Context, s *setup, server string) []string {
	var wait sync.WaitGroup
	var links []*link
	for _, name := range s.names {
		l := s.links[name]
		if server != "" && name != server || l.settings().Disabled {
			continue
		}
		switch {
		case l.known() == nil:
			links = append(links, l)
		case l.outdated():
			m.refresh(l)
		}
	}
	if len(links) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, searchWait)
	defer cancel()
	for _, l := range links {
		wait.Go(func() { _ = l.fresh(ctx) })
	}
	wait.Wait()
	var names []string
	for _, l := range links {
		if l.known() == nil {
			names = append(names, l.name())
		}
	}
	return names
}

// searchWait is how long a search waits for servers whose tools are not known.
const searchWait = 5 * time.Second

// InputSchema returns the input schema, as the server sent it.
func (t *Tool) InputSchema() json.RawMessage {
	var d definition
	if json.Unmarshal(t.Definition, &d) != nil {
		return nil
	}
	return d.InputSchema
}
