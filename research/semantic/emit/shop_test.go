package emit_test

import (
	"testing"

	"github.com/ktxhq/ktx/research/semantic/model"
)

// shop is the model of most tests.
func shop(tb testing.TB) *model.Model {
	tb.Helper()
	return newModel(tb,
		source{name: "regions", columns: []string{"id:number", "name:string"}},
		source{
			name: "customers", table: "Customers",
			columns: []string{"id:number", "name:string", "region_id:number", "active:boolean", "signup:time", "kind:string = CASE WHEN active THEN 'active' ELSE 'other' END", "one:number = 1"},
			joins:   []string{"region_id = regions.id"},
		},
		source{
			name:    "orders",
			columns: []string{"id:number", "customer_id:number", "recipient_id:number", "status:string", "amount:number", "quantity:number", "created_at:time", "order_date:time", "paid:boolean", "net:number = amount - quantity"},
			joins:   []string{"customer_id = customers.id", "recipient_id = customers.id as recipient"},
		},
		source{
			name:    "returns",
			columns: []string{"id:number", "customer_id:number", "amount:number", "returned_on:time"},
			joins:   []string{"customer_id = customers.id"},
		},
		source{
			name:    "balances",
			columns: []string{"account:string", "day:time", "balance:number", "customer_id:number"},
			joins:   []string{"customer_id = customers.id"},
		},
		source{
			name: "big_orders", sql: "SELECT id, customer_id, amount FROM orders WHERE amount > 50 -- large ones\n;\n",
			columns: []string{"id:number", "customer_id:number", "amount:number"},
			joins:   []string{"customer_id = customers.id"},
		},
		source{name: "select", table: "group", columns: []string{"order:number", `a"b` + "`c]d:string", "from:time"}},
	)
}

