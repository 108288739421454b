package interchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// OSIVersions are the versions of the Open Semantic Interchange format that are read.
var OSIVersions = []string{"0.1.1", "0.2.0.dev0"}

var (
	osiKeys      = map[string]kind{"version": text, "semantic_model": objects}
	osiModelKeys = map[string]kind{
		"name": text, "description": text, "ai_context": anyKind, "datasets": objects, "relationships": objects, "metrics": objects, "custom_extensions": anyKind,
	}
	datasetKeys = map[string]kind{
		"name": text, "source": text, "primary_key": texts, "unique_keys": anyKind, "description": text, "ai_context": anyKind, "fields": objects, "custom_extensions": anyKind,
	}
	fieldKeys = map[string]kind{
		"name": text, "expression": single, "dimension": single, "label": text, "description": text, "ai_context": anyKind, "custom_extensions": anyKind,
	}
	isTimeKeys       = map[string]kind{"is_time": flag}
	expressionKeys   = map[string]kind{"dialects": objects}
	dialectKeys      = map[string]kind{"dialect": text, "expression": text}
	relationshipKeys = map[string]kind{"name": text, "from": text, "to": text, "from_columns": texts, "to_columns": texts, "ai_context": anyKind, "custom_extensions": anyKind}
	osiMetricKeys    = map[string]kind{"name": text, "expression": single, "description": text, "ai_context": anyKind, "custom_extensions": anyKind}
)

// dataTypes are the types of version 0.2.0.
var dataTypes = map[string]expr.Type{
	"String": expr.String, "Integer": expr.Number, "Decimal": expr.Number, "Float": expr.Number, "Boolean": expr.Boolean,
	"Date": expr.Time, "DateTime": expr.Time, "DateTimeTz": expr.Time, "Time": expr.String, "Opaque": expr.String,
}

type osi struct {
	*importer
	typed    bool // the version has datatype
	datasets []*dataset
}

type dataset struct {
	*source
	fields map[string]*element // by name in lower case
}

// FromOSI reads a file of the Open Semantic Interchange format.
func FromOSI(content []byte, o Options) (*Result, error) {
	root, err := readYAML(content)
	if err != nil {
		return nil, err
	}
	version, _ := root["version"].(string)
	if !slices.Contains(OSIVersions, version) {
		return nil, unreadable("ktx reads the versions "+strings.Join(OSIVersions, " and "), "its version is %q, which ktx does not read", shorten(version))
	}
	if why := root.wrong(osiKeys); why != "" {
		return nil, unreadable("", "it does not follow version %s of the format: %s", version, why)
	}
	in := &osi{importer: newImporter(o), typed: version != "0.1.1"}
	count := 0
	context := false
	var models []object
	for _, m := range root.objects("semantic_model") {
		if why := m.wrong(osiModelKeys); why != "" {
			in.lose(origin{"semantic model", m.text("name")}, "", "%s", why)
			continue
		}
		models = append(models, m)
		count += len(m.objects("datasets")) + len(m.objects("relationships")) + len(m.objects("metrics"))
		context = context || mentions(m)
	}
	if len(models) > maxSources || count > maxMetrics {
		return nil, unreadable("", "it has more than %d semantic models, or %d datasets, relationships and metrics", maxSources, maxMetrics)
	}
	for _, m := range models {
		first := len(in.datasets)
		var raw []object
		for _, d := range m.objects("datasets") {
			if s := in.dataset(d); s != nil {
				in.datasets, raw = append(in.datasets, s), append(raw, d)
			}
		}
		own := in.datasets[first:]
		for i, s := range own {
			in.key(s, raw[i])
		}
		in.relationships(own, m.objects("relationships"))
		for _, x := range m.objects("metrics") {
			in.metric(own, x)
		}
	}
	if context {
		in.note("", "", "ai_context, labels and custom_extensions are not carried over")
	}
	in.complete()
	return in.settle()
}

