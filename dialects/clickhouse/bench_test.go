package clickhouse_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

var bench = dialecttest.Bench{
	Dialect: clickhouse.Dialect{},
	Texts: []dialecttest.Text{
		{Name: "small", SQL: "SELECT name, price FROM products WHERE id = 4711"},
		{Name: "join", SQL: `SELECT p.category, count() AS orders, sum(o.quantity * p.price) AS revenue FROM orders AS o
INNER JOIN products AS p ON p.id = o.product_id WHERE o.placed_at >= toDate('2024-01-01') AND o.customer_id <> 4711
GROUP BY p.category HAVING revenue > 1000 ORDER BY revenue DESC LIMIT 10`},
		{Name: "report", SQL: `WITH sales AS (
  SELECT toStartOfMonth(s.sold_at) AS month, s.store_id, i.category,
         sum(s.quantity * s.price) AS revenue, uniqExact(s.customer_id) AS buyers, quantiles(0.5, 0.95)(s.price) AS prices
  FROM shop.store_sales AS s FINAL
  ANY LEFT JOIN shop.items AS i ON i.id = s.item_id
  LEFT JOIN shop.promotions AS p ON p.item_id = i.id AND p.starts_at <= s.sold_at AND p.ends_at > s.sold_at
  PREWHERE s.quantity BETWEEN 1 AND 4711
  WHERE i.category NOT IN ('gift card', 'deposit') AND p.id IS NULL AND s.sold_at AT TIME ZONE 'Europe/Berlin' >= toDateTime('2024-01-01 00:00:00')
  GROUP BY month, s.store_id, i.category
), ranked AS (
  SELECT month, store_id, category, revenue, buyers, prices[2] AS high,
         rank() OVER (PARTITION BY month, store_id ORDER BY revenue DESC) AS place,
         sum(revenue) OVER (PARTITION BY store_id, category ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS rolling,
         lagInFrame(revenue, 1, 0) OVER (PARTITION BY store_id, category ORDER BY month) AS before
  FROM sales
)
SELECT r.month, st.name AS store, r.category, round(r.revenue, 2) AS revenue, r.buyers, r.high,
       CASE WHEN r.before = 0 THEN NULL ELSE round(100.0 * (r.revenue - r.before) / r.before, 1) END AS growth,
       multiIf(r.rolling > 100000, 'large', r.rolling > 10000, 'medium', 'small') AS size,
       arrayFilter(x -> x != '', arrayMap((k, v) -> concat(k, '=', toString(v)), st.tags.keys, st.tags.values)) AS tags,
       toJSONString(map('place', r.place, 'region', coalesce(st.region, 'none'))) AS facts
FROM ranked AS r
LEFT JOIN shop.stores AS st ON st.id = r.store_id
WHERE r.place <= 3 AND (r.store_id IN (SELECT id FROM shop.stores WHERE closed_at IS NULL) OR st.id IS NULL AND r.month < now())
ORDER BY r.month WITH FILL STEP INTERVAL 1 MONTH, store, r.place LIMIT 500`},
	},
}

func BenchmarkCheck(b *testing.B) { bench.Check(b) }

func BenchmarkAnalyze(b *testing.B) { bench.Analyze(b) }

func BenchmarkLex(b *testing.B) { bench.Lex(b) }

func BenchmarkRatio(b *testing.B) { bench.Ratio(b) }

func BenchmarkCached(b *testing.B) { bench.Cached(b) }
