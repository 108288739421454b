package sqlserver

// sourceColumns are the columns that hold the source text of views, routines and
// triggers, by the relation.
var sourceColumns = map[string][]string{
	"sys.sql_modules":             {"definition"},
	"sys.all_sql_modules":         {"definition"},
	"sys.numbered_procedures":     {"definition"},
	"sys.syscomments":             {"text", "ctext"},
	"information_schema.routines": {"routine_definition"},
	"information_schema.views":    {"view_definition"},
}

// SourceColumns returns the columns of a system relation that hold source text.
func (Dialect) SourceColumns(schema, name string) []string {
	return sourceColumns[skeleton(schema)+"."+skeleton(name)]
}
