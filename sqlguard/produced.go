package sqlguard

import "slices"

// produced holds the types, other than the server's own, whose values may occur in a
// statement.
type produced struct {
	types map[CatalogName]bool
	// anything says that values of any type may occur: a function takes any type,
	// or returns a type that the catalogue does not know, or an anonymous row.
	anything bool
}

// polymorphic reports whether a type of the catalogue means any type.
func (o *objects) polymorphic(n CatalogName) bool {
	return n.Schema == o.server[0] && o.dialect.Polymorphic(n.Name)
}

// named returns the full names of the types that the SQL names. It includes types
// whose name is written like a call or a column.
func (q *inquiry) named() []CatalogName {
	var out []CatalogName
	for i := range q.statement.Types {
		t := &q.statement.Types[i]
		if t.Builtin && !t.Extension {
			schema := t.Schema
			if schema == "" {
				schema = q.objects.server[0]
			}
			out = append(out, CatalogName{schema, t.Name})
		} else if ref, ok := q.objects.typeOf(t.Schema, t.Name); ok {
			out = append(out, q.objects.nameOf(ref))
		}
	}
	for i := range q.statement.Calls {
		c := &q.statement.Calls[i]
		if c.Arguments != 1 || c.Notation == NotationOperator || !q.objects.namesType(c.Name) {
			continue
		}
		if ref, ok := q.objects.typeOf(c.Schema, c.Name); ok {
			out = append(out, q.objects.nameOf(ref))
		}
	}
	return out
}

// produced returns the types of the values in the SQL: those of columns, of casts, and
// of the results of functions and operators of the catalogue. It includes the parts of
// all these types, and the targets of their implicit casts.
func (q *inquiry) produced() *produced {
	if q.made != nil {
		return q.made
	}
	o, s := q.objects, q.statement
	q.made = &produced{}
	from := append(q.named(), q.values...)
	q.made.anything = slices.ContainsFunc(q.values, o.polymorphic)
	m := q.mentions()
	for i := range s.Relations {
		r := &s.Relations[i]
		at, ok := o.relation(q.home, r.Schema, r.Name)
		if !ok || r.System {
			continue
		}
		if _, whole := m.row(r); whole {
			from = append(from, o.Relations[at].CatalogName)
			continue
		}
		for _, c := range o.Relations[at].Columns {
			if _, ok := m.names[c.Name]; ok {
				from = append(from, c.Type)
			}
		}
	}
	results := func(i int) {
		from = append(from, o.Functions[i].Results...)
		q.made.anything = q.made.anything || len(o.Functions[i].Results) == 0 || slices.Contains(o.Functions[i].Results, CatalogName{o.server[0], "record"})
	}
	targets := q.targets()
	for _, at := range targets.functions {
		results(at)
	}
	for _, at := range targets.operators {
		runs := o.Operators[at].Function
		known := o.serverOwn(runs.Schema) && !o.dialect.ReturnsRow(runs.Name)
		for _, f := range o.functions[runs.Name] {
			if o.Functions[f].Schema == runs.Schema {
				known = true
				results(f)
			}
		}
		q.made.anything = q.made.anything || !known
	}
	q.made.types = o.reach(from, true)
	return q.made
}

// targets are the functions and operators of the catalogue that the calls of a
// statement could mean, without duplicates.
type targets struct{ functions, operators []int }

func (q *inquiry) targets() *targets {
	if q.meant != nil {
		return q.meant
	}
	type key struct {
		schema, name string
		arguments    int
		operator     bool
	}
	asked := map[key]bool{}
	functions, operators := map[int]bool{}, map[int]bool{}
	q.meant = &targets{}
	for i := range q.statement.Calls {
		c := &q.statement.Calls[i]
		k := key{c.Schema, c.Name, c.Arguments, c.Notation == NotationOperator}
		if asked[k] {
			continue
		}
		asked[k] = true
		if k.operator {
			for _, at := range q.objects.operatorsFor(c.Schema, c.Name, c.Arguments) {
				if !operators[at] {
					operators[at] = true
					q.meant.operators = append(q.meant.operators, at)
				}
			}
			continue
		}
		for _, at := range q.objects.callable(q.home, c.Schema, c.Name, c.Arguments) {
			if !functions[at] {
				functions[at] = true
				q.meant.functions = append(q.meant.functions, at)
			}
		}
	}
	return q.meant
}

// mentioned holds the names of columns that a statement mentions, each with the
// span of the first mention.
type mentioned struct {
	names map[string]Span
	whole *Span      // of a construct that may mean the whole rows of any relation
	mixed *mentioned // the same without bare columns; nil when no column is bare
}

// row reports whether whole rows of a relation are mentioned, and where.
func (m *mentioned) row(r *Relation) (Span, bool) {
	if m.whole != nil {
		return *m.whole, true
	}
	if span, ok := m.names[r.Name]; ok {
		return span, true
	}
	span, ok := m.names[r.Alias]
	return span, ok && r.Alias != ""
}

// mentions returns what the statement mentions. A name before a dot means a whole
// row when the name behind the dot may be a function.
func (q *inquiry) mentions() *mentioned {
	if q.mentioned != nil {
		return q.mentioned
	}
	s := q.statement
	m := q.mentionedBy(false)
	if slices.ContainsFunc(s.ColumnRefs, func(ref ColumnRef) bool { return ref.Bare }) {
		m.mixed = q.mentionedBy(true)
	}
	q.mentioned = m
	return m
}

// mentionedBy is like mentions, with or without bare columns.
func (q *inquiry) mentionedBy(mixed bool) *mentioned {
	s := q.statement
	m := &mentioned{names: make(map[string]Span, len(s.ColumnRefs))}
	for i := range s.ColumnRefs {
		ref := &s.ColumnRefs[i]
		if mixed && ref.Bare {
			continue
		}
		if ref.Star {
			m.whole = &ref.Span
		} else if _, ok := m.names[ref.Name]; !ok {
			m.names[ref.Name] = ref.Span
		}
	}
	for i := range s.Calls {
		if c := &s.Calls[i]; c.Notation == NotationColumn || c.Notation == NotationAttribute {
			m.whole = &c.Span
		}
	}
	return m
}

// excluded reports whether a call cannot mean a function or operator with these
// parameters: an argument has a type, and no type that occurs is the parameter's
// type or has an implicit cast to it.
func (q *inquiry) excluded(parameters []CatalogName, variadic bool, c *Call) bool {
	if c.Arguments < 0 || c.Typed == 0 || q.produced().anything {
		return false
	}
	if variadic && len(parameters) > 0 {
		parameters = parameters[:len(parameters)-1]
	}
	for i, parameter := range parameters[:min(len(parameters), c.Arguments, 64)] {
		if c.Typed&(1<<i) != 0 && !q.reachable(parameter, c.Scalar&(1<<i) != 0) {
			return true
		}
	}
	return false
}

// reachable reports whether a value that occurs could be passed as a parameter
// of a type. A row without a type name can be passed for any composite type.
func (q *inquiry) reachable(n CatalogName, scalar bool) bool {
	o := q.objects
	ref, ok := o.typeAt(n)
	if !ok || q.made.types[n] || q.made.types[o.nameOf(ref)] {
		return true
	}
	if ref.row {
		return !scalar || slices.ContainsFunc(o.family(ref.index), func(i int) bool { return q.made.types[o.Relations[i].CatalogName] })
	}
	switch o.Types[ref.index].Kind {
	case TypeBase, TypeEnum, TypeRange:
		return false
	case TypeComposite:
		return !scalar
	case TypeDomain: // a value of the base type can become a value of the domain
		return true
	default:
		return true
	}
}
