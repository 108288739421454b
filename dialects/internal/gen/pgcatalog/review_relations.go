package main

// This file is the review of the relations of pg_catalog and information_schema,
// and of well-known relations of extensions. A relation is allowed when it shows
// structure, size or statistics counters of the user's own objects, is reference
// data, or tells the state of the server without data of tables, statements of other
// sessions, paths and secrets. Every relation of the facts occurs here exactly once.

// refusal is a group of relations, or of columns of one relation, that are
// refused for one reason.
type refusal struct {
	code   string // constant of package sqlguard
	reason string // completes "NAME …"
	names  string
}

const allowedRelations = `
	pg_aggregate pg_am pg_amop pg_amproc pg_attrdef pg_attribute pg_cast pg_class pg_collation
	pg_constraint pg_conversion pg_database pg_depend pg_description pg_enum pg_event_trigger
	pg_extension pg_index pg_indexes pg_inherits pg_language pg_matviews pg_namespace pg_opclass
	pg_operator pg_opfamily pg_partitioned_table pg_policies pg_policy pg_proc
	pg_publication pg_publication_namespace pg_publication_rel pg_publication_tables
	pg_range pg_rewrite pg_rules pg_sequence pg_sequences pg_shdepend pg_shdescription
	pg_statistic_ext pg_tables pg_tablespace pg_transform pg_trigger
	pg_ts_config pg_ts_config_map pg_ts_dict pg_ts_parser pg_ts_template pg_type pg_views
	pg_timezone_abbrevs pg_timezone_names

	pg_stat_all_indexes pg_stat_all_tables pg_stat_database pg_stat_database_conflicts
	pg_stat_sys_indexes pg_stat_sys_tables pg_stat_user_functions pg_stat_user_indexes
	pg_stat_user_tables pg_stat_xact_all_tables pg_stat_xact_sys_tables
	pg_stat_xact_user_functions pg_stat_xact_user_tables
	pg_statio_all_indexes pg_statio_all_sequences pg_statio_all_tables
	pg_statio_sys_indexes pg_statio_sys_sequences pg_statio_sys_tables
	pg_statio_user_indexes pg_statio_user_sequences pg_statio_user_tables

	pg_group pg_auth_members
	pg_available_extensions pg_available_extension_versions
	pg_stat_archiver pg_stat_bgwriter pg_stat_checkpointer pg_stat_io pg_stat_slru pg_stat_wal pg_wait_events
	pg_locks pg_prepared_xacts pg_stat_gssapi pg_stat_ssl
	pg_stat_progress_analyze pg_stat_progress_basebackup pg_stat_progress_cluster
	pg_stat_progress_copy pg_stat_progress_create_index pg_stat_progress_vacuum
	pg_replication_origin pg_replication_slots
	pg_stat_recovery_prefetch pg_stat_replication pg_stat_replication_slots
	pg_stat_subscription pg_stat_subscription_stats pg_subscription_rel`

const allowedInformationSchemaRelations = `
	administrable_role_authorizations applicable_roles attributes character_sets
	check_constraint_routine_usage check_constraints collation_character_set_applicability collations
	column_column_usage column_domain_usage column_privileges column_udt_usage columns
	constraint_column_usage constraint_table_usage data_type_privileges domain_constraints
	domain_udt_usage domains element_types enabled_roles foreign_data_wrappers foreign_servers
	foreign_tables information_schema_catalog_name key_column_usage parameters
	referential_constraints role_column_grants role_routine_grants role_table_grants role_udt_grants
	role_usage_grants routine_column_usage routine_privileges routine_routine_usage
	routine_sequence_usage routine_table_usage routines schemata sequences sql_features
	sql_implementation_info sql_sizing table_constraints table_privileges tables
	triggered_update_columns triggers udt_privileges usage_privileges user_defined_types
	view_column_usage view_routine_usage view_table_usage views`

