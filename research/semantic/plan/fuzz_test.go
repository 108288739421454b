package plan_test

import (
	"testing"

	"github.com/ktxhq/ktx/research/semantic/plan"
)

// FuzzBuild tries texts in all parts of a request. Whatever they are, the answer is a
// plan or a refusal with a class, and the same each time.
func FuzzBuild(f *testing.F) {
	f.Add("sum(orders.amount) / count(sessions.session_id)", "x", "customers.region", "", "orders.revenue > 5 AND customers.status = 'new'", "orders.large", "region")
	f.Add("orders.revenue", "", "orders.ordered_on", "month", "orders.paid", "sessions.mobile", "revenue")
	f.Add("count(*)", "a b", "won_by", "week", "NOT (1 = 1)", "", "x.y")
	f.Add("manager.payroll % 2", "", `products."unit-size"`, "", "manager.title IN ('a')", "employees.well_paid", "sum( 1 )")
	f.Fuzz(func(t *testing.T, measure, name, dimension, granularity, filter, segment, key string) {
		r := plan.Request{
			Measures:   []plan.MeasureRequest{{Expr: measure, Name: name}, {Expr: "items.revenue"}},
			Dimensions: []plan.DimensionRequest{{Field: dimension, Granularity: granularity}},
			Filters:    []string{filter},
			Limit:      -1,
		}
		if segment != "" {
			r.Segments = []string{segment}
		}
		if key != "" {
			r.OrderBy = []plan.OrderRequest{{Field: key}}
		}
		p, err := plan.Build(shop(), r)
		q, again := plan.Build(shop(), r)
		if (err == nil) != (again == nil) {
			t.Fatalf("%v, then %v", err, again)
		}
		if err != nil {
			if err.Class == "" || err.Message == "" || err.Message != again.Message || err.Hint != again.Hint {
				t.Fatalf("%+v, then %+v", err, again)
			}
			return
		}
		if a, b := dump(p)+p.Explain(), dump(q)+q.Explain(); a != b {
			t.Fatalf("%s\nthen\n%s", a, b)
		}
	})
}
