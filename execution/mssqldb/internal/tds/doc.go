// Package tds is the wire of the SQL Server backend: it sends batches of text
// and reads their answers, as MS-TDS 7.4 has it.
//
// [Dial] connects. Prelogin and TLS are this package's, LOGIN7 is the
// driver's (github.com/microsoft/go-mssqldb), behind which the connection is
// read and written here:
//
//	c, err := tds.Dial(ctx, tds.Options{Host: "db", Port: 1433, User: "reader", Database: "shop"})
//	r, err := c.SendBatch("SELECT 1", false)
//	for {
//		token, err := r.Next()
//		// TokenColumns, TokenRow, TokenDone, …, until TokenEnd
//	}
//
// The driver is not used for statements, for four reasons. It reads a value
// into memory whole, however long it is. It replaces what is not valid in a
// text (half a surrogate pair, a byte that the code page does not have) by
// U+FFFD. It does not tell the type inside of a sql_variant. And it sends a text
// that looks like one name as a call of a procedure of that name.
//
// A text goes out as a SQLBatch message and in no other way: the bytes between
// the message's headers and its end are the text in UTF-16. Every length that a
// server states is checked before it is used, no value is held beyond the
// caller's limit, and what does not fit the protocol is [ErrMalformed]; a
// connection that had one cannot be read on.
//
// An attention is sent only while a request is unanswered, and the answer is
// over only when the attention is acknowledged, so that it cannot end a later
// request.
//
// The package never chooses a text, never sends RPC, bulk load or transaction
// manager requests, and never shows a password.
package tds
