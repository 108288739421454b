package search

import (
	"container/heap"
	"math"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/rank"
)

// Options say what is searched.
type Options struct {
	Tables, Columns bool
	Limit           int  // of the hits
	Scoped          bool // the caller named the connection
	// Evidence lifts objects that something else points to.
	Evidence []Evidence
}

// Evidence is what something outside of the scan says about an object.
type Evidence struct {
	Connection string
	Table      catalog.Ref
	Column     string // "" for the table
	// Wiki, from 0 to 1, says how well a page that names the object fits the question. The
	// object may have no word of the question itself.
	Wiki float64
	// Usage, from 0 to 1, says how much the object is used, compared to others. It
	// decides between objects of about equal scores.
	Usage float64
}

// A Hit is a table or a column.
type Hit struct {
	Index  int // position of the index
	Table  *catalog.Table
	Column int // position in Table.Columns; -1 for the table
	Score  float64
	Mass   float64 // see [rank.Hit]
	Named  bool    // the question has its name, in quotes or with a dot or an underscore
	// MatchedOn is the field that contributed most: name, comment, description or
	// sample_value, display for the connection or schema of a table and for the table of
	// a column, and body for the columns of a table, its keys and the pages that name it.
	MatchedOn string
}

const (
	quotaHits    = 15 // so many first hits have
	quotaColumns = 3  // at most so many columns of a table, if tables are searched too
)

// Search returns the tables and columns that have words of the question, best first.
// Equal calls have equal results.
func Search(q *rank.Query, o Options, indexes ...*Index) []Hit {
	if q.Empty() || o.Limit <= 0 || len(indexes) == 0 {
		return nil
	}
	s := newScoring(q, o, indexes)
	defer s.release()
	// The best few candidates give the same hits as all of them, unless they run out.
	for n := 4*o.Limit + 4*quotaHits; ; n *= 16 {
		if hits, ok := s.take(s.best(n)); ok {
			return hits
		}
	}
}

// A scoring is the state of one search.
type scoring struct {
	query   *rank.Query
	options Options
	indexes []*Index
	table   []*rank.Scores // by index
	column  []*rank.Scores
	totals  []*scratch      // by index
	named   map[object]bool // objects whose name the question quotes
	lent    []object        // objects with a score, and without a word of the question
}

// An object is a table or a column of an index.
type object struct {
	index  uint32
	number uint32
	column bool
}

// A scratch is the memory for the scores of one index. It is zero between searches,
// apart from matched.
type scratch struct {
	tables  []float64 // the score of a table, with what belongs to it
	sums    []float64 // the score of a table and its columns
	best    [][3]float64
	columns []float64
	matched []uint8 // by table that was lent a score: the field that it is for
}

// scratchFor returns memory for a search.
func (x *Index) scratchFor() *scratch {
	if s, ok := x.scratch.Get().(*scratch); ok {
		return s
	}
	return &scratch{
		tables: make([]float64, len(x.tables)), sums: make([]float64, len(x.tables)), matched: make([]uint8, len(x.tables)),
		best: make([][3]float64, len(x.tables)), columns: make([]float64, len(x.owners)),
	}
}

func newScoring(q *rank.Query, o Options, indexes []*Index) *scoring {
	s := &scoring{query: q, options: o, indexes: indexes, named: map[object]bool{}}
	var tables, columns, places []*rank.Index
	for _, x := range indexes {
		tables, columns, places = append(tables, x.table), append(columns, x.column), append(places, x.place)
	}
	s.table, s.column = rank.ScoreAlone(q, tables...), rank.ScoreAlone(q, columns...)
	place := rank.ScoreAlone(q, places...)
	for n, x := range indexes {
		s.totals = append(s.totals, x.scratchFor())
		s.combine(n, x, place[n], s.evidence(n, x))
		place[n].Release()
	}
	s.lift()
	s.findNamed()
	return s
}

