package postgres

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
