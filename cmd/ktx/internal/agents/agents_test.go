package agents_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/cmd/ktx/internal/agents"
	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
)

// secret is the token, which must never be written.
const secret = "s3cret-token-of-the-server"

const url = "http://127.0.0.1:7878/mcp"

var (
	plain     = agents.Endpoint{URL: url, Command: "/opt/ktx/bin/ktx"}
	guarded   = agents.Endpoint{URL: url, Token: true, Command: "/opt/ktx/bin/ktx"}
	elsewhere = agents.Endpoint{URL: "http://127.0.0.1:9999/mcp", Token: true, Command: "/opt/ktx/bin/ktx"}
)

// place is a user's home and a project in it.
type place struct {
	t *testing.T
	m agents.Machine
}

func newPlace(t *testing.T, variables ...string) place {
	t.Helper()
	root := t.TempDir()
	p := place{t, agents.Machine{OS: "linux", Home: filepath.Join(root, "home"), Project: filepath.Join(root, "home", "work", "shop")}}
	p.m.Lookup = func(name string) (string, bool) {
		if name == agents.TokenVariable {
			return secret, true
		}
		for i := 0; i+1 < len(variables); i += 2 {
			if variables[i] == name {
				return filepath.Join(root, variables[i+1]), true
			}
		}
		return "", false
	}
	if err := os.MkdirAll(filepath.Join(p.m.Project, ".ktx"), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// each calls f for every client in each of its scopes, in a place of its own.
func each(t *testing.T, f func(t *testing.T, p place, s agents.Selection)) {
	t.Helper()
	for _, target := range agents.Targets() {
		for _, where := range target.Places {
			t.Run(target.Name+"/"+string(where.Scope), func(t *testing.T) {
				t.Parallel()
				f(t, newPlace(t), agents.Selection{Target: target, Scope: where.Scope})
			})
		}
	}
}

// selection parses "client/scope".
func selection(t *testing.T, name string) agents.Selection {
	t.Helper()
	client, scope, _ := strings.Cut(name, "/")
	for _, target := range agents.Targets() {
		if target.Name == client {
			return agents.Selection{Target: target, Scope: agents.Scope(scope)}
		}
	}
	t.Fatalf("no client %s", client)
	return agents.Selection{}
}

// plan plans to install, which must be possible as a whole.
func (p place) plan(e agents.Endpoint, selected ...agents.Selection) *agents.Plan {
	p.t.Helper()
	plan, err := agents.Install(p.m, e, selected)
	if err != nil {
		p.t.Fatal(err)
	}
	return plan
}

// install installs, and returns what became of the places.
func (p place) install(e agents.Endpoint, selected ...agents.Selection) string {
	p.t.Helper()
	plan := p.plan(e, selected...)
	if err := plan.Apply(); err != nil {
		p.t.Fatal(err)
	}
	return actions(plan)
}

// remove removes everything, or what is for those clients and scopes.
func (p place) remove(only ...string) string {
	p.t.Helper()
	plan, err := agents.Uninstall(p.m, func(target string, scope agents.Scope) bool {
		return len(only) == 0 || slices.Contains(only, target+"/"+string(scope))
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := plan.Apply(); err != nil {
		p.t.Fatal(err)
	}
	return actions(plan)
}

// actions are those of a plan, with their reasons.
func actions(plan *agents.Plan) string {
	var out []string
	for _, s := range plan.Steps {
		text := s.Target + "/" + string(s.Scope) + " " + string(s.Kind) + " " + string(s.Action)
		if s.Reason != "" {
			text += ": " + s.Reason
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// write writes a file of the place, with what it needs.
func (p place) write(path, text string, mode fs.FileMode) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) read(path string) string {
	p.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// tree is everything below the home: folders, files with mode and content,
// links with where they lead.
func (p place) tree() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.m.Home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(p.m.Home, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			out[rel] = "-> " + to
			return err
		case e.IsDir():
			out[rel] = info.Mode().String()
		default:
			out[rel] = info.Mode().String() + " " + p.read(path)
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// same wants everything to be as it was.
func (p place) same(before map[string]string) {
	p.t.Helper()
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		p.t.Errorf("something else changed (-before +after):\n%s", diff)
	}
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestEntries holds what each client gets, in its default scope, in a file that
// is not there.
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
	} {
		p, s := newPlace(t), selection(t, name)
		p.install(guarded, s)
		got := p.read(s.Target.Config(p.m, s.Scope))
		if !s.Target.TOML() {
			if !strings.HasSuffix(got, "}\n") || !strings.Contains(got, "\n  ") {
				t.Errorf("%s is not formatted:\n%s", name, got)
			}
			got = compact(t, got)
		}
		want(t, name, strings.ReplaceAll(got, p.m.Project, "PROJECT"), text)
	}
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
// any scope holds the token, only the client's reference to its variable, and
// without a token not even that.
func TestTheTokenIsNeverWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p place, s agents.Selection) {
		for _, e := range []agents.Endpoint{plain, guarded} {
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
			refers := strings.Contains(p.read(config), agents.TokenVariable)
			if refers != (e.Token && !s.Target.Starts) {
				t.Errorf("with a token %t, refers to it %t:\n%s", e.Token, refers, p.read(config))
			}
			if e.Token && !s.Target.Starts && !strings.Contains(p.read(config), s.Target.Reference) {
				t.Errorf("not the client's notation:\n%s", p.read(config))
			}
		}
	})
}

// foreign are settings files as people have them. KEY stands for the first key
// of the client's entry.
var foreign = map[bool]map[string]string{
	false: { // JSON
		"no text":                "",
		"blank":                  " \n\n",
		"empty object":           "{}",
		"empty, spread":          "{\n}\n",
		"others":                 "{\n  \"zebra\": 1,\n  \"KEY\": {\n    \"other\": {\"url\": \"http://x\", \"env\": {\"B\": \"2\", \"A\": \"1\"}}\n  },\n  \"alpha\": [1, 2,3]\n}\n",
		"no servers":             "{\n    \"theme\": \"dark\",\n    \"apple\": null\n}",
		"empty servers":          "{\"KEY\": {}, \"x\": 1e3}",
		"tabs":                   "{\n\t\"KEY\": {\n\t\t\"other\": {\n\t\t\t\"url\": \"x\"\n\t\t}\n\t}\n}\n",
		"three blanks":           "{\n   \"KEY\": {\n      \"other\": {}\n   }\n}\n",
		"one line":               "{\"a\":1,\"KEY\":{\"other\":{\"url\":\"x\"}},\"z\":[]}",
		"CRLF":                   "{\r\n  \"KEY\": {\r\n    \"other\": {}\r\n  }\r\n}\r\n",
		"comments":               "// mine\n{\n  /* servers */ \"KEY\": {\n    // first\n    \"other\": {} // last\n    // after\n  } // done\n}\n// end\n",
		"trailing commas":        "{\n  \"KEY\": {\n    \"other\": {\"a\": [1,],},\n  },\n}\n",
		"comment behind a comma": "{\n  \"KEY\": {\n    \"other\": {}, // why\n  }, // more\n}\n",
		"odd":                    "\n\n  { \"KEY\"\n:\n   {\"other\"  : {\n} }   ,\"a\":\"\\u00e9 }{ //\"}  \n\n",
		"long numbers":           "{\"n\": 12345678901234567890.10, \"KEY\": {\"o\": {\"x\": -0.0}}}\n",
	},
	true: { // TOML
		"empty":        "",
		"blank":        "\n\n",
		"comment":      "# mine\n",
		"no newline":   "model = \"x\"",
		"others":       "model = \"o3\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\nargs = [\n  \"a\", # one\n  \"b\",\n]\n\n[profiles.\"a b\"]\nz = 1\na = 2\n",
		"CRLF":         "model = 'o3'\r\n\r\n[mcp_servers.other]\r\ncommand = 'x'\r\n",
		"sub-tables":   "[mcp_servers]\n[mcp_servers.other]\nurl = \"x\"\n[mcp_servers.other.env]\nA = \"1\"\n\n[[things]]\nn = 1\n[[things]]\nn = 2\n",
		"dotted":       "mcp_servers.other.url = \"x\"\n",
		"indented":     "\t[a]\n\t  b = 1\n\n\n",
		"text of ours": "s = \"\"\"\n[mcp_servers.ktx]\nurl = 1\n\"\"\"\n",
		"dates":        "d = 1979-05-27T07:32:00Z\nf = +inf\n",
	},
}

// TestSetupAndRemoveLeaveForeignFilesAlone: every client and scope, with files
// of every kind, byte for byte, with and without a change in between.
func TestSetupAndRemoveLeaveForeignFilesAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p place, s agents.Selection) {
		config := s.Target.Config(p.m, s.Scope)
		if config == "" {
			before := p.tree()
			p.install(guarded, s)
			p.remove()
			p.same(before)
			return
		}
		modes := []fs.FileMode{0o600, 0o644, 0o755}
		for i, name := range slices.Sorted(maps.Keys(foreign[s.Target.TOML()])) {
			text := strings.ReplaceAll(foreign[s.Target.TOML()][name], "KEY", s.Target.Key(p.m, s.Scope)[0])
			p.write(config, text, modes[i%len(modes)])
			before := p.tree()
			if got := p.install(guarded, s); !strings.Contains(got, "entry add") {
				t.Errorf("%s: %s", name, got)
			}
			if i%2 == 0 {
				p.install(elsewhere, s)
			}
			p.remove()
			p.same(before)
			if err := os.Remove(config); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSetupAndRemoveLeaveNothing: what was made is gone, folders included, for
// one client and for all at once.
func TestSetupAndRemoveLeaveNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p place, s agents.Selection) {
		before := p.tree()
		p.install(guarded, s)
		if len(p.tree()) == len(before) {
			t.Error("nothing was written")
		}
		p.remove()
		p.same(before)
	})
	p := newPlace(t)
	before := p.tree()
	var all []agents.Selection
	for _, target := range agents.Targets() {
		for _, where := range target.Places {
			all = append(all, agents.Selection{Target: target, Scope: where.Scope})
		}
	}
	p.install(guarded, all...)
	written := p.tree()
	p.install(guarded, all...)
	p.same(written)
	p.install(elsewhere, all...)
	p.remove()
	p.same(before)
}

// TestSetupAgainChangesNothing: not even the manifest.
func TestSetupAgainChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p place, s agents.Selection) {
		p.install(guarded, s)
		before := p.tree()
		if got := p.install(guarded, s); strings.Contains(got, "add") || !strings.Contains(got, "unchanged") {
			t.Error(got)
		}
		p.same(before)
	})
}

