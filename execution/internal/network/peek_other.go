//go:build !unix

package network

import (
	"net"
	"os"
)

// Peek cannot check an idle connection on this system. A lost connection causes
// an error at its next use.
func Peek(net.Conn) (alive, waiting bool) { return true, false }

// ReadNow reads nothing on this system: a caller has to wait as if nothing had arrived.
func ReadNow(net.Conn, []byte) (int, error) { return 0, os.ErrDeadlineExceeded }
