package report

import (
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/httpapi/markup"
)

// document collects the page.
type document struct {
	*markup.Document
	part bool // of a page of the server, whose headings are of the second level
}

// heading writes the heading of a part of a case.
func (d *document) heading(text string) {
	if d.part {
		d.Put(`<h2>%s</h2>`, text)
	} else {
		d.Put(`<h5>%s</h5>`, text)
	}
}

// write writes the page.
func (p *page) write() string {
	d := &document{Document: new(markup.Document)}
	d.Put(`<!doctype html><html lang="en"><head><meta charset="utf-8">`)
	d.Put(`<meta http-equiv="Content-Security-Policy" content="%s">`, p.Policy)
	d.Put(`<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">`)
	d.Put(`<title>Corpus report: %s</title><style>`, p.Guard)
	d.WriteString(p.Style) // of this package, and keys that it counts
	d.Put(`</style></head><body><a class="skip" href="#cases">Skip to the cases</a><header><p class="brand"><a href="#top">Corpus report</a></p><h1 id="top">%s`, p.Guard)
	markup.PutIf(d.Document, ` <span class="quiet">%s</span>`, p.Version)
	d.Put(`</h1><nav aria-label="Parts of the report"><ul><li><a href="#scores">Scores</a></li><li><a href="#matrix">Matrix</a></li>`)
	if p.Compared {
		d.Put(`<li><a href="#changes">Changes</a></li>`)
	}
	d.Put(`<li><a href="#cases">Cases</a></li></ul></nav></header><main>`)
	d.scores(p)
	d.matrix(p)
	if p.Compared {
		d.changes(p)
	}
	d.cases(p)
	d.Put(`</main><script>`)
	d.WriteString(scriptText)
	d.Put(`</script></body></html>`)
	return d.String()
}

func (d *document) scores(p *page) {
	d.Put(`<section class="over" aria-labelledby="scores"><h2 id="scores" tabindex="-1">Scores</h2><p>%s cases. `, p.All.Cases)
	if p.All.Failures() > 0 {
		d.Put(`<strong>%s were not answered as expected:</strong>`, p.All.Failures())
		d.failures(p.All)
	} else if p.All.NotRun < p.All.Cases {
		d.Put(`Every case that was run was answered as expected.`)
	}
	markup.PutIf(d.Document, ` <strong>%s were not run.</strong>`, p.All.NotRun)
	d.Put(`</p>`)
	markup.PutIf(d.Document, `<p><strong>Results of the run that are of no case in this report: %s.</strong></p>`, p.Strange)
	if len(p.Scores) > 0 {
		d.Put(`<div class="scroll" role="region" aria-label="Table of scores" tabindex="0"><table><thead><tr><th scope="col">Dialect</th><th scope="col">Cases</th><th scope="col">Bypasses</th><th scope="col">False rejects</th><th scope="col">Errors</th><th scope="col">Crashes</th><th scope="col">Time-outs</th><th scope="col"><abbr title="50th, 95th and 99th percentile">p50 / p95 / p99</abbr></th></tr></thead><tbody>`)
		for _, s := range p.Scores {
			d.Put(`<tr><th scope="row">%s</th><td>%s</td>`, s.Dialect, s.Cases)
			for _, of := range []share{s.Bypasses, s.FalseRejects, s.Errors} {
				d.share(of)
			}
			d.Put(`<td>%s</td><td>%s</td><td>%s / %s / %s µs</td></tr>`, s.Crashes, s.TimeOuts, s.P50, s.P95, s.P99)
		}
		d.Put(`</tbody></table></div><p class="quiet">Bypasses are a share of the cases that must be refused, false rejects of those that must pass, errors of all. No figure is made over dialects.</p>`)
	}
	if len(p.About) > 0 {
		d.Put(`<dl class="about">`)
		for _, about := range p.About {
			d.Put(`<dt>%s</dt><dd>%s</dd>`, about.Name, about.Value)
		}
		d.Put(`</dl>`)
	}
	d.Put(`</section>`)
}

