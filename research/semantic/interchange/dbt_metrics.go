package interchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

var (
	metricKeys = map[string]kind{
		"name": text, "description": text, "type": text, "type_params": single, "filter": anyKind, "time_granularity": anyKind, "label": anyKind, "metadata": anyKind, "config": anyKind,
	}
	paramsKeys = map[string]kind{
		"measure": single, "numerator": single, "denominator": single, "expr": text, "metrics": objects, "metric_aggregation_params": single,
		"join_to_timespine": flag, "fill_nulls_with": anyKind, "is_private": flag, "input_measures": anyKind,
		"window": anyKind, "grain_to_date": anyKind, "conversion_type_params": anyKind, "cumulative_type_params": anyKind, // of other types
	}
	inputMeasureKeys = map[string]kind{"name": text, "filter": anyKind, "alias": text, "join_to_timespine": flag, "fill_nulls_with": anyKind}
	inputMetricKeys  = map[string]kind{"name": text, "filter": anyKind, "alias": text, "offset_window": anyKind, "offset_to_grain": anyKind}
	aggregationKeys  = map[string]kind{"semantic_model": text, "agg": text, "agg_params": single, "agg_time_dimension": text, "non_additive_dimension": single, "expr": text}
)

// The limits of one metric.
const (
	maxInputs = 100
	maxLeaves = 64
)

// dbtMetric is a metric with the measure that it becomes.
type dbtMetric struct {
	origin
	raw     object
	seen    bool
	busy    bool
	model   *dbtModel // whose measure it is
	measure *measure
	leaves  []*dbtMeasure // what it is made of in the end
	sum     bool          // it is one sum
	count   bool          // it is one count
}

// metricsOf carries the metrics over.
func (d *dbt) metricsOf(list []object) {
	for _, o := range list {
		m := &dbtMetric{origin: origin{"metric", o.text("name")}, raw: o}
		if m.name == "" || d.byName[m.name] != nil {
			d.lose(m.origin, "", "its name is missing, or another metric has it")
			continue
		}
		d.byName[m.name] = m
		d.metrics = append(d.metrics, m)
		d.reserved[strings.ToLower(m.name)] = true
	}
	for _, m := range d.metrics {
		d.resolve(m)
	}
}

// resolve makes the measure of a metric after those that it is made of. It reports
// whether that was possible.
func (d *dbt) resolve(m *dbtMetric) bool {
	if m.seen {
		return m.measure != nil
	}
	if m.busy {
		return false
	}
	m.busy = true
	why := d.metric(m)
	m.seen, m.busy = true, false
	if why == "" && slices.ContainsFunc(m.model.source.measures, func(o *measure) bool { return strings.EqualFold(o.name, m.name) }) {
		why = "another metric of its source has its name, but for case"
	}
	if why != "" {
		m.measure = nil
		d.lose(m.origin, "", "%s", why)
		return false
	}
	m.measure.origin, m.measure.name, m.measure.description = m.origin, m.name, m.raw.text("description")
	d.take(m.model, m.measure)
	return true
}

// metric makes the measure of a metric, or says why that is not possible.
func (d *dbt) metric(m *dbtMetric) string {
	params := m.raw.object("type_params")
	for _, why := range []string{m.raw.wrong(metricKeys), params.wrong(paramsKeys)} {
		if why != "" {
			return why
		}
	}
	switch typ := strings.ToLower(m.raw.text("type")); typ {
	case "simple":
		return d.simple(m, params)
	case "ratio":
		return d.ratio(m, params)
	case "derived":
		return d.derived(m, params)
	case "cumulative":
		return "a cumulative metric adds up over a window of time, and a measure of ktx has no window"
	case "conversion":
		return "a conversion metric follows rows of one table to later rows of another, and a measure of ktx does not"
	default:
		return "its type " + shorten(typ) + " is not known"
	}
}

