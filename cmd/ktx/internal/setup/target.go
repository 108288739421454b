package setup

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// Name is the name of ktx among a client's servers.
const Name = "ktx"

// TokenVariable is the environment variable that clients take the token from.
const TokenVariable = "KTX_MCP_TOKEN" //nolint:gosec // the name of the variable

// Scope is for whom an entry stands.
type Scope string

// The scopes.
const (
	Project Scope = "project" // whoever works in the project: files that may be committed
	User    Scope = "user"    // all projects of the user
	Local   Scope = "local"   // the user in this project
)

// Scopes are all scopes.
var Scopes = []Scope{Project, User, Local}

// Machine is where clients keep their files.
type Machine struct {
	OS      string // as runtime.GOOS
	Home    string // absolute
	Project string // absolute
	Lookup  func(string) (string, bool)
}

// Endpoint is what an entry leads to.
type Endpoint struct {
	URL     string // of the server of the project
	Token   bool   // it wants one
	Command string // ktx itself, for clients that start it
}

// Target is one client.
type Target struct {
	Name  string // as on the command line
	Title string // as people call it
	// Reference is how the client names the variable that holds the token; ""
	// where no entry has one.
	Reference string
	Places    []Place // one for each scope, the default first
	// Starts says that the client starts ktx itself, over stdio.
	Starts bool

	language edit.Language
	seed     string // what a new file begins with
	entry    func(m Machine, e Endpoint, reference string) any
	wrap     func() []byte            // the skill file; nil where the client has none
	home     func(m Machine) []string // folders that tell that the client is there
	commands []string                 // and programs
}

// Place is where a client keeps what is for one scope.
type Place struct {
	Scope  Scope
	config func(m Machine) []string // the files that may hold the entry, the last one where none is there; nil where there is none
	key    func(m Machine) []string // the entry in it
	skill  func(m Machine) string   // the skill file; nil where there is none
	note   string                   // what users should know of the place, or ""
}

// remote is the entry of a client that asks over HTTP. Each client has its own
// choice of these members.
type remote struct {
	Type           string            `json:"type,omitempty"`
	URL            string            `json:"url"`
	Enabled        bool              `json:"enabled,omitempty"`
	BearerVariable string            `json:"bearer_token_env_var,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`
	OAuth          *bool             `json:"oauth,omitempty"`
}

// overHTTP makes entries with that type.
func overHTTP(kind string) func(Machine, Endpoint, string) any {
	return func(_ Machine, e Endpoint, reference string) any {
		r := remote{Type: kind, URL: e.URL}
		if e.Token {
			r.Headers = map[string]string{"Authorization": reference}
		}
		return r
	}
}

func in(root func(Machine) string, parts ...string) func(Machine) string {
	return func(m Machine) string { return filepath.Join(append([]string{root(m)}, parts...)...) }
}

// only is a list of one file.
func only(file func(Machine) string) func(Machine) []string {
	return func(m Machine) []string { return []string{file(m)} }
}

func projectDir(m Machine) string { return m.Project }
func homeDir(m Machine) string    { return m.Home }

// folder returns the folder that a variable names, else one below the user's.
func (m Machine) folder(variable string, parts ...string) string {
	if dir, _ := m.Lookup(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(append([]string{m.Home}, parts...)...)
}

// claudeConfig is the file of Claude Code for the user.
func claudeConfig(m Machine) string {
	return filepath.Join(m.folder("CLAUDE_CONFIG_DIR"), ".claude.json")
}
func claudeDir(m Machine) string { return m.folder("CLAUDE_CONFIG_DIR", ".claude") }
func codexDir(m Machine) string  { return m.folder("CODEX_HOME", ".codex") }

// configDir is where programs keep the settings of a user.
func configDir(m Machine) string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		return m.folder("APPDATA", "AppData", "Roaming")
	}
	return m.folder("XDG_CONFIG_HOME", ".config")
}

