// Package pgdb runs approved statements on PostgreSQL, read-only.
//
// [Open] checks a configuration and returns a [DB], an [execution.Backend].
// It connects when the first statement needs it:
//
//	db, err := pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(url), Session: dialect.Session()}, guard.ID())
//	res, err := db.Query(ctx, approved, execution.Limits{Rows: 1000})
//
// # One statement
//
// A statement is sent in one flush of the extended protocol, which runs exactly
// one statement no matter how it is written:
//
//	BEGIN READ ONLY · pins · the approved statement · Sync
//	ROLLBACK · reset · Sync
//
// The pins are one SELECT. It sets the session's settings for this transaction,
// reads them back and raises an error when one differs, when the transaction is
// not read-only, or when the server's own schema is not searched first. It also
// takes the snapshot, and after that the server refuses SET TRANSACTION READ
// WRITE. When BEGIN or a pin fails, the server skips the approved statement.
//
// The answer is complete at the first Sync. The server runs the second part
// after that, and the package verifies it before it uses the connection again.
//
// A connection sends its settings in the first message too, when no pooler is in
// front of the server. When all of them are in force, and the statement has the usual
// time limits, the session is sealed, which costs the server and the package less:
//
//	BEGIN READ ONLY · comparison · the approved statement · comparison · ROLLBACK · Sync
//
// A comparison has the settings, the role, the read-only transaction and the first
// schema as one text, against the text that the session had at its login. When the
// first one fails, the server skips the statement, and the connection sends it again
// with the pins, which it uses from then on. The second one shows that the statement
// has changed none of these and has not left its transaction; when it fails, nobody
// gets the result. It also calls pg_advisory_unlock_all(). All else that a statement
// can leave, the rollback undoes (manual, SET, LISTEN, DECLARE), so the reset is sent
// only after an error, for which the server skips what follows.
//
// The reset is SET SESSION AUTHORIZATION DEFAULT, RESET ALL, CLOSE ALL,
// UNLISTEN * and pg_advisory_unlock_all(). This is DISCARD ALL without
// DEALLOCATE ALL and DISCARD PLANS, which would drop the prepared pins. DISCARD
// TEMP and SEQUENCES are not needed, because a rolled back read-only
// transaction leaves no temporary table and no sequence value. The reset costs
// the server about 10 µs after the answer. Pins that are parsed each time cost
// it about 80 µs before the answer.
//
// The package's own statements are prepared once per connection. When a pooler
// is in front of the server, they are sent unnamed, and the second part is sent
// only when the first has ended inside its transaction. A connection is then
// closed after a cancel, because the pooler may have given the server's
// connection to another client by then.
//
// # The catalogue
//
// [DB.Catalog] asks a new connection for the server's version and for the
// schemas in which it resolves names. [DB.SetGuard] then pins every session to
// these schemas. With [Config.Objects], Catalog also loads the functions,
// operators, casts, types and relations of the database, and the functions that
// the server may run when it reads a relation. It hashes the system tables that
// they come from before and after the load, and loads again when the hashes
// differ. While the hashes stay the same, later calls load nothing else. An
// incomplete catalogue is an error. [DB.Inventory] lists only names, to be
// compared with a configuration.
//
// # When a connection is closed instead
//
// A connection is used again only when the server said that the transaction
// was open at the first Sync and closed at the second, or when both comparisons held
// and it is closed at the only one, when the statement's command tag is that of a read
// (SELECT, SHOW, EXPLAIN), when no pinned setting differs, and when the server
// received every cancel that was sent. Every other
// message, COPY included, closes it.
//
// # Limits
//
// Rows are never limited by a cursor or in the Execute message, because both
// turn parallel plans off. Instead, the reader stops after one row too many and
// cancels the statement. The size of cells is checked below the protocol
// reader, while their bytes arrive.
//
// # Transport security
//
// The server's certificate and host name are verified (sslmode=verify-full),
// with two exceptions: all hosts are loopback addresses or Unix sockets, which
// may use plain text, or [Config.InsecureTLS] permits less. The package refuses
// URL parameters by name that would change how it sends statements, or change
// the session without its knowledge.
//
// The package never judges SQL, never rewrites it, never uses the simple
// protocol, never commits, and never prints its URL.
package pgdb
