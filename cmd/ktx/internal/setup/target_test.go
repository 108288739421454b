package setup_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// TestEntries checks the entry of each client, in its default scope, in a new
// file.
func TestEntries(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"claude-code/project": `{"mcpServers":{"ktx":{"type":"http","url":"http://127.0.0.1:7878/mcp","headers":{"Authorization":"Bearer ${KTX_MCP_TOKEN}"}}}}`,
		"claude-code/local":   `{"projects":{"PROJECT":{"mcpServers":{"ktx":{"type":"http","url":"http://127.0.0.1:7878/mcp","headers":{"Authorization":"Bearer ${KTX_MCP_TOKEN}"}}}}}}`,
		"claude-desktop/user": `{"mcpServers":{"ktx":{"command":"/opt/ktx/bin/ktx","args":["mcp","stdio","--project-dir","PROJECT"]}}}`,
		"cursor/project":      `{"mcpServers":{"ktx":{"url":"http://127.0.0.1:7878/mcp","headers":{"Authorization":"Bearer ${env:KTX_MCP_TOKEN}"}}}}`,
		"codex/project":       "[mcp_servers.ktx]\nurl = \"http://127.0.0.1:7878/mcp\"\nbearer_token_env_var = \"KTX_MCP_TOKEN\"\n",
		"opencode/project":    `{"$schema":"https://opencode.ai/config.json","mcp":{"ktx":{"type":"remote","url":"http://127.0.0.1:7878/mcp","enabled":true,"headers":{"Authorization":"Bearer {env:KTX_MCP_TOKEN}"},"oauth":false}}}`,
		"gemini/project":      `{"mcpServers":{"ktx":{"type":"http","url":"http://127.0.0.1:7878/mcp","headers":{"Authorization":"Bearer $KTX_MCP_TOKEN"}}}}`,
		"vscode/project":      `{"servers":{"ktx":{"type":"http","url":"http://127.0.0.1:7878/mcp","headers":{"Authorization":"Bearer ${env:KTX_MCP_TOKEN}"}}}}`,
		"copilot/user":        `{"mcpServers":{"ktx":{"type":"http","url":"http://127.0.0.1:7878/mcp","headers":{"Authorization":"Bearer ${KTX_MCP_TOKEN}"},"tools":["*"]}}}`,
		"windsurf/user":       `{"mcpServers":{"ktx":{"serverUrl":"http://127.0.0.1:7878/mcp","headers":{"Authorization":"Bearer ${env:KTX_MCP_TOKEN}"}}}}`,
		"goose/user": "extensions:\n  ktx:\n    name: \"ktx\"\n    type: \"streamable_http\"\n    enabled: true\n    uri: \"http://127.0.0.1:7878/mcp\"\n" +
			"    headers:\n      Authorization: \"Bearer ${KTX_MCP_TOKEN}\"\n    env_keys: [\"KTX_MCP_TOKEN\"]\n    timeout: 300\n",
	} {
		checkEntry(t, name, guarded, text)
	}
	for name, text := range map[string]string{
		"zed/user":          `{"context_servers":{"ktx":{"url":"http://127.0.0.1:7878/mcp"}}}`,
		"cline/user":        `{"mcpServers":{"ktx":{"type":"streamableHttp","url":"http://127.0.0.1:7878/mcp"}}}`,
		"cline-vscode/user": `{"mcpServers":{"ktx":{"type":"streamableHttp","url":"http://127.0.0.1:7878/mcp"}}}`,
		"junie/project":     `{"mcpServers":{"ktx":{"url":"http://127.0.0.1:7878/mcp"}}}`,
	} {
		checkEntry(t, name, plain, text)
	}
}

