package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

func TestDescribe(t *testing.T) {
	requests := []plan.Request{
		ordered(filtered(ask("orders.revenue; sessions.revenue_per_session", "customers.region; customers.signed_up@month"),
			"customers.status = 'new' AND orders.revenue > 5", "channel IN ('mail', 'web')"), "revenue desc"),
		ask("balances.closing; sum(items.value) FILTER (WHERE products.category = 'toys') / 2", "customers.region"),
		ask("", "products.name; details.colour; unit-size"),
	}
	requests[2].Dimensions[2].Field = `products."unit-size"`
	requests[0].Limit = 10
	var got strings.Builder
	for _, r := range requests {
		p := build(t, r)
		text, err := json.MarshalIndent(p.Describe(nil), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s%s\n\n", p.Explain(), text)
	}
	golden(t, "describe.txt", strings.ReplaceAll(got.String(), shop().Hash, "HASH"))
}

func TestExplainHasAtMostFifteenLines(t *testing.T) {
	many := "orders.revenue; items.revenue; sessions.sessions; sessions.average_seconds; balances.closing; balances.opening; balances.rows; customers.customers; customer_tags.tagged"
	r := ask(many+"; "+strings.Repeat("orders.net;", 40), "customers.region; customers.status; customers.name")
	for i := range r.Measures {
		r.Measures[i].Name = fmt.Sprintf("m%d", i)
	}
	for n := 1; n <= len(r.Measures); n++ {
		part := r
		part.Measures = r.Measures[:n]
		part.Filters = []string{"customers.region = 'north'", "m > 1"}[:1]
		part.Limit = n
		p := build(t, part)
		text := p.Explain()
		if lines := strings.Count(text, "\n"); lines > 15 {
			t.Fatalf("%d lines:\n%s", lines, text)
		}
	}
}

func TestDimensions(t *testing.T) {
	tests := []struct {
		measure string
		want    []string
	}{
		{"employees.headcount", []string{
			"employees.employee_id", "employees.manager_id", "employees.title", "employees.salary",
			"manager.employee_id", "manager.manager_id", "manager.title", "manager.salary",
		}},
		{"manager.headcount", []string{"manager.employee_id", "manager.manager_id", "manager.title", "manager.salary"}},
		{"weather.rain", []string{"weather.station", "weather.day", "weather.rain"}},
		// What orders and sessions both reach.
		{"sessions.revenue_per_session", []string{
			"campaigns.campaign_id", "campaigns.channel",
			"customers.customer_id", "customers.name", "customers.region", "customers.status", "customers.signed_up", "customers.won_by",
		}},
		{"products.products", []string{
			"products.product_id", "products.name", "products.category", `products."unit-size"`,
			"details.product_id", "details.colour", "details.weight",
		}},
	}
	for _, test := range tests {
		n, err := expr.ParseName(test.measure)
		if err != nil {
			t.Fatal(err)
		}
		m, err := shop().Measure(n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plan.Dimensions(shop(), m)
		if err != nil {
			t.Errorf("%s: %v", test.measure, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.measure, diff)
		}
		for _, d := range got {
			build(t, named(ask(test.measure, d), "m"))
		}
	}
}
