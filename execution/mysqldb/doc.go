// Package mysqldb runs approved statements on MySQL and MariaDB, read-only.
//
// [Open] checks a configuration and returns a [DB], an [execution.Backend].
// It connects when the first statement needs it:
//
//	db, err := mysqldb.Open(ctx, mysqldb.Config{URL: execution.NewSecret(url), Session: dialect.Session()}, guard.ID())
//	res, err := db.Query(ctx, approved, execution.Limits{Rows: 1000})
//
// # The driver and the wire
//
// The driver connects and logs in. From then on this package speaks the text
// protocol itself (package wire): the driver turns numbers into its own, holds
// each row in memory before anybody can say that it is too long, and hides the
// status that the server sends with each answer. Several statements in a text,
// several results of one, local files and compression are taken out of what the
// server offers before the driver sees it, so that they are never agreed on.
//
// # One statement
//
// A statement takes two round trips:
//
//	SET pins · START TRANSACTION READ ONLY · SELECT the pins
//	the approved text
//	ROLLBACK · reset of the session
//
// The pins are what the dialect takes for granted (sql_mode, character sets),
// time_zone, and the limits of the statement: sql_select_limit, which is one row
// more than is returned, max_statement_time or max_execution_time,
// lock_wait_timeout and innodb_lock_wait_timeout. They are read back with the
// database, the account, its role and the connection's number, and the server
// must say that the transaction is open and read-only. Only then is the text
// sent, as it is, in a packet of its own.
//
// The session, too, is made read-only by default (tx_read_only,
// transaction_read_only). DDL and DCL commit the transaction that they stand in
// and run outside of it, where that default is what the server goes by: it
// refuses them.
//
// The end of the rows must say that the same transaction is still open. Behind
// it go ROLLBACK and COM_RESET_CONNECTION, which takes back user variables,
// temporary tables, locks of every kind, prepared statements and settings; the
// answers are verified before the connection is used again.
//
// # When a connection is closed instead
//
// A connection is used again only when the statement returned rows and left its
// transaction open, or failed. A statement that answers without rows was no
// read: its connection is closed, and so is one whose answer is not of the
// protocol. After a KILL QUERY a connection is used again only when the server
// said that the statement was interrupted, and every KILL was answered before.
//
// A KILL takes a connection of its own for a moment, or an idle one of the pool:
// limits of the account's connections should leave room for one more.
//
// # Limits
//
// The server ends the rows by sql_select_limit unless the text has a LIMIT of
// its own; the reader stops after one row too many in any case, and kills the
// statement when more comes. Cells are bounded while their bytes arrive.
//
// # Transport security
//
// The server's certificate and host name are verified (ssl-mode
// VERIFY_IDENTITY) unless the host is a loopback address or a Unix socket, where
// plain text is accepted, or [Config.InsecureTLS] permits less. Parameters of
// the URL that would change how statements are sent, or the session behind this
// package's back, are refused by name.
//
// The package never judges SQL, never rewrites it, never commits, never sends a
// file, and never prints its URL.
package mysqldb
