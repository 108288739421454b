package semantictest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Most of a case.
const (
	maxSources = 5
	maxRows    = 12
)

var (
	sourceNames = []string{"orders", "customers", "items", "regions", "people", "group", "order", "straße", "数量", "line items", "select", "sessions", "ports", "user", "case"}
	aliasNames  = []string{"origin", "destination", "chef", "parent", "from", "ziel ort", "left", "billing", "shipping", "über", "second"}
	columnNames = []string{"name", "status", "amount", "price", "qty", "created", "closed", "active", "order", "group", "größe", "数", "net amount", "date", "user", "key", "limit", "code", "note"}
	texts       = []string{"red", "green", "blue", "eu", "us", "paid", "open", "lost", "ann", "bob"}
	days        = []string{
		"2020-12-28", "2020-12-31", "2021-01-01", "2021-01-03", "2021-01-04", "2023-03-31", "2023-04-01", "2023-12-31", "2024-01-01",
		"2024-02-29", "2024-03-01", "2024-03-31", "2024-06-30", "2024-07-01", "2024-12-29", "2024-12-30", "2024-12-31", "2025-01-01", "2025-01-05",
	}
	clocks = []string{"00:00:00", "00:00:01", "09:59:59", "10:00:00", "10:30:00", "23:59:59"}
	grains = []string{"hour", "day", "week", "month", "quarter", "year"}
)

// gen draws one case.
type gen struct {
	*world
	rng *rand.Rand
}

func (g *gen) chance(percent int) bool { return g.rng.IntN(100) < percent }

func pick[T any](g *gen, list []T) T { return list[g.rng.IntN(len(list))] }

func itoa(n int) string { return strconv.Itoa(n) }

// model draws sources, joins, rows, and what may be asked of them.
func (g *gen) model(seed uint64) {
	n := 1 + g.rng.IntN(maxSources)
	names := g.rng.Perm(len(sourceNames))
	aliases := g.rng.Perm(len(aliasNames))
	for i := range n {
		s := &source{name: sourceNames[names[i]], table: fmt.Sprintf("t%d_%d", seed, i), plainTable: true}
		if g.chance(25) {
			s.table, s.plainTable = fmt.Sprintf("Table %d %d", seed, i), false
		}
		g.sources = append(g.sources, s)
		g.keys(i)
		g.joins(i, &aliases)
		g.attributes(s)
		g.fill(i)
	}
	g.link()
	for i := range g.sources {
		g.computed(i)
	}
	for i := range g.sources {
		for range g.rng.IntN(3) {
			g.segment(i)
		}
	}
	for i := range g.sources {
		for range 1 + g.rng.IntN(4) {
			g.measure(i)
		}
		g.sources[i].sql = g.chance(15) && g.simple(g.sources[i])
		g.sources[i].scanned = !g.sources[i].sql && g.chance(35)
	}
}

// simple says whether a query over the table is the same text on every engine.
func (g *gen) simple(s *source) bool {
	reserved := []string{"order", "group", "user", "key", "limit", "date", "name", "größe", "数", "net amount"}
	return s.plainTable && !slices.ContainsFunc(s.columns, func(c column) bool { return c.expr == nil && slices.Contains(reserved, c.name) })
}

// keys draws the grain. A source that has a one_to_one join takes over the kinds of the
// other's grain, see joins.
func (g *gen) keys(i int) {
	s := g.sources[i]
	s.columns = append(s.columns, column{name: "id", kind: number, whole: true})
	s.grain = []int{0}
	if g.chance(25) {
		s.columns = append(s.columns, column{name: "part", kind: text})
		s.grain = []int{0, 1}
	}
}

