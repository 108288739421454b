package research_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// slCalls are calls of the tools about a semantic layer, with names near to what rules
// may deny.
func slCalls(connection string) []call {
	var calls []call
	sl := func(arguments string) {
		calls = append(calls, call{"sl_query", fmt.Sprintf(`{"connectionId":%q,%s}`, connection, arguments)})
	}
	for _, name := range []string{"orders", "customers", "items", "lines", "zq8_pay", "zq_bonus", "pay", "zqlines", "zq_payment", "money"} {
		calls = append(calls, call{"sl_read_source", fmt.Sprintf(`{"connectionId":%q,"sourceName":%q}`, connection, name)})
		sl(fmt.Sprintf(`"measures":["count(%s.id)"]`, name))
		sl(fmt.Sprintf(`"measures":["orders.revenue"],"dimensions":["%s.bonus"]`, name))
		sl(fmt.Sprintf(`"measures":["%s.zq_measure"],"dimensions":["%s.zq_rank"]`, name, name))
		sl(fmt.Sprintf(`"measures":["orders.revenue"],"segments":["%s.zq_segment"],"order_by":["zq_code"]`, name))
	}
	for _, field := range []string{"bonus", "zq_rank", "zq_code", "customers.zqrank", "orders.zq_code", "quantity", "lines.place", "id"} {
		sl(fmt.Sprintf(`"measures":["orders.revenue","items.pieces"],"dimensions":[%q],"include":["sql","plan"]`, field))
		sl(fmt.Sprintf(`"measures":["sum(%s)","count(customers.id)"],"include":["sql","plan"]`, field))
		sl(fmt.Sprintf(`"measures":["items.pieces"],"filters":["%s = 1"],"dimensions":["customers.country"]`, field))
	}
	for _, query := range []string{"orders revenue", "pay bonus", "zq", "rank of customers", "zq code", "lines", "payment"} {
		for _, kinds := range []string{"", `,"kinds":["sl_source","sl_measure","sl_dimension"]`} {
			calls = append(calls, call{"discover_data", fmt.Sprintf(`{"query":%q,"limit":50%s}`, query, kinds)})
		}
	}
	return append(calls,
		call{"memory_ingest", fmt.Sprintf(`{"content":"# Pay\nzq_bonus = sum(bonus)","connectionId":%q}`, connection)},
		call{"memory_ingest_status", `{"runId":"20260506T070809Z-run1"}`},
	)
}

// deniedModel adds files to a project of sales that tell of what rules deny: a table
// without its schema, a query, an alias, joins, and expressions of other sources.
func deniedModel(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"bonus.yaml":  "name: zq7_bonus\ntable: zq7_pay\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: bonus, type: number}]\nmeasures: [{name: zq7_measure, expr: sum(bonus)}]\nsegments: [{name: zq7_segment, expr: bonus > 1}]\n",
		"query.yaml":  "name: zq7_query\nsql: SELECT id, bonus FROM zq7_pay\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: bonus, type: number}]\nmeasures: [{name: zq7_total, expr: sum(bonus)}]\n",
		"ranks.yaml":  "name: zq7_ranks\ntable: main.customers\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: zq7_rank, type: number}]\nmeasures: [{name: zq7_highest, expr: max(zq7_rank)}]\n",
		"lines.yaml":  "name: lines\ntable: main.items\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: order_id, type: number}]\njoins: [{to: zq7_pay, alias: zq7_payment, on: lines.order_id = zq7_payment.id, relationship: many_to_one}]\nmeasures: [{name: places, expr: count(*)}]\n",
		"zlines.yaml": "name: zq7_lines\ntable: main.items\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: order_id, type: number}]\njoins: [{to: zq7_bonus, on: zq7_lines.order_id = zq7_bonus.id, relationship: many_to_one}]\nmeasures: [{name: zq7_paid, expr: count(*), filter: zq7_bonus.bonus > 1}]\n",
	} {
		put(t, text, dir, "semantic-layer", "a", name)
	}
}

