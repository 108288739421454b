package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// graph is what the methods about paths look up. All of it is computed when the model
// is loaded.
type graph struct {
	first  []int      // by node: index in Model.Edges of its first edge; one entry more than nodes
	into   [][]int    // by node: the edges that lead to it
	reach  [][]uint64 // by node: bits of the nodes that it reaches, itself included
	unsafe [][]unsafeStep
}

// unsafeStep leads over a join in a direction that may repeat rows. It is never part of
// a path; it serves messages.
type unsafeStep struct {
	to     int
	join   *Join
	source int    // that declares the join
	why    string // what may go wrong
}

// Reaches reports whether safe joins lead from one node to another. A node reaches
// itself. It does not say that there is one path only; see [Model.Path].
func (m *Model) Reaches(from, to int) bool {
	return m.graph.reach[from][to/64]&(1<<(to%64)) != 0
}

// Path returns the edges of the unique shortest path of safe joins between two nodes
// (R14), and whether there is a longer path too. There are three refusals: two shortest
// paths are ambiguous_join_path; joins that may repeat rows of from are fan_out; no
// joins at all are disconnected.
func (m *Model) Path(from, to int) (edges []int, longer bool, err *expr.Error) {
	edges, err = m.path(from, to)
	if err != nil {
		return nil, false, err
	}
	for _, e := range edges {
		if m.reachesWithout(from, to, e) {
			return edges, true, nil
		}
	}
	return edges, false, nil
}

// path is Path without the search for longer ones.
func (m *Model) path(from, to int) ([]int, *expr.Error) {
	if from == to {
		return nil, nil
	}
	if !m.Reaches(from, to) {
		return nil, m.unreachable(from, to)
	}
	const far = -1
	distance := make([]int, len(m.Nodes))
	for i := range distance {
		distance[i] = far
	}
	distance[from] = 0
	queue := []int{from}
	for len(queue) > 0 && distance[to] == far {
		n := queue[0]
		queue = queue[1:]
		for e := m.graph.first[n]; e < m.graph.first[n+1]; e++ {
			if next := m.Edges[e].To; distance[next] == far && m.Reaches(next, to) {
				distance[next] = distance[n] + 1
				queue = append(queue, next)
			}
		}
	}
	// Backwards from the target: every edge that comes from one step nearer belongs to a
	// shortest path.
	var found [][]int
	step := make([]int, distance[to])
	var back func(n int)
	back = func(n int) {
		if n == from {
			found = append(found, slices.Clone(step))
			return
		}
		for _, e := range m.graph.into[n] {
			if d := distance[m.Edges[e].From]; d != far && d == distance[n]-1 && len(found) < 2 {
				step[d] = e
				back(m.Edges[e].From)
			}
		}
	}
	back(to)
	if len(found) > 1 {
		a, b := m.describe(from, found[0]), m.describe(from, found[1])
		if a > b {
			a, b = b, a
		}
		return nil, &expr.Error{
			Class: expr.AmbiguousJoinPath, Pos: -1,
			Message: fmt.Sprintf("two paths of the same length lead from %s to %s: %s, and %s", m.Nodes[from].Name, m.Nodes[to].Name, a, b),
			Hint:    "give one of the joins an alias in the model and name the alias, or disable one of the joins",
		}
	}
	return found[0], nil
}

// reachesWithout reports whether a path leads from one node to another that does not
// use an edge.
func (m *Model) reachesWithout(from, to, edge int) bool {
	seen := make([]bool, len(m.Nodes))
	seen[from] = true
	queue := []int{from}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for e := m.graph.first[n]; e < m.graph.first[n+1]; e++ {
			next := m.Edges[e].To
			if e == edge || seen[next] || !m.Reaches(next, to) {
				continue
			}
			if next == to {
				return true
			}
			seen[next] = true
			queue = append(queue, next)
		}
	}
	return false
}

// describe writes a path for a message.
func (m *Model) describe(from int, edges []int) string {
	var b strings.Builder
	b.WriteString(m.Nodes[from].Name)
	for _, e := range edges {
		edge := m.Edges[e]
		fmt.Fprintf(&b, " → %s (on %s)", m.Nodes[edge.To].Name, shorten(m.Sources[edge.Source].Joins[edge.Join].On))
	}
	return b.String()
}

