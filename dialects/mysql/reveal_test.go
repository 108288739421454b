package mysql_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

func revealing(t *testing.T, d sqlguard.Dialect, groups ...sqlguard.Group) *sqlguard.Guard {
	t.Helper()
	p := sqlguard.DefaultPolicy()
	p.Reveal = groups
	g, err := sqlguard.New(d, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCountersWithoutGroup: settings that are numbers or words of a list, and counters
// that show no rows, statements, accounts or paths, need no group.
func TestCountersWithoutGroup(t *testing.T) {
	for _, d := range []sqlguard.Dialect{mysql.Dialect{}, mysql.MariaDB} {
		none := revealing(t, d)
		for sql, allowed := range map[string]bool{
			"SELECT @@log_bin, @@global.sync_binlog, @@innodb_flush_log_at_trx_commit":                             true,
			"SHOW GLOBAL VARIABLES WHERE Variable_name = 'userstat' OR (Variable_name IN ('log_bin', 'sql_mode'))": true,
			"SHOW VARIABLES LIKE 'innodb_flush%'":                                                                  true,
			"SHOW VARIABLES LIKE 'slow_query_log'":                                                                 true,
			"SELECT * FROM performance_schema.table_io_waits_summary_by_index_usage":                               true,
			"SELECT * FROM performance_schema.events_statements_summary_global_by_event_name":                      true,
			"SELECT name, count FROM information_schema.innodb_metrics":                                            true,
			"SHOW VARIABLES LIKE 'slow_query_log%'":                                                                false, // a file
			"SHOW VARIABLES LIKE 'innodb_buffer_pool%'":                                                            false, // a file
			"SHOW VARIABLES LIKE 'key_%'":                                                                          false, // keyring
			"SHOW VARIABLES":                                                                                       false,
			"SHOW STATUS":                                                                                          false, // paths
			"SELECT * FROM performance_schema.global_status":                                                       false, // paths
			"SELECT * FROM performance_schema.events_statements_summary_by_digest":                                 false,
			"SELECT * FROM performance_schema.file_summary_by_instance":                                            false,
		} {
			if v := none.Check(sql); v.Allowed != allowed {
				t.Errorf("%s: %+v", sql, v.Findings)
			}
		}
	}
}

func TestGroupsAdmitWhatTheyName(t *testing.T) {
	for _, d := range []sqlguard.Dialect{mysql.Dialect{}, mysql.MariaDB} {
		none, all := revealing(t, d), revealing(t, d, sqlguard.Groups()...)
		for sql, group := range map[string]sqlguard.Group{
			"SELECT * FROM sys.schema_table_statistics":                              sqlguard.GroupStatistics,
			"SELECT * FROM sys.x$schema_index_statistics":                            sqlguard.GroupStatistics,
			"SELECT variable_value FROM performance_schema.global_status":            sqlguard.GroupStatistics,
			"SELECT sys.format_bytes(1024), sys.format_time(count_star) FROM orders": sqlguard.GroupStatistics,
			"SHOW GLOBAL STATUS":                                                             sqlguard.GroupStatistics,
			"SHOW STATUS LIKE 'wsrep%'":                                                      sqlguard.GroupStatistics,
			"SELECT plugin_name FROM information_schema.plugins":                             sqlguard.GroupSettings,
			"SELECT * FROM information_schema.user_privileges":                               sqlguard.GroupRoles,
			"SELECT info FROM information_schema.processlist":                                sqlguard.GroupActivity,
			"SELECT digest_text FROM performance_schema.events_statements_summary_by_digest": sqlguard.GroupActivity,
			"SHOW PROCESSLIST":                                                               sqlguard.GroupActivity,
			"SHOW FULL PROCESSLIST":                                                          sqlguard.GroupActivity,
			"SELECT * FROM performance_schema.replication_applier_status":                    sqlguard.GroupReplication,
			"SHOW SLAVE STATUS":                                                              sqlguard.GroupReplication,
			"SELECT file_name FROM information_schema.files":                                 sqlguard.GroupStorage,
			"SHOW CREATE VIEW open_orders":                                                   sqlguard.GroupDefinitions,
			"SHOW CREATE PROCEDURE refund":                                                   sqlguard.GroupDefinitions,
			"SELECT routine_definition FROM information_schema.routines":                     sqlguard.GroupDefinitions,
			"SHOW TRIGGERS":                                                                  sqlguard.GroupDefinitions,
			"SHOW CREATE TABLE orders":                                                       sqlguard.GroupDefinitions,
			"SHOW REPLICAS":                                                                  sqlguard.GroupReplication,
			"SHOW REPLICA HOSTS":                                                             sqlguard.GroupReplication,
			"SHOW SLAVE HOSTS":                                                               sqlguard.GroupReplication,
			"SELECT COUNT(*) FROM performance_schema.error_log":                              sqlguard.GroupStatistics,
			"SELECT logged, prio, error_code FROM performance_schema.error_log":              sqlguard.GroupStatistics,
			"SHOW BINARY LOGS":                                                               sqlguard.GroupReplication,
			"SHOW ALL SLAVES STATUS":                                                         sqlguard.GroupReplication,
			"SELECT @@server_uuid":                                                           sqlguard.GroupReplication,
			"SHOW ENGINE InnoDB STATUS":                                                      sqlguard.GroupActivity,
			"SHOW OPEN TABLES":                                                               sqlguard.GroupStatistics,
			"SHOW PLUGINS":                                                                   sqlguard.GroupSettings,
			"SELECT user, host, max_user_connections FROM mysql.user":                        sqlguard.GroupRoles,
			"SELECT u.user, COUNT(*) FROM mysql.user AS u WHERE u.host = '%' GROUP BY u.user": sqlguard.GroupRoles,
			"SELECT * FROM mysql.db": sqlguard.GroupRoles,
			"SELECT attr_name, attr_value FROM performance_schema.session_connect_attrs": sqlguard.GroupActivity,
			"SELECT page_type FROM information_schema.innodb_buffer_page":                sqlguard.GroupStorage,
			"SELECT * FROM information_schema.innodb_tablestats":                         sqlguard.GroupStatistics,
			"SELECT * FROM information_schema.views":                                     sqlguard.GroupDefinitions,
		} {
			one := revealing(t, d, group)
			v := none.Check(sql)
			if v.Allowed || v.Findings[0].Reveal != group || !strings.Contains(v.Findings[0].Hint, "guard.reveal: ["+string(group)+"]") {
				t.Errorf("%s: without the group: %+v", sql, v.Findings)
			}
			for name, g := range map[string]*sqlguard.Guard{"all": all, string(group): one} {
				if v := g.Check(sql); !v.Allowed {
					t.Errorf("%s with %s: %+v", sql, name, v.Findings)
				}
			}
		}
	}
}

func TestNoGroupAdmitsSecretsOrValues(t *testing.T) {
	for _, d := range []sqlguard.Dialect{mysql.Dialect{}, mysql.MariaDB} {
		g := revealing(t, d, sqlguard.Groups()...)
		for _, sql := range []string{
			"SELECT * FROM mysql.user", "SELECT * FROM mysql.global_priv", "SELECT * FROM mysql.servers", "SELECT * FROM mysql.general_log",
			"SELECT * FROM mysql.column_stats", "SELECT * FROM performance_schema.keyring_keys",
			"SELECT * FROM performance_schema.global_variables", "SELECT * FROM information_schema.system_variables", "SHOW VARIABLES",
			"SELECT * FROM performance_schema.user_variables_by_thread", "SELECT * FROM information_schema.innodb_ft_index_table",
			"SELECT * FROM information_schema.column_statistics", "SHOW GRANTS", "SHOW CREATE USER root",
			"SHOW BINLOG EVENTS", "SHOW CREATE VIEW mysql.servers", "SHOW GLOBAL VARIABLES WHERE variable_name = 'sql_mode' OR value LIKE '/%'",
			"SHOW VARIABLES WHERE variable_name IN ('sql_mode') OR 1", "SHOW VARIABLES WHERE NOT variable_name = 'sql_mode'", "SHOW VARIABLES WHERE variable_name = 'sql_mode' XOR 1",
			"SELECT authentication_string FROM mysql.user", "SELECT u.* FROM mysql.user u", "TABLE mysql.user", "SELECT Password FROM `mysql`.`user`",
			"SELECT user FROM mysql.user WHERE authentication_string LIKE '*A%'", "SELECT user FROM mysql.user ORDER BY authentication_string", "SELECT user FROM mysql.user ORDER BY (authentication_string)",
			"SELECT 1 FROM mysql.user u JOIN orders o USING (authentication_string)", "SELECT 1 FROM mysql.user u NATURAL JOIN orders o", "SELECT user_attributes FROM mysql.user",
			"SELECT a FROM (SELECT * FROM mysql.user) AS d(a)", "SELECT @@datadir", "SELECT @@ssl_key", "SELECT @@wsrep_provider_options", "SELECT @@rand_seed1", "SELECT * FROM ndbinfo.processes", "SELECT @@init_file", "SELECT KDF('a', 'b', 1)",
			"SELECT * FROM performance_schema.error_log", "SELECT data FROM performance_schema.error_log", "SELECT 1 FROM performance_schema.error_log WHERE data LIKE '%password%'",
			"SELECT sys.ps_thread_stack(1, 1)", "SELECT sys.sys_get_config('a', 'b')", "SELECT shop.format_bytes(1)", "SELECT * FROM performance_schema.replication_connection_configuration",
		} {
			if v := g.Check(sql); v.Allowed {
				t.Errorf("%s passes", sql)
			}
		}
	}
}

func TestPatternsOfVariables(t *testing.T) {
	g := revealing(t, mysql.Dialect{})
	for sql, want := range map[string]bool{
		"SHOW VARIABLES LIKE 'version%'":           true,
		"SHOW VARIABLES LIKE 'lower_case_%'":       true,
		"SHOW GLOBAL VARIABLES LIKE 'max_%'":       true,
		"SHOW SESSION VARIABLES LIKE 'collation%'": true,
		"SHOW VARIABLES LIKE '%timeout'":           true,
		"SHOW VARIABLES LIKE 'sql_mode'":           true,
		"SELECT name FROM mysql.time_zone_name":    true,
		"SHOW VARIABLES LIKE 'character_set%'":     false, // character_sets_dir
		"SHOW VARIABLES LIKE 'sql_%'":              false,
		"SHOW VARIABLES LIKE '%'":                  false,
		"SHOW VARIABLES LIKE '%%'":                 false,
		"SHOW VARIABLES LIKE 'v%n%'":               false,
		"SHOW VARIABLES LIKE '_ersion%'":           false,
		"SHOW VARIABLES LIKE '%dir'":               false,
		"SHOW VARIABLES LIKE 'init_%'":             false,
		"SHOW VARIABLES LIKE 'tls_%'":              false,
		"SELECT * FROM mysql.gtid_slave_pos":       false,
	} {
		if v := g.Check(sql); v.Allowed != want {
			t.Errorf("%s: allowed %v: %+v", sql, v.Allowed, v.Findings)
		}
	}
}

// A condition of the policy on a view holds for its source text too.
func TestDefinitionsFollowTableRules(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Reveal = []sqlguard.Group{sqlguard.GroupDefinitions}
	p.Database, p.Tables.Deny = "shop", []string{"shop.secret_orders"}
	g, err := sqlguard.New(mysql.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.Check("SHOW CREATE VIEW secret_orders").Allowed || !g.Check("SHOW CREATE VIEW open_orders").Allowed {
		t.Error("SHOW CREATE VIEW does not follow the rule on the table")
	}
}

// Values of locked rows are revealed only where no rule denies a table or a column.
func TestLockedRowsNeedNoAccessRules(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Reveal = sqlguard.Groups()
	open, err := sqlguard.New(mysql.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Database, p.Tables.Deny = "shop", []string{"shop.salaries"}
	ruled, err := sqlguard.New(mysql.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SELECT lock_data FROM performance_schema.data_locks", "SELECT lock_id FROM information_schema.innodb_locks", "SHOW ENGINE INNODB STATUS"} {
		if !open.Check(sql).Allowed || ruled.Check(sql).Allowed {
			t.Errorf("%s: %v without rules, %v with them", sql, open.Check(sql).Allowed, ruled.Check(sql).Allowed)
		}
	}
}
