package sqlserver

import (
	"maps"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
)

// systemViews are the views of the schema sys that may be read: structure,
// size and counters of the user's own objects. sys.column_store_segments is not
// among them, because it shows the smallest and largest values. Reference: System
// catalog views (Transact-SQL), by its categories; Index related dynamic
// management views.
var systemViews = views(readableView, `
	all_columns all_objects all_parameters all_sql_modules all_views allocation_units assembly_types change_tracking_tables databases
	check_constraints column_store_dictionaries column_store_row_groups column_type_usages
	columns computed_columns data_spaces default_constraints edge_constraint_clauses
	edge_constraints events extended_properties filegroups foreign_key_columns foreign_keys
	fulltext_catalogs fulltext_index_columns fulltext_indexes fulltext_languages fulltext_stoplists
	fulltext_stopwords hash_indexes identity_columns index_columns indexes internal_partitions internal_tables
	json_indexes key_constraints masked_columns memory_optimized_tables_internal_attributes numbered_procedures objects parameters
	parameter_type_usages partition_functions partition_parameters partition_range_values partition_schemes
	partitions periods procedures schemas selective_xml_index_paths sequences spatial_index_tessellations
	spatial_indexes spatial_reference_systems sql_dependencies synonyms sql_expression_dependencies sql_modules stats
	stats_columns sysindexes syscolumns sysobjects systypes syscomments sysconstraints sysdepends sysforeignkeys
	sysindexkeys sysreferences system_columns system_objects system_sql_modules system_views table_types tables triggers
	trigger_events type_assembly_usages types vector_indexes views xml_indexes xml_schema_attributes
	xml_schema_collections xml_schema_components xml_schema_elements xml_schema_facets xml_schema_namespaces
	xml_schema_types dm_db_column_store_row_group_physical_stats dm_db_index_usage_stats dm_db_missing_index_details
	dm_db_missing_index_group_stats dm_db_missing_index_groups dm_db_partition_stats
	time_zone_info syslanguages`)

// informationSchema are the views of INFORMATION_SCHEMA that may be read. Those
// of privileges are not among them. Reference: System Information Schema Views
// (Transact-SQL).
var informationSchema = views(readableView, `
	check_constraints column_domain_usage columns constraint_column_usage constraint_table_usage domain_constraints
	domains key_column_usage parameters referential_constraints routine_columns routines schemata sequences
	table_constraints tables view_column_usage view_table_usage views`)

// compatibilityViews are the names of SQL Server 2000, which work without a
// schema. Reference: System Compatibility Views (Transact-SQL).
var compatibilityViews = merge(
	views(readableView, `
		syscolumns syscomments sysconstraints sysdepends sysforeignkeys sysindexes sysindexkeys syslanguages sysobjects
		sysreferences systypes`),
	views(refusedView, `
		sysaltfiles syscacheobjects syscharsets sysconfigures syscurconfigs syscursorcolumns syscursorrefs syscursors
		syscursortables sysdatabases sysdevices sysfilegroups sysfiles sysfulltextcatalogs sysfulltextnotify syslockinfo
		syslocks syslogins sysmembers sysmessages sysoledbusers sysopentapes sysperfinfo syspermissions sysprocesses
		sysprotects sysremotelogins syssegments sysservers sysusers sysxlogins`),
)

// credentialRelations have secrets, or the statements of other sessions.
var credentialRelations = lexical.Set(`
	asymmetric_keys certificates column_encryption_key_values column_encryption_keys column_master_keys credentials
	crypt_properties cryptographic_providers database_credentials database_scoped_credentials key_encryptions
	linked_logins login_token openkeys query_store_query_text remote_logins server_principal_credentials
	server_principals sql_logins symmetric_keys sysdbreg syslnklgns syslogins sysoledbusers sysowners sysprocesses sysremotelogins
	sysxlogins sysxlgns user_token master_key_passwords query_store_plan query_store_plan_feedback
	dm_pdw_exec_requests dm_audit_actions dm_tran_session_transactions syscacheobjects`)

func views(use viewUse, list string) map[string]viewUse {
	m := make(map[string]viewUse)
	for name := range strings.FieldsSeq(list) {
		m[name] = use
	}
	return m
}

func merge(a, b map[string]viewUse) map[string]viewUse {
	maps.Copy(a, b)
	return a
}
