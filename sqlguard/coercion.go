package sqlguard

import (
	"cmp"
	"fmt"
	"slices"
)

// typeName judges a type that the SQL names. A cast to a type runs the functions that
// create its values.
func (q *inquiry) typeName(t *Type) {
	if t.Builtin && !t.Extension {
		return
	}
	ref, ok := q.objects.typeOf(t.Schema, t.Name)
	if !ok {
		name := qualified(t.Schema, t.Name)
		if q.listed.types.add(name) {
			q.v.Types = append(q.v.Types, VerdictType{Name: name})
		}
		f := Finding{Code: CodeUnresolvedObject, Span: t.Span, Object: name, Message: fmt.Sprintf("type %s: no such type in this database", name)}
		if !q.g.policy.AllowUnresolvedTypes {
			f.Code = CodeTypeNotAllowed
		}
		q.refuse(f)
		return
	}
	if name := q.objects.nameOf(ref).String(); !t.Builtin && q.listed.types.add(name) {
		q.v.Types = append(q.v.Types, VerdictType{Name: name, Resolved: true})
	}
	q.typeRef(ref, t.Span)
}

func (q *inquiry) typeRef(ref typeRef, span Span) {
	name := q.objects.nameOf(ref).String()
	n := node{kind: nodeType, index: ref.index}
	if ref.row {
		n.kind = nodeRow
	}
	q.require(n, Finding{Code: CodeTypeNotAllowed, Span: span, Object: name, Message: "type " + name})
}

// typeNamed judges a type by its name in the catalogue.
func (q *inquiry) typeNamed(n CatalogName) {
	if ref, ok := q.objects.typeAt(n); ok {
		q.typeRef(ref, Span{})
		return
	}
	if !q.objects.serverOwn(n.Schema) {
		q.refuse(Finding{Code: CodeTypeNotAllowed, Object: n.String(), Message: fmt.Sprintf("type %s: it is not in the catalogue", n)})
	}
}

// provenType judges the code that runs when a value of a type is created.
func (q *inquiry) provenType(t *CatalogType) {
	if t.Extension != "" && q.objects.dialect.ReviewedType(t.Extension, t.Name) {
		return
	}
	switch t.Kind {
	case TypeEnum:
	case TypeComposite:
		for _, c := range t.Columns {
			q.typeNamed(c.Type)
		}
	case TypeDomain:
		q.typeNamed(t.Base)
		q.values = []CatalogName{t.Base}
		for _, check := range t.Checks {
			before := len(q.v.Findings)
			q.text(check, PartExpression)
			for i := before; i < len(q.v.Findings); i++ {
				q.v.Findings[i].Code = CodeTypeNotAllowed
			}
		}
	case TypeRange:
		q.typeNamed(t.Base)
		for _, run := range t.Runs {
			q.functionRef(run, nil, Finding{Code: CodeTypeNotAllowed, Message: fmt.Sprintf("the range %s runs %s", t.CatalogName, run)})
		}
	case TypeBase:
		q.against(CodeTypeNotAllowed, "its input function belongs neither to the server nor to a reviewed extension")
	default:
		q.against(CodeTypeNotAllowed, fmt.Sprintf("it is of a kind (%s) that the guard does not know", t.Kind))
	}
}

// risk is a column whose type runs code when a value of it is created.
type risk struct {
	column string
	ref    typeRef
	// plain says that the column's type is a domain over a type of the server's
	// own. The server reads a literal beside such a column as the base type, unless
	// the column becomes a part of an array or a row.
	plain bool
	// compares says that user-defined functions run also when values are sorted
	// and compared, as for a range.
	compares bool
}

// findRisks lists, for each relation, the columns whose type runs code when a value
// of it is created.
func (o *objects) findRisks() {
	// From a type that runs code to every type that contains it.
	holders := map[typeRef][]typeRef{}
	hold := func(holder typeRef, part CatalogName) {
		if ref, ok := o.typeAt(part); ok {
			holders[ref] = append(holders[ref], holder)
		}
	}
	var made, compared []typeRef
	for i := range o.Types {
		t := &o.Types[i]
		ref := typeRef{index: i}
		hold(ref, t.Base)
		for _, c := range t.Columns {
			hold(ref, c.Type)
		}
		if (len(t.Checks) > 0 || len(t.Runs) > 0) && !o.dialect.ReviewedType(t.Extension, t.Name) {
			made = append(made, ref)
			if len(t.Runs) > 0 {
				compared = append(compared, ref)
			}
		}
	}
	if len(made) == 0 {
		return
	}
	for i := range o.Relations {
		for _, c := range o.Relations[i].Columns {
			hold(typeRef{index: i, row: true}, c.Type)
		}
	}
	holding := func(queue []typeRef) map[typeRef]bool {
		found := map[typeRef]bool{}
		for len(queue) > 0 {
			ref := queue[0]
			queue = queue[1:]
			if !found[ref] {
				found[ref] = true
				queue = append(queue, holders[ref]...)
			}
		}
		return found
	}
	risky, compares := holding(made), holding(compared)
	o.risks = map[int][]risk{}
	for i := range o.Relations {
		for _, c := range o.Relations[i].Columns {
			ref, ok := o.typeAt(c.Type)
			if ok && risky[ref] {
				o.risks[i] = append(o.risks[i], risk{c.Name, ref, o.plainDomain(c.Type), compares[ref]})
			}
		}
	}
}

