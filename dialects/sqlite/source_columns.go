package sqlite

import "github.com/ktxhq/ktx/dialects/internal/lexical"

// SourceColumns returns the column that holds the source text of views and triggers.
func (Dialect) SourceColumns(_, name string) []string {
	switch lexical.Lower(name) {
	case "sqlite_schema", "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master":
		return []string{"sql"}
	default:
		return nil
	}
}

// SourceHint says where the columns of a relation are.
func (Dialect) SourceHint() string {
	return "pragma_table_xinfo('name') lists the columns of a table or view"
}
