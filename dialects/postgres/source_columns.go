package postgres

import "strings"

// sourceColumns are the columns that hold the source text of views, routines and
// triggers, by the relation.
var sourceColumns = map[string][]string{
	"pg_proc":                     {"prosrc", "prosqlbody"},
	"pg_trigger":                  {"tgargs", "tgqual"},
	"pg_rewrite":                  {"ev_action", "ev_qual"},
	"pg_views":                    {"definition"},
	"pg_matviews":                 {"definition"},
	"pg_rules":                    {"definition"},
	"information_schema.routines": {"routine_definition"},
	"information_schema.triggers": {"action_statement", "action_condition"},
	"information_schema.views":    {"view_definition"},
}

// SourceColumns returns the columns of a system relation that hold source text.
func (Dialect) SourceColumns(schema, name string) []string {
	if schema == "information_schema" {
		name = schema + "." + name
	}
	return sourceColumns[name]
}

// ValueColumns returns the columns of a system relation that show values from rows: what the
// rows have that are older than a column. Statistics with values are not on the list of
// relations.
func (Dialect) ValueColumns(schema, name string) []string {
	if name == "pg_attribute" && schema != "information_schema" {
		return []string{"attmissingval"}
	}
	return nil
}

// keepsOthers reports whether an extension keeps rows or values of other tables in a
// relation: chunks of TimescaleDB, also compressed, and their ranges, and the smallest and
// greatest values in the columnar storage of Citus. Chunks that are compressed do not inherit
// from their table. Reference: timescaledb_information.chunks; columnar.chunk.
func keepsOthers(schema, name string) bool {
	switch schema {
	case "", "_timescaledb_internal":
		return strings.HasPrefix(name, "_hyper_") && strings.HasSuffix(name, "_chunk") || strings.HasPrefix(name, "compress_hyper_") || strings.HasPrefix(name, "_compressed_hypertable_")
	case "_timescaledb_catalog":
		return name == "chunk_column_stats" || name == "dimension_slice"
	case "timescaledb_information":
		return name == "chunks"
	case "columnar", "columnar_internal":
		return name == "chunk"
	default:
		return false
	}
}
