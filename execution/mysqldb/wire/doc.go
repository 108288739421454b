// Package wire sends statements over an authenticated connection to a MySQL or
// MariaDB server, and reads the answers. It interprets neither.
//
//	c := wire.New(netConn, extended)
//	err := c.SendQueries("SELECT 1")
//	answer, err := c.Answer()
//	for more := len(answer.Columns) > 0; more; {
//		more, err = c.Row(&row)
//	}
//
// It exists beside the driver for three reasons. The driver converts the
// server's numbers. It holds a whole row in memory before its length can be
// checked. And it hides the status that the server sends with each answer:
// whether a transaction is open, and whether it is read-only.
//
// The format is that of the text protocol without CLIENT_DEPRECATE_EOF
// (MySQL internals, "Client/Server Protocol", section "Text Resultset"). A
// packet that does not fit is an [ErrFormat], after which the connection cannot
// be used. A request for a local file is such a packet: no file is ever sent.
//
// The package never connects, never makes a statement of its own, and never
// holds more of a row than its limits allow.
package wire
