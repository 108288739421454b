//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package scan

import (
	"errors"
	"os"
	"syscall"
)

// lock takes an advisory lock (flock(2)) on a file, or returns errRunning. The system
// releases it when the file is closed, also when the process is killed.
func lock(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locking error
	err = conn.Control(func(fd uintptr) {
		for {
			if locking = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(locking, syscall.EINTR) {
				return
			}
		}
	})
	if errors.Is(locking, syscall.EWOULDBLOCK) {
		return errRunning
	}
	return errors.Join(err, locking)
}
