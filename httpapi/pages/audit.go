package pages

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
)

// facet is how many statements have each value of a condition.
type facet struct {
	Name, Label string
	Values      []facetValue
}

type facetValue struct {
	Value   string
	Count   int64
	Href    string // chooses the value, or leaves it out when it is chosen
	Chosen  bool
	Percent int
	// Title explains a code.
	Title string
	// Page is the address of the page of a principal.
	Page string
}

// facetNames are the conditions with counts beside them.
var facetNames = []string{"status", "code", "principal", "client", "connection", "table", "function", "kind"}

func (p *Pages) facets(counts index.Counts, q query) []facet {
	var list []facet
	for _, name := range facetNames {
		f := facet{Name: name}
		for _, c := range conditions {
			if c.name == name {
				f.Label = c.label
			}
		}
		for _, c := range counts.By[name] {
			v := facetValue{Value: c.Value, Count: c.Statements, Chosen: q.get(name) == c.Value, Percent: int(100 * c.Statements / max(1, counts.Statements))}
			v.Href = "/audit" + q.with(name, c.Value).address()
			if v.Chosen {
				v.Href = "/audit" + q.with(name, "").address()
			}
			switch name {
			case "code":
				v.Title = p.codes[c.Value].Title
			case "principal":
				v.Page = principalAddress(c.Value)
			}
			f.Values = append(f.Values, v)
		}
		if len(f.Values) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// input is a field of the form of conditions.
type input struct {
	Name, Label, Value string
	Choices            []string
}

// auditPage is the content of the list of statements.
type auditPage struct {
	Rows   []audit.Row
	Counts index.Counts
	Chart  chart
	Facets []facet
	Inputs []input
	Next   string // the address of the next page
	First  string // the address of the first page; blank on it
	JSON   string
	Again  string // the same statements, judged again
	// Exports are the same statements as files.
	Exports []link
	Tail    string // the address of the live list; blank on a later page
}

// audit lists the statements that meet conditions.
func (p *Pages) audit(w http.ResponseWriter, r *http.Request) {
	f, page, err := p.page(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	found, err := p.config.Index.Statements(r.Context(), f, page)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	counts, err := p.config.Index.Count(r.Context(), f)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	q := queryOf(r)
	out := auditPage{Counts: counts, Chart: newChart(counts.Timeline, q), Facets: p.facets(counts, q), JSON: "/v1/audit/statements" + q.address(), Again: "/audit/rejudge" + q.with("limit", "").address()}
	for _, s := range found.Statements {
		out.Rows = append(out.Rows, audit.StatementRow(s))
	}
	if found.Next != 0 {
		out.Next = "/audit" + q.with("after", strconv.FormatInt(found.Next, 10)).address()
	}
	for _, format := range []struct{ name, label string }{{"jsonl", "Export as JSON lines"}, {"csv", "as CSV"}, {"ocsf", "as OCSF"}} {
		out.Exports = append(out.Exports, link{Label: format.label, Href: "/v1/audit/export" + q.with("limit", "").with("format", format.name).address()})
	}
	if page.After == 0 {
		out.Tail = "/v1/audit/tail" + q.with("limit", "").with("from", strconv.FormatInt(found.First, 10)).address()
	}
	if page.After > 0 {
		out.First = "/audit" + q.with("after", "").address()
	}
	for _, c := range conditions {
		if a := httpapi.AccessFrom(r.Context()); c.name == "principal" && !a.Has(httpapi.RightAudit) {
			continue
		}
		out.Inputs = append(out.Inputs, input{c.name, c.label, q.get(c.name), c.choices})
	}
	for _, more := range []input{{Name: "since", Label: "Since"}, {Name: "until", Label: "Until"}, {Name: "minRows", Label: "Rows, at least"}, {Name: "minMs", Label: "Milliseconds, at least"}} {
		more.Value = q.get(more.Name)
		out.Inputs = append(out.Inputs, more)
	}
	p.show(w, r, http.StatusOK, "Audit log", chainOf(found.State), out.write)
}

// statementPage is the content of the page of one statement.
type statementPage struct {
	Row      audit.Row
	Decision audit.Event
	Outcome  audit.Event
	Codes    []explained
	// Again is what the guard says today, and Reading what it read.
	Again     audit.Again
	Reading   report.Reading
	MayVerify bool
	// Session and Same are the statements of the same session and of the same form.
	Session, Same neighbours
}

// explained is a code with its explanation.
type explained struct{ Code, Title, Summary string }

// neighbours are the statements just before and after one in a list, the newest first.
type neighbours struct {
	Rows           []audit.Row
	Earlier, Later string // the addresses of the nearest
	All            string // the address of the whole list
}

// near is how many neighbours are shown on each side.
const near = 5

// statement shows one statement.
func (p *Pages) statement(w http.ResponseWriter, r *http.Request) {
	s, place, state, err := p.oneStatement(r, variable(r, "query"))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	out := statementPage{Row: audit.StatementRow(s), Decision: s.Decision, Outcome: s.Outcome, MayVerify: httpapi.AccessFrom(r.Context()).Has(httpapi.RightAudit)}
	out.Again, out.Reading = p.again(r, s.Decision)
	for _, code := range out.Row.Codes {
		info := p.codes[code]
		out.Codes = append(out.Codes, explained{code, info.Title, info.Summary})
	}
	if out.Row.SessionID != "" {
		out.Session, err = p.beside(r, audit.Filter{Session: out.Row.SessionID}, place, "session", out.Row.SessionID)
	}
	if out.Row.Fingerprint != "" && err == nil {
		out.Same, err = p.beside(r, audit.Filter{Fingerprint: out.Row.Fingerprint}, place, "fingerprint", out.Row.Fingerprint)
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, http.StatusOK, "Statement "+s.Event().QueryID, chainOf(state), out.write)
}

// variable returns the variable of an address as it was meant.
func variable(r *http.Request, name string) string {
	text := chi.URLParam(r, name)
	if r.URL.RawPath != "" { // then the variable is as the address has it
		text, _ = url.PathUnescape(text)
	}
	return text
}

// oneStatement finds a statement that the principal may see, and its place.
func (p *Pages) oneStatement(r *http.Request, id string) (s audit.Statement, place int64, state index.State, err error) {
	found, err := p.config.Index.Statements(r.Context(), audit.Filter{QueryID: id, Principal: p.ownOnly(r)}, index.Page{Limit: 1})
	if err == nil && (id == "" || len(found.Statements) == 0) {
		err = errNoSuch
	}
	if err != nil {
		return s, 0, state, err
	}
	return found.Statements[0], found.First, found.State, nil
}

// beside finds the neighbours of the statement at a place among those that meet f.
func (p *Pages) beside(r *http.Request, f audit.Filter, place int64, name, value string) (neighbours, error) {
	f.Principal = p.ownOnly(r)
	later, err := p.config.Index.Statements(r.Context(), f, index.Page{Limit: near, After: place, Oldest: true})
	if err != nil {
		return neighbours{}, err
	}
	earlier, err := p.config.Index.Statements(r.Context(), f, index.Page{Limit: near, After: place})
	n := neighbours{All: "/audit?" + url.Values{name: {value}}.Encode()}
	for _, s := range slices.Backward(later.Statements) {
		n.Rows = append(n.Rows, audit.StatementRow(s))
		n.Later = statementAddress(s.Event().QueryID)
	}
	for i, s := range earlier.Statements {
		n.Rows = append(n.Rows, audit.StatementRow(s))
		if i == 0 {
			n.Earlier = statementAddress(s.Event().QueryID)
		}
	}
	return n, err
}

func statementAddress(id string) string { return "/audit/" + url.PathEscape(id) }

// verifyPage reads the whole log and shows what the check of its chain found, and what
// that says of the events of a statement.
func (p *Pages) verifyPage(w http.ResponseWriter, r *http.Request) {
	if a := httpapi.AccessFrom(r.Context()); !a.Has(httpapi.RightAudit) {
		p.show(w, r, http.StatusForbidden, "The principal "+a.Principal+" may not verify the log", nil, problemPage("It needs audit in server.tokens[].may of ktx.yaml."))
		return
	}
	id := r.URL.Query().Get("queryId")
	var s audit.Statement
	if id != "" {
		var err error
		if s, _, _, err = p.oneStatement(r, id); err != nil {
			p.fail(w, r, err)
			return
		}
	}
	found, err := audit.Verify(r.Context(), p.config.LogDir)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, http.StatusOK, "Verified", &chain{OK: found.OK, UpTo: found.LastSeq, Problems: found.Problems, More: found.More}, func(d *document) {
		d.Put(`<dl class="facts"><dt>events</dt><dd>%s</dd><dt>last hash</dt><dd><code>%s</code></dd>`, group(found.Events), found.LastHash)
		for _, e := range []audit.Event{s.Decision, s.Outcome} {
			if e.Seq == 0 {
				continue
			}
			d.Put(`<dt>event %s</dt><dd>%s Its hash is <code>%s</code>.</dd>`, e.Seq, placeOf(e.Seq, found), e.Chain.Hash)
		}
		d.Put(`</dl>`)
		if id != "" {
			d.Put(`<p><a href="%s">Back to the statement</a></p>`, statementAddress(id))
			return
		}
		d.Put(`<p><a href="/audit">Back to the audit log</a></p>`)
	})
}

// placeOf says what a check of the chain found about one event.
func placeOf(seq int64, found audit.Report) string {
	first := int64(math.MaxInt64)
	for _, problem := range found.Problems {
		first = min(first, problem.Seq) // 0 when it is not known
	}
	switch {
	case seq < first && seq <= found.LastSeq:
		return "It stands at its place in the chain, as it was written."
	default:
		return "The chain is broken before it or there, so its place cannot be proved."
	}
}
