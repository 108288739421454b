package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Dimensions lists the public columns that may group a measure, as a request names them:
// those of its own source first, then those of the sources that all its aggregates
// reach, sorted by source. The error says why no request can use the measure.
func Dimensions(m *model.Model, measure expr.Measure) ([]string, *expr.Error) {
	b := &builder{m: m, plan: &Plan{Model: m}, keys: map[string]int{}}
	if _, err := b.measure(measure, &layer{node: expr.Self, label: measureName(m, measure)}); err != nil {
		return nil, err
	}
	var bases []int
	for _, a := range b.plan.Atoms {
		bases = addOnce(bases, a.Base)
	}
	var names []string
	for _, f := range b.legal(bases, measure.Node) {
		names = append(names, fieldName(m, f))
	}
	return names, nil
}

// legal lists the public columns that every base reaches over one path. Those of the
// node first stand first.
func (b *builder) legal(bases []int, first int) []expr.Field {
	nodes := []int{first}
	for n := range b.m.Nodes {
		nodes = addOnce(nodes, n)
	}
	var fields []expr.Field
	for _, n := range nodes {
		if b.usable(n) != nil || !b.leadsTo(bases, expr.Field{Node: n, Column: -1}) {
			continue
		}
		for i, c := range b.m.Sources[b.m.Nodes[n].Source].Columns {
			f := expr.Field{Node: n, Column: i}
			if c.Visibility == model.Public && b.usableField(f) == nil && (c.Expr == nil || b.leadsTo(bases, f)) {
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// leadsTo reports whether each base can join what a column needs. Column -1 stands for
// any that is not computed.
func (b *builder) leadsTo(bases []int, f expr.Field) bool {
	for _, base := range bases {
		if !b.m.Reaches(base, f.Node) {
			return false
		}
		t := b.tree(base)
		if t.walk(base, f.Node) != nil {
			return false
		}
		if f.Column >= 0 && t.reach(f) != nil {
			return false
		}
	}
	return true
}

// unreachable adds to the refusal of a path what the caller may ask instead: columns that
// the rows of base lead to, and the corrected request if there is one alone.
func (b *builder) unreachable(err *expr.Error, base int, what string, wanted []expr.Field) *expr.Error {
	e := *err
	e.Message = what + ": " + err.Message
	if e.Class != expr.FanOut && e.Class != expr.Disconnected {
		return &e
	}
	var hints []string
	legal := b.legal([]int{base}, base)
	if b.repair && len(wanted) == 1 {
		if text, ok := b.corrected(base, wanted[0], legal); ok {
			hints = append(hints, "ask instead "+text)
		}
	}
	if e.Hint != "" {
		hints = append(hints, e.Hint)
	}
	names := make([]string, len(legal))
	for i, f := range legal {
		names[i] = fieldName(b.m, f)
	}
	if len(names) > 0 {
		hints = append(hints, b.labels(base)+" may be grouped and filtered by "+upTo(24, names))
	}
	e.Hint = strings.Join(hints, "; ")
	return &e
}

// labels names what the request asks of the rows of base.
func (b *builder) labels(base int) string {
	var labels []string
	for i, a := range b.plan.Atoms {
		if a.Base == base {
			labels = addOnce(labels, clip(b.atoms[i].label, 60))
		}
	}
	if len(labels) == 0 {
		return "rows of " + b.m.Nodes[base].Name
	}
	return upTo(3, labels)
}

// maxRepairs bounds how many other requests a refusal tries, and maxRepair how long the
// one may be that it offers, in bytes.
const (
	maxRepairs = 8
	maxRepair  = 1000
)

// corrected looks for the one request near to this that is answered: with a column of
// the same name that can be reached, or with a measure of the same name of a source that
// reaches the wanted column.
func (b *builder) corrected(base int, wanted expr.Field, legal []expr.Field) (string, bool) {
	var tries []Request
	leaf := b.columnName(wanted)
	for _, f := range legal {
		if f.Node == base || !strings.EqualFold(b.columnName(f), leaf) {
			continue
		}
		r := b.r
		r.Dimensions = slices.Clone(r.Dimensions)
		for i := range r.Dimensions {
			if n, err := expr.ParseName(r.Dimensions[i].Field); err == nil {
				if asked, err := b.m.Column(n); err == nil && asked == wanted {
					r.Dimensions[i].Field = fieldName(b.m, f)
				}
			}
		}
		if !slices.Equal(r.Dimensions, b.r.Dimensions) {
			tries = append(tries, r)
		}
	}
	for node := range b.m.Nodes {
		if !b.m.Reaches(node, wanted.Node) {
			continue
		}
		if r, ok := b.measuresOf(node, base); ok {
			tries = append(tries, r)
		}
	}
	found := ""
	for i, r := range tries {
		if i == maxRepairs {
			return "", false
		}
		if _, err := build(b.m, r, false); err != nil {
			continue
		}
		if found != "" {
			return "", false
		}
		found = requestText(r)
	}
	return found, found != "" && len(found) <= maxRepair
}

func (b *builder) columnName(f expr.Field) string {
	return b.m.Sources[b.m.Nodes[f.Node].Source].Columns[f.Column].Name
}

// measuresOf is the request with measures of base replaced by those of node that have
// the same name.
func (b *builder) measuresOf(node, base int) (Request, bool) {
	r := b.r
	if node == base {
		return r, false
	}
	r.Measures = slices.Clone(r.Measures)
	changed := false
	for i := range b.plan.Measures {
		m, ok := b.measureAlone(i)
		if !ok || m.Node != base {
			continue
		}
		name := b.m.Sources[b.m.Nodes[base].Source].Measures[m.Index].Name
		other, err := b.m.Measure(expr.Name{Qualifier: b.m.Nodes[node].Name, Leaf: name})
		if err != nil {
			return r, false
		}
		r.Measures[i].Expr = measureName(b.m, other)
		changed = true
	}
	return r, changed
}

// requestText writes the measures, dimensions, filters, and segments of a request as
// arguments of a tool.
func requestText(r Request) string {
	type measure struct {
		Expr string `json:"expr"`
		Name string `json:"name"`
	}
	type dimension struct {
		Field       string `json:"field"`
		Granularity string `json:"granularity"`
	}
	var args struct {
		Measures   []any    `json:"measures,omitempty"`
		Dimensions []any    `json:"dimensions,omitempty"`
		Filters    []string `json:"filters,omitempty"`
		Segments   []string `json:"segments,omitempty"`
	}
	for _, m := range r.Measures {
		if m.Name == "" {
			args.Measures = append(args.Measures, m.Expr)
		} else {
			args.Measures = append(args.Measures, measure(m))
		}
	}
	for _, d := range r.Dimensions {
		if d.Granularity == "" {
			args.Dimensions = append(args.Dimensions, d.Field)
		} else {
			args.Dimensions = append(args.Dimensions, dimension(d))
		}
	}
	args.Filters, args.Segments = r.Filters, r.Segments
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}
