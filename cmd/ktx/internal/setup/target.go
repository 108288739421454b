package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Endpoint is what an entry leads to: the server of the project, or the program ktx,
// which the client starts.
type Endpoint struct {
	URL   string // of the project's server
	Token bool   // the server wants a token
	// Stdio has every client start ktx. Otherwise only those do that cannot connect
	// to a server.
	Stdio   bool
	Command []string // the program ktx, and arguments that come before its own
	// Shared is Command for files that other people get too. It is empty if no
	// command is known that works on their machines.
	Shared []string
	// Variables are the environment variables that ktx reads the addresses and
	// passwords of databases from.
	Variables []string
}

// Target is one client.
type Target struct {
	Name  string // on the command line
	Title string // for people
	// Reference is how the client's settings refer to the variable that holds
	// the token. It is "" if they cannot.
	Reference string
	Places    []Place // one for each scope, the default first

	language edit.Language
	seed     string                                 // the start of a new file
	remote   func(e Endpoint, reference string) any // the entry of a server; nil if the client only starts programs
	local    func(c command) any                    // the entry of a program; nil if users write the entry themselves
	passes   passing                                // which variables a program gets that the client starts
	wrap     func() []byte                          // the skill file; nil if the client has none
	home     func(m Machine) []string               // folders that show that the client is installed
	commands []string                               // programs that show the same
}

// Place is where a client keeps its settings for one scope.
type Place struct {
	Scope  Scope
	config func(m Machine) []string // the files that may hold the entry, and last the one to create; nil if there is none
	key    func(m Machine) []string // the path of the entry in the file
	skill  func(m Machine) string   // the skill file; nil if there is none
	note   string                   // what users should know of the place, or ""
	// dir is how an entry that others get too names the folder of the project. It is
	// here if the client starts programs in that folder, and "" if it has no name for
	// it.
	dir string
}

// here is the folder in which a program is started.
const here = "."

// passing says which variables of its environment a client passes on to a program.
type passing int

const (
	passesFew     passing = iota // some that it selects; ktx cannot name others in the entry
	passesAll                    // all
	passesByEntry                // those that the entry names, as ktx does
)

// command is how a client starts ktx.
type command struct {
	program   string
	arguments []string
	variables []string // that the client must pass on
}

// start returns how the client starts ktx for the project.
func (t *Target) start(m Machine, e Endpoint, pl Place) command {
	words, dir := e.Command, m.Project
	if pl.Scope == Project && len(e.Shared) > 0 && pl.dir != "" {
		words, dir = e.Shared, pl.dir
	}
	arguments := append(slices.Clone(words[1:]), "mcp", "stdio")
	if dir != here {
		arguments = append(arguments, "--project-dir", dir)
	}
	c := command{program: words[0], arguments: arguments}
	if t.passes == passesByEntry {
		c.variables = e.Variables
	}
	return c
}

// program is the entry of a client that starts ktx. Each client uses some of these
// members.
type program struct {
	Type      string            `json:"type,omitempty"`
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env,omitempty"`
	Variables []string          `json:"env_vars,omitempty"`
	Tools     []string          `json:"tools,omitempty"`
}

// overStdio returns a function that makes entries of that type, which name variables in
// that notation.
func overStdio(kind, notation string) func(command) any {
	return func(c command) any {
		p := program{Type: kind, Command: c.program, Args: c.arguments}
		for _, name := range c.variables {
			if p.Env == nil {
				p.Env = map[string]string{}
			}
			p.Env[name] = fmt.Sprintf(notation, name)
		}
		return p
	}
}

// remote is the entry of a client that connects over HTTP. Each client uses
// some of these members.
type remote struct {
	Type           string            `json:"type,omitempty"`
	URL            string            `json:"url,omitempty"`
	ServerURL      string            `json:"serverUrl,omitempty"`
	Enabled        bool              `json:"enabled,omitempty"`
	BearerVariable string            `json:"bearer_token_env_var,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`
	OAuth          *bool             `json:"oauth,omitempty"`
	Tools          []string          `json:"tools,omitempty"`
}

// overHTTP returns a function that makes entries of that type.
func overHTTP(kind string) func(Endpoint, string) any {
	return func(e Endpoint, reference string) any { return server(kind, e, reference) }
}

