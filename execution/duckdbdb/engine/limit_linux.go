//go:build cgo && duckdb && (amd64 || arm64)

package engine

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// addressSpace is the bytes of address space that the process has now.
func addressSpace() uint64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _, _ := bytes.Cut(raw, []byte(" "))
	n, err := strconv.ParseUint(string(pages), 10, 64)
	if err != nil {
		return 0
	}
	return n * uint64(os.Getpagesize()) //nolint:gosec // positive
}

// limitMemory bounds the address space that the process may have beyond what it has now.
func limitMemory(more uint64) error {
	now := addressSpace()
	if now == 0 {
		return nil // without /proc the engine's own limit holds
	}
	return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: now + more, Max: now + more})
}
