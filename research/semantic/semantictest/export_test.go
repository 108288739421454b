package semantictest

import (
	"fmt"
	"math/big"
	"strings"
)

// Shop has the names of the sources of a model that is made by hand, by their place.
const (
	regions = iota
	customers
	orders
	returns
	balances
	gifts
)

func quarters(n int64) value { return num(big.NewRat(n, 4)) }

// shop is a model whose answers can be computed on paper.
func shop() *world {
	key := column{name: "id", kind: number, whole: true}
	to := func(name string) column { return column{name: name, kind: number, whole: true} }
	w := &world{sources: []*source{
		regions: {
			name: "regions", grain: []int{0}, columns: []column{key, {name: "name", kind: text}},
			rows: [][]value{{whole(1), words("eu")}, {whole(2), words("us")}, {whole(3), words("asia")}},
		},
		customers: {
			name: "customers", grain: []int{0},
			columns: []column{
				key,
				{name: "name", kind: text},
				to("region"),
				{name: "tier", kind: text, expr: mk(opCase, mk(opEq, col(self, 1), lit(words("ann"))), lit(words("gold")), lit(words("plain")))},
				{name: "secret", kind: text, hidden: true, expr: lit(words("x"))},
			},
			joins:    []join{{to: regions, own: []int{2}, other: []int{0}, relation: "many_to_one"}},
			measures: []measure{{name: "count", expr: agg("count")}},
			rows: [][]value{
				{whole(1), words("ann"), whole(1), {}, {}}, {whole(2), words("bob"), whole(2), {}, {}}, {whole(3), words("eve"), whole(1), {}, {}},
			},
		},
		orders: {
			name: "orders", grain: []int{0},
			columns: []column{key, to("customer"), {name: "amount", kind: number}, {name: "placed", kind: moment, date: true}, {name: "status", kind: text}},
			joins:   []join{{to: customers, own: []int{1}, other: []int{0}, relation: "many_to_one"}},
			measures: []measure{
				{name: "total", expr: agg("sum", col(self, 2))},
				{name: "count", expr: agg("count")},
				{name: "mean", expr: mk(opDiv, meas(self, 0), meas(self, 1))},
				{name: "net", expr: mk(opSub, meas(self, 0), meas(returns, 0))},
				{name: "paid", expr: agg("sum", col(self, 2)), segments: []int{0}},
				{name: "rest", expr: mk(opSub, meas(self, 0), meas(self, 4))},
			},
			segments: []segment{{name: "paid", expr: mk(opEq, col(self, 4), lit(words("paid")))}},
			rows: [][]value{
				{whole(1), whole(1), whole(10), at("2024-12-30"), words("paid")},
				{whole(2), whole(1), whole(5), at("2024-12-31"), words("open")},
				{whole(3), whole(2), quarters(10), at("2025-01-01"), words("paid")},
				{whole(4), {}, whole(4), at("2025-01-05"), words("paid")},
				{whole(5), whole(9), whole(1), {}, words("open")},
			},
		},
		returns: {
			name: "returns", grain: []int{0}, columns: []column{key, to("customer"), {name: "amount", kind: number}},
			joins:    []join{{to: customers, own: []int{1}, other: []int{0}, relation: "many_to_one"}},
			measures: []measure{{name: "total", expr: agg("sum", col(self, 2))}},
			segments: []segment{{name: "all", expr: mk(opNotNull, col(self, 0))}},
			rows:     [][]value{{whole(1), whole(1), whole(3)}, {whole(2), whole(3), whole(2)}, {whole(3), {}, whole(1)}},
		},
		balances: {
			name: "balances", grain: []int{0},
			columns: []column{key, {name: "account", kind: text}, {name: "day", kind: moment, date: true}, {name: "balance", kind: number}},
			measures: []measure{
				{name: "last", expr: agg("sum", col(self, 3)), semi: &semi{over: 2, per: []int{1}}},
				{name: "first", expr: agg("sum", col(self, 3)), semi: &semi{over: 2, first: true, per: []int{1}}},
				{name: "latest", expr: agg("sum", col(self, 3)), semi: &semi{over: 2}},
			},
			rows: [][]value{
				{whole(1), words("a"), at("2024-01-30"), whole(100)},
				{whole(2), words("a"), at("2024-01-31"), whole(110)},
				{whole(3), words("a"), at("2024-02-01"), whole(90)},
				{whole(4), words("b"), at("2024-01-15"), whole(50)},
				{whole(5), words("b"), at("2024-02-29"), whole(-5)},
				{whole(6), words("b"), {}, whole(1000)},
			},
		},
		gifts: {
			name: "gifts", grain: []int{0}, columns: []column{key, to("giver"), to("receiver")},
			joins: []join{
				{to: customers, own: []int{1}, other: []int{0}, relation: "many_to_one"},
				{to: customers, own: []int{2}, other: []int{0}, relation: "many_to_one"},
				{to: customers, own: []int{2}, other: []int{0}, relation: "many_to_one", alias: "receiver"},
			},
			measures: []measure{{name: "count", expr: agg("count")}},
			rows:     [][]value{{whole(1), whole(1), whole(2)}, {whole(2), whole(3), whole(2)}},
		},
	}}
	w.link()
	return w
}

