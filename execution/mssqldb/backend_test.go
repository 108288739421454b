package mssqldb_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/mssqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite the part of SQL Server in docs/evidence/second-control.md")

func openBackend(ctx context.Context, address string, connections int, guard sqlguard.ID) (execution.Backend, error) {
	return mssqldb.Open(ctx, mssqldb.Config{URL: execution.NewSecret(address), MaxConnections: connections}, guard)
}

func TestBackend(t *testing.T) {
	executiontest.RunBackend(t, executiontest.SQLServer(openBackend))
}

// TestBackendOnARealServer runs the same tests on a real server.
// KTX_TEST_SQLSERVER_URL is the URL of a sysadmin on a server that the tests
// may damage.
func TestBackendOnARealServer(t *testing.T) {
	admin := os.Getenv("KTX_TEST_SQLSERVER_URL")
	if admin == "" {
		t.Skip("KTX_TEST_SQLSERVER_URL names no server")
	}
	target := executiontest.RealSQLServer(openBackend, admin)
	target.Update = *update
	target.Reader = sqlserver.Dialect{}
	executiontest.RunBackend(t, target)
}

// TestGuardRefusesTheAttacks checks that the guard refuses the statements with
// which the suite attacks a real server.
func TestGuardRefusesTheAttacks(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.Tables.Deny = []string{"dbo.secrets"}
	guard, err := sqlguard.New(sqlserver.Dialect{}, policy, &sqlguard.Catalog{Major: 16, Database: "shop", SearchPath: []string{"dbo"}})
	if err != nil {
		t.Fatal(err)
	}
	attacks := executiontest.RealSQLServer(openBackend, "").Attacks
	for _, a := range attacks {
		if v := guard.Check(a.SQL); v.Allowed {
			t.Errorf("%s: the guard allows %s", a.Name, a.SQL)
		}
	}
	t.Logf("%d attacks", len(attacks))
}
