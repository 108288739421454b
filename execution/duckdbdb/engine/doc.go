// Package engine runs DuckDB in a process of its own, for package duckdbdb.
//
//	if engine.Asked(os.Args[1:]) {
//		os.Exit(engine.Run(os.Stdin, os.Stdout))
//	}
//
// The process opens one database read-only, limits its own memory, processor time and
// files, and locks the configuration. Then it runs the statements that it gets over its
// standard input, one after the other, and writes their rows to its standard output; see
// package wire. A statement runs only when DuckDB itself says that it is exactly one, and
// a SELECT or an EXPLAIN. It runs in a read-only transaction that is rolled back.
//
// The process never outlives ktx: it ends when its input does, and when it gets no
// statement for some time. It never judges a statement.
//
// A build without cgo or without the tag duckdb has no DuckDB. There Run answers that.
package engine

import "github.com/ktxhq/ktx/execution/duckdbdb/wire"

// Asked reports whether args, the arguments of a program without its name, ask for the
// engine.
func Asked(args []string) bool { return len(args) == 1 && args[0] == wire.Argument }
