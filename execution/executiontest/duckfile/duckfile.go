//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

// Package duckfile makes and reads DuckDB files for tests, in the test's own process.
//
//	path := duckfile.New(t, "CREATE TABLE items (id INTEGER)")
//	rows := duckfile.Rows(t, path, "SELECT * FROM items")
//
// It links DuckDB, so only tests that need it may import it.
package duckfile

import (
	"path/filepath"
	"strings"
	"testing"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// New makes a database file in the test's own folder and runs statements in it.
func New(tb testing.TB, statements ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.duckdb")
	Exec(tb, path, statements...)
	return path
}

// Exec runs statements in a database file; ":memory:" is a database of their own.
func Exec(tb testing.TB, path string, statements ...string) {
	tb.Helper()
	with(tb, path, "automatic", func(c duckdb.Connection) {
		for _, s := range statements {
			run(tb, c, s, nil)
		}
	})
}

// Rows returns the rows of a query, whose columns must be texts; NULL is "NULL".
func Rows(tb testing.TB, path, sql string) [][]string {
	tb.Helper()
	mode := "read_only"
	if path == ":memory:" {
		mode = "automatic"
	}
	var rows [][]string
	with(tb, path, mode, func(c duckdb.Connection) {
		run(tb, c, "SET TimeZone = 'UTC'", nil)
		run(tb, c, sql, &rows)
	})
	return rows
}

// Reader opens a database file to read, and returns a function that runs a query, fetches its
// chunks, and returns the number of its rows. It has two threads.
func Reader(tb testing.TB, path string) func(sql string) int {
	tb.Helper()
	db, c, done := connect(tb, path, "read_only")
	tb.Cleanup(func() { done(&db, &c) })
	run(tb, c, "SET threads = 2", nil)
	return func(sql string) int {
		var r duckdb.Result
		defer duckdb.DestroyResult(&r)
		if duckdb.Query(c, sql, &r) != duckdb.StateSuccess {
			tb.Fatalf("%s: %s", sql, duckdb.ResultError(&r))
		}
		rows := 0
		for {
			chunk := duckdb.FetchChunk(r)
			if chunk.Ptr == nil {
				return rows
			}
			rows += int(duckdb.DataChunkGetSize(chunk))
			duckdb.DestroyDataChunk(&chunk)
		}
	}
}

// Lines returns the rows of a query with their values joined.
func Lines(tb testing.TB, path, sql string) []string {
	tb.Helper()
	var lines []string
	for _, row := range Rows(tb, path, sql) {
		lines = append(lines, strings.Join(row, "\x1f"))
	}
	return lines
}

func with(tb testing.TB, path, mode string, f func(duckdb.Connection)) {
	tb.Helper()
	db, c, done := connect(tb, path, mode)
	defer done(&db, &c)
	f(c)
}

func connect(tb testing.TB, path, mode string) (duckdb.Database, duckdb.Connection, func(*duckdb.Database, *duckdb.Connection)) {
	tb.Helper()
	var config duckdb.Config
	var db duckdb.Database
	var c duckdb.Connection
	var message string
	if duckdb.CreateConfig(&config) != duckdb.StateSuccess || duckdb.SetConfig(config, "access_mode", mode) != duckdb.StateSuccess {
		tb.Fatal("configure DuckDB")
	}
	defer duckdb.DestroyConfig(&config)
	if duckdb.OpenExt(path, &db, config, &message) != duckdb.StateSuccess {
		tb.Fatalf("open %s: %s", path, message)
	}
	if duckdb.Connect(db, &c) != duckdb.StateSuccess {
		tb.Fatal("connect to DuckDB")
	}
	return db, c, func(db *duckdb.Database, c *duckdb.Connection) {
		duckdb.Disconnect(c)
		duckdb.Close(db)
	}
}

func run(tb testing.TB, c duckdb.Connection, sql string, rows *[][]string) {
	tb.Helper()
	var r duckdb.Result
	defer duckdb.DestroyResult(&r)
	if duckdb.Query(c, sql, &r) != duckdb.StateSuccess {
		tb.Fatalf("%s: %s", sql, duckdb.ResultError(&r))
	}
	for rows != nil {
		chunk := duckdb.FetchChunk(r)
		if chunk.Ptr == nil {
			return
		}
		columns := duckdb.DataChunkGetColumnCount(chunk)
		for i := range duckdb.DataChunkGetSize(chunk) {
			row := make([]string, columns)
			for k := range columns {
				v := duckdb.DataChunkGetVector(chunk, k)
				valid := duckdb.VectorGetValidity(v)
				row[k] = "NULL"
				if valid == nil || duckdb.ValidityRowIsValid(valid, i) {
					row[k] = duckdb.StringTData(&(*[2048]duckdb.StringT)(duckdb.VectorGetData(v))[i])
				}
			}
			*rows = append(*rows, row)
		}
		duckdb.DestroyDataChunk(&chunk)
	}
}