// joins draws edges to sources before this one, so that the model has few cycles but
// those of one_to_one joins and of aliases.
func (g *gen) joins(i int, aliases *[]int) {
	s := g.sources[i]
	alias := func() string {
		if len(*aliases) == 0 {
			return ""
		}
		a := aliasNames[(*aliases)[0]]
		*aliases = (*aliases)[1:]
		return a
	}
	for j := range i {
		other := g.sources[j]
		if !g.chance(55) {
			continue
		}
		switch k := g.rng.IntN(100); {
		case k < 12 && len(s.grain) == len(other.grain):
			s.joins = append(s.joins, join{to: j, own: slices.Clone(s.grain), other: slices.Clone(other.grain), relation: "one_to_one"})
		case k < 25:
			own := g.foreign(s, j)
			other.joins = append(other.joins, join{to: i, own: slices.Clone(other.grain), other: own, relation: "one_to_many"})
		case k < 45:
			for range 1 + g.rng.IntN(2) {
				if a := alias(); a != "" {
					s.joins = append(s.joins, join{to: j, alias: a, own: g.foreign(s, j), other: slices.Clone(other.grain), relation: "many_to_one"})
				}
			}
		default:
			s.joins = append(s.joins, join{to: j, own: g.foreign(s, j), other: slices.Clone(other.grain), relation: "many_to_one"})
		}
	}
	if g.chance(15) {
		if a := alias(); a != "" {
			s.joins = append(s.joins, join{to: i, alias: a, own: g.foreign(s, i), other: slices.Clone(s.grain), relation: "many_to_one"})
		}
	}
}

// foreign adds columns that hold the key of another source.
func (g *gen) foreign(s *source, to int) []int {
	var list []int
	k := len(s.columns)
	for n, c := range g.sources[to].grain {
		c := g.sources[to].columns[c]
		s.columns = append(s.columns, column{name: "fk" + itoa(k) + string(rune('a'+n)), kind: c.kind, whole: c.whole, hidden: g.chance(5)})
		list = append(list, len(s.columns)-1)
	}
	return list
}

func (g *gen) newColumn(s *source) string {
	for {
		name := pick(g, columnNames)
		if !slices.ContainsFunc(s.columns, func(c column) bool { return c.name == name }) {
			return name
		}
	}
}

func (g *gen) attributes(s *source) {
	for range 1 + g.rng.IntN(4) {
		c := column{name: g.newColumn(s), hidden: g.chance(6)}
		c.internal = !c.hidden && g.chance(5)
		switch g.rng.IntN(10) {
		case 0, 1, 2:
			c.kind = text
		case 3, 4:
			c.kind = number
		case 5:
			c.kind, c.whole = number, true
		case 6, 7:
			c.kind, c.date = moment, true
		case 8:
			c.kind = moment
		default:
			c.kind = boolean
		}
		s.columns = append(s.columns, c)
	}
}

// draw is a value for a column, never NULL.
func (g *gen) draw(c column) value {
	switch c.kind {
	case number:
		if c.whole {
			return whole(int64(g.rng.IntN(12) - 2))
		}
		return num(big.NewRat(int64(g.rng.IntN(120)-15), 4))
	case text:
		return words(pick(g, texts))
	case boolean:
		return truth(g.chance(50))
	case moment, null:
	}
	if c.date {
		return at(pick(g, days))
	}
	return at(pick(g, days) + " " + pick(g, clocks))
}

// fill draws rows: keys are unique and never NULL, foreign keys are sometimes NULL or
// dangling.
func (g *gen) fill(i int) {
	s := g.sources[i]
	count := g.rng.IntN(maxRows + 1)
	if count == 0 && g.chance(60) {
		count = 1 + g.rng.IntN(maxRows)
	}
	seen := map[string]bool{}
	for range count {
		row := make([]value, len(s.columns))
		for k, c := range s.columns {
			if v := g.draw(c); !g.chance(18) {
				row[k] = v
			}
		}
		var key strings.Builder
		for n, c := range s.grain {
			row[c] = g.keyPart(n)
			key.WriteString(row[c].key() + "/")
		}
		if seen[key.String()] {
			continue
		}
		seen[key.String()] = true
		s.rows = append(s.rows, row)
	}
	for j, o := range g.sources {
		for _, jn := range o.joins {
			switch {
			case j == i && jn.relation == "many_to_one":
				g.link1(s, jn.own, g.sources[jn.to], jn.other)
			case jn.to == i && jn.relation == "one_to_many":
				g.link1(s, jn.other, o, jn.own)
			}
		}
	}
}

