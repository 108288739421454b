package research_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// twoOwners writes a project for Ana and Ben. Its pages are the same for both. For each
// owner that is named, there are the artifacts of that owner's connections, and the
// connections are returned. The connections of the two have similar ids, tables and
// values, so that any count over both would show.
func twoOwners(t *testing.T, owners ...string) (dir string, conns []execution.Connection) {
	t.Helper()
	dir = t.TempDir()
	put(t, "---\nsummary: How refunds count.\nsl_refs: [main.orders, b_shop/main.orders, payroll, hr.payroll]\ntags: [b_lake, money]\n---\n# Refunds\nRefunds lower `orders.total`, and in b_lake `hr.payroll.bonus`.\n", dir, "wiki", "global", "refunds.md")
	put(t, "Salaries are in `hr.payroll` and `payroll.bonus`; late orders are in `main.orders`.\n", dir, "wiki", "global", "salaries.md")
	for _, owner := range owners {
		mark := owner[:1] // a or b
		shop := sqliteConnection(t, mark+"_shop")
		conns = append(conns, shop, artifactOnly(mark+"_lake", sqlguard.Policy{}), artifactOnly(mark+"_new", sqlguard.Policy{}))
		demoScan(t, dir, mark+"_shop")
		for _, id := range []string{mark + "_shop", mark + "_lake"} {
			table := "main.orders"
			if id != mark+"_shop" {
				table = "public.orders"
			}
			put(t, fmt.Sprintf("name: orders\ntable: %s\ndescriptions: {user: Orders of %s}\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: status, type: string}, {name: total, type: number}]\nmeasures: [{name: order_count, expr: count(*)}, {name: revenue, expr: sum(total)}, {name: %s_total, expr: max(total)}]\nsegments: [{name: late, expr: status = 'late'}]\n", table, owner, owner), dir, "semantic-layer", id, "orders.yaml")
		}
		if mark == "b" { // many sources and measures with the words that Ana asks for
			for i := range 60 {
				put(t, fmt.Sprintf("name: payroll_%d\ntable: hr.payroll_%d\ndescriptions: {ai: Paid late with refunds}\ngrain: [id]\ncolumns: [{name: id, type: number}, {name: bonus, type: number}]\nmeasures: [{name: orders_bonus, expr: sum(bonus)}]\n", i, i), dir, "semantic-layer", "b_lake", fmt.Sprintf("payroll_%d.yaml", i))
			}
			put(t, "name: broken\n  payroll: [", dir, "semantic-layer", "b_shop", "broken.yaml")
		}
		writeValues(t, dir, mark+"_shop", map[string][]string{"main.orders.status": {"paid", "delivered", "of " + owner}})
		lake := []catalog.Table{catalogtest.Table("public.orders", "id integer key", "status text -- Late or paid", owner+"_total numeric(10,2)")}
		lake[0].Columns[1].SampleValues = []string{"paid", "late", "of " + owner}
		if mark == "b" { // many tables with the words that Ana asks for, which would change the weights of all words
			for i := range 60 {
				lake = append(lake, catalogtest.Table(fmt.Sprintf("hr.payroll_%d", i), "orders_bonus integer -- Paid late with refunds", "status text"))
			}
			lake = append(lake, catalogtest.Table("hr.payroll", "bonus integer"), catalogtest.Table("main.ordres", "totl integer"))
		} else {
			lake = append(lake, catalogtest.Table("hr.people", "refunds integer"))
		}
		catalogtest.Write(t, dir, mark+"_lake", catalogtest.Scan{Tables: lake})
	}
	return dir, conns
}

// ownedBy returns the connections of an owner in [twoOwners].
func ownedBy(owner string) audit.Actor {
	mark := owner[:1]
	return analyst(owner, mark+"_lake", mark+"_new", mark+"_shop")
}

