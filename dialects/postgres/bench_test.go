package postgres_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/postgres"
)

// The statements are a look-up, a join of 240 bytes, and a report of the size of a TPC-DS
// query.
var bench = dialecttest.Bench{
	Dialect: postgres.Dialect{},
	Parse:   bareParse,
	Texts: []dialecttest.Text{
		{Name: "small", SQL: "SELECT id, name FROM customers WHERE id = 42 --4711"},
		{Name: "medium", SQL: `SELECT c.region, date_trunc('month', o.placed_at) AS month, count(*) AS orders, sum(i.price * i.quantity) AS revenue
FROM orders o JOIN customers c ON c.id = o.customer_id JOIN order_items i ON i.order_id = o.id
WHERE o.status <> 'cancelled' GROUP BY 1, 2 --4711`},
		{Name: "large", SQL: `WITH sales AS (
  SELECT 'store' AS channel, s.item_id, s.customer_id, d.year, d.quarter, s.quantity * s.list_price AS amount, s.discount
  FROM store_sales s JOIN date_dim d ON d.date_id = s.date_id WHERE d.year BETWEEN 1999 AND 2001 AND s.quantity > 0
  UNION ALL
  SELECT 'web', w.item_id, w.customer_id, d.year, d.quarter, w.quantity * w.list_price, w.discount
  FROM web_sales w JOIN date_dim d ON d.date_id = w.date_id WHERE d.year BETWEEN 1999 AND 2001 AND w.quantity > 0
), averages AS (
  SELECT channel, avg(amount) AS average FROM sales GROUP BY channel HAVING count(*) > 10
), ranked AS (
  SELECT s.channel, i.brand, i.category, s.year, s.quarter, sum(s.amount) AS total,
    rank() OVER (PARTITION BY s.channel, s.year ORDER BY sum(s.amount) DESC NULLS LAST) AS place,
    lag(sum(s.amount)) OVER (PARTITION BY s.channel, i.brand ORDER BY s.year, s.quarter) AS before
  FROM sales s JOIN items i ON i.id = s.item_id JOIN averages a ON a.channel = s.channel AND s.amount > a.average
  WHERE i.category IN ('Books', 'Music', 'Sports', 'Shoes') AND (s.discount IS NULL OR s.discount < 0.3)
    AND EXISTS (SELECT 1 FROM customers c WHERE c.id = s.customer_id AND c.country = 'Portugal' AND c.birth_year < 1990)
    AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.item_id = s.item_id AND r.reason ILIKE '%damaged%')
  GROUP BY GROUPING SETS ((s.channel, i.brand, i.category, s.year, s.quarter), (s.channel, i.category, s.year, s.quarter))
)
SELECT channel, coalesce(brand, 'all') AS brand, category, year, quarter, total, place,
  CASE WHEN before IS NULL OR before = 0 THEN NULL ELSE round((total - before) / before * 100, 2) END AS growth,
  to_char(total, 'FM999,999,990.00') AS shown
FROM ranked WHERE place <= 10 ORDER BY channel, year, quarter, place LIMIT 100 --4711`},
	},
}

func BenchmarkCheck(b *testing.B) { bench.Check(b) }

func BenchmarkAnalyze(b *testing.B) { bench.Analyze(b) }

func BenchmarkLex(b *testing.B) { bench.Lex(b) }

func BenchmarkBareParse(b *testing.B) { bench.BareParse(b) }

func BenchmarkRatio(b *testing.B) { bench.Ratio(b) }

func BenchmarkCached(b *testing.B) { bench.Cached(b) }

// BenchmarkRefuse measures the refusal of 60 kB of brackets, which never reach a parser.
func BenchmarkRefuse(b *testing.B) {
	g := guard(b)
	sql := "SELECT " + strings.Repeat("(", 60_000)
	for b.Loop() {
		if v := g.Check(sql); v.Allowed {
			b.Fatal("allowed")
		}
	}
}
