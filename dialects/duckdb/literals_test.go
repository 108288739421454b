package duckdb_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// TestRowsOfTimes: a series of times between literals is as long as one of numbers may be.
func TestRowsOfTimes(t *testing.T) {
	t.Parallel()
	g := dialecttest.NewGuard(t, duckdb.Dialect{})
	for sql, allowed := range map[string]bool{
		"SELECT count(*) FROM generate_series(TIMESTAMP '1900-01-01', TIMESTAMP '2100-01-01', INTERVAL 1 SECOND)":        false,
		"SELECT count(*) FROM range('1900-01-01 00:00:00'::TIMESTAMP, '2100-01-01'::TIMESTAMP, INTERVAL '1 second')":     false,
		"SELECT count(*) FROM range(TIMESTAMP '2100-01-01', TIMESTAMP '1900-01-01', INTERVAL (-1) SECOND)":               false,
		"SELECT count(*) FROM range(TIMESTAMP '2100-01-01', TIMESTAMP '1900-01-01', INTERVAL '-1 second')":               false,
		"SELECT count(*) FROM generate_series(TIMESTAMP '2020-01-01', TIMESTAMP '2020-02-01', INTERVAL '1' MICROSECOND)": false,
		"SELECT count(*) FROM generate_series(DATE '1900-01-01', DATE '2100-01-01', INTERVAL '10 ms')":                   false,
		"SELECT * FROM generate_series(DATE '1900-01-01', DATE '2100-01-01', INTERVAL '1' DAY)":                          true,
		"SELECT * FROM generate_series(DATE '2020-01-01', DATE '2030-01-01', INTERVAL 1 HOUR)":                           true,
		"SELECT * FROM range(TIMESTAMP '2024-01-01', TIMESTAMP '2025-01-01', INTERVAL '15 minutes')":                     true,
		"SELECT * FROM range(DATE '2024-01-01', DATE '2025-01-01', INTERVAL 1 MONTH)":                                    true,
	} {
		if v := g.CheckOnce(sql); v.Allowed != allowed {
			t.Errorf("%s: allowed %t, %v", sql, v.Allowed, v.Findings)
		}
	}
}
