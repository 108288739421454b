package pages

import (
	"net/http"
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
	Connections []Connection
	Periods     []link
}

// overview shows what happened lately.
func (p *Pages) overview(w http.ResponseWriter, r *http.Request) {
	f, err := p.filter(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	q := queryOf(r)
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
	o := overview{
		Counts: counts, Chart: newChart(counts.Timeline), Facets: p.facets(counts, q), Connections: p.config.Connections(r.Context()),
	}
	for _, s := range recent.Statements {
		o.Recent = append(o.Recent, audit.StatementRow(s))
	}
	for _, period := range []struct{ since, label string }{{"1h", "hour"}, {"1d", "day"}, {"7d", "week"}, {"30d", "30 days"}, {"365d", "year"}} {
		o.Periods = append(o.Periods, link{Label: period.label, Href: "/" + q.with("since", period.since).address(), Current: q.get("since") == period.since})
	}
	p.show(w, r, http.StatusOK, "Overview", chainOf(counts.State), o.write)
}
