package tdsserver_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// open connects with the driver's own client.
func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlserver", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// trusted returns the URL of s for a client that verifies its certificate.
func trusted(s *tdsserver.Server) string {
	return s.URL("encrypt", "true", "certificate", s.CertificateFile())
}

func TestSelect(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	db := open(t, trusted(s))
	rows, err := db.QueryContext(t.Context(), "SELECT id, name FROM items WHERE id > 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	n := 0
	for rows.Next() {
		var id int
		var name string
		if err := rows.Scan(&id, &name); err != nil {
			t.Fatal(err)
		}
		t.Log(id, name)
		n++
	}
	if err := rows.Err(); err != nil || n != 2 {
		t.Fatalf("%d rows, error %v; want 2", n, err)
	}
	_, err = db.ExecContext(t.Context(), "SELECT nowhere FROM items")
	if e, ok := errors.AsType[mssql.Error](err); !ok || e.Number != 207 {
		t.Errorf("error %v, want 207", err)
	}
}

// ask returns the last result that is not empty, with spaces between values and
// bars between rows. If the query fails, it returns the number of the error.
func ask(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text)
	if e, ok := errors.AsType[mssql.Error](err); ok {
		return fmt.Sprintf("error %d", e.Number)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below reports the error of Close
	var last string
	for {
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for rows.Next() {
			values, targets := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			if err := rows.Scan(targets...); err != nil {
				t.Fatal(err)
			}
			words := make([]string, len(values))
			for i, v := range values {
				if words[i] = fmt.Sprint(v); v != nil {
					if b, ok := v.([]byte); ok {
						words[i] = string(b)
					}
				}
			}
			lines = append(lines, strings.Join(words, " "))
		}
		if len(lines) > 0 {
			last = strings.Join(lines, "|")
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if e, ok := errors.AsType[mssql.Error](rows.Err()); ok {
		return fmt.Sprintf("error %d", e.Number)
	} else if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return last
}
