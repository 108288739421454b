package mssqldb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// logins returns how many connections the server has seen.
func logins(s *tdsserver.Server) int { return len(s.Of(tdsserver.KindLogin)) }

// A batch that is more than one query, or that changes its session, is an
// error. The backend does not return its rows, and does not use its connection
// again.
func TestMoreThanAQuery(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"two results", "SELECT 1 AS n; SELECT 2 AS n", "more than one"},
		{"two statements", "SELECT 1 AS n; SET ROWCOUNT 0", "more than one"},
		{"a setting first", "SET QUOTED_IDENTIFIER OFF; SELECT 1 AS n", "more than one"},
		{"a setting", "SET QUOTED_IDENTIFIER OFF", "session"},
		{"a setting of dates", "SET DATEFORMAT dmy; SELECT 1 AS n", "more than one"},
		{"the size of texts", "SET TEXTSIZE 10", "session"},
		{"the lock timeout", "SET LOCK_TIMEOUT 60000", "session"},
		{"another database", "USE master", "session"},
		{"a commit", "COMMIT", "transaction"},
		{"a commit before a query", "COMMIT; SELECT 1 AS n", "transaction"},
		{"a rollback", "ROLLBACK", "transaction"},
		{"a rollback before a query", "ROLLBACK; SELECT 1 AS n", "more than one"},
		{"another transaction", "ROLLBACK; BEGIN TRANSACTION; SELECT 1 AS n", "more than one"},
		{"a nested transaction", "BEGIN TRANSACTION; SELECT 1 AS n", "more than one"},
		{"a nested transaction alone", "BEGIN TRANSACTION", "transaction"},
		{"no query", "PRINT 'x'", "no query"},
		{"a variable", "DECLARE @n int = 1", "no query"},
		{"execution switched off", "SET NOEXEC ON", "no query"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{Databases: []string{"shop", "master"}})
			db := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			e := db.Fails(t, c.text, execution.Limits{})
			if e.Code != sqlguard.CodeDatabaseError || e.SQLState != "" || e.Retryable || !strings.Contains(e.Message, c.says) {
				t.Errorf("error %v (state %q, retryable %t), want one about %q", e, e.SQLState, e.Retryable, c.says)
			}
			if got := db.One(t, "SELECT @@TRANCOUNT AS n"); got != "1" {
				t.Errorf("the next statement has %s transactions", got)
			}
			if n := logins(s); n != 2 {
				t.Errorf("%d connections were made, want 2, because the first must not be used again", n)
			}
		})
	}
}

// An answer that only a procedure sends is an error.
func TestAnswerOfAProcedure(t *testing.T) {
	row := func(r *tdsserver.Reply) error {
		if err := r.Columns(tdsserver.Column{Name: "v", Type: tdsserver.Int}); err != nil {
			return err
		}
		return r.Row(int64(1))
	}
	for name, answer := range map[string]tdsserver.Handler{
		"a return status": func(r *tdsserver.Reply) error {
			if err := row(r); err != nil {
				return err
			}
			return r.ReturnStatus(0)
		},
		"DONEPROC": func(r *tdsserver.Reply) error {
			if err := row(r); err != nil {
				return err
			}
			return r.Done(0xFE, 0, 0, 0)
		},
		"DONEINPROC": func(r *tdsserver.Reply) error {
			if err := row(r); err != nil {
				return err
			}
			return r.Done(0xFF, 0, 0, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tdsserver.Start(t, tdsserver.Config{})
			s.On("sp_who", answer)
			c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
			e := c.Fails(t, "sp_who", execution.Limits{})
			if e.Code != sqlguard.CodeDatabaseError || !strings.Contains(e.Message, "procedure") {
				t.Errorf("error %v", e)
			}
			if c.One(t, "SELECT 1 AS n") != "1" || logins(s) != 2 {
				t.Errorf("%d connections", logins(s))
			}
		})
	}
}

// The backend runs nothing in a session that differs from the pins.
func TestPinsAreReadBack(t *testing.T) {
	good := []any{int64(0), int64(1), int64(21880), int64(2147483647), "us_english", int64(7), int64(2), int64(1000), "shop", "reader", "reader", "reader", "dbo"}
	columns := make([]tdsserver.Column, len(good))
	for i, v := range good {
		columns[i] = tdsserver.Column{Name: "c", Type: tdsserver.Int}
		if _, ok := v.(string); ok {
			columns[i].Type = tdsserver.NVarChar(128)
		}
	}
	const text = "SELECT 1 AS n"
	// answer begins a transaction, as the batch would, and returns row.
	answer := func(row []any, begin bool) tdsserver.Handler {
		return func(r *tdsserver.Reply) error {
			if begin {
				if err := r.Bytes([]byte{0xE3, 11, 0, 8, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0}); err != nil {
					return err
				}
			}
			if row == nil {
				return nil
			}
			if err := r.Columns(columns[:len(row)]...); err != nil {
				return err
			}
			return r.Row(row...)
		}
	}
	lim := execution.Limits{}.WithDefaults()
	try := func(t *testing.T, h tdsserver.Handler) *execution.Error {
		t.Helper()
		s := tdsserver.Start(t, tdsserver.Config{Violations: true}) // the transaction descriptor is not the server's
		s.On(mssqldb.Opening(lim.LockTimeout, lim.Rows), h)
		c := open(t, trusted(s), mssqldb.Config{})
		e := c.Fails(t, text, execution.Limits{})
		for _, sent := range s.Batches() {
			if sent == text {
				t.Error("the statement was sent")
			}
		}
		return e
	}
	for i := range good {
		if i == 0 || i > 7 { // these columns are not compared with a pin
			continue
		}
		bad := append([]any(nil), good...)
		switch v := bad[i].(type) {
		case int64:
			bad[i] = v - 1
		case string:
			bad[i] = v + "x"
		}
		if e := try(t, answer(bad, true)); e.Code != sqlguard.CodeSessionModeMismatch {
			t.Errorf("%v: error %v, want %s", bad[i], e, sqlguard.CodeSessionModeMismatch)
		}
	}
	for name, h := range map[string]tdsserver.Handler{
		"no transaction": answer(good, false), "no row": answer(nil, true), "a column too few": answer(good[:12], true),
	} {
		if e := try(t, h); e.Code != sqlguard.CodeSessionModeMismatch {
			t.Errorf("%s: error %v, want %s", name, e, sqlguard.CodeSessionModeMismatch)
		}
	}
}

