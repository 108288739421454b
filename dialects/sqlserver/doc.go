// Package sqlserver reads the SQL of SQL Server, Transact-SQL, for package
// sqlguard.
//
// [Dialect] has a lexer and a parser of its own, written from Microsoft's
// Transact-SQL reference:
//
//	g, err := sqlguard.New(sqlserver.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The parser knows one statement, SELECT, and the grammar is the allowlist:
// what no production reads is refused. Every other statement is named after
// its leading keyword (nodes.go) and not read further. The comment of each
// production names the page of the reference that it implements.
//
// The parser builds no tree. A production states the facts of what it reads
// (walk.go) while it reads it, so nothing can be parsed and not be judged.
//
// COVERAGE.md lists what of SELECT is not read, and figures on test inputs of
// others.
//
// Transact-SQL needs no terminator between statements and runs a name at the
// start of a batch as a procedure. So the end of a SELECT is where its grammar
// ends; what stands behind it is the next statement, and the text is refused.
//
// The tables are lists of what is known: functions_table.go of functions,
// relations_table.go of system relations, settings.go of @@ functions and
// server properties, hints.go of hints. What they do not list is refused.
//
// Names compare as the collation of the database says, which the text does not
// tell. A rule that allows a name means it to the letter; a system name is
// recognised in any case and width (names.go).
//
// The package never opens a connection.
package sqlserver
