package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/ktxhq/ktx/research/upstream"
)

// maxImport bounds a file of an MCP client, in bytes.
const maxImport = 4 << 20

// clientServer is an entry of mcpServers, or a table of mcp_servers in the file of Codex.
type clientServer struct {
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Cwd      string            `json:"cwd"`
	URL      string            `json:"url"`
	HTTPURL  string            `json:"httpUrl"`
	Headers  map[string]string `json:"headers"`
	Type     string            `json:"type"`
	Disabled bool              `json:"disabled"`

	// Of Codex.
	Enabled      *bool             `json:"enabled"`
	HTTPHeaders  map[string]string `json:"http_headers"`
	EnvVars      []string          `json:"env_vars"`             // variables that are passed on
	EnvHeaders   map[string]string `json:"env_http_headers"`     // names of variables by header
	BearerEnvVar string            `json:"bearer_token_env_var"` // the variable of a token
}

var errNoFile = errors.New("the file cannot be opened")

// ReadClientServers reads the MCP servers of a file of an MCP client: the member
// mcpServers, or servers. It returns the names that it leaves out, with the reason.
func ReadClientServers(name string) (servers map[string]Upstream, left map[string]string, err error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, nil, errNoFile
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxImport+1))
	if err != nil || len(text) > maxImport {
		return nil, nil, errors.New("the file cannot be read, or is larger than 4 MiB")
	}
	entries, err := clientEntries(name, text)
	if err != nil {
		return nil, nil, err
	}
	servers, left = map[string]Upstream{}, map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		var c clientServer
		if json.Unmarshal(entries[key], &c) != nil {
			left[key] = "the entry cannot be read"
			continue
		}
		if c.itself() {
			left[key] = "it is ktx itself"
			continue
		}
		s, err := c.upstream()
		if err != nil {
			left[key] = err.Error()
			continue
		}
		id := importName(key)
		if _, ok := servers[id]; ok || id == "" {
			left[key] = "its name is taken by another one, or cannot be a name here"
			continue
		}
		servers[id] = s
	}
	return servers, left, nil
}

// clientEntries returns the servers of a file by name: the member mcpServers or servers of
// JSON, which may have comments, or the tables mcp_servers of TOML, as JSON.
func clientEntries(name string, text []byte) (map[string]json.RawMessage, error) {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		var file map[string]any
		if err := toml.Unmarshal(text, &file); err != nil {
			return nil, errors.New("the file is not TOML with tables mcp_servers")
		}
		tables, ok := file["mcp_servers"].(map[string]any)
		if !ok {
			return nil, errors.New("the file has no table mcp_servers")
		}
		out := map[string]json.RawMessage{}
		for key, table := range tables {
			entry, err := json.Marshal(table)
			if err != nil { // a number that JSON does not have
				entry = []byte("null")
			}
			out[key] = entry
		}
		return out, nil
	}
	var file struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
	}
	plain, err := hujson.Standardize(text)
	if err != nil || json.Unmarshal(plain, &file) != nil {
		return nil, errors.New("the file is not JSON with a member mcpServers")
	}
	if file.MCPServers == nil {
		file.MCPServers = file.Servers
	}
	if file.MCPServers == nil {
		return nil, errors.New("the file has no member mcpServers")
	}
	return file.MCPServers, nil
}

