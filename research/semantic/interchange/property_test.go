package interchange_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/semantic/interchange"
)

// words are values that mean something in one place or another of the formats.
var words = []string{
	"", "orders", "customers", "order", "customer", "order_id", "total", "x", "sum", "count", "count_distinct", "sum_boolean", "percentile", "primary",
	"foreign", "unique", "natural", "time", "categorical", "day", "simple", "ratio", "derived", "cumulative", "metric_time", "a b", "a.b", `q"q`, "\u0000", "é\u0085",
	"total * 2", "case when x then 1 end", "a / b", "sum(total)", "count(*)", "upper(x)", "total > 5", "{{ Dimension('order__x') }} = 'a'",
	"{{ TimeDimension('metric_time', 'month') }} > '2024-01-01'", "{{ Entity('order') }} IS NULL", "{{", "orders.total", "ANSI_SQL", "Integer", "Date", "*", "1", "max", "- a", "&a", "null", "yes", "!x", "# c", "table",
}

func word() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 9).Draw(t, "free") == 0 {
			return rapid.String().Draw(t, "text")
		}
		return rapid.SampledFrom(words).Draw(t, "word")
	})
}

// value is any value of a form that fits a key most of the time.
func value(shape any) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 24).Draw(t, "odd") == 0 {
			return rapid.SampledFrom([]any{nil, 5, true, "x", []any{}, map[string]any{}, []any{nil}, map[string]any{"a": 1}, 0.5}).Draw(t, "value")
		}
		switch shape := shape.(type) {
		case map[string]any:
			out := map[string]any{}
			for _, k := range keys(shape) {
				if rapid.IntRange(0, 3).Draw(t, k) > 0 {
					out[k] = value(shape[k]).Draw(t, k)
				}
			}
			return out
		case []any:
			var out []any
			for i := range rapid.IntRange(0, 4).Draw(t, "items") {
				out = append(out, value(shape[0]).Draw(t, fmt.Sprint(i)))
			}
			return out
		case string:
			return word().Draw(t, "word")
		default:
			return shape
		}
	})
}

func keys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

var (
	inputShape = map[string]any{"name": "", "filter": map[string]any{"where_filters": []any{map[string]any{"where_sql_template": ""}}}, "alias": ""}
	dbtShape   = map[string]any{
		"semantic_models": []any{map[string]any{
			"name": "", "description": "", "primary_entity": "", "defaults": map[string]any{"agg_time_dimension": ""},
			"node_relation": map[string]any{"alias": "", "schema_name": "", "relation_name": ""},
			"entities":      []any{map[string]any{"name": "", "type": "", "expr": ""}},
			"dimensions":    []any{map[string]any{"name": "", "type": "", "expr": "", "type_params": map[string]any{"time_granularity": ""}}},
			"measures": []any{map[string]any{
				"name": "", "agg": "", "expr": "", "agg_params": map[string]any{"percentile": 0.5},
				"non_additive_dimension": map[string]any{"name": "", "window_choice": "", "window_groupings": []any{""}},
			}},
		}},
		"metrics": []any{map[string]any{
			"name": "", "type": "", "filter": "",
			"type_params": map[string]any{
				"measure": inputShape, "numerator": inputShape, "denominator": inputShape, "expr": "", "metrics": []any{inputShape},
				"metric_aggregation_params": map[string]any{"semantic_model": "", "agg": ""},
			},
		}},
	}
	expressionShape = map[string]any{"dialects": []any{map[string]any{"dialect": "", "expression": ""}}}
	osiShape        = []any{map[string]any{
		"name": "", "datasets": []any{map[string]any{
			"name": "", "source": "", "primary_key": []any{""}, "fields": []any{map[string]any{"name": "", "expression": expressionShape, "datatype": ""}},
		}},
		"relationships": []any{map[string]any{"name": "", "from": "", "to": "", "from_columns": []any{""}, "to_columns": []any{""}}},
		"metrics":       []any{map[string]any{"name": "", "expression": expressionShape}},
	}}
)

// TestWhateverComesInWhatIsWrittenLoads imports inputs that are nearly right, into a
// connection without files and into one with some.
func TestWhateverComesInWhatIsWrittenLoads(t *testing.T) {
	t.Parallel()
	some := fstest.MapFS{
		"_schema/main.yaml": {Data: []byte(scanned)},
		"x.yaml":            {Data: []byte("name: x\ntable: x\ngrain: [a]\ncolumns: [{name: a, type: string}]\n")},
	}
	written := 0
	rapid.Check(t, func(r *rapid.T) {
		existing := rapid.SampledFrom([]fstest.MapFS{nil, some}).Draw(r, "existing")
		var out *interchange.Result
		var err error
		if rapid.Bool().Draw(r, "osi") {
			var content []byte
			content, err = json.Marshal(map[string]any{"version": "0.2.0.dev0", "semantic_model": value(osiShape).Draw(r, "file")})
			if err != nil {
				r.Fatal(err)
			}
			out, err = interchange.FromOSI(content, options(existing))
		} else {
			var content []byte
			content, err = json.Marshal(value(dbtShape).Draw(r, "file"))
			if err != nil {
				r.Fatal(err)
			}
			out, err = interchange.FromDBT(content, options(existing))
		}
		if err != nil {
			return // it cannot be read at all
		}
		added := map[string][]byte{}
		for _, f := range out.Files {
			if _, again := added[f.Name]; again || existing[f.Name] != nil {
				r.Fatalf("the file %s is written twice, or exists", f.Name)
			}
			added[f.Name] = f.Content
			written++
		}
		before := len(options(existing).Load(nil).Problems)
		m := options(existing).Load(added)
		errors := 0
		for _, p := range m.Problems {
			if _, ours := added[p.File]; ours {
				r.Fatalf("what was written does not load: %+v\n%s", p, added[p.File])
			}
			if !p.Warning {
				errors++
			}
		}
		if errors > before {
			r.Fatalf("other files have problems now: %+v", m.Problems)
		}
	})
	if written == 0 {
		t.Log("no input gave a file this time; the tables of the other tests have those that do")
	}
}

// FuzzInputs imports any bytes.
func FuzzInputs(f *testing.F) {
	f.Add([]byte(`{"semantic_models": [{"name": "a", "node_relation": {"alias": "a", "schema_name": "b"}}]}`))
	f.Add([]byte("version: 0.1.1\nsemantic_model: [{name: a, datasets: [{name: b, source: c}]}]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, read := range []func([]byte, interchange.Options) (*interchange.Result, error){interchange.FromDBT, interchange.FromOSI} {
			if out, err := read(content, options(nil)); err == nil {
				loaded(t, out, nil)
			}
		}
	})
}
