package ktx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/ktxhq/ktx"

// listed is a package as go list -json describes it.
type listed struct {
	ImportPath     string
	Dir            string
	Export         string // file with the compiled package's types, under -export
	Standard       bool
	GoFiles        []string
	IgnoredGoFiles []string // left out by their build constraints
	TestGoFiles    []string
	XTestGoFiles   []string
	Imports        []string
	TestImports    []string
	XTestImports   []string
}

// rel returns the package's path below the module, "." for its root.
func (p listed) rel() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// ours reports whether an import path belongs to this module.
func ours(importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// goList runs go list -json in one of the two builds.
func goList(cgo bool, args ...string) ([]listed, error) {
	out, err := goCommand(cgo, append([]string{"list", "-buildvcs=false", "-json"}, args...)...)
	if err != nil {
		return nil, err
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

func goCommand(cgo bool, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...) //nolint:noctx // the test binary's own time limit is the limit
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if cgo {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS="+os.Getenv("GOFLAGS")+" -tags=duckdb")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}

// A build is one of the two configurations that the product has.
type build struct {
	name string
	cgo  bool
	own  func() ([]listed, error) // the module's packages
	all  func() ([]listed, error) // the module's packages and all that they import, compiled
}

var builds = []build{newBuild("cgo", true), newBuild("pure", false)}

func newBuild(name string, cgo bool) build {
	return build{
		name: name, cgo: cgo,
		own: sync.OnceValues(func() ([]listed, error) { return goList(cgo, "./...") }),
		all: sync.OnceValues(func() ([]listed, error) { return goList(cgo, "-deps", "-export", "./...") }),
	}
}

// tested returns the builds to test: both, or only the first in short mode.
func tested() []build {
	if testing.Short() {
		return builds[:1]
	}
	return builds
}

// requirement is a line of go.mod.
type requirement struct {
	Path     string
	Indirect bool
}

// requirements reads go.mod.
var requirements = sync.OnceValues(func() ([]requirement, error) {
	out, err := goCommand(true, "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var file struct{ Require []requirement }
	if err := json.Unmarshal(out, &file); err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	return file.Require, nil
})

// moduleOf returns the module of go.mod that a third-party import belongs to,
// or the import itself when there is none.
func moduleOf(importPath string, reqs []requirement) string {
	found := ""
	for _, r := range reqs {
		if (importPath == r.Path || strings.HasPrefix(importPath, r.Path+"/")) && len(r.Path) > len(found) {
			found = r.Path
		}
	}
	if found == "" {
		return importPath
	}
	return found
}

// matches reports whether one of the patterns matches. A pattern is a path, a path in
// which * matches one element, or "...", which matches everything.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return pattern == "..." || (err == nil && ok)
	})
}
