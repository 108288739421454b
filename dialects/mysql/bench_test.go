package mysql_test

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
)

var benchParser = parser.New()

var bench = dialecttest.Bench{
	Dialect: mysql.Dialect{},
	Parse: func(sql string) error {
		_, _, err := benchParser.Parse(sql, "", "")
		return err
	},
	Texts: []dialecttest.Text{
		{Name: "small", SQL: "SELECT name, price FROM products WHERE id = 4711"},
		{Name: "join", SQL: `SELECT c.name, count(*) AS orders, sum(o.total) AS revenue
FROM customers AS c JOIN orders AS o ON o.customer_id = c.id
WHERE o.created_at >= '2024-01-01' AND o.total > 4711 AND c.country IN ('DE', 'FR', 'IT')
GROUP BY c.name HAVING count(*) > 3 ORDER BY revenue DESC LIMIT 20`},
		{Name: "report", SQL: `WITH RECURSIVE months (m) AS (
  SELECT DATE '2024-01-01' UNION ALL SELECT DATE_ADD(m, INTERVAL 1 MONTH) FROM months WHERE m < '2024-12-01'
), sales AS (
  SELECT DATE_FORMAT(s.sold_at, '%Y-%m-01') AS month, s.store_id, i.category,
         SUM(s.quantity * s.price) AS revenue, COUNT(DISTINCT s.customer_id) AS buyers
  FROM store_sales AS s
  JOIN items AS i ON i.id = s.item_id
  LEFT JOIN promotions AS p ON p.item_id = i.id AND p.starts_at <= s.sold_at AND p.ends_at > s.sold_at
  WHERE s.quantity BETWEEN 1 AND 4711 AND i.category NOT IN ('gift card', 'deposit') AND p.id IS NULL
  GROUP BY 1, 2, 3
), ranked AS (
  SELECT month, store_id, category, revenue, buyers,
         RANK() OVER (PARTITION BY month, store_id ORDER BY revenue DESC) AS place,
         SUM(revenue) OVER (PARTITION BY store_id, category ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS rolling,
         LAG(revenue, 1, 0) OVER (PARTITION BY store_id, category ORDER BY month) AS prior
  FROM sales
)
SELECT months.m AS month, st.name AS store, r.category, ROUND(r.revenue, 2) AS revenue, r.buyers,
       CASE WHEN r.prior = 0 THEN NULL ELSE ROUND(100.0 * (r.revenue - r.prior) / r.prior, 1) END AS growth,
       CASE WHEN r.rolling > 100000 THEN 'large' WHEN r.rolling > 10000 THEN 'medium' ELSE 'small' END AS size,
       JSON_OBJECT('place', r.place, 'rolling', ROUND(r.rolling, 2), 'region', COALESCE(st.region, 'none')) AS facts
FROM months
LEFT JOIN ranked AS r ON r.month = months.m AND r.place <= 3
LEFT JOIN stores AS st ON st.id = r.store_id
WHERE EXISTS (SELECT 1 FROM stores AS o WHERE o.id = r.store_id AND o.closed_at IS NULL)
   OR r.store_id IS NULL AND months.m < NOW()
ORDER BY months.m, st.name COLLATE utf8mb4_bin, r.place LIMIT 500`},
	},
}

func BenchmarkCheck(b *testing.B) { bench.Check(b) }

func BenchmarkAnalyze(b *testing.B) { bench.Analyze(b) }

func BenchmarkLex(b *testing.B) { bench.Lex(b) }

func BenchmarkBareParse(b *testing.B) { bench.BareParse(b) }

func BenchmarkRatio(b *testing.B) { bench.Ratio(b) }

func BenchmarkCached(b *testing.B) { bench.Cached(b) }
