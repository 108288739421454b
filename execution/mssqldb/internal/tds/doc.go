// Package tds is the protocol of the SQL Server backend: it sends batches and
// reads their answers, as MS-TDS 7.4 defines them.
//
// [Dial] connects. This package does prelogin and TLS itself, the driver
// (github.com/microsoft/go-mssqldb) sends LOGIN7, and after the login this
// package reads and writes the connection:
//
//	c, err := tds.Dial(ctx, tds.Options{Host: "db", Port: 1433, User: "reader", Database: "shop"})
//	r, err := c.SendBatch("SELECT 1", false)
//	for {
//		token, err := r.Next()
//		// TokenColumns, TokenRow, TokenDone, …, until TokenEnd
//	}
//
// The driver is not used for statements, for four reasons. It reads a whole
// value into memory, however long the value is. It replaces invalid parts of a
// string (half a surrogate pair, a byte that the code page does not have) by
// U+FFFD. It does not tell the type inside of a sql_variant. And when a
// statement looks like one name, it calls the procedure of that name.
//
// A statement goes out as a SQLBatch message and in no other way: the bytes
// between the message's headers and its end are the statement in UTF-16. The
// package checks every length that a server states before it uses the length,
// and never holds more of a value than the caller's limit. Anything that does
// not fit the protocol is [ErrMalformed], after which the connection cannot be
// read any further.
//
// An attention is sent only while a request is unanswered. The answer is over
// only when the attention is acknowledged, so that it cannot end a later
// request.
//
// The package never makes a statement of its own, never sends RPC, bulk load or
// transaction manager requests, and never shows a password.
package tds
