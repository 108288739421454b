package audit

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// moves tells whether an open file still has the name under which it was found. The kernel
// notes a rename, and a name that is added or removed, in an inotify queue before the call
// that does it returns. To ask an empty queue and the open file takes a third of the time
// of looking the name up.
type moves struct {
	queue int
	buf   [unix.SizeofInotifyEvent + unix.NAME_MAX + 1]byte
}

// watchMoves returns nil when the system does not tell of renames.
func watchMoves(f *os.File) *moves {
	queue, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	m := &moves{queue: queue}
	if _, err := unix.InotifyAddWatch(queue, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.IN_MOVE_SELF|unix.IN_ATTRIB); err != nil {
		m.close()
		return nil
	}
	return m
}

// none reports whether the file of info was neither renamed nor deleted. It returns false
// when that is not known, and for nil.
func (m *moves) none(info os.FileInfo) bool {
	if m == nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Nlink == 0 {
		return false
	}
	_, err := unix.Read(m.queue, m.buf[:])
	return errors.Is(err, unix.EAGAIN)
}

func (m *moves) close() {
	if m != nil {
		_ = unix.Close(m.queue) // nothing was written to it
	}
}
