package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// This file has the groups that a policy can reveal. Everything named here is refused by
// the lists; a policy that reveals the group admits it. The server still applies the
// rights of the login. A view of which one column shows the statements of others belongs
// to activity as a whole. Not in a group are sql_logins, credentials, keys and
// certificates, and the smallest and largest values of column store segments.
//
// linked_logins has the names of remote users; "password is also stored, but not exposed in
// catalog view interfaces" (sys.linked_logins). servers has one column with a connection
// string (secretColumns). dm_database_encryption_keys tells how far a database is encrypted,
// the algorithm, and the thumbprint of the certificate, which anybody may know.

// revealedViews are views of the schema sys, by group.
var revealedViews = lexical.Groups(map[sqlguard.Group]string{
	sqlguard.GroupStatistics: `
		dm_os_wait_stats dm_os_performance_counters dm_os_sys_info dm_os_sys_memory dm_os_process_memory dm_os_memory_clerks
		dm_os_memory_brokers dm_os_memory_nodes dm_os_memory_cache_counters dm_os_memory_cache_clock_hands dm_os_schedulers
		dm_os_nodes dm_os_latch_stats dm_os_spinlock_stats dm_os_ring_buffers dm_clr_properties dm_exec_query_optimizer_info
		dm_exec_query_resource_semaphores sysperfinfo
		dm_os_job_object dm_os_memory_health_history dm_os_memory_objects dm_os_memory_pools dm_os_memory_cache_hash_tables
		dm_os_memory_node_access_stats dm_os_dispatcher_pools dm_os_cluster_nodes dm_os_cluster_properties
		dm_db_wait_stats dm_db_resource_stats server_resource_stats elastic_pool_resource_stats dm_elastic_pool_resource_stats
		dm_user_db_resource_governance dm_instance_resource_governance dm_resource_governor_configuration
		dm_resource_governor_resource_pools dm_resource_governor_resource_pools_history_ex
		dm_resource_governor_workload_groups dm_resource_governor_workload_groups_history_ex
		dm_resource_governor_resource_pool_affinity dm_resource_governor_resource_pool_volumes
		dm_tran_persistent_version_store_stats dm_column_store_object_pool dm_db_column_store_row_group_operational_stats
		dm_db_xtp_table_memory_stats dm_db_xtp_hash_index_stats dm_db_xtp_index_stats dm_db_xtp_memory_consumers
		dm_db_xtp_checkpoint_stats dm_xtp_system_memory_consumers dm_xtp_gc_stats dm_xtp_gc_queue_stats dm_xtp_transaction_stats
		dm_clr_appdomains dm_clr_loaded_assemblies dm_xe_map_values dm_xe_objects dm_xe_object_columns dm_xe_packages`,
	sqlguard.GroupSettings: `
		configurations database_automatic_tuning_options database_automatic_tuning_mode database_service_objectives dm_server_accelerator_status
		dm_server_services servers database_scoped_configurations dm_os_host_info dm_os_windows_info sysconfigures syscurconfigs
		event_notifications server_event_notifications server_triggers server_trigger_events
		resource_governor_configuration resource_governor_resource_pools resource_governor_workload_groups
		resource_governor_external_resource_pools
		trace_events trace_columns trace_categories trace_event_bindings trace_subclass_values trace_xe_event_map trace_xe_action_map`,
	sqlguard.GroupRoles: `
		database_principals database_role_members database_permissions server_principals server_role_members
		server_permissions linked_logins sysmembers syspermissions sysprotects syslogins`,
	sqlguard.GroupActivity: `
		dm_exec_requests dm_exec_sessions dm_exec_connections dm_exec_query_stats dm_exec_procedure_stats dm_exec_trigger_stats
		dm_exec_function_stats dm_exec_cached_plans dm_exec_query_memory_grants dm_exec_session_wait_stats
		dm_exec_query_profiles dm_exec_background_job_queue dm_tran_locks dm_tran_active_transactions
		dm_tran_session_transactions dm_tran_database_transactions dm_tran_active_snapshot_database_transactions
		dm_tran_version_store_space_usage dm_os_waiting_tasks dm_os_tasks dm_os_workers dm_os_threads
		query_store_query_text query_store_query query_store_plan query_store_runtime_stats
		query_store_runtime_stats_interval query_store_wait_stats query_context_settings database_query_store_options
		dm_db_missing_index_group_stats_query
		sysprocesses dm_broker_activated_tasks dm_broker_connections dm_broker_forwarded_messages dm_broker_queue_monitors
		dm_xe_sessions dm_xe_session_events dm_xe_session_targets dm_db_tuning_recommendations
		dm_tran_current_transaction dm_tran_top_version_generators dm_db_xtp_transactions plan_guides
		dm_xe_session_event_actions index_resumable_operations`,
	sqlguard.GroupReplication: `
		dm_hadr_availability_replica_states dm_hadr_availability_replica_cluster_states dm_hadr_availability_group_states
		dm_hadr_database_replica_states dm_hadr_database_replica_cluster_states dm_hadr_cluster dm_hadr_cluster_members
		availability_groups availability_groups_cluster availability_replicas availability_databases_cluster
		database_mirroring database_recovery_status
		database_mirroring_endpoints endpoints tcp_endpoints service_broker_endpoints dm_hadr_automatic_seeding
		dm_hadr_physical_seeding_stats dm_hadr_name_id_map availability_group_listeners availability_group_listener_ip_addresses
		dm_hadr_cluster_networks dm_db_mirroring_auto_page_repair dm_db_mirroring_connections
		dm_geo_replication_link_status`,
	sqlguard.GroupStorage: `
		master_files database_files dm_db_file_space_usage dm_db_session_space_usage dm_db_task_space_usage dm_db_log_space_usage
		dm_os_buffer_descriptors dm_io_pending_io_requests dm_db_persisted_sku_features sysfiles sysaltfiles sysfilegroups
		dm_os_buffer_pool_extension_configuration dm_os_loaded_modules dm_server_memory_dumps dm_io_cluster_shared_drives
		dm_io_cluster_valid_path_names dm_db_log_stats extended_procedures traces dm_os_enumerate_fixed_drives
		dm_database_encryption_keys`,
})

