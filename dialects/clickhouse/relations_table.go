package clickhouse

import "github.com/ktxhq/ktx/dialects/internal/lexical"

// systemTables are the tables of the database system that may be read: structure, sizes
// and statistics of the user's own tables, and what the server can do. Reviewed against
// the tables of ClickHouse 26.7. The others show settings, files, other sessions, other
// servers or who may do what.
var systemTables = lexical.Set(`
	aggregate_function_combinators build_options codecs collations columns contributors data_skipping_index_types data_skipping_indices data_type_families database_engines
	databases detached_parts dictionary_layouts dictionary_sources disk_types documentation formats functions keywords licenses merges numbers numbers_mt one parts parts_columns primes projection_parts
	projection_parts_columns privileges projections settings_changes table_engines table_functions tables time_zones tokenizers unicode zeros zeros_mt`)

// counters are tables of the database system that only count.
var counters = lexical.Set(`
	asynchronous_metric_log asynchronous_metrics dimensional_metrics events histogram_metrics metric_log metrics`)

// informationSchema are the views of the database information_schema, which have names in
// both cases.
var informationSchema = lexical.Set(`
	CHARACTER_SETS COLLATIONS COLUMNS ENGINES KEY_COLUMN_USAGE REFERENTIAL_CONSTRAINTS SCHEMATA STATISTICS TABLES VIEWS
	character_sets collations columns engines key_column_usage referential_constraints schemata statistics tables views`)

// credentialTables hold secrets, or texts of statements of others.
var credentialTables = lexical.Set(`
	asynchronous_insert_log asynchronous_inserts backup_log backups certificates crash_log dictionaries distributed_ddl_queue
	error_log errors graphite_retentions mutations named_collections opentelemetry_span_log part_log processes
	processors_profile_log query_cache query_condition_cache query_log query_metric_log query_thread_log query_views_log
	s3queue_log server_settings session_log stack_trace text_log trace_log transactions_info_log user_directories user_processes users
	view_refreshes workloads zookeeper zookeeper_log`)
