// Package mysql reads the SQL of MySQL and MariaDB for package sqlguard.
//
// [Dialect] covers both products. Its zero value reads for MySQL 8.4 and also
// refuses what a MariaDB server would execute. [Dialect.ForServer] returns the
// dialect for the server of a connection. [MariaDB] is the dialect for a MariaDB of
// unknown version:
//
//	g, err := sqlguard.New(mysql.Dialect{}, sqlguard.DefaultPolicy(), nil)
//
// The package parses a text with TiDB's parser, and with marino when TiDB's parser
// cannot read it. Neither parser has the server's own grammar, so that a text parses
// does not yet prove what the server reads. The package therefore splits the text a
// second time by the server's lexical rules (lex.go), and refuses it unless the walk
// over the tree met every literal, name and call of the text (ledger.go,
// complete.go).
//
// The files tidb*.go walk over TiDB's tree. marino's tree has nearly the same types,
// so the files marino_*.go are generated from tidb_*.go. Both walks report facts to
// the walker (walk.go), which does not depend on a parser.
//
// The tables list what is known: nodes.go the parsers' node types, functions.go
// functions, relations.go system relations, settings.go variables, show.go the forms
// of SHOW. A name or node that is not listed is refused.
//
// In these servers, DDL statements and statements about privileges commit a
// read-only transaction and then run. Only the guard and the privileges of the
// account prevent them.
//
// The package never opens a connection.
package mysql
