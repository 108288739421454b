package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/sqlguard"
)

// maxFindings is the most findings of a case that are shown, and maxText how many
// characters of its statement a list shows.
const (
	maxFindings = 12
	maxText     = 240
)

// builder builds the page of a report.
type builder struct {
	Report
	page    *page
	anchors map[string]string // by the id of the case
	twinOf  map[string]string // by the id of the twin
	results map[string]run.Result
	changes map[string]*changeView
	// address returns the address of a case.
	address func(id string) string
}

func newPage(r Report) (*page, error) {
	b, err := newBuilder(r)
	if err != nil {
		return nil, err
	}
	b.page.dress()
	return b.page, nil
}

func newBuilder(r Report) (*builder, error) {
	b := &builder{
		Report: r, page: &page{Compared: r.Before != nil},
		anchors: map[string]string{}, twinOf: map[string]string{}, results: map[string]run.Result{}, changes: map[string]*changeView{},
	}
	b.address = func(id string) string { return "#" + b.anchors[id] }
	if r.Address != nil {
		b.address = r.Address
	}
	for i, c := range r.Cases {
		if _, taken := b.anchors[c.ID]; taken {
			return nil, fmt.Errorf("two cases have the id %q", c.ID)
		}
		b.anchors[c.ID] = anchorOf(c.ID, i)
		if c.BenignTwin != "" {
			b.twinOf[c.BenignTwin] = c.ID
		}
	}
	own := make([]run.Result, 0, len(r.Results))
	for _, res := range r.Results {
		if _, known := b.anchors[res.ID]; known {
			b.results[res.ID] = res
			own = append(own, res)
		}
	}
	b.page.Strange = len(r.Results) - len(own)
	b.describe()
	b.score(own)
	b.compare(own)
	b.groups()
	b.filters()
	b.matrix()
	return b, nil
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// anchorOf returns the fragment of a case: its id, if that is a valid fragment,
// or one made from its number.
func anchorOf(id string, number int) string {
	if plainID.MatchString(id) {
		return "case-" + id
	}
	return "case." + strconv.Itoa(number+1)
}

// describe fills in what the page says about the guard and the cases.
func (b *builder) describe() {
	p := b.page
	p.Guard, p.Version = short(b.Guard["name"], 80), short(b.Guard["version"], 80)
	if p.Guard == "" {
		p.Guard = "a guard without a name"
	}
	for _, key := range sortedKeys(b.Guard) {
		if key != "name" && key != "version" {
			p.About = append(p.About, pair{short(key, 80), short(b.Guard[key], 200)})
		}
	}
	if v, ok := b.Source["version"].(string); ok {
		p.About = append(p.About, pair{"corpus", short(v, 80)})
	} else if files, ok := b.Source["files"].([]string); ok {
		p.About = append(p.About, pair{"cases from", short(strings.Join(files, ", "), 400)})
	}
}

// score counts the answers of each dialect.
func (b *builder) score(results []run.Result) {
	for _, s := range run.Scores(results) {
		if s.Class != "" {
			continue
		}
		b.page.Scores = append(b.page.Scores, scoreView{
			Dialect: line(s.Dialect), Cases: s.Cases, Crashes: s.Crashes, TimeOuts: s.TimeOuts,
			Bypasses: share{s.Bypasses, s.Rejects}, FalseRejects: share{s.FalseRejects, s.Allows}, Errors: share{s.Errors, s.Cases},
			P50: s.P50US, P95: s.P95US, P99: s.P99US,
		})
	}
	known := knownDialects()
	slices.SortStableFunc(b.page.Scores, func(a, b scoreView) int { return cmp.Compare(rank(known, a.Dialect), rank(known, b.Dialect)) })
}

// compare lists the differences to the earlier run, for the cases of the page.
func (b *builder) compare(results []run.Result) {
	if b.Before == nil {
		return
	}
	var before []run.Result
	for _, r := range b.Before.Results {
		if _, known := b.anchors[r.ID]; known {
			before = append(before, r)
		}
	}
	b.page.Beyond = len(b.Before.Results) - len(before)
	counts := map[run.ChangeKind]int{}
	for _, c := range run.Compare(before, results) {
		counts[c.Kind]++
		v := &changeView{
			Kind: c.Kind, ID: line(c.ID), URL: b.address(c.ID), Dialect: line(c.Dialect), Class: line(c.Class),
			Before: sideText(c.Before), After: sideText(c.After),
		}
		b.changes[c.ID] = v
		b.page.Changes = append(b.page.Changes, v)
	}
	for _, kind := range run.ChangeKinds() {
		if counts[kind] > 0 {
			b.page.Counts = append(b.page.Counts, pair{string(kind), strconv.Itoa(counts[kind])})
		}
	}
}

// sideText returns an answer in words, or "" if there is none.
func sideText(s *run.Side) string {
	if s == nil {
		return ""
	}
	words := []string{string(s.Decision)}
	for _, more := range []string{string(s.Fault), string(s.Code)} {
		if more != "" {
			words = append(words, short(more, 80))
		}
	}
	return strings.Join(words, " ") + ", expected " + string(s.Expect)
}

// groups sorts the cases by dialect and class, in the order of the corpus, with
// unknown ones at the end. It builds the page of each case.
func (b *builder) groups() {
	dialects := order(b.Cases, knownDialects(), func(c corpus.Case) string { return c.Dialect })
	classes := order(b.Cases, knownClasses(), func(c corpus.Case) string { return c.Class })
	members := map[[2]string][]int{}
	for i := range b.Cases {
		key := [2]string{b.Cases[i].Dialect, b.Cases[i].Class}
		members[key] = append(members[key], i)
	}
	var last *caseView
	for d, dialect := range dialects {
		for k, class := range classes {
			cases := members[[2]string{dialect, class}]
			if len(cases) == 0 {
				continue
			}
			g := &group{
				Anchor: "group-" + strconv.Itoa(len(b.page.Groups)+1), Dialect: line(dialect), Class: cmp.Or(line(class), "no class"), Title: titleOf(class),
			}
			keys := []string{"d" + strconv.Itoa(d), "k" + strconv.Itoa(k)}
			for _, i := range cases {
				c := b.Cases[i]
				v := b.view(c, g)
				if last != nil {
					v.Previous, last.Next = &link{last.ID, b.address(last.Key)}, &link{v.ID, b.address(c.ID)}
				}
				last = v
				g.Cases = append(g.Cases, v)
				g.Tally.count(v.State)
				for key := range strings.FieldsSeq(v.Keys) {
					if !slices.Contains(keys, key) {
						keys = append(keys, key)
					}
				}
			}
			g.Keys = strings.Join(keys, " ")
			g.Tally.Anchor = g.Anchor
			b.page.All.add(g.Tally)
			b.page.Groups = append(b.page.Groups, g)
		}
	}
}

// shows are the options of the filter besides dialect and class.
var shows = []option{
	{"s-failed", "not as expected"},
	{"s-bypass", "bypasses"},
	{"s-false-reject", "false rejects"},
	{"s-error", "errors"},
	{"s-not-run", "not run"},
	{"s-changed", "changed since the earlier run"},
	{"x-reject", "must be refused"},
	{"x-allow", "must pass"},
	{"x-policy", "depends on policy"},
}

// filters lists the options that select at least one case.
func (b *builder) filters() {
	used := map[string]bool{}
	for _, g := range b.page.Groups {
		keys := strings.Fields(g.Keys)
		for _, key := range keys {
			used[key] = true
		}
		addOption(&b.page.ByDialect, option{keys[0], g.Dialect})
		addOption(&b.page.ByClass, option{keys[1], g.Class})
	}
	slices.SortFunc(b.page.ByClass, func(a, b option) int { return cmp.Compare(a.Text, b.Text) })
	for _, o := range shows {
		if used[o.Key] {
			b.page.ByShow = append(b.page.ByShow, o)
		}
	}
}

func addOption(list *[]option, o option) {
	if !slices.Contains(*list, o) {
		*list = append(*list, o)
	}
}

// matrix counts the cases by class and dialect.
func (b *builder) matrix() {
	p := b.page
	for _, o := range p.ByDialect {
		p.Dialects = append(p.Dialects, o.Text)
	}
	sum := matrixRow{Sum: true, Class: "all", Cells: make([]tally, len(p.Dialects)+1)}
	rows := map[string]int{}
	for _, g := range p.Groups {
		i, known := rows[g.Class]
		if !known {
			i = len(p.Matrix)
			rows[g.Class] = i
			p.Matrix = append(p.Matrix, matrixRow{Class: g.Class, Title: g.Title, Cells: make([]tally, len(p.Dialects)+1)})
		}
		at := slices.Index(p.Dialects, g.Dialect)
		for _, row := range []*matrixRow{&p.Matrix[i], &sum} {
			row.Cells[at].add(g.Tally)
			row.Cells[len(p.Dialects)].add(g.Tally)
		}
		p.Matrix[i].Cells[at].Anchor = g.Anchor
	}
	known := knownClasses()
	slices.SortStableFunc(p.Matrix, func(a, b matrixRow) int { return cmp.Compare(rank(known, a.Class), rank(known, b.Class)) })
	p.Matrix = append(p.Matrix, sum)
}

// view builds the page of a case.
func (b *builder) view(c corpus.Case, g *group) *caseView {
	v := &caseView{
		Key: c.ID, Group: g, Anchor: b.anchors[c.ID], ID: short(c.ID, 80), Title: short(cmp.Or(c.Title, c.ID), 300),
		Flavour: line(c.Flavour), Since: line(c.Since), Expect: c.Expect, Refs: refLinks(c.Refs), Change: b.changes[c.ID],
		State: stateNotRun,
	}
	if c.BenignTwin != "" {
		v.Twin = b.caseLink(c.BenignTwin)
	}
	if id := b.twinOf[c.ID]; id != "" {
		v.TwinOf = b.caseLink(id)
	}
	if c.Policy != nil {
		v.Policy = &corpus.PolicyNote{Key: line(c.Policy.Key), Default: corpus.Expect(line(string(c.Policy.Default)))}
	}
	if c.Engine != nil {
		v.Engine, v.Needs = engineText(c.Engine), line(strings.Join(c.Engine.Needs, ", "))
	}
	if c.Effect != nil {
		v.Effect = line(strings.ReplaceAll(c.Effect.Kind, "_", " "))
		if in := c.Effect.ContainedByReadOnlyTx; in != nil && *in {
			v.Contained = "A read-only transaction alone stops it."
		} else if in != nil {
			v.Contained = "A read-only transaction does not stop it."
		}
	}
	for _, e := range c.Evidence {
		if e.Source != "" && e.Outcome == "" {
			v.Documents = append(v.Documents, newLink(e.Ref, e.Ref))
			continue
		}
		v.Evidence = append(v.Evidence, corpus.Evidence{
			Engine: line(e.Engine), Version: line(e.Version), Role: line(e.Role), Tx: line(e.Tx), Outcome: line(e.Outcome), Probe: short(e.Probe, 300), Date: line(e.Date),
		})
	}
	r, answered := b.results[c.ID]
	if answered {
		v.State = stateOf(r)
		v.Decision, v.Code, v.Fault, v.Detail = string(r.Decision), short(string(r.Code), 120), string(r.Fault), short(r.Detail, 1000)
		v.Agrees = r.Decision == run.Reject && slices.Contains(c.Codes, string(r.Code))
		if r.Expect != c.Expect {
			v.Asked = r.Expect
		}
	}
	for _, code := range c.Codes {
		v.Codes = append(v.Codes, codeView{line(code), answered && code == string(r.Code)})
	}
	v.Keys = keysOf(v)
	b.read(c, v)
	return v
}

// read adds what the guard found in the text.
func (b *builder) read(c corpus.Case, v *caseView) {
	var spans []sqlguard.Span
	if b.Read != nil {
		if reading, ok := b.Read(c); ok {
			v.Read, v.Facts = true, reading.Facts
			v.Nodes = trees(reading.Nodes, reading.Verdict.Findings)
			for i, f := range reading.Verdict.Findings {
				spans = append(spans, widened(f.Span, len(c.SQL)))
				if i < maxFindings {
					v.Findings = append(v.Findings, findingView{line(string(f.Code)), short(f.Message, 400), short(f.Hint, 300), line(f.Path), f.Line, f.Column})
				}
			}
			v.MoreFindings = len(reading.Verdict.Findings) - len(v.Findings)
		}
	}
	v.SQL, v.Text = newStatement(c.SQL, spans), cmp.Or(short(strings.Join(strings.Fields(c.SQL), " "), maxText), "(an empty text)")
}

// widened returns a span that can be seen: a span of length 0 is extended.
func widened(s sqlguard.Span, length int) sqlguard.Span {
	if s.Start == s.End {
		return sqlguard.Span{Start: max(0, min(s.Start, length-1)), End: min(length, s.Start+1)}
	}
	return s
}

// keysOf returns the CSS classes of the filters that show a case.
func keysOf(v *caseView) string {
	keys := []string{"x-" + string(v.Expect), "s-" + string(v.State)}
	if v.State != stateMet && v.State != stateNotRun {
		keys = append(keys, "s-failed")
	}
	if v.Change != nil {
		keys = append(keys, "s-changed")
	}
	return strings.Join(keys, " ")
}

func (b *builder) caseLink(id string) *link {
	l := &link{Text: short(id, 80)}
	if b.anchors[id] != "" {
		l.URL = b.address(id)
	}
	return l
}

func engineText(e *corpus.Engine) string {
	text := line(e.Name)
	if e.Min != "" {
		text += " from " + line(e.Min)
	}
	if e.Max != "" {
		text += " up to " + line(e.Max)
	}
	return text
}

func knownDialects() (names []string) {
	for _, d := range corpus.Dialects() {
		names = append(names, d.Name)
	}
	return names
}

func knownClasses() (names []string) {
	for _, c := range corpus.Classes() {
		names = append(names, c.Name)
	}
	return names
}

func titleOf(class string) string {
	for _, c := range corpus.Classes() {
		if c.Name == class {
			return c.Title
		}
	}
	return ""
}

// rank returns the index of a name in known, or a larger number if it is
// unknown.
func rank(known []string, name string) int {
	if i := slices.Index(known, name); i >= 0 {
		return i
	}
	return len(known)
}

// order lists the values that occur in cases, the known ones first and in their
// order.
func order(cases []corpus.Case, known []string, value func(corpus.Case) string) []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range cases {
		if name := value(c); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(known, a), rank(known, b)) })
	return names
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
