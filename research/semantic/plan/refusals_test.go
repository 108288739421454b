package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

func TestRefusals(t *testing.T) {
	tests := []struct {
		name    string
		request plan.Request
		class   expr.Class
	}{
		{"unknown source", ask("order.revenue", ""), expr.UnknownSource},
		{"unknown column", ask("orders.revenue", "customers.regions"), expr.UnknownField},
		{"unknown measure", ask("orders.revenues", ""), expr.UnknownMeasure},
		{"unknown segment", segmented(ask("orders.revenue", ""), "orders.larg"), expr.UnknownSegment},
		{"R12 a segment without a source", segmented(ask("orders.revenue", ""), "large"), expr.UnknownSegment},
		{"unknown order", ordered(ask("orders.revenue", "customers.region"), "regions"), expr.UnknownOrderBy},
		{"R8 a field that is not in the answer", ordered(ask("orders.revenue", "customers.region"), "customers.status"), expr.UnknownOrderBy},
		{"R8 a key that fits two outputs", ordered(ask("orders.revenue", "orders.ordered_on@month; orders.ordered_on@year"), "orders.ordered_on"), expr.AmbiguousField},
		{"R17 a bare name of two sources", ask("orders.revenue", "status"), expr.AmbiguousField},
		{"R17 a bare measure of two sources", ask("revenue", ""), expr.AmbiguousField},
		{"R17 hidden", ask("sum(orders.cost)", ""), expr.HiddenField},
		{"R17 hidden, bare", ask("sum(cost)", ""), expr.HiddenField},
		{"R17 hidden in a dimension", ask("orders.revenue", "customers.email"), expr.HiddenField},
		{"R17 hidden in a filter", filtered(ask("orders.revenue", ""), "upper(customers.email) LIKE 'A%' OR orders.cost > 1"), expr.HiddenField},
		{"R17 hidden as a measure", ask("orders.cost", ""), expr.HiddenField},
		{"R2 fan-out", ask("orders.revenue", "products.category"), expr.FanOut},
		{"R2 fan-out over a bridge", ask("customers.customers", "tags.label"), expr.FanOut},
		{"R2 disconnected", ask("orders.revenue", "weather.station"), expr.Disconnected},
		{"R2 fan-out of a filter", filtered(ask("orders.revenue", ""), "products.category = 'toys'"), expr.FanOut},
		{"R2 fan-out within an aggregate", ask("sum(orders.amount * sessions.seconds)", ""), expr.FanOut},
		{"R2 disconnected within an aggregate", ask("sum(orders.amount * weather.rain)", ""), expr.Disconnected},
		{"R13 a filter that one base alone reaches", filtered(ask("orders.revenue; sessions.sessions", "customers.region"), "orders.status = 'paid'"), expr.FilterNotApplicable},
		{"R13 a filter that no base reaches", filtered(ask("orders.revenue; sessions.sessions", "customers.region"), "products.category = 'toys'"), expr.FanOut},
		{"R12 a segment of no measure", segmented(ask("orders.revenue", ""), "sessions.mobile"), expr.SegmentNotApplicable},
		{"R12 a segment without measures", segmented(ask("", "orders.status"), "orders.large"), expr.SegmentNotApplicable},
		{"R12 a segment of another alias", segmented(ask("employees.payroll", ""), "manager.well_paid"), expr.SegmentNotApplicable},
		{"R12 a segment under the alias that it uses", segmented(ask("manager.payroll; employees.payroll", ""), "employees.overtakes"), expr.Disconnected},
		{"R7 rows or measures", filtered(ask("orders.revenue", ""), "orders.status = 'paid' OR orders.revenue > 5"), expr.MixedFilter},
		{"R7 rows compared with measures", filtered(ask("orders.revenue", ""), "orders.amount > avg(orders.amount)"), expr.MixedFilter},
		{"R7 a measure within a condition of rows", filtered(ask("orders.revenue", ""), "NOT (orders.net > 5 AND orders.paid)"), expr.MixedFilter},
		{"a filter that is no condition", filtered(ask("orders.revenue", ""), "orders.amount"), expr.InvalidRequest},
		{"a measure filter that is no condition", filtered(ask("orders.revenue", ""), "orders.revenue"), expr.InvalidRequest},
		{"a column as a measure", ask("orders.refund", ""), expr.NotAnAggregate},
		{"a column beside an aggregate", ask("sum(orders.amount) + orders.refund", ""), expr.NotAnAggregate},
		{"no aggregate at all", ask("1 + 1", ""), expr.NotAnAggregate},
		{"an aggregate of an aggregate", ask("sum(max(orders.amount))", ""), expr.NestedAggregate},
		{"an aggregate of a measure", ask("sum(orders.revenue)", ""), expr.NestedAggregate},
		{"a window function", ask("sum(orders.amount) OVER ()", ""), expr.WindowFunction},
		{"R9 unknown granularity", ask("orders.revenue", "orders.ordered_on@decade"), expr.InvalidGranularity},
		{"R9 granularity of a text", ask("orders.revenue", "orders.status@month"), expr.InvalidGranularity},
		{"R14 parallel joins", ask("orders.revenue", "stores.city"), expr.AmbiguousJoinPath},
		{"R14 a source joined in two ways", ask("sessions.sessions", "customers.won_by; campaigns.channel"), expr.AmbiguousJoinPath},
		{"R14 a source joined to itself", ask("products.products", "details.product_name"), expr.AmbiguousJoinPath},
		{"R14 the base name of a source that is joined under aliases", ask("orders.revenue", "calendar.weekday"), expr.Disconnected},
		{"R15 dimensions that no source reaches", ask("", "customers.region; products.category"), expr.FanOut},
		{"R15 dimensions without connection", ask("", "customers.region; weather.station"), expr.Disconnected},
		{"R15 a filter that the base does not reach", filtered(ask("", "customers.region"), "orders.status = 'paid'"), expr.FanOut},
		{"R16 count(*) of nothing", ask("count(*)", "customers.region"), expr.InvalidRequest},
		{"R16 an aggregate of a constant", ask("sum(1)", ""), expr.InvalidRequest},
		{"R16 two sources that reach each other", ask("sum(products.product_id * details.weight)", ""), expr.AmbiguousJoinPath},
		{"R18 empty", ask("", ""), expr.InvalidRequest},
		{"R18 a filter alone", filtered(ask("", ""), "orders.revenue > 5"), expr.InvalidRequest},
		{"R18 negative limit", plan.Request{Measures: ask("net", "").Measures, Limit: -2}, expr.InvalidRequest},
		{"R18 the same measure twice", ask("orders.revenue; orders.revenue", ""), expr.InvalidRequest},
		{"R18 equal names", named(ask("orders.revenue; orders.net", ""), "x", "X"), expr.InvalidRequest},
		{"R18 a name with other characters", named(ask("orders.revenue", ""), "a;b"), expr.InvalidRequest},
		{"R18 a name that ends in a space", named(ask("orders.revenue", ""), "a "), expr.InvalidRequest},
		{"R18 a long name", named(ask("orders.revenue", ""), strings.Repeat("a", 65)), expr.InvalidRequest},
		{"R18 a long expression without a name", ask("sum(orders.amount)"+strings.Repeat(" + sum(orders.amount)", 5), ""), expr.InvalidRequest},
		{"R17 a bare measure of two sources in a filter", filtered(ask("orders.net", ""), "revenue > 5"), expr.AmbiguousField},
		{"R18 too much text", filtered(ask("orders.net", ""), strings.Repeat("orders.paid AND ", 4000)+"orders.paid", strings.Repeat("orders.paid AND ", 4000)+"orders.paid", "orders.paid AND orders.paid AND orders.paid"+strings.Repeat(" ", 4000)), expr.InvalidRequest},
		{"R18 too many measures", ask(strings.Repeat("orders.revenue;", 201), ""), expr.InvalidRequest},
		{"R19 a statement", ask("sum(orders.amount); --", ""), expr.UnsafeExpression},
		{"R19 a subquery", filtered(ask("orders.revenue", ""), "orders.customer_id IN (SELECT 1)"), expr.UnsafeExpression},
		{"R19 a function that is not known", ask("sum(pg_sleep(orders.amount))", ""), expr.UnsafeExpression},
		{"R19 a sum of a text", ask("sum(orders.status)", ""), expr.UnsafeExpression},
		{"an expression as a dimension", ask("orders.revenue", "lower(customers.region)"), expr.UnsafeExpression},
		{"a truncated time as a dimension", ask("orders.revenue", "date_trunc('month', orders.ordered_on)"), expr.UnsafeExpression},
		{"a name of three parts as a dimension", ask("orders.revenue", "shop.orders.status"), expr.UnsafeExpression},
		{"an empty dimension", plan.Request{Dimensions: []plan.DimensionRequest{{}}, Limit: -1}, expr.UnsafeExpression},
		{"an empty measure", plan.Request{Measures: []plan.MeasureRequest{{}}, Limit: -1}, expr.UnsafeExpression},
		{"a measure as a dimension", ask("", "orders.revenue"), expr.UnknownField},
		{"a text that is no date, compared with a time", filtered(ask("orders.revenue", ""), "orders.ordered_on > 'yesterday'"), expr.UnsafeExpression},
		{"texts and numbers compared by measures", filtered(ask("orders.revenue", ""), "orders.revenue > 'many'"), expr.UnsafeExpression},
		{"an order that is no name", ordered(ask("orders.revenue", ""), "orders.revenue + 1"), expr.UnknownOrderBy},
		{"an invalid source", ask("broken.total", ""), expr.UnknownField},
		{"an invalid source as a dimension", ask("", "broken.label"), expr.UnknownField},
		{"an invalid source in a filter", filtered(ask("orders.revenue", ""), "broken.other = 1"), expr.UnknownField},
	}
	var got strings.Builder
	for _, test := range tests {
		p, err := plan.Build(shop(), test.request)
		if err == nil {
			if test.class != "" {
				t.Errorf("%s: want %s, got\n%s", test.name, test.class, dump(p))
			}
			continue
		}
		if err.Class != test.class {
			t.Errorf("%s: want %s, got %v", test.name, test.class, err)
		}
		if err.Hint == "" {
			t.Errorf("%s: %v: no hint", test.name, err)
		}
		fmt.Fprintf(&got, "== %s\n%v\nhint %s\n", test.name, err, err.Hint)
		if len(err.Near) > 0 {
			fmt.Fprintf(&got, "near %s\n", strings.Join(err.Near, ", "))
		}
	}
	golden(t, "refusals.txt", got.String())
}