// plans are the plans of the golden files. Those that name no odd table run on servers too.
var plans = []ask{
	{name: "sum", measures: []string{"sum(orders.amount) as revenue"}, legs: []leg{{base: "orders"}}},
	{name: "dimension", dims: []string{"orders.status as status"}, measures: []string{"sum(orders.amount) as revenue"}, legs: []leg{{base: "orders"}}},
	{
		name: "joins", dims: []string{"regions.name as region", "recipient.name as recipient name"},
		measures: []string{"sum(orders.amount) as revenue", "count(orders.id) as orders", "count(distinct orders.customer_id) as buyers"},
		legs:     []leg{{base: "orders", joins: []string{"customers", "regions", "recipient"}, where: []string{"customers.active", "orders.status <> 'cancelled' OR orders.status IS NULL"}}},
		order:    []string{"-revenue", "region"}, limit: 11,
	},
	{
		name: "two_facts", dims: []string{"customers.name as customer"},
		measures: []string{"sum(orders.amount) as revenue", "sum(returns.amount) as returned", "coalesce(sum(orders.amount), 0) - coalesce(sum(returns.amount), 0) as net", "count(returns.id) as returns"},
		legs:     []leg{{base: "orders", joins: []string{"customers"}}, {base: "returns", joins: []string{"customers"}}},
		order:    []string{"-net"}, limit: 20,
	},
	{
		name: "keys_first", dims: []string{"customers.kind as kind", "regions.name as region", "customers.signup:year as year"},
		measures: []string{"sum(orders.net) filter (where orders.paid or orders.quantity > 2) as net", "count(*) as rows", "count(orders.paid) filter (where orders.amount > 0) as known", "min(orders.created_at) as first", "max(orders.paid) as any"},
		legs:     []leg{{base: "orders", joins: []string{"customers", "regions"}, where: []string{"orders.status <> 'cancelled'", "orders.quantity >= 1"}}},
		having:   []string{"count(*) > 0"}, order: []string{"-net"},
	},
	{
		name: "keys_not_first", dims: []string{"customers.kind as kind", "regions.name as region", "customers.signup:year as year"},
		measures: []string{"sum(orders.net) filter (where orders.paid or orders.quantity > 2) as net", "count(*) as rows", "count(orders.paid) filter (where orders.amount > 0) as known", "min(orders.created_at) as first", "max(orders.paid) as any", "count(distinct orders.id) as orders"},
		legs:     []leg{{base: "orders", joins: []string{"customers", "regions"}, where: []string{"orders.status <> 'cancelled'", "orders.quantity >= 1"}}},
		having:   []string{"count(*) > 0"}, order: []string{"-net"},
	},
	{
		name: "two_facts_and_spine", dims: []string{"customers.name as customer", "regions.name as region"},
		measures: []string{"sum(orders.amount) as revenue", "max(returns.returned_on) as last return", "count(orders.id) as orders"},
		legs: []leg{
			{base: "orders", joins: []string{"customers", "regions"}, where: []string{"customers.active"}},
			{base: "returns", joins: []string{"customers", "regions"}, where: []string{"customers.active"}},
			{base: "customers", joins: []string{"regions"}, where: []string{"customers.active"}},
		},
		having: []string{"count(orders.id) > 0 OR max(returns.returned_on) >= DATE '2024-01-01'"},
	},
	{
		name: "totals", measures: []string{"sum(orders.amount) as revenue", "sum(returns.amount) as returned", "min(balances.account) as account", "count(returns.id) as n"},
		legs: []leg{{base: "orders"}, {base: "returns"}, {base: "balances"}, {base: "customers"}},
	},
	{name: "dimensions_only", dims: []string{"customers.kind as kind", "customers.active as active"}, legs: []leg{{base: "customers"}}},
	{name: "constant_dimension", dims: []string{"customers.one as one", "'x' as x"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "customers"}}},
	{
		name: "ratios", dims: []string{"orders.status as status"},
		measures: []string{"sum(orders.quantity) / count(orders.id) as per order", "safe_divide(sum(orders.amount), sum(orders.quantity) - 3) as price", "sum(orders.quantity) % 4 as rest", "-sum(orders.quantity) % 4 as negative rest", "avg(orders.quantity) as mean", "sum(orders.amount) - (sum(orders.quantity) - count(*)) as margin"},
		legs:     []leg{{base: "orders"}},
	},
	{
		name: "filtered", dims: []string{"orders.status as status"},
		measures: []string{
			"sum(orders.amount) filter (where orders.paid) as paid", "count(*) filter (where not orders.paid) as open", "count(distinct orders.customer_id) filter (where orders.quantity between 1 and 3) as few",
			"avg(orders.quantity) filter (where orders.status in ('new', 'shipped')) as mean", "min(orders.order_date) filter (where orders.amount is not null) as first day",
		},
		legs: []leg{{base: "orders"}},
	},
	{
		name: "booleans", dims: []string{"orders.paid as paid", "orders.amount > 40 as large"},
		measures: []string{"max(orders.paid) as any", "min(orders.amount > 40) as all large", "count(orders.quantity > 1) as known", "max(orders.paid) = true as is paid", "sum(CASE WHEN orders.paid = (orders.quantity > 1) THEN 1 ELSE 0 END) as same"},
		legs:     []leg{{base: "orders"}}, having: []string{"max(orders.paid) = true OR NOT (min(orders.amount > 40))"},
	},
	{name: "means", measures: []string{"avg(orders.amount) as mean", "avg(distinct orders.quantity) as different", "avg(orders.quantity) filter (where orders.id in (1, 2, 5)) as some"}, legs: []leg{{base: "orders"}}},
	{name: "hour", dims: []string{"orders.created_at:hour as hour"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{name: "hour_of_date", dims: []string{"orders.order_date:hour as hour"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{name: "day", dims: []string{"orders.created_at:day as day"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{name: "week", dims: []string{"orders.created_at:week as week"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{name: "week_of_date", dims: []string{"orders.order_date:week as week"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{name: "month", dims: []string{"orders.created_at:month as month"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{name: "quarter", dims: []string{"orders.created_at:quarter as quarter"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{name: "year", dims: []string{"orders.created_at:year as year", "orders.order_date:year as other year"}, measures: []string{"count(*) as n"}, legs: []leg{{base: "orders"}}},
	{
		name: "parts", dims: []string{"orders.id as id"},
		measures: []string{
			"max(extract(year from orders.created_at)) as year", "max(extract(quarter from orders.created_at)) as quarter", "max(extract(month from orders.created_at)) as month", "max(extract(week from orders.created_at)) as week",
			"max(extract(day from orders.created_at)) as day", "max(extract(dow from orders.created_at)) as dow", "max(extract(doy from orders.created_at)) as doy", "max(extract(hour from orders.created_at)) as hour",
			"max(extract(minute from orders.created_at)) as minute", "max(extract(second from orders.created_at)) as second", "max(extract(hour from orders.order_date)) as hour of date", "max(extract(dow from orders.order_date)) as dow of date",
			"max(extract(week from orders.order_date)) as week of date",
		},
		legs: []leg{{base: "orders"}},
	},
	{
		name: "intervals", dims: []string{"orders.id as id"},
		measures: []string{
			"max(orders.created_at + interval '1 month') as plus month", "max(orders.created_at - interval '1 quarter') as minus quarter", "max(orders.created_at + interval '1 year') as plus year", "max(orders.created_at - interval '2 weeks') as minus weeks",
			"max(orders.created_at + interval '90 minutes') as plus minutes", "max(orders.order_date + interval '36 hours') as date plus hours", "max(orders.order_date - interval '1 month') as date minus month", "max(interval '1 day' + orders.order_date) as next day",
			"count(CASE WHEN orders.created_at >= DATE '2024-02-29' + interval '1 year' THEN 1 END) as later",
		},
		legs: []leg{{base: "orders"}},
	},
	{
		name: "times", measures: []string{
			"count(*) filter (where orders.created_at = '2024-12-30') as midnight", "count(*) filter (where orders.created_at > '2024-12-29 23:59') as after", "count(*) filter (where orders.order_date between DATE '2024-01-01' and DATE '2024-12-31') as in 2024",
			"count(*) filter (where orders.created_at < orders.order_date) as before", "count(*) filter (where orders.created_at in (TIMESTAMP '2024-02-29 12:30:00', DATE '2024-12-30')) as some",
			"count(*) filter (where date_trunc('month', orders.created_at) = DATE '2024-12-01') as december", "count(*) filter (where CAST(orders.created_at AS date) = orders.order_date) as same day", "count(*) filter (where coalesce(orders.created_at, TIMESTAMP '2000-01-01 00:00:00') <= DATE '2024-01-01') as old",
			"min(orders.created_at) as first", "max(orders.order_date) as last", "count(*) filter (where orders.created_at > now()) as future", "count(*) filter (where orders.order_date > current_date) as future days",
		},
		legs: []leg{{base: "orders"}}, having: []string{"min(orders.created_at) < DATE '2030-01-01'"},
	},
	{
		name: "texts", dims: []string{"customers.name as name"},
		measures: []string{
			"max(length(customers.name)) as length", "max(lower(substring(customers.name, 2, 3))) as part", "max(substring(customers.name, 3)) as rest", "max(customers.name || '!') as loud", "max(concat(customers.name, '-', customers.region_id)) as joined",
			"max(concat(customers.name, customers.active)) as with flag", "max(trim(customers.name)) as trimmed", "max(upper(coalesce(customers.name, 'none'))) as upper", "max(nullif(customers.name, 'Ann')) as not ann", "max(CAST(customers.id AS text)) as id text", "sum(CAST(substring('12.5x', 1, 4) AS number)) as parsed",
		},
		legs: []leg{{base: "customers"}},
	},
	{
		name: "like", measures: []string{
			`count(*) filter (where customers.name like '%nn%') as plain`, `count(*) filter (where customers.name like 'a\_%') as backslash`, `count(*) filter (where customers.name not like '%|%') as no bar`, `count(*) filter (where customers.name like '[b]*?%') as marks`,
			`count(*) filter (where customers.name like customers.name) as itself`, `count(*) filter (where customers.name like 'a\b|_') as both`, `count(*) filter (where customers.name = 'a\b|c') as equal`, `count(*) filter (where customers.name like 'o''%') as quote`,
		},
		legs: []leg{{base: "customers"}},
	},
	{
		name: "numbers", dims: []string{"orders.id as id"},
		measures: []string{
			"round(sum(orders.amount)) as r", "round(sum(orders.amount), 1) as r1", "round(sum(orders.quantity) / 2) as half", "round(-sum(orders.quantity) / 2) as minus half", "floor(sum(orders.amount)) as f", "ceil(-sum(orders.amount)) as c", "abs(-sum(orders.amount)) as a",
			"sum(orders.quantity * 0.5 - -1) as s", "sum(1e2 * orders.quantity) as hundred", "sum(orders.net) as net", "sum(CAST(orders.paid AS number)) as paid", "max(CAST(orders.quantity AS boolean)) as some",
		},
		legs: []leg{{base: "orders"}},
	},
	{
		name: "having", dims: []string{"orders.status as status"}, measures: []string{"sum(orders.amount) as revenue"}, legs: []leg{{base: "orders"}},
		having: []string{"sum(orders.amount) > 10", "count(*) >= 1 AND NOT sum(orders.amount) IS NULL"}, order: []string{"-revenue"},
	},
	{name: "limit_zero", dims: []string{"orders.status as status"}, measures: []string{"sum(orders.amount) as revenue"}, legs: []leg{{base: "orders"}}, limit: -1},
	{
		name: "query_source", dims: []string{"customers.name as name"}, measures: []string{"sum(big_orders.amount) as large", "sum(orders.amount) as all"},
		legs: []leg{{base: "big_orders", joins: []string{"customers"}}, {base: "orders", joins: []string{"customers"}}},
	},
	{
		name: "semi_additive", dims: []string{"customers.name as name", "balances.day:month as month"}, measures: []string{"[0] sum(balances.balance) as closing", "[0] count(*) as accounts"},
		legs: []leg{{base: "balances", joins: []string{"customers"}, semi: "last balances.day per balances.account"}},
	},
	{
		name: "semi_additive_and_more", dims: []string{"customers.name as name"},
		measures: []string{"[1] sum(balances.balance) filter (where balances.balance > 0) as opening", "[1] max(balances.balance) as highest first", "sum(balances.balance) as all", "[2] sum(balances.balance) as last of all", "sum(orders.amount) as revenue"},
		legs: []leg{
			{base: "balances", joins: []string{"customers"}},
			{base: "balances", joins: []string{"customers"}, semi: "first balances.day per balances.account"},
			{base: "balances", joins: []string{"customers"}, semi: "last balances.day", where: []string{"customers.active"}},
			{base: "orders", joins: []string{"customers"}},
		},
	},
	{
		name: "odd_names", dims: []string{`"select"."a""b` + "`" + `c]d" as O'Reilly "x" ` + "`y` [z]", `"select"."from":month as month`}, measures: []string{`sum("select"."order") as group`},
		legs: []leg{{base: "select", where: []string{`"select"."a""b` + "`" + `c]d" <> 'it''s \n'`}}},
	},
	{name: "median", dims: []string{"orders.status as status"}, measures: []string{"median(orders.amount) as median", "percentile(orders.amount, 0.9) filter (where orders.paid) as high"}, legs: []leg{{base: "orders"}}},
}
