package filelock

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Windows hinders reading and writing where a file is locked. So the lock is on one byte
// that no file is long enough to have.
const (
	offset     = 0xffff_fffe
	offsetHigh = 0x7fff_ffff
	length     = 1
)

func lock(fd uintptr) error { return lockFile(fd, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func tryLock(fd uintptr) (free bool, err error) {
	err = lockFile(fd, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func lockFile(fd uintptr, flags uint32) error {
	return windows.LockFileEx(windows.Handle(fd), flags, 0, length, 0, &windows.Overlapped{Offset: offset, OffsetHigh: offsetHigh})
}

func unlock(fd uintptr) error {
	return windows.UnlockFileEx(windows.Handle(fd), 0, length, 0, &windows.Overlapped{Offset: offset, OffsetHigh: offsetHigh})
}