// TestPlansWriteNothing: before Apply no file is made, whatever is planned.
func TestPlansWriteNothing(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, p place, s agents.Selection) {
		before := p.tree()
		p.plan(guarded, s).Files()
		p.same(before)
	})
}

// TestUnknownChangesSurvive: a client that writes its whole file anew, and users
// who add to it, keep what they wrote when the entry goes.
func TestUnknownChangesSurvive(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "claude-code/user")
	config := s.Target.Config(p.m, s.Scope)
	p.write(config, "{\n  \"a\": 1\n}\n", 0o600)
	p.install(plain, s)
	p.write(config, `{"mcpServers":{"ktx":{"url":"`+url+`","type":"http"},"new":{}},"a":1,"b":2}`, 0o600)
	want(t, "actions", p.remove(), "claude-code/user skill remove\nclaude-code/user entry remove")
	want(t, "file", p.read(config), `{"mcpServers":{"new":{}},"a":1,"b":2}`)
	// A file that was made for the entry stays when others write into it.
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	p.install(plain, s)
	p.write(config, strings.Replace(p.read(config), "{\n", "{\n  \"numStartups\": 1,\n", 1), 0o600)
	p.remove()
	want(t, "file", compact(t, p.read(config)), `{"numStartups":1}`)
}

// TestWhatUsersEditedStays: an entry or a skill file that was edited is left
// alone, by setup and by --remove, until it is as it was.
func TestWhatUsersEditedStays(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "cursor/project")
	config, skill := s.Target.Config(p.m, s.Scope), s.Target.Skill(p.m, s.Scope)
	p.install(plain, s)
	entry, text := p.read(config), p.read(skill)
	p.write(config, strings.Replace(entry, "7878", "7879", 1), 0o644)
	p.write(skill, text+"\nAnd more.\n", 0o644)
	before := p.tree()
	const since = ": it was edited since ktx setup wrote it"
	want(t, "setup", p.install(guarded, s), "cursor/project entry edited"+since+"\ncursor/project skill edited"+since)
	want(t, "remove", p.remove(), "cursor/project skill edited"+since+"\ncursor/project entry edited"+since)
	p.same(before)
	p.write(config, entry, 0o644)
	p.write(skill, text, 0o644)
	want(t, "remove", p.remove(), "cursor/project skill remove\ncursor/project entry remove")
	// What users removed themselves is no longer there to remove, and is
	// written again by setup.
	p.install(plain, s)
	p.write(config, "{}\n", 0o644)
	if err := os.Remove(skill); err != nil {
		t.Fatal(err)
	}
	want(t, "setup", p.install(plain, s), "cursor/project entry add\ncursor/project skill add")
	p.write(config, "{}\n", 0o644)
	if err := os.Remove(skill); err != nil {
		t.Fatal(err)
	}
	want(t, "remove", p.remove(), "cursor/project skill gone\ncursor/project entry gone")
	if _, err := os.Stat(agents.ManifestPath(p.m.Project)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the manifest: %v", err)
	}
}