// failures writes how many cases were not answered as expected, and how.
func (d *document) failures(t tally) {
	markup.PutIf(d.Document, ` <span class="bad">%s bypassed</span>`, t.Bypasses)
	markup.PutIf(d.Document, ` <span class="bad">%s falsely refused</span>`, t.FalseRejects)
	markup.PutIf(d.Document, ` <span class="warn">%s without an answer</span>`, t.Errors)
	markup.PutIf(d.Document, ` <span class="warn">%s not the default</span>`, t.Unmet)
}

func (d *document) share(s share) {
	switch {
	case s.Of == 0:
		d.Put(`<td><span class="quiet">–</span></td>`)
		return
	case s.N > 0:
		d.Put(`<td><span class="bad">%s</span>`, s.N)
	default:
		d.Put(`<td><span>%s</span>`, s.N)
	}
	d.Put(`<span class="quiet"> of %s · %s</span></td>`, s.Of, s.Percent())
}

func (d *document) matrix(p *page) {
	d.Put(`<section class="over" aria-labelledby="matrix"><h2 id="matrix" tabindex="-1">Matrix</h2><p class="quiet">Cases of each class and dialect. What was not answered as expected stands beside the number.</p><div class="scroll" role="region" aria-label="Table of classes and dialects" tabindex="0"><table class="matrix"><thead><tr><th scope="col">Class</th>`)
	for _, dialect := range p.Dialects {
		d.Put(`<th scope="col">%s</th>`, dialect)
	}
	d.Put(`<th scope="col">all</th></tr></thead><tbody>`)
	for _, row := range p.Matrix {
		if row.Sum {
			d.Put(`<tr class="sum">`)
		} else {
			d.Put(`<tr>`)
		}
		d.Put(`<th scope="row">%s`, row.Class)
		markup.PutIf(d.Document, ` <span class="quiet">%s</span>`, row.Title)
		d.Put(`</th>`)
		for _, cell := range row.Cells {
			d.Put(`<td>`)
			d.tally(cell)
			d.Put(`</td>`)
		}
		d.Put(`</tr>`)
	}
	d.Put(`</tbody></table></div></section>`)
}

func (d *document) tally(t tally) {
	switch {
	case t.Cases == 0:
		d.Put(`<span class="quiet" aria-hidden="true">–</span><span class="vh">none</span>`)
		return
	case t.Anchor != "":
		d.Put(`<a href="#%s">%s</a>`, t.Anchor, t.Cases)
	default:
		d.Put(`%s`, t.Cases)
	}
	d.failures(t)
	markup.PutIf(d.Document, ` <span class="quiet">%s not run</span>`, t.NotRun)
}

func (d *document) changes(p *page) {
	d.Put(`<section class="over" aria-labelledby="changes"><h2 id="changes" tabindex="-1">Changes since the earlier run</h2>`)
	if len(p.Counts) == 0 {
		d.Put(`<p>No case differs.</p>`)
	} else {
		d.Put(`<p>`)
		for i, c := range p.Counts {
			if i > 0 {
				d.Put(`, `)
			}
			if p.OfKind != nil {
				d.Put(`<a href="%s">%s %s</a>`, p.OfKind(c.Name), c.Value, c.Name)
			} else {
				d.Put(`%s %s`, c.Value, c.Name)
			}
		}
		if p.OfKind != nil {
			d.Put(`, <a href="%s">all kinds</a>`, p.OfKind(""))
		}
		d.Put(`.</p><div class="scroll" role="region" aria-label="Table of changes" tabindex="0"><table><thead><tr><th scope="col">Case</th><th scope="col">Change</th><th scope="col">Dialect</th><th scope="col">Class</th><th scope="col">Before</th><th scope="col">Now</th></tr></thead><tbody>`)
		for _, c := range p.Changes {
			d.Put(`<tr><th scope="row"><a href="%s">%s</a></th><td class="kind %s">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>`,
				c.URL, c.ID, c.Kind, c.Kind, c.Dialect, c.Class, answer(c.Before), answer(c.After))
		}
		d.Put(`</tbody></table></div>`)
	}
	markup.PutIf(d.Document, `<p class="quiet">Results of the earlier run that are of no case in this report: %s.</p>`, p.Beyond)
	d.Put(`</section>`)
}

