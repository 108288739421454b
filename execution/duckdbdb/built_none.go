//go:build !cgo || !duckdb || !(linux || darwin) || !(amd64 || arm64)

package duckdbdb

// Built reports whether the program has DuckDB. Without it, every connection answers
// no_backend.
const Built = false
