//go:build !unix

package pgdb

import "net"

// peek knows nothing of an idle connection here: a lost one shows at its next
// use.
func peek(net.Conn) (alive, waiting bool) { return true, false }