// TestSLDenied: no answer about a semantic layer tells of what rules deny, and who names
// it is refused.
func TestSLDenied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := salesProject(t, dir)
	deniedModel(t, dir)
	open := callerOf(t, serviceOver(t, dir, conn), analyst("ana", "a"))
	all := strings.Join(open.answers(slCalls("a")), "\n")
	for _, mark := range []string{"zq7_pay", "zq7_bonus", "zq7_measure", "zq7_query", "zq7_ranks", "zq7_highest", "zq7_rank", "zq7_code", "zq7_payment", "zq7_lines"} {
		if !strings.Contains(all, mark) {
			t.Errorf("no call asks for %s", mark)
		}
	}
	conn.Policy = sqlguard.Policy{
		Tables:  sqlguard.Names{Deny: []string{"main.zq7_pay"}},
		Columns: []sqlguard.ColumnRule{{Match: "main.orders.zq7_code"}, {Match: "main.customers.zq7_rank"}},
	}
	s := serviceOver(t, dir, conn)
	ask := callerOf(t, s, analyst("ana", "a"))
	calls := slCalls("a")
	for i, answer := range ask.answers(calls) {
		if found := denied.FindAllString(answer, -1); found != nil {
			t.Errorf("%s %s: %q in %s", calls[i].tool, calls[i].arguments, found, answer)
		}
	}
	sources, err := s.SLSources(t.Context(), "a")
	if err != nil || denied.MatchString(jsonOf(t, sources)) || len(sources) != 4 {
		t.Errorf("ktx sl: %s %v", jsonOf(t, sources), err)
	}
	problems, err := s.SLValidate(t.Context(), "a", "")
	if err != nil || denied.MatchString(jsonOf(t, problems)) || !problems.Valid {
		t.Errorf("ktx sl validate: %s %v", jsonOf(t, problems), err)
	}
	for _, kind := range []research.Kind{research.KindMeasure, research.KindDimension} {
		if names, err := s.SLFields(t.Context(), "a", kind); err != nil || denied.MatchString(strings.Join(names, " ")) {
			t.Errorf("completions: %q %v", names, err)
		}
	}
	// Who names it has the answer for a name that does not exist.
	for _, name := range []string{"zq7_pay", "zq7_bonus", "zq7_query", "zq7_ranks", "zq7_lines", "ZQ7_PAY"} {
		for _, x := range []call{
			{"sl_read_source", fmt.Sprintf(`{"connectionId":"a","sourceName":%q}`, name)},
			{"sl_query", fmt.Sprintf(`{"measures":["count(%s.id)"]}`, name)},
			{"sl_query", fmt.Sprintf(`{"measures":["orders.revenue"],"dimensions":["%s.bonus"]}`, name)},
			{"sl_query", fmt.Sprintf(`{"measures":["%s.zq7_measure"]}`, name)},
			{"sl_query", fmt.Sprintf(`{"measures":["orders.revenue"],"segments":["%s.zq7_segment"]}`, name)},
		} {
			unknown := strings.NewReplacer("zq7", "zq6", "ZQ7", "ZQ6")
			want := ask.answer(x.tool, unknown.Replace(x.arguments))
			if got := ask.answer(x.tool, x.arguments); !strings.HasPrefix(got, "error true: unknown_source: ") || unknown.Replace(got) != want {
				t.Errorf("%s %s: %s, want as for a name that does not exist: %s", x.tool, x.arguments, got, want)
			}
		}
	}
	for arguments, class := range map[string]string{
		`{"measures":["count(zq7_payment.id)"]}`:                              "unknown_source",
		`{"measures":["orders.revenue"],"dimensions":["orders.zq7_code"]}`:    "unknown_field",
		`{"measures":["orders.revenue"],"dimensions":["customers.zq7_rank"]}`: "unknown_field",
		`{"measures":["sum(zq7_rank)"]}`:                                      "unknown_field",
		`{"measures":["sum(bonus)"]}`:                                         "unknown_field",
		`{"measures":["orders.revenue"],"filters":["orders.zq7_code = 'x'"]}`: "unknown_field",
		`{"measures":["orders.revenue"],"order_by":["zq7_code"]}`:             "unknown_order_by",
	} {
		want := "error true: " + class + ":"
		if got := ask.answer("sl_query", arguments); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", arguments, got)
		}
	}
}

// TestSLBesideDenied: what joins a denied table, or lies beside it, can be asked without
// it.
func TestSLBesideDenied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn := salesProject(t, dir)
	deniedModel(t, dir)
	conn.Policy.Tables.Deny = []string{"main.zq7_pay"}
	ask := callerOf(t, serviceOver(t, dir, conn), analyst("ana", "a"))
	for _, arguments := range []string{
		`{"measures":["orders.revenue"],"dimensions":["customers.country"],"include":["sql","plan"]}`, `{"measures":["lines.places"]}`, `{"measures":["zq7_ranks.zq7_highest"]}`,
	} {
		if got := ask.answer("sl_query", arguments); !strings.HasPrefix(got, "error false: ") || strings.Contains(got, "zq7_pay") {
			t.Errorf("%s: %s", arguments, got)
		}
	}
	if got := ask.answer("sl_read_source", `{"connectionId":"a","sourceName":"lines"}`); denied.MatchString(got) || !strings.Contains(got, "places") {
		t.Errorf("a file with a join to a denied table: %s", got)
	}
}