// TestForeignEntriesStay: one that is the same is left alone and not recorded,
// another one is refused, and other clients get theirs.
func TestForeignEntriesStay(t *testing.T) {
	t.Parallel()
	p, s, other := newPlace(t), selection(t, "gemini/project"), selection(t, "cursor/project")
	config := s.Target.Config(p.m, s.Scope)
	p.write(config, `{"mcpServers": {"ktx": {"type": "http", "url": "`+url+`"}}}`, 0o644)
	before := p.tree()
	want(t, "the same", p.install(plain, s), "gemini/project entry present: it was not written by ktx setup of this project")
	p.same(before)
	want(t, "remove", p.remove(), "")
	p.same(before)
	got := p.install(elsewhere, s, other)
	want(t, "another", got, "gemini/project entry refused: "+config+" has mcpServers.ktx already, not written by ktx setup of this project: "+
		"it leads to http://127.0.0.1:7878; remove it, or choose another scope\ncursor/project entry add\ncursor/project skill add")
	p.remove()
	p.same(before)

	// A skill file of another hand keeps the client's entry from being written.
	p.write(other.Target.Skill(p.m, other.Scope), "mine\n", 0o644)
	before = p.tree()
	got = p.install(plain, other)
	if !strings.Contains(got, "entry skipped") || !strings.Contains(got, "skill refused") {
		t.Error(got)
	}
	p.same(before)
	p.write(other.Target.Skill(p.m, other.Scope), string(skillOf(p, other)), 0o644)
	want(t, "the same skill", p.install(plain, other), "cursor/project entry add\ncursor/project skill present: it was not written by ktx setup of this project")
	p.remove()
	if _, err := os.Stat(other.Target.Skill(p.m, other.Scope)); err != nil {
		t.Error(err)
	}
}

