package duckdb

import "github.com/ktxhq/ktx/sqlguard"

// Session lists the settings that the parser and the tables require:
//
//   - access_mode: read_only, so that no statement writes the file.
//   - enable_external_access: false, so that no name reads a file or an address.
//   - lock_configuration: true, so that no statement changes these settings.
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{
		{Name: "access_mode", Value: "read_only"},
		{Name: "enable_external_access", Value: "false"},
		{Name: "lock_configuration", Value: "true"},
	}
}
