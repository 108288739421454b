package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// This file has the groups that a policy can reveal. Everything named here is refused by
// the lists; a policy that reveals the group admits it. The server still applies the
// rights of the login. A view of which one column shows the statements of others belongs
// to activity as a whole. Not in a group are sql_logins, credentials, keys and
// certificates, linked servers, and the smallest and largest values of column store
// segments.

// revealedViews are views of the schema sys, by group.
var revealedViews = viewGroups(map[sqlguard.Group]string{
	sqlguard.GroupStatistics: `
		dm_os_wait_stats dm_os_performance_counters dm_os_sys_info dm_os_sys_memory dm_os_process_memory dm_os_memory_clerks
		dm_os_memory_brokers dm_os_memory_nodes dm_os_memory_cache_counters dm_os_memory_cache_clock_hands dm_os_schedulers
		dm_os_nodes dm_os_latch_stats dm_os_spinlock_stats dm_os_ring_buffers dm_clr_properties dm_exec_query_optimizer_info
		dm_exec_query_resource_semaphores sysperfinfo`,
	sqlguard.GroupSettings: `configurations database_scoped_configurations dm_os_host_info dm_os_windows_info sysconfigures syscurconfigs`,
	sqlguard.GroupRoles: `
		database_principals database_role_members database_permissions server_principals server_role_members
		server_permissions sysmembers syspermissions sysprotects`,
	sqlguard.GroupActivity: `
		dm_exec_requests dm_exec_sessions dm_exec_connections dm_exec_query_stats dm_exec_procedure_stats dm_exec_trigger_stats
		dm_exec_function_stats dm_exec_cached_plans dm_exec_query_memory_grants dm_exec_session_wait_stats
		dm_exec_query_profiles dm_exec_background_job_queue dm_tran_locks dm_tran_active_transactions
		dm_tran_session_transactions dm_tran_database_transactions dm_tran_active_snapshot_database_transactions
		dm_tran_version_store_space_usage dm_os_waiting_tasks dm_os_tasks dm_os_workers dm_os_threads
		query_store_query_text query_store_query query_store_plan query_store_runtime_stats
		query_store_runtime_stats_interval query_store_wait_stats query_context_settings database_query_store_options
		dm_db_missing_index_group_stats_query`,
	sqlguard.GroupReplication: `
		dm_hadr_availability_replica_states dm_hadr_availability_replica_cluster_states dm_hadr_availability_group_states
		dm_hadr_database_replica_states dm_hadr_database_replica_cluster_states dm_hadr_cluster dm_hadr_cluster_members
		availability_groups availability_groups_cluster availability_replicas availability_databases_cluster
		database_mirroring database_recovery_status`,
	sqlguard.GroupStorage: `
		master_files database_files dm_db_file_space_usage dm_db_session_space_usage dm_db_task_space_usage dm_db_log_space_usage
		dm_os_buffer_descriptors dm_io_pending_io_requests dm_db_persisted_sku_features sysfiles sysaltfiles sysfilegroups`,
})

// revealedFunctions are functions, by group. Those that begin with dm_ lie in sys.
var revealedFunctions = viewGroups(map[sqlguard.Group]string{
	sqlguard.GroupActivity: `
		dm_exec_sql_text dm_exec_query_plan dm_exec_text_query_plan dm_exec_input_buffer
		dm_exec_plan_attributes dm_exec_query_statistics_xml dm_exec_query_plan_stats`,
	sqlguard.GroupDefinitions: `object_definition`,
})

// revealedInformationSchema are views of INFORMATION_SCHEMA.
var revealedInformationSchema = viewGroups(map[sqlguard.Group]string{
	sqlguard.GroupRoles: `table_privileges column_privileges`,
})

func viewGroups(lists map[sqlguard.Group]string) map[string]sqlguard.Group {
	out := map[string]sqlguard.Group{}
	for group, names := range lists {
		for name := range strings.FieldsSeq(names) {
			out[name] = group
		}
	}
	return out
}

// Reveals returns the members of the groups.
func (Dialect) Reveals() []sqlguard.Revealed {
	var out []sqlguard.Revealed
	add := func(kind, schema string, members map[string]sqlguard.Group) {
		for name, group := range members {
			out = append(out, sqlguard.Revealed{Group: group, Kind: kind, Name: schema + name})
		}
	}
	add("relation", "sys.", revealedViews)
	add("relation", "information_schema.", revealedInformationSchema)
	for name, group := range revealedFunctions {
		schema := ""
		if strings.HasPrefix(name, "dm_") {
			schema = "sys."
		}
		out = append(out, sqlguard.Revealed{Group: group, Kind: "function", Name: schema + name})
	}
	for name, columns := range sourceColumns {
		for _, column := range columns {
			out = append(out, sqlguard.Revealed{Group: sqlguard.GroupDefinitions, Kind: "column", Name: name + "." + column})
		}
	}
	return out
}