// ByHand evaluates requests to the shop, by their names.
func ByHand() map[string]string {
	w := shop()
	measures := func(list ...*tree) []askedMeasure {
		var out []askedMeasure
		for _, t := range list {
			m := askedMeasure{expr: t}
			if t.op != opMeasure {
				m.name = "x" + itoa(len(out))
			}
			out = append(out, m)
		}
		return out
	}
	region := askedDimension{node: regions, col: 1}
	customer := askedDimension{node: customers, col: 1}
	receiver := askedDimension{node: w.nodeNamed("receiver"), col: 1}
	total, paid := meas(orders, 0), mk(opEq, col(orders, 4), lit(words("paid")))
	placed := func(grain string) []askedDimension { return []askedDimension{{node: orders, col: 3, grain: grain}} }
	requests := map[string]asked{
		"total by region":        {measures: measures(total), dimensions: []askedDimension{region}},
		"without empty members":  {measures: measures(total), dimensions: []askedDimension{region}, noEmpty: true},
		"count of empty members": {measures: measures(meas(orders, 1), meas(orders, 2)), dimensions: []askedDimension{region}},
		"two facts":              {measures: measures(total, meas(returns, 0)), dimensions: []askedDimension{customer}},
		"net of two facts":       {measures: measures(meas(orders, 3)), dimensions: []askedDimension{customer}},
		"no dimensions":          {measures: measures(total, meas(returns, 0), meas(orders, 2))},
		"no rows":                {measures: measures(total, meas(orders, 1)), filters: [][]*tree{{mk(opLt, col(orders, 0), lit(whole(0)))}}},
		"weeks":                  {measures: measures(total), dimensions: placed("week")},
		"quarters":               {measures: measures(total), dimensions: placed("quarter")},
		"years":                  {measures: measures(total), dimensions: placed("year")},
		"measure filter":         {measures: measures(total), dimensions: []askedDimension{region}, filters: [][]*tree{{mk(opGt, total, lit(whole(3)))}}},
		"filter on another fact": {measures: measures(total), dimensions: []askedDimension{customer}, filters: [][]*tree{{mk(opGt, meas(returns, 0), lit(whole(1)))}}},
		"row filter":             {measures: measures(total), dimensions: []askedDimension{region}, filters: [][]*tree{{paid}}},
		"filter on members":      {measures: measures(total), dimensions: []askedDimension{region}, filters: [][]*tree{{mk(opNe, col(regions, 1), lit(words("eu")))}}},
		"segment":                {measures: measures(total), dimensions: []askedDimension{region}, segments: []askedSegment{{orders, 0}}},
		"segment of a measure":   {measures: measures(meas(orders, 4), meas(orders, 5)), dimensions: []askedDimension{region}, noEmpty: true},
		"dimensions only":        {dimensions: []askedDimension{region, customer}},
		"computed column":        {measures: measures(total), dimensions: []askedDimension{{node: customers, col: 3}}, noEmpty: true},
		"last balances":          {measures: measures(meas(balances, 0), meas(balances, 1), meas(balances, 2)), dimensions: []askedDimension{{node: balances, col: 2, grain: "month"}}},
		"last of all":            {measures: measures(meas(balances, 0), meas(balances, 1), meas(balances, 2))},
		"order and limit":        {measures: measures(total), dimensions: []askedDimension{customer}, order: []askedOrder{{1, true}}, limit: 3},
		"role":                   {measures: measures(meas(gifts, 0)), dimensions: []askedDimension{receiver}},
		"role as base":           {measures: measures(meas(w.nodeNamed("receiver"), 0)), dimensions: []askedDimension{receiver, region}},
		"names that collide":     {measures: measures(meas(orders, 1), meas(customers, 0)), dimensions: []askedDimension{region}},
		"ad hoc":                 {measures: measures(mk(opDiv, agg("sum", col(orders, 2)), agg("count", col(customers, 0)))), dimensions: []askedDimension{region}},

		"fan out":                 {measures: measures(meas(customers, 0)), dimensions: []askedDimension{{node: orders, col: 4}}},
		"disconnected":            {measures: measures(total), dimensions: []askedDimension{{node: balances, col: 1}}},
		"ambiguous path":          {measures: measures(meas(gifts, 0)), dimensions: []askedDimension{customer}},
		"filter on one fact":      {measures: measures(total, meas(returns, 0)), filters: [][]*tree{{paid}}},
		"mixed filter":            {measures: measures(total), filters: [][]*tree{{mk(opOr, paid, mk(opGt, total, lit(whole(1))))}}},
		"segment of nothing":      {measures: measures(total), segments: []askedSegment{{returns, 0}}},
		"hidden":                  {measures: measures(total), dimensions: []askedDimension{{node: customers, col: 4}}},
		"granularity of a text":   {measures: measures(total), dimensions: []askedDimension{{node: customers, col: 1, grain: "day"}}},
		"empty":                   {},
		"twice":                   {measures: measures(total, total)},
		"dimensions of two facts": {dimensions: []askedDimension{{node: orders, col: 4}, {node: returns, col: 0}}},
	}
	answers := map[string]string{}
	for name, q := range requests {
		if q.limit == 0 {
			q.limit = -1
		}
		answers[name] = w.answer(q).line()
	}
	return answers
}

// line writes an answer in one line.
func (a answer) line() string {
	if len(a.classes) > 0 {
		return "refused: " + strings.Join(a.classes, " or ")
	}
	s := strings.Join(a.headers, ", ")
	for _, r := range a.rows {
		var values []string
		for _, v := range r {
			c := v.canonical()
			if c.Kind == Null {
				c.Text = "NULL"
			}
			values = append(values, c.Text)
		}
		s += fmt.Sprintf(" | %s", strings.Join(values, ", "))
	}
	return s
}
