// Package clickhouse reads the SQL of ClickHouse for package sqlguard.
//
// [Dialect] has its own lexer and parser:
//
//	g, err := sqlguard.New(clickhouse.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The parser reads only SELECT, and the forms of EXPLAIN, DESCRIBE, EXISTS and SHOW that
// read. Its grammar is the allowlist: it refuses what no production reads. It names
// every other statement by its leading keyword (nodes.go) and does not read further.
//
// The parser builds no tree. A production states facts (walk.go) while it reads, so
// every construct that is parsed is also judged.
//
// Where the server reads more than the parser, the parser refuses: an unquoted keyword
// as an alias without AS, typographic quotes, tags of $tag$ strings that are not words.
//
// functions_table.go lists functions and relations_table.go the relations of the system
// databases. A name that is not listed is refused. Names are compared as the server does:
// in their exact case, except for functions that the server finds in any case.
//
// SETTINGS, FORMAT and INTO OUTFILE are refused in every statement: settings lift limits,
// and the other two decide what the backend receives.
//
// The package never opens a connection.
package clickhouse