// release gives the memory back.
func (s *scoring) release() {
	for _, o := range s.lent {
		if o.column {
			s.totals[o.index].columns[o.number] = 0
		} else {
			s.totals[o.index].tables[o.number] = 0
		}
	}
	for n, x := range s.indexes {
		m := s.totals[n]
		if tables := s.table[n].Docs; len(tables) > len(x.tables)/8 {
			clear(m.tables)
			clear(m.sums)
		} else {
			for _, t := range tables {
				m.tables[t], m.sums[t] = 0, 0
			}
		}
		if columns := s.column[n].Docs; len(columns) > len(x.owners)/8 {
			clear(m.columns)
			clear(m.best)
		} else {
			for _, c := range columns {
				m.columns[c], m.best[x.owners[c]] = 0, [3]float64{}
			}
		}
		x.scratch.Put(m)
		s.table[n].Release()
		s.column[n].Release()
	}
}

// combine adds to the score of each table those of its columns and neighbours, and to
// that of each column that of its table.
func (s *scoring) combine(n int, x *Index, places *rank.Scores, evidence []float64) {
	w, m := &chosen, s.totals[n]
	own, of, place := s.table[n].Score, s.column[n].Score, places.Score
	for _, c := range s.column[n].Docs {
		b, v := &m.best[x.owners[c]], of[c]
		switch {
		case v > b[0]:
			b[0], b[1], b[2] = v, b[0], b[1]
		case v > b[1]:
			b[1], b[2] = v, b[1]
		case v > b[2]:
			b[2] = v
		}
	}
	for _, t := range s.table[n].Docs {
		b := &m.best[t]
		m.sums[t] = own[t] + float64(w.bestColumns*(b[0]+float64(b[1]/2)+b[2]/3))
	}
	for _, t := range s.table[n].Docs {
		top := 0.0
		for _, other := range x.neighbours[t] {
			top = max(top, m.sums[other])
			if own[other] == 0 {
				s.lend(n, other, float64(w.neighbour*m.sums[t])+float64(w.evidence*evidence[x.places[other]]), fieldBody)
			}
		}
		at := x.places[t]
		m.tables[t] = m.sums[t] + float64(w.neighbour*top) + float64(w.place*place[at]) + float64(w.evidence*evidence[at])
	}
	if s.options.Tables && len(places.Docs) > 0 {
		// A question may name the schema or the connection alone.
		for t := range x.tables {
			if p := place[x.places[t]]; p > 0 && own[t] == 0 {
				s.lend(n, uint32(t), w.place*p, fieldDisplay)
			}
		}
	}
	for _, c := range s.column[n].Docs {
		m.columns[c] = of[c] + float64(w.ownTable*m.tables[x.owners[c]])
	}
	s.connect(n, x)
}

// lend gives a score to a table without a word of the question, or a better one.
func (s *scoring) lend(n int, t uint32, score float64, field uint8) {
	if !s.options.Tables {
		return
	}
	m := s.totals[n]
	if m.tables[t] == 0 {
		s.lent = append(s.lent, object{uint32(n), t, false}) //nolint:gosec // there are fewer than 2^32 in memory
	}
	if score > m.tables[t] {
		m.tables[t], m.matched[t] = score, field
	}
}

// connect lifts the columns that connect two tables with scores.
func (s *scoring) connect(n int, x *Index) {
	m, of := s.totals[n], s.column[n].Score
	for i := 0; i < len(x.keys); {
		c, from := x.keys[i].column, i
		for i < len(x.keys) && x.keys[i].column == c {
			i++
		}
		if of[c] == 0 {
			continue
		}
		top := 0.0
		for _, k := range x.keys[from:i] {
			top = max(top, m.tables[k.other])
		}
		m.columns[c] += float64(chosen.key * min(top, m.tables[x.owners[c]]))
	}
}

// evidence returns by schema how well the question fits to it: the sum of the best
// scores that each word has in a table and in a column, divided by a root of the size.
func (s *scoring) evidence(n int, x *Index) []float64 {
	out := make([]float64, x.schemas)
	if s.options.Scoped && x.schemas < 2 {
		return out
	}
	table, column := make([]float64, x.schemas), make([]float64, x.schemas)
	for word := range s.table[n].Words() {
		clear(table)
		clear(column)
		s.table[n].Best(word, x.tableEnds, table)
		s.column[n].Best(word, x.columnEnds, column)
		for i := range out {
			out[i] += table[i] + column[i]
		}
	}
	for i := range out {
		out[i] /= x.roots[i]
	}
	return out
}