func server(kind string, e Endpoint, reference string) remote {
	r := remote{Type: kind, URL: e.URL}
	if e.Token {
		r.Headers = map[string]string{"Authorization": reference}
	}
	return r
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

// clineDir returns the folder in which Cline keeps what it stores.
func clineSettings(m Machine) string {
	if file, _ := m.Lookup("CLINE_MCP_SETTINGS_PATH"); filepath.IsAbs(file) {
		return filepath.Clean(file)
	}
	return filepath.Join(m.folder("CLINE_DATA_DIR", ".cline", "data"), "settings", "cline_mcp_settings.json")
}

func codeUser(m Machine) string   { return filepath.Join(configDir(m), "Code", "User") }
func copilotDir(m Machine) string { return m.folder("COPILOT_HOME", ".copilot") }

// zedDir returns the folder of Zed, which is the same on Linux and macOS.
func zedDir(m Machine) string {
	if m.OS == "windows" {
		return filepath.Join(configDir(m), "Zed")
	}
	return filepath.Join(m.folder("XDG_CONFIG_HOME", ".config"), "zed")
}

// Targets returns the table of clients.
func Targets() []*Target {
	servers := key("mcpServers")
	agentsSkill := []string{".agents", "skills", SkillName, "SKILL.md"}
	const (
		trust     = "it uses servers only in folders that you trust, for which it asks at its start"
		workspace = "${workspaceFolder}"
	)
	return []*Target{
		{
			Name: "claude-code", Title: "Claude Code", Reference: "Bearer ${" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", remote: overHTTP("http"), local: overStdio("stdio", ""), passes: passesAll, wrap: skillFile,
			Places: []Place{
				{Scope: Project, dir: here, config: only(in(projectDir, ".mcp.json")), key: servers, skill: in(projectDir, ".claude", "skills", SkillName, "SKILL.md"), note: "start claude in the project and approve the server " + Name},
				{Scope: User, config: only(claudeConfig), key: servers, skill: in(claudeDir, "skills", SkillName, "SKILL.md")},
				{Scope: Local, config: only(claudeConfig), key: func(m Machine) []string { return []string{"projects", claudeProject(m), "mcpServers", Name} }},
			},
			home:     func(m Machine) []string { return []string{claudeDir(m), claudeConfig(m)} },
			commands: []string{"claude"},
		},
		{
			Name: "claude-desktop", Title: "Claude Desktop",
			language: edit.JSON, seed: "{}\n", local: overStdio("", ""),
			Places: []Place{{Scope: User, config: only(in(configDir, "Claude", "claude_desktop_config.json")), key: servers, note: "it only starts programs, so it starts ktx itself"}},
			home:   func(m Machine) []string { return []string{filepath.Join(configDir(m), "Claude")} },
		},
		{
			Name: "cursor", Title: "Cursor", Reference: "Bearer ${env:" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", remote: overHTTP(""), local: overStdio("stdio", "${env:%s}"), passes: passesByEntry, wrap: cursorRule,
			Places: []Place{
				{Scope: Project, dir: workspace, config: only(in(projectDir, ".cursor", "mcp.json")), key: servers, skill: in(projectDir, ".cursor", "rules", SkillName+".mdc")},
				{Scope: User, config: only(in(homeDir, ".cursor", "mcp.json")), key: servers},
			},
			home:     func(m Machine) []string { return []string{filepath.Join(m.Home, ".cursor")} },
			commands: []string{"cursor", "cursor-agent"},
		},
		{
			Name: "codex", Title: "Codex", Reference: TokenVariable,
			language: edit.TOML, passes: passesByEntry, wrap: skillFile,
			remote: func(e Endpoint, reference string) any {
				r := remote{URL: e.URL}
				if e.Token {
					r.BearerVariable = reference
				}
				return r
			},
			local: func(c command) any {
				return program{Command: c.program, Args: c.arguments, Variables: c.variables}
			},
			Places: []Place{
				{Scope: Project, dir: here, config: only(in(projectDir, ".codex", "config.toml")), key: key("mcp_servers"), skill: in(projectDir, agentsSkill...), note: "it reads these settings once you trust the project, for which it asks at its start"},
				{Scope: User, config: only(in(codexDir, "config.toml")), key: key("mcp_servers"), skill: in(codexDir, "skills", SkillName, "SKILL.md")},
			},
			home:     func(m Machine) []string { return []string{codexDir(m)} },
			commands: []string{"codex"},
		},
		{
			Name: "opencode", Title: "opencode", Reference: "Bearer {env:" + TokenVariable + "}",
			language: edit.JSON, seed: "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n", passes: passesAll, wrap: opencodeCommand,
			remote: func(e Endpoint, reference string) any {
				r := server("remote", e, reference)
				r.Enabled = true
				if e.Token { // otherwise the client answers a wrong token with a login
					r.OAuth = new(bool)
				}
				return r
			},
			local: func(c command) any {
				return struct {
					Type    string   `json:"type"`
					Command []string `json:"command"`
					Enabled bool     `json:"enabled"`
				}{"local", append([]string{c.program}, c.arguments...), true}
			},
			Places: []Place{
				{Scope: Project, dir: here, config: opencodeConfig(projectDir), key: key("mcp"), skill: in(projectDir, ".opencode", "commands", SkillName+".md")},
				{Scope: User, config: opencodeConfig(opencodeDir), key: key("mcp"), skill: in(opencodeDir, "commands", SkillName+".md")},
			},
			home:     func(m Machine) []string { return []string{opencodeDir(m)} },
			commands: []string{"opencode"},
		},
		{
			Name: "gemini", Title: "Gemini CLI", Reference: "Bearer $" + TokenVariable,
			language: edit.JSON, seed: "{}\n", remote: overHTTP("http"), local: overStdio("", "$%s"), passes: passesByEntry,
			Places: []Place{
				{Scope: Project, dir: here, config: only(in(projectDir, ".gemini", "settings.json")), key: servers, note: trust},
				{Scope: User, config: only(in(homeDir, ".gemini", "settings.json")), key: servers, note: trust},
			},
			home:     func(m Machine) []string { return []string{filepath.Join(m.Home, ".gemini")} },
			commands: []string{"gemini"},
		},
		{
			Name: "vscode", Title: "VS Code", Reference: "Bearer ${env:" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", remote: overHTTP("http"), local: overStdio("stdio", ""), passes: passesAll,
			Places: []Place{
				{Scope: Project, dir: workspace, config: only(in(projectDir, ".vscode", "mcp.json")), key: key("servers")},
				{Scope: User, config: only(in(codeUser, "mcp.json")), key: key("servers")},
			},
			home: func(m Machine) []string {
				return []string{filepath.Join(configDir(m), "Code"), filepath.Join(m.Project, ".vscode")}
			},
			commands: []string{"code"},
		},
		{
			Name: "copilot", Title: "GitHub Copilot CLI", Reference: "Bearer ${" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", passes: passesByEntry,
			remote: func(e Endpoint, reference string) any {
				r := server("http", e, reference)
				r.Tools = []string{"*"}
				return r
			},
			local: func(c command) any {
				p, _ := overStdio("stdio", "${%s}")(c).(program)
				p.Tools = []string{"*"}
				return p
			},
			Places: []Place{
				{Scope: Project, dir: here, config: only(in(projectDir, ".github", "mcp.json")), key: servers, note: "it reads this file once you trust the folder, for which it asks at its start"},
				{Scope: User, config: only(in(copilotDir, "mcp-config.json")), key: servers},
			},
			home:     func(m Machine) []string { return []string{copilotDir(m)} },
			commands: []string{"copilot"},
		},
		{
			Name: "windsurf", Title: "Windsurf", Reference: "Bearer ${env:" + TokenVariable + "}",
			language: edit.JSON, seed: "{}\n", local: overStdio("", "${env:%s}"), passes: passesByEntry,
			remote: func(e Endpoint, reference string) any {
				r := server("", e, reference)
				r.URL, r.ServerURL = "", e.URL
				return r
			},
			Places:   []Place{{Scope: User, config: only(in(homeDir, ".codeium", "windsurf", "mcp_config.json")), key: servers}},
			home:     func(m Machine) []string { return []string{filepath.Join(m.Home, ".codeium", "windsurf")} },
			commands: []string{"windsurf"},
		},
		{
			Name: "zed", Title: "Zed",
			language: edit.JSON, seed: "{}\n", remote: overHTTP(""), local: overStdio("", ""), passes: passesAll,
			Places:   []Place{{Scope: User, config: only(in(zedDir, "settings.json")), key: key("context_servers")}},
			home:     func(m Machine) []string { return []string{zedDir(m)} },
			commands: []string{"zed", "zeditor"},
		},
		{
			Name: "cline", Title: "Cline",
			language: edit.JSON, seed: "{}\n", remote: overHTTP("streamableHttp"), local: overStdio("stdio", ""),
			Places:   []Place{{Scope: User, config: only(clineSettings), key: servers, note: "this is the file of its command line; for its extension of VS Code, choose cline-vscode"}},
			home:     func(m Machine) []string { return []string{filepath.Dir(filepath.Dir(clineSettings(m)))} },
			commands: []string{"cline"},
		},
		{
			Name: "cline-vscode", Title: "Cline in VS Code",
			language: edit.JSON, seed: "{}\n", remote: overHTTP("streamableHttp"), local: overStdio("stdio", ""),
			Places: []Place{{Scope: User, config: only(in(codeUser, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")), key: servers}},
			home: func(m Machine) []string {
				return []string{filepath.Join(codeUser(m), "globalStorage", "saoudrizwan.claude-dev")}
			},
		},
		{
			Name: "junie", Title: "JetBrains Junie",
			language: edit.JSON, seed: "{}\n", remote: overHTTP(""), local: overStdio("", ""),
			Places: []Place{
				{Scope: Project, config: only(in(projectDir, ".junie", "mcp", "mcp.json")), key: servers},
				{Scope: User, config: only(in(homeDir, ".junie", "mcp", "mcp.json")), key: servers},
			},
			home: func(m Machine) []string {
				return []string{filepath.Join(m.Home, ".junie"), filepath.Join(m.Project, ".junie")}
			},
			commands: []string{"junie"},
		},
		{
			Name: "goose", Title: "Goose", Reference: "Bearer ${" + TokenVariable + "}",
			language: edit.YAML, passes: passesAll,
			remote: func(e Endpoint, reference string) any {
				x := extension{Name: Name, Type: "streamable_http", Enabled: true, URI: e.URL, Timeout: 300}
				if e.Token {
					x.Headers = map[string]string{"Authorization": reference}
					x.Variables = []string{TokenVariable}
				}
				return x
			},
			local: func(c command) any {
				return extension{Name: Name, Type: "stdio", Enabled: true, Command: c.program, Args: c.arguments, Timeout: 300}
			},
			Places:   []Place{{Scope: User, config: only(gooseConfig), key: key("extensions")}},
			home:     func(m Machine) []string { return []string{filepath.Dir(gooseConfig(m))} },
			commands: []string{"goose"},
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

// extension is the entry of Goose.
type extension struct {
	Name      string            `json:"name"`
	Type      string            `json:"type"`
	Enabled   bool              `json:"enabled"`
	Command   string            `json:"cmd,omitempty"`
	Args      []string          `json:"args,omitempty"`
	URI       string            `json:"uri,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Variables []string          `json:"env_keys,omitempty"`
	Timeout   int               `json:"timeout"`
}

// gooseConfig returns the file of Goose, which is the same on Linux and macOS.
func gooseConfig(m Machine) string {
	if m.OS == "windows" {
		return filepath.Join(configDir(m), "Block", "goose", "config", "config.yaml")
	}
	return filepath.Join(m.folder("XDG_CONFIG_HOME", ".config"), "goose", "config.yaml")
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
func (t *Target) ByHand() bool { return t.local == nil }

// Starts reports whether the client starts ktx itself, over stdio.
func (t *Target) Starts(e Endpoint) bool { return e.Stdio || t.local != nil && t.remote == nil }

// Withholds reports whether the client does not pass variables of its environment on to
// ktx, and its settings have no way to ask for them.
func (t *Target) Withholds() bool { return !t.ByHand() && t.passes == passesFew }

// Portable reports whether the entry for scope holds nothing of this machine.
func (t *Target) Portable(e Endpoint, scope Scope) bool {
	p, ok := t.Place(scope)
	return ok && (!t.Starts(e) || len(e.Shared) > 0 && p.dir != "")
}

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
func (t *Target) value(m Machine, e Endpoint, pl Place) (json.RawMessage, error) {
	var entry any
	switch {
	case t.Starts(e):
		entry = t.local(t.start(m, e, pl))
	case e.Token && t.Reference == "":
		return nil, fmt.Errorf("the settings of %s cannot refer to a variable in a header, so its entry would need the token itself; use --transport stdio for it", t.Title)
	default:
		entry = t.remote(e, t.Reference)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(entry); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