func (g *gen) keyPart(n int) value {
	if n == 0 {
		return whole(int64(1 + g.rng.IntN(14)))
	}
	return words(pick(g, texts[:3]))
}

// link1 sets foreign keys.
func (g *gen) link1(s *source, own []int, other *source, key []int) {
	for _, row := range s.rows {
		switch k := g.rng.IntN(100); {
		case k < 15:
			row[pick(g, own)] = value{}
		case k < 25 || len(other.rows) == 0:
			for n, c := range own {
				row[c] = g.keyPart(n)
			}
		default:
			r := pick(g, other.rows)
			for n, c := range own {
				row[c] = r[key[n]]
			}
		}
	}
}

// scope is what an expression may name.
type scope struct {
	*gen
	source int   // whose expression it is; -1: of a request
	nodes  []int // that it may name besides, all reached by one way
}

// ownScope is the scope of a source's own expressions.
func (g *gen) ownScope(i int) scope {
	sc := scope{gen: g, source: i}
	for n, d := range g.nodes {
		if d.source == i {
			continue
		}
		fits := true
		for m, from := range g.nodes {
			fits = fits && (from.source != i || g.ways[m][n].count == 1)
		}
		if fits {
			sc.nodes = append(sc.nodes, n)
		}
	}
	return sc
}

// place is a column that an expression may name.
type place struct {
	node, col int
	column    column
}

func (sc scope) places(k kind) []place {
	var list []place
	add := func(node int, s *source) {
		for i, c := range s.columns {
			if (c.kind == k || k == null) && (sc.source >= 0 || !c.hidden || sc.chance(1)) {
				list = append(list, place{node, i, c})
			}
		}
	}
	if sc.source >= 0 {
		add(self, sc.sources[sc.source])
		if !sc.chance(30) {
			return list
		}
	}
	for _, n := range sc.nodes {
		add(n, sc.of(n))
	}
	return list
}

// column draws a column of a kind.
func (sc scope) column(k kind) (*tree, column, bool) {
	list := sc.places(k)
	if len(list) == 0 {
		return nil, column{}, false
	}
	p := pick(sc.gen, list)
	return col(p.node, p.col), p.column, true
}

func (sc scope) literal(k kind) *tree {
	return lit(sc.draw(column{kind: k, whole: sc.chance(50), date: true}))
}

// value draws an expression of a kind.
func (sc scope) value(k kind, depth int) *tree {
	c, _, ok := sc.column(k)
	if !ok && k == boolean {
		c = sc.condition(depth - 1)
	} else if !ok {
		c = sc.literal(k)
	}
	if depth <= 0 || sc.chance(60) {
		return c
	}
	if sc.chance(25) {
		return mk(opCase, sc.condition(depth-1), sc.value(k, depth-1), sc.value(k, 0))
	}
	switch k {
	case number:
		other := sc.value(number, 0)
		switch sc.rng.IntN(9) {
		case 0:
			return mk(opAdd, c, other)
		case 1:
			return mk(opSub, c, other)
		case 2, 3:
			return mk(opMul, c, other)
		case 4:
			return mk(opCoalesce, c, sc.literal(number))
		case 5:
			return mk(opNeg, c)
		case 6:
			return mk(opAbs, c)
		case 7:
			return &tree{op: opLength, args: []*tree{sc.value(text, 0)}}
		default:
			if m, column, ok := sc.column(moment); ok {
				parts := []string{"year", "quarter", "month", "week", "day", "dow", "doy"}
				if !column.date && column.expr == nil {
					parts = append(parts, "hour")
				}
				return &tree{op: opExtract, args: []*tree{m}, name: pick(sc.gen, parts)}
			}
			return mk(opNullif, c, sc.literal(number))
		}
	case text:
		switch sc.rng.IntN(3) {
		case 0:
			return mk(opCoalesce, c, sc.literal(text))
		case 1:
			return mk(opConcat, c, sc.value(text, 0))
		default:
			return mk(opLower, mk(opUpper, c))
		}
	case moment:
		if sc.chance(50) {
			return &tree{op: opTrunc, args: []*tree{c}, name: pick(sc.gen, grains[1:])}
		}
		return &tree{op: opShift, args: []*tree{c}, name: pick(sc.gen, []string{"day", "month", "month", "year"}), count: 1 + sc.rng.IntN(15)}
	case boolean:
		return sc.condition(depth)
	case null:
	}
	return c
}

