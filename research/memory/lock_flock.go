//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package memory

import (
	"errors"
	"os"
	"syscall"
)

// openLock takes an advisory lock (flock(2)) on a file.
func openLock(root *os.Root, name string) (lock *fileLock, free bool, err error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		closing := f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, closing
		}
		return nil, false, errors.Join(err, closing)
	}
	return &fileLock{root, f}, true, nil
}

func (l *fileLock) close() error { return l.file.Close() }
