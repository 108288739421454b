package sqlite

import "github.com/ktxhq/ktx/sqlguard"

// Session lists the settings of a connection that the parser and the tables require:
//
//   - attached_databases: none, so that a name without a schema lies in main
//     or temp. Names in other schemas are refused in any case.
//   - dqs_dml: "x" is a column, or a string if no such column exists. The guard
//     judges it as both.
//   - enable_comments: comments are white space.
//   - load_extension: off, so that there is no function that the tables do not
//     know.
//   - trusted_schema: off, so that views and triggers cannot call functions
//     that are for direct use only. The guard sees the name of a view, not its
//     definition.
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{
		{Name: "attached_databases", Value: "0"},
		{Name: "dqs_dml", Value: "on"},
		{Name: "enable_comments", Value: "on"},
		{Name: "load_extension", Value: "off"},
		{Name: "trusted_schema", Value: "off"},
	}
}
