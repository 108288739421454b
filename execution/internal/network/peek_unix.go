//go:build unix

package network

import (
	"errors"
	"net"
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
