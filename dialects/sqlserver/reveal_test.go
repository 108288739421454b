package sqlserver_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

func revealing(t *testing.T, groups ...sqlguard.Group) *sqlguard.Guard {
	t.Helper()
	p := sqlguard.DefaultPolicy()
	p.Reveal = groups
	g, err := sqlguard.New(sqlserver.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGroupsAdmitWhatTheyName(t *testing.T) {
	none, all := revealing(t), revealing(t, sqlguard.Groups()...)
	for sql, group := range map[string]sqlguard.Group{
		"SELECT * FROM sys.dm_os_wait_stats":                sqlguard.GroupStatistics,
		"SELECT name, value_in_use FROM sys.configurations": sqlguard.GroupSettings,
		"SELECT name FROM sys.database_principals":          sqlguard.GroupRoles,
		"SELECT * FROM INFORMATION_SCHEMA.TABLE_PRIVILEGES": sqlguard.GroupRoles,
		"SELECT * FROM sys.dm_exec_requests AS r":           sqlguard.GroupActivity,
		"SELECT s.total_elapsed_time, t.text FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t": sqlguard.GroupActivity,
		"SELECT * FROM sys.dm_hadr_database_replica_states":                                                                         sqlguard.GroupReplication,
		"SELECT physical_name FROM sys.master_files":                                                                                sqlguard.GroupStorage,
		"SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.v'))":                                                                              sqlguard.GroupDefinitions,
		"SELECT definition FROM sys.sql_modules":                                                                                    sqlguard.GroupDefinitions,
		"SELECT database_name FROM msdb.dbo.backupset":                                                                              sqlguard.GroupStorage,
		"SELECT name FROM master.sys.master_files":                                                                                  sqlguard.GroupStorage,
		"SELECT * FROM sys.dm_io_virtual_file_stats(NULL, NULL)":                                                                    sqlguard.GroupStorage,
		"SELECT name FROM msdb.dbo.sysjobs":                                                                                         sqlguard.GroupActivity,
		"SELECT servicename FROM sys.dm_server_services":                                                                            sqlguard.GroupSettings,
		"SELECT * FROM sys.dm_db_resource_stats":                                                                                    sqlguard.GroupStatistics,
		"SELECT name FROM master.sys.tables":                                                                                        sqlguard.GroupStorage,
		"SELECT name FROM tempdb.sys.database_files":                                                                                sqlguard.GroupStorage,
		"SELECT ROUTINE_NAME FROM master.INFORMATION_SCHEMA.ROUTINES":                                                               sqlguard.GroupStorage,
		"SELECT name, sysadmin FROM master..syslogins":                                                                              sqlguard.GroupRoles,
		"SELECT name FROM sys.server_triggers":                                                                                      sqlguard.GroupSettings,
		"SELECT path FROM sys.traces":                                                                                               sqlguard.GroupStorage,
		"SELECT transaction_isolation_level, host_name FROM sys.dm_exec_sessions WHERE session_id = @@SPID":                         sqlguard.GroupActivity,
		"SELECT name, data_source FROM sys.servers":                                                                                 sqlguard.GroupSettings,
		"SELECT remote_name FROM sys.linked_logins":                                                                                 sqlguard.GroupRoles,
		"SELECT encryption_state FROM sys.dm_database_encryption_keys":                                                              sqlguard.GroupStorage,
		"SELECT * FROM sys.dm_os_enumerate_fixed_drives":                                                                            sqlguard.GroupStorage,
		"SELECT * FROM sys.index_resumable_operations":                                                                              sqlguard.GroupActivity,
		"SELECT * FROM sys.dm_geo_replication_link_status":                                                                          sqlguard.GroupReplication,
		"SELECT * FROM sys.dm_server_accelerator_status":                                                                            sqlguard.GroupSettings,
		"SELECT SERVERPROPERTY('InstanceDefaultDataPath')":                                                                          sqlguard.GroupStorage,
		"SELECT r.page_id FROM sys.fn_PageResCracker(0x01) AS r":                                                                    sqlguard.GroupStorage,
		"SELECT * FROM sys.sql_modules AS m":                                                                                        sqlguard.GroupDefinitions,
	} {
		if v := none.Check(sql); v.Allowed || v.Findings[0].Reveal != group || !strings.Contains(v.Findings[0].Hint, "guard.reveal: ["+string(group)+"]") {
			t.Errorf("%s: without the group: %+v", sql, v.Findings)
		}
		for name, g := range map[string]*sqlguard.Guard{"all": all, string(group): revealing(t, group)} {
			if v := g.Check(sql); !v.Allowed {
				t.Errorf("%s with %s: %+v", sql, name, v.Findings)
			}
		}
	}
}

func TestNoGroupAdmitsSecretsOrOtherNames(t *testing.T) {
	g := revealing(t, sqlguard.Groups()...)
	for _, sql := range []string{
		"SELECT * FROM sys.sql_logins", "SELECT * FROM syslogins", "SELECT * FROM sys.credentials", "SELECT * FROM sysservers", "SELECT SERVERPROPERTY('Secret')",
		"SELECT * FROM sys.symmetric_keys", "SELECT * FROM sys.servers", "SELECT s.* FROM sys.servers AS s", "SELECT provider_string FROM sys.servers", "SELECT name FROM sys.servers FOR XML RAW, TYPE, ELEMENTS, BINARY BASE64, ROOT('x') UNION SELECT provider_string FROM master.sys.servers",
		"SELECT name FROM sys.servers WHERE provider_string LIKE '%a%'", "SELECT SERVERPROPERTY(name) FROM sys.servers", "SELECT * FROM sys.column_store_segments",
		"SELECT * FROM sys.dm_server_registry", "SELECT * FROM sys.dm_db_stats_histogram(1, 1)", "SELECT * FROM sys.fn_dblog(NULL, NULL)",
		"SELECT * FROM sys.dm_os_file_exists('c:\\x')", "SELECT command FROM msdb.dbo.sysjobsteps", "SELECT LOGINPROPERTY('sa', 'PasswordHash')",
		"SELECT * FROM sys.dm_tran_persistent_version_store", "SELECT password FROM sys.syslogins", "SELECT * FROM master.sys.sql_logins", "SELECT * FROM distribution.sys.tables", "SELECT * FROM other.dbo.sysjobs2",
		"SELECT * FROM mastér.sys.tables", "SELECT * FROM msdb.dbo.sysmail_server", "SELECT * FROM msdb.dbo.backupsét", "SELECT * FROM tempdb.sys.dm_io_virtual_file_stats(1, 1)",
		// A function of a user can have these names.
		"SELECT * FROM dbo.dm_exec_sql_text(0x01)", "SELECT dbo.object_definition(1)", "SELECT * FROM dm_exec_sql_text(0x01)",
		"SELECT * FROM sýs.dm_exec_sql_text(0x01)", "SELECT * FROM sys.dm_exec_requésts", "SELECT * FROM other.sys.dm_exec_sql_text(0x01)",
	} {
		if v := g.Check(sql); v.Allowed {
			t.Errorf("%s passes", sql)
		}
	}
}

// Drivers ask for the isolation level of their session. The columns that show how sessions
// are set need no group when nothing else is read.
func TestSettingsOfSessions(t *testing.T) {
	g := revealing(t)
	for sql, allowed := range map[string]bool{
		"SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID":                                           true,
		"SELECT s.language FROM sys.dm_exec_sessions AS s":                                                                                 true,
		"SELECT COUNT(*) FROM sys.dm_exec_sessions":                                                                                        false,
		"SELECT * FROM sys.dm_exec_sessions":                                                                                               false,
		"SELECT CHECKSUM(*), session_id FROM sys.dm_exec_sessions":                                                                         false,
		"SELECT session_id FROM sys.dm_exec_sessions WHERE program_name LIKE 'a%'":                                                         false,
		"SELECT a.session_id FROM sys.dm_exec_sessions AS a JOIN sys.dm_exec_connections AS b ON a.session_id = b.session_id":              false,
		"SELECT a.session_id FROM sys.dm_exec_sessions AS a JOIN (SELECT * FROM sys.dm_exec_sessions) AS b ON a.session_id = b.session_id": false,
		"WITH s(session_id) AS (SELECT host_name FROM sys.dm_exec_sessions) SELECT session_id FROM s":                                      false,
		"SELECT session_id FROM other.sys.dm_exec_sessions":                                                                                false,
		"SELECT session_id FROM sys.dm_exec_sessions FOR XML RAW":                                                                          true,
	} {
		if v := g.Check(sql); v.Allowed != allowed {
			t.Errorf("%s: allowed %t: %+v", sql, v.Allowed, v.Findings)
		}
	}
}
