package pages

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi/markup"
	"github.com/ktxhq/ktx/sqlguard"
)

// again judges a statement of the log by the policy of today. The text that the page
// shows is the one that was judged.
func (p *Pages) again(r *http.Request, decision audit.Event) (audit.Again, report.Reading) {
	var reading report.Reading
	a, err := audit.Rejudge(decision, func(sql string) (sqlguard.Verdict, error) {
		var err error
		reading, err = p.config.Judge.Connection(r.Context(), decision.Connection.ID, sql)
		return reading.Verdict, err
	})
	if err != nil { // the connection is gone, or is not the reader's
		return audit.Again{Outcome: audit.Unknown}, report.Reading{}
	}
	return a, reading
}

// outcomes say what an outcome means.
var outcomes = map[audit.Outcome]string{
	audit.Same:       "Today's policy gives the same verdict.",
	audit.NowRefused: "Today's policy would refuse it.",
	audit.NowAllowed: "Today's policy would let it run.",
	audit.Unknown:    "It cannot be judged again: the log has no literals, and they could decide, or the connection is not known any more.",
}

// again writes the text as the guard reads it today, and what that says of the verdict.
func (d *document) again(a audit.Again, r report.Reading, id string) {
	if a.Outcome != audit.Unknown {
		report.WriteReading(d.Document, a.Text, r)
	}
	d.Put(`<h2>Would it pass now?</h2><p class="again %s">%s`, a.Outcome, outcomes[a.Outcome])
	if a.Outcome != audit.Unknown && a.Outcome != audit.Same {
		d.Put(` The marks in the text are of today's policy.`)
	}
	d.Put(`</p><p><a href="/audit/rejudge?queryId=%s">By the ktx.yaml on the disk</a>, which the server may not have taken yet.</p>`, url.QueryEscape(id))
	if a.Outcome == audit.NowRefused {
		markupCodes(d, r.Verdict)
	}
}

// markupCodes leads from the code of a refusal to the cases of the corpus with it.
func markupCodes(d *document, v sqlguard.Verdict) {
	if v.Code == "" {
		return
	}
	d.Put(`<p><a href="/corpus?%s">Cases of the corpus with <code>%s</code></a></p>`, url.Values{"code": {string(v.Code)}, "dialect": {v.Dialect}}.Encode(), v.Code)
}

// reviewSince is the age of the statements that are judged again unless the address says
// another, reviewTime how long a page judges, and reviewPart after how many statements it
// looks at the clock.
const (
	reviewSince = "30d"
	reviewTime  = 15 * time.Second
	reviewPart  = 500
)

// review is the content of the page of what would change.
type review struct {
	audit.Review
	Inputs []input
	From   time.Time
	Over   time.Time // the oldest statement that was judged; zero when all were
	Next   string    // the address that judges those before it
	First  string    // the address that begins with the newest; blank on it
	// Lists leads to the other forms of the same statements.
	Lists paging
}

// rejudge shows which of the statements that meet the conditions would change their
// verdict under the ktx.yaml on the disk.
func (p *Pages) rejudge(w http.ResponseWriter, r *http.Request) {
	f, err := p.filter(r, "forms", "last")
	if err != nil {
		p.fail(w, r, err)
		return
	}
	after, err := number(r, "after", 0, 1, math.MaxInt64)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	last, err := number(r, "last", 0, 1, math.MaxInt64)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	q := queryOf(r).with("forms", "").with("last", "")
	if q.get("since") == "" && f.QueryID == "" && f.Session == "" {
		q = q.with("since", reviewSince)
		if f.Since, err = audit.ParseTime(reviewSince, p.now()); err != nil {
			p.fail(w, r, err)
			return
		}
	}
	reviewer, err := p.config.Review(r.Context())
	if err != nil {
		p.config.Logger.WarnContext(r.Context(), "statements cannot be judged again", "error", err)
		p.fail(w, r, &requestError{"the ktx.yaml on the disk cannot be used", "ktx status says what is wrong with it"})
		return
	}
	state, err := p.config.Index.State(r.Context())
	if err != nil {
		p.fail(w, r, err)
		return
	}
	select {
	case p.reviewing <- struct{}{}:
		defer func() { <-p.reviewing }()
	case <-r.Context().Done():
		return
	}
	out := review{From: f.Since, Lists: pagingOf(r)}
	if after > 0 {
		out.First = "/audit/rejudge" + q.with("after", "").address()
	}
	end := p.now().Add(reviewTime)
	if last > 0 { // it took about reviewTime to come to it before
		end = end.Add(reviewTime)
	}
	for part := (index.Page{Limit: reviewPart, After: after}); ; {
		found, err := p.config.Index.Statements(r.Context(), f, part)
		for _, s := range found.Statements {
			if err == nil {
				err = reviewer.Take(s)
			}
			out.Over = s.Event().Time
		}
		if err != nil {
			p.fail(w, r, err)
			return
		}
		if part.After = found.Next; part.After == 0 {
			out.Over = time.Time{}
			break
		}
		if p.now().After(end) || part.After <= last {
			out.Lists.q.Set("last", strconv.FormatInt(part.After, 10)) // another part of the list is of the same statements
			out.Next = "/audit/rejudge" + q.with("after", strconv.FormatInt(part.After, 10)).address()
			break
		}
	}
	out.Review = reviewer.Review()
	for _, name := range []string{"since", "until", "connection", "principal", "verdict", "table"} {
		in := input{Name: name, Label: strings.ToUpper(name[:1]) + name[1:], Value: q.get(name)}
		for _, c := range conditions {
			if c.name == name {
				in.Choices = c.choices
			}
		}
		if name != "principal" || p.ownOnly(r) == "" {
			out.Inputs = append(out.Inputs, in)
		}
	}
	p.show(w, r, http.StatusOK, "Would they pass now?", chainOf(state), out.write)
}

