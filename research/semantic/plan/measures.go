package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// maxExpanded bounds how many measures one request may need, each counted as often as it
// is referred to.
const maxExpanded = 2000

// maxDepth bounds how many measures may refer to one another in a row.
const maxDepth = 100

// aggregate is what the planner knows of an atom beyond the plan's own facts.
type aggregate struct {
	fields []expr.Field // the columns that it names, in arguments, filters, and Semi
	leg    string       // equal for atoms that one leg computes
	label  string       // the first measure that needs it
}

// layer is what stands around an expression in measure scope.
type layer struct {
	node  int         // of the measure; Self for an expression of the request
	conds []condition // every atom below has them
	semi  *semi
	label string         // how the request writes the whole
	above []expr.Measure // the measures that lead here
}

// semi is R20 of a measure, placed.
type semi struct {
	node   int
	plan   *Semi
	fields []expr.Field
}

// resolveMeasures expands the measures of the request down to atoms.
func (b *builder) resolveMeasures() *expr.Error {
	for _, mr := range b.r.Measures {
		out, err := b.output(mr.Expr)
		if err != nil {
			return within(err, "the measure", mr.Expr)
		}
		b.plan.Measures = append(b.plan.Measures, out)
	}
	return nil
}

func (b *builder) output(text string) (Output, *expr.Error) {
	e, err := parseMeasure(text)
	if err != nil {
		return Output{}, err
	}
	var out Output
	top := &layer{node: expr.Self, label: strings.TrimSpace(text)}
	if out.Expr, err = b.lower(e, top); err != nil {
		return Output{}, err
	}
	if !hasAtom(out.Expr) {
		return Output{}, refuse(expr.NotAnAggregate, "write an aggregate of a column, as sum(source.column), or a measure", "there is no aggregate in it")
	}
	if out.Expr, out.Type, err = expr.Check(out.Expr, b.atomType); err != nil {
		return Output{}, err
	}
	expr.Walk(e, func(x *expr.Expr) bool {
		if x.Op == expr.OpAggregate {
			return false
		}
		if x.Op == expr.OpName {
			if m, err := b.m.Measure(x.Name); err == nil {
				out.From = addOnce(out.From, m)
			}
		}
		return true
	})
	return out, nil
}

// parseMeasure reads a measure of a request. A text that is a name as a whole is one, also
// if it is a word of the grammar.
func parseMeasure(text string) (*expr.Expr, *expr.Error) {
	if n, err := expr.ParseName(text); err == nil {
		return &expr.Expr{Op: expr.OpName, Name: n}, nil
	}
	return expr.Parse(text)
}

func hasAtom(e *expr.Expr) bool {
	found := false
	expr.Walk(e, func(x *expr.Expr) bool {
		found = found || x.Op == expr.OpAtom
		return !found
	})
	return found
}

func (b *builder) atomType(e *expr.Expr) expr.Type {
	if e.Op == expr.OpAtom {
		return b.plan.Atoms[e.Index].Type
	}
	return expr.Unknown
}

// lower turns an expression in measure scope into one over atoms. It writes R5, R6, and
// R10 into it: a count is 0 where there are no rows, a division by zero is NULL, and an
// absent sum is 0 in arithmetic.
func (b *builder) lower(e *expr.Expr, l *layer) (*expr.Expr, *expr.Error) {
	switch {
	case e.Op == expr.OpAggregate:
		i, err := b.atom(e, l)
		if err != nil {
			return nil, err
		}
		ref := &expr.Expr{Op: expr.OpAtom, Index: i, Pos: e.Pos}
		if b.plan.Atoms[i].Func == "count" {
			return orZero(ref), nil
		}
		return ref, nil
	case e.Op == expr.OpMeasure:
		m := e.Measure
		if m.Node == expr.Self {
			m.Node = l.node
		}
		return b.measure(m, l)
	case e.Op == expr.OpName:
		m, err := b.measureNamed(e)
		if err != nil {
			return nil, err
		}
		return b.measure(m, l)
	case e.Op == expr.OpField:
		return nil, refuse(expr.NotAnAggregate, "put the column into an aggregate, as sum(…)", "a column stands outside an aggregate")
	case len(e.Args) == 0:
		return e, nil
	}
	args := make([]*expr.Expr, len(e.Args))
	for i, a := range e.Args {
		var err *expr.Error
		if args[i], err = b.lower(a, l); err != nil {
			return nil, err
		}
		if arithmetic(e) {
			args[i] = b.absentIsZero(args[i])
		}
	}
	out := *e
	out.Args = args
	if e.Op == expr.OpDiv {
		return &expr.Expr{Op: expr.OpCall, Func: "safe_divide", Args: args, Pos: e.Pos}, nil
	}
	if e.Op == expr.OpMod {
		zero := &expr.Expr{Op: expr.OpNumber, Text: "0"}
		out.Args[1] = &expr.Expr{Op: expr.OpCall, Func: "nullif", Args: []*expr.Expr{args[1], zero}}
	}
	return &out, nil
}

