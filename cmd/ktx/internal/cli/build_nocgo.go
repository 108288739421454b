//go:build !cgo

package cli

// build says which parser of PostgreSQL's SQL the program has: here the one in Go, as
// in every release.
const build = "pure Go"
