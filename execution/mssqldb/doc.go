// Package mssqldb runs approved statements on SQL Server, and undoes whatever
// they did.
//
// [Open] checks a configuration and returns a [DB], an [execution.Backend]. It
// connects when the first statement needs it:
//
//	db, err := mssqldb.Open(ctx, mssqldb.Config{URL: execution.NewSecret(url), Session: dialect.Session()}, guard.ID())
//	res, err := db.Query(ctx, approved, execution.Limits{Rows: 1000})
//
// # The role must not be able to write
//
// SQL Server has no read-only transaction. Every connection is made with
// ApplicationIntent=ReadOnly. That leads to a secondary when there is one, but
// it does not prevent writes. A batch needs no separator between statements, and
// a COMMIT in it ends the transaction that would have been rolled back. So the
// role must not be able to write. [DB.Probe] reports what the role can do, and
// every right beyond reading is a finding for which the gateway can refuse the
// role.
//
// # One statement
//
// A statement is four batches. The server's answer to each is checked:
//
//  1. The pins: settings of the session, the lock timeout, BEGIN TRANSACTION,
//     and SET ROWCOUNT with one row more than the limit. They are read back, and
//     when one differs the statement does not run.
//  2. The approved statement, alone, byte for byte, as a SQLBatch message. The
//     driver never sees it, and so never takes it for the name of a procedure.
//  3. ROLLBACK, after which the pins are read again.
//  4. A reset of the session (sp_reset_connection). It runs after the answer was
//     returned, and is verified before the connection is used again.
//
// # When a connection is closed instead
//
// A connection is used again only when the answer to the statement was that of
// one query (one set of columns, no result of a procedure, no second statement),
// when its transaction was still open afterwards or failed with it, when no
// setting, database, user or language changed, and when the server acknowledged
// every attention. Any other answer is an error, and its rows are not returned.
//
// # Limits
//
// The server has no time limit for statements. At the limit, or when the caller
// leaves, the backend sends an attention. When the server does not acknowledge
// it within two seconds, the backend closes the connection. The size of a value
// is bounded while its bytes arrive.
//
// # Transport security
//
// The server's certificate and host name are verified, unless the host is a
// loopback address or [Config.InsecureTLS] permits less. Parameters of the URL
// that would change how statements are sent or logged are refused by name.
//
// The package never judges SQL, never rewrites it, never sends it as a call of a
// procedure, never commits, and never prints its URL.
package mssqldb
