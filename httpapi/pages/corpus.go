package pages

import (
	"cmp"
	"crypto/rand"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/mutate"
	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/httpapi"
)

// Corpus is the cases with the answers of this build's guard.
type Corpus struct {
	Book    *report.Book
	Cases   map[string]*corpus.Case
	Results []run.Result
}

// CaseAddress returns the address of a case.
func CaseAddress(id string) string { return "/corpus/" + url.PathEscape(id) }

// caseConditions are the conditions of the list of cases, with what each looks at.
var caseConditions = []struct {
	name, label string
	matches     func(e *report.Entry, value string) bool
}{
	{"text", "Text", func(e *report.Entry, v string) bool {
		v = strings.ToLower(v)
		return strings.Contains(strings.ToLower(e.SQL), v) || strings.Contains(strings.ToLower(e.Title), v) || strings.Contains(strings.ToLower(e.ID), v)
	}},
	{"dialect", "Dialect", func(e *report.Entry, v string) bool { return e.Dialect == v }},
	{"class", "Class", func(e *report.Entry, v string) bool { return e.Class == v }},
	{"effect", "Effect", func(e *report.Entry, v string) bool { return e.Effect == v }},
	{"flavour", "Server family", func(e *report.Entry, v string) bool { return e.Flavour == v }},
	{"expect", "Expected", func(e *report.Entry, v string) bool { return string(e.Expect) == v }},
	{"state", "Answer", func(e *report.Entry, v string) bool { return e.State == v }},
	{"code", "Code", func(e *report.Entry, v string) bool { return e.Code == v || slices.Contains(e.Codes, v) }},
}

// entryValue returns what a choice of a condition compares with.
func entryValue(e *report.Entry, name string) string {
	switch name {
	case "dialect":
		return e.Dialect
	case "class":
		return e.Class
	case "flavour":
		return e.Flavour
	case "effect":
		return e.Effect
	case "expect":
		return string(e.Expect)
	case "state":
		return e.State
	}
	return e.Code
}

// found is a page of the list of cases.
type foundCases struct {
	Schema string         `json:"schema"`
	Total  int            `json:"total"`
	Cases  []report.Entry `json:"cases"`
	// Next is the id of the last case when there are more, the after of the next page.
	Next string `json:"next,omitempty"`

	classes []string // of all that were found
}

// findCases reads the conditions of an address, and finds the cases that meet them.
func (p *Pages) findCases(r *http.Request) (foundCases, *Corpus, error) {
	out := foundCases{Schema: "ktx-rest-corpus/1", Cases: []report.Entry{}}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return out, nil, &requestError{"the address cannot be read", ""}
	}
	for name, values := range q {
		known := name == "limit" || name == "after"
		for _, c := range caseConditions {
			known = known || c.name == name
		}
		if !known || len(values) > 1 {
			return out, nil, &requestError{"the condition " + strconv.Quote(name) + " is not known, or given twice", "the conditions are text, dialect, class, effect, flavour, expect, state and code"}
		}
	}
	limit, err := number(r, "limit", defaultLimit, 1, maxLimit)
	if err != nil {
		return out, nil, err
	}
	c, err := p.config.Corpus()
	if err != nil {
		return out, nil, err
	}
	entries := c.Book.Entries()
	first := 0
	if after := q.Get("after"); after != "" {
		if first = 1 + slices.IndexFunc(entries, func(e report.Entry) bool { return e.ID == after }); first == 0 {
			return out, nil, &requestError{"there is no case " + strconv.Quote(after) + " to continue after", ""}
		}
	}
	for i := range entries {
		e := &entries[i]
		met := true
		for _, condition := range caseConditions {
			if v := q.Get(condition.name); v != "" && !condition.matches(e, v) {
				met = false
				break
			}
		}
		if !met {
			continue
		}
		out.Total++
		if !slices.Contains(out.classes, e.Class) {
			out.classes = append(out.classes, e.Class)
		}
		switch {
		case i < first:
		case int64(len(out.Cases)) < limit:
			out.Cases = append(out.Cases, *e)
		default:
			out.Next = out.Cases[limit-1].ID
		}
	}
	return out, c, nil
}

