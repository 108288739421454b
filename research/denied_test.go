package research_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// The marks stand in the names, comments and values of what rules deny. No answer may
// hold one. A call asks with words near to them, because answers repeat what was asked.
var denied = regexp.MustCompile(`(?i)zq7\w*`)

// deniedScan writes a scan whose files tell of a denied schema, table and column in
// every place where they can. schema is that of the tables that stay.
func deniedScan(t *testing.T, dir, id, driver, schema string) {
	t.Helper()
	comment := func(s string) *string { return &s }
	name := func(table string) string { return schema + "." + table }
	orders := catalogtest.Table(name("orders"), "id integer key", "customer_id integer", "zq7_code text -- A zq7 code", "zq7_part integer", "status text", "total integer")
	orders.Columns[2].SampleValues, orders.Columns[2].EnumValues = []string{"zq7 gold"}, []string{"zq7_gold"}
	orders.Columns[2].NativeType = "enum('zq7_gold')"
	orders.Columns[2].Descriptions = map[string]string{"user": "zq7 described"}
	orders.Columns[4].SampleValues = []string{"paid"}
	orders.ForeignKeys = []catalog.ForeignKey{
		catalogtest.Key("customer_id", name("customers"), "id", "orders_customer"),
		catalogtest.Key("customer_id", name("zq7_salaries"), "id", "fk_zq7_table"),
		catalogtest.Key("customer_id", "zq7hr.people", "id", "fk_zq7_schema"),
		catalogtest.Key("customer_id", "zq7_salaries", "id", "fk_zq7_bare"), // other tools leave the schema out
		catalogtest.Key("customer_id", "customers", "zq7_rank", "fk_zq7_bare_column"),
		catalogtest.Key("zq7_code", name("customers"), "code", "fk_zq7_from"),
		catalogtest.Key("id", name("customers"), "zq7_rank", "fk_zq7_to"),
		catalogtest.Key("id", name("customers"), "id", "fk_zq7_pair"), // the other pair of the key is denied
		catalogtest.Key("zq7_part", name("customers"), "code", "fk_zq7_pair"),
	}
	customers := catalogtest.Table(name("customers"), "id integer key", "code text", "zq7_rank integer")
	salaries := catalogtest.Table(name("zq7_salaries"), "id integer key", "salary integer -- zq7 pay", "grade text")
	salaries.Comment, salaries.Columns[2].SampleValues = comment("zq7 salaries of people"), []string{"zq7 grade"}
	people := catalogtest.Table("zq7hr.people", "id integer key", "grade text")
	people.Columns[1].SampleValues = []string{"zq7 person"}
	view := catalogtest.Table(name("overview"), "id integer", "shown text", "kind enum('zq7_gold')")
	view.Kind, view.Columns[1].SampleValues = catalog.KindView, []string{"zq7 gold"}
	view.Columns[2].NormalizedType, view.Columns[2].EnumValues = "string", []string{"zq7_gold"}
	end := func(table, column string) catalog.EndPoint {
		of := catalogtest.Table(table)
		return catalog.EndPoint{Table: of.Ref(), Columns: []string{column}}
	}
	relation := func(fromTable, from, toTable, to string) catalog.Relationship {
		return catalog.Relationship{From: end(fromTable, from), To: end(toTable, to), Relationship: "many_to_one", Confidence: 0.9, Source: "inferred", Evidence: []string{"zq7"}}
	}
	profiled := func(table catalog.Table, column string, values ...string) catalog.ProfileColumn {
		return catalog.ProfileColumn{Table: table.Ref(), Column: column, NativeType: "text", RowCount: 9, DistinctCount: 2, SampleValues: values}
	}
	folder := catalogtest.Write(t, dir, id, catalogtest.Scan{
		Driver: driver, Tables: []catalog.Table{orders, customers, salaries, people, view},
		Relationships: &catalog.Relationships{Accepted: []catalog.Relationship{
			relation(name("orders"), "total", name("zq7_salaries"), "salary"), relation("zq7hr.people", "id", name("customers"), "id"),
			relation(name("orders"), "total", "zq7_salaries", "salary"), relation(name("orders"), "total", "customers", "zq7_rank"),
			relation(name("orders"), "zq7_part", name("customers"), "id"), relation(name("orders"), "total", name("customers"), "zq7_rank"),
		}},
		Profile: &catalog.Profile{ProfiledAt: "2026-01-02T03:04:05Z", ProfileSampleRows: 10, SampleValuesPerColumn: 5, Columns: map[string]catalog.ProfileColumn{
			name("orders.zq7_code"): profiled(orders, "zq7_code", "zq7 gold"), name("zq7_salaries.grade"): profiled(salaries, "grade", "zq7 grade"),
			"zq7hr.people.grade": profiled(people, "grade", "zq7 person"), name("overview.shown"): profiled(view, "shown", "zq7 gold"),
		}},
	})
	// Files that cannot be read, and the reports of the scan, name them too.
	catalogtest.PutText(t, filepath.Join(folder, "tables", "zq7_broken.json"), `{"name":"zq7_broken`)
	catalogtest.PutText(t, filepath.Join(folder, "warnings.json"), `{"warnings":[{"code":"profile_refused","message":"zq7_salaries","recoverable":true,"table":"zq7_salaries"}]}`)
	catalogtest.PutText(t, filepath.Join(folder, "foreign-keys.json"), `[{"toTable":"zq7_salaries"}]`)
	writeValues(t, dir, id, map[string][]string{
		name("orders.zq7_code"): {"zq7 gold", "gold"}, name("zq7_salaries.grade"): {"zq7 grade", "grade"}, "zq7hr.people.grade": {"zq7 person"},
		name("overview.shown"): {"zq7 gold"}, name("orders.status"): {"paid"},
	})
}

