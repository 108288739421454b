package model_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// orders has ten lines, so that what a test adds begins on line 11.
const orders = `name: orders
table: public.orders
grain: [id]
columns:
  - {name: id, type: number}
  - {name: customer_id, type: number}
  - {name: amount, type: number}
  - {name: created_at, type: time}
  - {name: status, type: string}
  - {name: secret, type: string, visibility: hidden}
`

const customers = `name: customers
table: public.customers
grain: [id]
columns:
  - {name: id, type: number}
  - {name: name, type: string}
  - {name: region_id, type: number}
  - {name: credit, type: number}
joins:
  - {to: regions, on: region_id = regions.id, relationship: many_to_one}
`

const regions = `name: regions
table: regions
grain: [id]
columns:
  - {name: id, type: number}
  - {name: region, type: string}
`

const joinCustomers = `joins:
  - {to: customers, on: customer_id = customers.id, relationship: many_to_one}
`

const manifest = `tables:
  orders:
    table: public.orders
    columns:
      - {name: id, type: bigint, pk: true}
      - {name: customer_id, type: bigint}
      - {name: amount, type: "numeric(10,2)"}
      - {name: created_at, type: timestamp with time zone}
    joins:
      - {to: customers, on: orders.customer_id = customers.id, relationship: many_to_one, source: formal}
  customers:
    table: public.customers
    columns:
      - {name: id, type: bigint, pk: true}
      - {name: email, type: text}
`

// files maps names of files to what stands in them.
type files map[string]string

func load(f files) *model.Model { return loadWith(f, judge) }

