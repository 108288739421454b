package executiontest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/sqlguard"
)

// testErrors checks that a database's error is typed, has the database's
// message, comes without rows, and leaves a connection that works.
func testErrors(t *testing.T, s *suite) {
	t.Helper()
	c, _ := s.open(t, 1)
	for _, q := range []struct{ name, sql string }{
		{"at once", s.Queries.Fails},
		{"after rows", s.Queries.FailsLate},
		{"not compiled", s.Queries.Wrong},
	} {
		t.Run(q.name, func(t *testing.T) {
			res, err := c.Try(t.Context(), t, q.sql, execution.Limits{Rows: 1_000_000, Bytes: 1 << 30})
			if res != nil {
				t.Errorf("a statement that failed returned %d rows", len(res.Rows))
			}
			e := wantError(t, err, sqlguard.CodeDatabaseError)
			if e.SQLState == "" || e.Message == "" || e.Retryable {
				t.Errorf("SQLState %q, message %q, retryable %t; want the server's own, and not retryable", e.SQLState, e.Message, e.Retryable)
			}
			s.answers(t, c)
		})
	}
	t.Run("position", func(t *testing.T) {
		if s.Queries.WrongAt == "" {
			t.Skip("the engine gives no position")
		}
		_, err := c.Try(t.Context(), t, s.Queries.Wrong, execution.Limits{})
		e := wantError(t, err, sqlguard.CodeDatabaseError)
		if want := strings.Index(s.Queries.Wrong, s.Queries.WrongAt) + 1; e.Position != want {
			t.Errorf("position %d, want %d, the byte offset of %q plus one", e.Position, want, s.Queries.WrongAt)
		}
	})
	t.Run("unknown names", func(t *testing.T) {
		_, err := c.Try(t.Context(), t, "SELECT 1 FROM ktx_no_such_table", execution.Limits{})
		e := wantError(t, err, sqlguard.CodeDatabaseError)
		if strings.HasPrefix(e.Message, "the stand-in does not know") {
			t.Skip("the stand-in has no catalogue")
		}
		list, ok := strings.CutSuffix(e.Hint, " lists the tables")
		if !ok {
			t.Fatalf("%s: hint %q, want the statement that lists the tables", e.Message, e.Hint)
		}
		_, err = c.Try(t.Context(), t, list, execution.Limits{Rows: 10})
		// The stand-in of SQL Server has no catalogue.
		if err != nil && (s.Dialect != "sqlserver" || execution.CodeOf(err) != sqlguard.CodeDatabaseError) {
			t.Errorf("the hint's %s: %v", list, err)
		}
		_, err = c.Try(t.Context(), t, "SELECT ktx_no_such_column", execution.Limits{})
		if e := wantError(t, err, sqlguard.CodeDatabaseError); !strings.HasSuffix(e.Hint, " lists the columns of a table") {
			t.Errorf("%s: hint %q, want the statement that lists columns", e.Message, e.Hint)
		}
	})
	t.Run("many", func(t *testing.T) {
		for range 50 {
			if _, err := c.Try(t.Context(), t, s.Queries.Wrong, execution.Limits{}); err == nil {
				t.Fatal("no error")
			}
		}
		s.answers(t, c)
	})
}

// wantError fails the test unless err is an *execution.Error of one of codes.
func wantError(t *testing.T, err error, codes ...sqlguard.Code) *execution.Error {
	t.Helper()
	e, ok := errors.AsType[*execution.Error](err)
	if !ok {
		t.Fatalf("error %v (%T), want an *execution.Error", err, err)
	}
	if !slices.Contains(codes, e.Code) {
		t.Fatalf("error %v, want code %v", err, codes)
	}
	return e
}

// wantCode is like wantError, for a caller that needs only the code.
func wantCode(t *testing.T, err error, codes ...sqlguard.Code) {
	t.Helper()
	_ = wantError(t, err, codes...)
}