// answer returns what a run answered, in words.
func answer(text string) string {
	if text == "" {
		return "no answer"
	}
	return text
}

func (d *document) cases(p *page) {
	d.Put(`<section aria-labelledby="cases"><h2 id="cases" tabindex="-1">Cases</h2><form class="over" id="filters" autocomplete="off" aria-label="Filter the cases">`)
	d.filter("by-dialect", "Dialect", p.ByDialect)
	d.filter("by-class", "Class", p.ByClass)
	d.filter("by-show", "Show", p.ByShow)
	// With scripts, a browser takes the inside of noscript as text, and makes no elements.
	// The script of the page makes those that are shown.
	d.Put(`</form><noscript>`)
	for _, g := range p.Groups {
		d.Put(`<section class="group %s" aria-labelledby="%s"><h3 id="%s" tabindex="-1">%s · %s`, g.Keys, g.Anchor, g.Anchor, g.Dialect, g.Class)
		markup.PutIf(d.Document, ` <span class="quiet">%s</span>`, g.Title)
		d.Put(`</h3>`)
		for _, c := range g.Cases {
			d.page(c)
		}
		d.Put(`</section>`)
	}
	d.Put(`</noscript></section>`)
}

func (d *document) filter(id, name string, options []option) {
	d.Put(`<p><label for="%s">%s</label> <select id="%s"><option value="">all</option>`, id, name, id)
	for _, o := range options {
		d.Put(`<option value="%s">%s</option>`, o.Key, o.Text)
	}
	d.Put(`</select></p>`)
}

// page writes the page of a case.
func (d *document) page(c *caseView) {
	d.Put(`<article class="case %s" id="%s" tabindex="-1"><h4><a href="#%s">%s</a> <span>%s</span></h4>`, c.Keys, c.Anchor, c.Anchor, c.ID, c.Title)
	d.Put(`<p class="row"><span class="want">%s</span> <span class="state %s">%s</span>`, want(c.Expect), c.State, c.State.Text())
	markup.PutIf(d.Document, ` <code>%s</code>`, c.Code)
	if c.Change != nil {
		d.Put(` <span class="kind %s">%s</span>`, c.Change.Kind, c.Change.Kind)
	}
	d.Put(`</p><p class="text"><code>%s</code></p><div class="page"><p class="around"><a href="#%s">All of %s · %s</a>`, c.Text, c.Group.Anchor, c.Group.Dialect, c.Group.Class)
	if c.Previous != nil {
		d.Put(` <a href="%s" rel="prev"><span class="vh">Previous case: </span>← %s</a>`, c.Previous.URL, c.Previous.Text)
	}
	if c.Next != nil {
		d.Put(` <a href="%s" rel="next"><span class="vh">Next case: </span>%s →</a>`, c.Next.URL, c.Next.Text)
	}
	d.Put(`</p>`)
	d.statement(c.SQL)
	d.answer(c)
	if c.Read {
		d.reading(c)
	}
	d.expectation(c)
	d.evidence(c)
	d.Put(`</div></article>`)
}

// want returns what a case demands, in words.
func want(e corpus.Expect) string {
	switch e {
	case corpus.Reject:
		return "must be refused"
	case corpus.Allow:
		return "must pass"
	case corpus.Policy:
	}
	return "depends on policy"
}

