package mysql

import "github.com/ktxhq/ktx/sqlguard"

// settings are the system variables that may be read, in every scope: those that
// show how the session reads and computes, its limits, and values that are the
// same in every server of a version. No file, directory, address, key,
// certificate, command, account or state of replication is among them.
var settings = fieldSet(`
	autocommit auto_increment_increment auto_increment_offset big_tables block_encryption_mode bulk_insert_buffer_size
	character_set_client character_set_connection character_set_database character_set_filesystem character_set_results
	character_set_server character_set_system check_constraint_checks collation_connection collation_database
	collation_server completion_type cte_max_recursion_depth date_format datetime_format
	default_collation_for_utf8mb4 default_regex_flags default_storage_engine default_tmp_storage_engine
	default_week_format div_precision_increment end_markers_in_json eq_range_index_dive_limit error_count
	explain_format explicit_defaults_for_timestamp foreign_key_checks ft_boolean_syntax ft_max_word_len ft_min_word_len
	group_concat_max_len have_compress have_geometry have_query_cache have_rtree_keys hostname identity
	information_schema_stats_expiry innodb_autoinc_lock_mode innodb_buffer_pool_size innodb_default_row_format
	innodb_file_per_table innodb_ft_max_token_size innodb_ft_min_token_size innodb_lock_wait_timeout
	innodb_page_size innodb_snapshot_isolation innodb_stats_persistent innodb_strict_mode innodb_version insert_id
	interactive_timeout internal_tmp_mem_storage_engine in_predicate_conversion_threshold in_transaction join_buffer_size
	join_cache_level key_buffer_size last_insert_id lc_messages lc_time_names license lock_wait_timeout
	long_query_time lower_case_file_system lower_case_table_names low_priority_updates max_allowed_packet max_connections
	max_error_count max_execution_time max_heap_table_size max_join_size max_length_for_sort_data max_prepared_stmt_count
	max_recursive_iterations max_seeks_for_key max_sort_length max_sp_recursion_depth max_statement_time
	max_user_connections min_examined_row_limit mysql56_temporal_format net_buffer_length net_read_timeout
	net_write_timeout ngram_token_size old old_mode optimizer_prune_level optimizer_search_depth
	optimizer_selectivity_sampling_limit optimizer_switch optimizer_use_condition_selectivity parser_max_mem_size port
	print_identified_with_as_hex profiling protocol_version pseudo_thread_id query_alloc_block_size query_cache_size
	query_cache_type query_prealloc_size range_alloc_block_size range_optimizer_max_mem_size read_buffer_size read_only
	read_rnd_buffer_size regexp_stack_limit regexp_time_limit resultset_metadata session_track_gtids
	session_track_schema show_create_table_verbosity sort_buffer_size sql_auto_is_null sql_big_selects
	sql_buffer_result sql_generate_invisible_primary_key sql_if_exists sql_mode sql_notes sql_quote_show_create
	sql_require_primary_key sql_safe_updates sql_select_limit sql_warnings standard_compliant_cte storage_engine
	super_read_only system_time_zone system_versioning_alter_history system_versioning_asof table_definition_cache
	table_open_cache thread_stack time_format time_zone timestamp tmp_table_size transaction_alloc_block_size
	transaction_isolation transaction_prealloc_size transaction_read_only tx_isolation tx_read_only
	unique_checks updatable_views_with_limit use_stat_tables version version_comment version_compile_machine
	version_compile_os version_compile_zlib wait_timeout warning_count windowing_use_high_precision`)

// settingScopes are the scopes in which a variable may be read.
var settingScopes = map[string]bool{"": true, "session": true, "local": true, "global": true}

// settingRuling decides on reading a system variable: @@name, @@scope.name, or
// the name that SHOW VARIABLES LIKE asks for. A name with a component or an
// instance before it is not listed.
func (Dialect) settingRuling(scope, name string) sqlguard.Ruling {
	if !settingScopes[foldName(scope)] {
		return sqlguard.Ruling{Reason: "it lies outside of the scopes that may be read"}
	}
	if !settings[foldName(name)] {
		return sqlguard.Ruling{}
	}
	return sqlguard.Ruling{Allowed: true}
}
