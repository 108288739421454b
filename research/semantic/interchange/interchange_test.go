package interchange_test

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ktxhq/ktx/research/semantic/interchange"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// options are those of a connection with some files.
func options(existing fstest.MapFS) interchange.Options {
	return interchange.Options{
		Load: func(added map[string][]byte) *model.Model {
			all := maps.Clone(existing)
			if all == nil {
				all = fstest.MapFS{}
			}
			for name, content := range added {
				all[name] = &fstest.MapFile{Data: content}
			}
			return model.Load(all, "shop", nil)
		},
		Has:     func(name string) bool { _, ok := existing[name]; return ok },
		Dialect: "sqlite",
	}
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(path.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// loaded loads what an import wrote, which must have no problem.
func loaded(t *testing.T, out *interchange.Result, existing fstest.MapFS) *model.Model {
	t.Helper()
	added := map[string][]byte{}
	for _, f := range out.Files {
		added[f.Name] = f.Content
	}
	m := options(existing).Load(added)
	for _, p := range m.Problems {
		if _, ours := added[p.File]; ours {
			t.Errorf("what was written does not load: %+v", p)
		}
	}
	return m
}

func measure(m *model.Model, source, name string) *model.Measure {
	at, ok := m.Source(source)
	if !ok {
		return nil
	}
	for _, x := range m.Sources[at].Measures {
		if x.Name == name {
			return x
		}
	}
	return nil
}

func TestADBTManifestBecomesSources(t *testing.T) {
	t.Parallel()
	out, err := interchange.FromDBT(fixture(t, "shop.json"), options(nil))
	if err != nil {
		t.Fatal(err)
	}
	m := loaded(t, out, nil)
	want := []struct{ source, name, expr, filter string }{
		{"orders", "revenue", "sum(total)", ""},
		{"orders", "order_count", "count(*)", ""},
		{"orders", "paid_orders", "count(order_id)", ""},
		{"orders", "buyers", "count(DISTINCT customer_id)", ""},
		{"orders", "food_orders", "sum(CASE WHEN is_food THEN 1 ELSE 0 END)", ""},
		{"orders", "mean_total", "avg(total)", ""},
		{"orders", "p90", "percentile(total, 0.9)", ""},
		{"orders", "middle", "median(total)", ""},
		{"orders", "least", "min(total - discount)", ""},
		{"orders", "big_revenue", "sum(total)", "(size = 'big') AND (customers.region = 'north')"},
		{"orders", "recent", "sum(total)", "date_trunc('month', ordered_on) >= '2024-01-01'"},
		{"orders", "with_customer", "sum(total)", "customer_id IS NOT NULL"},
		{"orders", "average_order", "coalesce(revenue, NULL) / order_count", ""},
		{"orders", "food_share_food", "revenue", "is_food"},
		{"orders", "food_share", "coalesce(food_share_food, NULL) / revenue", ""},
		{"orders", "revenue_less_refunds", "coalesce(revenue, NULL) - coalesce(refunds.refunded, NULL)", ""},
		{"orders", "own_aggregation", "sum(discount)", ""},
	}
	for _, w := range want {
		x := measure(m, w.source, w.name)
		if x == nil {
			t.Errorf("%s.%s was not carried over; left out: %v", w.source, w.name, reasons(out, w.name))
			continue
		}
		if x.Text != w.expr || strip(x.FilterText) != strip(w.filter) {
			t.Errorf("%s.%s is %q with filter %q, want %q with %q", w.source, w.name, x.Text, x.FilterText, w.expr, w.filter)
		}
	}
	at, _ := m.Source("orders")
	orders := m.Sources[at]
	if len(orders.Grain) != 1 || orders.Columns[orders.Grain[0]].Name != "order_id" {
		t.Errorf("the grain of orders is %v", orders.Grain)
	}
	if orders.DefaultTime < 0 || orders.Columns[orders.DefaultTime].Name != "ordered_on" || orders.Columns[orders.DefaultTime].NaturalGranularity != "day" {
		t.Errorf("the default time of orders is %d", orders.DefaultTime)
	}
	if orders.Description != "One row for each order." || orders.Descriptions["dbt"] == "" {
		t.Errorf("the description of orders is %q", orders.Descriptions)
	}
	types := map[string]string{}
	for _, c := range orders.Columns {
		types[c.Name] = c.Type.String()
	}
	for name, typ := range map[string]string{"total": "number", "is_food": "boolean", "size": "string", "ordered_on": "time", "state": "string", "status": "string"} {
		if types[name] != typ {
			t.Errorf("the type of %s is %s, want %s", name, types[name], typ)
		}
	}
	var joins []string
	for _, j := range orders.Joins {
		joins = append(joins, j.On+" "+j.Alias)
	}
	if got := strings.Join(joins, "; "); got != "orders.customer_id = customers.customer_id ; orders.from_port = origin_port.port_id origin_port; orders.to_port = target_port.port_id target_port" {
		t.Errorf("the joins of orders are %q", got)
	}
	if x := measure(m, "balances", "balance"); x == nil || x.SemiAdditive == nil || x.SemiAdditive.First || len(x.SemiAdditive.Per) != 1 {
		t.Errorf("the balance is %+v; left out: %v", x, reasons(out, "balance"))
	}
}

func strip(text string) string {
	return strings.NewReplacer("(", "", ")", "").Replace(text)
}

func reasons(out *interchange.Result, name string) []string {
	var list []string
	for _, l := range out.Left {
		if l.Name == name || name == "" {
			list = append(list, l.Kind+": "+l.Reason)
		}
	}
	return list
}

// TestWhatDBTHasAndKtxHasNotIsListed wants each loss with a reason that names its cause.
func TestWhatDBTHasAndKtxHasNotIsListed(t *testing.T) {
	t.Parallel()
	out, err := interchange.FromDBT(fixture(t, "losses.json"), options(nil))
	if err != nil {
		t.Fatal(err)
	}
	m := loaded(t, out, nil)
	want := map[string]string{
		"running_total": "window of time", "visit_to_buy": "later rows", "growth": "moved in time", "filled": "fill_nulls_with",
		"spined": "time spine", "monthly": "saved query", "project_configuration": "time spine",
		"jinja_call": "only Dimension(", "jinja_block": "Jinja other than", "quoted_call": "inside of a string", "raw_column": "outside of {{ }}",
		"two_hops": "more than one join", "unknown_dimension": "does not reach", "grainless": "TimeDimension takes",
		"discrete": "continuous", "windowed": "window function", "subquery": "", "strange_agg": "not known", "stock": "within each group",
		"made_of_lost": "was left out", "circle_a": "", "circle_b": "", "strange_key": "ktx does not know", "wrong_shape": "does not have the form",
		"amount": "reads the column", "no_measure": "is not there", "over_total": "none of its inputs", "aggregates": "aggregated already", "surrogate": "is an expression",
		"version": "hold for a time only",
	}
	for name, part := range want {
		got := reasons(out, name)
		if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), part) {
			t.Errorf("%s: %q, want %q in it", name, got, part)
		}
		if measure(m, "sales", name) != nil {
			t.Errorf("%s was carried over all the same", name)
		}
	}
	if measure(m, "sales", "fine") == nil {
		t.Errorf("the measure without problems is lost too: %v", reasons(out, ""))
	}
	for _, l := range out.Left {
		if _, known := want[l.Name]; !known {
			t.Errorf("%s %s was left out: %s", l.Kind, l.Name, l.Reason)
		}
	}
}

