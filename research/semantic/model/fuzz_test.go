package model_test

import (
	"reflect"
	"testing"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// FuzzLoad reads any text as an authored file and as a manifest. Load must end without a
// panic, give the same model twice, and what it calls valid must hold together.
func FuzzLoad(f *testing.F) {
	for _, text := range validFiles {
		f.Add(text, manifest)
	}
	f.Add(shop, people)
	f.Add("name: &a [*a]\n", "tables: {a: {table: b, columns: [{name: c, type: }]}}")
	f.Add("name: a\ntable: a\ngrain: [a]\ncolumns: [{name: a, type: number}, {name: b, type: number, expr: b.a + b}]\n", "tables: [")
	f.Fuzz(func(t *testing.T, authored, shard string) {
		all := files{"orders.yaml": authored, "_schema/m.yaml": shard, "customers.yaml": customers, "regions.yaml": regions}
		m := load(all)
		if again := load(all); !reflect.DeepEqual(m, again) {
			t.Fatal("two models of the same files differ")
		}
		for i, s := range m.Sources {
			if s.Invalid != (m.Refusal(i) != nil) {
				t.Fatalf("%s: Invalid is %v and Refusal %v", s.Name, s.Invalid, m.Refusal(i))
			}
			for j, c := range s.Columns {
				field := expr.Field{Node: i, Column: j}
				if s.Invalid {
					continue
				}
				expr.Walk(m.Expand(field), func(e *expr.Expr) bool {
					if e.Op == expr.OpName || e.Op == expr.OpField && (e.Field.Node == expr.Self || m.Sources[m.Nodes[e.Field.Node].Source].Columns[e.Field.Column].Expr != nil) {
						t.Fatalf("%s.%s is not expanded: %s", s.Name, c.Name, m.Expand(field))
					}
					return true
				})
				for _, step := range m.Dependencies(field) {
					if !m.Reaches(step.From, step.To) {
						t.Fatalf("%s.%s needs a step that does not exist", s.Name, c.Name)
					}
				}
			}
			for _, x := range s.Measures {
				if !s.Invalid && (x.Expr == nil || (x.FilterText != "") != (x.Filter != nil)) {
					t.Fatalf("%s.%s is not bound", s.Name, x.Name)
				}
			}
		}
		for _, e := range m.Edges {
			for _, p := range e.Pairs {
				if p.From >= len(m.Sources[m.Nodes[e.From].Source].Columns) || p.To >= len(m.Sources[m.Nodes[e.To].Source].Columns) {
					t.Fatal("an edge joins on columns that do not exist")
				}
			}
			if len(e.Pairs) == 0 {
				t.Fatal("an edge without pairs")
			}
		}
		for from := range m.Nodes {
			for to := range m.Nodes {
				if _, _, err := m.Path(from, to); (err == nil || err.Class == expr.AmbiguousJoinPath) != m.Reaches(from, to) {
					t.Fatalf("Path and Reaches differ: %v", err)
				}
			}
		}
	})
}
