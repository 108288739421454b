//go:build unix

package network

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Peek reports whether the peer of an idle connection is still there, and
// whether there are unread bytes from it. It never waits.
func Peek(nc net.Conn) (alive, waiting bool) {
	if under, ok := nc.(interface{ NetConn() net.Conn }); ok { // TLS
		nc = under.NetConn()
	}
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return true, false
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return false, false
	}
	err = rc.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case n > 0:
			alive, waiting = true, true
		case errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR):
			alive = true
		}
		return true
	})
	return alive && err == nil, waiting
}

// ReadNow reads from a connection what has arrived. It fails like a read whose deadline has
// passed when nothing has, and for a connection that is encrypted, of which only the
// encrypted bytes can be seen.
func ReadNow(nc net.Conn, b []byte) (n int, err error) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return 0, os.ErrDeadlineExceeded
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = rc.Read(func(fd uintptr) bool {
		n, failed = syscall.Read(int(fd), b)
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(failed, syscall.EAGAIN), errors.Is(failed, syscall.EINTR):
		return 0, os.ErrDeadlineExceeded
	case failed != nil:
		return 0, os.NewSyscallError("read", failed)
	case n == 0:
		return 0, io.EOF
	default:
		return n, nil
	}
}