const scanned = `tables:
  orders:
    table: main.orders
    columns:
      - {name: ORDER_ID, type: INTEGER, pk: true}
      - {name: customer_id, type: INTEGER}
      - {name: total, type: REAL}
      - {name: is_food, type: BOOLEAN}
      - {name: status, type: TEXT}
      - {name: extra, type: TEXT}
  customers:
    table: main.customers
    columns:
      - {name: customer_id, type: INTEGER, pk: true}
`

func TestWhatTheConnectionHasIsKept(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"_schema/main.yaml": {Data: []byte(scanned)},
		"customers.yaml":    {Data: []byte("name: customers\nmeasures:\n  - {name: people, expr: count(*)}\n")},
		"orders.yaml":       {Data: []byte("name: something\ntable: t\ngrain: [a]\ncolumns: [{name: a, type: string}]\n")},
	}
	out, err := interchange.FromDBT(fixture(t, "shop.json"), options(files))
	if err != nil {
		t.Fatal(err)
	}
	m := loaded(t, out, files)
	if len(out.Exists) != 1 || out.Exists[0].Name != "customers.yaml" {
		t.Errorf("exists: %v", out.Exists)
	}
	at, _ := m.Source("orders")
	if m.Sources[at].File != "orders-2.yaml" {
		t.Errorf("orders stands in %s", m.Sources[at].File)
	}
	columns := map[string]*model.Column{}
	for _, c := range m.Sources[at].Columns {
		columns[c.Name] = c
	}
	if c := columns["extra"]; c == nil || c.Visibility != model.Internal {
		t.Errorf("the column extra, which the scan found, is %+v", c)
	}
	if columns["ORDER_ID"] == nil || columns["order_id"] != nil {
		t.Error("the exact name of the column in the database was not taken")
	}
	if got := reasons(out, "middle"); len(got) != 0 {
		t.Errorf("a measure over known columns is lost: %v", got)
	}
	if got := strings.Join(reasons(out, "least"), ""); !strings.Contains(got, "has no column discount") {
		t.Errorf("a measure over an unknown column: %q", got)
	}
}

