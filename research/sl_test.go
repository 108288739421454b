package research_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// salesData is a shop whose numbers show a wrong join: orders have several items, one
// order has no customer, one customer has no order.
const salesData = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, country TEXT, zq7_rank INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, status TEXT, total NUMERIC, big INTEGER, ordered_at TEXT, zq7_code TEXT);
CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER, quantity INTEGER);
CREATE TABLE zq7_pay (id INTEGER PRIMARY KEY, customer_id INTEGER, bonus INTEGER);
INSERT INTO customers VALUES (1, 'DE', 1), (2, 'FR', 2), (3, 'IT', 3);
INSERT INTO orders VALUES (1, 1, 'paid', 10.5, 9007199254740993, '2024-01-05', 'x'), (2, 1, 'paid', 20, 1, '2024-02-05', 'y'), (3, 2, 'cancelled', 5, 1, '2024-02-06', 'y'), (4, NULL, 'paid', 7, 1, '2024-03-01', 'z');
INSERT INTO items VALUES (1, 1, 2), (2, 1, 3), (3, 2, 1), (4, 3, 9);
INSERT INTO zq7_pay VALUES (1, 1, 100), (2, 2, 200);
`

const salesManifest = `tables:
  customers:
    table: main.customers
    columns:
      - {name: id, type: INTEGER, pk: true}
      - {name: country, type: TEXT}
      - {name: zq7_rank, type: INTEGER}
  items:
    table: main.items
    columns:
      - {name: id, type: INTEGER, pk: true}
      - {name: order_id, type: INTEGER}
      - {name: quantity, type: INTEGER}
    joins:
      - {to: orders, on: items.order_id = orders.id, relationship: many_to_one, source: formal}
  orders:
    table: main.orders
    columns:
      - {name: id, type: INTEGER, pk: true}
      - {name: customer_id, type: INTEGER}
      - {name: status, type: TEXT}
      - {name: total, type: NUMERIC}
      - {name: big, type: INTEGER}
      - {name: ordered_at, type: DATE}
      - {name: zq7_code, type: TEXT}
    joins:
      - {to: customers, on: orders.customer_id = customers.id, relationship: many_to_one, source: formal}
  zq7_pay:
    table: main.zq7_pay
    columns:
      - {name: id, type: INTEGER, pk: true}
      - {name: customer_id, type: INTEGER}
      - {name: bonus, type: INTEGER}
    joins:
      - {to: customers, on: zq7_pay.customer_id = customers.id, relationship: many_to_one, source: formal}
`

const salesOrders = `# Written by hand.
name: orders
measures:
  - name: revenue # the sum
    expr: sum(total)
    filter: status <> 'cancelled'
    description: What customers paid.
  - name: order_count
    expr: count(*)
  - name: biggest
    expr: max(big)
segments:
  - name: paid
    expr: status = 'paid'
`

const salesItems = `name: items
measures:
  - name: pieces
    expr: sum(quantity)