// unreachable says why no safe path leads from one node to another.
func (m *Model) unreachable(from, to int) *expr.Error {
	a, b := m.Nodes[from].Name, m.Nodes[to].Name
	at, step, ok := m.offending(from, to)
	if !ok {
		return &expr.Error{
			Class: expr.Disconnected, Pos: -1,
			Message: fmt.Sprintf("no joins lead from %s to %s", a, b),
			Hint:    m.aliasHint(from, to, fmt.Sprintf("add a join between them to the model, or ask for %s in a request of its own", b)),
		}
	}
	hint := m.legal(from)
	if m.Reaches(to, from) {
		hint = fmt.Sprintf("aggregate columns of %s instead, from which %s can be reached; %s", b, a, hint)
	}
	return &expr.Error{
		Class: expr.FanOut, Pos: -1,
		Message: fmt.Sprintf("%s cannot be combined with rows of %s: the step from %s to %s (on %s) is not safe, because %s",
			b, a, m.Nodes[at].Name, m.Nodes[step.to].Name, shorten(step.join.On), step.why),
		Hint: m.aliasHint(from, to, hint),
	}
}

// offending finds a connection over as few unsafe steps as possible and returns its
// first unsafe step, with the node that it leaves.
func (m *Model) offending(from, to int) (int, unsafeStep, bool) {
	type origin struct {
		node int
		step unsafeStep
	}
	first := map[int]origin{} // by node: the first unsafe step on the way to it
	seen := make([]bool, len(m.Nodes))
	seen[from] = true
	level := []int{from}
	for len(level) > 0 {
		for i := 0; i < len(level); i++ { // grows: safe steps stay on the level
			n := level[i]
			for e := m.graph.first[n]; e < m.graph.first[n+1]; e++ {
				if next := m.Edges[e].To; !seen[next] {
					seen[next] = true
					if o, ok := first[n]; ok {
						first[next] = o
					}
					level = append(level, next)
				}
			}
		}
		var next []int
		for _, n := range level {
			for _, s := range m.graph.unsafe[n] {
				if seen[s.to] {
					continue
				}
				seen[s.to] = true
				o, ok := first[n]
				if !ok {
					o = origin{n, s}
				}
				first[s.to] = o
				next = append(next, s.to)
			}
		}
		level = next
	}
	o, ok := first[to]
	return o.node, o.step, ok
}

