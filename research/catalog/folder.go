package catalog

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/research/rootfile"
)

// A folder is an open folder whose many files are compared at once.
type folder struct{ *rootfile.Folder }

// openFolder opens a folder in dir. The caller closes it.
func openFolder(dir *os.Root, name string) (*folder, error) {
	f, err := rootfile.OpenFolder(dir, name)
	if err != nil {
		return nil, err
	}
	return &folder{f}, nil
}

func (f *folder) close() { _ = f.Close() }

// same reports whether a table file is still what src was made from. The name is one
// that the folder was listed with.
func (f *folder) same(src *source, name string, now time.Time) bool {
	s, p := f.lookAt(name, maxTableBytes, now)
	return src.unchanged(s, p, f.Root(), name, maxTableBytes, now)
}

// lookAt is look for a file of the folder.
func (f *folder) lookAt(name string, limit int64, now time.Time) (seen, problem) {
	info, err := f.Lstat(name)
	switch {
	case err == nil:
		return judge(info.Mode.IsRegular(), info.Size, info.Modified.UnixNano(), limit, now)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return seen{}, absent
	}
	return seen{}, unreadable
}
