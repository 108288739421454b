// Package sqlite reads the SQL of SQLite for package sqlguard.
//
// [Dialect] parses a text with meyer, a port of SQLite's own grammar, and states the
// kind of each statement and what it uses:
//
//	g, err := sqlguard.New(sqlite.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The parser is not the engine's own, so that a text parses does not yet prove what
// the engine reads. The package therefore splits the text a second time with its own
// port of SQLite's tokenizer. It refuses the text unless the walk over the tree met
// every literal, parameter and name, at its position and with its decoded spelling
// (complete.go).
//
// The tables list what is known: nodes.go the parser's node types, functions.go
// functions, relations.go system relations, pragma.go PRAGMAs. A name or node that is
// not listed is refused.
//
// The package never opens a database, and never asks a driver what it offers.
package sqlite
