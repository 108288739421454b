package prove

import (
	"slices"
	"strings"
	"time"
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

// Outcome is the result of one run of a statement.
type Outcome struct {
	Result Result
	// Code is the engine's code for a failure: an SQLSTATE, for MariaDB and
	// MySQL followed by the error number, or "sqlite" and a number, or "client"
	// if the driver gave up.
	Code string
	// message is SQLite's own words for a failure.
	message string
	// ReadOnly reports whether the code is that for a write in a read-only
	// session.
	ReadOnly bool
	Rows     bool // a row came back
	Slow     bool // a case that uses up time took a second
	took     time.Duration
	Changed  []string // names in [State] that differ afterwards
}

// Text returns the outcome as evidence has it: "failed 25006".
func (o Outcome) Text() string {
	if o.Result == Failed && o.Code != "" {
		return string(o.Result) + " " + o.Code
	}
	return string(o.Result)
}

// runsOn is in [Outcome.Changed] for a statement whose session the server did not end when
// it was asked to. The server is ended then.
const runsOn = "session runs on"

// slow is how long a statement takes of which the evidence says that it took a second. The
// clocks of servers tick in milliseconds.
const slow = 990 * time.Millisecond

// fileContent is in [Outcome.Changed] for a file of a database in which nothing else differs.
const fileContent = "file content"

// shown is the most names that one probe lists.
const shown = 6

// Probe returns what was seen in addition to the result, such as
// "returned_rows; changed: rows orders". It is empty if nothing was seen.
func (o Outcome) Probe() string {
	var seen []string
	if o.Rows {
		seen = append(seen, "returned_rows")
	}
	if o.Slow {
		seen = append(seen, "took_a_second")
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