// skillOf is what a client's skill file holds.
func skillOf(p place, s agents.Selection) []byte {
	p.t.Helper()
	for _, f := range newPlace(p.t).plan(plain, s).Files() {
		if strings.Contains(f.Path, agents.SkillName) {
			return f.After
		}
	}
	p.t.Fatal("no skill file")
	return nil
}

// TestForeignEntriesTellNoSecrets: the message about a foreign entry shows where
// it leads, and nothing that could be a secret.
func TestForeignEntriesTellNoSecrets(t *testing.T) {
	t.Parallel()
	for entry, leads := range map[string]string{
		`{"url": "https://mcp.example.com/` + secret + `"}`:                           "https://mcp.example.com",
		`{"url": "https://me:` + secret + `@mcp.example.com/"}`:                       "something else",
		`{"url": "https://mcp.example.com?key=` + secret + `"}`:                       "something else",
		`{"command": "ktx", "args": ["mcp", "stdio", "--project-dir", "/srv/other"]}`: "the project /srv/other",
		`{"command": "` + secret + `", "args": [1]}`:                                  "something else",
		`"` + secret + `"`: "something else",
		`[]`:               "something else",
	} {
		p, s := newPlace(t), selection(t, "claude-desktop/user")
		p.write(s.Target.Config(p.m, s.Scope), `{"mcpServers": {"ktx": `+entry+`}}`, 0o600)
		got := p.install(plain, s)
		if !strings.Contains(got, "it leads to "+leads+";") || strings.Contains(got, secret) {
			t.Errorf("%s: %s", entry, got)
		}
	}
}

