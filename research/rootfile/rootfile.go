// Package rootfile writes files below the folder of a project whole or not at all.
package rootfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// Temporary begins the names of files that are not renamed yet.
const Temporary = ".ktx-"

// errIrregular says that a name does not lead to a file with contents.
var errIrregular = errors.New("it is not a regular file")

// Open opens a regular file for reading, and says its size and time. To open a pipe would
// wait for somebody who writes into it; Open refuses it at once, as it refuses a folder.
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Replace writes a file, in place of the one of this name if there is one. The content
// is on the disk before the file has its name. The folder must exist.
func Replace(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(root, name, mode, write, root.Rename)
}

// Change is [Replace] for a file that the caller has read. Just before the file gets its
// new content, still is asked whether it has what was read; an error keeps it as it is.
func Change(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error, still func() error) error {
	return put(root, name, mode, write, func(from, to string) error {
		if err := still(); err != nil {
			return err
		}
		return root.Rename(from, to)
	})
}

// Create is [Replace] for a file that must not exist yet. If it does, the error wraps
// [fs.ErrExist].
func Create(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(root, name, mode, write, func(from, to string) error {
		return create(from, to, root.Link, root.Rename, root.Remove, root.Lstat)
	})
}

// create gives a file its name, unless there is one of that name.
func create(from, to string, link, rename func(from, to string) error, remove func(string) error, stat func(string) (fs.FileInfo, error)) error {
	err := link(from, to) // unlike a rename it never replaces
	switch {
	case err == nil:
		return remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// The file system has no hard links. A file that another process makes between the
	// check and the rename is lost.
	if _, err := stat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	return rename(from, to)
}

// Sweep removes what processes left in a folder that were killed before they could rename
// a file, if it is older than a time. It reads at most so many names.
func Sweep(root *os.Root, folder string, older time.Time, most int) {
	dir, err := root.Open(folder)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(most)
	_ = dir.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, Temporary) {
			continue
		}
		name = path.Join(folder, name)
		if info, err := root.Lstat(name); err == nil && info.ModTime().Before(older) {
			_ = root.Remove(name)
		}
	}
}

// Bytes returns a function for [Replace] and [Create] that writes these bytes.
func Bytes(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

func put(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error, finish func(from, to string) error) error {
	other := path.Join(path.Dir(name), Temporary+rand.Text())
	err := synced(root, other, mode, write)
	if err == nil {
		err = finish(other, name)
	}
	if err != nil {
		if gone := root.Remove(other); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("write %s: %w", name, err)
	}
	return flush(root, path.Dir(name))
}

func synced(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return err
	}
	return f.Sync()
}

// flush writes the names of a folder to the disk. A system that cannot do so for a
// folder is not an error: the file itself is there.
func flush(root *os.Root, folder string) error {
	d, err := root.Open(folder)
	if err != nil {
		return nil //nolint:nilerr // the file is written
	}
	_ = d.Sync()
	return d.Close()
}
