// Package duckdbdb runs approved statements with DuckDB, on a database file or on a folder
// of CSV, JSON and Parquet files, and never writes to them.
//
//	db, err := duckdbdb.Open(ctx, duckdbdb.Config{Path: "shop.duckdb", Session: dialect.Session()}, guard.ID())
//	defer db.Close()
//	res, err := db.Query(ctx, approved, execution.Limits{})
//
// DuckDB runs in processes of its own, one for each connection: the same program with
// another argument; see package engine. The process has an empty environment, limits of its
// own on memory, processor time and files, and no access to files other than those of the
// connection. The database is attached read-only under a fixed name, the configuration is
// locked, and no extension is loaded. A statement runs in a read-only transaction that is
// rolled back, and only when the engine itself says that it is exactly one SELECT or
// EXPLAIN.
//
// A statement that does not end in time ends with its process. So does a process whose
// answer is not what it should be, and one whose files have changed since it opened them.
//
// A macro can have the name of a built-in function, and then runs instead of it. Open
// refuses a database with such a macro, and one whose tables have the names of DuckDB's own
// system views.
//
// Only builds with cgo have DuckDB. Others answer no_backend.
//
// The package never writes a file of the connection, never runs a statement that its guard
// did not approve, and never parses SQL.
package duckdbdb
