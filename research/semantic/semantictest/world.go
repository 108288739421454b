package semantictest

import "slices"

// world is a model with its rows.
type world struct {
	sources []*source
	nodes   []node
	edges   []edge
	ways    [][]way // by node from, then node to
	near    bool    // a comparison was met on whose outcome engines may disagree
}

type source struct {
	name       string
	table      string // of the database
	plainTable bool   // the file names the table without quotes
	scanned    bool   // the table stands in the manifest, and the rest in an overlay
	sql        bool   // the file has a query and no table
	columns    []column
	grain      []int
	joins      []join
	measures   []measure
	segments   []segment
	rows       [][]value // of the columns of the table; computed ones are null here
}

type column struct {
	name     string
	kind     kind
	whole    bool  // a number of the table's type integer
	date     bool  // a moment of the table's type date
	expr     *tree // computed, with self as its source's row
	hidden   bool
	internal bool
}

type join struct {
	to       int
	alias    string
	own      []int // columns here
	other    []int // columns there
	relation string
}

type measure struct {
	name     string
	expr     *tree
	filter   *tree
	segments []int
	semi     *semi
}

type semi struct {
	over  int
	first bool
	per   []int
}

type segment struct {
	name string
	expr *tree
}

// node is a source or an alias of one.
type node struct {
	name   string
	source int
	alias  bool
}

// edge leads from a node to one where each row has at most one partner.
type edge struct {
	from, to int
	own      []int
	other    []int
}

// way is how one node reaches another: over the edges of steps if count is 1. It is 2 if
// there are more shortest ways than one.
type way struct {
	count int
	steps []int
}

// link makes the nodes, the edges and the ways from the sources and their joins.
func (w *world) link() {
	w.nodes, w.edges = nil, nil
	for i, s := range w.sources {
		w.nodes = append(w.nodes, node{name: s.name, source: i})
	}
	for _, s := range w.sources {
		for _, j := range s.joins {
			if j.alias != "" {
				w.nodes = append(w.nodes, node{name: j.alias, source: j.to, alias: true})
			}
		}
	}
	for i, s := range w.sources {
		for _, j := range s.joins {
			to := j.to
			if j.alias != "" {
				to = w.nodeNamed(j.alias)
			}
			if j.relation != "one_to_many" {
				w.edgesFrom(i, to, j.own, j.other)
			}
			if j.relation != "many_to_one" {
				w.edgesFrom(j.to, i, j.other, j.own)
			}
		}
	}
	w.ways = make([][]way, len(w.nodes))
	for n := range w.nodes {
		w.ways[n] = w.waysFrom(n)
	}
}

// edgesFrom gives every node of a source an edge.
func (w *world) edgesFrom(source, to int, own, other []int) {
	for n := range w.nodes {
		if w.nodes[n].source == source && n != to {
			w.edges = append(w.edges, edge{n, to, own, other})
		}
	}
}

func (w *world) nodeNamed(name string) int {
	return slices.IndexFunc(w.nodes, func(n node) bool { return n.name == name })
}

// waysFrom goes from a node step by step, and counts the ways to each node that are
// found at the first step that finds one.
func (w *world) waysFrom(from int) []way {
	found := make([]way, len(w.nodes))
	found[from] = way{count: 1}
	for {
		next := map[int]way{}
		for i, e := range w.edges {
			if found[e.from].count == 0 || found[e.to].count > 0 {
				continue
			}
			a := next[e.to]
			a.count += found[e.from].count
			a.steps = append(slices.Clone(found[e.from].steps), i)
			next[e.to] = a
		}
		if len(next) == 0 {
			return found
		}
		for n, a := range next {
			a.count = min(a.count, 2)
			found[n] = a
		}
	}
}

// connected says whether joins, in whatever direction, lead from one node to another.
// Without inherited, an alias has no joins but the one that makes it.
func (w *world) connected(a, b int, inherited bool) bool {
	seen := map[int]bool{a: true}
	for grown := true; grown; {
		grown = false
		for _, e := range w.edges {
			if seen[e.from] != seen[e.to] && (inherited || !w.nodes[e.from].alias) {
				seen[e.from], seen[e.to], grown = true, true, true
			}
		}
	}
	return seen[b]
}

func (w *world) of(n int) *source { return w.sources[w.nodes[n].source] }

// row finds the partner at node to of a row of node from; -1 is no row.
func (w *world) row(from, row, to int) int {
	for _, i := range w.ways[from][to].steps {
		if row < 0 {
			return -1
		}
		e := w.edges[i]
		left, right := w.of(e.from), w.of(e.to)
		partner := -1
		for r := range right.rows {
			same := true
			for k := range e.own {
				a, b := left.rows[row][e.own[k]], right.rows[r][e.other[k]]
				same = same && a.kind != null && b.kind != null && a.key() == b.key()
			}
			if same {
				if partner >= 0 {
					panic("semantictest: a row has two partners over a safe join")
				}
				partner = r
			}
		}
		row = partner
	}
	return row
}

// column is a value of a row of a node. Every column of no row is NULL, computed ones
// too (R4).
func (w *world) column(n, row, col int) value {
	s := w.of(n)
	e := s.columns[col].expr
	switch {
	case e != nil && row >= 0:
		return w.eval(e, n, row)
	case row < 0:
		return value{}
	}
	return s.rows[row][col]
}

// obstacles are the classes of a refusal if a node cannot be reached from another. Of
// nodes that are connected only by joins which an alias has from its source, either
// class may be said.
func (w *world) obstacles(from, to int) []string {
	switch {
	case w.ways[from][to].count == 1:
		return nil
	case w.ways[from][to].count > 1:
		return []string{"ambiguous_join_path"}
	case w.connected(from, to, false):
		return []string{"fan_out"}
	case w.connected(from, to, true):
		return []string{"disconnected", "fan_out"}
	}
	return []string{"disconnected"}
}

// detour says whether a tree, taken at node at and used from a base, holds a computed
// column that looks at a source which the base itself reaches in another way. The
// column means what its own source sees; a planner that knows one way to each node
// may refuse it as ambiguous.
func (w *world) detour(base, at int, e *tree) bool {
	if at == self {
		at = base
	}
	found := false
	e.walk(func(t *tree) {
		if t.op != opColumn {
			return
		}
		n := t.node
		if n == self {
			n = at
		}
		steps := append(slices.Clone(w.ways[base][at].steps), w.ways[at][n].steps...)
		if base != at && n != at && (w.ways[base][n].count != 1 || !slices.Equal(w.ways[base][n].steps, steps)) {
			found = true
		}
		if c := w.of(n).columns[t.col]; c.expr != nil && w.detour(base, n, c.expr) {
			found = true
		}
	})
	return found
}
