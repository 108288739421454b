package postgres

import (
	"github.com/ktxhq/ktx/dialects/internal/denied"
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reasons that complete a sentence that begins with the name of a function or relation.
const (
	callsService  = "calls a service outside of the server"
	runsElsewhere = "runs SQL text on other nodes, outside of this transaction"
	changesNodes  = "changes the cluster or how tables are spread over it"
	endsOthers    = "ends what another session does"
	movesCache    = "changes what the server keeps in memory for everybody"
	showsOthers   = "shows statements or sessions of others, or the state of the cluster"
)

// profiles are the relatives of PostgreSQL. The names come from the manuals: Amazon
// Redshift Database Developer Guide, "SQL functions reference" and "System tables and
// views reference"; Amazon Aurora User Guide, "Aurora PostgreSQL functions reference",
// "Invoking an AWS Lambda function", "Exporting data to Amazon S3" and "Using machine
// learning"; AlloyDB documentation, "Google ML integration" and "Columnar engine
// reference"; Citus documentation, "Citus Utility Functions"; YugabyteDB documentation,
// "YSQL: built-in functions"; Timescale documentation, "API reference".
var profiles = []*profile{
	{
		name: "alloydb", title: "AlloyDB",
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeFunctionNetworkAccess, Reason: callsService, Names: `
				ml_predict_row embedding google_ml.* ai.* alloydb_ai_nl.* google_ml_integration.*`},
			{Code: sqlguard.CodeFunctionSideEffect, Reason: movesCache, Names: `
				google_columnar_engine_* google_db_advisor_* google_job_*`},
		}),
		whole: lexical.Set("google_columnar_engine_add google_columnar_engine_drop google_columnar_engine_refresh"),
	},
	{
		name: "aurora", title: "Aurora PostgreSQL",
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeFunctionNetworkAccess, Reason: callsService, Names: `
				aws_lambda.* aws_s3.* aws_ml.* aws_comprehend.* aws_sagemaker.* aws_bedrock.*`},
			{Code: sqlguard.CodeFunctionAdmin, Reason: "changes the plans that the server uses", Names: "apg_plan_mgmt.*"},
			{Code: sqlguard.CodeFunctionAdmin, Reason: "administers the server", Names: `
				rds_tools.* rdsadmin.* aurora_ccm_* aurora_stat_reset_* aurora_global_db_*`},
			{Code: sqlguard.CodeFunctionAdmin, Reason: showsOthers, Names: `
				aurora_stat_activity aurora_stat_statements aurora_stat_plans aurora_stat_backend_waits aurora_stat_get_* aurora_wait_report`},
		}),
		allowed: lexical.Set("aurora_version aurora_db_instance_identifier aurora_list_builtins aurora_replica_status aurora_volume_logical_start_lsn"),
	},
	{
		name: "citus", title: "Citus",
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeDynamicSQL, Reason: runsElsewhere, Names: `
				run_command_on_* master_run_on_worker master_modify_multiple_shards worker_* fetch_intermediate_results
				read_intermediate_result read_intermediate_results`},
			{Code: sqlguard.CodeFunctionNetworkAccess, Reason: "connects the nodes of the cluster", Names: "citus_check_cluster_node_health citus_check_connection_to_node"},
			{Code: sqlguard.CodeFunctionSideEffect, Reason: changesNodes, Names: `
				create_distributed_table create_distributed_table_concurrently create_reference_table create_distributed_function
				citus_* master_* alter_distributed_table alter_old_partitions_set_access_method alter_table_set_access_method undistribute_table
				rebalance_table_shards replicate_table_shards replicate_reference_tables isolate_tenant_to_new_shard
				mark_tables_colocated update_distributed_table_colocation remove_local_tables_from_metadata
				truncate_local_data_after_distributing_table start_metadata_sync_to_node start_metadata_sync_to_all_nodes
				stop_metadata_sync_to_node recover_prepared_transactions create_time_partitions drop_old_time_partitions
				lock_shard_metadata lock_shard_resources assign_distributed_transaction_id dump_global_wait_edges
				columnar.alter_columnar_table_set columnar.alter_columnar_table_reset alter_columnar_table_set alter_columnar_table_reset`},
		}),
		whole: lexical.Set("run_command_on_workers run_command_on_all_nodes run_command_on_coordinator"),
		allowed: lexical.Set(`citus_version citus_table_size citus_relation_size citus_total_relation_size get_shard_id_for_distribution_column
			column_to_column_name column_name_to_column`),
		relations: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeCredentialRelation, Reason: "holds how the nodes log in at each other", Names: "pg_dist_authinfo pg_dist_poolinfo"},
			{Code: sqlguard.CodeRelationNotAllowed, Reason: showsOthers, Names: "citus_stat_activity citus_dist_stat_activity citus_lock_waits citus_locks citus_stat_statements citus_stat_tenants"},
		}),
	},
	{
		name: "redshift", title: "Amazon Redshift",
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeFunctionAdmin, Reason: "administers the cluster", Names: `
				change_query_priority change_session_priority change_user_priority reboot_cluster`},
			{Code: sqlguard.CodeFunctionAdmin, Reason: "shows the cloud roles of users", Names: `
				pg_get_iam_role_by_user pg_get_grantee_by_iam_role default_iam_role has_assumerole_privilege current_session_arn`},
			{Code: sqlguard.CodeFunctionNetworkAccess, Reason: callsService, Names: "explain_model"},
		}),
		whole:   lexical.Set("reboot_cluster"),
		allowed: lexical.Set(redshiftFunctions),
		shared:  lexical.Set(redshiftShared),
		relations: denied.NewTable([]denied.Rule{{Code: sqlguard.CodeRelationNotAllowed, Reason: showsOthers, Names: `
			stl_* stv_* svl_* svcs_* svv_* sys_query_* sys_child_query_* sys_procedure_* sys_load_* sys_unload_* sys_external_query_*
			sys_connection_* sys_session_* sys_transaction_* sys_userlog sys_udf_* sys_serverless_* sys_mv_* sys_stream_* sys_streaming_*
			sys_copy_* sys_vacuum_* sys_analyze_* sys_automatic_* sys_auto_* sys_datashare_* sys_integration_* sys_restore_* sys_spatial_*
			sys_schema_quota_* sys_table_maint_* sys_undone_* sys_redshift_template_* sys_extra_compute_*`}}),
		readable: map[string]string{
			"pg_table_def": "", "svv_columns": "", "svv_tables": "", "svv_table_info": "", "svv_all_columns": "", "svv_all_schemas": "",
			"svv_all_tables": "", "svv_external_columns": "", "svv_external_partitions": "", "svv_external_databases": "",
			"svv_external_schemas": "esoptions", "svv_external_tables": "", "svv_interleaved_columns": "", "svv_mv_info": "",
			"svv_redshift_columns": "", "svv_redshift_databases": "", "svv_redshift_functions": "", "svv_redshift_schemas": "", "svv_redshift_tables": "",
		},
	},
	{
		name: "timescale", title: "TimescaleDB",
		extensions: []string{"timescaledb"},
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeFunctionSideEffect, Reason: "schedules or changes background jobs", Names: `
				add_job alter_job delete_job run_job add_retention_policy add_compression_policy add_columnstore_policy add_reorder_policy
				add_continuous_aggregate_policy add_process_hypertable_invalidations_policy remove_retention_policy remove_compression_policy
				remove_columnstore_policy remove_reorder_policy remove_continuous_aggregate_policy
				remove_process_hypertable_invalidations_policy timescaledb_experimental.*`},
			{Code: sqlguard.CodeFunctionSideEffect, Reason: "changes tables", Names: `
				create_hypertable add_dimension set_chunk_time_interval set_number_partitions drop_chunks compress_chunk decompress_chunk
				move_chunk reorder_chunk attach_tablespace detach_tablespace detach_tablespaces enable_chunk_skipping disable_chunk_skipping
				add_data_node delete_data_node attach_data_node detach_data_node distributed_exec create_distributed_hypertable
				_timescaledb_functions.* _timescaledb_internal.* timescaledb_pre_restore timescaledb_post_restore`},
		}),
	},
	{
		name: "yugabyte", title: "YugabyteDB",
		denied: denied.NewTable([]denied.Rule{
			{Code: sqlguard.CodeFunctionAdmin, Reason: endsOthers, Names: "yb_cancel_transaction yb_cancel_query_diagnostics"},
			{Code: sqlguard.CodeFunctionFileAccess, Reason: "writes files of the server", Names: "yb_query_diagnostics"},
			{Code: sqlguard.CodeFunctionAdmin, Reason: changesNodes, Names: `
				yb_increment_* yb_force_* yb_reset_* yb_make_next_* yb_fix_* yb_xcluster_* yb_replication_* yb_flush_* yb_trigger_*`},
			{Code: sqlguard.CodeFunctionAdmin, Reason: showsOthers, Names: `
				yb_active_session_history yb_servers yb_terminated_queries yb_lock_status yb_local_tablets yb_servers_metrics yb_tablet_metadata
				yb_mem_usage yb_mem_usage_kb yb_mem_usage_sql yb_mem_usage_sql_b yb_mem_usage_sql_kb yb_pg_stat_*`},
		}),
		whole: lexical.Set("yb_cancel_transaction yb_query_diagnostics yb_cancel_query_diagnostics"),
		allowed: lexical.Set(`yb_hash_code yb_is_database_colocated yb_is_local_table yb_table_properties yb_get_range_split_clause
			yb_server_region yb_server_zone yb_server_cloud yb_catalog_version`),
	},
}

