package clickhouse

import "github.com/ktxhq/ktx/sqlguard"

// Session lists the settings that the parser requires of a session:
//
//   - dialect: clickhouse. With kusto and prql the server reads other languages.
//   - implicit_select: 0, so that a statement needs its SELECT.
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{
		{Name: "dialect", Value: "clickhouse"},
		{Name: "implicit_select", Value: "0"},
	}
}
