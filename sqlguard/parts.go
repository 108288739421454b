package sqlguard

import (
	"fmt"
	"slices"
)

// parts judges the code that a read of a relation runs although the statement does not
// name it: expressions that the server evaluates while it plans the query, functions
// that index searches use, and row security policies.
func (q *inquiry) parts(i int) {
	o := q.objects
	read := o.family(i)
	for _, at := range o.parents[i] {
		if o.Relations[at].Kind == RelationPartitioned {
			read = append(read, at) // the keys of these constrain the partition
		}
	}
	for _, at := range read {
		r := &o.Relations[at]
		for n := range r.Parts {
			if p := &r.Parts[n]; !p.Own || at == i {
				q.part(r, p)
			}
			if len(q.v.Findings) > 0 {
				return // one reason is enough
			}
		}
	}
}

func (q *inquiry) part(r *CatalogRelation, p *CatalogPart) {
	findings, needs := len(q.v.Findings), len(q.needs)
	for _, run := range p.Runs {
		q.routine(run, Finding{Code: CodeFunctionNotAllowed, Message: "it runs " + run.signature()})
	}
	for _, made := range p.Makes {
		q.typeNamed(made)
	}
	q.ordersOf(q.objects.reach(p.Makes, true), false, Span{})
	if p.Expression != "" {
		q.values = []CatalogName{r.CatalogName}
		q.text(p.Expression, PartExpression)
	}
	what := fmt.Sprintf("%s of %s: ", p.Name, r.CatalogName)
	for i := findings; i < len(q.v.Findings); i++ {
		q.v.Findings[i].Message = what + q.v.Findings[i].Message
	}
	for i := needs; i < len(q.needs); i++ {
		q.needs[i].finding.Message = what + q.needs[i].finding.Message
	}
}

// routine judges a function of the catalogue that a part or an order runs.
func (q *inquiry) routine(run CatalogRoutine, finding Finding) {
	if run.Name == "" {
		finding.Message += ", and nothing is known about it"
		q.refuse(finding)
		return
	}
	for _, i := range q.objects.functions[run.Name] {
		f := &q.objects.Functions[i]
		if f.Schema != run.Schema || !slices.Equal(f.Arguments, run.Arguments) {
			continue
		}
		if f.Extension != "" && q.objects.dialect.Reviewed(f.Extension) && q.objects.dialect.ServerFunction(f.Name).Allowed {
			return
		}
		q.userFunction(i, finding)
		return
	}
	finding.Message += ": it is not in the catalogue"
	q.refuse(finding)
}

// signature returns the routine's name in messages.
func (r *CatalogRoutine) signature() string {
	if r.Name == "" {
		return "a function"
	}
	f := CatalogFunction{CatalogName: r.CatalogName, Arguments: r.Arguments}
	return f.signature()
}

// orders judges the functions that sort, group and compare values of the types that
// may occur. A statement does not show the types of all values that it compares, so
// orders assumes that values of the server's own types may always occur.
func (q *inquiry) orders(s *Statement) {
	o := q.objects
	if len(o.Orders) == 0 {
		return
	}
	q.produced()
	all := slices.Concat(q.named(), q.returns)
	targets := q.targets()
	for _, at := range targets.operators {
		all = append(all, o.Operators[at].operands()...)
	}
	for _, at := range targets.functions {
		all = append(append(all, o.Functions[at].Arguments...), o.Functions[at].Results...)
	}
	for n := range q.made.types {
		all = append(all, n)
	}
	q.ordersOf(o.reach(all, true), q.made.anything, s.Span)
}

// ordersOf judges the functions that compare values of the types that may occur.
func (q *inquiry) ordersOf(occurring map[CatalogName]bool, anything bool, span Span) {
	o := q.objects
	for i := range o.Orders {
		order := &o.Orders[i]
		if !anything && !o.serverOwn(order.Type.Schema) && !occurring[o.element(order.Type)] {
			continue
		}
		for _, run := range order.Runs {
			q.behindRoutine(run, Finding{
				Code: CodeFunctionNotAllowed, Span: span, Object: order.Type.String(),
				Message: fmt.Sprintf("values of %s are compared with %s", order.Type, run.signature()),
			})
		}
	}
}

// behindRoutine is like routine, for code that runs on every read of a relation.
func (q *inquiry) behindRoutine(run CatalogRoutine, finding Finding) {
	behind := q.behind
	q.behind = true
	q.routine(run, finding)
	q.behind = behind
}