// spine says why an input cannot be carried over if its empty periods are filled.
func spine(o object) string {
	switch {
	case o["fill_nulls_with"] != nil:
		return "it has fill_nulls_with, and a measure of ktx alone stays NULL where it has no rows; write a measure with coalesce if that is meant"
	case o.flag("join_to_timespine"):
		return "it has join_to_timespine, and ktx has no time spine"
	}
	return ""
}

func (d *dbt) simple(m *dbtMetric, params object) string {
	input := params.object("measure")
	own := params.object("metric_aggregation_params")
	for _, why := range []string{input.wrong(inputMeasureKeys), own.wrong(aggregationKeys), spine(params), spine(input)} {
		if why != "" {
			return why
		}
	}
	var v *dbtMeasure
	switch found := d.measures[input.text("name")]; {
	case own != nil && input != nil:
		return "it names a measure and has an aggregation of its own"
	case own != nil:
		i := slices.IndexFunc(d.models, func(x *dbtModel) bool { return x.name == own.text("semantic_model") })
		if i < 0 {
			return "its semantic model " + shorten(own.text("semantic_model")) + " is not there, or was left out"
		}
		v = &dbtMeasure{origin: m.origin, model: d.models[i], aggTime: firstOf(own.text("agg_time_dimension"), d.models[i].aggTime)}
		d.aggregate(v, own.text("agg"), firstOf(params.text("expr"), firstOf(own.text("expr"), m.name)), own.object("agg_params"), own.object("non_additive_dimension"))
		if v.why == "" {
			v.why = d.shadowed(v)
		}
	case len(found) == 1:
		v = found[0]
	case len(found) > 1:
		return "several measures are called " + shorten(input.text("name"))
	default:
		return "its measure " + shorten(input.text("name")) + " is not there, or its semantic model was left out"
	}
	if v.why != "" {
		if v.origin == m.origin {
			return v.why
		}
		return "its measure " + shorten(v.name) + " was left out: " + v.why
	}
	m.model, m.leaves = v.model, []*dbtMeasure{v}
	m.measure = &measure{tree: v.tree, semi: v.semi}
	m.sum = v.tree.Func == "sum" && v.semi == nil
	m.count = v.tree.Func == "count" && v.semi == nil
	if v.semiNote != "" {
		d.note(m.model.name, m.name, "%s", v.semiNote)
	}
	return d.filtered(m.measure, m, input["filter"], m.raw["filter"])
}

// shadowed says it if an aggregation of a metric reads a column of the table whose name a
// computed column has, because the aggregation was not known when the columns were made.
func (d *dbt) shadowed(v *dbtMeasure) string {
	why := ""
	names(v.tree, func(n expr.Name) {
		for _, c := range v.model.columns {
			if c.tree != nil && strings.EqualFold(c.name, n.Leaf) {
				why = "it reads the column " + shorten(n.Leaf) + " of the table, whose name a computed dimension has"
			}
		}
	})
	return why
}

// filtered puts filters on a measure.
func (d *dbt) filtered(x *measure, m *dbtMetric, filters ...any) string {
	var all []*expr.Expr
	for _, f := range filters {
		list, ok := filterTexts(f)
		if !ok {
			return "its filter does not have the form that the format gives it"
		}
		for _, text := range list {
			tree, why := d.condition(text, m)
			if why != "" {
				return why
			}
			all = append(all, tree)
		}
	}
	x.filter = expr.And(all)
	return ""
}

// filterTexts reads the forms that a filter can have.
func filterTexts(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, len(v) <= maxText
	case []any:
		var out []string
		for _, item := range v {
			switch item.(type) {
			case string, map[string]any:
			default:
				return nil, false
			}
			inner, ok := filterTexts(item)
			if !ok || len(out)+len(inner) > maxInputs {
				return nil, false
			}
			out = append(out, inner...)
		}
		return out, true
	case map[string]any:
		o := object(v)
		if o.wrong(map[string]kind{"where_filters": anyKind, "where_sql_template": text}) != "" || len(o) != 1 {
			return nil, false
		}
		if template, ok := o["where_sql_template"].(string); ok {
			return []string{template}, true
		}
		list, ok := o["where_filters"].([]any)
		if !ok {
			return nil, false
		}
		return filterTexts(list)
	}
	return nil, false
}

