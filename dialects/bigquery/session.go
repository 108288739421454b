package bigquery

import "github.com/ktxhq/ktx/sqlguard"

// Session lists what a request must say for the parser to be right: GoogleSQL, not the
// older language of BigQuery.
func (Dialect) Session() []sqlguard.Setting {
	return []sqlguard.Setting{{Name: "useLegacySql", Value: "false"}}
}
