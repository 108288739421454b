package sqlcheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlcheck/source"
)

// maxManifest is the most bytes that a manifest may have.
const maxManifest = 256 << 20

// dbtManifest is the part of target/manifest.json that a check needs: for each
// query that dbt compiled, its source and the result. What the check cannot
// compare with the files, it believes.
type dbtManifest struct {
	adapter  string
	database string // of most models
	nodes    map[string][]*dbtNode
	disabled map[string]bool // files
	macros   map[string]dbtMacro
	files    map[string]bool // of macros
}

// dbtNode is a query of a file. The field names are those of manifest version 7
// and newer.
type dbtNode struct {
	Name, Kind, Database string
	Raw, Checksum        string
	// Compiled is nil if dbt did not compile the query.
	Compiled *string
	CTEs     []dbtCTE // ephemeral models in Compiled
	Hooks    []string // statements that run before or after the query
	Macros   []string // ids of the macros that it uses
	// RunsSQL is the first of Macros that runs SQL while dbt compiles, or "".
	RunsSQL string
}

type dbtCTE struct {
	ID  string `json:"id"`
	SQL string `json:"sql"`
}

type dbtMacro struct {
	File, Package string
	Uses          []string
}

var manifestVersion = regexp.MustCompile(`/manifest/v(\d+)(?:\.json|/index\.html)?$`)

func (p *dbtProject) manifestPath() string { return filepath.Join(p.target, "manifest.json") }

