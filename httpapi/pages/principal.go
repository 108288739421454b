package pages

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/markup"
)

// periods are what a page can show the last of.
var periods = []struct{ since, label string }{{"1h", "hour"}, {"1d", "day"}, {"7d", "week"}, {"30d", "30 days"}, {"365d", "year"}}

// newest is how many statements the page of a principal or of a session shows.
const newest = 10

// periodOf is the period that pages show unless the address says another.
const periodOf = "7d"

func principalAddress(name string) string {
	return "/principal?" + url.Values{"name": {name}}.Encode()
}

func sessionAddress(id string) string { return "/session?" + url.Values{"id": {id}}.Encode() }

// activityPage is the content of the page of a principal or of a session.
type activityPage struct {
	index.Activity
	Session string
	Periods []link // none for a session
	Chart   chart
	Facets  []facet
	Newest  []audit.Row
	All     string // the address of the list of all of its statements
	Lists   paging
	given   url.Values
}

// principal shows what a principal did lately, against what is usual for it. A principal
// without the right audit finds itself only.
func (p *Pages) principal(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name, since := q.Get("name"), q.Get("since")
	if since == "" {
		since = periodOf
	}
	from, err := audit.ParseTime(since, p.now())
	if err != nil {
		p.fail(w, r, &requestError{"since: " + err.Error(), ""})
		return
	}
	if own := p.ownOnly(r); name == "" || own != "" && own != name {
		p.fail(w, r, errNoSuch)
		return
	}
	out := activityPage{given: url.Values{"principal": {name}, "since": {since}}}
	for _, one := range periods {
		out.Periods = append(out.Periods, link{Label: one.label, Href: principalAddress(name) + "&since=" + one.since, Current: since == one.since})
	}
	p.activity(w, r, "Principal "+name, index.Subject{Principal: name, Since: from}, audit.Filter{Principal: name, Since: from}, &out)
}

// session shows what happened in a session, against what is usual for its principal.
func (p *Pages) session(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	if id == "" {
		p.fail(w, r, errNoSuch)
		return
	}
	own := p.ownOnly(r)
	out := activityPage{Session: id, given: url.Values{"session": {id}}}
	p.activity(w, r, "Session "+id, index.Subject{Principal: own, Session: id}, audit.Filter{Principal: own, Session: id}, &out)
}

// ownOnly returns the principal whose statements a page may show, blank for all.
func (*Pages) ownOnly(r *http.Request) string {
	a := httpapi.AccessFrom(r.Context())
	if a.Has(httpapi.RightAudit) {
		return ""
	}
	return a.Principal
}