// The backend notices when a session becomes that of another user.
func TestAnotherUser(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{MaxConnections: 1})
	c.One(t, "SELECT 1 AS n")
	s.On(mssqldb.ClosingSQL, func(r *tdsserver.Reply) error {
		row := []any{int64(1), int64(0), int64(21880), int64(2147483647), "us_english", int64(7), int64(2), int64(1000), "shop", "sa", "reader", "dbo", "dbo"}
		columns := make([]tdsserver.Column, len(row))
		for i, v := range row {
			columns[i] = tdsserver.Column{Name: "c", Type: tdsserver.Int}
			if _, ok := v.(string); ok {
				columns[i].Type = tdsserver.NVarChar(128)
			}
		}
		if err := r.Bytes([]byte{0xE3, 11, 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8}); err != nil {
			return err
		}
		if err := r.Columns(columns...); err != nil {
			return err
		}
		return r.Row(row...)
	})
	e := c.Fails(t, "SELECT 1 AS n", execution.Limits{})
	if !strings.Contains(e.Message, "session") {
		t.Errorf("error %v", e)
	}
}

// A guard may assume a setting that the backend does not pin. Open refuses such
// a guard.
func TestSessionOfTheGuard(t *testing.T) {
	url := execution.NewSecret("sqlserver://u:p@localhost?database=d")
	for value, ok := range map[string]bool{"ON": true, "on": true, "OFF": false, "": false} {
		_, err := mssqldb.Open(t.Context(), mssqldb.Config{URL: url, Session: []sqlguard.Setting{{Name: "QUOTED_IDENTIFIER", Value: value}}}, sqlguard.ID{1})
		if (err == nil) != ok || !ok && execution.CodeOf(err) != sqlguard.CodeSessionModeMismatch {
			t.Errorf("%q: %v", value, err)
		}
	}
	if _, err := mssqldb.Open(t.Context(), mssqldb.Config{URL: url, Session: []sqlguard.Setting{{Name: "MOOD", Value: "ON"}}}, sqlguard.ID{1}); err == nil {
		t.Error("an unknown setting was accepted")
	}
}

// The batch before the statement contains the limits as numbers.
func TestLimitsOfTheServer(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{})
	if _, err := c.Try(t.Context(), t, "SELECT 1 AS n", execution.Limits{Rows: 7, LockTimeout: 250 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	opening := s.Batches()[0]
	for _, part := range []string{"SET LOCK_TIMEOUT 250;", "SET ROWCOUNT 8", "SET TEXTSIZE 2147483647;"} {
		if !strings.Contains(opening, part) {
			t.Errorf("no %q in\n%s", part, opening)
		}
	}
}

// The backend looks up names where the guard that approved the statement
// assumes, or runs nothing.
func TestHome(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	c := open(t, trusted(s), mssqldb.Config{})
	catalog, err := c.Catalog(t.Context())
	if err != nil || catalog.Major != 16 || catalog.Database != tdsserver.DefaultDatabase || len(catalog.SearchPath) != 1 || catalog.SearchPath[0] != "dbo" {
		t.Fatalf("%+v, %v", catalog, err)
	}
	c.SetGuard(executiontest.Guard(t, "sqlserver", 0).ID())
	c.One(t, "SELECT 1 AS n")

	// When the catalogue was read, the user's default schema was sales.
	s.On(mssqldb.CatalogSQL, func(r *tdsserver.Reply) error {
		text := tdsserver.NVarChar(128)
		if err := r.Columns(tdsserver.Column{Name: "version", Type: text}, tdsserver.Column{Name: "databasename", Type: text}, tdsserver.Column{Name: "schemaname", Type: text}); err != nil {
			return err
		}
		return r.Row("17.0.1000.7", "shop", "sales")
	})
	if catalog, err = c.Catalog(t.Context()); err != nil || catalog.Major != 17 || strings.Join(catalog.SearchPath, ",") != "sales,dbo" {
		t.Fatalf("%+v, %v", catalog, err)
	}
	c.One(t, "SELECT 1 AS n") // approved by the old guard
	c.SetGuard(executiontest.Guard(t, "sqlserver", 0).ID())
	if e := c.Fails(t, "SELECT 1 AS n", execution.Limits{}); e.Code != sqlguard.CodeSessionModeMismatch {
		t.Errorf("error %v, want %s", e, sqlguard.CodeSessionModeMismatch)
	}
}
