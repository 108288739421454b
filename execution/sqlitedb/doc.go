// Package sqlitedb runs approved statements on one SQLite database file, and
// never writes to it.
//
//	db, err := sqlitedb.Open(ctx, sqlitedb.Config{Path: "shop.db", Session: dialect.Session()}, guard.ID())
//	defer db.Close()
//	res, err := db.Query(ctx, approved, execution.Limits{})
//
// A connection is read-only in several ways that do not depend on each other:
// the file is opened with mode=ro, query_only and defensive mode are on, and an
// authorizer permits only reads, listed functions, and listed PRAGMAs in the form
// that reads. Attached databases, loadable extensions and trust in the schema
// are off. These settings are read back before every statement, and a connection
// on which one differs is closed. A statement runs alone, in a transaction that
// is rolled back.
//
// An interrupt takes effect between two opcodes of SQLite's virtual machine,
// and one opcode may run for long (such as LIKE with many wildcards over a long
// value). Query returns at its deadline even so: the connection is abandoned, and
// closed when the opcode ends. While four such statements still run, new ones
// are refused as busy.
//
// When the connection has rules on tables and columns, the authorizer applies them
// to all that a statement reads: through views, as rowid, in the shadow tables of a
// full-text table, in fts5vocab tables, and in full-text tables whose content is the
// denied table. Of a full-text table with a denied column, no statement can read the
// hidden columns, nor call highlight, snippet or bm25. Search one column instead:
// title MATCH '…'.
//
// FTS5 tables can be read, FTS3 and FTS4 tables cannot. Reading a database in
// WAL mode makes the files that SQLite keeps beside it (-wal and -shm) where
// they are missing.
//
// The package never creates a database file, never runs a statement that its
// guard did not approve, and never parses SQL.
package sqlitedb
