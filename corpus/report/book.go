package report

import (
	"strconv"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/httpapi/markup"
)

// Book is a report whose parts are shown one at a time, by a server. It is safe for
// concurrent use.
type Book struct {
	page  *page
	build *builder
	cases map[string]*caseView
	list  []Entry
}

// Entry is a case as a list shows it.
type Entry struct {
	ID      string `json:"id"`
	Dialect string `json:"dialect"`
	Class   string `json:"class"`
	Flavour string `json:"flavour,omitempty"`
	// Effect is what the statement would do, such as file_read.
	Effect string        `json:"effect,omitempty"`
	Title  string        `json:"title"`
	Expect corpus.Expect `json:"expect"`
	// State is how the guard's answer compares: met, bypass, false-reject, error, unmet or
	// not-run.
	State    string   `json:"state"`
	Decision string   `json:"decision,omitempty"`
	Code     string   `json:"code,omitempty"`
	Codes    []string `json:"codes,omitempty"`
	SQL      string   `json:"sql"`
}

// NewBook returns the book of a report. Address must be set. The guard reads a case when
// its page is written.
func NewBook(r Report) (*Book, error) {
	read := r.Read
	r.Read = nil
	b, err := newBuilder(r)
	if err != nil {
		return nil, err
	}
	// What is kept takes memory as long as the server runs.
	book := &Book{page: b.page, build: &builder{Report: Report{Read: read}}, cases: make(map[string]*caseView, len(r.Cases)), list: make([]Entry, 0, len(r.Cases))}
	byID := make(map[string]int, len(r.Cases))
	for i := range r.Cases {
		byID[r.Cases[i].ID] = i
	}
	for _, g := range b.page.Groups {
		for _, v := range g.Cases {
			c := &r.Cases[byID[v.Key]]
			book.cases[v.Key] = v
			v.SQL, v.Text = statement{}, "" // WriteCase makes them anew
			effect := ""
			if c.Effect != nil {
				effect = c.Effect.Kind
			}
			book.list = append(book.list, Entry{
				Effect: effect, ID: c.ID, Dialect: c.Dialect, Class: c.Class, Flavour: c.Flavour, Title: c.Title, Expect: c.Expect,
				State: string(v.State), Decision: v.Decision, Code: v.Code, Codes: c.Codes, SQL: c.SQL,
			})
		}
	}
	return book, nil
}

// Entries returns the cases, by dialect and class.
func (b *Book) Entries() []Entry { return b.list }

// Read returns what the guard finds in a case, or in another spelling of one.
func (b *Book) Read(c corpus.Case) (Reading, bool) {
	if b.build.Read == nil {
		return Reading{}, false
	}
	return b.build.Read(c)
}

// WriteScores writes the scores of the dialects.
func (b *Book) WriteScores(d *markup.Document) { (&document{Document: d, part: true}).scores(b.page) }

// WriteMatrix writes the matrix of classes and dialects as a heat map. Each cell leads to
// its cases, at the address that link returns.
func (b *Book) WriteMatrix(d *markup.Document, link func(dialect, class string) string) {
	d.Put(`<div class="scroll" role="region" aria-label="Classes and dialects" tabindex="0"><table class="matrix"><thead><tr><th scope="col">Class</th>`)
	for _, dialect := range b.page.Dialects {
		d.Put(`<th scope="col">%s</th>`, dialect)
	}
	d.Put(`</tr></thead><tbody>`)
	most := 1
	for _, row := range b.page.Matrix {
		if !row.Sum {
			for _, cell := range row.Cells[:len(b.page.Dialects)] {
				most = max(most, cell.Cases)
			}
		}
	}
	for _, row := range b.page.Matrix {
		if row.Sum {
			continue
		}
		d.Put(`<tr><th scope="row"><a href="%s">%s</a> <span class="quiet">%s</span></th>`, link("", row.Class), row.Class, row.Title)
		for i, cell := range row.Cells[:len(b.page.Dialects)] {
			switch {
			case cell.Cases == 0:
				d.Put(`<td class="n"><span class="quiet">–</span></td>`)
				continue
			case cell.Failures() > 0:
				d.Put(`<td class="n failed">`)
			default:
				d.Put(`<td class="n heat%s">`, strconv.Itoa(1+4*(cell.Cases-1)/most))
			}
			d.Put(`<a href="%s">%s</a>`, link(b.page.Dialects[i], row.Class), cell.Cases)
			(&document{Document: d, part: true}).failures(cell)
			d.Put(`</td>`)
		}
		d.Put(`</tr>`)
	}
	d.Put(`</tbody></table></div>`)
}

// WriteCase writes the parts of a case: statement, answer, syntax tree, expectation and
// evidence. It reports whether there is such a case.
func (b *Book) WriteCase(d *markup.Document, c corpus.Case) bool {
	known := b.cases[c.ID]
	if known == nil {
		return false
	}
	v := *known
	b.build.read(c, &v)
	doc := &document{Document: d, part: true}
	d.Put(`<p class="row"><span class="want">%s</span> <span class="state %s">%s</span></p>`, want(v.Expect), v.State, v.State.Text())
	doc.statement(v.SQL)
	doc.answer(&v)
	if v.Read {
		doc.reading(&v)
	}
	doc.expectation(&v)
	doc.evidence(&v)
	d.Put(`<p class="choices">`)
	for _, l := range []*link{v.Previous, v.Next} {
		if l != nil {
			d.Put(`<a href="%s">%s</a> `, l.URL, l.Text)
		}
	}
	d.Put(`</p>`)
	return true
}

// WriteReading writes a text with its findings marked, the findings, and the syntax tree.
func WriteReading(d *markup.Document, sql string, r Reading) {
	b := &builder{Report: Report{Read: func(corpus.Case) (Reading, bool) { return r, true }}}
	var v caseView
	b.read(corpus.Case{SQL: sql}, &v)
	doc := &document{Document: d, part: true}
	doc.statement(v.SQL)
	doc.findings(&v)
	doc.reading(&v)
}

// WriteChanges writes what differs between two runs: how many changes of each kind there
// are, with the address of the list of that kind, and some of them.
func WriteChanges(d *markup.Document, all, shown []run.Change, address, ofKind func(string) string) {
	p := &page{OfKind: ofKind}
	counts := map[run.ChangeKind]int{}
	for _, c := range all {
		counts[c.Kind]++
	}
	for _, c := range shown {
		p.Changes = append(p.Changes, &changeView{
			Kind: c.Kind, ID: line(c.ID), URL: address(c.ID), Dialect: line(c.Dialect), Class: line(c.Class), Before: sideText(c.Before), After: sideText(c.After),
		})
	}
	for _, kind := range run.ChangeKinds() {
		if counts[kind] > 0 {
			p.Counts = append(p.Counts, pair{string(kind), strconv.Itoa(counts[kind])})
		}
	}
	(&document{Document: d, part: true}).changes(p)
}