func (p *Pages) listCases(w http.ResponseWriter, r *http.Request) {
	found, _, err := p.findCases(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	httpapi.Respond(w, http.StatusOK, found)
}

// oneCase answers with a case as the corpus has it, and the guard's answer.
func (p *Pages) oneCase(w http.ResponseWriter, r *http.Request) {
	c, err := p.config.Corpus()
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	id := chi.URLParam(r, "id")
	one, ok := c.Cases[id]
	if !ok {
		p.refuse(w, r, errNoCase)
		return
	}
	var answer *run.Result
	if i := slices.IndexFunc(c.Results, func(r run.Result) bool { return r.ID == id }); i >= 0 {
		answer = &c.Results[i]
	}
	httpapi.Respond(w, http.StatusOK, struct {
		Schema string       `json:"schema"`
		Case   *corpus.Case `json:"case"`
		Answer *run.Result  `json:"answer"`
	}{"ktx-rest-case/1", one, answer})
}

// corpus shows the cases: matrix and scores, and the list that meets the conditions.
func (p *Pages) corpus(w http.ResponseWriter, r *http.Request) {
	found, c, err := p.findCases(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	q := queryOf(r)
	p.show(w, r, http.StatusOK, "Corpus", nil, func(d *document) {
		d.Put(`<p>Statements that a guard must refuse or let run, with the answers of this server's guard under the default policy. <a href="/corpus/compare">Compare two runs</a></p>`)
		if len(q.values) == 0 {
			c.Book.WriteScores(d.Document)
			d.Put(`<h2>Classes and dialects</h2>`)
			c.Book.WriteMatrix(d.Document, func(dialect, class string) string {
				v := url.Values{"class": {class}}
				if dialect != "" {
					v.Set("dialect", dialect)
				}
				return "/corpus?" + v.Encode()
			})
			d.Put(`<h2>Cases</h2>`)
		}
		d.Put(`<form method="get" action="/corpus" class="filter" role="search" aria-label="Cases">`)
		entries := c.Book.Entries()
		for _, condition := range caseConditions {
			in := input{Name: condition.name, Label: condition.label, Value: q.get(condition.name)}
			if condition.name != "text" {
				values := map[string]bool{}
				for i := range entries {
					if v := entryValue(&entries[i], condition.name); v != "" {
						values[v] = true
					}
				}
				in.Choices = slices.Sorted(maps.Keys(values))
			}
			d.input(in)
		}
		d.Put(`<p class="send"><button type="submit">Show</button> <a href="/corpus">Clear</a></p></form><p>%s cases. <a href="%s">This list as JSON</a></p>`, group(int64(found.Total)), "/v1/corpus"+q.address())
		if found.Total == 0 {
			d.Put(`<p class="empty">No case meets these conditions. <a href="/corpus">Show all</a></p>`)
			return
		}
		if q.get("class") == "" && len(q.values) > 0 {
			d.Put(`<nav aria-label="Classes of these cases"><ul class="choices">`)
			for _, class := range found.classes {
				d.choice(link{Label: class, Href: "/corpus" + q.with("after", "").with("class", class).address()}, "true")
			}
			d.Put(`</ul></nav>`)
		}
		d.Put(`<div class="scroll" tabindex="0" role="region" aria-label="Cases"><table class="rows"><thead><tr><th scope="col">case</th><th scope="col">dialect</th><th scope="col">class</th><th scope="col">expected</th><th scope="col">answer</th><th scope="col">code</th><th scope="col">statement</th></tr></thead><tbody>`)
		for _, e := range found.Cases {
			d.Put(`<tr><td><a href="%s">%s</a></td><td>%s</td><td>%s</td><td>%s</td><td class="state %s">%s</td><td><code>%s</code></td><td class="sql"><a href="%s"><bdi>%s</bdi></a></td></tr>`,
				CaseAddress(e.ID), e.ID, e.Dialect, e.Class, e.Expect, e.State, e.State, e.Code, CaseAddress(e.ID), cmp.Or(strings.TrimSpace(short(e.SQL)), "(an empty text)"))
		}
		d.Put(`</tbody></table></div><nav aria-label="Pages of the list"><ul class="choices">`)
		if q.get("after") != "" {
			d.Put(`<li><a href="/corpus%s">The first</a></li>`, q.with("after", "").address())
		}
		if found.Next != "" {
			d.Put(`<li><a rel="next" href="/corpus%s">More</a></li>`, q.with("after", found.Next).address())
		}
		d.Put(`</ul></nav>`)
	})
}

// corpusCase shows one case.
func (p *Pages) corpusCase(w http.ResponseWriter, r *http.Request) {
	c, err := p.config.Corpus()
	if err != nil {
		p.fail(w, r, err)
		return
	}
	one, ok := c.Cases[chi.URLParam(r, "id")]
	if !ok {
		p.fail(w, r, errNoCase)
		return
	}
	p.show(w, r, http.StatusOK, one.ID+": "+one.Title, nil, func(d *document) {
		d.Put(`<p><a href="/corpus?%s">All of %s, %s</a></p>`, url.Values{"class": {one.Class}, "dialect": {one.Dialect}}.Encode(), one.Dialect, one.Class)
		c.Book.WriteCase(d.Document, *one)
		d.mutants(c.Book, *one)
		if len(one.SQL) < maxText && !strings.ContainsRune(one.SQL, 0) && utf8.ValidString(one.SQL) { // a form sends nothing else
			d.Put(`<form method="post" action="/playground"><input type="hidden" name="by" value="dialect:%s"><textarea name="sql" hidden>%s</textarea><button type="submit">Try it in the playground</button></form>`, one.Dialect, "\n"+one.SQL)
		}
	})
}

// mutants writes the other spellings of a case, with the guard's answer to each.
func (d *document) mutants(book *report.Book, one corpus.Case) {
	mutants := mutate.Of(one)
	if len(mutants) == 0 {
		return
	}
	d.Put(`<h2>Mutants</h2><p>The same statement in other spellings, which must get the same answer.</p>`)
	d.table("Mutants", []string{"mutant", "answer", "code", "statement"}, func(row func(...any)) {
		for _, m := range mutants {
			reading, known := book.Read(m)
			if !known {
				continue
			}
			row(m.ID, verdictWord(reading.Verdict), string(reading.Verdict.Code), strings.TrimSpace(short(m.SQL)))
		}
	})
}

// comparison is what differs between two runs that a principal sent.
type comparison struct {
	id, principal string
	at            time.Time
	changes       []run.Change
}

// comparisons are the latest ones, so that an address leads to each part of their lists.
type comparisons struct {
	mu   sync.Mutex
	list []comparison
}

// The server keeps so many comparisons, for so long, in memory.
const (
	maxComparisons = 4
	comparisonTime = time.Hour
)

func (c *comparisons) add(one comparison) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list[max(0, len(c.list)-maxComparisons+1):], one)
}