// itself reports whether the entry starts ktx, which would start itself again and again.
func (c *clientServer) itself() bool {
	is := func(path string) bool {
		base := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
		return base == "ktx"
	}
	return is(c.Command) && slices.Contains(c.Args, "mcp") || slices.ContainsFunc(c.Args, is) && slices.Contains(c.Args, "mcp")
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// importName returns the name of a server that a client calls key.
func importName(key string) string {
	name := strings.Trim(notInName.ReplaceAllString(key, "-"), "-._")
	if !upstream.ValidName(name) {
		return ""
	}
	return name
}

// placeholder is a variable in a file of a client: ${NAME}, ${env:NAME} or ${NAME:-x}.
var placeholder = regexp.MustCompile(`^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}$`)

// value returns a text of a client's file. A variable becomes env:NAME.
func value(text string) (Secret, error) {
	if m := placeholder.FindStringSubmatch(text); m != nil {
		return NewSecret("env:" + m[1]), nil
	}
	if strings.Contains(text, "${") {
		return Secret{}, errors.New("it has a variable within a text, which ktx does not replace; write the server into ktx.yaml")
	}
	for _, prefix := range []string{"env:", "file:"} {
		if strings.HasPrefix(text, prefix) {
			return Secret{}, fmt.Errorf("a text begins with %s, which means something else in ktx.yaml", prefix)
		}
	}
	return Secret{&text}, nil
}

func values(texts map[string]string) (map[string]Secret, error) {
	out := map[string]Secret{}
	for name, text := range texts {
		s, err := value(text)
		if err != nil {
			return nil, err
		}
		out[name] = s
	}
	return out, nil
}

func (c *clientServer) upstream() (u Upstream, err error) {
	u.Command, u.Cwd = c.Command, c.Cwd
	for _, arg := range c.Args {
		s, err := value(arg)
		if err != nil {
			return u, err
		}
		u.Args = append(u.Args, s)
	}
	if u.Env, err = values(c.Env); err != nil {
		return u, err
	}
	if len(c.Headers) == 0 {
		c.Headers = c.HTTPHeaders
	}
	if u.Headers, err = values(c.Headers); err != nil {
		return u, err
	}
	for _, name := range c.EnvVars {
		u.Env[name] = NewSecret("env:" + name)
	}
	for header, name := range c.EnvHeaders {
		u.Headers[header] = NewSecret("env:" + name)
	}
	if c.BearerEnvVar != "" {
		return u, errors.New("its token is in a variable of its own; write the server into ktx.yaml, with headers: {Authorization: env:NAME} and a variable that begins with Bearer, or log in with ktx upstream login")
	}
	if c.URL == "" {
		c.URL = c.HTTPURL
	}
	if c.URL != "" {
		if u.URL, err = value(c.URL); err != nil {
			return u, err
		}
	}
	switch strings.ToLower(c.Type) {
	case "sse":
		u.Transport = upstream.TransportSSE
	case "http", "streamable-http", "streamablehttp":
		u.Transport = upstream.TransportStreamable
	}
	if u.Command != "" {
		u.Transport = ""
	}
	if c.Disabled || c.Enabled != nil && !*c.Enabled {
		no := false
		u.Enabled = &no
	}
	if problem := u.problem(); problem != "" {
		return u, errors.New(problem)
	}
	return u, nil
}

// importServers adds the servers of the files of the key upstreams.import.
func (p *Project) importServers() []Problem {
	var problems []Problem
	own := maps.Clone(p.Config.Upstreams.Servers)
	for i, name := range p.Config.Upstreams.Import {
		path := fmt.Sprintf("upstreams.import[%d]", i)
		file, err := p.ImportPath(name)
		var servers map[string]Upstream
		var left map[string]string
		if err == nil {
			servers, left, err = ReadClientServers(file)
		}
		if err != nil {
			// A file that another machine has is no reason to refuse the whole project.
			problems = append(problems, Problem{Path: path, Line: 1, Message: name + ": " + err.Error(), Warning: errors.Is(err, errNoFile)})
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(left)) {
			problems = append(problems, Problem{Path: path, Line: 1, Message: fmt.Sprintf("%s: the server %q is left out: %s", name, key, left[key]), Warning: true})
		}
		for _, key := range slices.Sorted(maps.Keys(servers)) {
			if _, ok := own[key]; ok {
				continue
			}
			if p.Config.Upstreams.Servers == nil {
				p.Config.Upstreams.Servers = map[string]Upstream{}
			}
			p.Config.Upstreams.Servers[key] = servers[key]
		}
	}
	return problems
}

// ImportPath returns the path of a file that the key upstreams.import names.
func (p *Project) ImportPath(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", errors.New("the home folder is not known")
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(name) {
		return name, nil
	}
	return filepath.Join(p.Dir, name), nil
}
