package pages

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/markup"
	"github.com/ktxhq/ktx/sqlguard"
)

// document collects a page.
type document struct {
	*markup.Document
	explained map[string]sqlguard.CodeInfo
}

// content writes what is special to a page.
type content func(d *document)

// shown is what every page has.
type shown struct {
	Title, Path, Version string
	Access               httpapi.Access
	All                  bool // the events of all principals are shown
	Menu                 []link
	Chain                *chain
	Page                 content
}

// page writes a whole page.
func (d *document) page(s shown) {
	d.Put(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>%s · ktx</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/static/style.css"><script type="module" src="/static/ktx.js"></script></head>
<body><a class="skip" href="#content">Skip to the content</a><header><strong>ktx</strong>`, s.Title)
	if s.Access.Principal != "" {
		d.Put(`<nav aria-label="Pages"><ul>`)
		for _, l := range s.Menu {
			l.Current = s.Path == l.Href
			d.choice(l, "page")
		}
		d.Put(`</ul></nav><span class="who">%s`, s.Access.Principal)
		if !s.All {
			d.Put(`, own events only`)
		}
		d.Put(`</span>`)
		if s.Access.Login {
			d.Put(`<form method="post" action="/logout"><button type="submit">Log out</button></form>`)
		}
	}
	d.Put(`</header><main id="content" tabindex="-1"><h1>%s</h1>`, s.Title)
	d.chain(s.Chain)
	s.Page(d)
	d.Put(`</main><footer>ktx %s</footer></body></html>`, s.Version)
}

// choice writes an entry of a list of links. The address is one of ours.
func (d *document) choice(l link, current string) {
	d.Put(`<li><a href="%s"`, l.Href)
	if l.Current {
		d.Put(` aria-current="%s"`, current)
	}
	d.Put(`>%s</a></li>`, l.Label)
}

func (d *document) chain(c *chain) {
	switch {
	case c == nil:
	case c.OK:
		d.Put(`<p class="whole">The chain of the log is whole up to event %s.</p>`, group(c.UpTo))
	default:
		d.Put(`<div class="broken" role="alert"><p><strong>The chain of the log is broken.</strong> Every event before the first of these is as it was written:</p><ul>`)
		for _, p := range c.Problems {
			d.Put(`<li>%s</li>`, p.String())
		}
		markup.PutIf(d.Document, `<li>and %s more</li>`, c.More)
		d.Put(`</ul></div>`)
	}
	if c != nil && !c.Remade.IsZero() {
		d.Put(`<p class="quiet">The index of the log was damaged. It was made anew from the log at `)
		d.time(c.Remade)
		d.Put(`, so nothing is missing here.</p>`)
	}
}

// loginPage is the form in which a browser's user gives a token.
func loginPage(next, said string) content {
	return func(d *document) {
		markup.PutIf(d.Document, `<p class="broken" role="alert">%s</p>`, said)
		d.Put(`<form method="post" action="/login" class="login"><input type="hidden" name="next" value="%s">
<label>Token <input type="password" name="token" required autocomplete="current-password" autofocus></label> <button type="submit">Log in</button></form>
<p>It is the token of a principal in <code>server.tokens</code> of ktx.yaml that may open pages, or the one in <code>KTX_MCP_TOKEN</code>. The login lasts twelve hours.</p>`, next)
	}
}

func problemPage(hint string) content {
	return func(d *document) {
		markup.PutIf(d.Document, `<p>%s</p>`, hint)
		d.Put(`<p><a href="/">To the first page</a></p>`)
	}
}

func (o *overview) write(d *document) {
	d.Put(`<nav aria-label="Period"><ul class="choices">`)
	for _, l := range o.Periods {
		d.choice(l, "true")
	}
	d.Put(`</ul></nav><dl class="figures">`)
	for _, f := range []struct{ name, value string }{
		{"statements", group(o.Counts.Statements)},
		{"refused", group(o.Counts.Refused)},
		{"rows", group(o.Counts.Rows)},
		{"decision, p95", decimal(o.Counts.LatencyUS.P95) + " µs"},
		{"execution, p50", decimal(o.Counts.ExecMS.P50) + " ms"},
		{"execution, p95", decimal(o.Counts.ExecMS.P95) + " ms"},
	} {
		d.Put(`<div><dt>%s</dt><dd>%s</dd></div>`, f.name, f.value)
	}
	d.Put(`</dl>`)
	if o.Counts.Statements > 0 {
		d.chart(o.Chart)
		d.Put(`<div class="facets">`)
		d.facets(o.Facets)
		d.Put(`</div>`)
	} else {
		d.Put(`<p class="empty">No statement in this period. <code>ktx sql "SELECT 1"</code> makes one, and so does an agent that calls <code>sql_execution</code>.</p>`)
	}
	d.named("Refused last", o.Recent)
	d.named("Slowest", o.Slowest)
	d.Put(`<h2 id="connections">Connections</h2>`)
	if len(o.Connections) == 0 {
		d.Put(`<p class="empty">No connection is configured. <code>ktx connection add</code> adds one.</p>`)
		return
	}
	d.Put(`<div class="scroll" tabindex="0" role="region" aria-label="Connections"><table><thead><tr><th scope="col">id</th><th scope="col">engine</th><th scope="col">role</th><th scope="col">last probe</th><th scope="col">what it found</th><th scope="col">guard's catalogue</th><th scope="col">scan</th><th scope="col" class="n">running, waiting</th></tr></thead><tbody>`)
	shown, more := part(o.Lists, "connections", o.Connections, maxConnections, func(c Connection) string { return c.ID })
	for _, c := range shown {
		d.Put(`<tr><td><bdi>%s</bdi></td><td>%s%s</td><td><bdi>%s</bdi></td><td>`, c.ID, c.Engine, map[bool]string{false: ", judged only"}[c.Runs], c.Role)
		d.since(c.Probed)
		d.Put(`</td><td class="wrap">`)
		switch {
		case c.Probed.IsZero():
			d.Put(`<code>ktx doctor</code> looks at it`)
		case len(c.Findings) == 0:
			d.Put(`nothing wrong`)
		default:
			d.Put(`<ul class="plain">`)
			for _, finding := range c.Findings {
				d.Put(`<li class="warn">%s</li>`, short(finding))
			}
			d.Put(`</ul>`)
		}
		d.Put(`</td><td class="wrap">`)
		d.since(c.Catalog)
		markup.PutIf(d.Document, ` <span class="warn">%s</span>`, short(c.CatalogFailure))
		d.Put(`</td><td>`)
		d.since(c.Scanned)
		d.Put(`</td><td class="n">%s, %s</td></tr>`, c.Running, c.Waiting)
	}
	d.Put(`</tbody></table></div>`)
	if len(shown) > 0 {
		d.turn(o.Lists, "connections", shown[len(shown)-1].ID, more)
	}
}

// maxConnections bounds a part of the list of connections. The first page has at most 100 KB.
const maxConnections = 10

// firstInputs is how many conditions are shown before the others are unfolded.
const firstInputs = 4

func (a *auditPage) write(d *document) {
	d.Put(`<form method="get" action="/audit" class="filter" role="search" aria-label="Statements">`)
	for _, in := range a.Inputs[:min(firstInputs, len(a.Inputs))] {
		d.input(in)
	}
	rest := a.Inputs[min(firstInputs, len(a.Inputs)):]
	if slices.ContainsFunc(rest, func(in input) bool { return in.Value != "" }) {
		d.Put(`<details class="more" open>`)
	} else {
		d.Put(`<details class="more">`)
	}
	d.Put(`<summary>More conditions</summary><div class="filter">`)
	for _, in := range rest {
		d.input(in)
	}
	d.Put(`</div></details><p class="send"><button type="submit">Show</button> <a href="/audit">Clear</a></p></form>
<p>%s statements, %s refused. <a href="%s">This list as JSON</a> · <a href="%s">Would they pass now?</a></p>`, group(a.Counts.Statements), group(a.Counts.Refused), a.JSON, a.Again)
	d.Put(`<ul class="choices">`)
	for _, l := range a.Exports {
		d.choice(l, "true")
	}
	d.Put(`</ul>`)
	if a.Tail != "" {
		d.Put(`<p class="tail" data-tail="%s"></p>`, a.Tail)
	}
	if len(a.Rows) == 0 {
		d.Put(`<p class="empty">No statement meets these conditions. <a href="/audit">Show all</a></p>`)
		return
	}
	d.chart(a.Chart)
	d.Put(`<div class="beside"><div class="facets">`)
	d.facets(a.Facets)
	d.Put(`</div><div>`)
	d.rows(a.Rows)
	d.Put(`<nav aria-label="Pages of the list"><ul class="choices">`)
	markup.PutIf(d.Document, `<li><a href="%s">The newest</a></li>`, a.First)
	markup.PutIf(d.Document, `<li><a rel="next" href="%s">Older</a></li>`, a.Next)
	d.Put(`</ul></nav></div></div>`)
}

func (d *document) input(in input) {
	d.Put(`<label>%s `, in.Label)
	if in.Choices == nil {
		d.Put(`<input name="%s" value="%s" autocomplete="off" dir="auto">`, in.Name, in.Value)
	} else {
		d.Put(`<select name="%s"><option value="">any</option>`, in.Name)
		for _, c := range in.Choices {
			d.Put(`<option`)
			if c == in.Value {
				d.Put(` selected`)
			}
			d.Put(`>%s</option>`, c)
		}
		d.Put(`</select>`)
	}
	d.Put("</label>\n")
}

func (s *statementPage) write(d *document) {
	if text := cmp.Or(s.Decision.SQL.Text, s.Row.SQL); s.Again.Outcome == audit.Unknown || s.Again.Text != text {
		d.Put(`<pre class="sql" tabindex="0" role="region" aria-label="The statement of the log"><code><bdi>%s</bdi></code></pre>`, cmp.Or(text, "The log has no text of this statement."))
	}
	if s.Decision.SQL.Text == "" && strings.Contains(s.Row.SQL, "?") {
		d.Put(`<p>The log has <code>?</code> in place of each literal, and below a constant stands for it.</p>`)
	}
	d.again(s.Again, s.Reading, s.Row.QueryID)
	for _, c := range s.Codes {
		d.Put(`<section class="code"><h2>`)
		d.code(c.Code)
		markup.PutIf(d.Document, `: %s`, c.Title)
		d.Put(`</h2>`)
		markup.PutIf(d.Document, `<p>%s</p>`, c.Summary)
		d.Put(`<p><a href="/corpus?%s">Cases of the corpus with this code</a></p></section>`, url.Values{"code": {c.Code}, "dialect": {s.Decision.Connection.Dialect}}.Encode())
	}
	d.Put(`<h2>What happened</h2><dl class="facts"><dt>status</dt><dd>`)
	d.status(s.Row.Status)
	d.Put(`</dd><dt>time</dt><dd>`)
	d.time(s.Row.Time)
	d.Put(`</dd><dt>principal</dt><dd>`)
	d.Put(`<a href="%s"><bdi>%s</bdi></a>`, principalAddress(s.Row.Principal), s.Row.Principal)
	d.Put(`</dd><dt>client</dt><dd><bdi>%s</bdi> %s %s %s</dd>`, s.Row.Client, s.Decision.Client.Version, s.Decision.Client.Transport, s.Row.Address)
	if s.Row.SessionID != "" {
		d.Put(`<dt>session</dt><dd><a href="%s"><bdi>%s</bdi></a></dd>`, sessionAddress(s.Row.SessionID), s.Row.SessionID)
	}
	d.Put(`<dt>connection</dt><dd><bdi>%s</bdi> %s</dd>`, s.Row.Connection, s.Decision.Connection.Dialect)
	d.conditions("tables", "table", s.Row.Tables)
	d.conditions("functions", "function", s.Row.Functions)
	if s.Row.Rows != nil {
		d.Put(`<dt>rows</dt><dd>%s</dd>`, group(*s.Row.Rows))
	}
	if s.Row.ExecMS != nil {
		d.Put(`<dt>execution</dt><dd>%s ms</dd>`, tenths(*s.Row.ExecMS))
	}
	markup.PutIf(d.Document, `<dt>cut by</dt><dd>%s</dd>`, s.Outcome.Result.TruncatedBy)
	markup.PutIf(d.Document, `<dt>SQLSTATE</dt><dd>%s</dd>`, s.Outcome.Result.SQLState)
	d.Put(`<dt>policy</dt><dd><code>%s</code></dd><dt>parser</dt><dd>%s</dd>`, s.Decision.Decision.Policy, s.Decision.Decision.Parser)
	if l := s.Decision.Limits; l != (audit.Limits{}) {
		d.Put(`<dt>limits</dt><dd>%s rows, %s bytes, %s ms</dd>`, l.Rows, l.Bytes, l.TimeoutMS)
	}
	d.Put(`<dt>fingerprint</dt><dd><code>%s</code></dd></dl><h2>In the chain</h2><dl class="facts">`, s.Row.Fingerprint)
	if s.Decision.Seq != 0 {
		d.Put(`<dt>decision</dt><dd>event %s, hash <code>%s</code></dd>`, s.Decision.Seq, s.Decision.Chain.Hash)
	}
	if s.Outcome.Seq != 0 {
		d.Put(`<dt>outcome</dt><dd>event %s (%s), hash <code>%s</code></dd>`, s.Outcome.Seq, s.Outcome.Type, s.Outcome.Chain.Hash)
	}
	d.Put(`</dl>`)
	if s.MayVerify {
		d.Put(`<form method="get" action="/audit/verify"><input type="hidden" name="queryId" value="%s"><button type="submit">Verify their place in the chain</button></form>`, s.Row.QueryID)
	}
	d.beside("The same session", s.Session)
	d.beside("The same statement, with any literals", s.Same)
}

// beside writes the neighbours of a statement in a list, if it has any.
func (d *document) beside(heading string, n neighbours) {
	if len(n.Rows) == 0 {
		return
	}
	d.Put(`<h2>%s</h2><nav aria-label="%s"><ul class="choices">`, heading, heading)
	markup.PutIf(d.Document, `<li><a rel="prev" href="%s">The one before</a></li>`, n.Earlier)
	markup.PutIf(d.Document, `<li><a rel="next" href="%s">The one after</a></li>`, n.Later)
	d.Put(`<li><a href="%s">All</a></li></ul></nav>`, n.All)
	d.rows(n.Rows)
}

// trail writes the way to a page: the pages above it.
func (d *document) trail(above ...link) {
	d.Put(`<nav aria-label="Above this page"><ul class="choices trail">`)
	for _, l := range above {
		d.choice(l, "true")
	}
	d.Put(`</ul></nav>`)
}

// code writes a code, with a link to its explanation if there is one.
func (d *document) code(code string) {
	if _, known := d.explained[code]; known {
		d.Put(`<a href="/explain?code=%s"><code>%s</code></a>`, url.QueryEscape(code), code)
	} else {
		d.Put(`<code>%s</code>`, short(code))
	}
}

// conditions writes a fact with a link for each value, to the statements that have it too.
func (d *document) conditions(label, name string, values []string) {
	d.Put(`<dt>%s</dt><dd>`, label)
	for _, v := range values {
		d.condition(name, v)
		d.Put(` `)
	}
	if len(values) == 0 {
		d.Put(`none`)
	}
	d.Put(`</dd>`)
}

func (d *document) condition(name, value string) {
	d.Put(`<a href="/audit?%s=%s"><bdi>%s</bdi></a>`, name, url.QueryEscape(value), value)
}

func (d *document) time(t time.Time) {
	d.Put(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339Nano), t.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// since writes a time, or that there is none.
func (d *document) since(t time.Time) {
	if t.IsZero() {
		d.Put(`<span class="quiet">never</span>`)
		return
	}
	d.time(t)
}

func (d *document) status(status string) {
	d.Put(`<span class="status %s">%s</span>`, status, status)
}

func (d *document) chart(c chart) {
	if len(c.Bars) == 0 {
		return
	}
	d.Put(`<figure class="chart"><svg viewBox="0 0 600 120" preserveAspectRatio="none" role="group" aria-label="Statements over time, refused ones above allowed ones">`)
	for _, b := range c.Bars {
		d.Put(`<a href="%s" tabindex="-1"><title>%s</title><rect x="%s" width="%s" height="120"/></a>`, b.Href, b.Title, place(b.X), place(b.Width))
	}
	d.Put(`<path class="allowed" d="%s"/><path class="refused" d="%s"/></svg><figcaption>From `, c.Allowed, c.Refused)
	d.time(c.From)
	d.Put(` to `)
	d.time(c.Until)
	d.Put(`. <span class="key allowed">allowed</span>, <span class="key refused">refused</span>. The highest bar is %s.</figcaption></figure><div class="trends">`, group(c.Highest))
	for _, t := range trends(c.Periods) {
		d.trend(t)
	}
	d.Put(`</div><details><summary>The same as a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Statements over time"><table class="numbers"><thead><tr><th scope="col">from</th>`)
	for _, name := range []string{"allowed", "refused", "rows", "decision p50, µs", "p95", "execution p50, ms", "p95"} {
		d.Put(`<th scope="col">%s</th>`, name)
	}
	d.Put(`<th scope="col">refused by code</th></tr></thead><tbody>`)
	for _, p := range c.Periods {
		if p.Allowed+p.Refused == 0 {
			continue
		}
		d.Put(`<tr><td>`)
		d.time(p.From)
		d.Put(`</td>`)
		for _, n := range []string{group(p.Allowed), group(p.Refused), group(p.Rows), decimal(p.LatencyUS.P50), decimal(p.LatencyUS.P95), decimal(p.ExecMS.P50), decimal(p.ExecMS.P95)} {
			d.Put(`<td>%s</td>`, n)
		}
		d.Put(`<td>`)
		others := p.Refused
		for i, code := range p.Codes[:min(len(p.Codes), maxKinds)] {
			if i > 0 {
				d.Put(`, `)
			}
			d.Put(`%s %s`, code.Value, group(code.Statements))
			others -= code.Statements
		}
		if len(p.Codes) > maxKinds {
			d.Put(`, others %s`, group(others))
		}
		d.Put(`</td></tr>`)
	}
	d.Put(`</tbody></table></div></details>`)
}

// trend writes a small chart.
func (d *document) trend(t trend) {
	d.Put(`<figure class="trend"><svg viewBox="0 0 600 60" preserveAspectRatio="none" role="img" aria-label="%s over time">`, t.Title)
	for _, l := range t.Lines {
		d.Put(`<path class="%s" d="%s"/>`, l.Class, l.Path)
	}
	d.Put(`</svg><figcaption>%s: `, t.Title)
	for i, l := range t.Lines {
		if i > 0 {
			d.Put(`, `)
		}
		d.Put(`<span class="key %s">%s</span>`, l.Class, l.Label)
	}
	d.Put(`. %s</figcaption></figure>`, t.Note)
}

// named writes rows under a heading, if there are any.
func (d *document) named(heading string, rows []audit.Row) {
	if len(rows) > 0 {
		d.Put(`<h2>%s</h2>`, heading)
		d.rows(rows)
	}
}

func (d *document) rows(rows []audit.Row) {
	d.Put(`<div class="scroll" tabindex="0"><table class="rows log"><thead><tr><th scope="col">time</th><th scope="col">principal</th><th scope="col">connection</th><th scope="col">status</th><th scope="col">codes</th><th scope="col" class="n">rows</th><th scope="col" class="n">ms</th><th scope="col">statement</th></tr></thead><tbody>`)
	for _, r := range rows {
		d.Put(`<tr><td>`)
		d.time(r.Time)
		d.Put(`</td><td>`)
		if r.Principal != "" {
			d.Put(`<a href="%s"><bdi>%s</bdi></a>`, principalAddress(r.Principal), short(r.Principal))
		}
		d.Put(`</td><td><bdi>%s</bdi></td><td>`, short(r.Connection))
		d.status(r.Status)
		d.Put(`</td><td class="codes">`)
		for _, code := range r.Codes {
			d.code(code)
			d.Put(` `)
		}
		d.Put(`</td><td class="n">`)
		if r.Rows != nil {
			d.Put(`%s`, group(*r.Rows))
		}
		d.Put(`</td><td class="n">`)
		if r.ExecMS != nil {
			d.Put(`%s`, tenths(*r.ExecMS))
		}
		d.Put(`</td><td class="sql">`)
		switch {
		case r.QueryID == "":
			d.Put(`<bdi>%s</bdi>`, short(r.SQL))
		case r.SQL == "":
			d.Put(`<a href="/audit/%s">(no text)</a>`, url.PathEscape(r.QueryID))
		default:
			d.Put(`<a href="/audit/%s"><bdi>%s</bdi></a>`, url.PathEscape(r.QueryID), short(r.SQL))
		}
		d.Put("</td></tr>\n")
	}
	d.Put(`</tbody></table></div>`)
}

// facetShown is how many values of a condition are shown before the others are unfolded.
const facetShown = 8

func (d *document) facets(facets []facet) {
	for _, f := range facets {
		d.Put(`<section class="facet"><h2>%s</h2><ul>`, f.Label)
		for i, v := range f.Values {
			if i == facetShown {
				d.Put(`</ul><details><summary>%s more</summary><ul>`, len(f.Values)-i)
			}
			d.Put(`<li><a href="%s"`, v.Href)
			if v.Chosen {
				d.Put(` aria-current="true"`)
			}
			markup.PutIf(d.Document, ` title="%s"`, v.Title)
			d.Put(`><bdi>%s</bdi></a>`, short(v.Value))
			markup.PutIf(d.Document, ` <a class="page" href="%s">its page</a>`, v.Page)
			d.Put(` <span class="n">%s</span><meter min="0" max="100" value="%s" aria-hidden="true"></meter></li>`, group(v.Count), v.Percent)
		}
		d.Put(`</ul>`)
		if len(f.Values) > facetShown {
			d.Put(`</details>`)
		}
		d.Put("</section>\n")
	}
}

// place writes a place in a drawing, in few characters.
func place(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func tenths(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