// TestEntriesThatStart checks the entry of each client that starts ktx. In files that
// others get too, it holds no path of this machine if the client has a name for the
// folder of the project.
func TestEntriesThatStart(t *testing.T) {
	t.Parallel()
	const ours = `"command":"/opt/ktx/bin/ktx","args":["mcp","stdio","--project-dir","PROJECT"]`
	for name, text := range map[string]string{
		"claude-code/project": `{"mcpServers":{"ktx":{"type":"stdio","command":"ktx","args":["mcp","stdio"]}}}`,
		"claude-code/user":    `{"mcpServers":{"ktx":{"type":"stdio",` + ours + `}}}`,
		"claude-code/local":   `{"projects":{"PROJECT":{"mcpServers":{"ktx":{"type":"stdio",` + ours + `}}}}}`,
		"claude-desktop/user": `{"mcpServers":{"ktx":{` + ours + `}}}`,
		"cursor/project":      `{"mcpServers":{"ktx":{"type":"stdio","command":"ktx","args":["mcp","stdio","--project-dir","${workspaceFolder}"],"env":{"SHOP_URL":"${env:SHOP_URL}"}}}}`,
		"codex/project":       "[mcp_servers.ktx]\ncommand = \"ktx\"\nargs = [\"mcp\", \"stdio\"]\nenv_vars = [\"SHOP_URL\"]\n",
		"opencode/project":    `{"$schema":"https://opencode.ai/config.json","mcp":{"ktx":{"type":"local","command":["ktx","mcp","stdio"],"enabled":true}}}`,
		"gemini/project":      `{"mcpServers":{"ktx":{"command":"ktx","args":["mcp","stdio"],"env":{"SHOP_URL":"$SHOP_URL"}}}}`,
		"vscode/project":      `{"servers":{"ktx":{"type":"stdio","command":"ktx","args":["mcp","stdio","--project-dir","${workspaceFolder}"]}}}`,
		"vscode/user":         `{"servers":{"ktx":{"type":"stdio",` + ours + `}}}`,
		"copilot/project":     `{"mcpServers":{"ktx":{"type":"stdio","command":"ktx","args":["mcp","stdio"],"env":{"SHOP_URL":"${SHOP_URL}"},"tools":["*"]}}}`,
		"windsurf/user":       `{"mcpServers":{"ktx":{` + ours + `,"env":{"SHOP_URL":"${env:SHOP_URL}"}}}}`,
		"zed/user":            `{"context_servers":{"ktx":{` + ours + `}}}`,
		"cline/user":          `{"mcpServers":{"ktx":{"type":"stdio",` + ours + `}}}`,
		"cline-vscode/user":   `{"mcpServers":{"ktx":{"type":"stdio",` + ours + `}}}`,
		"junie/project":       `{"mcpServers":{"ktx":{` + ours + `}}}`,
		"goose/user": "extensions:\n  ktx:\n    name: \"ktx\"\n    type: \"stdio\"\n    enabled: true\n    cmd: \"/opt/ktx/bin/ktx\"\n" +
			"    args: [\"mcp\", \"stdio\", \"--project-dir\", \"PROJECT\"]\n    timeout: 300\n",
	} {
		checkEntry(t, name, started, text)
	}
	own := started
	own.Shared = nil
	checkEntry(t, "claude-code/project", own, `{"mcpServers":{"ktx":{"type":"stdio",`+ours+`}}}`)
	own.Command = []string{"npx", "-y", "@ktxhq/ktx"}
	checkEntry(t, "claude-desktop/user", own, `{"mcpServers":{"ktx":{"command":"npx","args":["-y","@ktxhq/ktx","mcp","stdio","--project-dir","PROJECT"]}}}`)
}

// TestTokensThatCannotBeReferredTo: a client whose settings cannot refer to a variable
// gets no entry of a server that wants a token, and is told what to do.
func TestTokensThatCannotBeReferredTo(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zed/user", "cline/user", "cline-vscode/user", "junie/project"} {
		p, s := newPlace(t), selection(t, name)
		before := p.tree()
		if got := p.install(guarded, s); !strings.Contains(got, "entry refused: the settings of "+s.Target.Title+" cannot refer to a variable") || !strings.Contains(got, "--transport stdio") {
			t.Error(got)
		}
		p.same(before)
		p.install(started, s)
	}
}

