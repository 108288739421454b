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
)

// Temporary begins the names of files that are not renamed yet.
const Temporary = ".ktx-"

// Replace writes a file, in place of the one of this name if there is one. The content
// is on the disk before the file has its name. The folder must exist.
func Replace(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(root, name, mode, write, root.Rename)
}

// Create is [Replace] for a file that must not exist yet. If it does, the error wraps
// [fs.ErrExist].
func Create(root *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(root, name, mode, write, func(from, to string) error {
		if err := root.Link(from, to); err != nil { // unlike a rename it never replaces
			return err
		}
		return root.Remove(from)
	})
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
