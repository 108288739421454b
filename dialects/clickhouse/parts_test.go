package clickhouse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// valuesOfParts are statements that show values by which tables are partitioned, and
// countsOfParts are statements that do not.
var (
	valuesOfParts = []string{
		"SELECT partition FROM system.parts", "SELECT p.partition_id FROM system.parts AS p", "SELECT * FROM system.parts", "SELECT name FROM system.detached_parts",
		"SELECT count() FROM system.parts WHERE partition LIKE 'a%'", "SELECT COLUMNS('part') FROM system.parts_columns", "SELECT partition FROM system.merges",
		"SELECT max_time FROM (SELECT * FROM system.projection_parts)", "SELECT name FROM system.parts AS p JOIN system.tables AS t ON p.table = t.name", "SELECT move_ttl_info.min FROM system.parts",
		"SELECT estimates.min FROM system.parts_columns",
	}
	valuesOfRevealedParts = []string{
		"SELECT partition FROM system.dropped_tables_parts", "SELECT part_name FROM system.moves", "SELECT block_numbers.partition_id FROM system.mutations",
		"SELECT parts_to_do_names FROM system.mutations", "SELECT * FROM system.part_log", "SELECT part_name FROM system.part_moves_between_shards",
		"SELECT local_path FROM system.remote_data_paths", "SELECT partition_id FROM system.replicated_fetches", "SELECT q.new_part_name FROM system.replication_queue AS q",
		"SELECT * FROM system.query_condition_cache",
	}
	countsOfParts = []string{
		"SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active GROUP BY table", "SELECT count() FROM system.detached_parts",
		"SELECT t.name, p.rows FROM system.parts AS p JOIN system.tables AS t ON p.table = t.name",
		"SELECT progress, num_parts FROM system.merges", "SELECT partition, name FROM db.parts",
	}
)

// TestParts: what shows values of columns by which tables are partitioned is refused under rules
// of access, whatever a policy reveals.
func TestParts(t *testing.T) {
	plain, revealed := dialecttest.NewGuard(t, clickhouse.Dialect{}), guardRevealing(t, sqlguard.Groups()...)
	p := sqlguard.DefaultPolicy()
	p.Reveal, p.Columns = sqlguard.Groups(), []sqlguard.ColumnRule{{Match: "db.users.email"}}
	ruled, err := sqlguard.New(clickhouse.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range append(valuesOfParts, valuesOfRevealedParts...) {
		if v := ruled.Check(sql); v.Allowed || v.Code != sqlguard.CodeColumnNotAllowed || len(v.Findings) != 1 {
			t.Errorf("%s: %v %s", sql, v.Allowed, v.Code)
		}
		if v := revealed.Check(sql); !v.Allowed {
			t.Errorf("%s without rules: %+v", sql, v.Findings)
		}
	}
	for _, sql := range valuesOfParts {
		if v := plain.Check(sql); !v.Allowed {
			t.Errorf("%s without rules: %+v", sql, v.Findings)
		}
	}
	p.Columns, p.Tables.Deny = nil, []string{"db.users"}
	if ruled, err = sqlguard.New(clickhouse.Dialect{}, p, nil); err != nil {
		t.Fatal(err)
	}
	for _, sql := range append(countsOfParts, "SELECT parts_to_do FROM system.mutations", "SELECT event_type, rows FROM system.part_log") {
		if v := ruled.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
	if v := ruled.Check(valuesOfParts[0]); v.Allowed {
		t.Errorf("%s with a rule on a table", valuesOfParts[0])
	}
	p.Columns, p.Tables.Deny = []sqlguard.ColumnRule{{Match: "db.users.email"}}, nil
	if ruled, err = sqlguard.New(clickhouse.Dialect{}, p, nil); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SELECT _partition_value FROM db.users", "SELECT id FROM db.users AS u WHERE u._partition_value.1 = 'a'", "SELECT _part FROM db.users", "SELECT id FROM db.users ORDER BY _partition_id"} {
		if v := ruled.Check(sql); v.Allowed || v.Code != sqlguard.CodeColumnNotAllowed {
			t.Errorf("%s: %v %s", sql, v.Allowed, v.Code)
		}
		if v := plain.Check(sql); !v.Allowed {
			t.Errorf("%s without rules: %+v", sql, v.Findings)
		}
	}
}

// TestPartsOfTheEngine shows the value of a key in what is refused of the engine's own tables.
func TestPartsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	for _, sql := range []string{
		"CREATE DATABASE db", "CREATE TABLE db.users (id Int64, email String) ENGINE = MergeTree PARTITION BY email ORDER BY id", "INSERT INTO db.users VALUES (1, 'a@b.c')",
		"CREATE TABLE db.gone AS db.users", "INSERT INTO db.gone VALUES (1, 'a@b.c')", "DROP TABLE db.gone",
	} {
		if _, err := e.Query(sql, "TSV"); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{"SELECT partition FROM system.parts WHERE database = 'db'", "SELECT _partition_value FROM db.users", "SELECT partition FROM system.dropped_tables_parts"} {
		if got := rows[[1]any](t, e, sql); len(got) != 1 || !strings.Contains(fmt.Sprint(got[0][0]), "a@b.c") {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
