package audit

import (
	"net"
	"slices"
	"strings"
	"time"
)

// Filter selects events, or statements by their [Statement.Event]. A zero field
// selects all. With several fields set, an event must meet all of them.
type Filter struct {
	Types     []Type
	Seq       int64
	QueryID   string
	Session   string
	Principal string
	Client    string
	Reason    string
	// Address is an address of a client, with or without its port.
	Address    string
	Connection string
	Verdict    string
	// Code is a code of the decision or of the result.
	Code string
	// Status is the status of the result; for a statement, its
	// [Statement.Status].
	Status      string
	Fingerprint string
	Kind        string
	// Table and Function are names. A name with a schema must equal the whole
	// name, a name without one must equal its last part. Case is ignored.
	Table, Function string
	// Text is a part of the normalised statement. Case is ignored.
	Text string
	// MinRows and MinExecMS apply to results. An event without a result does
	// not meet them.
	MinRows   int64
	MinExecMS float64
	// Since is inclusive, Until is exclusive.
	Since, Until time.Time
}

// Match reports whether e meets the filter.
func (f Filter) Match(e Event) bool {
	return (f.Status == "" || f.Status == e.Result.Status) && f.match(&e)
}

// MatchStatement reports whether s meets the filter. It takes the decision and
// the outcome as one event at the time of the decision. Types selects
// statements that have an event of one of these types.
func (f Filter) MatchStatement(s Statement) bool {
	if f.Status != "" && f.Status != s.Status() {
		return false
	}
	if len(f.Types) > 0 && !slices.Contains(f.Types, s.Decision.Type) && !slices.Contains(f.Types, s.Outcome.Type) {
		return false
	}
	if f.Seq != 0 && f.Seq != s.Decision.Seq && f.Seq != s.Outcome.Seq {
		return false
	}
	f.Types, f.Seq = nil, 0
	e := s.Event()
	return f.match(&e)
}

// match is Match without the status.
func (f *Filter) match(e *Event) bool {
	return (len(f.Types) == 0 || slices.Contains(f.Types, e.Type)) &&
		(f.Seq == 0 || f.Seq == e.Seq) &&
		(f.QueryID == "" || f.QueryID == e.QueryID) &&
		(f.Session == "" || f.Session == e.Session) &&
		(f.Principal == "" || f.Principal == e.Principal) &&
		(f.Client == "" || f.Client == e.Client.Name) &&
		(f.Reason == "" || f.Reason == e.Reason) &&
		(f.Address == "" || f.Address == e.Client.Address || f.Address == host(e.Client.Address)) &&
		(f.Connection == "" || f.Connection == e.Connection.ID) &&
		(f.Verdict == "" || f.Verdict == e.Decision.Verdict) &&
		(f.Code == "" || f.Code == e.Result.Code || slices.Contains(e.Decision.Codes, f.Code)) &&
		(f.Fingerprint == "" || f.Fingerprint == e.SQL.Fingerprint) &&
		(f.Kind == "" || f.Kind == e.SQL.Kind) &&
		(f.Table == "" || named(e.SQL.Tables, f.Table)) &&
		(f.Function == "" || named(e.SQL.Functions, f.Function)) &&
		(f.MinRows == 0 || e.Result.Status != "" && e.Result.Rows >= f.MinRows) &&
		(f.MinExecMS == 0 || e.Result.Status != "" && e.Result.ExecMS >= f.MinExecMS) &&
		(f.Since.IsZero() || !e.Time.Before(f.Since)) &&
		(f.Until.IsZero() || e.Time.Before(f.Until)) &&
		(f.Text == "" || strings.Contains(strings.ToLower(e.SQL.Normalized), strings.ToLower(f.Text)))
}

// host returns an address without its port.
func host(address string) string {
	h, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return h
}

// named reports whether one of names equals name, or ends in a dot and name.
func named(names []string, name string) bool {
	return slices.ContainsFunc(names, func(have string) bool {
		if strings.EqualFold(have, name) {
			return true
		}
		head := len(have) - len(name) - 1
		return head > 0 && have[head] == '.' && strings.EqualFold(have[head+1:], name)
	})
}

func (f Filter) zero() bool {
	return len(f.Types) == 0 && f.Seq == 0 && f.QueryID == "" && f.Session == "" && f.Principal == "" && f.Client == "" && f.Reason == "" && f.Address == "" &&
		f.Connection == "" && f.Verdict == "" && f.Code == "" && f.Status == "" && f.Fingerprint == "" && f.Kind == "" &&
		f.Table == "" && f.Function == "" && f.Text == "" && f.MinRows == 0 && f.MinExecMS == 0 &&
		f.Since.IsZero() && f.Until.IsZero()
}
