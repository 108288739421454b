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

// Name is the name of ktx in the settings of a client.
const Name = "ktx"

// TokenVariable is the environment variable from which clients take the token.
const TokenVariable = "KTX_MCP_TOKEN" //nolint:gosec // the name of the variable

// Scope says for whom an entry applies.
type Scope string

// The scopes.
const (
	Project Scope = "project" // everyone who works in the project: files that may be committed
	User    Scope = "user"    // all projects of the user
	Local   Scope = "local"   // the user in this project
)

// Scopes has all scopes.
var Scopes = []Scope{Project, User, Local}

// Machine says where clients keep their files.
type Machine struct {
	OS      string // as runtime.GOOS
	Home    string // absolute
	Project string // absolute
	Lookup  func(string) (string, bool)
}

// Endpoint is the server that an entry leads to.
type Endpoint struct {
	URL     string // of the project's server
	Token   bool   // the server wants a token
	Command string // the program ktx, for clients that start it
}

// Target is one client.
type Target struct {
	Name  string // on the command line
	Title string // for people
	// Reference is how the client's settings refer to the variable that holds
	// the token. It is "" if an entry has no token.
	Reference string
	Places    []Place // one for each scope, the default first
	// Starts reports whether the client starts ktx itself, over stdio.
	Starts bool

	language edit.Language
	seed     string // the start of a new file
	entry    func(m Machine, e Endpoint, reference string) any
	wrap     func() []byte            // the skill file; nil if the client has none
	home     func(m Machine) []string // folders that show that the client is installed
	commands []string                 // programs that show the same
}

// Place is where a client keeps its settings for one scope.
type Place struct {
	Scope  Scope
	config func(m Machine) []string // the files that may hold the entry, and last the one to create; nil if there is none
	key    func(m Machine) []string // the path of the entry in the file
	skill  func(m Machine) string   // the skill file; nil if there is none
	note   string                   // what users should know of the place, or ""
}

// remote is the entry of a client that connects over HTTP. Each client uses
// some of these members.
type remote struct {
	Type           string            `json:"type,omitempty"`
	URL            string            `json:"url"`
	Enabled        bool              `json:"enabled,omitempty"`
	BearerVariable string            `json:"bearer_token_env_var,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`
	OAuth          *bool             `json:"oauth,omitempty"`
}

// overHTTP returns a function that makes entries of that type.
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

// only returns a function for a list of one file.
func only(file func(Machine) string) func(Machine) []string {
	return func(m Machine) []string { return []string{file(m)} }
}

func projectDir(m Machine) string { return m.Project }
func homeDir(m Machine) string    { return m.Home }

// folder returns the folder that an environment variable names, else a folder
// below the user's home.
func (m Machine) folder(variable string, parts ...string) string {
	if dir, _ := m.Lookup(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(append([]string{m.Home}, parts...)...)
}

// claudeConfig returns the user's file of Claude Code.
func claudeConfig(m Machine) string {
	return filepath.Join(m.folder("CLAUDE_CONFIG_DIR"), ".claude.json")
}
func claudeDir(m Machine) string { return m.folder("CLAUDE_CONFIG_DIR", ".claude") }
func codexDir(m Machine) string  { return m.folder("CODEX_HOME", ".codex") }

// configDir returns the folder in which programs keep the settings of a user.
func configDir(m Machine) string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		return m.folder("APPDATA", "AppData", "Roaming")
	}
	return m.folder("XDG_CONFIG_HOME", ".config")
}

// opencodeDir returns the folder of opencode, which is the same on every
// system.
func opencodeDir(m Machine) string {
	return filepath.Join(m.folder("XDG_CONFIG_HOME", ".config"), "opencode")
}

// opencodeConfig returns the files of a folder that opencode reads, the one that
// it reads last first.
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
				if e.Token { // otherwise the client answers a wrong token with a login
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

// HasSkill reports whether the client has a skill file for scope. Otherwise its
// agent only gets the instructions of the server.
func (t *Target) HasSkill(scope Scope) bool {
	p, ok := t.Place(scope)
	return ok && p.skill != nil
}

// Note returns what users should know about how the client treats scope, or "".
func (t *Target) Note(scope Scope) string {
	p, _ := t.Place(scope)
	return p.note
}

// ByHand reports whether the settings of the client are unknown, so that users
// must write the entry themselves.
func (t *Target) ByHand() bool { return t.entry == nil }

// Place returns where the client keeps its settings for scope.
func (t *Target) Place(scope Scope) (Place, bool) {
	i := slices.IndexFunc(t.Places, func(p Place) bool { return p.Scope == scope })
	if i < 0 {
		return Place{}, false
	}
	return t.Places[i], true
}

// Shared reports whether the file with the client's entry for scope is shared
// by everyone who works in the project.
func (t *Target) Shared(scope Scope) bool {
	p, ok := t.Place(scope)
	return ok && scope == Project && p.config != nil
}

// Found reports whether the client seems to be installed.
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

// file returns the file that has the entry, or in which it will be created.
func (pl Place) file(m Machine) string {
	files := pl.config(m)
	for _, name := range files {
		if _, err := os.Lstat(name); err == nil {
			return name
		}
	}
	return files[len(files)-1]
}

// value returns the entry of a client as JSON.
func (t *Target) value(m Machine, e Endpoint) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(t.entry(m, e, t.Reference)); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
