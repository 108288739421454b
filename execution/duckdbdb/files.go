package duckdbdb

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
	"github.com/ktxhq/ktx/sqlguard"
)

// maxFiles bounds the files of a folder, and maxDepth the folders in each other.
const (
	maxFiles = 10_000
	maxDepth = 16
)

// extensions are the ends of names of files that become tables.
var extensions = []struct {
	end    string
	format wire.Format
}{
	{".csv", wire.CSV},
	{".csv.gz", wire.CSV},
	{".csv.zst", wire.CSV},
	{".tsv", wire.CSV},
	{".tsv.gz", wire.CSV},
	{".json", wire.JSON},
	{".json.gz", wire.JSON},
	{".jsonl", wire.JSON},
	{".jsonl.gz", wire.JSON},
	{".ndjson", wire.JSON},
	{".ndjson.gz", wire.JSON},
	{".parquet", wire.Parquet},
	{".duckdb", wire.DuckDB},
}

// projectFolders are the folders of a project that ktx itself writes. They are left out when
// the root is the project's folder.
var projectFolders = []string{"raw-sources", "semantic-layer", "skills", "wiki"}

// formatOf returns the format of a file and its name without the end that says so.
func formatOf(name string) (stem string, format wire.Format) {
	folded := strings.ToLower(name)
	for _, e := range extensions {
		if strings.HasSuffix(folded, e.end) && len(name) > len(e.end) {
			return name[:len(name)-len(e.end)], e.format
		}
	}
	return "", ""
}

// A file is what was at a path when the folder was read.
type file struct {
	path   string // below the root, with slashes
	size   int64
	change time.Time
}

// folder is what a connection to files reads.
type folder struct {
	root    string
	permits func(path string) bool // nil permits every file
	files   []file
	tables  []wire.Table
	others  []string // files and folders that are left out
}

// same reports whether two readings of a folder found the same files.
func (f *folder) same(other *folder) bool { return slices.Equal(f.files, other.files) }

// What a folder without tables lacks.
var (
	errNoFiles   = errors.New("it has no .csv, .tsv, .json, .jsonl, .ndjson, .parquet or .duckdb file")
	errNoneFiles = errors.New("it has no .csv, .tsv, .json, .jsonl, .ndjson, .parquet or .duckdb file that access.files permits")
)

// readFolder finds the tables of a folder:
//
//   - A file is the table of its name without the ending.
//   - A folder below the root is a schema. The names of folders below it are joined by
//     underscores.
//   - A folder is one table when it has folders named key=value, or only files named
//     part-… or data_…. The keys become columns.
//   - A .duckdb file is a schema with the tables of its schema main.
//
// Names that begin with a dot or an underscore, symbolic links, what ktx itself keeps in a
// project's folder, and files that permits refuses are left out. The engine never learns of
// them.
func readFolder(root string, permits func(path string) bool) (*folder, error) {
	f := &folder{root: root, permits: permits}
	if err := f.read(os.DirFS(root), ".", 0); err != nil {
		return nil, err
	}
	switch {
	case len(f.tables) > 0:
	case permits != nil:
		return nil, errNoneFiles
	default:
		return nil, errNoFiles
	}
	slices.SortFunc(f.tables, func(a, b wire.Table) int {
		return cmp.Or(strings.Compare(a.Schema, b.Schema), strings.Compare(a.Name, b.Name), strings.Compare(a.Files[0], b.Files[0]))
	})
	seen := map[string]string{}
	for _, t := range f.tables {
		name, at := t.Schema+"."+t.Name, strings.TrimPrefix(t.Files[0], root+string(filepath.Separator))
		if t.Format == wire.DuckDB {
			name, at = t.Schema, at+" (its schema)"
		}
		folded := strings.ToLower(name)
		if other, twice := seen[folded]; twice {
			return nil, fmt.Errorf("two files would be the table %s: %s and %s; rename one", name, other, at)
		}
		seen[folded] = at
	}
	return f, nil
}

// read reads one folder.
func (f *folder) read(tree fs.FS, dir string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("more than %d folders are in each other", maxDepth)
	}
	entries, err := fs.ReadDir(tree, dir)
	if err != nil {
		return fmt.Errorf("read the folder: %w", pathless(err))
	}
	if dir != "." && parts(entries) {
		return f.dataset(tree, dir)
	}
	schema := "main"
	if dir != "." {
		schema = strings.ReplaceAll(dir, "/", "_")
	}
	project := dir == "." && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "ktx.yaml" })
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch {
		case hidden(e.Name()), project && slices.Contains(projectFolders, e.Name()):
			f.leaveOut(at, e)
		case e.IsDir():
			if err := f.read(tree, at, depth+1); err != nil {
				return err
			}
		case e.Type().IsRegular():
			stem, format := formatOf(e.Name())
			if format == "" || !f.permitted(at) {
				f.leaveOut(at, e)
				continue
			}
			if err := f.add(at, e); err != nil {
				return err
			}
			t := wire.Table{Schema: schema, Name: stem, Format: format, Files: []string{f.full(at)}}
			if format == wire.DuckDB {
				t.Name = ""
				t.Schema = stem
				if dir != "." {
					t.Schema = schema + "_" + stem
				}
			}
			f.tables = append(f.tables, t)
		default: // a symbolic link, or no file
			f.leaveOut(at, e)
		}
	}
	return nil
}

