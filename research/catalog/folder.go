package catalog

import (
	"os"
	"time"
)

// A folder is an open folder whose many files are compared at once.
type folder struct {
	root *os.Root
	self *os.File // the folder as a file, for lookAt
}

// openFolder opens a folder in dir. The caller closes it.
func openFolder(dir *os.Root, name string) (*folder, error) {
	root, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return &folder{root: root, self: self}, nil
}

func (f *folder) close() {
	_ = f.self.Close()
	_ = f.root.Close()
}

// same reports whether a table file is still what src was made from. The name is one
// that the folder was listed with.
func (f *folder) same(src *source, name string, now time.Time) bool {
	s, p := f.lookAt(name, maxTableBytes, now)
	return src.unchanged(s, p, f.root, name, maxTableBytes, now)
}
