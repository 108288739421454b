// Package tdsserver is a server of the Tabular Data Stream protocol for tests:
// a stand-in for SQL Server where none can be had.
//
//	s := tdsserver.Start(t, tdsserver.Config{})
//	s.On("SELECT 1", func(r *tdsserver.Reply) error { … })
//	open(s.URL("certificate", s.CertificateFile()))
//
// It implements the protocol of [MS-TDS], and each part names the section that it
// implements: PRELOGIN with its modes of encryption (2.2.6.5), TDS 8.0
// with TLS first (1.7), LOGIN7 (2.2.6.4), SQLBatch (2.2.6.7), RPC with
// sp_executesql (2.2.6.6), transaction manager requests (2.2.6.9), attention
// (2.2.1.7), the reset bits of a packet (2.2.3.1.2); and in replies (2.2.7)
// COLMETADATA, ROW, NBCROW, DONE, DONEPROC, DONEINPROC, ERROR, INFO, ENVCHANGE,
// LOGINACK, FEATUREEXTACK, ORDER, RETURNSTATUS, with values of every type
// (2.2.5.5). It records all that a client sent, in order. A client that does
// what [MS-TDS] does not allow fails the test.
//
// Behind the wire is a small interpreter: SET, BEGIN TRANSACTION, COMMIT,
// ROLLBACK, IF, DECLARE, THROW, RAISERROR, PRINT, WAITFOR DELAY, USE, SELECT over
// the table items, GENERATE_SERIES, VALUES, views of the system that show what
// [Config] says, and the tables of [Server.SetTable]; and plain changes of
// tables, which a ROLLBACK undoes, for accounts that have the permission
// ([Server.Writes]). A test registers other answers with
// [Server.On] and [Server.First]; through [Reply] they may be late, broken or
// malformed in every way. A statement that the interpreter does not know is
// answered by an ERROR whose number no SQL Server uses, never by an invented
// answer.
//
// A test against this package proves nothing about the engine: not that SET
// ROWCOUNT cuts what it should, that LOCK_TIMEOUT ends a wait, that
// ApplicationIntent leads to a secondary, that a rollback undoes a change, that
// a permission is denied, or that a value's text is SQL Server's own. Here they
// do what this package makes them do. It has no constraints, locks, savepoints,
// cursors, prepared statements, bulk load, table valued parameters, multiple
// active result sets, federated and integrated authentication, Always Encrypted,
// query notifications, or session recovery.
//
// The package is test support and is never part of the shipped binary.
package tdsserver