// maxChanged bounds a part of the list of forms.
const maxChanged = 200

func (v *review) write(d *document) {
	d.Put(`<p>Statements of the log, judged again by the <code>ktx.yaml</code> that is on the disk now, without the catalogue of a server. <code>ktx audit rejudge</code> gives the same answer.</p>
<form method="get" action="/audit/rejudge" class="filter" role="search" aria-label="Statements to judge">`)
	for _, in := range v.Inputs {
		d.input(in)
	}
	d.Put(`<p class="send"><button type="submit">Judge</button> <a href="/audit/rejudge">Clear</a></p></form><dl class="figures">`)
	for _, f := range []struct {
		name string
		n    int
	}{{"judged", v.Statements}, {"the same", v.Same}, {"now refused", v.NowRefused}, {"now allowed", v.NowAllowed}, {"unknown", v.Unknown}} {
		d.Put(`<div><dt>%s</dt><dd>%s</dd></div>`, f.name, group(int64(f.n)))
	}
	d.Put(`</dl>`)
	if !v.Over.IsZero() {
		d.Put(`<p class="broken" role="alert">There are more statements than one page judges. The oldest here is of `)
		d.time(v.Over)
		d.Put(`. <a rel="next" href="%s">Judge those before it</a>. <code>ktx audit rejudge</code> judges all at once.</p>`, v.Next)
	}
	markup.PutIf(d.Document, `<p>The newer statements are on another page. <a href="%s">Begin with the newest</a></p>`, v.First)
	if v.Unknown > 0 {
		d.Put(`<p>A statement is unknown when a literal, which the log does not have, could decide, or when its connection is not in ktx.yaml or not yours.</p>`)
	}
	switch {
	case v.Statements == 0:
		d.Put(`<p class="empty">No statement meets these conditions. <a href="/audit/rejudge">Judge the last 30 days</a></p>`)
		return
	case len(v.Changed) == 0:
		d.Put(`<p class="empty">No verdict would change.</p>`)
		return
	}
	d.Put(`<h2 id="forms">What would change</h2><div class="scroll" tabindex="0" role="region" aria-label="What would change"><table class="rows changed"><thead><tr><th scope="col">outcome</th><th scope="col" class="n">statements</th><th scope="col">connection</th><th scope="col">codes then</th><th scope="col">codes now</th><th scope="col">principals</th><th scope="col">statement</th></tr></thead><tbody>`)
	first := min(v.Lists.place("forms"), len(v.Changed))
	shown := min(first+maxChanged, len(v.Changed))
	for _, c := range v.Changed[first:shown] {
		d.Put(`<tr><td><span class="again %s">%s</span></td><td class="n">%s</td><td><bdi>%s</bdi></td><td class="codes">`, c.Outcome, strings.ReplaceAll(string(c.Outcome), "_", " "), group(int64(c.Statements)), short(c.Connection))
		d.codes(c.Then)
		d.Put(`</td><td class="codes">`)
		d.codes(c.Now)
		d.Put(`</td><td class="wrap">`)
		for _, name := range c.Principals {
			d.Put(`<a href="%s"><bdi>%s</bdi></a> `, principalAddress(name), short(name))
		}
		d.Put(`</td><td class="sql"><a href="/audit/%s"><bdi>%s</bdi></a></td></tr>`, url.PathEscape(c.LastQueryID), cmp.Or(short(c.SQL), "(no text)"))
	}
	d.Put(`</tbody></table></div>`)
	d.turn(v.Lists, "forms", strconv.Itoa(shown), len(v.Changed)-shown)
}

// codes writes codes, each with a link to its explanation.
func (d *document) codes(codes []string) {
	for _, code := range codes {
		d.code(code)
		d.Put(` `)
	}
}