// condition draws a condition on a row.
func (sc scope) condition(depth int) *tree {
	if depth > 0 && sc.chance(30) {
		a, b := sc.condition(depth-1), sc.condition(depth-1)
		switch sc.rng.IntN(3) {
		case 0:
			return mk(opNot, a)
		case 1:
			return mk(opOr, a, b)
		default:
			return mk(opAnd, a, b)
		}
	}
	list := sc.places(null)
	if len(list) == 0 {
		return mk(opEq, sc.literal(number), sc.literal(number))
	}
	p := pick(sc.gen, list)
	c, k := col(p.node, p.col), p.column.kind
	compared := func() *tree {
		date := p.column.date || p.column.expr != nil || sc.chance(60)
		return lit(sc.draw(column{kind: k, whole: p.column.whole, date: date}))
	}
	switch n := sc.rng.IntN(10); {
	case n == 0:
		return mk(opIsNull, c)
	case n == 1:
		return mk(opNotNull, c)
	case k == boolean:
		return mk(pick(sc.gen, []op{opEq, opNe}), c, lit(truth(sc.chance(50))))
	case n == 2:
		return mk(opIn, c, compared(), compared(), compared())
	case n == 3:
		return mk(opBetween, c, compared(), compared())
	case n == 4 && k == text:
		return mk(opLike, c, lit(words(pick(sc.gen, []string{"b%", "r%", "%", "gre%"}))))
	case n == 5 && k != moment:
		if d, _, ok := sc.column(k); ok {
			return mk(pick(sc.gen, []op{opEq, opNe, opLt, opGe}), c, d)
		}
	}
	return mk(pick(sc.gen, []op{opEq, opNe, opLt, opLe, opGt, opGe}), c, compared())
}

func (g *gen) computed(i int) {
	s := g.sources[i]
	for range g.rng.IntN(3) {
		k := pick(g, []kind{text, number, number, moment, text, boolean})
		e := g.ownScope(i).value(k, 2)
		if e.op == opColumn || e.op == opLiteral {
			continue
		}
		s.columns = append(s.columns, column{name: g.newColumn(s), kind: k, expr: e, hidden: g.chance(5)})
		for r := range s.rows {
			s.rows[r] = append(s.rows[r], value{})
		}
	}
}

func (g *gen) segment(i int) {
	s := g.sources[i]
	s.segments = append(s.segments, segment{name: "seg" + itoa(len(s.segments)), expr: g.ownScope(i).condition(1)})
}

// aggregate draws an aggregate over a scope; numeric: one whose value is a number.
func (sc scope) aggregate(numeric bool) *tree {
	a := sc.anyAggregate(numeric)
	if a.name != "count" && a.name != "sum" && a.name != "avg" {
		a.distinct = false
	}
	if sc.chance(20) {
		a.filter = sc.condition(1)
	}
	return a
}

func (sc scope) anyAggregate(numeric bool) *tree {
	k := sc.rng.IntN(100)
	switch {
	case k < 15 && sc.source >= 0:
		return agg("count")
	case k < 40:
		c, _, ok := sc.column(null)
		if !ok {
			break
		}
		a := agg("count", c)
		a.distinct = sc.chance(45)
		return a
	case k < 42: // of the engines, only PostgreSQL has them
		if sc.chance(50) {
			return agg("median", sc.value(number, 1))
		}
		return agg("percentile", sc.value(number, 1), lit(num(big.NewRat(sc.rng.Int64N(21), 20))))
	case k < 85 || numeric:
		a := agg(pick(sc.gen, []string{"sum", "sum", "sum", "avg", "min", "max"}), sc.value(number, 2))
		a.distinct = sc.chance(8)
		return a
	}
	of := pick(sc.gen, []kind{text, moment, number, text, moment, boolean})
	c, _, ok := sc.column(of)
	if !ok {
		c = sc.value(number, 0)
	}
	return agg(pick(sc.gen, []string{"min", "max"}), c)
}

