package prove

import (
	"slices"
	"strings"
)

// Result is how a statement ended. The zero value is no result.
type Result string

// The results.
const (
	Executed Result = "executed"
	Failed   Result = "failed"    // the engine refused it: see Outcome.Code
	TimedOut Result = "timed_out" // it was stopped at the time limit
	Crashed  Result = "crashed"   // the server ended
)

// Outcome is what one run of a statement came to.
type Outcome struct {
	Result Result
	// Code is the engine's own for a failure: an SQLSTATE, for MariaDB and
	// MySQL followed by the error number; "sqlite" and a number; "client" where
	// the driver gave up.
	Code string
	// ReadOnly says that the code is the one for a write where only reads are
	// allowed.
	ReadOnly bool
	Rows     bool     // a row came back
	Changed  []string // names of [State] that were otherwise afterwards
}

// Text is the outcome as evidence has it: "failed 25006".
func (o Outcome) Text() string {
	if o.Result == Failed && o.Code != "" {
		return string(o.Result) + " " + o.Code
	}
	return string(o.Result)
}

// shown bounds the names that one probe lists.
const shown = 6

// Probe is what was seen beside the result: "returned_rows; changed: rows
// orders". It is empty when nothing was.
func (o Outcome) Probe() string {
	var seen []string
	if o.Rows {
		seen = append(seen, "returned_rows")
	}
	if len(o.Changed) > 0 {
		names := slices.Clone(o.Changed)
		if len(names) > shown {
			names = append(names[:shown:shown], "…")
		}
		seen = append(seen, "changed: "+strings.Join(names, ", "))
	}
	return strings.Join(seen, "; ")
}
