package emit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// BenchmarkEmit writes a plan of two facts and three dimensions.
func BenchmarkEmit(b *testing.B) {
	p := ask{
		dims:     []string{"customers.name as customer", "regions.name as region", "customers.signup:month as month"},
		measures: []string{"sum(orders.amount) as revenue", "sum(returns.amount) filter (where returns.amount > 0) as returned", "coalesce(sum(orders.amount), 0) - coalesce(sum(returns.amount), 0) as net"},
		legs: []leg{
			{base: "orders", joins: []string{"customers", "regions"}, where: []string{"regions.name in ('North', 'South')"}},
			{base: "returns", joins: []string{"customers", "regions"}, where: []string{"regions.name in ('North', 'South')"}},
			{base: "customers", joins: []string{"regions"}, where: []string{"regions.name in ('North', 'South')"}},
		},
		having: []string{"sum(orders.amount) > 10"}, order: []string{"-net"}, limit: 101,
	}.plan(b, shop(b))
	for _, d := range all {
		b.Run(string(d), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := emit.Emit(p, d); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/median")
		})
	}
}

// The facts of BenchmarkShape: 400,000 rows each, of 100,000 customers.
const (
	factRows  = 400_000
	customers = 100_000
)

func facts(d emit.Dialect) []string {
	series := func(n int) string {
		if d == emit.Postgres {
			return fmt.Sprintf("generate_series(1, %d) AS s (n)", n)
		}
		return fmt.Sprintf("(WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)", n)
	}
	name := "'Customer ' || n"
	out := []string{
		"CREATE TABLE customers (id integer PRIMARY KEY, name text)",
		fmt.Sprintf("INSERT INTO customers SELECT n, %s FROM %s", name, series(customers)),
	}
	for i, table := range []string{"orders", "returns"} {
		out = append(out,
			fmt.Sprintf("CREATE TABLE %s (id integer PRIMARY KEY, customer_id integer, amount integer)", table),
			fmt.Sprintf("INSERT INTO %s SELECT n, (n * CAST(%d AS bigint)) %% %d + 1, n %% 1000 FROM %s", table, 7919+2*i, customers, series(factRows)),
		)
	}
	return append(out, "ANALYZE")
}

// byHand are good ways to write the answer of the plan of BenchmarkShape.
var byHand = map[string]string{
	"full join": `SELECT COALESCE(o.name, r.name) AS name, o.revenue, r.returned
		FROM (SELECT c.name, SUM(o.amount) AS revenue FROM orders o LEFT JOIN customers c ON c.id = o.customer_id GROUP BY c.name) o
		FULL JOIN (SELECT c.name, SUM(r.amount) AS returned FROM returns r LEFT JOIN customers c ON c.id = r.customer_id GROUP BY c.name) r ON o.name = r.name
		ORDER BY 2 DESC NULLS LAST, 1 LIMIT 100`,
	"union of groups": `SELECT name, SUM(revenue) AS revenue, SUM(returned) AS returned
		FROM (SELECT c.name, SUM(o.amount) AS revenue, CAST(NULL AS bigint) AS returned FROM orders o LEFT JOIN customers c ON c.id = o.customer_id GROUP BY c.name
			UNION ALL SELECT c.name, NULL, SUM(r.amount) FROM returns r LEFT JOIN customers c ON c.id = r.customer_id GROUP BY c.name) u
		GROUP BY name ORDER BY 2 DESC NULLS LAST, 1 LIMIT 100`,
	"union of rows": `SELECT name, SUM(revenue) AS revenue, SUM(returned) AS returned
		FROM (SELECT c.name, o.amount AS revenue, CAST(NULL AS integer) AS returned FROM orders o LEFT JOIN customers c ON c.id = o.customer_id
			UNION ALL SELECT c.name, NULL, r.amount FROM returns r LEFT JOIN customers c ON c.id = r.customer_id) u
		GROUP BY name ORDER BY 2 DESC NULLS LAST, 1 LIMIT 100`,
	"keys first, each": `SELECT name, MAX(revenue) AS revenue, MAX(returned) AS returned
		FROM (SELECT c.name, SUM(k.revenue) AS revenue, CAST(NULL AS numeric) AS returned FROM (SELECT customer_id, SUM(amount) AS revenue FROM orders GROUP BY customer_id) k LEFT JOIN customers c ON c.id = k.customer_id GROUP BY c.name
			UNION ALL SELECT c.name, NULL, SUM(k.returned) FROM (SELECT customer_id, SUM(amount) AS returned FROM returns GROUP BY customer_id) k LEFT JOIN customers c ON c.id = k.customer_id GROUP BY c.name) u
		GROUP BY name ORDER BY 2 DESC NULLS LAST, 1 LIMIT 100`,
	"keys first": `SELECT c.name, SUM(u.revenue) AS revenue, SUM(u.returned) AS returned
		FROM (SELECT customer_id, SUM(amount) AS revenue, CAST(NULL AS bigint) AS returned FROM orders GROUP BY customer_id
			UNION ALL SELECT customer_id, NULL, SUM(amount) FROM returns GROUP BY customer_id) u
		LEFT JOIN customers c ON c.id = u.customer_id
		GROUP BY c.name ORDER BY 2 DESC NULLS LAST, 1 LIMIT 100`,
}

