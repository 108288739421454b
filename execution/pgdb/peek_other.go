//go:build !unix

package pgdb

import "net"

// peek cannot check an idle connection on this system. A lost connection causes
// an error at its next use.
func peek(net.Conn) (alive, waiting bool) { return true, false }