// TestSLDeniedColumnInUse: a column that a rule denies is no reason to refuse the table,
// but what a person wrote with it is refused as a whole.
func TestSLDeniedColumnInUse(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a measure":                    "name: orders\nmeasures: [{name: revenue, expr: sum(total)}, {name: codes, expr: count(distinct zq7_code)}]\n",
		"a filter":                     "name: orders\nmeasures: [{name: revenue, expr: sum(total), filter: zq7_code = 'x'}]\n",
		"a segment":                    "name: orders\nmeasures: [{name: revenue, expr: sum(total)}]\nsegments: [{name: x, expr: zq7_code = 'x'}]\n",
		"a column":                     "name: orders\nmeasures: [{name: revenue, expr: sum(total)}]\ncolumns: [{name: c, type: string, expr: lower(zq7_code)}]\n",
		"an override":                  "name: orders\nmeasures: [{name: revenue, expr: sum(total)}]\ncolumn_overrides: [{name: zq7_code, description: x}]\n",
		"a grain":                      "name: orders\nmeasures: [{name: revenue, expr: sum(total)}]\ngrain: [zq7_code]\n",
		"a join":                       "name: orders\nmeasures: [{name: revenue, expr: sum(total)}]\njoins: [{to: customers, alias: other, on: zq7_code = other.id, relationship: many_to_one}]\n",
		"the column of another source": "name: orders\nmeasures: [{name: revenue, expr: sum(total), filter: customers.zq7_rank > 1}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			conn := salesProject(t, dir)
			put(t, text, dir, "semantic-layer", "a", "orders.yaml")
			const request = `{"measures":["orders.revenue"]}`
			if got := callerOf(t, serviceOver(t, dir, conn), analyst("ana", "a")).answer("sl_query", request); !strings.HasPrefix(got, "error false: ") {
				t.Errorf("without rules: %s", got)
			}
			conn.Policy.Columns = []sqlguard.ColumnRule{{Match: "main.orders.zq7_code"}, {Match: "main.customers.zq7_rank"}}
			ask := callerOf(t, serviceOver(t, dir, conn), analyst("ana", "a"))
			for _, x := range []call{{"sl_query", request}, {"sl_read_source", `{"connectionId":"a","sourceName":"orders"}`}} {
				if got := ask.answer(x.tool, x.arguments); !strings.HasPrefix(got, "error true: unknown_source: ") || !strings.Contains(got, "there is no source ") || denied.MatchString(got) {
					t.Errorf("%s: %s", x.tool, got)
				}
			}
			if got := ask.answer("sl_read_source", `{"connectionId":"a","sourceName":"items"}`); !strings.HasPrefix(got, "error false: ") || !strings.Contains(got, `"valid":true`) || denied.MatchString(got) {
				t.Errorf("another source: %s", got)
			}
		})
	}
}

// TestSLOfAnotherPrincipal: a principal without the connection is told nothing of its
// model, and may leave the connection out if it has one other.
func TestSLOfAnotherPrincipal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conns := salesProject(t, dir)
	other := databaseOf(t, "b", "CREATE TABLE t (id INTEGER PRIMARY KEY)")
	deniedModel(t, dir)
	put(t, "name: t\ntable: main.t\ngrain: [id]\ncolumns: [{name: id, type: number}]\nmeasures: [{name: n, expr: count(*)}]\n", dir, "semantic-layer", "b", "t.yaml")
	s := serviceOver(t, dir, conns, other)
	ben := callerOf(t, s, analyst("ben", "b"))
	calls := slCalls("a")
	alone := callerOf(t, serviceOver(t, dir, other), analyst("ben", "b")).answers(calls)
	sameAnswers(t, "beside another connection", calls, alone, ben.answers(calls))
	if got := ben.answer("sl_query", `{"measures":["n"]}`); !strings.HasPrefix(got, `error false: {"connectionId":"b"`) {
		t.Errorf("the only connection of the principal: %s", got)
	}
}
