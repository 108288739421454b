// Package duckdb reads the SQL of DuckDB for package sqlguard.
//
// [Dialect] parses a text with darkwing, a port of the grammar of DuckDB 2.0, and states
// the kind of each statement and what it uses:
//
//	g, err := sqlguard.New(duckdb.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The parser is not the engine's own, and DuckDB 1.5 has another one. That a text parses
// does therefore not prove what the engine reads. The package splits the text a second
// time with its own lexer, which refuses what the two engines split differently, and
// refuses a text unless the walk over the tree met every name and text literal of it
// (complete.go). A backend must also ask the engine how many statements it sees, and of
// which kind, before it runs one.
//
// The tables list what is known: nodes.go the parser's node types, functions.go
// functions, relations.go system relations, pragma.go PRAGMAs. A name or node that is
// not listed is refused.
package duckdb