// readManifest returns the manifest of a project, or nil if there is none.
func (p *dbtProject) readManifest() (*dbtManifest, error) {
	f, err := p.open(p.manifestPath(), maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // dbt did not run
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	m, err := parseManifest(io.LimitReader(f, maxManifest), p.name)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// members reads a JSON object member by member. It refuses a repeated name,
// because readers differ on which value counts.
func members(d *json.Decoder, f func(name string) error) error {
	start, err := d.Token()
	if err != nil {
		return err //nolint:wrapcheck // the reader of the manifest says so
	}
	if start == nil {
		return nil
	}
	if start != json.Delim('{') {
		return errors.New("an object is expected")
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err //nolint:wrapcheck // as above
		}
		name, _ := token.(string)
		if seen[name] {
			return errors.New("an object has a member twice")
		}
		seen[name] = true
		if err := f(name); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err //nolint:wrapcheck // as above
}

// fields is a JSON object. Names are matched exactly, with letter case.
type fields map[string]json.RawMessage

// into decodes a member. The member may be missing or null.
func (f fields) into(v any, names ...string) {
	for _, name := range names {
		if raw := f[name]; raw != nil && json.Unmarshal(raw, v) == nil && !bytes.Equal(raw, []byte("null")) {
			return
		}
	}
}

func (f fields) text(names ...string) (s string) {
	f.into(&s, names...)
	return s
}

func (f fields) object(name string) (o fields) {
	f.into(&o, name)
	return o
}

// parseManifest reads a manifest as a stream, and keeps what a check needs of
// the project's own files.
func parseManifest(r io.Reader, project string) (*dbtManifest, error) {
	d := json.NewDecoder(r)
	m := &dbtManifest{nodes: map[string][]*dbtNode{}, disabled: map[string]bool{}, macros: map[string]dbtMacro{}, files: map[string]bool{}}
	type entry struct {
		file, owner string
		node        *dbtNode
	}
	var all []entry
	version := 0
	err := members(d, func(name string) error {
		switch name {
		case "metadata":
			var metadata fields
			if err := d.Decode(&metadata); err != nil {
				return err //nolint:wrapcheck // the reader of the manifest says so
			}
			if found := manifestVersion.FindStringSubmatch(metadata.text("dbt_schema_version")); found != nil {
				version, _ = strconv.Atoi(found[1])
			}
			m.adapter = metadata.text("adapter_type")
			if project == "" {
				project = metadata.text("project_name")
			}
			return nil
		case "nodes":
			return members(d, func(string) error {
				var f fields
				if err := d.Decode(&f); err != nil {
					return err //nolint:wrapcheck // as above
				}
				if file, ok := f.file(); ok {
					all = append(all, entry{file, f.text("package_name"), f.node()})
				}
				return nil
			})
		case "disabled":
			return members(d, func(string) error {
				var nodes []fields
				if err := d.Decode(&nodes); err != nil {
					return err //nolint:wrapcheck // as above
				}
				for _, f := range nodes {
					if file, ok := f.file(); ok && f.text("package_name") == project {
						m.disabled[file] = true
					}
				}
				return nil
			})
		case "macros":
			return members(d, func(id string) error {
				var f fields
				if err := d.Decode(&f); err != nil {
					return err //nolint:wrapcheck // as above
				}
				macro := dbtMacro{Package: f.text("package_name")}
				macro.File, _ = f.file()
				f.object("depends_on").into(&macro.Uses, "macros")
				m.macros[id] = macro
				return nil
			})
		default:
			var skipped json.RawMessage
			return d.Decode(&skipped) //nolint:wrapcheck // as above
		}
	})
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it ends in the middle")
	case err != nil:
		return nil, fmt.Errorf("it is not JSON as dbt writes it: %s", reason(err))
	case version < 4:
		return nil, errors.New("its version is not supported: versions 4 and later are")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after its end")
	}
	databases, running := map[string]int{}, m.running()
	for _, e := range all {
		if e.owner != project {
			continue // it belongs to a package
		}
		if i := slices.IndexFunc(e.node.Macros, func(id string) bool { return running[id] }); i >= 0 {
			e.node.RunsSQL = e.node.Macros[i]
		}
		m.nodes[e.file] = append(m.nodes[e.file], e.node)
		if e.node.Kind == "model" && e.node.Database != "" {
			databases[e.node.Database]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(databases)) {
		if databases[name] > databases[m.database] {
			m.database = name
		}
	}
	for _, macro := range m.macros {
		if macro.Package == project && macro.File != "" {
			m.files[macro.File] = true
		}
	}
	return m, nil
}

// file returns the path of a node's file, relative to the project, with
// slashes. It returns false for a path outside of the project.
func (f fields) file() (string, bool) {
	name := path.Clean(strings.ReplaceAll(f.text("original_file_path"), `\`, "/"))
	return name, name != "." && filepath.IsLocal(filepath.FromSlash(name))
}

func (f fields) node() *dbtNode {
	n := &dbtNode{
		Name: f.text("name"), Kind: f.text("resource_type"), Database: f.text("database"),
		Raw: f.text("raw_code", "raw_sql"), Checksum: f.object("checksum").text("checksum"),
	}
	f.into(&n.Compiled, "compiled_code", "compiled_sql")
	f.into(&n.CTEs, "extra_ctes")
	f.object("depends_on").into(&n.Macros, "macros")
	config := f.object("config")
	for _, name := range []string{"pre-hook", "post-hook"} {
		var hooks []fields
		config.into(&hooks, name)
		for _, hook := range hooks {
			n.Hooks = append(n.Hooks, hook.text("sql"))
		}
	}
	if header := config.text("sql_header"); header != "" {
		n.Hooks = append(n.Hooks, header)
	}
	return n
}

// running returns the macros that run SQL while dbt compiles, directly or
// through other macros.
func (m *dbtManifest) running() map[string]bool {
	usedBy := map[string][]string{}
	for id, macro := range m.macros {
		for _, used := range macro.Uses {
			usedBy[used] = append(usedBy[used], id)
		}
	}
	next := []string{"macro.dbt.statement", "macro.dbt.run_query"}
	found := map[string]bool{}
	for len(next) > 0 {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		if !found[id] {
			found[id] = true
			next = append(next, usedBy[id]...)
		}
	}
	return found
}

// dbtText removes the differences between a file and what dbt stores of it:
// white space around it, line ends, a byte order mark.
func dbtText(text string) string {
	text = strings.TrimPrefix(text, report.ByteOrderMark)
	return strings.TrimFunc(strings.ReplaceAll(text, "\r\n", "\n"), source.PythonSpace)
}

// current reports whether dbt made the node from text.
func (n *dbtNode) current(text string) bool {
	if n.Raw != "" && n.Raw != "--placeholder--" { // some versions of dbt do not store it
		return dbtText(n.Raw) == dbtText(text)
	}
	for _, t := range []string{text, dbtText(text)} {
		sum := sha256.Sum256([]byte(t))
		if hex.EncodeToString(sum[:]) == n.Checksum {
			return true
		}
	}
	return false
}
