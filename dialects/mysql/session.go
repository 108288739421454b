package mysql

import "github.com/ktxhq/ktx/sqlguard"

// sqlMode is the SQL mode of the parsers, to which the session is pinned. It has
// none of the modes that change how the server reads a text: "x" is a string, a
// backslash escapes, || is OR, and a built-in name with a space before its
// bracket calls a user-defined function.
const sqlMode = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// Session lists the settings that the parsers require of a session:
//
//   - character_set_client: utf8mb4, so that the server finds the ends of
//     literals where the reader does.
//   - sql_mode: exactly the default value of a server.
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{
		{Name: "character_set_client", Value: "utf8mb4"},
		{Name: "sql_mode", Value: sqlMode},
	}
}
