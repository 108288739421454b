package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// condition is one part of a filter, expanded and placed.
type condition struct {
	expr   *expr.Expr
	fields []expr.Field // the columns that the text names, computed ones as such
	bound  *expr.Expr   // before it was expanded and placed
	node   int          // what Self is in bound
}

var grains = []struct {
	name  string
	grain Grain
}{
	{"hour", Hour}, {"day", Day}, {"week", Week}, {"month", Month}, {"quarter", Quarter}, {"year", Year},
}

// String returns the name that a request gives the granularity.
func (g Grain) String() string {
	for _, k := range grains {
		if k.grain == g {
			return k.name
		}
	}
	return "none"
}

func parseGrain(text string) (Grain, bool) {
	if text == "" {
		return NoGrain, true
	}
	for _, k := range grains {
		if strings.EqualFold(k.name, text) {
			return k.grain, true
		}
	}
	return NoGrain, false
}

// resolveDimensions looks up the columns that group the answer and checks their
// granularities (R9). Of equal ones the first stays (R18).
func (b *builder) resolveDimensions() *expr.Error {
	for _, d := range b.r.Dimensions {
		if err := b.dimension(d); err != nil {
			return within(err, "the dimension", d.Field)
		}
	}
	return nil
}

func (b *builder) dimension(d DimensionRequest) *expr.Error {
	n, err := expr.ParseName(d.Field)
	if err != nil {
		e := *err
		e.Hint = columnHint(d.Field)
		return &e
	}
	f, err := b.column(n)
	if err != nil {
		return err
	}
	grain, ok := parseGrain(d.Granularity)
	if !ok {
		return refuse(expr.InvalidGranularity, "use hour, day, week, month, quarter, or year", "there is no granularity %q", clip(d.Granularity, 40))
	}
	c := b.m.Sources[b.m.Nodes[f.Node].Source].Columns[f.Column]
	if grain != NoGrain && c.Type != expr.Time {
		return refuse(expr.InvalidGranularity, granularityHint(b.m, f), "%s is a %s; only a time has a granularity", fieldName(b.m, f), typeName(c.Type))
	}
	for _, have := range b.plan.Dimensions {
		if have.Field == f && have.Grain == grain {
			return nil
		}
	}
	b.plan.Dimensions = append(b.plan.Dimensions, Dimension{Expr: b.m.Expand(f), Grain: grain, Field: f, Type: c.Type})
	return nil
}

// granularityHint names the times of the source whose column is none.
func granularityHint(m *model.Model, f expr.Field) string {
	const most = 5
	var times []string
	for i, c := range m.Sources[m.Nodes[f.Node].Source].Columns {
		if c.Type == expr.Time && c.Visibility == model.Public && len(times) < most {
			times = append(times, fieldName(m, expr.Field{Node: f.Node, Column: i}))
		}
	}
	if len(times) == 0 {
		return "leave the granularity out"
	}
	return "leave the granularity out, or group by a time: " + strings.Join(times, ", ")
}

// columnHint says what to write for a dimension that is no name.
func columnHint(text string) string {
	if e, err := expr.Parse(text); err == nil && e.Op == expr.OpCall && e.Func == "date_trunc" && e.Args[1].Op == expr.OpName {
		field, _ := json.Marshal(e.Args[1].Name.String())
		return fmt.Sprintf(`write {"field": %s, "granularity": "%s"}`, field, e.Args[0].Text)
	}
	return "write one column, as source.column; a granularity has its own field, and an expression is a computed column of the model"
}

// column looks up a column that the request names.
func (b *builder) column(n expr.Name) (expr.Field, *expr.Error) {
	f, err := b.m.Column(n)
	if err != nil {
		return f, b.lookupFailed(n, err)
	}
	return f, b.usableField(f)
}

// lookupFailed prefers the problem of an invalid source to a name that is missing in it.
func (b *builder) lookupFailed(n expr.Name, err *expr.Error) *expr.Error {
	if n.Qualifier != "" && err.Class != expr.HiddenField {
		if node, nerr := b.m.Node(n.Qualifier); nerr == nil {
			if problem := b.usable(node); problem != nil {
				err = problem
			}
		}
	}
	e := *err
	return &e
}

