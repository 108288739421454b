// Package mssqldb runs approved statements on SQL Server, and undoes whatever
// they did.
//
// [Open] checks a configuration and returns a [DB], an [execution.Backend]. It
// connects when the first statement needs it:
//
//	db, err := mssqldb.Open(ctx, mssqldb.Config{URL: execution.NewSecret(url), Session: dialect.Session()}, guard.ID())
//	res, err := db.Query(ctx, approved, execution.Limits{Rows: 1000})
//
// # What stands behind the guard
//
// SQL Server has no read-only transaction. ApplicationIntent=ReadOnly, with
// which every connection is made, leads to a secondary where there is one and
// keeps nobody from writing. A batch needs no separator between statements, and
// one that says COMMIT ends the transaction that would have been rolled back.
// So the role must be one that cannot write: [DB.Probe] says what it can do, and
// every right beyond reading makes a finding by which such a role is refused.
//
// # One statement
//
// A statement is four batches. The server's answer to each is checked:
//
//  1. The pins: settings of the session, the lock timeout, BEGIN TRANSACTION,
//     and SET ROWCOUNT with one row more than the limit. They are read back, and
//     where one differs the statement is not run.
//  2. The approved text, alone, byte for byte, as a SQLBatch message. Nothing
//     of the driver sees it; in particular it is never taken for the name of a
//     procedure.
//  3. ROLLBACK, behind which the pins are read again.
//  4. A reset of the session (sp_reset_connection), which runs behind the
//     answer and is verified before the connection is used again.
//
// # When a connection is closed instead
//
// A connection is used again only when the answer to the text was that of one
// query (one set of columns, no result of a procedure, no second statement),
// when its transaction was still open behind it or failed with it, when no
// setting, database, user or language changed, and when an attention that was
// sent was acknowledged. Such an answer is an error, and its rows are not
// returned.
//
// # Limits
//
// The server has no time limit for statements. At the limit, or when its caller
// leaves, a statement gets an attention, and where the server does not
// acknowledge that within two seconds, its connection is closed. Cells are
// bounded while their bytes arrive.
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
