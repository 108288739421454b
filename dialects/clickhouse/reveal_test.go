package clickhouse_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestRevealedTables: each table of a group is refused without it, and read with it alone.
func TestRevealedTables(t *testing.T) {
	t.Parallel()
	plain := dialecttest.NewGuard(t, clickhouse.Dialect{})
	tables := 0
	for _, r := range (clickhouse.Dialect{}).Reveals() {
		if r.Kind != "relation" {
			continue
		}
		tables++
		sql := "SELECT * FROM " + r.Name
		if v := plain.Check(sql); v.Allowed != r.Always || !r.Always && v.Findings[0].Reveal != r.Group {
			t.Errorf("%s without a group: %v %+v", sql, v.Allowed, v.Findings)
		}
		for _, group := range sqlguard.Groups() {
			if v := guardRevealing(t, group).Check(sql); v.Allowed != (r.Always || group == r.Group) {
				t.Errorf("%s with %s: %v", sql, group, v.Allowed)
			}
		}
	}
	if tables < 40 {
		t.Errorf("only %d tables", tables)
	}
	// What can have keys or passwords is in none, and a name of another database is no table of the server.
	all := guardRevealing(t, sqlguard.Groups()...)
	for name := range strings.FieldsSeq(`system.users system.settings system.server_settings system.named_collections system.dictionaries system.zookeeper
		system.user_directories system.distribution_queue system.text_log system.session_log system.crash_log system.certificates System.query_log
		information_schema.query_log system.QUERY_LOG`) {
		if all.Check("SELECT * FROM " + name).Allowed {
			t.Errorf("%s is allowed", name)
		}
	}
}

func guardRevealing(t *testing.T, groups ...sqlguard.Group) *sqlguard.Guard {
	t.Helper()
	p := sqlguard.DefaultPolicy()
	p.Reveal = groups
	g, err := sqlguard.New(clickhouse.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