// plainDomain reports whether a type is a domain over a type of the server's
// own, or over such a domain.
func (o *objects) plainDomain(n CatalogName) bool {
	for range o.Types {
		i, ok := o.types[n]
		if !ok {
			_, array := o.arrays[n]
			return !array && o.serverOwn(n.Schema)
		}
		if o.Types[i].Kind != TypeDomain {
			return false
		}
		n = o.Types[i].Base
	}
	return false
}

// coercions judges code that runs although the SQL does not name it: casts, and the
// checks of a type when the server reads a literal as one of its values.
func (q *inquiry) coercions(s *Statement) {
	if len(q.objects.risks) > 0 {
		q.riskyColumns(s)
	}
	if len(q.objects.casts) > 0 {
		q.casts(s)
	}
}

// riskyColumns requires the types of the mentioned columns when a literal could
// become a value of such a type.
func (q *inquiry) riskyColumns(s *Statement) {
	for i := range s.Relations {
		r := &s.Relations[i]
		at, ok := q.objects.relation(q.home, r.Schema, r.Name)
		if !ok || r.System || len(q.objects.risks[at]) == 0 {
			continue
		}
		all := q.mentions()
		mixed := cmp.Or(all.mixed, all)
		collects := s.Collects || q.takesAny()
		for _, risk := range q.objects.risks[at] {
			if risk.plain && !collects {
				continue
			}
			m := mixed
			if risk.compares {
				m = all
			}
			row, whole := m.row(r)
			if span, ok := m.names[risk.column]; ok {
				q.typeRef(risk.ref, span)
			} else if whole {
				q.typeRef(risk.ref, row)
			}
		}
	}
}

// takesAny reports whether the statement may call a function or operator of the
// catalogue that takes values of any type.
func (q *inquiry) takesAny() bool {
	o, targets := q.objects, q.targets()
	return slices.ContainsFunc(targets.operators, func(i int) bool { return slices.ContainsFunc(o.Operators[i].operands(), o.polymorphic) }) ||
		slices.ContainsFunc(targets.functions, func(i int) bool { return slices.ContainsFunc(o.Functions[i].Arguments, o.polymorphic) })
}

// reach returns the types that values of the given types consist of, and the
// multiranges of ranges. With casts it includes the targets of implicit casts.
func (o *objects) reach(from []CatalogName, casts bool) map[CatalogName]bool {
	reached := make(map[CatalogName]bool, len(from))
	var queue []CatalogName
	add := func(n CatalogName) {
		if n != (CatalogName{}) && !reached[n] {
			reached[n] = true
			queue = append(queue, n)
		}
	}
	for _, n := range from {
		add(n)
	}
	if casts {
		for _, i := range o.implicit[""] {
			add(o.Casts[i].Target)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		add(o.element(n))
		ref, ok := o.typeAt(n)
		if !ok {
			continue
		}
		add(o.multi[o.nameOf(ref)])
		if casts {
			for _, i := range o.implicit[o.nameOf(ref).String()] {
				add(o.Casts[i].Target)
			}
		}
		var columns []CatalogColumn
		if ref.row {
			columns = o.Relations[ref.index].Columns
		} else {
			columns = o.Types[ref.index].Columns
			add(o.Types[ref.index].Base)
		}
		for _, c := range columns {
			add(c.Type)
		}
	}
	return reached
}

// casts judges the casts of the catalogue that could run:
//
//   - implicit casts, when values of both types may occur;
//   - assignment casts to a type of the server's own, when values of the source type
//     may occur, because a condition, a LIMIT and a subscript are assignments;
//   - other casts, when the SQL casts to the target type or a function returns it.
func (q *inquiry) casts(s *Statement) {
	o := q.objects
	named := q.named()
	all := slices.Clone(q.returns)
	for n := range q.produced().types {
		all = append(all, n)
	}
	targets := q.targets()
	for _, at := range targets.operators {
		all = append(all, o.Operators[at].operands()...)
	}
	for _, at := range targets.functions {
		all = append(append(all, o.Functions[at].Arguments...), o.Functions[at].Results...)
	}
	occurring, cast, returned := o.reach(all, true), o.reach(named, false), o.reach(q.returns, false)
	occurs := func(n CatalogName) bool { return q.made.anything || o.serverOwn(n.Schema) || occurring[n] }
	holds := func(types map[CatalogName]bool, n CatalogName) bool {
		// The catalogue does not know the base types of the server's own domains.
		return types[n] || o.serverOwn(n.Schema) && slices.ContainsFunc(o.server[1:], func(schema string) bool {
			for t := range types {
				if t.Schema == schema {
					return true
				}
			}
			return false
		})
	}
	for _, i := range o.casts {
		c := &o.Casts[i]
		// A cast of an array also casts its elements.
		if !occurs(o.element(c.Source)) {
			continue
		}
		target := o.element(c.Target)
		runs := holds(cast, target) || s.Serializes && o.quiet[c.Target] || c.Context == CastImplicit && occurs(target) ||
			c.Context == CastAssignment && o.serverOwn(c.Target.Schema) ||
			q.body && c.Context != CastExplicit && (holds(returned, target) || len(q.returns) == 0)
		if runs {
			q.functionRef(c.Function, nil, Finding{
				Code: CodeTypeNotAllowed, Span: s.Span, Object: c.Target.String(),
				Message: fmt.Sprintf("the cast from %s to %s runs %s", c.Source, c.Target, c.Function),
			})
		}
	}
}
