package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/catalog"
)

// A project is a folder with a ktx.yaml.
type project struct {
	dir         string
	connections map[string]connection
}

// A connection is a block of ktx.yaml. A connection without a path can only be
// searched.
type connection struct {
	Driver string `yaml:"driver"`
	Path   string `yaml:"path,omitempty"`
}

func newProject(dir string) (*project, error) {
	p := &project{dir: dir, connections: map[string]connection{}}
	return p, os.MkdirAll(dir, 0o700)
}

// connect adds a connection, to a file below the project or to nothing.
func (p *project) connect(id, path string) {
	p.connections[id] = connection{Driver: "sqlite", Path: path}
}

// configure writes ktx.yaml.
func (p *project) configure() error {
	text, err := yaml.Marshal(map[string]any{"connections": p.connections})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, "ktx.yaml"), text, 0o600)
}

// put writes a value as JSON below the project.
func (p *project) put(value any, elements ...string) error {
	path := filepath.Join(append([]string{p.dir}, elements...)...)
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return p.putText(path, text)
}

func (p *project) putText(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// The scan of a schema that was not scanned: its names are in the layout of a scan.
const (
	syncID   = "2026-01-02-030405-eval"
	scanTime = "2026-01-02T03:04:05Z"
)

// artifacts writes tables in the layout of a scan.
func (p *project) artifacts(id string, tables []*catalog.Table) error {
	dir := []string{"raw-sources", id, "live-database", syncID}
	put := func(value any, name ...string) error { return p.put(value, slices.Concat(dir, name)...) }
	count := len(tables)
	err := put(catalog.ConnectionFile{ConnectionID: id, Driver: "sqlite", ExtractedAt: scanTime, TableCount: &count}, "connection.json")
	for i, t := range tables {
		err = errors.Join(err, put(t, "tables", fmt.Sprintf("%05d.json", i)))
	}
	return errors.Join(err, put(catalog.Report{ConnectionID: id, Driver: "sqlite", SyncID: syncID, RunID: "eval", CreatedAt: scanTime}, "scan-report.json"))
}

// scan scans all connections, one after another, with ktx scan.
func (k *kit) scan(ctx context.Context, what string, p *project, options ...string) error {
	ids := make([]string, 0, len(p.connections))
	for id := range p.connections {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return k.each(ctx, what, len(ids), func(ctx context.Context, i int) error {
		arguments := append([]string{"scan", ids[i], "--project-dir", p.dir, "--json"}, options...)
		cmd := exec.CommandContext(ctx, k.program, arguments...) // #nosec G204 -- the developer names the program
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if _, err := cmd.Output(); err != nil {
			return fmt.Errorf("ktx scan %s: %w\n%s", ids[i], err, strings.TrimSpace(stderr.String()))
		}
		return nil
	})
}

// relationships reads what the latest scan of a connection found.
func (p *project) relationships(id string) (catalog.Relationships, error) {
	var out catalog.Relationships
	found, err := filepath.Glob(filepath.Join(p.dir, "raw-sources", id, "live-database", "*", "enrichment", "relationships.json"))
	if err != nil {
		return out, err
	}
	if len(found) != 1 {
		return out, fmt.Errorf("the scan of %s wrote %d relationships.json", id, len(found))
	}
	return out, readJSON(found[0], &out)
}