func (d *document) statement(s statement) {
	d.heading("Statement")
	if s.Bytes == 0 {
		d.Put(`<p class="quiet">The text is empty.</p>`)
	} else {
		d.sql(s.Pieces)
	}
	if s.Left > 0 {
		d.Put(`<p class="quiet">%s of %s bytes are not shown here. The text ends in:</p>`, s.Left, s.Bytes)
		d.sql(s.Cut)
	}
}

func (d *document) sql(pieces []piece) {
	if d.part { // the server's pages bound its height, so that it can be scrolled
		d.Put(`<pre class="sql" tabindex="0"><code>`)
	} else {
		d.Put(`<pre class="sql"><code>`)
	}
	for _, p := range pieces {
		switch {
		case p.Code && p.Marked:
			d.Put(`<mark><i>%s</i></mark>`, p.Text)
		case p.Code:
			d.Put(`<i>%s</i>`, p.Text)
		case p.Marked:
			d.Put(`<mark>%s</mark>`, p.Text)
		default:
			d.Put(`%s`, p.Text)
		}
	}
	d.Put(`</code></pre>`)
}

func (d *document) answer(c *caseView) {
	d.heading("Answer")
	if c.State == stateNotRun {
		d.Put(`<p>The run has no answer to this case.</p>`)
	} else {
		d.Put(`<dl><dt>Decision</dt><dd>%s`, c.Decision)
		markup.PutIf(d.Document, `, %s`, c.Fault)
		d.Put(`</dd>`)
		if c.Code != "" {
			d.Put(`<dt>Code</dt><dd><code>%s</code>`, c.Code)
			switch {
			case c.Decision != string(corpus.Reject) || len(c.Codes) == 0:
			case c.Agrees:
				d.Put(`, one that the case lists`)
			default:
				d.Put(`, which the case does not list`)
			}
			d.Put(`</dd>`)
		}
		markup.PutIf(d.Document, `<dt>Detail</dt><dd>%s</dd>`, c.Detail)
		if c.Asked != "" {
			d.Put(`<dt>Expected by the run</dt><dd>%s</dd>`, want(c.Asked))
		}
		if c.Change != nil {
			d.Put(`<dt>Earlier run</dt><dd>%s (%s)</dd>`, answer(c.Change.Before), c.Change.Kind)
		}
		d.Put(`</dl>`)
	}
	d.findings(c)
}

func (d *document) findings(c *caseView) {
	if len(c.Findings) > 0 {
		d.Put(`<ol class="findings">`)
		for _, f := range c.Findings {
			d.Put(`<li><code>%s</code> %s <span class="quiet">line %s, column %s`, f.Code, f.Message, f.Line, f.Column)
			markup.PutIf(d.Document, `, in %s`, f.Path)
			d.Put(`</span>`)
			markup.PutIf(d.Document, `<br><span class="quiet">Instead: %s</span>`, f.Hint)
		}
		d.Put(`</ol>`)
	}
	markup.PutIf(d.Document, `<p class="quiet">%s more findings.</p>`, c.MoreFindings)
}

func (d *document) reading(c *caseView) {
	if c.Facts {
		d.heading("What the guard read")
	} else {
		d.heading("Syntax tree")
	}
	if len(c.Nodes) == 0 {
		d.Put(`<p class="quiet">There is none: the text was refused before it was parsed, or does not parse.</p>`)
		return
	}
	d.Put(`<div class="tree">`)
	d.nodes(c.Nodes)
	d.Put(`</div>`)
}

