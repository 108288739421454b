package main

// This file is the review of the functions that the server itself ships. Discuss
// changes here: one line moves a name from allowed to refused.
//
// The generator assumes:
//
//   - A function that SQL cannot call, because every form of it takes or
//     returns internal or a trigger or handler type, is refused.
//   - A non-volatile function whose name does not begin with pg_, lo_ or
//     binary_upgrade_, which PUBLIC may execute and which runs with the rights
//     of its caller, is allowed unless a line below says otherwise.
//   - Every other function must be in a line below, or generation fails.
//
// The criterion is the same for a function as for the relation that it feeds. A
// function that reports structure, size and statistics of the user's own objects is
// allowed, and so is one that feeds an allowed view of the server's state. Any other
// function that reports on the server, on other sessions or on files is refused, even
// if its single numbers are harmless.

// reviewedThrough is the newest major version whose functions were read by a
// person. Generation fails when the facts hold a newer one.
const reviewedThrough = 18

// denial is a group of names that are refused for one reason.
type denial struct {
	id     string // names the reason in the generated table
	code   string // constant of package sqlguard
	reason string // completes "NAME …"
	names  string // separated by white space
}

var deniedFunctions = []denial{
	{
		"runsSQL", "CodeDynamicSQL", "runs SQL text or reads a table that it is given by name", `
		query_to_xml query_to_xmlschema query_to_xml_and_xmlschema
		table_to_xml table_to_xmlschema table_to_xml_and_xmlschema
		schema_to_xml schema_to_xmlschema schema_to_xml_and_xmlschema
		database_to_xml database_to_xmlschema database_to_xml_and_xmlschema
		cursor_to_xml cursor_to_xmlschema
		ts_stat`,
	},
	{
		"serverFile", "CodeFunctionFileAccess", "reads or writes files of the server", `
		pg_read_file pg_read_file_old pg_read_binary_file pg_stat_file pg_current_logfile
		pg_ls_dir pg_ls_logdir pg_ls_waldir pg_ls_tmpdir pg_ls_archive_statusdir
		pg_ls_logicalmapdir pg_ls_logicalsnapdir pg_ls_replslotdir pg_ls_summariesdir
		lo_import lo_export`,
	},
	{
		"serverPath", "CodeFunctionFileAccess", "tells paths of the server's files", `
		pg_relation_filepath pg_tablespace_location pg_config`,
	},
	{
		"sourceText", "CodeFunctionNotAllowed", "shows source text of views, routines or triggers, in which passwords can stand", `
		pg_get_functiondef pg_get_function_sqlbody pg_get_viewdef pg_get_ruledef pg_get_triggerdef`,
	},
	{
		"sleeps", "CodeFunctionSleep", "makes the session wait", `
		pg_sleep pg_sleep_for pg_sleep_until`,
	},
	{
		"advisoryLock", "CodeFunctionSideEffect", "takes or releases advisory locks", `
		pg_advisory_lock pg_advisory_lock_shared pg_advisory_xact_lock pg_advisory_xact_lock_shared
		pg_try_advisory_lock pg_try_advisory_lock_shared
		pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared
		pg_advisory_unlock pg_advisory_unlock_shared pg_advisory_unlock_all`,
	},
	{
		"changesSession", "CodeFunctionSideEffect", "changes the session's state", `
		set_config setseed pg_stat_clear_snapshot pg_stat_force_next_flush`,
	},
	{
		"changesSequence", "CodeFunctionSideEffect", "changes a sequence", `
		nextval setval`,
	},
	{
		"assignsTransaction", "CodeFunctionSideEffect", "assigns a transaction ID", `
		pg_current_xact_id txid_current`,
	},
	{
		"notifies", "CodeFunctionSideEffect", "sends a notification to other sessions", `
		pg_notify`,
	},
	{
		"exportsSnapshot", "CodeFunctionSideEffect", "writes the transaction's snapshot for other sessions", `
		pg_export_snapshot`,
	},
	{
		"writesLargeObject", "CodeFunctionSideEffect", "writes large objects", `
		lo_creat lo_create lo_from_bytea lo_put lo_truncate lo_truncate64 lo_unlink lowrite`,
	},
	{
		"readsLargeObject", "CodeFunctionNotAllowed", "reads large objects, which no table policy covers", `
		lo_get lo_open lo_close loread lo_lseek lo_lseek64 lo_tell lo_tell64`,
	},
	{
		"changesIndex", "CodeFunctionSideEffect", "maintains an index", `
		brin_summarize_new_values brin_summarize_range brin_desummarize_range gin_clean_pending_list`,
	},
	{
		"changesStatistics", "CodeFunctionSideEffect", "changes or resets statistics", `
		pg_stat_reset pg_stat_reset_backend_stats pg_stat_reset_replication_slot pg_stat_reset_shared
		pg_stat_reset_single_function_counters pg_stat_reset_single_table_counters pg_stat_reset_slru
		pg_stat_reset_subscription_stats
		pg_restore_attribute_stats pg_restore_relation_stats
		pg_clear_attribute_stats pg_clear_relation_stats`,
	},
	{
		"changesCatalog", "CodeFunctionSideEffect", "writes to the system catalogs", `
		pg_import_system_collations pg_extension_config_dump pg_nextoid pg_stop_making_pinned_objects`,
	},
	{
		"writesWAL", "CodeFunctionSideEffect", "writes to the write-ahead log", `
		pg_logical_emit_message pg_create_restore_point pg_log_standby_snapshot pg_switch_wal`,
	},
	{
		"signalsServer", "CodeFunctionAdmin", "signals the server or other sessions", `
		pg_cancel_backend pg_terminate_backend pg_reload_conf pg_rotate_logfile pg_rotate_logfile_old
		pg_promote pg_log_backend_memory_contexts pg_wal_replay_pause pg_wal_replay_resume`,
	},
	{
		"backup", "CodeFunctionAdmin", "controls backups", `
		pg_backup_start pg_backup_stop pg_start_backup pg_stop_backup pg_backup_start_time pg_is_in_backup`,
	},
	{
		"replication", "CodeFunctionAdmin", "controls or reports replication", `
		pg_create_logical_replication_slot pg_create_physical_replication_slot
		pg_copy_logical_replication_slot pg_copy_physical_replication_slot
		pg_drop_replication_slot pg_replication_slot_advance pg_sync_replication_slots
		pg_logical_slot_get_changes pg_logical_slot_get_binary_changes
		pg_logical_slot_peek_changes pg_logical_slot_peek_binary_changes
		pg_replication_origin_create pg_replication_origin_drop pg_replication_origin_advance
		pg_replication_origin_oid pg_replication_origin_progress
		pg_replication_origin_session_is_setup pg_replication_origin_session_progress
		pg_replication_origin_session_reset pg_replication_origin_session_setup
		pg_replication_origin_xact_reset pg_replication_origin_xact_setup
		pg_show_replication_origin_status
		pg_stat_get_wal_receiver`,
	},
	{
		"otherSessions", "CodeFunctionAdmin", "shows the activity of other sessions", `
		pg_stat_get_activity
		pg_stat_get_backend_activity pg_stat_get_backend_activity_start
		pg_stat_get_backend_client_addr pg_stat_get_backend_client_port
		pg_stat_get_backend_dbid pg_stat_get_backend_idset pg_stat_get_backend_io
		pg_stat_get_backend_pid pg_stat_get_backend_start pg_stat_get_backend_subxact
		pg_stat_get_backend_userid pg_stat_get_backend_wait_event
		pg_stat_get_backend_wait_event_type pg_stat_get_backend_wal pg_stat_get_backend_xact_start
		pg_prepared_statement pg_cursor pg_get_multixact_members
		pg_isolation_test_session_is_blocked`,
	},
	{
		"serverSettings", "CodeFunctionAdmin", "tells the server's configuration", `
		pg_show_all_settings pg_show_all_file_settings pg_hba_file_rules pg_ident_file_mappings`,
	},
	{
		"serverState", "CodeFunctionAdmin", "reports on the server rather than on the user's own objects", `
		pg_control_checkpoint pg_control_init pg_control_recovery pg_control_system
		pg_get_backend_memory_contexts pg_get_shmem_allocations pg_get_shmem_allocations_numa
		pg_get_aios pg_get_loaded_modules
		pg_get_wal_resource_managers pg_get_wal_summarizer_state
		pg_available_wal_summaries pg_wal_summary_contents
		pg_extension_update_paths
		pg_tablespace_databases
		pg_stat_have_stats`,
	},
	{
		"upgrade", "CodeFunctionAdmin", "serves pg_upgrade", `
		binary_upgrade_add_sub_rel_state binary_upgrade_create_empty_extension
		binary_upgrade_logical_slot_has_caught_up binary_upgrade_replorigin_advance
		binary_upgrade_set_missing_value binary_upgrade_set_next_array_pg_type_oid
		binary_upgrade_set_next_heap_pg_class_oid binary_upgrade_set_next_heap_relfilenode
		binary_upgrade_set_next_index_pg_class_oid binary_upgrade_set_next_index_relfilenode
		binary_upgrade_set_next_multirange_array_pg_type_oid
		binary_upgrade_set_next_multirange_pg_type_oid binary_upgrade_set_next_pg_authid_oid
		binary_upgrade_set_next_pg_enum_oid binary_upgrade_set_next_pg_tablespace_oid
		binary_upgrade_set_next_pg_type_oid binary_upgrade_set_next_toast_pg_class_oid
		binary_upgrade_set_next_toast_pg_type_oid binary_upgrade_set_next_toast_relfilenode
		binary_upgrade_set_record_init_privs`,
	},
	{
		"validatesByOID", "CodeFunctionAdmin", "loads or validates an object that it is given by OID", `
		amvalidate fmgr_c_validator fmgr_internal_validator fmgr_sql_validator plpgsql_validator`,
	},
	{
		"typeByOID", "CodeFunctionNotAllowed", "runs the input function of a type that it is given by OID", `
		array_in domain_in enum_in record_in range_in multirange_in anyrange_in anymultirange_in
		anycompatiblerange_in anycompatiblemultirange_in`,
	},
	{
		"tupleByName", "CodeFunctionNotAllowed", "reads a tuple of a table that it is given by name", `
		currtid currtid2`,
	},
}

