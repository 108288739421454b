//go:build !cgo || !duckdb || !(linux || darwin) || !(amd64 || arm64)

package engine

import (
	"io"

	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
)

// Run says that this build has no DuckDB.
func Run(in io.Reader, out io.Writer) int {
	err := wire.New(in, out).Write(wire.Failed, wire.Failure{Type: wire.TypeNoEngine, Message: "this build of ktx has no DuckDB"})
	if err != nil {
		return 1
	}
	return 0
}