// condition reads a filter for everything that a metric is made of: it must mean the same
// columns for all of them.
func (d *dbt) condition(text string, m *dbtMetric) (*expr.Expr, string) {
	var first *expr.Expr
	for i, v := range m.leaves {
		tree, why := d.filterTree(text, func(r reference) (*expr.Expr, string) { return d.reference(v, r) })
		if why != "" {
			return nil, why
		}
		if i == 0 {
			first = tree
		} else if tree.String() != first.String() {
			return nil, "its filter means other columns for each of the measures that it is made of"
		}
	}
	return rename(first, func(n expr.Name) (*expr.Expr, string) {
		if n.Qualifier == m.model.name {
			return nameOf("", n.Leaf), ""
		}
		return nameOf(n.Qualifier, n.Leaf), ""
	})
}

// reference resolves a call of a filter from the rows of a measure. Its names have the
// node before them.
func (d *dbt) reference(v *dbtMeasure, r reference) (*expr.Expr, string) {
	m := v.model
	shown := fmt.Sprintf("%s('%s')", r.call, shorten(r.name))
	path := strings.Split(r.name, "__")
	entity, name := "", path[0]
	switch {
	case len(path) == 2:
		entity, name = path[0], path[1]
	case len(path) > 2:
		return nil, "its filter has " + shown + ", which leads over more than one join, and ktx could take another path"
	}
	if r.call == "Entity" {
		return d.entityOf(m, entity, name, shown)
	}
	if entity == "" {
		if name != "metric_time" {
			return nil, "its filter has " + shown + " without an entity"
		}
		x := m.dimensions[v.aggTime]
		if x == nil || !x.time {
			return nil, "its filter has metric_time, and its measure has no time dimension"
		}
		return x.value(m.name, r, shown)
	}
	local := entity == m.primary || slices.ContainsFunc(m.entities, func(e *dbtEntity) bool { return e.element.name == entity && e.typ != "foreign" })
	if x := m.dimensions[name]; local && x != nil {
		return x.value(m.name, r, shown)
	}
	t, j, why := d.over(m, entity, shown, func(t *dbtModel) bool { return t.dimensions[name] != nil })
	if why != "" {
		return nil, why
	}
	return t.dimensions[name].value(firstOf(j.alias, t.name), r, shown)
}

// over finds the one join over an entity to a model that has what is looked for.
func (d *dbt) over(m *dbtModel, entity, shown string, has func(*dbtModel) bool) (*dbtModel, *join, string) {
	var found *join
	var target *dbtModel
	for _, j := range m.joinTo[entity] {
		i := slices.IndexFunc(d.models, func(t *dbtModel) bool { return t.source == j.to })
		if i < 0 || !has(d.models[i]) {
			continue
		}
		if found != nil {
			return nil, nil, "its filter has " + shown + ", which several semantic models have"
		}
		found, target = j, d.models[i]
	}
	if found == nil {
		return nil, nil, "its filter has " + shown + ", which " + shorten(m.name) + " does not reach over one join that was carried over"
	}
	return target, found, ""
}

func (d *dbt) entityOf(m *dbtModel, link, name, shown string) (*expr.Expr, string) {
	node := m.name
	if link != "" && link != m.primary {
		t, j, why := d.over(m, link, shown, func(t *dbtModel) bool {
			return slices.ContainsFunc(t.entities, func(e *dbtEntity) bool { return e.element.name == name })
		})
		if why != "" {
			return nil, why
		}
		m, node = t, firstOf(j.alias, t.name)
	}
	for _, e := range m.entities {
		if e.element.name == name && e.column != nil {
			return nameOf(node, e.column.name), ""
		}
	}
	return nil, "its filter has " + shown + ", and " + shorten(m.name) + " has no such entity, or it was left out"
}

