package duckdb

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// deniedRule refuses functions of DuckDB and of its usual extensions by their names. A
// name that ends with a star stands for all names that begin so.
type deniedRule struct {
	names  string
	code   sqlguard.Code
	reason string
}

// deniedFunctions are functions and table functions that do more than compute. No policy
// can allow them. Everything else that no table lists is refused as unknown.
var deniedFunctions = []deniedRule{
	{
		"read_* parquet_* sniff_csv glob sqlite_scan sqlite_attach iceberg_* delta_* st_read st_read_meta st_drivers st_readosm st_readshp st_list_proj_crs" +
			" read_xlsx excel_scan vortex_* lance_* ducklake_* shellfs_*", sqlguard.CodeFunctionFileAccess, "reads files",
	},
	{
		"postgres_scan postgres_scan_pushdown postgres_query postgres_execute postgres_attach mysql_scan mysql_query mysql_execute mysql_clear_cache mssql_*" +
			" bigquery_* http_* httpfs_* quack_query load_aws_credentials load_azure_credentials", sqlguard.CodeFunctionNetworkAccess, "connects to another server",
	},
	{
		"query query_table json_execute_serialized_sql json_serialize_plan from_substrait from_substrait_json sql_auto_complete sqlsmith reduce_sql_statement",
		sqlguard.CodeDynamicSQL, "runs or plans the SQL text, or reads the table, that its argument names",
	},
	{
		"histogram_values write_log enable_logging disable_logging truncate_duckdb_logs enable_profiling disable_profiling enable_peg_parser disable_peg_parser" +
			" check_peg_parser checkpoint force_checkpoint setseed nextval currval pragma_add_parquet_key",
		sqlguard.CodeFunctionSideEffect, "does more than compute: it writes, moves a sequence or changes the session",
	},
	{"sleep_ms pg_sleep", sqlguard.CodeFunctionSleep, "holds the connection"},
	{"which_secret duckdb_secrets", sqlguard.CodeCredentialRelation, "shows stored credentials"},
	{"duckdb_logs duckdb_logs_parsed duckdb_log_contexts duckdb_prepared_statements parse_duckdb_log_message", sqlguard.CodeCredentialRelation, "shows statements of other sessions"},
	{
		"arrow_scan arrow_scan_dumb pandas_scan python_map_function seq_scan", sqlguard.CodeFunctionAdmin,
		"reads memory that its argument points to",
	},
	{
		"duckdb_settings duckdb_profiling_settings duckdb_variables duckdb_databases duckdb_extensions duckdb_temporary_files duckdb_external_file_cache duckdb_memory duckdb_secret_types" +
			" pragma_user_agent pragma_metadata_info duckdb_connection_count getenv getvariable pragma_storage_info duckdb_table_sample stats",
		sqlguard.CodeFunctionAdmin, "shows how the database or the session is set up",
	},
	{"pg_get_viewdef", sqlguard.CodeFunctionAdmin, "shows the source text of views"},
	{"__internal_* combine finalize remap_struct", sqlguard.CodeFunctionNotAllowed, "belongs to DuckDB's own plans"},
}

// undecidedFunctions are scalar functions of the catalogue that are not listed, because
// they read states of aggregates, bytes that DuckDB does not check, or facts of the
// process. They are refused like unknown ones.
const undecidedFunctions = `current_query get_block_size inet_client_port inet_server_addr inet_server_port is_histogram_other_bin
	pg_conf_load_time pg_get_constraintdef pg_get_expr pg_postmaster_start_time replace_type timetz_byte_comparable variant_bytes_to_variant
	variant_normalize variant_to_parquet_variant vector_type create_sort_key constant_or_null cast_to_type inet_client_addr current_setting`

type deniedPrefix struct {
	prefix string
	rule   *deniedRule
}

var deniedNames, deniedPrefixes = func() (names map[string]*deniedRule, prefixes []deniedPrefix) {
	names = map[string]*deniedRule{}
	for i := range deniedFunctions {
		rule := &deniedFunctions[i]
		for name := range strings.FieldsSeq(rule.names) {
			if prefix, ok := strings.CutSuffix(name, "*"); ok {
				prefixes = append(prefixes, deniedPrefix{prefix, rule})
			} else {
				names[name] = rule
			}
		}
	}
	return names, prefixes
}()

var allowedNames = set(scalarFunctions + " " + aggregateFunctions + " " + macroFunctions + " " + operatorFunctions + " " + syntaxFunctions)

// operatorFunctions are the functions behind operators.
const operatorFunctions = `!__postfix !~~ !~~* % & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~ !~ ~* !~*`

// syntaxFunctions are functions that the parser makes from syntax, or resolves itself.
const syntaxFunctions = `row unnest unpack grouping grouping_id current_timestamp localtime localtimestamp overlay ifnull coalesce if try
	generate_series range array_slice struct_pack main.list_value`

func denied(name string) *deniedRule {
	if rule := deniedNames[name]; rule != nil {
		return rule
	}
	for _, d := range deniedPrefixes {
		if strings.HasPrefix(name, d.prefix) {
			return d.rule
		}
	}
	return nil
}

// ruleFunction rules on a function of an expression by its folded name.
func ruleFunction(name string) (rule sqlguard.Ruling, builtin bool) {
	if d := denied(name); d != nil {
		return sqlguard.Ruling{Code: d.code, Reason: d.reason}, true
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