// checked is a name that is allowed for some arguments only. The code is that of
// a refused argument.
type checked struct {
	name, check, code, reason string
}

var checkedFunctions = []checked{
	{"current_setting", "checkSettingName", "CodeSettingNotAllowed", "needs a literal name of a setting that is on the list"},
	{"repeat", "checkRepeat", "CodeFunctionNotAllowed", "would make a text of more than 16 MiB"},
	{"lpad", "checkPad", "CodeFunctionNotAllowed", "would make a text of more than 16 MiB"},
	{"rpad", "checkPad", "CodeFunctionNotAllowed", "would make a text of more than 16 MiB"},
	{"generate_series", "checkSeries", "CodeFunctionNotAllowed", "would make more than 10 million rows"},
	// The form with three arguments rewrites the query in memory. The form with
	// two runs its second argument as SQL.
	{"ts_rewrite", "checkThreeArguments", "CodeDynamicSQL", "runs SQL text unless it has three arguments"},
	// The second argument names the type whose input function runs.
	{"pg_input_is_valid", "checkTypeName", "CodeTypeNotAllowed", "needs a literal name of a built-in type"},
	{"pg_input_error_info", "checkTypeName", "CodeTypeNotAllowed", "needs a literal name of a built-in type"},
}

// syntaxFunctions are functions that the newest grammar writes for a syntax that
// older servers know under another function: EXTRACT is date_part before
// PostgreSQL 14. A call in pg_catalog, as the grammar writes it, is known to
// every major.
const syntaxFunctions = `extract`