// TestTwoProjects: the second project of a user does not take the entry of the
// first, and removing leaves it alone.
func TestTwoProjects(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "claude-desktop/user")
	p.install(plain, s)
	second := p
	second.m.Project = filepath.Join(p.m.Home, "work", "bank")
	if err := os.MkdirAll(filepath.Join(second.m.Project, ".ktx"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := p.tree()
	if got := second.install(plain, s); !strings.Contains(got, "it leads to the project "+p.m.Project+";") {
		t.Error(got)
	}
	second.remove()
	p.same(before)
}

// TestSharedSkill: a skill file of two clients goes with the last of them.
func TestSharedSkill(t *testing.T) {
	t.Parallel()
	p, one, two := newPlace(t), selection(t, "codex/project"), selection(t, "universal/project")
	before := p.tree()
	want(t, "setup", p.install(plain, one, two), "codex/project entry add\ncodex/project skill add\nuniversal/project skill unchanged")
	want(t, "remove one", p.remove("codex/project"), "codex/project skill shared: another client uses it\ncodex/project entry remove")
	if _, err := os.Stat(one.Target.Skill(p.m, one.Scope)); err != nil {
		t.Error(err)
	}
	want(t, "remove the other", p.remove(), "universal/project skill remove")
	p.same(before)
	p.install(plain, one, two)
	want(t, "remove both", p.remove(), "codex/project skill remove\ncodex/project entry remove")
	p.same(before)
}

// TestRemoveByScope: two entries in one file go one by one.
func TestRemoveByScope(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"claude-code/user", "claude-code/local"}, {"claude-code/local", "claude-code/user"}} {
		for _, text := range []string{"", "{\n  \"projects\": {\"/x\": {}}, // all\n  \"z\": 1,\n}\n"} {
			p := newPlace(t)
			config := selection(t, order[0]).Target.Config(p.m, agents.User)
			if text != "" {
				p.write(config, text, 0o600)
			}
			before := p.tree()
			p.install(plain, selection(t, "claude-code/user"), selection(t, "claude-code/local"))
			p.remove(order[0])
			if !strings.Contains(p.read(config), url) {
				t.Errorf("%s: both are gone", order[0])
			}
			p.remove(order[1])
			p.same(before)
		}
	}
}

// TestLinksAreFollowed: a settings file that is a link stays one.
func TestLinksAreFollowed(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "claude-code/user")
	real := filepath.Join(p.m.Home, "dotfiles", "claude.json")
	p.write(real, "{\n\t\"a\": 1\n}\n", 0o640)
	if err := os.Symlink(filepath.Join("dotfiles", "claude.json"), s.Target.Config(p.m, s.Scope)); err != nil {
		t.Fatal(err)
	}
	before := p.tree()
	p.install(plain, s)
	if got := p.read(real); !strings.Contains(got, url) {
		t.Errorf("not written: %s", got)
	}
	if got := p.tree()[".claude.json"]; got != "-> dotfiles/claude.json" {
		t.Errorf("the link is %s", got)
	}
	p.remove()
	p.same(before)
}

