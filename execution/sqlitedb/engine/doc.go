// Package engine is SQLite, as sqlitedb uses it: one connection that only reads, and
// whose temporary files have a limit.
//
// There are two. The first is SQLite compiled to WebAssembly and from there to Go.
// Every build has it, except builds with the tag csqlite and cgo, which have the C
// library instead. What the two have in common are the names and the meaning of the
// methods of Conn and Stmt, which are those of github.com/ncruces/go-sqlite3.
//
// The C library takes about half of the time for what the engine computes, such as
// an aggregate or a sort. In exchange:
//
//   - A fault of its memory ends the process, not only the statement.
//   - Its memory is counted for all connections together: each that is open adds
//     256 MiB to what all may use.
//   - It lacks the functions of decimal arithmetic, ieee754 and base64.
//   - REGEXP is that of Go's package regexp.
//
// Open refuses a C library that was compiled without the options on which the guard
// relies. `make build-csqlite` has them.
package engine
