//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"syscall"
)

func lock(fd uintptr) error { return flock(fd, syscall.LOCK_EX) }

func tryLock(fd uintptr) (free bool, err error) {
	err = flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func unlock(fd uintptr) error { return flock(fd, syscall.LOCK_UN) }

func flock(fd uintptr, how int) error {
	for {
		if err := syscall.Flock(int(fd), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
