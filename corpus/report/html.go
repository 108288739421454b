package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// markup is HTML of this package. Only constants become markup without a conversion.
type markup string

// document collects the page. A template of the standard library would need methods by
// name, for which the linker keeps a tenth of ktx that nobody calls.
type document struct{ strings.Builder }

// put writes markup, in which a verb stands for each value. Values are escaped, so that
// they are text between tags, or a part of an attribute in double quotes. They must not
// stand in any other place: outside of quotes, in a script, or in a style.
func (d *document) put(m markup, values ...any) {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = html.EscapeString(fmt.Sprint(v))
	}
	_, _ = fmt.Fprintf(d, string(m), escaped...)
}

// putIf writes markup with a value unless the value is its zero value.
func putIf[T comparable](d *document, m markup, value T) {
	var zero T
	if value != zero {
		d.put(m, value)
	}
}

// write writes the page.
func (p *page) write() string {
	d := &document{}
	d.put(`<!doctype html><html lang="en"><head><meta charset="utf-8">`)
	d.put(`<meta http-equiv="Content-Security-Policy" content="%s">`, p.Policy)
	d.put(`<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">`)
	d.put(`<title>Corpus report: %s</title><style>`, p.Guard)
	d.WriteString(p.Style) // of this package, and keys that it counts
	d.put(`</style></head><body><a class="skip" href="#cases">Skip to the cases</a><header><p class="brand"><a href="#top">Corpus report</a></p><h1 id="top">%s`, p.Guard)
	putIf(d, ` <span class="quiet">%s</span>`, p.Version)
	d.put(`</h1><nav aria-label="Parts of the report"><ul><li><a href="#scores">Scores</a></li><li><a href="#matrix">Matrix</a></li>`)
	if p.Compared {
		d.put(`<li><a href="#changes">Changes</a></li>`)
	}
	d.put(`<li><a href="#cases">Cases</a></li></ul></nav></header><main>`)
	d.scores(p)
	d.matrix(p)
	if p.Compared {
		d.changes(p)
	}
	d.cases(p)
	d.put(`</main><script>`)
	d.WriteString(scriptText)
	d.put(`</script></body></html>`)
	return d.String()
}

func (d *document) scores(p *page) {
	d.put(`<section class="over" aria-labelledby="scores"><h2 id="scores" tabindex="-1">Scores</h2><p>%s cases. `, p.All.Cases)
	if p.All.Failures() > 0 {
		d.put(`<strong>%s were not answered as expected:</strong>`, p.All.Failures())
		d.failures(p.All)
	} else if p.All.NotRun < p.All.Cases {
		d.put(`Every case that was run was answered as expected.`)
	}
	putIf(d, ` <strong>%s were not run.</strong>`, p.All.NotRun)
	d.put(`</p>`)
	putIf(d, `<p><strong>Results of the run that are of no case in this report: %s.</strong></p>`, p.Strange)
	if len(p.Scores) > 0 {
		d.put(`<div class="scroll" role="region" aria-label="Table of scores" tabindex="0"><table><thead><tr><th scope="col">Dialect</th><th scope="col">Cases</th><th scope="col">Bypasses</th><th scope="col">False rejects</th><th scope="col">Errors</th><th scope="col">Crashes</th><th scope="col">Time-outs</th><th scope="col"><abbr title="50th, 95th and 99th percentile">p50 / p95 / p99</abbr></th></tr></thead><tbody>`)
		for _, s := range p.Scores {
			d.put(`<tr><th scope="row">%s</th><td>%s</td>`, s.Dialect, s.Cases)
			for _, of := range []share{s.Bypasses, s.FalseRejects, s.Errors} {
				d.share(of)
			}
			d.put(`<td>%s</td><td>%s</td><td>%s / %s / %s µs</td></tr>`, s.Crashes, s.TimeOuts, s.P50, s.P95, s.P99)
		}
		d.put(`</tbody></table></div><p class="quiet">Bypasses are a share of the cases that must be refused, false rejects of those that must pass, errors of all. No figure is made over dialects.</p>`)
	}
	if len(p.About) > 0 {
		d.put(`<dl class="about">`)
		for _, about := range p.About {
			d.put(`<dt>%s</dt><dd>%s</dd>`, about.Name, about.Value)
		}
		d.put(`</dl>`)
	}
	d.put(`</section>`)
}