func arithmetic(e *expr.Expr) bool {
	operators := []expr.Op{expr.OpNeg, expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpDiv, expr.OpMod}
	return slices.Contains(operators, e.Op) || e.Op == expr.OpCall && e.Func == "safe_divide"
}

// absentIsZero is R10 of one operand. Counts have their zero already.
func (b *builder) absentIsZero(e *expr.Expr) *expr.Expr {
	if e.Op == expr.OpAtom && b.plan.Atoms[e.Index].Func == "sum" {
		return orZero(e)
	}
	return e
}

func orZero(e *expr.Expr) *expr.Expr {
	zero := &expr.Expr{Op: expr.OpNumber, Text: "0"}
	return &expr.Expr{Op: expr.OpCall, Func: "coalesce", Args: []*expr.Expr{e, zero}, Pos: e.Pos}
}

// measureNamed looks up a measure that the request names outside an aggregate.
func (b *builder) measureNamed(e *expr.Expr) (expr.Measure, *expr.Error) {
	m, err := b.m.Measure(e.Name)
	if err == nil {
		return m, nil
	}
	if err.Class == expr.UnknownMeasure {
		f, cerr := b.m.Column(e.Name)
		switch {
		case cerr == nil:
			err = refuse(expr.NotAnAggregate, err.Hint, "%s is a column, not a measure", fieldName(b.m, f))
		case cerr.Class == expr.HiddenField:
			err = cerr
		}
	}
	err = b.lookupFailed(e.Name, err)
	err.Pos = e.Pos
	return m, err
}

// measure expands a measure of the model. What it filters by holds for every atom below.
func (b *builder) measure(m expr.Measure, l *layer) (*expr.Expr, *expr.Error) {
	if err := b.usable(m.Node); err != nil {
		return nil, err
	}
	name := measureName(b.m, m)
	source := b.m.Sources[b.m.Nodes[m.Node].Source]
	ms := source.Measures[m.Index]
	if ms.Expr == nil {
		return nil, refuse(expr.InvalidMeasure, "ktx sl validate shows what is wrong", "the measure %s is invalid", name)
	}
	if slices.Contains(l.above, m) || len(l.above) > maxDepth {
		return nil, refuse(expr.CircularMeasure, "let no measure depend on itself", "the measure %s depends on itself", name)
	}
	if b.spent++; b.spent > maxExpanded {
		return nil, refuse(expr.InvalidRequest, "ask for fewer measures, or simpler ones", "the measures expand to more than %d", maxExpanded)
	}
	inner := &layer{node: m.Node, semi: l.semi, label: l.label, above: append(slices.Clone(l.above), m)}
	conds, err := b.conditions(ms.Filter, m.Node)
	if err != nil {
		return nil, err
	}
	for _, i := range ms.Segments {
		more, err := b.conditions(source.Segments[i].Expr, m.Node)
		if err != nil {
			return nil, err
		}
		conds = append(conds, more...)
	}
	inner.conds = slices.Concat(conds, l.conds)
	if ms.SemiAdditive != nil {
		if l.semi != nil {
			return nil, refuse(expr.InvalidMeasure, "let one measure of the chain have semi_additive", "the measure %s is semi-additive and so is a measure over it", name)
		}
		inner.semi = b.semiAdditive(ms.SemiAdditive, m.Node)
	}
	return b.lower(ms.Expr, inner)
}

func (b *builder) semiAdditive(sa *model.SemiAdditive, node int) *semi {
	s := &semi{node: node, plan: &Semi{First: sa.First}}
	over := expr.Field{Node: node, Column: sa.Over}
	s.plan.Over = b.m.Expand(over)
	s.fields = append(s.fields, over)
	for _, c := range sa.Per {
		f := expr.Field{Node: node, Column: c}
		s.plan.Per = append(s.plan.Per, b.m.Expand(f))
		s.fields = append(s.fields, f)
	}
	return s
}

