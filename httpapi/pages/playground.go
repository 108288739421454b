package pages

import (
	"context"
	"net/http"
	"strings"

	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// Judge judges texts and runs none.
type Judge interface {
	// Connection judges by the policy of a connection that the actor may use.
	Connection(ctx context.Context, id, sql string) (report.Reading, error)
	// Dialect judges by the policy of the project in a dialect.
	Dialect(ctx context.Context, name, sql string) (report.Reading, error)
	// Dialects are the names of the dialects.
	Dialects() []string
}

// maxText bounds a text of the playground. The guard refuses longer ones.
const maxText = 1 << 20

// playground judges a text as the form says: by the policy of a connection, or by that of
// the project in a dialect. The text is in the body, so no log of a proxy has it.
func (p *Pages) playground(w http.ResponseWriter, r *http.Request) {
	connections, dialects := p.config.Connections(r.Context()), p.config.Judge.Dialects()
	by, sql := "", ""
	var result content
	if r.Method == http.MethodPost {
		by, sql = r.PostFormValue("by"), r.PostFormValue("sql")
		reading, err := p.judge(r.Context(), by, sql)
		switch {
		case len(sql) > maxText:
			result = func(d *document) { d.Put(`<p class="broken" role="alert">The text is too long.</p>`) }
		case err != nil:
			result = func(d *document) { d.Put(`<p class="broken" role="alert">%s</p>`, err) }
		default:
			result = func(d *document) {
				d.verdict(sql, reading)
				d.Put(`<h2>Other dialects</h2><form method="post" action="/playground"><textarea name="sql" hidden>%s</textarea><div class="scroll" tabindex="0" role="region" aria-label="Other dialects"><table><thead><tr><th scope="col">dialect</th><th scope="col">verdict</th><th scope="col">codes</th></tr></thead><tbody>`, "\n"+sql)
				for _, name := range dialects {
					other, err := p.config.Judge.Dialect(r.Context(), name, sql)
					if err != nil {
						continue // it has no policy
					}
					d.Put(`<tr><td><button name="by" value="dialect:%s">%s</button></td><td>%s</td><td class="wrap">%s</td></tr>`, name, name, verdictWord(other.Verdict), strings.Join(codesOf(other.Verdict), ", "))
				}
				d.Put(`</tbody></table></div></form>`)
			}
		}
	}
	p.show(w, r, http.StatusOK, "Playground", nil, func(d *document) {
		d.Put(`<form method="post" action="/playground" class="ask" data-live="result" data-typed data-kept><label>Judge by <select name="by">`)
		option := func(value, text string) {
			d.Put(`<option value="%s"`, value)
			if value == by {
				d.Put(` selected`)
			}
			d.Put(`>%s</option>`, text)
		}
		for _, c := range connections {
			option("connection:"+c.ID, "connection "+c.ID)
		}
		for _, name := range dialects {
			option("dialect:"+name, name+", the project's policy")
		}
		d.Put(`</select></label><label>Statement <textarea name="sql" rows="8" spellcheck="false" autocomplete="off" dir="auto">%s</textarea></label><p><button type="submit">Judge</button></p></form>
<p>Nothing runs, and the audit log has nothing of it.</p><div id="result" aria-live="polite">`, sql)
		if result != nil {
			result(d)
		}
		d.Put(`</div>`)
	})
}

// explanation shows the page of a code, as ktx explain prints it.
func (p *Pages) explanation(w http.ResponseWriter, r *http.Request) {
	info, known := p.codes[r.URL.Query().Get("code")]
	if !known {
		p.fail(w, r, errNoCode)
		return
	}
	p.show(w, r, http.StatusOK, "Code "+string(info.Code), nil, func(d *document) {
		_, text, _ := strings.Cut(info.Page, "\n") // the page has a title
		d.markdown(text)
		d.Put(`<p>`)
		if _, guard := sqlguard.LookupCode(info.Code); guard {
			d.Put(`<a href="/corpus?code=%s">Cases of the corpus with this code</a> · `, string(info.Code))
		}
		d.Put(`<a href="/audit?code=%s">Statements of the audit log with it</a></p>`, string(info.Code))
	})
}

// judge judges by connection:ID or dialect:NAME.
func (p *Pages) judge(ctx context.Context, by, sql string) (report.Reading, error) {
	kind, name, _ := strings.Cut(by, ":")
	if kind == "connection" {
		return p.config.Judge.Connection(ctx, name, sql)
	}
	return p.config.Judge.Dialect(ctx, name, sql)
}

func verdictWord(v sqlguard.Verdict) string {
	if v.Allowed {
		return "may run"
	}
	return "refused"
}

func codesOf(v sqlguard.Verdict) []string {
	var codes []string
	seen := map[sqlguard.Code]bool{}
	for _, f := range v.Findings {
		if !seen[f.Code] {
			seen[f.Code] = true
			codes = append(codes, string(f.Code))
		}
	}
	return codes
}

// verdict writes what the guard says of a text.
func (d *document) verdict(sql string, r report.Reading) {
	v := r.Verdict
	d.Put(`<p class="verdict"><strong>`)
	if v.Allowed {
		d.status("ok")
		d.Put(`</strong> The guard lets it run.`)
	} else {
		d.status("refused")
		d.Put(`</strong> The guard refuses it. <a href="/corpus?code=%s">Cases of the corpus with <code>%s</code></a>`, v.Code, v.Code)
	}
	d.Put(`</p>`)
	report.WriteReading(d.Document, sql, r)
	if codes := codesOf(v); len(codes) > 0 {
		d.Put(`<p>What is behind it: `)
		for _, code := range codes {
			d.code(code)
			d.Put(` `)
		}
		d.Put(`</p>`)
	}
	d.Put(`<h2>What it touches</h2><dl class="facts"><dt>verb</dt><dd>%s</dd><dt>relations</dt><dd>`, v.Verb)
	for _, rel := range v.Relations {
		d.Put(`<bdi>%s</bdi> (%s) `, qualified(rel.Schema, rel.Name), rel.Access)
	}
	d.Put(`</dd><dt>functions</dt><dd>%s</dd><dt>fingerprint</dt><dd><code>%s</code></dd></dl>`, strings.Join(v.Functions, ", "), v.Fingerprint)
}

// marked writes a text with its findings marked, and the findings below it.
func (d *document) marked(sql string, findings []sqlguard.Finding) {
	report.WriteReading(d.Document, sql, report.Reading{Verdict: sqlguard.Verdict{Findings: findings}})
}
