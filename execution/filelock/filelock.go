// Package filelock locks open files between processes: by flock(2) on Unix, and by
// LockFileEx on Windows. A lock is advisory: it hinders only those who ask for it, and
// neither reading nor writing. The system releases it when the file is closed, also when
// the process is killed. Two files that one process opened by the same name exclude each
// other too.
package filelock

import (
	"errors"
	"os"
)

// Lock waits until the lock of f is free, and takes it.
func Lock(f *os.File) error {
	_, err := control(f, func(fd uintptr) (bool, error) { return true, lock(fd) })
	return err
}

// TryLock takes the lock of f, or reports at once that it is not free.
func TryLock(f *os.File) (free bool, err error) { return control(f, tryLock) }

// Unlock releases the lock of f.
func Unlock(f *os.File) error {
	_, err := control(f, func(fd uintptr) (bool, error) { return true, unlock(fd) })
	return err
}

// control calls do with the descriptor of f, which stays open meanwhile.
func control(f *os.File, do func(fd uintptr) (bool, error)) (free bool, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	closed := conn.Control(func(fd uintptr) { free, err = do(fd) })
	if err = errors.Join(closed, err); err != nil {
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return free, nil
}
