//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package audit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// dirLock is an advisory lock (flock(2)) on the file lock of the directory. The
// system releases it when the process ends for any reason.
type dirLock struct {
	file *os.File
	conn syscall.RawConn
}

// openLock opens the lock file of root without taking the lock.
func openLock(root *os.Root) (*dirLock, error) {
	f, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &dirLock{file: f, conn: conn}, nil
}

// try takes the lock, or returns ErrLocked at once.
func (l *dirLock) try() error {
	err := l.flock(syscall.LOCK_EX | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// release releases the lock.
func (l *dirLock) release() error { return l.flock(syscall.LOCK_UN) }

func (l *dirLock) close() error { return l.file.Close() }

func (l *dirLock) flock(how int) error {
	var err error
	ctlErr := l.conn.Control(func(fd uintptr) {
		for {
			if err = syscall.Flock(int(fd), how); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	})
	if ctlErr != nil {
		return ctlErr
	}
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("lock the log: %w", err)
	}
	return err
}

// lockFile takes the lock of a file, or returns an error at once.
func lockFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return (&dirLock{file: f, conn: conn}).try()
}

// syncDir flushes the names of a directory.
func syncDir(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// noSpace reports whether err says that there is no space for now.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
