package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file whole or not at all: it writes a temporary file beside it,
// flushes that, and renames it. It follows a link. It writes directly to what is not
// a regular file, such as a pipe.
func Write(name string, mode os.FileMode, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0) //nolint:gosec // the user names the file
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		return nil
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	return writeBeside(name, mode, write, os.Rename)
}

// ErrChanged says that a file has changed since its caller read it.
var ErrChanged = errors.New("it was changed meanwhile")

// Replace replaces the content of an existing file if that is still before.
// Otherwise the error is [ErrChanged]. It follows a link, and the file keeps its
// mode.
func Replace(name string, before, after []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	write := func(w io.Writer) error {
		_, err := w.Write(after)
		return err
	}
	return writeBeside(name, info.Mode().Perm(), write, func(from, to string) error {
		now, err := os.ReadFile(to) //nolint:gosec // the caller names the file
		if err != nil {
			return err
		}
		if !bytes.Equal(now, before) {
			return ErrChanged
		}
		return os.Rename(from, to)
	})
}

// WriteNew is [Write] for a file that must not exist yet. The error is fs.ErrExist
// when it does.
func WriteNew(name string, mode os.FileMode, content []byte) error {
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	return writeBeside(name, mode, write, func(from, to string) error {
		err := os.Link(from, to) // unlike a rename it never replaces
		if err != nil && !errors.Is(err, fs.ErrExist) {
			// The file system has no hard links. A file that another process
			// makes between the check and the rename is lost.
			if _, exists := os.Lstat(to); exists == nil {
				return fs.ErrExist
			}
			return os.Rename(from, to)
		}
		return errors.Join(err, os.Remove(from))
	})
}

func writeBeside(name string, mode os.FileMode, write func(io.Writer) error, place func(from, to string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".ktx-*")
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("make a file in %s: %w", filepath.Dir(name), p.Err) // not the name of the temporary one
		}
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", name, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return place(f.Name(), name)
}
