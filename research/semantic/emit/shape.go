package emit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// statement writes the whole plan.
func (w *writer) statement() {
	p := w.plan
	if len(p.Dimensions)+len(p.Measures) == 0 {
		w.broken("it has no column")
		return
	}
	legs := make([]*plan.Leg, 0, len(p.Legs))
	for i := range p.Legs {
		// Without dimensions a spine adds nothing to the one row.
		if len(p.Dimensions) > 0 || len(p.Legs[i].Atoms) > 0 {
			legs = append(legs, &p.Legs[i])
		}
	}
	if len(legs) == 0 {
		w.broken("it has no leg")
		return
	}

	w.outer = true
	w.text("SELECT")
	if p.Limit >= 0 && w.dialect == SQLServer {
		w.text(" TOP (")
		w.number(p.Limit)
		w.text(")")
	}
	w.indent++
	first := true
	for i := range p.Dimensions {
		w.item(&first)
		w.column("q", "d", i)
		w.text(" AS ")
		w.resultName(i, p.Dimensions[i].Name)
	}
	for i := range p.Measures {
		w.item(&first)
		w.value(p.Measures[i].Expr, true)
		w.text(" AS ")
		w.resultName(len(p.Dimensions)+i, p.Measures[i].Name)
	}
	w.indent--
	w.line()
	w.text("FROM (")
	w.indent++
	w.line()
	w.outer = false
	if len(legs) == 1 {
		w.leg(legs[0], false)
	} else {
		w.union(legs)
	}
	w.outer = true
	w.indent--
	w.line()
	w.text(") AS q")
	w.conditions(p.Having)
	w.order()
	if p.Limit >= 0 && w.dialect != SQLServer {
		w.line()
		w.text("LIMIT ")
		w.number(p.Limit)
	}
}

// conditions writes the conditions of a WHERE, each on a line.
func (w *writer) conditions(list []*expr.Expr) {
	for i, e := range list {
		if i == 0 {
			w.line()
			w.text("WHERE ")
		} else {
			w.indent++
			w.line()
			w.indent--
			w.text("AND ")
		}
		w.predicate(e, len(list) == 1)
	}
}

// order writes the keys of the order, each once. Constants order nothing, and a number
// would be taken for the position of a column.
func (w *writer) order() {
	p := w.plan
	first := true
	begin := func() {
		if first {
			w.line()
			w.text("ORDER BY ")
		} else {
			w.text(", ")
		}
		first = false
	}
	for i, k := range p.Order {
		seen := false
		for _, before := range p.Order[:i] {
			seen = seen || before.Dimension == k.Dimension && before.Measure == k.Measure
		}
		var write func(top bool)
		switch {
		case seen:
			continue
		case k.Dimension >= 0 && k.Dimension < len(p.Dimensions):
			write = func(bool) { w.column("q", "d", k.Dimension) }
		case k.Measure >= 0 && k.Measure < len(p.Measures):
			e := p.Measures[k.Measure].Expr
			if !hasAtom(e) {
				continue
			}
			write = func(top bool) { w.value(e, top) }
		default:
			w.broken("an order key names no column")
			return
		}
		begin()
		direction := ""
		if k.Desc {
			direction = " DESC"
		}
		switch w.dialect {
		case Postgres, SQLite, ClickHouse, DuckDB, BigQuery:
			write(false)
			w.text(direction, " NULLS LAST")
		case MySQL:
			write(false)
			w.text(" IS NULL, ")
			write(false)
			w.text(direction)
		case SQLServer:
			w.text("CASE WHEN ")
			write(false)
			w.text(" IS NULL THEN 1 ELSE 0 END, ")
			write(false)
			w.text(direction)
		}
	}
}

func hasAtom(e *expr.Expr) bool {
	if e.Op == expr.OpAtom {
		return true
	}
	return slices.ContainsFunc(e.Args, hasAtom)
}

// union writes several legs as one. Each tuple occurs once in a leg, and one leg alone
// computes an aggregate: MAX picks its value.
func (w *writer) union(legs []*plan.Leg) {
	p := w.plan
	w.text("SELECT")
	w.indent++
	first := true
	for i := range p.Dimensions {
		w.item(&first)
		w.column("u", "d", i)
	}
	for i := range p.Atoms {
		w.item(&first)
		w.text("MAX(")
		w.column("u", "a", i)
		w.text(") AS a")
		w.number(i)
	}
	w.indent--
	w.line()
	w.text("FROM (")
	w.indent++
	for i, l := range legs {
		if i > 0 {
			w.line()
			w.text("UNION ALL")
		}
		w.line()
		w.leg(l, true)
	}
	w.indent--
	w.line()
	w.text(") AS u")
	for i := range p.Dimensions {
		if i == 0 {
			w.line()
			w.text("GROUP BY ")
		} else {
			w.text(", ")
		}
		w.column("u", "d", i)
	}
}