// legal names nodes whose columns may stand beside aggregates of a node.
func (m *Model) legal(from int) string {
	const most = 8
	var names []string
	left := 0
	for n := range m.Nodes {
		switch {
		case n == from || !m.Reaches(from, n):
		case len(names) < most:
			names = append(names, m.Nodes[n].Name)
		default:
			left++
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("from %s only its own columns can be reached", m.Nodes[from].Name)
	}
	text := strings.Join(names, ", ")
	if left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return fmt.Sprintf("from %s these can be reached: %s", m.Nodes[from].Name, text)
}

// aliasHint names the aliases of a source that is asked for by its own name, though
// only its aliases can be reached.
func (m *Model) aliasHint(from, to int, otherwise string) string {
	if m.Nodes[to].Alias {
		return otherwise
	}
	var names []string
	for n := len(m.Sources); n < len(m.Nodes); n++ {
		if m.Nodes[n].Source == m.Nodes[to].Source && m.Reaches(from, n) {
			names = append(names, m.Nodes[n].Name)
		}
	}
	if len(names) == 0 {
		return otherwise
	}
	return fmt.Sprintf("%s is joined under another name; write %s instead of %s", m.Nodes[to].Name, strings.Join(names, " or "), m.Nodes[to].Name)
}

// connect makes the edges of the valid joins and everything that is computed from them.
// Nodes must be there.
func (l *loader) connect() {
	m := l.m
	type unsafeEdge struct {
		from int
		unsafeStep
	}
	var notSafe []unsafeEdge
	add := func(e Edge) { m.Edges = append(m.Edges, e) }
	for s, source := range m.Sources {
		for j, join := range source.Joins {
			if join.Disabled || join.Target < 0 || join.Node < 0 {
				continue
			}
			there := Edge{From: s, To: join.Node, Pairs: join.Pairs, Kind: join.Kind, Source: s, Join: j}
			back := Edge{From: join.Node, To: s, Pairs: turn(join.Pairs), Kind: join.Kind, Source: s, Join: j, Reverse: true}
			switch {
			case join.unsafe != "":
				notSafe = append(notSafe,
					unsafeEdge{s, unsafeStep{join.Node, join, s, join.unsafe}},
					unsafeEdge{join.Node, unsafeStep{s, join, s, join.unsafe}})
			case join.Kind == ManyToOne:
				add(there)
			case join.Kind == OneToMany:
				back.Kind = ManyToOne
				add(back)
			case join.Kind == OneToOne:
				add(there)
				add(back)
			}
		}
	}
	// An alias has the edges that leave its source.
	leaving := map[int][]Edge{}
	for _, e := range m.Edges {
		leaving[e.From] = append(leaving[e.From], e)
	}
	for n := len(m.Sources); n < len(m.Nodes); n++ {
		from := leaving[m.Nodes[n].Source]
		if len(m.Edges)+len(from) > maxEdges {
			s := m.Sources[m.Nodes[n].Source]
			l.report(s, l.origins[m.Nodes[n].Source].self, expr.InvalidJoin, "use fewer aliases", "the joins and aliases of the model make more than %d connections", maxEdges)
			continue
		}
		for _, e := range from {
			if e.To != n {
				e.From = n
				add(e)
			}
		}
	}
	m.sortEdges()

	g := &m.graph
	g.first = make([]int, len(m.Nodes)+1)
	g.into = make([][]int, len(m.Nodes))
	g.unsafe = make([][]unsafeStep, len(m.Nodes))
	for i, e := range m.Edges {
		g.first[e.From+1] = i + 1
		g.into[e.To] = append(g.into[e.To], i)
	}
	for n := range m.Nodes {
		g.first[n+1] = max(g.first[n+1], g.first[n])
	}
	m.computeReach()
	for i := range m.Edges {
		e := &m.Edges[i]
		if e.Kind == OneToOne {
			continue // the other direction is an edge too
		}
		g.unsafe[e.To] = append(g.unsafe[e.To], unsafeStep{
			e.From, m.Sources[e.Source].Joins[e.Join], e.Source,
			fmt.Sprintf("one row of %s may have many rows of %s", m.Nodes[e.To].Name, m.Nodes[e.From].Name),
		})
	}
	for _, u := range notSafe {
		g.unsafe[u.from] = append(g.unsafe[u.from], u.unsafeStep)
	}
}

// sortEdges sorts the edges and keeps one of those that say the same.
func (m *Model) sortEdges() {
	text := func(e Edge) string { return m.Sources[e.Source].Joins[e.Join].On }
	slices.SortStableFunc(m.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), strings.Compare(text(a), text(b)),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Join, b.Join))
	})
	var kept []Edge
	for _, e := range m.Edges {
		same := false
		for i := len(kept) - 1; i >= 0 && kept[i].From == e.From && kept[i].To == e.To; i-- {
			if samePairs(kept[i].Pairs, e.Pairs) {
				kept[i].Kind = max(kept[i].Kind, e.Kind) // one_to_one says more
				same = true
				break
			}
		}
		if !same {
			kept = append(kept, e)
		}
	}
	m.Edges = kept
}

// computeReach fills the bits of the nodes that each node reaches.
func (m *Model) computeReach() {
	words := (len(m.Nodes) + 63) / 64
	m.graph.reach = make([][]uint64, len(m.Nodes))
	all := make([]uint64, words*len(m.Nodes))
	stack := make([]int, 0, len(m.Nodes))
	for n := range m.Nodes {
		bits := all[n*words : (n+1)*words]
		bits[n/64] |= 1 << (n % 64)
		stack = append(stack[:0], n)
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for e := m.graph.first[at]; e < m.graph.first[at+1]; e++ {
				if to := m.Edges[e].To; bits[to/64]&(1<<(to%64)) == 0 {
					bits[to/64] |= 1 << (to % 64)
					stack = append(stack, to)
				}
			}
		}
		m.graph.reach[n] = bits
	}
}

func turn(pairs []Pair) []Pair {
	out := make([]Pair, len(pairs))
	for i, p := range pairs {
		out[i] = Pair{p.To, p.From}
	}
	return out
}

// samePairs reports whether two lists hold the same pairs, in any order.
func samePairs(a, b []Pair) bool {
	if len(a) != len(b) {
		return false
	}
	for _, p := range a {
		if !slices.Contains(b, p) {
			return false
		}
	}
	return true
}

// shorten cuts a text for a message.
func shorten(s string) string { return shortenTo(s, 120) }

func shortenTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
