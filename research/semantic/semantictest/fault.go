package semantictest

import (
	"math/big"
	"slices"
)

// threshold is a number that no sum of quarters over few rows equals, nor comes near to.
func (g *gen) threshold() *big.Rat {
	return new(big.Rat).Add(big.NewRat(int64(g.rng.IntN(12)-2), 1), big.NewRat(13, 100))
}

// fault draws a part that is wrong whatever else a request holds.
func (g *gen) fault() *fault {
	s := pick(g, g.sources)
	p := &printer{world: g.world, rng: g.rng, source: -1}
	source := p.ident(s.name)
	id := source + ".id"
	// A measure that is added has a base of its own, which need not reach what the rest
	// of the request names.
	based := func(class string) []string {
		return []string{class, "ambiguous_join_path", "disconnected", "fan_out", "filter_not_applicable"}
	}
	addMeasure := func(text string) func(*Request) {
		return func(r *Request) { r.Measures = append(r.Measures, Measure{Expr: text, Name: "faulty"}) }
	}
	addDimension := func(field, grain string) func(*Request) {
		return func(r *Request) { r.Dimensions = append(r.Dimensions, Dimension{field, grain}) }
	}
	addFilter := func(text string) func(*Request) {
		return func(r *Request) { r.Filters = append(r.Filters, text) }
	}
	list := []*fault{
		{based("nested_aggregate"), addMeasure("sum(count(" + id + "))")},
		{[]string{"unknown_measure", "unknown_field"}, addMeasure(source + ".absent")},
		{[]string{"unknown_source"}, addMeasure("absent.total")},
		{based("unknown_field"), addMeasure("sum(" + source + ".absent)")},
		{[]string{"unknown_field"}, addDimension(source+".absent", "")},
		{[]string{"unknown_source"}, addDimension("absent.id", "")},
		{[]string{"invalid_granularity"}, addDimension(id, "month")},
		{based("window_function"), addMeasure("sum(" + id + ") OVER ()")},
		{[]string{"unsafe_expression"}, addFilter(id + " IN (SELECT 1)")},
		{[]string{"unsafe_expression"}, addFilter(id + " = 1; DROP TABLE t0")},
		{based("not_an_aggregate"), addMeasure(id + " + 1")},
		{based("not_an_aggregate"), addMeasure("sum(" + id + ") / " + id)},
		{[]string{"unknown_order_by"}, func(r *Request) { r.OrderBy = append(r.OrderBy, Order{Field: "absent"}) }},
		{[]string{"unknown_segment"}, func(r *Request) { r.Segments = append(r.Segments, source+".absent") }},
		{[]string{"unknown_segment", "unknown_source"}, func(r *Request) { r.Segments = append(r.Segments, "absent.seg0") }},
		{based("mixed_filter"), addFilter(id + " > 1 OR count(" + id + ") > 1")},
		{[]string{"invalid_request"}, addMeasure("count(*)")},
		{based("invalid_request"), func(r *Request) {
			r.Measures = append(r.Measures, Measure{Expr: "count(" + id + ")", Name: "a.b"})
		}},
		{based("invalid_request"), func(r *Request) {
			m := Measure{Expr: "count(" + id + ")", Name: "twice"}
			r.Measures = append(r.Measures, m, m)
		}},
	}
	if len(g.sources) > 1 {
		list = append(list, &fault{[]string{"ambiguous_field"}, addDimension("id", "")})
	}
	if i := slices.IndexFunc(s.columns, func(c column) bool { return c.hidden }); i >= 0 {
		list = append(list, &fault{based("hidden_field"), addFilter(source + "." + p.ident(s.columns[i].name) + " IS NULL")})
	}
	if i := slices.IndexFunc(s.columns, func(c column) bool { return c.kind == moment && !c.hidden }); i >= 0 {
		list = append(list, &fault{[]string{"invalid_granularity"}, addDimension(source+"."+p.ident(s.columns[i].name), "fortnight")})
	}
	return pick(g, list)
}
