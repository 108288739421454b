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
// (2.2.5.5). It records everything that a client sends, in order. A client that
// violates [MS-TDS] fails the test.
//
// A small interpreter runs the statements. It knows SET, BEGIN TRANSACTION,
// COMMIT, ROLLBACK, IF, DECLARE, THROW, RAISERROR, PRINT, WAITFOR DELAY and USE,
// and SELECT over the table items, GENERATE_SERIES, VALUES, system views that
// follow from [Config], and the tables of [Server.SetTable]. Accounts that have
// the permission can also change tables, and a ROLLBACK undoes that
// ([Server.Writes]). A test registers other answers with [Server.On] and
// [Server.First]. Through [Reply] these can be late, broken or malformed in every
// way. The server answers a statement that the interpreter does not know with an
// ERROR whose number no SQL Server uses. It never invents an answer.
//
// A test against this package proves nothing about the engine. It does not prove
// that SET ROWCOUNT limits the right rows, that LOCK_TIMEOUT ends a wait, that
// ApplicationIntent leads to a secondary, that a rollback undoes a change, that
// a permission is denied, or that a value's text is SQL Server's own. This
// package imitates all of that. It has no constraints, locks, savepoints,
// cursors, prepared statements, bulk load, table valued parameters, multiple
// active result sets, federated and integrated authentication, Always Encrypted,
// query notifications, or session recovery.
//
// The package is test support and is never part of the shipped binary.
package tdsserver