// value is the column of a dimension as a filter sees it: a time is cut to its granularity.
func (x *dbtDimension) value(node string, r reference, shown string) (*expr.Expr, string) {
	if x.column == nil {
		return nil, "its filter has " + shown + ", and that dimension was left out"
	}
	name := nameOf(node, x.column.name)
	if !x.time {
		if r.call == "TimeDimension" {
			return nil, "its filter has " + shown + ", and that dimension is no time"
		}
		return name, ""
	}
	grain := firstOf(r.grain, x.granularity)
	if !slices.Contains(granularities, grain) {
		return nil, "its filter has " + shown + ", and ktx has no granularity " + shorten(grain)
	}
	return &expr.Expr{Op: expr.OpCall, Func: "date_trunc", Args: []*expr.Expr{{Op: expr.OpString, Text: grain}, name}}, ""
}

// input makes what a metric needs of another one: the metric itself, or a measure of its
// own if the input has a filter.
func (d *dbt) input(m *dbtMetric, o object) (*dbtMetric, string) {
	if why := o.wrong(inputMetricKeys); why != "" {
		return nil, why
	}
	if !empty(o["offset_window"]) || !empty(o["offset_to_grain"]) {
		return nil, "its input " + shorten(o.text("name")) + " is moved in time (offset_window or offset_to_grain), and a measure of ktx is not"
	}
	of := d.byName[o.text("name")]
	if of == nil || of == m {
		return nil, "its input " + shorten(o.text("name")) + " is not a metric of the manifest, or is itself"
	}
	if !d.resolve(of) {
		return nil, "its input " + shorten(of.name) + " was left out"
	}
	list, ok := filterTexts(o["filter"])
	if ok && len(list) == 0 {
		return of, ""
	}
	aux := &dbtMetric{origin: origin{"input", m.name + "_" + firstOf(o.text("alias"), of.name)}, model: of.model, leaves: of.leaves, sum: of.sum, count: of.count}
	aux.measure = &measure{tree: nameOf("", of.measure.name), needs: []*measure{of.measure}}
	if why := d.filtered(aux.measure, aux, o["filter"]); why != "" {
		return nil, why
	}
	return aux, ""
}

// add puts the measure of an input with a filter on its source. The metric that needs it
// is known to be carried over.
func (d *dbt) add(m, aux *dbtMetric) {
	base := aux.name
	for n := 2; d.reserved[strings.ToLower(aux.name)]; n++ {
		aux.name = fmt.Sprintf("%s_%d", base, n)
	}
	d.reserved[strings.ToLower(aux.name)] = true
	aux.measure.origin, aux.measure.name = aux.origin, aux.name
	aux.measure.description = "An input of " + m.name + "."
	d.take(aux.model, aux.measure)
}

// made makes a metric of a tree over inputs. Names gives the input of each name.
func (d *dbt) made(m *dbtMetric, inputs []*dbtMetric, tree *expr.Expr, named func(expr.Name) (*dbtMetric, string)) string {
	m.model = inputs[0].model
	for _, in := range inputs {
		for _, v := range in.leaves {
			if !slices.Contains(m.leaves, v) {
				m.leaves = append(m.leaves, v)
			}
		}
	}
	if len(m.leaves) > maxLeaves {
		return fmt.Sprintf("it is made of more than %d measures", maxLeaves)
	}
	if _, why := rename(tree, func(n expr.Name) (*expr.Expr, string) { _, why := named(n); return nameOf("", "x"), why }); why != "" {
		return why
	}
	m.measure = &measure{}
	if why := d.filtered(m.measure, m, m.raw["filter"]); why != "" {
		return why
	}
	sums, counts := map[string]bool{}, false
	for _, in := range inputs {
		if in.raw == nil && in.measure.name == "" {
			d.add(m, in)
		}
		m.measure.needs = append(m.measure.needs, in.measure)
	}
	tree, why := rename(tree, func(n expr.Name) (*expr.Expr, string) {
		in, why := named(n)
		if why != "" {
			return nil, why
		}
		node := in.model.name
		if in.model == m.model {
			node = ""
		}
		out := nameOf(node, in.measure.name)
		sums[out.String()] = in.sum
		counts = counts || in.count
		return out, ""
	})
	if why != "" {
		return why
	}
	if counts {
		d.note(m.model.name, m.name, "a count without rows is 0 here, and can be NULL in MetricFlow")
	}
	m.measure.tree = keepNull(tree, func(e *expr.Expr) bool { return e.Op == expr.OpName && sums[e.String()] })
	m.sum = tree.Op == expr.OpName && sums[tree.String()]
	return ""
}