`

// salesProject writes the project of salesData, and returns its connection.
func salesProject(t *testing.T, dir, id string) execution.Connection {
	t.Helper()
	put(t, salesManifest, dir, "semantic-layer", id, "_schema", "main.yaml")
	put(t, salesOrders, dir, "semantic-layer", id, "orders.yaml")
	put(t, salesItems, dir, "semantic-layer", id, "items.yaml")
	return databaseOf(t, id, salesData)
}

// databaseOf returns a connection to a new SQLite database.
func databaseOf(t *testing.T, id, script string) execution.Connection {
	t.Helper()
	path := testdb.SQLiteFile(t, script)
	return execution.Connection{
		ID: id, Name: id, Engine: "SQLITE", Dialect: sqlite.Dialect{},
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return sqlitedb.Open(ctx, sqlitedb.Config{Path: path}, guard)
		},
	}
}

// rowsOf returns the rows of an answer of sl_query, or its text if it is an error.
func rowsOf(t *testing.T, r toolResult) string {
	t.Helper()
	if r.IsError {
		return r.text()
	}
	validate(t, "sl_query", r.StructuredContent)
	var out struct{ Headers, Rows json.RawMessage }
	if err := json.Unmarshal(r.StructuredContent, &out); err != nil {
		t.Fatal(err)
	}
	return string(out.Headers) + string(out.Rows)
}

// TestSLQueryShapes: each shape of arguments that models write is the same as the one
// that the schema shows.
func TestSLQueryShapes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := connectIn(t, dir, salesProject(t, dir, "a"))
	const (
		byCountry = `["country","revenue"][["DE",30.5],["FR",null],["IT",null],[null,7]]`
		byMonth   = `["ordered_at_month","revenue"][["2024-01-01",10.5],["2024-02-01",20],["2024-03-01",7]]`
		highest   = `["country","revenue"][["DE",30.5],[null,7],["FR",null],["IT",null]]`
	)
	for arguments, want := range map[string]string{
		`"measures":["orders.revenue"],"dimensions":["customers.country"]`:                                                                                 byCountry,
		`"measures":"orders.revenue","dimensions":"customers.country"`:                                                                                     byCountry,
		`"measures":[{"expr":"orders.revenue","name":"revenue"}],"dimensions":[{"field":"customers.country"}]`:                                             byCountry,
		`"measures":[{"expression":"orders.revenue"}],"dimensions":[{"dimension":"customers.country"}]`:                                                    byCountry,
		`"measures":[{"measure":"orders.revenue"}],"dimensions":[{"id":"customers.country"}]`:                                                              byCountry,
		`"measures":[{"field":"orders.revenue"}],"dimensions":[{"name":"customers.country"}]`:                                                              byCountry,
		`"measures":[{"id":"orders.revenue"}],"dimensions":[{"field":"customers.country","id":"orders.status"}]`:                                           byCountry,
		`"measures":[{"name":"orders.revenue"}],"dimensions":[{"field":"customers.country","granularity":null}]`:                                           byCountry,
		`"measures":["orders.revenue"],"dimensions":[{"field":"orders.ordered_at","granularity":"month"}]`:                                                 byMonth,
		`"measures":["orders.revenue"],"dimensions":[{"dimension":"orders.ordered_at","granularity":"MONTH"}]`:                                             byMonth,
		`"measures":["orders.revenue"],"dimensions":[{"id":"orders.ordered_at","grain":" Month "}]`:                                                        byMonth,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":[{"field":"revenue","direction":"desc"}]`:                             highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":{"field":"revenue","direction":"DESC"}`:                               highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":[{"id":"revenue","desc":true}]`:                                       highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":[{"name":"revenue","desc":"true"}]`:                                   highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":"revenue desc"`:                                                       highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":["revenue DESC "]`:                                                    highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":["-revenue"]`:                                                         highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":["country asc"]`:                                                      byCountry,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":[{"field":"country","desc":false}]`:                                   byCountry,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":[{"field":"revenue","id":"country","direction":"desc","desc":false}]`: highest,
		`"measures":["orders.revenue"],"dimensions":["customers.country"],"order_by":[{"field":"country","direction":null}]`:                               byCountry,
		`"measures":["orders.revenue"],"filters":"customers.country = 'DE'"`:                                                                               `["revenue"][[30.5]]`,
		`"measures":["orders.order_count"],"segments":"orders.paid"`:                                                                                       `["order_count"][[3]]`,
		`"measures":["orders.order_count"],"limit":"1"`:                                                                                                    `["order_count"][[4]]`,
		`"measures":["orders.order_count"],"dimensions":["customers.country"],"include_empty":"false"`:                                                     `["country","order_count"][["DE",2],["FR",1],[null,1]]`,
		`"measures":[{"expr":"orders.revenue / orders.order_count","name":"each"}]`:                                                                        `["each"][[9.375]]`,
	} {
		for _, connection := range []string{``, `"connectionId":"a",`} {
			if got := rowsOf(t, c.tool("sl_query", "{"+connection+arguments+"}")); got != want {
				t.Errorf("%s%s:\n%s, want\n%s", connection, arguments, got, want)
			}
		}
	}
	var included struct {
		SQL  string
		Plan struct{ Groups []struct{ Base string } }
	}
	r := c.tool("sl_query", `{"measures":["orders.revenue"],"include":"sql"}`)
	if err := json.Unmarshal(r.StructuredContent, &included); err != nil || !strings.Contains(included.SQL, "SELECT") || included.Plan.Groups != nil {
		t.Errorf("include as a text: %s", r.text())
	}
	r = c.tool("sl_query", `{"measures":["orders.revenue"],"include":["plan"]}`)
	if err := json.Unmarshal(r.StructuredContent, &included); err != nil || len(included.Plan.Groups) != 1 || included.Plan.Groups[0].Base != "orders" || strings.Contains(r.text(), `"sql":`) {
		t.Errorf("the plan: %s", r.text())
	}
}

