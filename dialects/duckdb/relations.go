package duckdb

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// tableFunctions are the table functions that make rows from their arguments or from the
// catalogue. Reference: duckdb_% metadata functions, pragmas as table functions.
var tableFunctions = lexical.Set(`generate_series range unnest repeat repeat_row json_each json_tree
	duckdb_columns duckdb_constraints duckdb_functions duckdb_indexes duckdb_keywords duckdb_schemas duckdb_sequences duckdb_tables duckdb_types
	duckdb_views duckdb_dependencies duckdb_coordinate_systems pragma_collations pragma_database_size pragma_table_info pragma_show pragma_version pragma_platform
	icu_calendar_names pg_timezone_names`)

// namingFunctions are those of tableFunctions whose argument names a relation.
var namingFunctions = lexical.Set(`pragma_table_info pragma_show`)

// systemViews are the views of DuckDB's own by schema.
var systemViews = map[string]map[string]bool{
	"main": lexical.Set(`duckdb_columns duckdb_constraints duckdb_indexes duckdb_schemas duckdb_tables duckdb_types duckdb_views sqlite_master sqlite_schema
		sqlite_temp_master sqlite_temp_schema`),
	"information_schema": lexical.Set(`character_sets check_constraints columns constraint_column_usage constraint_table_usage key_column_usage
		referential_constraints schemata tables table_constraints views`),
	"pg_catalog": lexical.Set(`pg_am pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_database pg_depend pg_description pg_enum pg_index
		pg_indexes pg_namespace pg_proc pg_sequence pg_sequences pg_tables pg_tablespace pg_type pg_views`),
}

// catalogues are the databases that every session has. A name of two parts may begin with one.
var catalogues = lexical.Set("system temp memory")

// deniedViews are the views of DuckDB's own that may not be read.
var deniedViews = map[string]sqlguard.Ruling{
	"duckdb_databases":       {Code: sqlguard.CodeRelationNotAllowed, Reason: "it shows the paths of files"},
	"pragma_database_list":   {Code: sqlguard.CodeRelationNotAllowed, Reason: "it shows the paths of files"},
	"duckdb_logs":            {Code: sqlguard.CodeCredentialRelation, Reason: "it shows statements of other sessions"},
	"pg_prepared_statements": {Code: sqlguard.CodeCredentialRelation, Reason: "it shows statements of other sessions"},
	"pg_settings":            {Code: sqlguard.CodeRelationNotAllowed, Reason: "it shows how the database is set up"},
}

// sourceColumns are the columns of system relations that hold the source text of views
// and macros.
var sourceColumns = map[string][]string{
	"duckdb_views": {"sql"}, "duckdb_functions": {"macro_definition"}, "sqlite_master": {"sql"}, "sqlite_schema": {"sql"},
	"sqlite_temp_master": {"sql"}, "sqlite_temp_schema": {"sql"}, "views": {"view_definition"}, "pg_views": {"definition"},
}

// SourceColumns returns the columns of a system relation that hold the source text of
// views and macros.
func (Dialect) SourceColumns(_, name string) []string { return sourceColumns[lexical.Lower(name)] }

// indexTables are the tables of a full-text index, which has a schema of its own.
// Reference: Full-Text Search Extension.
var indexTables = lexical.Set("dict docs fields stats terms")

// ruleRelation rules on a relation by its decoded names. System says that the name is
// DuckDB's own.
func ruleRelation(schema, name string) (rule sqlguard.Ruling, system bool) {
	schema, name = lexical.Lower(schema), lexical.Lower(name)
	if strings.ContainsAny(name, `./\:*?[`) {
		return sqlguard.Ruling{
			Code:   sqlguard.CodeFunctionFileAccess,
			Reason: "DuckDB reads the file of that name if there is no such table",
		}, false
	}
	if catalogues[schema] {
		return sqlguard.Ruling{Code: sqlguard.CodeExternalRelation, Reason: "DuckDB takes the first part for a database of its own"}, true
	}
	known := systemViews[schema][name] || schema == "" && (systemViews["main"][name] || systemViews["pg_catalog"][name])
	if r, ok := deniedViews[name]; ok && (schema == "" || systemViews[schema] != nil) {
		return r, true
	}
	switch {
	case known:
		return sqlguard.Ruling{Allowed: true}, true
	case schema == "information_schema" || schema == "pg_catalog":
		return sqlguard.Ruling{Reason: "not on the list of system views that may be read"}, true
	case strings.HasPrefix(schema, "fts_") && indexTables[name]:
		return sqlguard.Ruling{
			Ruled: true, Code: sqlguard.CodeRelationNotAllowed,
			Reason: "a full-text index keeps words of another table there, and this connection has rules of access; read that table",
		}, false
	default:
		return sqlguard.Ruling{Allowed: true}, false
	}
}

// ruleTableFunction rules on a function of FROM by its folded name.
func ruleTableFunction(schema, name string) sqlguard.Ruling {
	if d := deniedFunctions.Find(name); d != nil {
		return d.Ruling()
	}
	switch {
	case schema != "" && schema != "main" && schema != "pg_catalog":
		return sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: "it is a macro, whose text the guard does not see"}
	case tableFunctions[name]:
		return sqlguard.Ruling{Allowed: true}
	default:
		return sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: "not on the list of table functions that only make rows"}
	}
}
