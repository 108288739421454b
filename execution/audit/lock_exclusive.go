//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// dirLock is the file lock of the directory, which exists while one process has
// the log open. A second process gets an error at once. A process that crashed
// leaves the file, and the error says which file to remove.
type dirLock struct {
	root *os.Root
	file *os.File
}

// openLock creates the lock file of root, which must not exist.
func openLock(root *os.Root) (*dirLock, error) {
	f, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another process has the log open; if none has, remove %s: %w",
			filepath.Join(root.Name(), lockName), ErrLocked)
	}
	if err != nil {
		return nil, err
	}
	return &dirLock{root: root, file: f}, nil
}

func (l *dirLock) try() error { return nil }

func (l *dirLock) release() error { return nil }

func (l *dirLock) close() error {
	return errors.Join(l.file.Close(), ignoreMissing(l.root.Remove(lockName)))
}

// lockFile returns an error: without locks nothing shows whether a process still runs.
func lockFile(*os.File) error { return ErrLocked }

// syncDir does nothing, because not every system can flush a directory.
func syncDir(*os.Root) error { return nil }

// noSpace returns false, because the errors differ between systems.
func noSpace(error) bool { return false }
