// Package sqlite reads the SQL of SQLite for package sqlguard.
//
// [Dialect] parses with meyer, a port of SQLite's own grammar, and states what
// each statement is and touches:
//
//	g, err := sqlguard.New(sqlite.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The parser is not the engine's own, so a parse is necessary and not
// sufficient. Dialect splits the text a second time with its own port of
// SQLite's tokenizer, and refuses a text of which a literal, a parameter or a
// name was not met, at its place and with its decoded spelling, on the walk
// over the tree (complete.go).
//
// The tables are lists of what is known: nodes.go of the parser's node types,
// functions.go of functions, relations.go of system relations, pragma.go of
// PRAGMA. What they do not list is refused.
//
// The package never opens a database, and never asks a driver what it offers.
package sqlite
