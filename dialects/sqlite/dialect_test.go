package sqlite_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/sqlguard"
)

func newGuard(t testing.TB) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(sqlite.Dialect{}, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
