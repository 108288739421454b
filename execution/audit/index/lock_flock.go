//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package index

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for an advisory lock (flock(2)) on a file. The system releases it when the
// file is closed, also when the process is killed.
func lock(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locking error
	err = conn.Control(func(fd uintptr) {
		for {
			if locking = syscall.Flock(int(fd), syscall.LOCK_EX); !errors.Is(locking, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, locking)
}
