package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// Session lists the settings that the parser requires of a connection:
//
//   - QUOTED_IDENTIFIER: on, so that "x" is a name and never a string.
//
// Reference: SET QUOTED_IDENTIFIER (Transact-SQL).
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{
		{Name: "QUOTED_IDENTIFIER", Value: "ON"},
	}
}