func loadWith(f files, j model.Judge) *model.Model {
	fsys := fstest.MapFS{}
	for name, text := range f {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return model.Load(fsys, "warehouse", j)
}

// judge stands for the guard: it refuses what does not begin with SELECT or WITH, and
// sees the columns of queries that end in a comment with their names.
func judge(sql string) (relations, columns []string, err error) {
	if !strings.HasPrefix(sql, "SELECT") && !strings.HasPrefix(sql, "WITH") {
		return nil, nil, errors.New("the statement writes")
	}
	if _, list, ok := strings.Cut(sql, "-- "); ok {
		columns = strings.Split(strings.TrimSpace(list), ", ")
	}
	return []string{"t"}, columns, nil
}

// problems writes the problems of a model, one on each line.
func problems(m *model.Model) []string {
	var out []string
	for _, p := range m.Problems {
		kind := string(p.Class)
		if p.Warning {
			kind = "warning " + kind
		}
		out = append(out, fmt.Sprintf("%s:%d %s %s", p.File, p.Line, strings.TrimSpace(p.Path), kind))
	}
	return out
}

func valid(t *testing.T, f files) *model.Model {
	t.Helper()
	m := load(f)
	for _, p := range m.Problems {
		if !p.Warning {
			t.Fatalf("unexpected problem: %+v", p)
		}
	}
	return m
}

func node(t *testing.T, m *model.Model, name string) int {
	t.Helper()
	n, err := m.Node(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func name(t *testing.T, text string) expr.Name {
	t.Helper()
	n, err := expr.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// classOf is empty for no error.
func classOf(err *expr.Error) expr.Class {
	if err == nil {
		return ""
	}
	return err.Class
}

func TestProblems(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("a", 1<<20)
	tests := []struct {
		name string
		add  string // to orders.yaml; customers.yaml and regions.yaml are there too
		more files
		want []string
	}{
		// The file.
		{name: "syntax", more: files{"x.yaml": "name: x\ntable: [\n"}, want: []string{"x.yaml:3  invalid_source"}},
		{name: "two documents", more: files{"x.yaml": "name: x\n---\nname: y\n"}, want: []string{"x.yaml:2  invalid_source"}},
		{name: "empty file", more: files{"x.yml": "# nothing\n"}, want: []string{"x.yml:1  invalid_source"}},
		{name: "a list", more: files{"x.yaml": "- a\n"}, want: []string{"x.yaml:1  invalid_source"}},
		{name: "not UTF-8", more: files{"x.yaml": "name: x\ntable: \xff\n"}, want: []string{"x.yaml:2  invalid_source"}},
		{name: "too large", more: files{"x.yaml": "name: x\n# " + big}, want: []string{"x.yaml:0  invalid_source"}},
		{name: "anchor", more: files{"x.yaml": "name: &a x\ntable: *a\n"}, want: []string{"x.yaml:1  invalid_source"}},
		{name: "merge key", add: "usage:\n  <<: {a: b}\n", want: []string{"orders.yaml:12  invalid_source"}},
		{name: "tag", more: files{"x.yaml": "name: !!binary eA==\n"}, want: []string{"x.yaml:1  invalid_source"}},
		{name: "deep", add: "usage: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", want: []string{"orders.yaml:11  invalid_source"}},
		{name: "no name", more: files{"x.yaml": "table: x\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:1  invalid_source"}},
		{name: "name twice", more: files{"x.yaml": "name: Orders\ntable: x\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:1 name duplicate_name"}},
		{name: "key twice", add: "tags: [a]\ntags: [b]\n", want: []string{"orders.yaml:12 tags duplicate_name"}},
		{name: "point in name", more: files{"x.yaml": "name: a.b\ntable: x\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:1 name invalid_source"}},

		// Keys.
		{name: "unknown key", add: "mesures: []\n", want: []string{"orders.yaml:11 mesures unknown_key"}},
		{name: "unknown key of a measure", add: "measures:\n  - name: a\n    expr: count(*)\n    filters: amount > 1\n", want: []string{"orders.yaml:14 measures[0].filters unknown_key"}},
		{name: "unknown key of a column", more: files{"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: b, type: number, hidden: true}\n"}, want: []string{"x.yaml:6 columns[1].hidden unknown_key"}},
		{name: "unknown key of semi_additive", add: "measures:\n  - {name: a, expr: sum(amount), semi_additive: {over: created_at, take: last, per: [], by: x}}\n", want: []string{"orders.yaml:12 measures[0].semi_additive.by unknown_key"}},
		{name: "unknown key of a join", add: "joins:\n  - {to: customers, on: customer_id = customers.id, relationship: many_to_one, type: left}\n", want: []string{"orders.yaml:12 joins[0].type unknown_key"}},
		{name: "unknown keys of the manifest", more: files{"_schema/a.yaml": "tabels: {}\n", "_schema/b.yaml": "tables:\n  x:\n    table: x\n    columns:\n      - {name: a, type: int, primary: true}\n"}, want: []string{"_schema/a.yaml:1 tabels unknown_key", "_schema/b.yaml:5 tables.x.columns[0].primary unknown_key"}},
		{name: "a word that YAML 1.1 takes for true", add: "draft: yes\n", want: []string{"orders.yaml:11 draft invalid_source"}},
		{name: "a filter without a value", add: "measures:\n  - name: a\n    expr: count(*)\n    filter:\n", want: []string{"orders.yaml:14 measures[0].filter invalid_measure"}},
		{name: "a text for a list", more: files{"x.yaml": "name: x\ntable: x\ngrain: id\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:3 grain invalid_source"}},
		{name: "only in an overlay", add: "exclude_columns: [id]\n", want: []string{"orders.yaml:11 exclude_columns invalid_source"}},

		// The table, the query, the grain, and the columns.
		{name: "SQL as a table", more: files{"x.yaml": "name: x\ntable: (SELECT 1)\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:2 table invalid_source"}},
		{name: "four parts", more: files{"x.yaml": "name: x\ntable: a.b.c.d\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:2 table invalid_source"}},
		{name: "table and sql", more: files{"x.yaml": "name: x\ntable: x\nsql: SELECT 1 -- id\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:3 sql invalid_source"}},
		{name: "a query that writes", more: files{"x.yaml": "name: x\nsql: DELETE FROM x\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:2 sql unsafe_sql_source"}},
		{name: "a query with a semicolon", more: files{"x.yaml": "name: x\nsql: SELECT 1;\ngrain: [id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:2 sql unsafe_sql_source"}},
		{name: "a column that is not in the query", more: files{"x.yaml": "name: x\nsql: SELECT id -- id\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: b, type: number}\n"}, want: []string{"x.yaml:6 columns[1].name invalid_column"}},
		{name: "no grain", more: files{"x.yaml": "name: x\ntable: x\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:1  invalid_grain"}},
		{name: "empty grain", more: files{"x.yaml": "name: x\ntable: x\ngrain: []\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:3 grain invalid_grain"}},
		{name: "a grain without its column", more: files{"x.yaml": "name: x\ntable: x\ngrain: [id, x.id, nr, id]\ncolumns: [{name: id, type: number}]\n"}, want: []string{"x.yaml:3 grain[1] invalid_grain", "x.yaml:3 grain[2] invalid_grain", "x.yaml:3 grain[3] invalid_grain"}},
		{name: "a column with a point", more: files{"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: a.b, type: number}\n"}, want: []string{"x.yaml:6 columns[1].name invalid_column"}},
		{name: "a column of another type", more: files{"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id, type: int}\n"}, want: []string{"x.yaml:5 columns[0].type invalid_column"}},
		{name: "a column without a type", more: files{"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id}\n"}, want: []string{"x.yaml:5 columns[0] invalid_column"}},
		{name: "two columns of one name", more: files{"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: id, type: string}\n"}, want: []string{"x.yaml:6 columns[1].name duplicate_name"}},
		{name: "a time that is a number", more: files{"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id, type: number, role: time}\n"}, want: []string{"x.yaml:5 columns[0].role invalid_column"}},
		{name: "default time", add: "default_time_dimension: amount\n", want: []string{"orders.yaml:11 default_time_dimension invalid_column"}},

		// Joins.
		{name: "join to nothing", add: "joins:\n  - {to: customer, on: customer_id = customer.id, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].to unknown_source"}},
		{name: "join without its column", add: "joins:\n  - to: customers\n    on: customer_id = customers.nr\n    relationship: many_to_one\n", want: []string{"orders.yaml:13 joins[0].on invalid_join"}},
		{name: "join with OR", add: "joins:\n  - {to: customers, on: customer_id = customers.id OR amount = customers.id, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].on invalid_join"}},
		{name: "join with less than", add: "joins:\n  - {to: customers, on: customer_id < customers.id, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].on invalid_join"}},
		{name: "join with a constant", add: "joins:\n  - {to: customers, on: customer_id = customers.id AND amount = 1, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].on invalid_join"}},
		{name: "join with a third source", add: "joins:\n  - {to: customers, on: customer_id = regions.id, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].on invalid_join"}},
		{name: "join on one side", add: "joins:\n  - {to: customers, on: customer_id = id, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].on invalid_join"}},
		{name: "join that is no expression", add: "joins:\n  - {to: customers, on: customer_id = customers.id --, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].on invalid_join"}},
		{name: "join of another kind", add: "joins:\n  - {to: customers, on: customer_id = customers.id, relationship: many_to_many}\n", want: []string{"orders.yaml:12 joins[0].relationship invalid_join"}},
		{name: "join that is not on the grain", add: "joins:\n  - {to: customers, on: customer_id = customers.region_id, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0].on join_not_on_grain"}},
		{name: "one_to_many that is not on the grain", add: "joins:\n  - {to: customers, on: customer_id = customers.id, relationship: one_to_many}\n", want: []string{"orders.yaml:12 joins[0].on join_not_on_grain"}},
		{name: "one_to_one of which one side is not on the grain", add: "joins:\n  - {to: customers, on: customer_id = customers.id, relationship: one_to_one}\n", want: []string{"orders.yaml:12 joins[0].on join_not_on_grain"}},
		{name: "join on a computed column", add: "  - {name: c2, type: number, expr: customer_id + 1}\njoins:\n  - {to: customers, on: c2 = customers.id, relationship: many_to_one}\n", want: []string{"orders.yaml:13 joins[0].on invalid_join"}},
		{name: "self join without an alias", add: "joins:\n  - {to: orders, on: customer_id = orders.id, relationship: many_to_one}\n", want: []string{"orders.yaml:12 joins[0] invalid_join"}},
		{name: "alias of a source", add: "joins:\n  - {to: customers, on: customer_id = Regions.id, relationship: many_to_one, alias: Regions}\n", want: []string{"orders.yaml:12 joins[0].alias duplicate_name"}},
		{name: "alias twice", add: "joins:\n  - {to: customers, on: customer_id = a.id, relationship: many_to_one, alias: a}\n  - {to: customers, on: id = a.id, relationship: many_to_one, alias: a}\n", want: []string{"orders.yaml:13 joins[1].alias duplicate_name"}},

		// Computed columns.
		{name: "column without a partner", add: "  - {name: a, type: number, expr: amont * 2}\n", want: []string{"orders.yaml:11 columns[6].expr unknown_field"}},
		{name: "column of an unknown source", add: "  - {name: a, type: number, expr: customer.credit * 2}\n", want: []string{"orders.yaml:11 columns[6].expr unknown_source"}},
		{name: "column with an aggregate", add: "  - {name: a, type: number, expr: sum(amount)}\n", want: []string{"orders.yaml:11 columns[6].expr invalid_column"}},
		{name: "column of another type than its expression", add: "  - {name: a, type: string, expr: amount * 2}\n", want: []string{"orders.yaml:11 columns[6].expr invalid_column"}},
		{name: "column with types that do not fit", add: "  - {name: a, type: number, expr: amount + status}\n", want: []string{"orders.yaml:11 columns[6].expr unsafe_expression"}},
		{name: "column with a subquery", add: "  - {name: a, type: number, expr: (SELECT 1)}\n", want: []string{"orders.yaml:11 columns[6].expr unsafe_expression"}},
		{name: "column with a window", add: "  - {name: a, type: number, expr: sum(amount) OVER ()}\n", want: []string{"orders.yaml:11 columns[6].expr window_function"}},
		{name: "circular columns", add: "  - {name: a, type: number, expr: b + 1}\n  - {name: b, type: number, expr: a + 1}\n", want: []string{"orders.yaml:11 columns[6].expr circular_column"}},
		{name: "column over a join that repeats rows", more: files{
			"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: a, type: number, expr: orders.amount}\njoins:\n  - {to: orders, on: id = orders.customer_id, relationship: one_to_many}\n",
		}, want: []string{"x.yaml:6 columns[1].expr fan_out"}},
		{name: "column of a source without a join", add: "  - {name: a, type: number, expr: customers.credit}\n", want: []string{"orders.yaml:11 columns[6].expr disconnected"}},
		{name: "bare name in two sources", add: "  - {name: a, type: string, expr: lower(x)}\njoins:\n  - {to: p, on: id = p.id, relationship: many_to_one}\n  - {to: q, on: id = q.id, relationship: many_to_one}\n", more: files{
			"p.yaml": "name: p\ntable: p\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: x, type: string}]\n",
			"q.yaml": "name: q\ntable: q\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: x, type: string}]\n",
		}, want: []string{"orders.yaml:11 columns[6].expr ambiguous_field"}},
		{
			name: "column over two paths", add: "  - {name: a, type: string, expr: regions.region}\njoins:\n  - {to: regions, on: id = regions.id, relationship: many_to_one}\n  - {to: regions, on: amount = regions.id, relationship: many_to_one}\n",
			want: []string{"orders.yaml:11 columns[6].expr ambiguous_join_path"},
		},
		{
			name: "column of an alias that goes over the alias", add: "  - {name: a, type: number, expr: parent.amount}\n  - {name: b, type: number, expr: parent.a}\njoins:\n  - {to: orders, on: customer_id = parent.id, relationship: many_to_one, alias: parent}\n",
			want: []string{"orders.yaml:12 columns[7].expr disconnected"},
		},

		// Measures.
		{name: "measure without an aggregate", add: "measures:\n  - {name: a, expr: amount}\n", want: []string{"orders.yaml:12 measures[0].expr not_an_aggregate"}},
		{name: "measure of a constant", add: "measures:\n  - {name: a, expr: 1 + 1}\n", want: []string{"orders.yaml:12 measures[0].expr not_an_aggregate"}},
		{name: "measure with a column beside an aggregate", add: "measures:\n  - {name: a, expr: sum(amount) / amount}\n", want: []string{"orders.yaml:12 measures[0].expr not_an_aggregate"}},
		{name: "aggregate of an aggregate", add: "measures:\n  - {name: a, expr: avg(sum(amount))}\n", want: []string{"orders.yaml:12 measures[0].expr nested_aggregate"}},
		{name: "aggregate of a measure", add: "measures:\n  - {name: a, expr: sum(amount)}\n  - {name: b, expr: avg(a)}\n", want: []string{"orders.yaml:13 measures[1].expr nested_aggregate"}},
		{name: "sum of a text", add: "measures:\n  - {name: a, expr: sum(status)}\n", want: []string{"orders.yaml:12 measures[0].expr unsafe_expression"}},
		{name: "circular measures", add: "measures:\n  - {name: a, expr: b / 2}\n  - {name: b, expr: a * 2}\n", want: []string{"orders.yaml:12 measures[0].expr circular_measure"}},
		{name: "measure of itself", add: "measures:\n  - {name: amount, expr: amount * 2}\n", want: []string{"orders.yaml:12 measures[0].expr circular_measure"}},
		{name: "unknown measure", add: "measures:\n  - {name: revenue, expr: sum(amount)}\n  - {name: b, expr: revenu * 2}\n", want: []string{"orders.yaml:13 measures[1].expr unknown_measure"}},
		{name: "measure over a join that repeats rows", more: files{
			"x.yaml": "name: x\ntable: x\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\njoins:\n  - {to: orders, on: id = orders.customer_id, relationship: one_to_many}\nmeasures:\n  - {name: a, expr: sum(orders.amount)}\n",
		}, want: []string{"x.yaml:9 measures[0].expr fan_out"}},
		{name: "filter with an aggregate", add: "measures:\n  - {name: a, expr: sum(amount), filter: count(*) > 1}\n", want: []string{"orders.yaml:12 measures[0].filter invalid_measure"}},
		{name: "filter that is no condition", add: "measures:\n  - {name: a, expr: sum(amount), filter: amount}\n", want: []string{"orders.yaml:12 measures[0].filter invalid_measure"}},
		{name: "filter with a wrong date", add: "measures:\n  - {name: a, expr: sum(amount), filter: created_at > 'May'}\n", want: []string{"orders.yaml:12 measures[0].filter unsafe_expression"}},
		{name: "unknown segment", add: "measures:\n  - {name: a, expr: sum(amount), segments: [big]}\n", want: []string{"orders.yaml:12 measures[0].segments[0] unknown_segment"}},
		{
			name: "filter that does not reach an aggregate below", add: joinCustomers + "measures:\n  - {name: a, expr: customers.people, filter: amount > 1}\n", more: files{"customers.yaml": customers + "measures:\n  - {name: people, expr: count(*)}\n"},
			want: []string{"orders.yaml:14 measures[0].filter fan_out"},
		},
		{name: "two measures of one name", add: "measures:\n  - {name: a, expr: sum(amount)}\n  - {name: a, expr: avg(amount)}\n", want: []string{"orders.yaml:13 measures[1].name duplicate_name"}},
		{name: "semi_additive without its column", add: "measures:\n  - {name: a, expr: sum(amount), semi_additive: {over: day, take: last, per: [id]}}\n", want: []string{"orders.yaml:12 measures[0].semi_additive.over invalid_measure"}},
		{name: "semi_additive without per", add: "measures:\n  - {name: a, expr: sum(amount), semi_additive: {over: created_at, take: last}}\n", want: []string{"orders.yaml:12 measures[0].semi_additive invalid_measure"}},
		{name: "semi_additive of another measure", add: "measures:\n  - {name: b, expr: sum(amount)}\n  - {name: a, expr: b * 2, semi_additive: {over: created_at, take: last, per: []}}\n", want: []string{"orders.yaml:13 measures[1].semi_additive invalid_measure"}},
		{
			name: "measure of an alias that goes over the alias", add: joinCustomers + "  - {to: orders, on: customer_id = parent.id, relationship: many_to_one, alias: parent}\nmeasures:\n  - {name: a, expr: sum(parent.amount)}\n  - {name: b, expr: parent.a * 2}\n",
			want: []string{"orders.yaml:16 measures[1].expr disconnected"},
		},

		// Segments.
		{name: "segment with an aggregate", add: "segments:\n  - {name: a, expr: sum(amount) > 1}\n", want: []string{"orders.yaml:12 segments[0].expr invalid_segment"}},
		{name: "segment that is no condition", add: "segments:\n  - {name: a, expr: status}\n", want: []string{"orders.yaml:12 segments[0].expr invalid_segment"}},
		{name: "segment with an unknown column", add: "segments:\n  - {name: a, expr: statu = 'x'}\n", want: []string{"orders.yaml:12 segments[0].expr unknown_field"}},
		{name: "two segments of one name", add: "segments:\n  - {name: a, expr: amount > 1}\n  - {name: a, expr: amount > 2}\n", want: []string{"orders.yaml:13 segments[1].name duplicate_name"}},

		// What needs an invalid source is invalid too.
		{
			name: "a measure of an invalid source", add: joinCustomers + "measures:\n  - {name: a, expr: sum(customers.credit)}\n", more: files{"customers.yaml": customers + "sgments: []\n"},
			want: []string{"customers.yaml:11 sgments unknown_key", "orders.yaml:14 measures[0].expr unknown_key"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := files{"orders.yaml": orders + tt.add, "customers.yaml": customers, "regions.yaml": regions}
			maps.Copy(f, tt.more)
			m := load(f)
			if diff := cmp.Diff(tt.want, problems(m)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			for _, p := range m.Problems {
				if p.Message == "" || strings.Contains(p.Message, "%!") || strings.Contains(p.Hint, "%!") {
					t.Errorf("message %q, hint %q", p.Message, p.Hint)
				}
			}
			for i, s := range m.Sources {
				if s.Invalid != (m.Refusal(i) != nil) {
					t.Errorf("%s: Invalid is %v and Refusal %v", s.Name, s.Invalid, m.Refusal(i))
				}
			}
		})
	}
}

func TestOverlayProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, overlay string
		want          []string
	}{
		{"nothing of that name", "name: order\n", []string{"o.yaml:1 name invalid_source"}},
		{"exclude nothing", "name: orders\nexclude_columns: [amont]\n", []string{"o.yaml:2 exclude_columns[0] invalid_column"}},
		{"override nothing", "name: orders\ncolumn_overrides:\n  - {name: amont, visibility: hidden}\n", []string{"o.yaml:3 column_overrides[0] invalid_column"}},
		{"override by name", "name: orders\ncolumn_overrides:\n  amont: {visibility: hidden}\n", []string{"o.yaml:3 column_overrides.amont invalid_column"}},
		{"override more than metadata", "name: orders\ncolumn_overrides:\n  - {name: amount, expr: id}\n", []string{"o.yaml:3 column_overrides[0].expr unknown_key"}},
		{"override twice", "name: orders\ncolumn_overrides:\n  - {name: amount}\n  - {name: amount}\n", []string{"o.yaml:4 column_overrides[1] duplicate_name"}},
		{"disable nothing", "name: orders\ndisable_joins: [id = customers.id]\n", []string{"o.yaml:2 disable_joins[0] invalid_join"}},
		{"reuse a name", "name: orders\ncolumns:\n  - {name: amount, type: number, expr: id}\n", []string{"o.yaml:3 columns[0].name duplicate_name"}},
		{"reuse the name of an excluded column", "name: orders\nexclude_columns: [amount]\ncolumns:\n  - {name: amount, type: number, expr: id}\n", []string{"o.yaml:4 columns[0].name duplicate_name"}},
		{"column without an expression", "name: orders\ncolumns:\n  - {name: a, type: number}\n", []string{"o.yaml:3 columns[0] invalid_column"}},
		{"column without a type", "name: orders\ncolumns:\n  - {name: a, expr: id}\n", []string{"o.yaml:3 columns[0] invalid_column"}},
		{"a second overlay", "name: orders\ngrain: [nr]\n", []string{"o.yaml:2 grain[0] invalid_grain"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := load(files{"_schema/public.yaml": manifest, "o.yaml": tt.overlay})
			if diff := cmp.Diff(tt.want, problems(m)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOverlayIsMergedOnItsTable(t *testing.T) {
	t.Parallel()
	m := valid(t, files{"_schema/public.yaml": manifest, "orders.yaml": `name: orders
description: What people buy
exclude_columns: [created_at]
column_overrides:
  amount: {visibility: internal, description: in cents}
disable_joins: ['"orders".customer_id=customers . "id"']
columns:
  - {name: euros, type: number, expr: amount / 100}
joins:
  - {to: customers, on: customer_id = buyer.id, relationship: many_to_one, alias: buyer}
measures:
  - {name: revenue, expr: sum(euros)}
tags: [shop]
`})
	s := m.Sources[1]
	if s.Form != model.Overlaid || s.File != "orders.yaml" || s.Description != "What people buy" || !reflect.DeepEqual(s.Tags, []string{"shop"}) {
		t.Errorf("source %+v", s)
	}
	var columns []string
	for _, c := range s.Columns {
		columns = append(columns, fmt.Sprint(c.Name, " ", c.Type, " ", c.Visibility, " ", c.NativeType))
	}
	if diff := cmp.Diff([]string{"id number 0 bigint", "customer_id number 0 bigint", "amount number 1 numeric(10,2)", "euros number 0 "}, columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if s.Columns[2].Description != "in cents" || !s.Joins[0].Disabled || !reflect.DeepEqual(s.Grain, []int{0}) {
		t.Errorf("source %+v", s)
	}
	if err := func() *expr.Error { _, _, err := m.Path(1, 0); return err }(); classOf(err) != expr.Disconnected || !strings.Contains(err.Hint, "buyer") {
		t.Errorf("path to the table that is joined under an alias: %v", err)
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	m := load(files{"_schema/public.yaml": `tables:
  Teil "x".y:
    table: '"Über.Lager"."Teil ""x"".y"'
    descriptions: {db: from the database, ai: from a model}
    columns:
      - {name: "no", type: integer, pk: true}
      - {name: a.b, type: 'jsonb'}
      - {name: at, type: timestamptz}
      - {name: noon, type: time without time zone}
  log:
    table: log
    columns:
      - {name: a, type: 'text[]'}
      - {name: b, type: tinyint(1)}
    joins:
      - to: Teil "x".y
        on: 'log.a = "Teil ""x"".y"."a.b"'
        relationship: many_to_one
        source: inferred
      - {to: gone, on: a = gone.a, relationship: many_to_one, source: formal}
  other:
    table: other
    columns:
      - {name: id, type: number, pk: true}
      - {name: at, type: time}
`})
	want := []string{"_schema/public.yaml:17 tables.log.joins[0].on warning join_not_on_grain", "_schema/public.yaml:20 tables.log.joins[1].to warning unknown_source"}
	if diff := cmp.Diff(want, problems(m)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	var got []string
	for _, s := range m.Sources {
		if s.Invalid || s.Form != model.Manifest {
			t.Errorf("%s: %+v", s.Name, s)
		}
		for _, c := range s.Columns {
			got = append(got, fmt.Sprintf("%s.%s %v time=%v opaque=%v", s.Name, c.Name, c.Type, c.Time, c.Opaque()))
		}
		got = append(got, fmt.Sprint(s.Grain, s.Table))
	}
	if diff := cmp.Diff([]string{
		`Teil "x".y.no number time=false opaque=false`, `Teil "x".y.a.b string time=false opaque=true`, `Teil "x".y.at time time=true opaque=false`, `Teil "x".y.noon string time=false opaque=false`,
		`[0] [{Über.Lager true} {Teil "x".y true}]`,
		"log.a string time=false opaque=true", "log.b boolean time=false opaque=false", "[0 1] [{log false}]",
		"other.id number time=false opaque=false", "other.at time time=true opaque=false", "[0] [{other false}]",
	}, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if m.Sources[0].Description != "from a model" {
		t.Errorf("description %q", m.Sources[0].Description)
	}
	_, _, err := m.Path(1, 0)
	if classOf(err) != expr.FanOut || !strings.Contains(err.Message, "grain") {
		t.Errorf("a join that is left out: %v", err)
	}
}

// A file that cannot be read must not give back what it hides.
func TestBrokenOverlayMakesItsTableInvalid(t *testing.T) {
	t.Parallel()
	for _, f := range []files{
		{"orders.yaml": "name: [\n"},
		{"x.yaml": "name: orders # the table\ncolumn_overrides: [\n"},
	} {
		f["_schema/public.yaml"] = manifest
		m := load(f)
		if err := m.Refusal(1); classOf(err) != expr.InvalidSource || m.Refusal(0) != nil {
			t.Errorf("%v: refusals %v and %v", f, err, m.Refusal(0))
		}
	}
	m := load(files{"gone.yaml": "name: [\n"})
	if _, err := m.Column(name(t, "gone.x")); classOf(err) != expr.InvalidSource {
		t.Errorf("a source of a broken file: %v", err)
	}
}

func TestAuthoredSourceStandsInPlaceOfItsTable(t *testing.T) {
	t.Parallel()
	m := valid(t, files{"_schema/public.yaml": manifest, "orders.yaml": orders})
	if len(m.Sources) != 2 || m.Sources[1].Form != model.Standalone {
		t.Errorf("sources %+v", m.Sources)
	}
}

func TestJoins(t *testing.T) {
	t.Parallel()
	const pair = `name: pairs
table: pairs
grain: [a, order]
columns: [{name: a, type: number}, {name: order, type: number}, {name: "b c", type: string}]
`
	for _, on := range []string{
		"id = pairs.a and orders.amount = pairs.order",
		"pairs.order = amount AND pairs.a = ORDERS.id",
		"(id = \"pairs\".a) AND (amount = `pairs`.[order])",
		"id = PAIRS.A AND amount = pairs.\"order\" AND id = pairs.a",
	} {
		m := valid(t, files{"pairs.yaml": pair, "orders.yaml": orders + "joins:\n  - to: pairs\n    relationship: many_to_one\n    on: '" + strings.ReplaceAll(on, "'", "''") + "'\n"})
		edges, longer, err := m.Path(node(t, m, "orders"), node(t, m, "pairs"))
		if err != nil || longer || len(edges) != 1 {
			t.Fatalf("%s: %v %v %v", on, edges, longer, err)
		}
		e := m.Edges[edges[0]]
		if diff := cmp.Diff(map[model.Pair]bool{{From: 0, To: 0}: true, {From: 2, To: 1}: true}, map[model.Pair]bool{e.Pairs[0]: true, e.Pairs[1]: true}); diff != "" || len(e.Pairs) != 2 {
			t.Errorf("%s: %v", on, e.Pairs)
		}
	}
}

func TestQueriesAsSources(t *testing.T) {
	t.Parallel()
	const x = "name: x\nsql: SELECT id -- ID\ngrain: [id]\ncolumns:\n  - {name: id, type: number}\n  - {name: twice, type: number, expr: id * 2}\n"
	m := valid(t, files{"x.yaml": x})
	if m.Sources[0].SQL != "SELECT id -- ID" {
		t.Errorf("body %q", m.Sources[0].SQL)
	}
	if err := loadWith(files{"x.yaml": x}, nil).Refusal(0); classOf(err) != expr.UnsafeSQLSource {
		t.Errorf("without a judge: %v", err)
	}
}

// The loader reads through the folder that it is given, which a link cannot leave.
func TestLinksDoNotLeaveTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside.yaml")
	inside := filepath.Join(dir, "project")
	if err := os.WriteFile(outside, []byte(regions), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "regions.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(inside, "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	m := model.Load(root.FS(), "warehouse", nil)
	if diff := cmp.Diff([]string{"folder.yaml:0  invalid_source", "regions.yaml:0  invalid_source"}, problems(m)); diff != "" || len(m.Sources) != 0 {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestLoadOfNothing(t *testing.T) {
	t.Parallel()
	m := load(files{})
	if len(m.Problems)+len(m.Sources)+len(m.Nodes) != 0 || m.Hash == "" {
		t.Errorf("%+v", m)
	}
}