// redshiftFunctions are the functions that Redshift has and PostgreSQL has not.
const redshiftFunctions = `
	add_months approximate array array_concat array_contains array_distinct array_except array_flatten array_intersection
	array_position array_positions array_sort array_union arrays_overlap bpcharcmp bttext_pattern_cmp can_json_parse charindex
	checksum convert_timezone crc32 current_aws_account current_namespace current_user_id date_cmp date_cmp_timestamp
	date_cmp_timestamptz date_part_year dateadd datediff decimal_precision decimal_scale dexp difference dlog1 dlog10
	farmfingerprint64 fnv_hash from_hex from_varbyte func_sha1 get_array_length get_number_attributes getdate
	h3_boundary h3_center h3_fromlonglat h3_frompoint h3_iscell h3_ispentagon h3_polyfill h3_resolution h3_tochildren h3_toparent
	hll hll_cardinality hll_combine hll_combine_sketches hll_create_sketch interval_cmp is_array is_bigint is_boolean is_char
	is_decimal is_float is_integer is_object is_scalar is_smallint is_valid_json is_valid_json_array is_varchar isnull json_array_length
	json_extract_array_element_text json_extract_path_text json_parse json_serialize json_serialize_to_varbyte json_size json_typeof
	last_day last_user_query_id len listagg lower_attribute_names median months_between murmur3_32_hash next_day nvl nvl2 object
	object_transform octetindex percentile_disc pg_get_cols pg_get_late_binding_view_cols pg_last_copy_count pg_last_copy_id
	pg_last_query_id pg_last_unload_count pg_last_unload_id ratio_to_report regexp_count regexp_instr regexp_substr replicate
	sha sha1 sha2 size slice_num soundex split_to_array st_distancesphere st_geohash strtol subarray sysdate
	text_to_int_alt text_to_numeric_alt textlen timestamp_cmp timestamp_cmp_date timestamp_cmp_timestamptz timestamptz_cmp
	timestamptz_cmp_date timestamptz_cmp_timestamp to_varbyte try_cast upper_attribute_names user_is_member_of role_is_member_of
	pg_get_session_roles convert getbit supportsbbox st_ashexwkb`

