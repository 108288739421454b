//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import "errors"

func lock(uintptr) error { return errors.ErrUnsupported }

func tryLock(uintptr) (free bool, err error) { return false, errors.ErrUnsupported }

func unlock(uintptr) error { return errors.ErrUnsupported }