// BenchmarkShape compares the time of a plan of two facts with that of the best of several
// ways to write the same by hand. They take turns.
func BenchmarkShape(b *testing.B) {
	for _, d := range []emit.Dialect{emit.SQLite, emit.Postgres} {
		b.Run(string(d), func(b *testing.B) {
			var c *executiontest.Client
			if d == emit.SQLite {
				c = onSQLite(b, facts(d))
			} else {
				c = onPostgres(b, facts(d))
			}
			sql, refused := emit.Emit(twoFacts(b), d)
			if refused != nil {
				b.Fatal(refused)
			}
			texts := map[string]string{"plan": sql.Text}
			for way, text := range byHand {
				if way != "full join" || d == emit.Postgres { // SQLite makes no index for it
					texts[way] = text
				}
			}
			want := rows(c.Get(b, sql.Text, execution.Limits{}))
			ways := make([]string, 0, len(texts))
			for way, text := range texts {
				ways = append(ways, way)
				if got := rows(c.Get(b, text, execution.Limits{})); got != want {
					b.Fatalf("%s gives other rows", way)
				}
			}
			slices.Sort(ways)
			times := map[string][]time.Duration{}
			for b.Loop() {
				for _, way := range ways {
					start := time.Now()
					c.Get(b, texts[way], execution.Limits{})
					times[way] = append(times[way], time.Since(start))
				}
			}
			best := time.Duration(0)
			for _, way := range ways {
				slices.Sort(times[way])
				m := times[way][len(times[way])/2]
				b.Logf("%s: %v", way, m)
				if way != "plan" && (best == 0 || m < best) {
					best = m
				}
			}
			mine := times["plan"][len(times["plan"])/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(mine.Microseconds())/1000, "ms/median")
			b.ReportMetric(float64(mine)/float64(best), "ratio")
		})
	}
}

// twoFacts is the plan of BenchmarkShape.
func twoFacts(tb testing.TB) *plan.Plan {
	tb.Helper()
	m := newModel(tb,
		source{name: "customers", columns: []string{"id:number", "name:string"}},
		source{name: "orders", columns: []string{"id:number", "customer_id:number", "amount:number"}, joins: []string{"customer_id = customers.id"}},
		source{name: "returns", columns: []string{"id:number", "customer_id:number", "amount:number"}, joins: []string{"customer_id = customers.id"}},
	)
	return ask{
		dims: []string{"customers.name as name"}, measures: []string{"sum(orders.amount) as revenue", "sum(returns.amount) as returned"},
		legs:  []leg{{base: "orders", joins: []string{"customers"}}, {base: "returns", joins: []string{"customers"}}},
		order: []string{"-revenue"}, limit: 100,
	}.plan(tb, m)
}
