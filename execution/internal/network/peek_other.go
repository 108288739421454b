//go:build !unix

package network

import "net"

// Peek cannot check an idle connection on this system. A lost connection causes
// an error at its next use.
func Peek(net.Conn) (alive, waiting bool) { return true, false }