func (p *Pages) activity(w http.ResponseWriter, r *http.Request, title string, s index.Subject, f audit.Filter, out *activityPage) {
	out.Lists = pagingOf(r)
	s.After = index.Places{Day: out.Lists.at("days"), Session: out.Lists.at("sessions"), Table: out.Lists.at("tables"), Streak: out.Lists.at("streaks")}
	var err error
	if out.Activity, err = p.config.Index.Activity(r.Context(), s); err != nil {
		p.fail(w, r, err)
		return
	}
	known := out.Statements > 0
	if !known && s.Session == "" { // it may have been active before
		found, findErr := p.config.Index.Statements(r.Context(), audit.Filter{Principal: s.Principal}, index.Page{Limit: 1})
		known, err = len(found.Statements) > 0, findErr
	}
	if err == nil && !known {
		err = errNoSuch
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	f.Principal = out.Principal
	counts, err := p.config.Index.Count(r.Context(), f)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	found, err := p.config.Index.Statements(r.Context(), f, index.Page{Limit: newest})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	for _, s := range found.Statements {
		out.Newest = append(out.Newest, audit.StatementRow(s))
	}
	q := query{out.given}
	out.All = "/audit" + q.address()
	out.Chart = newChart(counts.Timeline, q)
	for _, f := range p.facets(counts, q) {
		if f.Name == "status" || f.Name == "code" || f.Name == "client" || f.Name == "connection" {
			out.Facets = append(out.Facets, f)
		}
	}
	p.show(w, r, http.StatusOK, title, chainOf(found.State), out.write)
}

func (a *activityPage) write(d *document) {
	if a.Session == "" {
		d.Put(`<nav aria-label="Period"><ul class="choices">`)
		for _, l := range a.Periods {
			d.choice(l, "true")
		}
		d.Put(`</ul></nav>`)
	} else {
		d.Put(`<p>Of the principal <a href="%s"><bdi>%s</bdi></a>, from `, principalAddress(a.Principal), short(a.Principal))
		d.time(a.First)
		d.Put(` to `)
		d.time(a.Last)
		d.Put(`.</p>`)
	}
	if a.Statements == 0 {
		d.Put(`<p class="empty">No statement in this period. Choose a longer one, or <a href="/audit?%s">see the earlier ones</a>.</p>`, url.Values{"principal": {a.given.Get("principal")}}.Encode())
		return
	}
	d.Put(`<dl class="figures">`)
	for _, f := range []struct{ name, value string }{
		{"statements", group(a.Statements)},
		{"refused", group(a.Refused)},
		{"rows", group(a.Rows)},
		{"tables for the first time", strconv.Itoa(a.NewTables)},
		{"refusals in a row, at most", group(a.Longest)},
	} {
		d.Put(`<div><dt>%s</dt><dd>%s</dd></div>`, f.name, f.value)
	}
	d.Put(`</dl><p><a href="%s">All of these statements</a> · <a href="/audit/rejudge?%s">Would they pass now?</a></p>`, a.All, a.given.Encode())
	d.chart(a.Chart)
	a.usual(d)
	a.streaks(d)
	a.tables(d)
	d.Put(`<div class="facets">`)
	d.facets(a.Facets)
	d.Put(`</div>`)
	a.sessions(d)
	d.named("The newest statements", a.Newest)
}

// often is how many times the median a volume is when the page points it out, if it is
// above the 95th percentile too.
const often = 3

// against writes a volume beside what is usual.
func (d *document) against(n int64, usual audit.Quantiles) {
	d.Put(`<td class="n">%s`, group(n))
	if usual.Count >= 3 && float64(n) > usual.P95 && float64(n) > often*usual.P50 {
		d.Put(` <strong class="warn">unusual</strong>`)
	}
	d.Put(`</td>`)
}

func (a *activityPage) usual(d *document) {
	u := a.Usual
	what := "earlier day"
	if a.Session != "" {
		what = "other session"
	}
	d.Put(`<h2 id="days">Against what is usual</h2>`)
	if u.Statements.Count == 0 {
		d.Put(`<p>There is nothing to compare with: the log has no %ss of this principal.</p>`, what)
	} else {
		d.Put(`<p>Of the %s %s, half have at most %s statements, %s refused, and %s rows. A figure is unusual when it is more than %s times that, and above 95 in 100 of them.</p>`,
			count(int(u.Statements.Count), what), "of this principal", group(int64(u.Statements.P50)), group(int64(u.Refused.P50)), group(int64(u.Rows.P50)), often)
	}
	row := func(v index.Volume) {
		d.against(v.Statements, u.Statements)
		d.against(v.Refused, u.Refused)
		d.against(v.Rows, u.Rows)
		d.Put("</tr>\n")
	}
	d.Put(`<div class="scroll" tabindex="0" role="region" aria-label="Volume"><table><thead><tr><th scope="col">%s</th><th scope="col" class="n">statements</th><th scope="col" class="n">refused</th><th scope="col" class="n">rows</th></tr></thead><tbody>`, map[bool]string{true: "day, UTC", false: "what"}[a.Session == ""])
	if a.Session != "" {
		d.Put(`<tr><th scope="row">this session</th>`)
		row(a.Volume)
	}
	for _, day := range a.Days {
		d.Put(`<tr><td><a href="/audit?%s">%s</a></td>`, url.Values{
			"principal": {a.Principal}, "since": {day.Day.Format(time.RFC3339)}, "until": {day.Day.Add(24 * time.Hour).Format(time.RFC3339)},
		}.Encode(), day.Day.Format(time.DateOnly))
		row(day.Volume)
	}
	if u.Statements.Count > 0 {
		for _, one := range []struct {
			name string
			of   func(audit.Quantiles) float64
		}{{"usual, median", func(q audit.Quantiles) float64 { return q.P50 }}, {"usual, 95 in 100 are below", func(q audit.Quantiles) float64 { return q.P95 }}} {
			d.Put(`<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>`, one.name, group(int64(one.of(u.Statements))), group(int64(one.of(u.Refused))), group(int64(one.of(u.Rows))))
		}
	}
	d.Put(`</tbody></table></div>`)
	if n := len(a.Days); n > 0 {
		d.turn(a.Lists, "days", a.Days[n-1].Day.Format(time.DateOnly), a.MoreDays)
	}
}

func (a *activityPage) tables(d *document) {
	if len(a.Tables) == 0 {
		return
	}
	d.Put(`<h2 id="tables">Tables</h2>`)
	if a.NewTables > 0 {
		d.Put(`<p>No earlier statement of this principal names those that are new. Refused statements are counted as well.</p>`)
	}
	d.Put(`<div class="scroll" tabindex="0" role="region" aria-label="Tables"><table><thead><tr><th scope="col">table</th><th scope="col">seen</th><th scope="col">first here</th><th scope="col" class="n">statements</th><th scope="col" class="n">refused</th></tr></thead><tbody>`)
	for _, t := range a.Tables {
		link := url.Values{"table": {t.Name}}
		maps.Copy(link, a.given)
		d.Put(`<tr><td><a href="/audit?%s"><bdi>%s</bdi></a></td><td>`, link.Encode(), short(t.Name))
		if t.New {
			d.Put(`<strong class="warn">for the first time</strong>`)
		} else {
			d.Put(`before`)
		}
		d.Put(`</td><td>`)
		d.time(t.First)
		d.Put(`</td><td class="n">%s</td><td class="n">%s</td></tr>`, group(t.Statements), group(t.Refused))
	}
	d.Put(`</tbody></table></div>`)
	d.turn(a.Lists, "tables", a.Tables[len(a.Tables)-1].Name, a.MoreTables)
}

func (a *activityPage) streaks(d *document) {
	if len(a.Streaks) == 0 {
		return
	}
	d.Put(`<h2 id="streaks">Refusals in a row</h2><div class="scroll" tabindex="0" role="region" aria-label="Refusals in a row"><table><thead><tr><th scope="col" class="n">refusals</th><th scope="col">from</th><th scope="col">to</th><th scope="col">session</th></tr></thead><tbody>`)
	for _, s := range a.Streaks {
		link := url.Values{"principal": {a.Principal}, "since": {s.First.Format(time.RFC3339Nano)}, "until": {s.Last.Add(1).Format(time.RFC3339Nano)}, "verdict": {audit.VerdictReject}}
		if s.Session != "" {
			link.Set("session", s.Session)
		}
		d.Put(`<tr><td class="n"><a href="/audit?%s">%s</a></td><td>`, link.Encode(), group(s.Length))
		d.time(s.First)
		d.Put(`</td><td>`)
		d.time(s.Last)
		d.Put(`</td><td>`)
		if s.Session != "" {
			d.Put(`<a href="%s"><bdi>%s</bdi></a>`, sessionAddress(s.Session), short(s.Session))
		}
		d.Put(`</td></tr>`)
	}
	d.Put(`</tbody></table></div>`)
	d.turn(a.Lists, "streaks", a.Streaks[len(a.Streaks)-1].Place(), a.MoreStreaks)
}

func (a *activityPage) sessions(d *document) {
	if len(a.Sessions) == 0 {
		return
	}
	d.Put(`<h2 id="sessions">Sessions of this principal</h2><div class="scroll" tabindex="0" role="region" aria-label="Sessions"><table><thead><tr><th scope="col">session</th><th scope="col">from</th><th scope="col">to</th><th scope="col" class="n">statements</th><th scope="col" class="n">refused</th><th scope="col" class="n">rows</th></tr></thead><tbody>`)
	for _, s := range a.Sessions {
		d.Put(`<tr><td><a href="%s"`, sessionAddress(s.ID))
		markup.PutIf(d.Document, ` aria-current="%s"`, map[bool]string{true: "true"}[s.ID == a.Session])
		d.Put(`><bdi>%s</bdi></a></td><td>`, short(s.ID))
		d.time(s.First)
		d.Put(`</td><td>`)
		d.time(s.Last)
		d.Put(`</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td></tr>`, group(s.Statements), group(s.Refused), group(s.Rows))
	}
	d.Put(`</tbody></table></div>`)
	d.turn(a.Lists, "sessions", a.Sessions[len(a.Sessions)-1].ID, a.MoreSessions)
}
