package interchange

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// The keys of dbt's semantic manifest that are known. What is read by hand, or changes no
// number, has anyKind.
var (
	manifestKeys = map[string]kind{"semantic_models": objects, "metrics": objects, "project_configuration": single, "saved_queries": objects}
	modelKeys    = map[string]kind{
		"name": text, "defaults": single, "description": text, "node_relation": single, "primary_entity": text, "entities": objects,
		"measures": objects, "dimensions": objects, "label": anyKind, "metadata": anyKind, "config": anyKind,
	}
	relationKeys  = map[string]kind{"alias": text, "schema_name": text, "database": text, "relation_name": text}
	defaultsKeys  = map[string]kind{"agg_time_dimension": text}
	entityKeys    = map[string]kind{"name": text, "description": text, "type": text, "role": text, "expr": text, "label": anyKind, "metadata": anyKind, "config": anyKind}
	dimensionKeys = map[string]kind{
		"name": text, "description": text, "type": text, "is_partition": flag, "type_params": single, "expr": text, "label": anyKind, "metadata": anyKind, "config": anyKind,
	}
	timeKeys    = map[string]kind{"time_granularity": text, "validity_params": anyKind}
	measureKeys = map[string]kind{
		"name": text, "agg": text, "description": text, "create_metric": flag, "expr": anyKind, "agg_params": single, "non_additive_dimension": single,
		"agg_time_dimension": text, "label": anyKind, "metadata": anyKind, "config": anyKind,
	}
	percentileKeys  = map[string]kind{"percentile": number, "use_discrete_percentile": flag, "use_approximate_percentile": flag}
	nonAdditiveKeys = map[string]kind{"name": text, "window_choice": text, "window_groupings": texts}
)

// dbtModel is a semantic model of dbt with the source that it becomes.
type dbtModel struct {
	*source
	primary    string // the primary entity
	entities   []*dbtEntity
	dimensions map[string]*dbtDimension
	validity   bool // it has dimensions that say when its rows hold
	partition  bool
	aggTime    string // the default of its measures
	joinTo     map[string][]*join
}

type dbtEntity struct {
	*element
	typ string
}

// plain returns the column of the table that the entity is, or nothing.
func (e *dbtEntity) plain() string {
	if e.element.tree != nil && e.element.tree.Op == expr.OpName {
		return e.element.tree.Name.Leaf
	}
	return ""
}

type dbtDimension struct {
	*element
	time bool
}

// dbtMeasure is a measure, or the aggregation of a metric that has one of its own.
type dbtMeasure struct {
	origin
	model       *dbtModel
	tree        *expr.Expr
	semi        *semiAdditive
	semiNote    string
	aggTime     string
	description string
	why         string // why it cannot be carried over; empty: it can
}

type dbt struct {
	*importer
	models   []*dbtModel
	measures map[string][]*dbtMeasure
	order    []*dbtMeasure
	metrics  []*dbtMetric
	byName   map[string]*dbtMetric
	reserved map[string]bool // names of metrics and measures, in lower case
}

// FromDBT reads the semantic_manifest.json of dbt.
func FromDBT(content []byte, o Options) (*Result, error) {
	root, err := readJSON(content)
	if err != nil {
		return nil, err
	}
	if _, ok := root["semantic_models"].([]any); !ok {
		return nil, unreadable("give the file semantic_manifest.json of dbt's target folder, or the folder; dbt parse writes it", "it has no semantic_models, and is no semantic manifest of dbt")
	}
	if why := root.wrong(manifestKeys); why != "" {
		return nil, unreadable("this version of ktx may be too old for the file", "it is not a semantic manifest that ktx knows: %s", why)
	}
	d := &dbt{importer: newImporter(o), measures: map[string][]*dbtMeasure{}, byName: map[string]*dbtMetric{}, reserved: map[string]bool{}}
	d.label = "dbt"
	models, metrics := root.objects("semantic_models"), root.objects("metrics")
	if len(models) > maxSources || len(metrics) > maxMetrics {
		return nil, unreadable("", "it has more than %d semantic models, or %d metrics", maxSources, maxMetrics)
	}
	var raw []object
	for _, m := range models {
		if model := d.model(m); model != nil {
			d.models, raw = append(d.models, model), append(raw, m)
		}
	}
	for i, m := range d.models {
		d.measuresOf(m, raw[i])
	}
	for i, m := range d.models {
		d.columns(m, raw[i])
	}
	d.joins()
	d.metricsOf(metrics)
	d.remaining()
	for _, q := range root.objects("saved_queries") {
		d.lose(origin{"saved query", q.text("name")}, "", "a saved query is a request; ask for it with ktx sl query")
	}
	if p := root.object("project_configuration"); !empty(p["time_spines"]) || !empty(p["time_spine_table_configurations"]) {
		d.lose(origin{"time spine", "project_configuration"}, "", "ktx has no time spine: a period without rows is not in the answer")
	}
	d.complete()
	return d.settle()
}

