package mysqldb_test

import (
	"context"
	"flag"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with")

func TestMain(m *testing.M) { testdb.Main(m) }

func TestBackend(t *testing.T) {
	of := executiontest.MariaDB
	if testdb.MariaDB(t).Product() == "mysql" {
		of = executiontest.MySQL
	}
	target := of(func(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
		return mysqldb.Open(ctx, mysqldb.Config{URL: execution.NewSecret(address), MaxConnections: connections, Session: mysql.Dialect{}.Session()}, guard)
	})
	target.Update = *update
	target.Reader = mysql.Dialect{}
	executiontest.RunBackend(t, target)
}
