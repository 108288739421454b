package mysqldb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestRulesDoNotLeak(t *testing.T) {
	server := testdb.MariaDB(t)
	executiontest.Leaks(t, "mysql", func(t *testing.T, setup []string, deny func(string) sqlguard.Policy) *execution.Gateway {
		t.Helper()
		url := server.NewDatabase(t, setup...)
		name := url[strings.LastIndex(url, "/")+1:]
		name, _, _ = strings.Cut(name, "?")
		return openNamed(t, "leaks", url, true, func(p *sqlguard.Policy) { *p = deny(name) }).Gateway
	})
}
