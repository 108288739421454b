package expr

import "slices"

// is says whether a node is of one of some kinds.
func (e *Expr) is(ops ...Op) bool { return slices.Contains(ops, e.Op) }

// Walk calls f for e and everything below it, operands before filters, from left to
// right. Below a node for which f returns false it does not go.
func Walk(e *Expr, f func(*Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, a := range e.Args {
		Walk(a, f)
	}
	Walk(e.Filter, f)
}

// Map builds a new tree: f is called with a copy of each node whose operands and filter
// are already replaced, and returns what stands in its place. e is not changed.
func Map(e *Expr, f func(*Expr) (*Expr, *Error)) (*Expr, *Error) {
	if e == nil {
		return nil, nil
	}
	c := *e
	if len(e.Args) > 0 {
		c.Args = make([]*Expr, len(e.Args))
		for i, a := range e.Args {
			m, err := Map(a, f)
			if err != nil {
				return nil, err
			}
			c.Args[i] = m
		}
	}
	filter, err := Map(e.Filter, f)
	if err != nil {
		return nil, err
	}
	c.Filter = filter
	return f(&c)
}

// Conjuncts are the conditions that AND joins: the operands of e if it is an AND, else e
// alone. Of nil there are none.
func Conjuncts(e *Expr) []*Expr {
	if e == nil {
		return nil
	}
	if e.Op != OpAnd {
		return []*Expr{e}
	}
	var list []*Expr
	for _, a := range e.Args {
		list = append(list, Conjuncts(a)...)
	}
	return list
}

// And joins conditions: nil if there are none, the condition itself if there is one.
// Conditions that are nil count as none, and those that are an AND give their operands.
func And(list []*Expr) *Expr {
	var all []*Expr
	for _, e := range list {
		all = append(all, Conjuncts(e)...)
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &Expr{Op: OpAnd, Args: all, Pos: all[0].Pos}
}
