package wiring

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlcheck/source"
	"github.com/ktxhq/ktx/sqlguard"
)

// FileGuards chooses the dialect and the policy for each file that is checked,
// and makes one guard for each pair of them.
type FileGuards struct {
	forced   sqlguard.Dialect            // of --dialect
	projects map[string]*project.Project // by folder of a file; nil when the folder is in no project
	declared declared

	mu   sync.Mutex
	made map[guardKey]*sqlguard.Guard
}

type guardKey struct {
	project                       *project.Project
	connection, dialect, database string
}

// NewFileGuards loads the project of each file. A project whose configuration is
// not valid is an error, because its policy could not be applied.
func NewFileGuards(a *console.App, dialect string, inputs []sqlcheck.Input) (*FileGuards, error) {
	g := &FileGuards{made: map[guardKey]*sqlguard.Guard{}, projects: map[string]*project.Project{}}
	if dialect != DialectAuto {
		d, err := LookupDialect(dialect)
		if err != nil {
			return nil, err
		}
		g.forced = d
	}
	var named *project.Project
	if _, set := a.Lookup("KTX_PROJECT_DIR"); a.ProjectDir != "" || set {
		dir, err := FindProject(a)
		if err != nil {
			return nil, err
		}
		if named, err = LoadProjectIn(a, dir); err != nil {
			return nil, err
		}
	}
	current, err := filepath.Abs(".")
	if err != nil {
		return nil, console.Failed("find the current folder: %w", err)
	}
	loaded := map[string]*project.Project{}
	for _, in := range inputs {
		for _, path := range []string{in.Path, in.Was} {
			dir := filepath.Dir(path)
			if _, known := g.projects[dir]; known || path == "" {
				continue
			}
			p := named
			if p == nil {
				abs := dir
				if !filepath.IsAbs(abs) {
					abs = filepath.Join(current, abs)
				}
				if p, err = nearest(a, abs, loaded); err != nil {
					return nil, err
				}
			}
			g.projects[dir] = p
		}
	}
	return g, nil
}

// nearest returns the project of an absolute folder, nil when there is none.
func nearest(a *console.App, abs string, loaded map[string]*project.Project) (*project.Project, error) {
	if p, known := loaded[abs]; known {
		return p, nil
	}
	if up := filepath.Dir(abs); !project.Has(abs) && up != abs {
		p, err := nearest(a, up, loaded)
		if err == nil {
			loaded[abs] = p
		}
		return p, err
	}
	root, err := project.Above(abs)
	if _, missing := errors.AsType[*project.MissingError](err); missing {
		return nil, nil //nolint:nilnil // files can be checked outside of a project
	}
	if err != nil {
		return nil, console.AsUsage(err)
	}
	if err := ownConfiguration(root); err != nil {
		return nil, err
	}
	p, err := LoadProjectIn(a, root)
	if err != nil {
		return nil, err
	}
	loaded[root] = p
	return p, nil
}

// ownConfiguration returns an error when the ktx.yaml of a folder that nobody
// named is not a regular file, or is a link to a file outside of both that folder
// and the current one.
func ownConfiguration(root string) error {
	name := filepath.Join(root, project.FileName)
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return console.AsUsage(err)
	}
	if info, err := os.Stat(target); err != nil || !info.Mode().IsRegular() {
		return console.Usage("%s is not a regular file", console.EscapeControls(name))
	}
	current, err := os.Getwd()
	if err != nil {
		return console.Failed("find the current folder: %w", err)
	}
	for _, folder := range []string{root, current} {
		if resolved, err := filepath.EvalSymlinks(folder); err == nil {
			if rel, err := filepath.Rel(resolved, target); err == nil && filepath.IsLocal(rel) {
				return nil
			}
		}
	}
	return console.Usage("%s is a link that leads elsewhere; name the project with --project-dir", console.EscapeControls(name))
}

// Choose returns the guard for a file, or a finding that says why there is none.
// It is the Chooser of [sqlcheck.Checker].
func (g *FileGuards) Choose(path, text string, known sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) {
	p := g.projects[filepath.Dir(path)]
	connection := connectionOf(p, path)
	overrides(p, path, func(o project.CheckOverride) bool {
		connection = cmp.Or(o.Connection, connection)
		return o.Connection == ""
	})
	d, err := g.dialectOf(p, path, text, connection, known.Adapter)
	if err != nil {
		return nil, &sqlguard.Finding{Code: sqlguard.CodeDialectUnknown, Message: err.Error(), Object: skippedEngine(err), Hint: "name it with --dialect, check.overrides in ktx.yaml, or a first line -- ktx: dialect=NAME"}
	}
	if flat, ok := d.(interface{ SchemasAreDatabases() bool }); ok && flat.SchemasAreDatabases() {
		known.Database = "" // schemas are databases here, and a project has several
	}
	key := guardKey{p, connection, d.Name() + " " + d.Version(), known.Database}
	g.mu.Lock()
	defer g.mu.Unlock()
	if guard := g.made[key]; guard != nil {
		return guard, nil
	}
	guard, err := DialectGuard(p, connection, known.Database, d)
	if err != nil {
		return nil, &sqlguard.Finding{Code: sqlguard.CodeNotChecked, Message: err.Error()}
	}
	g.made[key] = guard
	return guard, nil
}

