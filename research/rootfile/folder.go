package rootfile

import (
	"io/fs"
	"os"
	"strings"
	"time"
)

// A Folder is an open folder of a project, for looking at many of its files. It is safe
// for concurrent use.
type Folder struct {
	root *os.Root
	self *os.File // the folder as a file
}

// An Info describes a file, as [fs.FileInfo] does.
type Info struct {
	Mode     fs.FileMode // the type only
	Size     int64
	Modified time.Time
}

// OpenFolder opens a folder below root. The caller closes it.
func OpenFolder(root *os.Root, name string) (*Folder, error) {
	folder, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	self, err := folder.Open(".")
	if err != nil {
		_ = folder.Close()
		return nil, err
	}
	return &Folder{root: folder, self: self}, nil
}

// Root is the folder. It is open as long as f is.
func (f *Folder) Root() *os.Root { return f.root }

// Close closes the folder.
func (f *Folder) Close() error {
	_ = f.self.Close() // nothing was written
	return f.root.Close()
}

// Lstat describes a file of the folder, as [os.Root.Lstat] does: it follows no link, and
// asks the system at each call.
func (f *Folder) Lstat(name string) (Info, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return f.walk(name)
	}
	return f.lstat(name)
}

// LstatIn describes a file of a folder below f, as Lstat does, but it follows dir if that is
// a link, even one that leaves f. So its answer is good for one thing only: to see whether
// a file has changed that was read through [Folder.Root].
func (f *Folder) LstatIn(dir, name string) (Info, error) {
	for _, part := range []string{dir, name} {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, `/\`) {
			return f.walk(dir + "/" + name)
		}
	}
	return f.lstat(dir + "/" + name)
}

// walk is Lstat for any name below the folder.
func (f *Folder) walk(name string) (Info, error) {
	return describe(f.root.Lstat(name))
}

// Stat describes a file below root. It follows links that stay below root.
func Stat(root *os.Root, name string) (Info, error) { return describe(root.Stat(name)) }

func describe(info fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return Info{Mode: info.Mode().Type(), Size: info.Size(), Modified: info.ModTime()}, nil
}
