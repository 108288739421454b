package sqlcheck

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// dbtFileName is the name of the file that makes a folder a dbt project.
const dbtFileName = "dbt_project.yml"

// maxDBTProject is the most bytes that such a file may have.
const maxDBTProject = 1 << 20

// dbtProject is a dbt project. Nothing outside of its folder is read.
type dbtProject struct {
	dir     string // absolute
	problem string // why the project cannot be read

	name      string
	sources   []string // folders of files with Jinja, relative to dir
	macros    []string // those of sources in which dbt reads definitions only
	generated []string // what dbt writes itself, and the packages that it fetches
	target    string   // the folder of the manifest
	models    []string // folders of models, relative to dir
	settings  any      // of models

	manifest func() (*dbtManifest, error)
}

// dbtProjects finds the dbt projects of files.
type dbtProjects struct {
	mu      sync.Mutex
	current string                 // folder, absolute
	above   map[string]*dbtProject // by folder, absolute or not; nil where there is none
}

// of returns the nearest project at or above a folder, or nil if there is none.
// It does not look above the top of a git work tree.
func (p *dbtProjects) of(dir string) *dbtProject {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, known := p.above[dir]; known {
		return found
	}
	if p.above == nil {
		var err error
		if p.current, err = filepath.Abs("."); err != nil {
			return nil
		}
		p.above = map[string]*dbtProject{}
	}
	abs := dir
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(p.current, abs)
	}
	passed := []string{dir}
	var found *dbtProject
	for at := abs; ; at = filepath.Dir(at) {
		known, ok := p.above[at]
		if ok {
			found = known
			break
		}
		passed = append(passed, at)
		if info, err := os.Stat(filepath.Join(at, dbtFileName)); err == nil && !info.IsDir() {
			found = readDBTProject(at)
			break
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			break
		}
	}
	for _, at := range passed {
		p.above[at] = found
	}
	return found
}

// readDBTProject reads the file of a project. Keys that the file does not set
// have the defaults of dbt.
func readDBTProject(dir string) *dbtProject {
	p := &dbtProject{dir: dir, target: "target"}
	p.manifest = sync.OnceValues(p.readManifest)
	content, err := p.read(dbtFileName, maxDBTProject)
	var said struct {
		Name      any `yaml:"name"`
		Target    any `yaml:"target-path"`
		Packages  any `yaml:"packages-install-path"`
		Models    any `yaml:"model-paths"`
		Analyses  any `yaml:"analysis-paths"`
		Tests     any `yaml:"test-paths"`
		Snapshots any `yaml:"snapshot-paths"`
		Macros    any `yaml:"macro-paths"`
		Functions any `yaml:"function-paths"`
		Settings  any `yaml:"models"`
	}
	if err == nil {
		err = yaml.Unmarshal(content, &said)
	}
	if err != nil {
		p.problem = dbtFileName + " of its dbt project cannot be read: " + reason(err)
		return p
	}
	p.name, _ = said.Name.(string)
	p.target = folders(said.Target, "target")[0]
	p.generated = append(folders(said.Packages, "dbt_packages"), p.target, "dbt_modules", "dbt_internal_packages")
	p.macros, p.models, p.settings = folders(said.Macros, "macros"), folders(said.Models, "models"), said.Settings
	p.sources = slices.Concat(
		p.models, folders(said.Analyses, "analyses"), folders(said.Tests, "tests"),
		folders(said.Snapshots, "snapshots"), p.macros, folders(said.Functions, "functions"))
	return p
}

// reason returns the message of err on one line, without the path of a file.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// folders returns the folders in the project that a value names, or the default
// folder of dbt if the value is absent. A value with Jinja is an error.
func folders(value any, usual string) []string {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	var all []string
	for _, v := range values {
		name, ok := v.(string)
		if name = filepath.Clean(filepath.FromSlash(name)); ok && filepath.IsLocal(name) && name != "." && !strings.Contains(name, "{{") {
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		return []string{usual}
	}
	return all
}

// read reads a file of the project. It does not follow links that lead out of
// the project.
func (p *dbtProject) read(name string, limit int64) ([]byte, error) {
	f, err := p.open(name, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = errTooLong(limit)
	}
	return content, err //nolint:wrapcheck // the caller says what it read
}

// open opens a regular file of the project.
func (p *dbtProject) open(name string, limit int64) (*os.File, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it opened
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name) // before opening it: opening a pipe blocks
	if err != nil {
		return nil, err //nolint:wrapcheck // as above
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > limit:
		return nil, errTooLong(limit)
	}
	return root.Open(name) //nolint:wrapcheck // as above
}

func errTooLong(limit int64) error { return fmt.Errorf("it is larger than %d MiB", limit>>20) }

// within returns the path of a file relative to the project, with slashes.
func (p *dbtProject) within(file string) (string, bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(p.dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// made reports whether dbt wrote a file or folder of the project, or fetched
// it.
func (p *dbtProject) made(rel string) bool { return below(rel, p.generated) }

// reads reports whether dbt reads a file of the project.
func (p *dbtProject) reads(rel string) bool { return below(rel, p.sources) && !p.made(rel) }

// enabled returns what the project's file says of whether a model is built: a
// text that can be Jinja, or "" if it says nothing.
func (p *dbtProject) enabled(rel string) string {
	said := ""
	for _, folder := range p.models {
		inner, ok := strings.CutPrefix(rel, filepath.ToSlash(folder)+"/")
		if !ok {
			continue
		}
		settings, _ := p.settings.(map[string]any)
		for _, name := range append([]string{"", p.name}, strings.Split(strings.TrimSuffix(inner, ".sql"), "/")...) {
			if name != "" {
				settings, _ = settings[name].(map[string]any)
			}
			for _, key := range []string{"enabled", "+enabled"} {
				if value, ok := settings[key]; ok {
					said = fmt.Sprint(value)
				}
			}
		}
	}
	return said
}

// below reports whether a path with slashes is one of folders or is in one of
// them.
func below(rel string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		folder = filepath.ToSlash(folder)
		return rel == folder || strings.HasPrefix(rel, folder+"/")
	})
}

// generated reports whether dbt wrote a file or folder, or fetched it. Such a
// file is not judged, because the file that it was made from is.
func (p *dbtProjects) generated(path string) bool {
	project := p.of(filepath.Dir(path))
	if project == nil || project.problem != "" {
		return false
	}
	rel, ok := project.within(path)
	return ok && project.made(rel)
}