// revealedFunctions are functions, by group. Those that begin with dm_ lie in sys.
var revealedFunctions = lexical.Groups(map[sqlguard.Group]string{
	sqlguard.GroupActivity: `
		dm_exec_sql_text dm_exec_query_plan dm_exec_text_query_plan dm_exec_input_buffer
		dm_exec_plan_attributes dm_exec_query_statistics_xml dm_exec_query_plan_stats`,
	sqlguard.GroupStorage:     `dm_io_virtual_file_stats dm_os_volume_stats dm_db_log_info dm_db_page_info fn_pagerescracker`,
	sqlguard.GroupRoles:       `fn_my_permissions fn_builtin_permissions`,
	sqlguard.GroupDefinitions: `object_definition`,
})

// revealedHistory are tables of the schema dbo of the database msdb: backups, jobs and log
// shipping. Steps of jobs are not among them, because passwords stand in commands.
var revealedHistory = lexical.Groups(map[sqlguard.Group]string{
	sqlguard.GroupStorage: `
		backupset backupfile backupfilegroup backupmediafamily backupmediaset restorehistory restorefile restorefilegroup suspect_pages`,
	sqlguard.GroupActivity: `
		sysjobs sysjobs_view sysjobactivity sysjobhistory sysjobschedules sysjobservers sysschedules syssessions sysalerts syscategories`,
	sqlguard.GroupReplication: `
		log_shipping_monitor_primary log_shipping_monitor_secondary log_shipping_monitor_history_detail
		log_shipping_monitor_error_detail log_shipping_primary_databases log_shipping_secondary log_shipping_secondary_databases`,
})

// serverDatabases are the server's own databases whose structure belongs to storage.
var serverDatabases = lexical.Set(`master msdb model tempdb`)