// restrictedRelations are allowed except for some columns. A reference to one of
// these columns, to the whole row or to * is refused.
var restrictedRelations = map[string]refusal{
	"pg_stat_activity":        {"CodeCredentialRelation", "holds the statements of other sessions", `query`},
	"pg_foreign_server":       {"CodeCredentialRelation", "holds connection options", `srvoptions`},
	"pg_foreign_data_wrapper": {"CodeCredentialRelation", "holds connection options", `fdwoptions`},
	"pg_foreign_table":        {"CodeCredentialRelation", "holds connection options", `ftoptions`},
	// A role's settings can have secrets, like those of a database.
	"pg_roles": {"CodeCredentialRelation", "holds passwords or connection secrets", `rolpassword rolconfig`},
	"pg_user":  {"CodeCredentialRelation", "holds passwords or connection secrets", `passwd useconfig`},
	// The view contains the values of all settings, also of those that are not
	// on the list. The walker admits them in a query that names the settings.
	"pg_settings": {
		"CodeSettingNotAllowed", "holds settings that are not on the list",
		`setting boot_val reset_val`,
	},
}

var refusedRelations = []refusal{
	{"CodeCredentialRelation", "holds passwords or connection secrets", `
		pg_authid pg_shadow pg_user_mapping pg_user_mappings pg_subscription
		pg_db_role_setting pg_stat_wal_receiver`},
	{"CodeCredentialRelation", "holds the server's access rules or configuration", `
		pg_hba_file_rules pg_ident_file_mappings pg_file_settings`},
	{"CodeCredentialRelation", "holds the statements of other sessions", `
		pg_cursors pg_prepared_statements`},
	{"CodeRelationNotAllowed", "lists the rights of roles", `
		pg_default_acl pg_init_privs pg_parameter_acl`},
	{"CodeRelationNotAllowed", "holds samples of the data of all tables", `
		pg_statistic pg_statistic_ext_data pg_stats pg_stats_ext pg_stats_ext_exprs`},
	{"CodeRelationNotAllowed", "holds large objects, which no table policy covers", `
		pg_largeobject pg_largeobject_metadata`},
	{"CodeRelationNotAllowed", "reports on replication", `pg_replication_origin_status`},
	{"CodeRelationNotAllowed", "holds security labels", `
		pg_seclabel pg_seclabels pg_shseclabel`},
	{"CodeRelationNotAllowed", "reports on the server rather than on the user's own objects", `
		pg_aios pg_backend_memory_contexts pg_config pg_shmem_allocations pg_shmem_allocations_numa`},
}

var refusedInformationSchemaRelations = []refusal{
	{"CodeCredentialRelation", "holds connection options or user mappings", `
		user_mapping_options user_mappings foreign_server_options foreign_data_wrapper_options
		foreign_table_options column_options
		_pg_foreign_data_wrappers _pg_foreign_servers _pg_foreign_table_columns
		_pg_foreign_tables _pg_user_mappings`},
	// The server grants these to nobody.
	{"CodeRelationNotAllowed", "is not for general use", `sql_parts transforms`},
}

// Relations of harvested extensions. They are refused in any schema, since
// extensions are installed in any.
var (
	restrictedExtensionRelations = map[string]refusal{
		"pg_stat_statements": {"CodeCredentialRelation", "holds the statements of other sessions", `query`},
	}
	allowedExtensionRelations = `pg_stat_statements_info`
	refusedExtensionRelations = []refusal{
		{"CodeRelationNotAllowed", "reports on the server rather than on the user's own objects", `
			pg_buffercache pg_buffercache_numa`},
	}
)

// refusedQualifiedRelations are relations of extensions that are not at hand
// for a harvest, by their fixed schema, from the extensions' manuals.
var refusedQualifiedRelations = []refusal{
	{"CodeCredentialRelation", "holds secrets", `
		vault.secrets vault.decrypted_secrets
		pgsodium.key pgsodium.valid_key pgsodium.decrypted_key pgsodium.masking_rule`},
	{"CodeCredentialRelation", "holds the statements of other sessions", `
		cron.job cron.job_run_details net.http_request_queue net._http_response`},
}