// failures writes how many cases were not answered as expected, and how.
func (d *document) failures(t tally) {
	putIf(d, ` <span class="bad">%s bypassed</span>`, t.Bypasses)
	putIf(d, ` <span class="bad">%s falsely refused</span>`, t.FalseRejects)
	putIf(d, ` <span class="warn">%s without an answer</span>`, t.Errors)
	putIf(d, ` <span class="warn">%s not the default</span>`, t.Unmet)
}

func (d *document) share(s share) {
	switch {
	case s.Of == 0:
		d.put(`<td><span class="quiet">–</span></td>`)
		return
	case s.N > 0:
		d.put(`<td><span class="bad">%s</span>`, s.N)
	default:
		d.put(`<td><span>%s</span>`, s.N)
	}
	d.put(`<span class="quiet"> of %s · %s</span></td>`, s.Of, s.Percent())
}

func (d *document) matrix(p *page) {
	d.put(`<section class="over" aria-labelledby="matrix"><h2 id="matrix" tabindex="-1">Matrix</h2><p class="quiet">Cases of each class and dialect. What was not answered as expected stands beside the number.</p><div class="scroll" role="region" aria-label="Table of classes and dialects" tabindex="0"><table class="matrix"><thead><tr><th scope="col">Class</th>`)
	for _, dialect := range p.Dialects {
		d.put(`<th scope="col">%s</th>`, dialect)
	}
	d.put(`<th scope="col">all</th></tr></thead><tbody>`)
	for _, row := range p.Matrix {
		if row.Sum {
			d.put(`<tr class="sum">`)
		} else {
			d.put(`<tr>`)
		}
		d.put(`<th scope="row">%s`, row.Class)
		putIf(d, ` <span class="quiet">%s</span>`, row.Title)
		d.put(`</th>`)
		for _, cell := range row.Cells {
			d.put(`<td>`)
			d.tally(cell)
			d.put(`</td>`)
		}
		d.put(`</tr>`)
	}
	d.put(`</tbody></table></div></section>`)
}

func (d *document) tally(t tally) {
	switch {
	case t.Cases == 0:
		d.put(`<span class="quiet" aria-hidden="true">–</span><span class="vh">none</span>`)
		return
	case t.Anchor != "":
		d.put(`<a href="#%s">%s</a>`, t.Anchor, t.Cases)
	default:
		d.put(`%s`, t.Cases)
	}
	d.failures(t)
	putIf(d, ` <span class="quiet">%s not run</span>`, t.NotRun)
}

func (d *document) changes(p *page) {
	d.put(`<section class="over" aria-labelledby="changes"><h2 id="changes" tabindex="-1">Changes since the earlier run</h2>`)
	if len(p.Changes) == 0 {
		d.put(`<p>No case differs.</p>`)
	} else {
		d.put(`<p>`)
		for i, c := range p.Counts {
			if i > 0 {
				d.put(`, `)
			}
			d.put(`%s %s`, c.Value, c.Name)
		}
		d.put(`.</p><div class="scroll" role="region" aria-label="Table of changes" tabindex="0"><table><thead><tr><th scope="col">Case</th><th scope="col">Change</th><th scope="col">Dialect</th><th scope="col">Class</th><th scope="col">Before</th><th scope="col">Now</th></tr></thead><tbody>`)
		for _, c := range p.Changes {
			d.put(`<tr><th scope="row"><a href="#%s">%s</a></th><td class="kind %s">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>`,
				c.Anchor, c.ID, c.Kind, c.Kind, c.Dialect, c.Class, answer(c.Before), answer(c.After))
		}
		d.put(`</tbody></table></div>`)
	}
	putIf(d, `<p class="quiet">Results of the earlier run that are of no case in this report: %s.</p>`, p.Beyond)
	d.put(`</section>`)
}

// answer returns what a run answered, in words.
func answer(text string) string {
	if text == "" {
		return "no answer"
	}
	return text
}

func (d *document) cases(p *page) {
	d.put(`<section aria-labelledby="cases"><h2 id="cases" tabindex="-1">Cases</h2><form class="over" id="filters" autocomplete="off" aria-label="Filter the cases">`)
	d.filter("by-dialect", "Dialect", p.ByDialect)
	d.filter("by-class", "Class", p.ByClass)
	d.filter("by-show", "Show", p.ByShow)
	d.put(`</form>`)
	for _, g := range p.Groups {
		d.put(`<section class="group %s" aria-labelledby="%s"><h3 id="%s" tabindex="-1">%s · %s`, g.Keys, g.Anchor, g.Anchor, g.Dialect, g.Class)
		putIf(d, ` <span class="quiet">%s</span>`, g.Title)
		d.put(`</h3>`)
		for _, c := range g.Cases {
			d.page(c)
		}
		d.put(`</section>`)
	}
	d.put(`</section>`)
}