// Sources returns the options that the project of a file sets for source files
// in its language.
func (g *FileGuards) Sources(path string) source.Options {
	p := g.projects[filepath.Dir(path)]
	if p == nil {
		return source.Options{}
	}
	sinks := p.Config.Check.Sinks
	switch strings.ToLower(filepath.Ext(path)) {
	case ".go":
		return source.Options{Sinks: sinks.Go}
	case ".py", ".ipynb":
		return source.Options{Sinks: sinks.Python}
	default:
		return source.Options{Sinks: sinks.TypeScript}
	}
}

// Parameters reports whether parameters in a file of SQL stand for values.
func (g *FileGuards) Parameters(path string) bool {
	p := g.projects[filepath.Dir(path)]
	return p == nil || p.Config.Check.Parameters != "refuse"
}

// Wanted returns the inputs without those that check.exclude of their project
// leaves out. A file that an argument names is always wanted. A file that was
// renamed and had been left out is new.
func (g *FileGuards) Wanted(inputs []sqlcheck.Input) []sqlcheck.Input {
	inputs = slices.DeleteFunc(inputs, func(in sqlcheck.Input) bool { return !in.Stdin && !in.Named && g.excluded(in.Path) })
	for i, in := range inputs {
		if in.Was != "" && g.excluded(in.Was) {
			inputs[i] = in.AsNew()
		}
	}
	return inputs
}

func (g *FileGuards) excluded(path string) bool {
	p := g.projects[filepath.Dir(path)]
	return p != nil && matches(p.Config.Check.Exclude, filepath.ToSlash(inProject(p, path)))
}