// allowedVolatile are volatile functions that change nothing that outlives the
// statement and disclose nothing of other users.
const allowedVolatile = `
	clock_timestamp timeofday timezone
	random random_normal gen_random_uuid uuidv4 uuidv7 array_sample array_shuffle
	current_query currval lastval pg_sequence_last_value pg_get_sequence_data
	pg_database_size pg_indexes_size pg_relation_size pg_table_size pg_tablespace_size pg_total_relation_size
	pg_partition_ancestors pg_partition_tree
	pg_blocking_pids pg_safe_snapshot_blocking_pids
	pg_collation_actual_version pg_database_collation_actual_version
	pg_current_wal_flush_lsn pg_current_wal_insert_lsn pg_current_wal_lsn
	pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp
	pg_get_wal_replay_pause_state pg_is_in_recovery pg_is_wal_replay_paused
	pg_jit_available pg_notification_queue_usage
	pg_last_committed_xact pg_xact_commit_timestamp pg_xact_commit_timestamp_origin
	pg_xact_status txid_status
	pg_stat_get_xact_blocks_fetched pg_stat_get_xact_blocks_hit
	pg_stat_get_xact_function_calls pg_stat_get_xact_function_self_time pg_stat_get_xact_function_total_time
	pg_stat_get_xact_numscans pg_stat_get_xact_tuples_deleted pg_stat_get_xact_tuples_fetched
	pg_stat_get_xact_tuples_hot_updated pg_stat_get_xact_tuples_inserted
	pg_stat_get_xact_tuples_newpage_updated pg_stat_get_xact_tuples_returned
	pg_stat_get_xact_tuples_updated`

