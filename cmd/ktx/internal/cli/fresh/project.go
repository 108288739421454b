package fresh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/scan"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/demo"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

const configHead = `# What ktx may reach, and under which rules. ktx config schema describes every key.
connections:
`

// configTail shows what else a connection may have.
const configTail = `    # limits: {rows: 10000, timeout: 30s}
    # access:
    #   tables: {deny: [public.api_keys]}
`

const freshConfig = configHead + `  # warehouse:
  #   driver: postgres               # or mysql, mariadb, sqlserver, clickhouse, bigquery, sqlite
  #   url: env:WAREHOUSE_URL          # postgres://reader:…@host:5432/db, kept out of this file
  #   schemas: [public]               # PostgreSQL: where names without a schema lie; others: further databases
  #   limits: {rows: 10000, timeout: 30s}
  #   access:
  #     tables: {deny: [public.api_keys]}
`

const demoConnection = `  demo:
    driver: sqlite
    path: shop.db
    name: Demo shop
    description: Customers, products and orders of a shop that does not exist.
`

const demoFiles = `  demo:
    driver: duckdb
    files: data
    name: Demo shop
    description: Customers, products and orders of a shop that does not exist.
`

// Content says what a new project has beside its comments.
type Content struct {
	Demo       bool       // the demo shop as the connection demo
	DuckDB     bool       // the demo shop as CSV files that DuckDB reads
	Connection *Connected // a connection
}

// Connected is the connection of a new project.
type Connected struct {
	ID, Driver string
	URL        string // env:NAME, file:/path, or a URL without a password
	Path       string // of a database file, instead of URL
	Files      string // a folder of files for DuckDB, instead of URL
	Schemas    []string
	Env        string // the file of variables that URL needs, relative to the project
}

// config returns the ktx.yaml.
func (c Content) config() []byte {
	switch {
	case c.Demo && c.DuckDB:
		return []byte(freshConfig + demoFiles)
	case c.Demo:
		return []byte(freshConfig + demoConnection)
	case c.Connection == nil:
		return []byte(freshConfig)
	}
	text := configHead
	if c.Connection.Env != "" {
		text = "env: " + scalar(c.Connection.Env) + "\n" + text
	}
	text += "  " + c.Connection.ID + ":\n    driver: " + c.Connection.Driver + "\n"
	switch {
	case c.Connection.Path != "":
		text += "    path: " + scalar(c.Connection.Path) + "\n"
	case c.Connection.Files != "":
		text += "    files: " + scalar(c.Connection.Files) + "\n"
	default:
		text += "    url: " + scalar(c.Connection.URL) + "\n"
	}
	if len(c.Connection.Schemas) > 0 {
		var names []string
		for _, s := range c.Connection.Schemas {
			names = append(names, scalar(s))
		}
		text += "    schemas: [" + strings.Join(names, ", ") + "]\n"
	}
	return []byte(text + configTail)
}

// scalar returns a text as YAML, in quotes.
func scalar(text string) string {
	quoted, err := json.Marshal(text) // JSON's texts are YAML's
	if err != nil {
		return `""`
	}
	return string(quoted)
}

// Config returns the configuration that a project with this content has.
func (c Content) Config() (project.Config, error) {
	config, problems := project.Parse(c.config(), nil)
	for _, p := range problems {
		if !p.Warning {
			return config, console.Usage("%s: %s", p.Path, p.Message)
		}
	}
	return config, nil
}

// Made is what [Make] made.
type Made struct {
	Files           []string // relative to the project, with slashes
	Tables, Columns int      // that the scan of the demo found
}

// Make writes a new project. It never overwrites a file. The ktx.yaml, which makes a
// folder a project, comes last: when Make does not come to its end, the folder is no
// project, and another call completes it.
func Make(ctx context.Context, a *console.App, dir string, what Content) (Made, error) {
	var out Made
	type file struct {
		name    string
		content []byte
	}
	config := file{project.FileName, what.config()}
	var before []file
	if what.Demo {
		if !what.DuckDB {
			before = append(before, file{"shop.db", demo.Database()})
		} else {
			files := demo.Files()
			for _, name := range slices.Sorted(maps.Keys(files)) {
				before = append(before, file{"data/" + name, files[name]})
			}
		}
		before = append(before, file{"wiki/global/" + demo.PageKey + ".md", demo.Page})
		sources := demo.Sources(what.DuckDB)
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(sources))) {
			before = append(before, file{"semantic-layer/demo/" + name, sources[name]})
		}
	}
	exists := func(f file) error {
		return console.Usage("%s exists already; nothing was changed", filepath.Join(dir, filepath.FromSlash(f.name)))
	}
	if _, err := os.Lstat(filepath.Join(dir, config.name)); err == nil {
		return out, exists(config)
	}
	var missing []file
	for _, f := range before { // before any file is written
		switch same, err := holds(filepath.Join(dir, filepath.FromSlash(f.name)), f.content); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, f)
		case err != nil:
			return out, fmt.Errorf("make project: %w", err)
		case !same:
			return out, exists(f)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a project is shared through version control
		return out, fmt.Errorf("make project: %w", err)
	}
	if err := wiring.IgnoreState(dir); err != nil {
		return out, err
	}
	write := func(f file) error {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a project is shared through version control
			return fmt.Errorf("make project: %w", err)
		}
		err := atomicfile.WriteNew(name, 0o644, f.content)
		if errors.Is(err, fs.ErrExist) {
			return console.Usage("%s exists already", name)
		}
		return err
	}
	for _, f := range missing {
		if err := write(f); err != nil {
			return out, err
		}
	}
	out.Files = append(out.Files, config.name)
	for _, f := range before {
		out.Files = append(out.Files, f.name)
	}
	if what.Demo {
		var err error
		if out.Tables, out.Columns, err = scanDemo(ctx, a, dir, config.content); err != nil {
			return out, err
		}
	}
	return out, write(config)
}

// holds reports whether a regular file has exactly this content.
func holds(name string, content []byte) (bool, error) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false, err
	}
	text, err := os.ReadFile(name) //nolint:gosec // the user names the project
	return err == nil && bytes.Equal(text, content), err
}

// scanDemo scans the demo shop of a project whose ktx.yaml is not written yet.
func scanDemo(ctx context.Context, a *console.App, dir string, config []byte) (tables, columns int, err error) {
	p := &project.Project{Dir: dir, File: filepath.Join(dir, project.FileName)}
	var problems []project.Problem
	if p.Config, problems = project.Parse(config, nil); len(problems) > 0 {
		return 0, 0, fmt.Errorf("read the demo's configuration: %s", problems[0].Message)
	}
	tables, columns, err = scan.One(ctx, a, p, "demo")
	if err != nil {
		// Not wrapped: an interrupt is reported with the way to continue.
		return 0, 0, console.Failed("the demo shop was not scanned, so there is no %s yet; run the command again to complete it: %s", project.FileName, err.Error())
	}
	return tables, columns, nil
}
