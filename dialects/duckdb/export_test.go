package duckdb

import (
	"maps"
	"slices"
	"strings"

	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// undecidedFunctions are scalar functions of the catalogue that are not listed, because
// they read states of aggregates, bytes that DuckDB does not check, or facts of the
// process. They are refused like unknown ones.
const undecidedFunctions = `get_block_size inet_client_port inet_server_addr inet_server_port is_histogram_other_bin
	pg_conf_load_time pg_get_constraintdef pg_get_expr pg_postmaster_start_time replace_type timetz_byte_comparable variant_bytes_to_variant
	variant_normalize variant_to_parquet_variant vector_type inet_client_addr current_setting`

// NodeNames returns the types of nodes that the table lists, sorted.
func NodeNames() []string { return slices.Sorted(maps.Keys(nodeRules)) }

// NodeUse returns what the table says of a type of node.
func NodeUse(name string) string {
	return map[nodeUse]string{
		useRoot: "root", useRefused: "refused", usePart: "part", useWriting: "writing", useForbidden: "forbidden", useDefinition: "definition",
	}[nodeRules[name].use]
}

// Walk walks one statement.
func Walk(sql string, n ast.Stmt) sqlguard.Statement {
	w := &walker{sql: sql}
	var st sqlguard.Statement
	w.statement(n, &st)
	return st
}

// Functions returns the names of the lists of functions: those that may be called, the
// denied ones, and the others that were looked at.
func Functions() (allowed, refused, undecided []string) {
	return slices.Sorted(maps.Keys(allowedNames)), slices.Sorted(maps.Keys(deniedFunctions.Names)), strings.Fields(undecidedFunctions)
}

// TableFunctions returns the table functions that may be called.
func TableFunctions() []string { return slices.Sorted(maps.Keys(tableFunctions)) }

// Denied reports whether a rule refuses the function of that name.
func Denied(name string) bool { return deniedFunctions.Find(name) != nil }
