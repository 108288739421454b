// Package postgres reads PostgreSQL's SQL for package sqlguard and states what a
// statement does.
//
// [Dialect] implements [sqlguard.Dialect]. The build decides which parser it uses:
// with cgo the server's own grammar as a C library (pg_query_go), without cgo a port
// of it to Go (oliphant). Both give the same facts, except for syntax that only the
// newer grammar of oliphant knows. differential_test.go compares them and lists the
// exceptions.
//
// Three parts decide what a tree means. nodes.go has a rule for every kind of node
// that the parsers know; a kind without a rule is refused. The judges in walk.go and
// its neighbours judge names, scopes, calls and writes. The tables of functions,
// relations, settings, operators and types are generated from the catalogues of real
// servers, PostgreSQL 13 to 18.
//
// The parser is right only for a session with the settings of [Dialect.Session]. The
// package never connects to a server, never changes the text, and never decides what
// a connection permits: that is the policy of a sqlguard.Guard.
package postgres