// opencodeDir is the same on every system.
func opencodeDir(m Machine) string {
	return filepath.Join(m.folder("XDG_CONFIG_HOME", ".config"), "opencode")
}

// opencodeConfig are the files of a folder that opencode reads, the last one
// first.
func opencodeConfig(dir func(Machine) string) func(Machine) []string {
	return func(m Machine) []string {
		return []string{filepath.Join(dir(m), "opencode.jsonc"), filepath.Join(dir(m), "opencode.json")}
	}
}

func key(path ...string) func(Machine) []string {
	return func(Machine) []string { return append(slices.Clone(path), Name) }
}

// Targets returns the table of clients.
func Targets() []*Target {
	servers := key("mcpServers")
	agentsSkill := []string{".agents", "skills", SkillName, "SKILL.md"}
	const trust = "it uses servers only in folders that you trust, for which it asks at its start"
	return []*Target{
		{
			Name: "claude-code", Title: "Claude Code", Reference: "Bearer ${" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", entry: overHTTP("http"), wrap: skillFile,
			Places: []Place{
				{Scope: Project, config: only(in(projectDir, ".mcp.json")), key: servers, skill: in(projectDir, ".claude", "skills", SkillName, "SKILL.md"), note: "start claude in the project and approve the server " + Name},
				{Scope: User, config: only(claudeConfig), key: servers, skill: in(claudeDir, "skills", SkillName, "SKILL.md")},
				{Scope: Local, config: only(claudeConfig), key: func(m Machine) []string { return []string{"projects", claudeProject(m), "mcpServers", Name} }},
			},
			home:     func(m Machine) []string { return []string{claudeDir(m), claudeConfig(m)} },
			commands: []string{"claude"},
		},
		{
			Name: "claude-desktop", Title: "Claude Desktop", Starts: true,
			language: edit.JSON, seed: "{}\n",
			entry: func(m Machine, e Endpoint, _ string) any {
				return struct {
					Command string   `json:"command"`
					Args    []string `json:"args"`
				}{e.Command, []string{"mcp", "stdio", "--project-dir", m.Project}}
			},
			Places: []Place{{Scope: User, config: only(in(configDir, "Claude", "claude_desktop_config.json")), key: servers, note: "it starts ktx itself: the variables that ktx.yaml names must be set where it is started"}},
			home:   func(m Machine) []string { return []string{filepath.Join(configDir(m), "Claude")} },
		},
		{
			Name: "cursor", Title: "Cursor", Reference: "Bearer ${env:" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", entry: overHTTP(""), wrap: cursorRule,
			Places: []Place{
				{Scope: Project, config: only(in(projectDir, ".cursor", "mcp.json")), key: servers, skill: in(projectDir, ".cursor", "rules", SkillName+".mdc")},
				{Scope: User, config: only(in(homeDir, ".cursor", "mcp.json")), key: servers},
			},
			home:     func(m Machine) []string { return []string{filepath.Join(m.Home, ".cursor")} },
			commands: []string{"cursor", "cursor-agent"},
		},
		{
			Name: "codex", Title: "Codex", Reference: TokenVariable,
			language: edit.TOML,
			entry: func(_ Machine, e Endpoint, reference string) any {
				r := remote{URL: e.URL}
				if e.Token {
					r.BearerVariable = reference
				}
				return r
			},
			wrap: skillFile,
			Places: []Place{
				{Scope: Project, config: only(in(projectDir, ".codex", "config.toml")), key: key("mcp_servers"), skill: in(projectDir, agentsSkill...), note: "it reads these settings once you trust the project, for which it asks at its start"},
				{Scope: User, config: only(in(codexDir, "config.toml")), key: key("mcp_servers"), skill: in(codexDir, "skills", SkillName, "SKILL.md")},
			},
			home:     func(m Machine) []string { return []string{codexDir(m)} },
			commands: []string{"codex"},
		},
		{
			Name: "opencode", Title: "opencode", Reference: "Bearer {env:" + TokenVariable + "}",
			language: edit.JSON, seed: "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n", wrap: opencodeCommand,
			entry: func(m Machine, e Endpoint, reference string) any {
				r, _ := overHTTP("remote")(m, e, reference).(remote)
				r.Enabled = true
				if e.Token { // or it takes a wrong token for a wish to log in
					r.OAuth = new(bool)
				}
				return r
			},
			Places: []Place{
				{Scope: Project, config: opencodeConfig(projectDir), key: key("mcp"), skill: in(projectDir, ".opencode", "commands", SkillName+".md")},
				{Scope: User, config: opencodeConfig(opencodeDir), key: key("mcp"), skill: in(opencodeDir, "commands", SkillName+".md")},
			},
			home:     func(m Machine) []string { return []string{opencodeDir(m)} },
			commands: []string{"opencode"},
		},
		{
			Name: "gemini", Title: "Gemini CLI", Reference: "Bearer $" + TokenVariable,
			language: edit.JSON, seed: "{}\n", entry: overHTTP("http"),
			Places: []Place{
				{Scope: Project, config: only(in(projectDir, ".gemini", "settings.json")), key: servers, note: trust},
				{Scope: User, config: only(in(homeDir, ".gemini", "settings.json")), key: servers, note: trust},
			},
			home:     func(m Machine) []string { return []string{filepath.Join(m.Home, ".gemini")} },
			commands: []string{"gemini"},
		},
		{
			Name: "vscode", Title: "VS Code", Reference: "Bearer ${env:" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", entry: overHTTP("http"),
			Places: []Place{{Scope: Project, config: only(in(projectDir, ".vscode", "mcp.json")), key: key("servers")}},
			home: func(m Machine) []string {
				return []string{filepath.Join(configDir(m), "Code"), filepath.Join(m.Project, ".vscode")}
			},
			commands: []string{"code"},
		},
		{
			Name: "universal", Title: "any other client", Reference: "Bearer $" + TokenVariable, wrap: skillFile,
			Places: []Place{
				{Scope: Project, skill: in(projectDir, agentsSkill...)},
				{Scope: User, skill: in(homeDir, agentsSkill...)},
			},
		},
	}
}

