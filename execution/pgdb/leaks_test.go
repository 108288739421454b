package pgdb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestRulesDoNotLeak(t *testing.T) {
	server := testdb.Postgres(t)
	executiontest.Leaks(t, "postgres", func(t *testing.T, setup []string, deny func(string) sqlguard.Policy) *execution.Gateway {
		t.Helper()
		return openDoor(t, server.NewDatabase(t, setup...), func(c *execution.Connection) {
			c.ID, c.Policy = "leaks", deny("")
		}).Gateway
	})
}

// TestHintsDoNotLeak: under rules, the server's hint about a near name is not passed on.
func TestHintsDoNotLeak(t *testing.T) {
	t.Parallel()
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "public.users.email"}}
	address := testdb.Postgres(t).NewDatabase(t, "CREATE TABLE users (id int, email text)")
	for _, ruled := range []bool{false, true} {
		cfg := pgdb.Config{}
		if ruled {
			cfg.Access = sqlguard.ReadRulesOf(postgres.Dialect{}, policy)
		}
		b := open(t, address, cfg)
		e := b.Fails(t, "SELECT emial FROM users", execution.Limits{})
		if shows := strings.Contains(e.ServerHint, "email"); shows == ruled || strings.Contains(e.Message+e.Hint, "email") {
			t.Errorf("with rules %v: %v, hint %q, of the server %q", ruled, e, e.Hint, e.ServerHint)
		}
		if e := b.Fails(t, "SELECT lower(1, 2)", execution.Limits{}); !strings.Contains(e.ServerHint, "No function matches") {
			t.Errorf("with rules %v: %q", ruled, e.ServerHint)
		}
	}
}
