package sqlserver_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

func newGuard(tb testing.TB) *sqlguard.Guard {
	tb.Helper()
	g, err := sqlguard.New(sqlserver.Dialect{}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}