// TestRefused: what cannot be edited without loss is refused with its place, and
// nothing is written for the client.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, client, text string
		make               func(path string) error
		said               string
	}{
		{name: "not JSON", client: "cursor/project", text: "{\n  \"a\": 1,\n  oops\n}\n", said: "line 3, column 3"},
		{name: "cut off", client: "claude-code/project", text: "{\n  \"mcpServers\": {", said: "line 2, column"},
		{name: "not TOML", client: "codex/user", text: "a = 1\nb =\n", said: "line 2, column"},
		{name: "a list", client: "vscode/project", text: "[]", said: "settings.json"},
		{name: "servers are a list", client: "opencode/project", text: `{"mcp": []}`, said: "opencode.json"},
		{name: "twice", client: "cursor/user", text: `{"mcpServers": {}, "mcpServers": {}}`, said: "line 1, column"},
		{name: "read-only", client: "cursor/project", make: func(path string) error { return os.WriteFile(path, []byte("{}"), 0o400) }, said: "mcp.json is read-only"},
		{name: "a folder", client: "cursor/project", make: func(path string) error { return os.Mkdir(path, 0o700) }, said: "mcp.json is no file"},
		{name: "a link to nothing", client: "cursor/project", make: func(path string) error { return os.Symlink("nowhere", path) }, said: "mcp.json is a link to nothing"},
		{name: "a link to a folder", client: "cursor/project", make: func(path string) error { return os.Symlink("..", path) }, said: "mcp.json is no file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, s, other := newPlace(t), selection(t, c.client), selection(t, "claude-desktop/user")
			config := s.Target.Config(p.m, s.Scope)
			if c.make == nil {
				p.write(config, c.text, 0o600)
			} else if err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), c.make(config)); err != nil {
				t.Fatal(err)
			}
			before := p.tree()
			plan := p.plan(guarded, s, other)
			got := actions(plan)
			if !plan.Refused() || !strings.Contains(got, c.client+" entry refused: ") || !strings.Contains(got, c.said) && c.said != "settings.json" {
				t.Error(got)
			}
			if !strings.Contains(got, filepath.Base(config)) || !strings.Contains(got, "claude-desktop/user entry add") {
				t.Error(got)
			}
			if err := plan.Apply(); err != nil {
				t.Fatal(err)
			}
			want(t, "remove", p.remove(), "claude-desktop/user entry remove")
			p.same(before)
		})
	}
}

// TestRemoveRefuses: a file that can no longer be read is left alone, and stays
// listed.
func TestRemoveRefuses(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "claude-code/local")
	config := s.Target.Config(p.m, s.Scope)
	p.install(plain, s)
	whole := p.read(config)
	p.write(config, whole+"x", 0o600)
	before := p.tree()
	if got := p.remove(); !strings.Contains(got, "refused: ") || !strings.Contains(got, ".claude.json: line ") {
		t.Error(got)
	}
	p.same(before)
	p.write(config, whole, 0o600)
	want(t, "remove", p.remove(), "claude-code/local entry remove")
}

// TestFilesThatChangeMeanwhile: between the plan and its end a file may be
// changed, made or removed, and is left as it is then.
func TestFilesThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p place, config string) error{
		"changed": func(_ place, config string) error { return os.WriteFile(config, []byte("{ }"), 0o600) },
		"removed": func(_ place, config string) error { return os.Remove(config) },
		"made": func(p place, _ string) error {
			p.write(filepath.Join(p.m.Project, ".cursor", "rules", agents.SkillName+".mdc"), "mine", 0o600)
			return nil
		},
	} {
		p, s, other := newPlace(t), selection(t, "cursor/project"), selection(t, "gemini/project")
		config := s.Target.Config(p.m, s.Scope)
		p.write(config, "{}", 0o600)
		plan := p.plan(plain, s, other)
		if err := change(p, config); err != nil {
			t.Fatal(err)
		}
		before := p.tree()
		if err := plan.Apply(); !errors.Is(err, atomicfile.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		p.remove()
		p.same(before)
	}
}

