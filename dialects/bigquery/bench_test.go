package bigquery_test

import (
	"testing"

	"github.com/sqlc-dev/zetajones/parser"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

var bench = dialecttest.Bench{
	Dialect: bigquery.Dialect{},
	Parse: func(sql string) error {
		_, err := parser.ParseScriptWithOptions(sql, parser.Options{Features: parser.ParseFeatureSet("MAXIMUM")})
		return err
	},
	Texts: []dialecttest.Text{
		{Name: "small", SQL: "SELECT name, price FROM products WHERE id = 4711"},
		{Name: "join", SQL: `SELECT p.category, COUNT(*) AS orders, SUM(o.quantity * p.price) AS revenue FROM shop.orders AS o
INNER JOIN shop.products AS p ON p.id = o.product_id WHERE o.placed_at >= DATE '2024-01-01' AND o.customer_id <> 4711
GROUP BY p.category HAVING revenue > 1000 ORDER BY revenue DESC LIMIT 10`},
		{Name: "report", SQL: "WITH sales AS (" + `
  SELECT DATE_TRUNC(s.sold_at, MONTH) AS month, s.store_id, i.category,
         SUM(s.quantity * s.price) AS revenue, APPROX_COUNT_DISTINCT(s.customer_id) AS buyers, APPROX_QUANTILES(s.price, 20) AS prices
  FROM ` + "`my-project.shop.store_sales`" + ` AS s
  LEFT JOIN shop.items AS i ON i.id = s.item_id
  LEFT JOIN shop.promotions AS p ON p.item_id = i.id AND p.starts_at <= s.sold_at AND p.ends_at > s.sold_at
  WHERE s.quantity BETWEEN 1 AND 4711 AND i.category NOT IN ('gift card', 'deposit') AND p.id IS NULL
    AND EXTRACT(YEAR FROM s.sold_at) >= 2024 AND s.sold_at >= DATE_SUB(CURRENT_DATE(), INTERVAL 3 YEAR)
  GROUP BY month, s.store_id, i.category
), ranked AS (
  SELECT month, store_id, category, revenue, buyers, prices[SAFE_OFFSET(19)] AS high,
         RANK() OVER (PARTITION BY month, store_id ORDER BY revenue DESC) AS place,
         SUM(revenue) OVER (PARTITION BY store_id, category ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS rolling,
         LAG(revenue, 1, 0) OVER (PARTITION BY store_id, category ORDER BY month) AS before
  FROM sales
)
SELECT r.month, st.name AS store, r.category, ROUND(r.revenue, 2) AS revenue, r.buyers, r.high,
       CASE WHEN r.before = 0 THEN NULL ELSE ROUND(100.0 * (r.revenue - r.before) / r.before, 1) END AS growth,
       IF(r.rolling > 100000, 'large', IF(r.rolling > 10000, 'medium', 'small')) AS size,
       ARRAY(SELECT CONCAT(t.key, '=', t.value) FROM UNNEST(st.tags) AS t WHERE t.key != '') AS tags,
       TO_JSON_STRING(STRUCT(r.place AS place, COALESCE(st.region, 'none') AS region)) AS facts
FROM ranked AS r
LEFT JOIN shop.stores AS st ON st.id = r.store_id
WHERE r.place <= 3 AND (r.store_id IN (SELECT id FROM shop.stores WHERE closed_at IS NULL) OR st.id IS NULL AND r.month < CURRENT_DATE())
QUALIFY ROW_NUMBER() OVER (PARTITION BY r.month, st.name ORDER BY r.revenue DESC) <= 5
ORDER BY r.month, store, r.place LIMIT 500`},
	},
}

func BenchmarkCheck(b *testing.B) { bench.Check(b) }

func BenchmarkAnalyze(b *testing.B) { bench.Analyze(b) }

func BenchmarkLex(b *testing.B) { bench.Lex(b) }

func BenchmarkBareParse(b *testing.B) { bench.BareParse(b) }

func BenchmarkRatio(b *testing.B) { bench.Ratio(b) }

func BenchmarkCached(b *testing.B) { bench.Cached(b) }
