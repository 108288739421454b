package semantictest

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// asked is a request over the nodes of a world.
type asked struct {
	measures   []askedMeasure
	dimensions []askedDimension
	filters    [][]*tree // the conditions of each string, joined by AND
	segments   []askedSegment
	order      []askedOrder
	limit      int // -1: none
	noEmpty    bool
	faults     []string // classes of parts that are wrong as texts; one of them is enough
}

type askedMeasure struct {
	expr  *tree  // opMeasure, or ad hoc
	name  string // of the output, if the request gives one
	plain string // of the output of an ad-hoc measure without a name
}

type askedDimension struct {
	node, col int
	grain     string
}

type askedSegment struct{ source, segment int }

// askedOrder names an output by its place: dimensions, then measures, as the request
// has them.
type askedOrder struct {
	output int
	desc   bool
}

// atom is an aggregate over the rows of a base.
type atom struct {
	call    *tree // opAggregate
	base    int
	filters []*tree
	semi    *semi
}

// answer is what the rules make of a request: rows, or classes of refusals. A request
// may be wrong in several ways; a compiler may name any of them.
type answer struct {
	names   []string // of the outputs, also of a request that is refused
	headers []string
	rows    [][]value
	classes []string
	may     []string // classes with which the request may be refused although it has rows
	unsure  bool     // engines may disagree: the request is not a good case
}

// asking evaluates one request.
type asking struct {
	*world
	q       asked
	classes map[string]bool
	may     map[string]bool
	unsure  bool
	atoms   []*atom
	rowful  []*tree // row filters
	having  []*tree
	names   []string

	finestNodes []int // see members
}

func (w *world) answer(q asked) answer {
	w.near = false
	a := &asking{world: w, q: q, classes: map[string]bool{}, may: map[string]bool{}}
	headers, rows := a.evaluate()
	out := answer{names: a.names, headers: headers, rows: rows, classes: sorted(a.classes), may: sorted(a.may), unsure: a.unsure || w.near}
	if len(out.classes) > 0 {
		maps.Copy(a.classes, a.may)
		out.headers, out.rows, out.classes, out.may, out.unsure = nil, nil, sorted(a.classes), nil, false
	}
	return out
}

