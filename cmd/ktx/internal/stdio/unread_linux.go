package stdio

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// unread reports how many bytes of a pipe or a socket its reader has not read. It does not
// know that of other files. A writer that has the method File writes to that file.
func unread(w io.Writer) (n int, known bool) {
	file, _ := w.(*os.File)
	if over, ok := w.(interface{ File() *os.File }); ok {
		file = over.File()
	}
	if file == nil {
		return 0, false
	}
	info, err := file.Stat()
	if err != nil {
		return 0, false
	}
	var request uint
	switch info.Mode().Type() { //nolint:exhaustive // nothing is known of the others
	case os.ModeNamedPipe:
		request = unix.TIOCINQ // at the writing end of a pipe too
	case os.ModeSocket:
		request = unix.TIOCOUTQ
	default:
		return 0, false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return 0, false
	}
	asked := conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), request) })
	return n, asked == nil && err == nil
}