func (d *document) filter(id, name string, options []option) {
	d.put(`<p><label for="%s">%s</label> <select id="%s"><option value="">all</option>`, id, name, id)
	for _, o := range options {
		d.put(`<option value="%s">%s</option>`, o.Key, o.Text)
	}
	d.put(`</select></p>`)
}

// page writes the page of a case.
func (d *document) page(c *caseView) {
	d.put(`<article class="case %s" id="%s" tabindex="-1"><h4><a href="#%s">%s</a> <span>%s</span></h4>`, c.Keys, c.Anchor, c.Anchor, c.ID, c.Title)
	d.put(`<p class="row"><span class="want">%s</span> <span class="state %s">%s</span>`, want(c.Expect), c.State, c.State.Text())
	putIf(d, ` <code>%s</code>`, c.Code)
	if c.Change != nil {
		d.put(` <span class="kind %s">%s</span>`, c.Change.Kind, c.Change.Kind)
	}
	d.put(`</p><div class="page"><p class="around"><a href="#%s">All of %s · %s</a>`, c.Group.Anchor, c.Group.Dialect, c.Group.Class)
	if c.Previous != nil {
		d.put(` <a href="%s" rel="prev"><span class="vh">Previous case: </span>← %s</a>`, c.Previous.URL, c.Previous.Text)
	}
	if c.Next != nil {
		d.put(` <a href="%s" rel="next"><span class="vh">Next case: </span>%s →</a>`, c.Next.URL, c.Next.Text)
	}
	d.put(`</p>`)
	d.statement(c.SQL)
	d.answer(c)
	if c.Read {
		d.reading(c)
	}
	d.expectation(c)
	d.evidence(c)
	d.put(`</div></article>`)
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
	d.put(`<h5>Statement</h5>`)
	if s.Bytes == 0 {
		d.put(`<p class="quiet">The text is empty.</p>`)
	} else {
		d.sql(s.Pieces)
	}
	if s.Left > 0 {
		d.put(`<p class="quiet">%s of %s bytes are not shown here. The text ends in:</p>`, s.Left, s.Bytes)
		d.sql(s.Cut)
	}
}

func (d *document) sql(pieces []piece) {
	d.put(`<pre class="sql"><code>`)
	for _, p := range pieces {
		switch {
		case p.Code && p.Marked:
			d.put(`<mark><i>%s</i></mark>`, p.Text)
		case p.Code:
			d.put(`<i>%s</i>`, p.Text)
		case p.Marked:
			d.put(`<mark>%s</mark>`, p.Text)
		default:
			d.put(`%s`, p.Text)
		}
	}
	d.put(`</code></pre>`)
}

func (d *document) answer(c *caseView) {
	d.put(`<h5>Answer</h5>`)
	if c.State == stateNotRun {
		d.put(`<p>The run has no answer to this case.</p>`)
	} else {
		d.put(`<dl><dt>Decision</dt><dd>%s`, c.Decision)
		putIf(d, `, %s`, c.Fault)
		d.put(`</dd>`)
		if c.Code != "" {
			d.put(`<dt>Code</dt><dd><code>%s</code>`, c.Code)
			switch {
			case c.Decision != string(corpus.Reject) || len(c.Codes) == 0:
			case c.Agrees:
				d.put(`, one that the case lists`)
			default:
				d.put(`, which the case does not list`)
			}
			d.put(`</dd>`)
		}
		putIf(d, `<dt>Detail</dt><dd>%s</dd>`, c.Detail)
		if c.Asked != "" {
			d.put(`<dt>Expected by the run</dt><dd>%s</dd>`, want(c.Asked))
		}
		if c.Change != nil {
			d.put(`<dt>Earlier run</dt><dd>%s (%s)</dd>`, answer(c.Change.Before), c.Change.Kind)
		}
		d.put(`</dl>`)
	}
	if len(c.Findings) > 0 {
		d.put(`<ol class="findings">`)
		for _, f := range c.Findings {
			d.put(`<li><code>%s</code> %s <span class="quiet">line %s, column %s`, f.Code, f.Message, f.Line, f.Column)
			putIf(d, `, in %s`, f.Path)
			d.put(`</span>`)
			putIf(d, `<br><span class="quiet">Instead: %s</span>`, f.Hint)
		}
		d.put(`</ol>`)
	}
	putIf(d, `<p class="quiet">%s more findings.</p>`, c.MoreFindings)
}

