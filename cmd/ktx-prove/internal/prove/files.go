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

// namedPath finds the places outside of a server's own folder that a statement
// names.
var namedPath = regexp.MustCompile(`['"](/(?:tmp|var/tmp)/[A-Za-z0-9._-]+)['"]`)

// namedPaths returns the places that a statement may write to, sorted.
func namedPaths(sql string) []string {
	var paths []string
	for _, m := range namedPath.FindAllStringSubmatch(sql, -1) {
		paths = append(paths, m[1])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// occupied returns the first path at which something lies, or "".
func occupied(paths []string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return ""
}

// takeFiles returns which of the paths have come to be, and removes them.
// Nothing lay there before the statement ran.
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

// listFiles adds the names of the files below dir to s. A file or folder for
// which skip holds is left out with all that is in it; skip is given the path
// below dir.
func listFiles(s State, dir string, skip func(path string) bool) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since its folder was read
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