// TestAManifestThatChangesMeanwhile: two runs at once do not lose each other's
// list.
func TestAManifestThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	late := p.plan(plain, selection(t, "cursor/project"))
	p.install(plain, selection(t, "gemini/project"))
	before := p.tree()
	if err := late.Apply(); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	p.same(before)
	late = p.plan(plain, selection(t, "cursor/project"))
	p.install(plain, selection(t, "vscode/project"))
	before = p.tree()
	if err := late.Apply(); !errors.Is(err, atomicfile.ErrChanged) {
		t.Error(err)
	}
	p.same(before)
}

// TestAnEarlyEnd: wherever a run ends, --remove undoes what it wrote, a second
// run completes it, and the manifest never lacks what was written.
func TestAnEarlyEnd(t *testing.T) {
	t.Parallel()
	names := []string{"claude-code/user", "claude-code/local", "cursor/project", "codex/project", "universal/project", "opencode/user"}
	selected := func() (all []agents.Selection) {
		for _, name := range names {
			all = append(all, selection(t, name))
		}
		return all
	}
	start := func() place {
		p := newPlace(t)
		p.write(filepath.Join(p.m.Home, ".claude.json"), "{\"a\": 1}", 0o600)
		p.write(filepath.Join(p.m.Project, ".codex", "config.toml"), "# mine\n", 0o644)
		return p
	}
	count := len(start().plan(plain, selected()...).Files())
	if count < 7 {
		t.Fatalf("only %d files", count)
	}
	for _, first := range []bool{true, false} {
		for written := range count + 1 {
			p := start()
			before := p.tree()
			if !first {
				p.install(guarded, selected()...)
			}
			plan := p.plan(elsewhere, selected()...)
			if err := plan.ApplyPartly(min(written, len(plan.Files()))); err != nil {
				t.Fatal(err)
			}
			if written%2 == 0 {
				p.install(elsewhere, selected()...)
				after := p.tree()
				p.install(elsewhere, selected()...)
				p.same(after)
			}
			p.remove()
			p.same(before)
		}
	}
}

