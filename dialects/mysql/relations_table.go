package mysql

import "strings"

// systemSchemas are the schemas of the servers' own, and of tools that keep
// accounts or metadata of the server beside them.
var systemSchemas = []string{
	"information_schema", "mysql", "performance_schema", "sys",
	"ndbinfo", "mysql_audit", "mysql_innodb_cluster_metadata", "mysql_option", "mysql_rest_service_metadata", "mysql_tasks",
}

// informationSchema are the tables of INFORMATION_SCHEMA that may be read:
// structure, size and counters of the user's own objects, and what every server
// of a version has alike. Those of privileges, sessions, variables, plugins,
// files and of the insides of InnoDB are not among them.
var informationSchema = fieldSet(`
	character_sets check_constraints collation_character_set_applicability collations columns columns_extensions engines
	events geometry_columns index_statistics json_duality_view_columns json_duality_view_links
	json_duality_view_tables json_duality_views key_column_usage keywords libraries parameters partitions
	periods referential_constraints routine_libraries routines schemata schemata_extensions sequences spatial_ref_sys
	sql_functions st_geometry_columns st_spatial_reference_systems st_units_of_measure statistics
	table_constraints table_constraints_extensions table_statistics tables tables_extensions triggers
	view_routine_usage view_table_usage views`)

// counterRelations count or list what the server has and does, by schema. No column of
// them shows rows, statements, accounts or paths.
var counterRelations = map[string]map[string]bool{
	"information_schema": fieldSet(`
		innodb_metrics innodb_buffer_pool_stats innodb_cmp innodb_cmp_reset_none innodb_cmpmem key_caches
		query_response_time query_response_time_read query_response_time_write`),
	"performance_schema": fieldSet(`
		table_io_waits_summary_by_index_usage table_io_waits_summary_by_table table_lock_waits_summary_by_table
		file_summary_by_event_name memory_summary_global_by_event_name objects_summary_global_by_type
		events_waits_summary_global_by_event_name events_stages_summary_global_by_event_name
		events_statements_summary_global_by_event_name events_transactions_summary_global_by_event_name
		events_errors_summary_global_by_error socket_summary_by_event_name performance_timers setup_consumers setup_instruments`),
}

// secretRelation lists relations by name and by the beginnings of names.
type secretRelation struct {
	names    map[string]bool
	prefixes []string
}

// secretRelations hold secrets, values of tables or the text of other sessions,
// by schema.
var secretRelations = map[string]secretRelation{
	"information_schema": {
		names: fieldSet(`
			processlist innodb_trx innodb_locks innodb_lock_waits user_attributes user_variables user_privileges
			optimizer_trace profiling column_statistics innodb_buffer_page innodb_buffer_page_lru
			innodb_tablespaces_encryption connection_control_failed_login_attempts feedback general_log slow_log mysql_firewall_users mysql_firewall_whitelist`),
		prefixes: []string{"innodb_ft_", "rocksdb_lock", "rocksdb_trx", "rocksdb_deadlock", "spider_"},
	},
	"mysql": {
		names: fieldSet(`
			user db global_priv host tables_priv columns_priv procs_priv proxies_priv roles_mapping role_edges
			default_roles global_grants password_history servers general_log slow_log proc event func plugin column_stats
			innodb_index_stats slave_master_info slave_relay_log_info slave_worker_info
			replication_asynchronous_connection_failover masking_dictionaries`),
		prefixes: []string{"audit_log_", "firewall_", "spider_", "wsrep_"},
	},
	"performance_schema": {
		names: fieldSet(`
			threads processlist session_connect_attrs session_account_connect_attrs prepared_statements_instances
			user_variables_by_thread variables_by_thread accounts users hosts keyring_keys data_locks data_lock_waits
			metadata_locks error_log log_status firewall_groups firewall_group_allowlist firewall_membership
			persisted_variables variables_info tls_channel_status component_scheduler_tasks`),
		prefixes: []string{"events_", "replication_", "keyring_", "setup_actors", "status_by_"},
	},
	"sys": {
		names: fieldSet(`
			processlist session session_ssl_status innodb_lock_waits schema_table_lock_waits latest_file_io sys_config
			statement_analysis`),
		prefixes: []string{"statements_with_", "user_summary", "host_summary"},
	},
	"ndbinfo":                       {prefixes: []string{""}},
	"mysql_audit":                   {prefixes: []string{""}},
	"mysql_innodb_cluster_metadata": {prefixes: []string{""}},
	"mysql_rest_service_metadata":   {prefixes: []string{""}},
}

func fieldSet(list string) map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}
