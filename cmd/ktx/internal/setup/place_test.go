package setup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
)

// secret is the token, which must never be written.
const secret = "s3cret-token-of-the-server"

const url = "http://127.0.0.1:7878/mcp"

var (
	program   = []string{"/opt/ktx/bin/ktx"}
	plain     = setup.Endpoint{URL: url, Command: program}
	guarded   = setup.Endpoint{URL: url, Token: true, Command: program}
	elsewhere = setup.Endpoint{URL: "http://127.0.0.1:9999/mcp", Token: true, Command: program}
	started   = setup.Endpoint{URL: url, Token: true, Stdio: true, Command: program, Shared: []string{"ktx"}, Variables: []string{"SHOP_URL"}}
)

// place is a user's home and a project in it.
type place struct {
	t *testing.T
	m setup.Machine
	// open has every server want no token.
	open bool
}

func newPlace(t *testing.T, variables ...string) place {
	t.Helper()
	root := t.TempDir()
	p := place{t: t, m: setup.Machine{OS: "linux", Home: filepath.Join(root, "home"), Project: filepath.Join(root, "home", "work", "shop")}}
	p.m.Lookup = func(name string) (string, bool) {
		if name == setup.TokenVariable {
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

// refers reports whether the settings of a client can refer to the token.
func refers(target *setup.Target) bool { return target.Reference != "" || target.Starts(plain) }

// each calls f for every client in each of its scopes, each time in a new
// place. It is an open one for clients that cannot refer to a token.
func each(t *testing.T, f func(p place, s setup.Selection)) {
	t.Helper()
	for _, target := range setup.Targets() {
		for _, where := range target.Places {
			t.Run(target.Name+"/"+string(where.Scope), func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				p.open = !refers(target)
				f(p, setup.Selection{Target: target, Scope: where.Scope})
			})
		}
	}
}

// selection parses "client/scope".
func selection(t *testing.T, name string) setup.Selection {
	t.Helper()
	client, scope, _ := strings.Cut(name, "/")
	for _, target := range setup.Targets() {
		if target.Name == client {
			return setup.Selection{Target: target, Scope: setup.Scope(scope)}
		}
	}
	t.Fatalf("no client %s", client)
	return setup.Selection{}
}

// plan plans to install, and fails if a step is refused.
func (p place) plan(e setup.Endpoint, selected ...setup.Selection) *setup.Plan {
	p.t.Helper()
	e.Token = e.Token && !p.open
	plan, err := setup.Install(p.m, e, selected)
	if err != nil {
		p.t.Fatal(err)
	}
	return plan
}

// install installs, and returns the actions.
func (p place) install(e setup.Endpoint, selected ...setup.Selection) string {
	p.t.Helper()
	plan := p.plan(e, selected...)
	if err := plan.Apply(); err != nil {
		p.t.Fatal(err)
	}
	return actions(plan)
}

// remove removes everything, or what belongs to the given clients and scopes.
func (p place) remove(only ...string) string {
	p.t.Helper()
	plan, err := setup.Uninstall(p.m, func(target string, scope setup.Scope) bool {
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

// actions returns the actions of a plan, with their reasons.
func actions(plan *setup.Plan) string {
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

// write writes a file and creates its folders.
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

// tree returns everything below the home: folders, files with mode and content,
// and links with their targets.
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

// same fails unless everything is as it was.
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
