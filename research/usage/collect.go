package usage

import (
	"iter"

	"github.com/ktxhq/ktx/execution/audit"
)

// ScanPrincipal is the principal of the statements of ktx scan. They say nothing
// about what people ask.
const ScanPrincipal = "scan"

// Collect gives each statement of the log to the builder of its connection. It
// counts statements that were accepted and ended well, except those of a scan.
// Connections without a builder are left out. It returns the number of damaged
// places in the log, which it passes over.
func Collect(statements iter.Seq2[audit.Statement, error], builders map[string]*Builder) (damaged int) {
	for s, err := range statements {
		if err != nil {
			damaged++
			continue
		}
		e := s.Decision
		b := builders[e.Connection.ID]
		if b == nil || s.Status() != audit.StatusOK || e.Principal == ScanPrincipal {
			continue
		}
		sql := e.SQL.Text
		if sql == "" {
			sql = e.SQL.Normalized
		}
		if sql != "" {
			b.Add(sql, e.Time)
		}
	}
	return damaged
}
