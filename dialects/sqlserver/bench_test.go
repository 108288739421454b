package sqlserver_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/sqlserver"
)

// benchTexts are queries by size. The number 4711 in each is replaced, so that
// no verdict comes from the cache.
var benchTexts = []struct{ name, sql string }{
	{"small", "SELECT name, price FROM products WHERE id = 4711"},
	// The shape of TPC-H query 5: six tables, five joins, an aggregate.
	{"tpch5", `SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'ASIA' AND o_orderkey <> 4711
  AND o_orderdate >= CAST('1994-01-01' AS date)
  AND o_orderdate < DATEADD(year, 1, CAST('1994-01-01' AS date))
GROUP BY n_name ORDER BY revenue DESC`},
	{"report", `WITH months AS (
  SELECT CAST('2024-01-01' AS date) AS m UNION ALL SELECT DATEADD(month, 1, m) FROM months WHERE m < '2024-12-01'
), sales AS (
  SELECT DATETRUNC(month, s.sold_at) AS month, s.store_id, i.category,
         SUM(s.quantity * s.price) AS revenue, COUNT(DISTINCT s.customer_id) AS buyers
  FROM dbo.store_sales AS s WITH (NOLOCK)
  JOIN dbo.items AS i ON i.id = s.item_id
  LEFT JOIN dbo.promotions AS p ON p.item_id = i.id AND p.starts_at <= s.sold_at AND p.ends_at > s.sold_at
  WHERE s.quantity BETWEEN 1 AND 4711 AND i.category NOT IN ('gift card', 'deposit') AND p.id IS NULL
  GROUP BY DATETRUNC(month, s.sold_at), s.store_id, i.category
), ranked AS (
  SELECT month, store_id, category, revenue, buyers,
         RANK() OVER (PARTITION BY month, store_id ORDER BY revenue DESC) AS place,
         SUM(revenue) OVER (PARTITION BY store_id, category ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS rolling,
         LAG(revenue, 1, 0) OVER (PARTITION BY store_id, category ORDER BY month) AS before
  FROM sales
)
SELECT TOP (500) months.m AS month, st.name AS store, r.category, ROUND(r.revenue, 2) AS revenue, r.buyers,
       CASE WHEN r.before = 0 THEN NULL ELSE ROUND(100.0 * (r.revenue - r.before) / r.before, 1) END AS growth,
       IIF(r.rolling > 100000, N'large', IIF(r.rolling > 10000, N'medium', N'small')) AS size,
       JSON_OBJECT('place':r.place, 'rolling':ROUND(r.rolling, 2), 'region':COALESCE(st.region, 'none')) AS facts
FROM months
LEFT JOIN ranked AS r ON r.month = months.m AND r.place <= 3
LEFT JOIN dbo.stores AS st ON st.id = r.store_id
WHERE EXISTS (SELECT 1 FROM dbo.stores AS o WHERE o.id = r.store_id AND o.closed_at IS NULL)
   OR r.store_id IS NULL AND months.m < GETDATE()
ORDER BY months.m, st.name COLLATE Latin1_General_CI_AS, r.place OPTION (RECOMPILE, MAXDOP 2)`},
}

// variants returns more texts than the verdict cache holds, of equal length.
func variants(sql string) []string {
	out := make([]string, 5000)
	for i := range out {
		out[i] = strings.Replace(sql, "4711", strconv.Itoa(1000+i), 1)
	}
	return out
}

// BenchmarkCheck is a whole verdict: screen, parse, judgement, fingerprint.
func BenchmarkCheck(b *testing.B) {
	for _, text := range benchTexts {
		b.Run(text.name, func(b *testing.B) {
			g := newGuard(b)
			texts := variants(text.sql)
			b.SetBytes(int64(len(text.sql)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if v := g.Check(texts[i%len(texts)]); !v.Allowed {
					b.Fatal(v.Findings)
				}
			}
		})
	}
}

func BenchmarkAnalyze(b *testing.B) {
	for _, text := range benchTexts {
		b.Run(text.name, func(b *testing.B) {
			b.SetBytes(int64(len(text.sql)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (sqlserver.Dialect{}).Analyze(text.sql); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLex(b *testing.B) {
	for _, text := range benchTexts {
		b.Run(text.name, func(b *testing.B) {
			b.SetBytes(int64(len(text.sql)))
			b.ReportAllocs()
			for b.Loop() {
				_ = sqlserver.Dialect{}.Lex(text.sql)
			}
		})
	}
}

// BenchmarkRatio reports the median time of a whole verdict, and as a multiple
// of the median time of the bare parse, measured in turns in one process.
func BenchmarkRatio(b *testing.B) {
	for _, text := range benchTexts {
		b.Run(text.name, func(b *testing.B) {
			g := newGuard(b)
			texts := variants(text.sql)
			var check, parse []time.Duration
			for i := 0; b.Loop(); i++ {
				sql := texts[i%len(texts)]
				check = append(check, clock(func() { g.Check(sql) }))
				parse = append(parse, clock(func() { _, _ = sqlserver.Dialect{}.Analyze(sql) }))
			}
			b.ReportMetric(float64(median(check))/float64(time.Microsecond), "µs/median")
			b.ReportMetric(float64(median(check))/float64(median(parse)), "check/parse")
		})
	}
}

func clock(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
