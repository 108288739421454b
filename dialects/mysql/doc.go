// Package mysql reads the SQL of MySQL and MariaDB for package sqlguard.
//
// [Dialect] is both products: the zero value reads for MySQL 8.4 and refuses
// what a MariaDB would execute as well, [Dialect.ForServer] reads for the
// server that a connection has, and [MariaDB] for a MariaDB that is not known
// closer:
//
//	g, err := sqlguard.New(mysql.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// A text is parsed with TiDB's parser, and with marino where that one cannot
// read it. Neither is the server's own grammar, so a parse is necessary and not
// sufficient. Dialect splits the text a second time by the server's lexical
// rules (lex.go) and refuses it where a literal, a name or a call of the text
// was not met on the walk over the tree (ledger.go, complete.go).
//
// The walk over TiDB's tree is in the files tidb*.go; marino's has nearly the
// same types, and the walk over it, the files marino_*.go, is made from the
// former. Both state facts through the walker (walk.go), which knows no parser.
//
// The tables are lists of what is known: nodes.go of the parsers' node types,
// functions.go of functions, relations.go of system relations, settings.go of
// variables, show.go of SHOW. What they do not list is refused.
//
// DDL and statements about privileges commit a read-only transaction of these
// servers and run. Here the guard, with the rights of the role, is the control.
//
// The package never opens a connection.
package mysql
