package pages

import (
	"net/http"
	"net/url"

	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/execution/audit"
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

func (d *document) again(a audit.Again, r report.Reading) {
	d.Put(`<h2>Would it pass now?</h2><p class="again %s">%s</p>`, a.Outcome, outcomes[a.Outcome])
	if a.Outcome == audit.Unknown {
		return
	}
	if !a.Exact {
		d.Put(`<p>A constant stands for each literal.</p>`)
	}
	report.WriteReading(d.Document, a.Text, r)
	markupCodes(d, r.Verdict)
}

// markupCodes leads from the code of a refusal to the cases of the corpus with it.
func markupCodes(d *document, v sqlguard.Verdict) {
	if v.Code == "" {
		return
	}
	d.Put(`<p><a href="/corpus?%s">Cases of the corpus with <code>%s</code></a></p>`, url.Values{"code": {string(v.Code)}, "dialect": {v.Dialect}}.Encode(), v.Code)
}
