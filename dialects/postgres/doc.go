// Package postgres reads PostgreSQL's SQL and states what a text does.
//
// [Dialect] implements [sqlguard.Dialect]. Which parser stands behind it
// depends on the build: the server's own grammar as a C library
// (pg_query_go) with cgo, a port of it to Go (oliphant) without. Both give the
// same facts, but for syntax that only the newer grammar of the second knows;
// differential_test.go holds the two together and lists the exceptions.
//
// What a tree means is decided in three places. nodes.go rules on every kind
// of node that the parsers know; what is not listed there is refused. The
// judges of walk.go and its neighbours look at names, scopes, calls and
// writes. The tables of functions, relations, settings, operators and types
// are generated from the catalogues of real servers, PostgreSQL 13 to 18.
//
// The package takes a session for granted that [Dialect.Session] describes. It
// never connects to a server, never changes the text, and never decides what a
// connection permits: that is the policy of a sqlguard.Guard.
package postgres