// TestAManifestOfAStranger: a manifest that came with a project cannot make
// --remove touch anything but ktx's own places, nor write there.
func TestAManifestOfAStranger(t *testing.T) {
	t.Parallel()
	const bash = "alias ls=ls\n"
	listed := func(edit func(m *agents.Manifest)) (place, map[string]string, string) {
		p, s := newPlace(t), selection(t, "claude-code/user")
		p.write(filepath.Join(p.m.Home, ".bashrc"), bash, 0o644)
		p.install(plain, s)
		path := agents.ManifestPath(p.m.Project)
		var m agents.Manifest
		if err := json.Unmarshal([]byte(p.read(path)), &m); err != nil {
			t.Fatal(err)
		}
		edit(&m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		p.write(path, string(text), 0o600)
		return p, p.tree(), path
	}
	for name, c := range map[string]struct {
		edit func(m *agents.Manifest)
		said string
	}{
		"another file":     {func(m *agents.Manifest) { m.Installed[1].Path, m.Installed[1].SHA256 = "../../.bashrc", sumOf(bash) }, "is no place of claude-code here"},
		"another entry":    {func(m *agents.Manifest) { m.Installed[0].Key = []string{"projects"} }, "is no place of claude-code here"},
		"another client":   {func(m *agents.Manifest) { m.Installed[0].Target = "emacs" }, `a client "emacs"`},
		"another scope":    {func(m *agents.Manifest) { m.Installed[0].Scope = "world" }, `scope "world"`},
		"an entry as file": {func(m *agents.Manifest) { m.Installed[0].Kind, m.Installed[0].Key = agents.KindSkill, nil }, "is no place of claude-code here"},
		"a replacement": {func(m *agents.Manifest) {
			m.Installed[0].Change.Replaced, m.Installed[0].Change.Removed = true, `"ktx": {"command": "evil"}`
		}, "ktx writes no such manifest"},
		"another kind":    {func(m *agents.Manifest) { m.Installed[0].Kind = "folder" }, "ktx writes no such manifest"},
		"another version": {func(m *agents.Manifest) { m.SchemaVersion = 2 }, "it is of version 2"},
	} {
		p, before, _ := listed(c.edit)
		plan, err := agents.Uninstall(p.m, func(string, agents.Scope) bool { return true })
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = actions(plan)
		}
		if !strings.Contains(got, c.said) {
			t.Errorf("%s: %s", name, got)
		}
		if err != nil {
			if _, err := agents.Install(p.m, plain, nil); err == nil {
				t.Errorf("%s: setup takes the manifest", name)
			}
			p.same(before)
			continue
		}
		if err := plan.Apply(); err != nil {
			t.Fatal(err)
		}
		want(t, name, p.read(filepath.Join(p.m.Home, ".bashrc")), bash)
	}
	// What is put in the place of the entry must not be a setting.
	p, _, _ := listed(func(m *agents.Manifest) {
		m.Installed[0].Change.Removed = `"mcpServers": {"evil": {"command": "evil"}}`
	})
	p.remove()
	if text, err := os.ReadFile(filepath.Join(p.m.Home, ".claude.json")); err == nil && strings.Contains(string(text), "evil") {
		t.Errorf("it was put in: %s", text)
	}
	// Folders go only with what lay in them.
	p, _, _ = listed(func(m *agents.Manifest) { m.Directories = append(m.Directories, "../../empty") })
	if err := os.Mkdir(filepath.Join(p.m.Home, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.remove()
	if _, err := os.Stat(filepath.Join(p.m.Home, "empty")); err != nil {
		t.Error(err)
	}
}

func sumOf(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// TestPlacesFollowVariables: where a client looks elsewhere, setup writes there.
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

// TestOpencodeHasTwoFiles: the one with comments, where it is there.
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

// TestLocalScopeKnowsTheFolderWithoutLinks: a program that is started in the
// project does not see the links that lead to it.
func TestLocalScopeKnowsTheFolderWithoutLinks(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "claude-code/local")
	real, err := filepath.EvalSymlinks(p.m.Project)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(p.m.Home, "link")
	if err := os.Symlink(p.m.Project, link); err != nil {
		t.Fatal(err)
	}
	p.m.Project = link
	want(t, "key", strings.Join(s.Target.Key(p.m, s.Scope), " "), "projects "+real+" mcpServers ktx")
	before := p.tree()
	p.install(plain, s)
	p.remove()
	p.same(before)
}

// TestSkillFiles: one body, wrapped as each client wants it, with nothing in it
// that a client would expand.
func TestSkillFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p place, s agents.Selection) {
		path := s.Target.Skill(p.m, s.Scope)
		if path == "" {
			return
		}
		p.install(plain, s)
		head, body, ok := strings.Cut(strings.TrimPrefix(p.read(path), "---\n"), "\n---\n\n")
		if !ok || body != agents.SkillBody() {
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
		if strings.HasSuffix(path, "SKILL.md") && keys["name"] != agents.SkillName {
			t.Errorf("name: %v", keys["name"])
		}
	})
	for _, expanded := range []string{"$ARGUMENTS", "$0", "$1", "!`", "@", "{env:", "{file:", "${"} {
		if strings.Contains(agents.SkillBody(), expanded) {
			t.Errorf("the skill holds %s, which a client may expand", expanded)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the table of clients in docs/setup.md")

// TestTheTableIsDocumented: docs/setup.md shows the table of clients.
func TestTheTableIsDocumented(t *testing.T) {
	t.Parallel()
	m := agents.Machine{OS: "linux", Home: "~", Project: ".", Lookup: func(string) (string, bool) { return "", false }}
	code := func(text string) string {
		if text == "" {
			return "–"
		}
		return "`" + filepath.ToSlash(text) + "`"
	}
	var table strings.Builder
	table.WriteString("| client | scope | file | entry | token | skill file |\n|---|---|---|---|---|---|\n")
	for _, target := range agents.Targets() {
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
