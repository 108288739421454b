package duckdbdb

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
)

// patterns are those by which statements may name several files, with the places in f.tables
// of the tables that each reads: all files with an ending in a folder (raw/*.csv), in its
// folders (raw/*/*.csv), and everywhere below it (raw/**/*.csv). A pattern that also stands
// for something that is in no table is none.
//
// The engine is told of these patterns as of the files, each by its whole text. It opens no
// file that it was not told of, whichever pattern finds it.
func (f *folder) patterns() map[string][]int {
	out, others := map[string][]int{}, slices.Clone(f.others)
	for i, t := range f.tables {
		if t.Format == wire.DuckDB {
			others = append(others, f.below(t.Files[0]))
			continue
		}
		for _, file := range t.Files {
			for _, p := range patternsOf(f.below(file)) {
				if tables := out[p]; len(tables) == 0 || tables[len(tables)-1] != i {
					out[p] = append(tables, i)
				}
			}
		}
	}
	for _, other := range others {
		dir, folder := strings.CutSuffix(other, "/")
		for _, p := range patternsOf(dir) {
			delete(out, p)
		}
		if folder {
			maps.DeleteFunc(out, func(p string, _ []int) bool { return entersFolder(p, dir) })
		}
	}
	return out
}

// entersFolder reports whether a pattern stands for files in a folder, or behind a link.
func entersFolder(pattern, dir string) bool {
	from, rest, _ := strings.Cut(pattern, "*")
	from = path.Join(".", from)
	parent := path.Dir(dir)
	switch {
	case strings.HasPrefix(rest, "*"): // two stars
		return from == "." || from == parent || strings.HasPrefix(parent, from+"/")
	case strings.HasPrefix(rest, "/"):
		return from == parent
	default:
		return false
	}
}

// below returns the path of a file below the root, with slashes.
func (f *folder) below(file string) string {
	return filepath.ToSlash(strings.TrimPrefix(file, f.root+string(filepath.Separator)))
}

// patternsOf returns the patterns that stand for a file. The case of an ending does not
// count, so that there are not fewer than the engine has.
func patternsOf(file string) []string {
	dir, name := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	stem, format := formatOf(name)
	if format == "" {
		return nil
	}
	star := "*" + strings.ToLower(name[len(stem):])
	out := []string{path.Join(dir, star)}
	if dir != "" {
		out = append(out, path.Join(path.Dir(dir), "*", star))
	}
	for {
		out = append(out, path.Join(dir, "**", star))
		if dir == "" || dir == "." {
			return out
		}
		dir = path.Dir(dir)
	}
}

// readable returns the patterns as the engine is told of them.
func (f *folder) readable() []string {
	var out []string
	for p := range f.patterns() {
		out = append(out, f.full(p))
	}
	slices.Sort(out)
	return out
}