// lift adds what Options.Evidence says.
func (s *scoring) lift() {
	if len(s.options.Evidence) == 0 {
		return
	}
	top := 0.0
	for n := range s.indexes {
		for _, t := range s.table[n].Docs {
			top = max(top, s.totals[n].tables[t])
		}
		for _, c := range s.column[n].Docs {
			top = max(top, s.totals[n].columns[c])
		}
	}
	if top == 0 {
		top = 1
	}
	for _, e := range s.options.Evidence {
		for n, x := range s.indexes {
			if x.connection.ID != e.Connection {
				continue
			}
			t, ok := x.lookup(e.Table)
			if !ok {
				continue
			}
			if e.Column == "" {
				m := s.totals[n]
				if m.tables[t] == 0 {
					m.matched[t] = fieldBody
				}
				s.raise(object{uint32(n), t, false}, &m.tables[t], e, top)
				continue
			}
			for c := range x.tables[t].Columns {
				if x.tables[t].Columns[c].Name == e.Column {
					number := x.firsts[t] + uint32(c)
					s.raise(object{uint32(n), number, true}, &s.totals[n].columns[number], e, top)
				}
			}
		}
	}
}

// raise adds evidence to the score of one object.
func (s *scoring) raise(o object, score *float64, e Evidence, top float64) {
	bounded := func(v float64) float64 { return min(max(v, 0), 1) }
	usage := float64(chosen.usage * bounded(e.Usage) * *score)
	wiki := float64(chosen.wiki * bounded(e.Wiki) * top)
	if *score == 0 && wiki > 0 {
		s.lent = append(s.lent, o)
	}
	*score += usage + wiki
}

// findNamed finds the objects whose name the question quotes, or writes with a dot or
// an underscore.
func (s *scoring) findNamed() {
	for _, name := range s.query.Names() {
		parts := nameParts(name)
		if len(parts) == 0 {
			continue
		}
		last := parts[len(parts)-1]
		for n, x := range s.indexes {
			for _, t := range x.table.Holding(last) {
				if x.isTable(t, parts) {
					s.named[object{uint32(n), t, false}] = true
				}
			}
			for _, c := range x.column.Holding(last) {
				if x.isColumn(c, parts) {
					s.named[object{uint32(n), c, true}] = true
				}
			}
		}
	}
}

