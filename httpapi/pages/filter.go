package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/httpapi"
)

// condition is a member of an address that chooses statements, such as verdict=reject.
type condition struct {
	name, label string
	text        func(*audit.Filter) *string
	choices     []string
}

// conditions are the texts of a filter, in the order in which a page shows them.
var conditions = []condition{
	{name: "text", label: "Text", text: func(f *audit.Filter) *string { return &f.Text }},
	{name: "status", label: "Status", text: func(f *audit.Filter) *string { return &f.Status }, choices: []string{
		audit.StatusOK, audit.StatusError, audit.StatusCancelled, audit.StatusCrashed, audit.StatusRefused, audit.StatusUnfinished, audit.StatusUndecided,
	}},
	{name: "code", label: "Code", text: func(f *audit.Filter) *string { return &f.Code }},
	{name: "principal", label: "Principal", text: func(f *audit.Filter) *string { return &f.Principal }},
	{name: "client", label: "Client", text: func(f *audit.Filter) *string { return &f.Client }},
	{name: "connection", label: "Connection", text: func(f *audit.Filter) *string { return &f.Connection }},
	{name: "table", label: "Table", text: func(f *audit.Filter) *string { return &f.Table }},
	{name: "function", label: "Function", text: func(f *audit.Filter) *string { return &f.Function }},
	{name: "kind", label: "Kind", text: func(f *audit.Filter) *string { return &f.Kind }},
	{name: "session", label: "Session", text: func(f *audit.Filter) *string { return &f.Session }},
	{name: "fingerprint", label: "Fingerprint", text: func(f *audit.Filter) *string { return &f.Fingerprint }},
	{name: "address", label: "Address", text: func(f *audit.Filter) *string { return &f.Address }},
	{name: "reason", label: "Reason", text: func(f *audit.Filter) *string { return &f.Reason }},
	{name: "verdict", label: "Verdict", text: func(f *audit.Filter) *string { return &f.Verdict }, choices: []string{audit.VerdictAllow, audit.VerdictReject}},
	{name: "queryId", label: "Query id", text: func(f *audit.Filter) *string { return &f.QueryID }},
}

// other are the members of an address that are no texts of a filter.
var other = []string{"since", "until", "minRows", "minMs", "limit", "after", "event"}

// filter reads the conditions of an address. A principal that may not see the events of
// others gets its own. The result is what every handler asks with. more are other members
// that the address may have.
func (p *Pages) filter(r *http.Request, more ...string) (audit.Filter, error) {
	var f audit.Filter
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return f, &requestError{"the address cannot be read", "write & as %26 and ; as %3B within a value"}
	}
	for name, values := range q {
		known := slices.Contains(other, name) || slices.Contains(more, name) || slices.ContainsFunc(conditions, func(c condition) bool { return c.name == name })
		if !known || len(values) > 1 {
			return f, &requestError{"the condition " + strconv.Quote(name) + " is not known, or given twice", "see docs/pages.md for the conditions"}
		}
	}
	for _, c := range conditions {
		value := q.Get(c.name)
		if value != "" && c.choices != nil && !slices.Contains(c.choices, value) {
			return f, &requestError{"there is no " + c.name + " " + strconv.Quote(value), ""}
		}
		*c.text(&f) = value
	}
	for name, to := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		if text := q.Get(name); text != "" {
			if *to, err = audit.ParseTime(text, p.now()); err != nil {
				return f, &requestError{name + ": " + err.Error(), ""}
			}
		}
	}
	if text := q.Get("minRows"); text != "" {
		if f.MinRows, err = strconv.ParseInt(text, 10, 64); err != nil || f.MinRows < 0 {
			return f, &requestError{"minRows is not a number of rows", ""}
		}
	}
	if text := q.Get("minMs"); text != "" {
		if f.MinExecMS, err = strconv.ParseFloat(text, 64); err != nil || !(f.MinExecMS >= 0) {
			return f, &requestError{"minMs is not a number of milliseconds", ""}
		}
	}
	if a := httpapi.AccessFrom(r.Context()); !a.Has(httpapi.RightAudit) {
		if f.Principal != "" && f.Principal != a.Principal {
			return f, &requestError{"the principal " + a.Principal + " may see only its own events", "leave out principal, or ask for the right audit"}
		}
		f.Principal = a.Principal
	}
	return f, nil
}

// number reads a whole number from the address, between low and high.
func number(r *http.Request, name string, otherwise, low, high int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, &requestError{name + " is not a number from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10), ""}
	}
	return n, nil
}
