package model_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

const everything = `name: orders
description: What people buy
descriptions: {user: a, ai: b, dbt: c, db: d}
grain: [id]
columns:
  - {name: euros, type: number, expr: amount / 100, visibility: internal, role: default, descriptions: {ai: x}, constraints: {unique: true}, enum_values: [1, 2], tests: [a]}
  - {name: day, type: time, expr: "date_trunc('day', created_at)", role: time, natural_granularity: day}
column_overrides:
  - {name: amount, visibility: hidden}
exclude_columns: []
disable_joins: []
joins:
  - {to: customers, on: customer_id = buyer.id, relationship: many_to_one, alias: buyer, description: who pays}
measures:
  - {name: revenue, expr: sum(euros), filter: euros > 0, segments: [big], description: money, draft: true}
  - {name: last, expr: sum(euros), semi_additive: {over: created_at, take: first, per: [customer_id]}}
segments:
  - {name: big, expr: euros > 100, description: many}
default_time_dimension: created_at
tags: [shop, 2024]
freshness: {every: day}
usage: {a: [b]}
source_type: table
inherits_columns_from: x
draft: false
`

// validFiles are read without a problem next to the manifest, customers, and regions.
var validFiles = map[string]string{
	"everything": everything, "orders": orders, "standalone with joins": orders + joinCustomers,
	"overrides by name": "name: orders\ncolumn_overrides:\n  amount: {description: money}\n",
	"a query":           "name: x\nsql: SELECT id\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n",
	"empty lists":       "name: orders\nmeasures:\njoins:\ntags:\ndescription:\n",
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(model.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("source.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("source.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// document reads YAML as an editor that checks it against a JSON Schema does.
func document(t *testing.T, root *yaml.Node) any {
	t.Helper()
	var v any
	if err := root.Decode(&v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSchemaAcceptsWhatLoadAccepts(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for name, text := range validFiles {
		valid(t, files{"_schema/m.yaml": manifest, "x.yaml": text, "customers.yaml": customers, "regions.yaml": regions})
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(document(t, &root)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A key that does not exist is put into every mapping that ktx reads.
func TestSchemaAndLoadRefuseUnknownKeys(t *testing.T) {
	t.Parallel()
	free := []string{"descriptions", "constraints", "freshness", "usage"}
	s := schema(t)
	tried := 0
	for name, text := range validFiles {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		var visit func(n *yaml.Node)
		visit = func(n *yaml.Node) {
			if n.Kind == yaml.MappingNode {
				known := n.Content
				n.Content = append(slices.Clone(known), &yaml.Node{Kind: yaml.ScalarNode, Value: "zzz"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "1"})
				changed, err := yaml.Marshal(&root)
				if err != nil {
					t.Fatal(err)
				}
				if s.Validate(document(t, &root)) == nil {
					t.Errorf("%s: the schema accepts\n%s", name, changed)
				}
				m := load(files{"_schema/m.yaml": manifest, "x.yaml": string(changed), "customers.yaml": customers, "regions.yaml": regions})
				if !slices.ContainsFunc(m.Problems, func(p model.Problem) bool { return p.Class == expr.UnknownKey && strings.HasSuffix(p.Path, "zzz") }) {
					t.Errorf("%s: Load accepts\n%s", name, changed)
				}
				n.Content = known
				tried++
				for i := 0; i+1 < len(known); i += 2 {
					value := known[i+1]
					switch {
					case slices.Contains(free, known[i].Value):
					case known[i].Value == "column_overrides" && value.Kind == yaml.MappingNode: // by name
						for j := 1; j < len(value.Content); j += 2 {
							visit(value.Content[j])
						}
					default:
						visit(value)
					}
				}
				return
			}
			for _, c := range n.Content {
				visit(c)
			}
		}
		visit(&root)
	}
	if tried < 20 {
		t.Errorf("only %d mappings were tried", tried)
	}
}

func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, text := range []string{
		"table: x\ngrain: [id]\n",
		"name: x\ntable: x\n",
		"name: x\ntable: x\nsql: y\ngrain: [id]\n",
		"name: x\ntable: x\ngrain: id\n",
		"name: x\ntable: x\ngrain: [id]\nexclude_columns: [a]\n",
		"name: x\ntable: x\ngrain: [id]\ncolumns: [{name: id, type: int}]\n",
		"name: x\ncolumns: [{name: id, type: number}]\n",
		"name: x\nmeasures: [{name: a, expr: count(*), filter: }]\n",
	} {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		if s.Validate(document(t, &root)) == nil {
			t.Errorf("the schema accepts\n%s", text)
		}
		if len(load(files{"x.yaml": text, "_schema/m.yaml": "tables: {x: {table: x}}"}).Problems) == 0 {
			t.Errorf("Load accepts\n%s", text)
		}
	}
}
