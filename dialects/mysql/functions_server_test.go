package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// The tests in this file check the tables of functions on a real server.

// TestFunctionsOfTheServer holds that every function which the server lists is
// ruled on. What it lists beyond that is refused, and named here for review.
func TestFunctionsOfTheServer(t *testing.T) {
	t.Parallel()
	s := testdb.MariaDB(t)
	if s.Product() != "mariadb" {
		t.Skip("only MariaDB lists its functions")
	}
	rows, err := s.DB(t, s.URL("", "")).QueryContext(t.Context(), "SELECT LOWER(function) FROM information_schema.sql_functions")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	listed, d := mysql.FunctionNames(), server(t, s.Product(), s.Version())
	seen := 0
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		seen++
		if !slices.Contains(listed, name) {
			if ruling, _ := mysql.FunctionRuling(d, "", name, 1); ruling.Allowed {
				t.Errorf("%s is allowed and not listed", name)
			}
			t.Errorf("no table rules on %s; review it", name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if seen < 200 {
		t.Errorf("the server lists only %d functions", seen)
	}
}

// TestStoredFunctionsWithTheServersNames creates a stored function for every
// listed name and calls it in every notation. If the server runs the stored
// function, the guard must not take the call for the built-in function.
func TestStoredFunctionsWithTheServersNames(t *testing.T) {
	t.Parallel()
	s := testdb.MariaDB(t)
	db := s.DB(t, s.NewDatabase(t))
	db.SetMaxOpenConns(1)
	guard, err := sqlguard.New(server(t, s.Product(), s.Version()), sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	parameters, arguments := []string{"a int", "b int", "c int"}, []string{"1", "2", "3"}
	counts := []int{0, 1, 2, 3}
	if testing.Short() {
		counts = []int{1}
	}
	called := 0
	for _, n := range counts {
		for _, name := range mysql.FunctionNames() {
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf("CREATE FUNCTION `%s` (%s) RETURNS int DETERMINISTIC RETURN 424242", name, strings.Join(parameters[:n], ", "))); err != nil {
				continue // the server's own, made by a plugin
			}
			for _, form := range []string{"SELECT %s(%s)", "SELECT %s (%s)", "SELECT `%s`(%s)"} {
				text := fmt.Sprintf(form, name, strings.Join(arguments[:n], ", "))
				if unwanted[name] || answers(t, db, text) != "424242" {
					continue
				}
				called++
				if guard.Check(text).Allowed {
					t.Errorf("%s calls a stored function, and is allowed", text)
				}
			}
			if _, err := db.ExecContext(t.Context(), "DROP FUNCTION `"+name+"`"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if called < 100 {
		t.Errorf("only %d statements called a stored function, which is too few for this test", called)
	}
}

// unwanted lists functions that the test does not call, because they wait or make work.
var unwanted = map[string]bool{
	"benchmark": true, "get_lock": true, "master_gtid_wait": true, "master_pos_wait": true, "sleep": true, "wsrep_sync_wait_upto_gtid": true,
}

// answers returns the only value of a query, or "" when the query fails.
func answers(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var v sql.NullString
	if err := db.QueryRowContext(ctx, text).Scan(&v); err != nil {
		return ""
	}
	return v.String
}