// deniedSources writes a semantic layer that tells of what rules deny in every place where
// it can: names, descriptions, columns, joins, measures, segments and queries.
func deniedSources(t *testing.T, dir, id, schema string) {
	t.Helper()
	at := func(text string) string { return strings.ReplaceAll(text, "SCHEMA", schema) }
	for name, text := range map[string]string{
		"_schema/" + schema + ".yaml": "tables:\n" +
			"  orders: {table: SCHEMA.orders, columns: [{name: id, type: integer, pk: true}, {name: customer_id, type: integer}, {name: status, type: text}, {name: total, type: integer}, {name: zq7_code, type: text, descriptions: {ai: zq7 coded}}, {name: zq7_part, type: integer}], joins: [{to: customers, on: orders.customer_id = customers.id, relationship: many_to_one}, {to: zq7_salaries, on: orders.id = zq7_salaries.id, relationship: many_to_one}, {to: customers, on: orders.zq7_part = customers.zq7_rank, relationship: many_to_one}]}\n" +
			"  customers: {table: SCHEMA.customers, columns: [{name: id, type: integer, pk: true}, {name: code, type: text}, {name: zq7_rank, type: integer}]}\n" +
			"  zq7_salaries: {table: SCHEMA.zq7_salaries, descriptions: {db: zq7 salaries of people}, columns: [{name: id, type: integer, pk: true}, {name: salary, type: integer}, {name: grade, type: text}]}\n",
		"_schema/zq7hr.yaml": "tables:\n  people: {table: zq7hr.people, columns: [{name: id, type: integer, pk: true}, {name: grade, type: text, descriptions: {ai: zq7 grade}}]}\n",
		"orders.yaml":        "name: orders\nmeasures: [{name: revenue, expr: sum(total)}, {name: order_count, expr: count(*)}]\nsegments: [{name: paid, expr: status = 'paid'}]\n",
		"salaries.yaml":      "name: zq7_salaries\ndescriptions: {user: zq7 wages}\nmeasures: [{name: zq7_wage, expr: sum(salary), description: zq7 wage of people}]\nsegments: [{name: zq7_high, expr: grade = 'zq7 gold'}]\n",
		"query.yaml":         "name: zq7_query\nsql: SELECT id, salary FROM SCHEMA.zq7_salaries\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: salary, type: number}]\nmeasures: [{name: zq7_sum, expr: sum(salary)}]\n",
		"code.yaml":          "name: zq7_codes\nsql: SELECT id, zq7_code AS code FROM SCHEMA.orders\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: code, type: string}]\nmeasures: [{name: zq7_codes_count, expr: count(code)}]\n",
		"late.yaml":          "name: late\ntable: SCHEMA.orders\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: total, type: number}]\njoins: [{to: zq7_salaries, alias: zq7_wages, on: late.id = zq7_wages.id, relationship: many_to_one}, {to: people, alias: zq7_worker, on: late.id = zq7_worker.id, relationship: many_to_one}]\nmeasures: [{name: late_total, expr: sum(total)}]\n",
		"ranks.yaml":         "name: zq7_ranks\ntable: SCHEMA.customers\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: best, type: number, expr: zq7_rank + 1}, {name: zq7_rank, type: number}]\nmeasures: [{name: zq7_best, expr: max(best), filter: zq7_rank > 1}]\n",
		"broken.yaml":        "name: zq7_broken\ntable: SCHEMA.zq7_salaries\ncolumns: []\nmeasure: zq7\n",
	} {
		put(t, at(text), dir, "semantic-layer", id, filepath.FromSlash(name))
	}
}

