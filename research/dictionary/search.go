package dictionary

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/rank"
)

// The limits of an answer.
const (
	MaxMatches       = 25 // a value
	MaxColumnMatches = 5  // a value and column
)

// MatchType says how a value of the database resembles the one that was asked for.
// All types compare folded texts: without case, marks and kinds of dashes and
// spaces.
type MatchType string

// The types, the best first. A fuzzy match is only looked for when no connection
// has a match of another type.
const (
	MatchExact     MatchType = "exact"
	MatchCode      MatchType = "code"   // equal without punctuation and spaces
	MatchPrefix    MatchType = "prefix" // the value begins with it
	MatchWord      MatchType = "word"   // a word in the value begins with it
	MatchSubstring MatchType = "substring"
	MatchFuzzy     MatchType = "fuzzy" // misspelt, abbreviated, or with other words
)

// matchTypes lists the types in their order.
var matchTypes = [...]MatchType{MatchExact, MatchCode, MatchPrefix, MatchWord, MatchSubstring, MatchFuzzy}

const (
	isExact = iota
	isCode
	isPrefix
	isWord
	isSubstring
	isFuzzy
)

// Result is what was found for one value.
type Result struct {
	Value   string  `json:"value"`
	Matches []Match `json:"matches"`
	Omitted int     `json:"omitted,omitempty"` // matches that are not listed
	Misses  []Miss  `json:"misses"`            // connections without a match
}

// Match is a value of a database.
type Match struct {
	ConnectionID string      `json:"connectionId"`
	SourceName   string      `json:"sourceName"` // the table's name alone
	TableRef     catalog.Ref `json:"tableRef"`
	ColumnName   string      `json:"columnName"`
	MatchedValue string      `json:"matchedValue"` // as the database has it
	MatchType    MatchType   `json:"matchType"`
	Cardinality  *int64      `json:"cardinality"` // distinct values of the column
}

// Miss says why a connection has no match. It is no proof that its database does
// not have the value.
type Miss struct {
	ConnectionID string `json:"connectionId"`
	Reason       Reason `json:"reason"`
}

// Reason is the reason of a [Miss].
type Reason string

// The reasons.
const (
	ReasonNoProfile    Reason = Reason(StatusNoProfile)
	ReasonNoCandidates Reason = Reason(StatusNoCandidates)
	ReasonNotInSample  Reason = "value_not_in_sample"
)

// Search looks the values up in all sets, and returns one result for each value,
// in the order of values.
func Search(values []string, sets ...*Set) []Result {
	out := make([]Result, 0, len(values))
	for _, v := range values {
		out = append(out, search(v, sets))
	}
	return out
}

func search(text string, sets []*Set) Result {
	out := Result{Value: text, Matches: []Match{}, Misses: []Miss{}}
	q := newQuery(text)
	lanes, worst := find(q, sets)
	var found []candidate
	total := 0
	for i, s := range sets {
		count := lanes[i].count(worst)
		total += count
		found = append(found, lanes[i].kept...)
		switch {
		case count > 0:
		case s.status == StatusReady:
			out.Misses = append(out.Misses, Miss{ConnectionID: s.connectionID, Reason: ReasonNotInSample})
		default:
			out.Misses = append(out.Misses, Miss{ConnectionID: s.connectionID, Reason: Reason(s.status)})
		}
	}
	for _, c := range best(found, worst) {
		out.Matches = append(out.Matches, c.match())
	}
	out.Omitted = total - len(out.Matches)
	return out
}

// best returns the best candidates that cost at most worst, in order.
func best(found []candidate, worst int) []candidate {
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.cost > worst })
	slices.SortFunc(found, compareCandidates)
	return found[:min(len(found), MaxMatches)]
}

// slack is how much more a fuzzy match may cost than the best one.
const slack = 3

// find collects the matches in each set. Those that cost more than worst do not
// count.
func find(q *query, sets []*Set) (lanes []*collector, worst int) {
	lanes = make([]*collector, len(sets))
	for i, s := range sets {
		lanes[i] = &collector{set: s, query: q, worst: &worst}
		if q.folded != "" {
			s.scan(q, lanes[i].add)
			lanes[i].flush()
		}
	}
	if q.folded == "" || slices.ContainsFunc(lanes, func(c *collector) bool { return c.count(0) > 0 }) {
		return lanes, 0
	}
	worst = maxCost
	fuzzy := newFuzzy(q)
	for i, s := range sets {
		s.resemble(fuzzy, func(value, cost int) {
			worst = min(worst, cost+slack)
			lanes[i].add(value, isFuzzy, cost)
		})
		lanes[i].flush()
	}
	return lanes, worst
}