// HasSkill reports whether the client has a skill file for scope. Without one
// its agent gets the workflow as instructions of the server alone.
func (t *Target) HasSkill(scope Scope) bool {
	p, ok := t.Place(scope)
	return ok && p.skill != nil
}

// Note is what users should know of what the client does with scope, or "".
func (t *Target) Note(scope Scope) string {
	p, _ := t.Place(scope)
	return p.note
}

// ByHand reports whether the client's settings are unknown, so that users write
// the entry themselves.
func (t *Target) ByHand() bool { return t.entry == nil }

// Place returns where the client keeps what is for scope.
func (t *Target) Place(scope Scope) (Place, bool) {
	i := slices.IndexFunc(t.Places, func(p Place) bool { return p.Scope == scope })
	if i < 0 {
		return Place{}, false
	}
	return t.Places[i], true
}

// Shared reports whether the client's entry for scope stands in a file that
// those who work in the project share.
func (t *Target) Shared(scope Scope) bool {
	p, ok := t.Place(scope)
	return ok && scope == Project && p.config != nil
}

// Found reports whether the client seems to be on the machine.
func (t *Target) Found(m Machine) bool {
	if t.home != nil {
		for _, path := range t.home(m) {
			if _, err := os.Stat(path); err == nil {
				return true
			}
		}
	}
	return slices.ContainsFunc(t.commands, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
}

// file returns the file that holds the entry, or is to.
func (pl Place) file(m Machine) string {
	files := pl.config(m)
	for _, name := range files {
		if _, err := os.Lstat(name); err == nil {
			return name
		}
	}
	return files[len(files)-1]
}

// value renders the entry of a client.
func (t *Target) value(m Machine, e Endpoint) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(t.entry(m, e, t.Reference)); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
