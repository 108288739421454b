package setup_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// foreign are settings files as users have them. KEY is replaced by the first
// key of the client's entry.
var foreign = map[edit.Language]map[string]string{
	edit.JSON: {
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
	edit.TOML: {
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
	edit.YAML: {
		"empty":        "",
		"blank":        "\n\n",
		"comment":      "# mine\n",
		"no newline":   "GOOSE_MODEL: x",
		"others":       "GOOSE_MODEL: x # best\nKEY:\n  # first\n  developer:\n    bundled: true\n    timeout: 300\n    args:\n    - a\n  # last\nGOOSE_MODE: 'auto'\n",
		"no value":     "KEY:\nz: 1\n",
		"braces":       "a: 1\nKEY: {} # none\n",
		"CRLF":         "KEY:\r\n  other:\r\n    cmd: x\r\n",
		"deeper":       "KEY:\n      other: {cmd: x, args: [1, 2]}\n",
		"text of ours": "s: |+\n  KEY:\n    ktx: 1\n\n",
		"anchors":      "a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n",
	},
}

// TestSetupAndRemoveLeaveForeignFilesAlone installs and removes for every
// client and scope, with files of every kind. The files are then the same byte
// for byte, also if setup ran again in between.
func TestSetupAndRemoveLeaveForeignFilesAlone(t *testing.T) {
	t.Parallel()
	each(t, func(p place, s setup.Selection) {
		t := p.t
		config := s.Target.Config(p.m, s.Scope)
		if config == "" {
			before := p.tree()
			p.install(guarded, s)
			p.remove()
			p.same(before)
			return
		}
		modes := []fs.FileMode{0o600, 0o644, 0o755}
		for i, name := range slices.Sorted(maps.Keys(foreign[s.Target.Language()])) {
			text := strings.ReplaceAll(foreign[s.Target.Language()][name], "KEY", s.Target.Key(p.m, s.Scope)[0])
			p.write(config, text, modes[i%len(modes)])
			before := p.tree()
			if got := p.install(guarded, s); !strings.Contains(got, "entry add") {
				t.Errorf("%s: %s", name, got)
			}
			switch i % 3 {
			case 0:
				p.install(elsewhere, s)
			case 1:
				p.install(started, s)
			}
			p.remove()
			p.same(before)
			if err := os.Remove(config); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSetupAndRemoveLeaveNothing: everything that setup created is removed,
// including folders, for one client and for all at once.
func TestSetupAndRemoveLeaveNothing(t *testing.T) {
	t.Parallel()
	each(t, func(p place, s setup.Selection) {
		t := p.t
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
	var all []setup.Selection
	for _, target := range setup.Targets() {
		for _, where := range target.Places {
			if !refers(target) {
				continue
			}
			all = append(all, setup.Selection{Target: target, Scope: where.Scope})
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

// TestSetupAgainChangesNothing: a second run changes no file, not even the
// manifest.
func TestSetupAgainChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(p place, s setup.Selection) {
		t := p.t
		p.install(guarded, s)
		before := p.tree()
		if got := p.install(guarded, s); strings.Contains(got, "add") || !strings.Contains(got, "unchanged") {
			t.Error(got)
		}
		p.same(before)
	})
}

// TestPlansWriteNothing: no plan creates a file before Apply.
func TestPlansWriteNothing(t *testing.T) {
	t.Parallel()
	each(t, func(p place, s setup.Selection) {
		before := p.tree()
		p.plan(guarded, s).Files()
		p.same(before)
	})
}

// TestUnknownChangesSurvive: a client may rewrite its whole file, and users may
// add to it. Their changes stay when the entry is removed.
func TestUnknownChangesSurvive(t *testing.T) {
	t.Parallel()
	p, s := newPlace(t), selection(t, "claude-code/user")
	config := s.Target.Config(p.m, s.Scope)
	p.write(config, "{\n  \"a\": 1\n}\n", 0o600)
	p.install(plain, s)
	p.write(config, `{"mcpServers":{"ktx":{"url":"`+url+`","type":"http"},"new":{}},"a":1,"b":2}`, 0o600)
	want(t, "actions", p.remove(), "claude-code/user skill remove\nclaude-code/user entry remove")
	want(t, "file", p.read(config), `{"mcpServers":{"new":{}},"a":1,"b":2}`)
	// A file that was created for the entry stays if others write to it.
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	p.install(plain, s)
	p.write(config, strings.Replace(p.read(config), "{\n", "{\n  \"numStartups\": 1,\n", 1), 0o600)
	p.remove()
	want(t, "file", compact(t, p.read(config)), `{"numStartups":1}`)
}

// TestWhatUsersEditedStays: setup and --remove leave an edited entry or skill
// file alone, until it is as it was.
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
	// If users removed it themselves, there is nothing to remove, and setup
	// writes it again.
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
	if _, err := os.Stat(setup.ManifestPath(p.m.Project)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the manifest: %v", err)
	}
}

// TestForeignEntriesStay: an identical foreign entry is left alone and not
// recorded. A different one is refused. Other clients get their entries.
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
	want(t, "another", got, "gemini/project entry refused: "+config+" already has mcpServers.ktx, which ktx setup of this project did not write: "+
		"it leads to http://127.0.0.1:7878; remove it, or choose another scope\ncursor/project entry add\ncursor/project skill add")
	p.remove()
	p.same(before)

	// A foreign skill file keeps setup from writing the client's entry.
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

// skillOf returns the content of a client's skill file.
func skillOf(p place, s setup.Selection) []byte {
	p.t.Helper()
	for _, f := range newPlace(p.t).plan(plain, s).Files() {
		if strings.Contains(f.Path, setup.SkillName) {
			return f.After
		}
	}
	p.t.Fatal("no skill file")
	return nil
}

// TestForeignEntriesTellNoSecrets: the message about a foreign entry says where
// it leads, and contains nothing that could be a secret.
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

// TestTwoProjects: the second project of a user does not take over the entry of
// the first, and removing the second leaves it alone.
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

// TestSharedSkill: a skill file of two clients is deleted with the last of
// them.
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

// TestRemoveByScope: two entries in one file are removed one by one.
func TestRemoveByScope(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"claude-code/user", "claude-code/local"}, {"claude-code/local", "claude-code/user"}} {
		for _, text := range []string{"", "{\n  \"projects\": {\"/x\": {}}, // all\n  \"z\": 1,\n}\n"} {
			p := newPlace(t)
			config := selection(t, order[0]).Target.Config(p.m, setup.User)
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

// TestLinksAreFollowed: a settings file that is a link stays a link.
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