// usable refuses a node whose source has a problem.
func (b *builder) usable(node int) *expr.Error {
	return b.m.Refusal(b.m.Nodes[node].Source)
}

// usableField refuses a column that needs an invalid source.
func (b *builder) usableField(f expr.Field) *expr.Error {
	if err := b.usable(f.Node); err != nil {
		return err
	}
	for _, s := range b.m.Dependencies(f) {
		if err := b.usable(s.To); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf lists the columns in e, each once. Self is node.
func fieldsOf(e *expr.Expr, node int) []expr.Field {
	var list []expr.Field
	expr.Walk(e, func(x *expr.Expr) bool {
		if x.Op == expr.OpField {
			f := x.Field
			if f.Node == expr.Self {
				f.Node = node
			}
			list = addOnce(list, f)
		}
		return true
	})
	return list
}

func addOnce[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// place puts node in for Self and expands computed columns.
func (b *builder) place(e *expr.Expr, node int) (*expr.Expr, *expr.Error) {
	return expr.Map(e, func(x *expr.Expr) (*expr.Expr, *expr.Error) {
		if x.Op != expr.OpField {
			return x, nil
		}
		f := x.Field
		if f.Node == expr.Self {
			f.Node = node
		}
		return b.m.Expand(f), nil
	})
}

// conditions takes a bound filter of node apart at its ANDs.
func (b *builder) conditions(e *expr.Expr, node int) ([]condition, *expr.Error) {
	if e == nil {
		return nil, nil
	}
	var list []condition
	for _, part := range expr.Conjuncts(e) {
		fields := fieldsOf(part, node)
		for _, f := range fields {
			if err := b.usableField(f); err != nil {
				return nil, err
			}
		}
		placed, err := b.place(part, node)
		if err != nil {
			return nil, err
		}
		list = append(list, condition{expr: placed, fields: fields, bound: part, node: node})
	}
	return list, nil
}

// bindRow binds the names of an expression of the request in row scope.
func (b *builder) bindRow(e *expr.Expr) (*expr.Expr, *expr.Error) {
	return expr.Map(e, func(x *expr.Expr) (*expr.Expr, *expr.Error) {
		if x.Op == expr.OpName {
			f, err := b.column(x.Name)
			if err != nil {
				if _, merr := b.m.Measure(x.Name); merr == nil && err.Class == expr.UnknownField {
					err = refuse(expr.NestedAggregate, "write a column inside the aggregate, or use the measure without one", "%s is a measure, which is an aggregate already", x.Name.String())
				}
				err.Pos = x.Pos
				return nil, err
			}
			return &expr.Expr{Op: expr.OpField, Field: f, Pos: x.Pos}, nil
		}
		if x.Op == expr.OpAggregate {
			e := refuse(expr.NestedAggregate, "aggregate once", "%s stands inside another aggregate", x.Func)
			e.Pos = x.Pos
			return nil, e
		}
		return x, nil
	})
}

// columnType is the environment of types in row scope.
func (b *builder) columnType(node int) func(*expr.Expr) expr.Type {
	return func(e *expr.Expr) expr.Type {
		if e.Op != expr.OpField {
			return expr.Unknown
		}
		f := e.Field
		if f.Node == expr.Self {
			f.Node = node
		}
		return b.m.Sources[b.m.Nodes[f.Node].Source].Columns[f.Column].Type
	}
}

func typeName(t expr.Type) string {
	switch t {
	case expr.String:
		return "string"
	case expr.Number:
		return "number"
	case expr.Time:
		return "time"
	case expr.Boolean:
		return "boolean"
	case expr.Unknown:
	}
	return "value of unknown type"
}

// fieldName is how a request writes f.
func fieldName(m *model.Model, f expr.Field) string {
	node := m.Nodes[f.Node]
	return expr.Name{Qualifier: node.Name, Leaf: m.Sources[node.Source].Columns[f.Column].Name}.String()
}

// measureName is how a request writes x.
func measureName(m *model.Model, x expr.Measure) string {
	node := m.Nodes[x.Node]
	return expr.Name{Qualifier: node.Name, Leaf: m.Sources[node.Source].Measures[x.Index].Name}.String()
}
