package pages

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

// overviewTime is the period that the overview shows unless the address says another.
const overviewTime = 7 * 24 * time.Hour

// overview is the content of the first page.
type overview struct {
	Counts      index.Counts
	Chart       chart
	Facets      []facet
	Recent      []audit.Row
	Slowest     []audit.Row
	Connections []Connection
	Lists       paging
	Periods     []link
}

// overview shows what happened lately.
func (p *Pages) overview(w http.ResponseWriter, r *http.Request) {
	f, err := p.filter(r, "connections")
	if err != nil {
		p.fail(w, r, err)
		return
	}
	q := queryOf(r).with("connections", "")
	if f.Since.IsZero() {
		f.Since = p.now().Add(-overviewTime)
		q = q.with("since", "7d")
	}
	counts, err := p.config.Index.Count(r.Context(), f)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	refused := f
	refused.Verdict = audit.VerdictReject
	recent, err := p.config.Index.Statements(r.Context(), refused, index.Page{Limit: 10})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	slowest, err := p.slowest(r, f, counts)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	o := overview{
		Slowest: slowest, Lists: pagingOf(r),
		Counts: counts, Chart: newChart(counts.Timeline, q), Facets: p.facets(counts, q), Connections: p.config.Connections(r.Context()),
	}
	for _, s := range recent.Statements {
		o.Recent = append(o.Recent, audit.StatementRow(s))
	}
	for _, period := range periods {
		o.Periods = append(o.Periods, link{Label: period.label, Href: "/" + q.with("since", period.since).address(), Current: q.get("since") == period.since})
	}
	p.show(w, r, http.StatusOK, "Overview", chainOf(counts.State), o.write)
}

// slowest returns the slowest statements: the newest of those that took about as long as
// the slowest one, because the index has no order by time.
func (p *Pages) slowest(r *http.Request, f audit.Filter, counts index.Counts) ([]audit.Row, error) {
	if counts.ExecMS.Max <= 0 {
		return nil, nil
	}
	f.MinExecMS = max(f.MinExecMS, counts.ExecMS.P95, counts.ExecMS.Max/10)
	found, err := p.config.Index.Statements(r.Context(), f, index.Page{Limit: 200})
	if err != nil {
		return nil, err
	}
	var rows []audit.Row
	for _, s := range found.Statements {
		if row := audit.StatementRow(s); row.ExecMS != nil {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b audit.Row) int { return cmp.Compare(*b.ExecMS, *a.ExecMS) })
	return rows[:min(len(rows), 5)], nil
}