// model reads a semantic model but for its measures.
func (d *dbt) model(o object) *dbtModel {
	name := o.text("name")
	at := origin{"semantic model", name}
	relation := o.object("node_relation")
	for _, why := range []string{o.wrong(modelKeys), relation.wrong(relationKeys), o.object("defaults").wrong(defaultsKeys)} {
		if why != "" {
			d.lose(at, "", "%s", why)
			return nil
		}
	}
	if len(o.objects("entities"))+len(o.objects("dimensions"))+len(o.objects("measures")) > maxItems {
		d.lose(at, "", "it has more than %d entities, dimensions and measures", maxItems)
		return nil
	}
	table := relation.text("relation_name")
	if table == "" {
		table = relation.text("schema_name") + "." + relation.text("alias")
		if db := relation.text("database"); db != "" {
			table = db + "." + table
		}
	}
	s := d.addSource("semantic model", name, table, o.text("description"))
	if s == nil {
		return nil
	}
	m := &dbtModel{source: s, primary: o.text("primary_entity"), dimensions: map[string]*dbtDimension{}, aggTime: o.object("defaults").text("agg_time_dimension"), joinTo: map[string][]*join{}}
	for _, e := range o.objects("entities") {
		d.entity(m, e)
	}
	for _, x := range o.objects("dimensions") {
		d.dimension(m, x)
	}
	return m
}

