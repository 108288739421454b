package mysql_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestRelationRulings(t *testing.T) {
	t.Parallel()
	const allowed = sqlguard.Code("allowed")
	for _, c := range []struct {
		schema, name string
		system       bool
		code         sqlguard.Code
	}{
		{"", "orders", false, allowed},
		{"", "user", false, allowed},
		{"shop", "orders", false, allowed},
		{"shop", "processlist", false, allowed},
		{"mysql_shop", "user", false, allowed},
		{"information_schema", "tables", true, allowed},
		{"INFORMATION_SCHEMA", "TABLES", true, allowed},
		{"Information_Schema", "Key_Column_Usage", true, allowed},
		{"information_schema", "processlist", true, sqlguard.CodeCredentialRelation},
		{"INFORMATION_SCHEMA", "PROCESSLIST", true, sqlguard.CodeCredentialRelation},
		{"information_schema", "innodb_ft_anything", true, sqlguard.CodeCredentialRelation},
		{"information_schema", "plugins", true, sqlguard.CodeRelationNotAllowed},
		{"information_schema", "anything_new", true, sqlguard.CodeRelationNotAllowed},
		{"information_schemä", "tables", true, sqlguard.CodeRelationNotAllowed},
		{"İnformation_schema", "tables", true, sqlguard.CodeRelationNotAllowed},
		{"mysql", "user", true, sqlguard.CodeCredentialRelation},
		{"MySQL", "User", true, sqlguard.CodeCredentialRelation},
		{"mysql", "time_zone", true, allowed},
		{"mysql", "anything_new", true, sqlguard.CodeRelationNotAllowed},
		{"sys", "x$processlist", true, sqlguard.CodeCredentialRelation},
		{"sys", "version", true, sqlguard.CodeRelationNotAllowed},
		{"performance_schema", "threads", true, sqlguard.CodeCredentialRelation},
		{"performance_schema", "events_statements_current", true, sqlguard.CodeCredentialRelation},
		{"performance_schema", "global_status", true, sqlguard.CodeRelationNotAllowed},
		{"ndbinfo", "nodes", true, sqlguard.CodeCredentialRelation},
		{"#mysql50#mysql", "user", true, sqlguard.CodeRelationNotAllowed},
		{"shop", "#mysql50#orders", true, sqlguard.CodeRelationNotAllowed},
		{"", "seq_1_to_10", false, allowed},
		{"shop", "SEQ_1_to_10000000", false, allowed},
		{"shop", "seq_1_to_99999999", true, sqlguard.CodeRelationNotAllowed},
		{"", "seq_99999999_TO_1", true, sqlguard.CodeRelationNotAllowed},
		{"", "seq_1_to_99999999_step_100", false, allowed},
		{"", "seq_1_to_99999999_step_0", true, sqlguard.CodeRelationNotAllowed},
		{"", "seq_1_to_99999999999999999999", true, sqlguard.CodeRelationNotAllowed},
		{"", "seq_1_to_many", false, allowed},
		{"", "#sql-1a2b", true, sqlguard.CodeRelationNotAllowed},
	} {
		system, ruling := mysql.RelationRuling(c.schema, c.name)
		got := ruling.Code
		if ruling.Allowed {
			got = allowed
		}
		if got != c.code || system != c.system {
			t.Errorf("%s.%s: %q, system %v; want %q, %v", c.schema, c.name, got, system, c.code, c.system)
		}
	}
}

// TestRelationsOfTheServer checks that the tables know every schema of the server as its
// own, and that the guard refuses each table in them that no list allows.
func TestRelationsOfTheServer(t *testing.T) {
	t.Parallel()
	s := testdb.MariaDB(t)
	rows, err := s.DB(t, s.URL("", "")).QueryContext(t.Context(), `SELECT table_schema, table_name FROM information_schema.tables
		WHERE table_schema IN ('information_schema', 'mysql', 'performance_schema', 'sys')`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	seen, allowed := 0, 0
	for rows.Next() {
		var schema, name string
		if err := rows.Scan(&schema, &name); err != nil {
			t.Fatal(err)
		}
		seen++
		system, ruling := mysql.RelationRuling(schema, name)
		if !system {
			t.Errorf("%s.%s counts as a relation of a user", schema, name)
		}
		if ruling.Allowed {
			allowed++
			if schema != "information_schema" && schema != "INFORMATION_SCHEMA" && !strings.HasPrefix(name, "time_zone") && !mysql.CounterRelations["performance_schema"][name] {
				t.Errorf("%s.%s is allowed", schema, name)
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if seen < 100 || allowed < 20 {
		t.Errorf("%d relations, %d of them allowed, which is too few for this test", seen, allowed)
	}
}