// leaveOut notes what is in the folder and in no table. A pattern must not stand for it.
func (f *folder) leaveOut(at string, e fs.DirEntry) {
	if !e.Type().IsRegular() {
		at += "/" // a folder, or a link that can lead to one
	}
	f.others = append(f.others, at)
}

// dataset adds a folder that is one table.
func (f *folder) dataset(tree fs.FS, dir string) error {
	parent, name := path.Split(dir)
	t := wire.Table{Schema: "main", Name: name}
	if parent = strings.Trim(parent, "/"); parent != "" {
		t.Schema = strings.ReplaceAll(parent, "/", "_")
	}
	err := fs.WalkDir(tree, dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read the folder: %w", pathless(err))
		}
		if hidden(e.Name()) {
			f.leaveOut(at, e)
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return nil
		}
		_, format := formatOf(e.Name())
		if format == "" || !e.Type().IsRegular() || !f.permitted(at) {
			f.leaveOut(at, e)
			return nil
		}
		if format == wire.DuckDB || t.Format != "" && t.Format != format {
			return fmt.Errorf("the folder %s is one table, and has files of several formats", dir)
		}
		t.Format, t.Files = format, append(t.Files, f.full(at))
		return f.add(at, e)
	})
	if err == nil && len(t.Files) > 0 {
		f.tables = append(f.tables, t)
	}
	return err
}

// parts reports whether a folder is one table.
func parts(entries []fs.DirEntry) bool {
	any := false
	for _, e := range entries {
		name := e.Name()
		if hidden(name) {
			continue
		}
		if e.IsDir() {
			return strings.Contains(name, "=")
		}
		if _, format := formatOf(name); format == "" {
			continue
		}
		if !strings.HasPrefix(name, "part-") && !strings.HasPrefix(name, "data_") {
			return false
		}
		any = true
	}
	return any
}

func (f *folder) permitted(at string) bool { return f.permits == nil || f.permits(at) }

func hidden(name string) bool { return name[0] == '.' && name != "." || name[0] == '_' }

// add notes a file.
func (f *folder) add(at string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return fmt.Errorf("read the folder: %w", pathless(err))
	}
	if strings.ContainsAny(at, "*?[") {
		return fmt.Errorf("the name of the file %q contains *, ? or [, which DuckDB takes for a pattern; rename it", at)
	}
	if f.files = append(f.files, file{at, info.Size(), info.ModTime()}); len(f.files) > maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	return nil
}

func (f *folder) full(at string) string { return filepath.Join(f.root, filepath.FromSlash(at)) }

// pathless returns the error below the name of a file, which the message already has or
// must not have.
func pathless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Listing knows which table of a folder a file belongs to. It reads the folder when it is
// asked.
type Listing struct {
	root    string
	permits func(path string) bool
}

// NewListing returns the listing of a folder whose files permits permits; nil permits all.
func NewListing(root string, permits func(path string) bool) *Listing { return &Listing{root, permits} }

// Tables returns the tables that a path reads: the one that a file is, or is a part of, or
// those of a pattern. There are none unless path is the canonical path below the folder of a
// file that may be read, or a pattern that stands for nothing but such files, and no table
// has that name: DuckDB looks for one first.
func (l *Listing) Tables(path string) []sqlguard.CatalogName {
	if !fs.ValidPath(path) || strings.ContainsAny(path, `?[\:`) {
		return nil
	}
	root, err := filepath.Abs(l.root)
	if err != nil {
		return nil
	}
	f, err := readFolder(root, l.permits)
	if err != nil {
		return nil
	}
	var out []sqlguard.CatalogName
	full := f.full(path)
	var reads []int
	if strings.Contains(path, "*") {
		reads = f.patterns()[path]
	}
	for i, t := range f.tables {
		switch {
		case t.Format == wire.DuckDB: // the names of its tables are not known here
			if strings.EqualFold(t.Schema, "main") {
				return nil
			}
		case strings.EqualFold(t.Name, path), strings.EqualFold(t.Schema+"."+t.Name, path):
			return nil
		case slices.Contains(t.Files, full), slices.Contains(reads, i):
			out = append(out, sqlguard.CatalogName{Schema: t.Schema, Name: t.Name})
		}
	}
	for _, t := range f.tables { // x.csv is also the table csv of the schema x
		if t.Format == wire.DuckDB && len(path) > len(t.Schema) && strings.EqualFold(path[:len(t.Schema)+1], t.Schema+".") {
			return nil
		}
	}
	return out
}

// Refused returns the tables that a folder would have if permits permitted every file, and
// does not have. Rules must deny them, because what was scanned of them before may still be
// there. A name is empty for a database file, whose tables are those of the schema.
func Refused(root string, permits func(path string) bool) ([]sqlguard.CatalogName, error) {
	all := &folder{root: root}
	if err := all.read(os.DirFS(root), ".", 0); err != nil {
		return nil, err
	}
	some := &folder{root: root, permits: permits}
	if err := some.read(os.DirFS(root), ".", 0); err != nil {
		return nil, err
	}
	has := map[sqlguard.CatalogName]bool{}
	for _, t := range some.tables {
		has[sqlguard.CatalogName{Schema: strings.ToLower(t.Schema), Name: strings.ToLower(t.Name)}] = true
	}
	var out []sqlguard.CatalogName
	for _, t := range all.tables {
		if !has[sqlguard.CatalogName{Schema: strings.ToLower(t.Schema), Name: strings.ToLower(t.Name)}] {
			out = append(out, sqlguard.CatalogName{Schema: t.Schema, Name: t.Name})
		}
	}
	return out, nil
}