// keepNull writes arithmetic so that a sum without rows makes it NULL. Ktx reads such a
// sum as 0 in arithmetic, but not as the argument of a function.
func keepNull(tree *expr.Expr, sum func(*expr.Expr) bool) *expr.Expr {
	out, err := expr.Map(tree, func(e *expr.Expr) (*expr.Expr, *expr.Error) {
		for i, a := range e.Args {
			arithmetic := false
			switch e.Op {
			case expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpMod, expr.OpNeg:
				arithmetic = true
			case expr.OpDiv:
				arithmetic = i == 0 // NULL and 0 are the same as a divisor
			case expr.OpCall:
				arithmetic = i == 0 && e.Func == "safe_divide"
			}
			if arithmetic && sum(a) {
				e.Args[i] = &expr.Expr{Op: expr.OpCall, Func: "coalesce", Args: []*expr.Expr{a, {Op: expr.OpNull}}}
			}
		}
		return e, nil
	})
	if err != nil {
		return tree
	}
	return out
}

func (d *dbt) ratio(m *dbtMetric, params object) string {
	var inputs []*dbtMetric
	for _, key := range []string{"numerator", "denominator"} {
		in, why := d.input(m, params.object(key))
		if why != "" {
			return why
		}
		inputs = append(inputs, in)
	}
	tree := &expr.Expr{Op: expr.OpDiv, Args: []*expr.Expr{nameOf("", "numerator"), nameOf("", "denominator")}}
	return d.made(m, inputs, tree, func(n expr.Name) (*dbtMetric, string) {
		if n.Leaf == "numerator" {
			return inputs[0], ""
		}
		return inputs[1], ""
	})
}

func (d *dbt) derived(m *dbtMetric, params object) string {
	list := params.objects("metrics")
	if len(list) == 0 || len(list) > maxInputs {
		return fmt.Sprintf("it has no inputs, or more than %d", maxInputs)
	}
	tree, err := expr.Parse(params.text("expr"))
	if err != nil {
		return "its expr cannot be read: " + because(err)
	}
	if why := d.differs(tree); why != "" {
		return why
	}
	divides := false
	aggregate := false
	expr.Walk(tree, func(e *expr.Expr) bool {
		divides = divides || e.Op == expr.OpDiv
		aggregate = aggregate || e.Op == expr.OpAggregate
		return true
	})
	if aggregate {
		return "its expr has an aggregate, and its inputs are aggregated already"
	}
	var inputs []*dbtMetric
	byAlias := map[string]*dbtMetric{}
	for _, o := range list {
		in, why := d.input(m, o)
		if why != "" {
			return why
		}
		alias := strings.ToLower(firstOf(o.text("alias"), o.text("name")))
		if byAlias[alias] != nil {
			return "two of its inputs are called " + shorten(alias)
		}
		byAlias[alias] = in
		inputs = append(inputs, in)
	}
	why := d.made(m, inputs, tree, func(n expr.Name) (*dbtMetric, string) {
		if in := byAlias[strings.ToLower(n.Leaf)]; in != nil && n.Qualifier == "" {
			return in, ""
		}
		return nil, "its expr names " + shorten(n.String()) + ", which is none of its inputs"
	})
	if why == "" && divides {
		d.note(m.model.name, m.name, "its division is exact here, and NULL by 0; in MetricFlow it is what the engine does, which can cut whole numbers")
	}
	return why
}
