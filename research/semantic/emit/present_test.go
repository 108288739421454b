package emit_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// TestMissingRows: a computed column of a row that is not there is NULL (R4). Where its
// expression could have a value then, the text asks whether there is a row.
func TestMissingRows(t *testing.T) {
	t.Parallel()
	for text, asks := range map[string]bool{
		"upper(name)":                                 false,
		"spent + 1":                                   false,
		"spent > 1":                                   false,
		"spent > 1 or name is null":                   true,
		"spent > 1 or name = 'x'":                     false,
		"spent > 1 and name is null":                  true,
		"spent > 1 and name = 'x'":                    false,
		"not (spent > 1)":                             false,
		"not (name is null)":                          true,
		"name in ('a', 'b')":                          false,
		"name is not null":                            true,
		"coalesce(name, 'x')":                         true,
		"coalesce(name, upper(name))":                 false,
		"concat(name, 'x')":                           true,
		"name || 'x'":                                 false,
		"case when spent > 1 then 'a' else 'b' end":   true,
		"case when spent > 1 then name else name end": false,
		"case when spent > 1 then name end":           false,
		"nullif(name, 'x')":                           false,
		"nullif('x', name)":                           true,
		"length(coalesce(name, 'x'))":                 true,
		"7":                                           true,
	} {
		read := false
		for _, k := range []string{"number", "string", "boolean"} {
			m := model.Load(fstest.MapFS{
				"orders.yaml":    {Data: []byte("name: orders\ntable: orders\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: customer, type: number}]\njoins: [{to: customers, on: customer = customers.id, relationship: many_to_one}]\nmeasures: [{name: n, expr: count(*)}]\n")},
				"customers.yaml": {Data: []byte("name: customers\ntable: customers\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: name, type: string}, {name: spent, type: number}, {name: made, type: " + k + ", expr: \"" + text + "\"}]\n")},
			}, "a", nil)
			if len(m.Problems) > 0 {
				continue // of another type
			}
			read = true
			p, refused := plan.Build(m, plan.Request{Measures: []plan.MeasureRequest{{Expr: "orders.n"}}, Dimensions: []plan.DimensionRequest{{Field: "customers.made"}}, NoEmpty: true, Limit: -1})
			if refused != nil {
				t.Fatalf("%s: %v", text, refused)
			}
			sql, refused := emit.Emit(p, emit.SQLite)
			if refused != nil {
				t.Fatalf("%s: %v", text, refused)
			}
			if got := strings.Contains(sql.Text, `"id" IS NOT NULL THEN`); got != asks {
				t.Errorf("%s: the text asks for the row: %t, want %t\n%s", text, got, asks, sql.Text)
			}
			break
		}
		if !read {
			t.Errorf("%s is no column of any type", text)
		}
	}
}