// allowedServerState are the functions of the allowed views that tell the server's
// state.
const allowedServerState = `
	pg_available_extensions pg_available_extension_versions pg_get_wait_events
	pg_lock_status pg_prepared_xact pg_stat_get_progress_info
	pg_get_replication_slots pg_stat_get_replication_slot pg_stat_get_subscription
	pg_stat_get_subscription_stats pg_stat_get_wal_senders
	pg_stat_get_archiver pg_stat_get_io pg_stat_get_recovery_prefetch
	pg_stat_get_slru pg_stat_get_wal
	pg_stat_get_bgwriter_buf_written_checkpoints pg_stat_get_bgwriter_buf_written_clean
	pg_stat_get_bgwriter_maxwritten_clean pg_stat_get_bgwriter_requested_checkpoints
	pg_stat_get_bgwriter_stat_reset_time pg_stat_get_bgwriter_timed_checkpoints
	pg_stat_get_buf_alloc pg_stat_get_buf_fsync_backend pg_stat_get_buf_written_backend
	pg_stat_get_checkpoint_sync_time pg_stat_get_checkpoint_write_time
	pg_stat_get_checkpointer_buffers_written pg_stat_get_checkpointer_num_performed
	pg_stat_get_checkpointer_num_requested pg_stat_get_checkpointer_num_timed
	pg_stat_get_checkpointer_restartpoints_performed
	pg_stat_get_checkpointer_restartpoints_requested
	pg_stat_get_checkpointer_restartpoints_timed pg_stat_get_checkpointer_slru_written
	pg_stat_get_checkpointer_stat_reset_time pg_stat_get_checkpointer_sync_time
	pg_stat_get_checkpointer_write_time`

