// Package sqlserver reads the SQL of SQL Server, Transact-SQL, for package
// sqlguard.
//
// [Dialect] has its own lexer and parser, written from Microsoft's Transact-SQL
// reference:
//
//	g, err := sqlguard.New(sqlserver.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The parser reads only SELECT, and its grammar is the allowlist: it refuses what no
// production reads. It names every other statement by its leading keyword (nodes.go)
// and does not read further. The comment of each production names the page of the
// reference that it implements.
//
// The parser builds no tree. A production states facts (walk.go) while it reads, so
// every construct that is parsed is also judged.
//
// COVERAGE.md lists the parts of SELECT that the parser does not read, and the results
// on test suites of other projects.
//
// Transact-SQL needs no terminator between statements, and runs a name at the start of
// a batch as a procedure. So a SELECT ends where its grammar ends. Everything after it
// is the next statement, and the text is refused.
//
// The tables list what is known: functions_table.go functions, relations_table.go
// system relations, settings.go @@ functions and server properties, hints.go hints. A
// name that is not listed is refused.
//
// The collation of the database decides which names are equal, and the text does not
// show it. So a rule that allows a name matches only the exact spelling, and a system
// name is recognised in any case and width (names.go).
//
// The package never opens a connection.
package sqlserver
