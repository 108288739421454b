//go:build cgo && duckdb && (amd64 || arm64)

package engine

// limitMemory does nothing: macOS ignores a limit of the address space. The engine's own
// limit holds.
func limitMemory(uint64) error { return nil }
