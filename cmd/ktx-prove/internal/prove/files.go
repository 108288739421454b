package prove

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// namedPath finds paths outside of the server's own folder in a statement.
var namedPath = regexp.MustCompile(`['" ](/(?:tmp|var/tmp)/[A-Za-z0-9._-]+)(?:['"]|$)`)

// namedPaths returns the paths to which a statement may write, sorted.
func namedPaths(sql string) []string {
	var paths []string
	for _, m := range namedPath.FindAllStringSubmatch(sql, -1) {
		paths = append(paths, m[1])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// occupied returns the first path that exists, or "".
func occupied(paths []string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return ""
}

// there returns those of the paths that exist, named as takeFiles names them.
func there(paths []string) (names []string) {
	for _, path := range paths {
		if occupied([]string{path}) != "" {
			names = append(names, "file "+path)
		}
	}
	return names
}

// takeFiles returns which of the paths now exist, and removes them. None
// existed before the case was prepared.
func takeFiles(paths []string) (written []string, err error) {
	for _, path := range paths {
		if occupied([]string{path}) == "" {
			continue
		}
		written = append(written, "file "+path)
		err = errors.Join(err, os.RemoveAll(path))
	}
	return written, err
}

// listFiles adds the names of the files below dir to s. It leaves out a file or
// folder for which skip returns true. skip gets the path relative to dir.
func listFiles(s State, dir string, skip func(path string) bool) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed after its folder was read
		}
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if below != "." && skip(below) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() {
			s["file "+filepath.ToSlash(below)] = "there"
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list the files of the server: %w", err)
	}
	return nil
}