func (d *dbt) entity(m *dbtModel, o object) {
	at := origin{"entity", o.text("name")}
	typ := o.text("type")
	switch {
	case o.wrong(entityKeys) != "":
		d.lose(at, m.name, "%s", o.wrong(entityKeys))
		return
	case at.name == "" || !slices.Contains([]string{"primary", "unique", "foreign", "natural"}, typ):
		d.lose(at, m.name, "it has no name, or its type %s is not known", shorten(typ))
		return
	case slices.ContainsFunc(m.entities, func(e *dbtEntity) bool { return e.element.name == at.name }):
		d.lose(at, m.name, "another entity has its name")
		return
	}
	tree, why := d.rows(m.source, firstOf(o.text("expr"), at.name))
	if why != "" {
		d.lose(at, m.name, "%s", why)
		return
	}
	if typ == "primary" {
		m.primary = at.name
	}
	m.entities = append(m.entities, &dbtEntity{&element{origin: at, tree: tree, description: o.text("description")}, typ})
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

var granularities = []string{"hour", "day", "week", "month", "quarter", "year"}

func (d *dbt) dimension(m *dbtModel, o object) {
	at := origin{"dimension", o.text("name")}
	params := o.object("type_params")
	typ := o.text("type")
	for _, why := range []string{o.wrong(dimensionKeys), params.wrong(timeKeys)} {
		if why != "" {
			d.lose(at, m.name, "%s", why)
			return
		}
	}
	if at.name == "" || typ != "time" && typ != "categorical" {
		d.lose(at, m.name, "it has no name, or its type %s is not known", shorten(typ))
		return
	}
	if m.dimensions[at.name] != nil {
		d.lose(at, m.name, "another dimension has its name")
		return
	}
	m.validity = m.validity || !empty(params["validity_params"])
	m.partition = m.partition || o.flag("is_partition")
	tree, why := d.rows(m.source, firstOf(o.text("expr"), at.name))
	if why != "" {
		d.lose(at, m.name, "%s", why)
		m.dimensions[at.name] = &dbtDimension{element: &element{origin: at}} // so that a filter finds no other one
		return
	}
	x := &dbtDimension{&element{origin: at, tree: tree, description: o.text("description")}, typ == "time"}
	if x.time {
		x.typ = expr.Time
		x.granularity = strings.ToLower(params.text("time_granularity"))
		if !slices.Contains(granularities, x.granularity) {
			if x.granularity != "" {
				d.note(m.name, "", "the granularity %s of %s is not known, and is left out", shorten(x.granularity), shorten(at.name))
			}
			x.granularity = ""
		}
	}
	m.dimensions[at.name] = x
}

// measuresOf reads the measures of a semantic model.
func (d *dbt) measuresOf(m *dbtModel, o object) {
	for _, x := range o.objects("measures") {
		at := origin{"measure", x.text("name")}
		v := &dbtMeasure{origin: at, model: m, description: x.text("description"), aggTime: firstOf(x.text("agg_time_dimension"), m.aggTime)}
		text, ok := x["expr"].(string)
		if n, isNumber := x["expr"].(fmt.Stringer); isNumber {
			text, ok = n.String(), true
		}
		switch why := x.wrong(measureKeys); {
		case why != "":
			v.why = why
		case at.name == "" || x["expr"] != nil && !ok || len(text) > maxText:
			v.why = "it has no name, or its expr is no text"
		default:
			d.aggregate(v, x.text("agg"), firstOf(text, at.name), x.object("agg_params"), x.object("non_additive_dimension"))
		}
		d.measures[at.name] = append(d.measures[at.name], v)
		d.order = append(d.order, v)
		d.reserved[strings.ToLower(at.name)] = true
	}
}

// aggregate makes the aggregate of a measure.
func (d *dbt) aggregate(v *dbtMeasure, agg, text string, params, nonAdditive object) {
	for _, why := range []string{params.wrong(percentileKeys), nonAdditive.wrong(nonAdditiveKeys)} {
		if why != "" {
			v.why = why
			return
		}
	}
	agg = strings.ToLower(agg)
	of := func(f string, args ...*expr.Expr) *expr.Expr {
		return &expr.Expr{Op: expr.OpAggregate, Func: f, Args: args}
	}
	var arg *expr.Expr
	if strings.TrimSpace(text) == "*" && agg == "count" {
		v.tree = of("count")
	} else if arg, v.why = d.rows(v.model.source, text); v.why != "" {
		return
	}
	switch {
	case v.tree != nil:
	case agg == "sum" || agg == "min" || agg == "max" || agg == "median":
		v.tree = of(agg, arg)
	case agg == "average" || agg == "avg":
		v.tree = of("avg", arg)
	case agg == "count" && (arg.Op == expr.OpNumber || arg.Op == expr.OpString || arg.Op == expr.OpBool):
		v.tree = of("count")
	case agg == "count":
		v.tree = of("count", arg)
	case agg == "count_distinct":
		v.tree = of("count", arg)
		v.tree.Distinct = true
	case agg == "sum_boolean":
		one, zero := &expr.Expr{Op: expr.OpNumber, Text: "1"}, &expr.Expr{Op: expr.OpNumber, Text: "0"}
		v.tree = of("sum", &expr.Expr{Op: expr.OpCase, Args: []*expr.Expr{arg, one, zero}})
	case agg == "percentile":
		part, ok := params["percentile"].(fmt.Stringer)
		if !ok || params.flag("use_discrete_percentile") || params.flag("use_approximate_percentile") {
			v.why = "ktx has the continuous, exact percentile only, and this one is discrete or approximate, or names no part"
			return
		}
		tree, err := expr.Parse("percentile(x, " + part.String() + ")")
		if err != nil || tree.Op != expr.OpAggregate || len(tree.Args) != 2 {
			v.why = "its percentile is not a number from 0 to 1"
			return
		}
		v.tree = of("percentile", arg, tree.Args[1])
	default:
		v.why = "its aggregation " + shorten(agg) + " is not known"
		return
	}
	if !empty(map[string]any(nonAdditive)) {
		d.semiAdditive(v, nonAdditive)
	}
}

// semiAdditive carries a non-additive dimension over where it means the same. MetricFlow
// finds the last date of each window grouping whatever is asked, ktx within each group
// of the answer. The two are equal if every dimension of the rows is the date itself or
// one of the groupings, or is reached over one.
func (d *dbt) semiAdditive(v *dbtMeasure, o object) {
	m := v.model
	name, choice := o.text("name"), strings.ToLower(firstOf(o.text("window_choice"), "min"))
	take := map[string]string{"min": "first", "max": "last"}[choice]
	over := m.dimensions[name]
	if over == nil || take == "" || !over.time || over.tree == nil || over.tree.Op != expr.OpName {
		v.why = "its non_additive_dimension is no time column of the semantic model, or its window_choice is neither min nor max"
		return
	}
	var per []string
	groupings := o.texts("window_groupings")
	for _, g := range groupings {
		i := slices.IndexFunc(m.entities, func(e *dbtEntity) bool { return e.element.name == g })
		if i < 0 || m.entities[i].plain() == "" {
			v.why = "its window grouping " + shorten(g) + " is no entity that is a column"
			return
		}
		per = append(per, m.entities[i].plain())
	}
	byHand := fmt.Sprintf("semi_additive: {over: %s, take: %s, per: [%s]}", over.tree.Name.Leaf, take, strings.Join(per, ", "))
	for _, other := range slices.Sorted(maps.Keys(m.dimensions)) {
		if other != name {
			v.why = fmt.Sprintf("MetricFlow takes the %s date of each window grouping over all rows, ktx within each group of the answer, and by %s the two differ; if ktx's meaning is the one you want, write %s", take, shorten(other), shorten(byHand))
			return
		}
	}
	for _, e := range m.entities {
		if !slices.Contains(groupings, e.element.name) {
			v.why = fmt.Sprintf("MetricFlow takes the %s date of each window grouping over all rows, ktx within each group of the answer, and by the entity %s the two differ; if ktx's meaning is the one you want, write %s", take, shorten(e.element.name), shorten(byHand))
			return
		}
	}
	if over.granularity != "" && !d.isDay(m, over) {
		v.why = "its non_additive_dimension is cut to a " + over.granularity + " there, and here it would be taken as it is stored; ktx needs to know that the column is a date: scan the connection first"
		return
	}
	v.semi = &semiAdditive{Over: over.tree.Name.Leaf, Take: take, Per: per}
	if len(per) == 0 {
		v.semi.Per = []string{}
	} else {
		v.semiNote = "rows in which " + strings.Join(per, ", ") + " is NULL count here, and not in MetricFlow"
	}
}

// isDay reports whether cutting a time column to its granularity changes nothing.
func (d *dbt) isDay(m *dbtModel, x *dbtDimension) bool {
	if x.granularity != "day" || m.known == nil {
		return false
	}
	for _, c := range m.known.Columns {
		if c.Name == x.tree.Name.Leaf {
			return strings.EqualFold(c.NativeType, "date")
		}
	}
	return false
}

// columns adds the columns of a semantic model, its key and its default time.
func (d *dbt) columns(m *dbtModel, o object) {
	var list []*element
	for _, e := range m.entities {
		list = append(list, e.element)
	}
	for _, x := range o.objects("dimensions") {
		if y := m.dimensions[x.text("name")]; y != nil && !slices.Contains(list, y.element) {
			list = append(list, y.element)
		}
	}
	further := map[string]bool{}
	for _, v := range d.order {
		if v.model == m && v.tree != nil {
			names(v.tree, func(n expr.Name) { further[n.Leaf] = true })
		}
	}
	d.elements(m.source, list, further)
	for _, typ := range []string{"primary", "unique"} {
		for _, e := range m.entities {
			if e.typ == typ && e.plain() != "" && len(m.grain) == 0 {
				m.grain = []string{e.plain()}
			}
		}
	}
	if x := m.dimensions[m.aggTime]; x != nil && x.column != nil {
		m.defaultTime = x.column.name
	}
}

// joins adds the joins that entities of one name make.
func (d *dbt) joins() {
	byEntity := map[string][]*dbtModel{}
	find := func(m *dbtModel, name string, types ...string) *dbtEntity {
		for _, e := range m.entities {
			if e.element.name == name && slices.Contains(types, e.typ) {
				return e
			}
		}
		return nil
	}
	for _, m := range d.models {
		for _, e := range m.entities {
			if e.typ != "foreign" {
				byEntity[e.element.name] = append(byEntity[e.element.name], m)
			}
		}
	}
	aliases := map[string]bool{}
	for _, m := range d.models {
		aliases[strings.ToLower(m.name)] = true
	}
	for _, s := range d.base.Nodes {
		aliases[strings.ToLower(s.Name)] = true
	}
	count := 0
	for at, m := range d.models {
		for _, e := range m.entities {
			for _, t := range byEntity[e.element.name] {
				o := origin{"join", e.element.name}
				relationship := "many_to_one"
				to := find(t, e.element.name, "primary", "unique")
				switch {
				case t == m:
					continue
				case e.typ == "primary" && to != nil && to.typ == "primary":
					if slices.Index(d.models, t) < at {
						continue
					}
					relationship = "one_to_one"
				case e.typ != "foreign":
					continue
				}
				if count++; count > 20_000 {
					continue
				}
				switch {
				case to == nil || t.validity:
					d.lose(o, m.name, "rows of %s hold for a time only, and a join of ktx has no such condition", shorten(t.name))
				case m.partition && t.partition:
					d.lose(o, m.name, "%s and %s are both partitioned, and MetricFlow compares the partitions too", shorten(m.name), shorten(t.name))
				case e.plain() == "" || to.plain() == "":
					d.lose(o, m.name, "the entity is an expression in %s or in %s, and a join of ktx compares columns", shorten(m.name), shorten(t.name))
				default:
					j := &join{origin: o, to: t.source, pairs: [][2]string{{e.plain(), to.plain()}}, relationship: relationship}
					m.source.joins = append(m.source.joins, j)
					m.joinTo[e.element.name] = append(m.joinTo[e.element.name], j)
				}
			}
		}
	}
	if count > 20_000 {
		d.lose(origin{"join", ""}, "", "the entities make more than 20000 joins; the further ones are left out")
	}
	for _, m := range d.models {
		to := map[*source]int{}
		for _, j := range m.source.joins {
			to[j.to]++
		}
		for _, j := range m.source.joins {
			if to[j.to] < 2 {
				continue
			}
			j.alias = j.origin.name
			for n := 0; aliases[strings.ToLower(j.alias)]; n++ {
				j.alias = m.name + "_" + j.origin.name
				if n > 0 {
					j.alias += fmt.Sprintf("_%d", n+1)
				}
			}
			aliases[strings.ToLower(j.alias)] = true
		}
	}
}

// remaining adds the measures that no metric has taken the name of.
func (d *dbt) remaining() {
	for _, v := range d.order {
		if v.why != "" {
			d.lose(v.origin, v.model.name, "%s", v.why)
			continue
		}
		m := &measure{origin: v.origin, name: v.name, tree: v.tree, description: v.description, semi: v.semi}
		i := slices.IndexFunc(v.model.source.measures, func(o *measure) bool { return strings.EqualFold(o.name, v.name) })
		switch {
		case i < 0:
			d.take(v.model, m)
			if v.semiNote != "" {
				d.note(v.model.name, v.name, "%s", v.semiNote)
			}
		case v.model.source.measures[i].tree.String() != m.tree.String() || v.model.source.measures[i].filter != nil:
			d.lose(v.origin, v.model.name, "a metric of another meaning has its name")
		}
	}
}

func (d *dbt) take(m *dbtModel, x *measure) {
	m.source.measures = append(m.source.measures, x)
}
