package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

func TestFind(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c", "d/ktx.yaml", "e"} { // a folder named ktx.yaml does not make a project
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"a", "e"} {
		if err := os.WriteFile(filepath.Join(root, dir, "ktx.yaml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(dir string) string { return filepath.Join(root, dir) }
	unset := ""
	for _, test := range []struct {
		name, current, flag, variable string
		set                           bool
		want                          string
		missing, named                bool
	}{
		{name: "nearest", current: "a/b/c", variable: unset, want: "a"},
		{name: "here", current: "a", want: "a"},
		{name: "none", current: "d", missing: true},
		{name: "flag", current: "a", flag: at("e"), want: "e"},
		{name: "relative flag", current: "a/b", flag: "../../e", want: "e"},
		{name: "flag to none", current: "a", flag: at("d"), missing: true, named: true},
		{name: "no search above the flag", current: "a", flag: at("a/b"), missing: true, named: true},
		{name: "variable", current: "a", variable: at("e"), set: true, want: "e"},
		{name: "flag over variable", current: "d", flag: at("a"), variable: at("e"), set: true, want: "a"},
		{name: "variable to none", current: "a", variable: at("d"), set: true, missing: true, named: true},
		{name: "blank", current: "a", set: true},
		{name: "spaces", current: "a", variable: " ", set: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(at(test.current))
			got, err := project.Find(test.flag, func(name string) (string, bool) {
				if name != "KTX_PROJECT_DIR" {
					t.Errorf("asked for %s", name)
				}
				return test.variable, test.set
			})
			missing, isMissing := errors.AsType[*project.MissingError](err)
			switch {
			case test.want != "":
				if err != nil || got != at(test.want) {
					t.Errorf("%s, %v", got, err)
				}
			case isMissing != test.missing, err == nil:
				t.Errorf("%s, %v", got, err)
			case isMissing && (missing.Named != test.named || len(missing.Hints()) != 2):
				t.Errorf("%+v", missing)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := project.Load(dir, anyPattern); err == nil {
		t.Error("Load accepts a folder without a ktx.yaml")
	}
	file := filepath.Join(dir, project.FileName)
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("other: {}\nconnections: {a: {driver: sqlite}}\n")
	p, err := project.Load(dir, anyPattern)
	if err != nil || p.Dir != dir || p.File != file || len(p.Warnings) != 1 || len(p.Config.Connections) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	write("other: {}\nguard: {x: 1}\n")
	_, err = project.Load(dir, anyPattern)
	invalid, ok := errors.AsType[*project.InvalidError](err)
	if !ok || invalid.File != file || len(invalid.List) != 2 || invalid.Error() != file+":2: guard.x: unknown key; known here: catalog, explainAnalyze, maxBytes, maxConstant, reveal, role, types" {
		t.Errorf("%v", err)
	}
	write("check: {overrides: [{paths: [bad], dialect: sqlite}]}\n")
	if _, err := project.Load(dir, func(pattern string) bool { return pattern != "bad" }); err == nil {
		t.Error("Load accepts a pattern that is not valid")
	}
}