// enterLeg makes the nodes of a leg known.
func (w *writer) enterLeg(l *plan.Leg) {
	clear(w.aliases)
	n := 0
	add := func(node int) {
		if node < 0 || node >= len(w.aliases) || w.aliases[node] != 0 {
			w.broken("node %d stands in a leg twice or does not exist", node)
			return
		}
		n++
		w.aliases[node] = n
	}
	add(l.Base)
	w.self = l.Base
	w.partner = slices.Grow(w.partner[:0], len(w.aliases))[:len(w.aliases)]
	for i := range w.partner {
		w.partner[i] = expr.Field{Node: -1}
	}
	for _, j := range l.Joins {
		if j.Edge < 0 || j.Edge >= len(w.plan.Model.Edges) {
			w.broken("edge %d does not exist", j.Edge)
			return
		}
		e := &w.plan.Model.Edges[j.Edge]
		add(e.To)
		if w.err == nil && len(e.Pairs) > 0 {
			w.partner[e.To] = expr.Field{Node: e.To, Column: e.Pairs[0].To}
		}
	}
}

// leg writes a leg. With all, it has a column for each aggregate of the plan, which is
// NULL if another leg computes it.
func (w *writer) leg(l *plan.Leg, all bool) {
	if w.dialect == ClickHouse { // its joins name the columns that the leg reads, so it is written twice
		begin := len(w.b)
		w.read = map[expr.Field]bool{}
		w.legOnce(l, all)
		w.b = w.b[:begin]
	}
	w.legOnce(l, all)
}

func (w *writer) legOnce(l *plan.Leg, all bool) {
	w.enterLeg(l)
	if !w.ok() {
		return
	}
	if l.Semi != nil {
		w.semiLeg(l, all)
		return
	}
	if edge, ok := w.keysFirst(l); ok {
		w.keyedLeg(l, edge, all)
		return
	}
	applied := w.dialect == SQLServer && w.needsApply()
	w.text("SELECT")
	w.indent++
	first := true
	w.dimensions(applied, &first)
	w.atoms(l, all, &first, w.plainAtom)
	w.indent--
	w.from(l)
	if applied {
		w.apply()
	}
	w.conditions(l.Where)
	w.groupBy(applied)
}

// dimensions writes the columns of the dimensions of a leg.
func (w *writer) dimensions(applied bool, first *bool) {
	for i := range w.plan.Dimensions {
		w.item(first)
		d := &w.plan.Dimensions[i]
		if applied && !plain(w.plan.Model, d) {
			w.column("g", "d", i)
			continue
		}
		w.dimension(d)
		w.text(" AS d")
		w.number(i)
	}
}

// plainAtom writes an aggregate over the rows of a leg.
func (w *writer) plainAtom(i int) {
	a := &w.plan.Atoms[i]
	w.aggregate(a, func() { w.predicate(a.Filter, true) }, a.Filter != nil, func() { w.argument(a) })
}

// atoms writes the columns of the aggregates of a leg.
func (w *writer) atoms(l *plan.Leg, all bool, first *bool, write func(i int)) {
	own := make([]bool, len(w.plan.Atoms))
	for _, i := range l.Atoms {
		if i < 0 || i >= len(own) || own[i] {
			w.broken("the aggregate %d stands in a leg twice or does not exist", i)
			return
		}
		own[i] = true
	}
	for i := range w.plan.Atoms {
		if !own[i] && !all {
			continue
		}
		w.item(first)
		if own[i] {
			write(i)
		} else {
			w.absent(i, l)
		}
		w.text(" AS a")
		w.number(i)
	}
}

func (w *writer) dimension(d *plan.Dimension) {
	if d.Grain != plan.NoGrain {
		w.truncated(d.Expr, d.Grain)
		return
	}
	w.value(d.Expr, true)
}

// plain reports whether a dimension is a column of a table.
func plain(m *model.Model, d *plan.Dimension) bool {
	if d.Grain != plan.NoGrain || d.Expr.Op != expr.OpField {
		return false
	}
	f := d.Expr.Field
	if f.Node < 0 || f.Node >= len(m.Nodes) {
		return false
	}
	columns := m.Sources[m.Nodes[f.Node].Source].Columns
	return f.Column >= 0 && f.Column < len(columns) && columns[f.Column].Expr == nil
}

func (w *writer) needsApply() bool {
	for i := range w.plan.Dimensions {
		if !plain(w.plan.Model, &w.plan.Dimensions[i]) {
			return true
		}
	}
	return false
}