// numeric says whether a measure's value is a number.
func (g *gen) numeric(t *tree, at int) bool {
	switch {
	case t.is(opMeasure):
		n := t.node
		if n == self {
			n = at
		}
		return g.numeric(g.of(n).measures[t.col].expr, n)
	case t.is(opAggregate):
		return t.name == "count" || t.name == "sum" || t.name == "avg" || g.kind(t.args[0], at) == number
	}
	return true
}

// kind is the kind of a column or of an arithmetic expression.
func (g *gen) kind(t *tree, at int) kind {
	if t.op != opColumn {
		return number
	}
	n := t.node
	if n == self {
		n = at
	}
	return g.of(n).columns[t.col].kind
}

var measureNames = []string{"total", "count", "amount", "n", "average", "ratio", "größter", "率", "max value", "margin", "order", "net"}

func (g *gen) measure(i int) {
	s := g.sources[i]
	var name string
	for name == "" || slices.ContainsFunc(s.measures, func(m measure) bool { return m.name == name }) {
		name = pick(g, measureNames)
	}
	sc := g.ownScope(i)
	m := measure{name: name}
	own := true
	if refs := g.references(i); len(refs) > 0 && g.chance(40) {
		m.expr = g.arithmetic(func() *tree {
			if g.chance(20) {
				return sc.aggregate(true)
			}
			r := pick(g, refs)
			own = own && g.within(r, i)
			return r
		})
	} else {
		m.expr = sc.aggregate(false)
		if c, ok := g.last(i); ok && g.chance(12) {
			m.semi = c
		}
	}
	if own && g.chance(20) {
		m.filter = sc.condition(1)
	}
	for k := range s.segments {
		if own && g.chance(10) {
			m.segments = append(m.segments, k)
		}
	}
	s.measures = append(s.measures, m)
}

// references are the numeric measures that a measure of a source may name.
func (g *gen) references(i int) []*tree {
	var list []*tree
	for n := range g.sources {
		for k, m := range g.sources[n].measures {
			if !g.numeric(m.expr, n) {
				continue
			}
			if n == i {
				list = append(list, meas(self, k), meas(self, k))
			} else {
				list = append(list, meas(n, k))
			}
		}
	}
	return list
}

// within says whether all that a measure is made of is aggregated over its own source.
func (g *gen) within(t *tree, i int) bool {
	if t.op == opMeasure {
		return t.node == self && g.within(g.sources[i].measures[t.col].expr, i)
	}
	return !slices.ContainsFunc(t.args, func(a *tree) bool { return a.op != opColumn && !g.within(a, i) })
}

// arithmetic draws an expression over operands of measure scope.
func (g *gen) arithmetic(operand func() *tree) *tree {
	a := operand()
	switch g.rng.IntN(12) {
	case 0, 1, 2:
		return mk(opDiv, a, operand())
	case 3, 4:
		return mk(opSub, a, operand())
	case 5:
		return mk(opAdd, a, operand())
	case 6:
		return mk(opSafeDivide, a, operand())
	case 7:
		return mk(opMul, a, lit(whole(int64(2+g.rng.IntN(3)))))
	case 8:
		return mk(opSub, mk(opCoalesce, a, lit(whole(1))), operand())
	case 9:
		return mk(opNeg, a)
	case 10:
		return mk(opCase, mk(opGt, a, lit(num(big.NewRat(213, 100)))), operand(), lit(whole(0)))
	}
	return mk(opDiv, mk(opSub, a, operand()), mk(opNullif, operand(), lit(whole(0))))
}

// last draws the specification of a semi-additive measure.
func (g *gen) last(i int) (*semi, bool) {
	s := g.sources[i]
	sm := &semi{over: -1, first: g.chance(40)}
	for _, k := range g.rng.Perm(len(s.columns)) {
		switch c := s.columns[k]; {
		case c.expr != nil:
		case c.kind == moment && sm.over < 0:
			sm.over = k
		case len(sm.per) < 2 && g.chance(25):
			sm.per = append(sm.per, k)
		}
	}
	slices.Sort(sm.per)
	return sm, sm.over >= 0
}
