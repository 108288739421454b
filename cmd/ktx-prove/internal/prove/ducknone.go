//go:build !cgo || !duckdb || !(linux || darwin) || !(amd64 || arm64)

package prove

import (
	"errors"
	"time"
)

// startDuckDB says that this build has no DuckDB.
func startDuckDB(string, time.Duration) (engine, error) {
	return nil, errors.New("this build has no DuckDB; build it with cgo and the tag duckdb")
}
