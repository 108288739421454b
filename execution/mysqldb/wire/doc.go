// Package wire is a connection to a MySQL or MariaDB server that is
// authenticated already: texts go out, answers come in, nothing is
// interpreted on the way.
//
//	c := wire.New(netConn, extended)
//	err := c.SendQueries("SELECT 1")
//	answer, err := c.Answer()
//	for more := len(answer.Columns) > 0; more; {
//		more, err = c.Row(&row)
//	}
//
// It exists beside the driver because the driver turns the server's numbers
// into numbers of its own, holds each row in memory before anybody can say that
// it is too long, and hides the status that the server sends with each answer:
// whether a transaction is open, and whether it is read-only.
//
// The format is that of the text protocol without CLIENT_DEPRECATE_EOF
// (MySQL internals, "Client/Server Protocol", section "Text Resultset"). What
// is not of it is an [ErrFormat], after which the connection is of no use. A
// request for a local file is one of these: no file is ever sent.
//
// The package never connects, never makes a text, and never holds more of a
// row than its limits.
package wire