// inServerDatabase rules on a view of the server that is read in one of its own databases:
// storage reveals the names and sizes of what lies there. What needs another group in the
// database of the connection needs that one.
func inServerDatabase(r *sqlguard.Relation) {
	schema := lexical.Lower(r.Schema)
	if !serverDatabases[lexical.Lower(r.Database)] || schema != "sys" && schema != "information_schema" {
		return
	}
	switch {
	case r.Ruling.Allowed:
		r.Ruling = sqlguard.Ruling{
			Code: sqlguard.CodeExternalRelation, Reveal: sqlguard.GroupStorage,
			Reason: "it shows what lies in " + r.Database + ", a database of the server's own",
		}
	case r.Ruling.Reveal == "":
		return
	}
	r.Database = "" // the ruling says it
}

// secretColumns are the columns of revealed relations that prove an identity. No group
// admits them. The string for the provider of a linked server can have a password: the server
// itself shows it only to those who may change linked servers (sys.servers).
var secretColumns = map[string][]string{"sys.syslogins": {"password"}, "sys.servers": {"provider_string"}}

// SecretColumns returns the columns of a system relation that no group admits.
func (Dialect) SecretColumns(schema, name string) []string {
	return secretColumns[skeleton(schema)+"."+skeleton(name)]
}

// sessionSettings are the columns of sys.dm_exec_sessions that show only how sessions are
// set: drivers ask for the isolation level of their own when they connect.
var sessionSettings = lexical.Set(`
	session_id is_user_process transaction_isolation_level text_size language date_format date_first quoted_identifier
	arithabort ansi_null_dflt_on ansi_defaults ansi_warnings ansi_padding ansi_nulls concat_null_yields_null lock_timeout
	deadlock_priority`)

// readSettings admits a statement that reads sys.dm_exec_sessions, nothing else, and no
// column but those of sessionSettings.
func (f *facts) readSettings() {
	if len(f.stmt.Relations) != 1 || len(f.stmt.ColumnRefs) == 0 {
		return
	}
	r := &f.stmt.Relations[0]
	if r.Ruling.Allowed || r.Database != "" || lexical.Lower(r.Schema) != "sys" || lexical.Lower(r.Name) != "dm_exec_sessions" {
		return
	}
	for _, ref := range f.stmt.ColumnRefs {
		if ref.Star || !sessionSettings[lexical.Lower(ref.Name)] {
			return
		}
	}
	r.Ruling = sqlguard.Ruling{Allowed: true}
}

// serverViews are views of sys that show the same in every database, besides those of
// the server's operating system, its sessions and its replicas.
var serverViews = lexical.Set(`
	databases master_files configurations database_mirroring availability_groups availability_replicas server_principals
	server_role_members server_permissions endpoints database_mirroring_endpoints syslogins`)

// sameEverywhere reports whether a view of sys shows the same in master as elsewhere.
func sameEverywhere(view string) bool {
	if serverViews[view] {
		return true
	}
	for _, prefix := range []string{"dm_os_", "dm_exec_", "dm_hadr_", "dm_server_", "dm_resource_governor_"} {
		if strings.HasPrefix(view, prefix) {
			return true
		}
	}
	return false
}

// revealedInformationSchema are views of INFORMATION_SCHEMA.
var revealedInformationSchema = lexical.Groups(map[sqlguard.Group]string{
	sqlguard.GroupRoles: `table_privileges column_privileges`,
})

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
	add("relation", "msdb.dbo.", revealedHistory)
	for name, group := range revealedFunctions {
		schema := ""
		if strings.HasPrefix(name, "dm_") || strings.HasPrefix(name, "fn_") {
			schema = "sys."
		}
		out = append(out, sqlguard.Revealed{Group: group, Kind: "function", Name: schema + name})
	}
	for property := range serverPaths {
		out = append(out, sqlguard.Revealed{Group: sqlguard.GroupStorage, Kind: "setting", Name: "SERVERPROPERTY('" + property + "')"})
	}
	for name := range sessionSettings {
		out = append(out, sqlguard.Revealed{Group: sqlguard.GroupActivity, Kind: "column", Name: "sys.dm_exec_sessions." + name, Always: true})
	}
	for name, columns := range sourceColumns {
		for _, column := range columns {
			out = append(out, sqlguard.Revealed{Group: sqlguard.GroupDefinitions, Kind: "column", Name: name + "." + column})
		}
	}
	return out
}