func TestAnImportDoesNotBreakOtherFiles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"_schema/main.yaml": {Data: []byte(strings.ReplaceAll(scanned, "extra", "gone"))},
		"big.yaml":          {Data: []byte("name: big\ntable: main.big\ngrain: [id]\ncolumns: [{name: id, type: number}]\njoins:\n  - {to: orders, on: big.id = orders.ORDER_ID, relationship: many_to_one}\nmeasures:\n  - {name: n, expr: count(*), filter: \"orders.gone = 'x'\"}\n")},
	}
	before := options(files).Load(nil)
	if len(before.Problems) > 0 {
		t.Fatalf("the files have problems before: %+v", before.Problems)
	}
	out, err := interchange.FromDBT(fixture(t, "shop.json"), options(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded(t, out, files).Problems {
		if !p.Warning {
			t.Errorf("the import breaks a file: %+v", p)
		}
	}
}

func TestInputsThatAreNone(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for name, c := range map[string]struct{ dbt, osi, want string }{
		"not JSON":       {dbt: "{", want: "not valid JSON"},
		"another file":   {dbt: `{"nodes": {}}`, want: "no semantic manifest"},
		"a list":         {dbt: "[]", want: "not a JSON object"},
		"deep":           {dbt: `{"semantic_models": ` + deep + `}`, want: "nested deeper"},
		"further key":    {dbt: `{"semantic_models": [], "perspectives": [{"a": 1}]}`, want: "perspectives"},
		"two":            {dbt: `{"semantic_models": []} {}`, want: "follows"},
		"not UTF-8":      {dbt: "{\"a\": \"\xff\"}", want: "UTF-8"},
		"no version":     {osi: "semantic_model: []", want: "version"},
		"later version":  {osi: "version: 1.0.0\nsemantic_model: []", want: "version"},
		"number version": {osi: "version: 0.1\nsemantic_model: []", want: "version"},
		"alias":          {osi: "version: 0.1.1\nsemantic_model: &a [*a]", want: "anchors"},
		"two documents":  {osi: "version: 0.1.1\n---\na: 1", want: "more than one"},
		"key twice":      {osi: "version: 0.1.1\nversion: 0.1.1", want: ""},
		"osi key":        {osi: "version: 0.1.1\nmodels: [1]", want: "models"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			if c.dbt != "" {
				_, err = interchange.FromDBT([]byte(c.dbt), options(nil))
			} else {
				_, err = interchange.FromOSI([]byte(c.osi), options(nil))
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestAnOSIFileBecomesSources(t *testing.T) {
	t.Parallel()
	out, err := interchange.FromOSI(fixture(t, "shop.osi.yaml"), options(nil))
	if err != nil {
		t.Fatal(err)
	}
	m := loaded(t, out, nil)
	for name, text := range map[string]string{
		"revenue": "sum(amount)", "average_order": "coalesce(sum(amount), NULL) / count(DISTINCT id)", "late": "count(*) FILTER (WHERE (is_late = TRUE))",
	} {
		if x := measure(m, "orders", name); x == nil || x.Text != text {
			t.Errorf("%s is %+v, want %q; left out: %v", name, x, text, reasons(out, name))
		}
	}
	want := map[string]string{
		"across": "over which rows", "rows": "names no field", "cloud_only": "no expression in ANSI_SQL", "email": "reads the column", "mailed": "was left out",
		"a_query": "is a query", "to_query": "not there", "to_other": "the grain of codes", "odd": "ktx does not know", "typed": "not one of the format",
	}
	for name, part := range want {
		if got := strings.Join(reasons(out, name), "\n"); !strings.Contains(got, part) || got == "" {
			t.Errorf("%s: %q, want %q in it", name, got, part)
		}
	}
	for _, l := range out.Left {
		if _, known := want[l.Name]; !known {
			t.Errorf("%s %s was left out: %s", l.Kind, l.Name, l.Reason)
		}
	}
	at, _ := m.Source("orders")
	var types []string
	for _, c := range m.Sources[at].Columns {
		types = append(types, c.Name+" "+c.Type.String())
	}
	slices.Sort(types)
	if got := strings.Join(types, ", "); got != "amount number, customer_id number, day time, id number, is_late boolean, ordered_at string" {
		t.Errorf("the columns of orders are %s", got)
	}
	if len(m.Sources[at].Joins) != 1 {
		t.Errorf("orders has %d joins", len(m.Sources[at].Joins))
	}
	first, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	again, err := interchange.FromOSI(fixture(t, "shop.osi.yaml"), options(nil))
	if err != nil {
		t.Fatal(err)
	}
	if second, _ := json.Marshal(again); string(second) != string(first) {
		t.Error("two imports of one file differ")
	}
}