// nameParts splits a name at dots, and takes quotes away.
func nameParts(name string) []string {
	var out []string
	for part := range strings.SplitSeq(name, ".") {
		if part = strings.Trim(strings.TrimSpace(part), "\"`[]"); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// isTable reports whether the parts name the table: its name, and before it the
// schema, the catalog and the connection, as far as they are there.
func (x *Index) isTable(t uint32, parts []string) bool {
	ref := x.tables[t].Ref()
	return suffix(parts, []string{x.connection.ID, ref.Catalog, ref.DB, ref.Name})
}

// isColumn reports whether the parts name the column, in the same way.
func (x *Index) isColumn(c uint32, parts []string) bool {
	t := x.owners[c]
	ref := x.tables[t].Ref()
	return suffix(parts, []string{x.connection.ID, ref.Catalog, ref.DB, ref.Name, x.tables[t].Columns[c-x.firsts[t]].Name})
}

// suffix reports whether the parts are the last of the path, in order. Parts of the
// path before the last may be left out.
func suffix(parts, path []string) bool {
	i := len(parts) - 1
	for k := len(path) - 1; k >= 0 && i >= 0; k-- {
		if path[k] != "" && rank.Fold(parts[i]) == rank.Fold(path[k]) {
			i--
		} else if k == len(path)-1 {
			return false
		}
	}
	return i < 0
}

// A candidate is an object with a score.
type candidate struct {
	object
	score float64
	named bool
}

// before orders candidates: those with the names that the question has, then by score.
// No two are equal.
func (c *candidate) before(b *candidate) bool {
	switch {
	case c.named != b.named:
		return c.named
	case c.score != b.score:
		return c.score > b.score
	case c.column != b.column:
		return b.column
	case c.index != b.index:
		return c.index < b.index
	}
	return c.number < b.number
}

// candidates is a heap, the best first.
type candidates []candidate

func (c candidates) Len() int           { return len(c) }
func (c candidates) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool { return c[i].before(&c[j]) }
func (c *candidates) Push(any)          {}
func (c *candidates) Pop() any {
	last := len(*c) - 1
	out := (*c)[last]
	*c = (*c)[:last]
	return out
}

// A selection keeps the best n candidates of those that are offered to it.
type selection struct {
	n    int
	heap candidates // the worst first
	over bool       // some were not kept
}

// offer adds a candidate if it is among the best.
func (s *selection) offer(c candidate) {
	if len(s.heap) < s.n {
		s.heap = append(s.heap, c)
		if len(s.heap) == s.n {
			for i := s.n/2 - 1; i >= 0; i-- {
				s.down(i)
			}
		}
		return
	}
	s.over = true
	if c.before(&s.heap[0]) {
		s.heap[0] = c
		s.down(0)
	}
}

// low returns the score that a candidate without a name must have at least.
func (s *selection) low() float64 {
	switch {
	case len(s.heap) < s.n:
		return 0
	case s.heap[0].named:
		return math.Inf(1)
	}
	return s.heap[0].score
}

// down moves a candidate behind those that are worse.
func (s *selection) down(i int) {
	for h := s.heap; ; {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if next+1 < len(h) && h[next].before(&h[next+1]) {
			next++
		}
		if !h[i].before(&h[next]) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}

// best returns the best n of everything with a score, and whether there are more.
func (s *scoring) best(n int) (*candidates, bool) {
	kept := selection{n: n}
	for o := range s.named {
		if scores, _ := s.scores(o); scores.Score[o.number] > 0 && s.wanted(o) {
			kept.offer(candidate{object: o, score: s.total(o), named: true})
		}
	}
	// offer adds the documents of one kind of one index. Few of them reach the score of
	// those that are kept already.
	offer := func(o object) {
		if !s.wanted(o) {
			return
		}
		scores, totals := s.scores(o)
		low := kept.low()
		for _, doc := range scores.Docs {
			score := totals[doc]
			if score < low {
				kept.over = true
				continue
			}
			o.number = doc
			if len(s.named) == 0 || !s.named[o] {
				kept.offer(candidate{object: o, score: score})
				low = kept.low()
			}
		}
	}
	for i := range s.indexes {
		offer(object{index: uint32(i)})
		offer(object{index: uint32(i), column: true})
	}
	for _, o := range s.lent {
		if s.wanted(o) {
			kept.offer(candidate{object: o, score: s.total(o), named: s.named[o]})
		}
	}
	heap.Init(&kept.heap)
	return &kept.heap, kept.over
}

// wanted reports whether objects of this kind are searched.
func (s *scoring) wanted(o object) bool {
	return o.column && s.options.Columns || !o.column && s.options.Tables
}

// scores returns the scores of the objects of one kind and index: of their words, and
// all in all.
func (s *scoring) scores(o object) (*rank.Scores, []float64) {
	if o.column {
		return s.column[o.index], s.totals[o.index].columns
	}
	return s.table[o.index], s.totals[o.index].tables
}

// total returns the score of an object.
func (s *scoring) total(o object) float64 {
	_, totals := s.scores(o)
	return totals[o.number]
}

// take returns the hits: the best candidates, with one table of each family, and few
// columns of each table among the first. It reports false if the candidates ran out, and
// there are more.
func (s *scoring) take(from *candidates, more bool) ([]Hit, bool) {
	numbers := s.numbers()
	families := map[object]bool{}
	var hits []Hit
	var later []candidate // of families
	var over []candidate  // beyond the quota of their table
	perTable := map[object]int{}
	quota := s.options.Tables && s.options.Columns
	taken := map[object]bool{} // tables
	add := func(c candidate) {
		table := c.object
		if c.column {
			table = object{c.index, s.indexes[c.index].owners[c.number], false}
		}
		if quota && !taken[table] && (!c.column || !c.named && s.byTable(c)) {
			// The question says nothing of such a column that it does not say of its table.
			taken[table] = true
			hits = append(hits, s.hit(candidate{object: table, score: c.score, named: c.named}))
			if !c.column || len(hits) == s.options.Limit {
				return
			}
		}
		hits = append(hits, s.hit(c))
	}
	for from.Len() > 0 && len(hits) < s.options.Limit {
		c, _ := heap.Pop(from).(candidate)
		if !c.column && taken[c.object] {
			continue // it came with a column
		}
		if !c.named && s.deferred(c, numbers, families) {
			later = append(later, c)
			continue
		}
		if quota && c.column && !c.named && len(hits) < quotaHits {
			table := object{c.index, s.indexes[c.index].owners[c.number], false}
			if perTable[table] >= quotaColumns {
				over = append(over, c)
				continue
			}
			perTable[table]++
		}
		add(c)
		if len(hits) >= quotaHits && len(over) > 0 {
			// The quota ends here. What it held back competes again.
			for _, c := range over {
				*from = append(*from, c)
			}
			heap.Init(from)
			over = nil
		}
	}
	if more && len(hits) < s.options.Limit {
		return nil, false
	}
	for _, rest := range [][]candidate{over, later} {
		for _, c := range rest {
			if len(hits) < s.options.Limit && (c.column || !taken[c.object]) {
				add(c)
			}
		}
	}
	return hits, true
}

// byTable reports whether a column has its score for the name of its table alone.
func (s *scoring) byTable(c candidate) bool {
	scores := s.column[c.index]
	return scores.Score[c.number] > 0 && scores.Field(int(c.number)) == fieldDisplay
}

// numbers returns the numbers that the question names, without leading zeros.
func (s *scoring) numbers() map[string]bool {
	out := map[string]bool{}
	for _, n := range numbersOf(s.query.Text()) {
		out[n] = true
	}
	return out
}

// deferred reports whether the object belongs to a table that another one of its family
// stands for. The question may name tables of a family by their digits; else the latest
// stands for all. families keeps which families have a table that the question names.
func (s *scoring) deferred(c candidate, numbers map[string]bool, families map[object]bool) bool {
	x := s.indexes[c.index]
	t := c.number
	if c.column {
		t = x.owners[c.number]
	}
	if x.members[t] == none {
		return false
	}
	family := x.families[x.members[t]]
	if len(numbers) == 0 { // it names none
		return t != family[0]
	}
	if named(x, t, numbers) {
		return false
	}
	key := object{index: c.index, number: x.members[t]}
	other, known := families[key]
	if !known {
		other = slices.ContainsFunc(family, func(t uint32) bool { return named(x, t, numbers) })
		families[key] = other
	}
	return other || t != family[0]
}

// named reports whether the question has every number of the table's name that tells it
// from the others of its family.
func named(x *Index, t uint32, numbers map[string]bool) bool {
	own := numbersOf(x.tables[t].Name)
	family := x.families[x.members[t]]
	other := numbersOf(x.tables[family[0]].Name)
	if t == family[0] {
		other = numbersOf(x.tables[family[1]].Name)
	}
	differs := false
	for i, n := range own {
		if i < len(other) && other[i] == n {
			continue
		}
		differs = true
		if !numbers[n] {
			return false
		}
	}
	return differs
}

// hit makes the hit of a candidate.
func (s *scoring) hit(c candidate) Hit {
	x := s.indexes[c.index]
	h := Hit{Index: int(c.index), Column: -1, Score: c.score, Named: c.named}
	scores := s.table[c.index]
	if c.column {
		t := x.owners[c.number]
		h.Table, h.Column = x.tables[t], int(c.number-x.firsts[t])
		scores = s.column[c.index]
	} else {
		h.Table = x.tables[c.number]
	}
	h.Mass = scores.MassOf(int(c.number))
	switch {
	case c.named:
		h.MatchedOn = matchedOn[fieldName]
	case scores.Score[c.number] > 0:
		h.MatchedOn = matchedOn[scores.Field(int(c.number))]
	case c.column: // a page names it
		h.MatchedOn = matchedOn[fieldBody]
	default:
		h.MatchedOn = matchedOn[s.totals[c.index].matched[c.number]]
	}
	return h
}