// checkEntry checks what stands in the new file of a client.
func checkEntry(t *testing.T, name string, e setup.Endpoint, text string) {
	t.Helper()
	p, s := newPlace(t), selection(t, name)
	p.install(e, s)
	got := p.read(s.Target.Config(p.m, s.Scope))
	if s.Target.Language() == edit.JSON {
		if !strings.HasSuffix(got, "}\n") || !strings.Contains(got, "\n  ") {
			t.Errorf("%s is not formatted:\n%s", name, got)
		}
		got = compact(t, got)
	}
	want(t, name, strings.ReplaceAll(got, p.m.Project, "PROJECT"), text)
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	d := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		t.Fatal(err)
	}
	inText := false
	for i, r := range string(raw) {
		if r == '"' && raw[max(i-1, 0)] != '\\' {
			inText = !inText
		}
		if inText || !strings.ContainsRune(" \n\t", r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TestTheTokenIsNeverWritten: no file, diff, step or manifest of any client in
// any scope contains the token. They contain the client's reference to its
// variable, and without a token not even that.
func TestTheTokenIsNeverWritten(t *testing.T) {
	t.Parallel()
	each(t, func(p place, s setup.Selection) {
		t := p.t
		for _, e := range []setup.Endpoint{plain, guarded, started} {
			e.Token = e.Token && !p.open
			plan := p.plan(e, s)
			all := actions(plan)
			for _, f := range plan.Files() {
				all += string(f.Diff()) + string(f.After)
			}
			if err := plan.Apply(); err != nil {
				t.Fatal(err)
			}
			for path, text := range p.tree() {
				all += path + text
			}
			if strings.Contains(all, secret) {
				t.Errorf("the token stands in:\n%s", all)
			}
			config := s.Target.Config(p.m, s.Scope)
			if config == "" {
				continue
			}
			refers := strings.Contains(p.read(config), setup.TokenVariable)
			if refers != (e.Token && !s.Target.Starts(e)) {
				t.Errorf("with a token %t, refers to it %t:\n%s", e.Token, refers, p.read(config))
			}
			if e.Token && !s.Target.Starts(e) && !strings.Contains(p.read(config), s.Target.Reference) {
				t.Errorf("not the client's notation:\n%s", p.read(config))
			}
		}
	})
}

// TestPlacesFollowVariables: if an environment variable makes a client look
// elsewhere, setup writes there.
func TestPlacesFollowVariables(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "CLAUDE_CONFIG_DIR", "c", "CODEX_HOME", "x", "XDG_CONFIG_HOME", "g")
	root := filepath.Dir(p.m.Home)
	for name, where := range map[string][2]string{
		"claude-code/user":    {"c/.claude.json", "c/skills/ktx-analytics/SKILL.md"},
		"claude-code/local":   {"c/.claude.json", ""},
		"codex/user":          {"x/config.toml", "x/skills/ktx-analytics/SKILL.md"},
		"opencode/user":       {"g/opencode/opencode.json", "g/opencode/commands/ktx-analytics.md"},
		"claude-desktop/user": {"g/Claude/claude_desktop_config.json", ""},
		"gemini/user":         {"home/.gemini/settings.json", ""},
	} {
		s := selection(t, name)
		for i, got := range []string{s.Target.Config(p.m, s.Scope), s.Target.Skill(p.m, s.Scope)} {
			full := ""
			if where[i] != "" {
				full = filepath.Join(root, filepath.FromSlash(where[i]))
			}
			want(t, name, got, full)
		}
	}
	for system, where := range map[string]string{
		"darwin":  "home/Library/Application Support/Claude/claude_desktop_config.json",
		"windows": "home/AppData/Roaming/Claude/claude_desktop_config.json",
	} {
		p.m.OS = system
		s := selection(t, "claude-desktop/user")
		want(t, system, s.Target.Config(p.m, s.Scope), filepath.Join(root, filepath.FromSlash(where)))
	}
}

// TestOpencodeHasTwoFiles: setup uses the file with comments if it exists.
func TestOpencodeHasTwoFiles(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "opencode/project")
	p.install(plain, s)
	first := p.tree()
	jsonc := filepath.Join(p.m.Project, "opencode.jsonc")
	p.write(jsonc, "{\n  // mine\n}\n", 0o644)
	p.install(plain, s)
	if !strings.Contains(p.read(jsonc), url) {
		t.Errorf("not written: %s", p.read(jsonc))
	}
	p.remove()
	want(t, "the file", p.read(jsonc), "{\n  // mine\n}\n")
	if _, err := os.Stat(filepath.Join(p.m.Project, "opencode.json")); err == nil || len(first) == 0 {
		t.Error("the first file is left")
	}
}

