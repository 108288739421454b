package sqlitedb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

// A sort that does not fit into memory may write temporary files up to limits.temp.
func TestTemporaryFilesAreBounded(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	const sort = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) SELECT length(b) FROM (SELECT randomblob(10000) AS b FROM n ORDER BY 1) LIMIT 1"
	_, err := c.Try(t.Context(), t, sort, execution.Limits{Temp: 4 << 20, Timeout: time.Minute})
	e := typed(t, err)
	if e.Code != sqlguard.CodeDatabaseError || e.SQLState != "SQLITE_FULL" || e.Retryable || !strings.Contains(e.Message, "more than 4 MiB of temporary files") {
		t.Errorf("error %+v, want that of limits.temp", e)
	}
	if _, err := c.Try(t.Context(), t, sort, execution.Limits{Timeout: time.Minute}); err != nil {
		t.Errorf("within the default limit: %v", err)
	}
	// What one statement used does not count against the next.
	for range 3 {
		if _, err := c.Try(t.Context(), t, sort, execution.Limits{Temp: 100 << 20, Timeout: time.Minute}); err != nil {
			t.Errorf("again: %v", err)
		}
	}
}

// Abandoned statements keep their connections, and the error for the others says
// for how long.
func TestAbandonedStatementsKeepTheirConnections(t *testing.T) {
	c := open(t, testdb.SQLiteFile(t), 1)
	executiontest.Scaled(t, func(scale int) bool {
		long := longOpcode(t, c, time.Duration(scale)*4*time.Second)
		held, all := executiontest.Hold(t, c.Client, 1, long, 50*time.Millisecond)
		if !all {
			return false
		}
		_, err := c.Try(t.Context(), t, "SELECT 1", execution.Limits{})
		if err != nil {
			if e := typed(t, err); e.Code != sqlguard.CodeBusy || !strings.Contains(e.Message, "last seen running") || e.RetryAfter < time.Second {
				t.Errorf("error %+v beside it, want busy", e)
			}
		}
		settled(t, c)
		executiontest.Over(t, held)
		if got := c.rows(t, "SELECT 1"); got[0][0] != "1" {
			t.Errorf("read %v after it has ended", got)
		}
		return err != nil
	})
}
