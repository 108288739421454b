package plan

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// resolveOrder is R8: the keys of the request, then the dimensions that they leave out.
func (b *builder) resolveOrder() *expr.Error {
	for _, o := range b.r.OrderBy {
		key, err := b.orderKey(o.Field)
		if err != nil {
			return within(err, "order_by", o.Field)
		}
		if !b.ordered(key) {
			key.Desc = o.Desc
			b.plan.Order = append(b.plan.Order, key)
		}
	}
	for i := range b.plan.Dimensions {
		if key := (OrderKey{Dimension: i, Measure: -1}); !b.ordered(key) {
			b.plan.Order = append(b.plan.Order, key)
		}
	}
	return nil
}

func (b *builder) ordered(key OrderKey) bool {
	return slices.ContainsFunc(b.plan.Order, func(have OrderKey) bool {
		return have.Dimension == key.Dimension && have.Measure == key.Measure
	})
}

// orderKey finds the output that a key names: by the name of the output, or else as the
// request names its field or measure.
func (b *builder) orderKey(text string) (OrderKey, *expr.Error) {
	keys := b.outputs()
	same := func(x, y string) bool { return x == y }
	n, nameErr := expr.ParseName(text)
	for _, equal := range []func(x, y string) bool{same, strings.EqualFold} {
		for _, k := range keys {
			name := b.plan.outputName(k)
			if equal(name, text) || nameErr == nil && n.Qualifier == "" && equal(name, n.Leaf) {
				return k, nil
			}
		}
	}
	if nameErr != nil {
		return b.orderExpression(text, keys)
	}
	for _, equal := range []func(x, y string) bool{same, strings.EqualFold} {
		var found []OrderKey
		for _, k := range keys {
			if b.names(k, n, equal) {
				found = append(found, k)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			names := make([]string, len(found))
			for i, k := range found {
				names[i] = b.plan.outputName(k)
			}
			e := refuse(expr.AmbiguousField, "write "+list(names, "or"), "it fits %d outputs", len(found))
			e.Near = names[:min(3, len(names))]
			return OrderKey{}, e
		}
	}
	e := b.unknownOrder(n.Leaf)
	if _, err := b.m.Column(n); err == nil {
		e.Hint = "put the field into dimensions too, or " + e.Hint
	} else if _, err := b.m.Measure(n); err == nil {
		e.Hint = "put the measure into measures too, or " + e.Hint
	}
	return OrderKey{}, e
}

// orderExpression finds the measure whose expression a key repeats.
func (b *builder) orderExpression(text string, keys []OrderKey) (OrderKey, *expr.Error) {
	e, err := expr.Parse(text)
	if err == nil {
		want := e.String()
		for _, k := range keys {
			if k.Measure < 0 {
				continue
			}
			if m, err := expr.Parse(b.r.Measures[k.Measure].Expr); err == nil && m.String() == want {
				return k, nil
			}
		}
	}
	return OrderKey{}, b.unknownOrder(text)
}

func (b *builder) unknownOrder(text string) *expr.Error {
	var names []string
	for _, k := range b.outputs() {
		names = append(names, b.plan.outputName(k))
	}
	e := refuse(expr.UnknownOrderBy, "order by one of "+upTo(20, names), "no output of the request is called that")
	e.Near = expr.Near(text, names)
	return e
}

// outputs lists all outputs as keys.
func (b *builder) outputs() []OrderKey {
	var keys []OrderKey
	for i := range b.plan.Dimensions {
		keys = append(keys, OrderKey{Dimension: i, Measure: -1})
	}
	for i := range b.plan.Measures {
		keys = append(keys, OrderKey{Dimension: -1, Measure: i})
	}
	return keys
}

func (p *Plan) outputName(k OrderKey) string {
	if k.Dimension >= 0 {
		return p.Dimensions[k.Dimension].Name
	}
	return p.Measures[k.Measure].Name
}

// names reports whether n is how the request may name the output.
func (b *builder) names(k OrderKey, n expr.Name, equal func(x, y string) bool) bool {
	var node int
	var leaves []string
	if k.Dimension >= 0 {
		d := b.plan.Dimensions[k.Dimension]
		node = d.Field.Node
		leaf := b.m.Sources[b.m.Nodes[node].Source].Columns[d.Field.Column].Name
		leaves = append(leaves, leaf)
		if d.Grain != NoGrain {
			leaves = append(leaves, leaf+"_"+d.Grain.String())
		}
	} else {
		m, ok := b.measureAlone(k.Measure)
		if !ok {
			return false
		}
		node = m.Node
		leaves = append(leaves, b.m.Sources[b.m.Nodes[node].Source].Measures[m.Index].Name)
	}
	if n.Qualifier != "" && !equal(n.Qualifier, b.m.Nodes[node].Name) {
		return false
	}
	return slices.ContainsFunc(leaves, func(leaf string) bool { return equal(leaf, n.Leaf) })
}
