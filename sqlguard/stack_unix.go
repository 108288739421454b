//go:build unix

package sqlguard

import "syscall"

// stackBytes returns the soft limit of a thread's stack, which bounds how deep
// a parser in C can recurse. With no limit, glibc gives threads 2 MiB; 0 means
// that the limit cannot be read.
func stackBytes() uint64 {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_STACK, &lim); err != nil {
		return 0
	}
	const unlimitedThread = 2 << 20
	if uint64(lim.Cur) > 1<<40 {
		return unlimitedThread
	}
	return uint64(lim.Cur)
}