// atom adds an aggregate to the plan, or finds the equal one that is there.
func (b *builder) atom(e *expr.Expr, l *layer) (int, *expr.Error) {
	bound := *e
	bound.Args = slices.Clone(e.Args)
	if l.node == expr.Self {
		var err *expr.Error
		for i, a := range e.Args {
			if bound.Args[i], err = b.bindRow(a); err != nil {
				return 0, err
			}
		}
		if e.Filter != nil {
			if bound.Filter, err = b.bindRow(e.Filter); err != nil {
				return 0, err
			}
		}
	}
	var fields []expr.Field
	for _, f := range fieldsOf(&bound, l.node) {
		if err := b.usableField(f); err != nil {
			return 0, err
		}
		fields = append(fields, f)
	}
	base := l.node
	if base == expr.Self {
		var err *expr.Error
		if base, err = b.adHocBase(&bound, fields); err != nil {
			return 0, err
		}
	}
	checked, typ, err := expr.Check(&bound, b.columnType(base))
	if err != nil {
		return 0, err
	}
	conds, err := b.conditions(checked.Filter, base)
	if err != nil {
		return 0, err
	}
	conds = append(conds, l.conds...)
	more, err := b.segmentConditions(base)
	if err != nil {
		return 0, err
	}
	conds = append(conds, more...)

	a := Atom{Func: e.Func, Distinct: e.Distinct, Base: base, Type: typ}
	for _, arg := range checked.Args {
		placed, err := b.place(arg, base)
		if err != nil {
			return 0, err
		}
		a.Args = append(a.Args, placed)
	}
	var filters []*expr.Expr
	var texts []string
	seen := map[string]bool{}
	for _, c := range conds {
		text := c.expr.String()
		if seen[text] {
			continue
		}
		seen[text] = true
		texts = append(texts, text)
		filters = append(filters, c.expr)
		for _, f := range c.fields {
			fields = addOnce(fields, f)
		}
	}
	a.Filter = expr.And(filters)
	slices.Sort(texts)
	leg := strconv.Itoa(base)
	if l.semi != nil {
		if l.semi.node != base {
			return 0, refuse(expr.InvalidMeasure, "give the measure of that source its own semi_additive", "%s is semi-additive over rows of %s and aggregates rows of %s", l.label, b.m.Nodes[l.semi.node].Name, b.m.Nodes[base].Name)
		}
		a.Semi = l.semi.plan
		for _, f := range l.semi.fields {
			fields = addOnce(fields, f)
		}
		leg += "\x00" + strings.Join(texts, "\x00") + "\x00" + semiKey(a.Semi)
	}
	key := atomKey(a, texts, leg)
	if i, ok := b.keys[key]; ok {
		return i, nil
	}
	i := len(b.plan.Atoms)
	b.keys[key] = i
	b.plan.Atoms = append(b.plan.Atoms, a)
	b.atoms = append(b.atoms, aggregate{fields: fields, leg: leg, label: l.label})
	return i, nil
}

func semiKey(s *Semi) string {
	parts := []string{strconv.FormatBool(s.First), s.Over.String()}
	for _, p := range s.Per {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, "\x00")
}

func atomKey(a Atom, filters []string, leg string) string {
	parts := []string{leg, a.Func, strconv.FormatBool(a.Distinct)}
	for _, x := range a.Args {
		parts = append(parts, x.String())
	}
	parts = append(parts, "where")
	return strings.Join(append(parts, filters...), "\x00")
}

// adHocBase is R16: of the sources that an aggregate names, the one that reaches all
// others.
func (b *builder) adHocBase(e *expr.Expr, fields []expr.Field) (int, *expr.Error) {
	var nodes []int
	for _, f := range fields {
		nodes = addOnce(nodes, f.Node)
	}
	if len(nodes) == 0 {
		return 0, refuse(expr.InvalidRequest, "name a column that is never null, as count(source.column)", "%s names no column, so nothing says whose rows it aggregates", readable(b.m, b.plan, e, expr.Self))
	}
	found := b.finest(nodes)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return 0, b.noneReachesAll(nodes, "an aggregate over columns of "+b.nodeNames(nodes)+" has no source that reaches the others")
	default:
		return 0, refuse(expr.AmbiguousJoinPath, "aggregate columns of one source", "%s reach each other, so nothing says whose rows are aggregated", b.nodeNames(found))
	}
}

// finest lists those of nodes that reach all of them.
func (b *builder) finest(nodes []int) []int {
	var found []int
	for _, from := range nodes {
		if b.reachesAll(from, nodes) {
			found = append(found, from)
		}
	}
	return found
}

func (b *builder) reachesAll(from int, nodes []int) bool {
	for _, to := range nodes {
		if from != to && !b.m.Reaches(from, to) {
			return false
		}
	}
	return true
}

// noneReachesAll is the refusal for nodes none of which reaches all.
func (b *builder) noneReachesAll(nodes []int, message string) *expr.Error {
	var found *expr.Error
	for _, from := range nodes {
		for _, to := range nodes {
			if from == to || b.m.Reaches(from, to) || b.m.Reaches(to, from) {
				continue
			}
			if _, _, err := b.m.Path(from, to); err != nil && (found == nil || err.Class == expr.Disconnected && found.Class != expr.Disconnected) {
				found = err
			}
		}
	}
	if found == nil {
		return refuse(expr.FanOut, "", "%s", message)
	}
	e := *found
	e.Message = message + ": " + e.Message
	return &e
}

func (b *builder) nodeNames(nodes []int) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = b.m.Nodes[n].Name
	}
	slices.Sort(names)
	return list(names, "and")
}
