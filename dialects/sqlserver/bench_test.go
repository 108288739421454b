package sqlserver_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
)

var bench = dialecttest.Bench{
	Dialect: sqlserver.Dialect{},
	Texts: []dialecttest.Text{
		{Name: "small", SQL: "SELECT name, price FROM products WHERE id = 4711"},
		// The shape of TPC-H query 5: six tables, five joins, an aggregate.
		{Name: "tpch5", SQL: `SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'ASIA' AND o_orderkey <> 4711
  AND o_orderdate >= CAST('1994-01-01' AS date)
  AND o_orderdate < DATEADD(year, 1, CAST('1994-01-01' AS date))
GROUP BY n_name ORDER BY revenue DESC`},
		{Name: "report", SQL: `WITH months AS (
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
	},
}

func BenchmarkCheck(b *testing.B) { bench.Check(b) }

func BenchmarkAnalyze(b *testing.B) { bench.Analyze(b) }

func BenchmarkLex(b *testing.B) { bench.Lex(b) }

func BenchmarkRatio(b *testing.B) { bench.Ratio(b) }

func BenchmarkCached(b *testing.B) { bench.Cached(b) }
