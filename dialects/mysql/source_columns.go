package mysql

// sourceColumns are the columns that hold the source text of views, routines and
// triggers, by the relation.
var sourceColumns = map[string][]string{
	"views":    {"view_definition"},
	"routines": {"routine_definition"},
	"triggers": {"action_statement"},
	"events":   {"event_definition"},
}

// SourceColumns returns the columns of a system relation that hold source text.
func (Dialect) SourceColumns(_, name string) []string { return sourceColumns[foldName(name)] }

// ValueColumns returns the columns of a system relation that show values from rows: what the
// rows have that are older than a column.
func (Dialect) ValueColumns(_, name string) []string {
	if foldName(name) == "innodb_columns" {
		return []string{"default_value"}
	}
	return nil
}