func (d *document) nodes(all []nodeView) {
	d.Put(`<ul>`)
	for _, n := range all {
		d.Put(`<li>`)
		if len(n.Children) > 0 {
			d.Put(`<details open><summary>`)
		}
		markup.PutIf(d.Document, `<i>%s</i> `, n.Role)
		if len(n.Codes) > 0 {
			d.Put(`<mark>`)
		}
		d.Put(`%s`, n.Kind)
		markup.PutIf(d.Document, ` <code>%s</code>`, n.Text)
		if len(n.Codes) > 0 {
			d.Put(`</mark>`)
		}
		for _, code := range n.Codes {
			d.Put(` <b>%s</b>`, code)
		}
		if len(n.Children) > 0 {
			d.Put(`</summary>`)
			d.nodes(n.Children)
			d.Put(`</details>`)
		}
		markup.PutIf(d.Document, `<p>%s more nodes</p>`, n.More)
	}
	d.Put(`</ul>`)
}

func (d *document) expectation(c *caseView) {
	d.heading("Expectation")
	d.Put(`<dl><dt>Demand</dt><dd>%s`, want(c.Expect))
	if c.Policy != nil {
		d.Put(`: <code>%s</code> decides; by default %s`, c.Policy.Key, c.Policy.Default)
	}
	d.Put(`</dd>`)
	if len(c.Codes) > 0 {
		d.Put(`<dt>Codes</dt><dd>`)
		for i, code := range c.Codes {
			if i > 0 {
				d.Put(`, `)
			}
			d.Put(`<code>%s</code>`, code.Code)
			if code.Given {
				d.Put(` (given)`)
			}
		}
		d.Put(`</dd>`)
	}
	if c.Effect != "" {
		d.Put(`<dt>Effect</dt><dd>%s. %s</dd>`, c.Effect, c.Contained)
	}
	markup.PutIf(d.Document, `<dt>Engine</dt><dd>%s</dd>`, c.Engine)
	markup.PutIf(d.Document, `<dt>Needs</dt><dd>%s</dd>`, c.Needs)
	markup.PutIf(d.Document, `<dt>Server family</dt><dd>%s</dd>`, c.Flavour)
	if c.Twin != nil {
		d.Put(`<dt>Benign twin</dt><dd>`)
		d.link(*c.Twin)
		d.Put(`</dd>`)
	}
	if c.TwinOf != nil {
		d.Put(`<dt>Benign twin of</dt><dd>`)
		d.link(*c.TwinOf)
		d.Put(`</dd>`)
	}
	if len(c.Refs) > 0 {
		d.Put(`<dt>Sources</dt><dd>`)
		d.links(c.Refs)
		d.Put(`</dd>`)
	}
	markup.PutIf(d.Document, `<dt>Since</dt><dd>%s</dd>`, c.Since)
	d.Put(`</dl>`)
}

func (d *document) links(all []link) {
	d.Put(`<ul class="plain">`)
	for _, l := range all {
		d.Put(`<li>`)
		d.link(l)
	}
	d.Put(`</ul>`)
}

// link writes a link, whose address newLink has checked.
func (d *document) link(l link) {
	if l.URL == "" {
		d.Put(`%s`, l.Text)
		return
	}
	d.Put(`<a href="%s" rel="noreferrer">%s</a>`, l.URL, l.Text)
}

func (d *document) evidence(c *caseView) {
	if len(c.Evidence) > 0 || len(c.Documents) > 0 {
		d.heading("Evidence")
	}
	if len(c.Evidence) > 0 {
		d.Put(`<div class="scroll" role="region" aria-label="Evidence of %s" tabindex="0"><table class="evidence"><thead><tr><th scope="col">Engine<th scope="col">Role<th scope="col">Transaction<th scope="col">Outcome<th scope="col">Seen<th scope="col">Date</thead><tbody>`, c.ID)
		for _, e := range c.Evidence {
			d.Put(`<tr><th scope="row">%s %s</th><td>%s<td>%s<td>%s<td>%s<td>%s`, e.Engine, e.Version, e.Role, e.Tx, e.Outcome, e.Probe, e.Date)
		}
		d.Put(`</tbody></table></div>`)
	}
	if len(c.Documents) > 0 {
		d.Put(`<p>No engine has run the case. Documents stand for it:</p>`)
		d.links(c.Documents)
	}
}
