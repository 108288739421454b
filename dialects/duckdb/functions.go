package duckdb

import (
	"github.com/ktxhq/ktx/dialects/internal/denied"
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// deniedFunctions are functions and table functions that do more than compute. No policy
// can allow them. Everything else that no table lists is refused as unknown.
var deniedFunctions = denied.NewTable([]denied.Rule{
	{
		Names: "read_* parquet_* sniff_csv glob sqlite_scan sqlite_attach iceberg_* delta_* st_read st_read_meta st_drivers st_readosm st_readshp st_list_proj_crs" +
			" read_xlsx excel_scan vortex_* lance_* ducklake_* shellfs_*", Code: sqlguard.CodeFunctionFileAccess, Reason: "reads files",
	},
	{
		Names: "postgres_scan postgres_scan_pushdown postgres_query postgres_execute postgres_attach mysql_scan mysql_query mysql_execute mysql_clear_cache mssql_*" +
			" bigquery_* http_* httpfs_* quack_query load_aws_credentials load_azure_credentials", Code: sqlguard.CodeFunctionNetworkAccess, Reason: "connects to another server",
	},
	{
		Names: "query query_table json_execute_serialized_sql json_serialize_plan from_substrait from_substrait_json sql_auto_complete sqlsmith reduce_sql_statement",
		Code:  sqlguard.CodeDynamicSQL, Reason: "runs or plans the SQL text, or reads the table, that its argument names",
	},
	{
		Names: "histogram_values write_log enable_logging disable_logging truncate_duckdb_logs enable_profiling disable_profiling enable_peg_parser disable_peg_parser" +
			" check_peg_parser checkpoint force_checkpoint setseed nextval currval pragma_add_parquet_key",
		Code: sqlguard.CodeFunctionSideEffect, Reason: "does more than compute: it writes, moves a sequence or changes the session",
	},
	{Names: "sleep_ms pg_sleep", Code: sqlguard.CodeFunctionSleep, Reason: "holds the connection"},
	{Names: "which_secret duckdb_secrets", Code: sqlguard.CodeCredentialRelation, Reason: "shows stored credentials"},
	{Names: "duckdb_logs duckdb_logs_parsed duckdb_log_contexts duckdb_prepared_statements parse_duckdb_log_message", Code: sqlguard.CodeCredentialRelation, Reason: "shows statements of other sessions"},
	{
		Names: "arrow_scan arrow_scan_dumb pandas_scan python_map_function seq_scan", Code: sqlguard.CodeFunctionAdmin,
		Reason: "reads memory that its argument points to",
	},
	{
		Names: "duckdb_settings duckdb_profiling_settings duckdb_variables duckdb_databases duckdb_extensions duckdb_temporary_files duckdb_external_file_cache duckdb_memory duckdb_secret_types" +
			" pragma_user_agent pragma_metadata_info duckdb_connection_count getenv getvariable pragma_storage_info duckdb_table_sample stats",
		Code: sqlguard.CodeFunctionAdmin, Reason: "shows how the database or the session is set up",
	},
	{Names: "pg_get_viewdef", Code: sqlguard.CodeFunctionAdmin, Reason: "shows the source text of views"},
	{
		Names: "combine finalize", Code: sqlguard.CodeFunctionNotAllowed,
		Reason: "reads the state of an aggregate, in which a statement can write any address of memory",
	},
	{Names: "__internal_* remap_struct", Code: sqlguard.CodeFunctionNotAllowed, Reason: "belongs to DuckDB's own plans"},
})

var allowedNames = lexical.Set(scalarFunctions + " " + aggregateFunctions + " " + macroFunctions + " " + operatorFunctions + " " + syntaxFunctions)

// operatorFunctions are the functions behind operators.
const operatorFunctions = `!__postfix !~~ !~~* % & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~ !~ ~* !~*`

// syntaxFunctions are functions that the parser makes from syntax, or resolves itself.
const syntaxFunctions = `row unnest unpack grouping grouping_id current_timestamp localtime localtimestamp overlay ifnull coalesce if try
	generate_series range array_slice struct_pack main.list_value`

// ruleFunction rules on a function of an expression by its folded name.
func ruleFunction(name string) (rule sqlguard.Ruling, builtin bool) {
	if d := deniedFunctions.Find(name); d != nil {
		return d.Ruling(), true
	}
	// The name before the dot is a schema, or a column on which the function is called
	// like a method. Only the database knows which; a backend refuses a database whose
	// macros have names of these functions.
	if allowedNames[name] {
		return sqlguard.Ruling{Allowed: true}, true
	}
	if tableFunctions[name] {
		return sqlguard.Ruling{Reason: "it is a table function, for FROM"}, true
	}
	return sqlguard.Ruling{}, false
}

// Reserved reports whether a name is that of a function that may be called, or of a view of
// DuckDB's own that may be read without a schema. A database in which somebody gave such a
// name to a macro or a table of theirs must not be opened.
func Reserved(name string) bool {
	name = lexical.Lower(name)
	return allowedNames[name] || tableFunctions[name] || systemViews["main"][name] || systemViews["pg_catalog"][name]
}