func (c *comparisons) get(id, principal string, now time.Time) ([]run.Change, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(one comparison) bool { return now.Sub(one.at) > comparisonTime })
	for _, one := range c.list {
		if one.id == id && one.principal == principal {
			return one.changes, true
		}
	}
	return nil, false
}

// compare shows what differs between two runs, whose files were sent: of ktx corpus run
// --json, or of another guard. Without the second, this server's guard is compared.
func (p *Pages) compare(w http.ResponseWriter, r *http.Request) {
	a := httpapi.AccessFrom(r.Context())
	if r.Method == http.MethodPost {
		changes, err := p.sentChanges(r)
		if err != nil {
			p.fail(w, r, err)
			return
		}
		one := comparison{rand.Text(), a.Principal, p.now(), changes}
		p.compared.add(one)
		http.Redirect(w, r, "/corpus/compare?"+url.Values{"runs": {one.id}}.Encode(), http.StatusSeeOther)
		return
	}
	var result content
	if q := queryOf(r); q.get("runs") != "" {
		all, known := p.compared.get(q.get("runs"), a.Principal, p.now())
		if !known {
			p.fail(w, r, errNoRuns)
			return
		}
		result = func(d *document) { d.changes(pagingOf(r), q, all) }
	}
	p.show(w, r, http.StatusOK, "Compare two runs", nil, func(d *document) {
		d.Put(`<form method="post" action="/corpus/compare" enctype="multipart/form-data" class="ask"><label><span>The earlier run, a file of <code>ktx corpus run --json</code></span> <input type="file" name="before" accept=".json" required></label>
<label>The later run; this server's guard when none is chosen <input type="file" name="after" accept=".json"></label><p><button type="submit">Compare</button></p></form>`)
		if result != nil {
			result(d)
		}
	})
}

// maxChanges bounds a part of the list of changes.
const maxChanges = 200

// changes writes what differs between two runs, of the kind in the address.
func (d *document) changes(lists paging, q query, all []run.Change) {
	found := all
	if kind := q.get("kind"); kind != "" {
		found = slices.DeleteFunc(slices.Clone(all), func(c run.Change) bool { return string(c.Kind) != kind })
	}
	shown, more := part(lists, "changes", found, maxChanges, func(c run.Change) string { return c.ID })
	report.WriteChanges(d.Document, all, shown, CaseAddress, func(kind string) string {
		return "/corpus/compare" + q.with("changes", "").with("kind", kind).address()
	})
	if len(shown) > 0 {
		d.turn(lists, "changes", shown[len(shown)-1].ID, more)
	}
}

// sentChanges returns what differs between the runs of a form.
func (p *Pages) sentChanges(r *http.Request) ([]run.Change, error) {
	c, err := p.config.Corpus()
	if err != nil {
		return nil, err
	}
	before, err := sentRun(r, "before")
	if err != nil {
		return nil, err
	}
	if before == nil {
		return nil, &requestError{"no earlier run was sent", "choose a file of ktx corpus run --json"}
	}
	after, err := sentRun(r, "after")
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = c.Results
	}
	return run.Compare(before, after), nil
}

// sentRun reads a run file of a form, nil when none was chosen.
func sentRun(r *http.Request, name string) ([]run.Result, error) {
	file, header, err := r.FormFile(name) // the server bounds the body
	if err != nil || header.Size == 0 {
		return nil, nil // the form has no such file
	}
	defer func() { _ = file.Close() }() // it was only read
	sent, err := run.ReadFile(file)
	if err != nil {
		return nil, &requestError{"the file " + header.Filename + " is no run: " + err.Error(), "ktx corpus run --json writes one"}
	}
	return sent.Results, nil
}
