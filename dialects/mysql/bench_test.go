package mysql_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pingcap/tidb/pkg/parser"

	"github.com/ktxhq/ktx/dialects/mysql"
)

// benchTexts are queries by size. The number 4711 in each is replaced, so that
// no verdict comes from the cache.
var benchTexts = []struct{ name, sql string }{
	{"small", "SELECT name, price FROM products WHERE id = 4711"},
	{"join", `SELECT c.name, count(*) AS orders, sum(o.total) AS revenue
FROM customers AS c JOIN orders AS o ON o.customer_id = c.id
WHERE o.created_at >= '2024-01-01' AND o.total > 4711 AND c.country IN ('DE', 'FR', 'IT')
GROUP BY c.name HAVING count(*) > 3 ORDER BY revenue DESC LIMIT 20`},
	{"report", `WITH RECURSIVE months (m) AS (
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
}

// variants returns more texts than the verdict cache holds, of equal length.
func variants(sql string) []string {
	out := make([]string, 5000)
	for i := range out {
		out[i] = strings.Replace(sql, "4711", strconv.Itoa(1000+i), 1)
	}
	return out
}

func BenchmarkCheck(b *testing.B) {
	for _, text := range benchTexts {
		b.Run(text.name, func(b *testing.B) {
			g := newGuard(b, mysql.Dialect{})
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
				if _, err := (mysql.Dialect{}).Analyze(text.sql); err != nil {
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
				_ = mysql.Dialect{}.Lex(text.sql)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range benchTexts {
		b.Run(text.name, func(b *testing.B) {
			p := parser.New()
			b.SetBytes(int64(len(text.sql)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.Parse(text.sql, "", ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRatio reports the median time of a check as a multiple of the
// median time of a bare parse, measured in turns in one process.
func BenchmarkRatio(b *testing.B) {
	for _, text := range benchTexts {
		b.Run(text.name, func(b *testing.B) {
			g := newGuard(b, mysql.Dialect{})
			texts := variants(text.sql)
			p := parser.New()
			var check, analyze, parse []time.Duration
			for i := 0; b.Loop(); i++ {
				sql := texts[i%len(texts)]
				check = append(check, clock(func() { g.Check(sql) }))
				parse = append(parse, clock(func() { _, _, _ = p.Parse(sql, "", "") }))
				analyze = append(analyze, clock(func() { _, _ = mysql.Dialect{}.Analyze(sql) }))
			}
			b.ReportMetric(float64(median(check))/float64(median(parse)), "check/parse")
			b.ReportMetric(float64(median(analyze))/float64(median(parse)), "analyze/parse")
		})
	}
}

// BenchmarkCached is a check that the verdict cache answers.
func BenchmarkCached(b *testing.B) {
	g := newGuard(b, mysql.Dialect{})
	sql := benchTexts[1].sql
	for b.Loop() {
		g.Check(sql)
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