// query is a value that is looked up.
type query struct {
	text     string // trimmed
	folded   string
	code     string
	codeHash uint32
}

func newQuery(text string) *query {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " ")))
	q := &query{text: text, folded: fold(text), code: rank.FoldCode(text)}
	q.codeHash = codeOf(q.code)
	return q
}

// candidate is a value that matches.
type candidate struct {
	set     *Set
	column  int
	value   int
	kind    int
	cost    int  // of a fuzzy match: how far the value is from the query
	literal bool // the value is what was asked for, byte for byte
	length  int  // runes
	nth     int  // how many better matches of the same type its column has
	text    string
}

func (c *candidate) match() Match {
	col := &c.set.columns[c.column]
	m := Match{
		ConnectionID: c.set.connectionID, SourceName: col.table.Name, TableRef: col.table, ColumnName: col.name,
		MatchedValue: c.text, MatchType: matchTypes[c.kind],
	}
	if n := col.cardinality; n >= 0 {
		m.Cardinality = &n
	}
	return m
}

// compareInColumn orders the matches of one column.
func compareInColumn(a, b candidate) int {
	return cmp.Or(
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.cost, b.cost), compareBools(a.literal, b.literal),
		cmp.Compare(a.length, b.length), strings.Compare(a.text, b.text), cmp.Compare(a.value, b.value),
	)
}

// compareCandidates orders matches: by type, then the best of each column before
// the second of any, then shorter values first, then columns with fewer values.
func compareCandidates(a, b candidate) int {
	x, y := &a.set.columns[a.column], &b.set.columns[b.column]
	return cmp.Or(
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.nth, b.nth), cmp.Compare(a.cost, b.cost), compareBools(a.literal, b.literal),
		cmp.Compare(a.length, b.length), compareBools(x.cardinality >= 0, y.cardinality >= 0), cmp.Compare(x.cardinality, y.cardinality),
		strings.Compare(a.set.connectionID, b.set.connectionID), compareColumns(x.table, x.name, y.table, y.name),
		strings.Compare(a.text, b.text), cmp.Compare(a.value, b.value),
	)
}

// compareBools orders true before false.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// collector keeps the best matches of each column of a set. They come in the order
// of the values.
type collector struct {
	set    *Set
	query  *query
	worst  *int // matches that cost more are left out; it falls during a search
	column int
	best   []candidate // of the column, ordered
	kept   []candidate // of the columns before
	counts [maxCost + 1]int
}

// count returns how many matches cost at most worst.
func (c *collector) count(worst int) int {
	n := 0
	for _, more := range c.counts[:worst+1] {
		n += more
	}
	return n
}

// add counts a match and keeps it if it is among the best of its column.
func (c *collector) add(i, kind, cost int) {
	if cost > *c.worst {
		return
	}
	c.counts[cost]++
	for i >= c.set.columns[c.column].to {
		c.flush()
		c.column++
	}
	m := candidate{set: c.set, column: c.column, value: i, kind: kind, cost: cost, length: utf8.RuneCount(c.set.value(i))}
	if len(c.best) == MaxColumnMatches && kind != isExact {
		last := &c.best[len(c.best)-1]
		if cmp.Or(cmp.Compare(kind, last.kind), cmp.Compare(cost, last.cost), cmp.Compare(m.length, last.length)) > 0 {
			return
		}
	}
	m.text = c.set.text(i)
	m.literal = kind == isExact && m.text == c.query.text
	at, _ := slices.BinarySearchFunc(c.best, m, compareInColumn)
	c.best = slices.Insert(c.best, at, m)
	c.best = c.best[:min(len(c.best), MaxColumnMatches)]
}

// flush ends a column.
func (c *collector) flush() {
	for i := range c.best {
		if i > 0 && c.best[i-1].kind == c.best[i].kind {
			c.best[i].nth = c.best[i-1].nth + 1
		}
	}
	c.kept = append(c.kept, c.best...)
	c.best = c.best[:0]
	if len(c.kept) > 100*MaxMatches {
		c.kept = best(c.kept, *c.worst)
	}
}