// allowedReserved are the non-volatile functions with a reserved prefix that
// read the user's own objects, the value or session at hand, or reference data.
var allowedReserved = []string{
	// Counters of the user's tables, indexes, functions and databases.
	`
	pg_stat_get_analyze_count pg_stat_get_autoanalyze_count pg_stat_get_autovacuum_count
	pg_stat_get_blocks_fetched pg_stat_get_blocks_hit pg_stat_get_db_active_time
	pg_stat_get_db_blk_read_time pg_stat_get_db_blk_write_time pg_stat_get_db_blocks_fetched
	pg_stat_get_db_blocks_hit pg_stat_get_db_checksum_failures pg_stat_get_db_checksum_last_failure
	pg_stat_get_db_conflict_all pg_stat_get_db_conflict_bufferpin pg_stat_get_db_conflict_lock
	pg_stat_get_db_conflict_logicalslot pg_stat_get_db_conflict_snapshot
	pg_stat_get_db_conflict_startup_deadlock pg_stat_get_db_conflict_tablespace pg_stat_get_db_deadlocks
	pg_stat_get_db_idle_in_transaction_time pg_stat_get_db_numbackends
	pg_stat_get_db_parallel_workers_launched pg_stat_get_db_parallel_workers_to_launch
	pg_stat_get_db_session_time pg_stat_get_db_sessions pg_stat_get_db_sessions_abandoned
	pg_stat_get_db_sessions_fatal pg_stat_get_db_sessions_killed pg_stat_get_db_stat_reset_time
	pg_stat_get_db_temp_bytes pg_stat_get_db_temp_files pg_stat_get_db_tuples_deleted
	pg_stat_get_db_tuples_fetched pg_stat_get_db_tuples_inserted pg_stat_get_db_tuples_returned
	pg_stat_get_db_tuples_updated pg_stat_get_db_xact_commit pg_stat_get_db_xact_rollback
	pg_stat_get_dead_tuples pg_stat_get_function_calls pg_stat_get_function_self_time
	pg_stat_get_function_total_time pg_stat_get_ins_since_vacuum pg_stat_get_last_analyze_time
	pg_stat_get_last_autoanalyze_time pg_stat_get_last_autovacuum_time pg_stat_get_last_vacuum_time
	pg_stat_get_lastscan pg_stat_get_live_tuples pg_stat_get_mod_since_analyze pg_stat_get_numscans
	pg_stat_get_snapshot_timestamp pg_stat_get_total_analyze_time pg_stat_get_total_autoanalyze_time
	pg_stat_get_total_autovacuum_time pg_stat_get_total_vacuum_time pg_stat_get_tuples_deleted
	pg_stat_get_tuples_fetched pg_stat_get_tuples_hot_updated pg_stat_get_tuples_inserted
	pg_stat_get_tuples_newpage_updated pg_stat_get_tuples_returned pg_stat_get_tuples_updated
	pg_stat_get_vacuum_count`,
	// Definitions of objects as SQL text, without those of views and routines.
	`
	pg_get_acl pg_get_catalog_foreign_keys pg_get_constraintdef pg_get_expr pg_get_function_arg_default
	pg_get_function_arguments pg_get_function_identity_arguments pg_get_function_result
	pg_get_indexdef pg_get_keywords pg_get_object_address
	pg_get_partition_constraintdef pg_get_partkeydef pg_get_publication_tables
	pg_get_replica_identity_index pg_get_serial_sequence pg_get_statisticsobjdef
	pg_get_statisticsobjdef_columns pg_get_statisticsobjdef_expressions
	pg_get_userbyid`,
	// Names, visibility and properties of objects.
	`
	pg_basetype pg_collation_for pg_collation_is_visible pg_column_is_updatable pg_conversion_is_visible
	pg_describe_object pg_filenode_relation pg_function_is_visible pg_has_role pg_identify_object
	pg_identify_object_as_address pg_index_column_has_property pg_index_has_property
	pg_indexam_has_property pg_indexam_progress_phasename pg_is_other_temp_schema pg_my_temp_schema
	pg_opclass_is_visible pg_operator_is_visible pg_opfamily_is_visible pg_options_to_table
	pg_partition_root pg_relation_filenode pg_relation_is_publishable pg_relation_is_updatable
	pg_sequence_parameters pg_settings_get_flags pg_statistics_obj_is_visible pg_table_is_visible
	pg_ts_config_is_visible pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible
	pg_type_is_visible`,
	// Input, output and arithmetic of built-in types.
	`
	pg_ddl_command_in pg_ddl_command_out pg_ddl_command_send pg_dependencies_in pg_dependencies_out
	pg_dependencies_send pg_lsn pg_lsn_cmp pg_lsn_eq pg_lsn_ge pg_lsn_gt pg_lsn_hash
	pg_lsn_hash_extended pg_lsn_in pg_lsn_larger pg_lsn_le pg_lsn_lt pg_lsn_mi pg_lsn_mii pg_lsn_ne
	pg_lsn_out pg_lsn_pli pg_lsn_send pg_lsn_smaller pg_mcv_list_in pg_mcv_list_items pg_mcv_list_out
	pg_mcv_list_send pg_ndistinct_in pg_ndistinct_out pg_ndistinct_send pg_node_tree_in pg_node_tree_out
	pg_node_tree_send pg_size_bytes pg_size_pretty pg_snapshot_in pg_snapshot_out pg_snapshot_send
	pg_snapshot_xip pg_snapshot_xmax pg_snapshot_xmin pg_split_walfile_name pg_typeof
	pg_visible_in_snapshot pg_wal_lsn_diff pg_walfile_name pg_walfile_name_offset`,
	// The value and the session at hand, and reference data.
	`
	pg_backend_pid pg_char_to_encoding pg_client_encoding pg_column_compression pg_column_size
	pg_column_toast_chunk_id pg_conf_load_time pg_current_snapshot pg_current_xact_id_if_assigned
	pg_encoding_max_length pg_encoding_to_char pg_event_trigger_ddl_commands
	pg_event_trigger_dropped_objects pg_event_trigger_table_rewrite_oid
	pg_event_trigger_table_rewrite_reason pg_listening_channels pg_numa_available
	pg_postmaster_start_time pg_timezone_abbrevs pg_timezone_abbrevs_abbrevs pg_timezone_abbrevs_zone
	pg_timezone_names pg_trigger_depth`,
}

// allowedInformationSchema are the helpers of information_schema. Honest
// catalogue queries call _pg_expandarray to take index keys apart.
const allowedInformationSchema = `
	_pg_char_max_length _pg_char_octet_length _pg_datetime_precision _pg_expandarray
	_pg_index_position _pg_interval_type _pg_numeric_precision _pg_numeric_precision_radix
	_pg_numeric_scale _pg_truetypid _pg_truetypmod`
