package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// requests are the ones that the benchmarks repeat: one fact, two facts, expressions,
// filters of both kinds, and a segment.
func requests() []plan.Request {
	return []plan.Request{
		ask("orders.revenue", "customers.region"),
		ordered(ask("orders.revenue; orders.average_order", "customers.region; orders.ordered_on@month"), "revenue desc"),
		filtered(ask("orders.revenue; sessions.sessions; sessions.revenue_per_session", "customers.region; campaigns.channel"), "customers.status = 'new' AND orders.revenue > 5"),
		segmented(ask("sum(orders.amount) FILTER (WHERE orders.paid) / count(orders.order_id); items.share_of_revenue", "customers.region"), "orders.large"),
		ask("balances.closing; balances.growth", "customers.region; balances.day@month"),
	}
}

func BenchmarkBuild(b *testing.B) {
	measure(b, shop(), requests())
}

func BenchmarkBuildOfAThousandSources(b *testing.B) {
	m := large(1000)
	last := len(m.Sources) - 1
	measure(b, m, []plan.Request{
		ask("s0999.total", "s0000.label"),
		ask("s0500.total; s0700.total", "s0001.label"),
		filtered(ask(fmt.Sprintf("sum(s%04d.amount)", last), "s0015.label"), "s0000.label = 'a'"),
	})
}

// measure reports the time of half of the builds and of nearly all of them.
func measure(b *testing.B, m *model.Model, requests []plan.Request) {
	b.Helper()
	b.ReportAllocs()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if _, err := plan.Build(m, requests[i%len(requests)]); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds()), "p95-µs")
}

// large is a model of n sources, each of which joins the one with half its number.
func large(n int) *model.Model {
	files := fstest.MapFS{}
	for i := range n {
		text := fmt.Sprintf(`name: s%04d
table: s%04d
grain: [id]
columns:
  - {name: id, type: number}
  - {name: parent_id, type: number}
  - {name: label, type: string}
  - {name: amount, type: number}
  - {name: day, type: time}
measures:
  - {name: total, expr: sum(amount)}
`, i, i)
		if i > 0 {
			text += fmt.Sprintf("joins:\n  - {to: s%04d, on: parent_id = s%04d.id, relationship: many_to_one}\n", i/2, i/2)
		}
		files[fmt.Sprintf("s%04d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	return model.Load(files, "large", nil)
}