// TestLocalScopeKnowsTheRepository: Claude Code identifies a project by the
// root of the repository, or of its first worktree, with links resolved.
func TestLocalScopeKnowsTheRepository(t *testing.T) {
	t.Parallel()
	s := selection(t, "claude-code/local")
	for name, repository := range map[string]func(p place, home string) string{
		"none": func(p place, _ string) string { return p.m.Project },
		"the project is one": func(p place, _ string) string {
			p.write(filepath.Join(p.m.Project, ".git", "HEAD"), "", 0o600)
			return p.m.Project
		},
		"the project lies in one": func(p place, home string) string {
			p.write(filepath.Join(home, "work", ".git", "HEAD"), "", 0o600)
			return filepath.Join(home, "work")
		},
		"another worktree": func(p place, home string) string {
			own := filepath.Join(home, "main", ".git", "worktrees", "shop")
			p.write(filepath.Join(p.m.Project, ".git"), "gitdir: "+own+"\n", 0o600)
			p.write(filepath.Join(own, "commondir"), "../..\n", 0o600)
			return filepath.Join(home, "main")
		},
		"a worktree of a bare repository": func(p place, home string) string {
			own := filepath.Join(home, "bare", "worktrees", "shop")
			p.write(filepath.Join(p.m.Project, ".git"), "gitdir: "+own+"\n", 0o600)
			p.write(filepath.Join(own, "commondir"), "../..\n", 0o600)
			return p.m.Project
		},
		"a submodule": func(p place, home string) string {
			p.write(filepath.Join(home, "work", ".git", "modules", "shop", "HEAD"), "", 0o600)
			p.write(filepath.Join(p.m.Project, ".git"), "gitdir: ../.git/modules/shop\n", 0o600)
			return p.m.Project
		},
		"a file of that name": func(p place, _ string) string {
			p.write(filepath.Join(p.m.Project, ".git"), "what\n", 0o600)
			return p.m.Project
		},
	} {
		p := newPlace(t)
		home, err := filepath.EvalSymlinks(p.m.Home)
		if err != nil {
			t.Fatal(err)
		}
		p.m.Project = filepath.Join(home, "work", "shop")
		root := repository(p, home)
		link := filepath.Join(p.m.Home, "link")
		if err := os.Symlink(p.m.Project, link); err != nil {
			t.Fatal(err)
		}
		for _, project := range []string{p.m.Project, link} {
			p.m.Project = project
			want(t, name, strings.Join(s.Target.Key(p.m, s.Scope), " "), "projects "+root+" mcpServers ktx")
			before := p.tree()
			p.install(plain, s)
			p.remove()
			p.same(before)
		}
	}
}

// TestSkillFiles: all clients have the same text, in the form that each client
// needs, and it contains nothing that a client would expand.
func TestSkillFiles(t *testing.T) {
	t.Parallel()
	each(t, func(p place, s setup.Selection) {
		t := p.t
		path := s.Target.Skill(p.m, s.Scope)
		if path == "" {
			return
		}
		p.install(plain, s)
		head, body, ok := strings.Cut(strings.TrimPrefix(p.read(path), "---\n"), "\n---\n\n")
		if !ok || body != setup.SkillBody() {
			t.Errorf("%s is not the body behind a head", path)
		}
		keys := map[string]any{}
		if err := yaml.Unmarshal([]byte(head), &keys); err != nil {
			t.Fatal(err)
		}
		about, _ := keys["description"].(string)
		if !strings.Contains(about, "SQL") || len(about) > 1024 {
			t.Errorf("description: %q", about)
		}
		if strings.HasSuffix(path, "SKILL.md") && keys["name"] != setup.SkillName {
			t.Errorf("name: %v", keys["name"])
		}
	})
	for _, expanded := range []string{"$ARGUMENTS", "$0", "$1", "!`", "@", "{env:", "{file:", "${"} {
		if strings.Contains(setup.SkillBody(), expanded) {
			t.Errorf("the skill holds %s, which a client may expand", expanded)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the table of clients in docs/setup.md")

// TestTheTableIsDocumented: docs/setup.md has the table of clients.
func TestTheTableIsDocumented(t *testing.T) {
	t.Parallel()
	m := setup.Machine{OS: "linux", Home: "~", Project: ".", Lookup: func(string) (string, bool) { return "", false }}
	code := func(text string) string {
		if text == "" {
			return "–"
		}
		return "`" + filepath.ToSlash(text) + "`"
	}
	var table strings.Builder
	table.WriteString("| client | scope | file | entry | token | skill file |\n|---|---|---|---|---|---|\n")
	for _, target := range setup.Targets() {
		for _, where := range target.Places {
			config, key, token := target.Config(m, where.Scope), "", target.Reference
			if config != "" {
				key = strings.ReplaceAll(strings.Join(target.Key(m, where.Scope), "·"), "·.·", "·DIR·")
				key = strings.ReplaceAll(key, "·", ".")
			} else {
				config, token = "", ""
			}
			fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s |\n", target.Name, where.Scope, code(config), code(key), code(token), code(target.Skill(m, where.Scope)))
		}
	}
	const file, begin, end = "../../../../docs/setup.md", "<!-- clients: begin, written by a test -->\n", "<!-- clients: end, written by a test -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	have, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no place for the table", file)
	case have == table.String():
	case !*update:
		t.Errorf("the table of clients in %s is out of date; run make golden", file)
	default:
		if err := os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
