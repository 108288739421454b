package clickhouse_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// held returns the texts of the statements that KTX_CLICKHOUSE_HELD names.
func held(tb testing.TB) []string {
	tb.Helper()
	var out []string
	for _, s := range dialecttest.Held(tb, "KTX_CLICKHOUSE_HELD") {
		out = append(out, s.SQL)
	}
	return out
}

// TestHeldStatementsOfTheEngine judges statements that others wrote. None that is
// allowed may be anything but one read to the engine, and of those that are one read it
// counts the refused ones by their source and code.
func TestHeldStatementsOfTheEngine(t *testing.T) {
	statements := dialecttest.Held(t, "KTX_CLICKHOUSE_HELD")
	if len(statements) == 0 {
		t.Skip("KTX_CLICKHOUSE_HELD names no statements")
	}
	e := startEngine(t)
	dialecttest.JudgeHeld(t, statements, clickhouse.Dialect{}, func(sql string) (fault string, read bool) {
		fault = judge(t, e, sql)
		return fault, fault == ""
	})
}
