//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package upstream

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for an advisory lock (flock(2)) on a file, which ends with the process.
func lock(root *os.Root, name string) (unlock func(), err error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
