package testdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// SQLiteFile makes a database file in the test's own folder, runs the
// statements in it and returns its path. One string may hold several
// statements. The statements may create FTS5 tables.
func SQLiteFile(tb testing.TB, sql ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "test.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil { // an empty file is an empty database
		tb.Fatal(err)
	}
	if err := writeSQLite(path, sql); err != nil {
		tb.Fatal(err)
	}
	return path
}

func writeSQLite(path string, sql []string) (err error) {
	conn, err := sqlite3.Open(path)
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := fts5.Register(conn); err != nil {
		return fmt.Errorf("register FTS5: %w", err)
	}
	for _, text := range sql {
		if err := conn.Exec(text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
