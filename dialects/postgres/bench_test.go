package postgres_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/postgres"
)

// benchmarkTexts are statements of three sizes: a look-up, a join of 240 bytes,
// and a report of the size of a TPC-DS query.
var benchmarkTexts = []struct{ name, sql string }{
	{"small", "SELECT id, name FROM customers WHERE id = 42"},
	{"medium", `SELECT c.region, date_trunc('month', o.placed_at) AS month, count(*) AS orders, sum(i.price * i.quantity) AS revenue
FROM orders o JOIN customers c ON c.id = o.customer_id JOIN order_items i ON i.order_id = o.id
WHERE o.status <> 'cancelled' GROUP BY 1, 2`},
	{"large", `WITH sales AS (
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
FROM ranked WHERE place <= 10 ORDER BY channel, year, quarter, place LIMIT 100`},
}

// distinct returns sql with a number behind it, so that no cache knows it.
func distinct(sql string, n int) string { return sql + " --" + strconv.Itoa(n) }

// BenchmarkBareParse is what Check is compared with: the parser alone.
func BenchmarkBareParse(b *testing.B) {
	for _, text := range benchmarkTexts {
		b.Run(text.name, func(b *testing.B) {
			b.SetBytes(int64(len(text.sql)))
			n := 0
			for b.Loop() {
				n++
				if err := bareParse(distinct(text.sql, n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck is the whole judgement of a text that no cache knows.
func BenchmarkCheck(b *testing.B) {
	for _, text := range benchmarkTexts {
		b.Run(text.name, func(b *testing.B) {
			g := guard(b)
			b.SetBytes(int64(len(text.sql)))
			n := 0
			for b.Loop() {
				n++
				if v := g.Check(distinct(text.sql, n)); !v.Allowed {
					b.Fatal(v.Findings)
				}
			}
		})
	}
}

// BenchmarkRatio is Check beside the bare parser, turn by turn in one run, so
// that a busy machine slows both alike. The medians are compared.
func BenchmarkRatio(b *testing.B) {
	for _, text := range benchmarkTexts {
		b.Run(text.name, func(b *testing.B) {
			g := guard(b)
			var checks, parses []time.Duration
			n := 0
			for b.Loop() {
				n++
				sql := distinct(text.sql, n)
				start := time.Now()
				if err := bareParse(sql); err != nil {
					b.Fatal(err)
				}
				parsed := time.Now()
				if v := g.Check(sql); !v.Allowed {
					b.Fatal(v.Findings)
				}
				checks, parses = append(checks, time.Since(parsed)), append(parses, parsed.Sub(start))
			}
			slices.Sort(checks)
			slices.Sort(parses)
			b.ReportMetric(float64(checks[len(checks)/2])/float64(parses[len(parses)/2]), "check/parse")
		})
	}
}

// BenchmarkCheckCached is Check of a text that was judged before.
func BenchmarkCheckCached(b *testing.B) {
	g := guard(b)
	for b.Loop() {
		if v := g.Check(benchmarkTexts[1].sql); !v.Allowed {
			b.Fatal(v.Findings)
		}
	}
}

func BenchmarkLex(b *testing.B) {
	for _, text := range benchmarkTexts {
		b.Run(text.name, func(b *testing.B) {
			b.SetBytes(int64(len(text.sql)))
			for b.Loop() {
				if len((postgres.Dialect{}).Lex(text.sql).List) == 0 {
					b.Fatal("no tokens")
				}
			}
		})
	}
}

// BenchmarkRefuse is the refusal of 60 kB of brackets, which no parser sees.
func BenchmarkRefuse(b *testing.B) {
	g := guard(b)
	sql := "SELECT " + strings.Repeat("(", 60_000)
	for b.Loop() {
		if v := g.Check(sql); v.Allowed {
			b.Fatal("allowed")
		}
	}
}