// matches reports whether a path with slashes matches a pattern, or lies in a
// folder that does.
func matches(patterns []string, path string) bool {
	for _, pattern := range patterns {
		pattern = strings.TrimSuffix(pattern, "/")
		for _, p := range []string{pattern, pattern + "/**"} {
			if ok, err := doublestar.Match(p, path); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// connectionOf returns the id of the connection that has the name of a folder on
// the path within the project, or "". The innermost such folder decides.
func connectionOf(p *project.Project, path string) string {
	if p == nil {
		return ""
	}
	dir := filepath.Dir(inProject(p, path))
	for dir != "." && dir != filepath.Dir(dir) {
		if _, ok := p.Config.Connections[filepath.Base(dir)]; ok {
			return filepath.Base(dir)
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// inProject returns a path relative to the project's folder, or the path itself
// when it lies outside.
func inProject(p *project.Project, path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(p.Dir, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

func (g *FileGuards) dialectOf(p *project.Project, path, text, connection, adapter string) (sqlguard.Dialect, error) {
	if g.forced != nil {
		return g.forced, nil
	}
	name := override(p, path)
	if name == "" {
		name = pragmaLine(text)
	}
	if name == "" && connection != "" {
		driver := p.Config.Connections[connection].Driver
		if e, ok := engineOf(driver); ok {
			return e.dialect, nil
		}
		name = driver // an engine without a backend
	}
	if name == "" {
		name = suffixDialect(path)
	}
	imported := ""
	if name == "" && skipped(engineFolder(path)) != nil {
		name = engineFolder(path)
	}
	if name == "" {
		if imported = importedDialect(path, text); isDialect(imported) {
			name = imported
		}
	}
	if name == "" && adapter != "" {
		name = adapter
	}
	if name == "" {
		name = partDialect(path)
	}
	if name == "" { // only when nothing else speaks is a file skipped for its drivers
		declared, listed := g.declared.dialectOf(path)
		if strings.EqualFold(filepath.Ext(path), ".sql") && contradicts(declared, text) {
			declared = ""
		}
		word := g.declared.wordOf(path)
		if listed && word != "" { // of all drivers of the program, or of the file itself
			declared = word
		}
		if listed && skipped(imported) != nil {
			declared = imported
		}
		name = cmp.Or(declared, imported, word)
	}
	if name == "" {
		return nil, errors.New("nothing says which SQL dialect the file is written in")
	}
	d, ok := dialects.Lookup(dialectName(strings.ToLower(name)))
	if !ok {
		if err := skipped(name); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("no reader for the dialect %q%s", name, console.DidYouMean(name, DialectNames()))
	}
	return d, nil
}

// engineFolder returns the engine that the folder of a file has as its name, which speaks
// the protocol of another one and is reached by the drivers of that.
func engineFolder(path string) string {
	name := strings.ToLower(filepath.Base(filepath.Dir(path)))
	if slices.Contains([]string{"cockroachdb", "cockroach", "crdb", "greenplum", "redshift", "yugabytedb"}, name) {
		return name
	}
	return ""
}

// suffixDialect returns the dialect that the name of a file has as a part: .pgsql, the last
// part of .sql.postgres, or one before a point, such as users.mysql.up.sql and sqlite.sql.
func suffixDialect(path string) string {
	extension := strings.ToLower(filepath.Ext(path))
	switch extension {
	case ".pgsql", ".psql":
		return "postgres"
	case ".sqlite":
		return "sqlite"
	}
	if strings.EqualFold(filepath.Ext(strings.TrimSuffix(path, filepath.Ext(path))), ".sql") {
		if name := strings.TrimPrefix(extension, "."); isDialect(name) {
			return name
		}
	}
	if extension == ".sql" {
		parts := strings.Split(filepath.Base(path), ".")
		for _, part := range parts[:len(parts)-1] {
			if name := dialectNamed(part); name != "" {
				return name
			}
		}
	}
	return ""
}

// partDialect returns the dialect that the name of a source file has before a point, such
// as in users.mysql.test.ts.
func partDialect(path string) string {
	parts := strings.Split(strings.ToLower(filepath.Base(path)), ".")
	for _, part := range parts[:len(parts)-1] {
		if isDialect(part) {
			return part
		}
	}
	return ""
}

func isDialect(name string) bool {
	_, ok := dialects.Lookup(dialectName(name))
	return ok
}

// overrides calls yield with each override of the project that a path matches.
func overrides(p *project.Project, path string, yield func(project.CheckOverride) bool) {
	if p == nil {
		return
	}
	rel := filepath.ToSlash(inProject(p, path))
	for _, o := range p.Config.Check.Overrides {
		matched := slices.ContainsFunc(o.Paths, func(pattern string) bool {
			ok, err := doublestar.Match(pattern, rel)
			return ok && err == nil
		})
		if matched && !yield(o) {
			return
		}
	}
}

// override returns the dialect that the project gives to a path, or "".
func override(p *project.Project, path string) (dialect string) {
	overrides(p, path, func(o project.CheckOverride) bool {
		dialect = o.Dialect
		return dialect == ""
	})
	return dialect
}

// Severities returns the severities that the project of a file sets for codes in
// it.
func (g *FileGuards) Severities(path string) map[sqlguard.Code]report.Severity {
	var all map[sqlguard.Code]report.Severity
	overrides(g.projects[filepath.Dir(path)], path, func(o project.CheckOverride) bool {
		for code, severity := range o.Severity {
			if all == nil {
				all = map[sqlguard.Code]report.Severity{}
			}
			if _, set := all[sqlguard.Code(code)]; !set {
				all[sqlguard.Code(code)] = report.Severity(severity)
			}
		}
		return true
	})
	return all
}

// pragmaLine returns NAME when the first line is "-- ktx: dialect=NAME", in a
// comment of SQL or of another language, and "" otherwise.
func pragmaLine(text string) string {
	line := text
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		line = text[:i]
	}
	comment := strings.TrimLeft(strings.TrimSpace(line), "-/#*")
	if comment == strings.TrimSpace(line) {
		return ""
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(comment), "ktx:")
	if !ok {
		return ""
	}
	for word := range strings.FieldsSeq(rest) {
		if name, ok := strings.CutPrefix(word, "dialect="); ok {
			return name
		}
	}
	return ""
}

// LogGuards returns how statements of the audit log are judged by the policies of a
// project: a function for [audit.NewReviewer]. They are judged without a server. There is
// no guard for a connection that the project does not have, and for an unknown dialect.
func LogGuards(p *project.Project) func(audit.Event) (func(string) (sqlguard.Verdict, error), error) {
	made := map[string]func(string) (sqlguard.Verdict, error){}
	return func(decision audit.Event) (func(string) (sqlguard.Verdict, error), error) {
		id := decision.Connection.ID
		check, have := made[id]
		if have {
			return check, nil
		}
		if _, known := p.Config.Connections[id]; known {
			if dialect, ok := dialects.Lookup(decision.Connection.Dialect); ok {
				guard, err := DialectGuard(p, id, "", dialect)
				if err != nil {
					return nil, err
				}
				check = func(sql string) (sqlguard.Verdict, error) { return guard.Check(sql), nil }
			}
		}
		made[id] = check
		return check, nil
	}
}