// redshiftShared are the functions that Redshift has of PostgreSQL's and of PostGIS.
const redshiftShared = `
	abs acos age any_value ascii asin atan atan2 avg bit_and bit_or bool_and bool_or btrim cbrt ceil ceiling char_length
	character_length chr concat cos cot count cume_dist current_schema current_schemas current_setting date_part date_trunc
	decode degrees dense_rank encode exp extract factorial first_value floor get_bit get_byte 	has_database_privilege has_schema_privilege has_table_privilege initcap isfinite lag last_value lead left length ln log
	lower lpad ltrim max md5 min mod now nth_value ntile octet_length percent_rank percentile_cont pi position pow power
	pg_backend_pid quote_ident quote_literal radians random rank regexp_replace repeat replace reverse right round row_number rpad
	rtrim sign sin split_part sqrt stddev stddev_pop stddev_samp strpos substr substring sum tan timeofday timezone to_char to_date
	to_hex to_number to_timestamp translate trunc upper var_pop var_samp variance version
	overlay date time timestamp timestamptz generate_series like_escape similar_to_escape overlaps
	st_addpoint st_angle st_area st_asbinary st_asewkb st_asewkt st_asgeojson st_ashexewkb st_astext st_azimuth st_boundary
	st_buffer st_centroid st_collect st_contains st_containsproperly st_convexhull st_coveredby st_covers st_crosses st_dimension
	st_disjoint st_distance st_dwithin st_endpoint st_envelope st_equals st_exteriorring st_force2d st_force3d st_force3dm st_force3dz
	st_force4d st_geogfromtext st_geogfromwkb st_geometryn st_geometrytype st_geomfromewkb st_geomfromewkt st_geomfromgeohash
	st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn st_intersection st_intersects st_isclosed st_iscollection
	st_isempty st_ispolygonccw st_ispolygoncw st_isring st_issimple st_isvalid st_length st_length2d st_linefrommultipoint
	st_lineinterpolatepoint st_m st_makeenvelope st_makeline st_makepoint st_makepolygon st_memsize st_mmax st_mmin st_multi st_ndims
	st_npoints st_nrings st_numgeometries st_numinteriorrings st_numpoints st_perimeter st_perimeter2d st_point st_pointn st_points
	st_polygon st_removepoint st_reverse st_setpoint st_setsrid st_simplify st_srid st_startpoint st_touches st_transform st_union
	st_within st_x st_xmax st_xmin st_y st_ymax st_ymin st_z st_zmax st_zmin `
