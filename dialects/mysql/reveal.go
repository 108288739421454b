package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// This file has the groups that a policy can reveal. Everything named here is refused by
// the lists; a policy that reveals the group admits it. The server still applies the
// rights of the account. A relation of which one column shows the statements of others
// belongs to activity as a whole. Not in a group are relations with hashes, keys, values
// of rows (performance_schema.data_locks), and all system variables together, because
// plugins keep keys in them.

// revealedRelations are relations by schema and group. The forms x$NAME of the schema
// sys belong to the same group.
var revealedRelations = map[string]map[sqlguard.Group]string{
	"information_schema": {
		sqlguard.GroupStatistics: `
			global_status session_status innodb_tablestats innodb_sys_tablestats innodb_cmp_per_index
			rocksdb_cfstats rocksdb_compaction_stats rocksdb_dbstats rocksdb_perf_context rocksdb_perf_context_global rocksdb_sst_props`,
		sqlguard.GroupSettings: `plugins all_plugins`,
		sqlguard.GroupRoles: `
			applicable_roles administrable_role_authorizations enabled_roles user_privileges schema_privileges
			table_privileges column_privileges role_column_grants role_routine_grants role_table_grants`,
		sqlguard.GroupActivity:    `processlist innodb_trx innodb_locks innodb_lock_waits client_statistics user_statistics query_cache_info`,
		sqlguard.GroupReplication: `replica_host_status wsrep_membership wsrep_status`,
		sqlguard.GroupStorage: `
			files innodb_tablespaces innodb_tablespaces_brief innodb_datafiles innodb_tables innodb_columns innodb_indexes
			innodb_fields innodb_foreign innodb_foreign_cols innodb_virtual innodb_temp_table_info
			innodb_sys_tablespaces innodb_sys_datafiles innodb_sys_tables innodb_sys_columns innodb_sys_indexes
			innodb_sys_fields innodb_sys_foreign innodb_sys_foreign_cols innodb_sys_virtual
			innodb_buffer_page innodb_buffer_page_lru`,
	},
	"mysql": {
		sqlguard.GroupStatistics:  `innodb_table_stats innodb_index_stats table_stats index_stats`,
		sqlguard.GroupRoles:       `user db tables_priv columns_priv procs_priv proxies_priv roles_mapping role_edges default_roles global_grants`,
		sqlguard.GroupReplication: `gtid_executed gtid_slave_pos`,
	},
	"performance_schema": {
		sqlguard.GroupStatistics: `
			global_status session_status cond_instances mutex_instances rwlock_instances socket_summary_by_instance
			table_handles error_log setup_meters setup_metrics setup_objects setup_threads`,
		sqlguard.GroupActivity: `
			threads processlist accounts users hosts metadata_locks data_locks data_lock_waits
			session_connect_attrs session_account_connect_attrs setup_actors
			status_by_account status_by_host status_by_thread status_by_user socket_instances
			events_statements_current events_statements_history events_statements_history_long
			events_statements_summary_by_account_by_event_name events_statements_summary_by_digest
			events_statements_summary_by_host_by_event_name events_statements_summary_by_program
			events_statements_summary_by_thread_by_event_name events_statements_summary_by_user_by_event_name
			events_stages_current events_stages_history events_stages_history_long
			events_transactions_current events_transactions_history events_transactions_history_long
			events_waits_current events_waits_history events_waits_history_long
			events_waits_summary_by_account_by_event_name events_waits_summary_by_host_by_event_name
			events_waits_summary_by_instance events_waits_summary_by_thread_by_event_name events_waits_summary_by_user_by_event_name
			events_stages_summary_by_account_by_event_name events_stages_summary_by_host_by_event_name
			events_stages_summary_by_thread_by_event_name events_stages_summary_by_user_by_event_name
			memory_summary_by_account_by_event_name memory_summary_by_host_by_event_name
			memory_summary_by_thread_by_event_name memory_summary_by_user_by_event_name`,
		sqlguard.GroupReplication: `
			replication_applier_configuration replication_applier_status replication_applier_status_by_coordinator
			replication_applier_status_by_worker replication_connection_status replication_group_members
			replication_group_member_stats replication_applier_filters replication_applier_global_filters
			binary_log_transaction_compression_stats`,
		sqlguard.GroupStorage: `file_instances file_summary_by_instance`,
	},
	"sys": {
		sqlguard.GroupStatistics: `
			schema_auto_increment_columns schema_index_statistics schema_object_overview schema_redundant_indexes
			schema_table_statistics schema_table_statistics_with_buffer schema_tables_with_full_table_scans
			schema_unused_indexes schema_flattened_keys metrics ps_schema_table_statistics_io ps_check_lost_instrumentation
			memory_global_by_current_bytes memory_global_total waits_global_by_latency wait_classes_global_by_avg_latency
			wait_classes_global_by_latency io_global_by_wait_by_bytes io_global_by_wait_by_latency version`,
		sqlguard.GroupActivity: `
			processlist session innodb_lock_waits schema_table_lock_waits latest_file_io statement_analysis
			statements_with_errors_or_warnings statements_with_full_table_scans statements_with_runtimes_in_95th_percentile
			statements_with_sorting statements_with_temp_tables io_by_thread_by_latency
			host_summary host_summary_by_file_io host_summary_by_file_io_type host_summary_by_stages
			host_summary_by_statement_latency host_summary_by_statement_type
			user_summary user_summary_by_file_io user_summary_by_file_io_type user_summary_by_stages
			user_summary_by_statement_latency user_summary_by_statement_type
			memory_by_host_by_current_bytes memory_by_thread_by_current_bytes memory_by_user_by_current_bytes
			waits_by_host_by_latency waits_by_user_by_latency
			ps_digest_95th_percentile_by_avg_us ps_digest_avg_latency_distribution session_ssl_status`,
		sqlguard.GroupStorage: `
			innodb_buffer_stats_by_schema innodb_buffer_stats_by_table io_global_by_file_by_bytes io_global_by_file_by_latency`,
	},
}

