//go:build linux || darwin

package cli

import "syscall"

// freeSpace returns how many bytes a user may still write where path lies.
var freeSpace = func(path string) (bytes uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil || s.Bsize <= 0 {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