// callsOf are the calls of an owner, about its own connections and about the other's.
func callsOf(owner, other string) []call {
	words := []string{"orders", "ordres", "main.orders.total", "payroll", "late orders paid", "refunds", "salaries", "hr.payrol", "status", "bonus", other + "_total", "money", "b_lake"}
	values := []string{"paid", "late", "of " + other, "of " + owner, "pait"}
	mark := owner[:1]
	calls := everyTool(mark+"_shop", words, values)
	calls = append(calls, everyTool(mark+"_lake", words[:3], values[:2])...)
	calls = append(calls, everyTool(other[:1]+"_lake", words[:3], values[:2])...)
	for _, sql := range []string{"SELECT * FROM ordres", "SELECT totl FROM orders", "SELECT * FROM payroll", "SELECT bonus FROM orders", "SELECT count(*) FROM orders"} {
		for _, id := range []string{mark + "_shop", other[:1] + "_shop", mark + "_lake"} {
			calls = append(calls, call{"sql_execution", fmt.Sprintf(`{"connectionId":%q,"sql":%q}`, id, sql)})
		}
	}
	return calls
}

// TestAnotherPrincipalChangesNothing: what a principal is told by any tool is the same,
// byte by byte, whether or not there are connections of another principal, and whether
// or not that one works at the same time.
func TestAnotherPrincipalChangesNothing(t *testing.T) {
	t.Parallel()
	for _, who := range [][2]string{{"ana", "ben"}, {"ben", "ana"}} {
		owner, other := who[0], who[1]
		calls := callsOf(owner, other)
		dir, conns := twoOwners(t, owner)
		alone := callerOf(t, serviceOver(t, dir, conns...), ownedBy(owner)).answers(calls)
		if found := strings.Join(alone, "\n"); !strings.Contains(found, "the nearest are main.orders") || !strings.Contains(found, "the nearest columns in the last scan are main.orders.total") || !strings.Contains(found, `"matchedValue":"of `+owner) || !strings.Contains(found, `"kind":"sl_measure"`) || !strings.Contains(found, `"headers":["status","order_count"]`) {
			t.Fatalf("%s alone gets too few answers for a comparison", owner)
		}
		dir, conns = twoOwners(t, "ana", "ben")
		s := serviceOver(t, dir, conns...)
		quiet := callerOf(t, s, ownedBy(owner)).answers(calls)
		sameAnswers(t, owner+" beside connections of "+other, calls, alone, quiet)
		for i, a := range quiet {
			// What was asked for is repeated, and pages are for all.
			if calls[i].tool != "wiki_read" && !strings.Contains(calls[i].arguments, other) && strings.Contains(a, other) {
				t.Errorf("%v: %s", calls[i], a)
			}
		}
		// The other asks at the same time, and does not write.
		dir, conns = twoOwners(t, "ana", "ben")
		s = serviceOver(t, dir, conns...)
		first, second := callerOf(t, s, ownedBy(owner)), callerOf(t, s, ownedBy(other))
		reading := slices.DeleteFunc(callsOf(other, owner), func(x call) bool { return x.tool == "memory_ingest" })
		second.answers(reading)
		var busy sync.WaitGroup
		busy.Go(func() { second.answers(reading) })
		sameAnswers(t, owner+" at the same time as "+other, calls, alone, first.answers(calls))
		busy.Wait()
	}
}

// TestRunsOfAnotherPrincipal: a run for a connection of another principal is answered as
// one that never was.
func TestRunsOfAnotherPrincipal(t *testing.T) {
	t.Parallel()
	dir, conns := twoOwners(t, "ana", "ben")
	s := serviceOver(t, dir, conns...)
	ana, ben := callerOf(t, s, ownedBy("ana")), callerOf(t, s, ownedBy("ben"))
	ben.must("memory_ingest", `{"content":"# Bonus\nA bonus is paid late.","connectionId":"b_lake"}`)
	const run = "20260506T070809Z-run1"
	if got := ben.must("memory_ingest_status", `{"runId":"`+run+`"}`); !strings.Contains(got, `"wiki":["bonus"]`) {
		t.Fatal(got)
	}
	never := ana.answer("memory_ingest_status", `{"runId":"20260506T070809Z-run9"}`)
	if got := ana.answer("memory_ingest_status", `{"runId":"`+run+`"}`); got != never || !strings.HasPrefix(got, "error true: not_found") {
		t.Errorf("%s, want\n%s", got, never)
	}
}
