package setup_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
)

// TestRefused: a file that cannot be edited without loss is refused with the
// position, and nothing is written for the client.
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
		{name: "a folder", client: "cursor/project", make: func(path string) error { return os.Mkdir(path, 0o700) }, said: "mcp.json is not a regular file"},
		{name: "a link to nothing", client: "cursor/project", make: func(path string) error { return os.Symlink("nowhere", path) }, said: "mcp.json is a link whose target does not exist"},
		{name: "a link to a folder", client: "cursor/project", make: func(path string) error { return os.Symlink("..", path) }, said: "mcp.json is not a regular file"},
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

// TestRemoveRefuses: a file that can no longer be parsed is left alone, and
// stays in the manifest.
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

// TestFilesThatChangeMeanwhile: a file that is changed, created or removed
// between the plan and its end is left as it is.
func TestFilesThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(p place, config string) error{
		"changed": func(_ place, config string) error { return os.WriteFile(config, []byte("{ }"), 0o600) },
		"removed": func(_ place, config string) error { return os.Remove(config) },
		"made": func(p place, _ string) error {
			p.write(filepath.Join(p.m.Project, ".cursor", "rules", setup.SkillName+".mdc"), "mine", 0o600)
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

// TestAManifestThatChangesMeanwhile: two concurrent runs do not lose each
// other's entries in the manifest.
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

// TestAnEarlyEnd: wherever a run is interrupted, --remove undoes what it wrote,
// a second run completes it, and the manifest lists everything that was
// written.
func TestAnEarlyEnd(t *testing.T) {
	t.Parallel()
	names := []string{"claude-code/user", "claude-code/local", "cursor/project", "codex/project", "universal/project", "opencode/user"}
	selected := func() (all []setup.Selection) {
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
// --remove change or write anything except ktx's own locations.
func TestAManifestOfAStranger(t *testing.T) {
	t.Parallel()
	const bash = "alias ls=ls\n"
	listed := func(edit func(m *setup.Manifest)) (place, map[string]string) {
		p, s := newPlace(t), selection(t, "claude-code/user")
		p.write(filepath.Join(p.m.Home, ".bashrc"), bash, 0o644)
		p.install(plain, s)
		path := setup.ManifestPath(p.m.Project)
		var m setup.Manifest
		if err := json.Unmarshal([]byte(p.read(path)), &m); err != nil {
			t.Fatal(err)
		}
		edit(&m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		p.write(path, string(text), 0o600)
		return p, p.tree()
	}
	for name, c := range map[string]struct {
		edit func(m *setup.Manifest)
		said string
	}{
		"another file":     {func(m *setup.Manifest) { m.Installed[1].Path, m.Installed[1].SHA256 = "../../.bashrc", sumOf(bash) }, "is not a location of claude-code"},
		"another entry":    {func(m *setup.Manifest) { m.Installed[0].Key = []string{"projects"} }, "is not a location of claude-code"},
		"another client":   {func(m *setup.Manifest) { m.Installed[0].Target = "emacs" }, `a client "emacs"`},
		"another scope":    {func(m *setup.Manifest) { m.Installed[0].Scope = "world" }, `scope "world"`},
		"an entry as file": {func(m *setup.Manifest) { m.Installed[0].Kind, m.Installed[0].Key = setup.KindSkill, nil }, "is not a location of claude-code"},
		"a replacement": {func(m *setup.Manifest) {
			m.Installed[0].Change.Replaced, m.Installed[0].Change.Removed = true, `"ktx": {"command": "evil"}`
		}, "entry 1 is not one that ktx writes"},
		"another kind":    {func(m *setup.Manifest) { m.Installed[0].Kind = "folder" }, "entry 1 is not one that ktx writes"},
		"another version": {func(m *setup.Manifest) { m.SchemaVersion = 2 }, "it is of version 2"},
	} {
		p, before := listed(c.edit)
		plan, err := setup.Uninstall(p.m, func(string, setup.Scope) bool { return true })
		got := fmt.Sprint(err)
		if err == nil {
			got = actions(plan)
		}
		if !strings.Contains(got, c.said) {
			t.Errorf("%s: %s", name, got)
		}
		if err != nil {
			if _, err := setup.Install(p.m, plain, nil); err == nil {
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
	// The text that replaces the entry must not be a setting.
	p, _ := listed(func(m *setup.Manifest) {
		m.Installed[0].Change.Removed = `"mcpServers": {"evil": {"command": "evil"}}`
	})
	p.remove()
	if text, err := os.ReadFile(filepath.Join(p.m.Home, ".claude.json")); err == nil && strings.Contains(string(text), "evil") {
		t.Errorf("it was put in: %s", text)
	}
	// Folders are removed only together with the files in them.
	p, _ = listed(func(m *setup.Manifest) { m.Directories = append(m.Directories, "../../empty") })
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
