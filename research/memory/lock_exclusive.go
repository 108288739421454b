//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package memory

import (
	"errors"
	"io/fs"
	"os"
)

// openLock creates a file that exists while a process ingests. A process that was
// killed leaves the file, and then it has to be removed by hand.
func openLock(root *os.Root, name string) (lock *fileLock, free bool, err error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return &fileLock{root, f}, true, nil
}

func (l *fileLock) close() error { return errors.Join(l.file.Close(), l.root.Remove(lockFile)) }