// TestNothingDeniedIsTold asks every tool in many ways about what rules deny, while the
// artifacts, the values and pages have it. What an agent or an author wrote on a page is
// theirs; what ktx adds to it is not.
func TestNothingDeniedIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		conn   execution.Connection
		driver string
		schema string
	}{
		{"artifacts", artifactOnly("w", sqlguard.Policy{}), "postgres", "public"},
		{"a database", sqliteConnection(t, "w"), "sqlite", "main"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			deniedScan(t, dir, "w", c.driver, c.schema)
			deniedSources(t, dir, "w", c.schema)
			// The heads of the pages link to what is denied. Their texts do not, so that a
			// mark in an answer is of ktx.
			links := fmt.Sprintf("sl_refs: [orders, zq7_salaries, %[1]s.zq7_salaries, zq7hr.people, w/zq7hr.people, w.%[1]s.zq7_salaries]\ntables: [%[1]s.zq7_salaries, zq7hr.people]", c.schema)
			put(t, "---\nsummary: What people get.\n"+links+"\n---\n# Pay\nSalaries and grades of people, in gold.\n", dir, "wiki", "global", "pay.md")
			// This text names what is denied; it may lend its words to nothing else.
			put(t, fmt.Sprintf("The wage bill is in `%[1]s.zq7_salaries.salary`, `zq7hr.people`, `%[1]s.orders.zq7_code` and `zq7_code`.\n", c.schema), dir, "wiki", "global", "bill.md")
			conn := c.conn
			conn.Policy = sqlguard.Policy{
				Schemas: sqlguard.Names{Deny: []string{"zq7hr"}}, Tables: sqlguard.Names{Deny: []string{c.schema + ".zq7_salaries", c.schema + ".zq7_broken"}},
				Columns: []sqlguard.ColumnRule{{Match: c.schema + ".orders.zq7_code"}, {Match: c.schema + ".orders.zq7_part"}, {Match: c.schema + ".customers.zq7_rank"}},
			}
			ask := callerOf(t, serviceOver(t, dir, conn), analyst("ana", "w"))
			words := []string{
				"orders", "customers", "overview", c.schema + ".orders", "salaries", "zq_salaries", "z7_code", "zq 7 code", "zq8_part", c.schema + ".zq_salaries",
				"zqhr.people", "people", "code", "salary of people", "wage bill", "grade gold", "pay", "zq8_broken", "zqrank", "orders.zq_code",
				"late", "zq_wages", "zq8_query", "zq8_codes", "zq_ranks", "zq8_best", "total", "orders.revenue",
			}
			calls := everyTool("w", words, []string{"gold", "grade", "person", "zq", "zq8 gold", "paid"})
			for _, sql := range []string{"SELECT zq_code FROM orders", "SELECT * FROM zq_salaries", "SELECT zq_rank FROM customers", "SELECT * FROM salaries", "SELECT people.grade FROM orders"} {
				calls = append(calls, call{"sql_execution", fmt.Sprintf(`{"connectionId":"w","sql":%q}`, sql)})
			}
			for i, answer := range ask.answers(calls) {
				// The page that names it has it in its text and in the summary of its text.
				text := answer
				if strings.Contains(calls[i].tool, "wiki") || calls[i].tool == "discover_data" {
					text = wageBill.ReplaceAllString(text, "")
				}
				if found := denied.FindAllString(text, -1); found != nil {
					t.Errorf("%s %s: %q in %s", calls[i].tool, calls[i].arguments, found, answer)
				}
			}
			// A text that names what is denied is linked to what may be read only.
			run := ask.must("memory_ingest", fmt.Sprintf(`{"content":"# Bonus\nA bonus is in orders and in %s.zq7_salaries, zq7hr.people and zq7_code.","connectionId":"w"}`, c.schema))
			id := regexp.MustCompile(`"runId":"([^"]+)"`).FindStringSubmatch(run)[1]
			if got := ask.must("memory_ingest_status", fmt.Sprintf(`{"runId":%q}`, id)); denied.MatchString(got) || !strings.Contains(got, `"xrefs":["orders"]`) {
				t.Error(got)
			}
			if got := ask.must("wiki_read", `{"key":"bonus"}`); !strings.Contains(got, `"slRefs":["orders"]`) {
				t.Errorf("the links of the page: %s", got)
			}
			if got := ask.must("wiki_read", `{"key":"pay"}`); !strings.Contains(got, `"slRefs":["orders"]`) {
				t.Errorf("the links of the page: %s", got)
			}
			// The same calls without rules tell of it, so the calls are the right ones.
			open := callerOf(t, serviceOver(t, dir, c.conn), analyst("ana", "w"))
			all := strings.Join(open.answers(calls), "\n")
			for _, mark := range []string{"zq7_salaries", "zq7hr", "zq7_code", "zq7 gold", "zq7 grade", "zq7 person", "zq7_gold", "zq7 pay", "zq7 described", "fk_zq7_pair", "fk_zq7_table", "zq7_rank", "zq7_wage", "zq7_query", "zq7_codes_count", "zq7_wages", "zq7_best", "zq7 coded"} {
				if !strings.Contains(all, mark) {
					t.Errorf("no call asks for %s", mark)
				}
			}
		})
	}
}

// wageBill is the text of the page that names what is denied, and parts of it.
var wageBill = regexp.MustCompile(`The wage bill is in [^"]*`)