func (d *document) reading(c *caseView) {
	if c.Facts {
		d.put(`<h5>What the guard read</h5>`)
	} else {
		d.put(`<h5>Syntax tree</h5>`)
	}
	if len(c.Nodes) == 0 {
		d.put(`<p class="quiet">There is none: the text was refused before it was parsed, or does not parse.</p>`)
		return
	}
	d.put(`<div class="tree">`)
	d.nodes(c.Nodes)
	d.put(`</div>`)
}

func (d *document) nodes(all []nodeView) {
	d.put(`<ul>`)
	for _, n := range all {
		d.put(`<li>`)
		putIf(d, `<i>%s</i> `, n.Role)
		if len(n.Codes) > 0 {
			d.put(`<mark>`)
		}
		d.put(`%s`, n.Kind)
		putIf(d, ` <code>%s</code>`, n.Text)
		if len(n.Codes) > 0 {
			d.put(`</mark>`)
		}
		for _, code := range n.Codes {
			d.put(` <b>%s</b>`, code)
		}
		if len(n.Children) > 0 {
			d.nodes(n.Children)
		}
		putIf(d, `<p>%s more nodes</p>`, n.More)
	}
	d.put(`</ul>`)
}

func (d *document) expectation(c *caseView) {
	d.put(`<h5>Expectation</h5><dl><dt>Demand</dt><dd>%s`, want(c.Expect))
	if c.Policy != nil {
		d.put(`: <code>%s</code> decides; by default %s`, c.Policy.Key, c.Policy.Default)
	}
	d.put(`</dd>`)
	if len(c.Codes) > 0 {
		d.put(`<dt>Codes</dt><dd>`)
		for i, code := range c.Codes {
			if i > 0 {
				d.put(`, `)
			}
			d.put(`<code>%s</code>`, code.Code)
			if code.Given {
				d.put(` (given)`)
			}
		}
		d.put(`</dd>`)
	}
	if c.Effect != "" {
		d.put(`<dt>Effect</dt><dd>%s. %s</dd>`, c.Effect, c.Contained)
	}
	putIf(d, `<dt>Engine</dt><dd>%s</dd>`, c.Engine)
	putIf(d, `<dt>Needs</dt><dd>%s</dd>`, c.Needs)
	putIf(d, `<dt>Server family</dt><dd>%s</dd>`, c.Flavour)
	if c.Twin != nil {
		d.put(`<dt>Benign twin</dt><dd>`)
		d.link(*c.Twin)
		d.put(`</dd>`)
	}
	if c.TwinOf != nil {
		d.put(`<dt>Benign twin of</dt><dd>`)
		d.link(*c.TwinOf)
		d.put(`</dd>`)
	}
	if len(c.Refs) > 0 {
		d.put(`<dt>Sources</dt><dd>`)
		d.links(c.Refs)
		d.put(`</dd>`)
	}
	putIf(d, `<dt>Since</dt><dd>%s</dd>`, c.Since)
	d.put(`</dl>`)
}

func (d *document) links(all []link) {
	d.put(`<ul class="plain">`)
	for _, l := range all {
		d.put(`<li>`)
		d.link(l)
	}
	d.put(`</ul>`)
}

// link writes a link, whose address newLink has checked.
func (d *document) link(l link) {
	if l.URL == "" {
		d.put(`%s`, l.Text)
		return
	}
	d.put(`<a href="%s" rel="noreferrer">%s</a>`, l.URL, l.Text)
}

func (d *document) evidence(c *caseView) {
	if len(c.Evidence) > 0 || len(c.Documents) > 0 {
		d.put(`<h5>Evidence</h5>`)
	}
	if len(c.Evidence) > 0 {
		d.put(`<div class="scroll" role="region" aria-label="Evidence of %s" tabindex="0"><table class="evidence"><thead><tr><th scope="col">Engine<th scope="col">Role<th scope="col">Transaction<th scope="col">Outcome<th scope="col">Seen<th scope="col">Date</thead><tbody>`, c.ID)
		for _, e := range c.Evidence {
			d.put(`<tr><th scope="row">%s %s</th><td>%s<td>%s<td>%s<td>%s<td>%s`, e.Engine, e.Version, e.Role, e.Tx, e.Outcome, e.Probe, e.Date)
		}
		d.put(`</tbody></table></div>`)
	}
	if len(c.Documents) > 0 {
		d.put(`<p>No engine has run the case. Documents stand for it:</p>`)
		d.links(c.Documents)
	}
}