// apply gives names to computed dimensions on SQL Server, which groups neither by
// position nor by a constant.
func (w *writer) apply() {
	w.line()
	w.text("CROSS APPLY (SELECT ")
	first := true
	for i := range w.plan.Dimensions {
		d := &w.plan.Dimensions[i]
		if plain(w.plan.Model, d) {
			continue
		}
		if !first {
			w.text(", ")
		}
		first = false
		w.dimension(d)
		w.text(" AS d")
		w.number(i)
	}
	w.text(") AS g")
}

func (w *writer) groupBy(applied bool) {
	for i := range w.plan.Dimensions {
		if i == 0 {
			w.line()
			w.text("GROUP BY ")
		} else {
			w.text(", ")
		}
		d := &w.plan.Dimensions[i]
		switch {
		case w.dialect != SQLServer:
			w.number(i + 1)
		case applied && !plain(w.plan.Model, d):
			w.column("g", "d", i)
		default:
			w.dimension(d)
		}
	}
}

// from writes the base of a leg and its joins.
func (w *writer) from(l *plan.Leg) {
	w.line()
	w.text("FROM ")
	w.source(l.Base)
	for _, j := range l.Joins {
		w.join(j.Edge, false)
	}
}

// join writes a LEFT JOIN. With keyed, its keys are those of k.
func (w *writer) join(edge int, keyed bool) {
	e := &w.plan.Model.Edges[edge]
	w.line()
	w.text("LEFT JOIN ")
	if w.dialect == ClickHouse {
		w.nullable(e.To)
	} else {
		w.source(e.To)
	}
	w.text(" ON ")
	if len(e.Pairs) == 0 || w.aliases[e.From] == 0 {
		w.broken("the join of %s has no condition", w.plan.Model.Nodes[e.To].Name)
		return
	}
	for i, pair := range e.Pairs {
		if i > 0 {
			w.text(" AND ")
		}
		if keyed {
			w.column("k", "k", i)
		} else {
			w.field(expr.Field{Node: e.From, Column: pair.From}, false)
		}
		w.text(" = ")
		w.field(expr.Field{Node: e.To, Column: pair.To}, false)
	}
}

// source writes the table or the query of a node, with its alias.
func (w *writer) source(node int) {
	w.rowsOf(w.plan.Model.Sources[w.plan.Model.Nodes[node].Source])
	w.text(" AS t")
	w.number(w.aliases[node] - 1)
}

// rowsOf writes the table or the query of a source.
func (w *writer) rowsOf(s *model.Source) {
	if s.SQL != "" {
		w.body(s)
	} else {
		w.table(s)
	}
}

func (w *writer) table(s *model.Source) {
	most := 3
	switch w.dialect {
	case MySQL, SQLite, ClickHouse:
		most = 2
	case Postgres, SQLServer, DuckDB, BigQuery:
	}
	if len(s.Table) == 0 || len(s.Table) > most {
		w.fail(expr.UnsupportedInDialect, "write the table of the source as schema.table", "the table of the source %s has %d parts; %s takes 1 to %d", s.Name, len(s.Table), products[w.dialect], most)
		return
	}
	for i, part := range s.Table {
		if i > 0 {
			w.text(".")
		}
		name := part.Name
		if !part.Quoted && w.dialect == Postgres {
			name = lowerASCII(name)
		}
		if w.dialect == DuckDB && strings.ContainsAny(name, fileMarks) {
			w.fail(expr.UnsupportedInDialect, "make a view with another name, or rename the table", "DuckDB would read a file for a table whose name has one of %s: %q", fileMarks, name)
			return
		}
		w.databaseName(name)
	}
}

// fileMarks are the characters with which DuckDB takes the name of a table for that of a
// file, so that the guard refuses the name.
const fileMarks = `./\:*?[`

// lowerASCII folds a plain identifier as PostgreSQL does.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// withFirst finds a WITH at the begin of a query, after spaces, comments, and semicolons.
var withFirst = regexp.MustCompile(`(?is)^(?:[\s;]|--[^\n]*\n|/\*.*?\*/)*WITH\b`)

// body writes the query of a source as it stands in its file. A comment on its last line
// must not swallow the bracket.
func (w *writer) body(s *model.Source) {
	if w.dialect == SQLServer && withFirst.MatchString(s.SQL) {
		w.fail(expr.UnsupportedInDialect, "write each part of the WITH as a sub-select in FROM, or make a view", "the sql of the source %s begins with WITH, which SQL Server does not take inside a query", s.Name)
		return
	}
	w.text("(\n", strings.TrimRight(s.SQL, " \t\r\n;"))
	w.line()
	w.text(")")
}
