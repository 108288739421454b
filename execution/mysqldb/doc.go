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
// protocol itself (package wire), for three reasons. The driver converts
// numbers. It holds a whole row in memory before its length can be checked. And
// it hides the status that the server sends with each answer. This package
// removes some capabilities from the server's offer before the driver sees it,
// so that they are never agreed on: several statements in one query, several
// results of one statement, local files, and compression.
//
// # One statement
//
// A statement takes two round trips:
//
//	SET pins · START TRANSACTION READ ONLY · SELECT the pins
//	the approved statement
//	ROLLBACK · reset of the session
//
// The pins are the settings that the dialect assumes (sql_mode, character sets),
// time_zone, and the limits of the statement: sql_select_limit, which is one row
// more than is returned, max_statement_time or max_execution_time,
// lock_wait_timeout and innodb_lock_wait_timeout. They are read back with the
// database, the account, its role and the connection's number, and the server
// must say that the transaction is open and read-only. Only then is the
// statement sent, unchanged, in a packet of its own.
//
// Transactions of the session are read-only by default as well (tx_read_only,
// transaction_read_only). The reason is that DDL and DCL commit the current
// transaction and run outside of it. That default then makes the server refuse
// them.
//
// The end of the rows must say that the same transaction is still open. After
// it, ROLLBACK and COM_RESET_CONNECTION are sent, which undo user variables,
// temporary tables, locks of every kind, prepared statements and settings. The
// answers are verified before the connection is used again.
//
// # When a connection is closed instead
//
// A connection is used again only when the statement returned rows and left its
// transaction open, or failed. A statement that answers without rows did not
// read: its connection is closed. So is a connection whose answer does not fit
// the protocol. After a KILL QUERY a connection is used again only when the
// server said that the statement was interrupted, and every KILL was answered
// before.
//
// A KILL needs a connection of its own for a moment, or an idle one of the pool.
// A limit on the account's connections should leave room for one more.
//
// # Limits
//
// The server ends the rows by sql_select_limit unless the statement has a LIMIT
// of its own. The reader stops after one row too many in any case, and kills the
// statement when the server sends more. Cells are bounded while their bytes
// arrive.
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