// mentions reports whether something of a model has what is not carried over.
func mentions(v any) bool {
	switch v := v.(type) {
	case object:
		return mentions(map[string]any(v))
	case map[string]any:
		for k, inner := range v {
			if (k == "ai_context" || k == "custom_extensions" || k == "label") && !empty(inner) || mentions(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, mentions)
	}
	return false
}

// expression picks the text of an expression: the one in ANSI SQL, which is what the
// connection's engine has too. The other dialects of the format are those of engines that
// ktx does not connect to, and languages that are not SQL.
func expression(o object) (string, string) {
	e := o.object("expression")
	if why := e.wrong(expressionKeys); why != "" {
		return "", why
	}
	var others []string
	found := ""
	for _, d := range e.objects("dialects") {
		if why := d.wrong(dialectKeys); why != "" {
			return "", why
		}
		if d.text("dialect") == "ANSI_SQL" {
			if found != "" {
				return "", "it has two expressions in ANSI_SQL"
			}
			found = d.text("expression")
			continue
		}
		others = append(others, shorten(d.text("dialect")))
	}
	if found == "" {
		return "", "it has no expression in ANSI_SQL; it has: " + firstOf(shortList(others), "none")
	}
	return found, ""
}

func (in *osi) dataset(o object) *dataset {
	at := origin{"dataset", o.text("name")}
	if why := o.wrong(datasetKeys); why != "" {
		in.lose(at, "", "%s", why)
		return nil
	}
	if len(o.objects("fields")) > maxItems {
		in.lose(at, "", "it has more than %d fields", maxItems)
		return nil
	}
	if _, err := expr.ParsePath(o.text("source"), 3); err != nil {
		in.lose(at, "", "its source is a query, or no table: make a view of it, or write a source with sql by hand")
		return nil
	}
	s := in.addSource("dataset", at.name, o.text("source"), o.text("description"))
	if s == nil {
		return nil
	}
	d := &dataset{source: s, fields: map[string]*element{}}
	var list []*element
	for _, f := range o.objects("fields") {
		if e := in.field(d, f); e != nil {
			list = append(list, e)
		}
	}
	further := map[string]bool{}
	for _, key := range in.keys(o) {
		for _, c := range key {
			if name, why := in.physical(s, expr.Name{Leaf: c}); why == "" {
				further[name] = true
			}
		}
	}
	in.elements(s, list, further)
	return d
}

func (in *osi) field(d *dataset, o object) *element {
	e := &element{origin: origin{"field", o.text("name")}, description: o.text("description")}
	folded := strings.ToLower(e.name)
	keys := fieldKeys
	if in.typed {
		keys = map[string]kind{"datatype": text}
		for k, v := range fieldKeys {
			keys[k] = v
		}
	}
	for _, why := range []string{o.wrong(keys), o.object("dimension").wrong(isTimeKeys)} {
		if why != "" {
			in.lose(e.origin, d.name, "%s", why)
			return nil
		}
	}
	if e.name == "" || d.fields[folded] != nil {
		in.lose(e.origin, d.name, "its name is missing, or another field has it")
		return nil
	}
	d.fields[folded] = e // even if it is left out, so that nothing else is found in its place
	text, why := expression(o)
	if why == "" {
		e.tree, why = in.rows(d.source, text)
	}
	if why != "" {
		in.lose(e.origin, d.name, "%s", why)
		return nil
	}
	if t := o.text("datatype"); t != "" {
		var ok bool
		if e.typ, ok = dataTypes[t]; !ok {
			in.lose(e.origin, d.name, "its datatype %s is not one of the format", shorten(t))
			return nil
		}
	}
	return e
}

// keys are the primary key of a dataset and its unique keys.
func (in *osi) keys(o object) [][]string {
	var out [][]string
	if key := o.texts("primary_key"); len(key) > 0 {
		out = append(out, key)
	}
	list, _ := o["unique_keys"].([]any)
	for _, k := range list {
		if key := (object{"k": k}).texts("k"); len(key) > 0 {
			out = append(out, key)
		}
	}
	return out
}

// key gives a dataset its grain.
func (in *osi) key(d *dataset, o object) {
	for _, key := range in.keys(o) {
		var columns []string
		for _, name := range key {
			c, why := in.columnOf(d, name)
			if why != "" {
				columns = nil
				in.note(d.name, "", "a key of it is not used: %s", why)
				break
			}
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
		if columns != nil {
			d.grain = columns
			return
		}
	}
}

// columnOf finds the column of the table that a key or a relationship names.
func (in *osi) columnOf(d *dataset, name string) (string, string) {
	if f := d.fields[strings.ToLower(name)]; f != nil {
		if f.tree == nil || f.tree.Op != expr.OpName {
			return "", fmt.Sprintf("%s.%s is an expression, or was left out", shorten(d.name), shorten(name))
		}
		d.plainColumn(f.tree.Name.Leaf, true)
		return f.tree.Name.Leaf, ""
	}
	c, why := in.physical(d.source, expr.Name{Leaf: name})
	if why == "" {
		d.plainColumn(c, true)
	}
	return c, why
}

func find(list []*dataset, name string) *dataset {
	for _, d := range list {
		if d.name == name {
			return d
		}
	}
	return nil
}

func (in *osi) relationships(own []*dataset, list []object) {
	between := map[[2]*source]int{}
	for _, o := range list {
		if from, to := find(own, o.text("from")), find(own, o.text("to")); from != nil && to != nil {
			between[[2]*source{from.source, to.source}]++
		}
	}
	taken := map[string]bool{}
	for _, d := range in.datasets {
		taken[strings.ToLower(d.name)] = true
	}
	for _, n := range in.base.Nodes {
		taken[strings.ToLower(n.Name)] = true
	}
	for _, o := range list {
		at := origin{"relationship", o.text("name")}
		from, to := find(own, o.text("from")), find(own, o.text("to"))
		a, b := o.texts("from_columns"), o.texts("to_columns")
		switch why := o.wrong(relationshipKeys); {
		case why != "":
			in.lose(at, "", "%s", why)
			continue
		case from == nil || to == nil:
			in.lose(at, "", "its dataset %s or %s is not there, or was left out", shorten(o.text("from")), shorten(o.text("to")))
			continue
		case len(a) == 0 || len(a) != len(b):
			in.lose(at, from.name, "it does not name as many columns on both sides")
			continue
		}
		j := &join{origin: at, to: to.source, relationship: "many_to_one"}
		why := ""
		for i := range a {
			var x, y string
			if x, why = in.columnOf(from, a[i]); why != "" {
				break
			}
			if y, why = in.columnOf(to, b[i]); why != "" {
				break
			}
			j.pairs = append(j.pairs, [2]string{x, y})
		}
		if why != "" {
			in.lose(at, from.name, "%s", why)
			continue
		}
		if between[[2]*source{from.source, to.source}] > 1 || from == to {
			if j.alias = at.name; taken[strings.ToLower(at.name)] || at.name == "" {
				in.lose(at, from.name, "it needs a name of its own, as there are several relationships between the two datasets")
				continue
			}
			taken[strings.ToLower(j.alias)] = true
		}
		from.joins = append(from.joins, j)
	}
}

// metric carries a metric over if all its aggregates read one dataset: over which rows
// an aggregate of several counts, the format does not say.
func (in *osi) metric(own []*dataset, o object) {
	at := origin{"metric", o.text("name")}
	keys := osiMetricKeys
	if in.typed {
		keys = map[string]kind{"datatype": text}
		for k, v := range osiMetricKeys {
			keys[k] = v
		}
	}
	text, why := expression(o)
	if w := o.wrong(keys); w != "" || at.name == "" {
		why = firstOf(w, "it has no name")
	}
	var tree *expr.Expr
	if why == "" {
		var err *expr.Error
		if tree, err = expr.Parse(text); err != nil {
			why = because(err)
		} else {
			why = in.differs(tree)
		}
	}
	if why != "" {
		in.lose(at, "", "%s", why)
		return
	}
	var host *dataset
	divides := false
	expr.Walk(tree, func(e *expr.Expr) bool {
		divides = divides || e.Op == expr.OpDiv
		return e.Op != expr.OpAggregate // inside, the author's SQL stands
	})
	tree, why = rename(tree, func(n expr.Name) (*expr.Expr, string) {
		d := find(own, n.Qualifier)
		if n.Qualifier == "" {
			for _, x := range own {
				if x.fields[strings.ToLower(n.Leaf)] == nil {
					continue
				}
				if d != nil {
					return nil, "several datasets have a field " + shorten(n.Leaf) + "; write its dataset before it"
				}
				d = x
			}
		}
		switch {
		case d == nil:
			return nil, "it names " + shorten(n.String()) + ", which is no field of a dataset that was carried over"
		case host != nil && host != d:
			return nil, "it aggregates over the datasets " + shorten(host.name) + " and " + shorten(d.name) + ", and the format does not say over which rows; write one measure for each, and one that is made of both"
		}
		host = d
		f := d.fields[strings.ToLower(n.Leaf)]
		if f == nil || f.column == nil {
			return nil, "it names " + shorten(n.String()) + ", which is no field of the dataset, or was left out"
		}
		return nameOf("", f.column.name), ""
	})
	switch {
	case why != "":
	case host == nil:
		why = "it names no field, so that it is not known which rows it counts"
	case slices.ContainsFunc(host.measures, func(m *measure) bool { return strings.EqualFold(m.name, at.name) }):
		why = "another metric of its dataset has its name"
	}
	if why != "" {
		in.lose(at, "", "%s", why)
		return
	}
	tree = keepNull(tree, func(e *expr.Expr) bool { return e.Op == expr.OpAggregate && e.Func == "sum" })
	host.measures = append(host.measures, &measure{origin: at, name: at.name, tree: tree, description: o.text("description")})
	if divides {
		in.note(host.name, at.name, "its division is exact here, and NULL by 0; elsewhere it is what the engine does, which can cut whole numbers")
	}
}
