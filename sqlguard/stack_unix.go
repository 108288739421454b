//go:build unix

package sqlguard

import "syscall"

// stackBytes returns the soft limit of a thread's stack in bytes, which bounds how deep
// a parser in C can recurse. Without a limit it returns 2 MiB, because glibc gives
// that to threads. It returns 0 when it cannot read the limit.
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