func sorted(set map[string]bool) []string {
	var list []string
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func (a *asking) refuse(class string) { a.classes[class] = true }

func (a *asking) evaluate() ([]string, [][]value) {
	for _, c := range a.q.faults {
		a.refuse(c)
	}
	dims := a.dimensions()
	if len(dims) == 0 && len(a.q.measures) == 0 {
		a.refuse("invalid_request")
		return nil, nil
	}
	var outputs []*tree
	for _, m := range a.q.measures {
		outputs = append(outputs, a.expand(m.expr, nil))
	}
	a.splitFilters()
	a.applySegments()
	bases := a.bases()
	a.reachable(bases, dims)
	a.names = a.headers(dims)
	if len(a.classes) > 0 {
		return nil, nil
	}
	t := a.tuples(bases, dims)
	rows := a.rows(t, len(dims), outputs)
	return a.names, a.sort(rows, dims)
}

// dimensions are those of the request, each once.
func (a *asking) dimensions() []askedDimension {
	var list []askedDimension
	for _, d := range a.q.dimensions {
		c := a.of(d.node).columns[d.col]
		switch {
		case c.hidden:
			a.refuse("hidden_field")
		case d.grain != "" && c.kind != moment:
			a.refuse("invalid_granularity")
		}
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// expand replaces measures by what they are made of, down to atoms. Filters are those of
// the measures above.
func (a *asking) expand(t *tree, filters []*tree) *tree {
	return a.expandAt(t, self, filters, nil)
}

// expandAt expands a tree that stands in a measure of a node, or in the request.
func (a *asking) expandAt(t *tree, at int, filters []*tree, s *semi) *tree {
	switch {
	case t.is(opMeasure):
		n := t.node
		if n == self {
			n = at
		}
		m := a.of(n).measures[t.col]
		below := slices.Clone(filters)
		if m.filter != nil {
			below = append(below, m.filter)
		}
		for _, i := range m.segments {
			below = append(below, a.of(n).segments[i].expr)
		}
		return a.expandAt(m.expr, n, below, m.semi)
	case t.is(opAggregate):
		base := at
		if base == self {
			base = a.base(t)
		}
		all := slices.Clone(filters)
		if t.filter != nil {
			all = append(all, t.filter)
		}
		x := &atom{call: t, base: base, filters: all, semi: s}
		a.atoms = append(a.atoms, x)
		return &tree{op: opAtom, atom: x}
	}
	c := *t
	c.args = nil
	for _, b := range t.args {
		c.args = append(c.args, a.expandAt(b, at, filters, s))
	}
	return &c
}

// base is the one node among those that an ad-hoc aggregate names from which all others
// are reached (R16).
func (a *asking) base(t *tree) int {
	nodes := t.nodes()
	a.hidden(t)
	var found []int
	for _, n := range nodes {
		if !slices.ContainsFunc(nodes, func(m int) bool { return a.ways[n][m].count == 0 }) {
			found = append(found, n)
		}
	}
	switch {
	case len(found) == 0:
		a.refuse("fan_out")
		a.refuse("disconnected")
	case len(found) > 1:
		a.refuse("ambiguous_join_path")
	}
	if len(found) != 1 {
		return nodes[0]
	}
	return found[0]
}

func (a *asking) hidden(t *tree) {
	t.walk(func(c *tree) {
		if c.op == opColumn && a.of(c.node).columns[c.col].hidden {
			a.refuse("hidden_field")
		}
	})
}

// splitFilters tells row filters from measure filters (R7).
func (a *asking) splitFilters() {
	for _, list := range a.q.filters {
		for _, t := range list {
			rows, groups := scopes(t)
			switch {
			case rows && groups:
				a.refuse("mixed_filter")
			case groups:
				a.having = append(a.having, a.expand(t, nil))
			default:
				a.hidden(t)
				a.rowful = append(a.rowful, t)
			}
		}
	}
}

// scopes says whether a condition names columns outside aggregates, and aggregates or
// measures.
func scopes(t *tree) (rows, groups bool) {
	switch {
	case t.is(opColumn):
		return true, false
	case t.is(opAggregate, opMeasure):
		return false, true
	}
	for _, b := range t.args {
		r, g := scopes(b)
		rows, groups = rows || r, groups || g
	}
	return rows, groups
}

// applySegments puts each segment of the request into the atoms of its source (R12).
func (a *asking) applySegments() {
	for _, s := range a.q.segments {
		found := false
		for _, x := range a.atoms {
			if a.nodes[x.base].source == s.source {
				x.filters, found = append(x.filters, a.sources[s.source].segments[s.segment].expr), true
			}
		}
		if !found {
			a.refuse("segment_not_applicable")
		}
	}
}

func (a *asking) bases() []int {
	var list []int
	for _, x := range a.atoms {
		if !slices.Contains(list, x.base) {
			list = append(list, x.base)
		}
	}
	return list
}

// need refuses what a base does not reach by one way (R2, R14), and notes computed
// columns that take a way of their own.
func (a *asking) need(base, at int, t *tree) {
	for _, n := range t.nodes() {
		if n == self {
			n = at
		}
		for _, c := range a.obstacles(base, n) {
			a.refuse(c)
		}
	}
	a.noteDetour(base, at, t)
}

func (a *asking) noteDetour(base, at int, t *tree) {
	if a.detour(base, at, t) {
		a.may["ambiguous_join_path"] = true
		a.may["disconnected"] = true
	}
}

func (a *asking) reachable(bases []int, dims []askedDimension) {
	for _, x := range a.atoms {
		for _, t := range append(slices.Clone(x.filters), x.call.args...) {
			a.need(x.base, x.base, t)
		}
	}
	for _, b := range bases {
		for _, d := range dims {
			a.need(b, self, col(d.node, d.col))
		}
	}
	for _, f := range a.rowful {
		reached := 0
		for _, b := range bases {
			if !slices.ContainsFunc(f.nodes(), func(n int) bool { return a.ways[b][n].count == 0 }) {
				reached++
				a.need(b, self, f)
			}
		}
		switch {
		case reached == len(bases):
		case reached > 0:
			a.refuse("filter_not_applicable")
		default:
			for _, b := range bases {
				a.need(b, self, f)
			}
		}
	}
	a.members(bases, dims)
}

// members finds the nodes whose rows give the tuples of the answer that no base has to
// have: those from which all dimensions are reached, if the filters are too (R5, R15).
func (a *asking) members(bases []int, dims []askedDimension) {
	if len(dims) == 0 || len(bases) > 0 && a.q.noEmpty {
		return
	}
	finest, ambiguous := a.finest(dims)
	switch {
	case len(bases) > 0:
		if ambiguous {
			a.may["ambiguous_join_path"], a.unsure = true, true // the rules leave open whether members are left out
		}
		for _, s := range finest {
			if a.filtersReached(s) {
				a.finestNodes = append(a.finestNodes, s)
			}
		}
	case len(finest) > 0:
		if a.finestNodes = finest; ambiguous {
			a.may["ambiguous_join_path"] = true
		}
		for _, s := range finest {
			for _, f := range a.rowful {
				a.need(s, self, f)
			}
		}
	case ambiguous:
		a.refuse("ambiguous_join_path")
	default:
		for _, d := range dims {
			for _, c := range a.obstacles(dims[0].node, d.node) {
				a.refuse(c)
			}
			for _, c := range a.obstacles(d.node, dims[0].node) {
				a.refuse(c)
			}
		}
	}
	for _, s := range a.finestNodes {
		for _, d := range dims {
			a.noteDetour(s, self, col(d.node, d.col))
		}
	}
}

// headers are the names of the answer's columns (R11).
func (a *asking) headers(dims []askedDimension) []string {
	var names, longer []string
	for _, d := range dims {
		leaf := a.of(d.node).columns[d.col].name
		if d.grain != "" {
			leaf += "_" + d.grain
		}
		names, longer = append(names, leaf), append(longer, a.nodes[d.node].name+"_"+leaf)
	}
	for _, m := range a.q.measures {
		switch {
		case m.name != "":
			names, longer = append(names, m.name), append(longer, m.name)
		case m.expr.op == opMeasure:
			leaf := a.of(m.expr.node).measures[m.expr.col].name
			names, longer = append(names, leaf), append(longer, a.nodes[m.expr.node].name+"_"+leaf)
		default:
			names, longer = append(names, m.plain), append(longer, m.plain)
		}
	}
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	final := slices.Clone(names)
	for i, n := range names {
		if count[n] > 1 {
			final[i] = longer[i]
		}
	}
	seen := map[string]bool{}
	for _, n := range final {
		if seen[n] {
			a.refuse("invalid_request")
		}
		seen[n] = true
	}
	return final
}

// tuple is a group of the answer with the rows of each base that fall into it.
type tuple struct {
	dims []value
	rows map[int][]int
}

// groups keeps tuples in the order in which they were found.
type groups struct {
	list  []*tuple
	index map[string]*tuple
}

func (g *groups) add(dims []value) *tuple {
	var key strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&key, "%d:%s", len(d.key()), d.key())
	}
	t := g.index[key.String()]
	if t == nil {
		t = &tuple{dims: dims, rows: map[int][]int{}}
		g.index[key.String()] = t
		g.list = append(g.list, t)
	}
	return t
}

// tuples are those that any base has, and what include_empty adds (R3, R5, R15).
func (a *asking) tuples(bases []int, dims []askedDimension) *groups {
	g := &groups{index: map[string]*tuple{}}
	for _, b := range bases {
		a.visit(b, dims, func(row int, d []value) {
			t := g.add(d)
			t.rows[b] = append(t.rows[b], row)
		})
	}
	if len(dims) == 0 {
		g.add(nil)
		return g
	}
	for _, n := range a.finestNodes {
		a.visit(n, dims, func(_ int, d []value) { g.add(d) })
	}
	return g
}

// visit calls f for each row of a base that the row filters let through, with its
// dimensions.
func (a *asking) visit(base int, dims []askedDimension, f func(row int, dims []value)) {
	for row := range a.of(base).rows {
		if slices.ContainsFunc(a.rowful, func(t *tree) bool { return !a.holds(t, base, row) }) {
			continue
		}
		var values []value
		for _, d := range dims {
			v := a.column(d.node, a.row(base, row, d.node), d.col)
			if d.grain != "" {
				v = trunc(v, d.grain)
			}
			values = append(values, v)
		}
		f(row, values)
	}
}

// finest are the nodes of dimensions that reach the nodes of all dimensions by one way
// each, and whether there is one that reaches them, but some by several.
func (a *asking) finest(dims []askedDimension) (list []int, ambiguous bool) {
	for _, s := range dims {
		most := 1
		for _, d := range dims {
			c := a.ways[s.node][d.node].count
			if c == 0 {
				most = 0
				break
			}
			most = max(most, c)
		}
		ambiguous = ambiguous || most == 2
		if most == 1 && !slices.Contains(list, s.node) {
			list = append(list, s.node)
		}
	}
	return list, ambiguous
}

func (a *asking) filtersReached(s int) bool {
	for _, f := range a.rowful {
		for _, n := range f.nodes() {
			switch a.ways[s][n].count {
			case 0:
				return false
			case 2:
				a.unsure = true
				return false
			}
		}
		a.noteDetour(s, self, f)
	}
	return true
}

// rows computes the outputs of each tuple and keeps those that the measure filters let
// through.
func (a *asking) rows(g *groups, dims int, outputs []*tree) [][]value {
	var list [][]value
	for _, t := range g.list {
		atoms := map[*atom]value{}
		for _, x := range a.atoms {
			atoms[x] = a.aggregate(x, t.rows[x.base])
		}
		if slices.ContainsFunc(a.having, func(f *tree) bool {
			v := a.combine(f, atoms)
			return v.kind != boolean || !v.b
		}) {
			continue
		}
		row := slices.Clone(t.dims)
		for _, o := range outputs {
			row = append(row, a.combine(o, atoms))
		}
		if len(row) != dims+len(outputs) {
			panic("semantictest: a row of another width")
		}
		list = append(list, row)
	}
	return list
}

// combine is the value of an output over atoms. An operand of arithmetic that is a sum
// or a count counts as 0 where it is absent (R10).
func (a *asking) combine(t *tree, atoms map[*atom]value) value {
	if t.op == opAtom {
		return atoms[t.atom]
	}
	args := make([]value, len(t.args))
	for i, b := range t.args {
		args[i] = a.combine(b, atoms)
		arithmetic := t.op >= opAdd && t.op <= opSafeDivide
		if arithmetic && args[i].kind == null && b.op == opAtom && (b.atom.call.name == "sum" || b.atom.call.name == "count") {
			args[i] = whole(0)
		}
	}
	return a.apply(t, args)
}

// aggregate is the value of an atom over some rows of its base.
func (a *asking) aggregate(x *atom, rows []int) value {
	var kept []int
	for _, r := range rows {
		if !slices.ContainsFunc(x.filters, func(f *tree) bool { return !a.holds(f, x.base, r) }) {
			kept = append(kept, r)
		}
	}
	if x.semi != nil {
		kept = a.last(x, kept)
	}
	if x.call.name == "count" && len(x.call.args) == 0 {
		return whole(int64(len(kept)))
	}
	var values []value
	seen := map[string]bool{}
	for _, r := range kept {
		v := a.eval(x.call.args[0], x.base, r)
		if v.kind == null || x.call.distinct && seen[v.key()] {
			continue
		}
		seen[v.key()] = true
		values = append(values, v)
	}
	switch x.call.name {
	case "median":
		return percentile(values, big.NewRat(1, 2))
	case "percentile":
		return percentile(values, x.call.args[1].value.n)
	}
	return fold(x.call.name, values)
}

// percentile is the value below which a part of the values lies, between two of them on the
// line from one to the other.
func percentile(values []value, part *big.Rat) value {
	if len(values) == 0 {
		return value{}
	}
	values = slices.SortedFunc(slices.Values(values), compare)
	place := new(big.Rat).Mul(part, big.NewRat(int64(len(values)-1), 1))
	below := new(big.Int).Quo(place.Num(), place.Denom())
	i := int(below.Int64())
	rest := place.Sub(place, new(big.Rat).SetInt(below))
	if rest.Sign() == 0 {
		return values[i]
	}
	step := new(big.Rat).Sub(values[i+1].n, values[i].n)
	return num(step.Add(step.Mul(step, rest), values[i].n))
}

func fold(name string, values []value) value {
	if name == "count" {
		return whole(int64(len(values)))
	}
	if len(values) == 0 {
		return value{}
	}
	switch name {
	case "sum", "avg":
		sum := new(big.Rat)
		for _, v := range values {
			sum.Add(sum, v.n)
		}
		if name == "avg" {
			sum.Quo(sum, big.NewRat(int64(len(values)), 1))
		}
		return num(sum)
	case "min":
		return slices.MinFunc(values, compare)
	case "max":
		return slices.MaxFunc(values, compare)
	}
	panic("semantictest: aggregate " + name)
}

// last keeps the rows with the last or first value of each key (R20).
func (a *asking) last(x *atom, rows []int) []int {
	key := func(r int) string {
		var b strings.Builder
		for _, c := range x.semi.per {
			k := a.column(x.base, r, c).key()
			fmt.Fprintf(&b, "%d:%s", len(k), k)
		}
		return b.String()
	}
	best := map[string]value{}
	for _, r := range rows {
		v := a.column(x.base, r, x.semi.over)
		if v.kind == null {
			continue
		}
		b, ok := best[key(r)]
		if c := compareOr(v, b, ok); !ok || c > 0 && !x.semi.first || c < 0 && x.semi.first {
			best[key(r)] = v
		}
	}
	var kept []int
	for _, r := range rows {
		v := a.column(x.base, r, x.semi.over)
		if b, ok := best[key(r)]; ok && v.kind != null && compare(v, b) == 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

func compareOr(a, b value, ok bool) int {
	if !ok {
		return 0
	}
	return compare(a, b)
}

// sort orders by the explicit keys, then by the dimensions, NULL last always (R8), and
// keeps the first rows.
func (a *asking) sort(rows [][]value, dims []askedDimension) [][]value {
	keys := slices.Clone(a.q.order)
	for i := range dims {
		keys = append(keys, askedOrder{output: i})
	}
	slices.SortStableFunc(rows, func(x, y []value) int {
		for _, k := range keys {
			v, w := x[k.output], y[k.output]
			switch {
			case v.kind == null && w.kind == null:
				continue
			case v.kind == null:
				return 1
			case w.kind == null:
				return -1
			}
			if near(v, w) {
				a.unsure = true
			}
			if c := compare(v, w); c != 0 {
				if k.desc {
					return -c
				}
				return c
			}
		}
		return 0
	})
	if a.q.limit >= 0 && len(rows) > a.q.limit {
		rows = rows[:a.q.limit]
	}
	return rows
}
