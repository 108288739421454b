package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile is the most bytes of a file that is edited.
const maxFile = 64 << 20

// file is a file before and after the plan.
type file struct {
	path   string // as the client spells it
	linked bool   // path is a link
	mode   fs.FileMode
	before []byte
	after  []byte
	was    bool // it exists
	will   bool // it will exist
}

// openFile reads a file. A missing file is not an error.
func openFile(path string) (file, error) {
	f := file{path: path}
	link, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.linked = link.Mode()&fs.ModeSymlink != 0
	info, err := os.Stat(path)
	switch {
	case f.linked && errors.Is(err, fs.ErrNotExist):
		return f, fmt.Errorf("%s is a link whose target does not exist", path)
	case err != nil:
		return f, err
	case !info.Mode().IsRegular():
		return f, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxFile:
		return f, fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	text, err := os.ReadFile(path) //nolint:gosec // a place of the table
	if err != nil {
		return f, err
	}
	f.mode, f.before, f.after, f.was, f.will = info.Mode().Perm(), text, text, true, true
	return f, nil
}

// writable returns an error if the file may not be changed.
func (f file) writable() error {
	if f.was && f.mode&0o200 == 0 {
		return fmt.Errorf("%s is read-only", f.path)
	}
	return nil
}

// missingDirs returns the folders of path that do not exist, the outermost
// first.
func missingDirs(path string) []string {
	var out []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return out
		}
		out = append([]string{dir}, out...)
	}
}
