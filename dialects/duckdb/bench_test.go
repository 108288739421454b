package duckdb_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sqlc-dev/darkwing/parser"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

var bench = dialecttest.Bench{
	Dialect: duckdb.Dialect{},
	Parse: func(sql string) error {
		_, err := parser.Parse(context.Background(), strings.NewReader(sql))
		return err
	},
	Texts: []dialecttest.Text{
		{Name: "small", SQL: "SELECT name, price FROM products WHERE id = 4711"},
		{Name: "join", SQL: `SELECT c.name, count(*) AS orders, sum(o.total) AS revenue
FROM customers AS c JOIN orders AS o ON o.customer_id = c.id
WHERE o.created_at >= DATE '2024-01-01' AND o.total > 4711 AND c.country IN ('DE', 'FR', 'IT')
GROUP BY ALL HAVING count(*) > 3 ORDER BY revenue DESC LIMIT 20`},
		{Name: "report", SQL: `WITH months AS (
  SELECT unnest(generate_series(DATE '2024-01-01', DATE '2024-12-01', INTERVAL 1 MONTH)) AS m
), sales AS (
  SELECT date_trunc('month', s.sold_at) AS month, s.store_id, i.category,
         sum(s.quantity * s.price) AS revenue, count(DISTINCT s.customer_id) AS buyers, list(DISTINCT i.brand) AS brands
  FROM store_sales AS s
  JOIN items AS i ON i.id = s.item_id
  LEFT JOIN promotions AS p ON p.item_id = i.id AND p.starts_at <= s.sold_at AND p.ends_at > s.sold_at
  WHERE s.quantity BETWEEN 1 AND 4711 AND i.category NOT IN ('gift card', 'deposit') AND p.id IS NULL
  GROUP BY ALL
), ranked AS (
  SELECT month, store_id, category, revenue, buyers, brands,
         sum(revenue) OVER (PARTITION BY store_id, category ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS rolling,
         lag(revenue, 1, 0) OVER (PARTITION BY store_id, category ORDER BY month) AS before
  FROM sales
  QUALIFY rank() OVER (PARTITION BY month, store_id ORDER BY revenue DESC) <= 3
)
SELECT months.m AS month, st.name AS store, r.category, round(r.revenue, 2) AS revenue, r.buyers,
       CASE WHEN r.before = 0 THEN NULL ELSE round(100.0 * (r.revenue - r.before) / r.before, 1) END AS growth,
       CASE WHEN r.rolling > 100000 THEN 'large' WHEN r.rolling > 10000 THEN 'medium' ELSE 'small' END AS size,
       list_transform(r.brands, lambda b: upper(b)) AS brands, {'rolling': round(r.rolling, 2), 'region': coalesce(st.region, 'none')} AS facts
FROM months
LEFT JOIN ranked AS r ON r.month = months.m
LEFT JOIN stores AS st ON st.id = r.store_id
WHERE EXISTS (SELECT 1 FROM stores AS open WHERE open.id = r.store_id AND open.closed_at IS NULL)
   OR r.store_id IS NULL AND months.m < date_trunc('month', current_date)
ORDER BY months.m, st.name, r.revenue DESC LIMIT 500`},
	},
}

func BenchmarkCheck(b *testing.B) { bench.Check(b) }

func BenchmarkAnalyze(b *testing.B) { bench.Analyze(b) }

func BenchmarkLex(b *testing.B) { bench.Lex(b) }

func BenchmarkRatio(b *testing.B) { bench.Ratio(b) }

func BenchmarkCached(b *testing.B) { bench.Cached(b) }
