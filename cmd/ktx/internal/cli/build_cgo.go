//go:build cgo

package cli

// build says which parser of PostgreSQL's SQL the program has: here the server's own,
// in C.
const build = "cgo"