// TestSLQueryValuesAndLimits: values are those of the server, and every limit tells that
// it was met.
func TestSLQueryValuesAndLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := salesProject(t, dir, "a")
	conn.Limits = execution.Limits{Rows: 3}
	c := connectIn(t, dir, conn)
	type answer struct {
		TotalRows int
		Truncated bool
		Notes     []string
		Rows      [][]any
	}
	ask := func(arguments string) answer {
		t.Helper()
		r := c.tool("sl_query", arguments)
		if r.IsError {
			t.Fatal(r.text())
		}
		validate(t, "sl_query", r.StructuredContent)
		var a answer
		if err := json.Unmarshal(r.StructuredContent, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if got := rowsOf(t, c.tool("sl_query", `{"measures":["orders.biggest"]}`)); got != `["biggest"][["9007199254740993"]]` {
		t.Errorf("an integer beyond 2^53: %s", got)
	}
	for _, test := range []struct {
		arguments string
		rows      int
		truncated bool
		notes     int // about limits
	}{
		{`"limit":0`, 0, false, 0},
		{`"limit":2`, 2, true, 1},
		{`"limit":3`, 3, true, 1},
		{`"limit":5000000`, 3, true, 2},
		{`"filters":["orders.total > 1000"],"include_empty":false`, 0, false, 0},
	} {
		a := ask(`{"measures":["orders.revenue"],"dimensions":["customers.country"],` + test.arguments + `}`)
		about := 0
		for _, n := range a.Notes {
			if strings.Contains(n, "limit") {
				about++
			}
			if strings.Contains(n, "WHERE") {
				t.Errorf("%s: a note about SQL that the caller did not write: %s", test.arguments, n)
			}
		}
		if a.TotalRows != test.rows || len(a.Rows) != test.rows || a.Truncated != test.truncated || about != test.notes {
			t.Errorf("%s: %+v", test.arguments, a)
		}
	}
	if r := c.tool("sl_query", `{"measures":["orders.revenue"],"dimensions":["customers.country","orders.status","orders.total"],"include":["sql","plan"],"maxBytes":1024}`); !r.IsError || !strings.HasPrefix(r.text(), "invalid_arguments: maxBytes is 1024") {
		t.Errorf("a plan larger than maxBytes: %s", r.text())
	}
	if r := c.tool("sl_query", `{"measures":["orders.revenue"],"maxBytes":99999999999}`); r.IsError || !strings.Contains(r.text(), "maxBytes") {
		t.Errorf("maxBytes above the connection's: %s", r.text())
	}
}

// TestSLRefusals: what is wrong is told in the answer, with its class and what to do.
func TestSLRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := salesProject(t, dir, "a")
	put(t, "name: empty\ntable: main.items\ngrain: [id]\ncolumns: [{name: id, type: number}]\nmeasure: []\n", dir, "semantic-layer", "a", "empty.yaml")
	put(t, salesManifest, dir, "semantic-layer", "lake", "_schema", "main.yaml")
	c := connectIn(t, dir, conn, artifactOnly("lake", sqlguard.Policy{}), artifactOnly("bare", sqlguard.Policy{}))
	for _, test := range []struct{ tool, arguments, code, want string }{
		{"sl_query", `{"measures":["orders.revenue"]}`, "invalid_arguments", "a, bare, lake"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue"],"dimensions":["items.quantity"]}`, "fan_out", "orders"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenu"]}`, "unknown_measure", "orders.revenue"},
		{"sl_query", `{"connectionId":"a","measures":["ordrs.revenue"]}`, "unknown_source", "orders"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue"],"dimensions":["customers.contry"]}`, "unknown_field", "customers.country"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue"],"segments":["orders.pad"]}`, "unknown_segment", "orders.paid"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue"],"order_by":["revnue"]}`, "unknown_order_by", "revenue"},
		{"sl_query", `{"connectionId":"a"}`, "invalid_request", ""},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue"],"limit":-1}`, "invalid_arguments", "limit: -1"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue"],"limit":1.5}`, "invalid_arguments", "limit"},
		{"sl_query", `{"connectionId":"a","measures":[{"name":7}]}`, "invalid_arguments", "measures[0].expr"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue"],"include":["sq"]}`, "invalid_arguments", "include[0]"},
		{"sl_query", `{"connectionId":"a","measurs":["orders.revenue"]}`, "invalid_arguments", "did you mean measures?"},
		{"sl_query", `{"connectionId":"a","measures":["orders.revenue; drop table orders"]}`, "unsafe_expression", ""},
		{"sl_query", `{"connectionId":"a","measures":["count(empty.id)"]}`, "unknown_key", "empty.yaml"},
		{"sl_query", `{"connectionId":"laek","measures":["orders.revenue"]}`, "unknown_connection", "lake"},
		{"sl_query", `{"connectionId":"bare","measures":["orders.revenue"]}`, "unknown_source", "ktx scan bare"},
		{"sl_query", `{"connectionId":"lake","measures":["count(orders.id)"]}`, "not_configured", "it has no url"},
		{"sl_read_source", `{"sourceName":"orders"}`, "invalid_arguments", "connectionId: missing"},
		{"sl_read_source", `{"connectionId":"a","sourceName":"order"}`, "unknown_source", "orders"},
		{"sl_read_source", `{"connectionId":"bare","sourceName":"orders"}`, "unknown_source", "ktx scan bare"},
		{"sl_read_source", `{"connectionId":"nowhere","sourceName":"orders"}`, "unknown_connection", "lake"},
	} {
		r := c.tool(test.tool, test.arguments)
		var e struct{ Code, Message, Hint string }
		if err := json.Unmarshal(r.Meta["ktx/error"], &e); err != nil || !r.IsError {
			t.Errorf("%s: %s %v", test.arguments, r.text(), err)
			continue
		}
		if e.Code != test.code || !strings.HasPrefix(r.text(), e.Code+": "+e.Message) || !strings.Contains(r.text(), test.want) || e.Code == "internal_error" || e.Message == "" {
			t.Errorf("%s: %s, want %s … %s", test.arguments, r.text(), test.code, test.want)
		}
	}
}

func TestSLReadSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := salesProject(t, dir, "a")
	const own = "# A file of its own.\nname: parts\ntable: main.items\ngrain: [id]\ncolumns: [{name: id, type: number}]\nmeasures: [{name: parts, expr: count(*)}]\n"
	put(t, own, dir, "semantic-layer", "a", "parts.yaml")
	put(t, "name: wrong\ntable: main.items\ncolumns: []\nfilters: x\n", dir, "semantic-layer", "a", "wrong.yaml")
	c := connectIn(t, dir, conn)
	read := func(name string) research.SLSource {
		t.Helper()
		r := c.tool("sl_read_source", fmt.Sprintf(`{"connectionId":"a","sourceName":%q}`, name))
		if r.IsError {
			t.Fatal(r.text())
		}
		validate(t, "sl_read_source", r.StructuredContent)
		var out research.SLSource
		if err := json.Unmarshal(r.StructuredContent, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := read("parts"); got.YAML != own || !got.Valid {
		t.Errorf("a file of its own: %+v", got)
	}
	if got := read("wrong"); got.Valid || len(got.Problems) == 0 {
		t.Errorf("a wrong file: %+v", got)
	}
	got := read("Orders")
	if got.SourceName != "orders" || !strings.Contains(got.YAML, "table: main.orders") || !strings.Contains(got.YAML, "expr: sum(total)") || !strings.Contains(got.YAML, "orders.customer_id = customers.id") {
		t.Errorf("an overlaid source: %s", got.YAML)
	}
	if text := jsonOf(t, got.Measures); !strings.Contains(text, `{"name":"revenue","dimensions":["orders.id"`) || !strings.Contains(text, `"customers.country"`) || strings.Contains(text, "items.") {
		t.Errorf("its dimensions: %s", text)
	}
	// What is read is a model that says the same.
	copied := filepath.Join(dir, "semantic-layer", "b")
	for _, name := range []string{"customers", "items", "orders"} {
		put(t, read(name).YAML, copied, name+".yaml")
	}
	second := databaseOf(t, "b", salesData)
	d := connectIn(t, dir, second)
	const request = `{"measures":["orders.revenue","items.pieces"],"dimensions":["customers.country"]}`
	if want, got := rowsOf(t, c.tool("sl_query", request)), rowsOf(t, d.tool("sl_query", request)); want != got || strings.Contains(got, "error") {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSLQueryProgress: the stages are those of the contract, and a refused request has
// the first one only.
func TestSLQueryProgress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := connectIn(t, dir, salesProject(t, dir, "a"))
	for arguments, want := range map[string]string{
		`{"measures":["orders.revenue"],"dimensions":["customers.country"]}`: "0 Compiling query, 0.3 Generating SQL, 0.6 Executing, 1 Fetched 4 rows",
		`{"measures":["orders.revenue"],"dimensions":["items.quantity"]}`:    "0 Compiling query",
		`{"connectionId":"nowhere"}`:                                         "0 Compiling query",
		`{"measures":7}`:                                                     "",
	} {
		c.id++
		c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": "tools/call", "params": map[string]any{
			"name": "sl_query", "arguments": json.RawMessage(arguments), "_meta": map[string]any{"progressToken": "p"},
		}})
		var stages []string
		for {
			m := c.next()
			if string(m["id"]) == fmt.Sprint(c.id) {
				break
			}
			var p struct {
				Progress json.Number
				Message  string
			}
			if err := json.Unmarshal(m["params"], &p); err != nil {
				t.Fatal(err)
			}
			stages = append(stages, p.Progress.String()+" "+p.Message)
		}
		if got := strings.Join(stages, ", "); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}