// revealedGroups are the groups of revealedRelations by schema and name.
var revealedGroups = func() map[string]map[string]sqlguard.Group {
	out := map[string]map[string]sqlguard.Group{}
	for schema, groups := range revealedRelations {
		out[schema] = map[string]sqlguard.Group{}
		for group, names := range groups {
			for name := range strings.FieldsSeq(names) {
				out[schema][name] = group
			}
		}
	}
	return out
}()

// revealedGroup returns the group of a refused relation, by its folded name.
func revealedGroup(schema, name string) sqlguard.Group {
	if schema == "sys" {
		name = strings.TrimPrefix(name, "x$")
	}
	return revealedGroups[schema][name]
}

// lockedRows are relations with values of locked rows. They are revealed only where no
// rule denies a table or a column.
var lockedRows = fieldSet(`innodb_locks data_locks`)

// secretColumns are the columns of revealed relations that prove an identity. No group
// admits them. User_attributes has the second password of an account, and the log of
// errors the first password that a new server makes.
var secretColumns = map[string][]string{
	"mysql.user":                   {"authentication_string", "password", "user_attributes"},
	"performance_schema.error_log": {"data"},
}

// SecretColumns returns the columns of a system relation that no group admits.
func (Dialect) SecretColumns(schema, name string) []string {
	return secretColumns[foldName(schema)+"."+foldName(name)]
}

// revealedFunctions are functions of the schema sys. They run with the rights of the
// caller. Those of activity name sessions, or cut a statement to a length that they keep
// in a user variable, which no statement here can read.
var revealedFunctions = map[string]sqlguard.Group{
	"extract_schema_from_file_name": sqlguard.GroupStatistics,
	"extract_table_from_file_name":  sqlguard.GroupStatistics,
	"format_bytes":                  sqlguard.GroupStatistics,
	"format_path":                   sqlguard.GroupStatistics,
	"format_time":                   sqlguard.GroupStatistics,
	"quote_identifier":              sqlguard.GroupStatistics,
	"version_major":                 sqlguard.GroupStatistics,
	"version_minor":                 sqlguard.GroupStatistics,
	"version_patch":                 sqlguard.GroupStatistics,
	"format_statement":              sqlguard.GroupActivity,
	"ps_thread_account":             sqlguard.GroupActivity,
	"ps_thread_id":                  sqlguard.GroupActivity,
}

// timeZones are the relations of the schema mysql that every account may read.
var timeZones = fieldSet(`time_zone time_zone_leap_second time_zone_name time_zone_transition time_zone_transition_type`)

// Reveals returns the members of the groups.
func (Dialect) Reveals() []sqlguard.Revealed {
	var out []sqlguard.Revealed
	for schema, names := range revealedGroups {
		for name, group := range names {
			out = append(out, sqlguard.Revealed{Group: group, Kind: "relation", Name: schema + "." + name, Samples: lockedRows[name]})
		}
	}
	for name, group := range revealedFunctions {
		out = append(out, sqlguard.Revealed{Group: group, Kind: "function", Name: "sys." + name})
	}
	for name := range timeZones {
		out = append(out, sqlguard.Revealed{Group: sqlguard.GroupSettings, Kind: "relation", Name: "mysql." + name, Always: true})
	}
	for name, columns := range sourceColumns {
		for _, column := range columns {
			out = append(out, sqlguard.Revealed{Group: sqlguard.GroupDefinitions, Kind: "column", Name: "information_schema." + name + "." + column})
		}
	}
	for _, s := range []struct {
		group sqlguard.Group
		names []string
	}{
		{sqlguard.GroupStatistics, []string{"SHOW STATUS"}},
		{sqlguard.GroupActivity, []string{"SHOW PROCESSLIST"}},
		{sqlguard.GroupReplication, []string{"SHOW REPLICA STATUS", "SHOW SLAVE STATUS", "SHOW MASTER STATUS", "SHOW BINARY LOG STATUS"}},
		{sqlguard.GroupDefinitions, []string{
			"SHOW CREATE VIEW", "SHOW CREATE FUNCTION", "SHOW CREATE PROCEDURE", "SHOW CREATE TRIGGER", "SHOW CREATE EVENT", "SHOW TRIGGERS",
		}},
	} {
		for _, name := range s.names {
			out = append(out, sqlguard.Revealed{Group: s.group, Kind: "statement", Name: name})
		}
	}
	for name, form := range exactShows {
		out = append(out, sqlguard.Revealed{Group: form.group, Kind: "statement", Name: strings.ToUpper(name), Samples: form.samples})
	}
	for name := range positions {
		out = append(out, sqlguard.Revealed{Group: sqlguard.GroupReplication, Kind: "setting", Name: name})
	}
	return out
}
