package expr_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/research/semantic/expr"
)

// alike compares trees without their places in a text.
var alike = cmp.Options{cmpopts.IgnoreFields(expr.Expr{}, "Pos"), cmpopts.EquateEmpty()}

func parse(t *testing.T, text string) *expr.Expr {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v (%s)", text, err, err.Hint)
	}
	return e
}

// TestAccepted: the canonical text shows what a text is read as.
func TestAccepted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"amount", "amount"},
		{" orders . amount ", "orders.amount"},
		{`"Orders"."Net ""Amount"""`, `"Orders"."Net ""Amount"""`},
		{"`order`.`a``b`", "\"order\".\"a`b\""},
		{"[my table].[a]]b]", `"my table"."a]b"`},
		{"größe + 数量", "(größe + 数量)"},
		{"group.order = 'a'", "(group.order = 'a')"},
		{"case.end", "case.end"},
		{"null.x IS NULL", "(null.x IS NULL)"},
		{"a AND and.b", "(a AND and.b)"},
		{"not.x", "not.x"},
		{"order", "order"},
		{"date > '2024-01-01'", "(date > '2024-01-01')"},
		{"interval - 1", "(interval - 1)"},
		{"count > 1 and filter = 2", "((count > 1) AND (filter = 2))"},
		{"a.select", "a.select"},
		{"007.50", "7.50"},
		{".5", "0.5"},
		{"1.", "1"},
		{"1E+06", "1e6"},
		{"1e-06", "1e-6"},
		{"'it''s'", "'it''s'"},
		{`'a\'`, `'a\'`},
		{"''", "''"},
		{"'--;/*$1?:x'", "'--;/*$1?:x'"},
		{"true", "TRUE"},
		{"NULL", "NULL"},
		{"DATE '2024-02-29'", "DATE '2024-02-29'"},
		{"date'2024-02-29'", "DATE '2024-02-29'"},
		{"TIMESTAMP '2024-01-31T10:20'", "TIMESTAMP '2024-01-31 10:20:00'"},
		{"timestamp '2024-01-31 10:20:30.120000'", "TIMESTAMP '2024-01-31 10:20:30.12'"},
		{"timestamp '2024-01-31'", "TIMESTAMP '2024-01-31 00:00:00'"},
		{"created + interval '1 month'", "(created + INTERVAL 1 month)"},
		{"created - INTERVAL '3' DAY", "(created - INTERVAL 3 day)"},
		{"created + interval 2 weeks", "(created + INTERVAL 2 week)"},
		{"created + interval '-1 hours'", "(created + INTERVAL -1 hour)"},
		{"created + interval -1 hour", "(created + INTERVAL -1 hour)"},
		{"a - b - c", "((a - b) - c)"},
		{"a + b * c", "(a + (b * c))"},
		{"(a + b) * c", "((a + b) * c)"},
		{"- a * - 1", "((- a) * (- 1))"},
		{"- -1", "(- (- 1))"},
		{"+a", "a"},
		{"-a::numeric", "(- CAST(a AS numeric))"},
		{"a % 2 / 3", "((a % 2) / 3)"},
		{"a || ' ' || b", "((a || ' ') || b)"},
		{"a || (b + c)", "(a || (b + c))"},
		{"a != b", "(a <> b)"},
		{"NOT a = b AND c OR d", "(((NOT (a = b)) AND c) OR d)"},
		{"a AND (b AND c) AND d", "(a AND b AND c AND d)"},
		{"a OR b OR (c AND d)", "(a OR b OR (c AND d))"},
		{"x BETWEEN 1 AND 2 AND y", "((x BETWEEN 1 AND 2) AND y)"},
		{"x NOT BETWEEN a + 1 AND b", "(x NOT BETWEEN (a + 1) AND b)"},
		{"x IN (1, 'a', NULL)", "(x IN (1, 'a', NULL))"},
		{"x not in (1)", "(x NOT IN (1))"},
		{"x LIKE 'a%' OR x NOT LIKE '_'", "((x LIKE 'a%') OR (x NOT LIKE '_'))"},
		{"x IS NULL OR x IS NOT NULL", "((x IS NULL) OR (x IS NOT NULL))"},
		{"(a = b) = c", "((a = b) = c)"},
		{"NOT NOT a", "(NOT (NOT a))"},
		{"CASE WHEN a > 1 THEN 'x' WHEN b THEN 'y' ELSE 'z' END", "CASE WHEN (a > 1) THEN 'x' WHEN b THEN 'y' ELSE 'z' END"},
		{"case status when 'a' then 1 when 'b' then 2 end", "CASE WHEN (status = 'a') THEN 1 WHEN (status = 'b') THEN 2 END"},
		{"CAST(a AS double precision)", "CAST(a AS numeric)"},
		{"a::varchar", "CAST(a AS text)"},
		{"CAST(a AS CHAR)", "CAST(a AS text)"},
		{"a::nvarchar(max)", "CAST(a AS text)"},
		{"a::numeric(10, 2)", "round(CAST(a AS numeric), 2)"},
		{"a::decimal(10)", "round(CAST(a AS numeric))"},
		{"a::bool", "CAST(a AS boolean)"},
		{"a::timestamp without time zone", "CAST(a AS timestamp)"},
		{"a::date", "date_trunc('day', CAST(a AS timestamp))"},
		{"'2024-01-31'::date", "DATE '2024-01-31'"},
		{"'2024-01-31'::timestamp", "TIMESTAMP '2024-01-31 00:00:00'"},
		{"CAST('2024-01-31 10:00' AS date)", "DATE '2024-01-31'"},
		{"count(*)::int", "count(*)"},
		{"sum(CASE WHEN a THEN 1 ELSE 0 END)::float", "CAST(sum(CASE WHEN a THEN 1 ELSE 0 END) AS numeric)"},
		{"floor(x)::bigint", "floor(x)"},
		{"COUNT( * )", "count(*)"},
		{"count(DISTINCT a)", "count(DISTINCT a)"},
		{"count(distinct)", "count(distinct)"},
		{"count(distinct is.a)", "count(DISTINCT is.a)"},
		{"count(distinct(a))", "count(DISTINCT a)"},
		{"count_distinct(a)", "count(DISTINCT a)"},
		{"min(DISTINCT a)", "min(a)"},
		{"SUM(DISTINCT a)", "sum(DISTINCT a)"},
		{"sum(a) FILTER (WHERE b > 1 AND c)", "sum(a) FILTER (WHERE ((b > 1) AND c))"},
		{"count(*) filter (where a) / count(*)", "(count(*) FILTER (WHERE a) / count(*))"},
		{"median(a)", "median(a)"},
		{"percentile(a, 0.95)", "percentile(a, 0.95)"},
		{"EXTRACT(YEAR FROM created)", "extract(year FROM created)"},
		{"date_part('month', created)", "extract(month FROM created)"},
		{"month(created)", "extract(month FROM created)"},
		{"date_trunc('MONTH', created)", "date_trunc('month', created)"},
		{"now() - interval '7 days'", "(now() - INTERVAL 7 day)"},
		{"current_date", "current_date()"},
		{"CURRENT_TIMESTAMP", "now()"},
		{"current_timestamp()", "now()"},
		{"ifnull(a, 0)", "coalesce(a, 0)"},
		{"substring(a from 2 for 3)", "substring(a, 2, 3)"},
		{"substr(a, 2)", "substring(a, 2)"},
		{"char_length(trim(upper(a)))", "length(trim(upper(a)))"},
		{"round(a, 0)", "round(a)"},
		{"safe_divide(sum(a), count(b))", "safe_divide(sum(a), count(b))"},
		{"concat(a, '-', b)", "concat(a, '-', b)"},
		{"a -\n\tb", "(a - b)"},
		{"a<-1", "(a < (- 1))"},
	} {
		e := parse(t, c.text)
		if got := e.String(); got != c.want {
			t.Errorf("Parse(%q) = %s, want %s", c.text, got, c.want)
		}
		again := parse(t, e.String())
		if d := cmp.Diff(e, again, alike); d != "" {
			t.Errorf("%q is read differently from its canonical text %s:\n%s", c.text, e, d)
		}
	}
}

// TestRefused: each refusal names the construct and what to write instead.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text, message, hint string
		class               expr.Class
	}{
		{"", "empty", "sum", expr.UnsafeExpression},
		{"  ", "empty", "sum", expr.UnsafeExpression},
		{"a -- b", "--", "remove the comment", expr.UnsafeExpression},
		{"a--1", "--", "- (-x)", expr.UnsafeExpression},
		{"a /* b */", "/*", "remove the comment", expr.UnsafeExpression},
		{"a # b", "#", "remove it", expr.UnsafeExpression},
		{"a; DROP TABLE t", "semicolon", "one expression", expr.UnsafeExpression},
		{"a = $1", "parameter marker $", "value itself", expr.UnsafeExpression},
		{"a = ?", "parameter marker ?", "value itself", expr.UnsafeExpression},
		{"a = :x", "parameter marker :", "value itself", expr.UnsafeExpression},
		{"a = @x", "@", "value itself", expr.UnsafeExpression},
		{"@@version", "@@", "value itself", expr.UnsafeExpression},
		{"$$a$$", "dollar-quoted", "single quotes", expr.UnsafeExpression},
		{"$tag$a$tag$", "dollar-quoted", "single quotes", expr.UnsafeExpression},
		{"a$b", "contains $", "double quotes", expr.UnsafeExpression},
		{"{{x}}", "template", "value itself", expr.UnsafeExpression},
		{`E'a\n'`, "E before a quote", "single quotes", expr.UnsafeExpression},
		{`U&'a'`, "U before a quote", "single quotes", expr.UnsafeExpression},
		{`N'a'`, "N before a quote", "single quotes", expr.UnsafeExpression},
		{`x'00'`, "x before a quote", "single quotes", expr.UnsafeExpression},
		{`_utf8'a'`, "_utf8 before a quote", "single quotes", expr.UnsafeExpression},
		{"a = (SELECT 1)", "subquery", "measure", expr.UnsafeExpression},
		{"a IN (SELECT b FROM c)", "subquery", "condition", expr.UnsafeExpression},
		{"SELECT 1", "subquery", "measure", expr.UnsafeExpression},
		{"EXISTS (SELECT 1)", "EXISTS", "measure", expr.UnsafeExpression},
		{"WITH x AS (SELECT 1) SELECT 2", "subquery", "measure", expr.UnsafeExpression},
		{"a UNION SELECT 1", "UNION", "measure", expr.UnsafeExpression},
		{"a = ANY(b)", "ANY", "IN", expr.UnsafeExpression},
		{"sum(a) OVER (PARTITION BY b)", "OVER", "order_by", expr.WindowFunction},
		{"row_number() OVER ()", "row_number", "dimensions", expr.WindowFunction},
		{"*", "star", "count(*)", expr.UnsafeExpression},
		{"orders.*", "star", "count(*)", expr.UnsafeExpression},
		{"sum(*)", "star", "sum(source.column)", expr.UnsafeExpression},
		{"count(DISTINCT *)", "DISTINCT *", "count(DISTINCT source.column)", expr.UnsafeExpression},
		{"count()", "1 argument", "count(*)", expr.UnsafeExpression},
		{"count(a, b)", "1 argument", "||", expr.UnsafeExpression},
		{"public.orders.amount", "more than two parts", "source.column", expr.UnsafeExpression},
		{"pg_catalog.lower(a)", "qualified name", "lower(x)", expr.UnsafeExpression},
		{`"lower"(a)`, "quoted or qualified", "lower(x)", expr.UnsafeExpression},
		{"pg_sleep(10)", "pg_sleep", "known are", expr.UnsafeExpression},
		{"iif(a, 1, 2)", "iif", "CASE WHEN", expr.UnsafeExpression},
		{"sum(count(a))", "inside the aggregate sum", "side by side", expr.NestedAggregate},
		{"sum(a) FILTER (WHERE max(b) > 1)", "inside the aggregate sum", "side by side", expr.NestedAggregate},
		{"a ILIKE 'x%'", "ILIKE", "lower(x) LIKE", expr.UnsafeExpression},
		{"a NOT ILIKE 'x%'", "ILIKE", "lower(x) LIKE", expr.UnsafeExpression},
		{"a ~ 'x'", "~", "LIKE", expr.UnsafeExpression},
		{"a !~ 'x'", "!~", "LIKE", expr.UnsafeExpression},
		{"a REGEXP 'x'", "REGEXP", "LIKE", expr.UnsafeExpression},
		{"a SIMILAR TO 'x'", "SIMILAR", "LIKE", expr.UnsafeExpression},
		{`a LIKE 'x\%' ESCAPE '\'`, "ESCAPE", "wildcards", expr.UnsafeExpression},
		{"a == b", "==", "write =", expr.UnsafeExpression},
		{"a && b", "&&", "AND", expr.UnsafeExpression},
		{"a -> 'b'", "->", "computed column", expr.UnsafeExpression},
		{"a ^ 2", "^", "product", expr.UnsafeExpression},
		{"a\x00b", "U+0000", "remove", expr.UnsafeExpression},
		{"'a\x00b'", "U+0000", "remove", expr.UnsafeExpression},
		{"\"a\nb\"", "U+000A", "remove", expr.UnsafeExpression},
		{"a\xff", "UTF-8", "UTF-8", expr.UnsafeExpression},
		{"'\xff'", "UTF-8", "UTF-8", expr.UnsafeExpression},
		{"a\u00a0= 1", "U+00A0", "ordinary space", expr.UnsafeExpression},
		{"a = ‘x’", "not a quote", "straight", expr.UnsafeExpression},
		{"a\u202e", "U+202E", "remove", expr.UnsafeExpression},
		{"'abc", "does not end", "close it", expr.UnsafeExpression},
		{`"abc`, "does not end", "close it", expr.UnsafeExpression},
		{`""`, "empty", "between the quotes", expr.UnsafeExpression},
		{"'a' 'b'", "string follows a string", "||", expr.UnsafeExpression},
		{"a b", "b stands after the expression", "", expr.UnsafeExpression},
		{"a 'b'", "follows the name", "operator", expr.UnsafeExpression},
		{"sum(a) AS total", "AS", "name", expr.UnsafeExpression},
		{"a DESC", "DESC", "order_by", expr.UnsafeExpression},
		{"a ORDER BY b", "ORDER BY", "order_by", expr.UnsafeExpression},
		{"a = b = c", "follows a comparison", "AND", expr.UnsafeExpression},
		{"a = b IS NULL", "follows a comparison", "brackets", expr.UnsafeExpression},
		{"1 < a < 5", "follows a comparison", "AND", expr.UnsafeExpression},
		{"a IS TRUE", "IS", "x = TRUE", expr.UnsafeExpression},
		{"a IS DISTINCT FROM b", "IS", "<>", expr.UnsafeExpression},
		{"a IN ()", "empty", "at least one", expr.UnsafeExpression},
		{"a IN 'x'", "after IN", "brackets", expr.UnsafeExpression},
		{"(a, b) IN ((1, 2))", "list in brackets", "each column", expr.UnsafeExpression},
		{"a || b + c", "side by side", "brackets", expr.UnsafeExpression},
		{"a + b || c", "side by side", "brackets", expr.UnsafeExpression},
		{"a::int", "cuts on some engines", "floor", expr.UnsafeExpression},
		{"CAST(a AS INTEGER)", "cuts on some engines", "CASE WHEN", expr.UnsafeExpression},
		{"a::varchar(3)", "cuts the text", "substring(x, 1, 3)", expr.UnsafeExpression},
		{"a::jsonb", "jsonb", "cast to text", expr.UnsafeExpression},
		{"a::timestamptz", "timestamptz", "as they are stored", expr.UnsafeExpression},
		{"a::timestamp with time zone", "with time zone", "as they are stored", expr.UnsafeExpression},
		{"'yesterday'::date", "neither a date", "DATE", expr.UnsafeExpression},
		{"DATE '2024-02-30'", "calendar", "DATE", expr.UnsafeExpression},
		{"TIMESTAMP '2024-01-01 10:00+02'", "time zone", "TIMESTAMP", expr.UnsafeExpression},
		{"interval '1 month 2 days'", "not an interval", "one number and one unit", expr.UnsafeExpression},
		{"interval '1.5 days'", "1.5", "whole number", expr.UnsafeExpression},
		{"interval '1 fortnight'", "fortnight", "units are", expr.UnsafeExpression},
		{"extract(epoch FROM a)", "parts", "extract(month", expr.UnsafeExpression},
		{"date_trunc('minute', a)", "units", "date_trunc('month'", expr.UnsafeExpression},
		{"date_trunc(b, a)", "units", "date_trunc('month'", expr.UnsafeExpression},
		{"round(a, -1)", "0 to 15", "round(x, 2)", expr.UnsafeExpression},
		{"substring(a, 0)", "position from 1", "substring(x, 1, 3)", expr.UnsafeExpression},
		{"percentile(a, 95)", "from 0 to 1", "0.9", expr.UnsafeExpression},
		{"percentile_cont(0.9) WITHIN GROUP (ORDER BY a)", "percentile_cont", "percentile(x, 0.9)", expr.UnsafeExpression},
		{"median(DISTINCT a)", "DISTINCT", "leave", expr.UnsafeExpression},
		{"min(a, b)", "1 argument", "CASE WHEN", expr.UnsafeExpression},
		{"lower(a) FILTER (WHERE b)", "FILTER", "after an aggregate", expr.UnsafeExpression},
		{"12abc", "neither a number nor a name", "double quotes", expr.UnsafeExpression},
		{"0x1F", "neither a number nor a name", "decimal", expr.UnsafeExpression},
		{"1e999", "too large", "", expr.UnsafeExpression},
		{strings.Repeat("9", 39), "more than 38 digits", "", expr.UnsafeExpression},
		{"a +", "text ends", "", expr.UnsafeExpression},
		{"(a", ") is missing", "", expr.UnsafeExpression},
		{"a)", "stands after", "", expr.UnsafeExpression},
		{"()", "empty", "between the brackets", expr.UnsafeExpression},
		{"AND a", "AND stands", "double quotes", expr.UnsafeExpression},
		{"CASE END", "END", "", expr.UnsafeExpression},
		{"CASE WHEN a THEN 1", "END is missing", "", expr.UnsafeExpression},
		{strings.Repeat("(", 300) + "a" + strings.Repeat(")", 300), "more than 250 deep", "remove", expr.UnsafeExpression},
		{strings.Repeat("abs(", 101) + "a" + strings.Repeat(")", 101), "more than 100 deep", "split", expr.UnsafeExpression},
		{"a" + strings.Repeat(" + a", 200), "more than 100 deep", "split", expr.UnsafeExpression},
		{strings.Repeat("NOT ", 200) + "a", "more than 100 deep", "split", expr.UnsafeExpression},
		{strings.Repeat("a", 70_000), "65536", "split", expr.UnsafeExpression},
	} {
		e, err := expr.Parse(c.text)
		if err == nil {
			t.Errorf("Parse(%.60q) = %s, want a refusal", c.text, e)
			continue
		}
		if err.Class != c.class || !strings.Contains(err.Message, c.message) || !strings.Contains(err.Hint, c.hint) {
			t.Errorf("Parse(%.60q): %s %q, hint %q; want %s with %q and hint with %q", c.text, err.Class, err.Message, err.Hint, c.class, c.message, c.hint)
		}
		if err.Pos > len(c.text) {
			t.Errorf("Parse(%.60q): position %d", c.text, err.Pos)
		}
	}
}

// TestNearFunction: an unknown function comes with the ones that may have been meant.
func TestNearFunction(t *testing.T) {
	_, err := expr.Parse("summ(a)")
	if err == nil || len(err.Near) == 0 || err.Near[0] != "sum" {
		t.Errorf("near summ: %+v", err)
	}
	_, err = expr.Parse("approx_count_distinct(a)")
	if err == nil || len(err.Near) == 0 || err.Near[0] != "count_distinct" {
		t.Errorf("near approx_count_distinct: %+v", err)
	}
}

// TestLongChains: AND and OR of many operands are one node, and a simple CASE within a
// simple CASE does not grow without bound.
func TestLongChains(t *testing.T) {
	e := parse(t, "a"+strings.Repeat(" OR a", 10_000))
	if e.Op != expr.OpOr || len(e.Args) != 10_001 {
		t.Errorf("a chain of OR has %d operands", len(e.Args))
	}
	nested := "a"
	for range 40 {
		nested = "CASE " + nested + " WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 END"
	}
	if _, err := expr.Parse(nested); err == nil || !strings.Contains(err.Message, "more than 100000 parts") {
		t.Errorf("nested simple CASE: %v", err)
	}
}

// TestNames: every word is a name where only a name can stand.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		text string
		want expr.Name
	}{
		{"a", expr.Name{Leaf: "a"}},
		{"select", expr.Name{Leaf: "select"}},
		{" a.b ", expr.Name{Qualifier: "a", Leaf: "b"}},
		{"`a b`.[c.d]", expr.Name{Qualifier: "a b", Leaf: "c.d", QuotedQualifier: true, QuotedLeaf: true}},
		{`group."or""der"`, expr.Name{Qualifier: "group", Leaf: `or"der`, QuotedLeaf: true}},
	} {
		got, err := expr.ParseName(c.text)
		if err != nil || got != c.want {
			t.Errorf("ParseName(%q) = %+v, %v", c.text, got, err)
		}
	}
	for _, text := range []string{"", "a.", ".a", "a.b.c", "a b", "a-b", "'a'", "sum(a)", "a;", "1", `""`} {
		if got, err := expr.ParseName(text); err == nil {
			t.Errorf("ParseName(%q) = %+v", text, got)
		}
	}
	list, err := expr.ParsePath(`db."My Schema".[t]`, 3)
	want := []expr.Part{{Name: "db"}, {Name: "My Schema", Quoted: true}, {Name: "t", Quoted: true}}
	if d := cmp.Diff(want, list); err != nil || d != "" {
		t.Errorf("ParsePath: %v %s", err, d)
	}
	if _, err := expr.ParsePath("a.b.c.d", 3); err == nil {
		t.Error("ParsePath reads four parts")
	}
}

// closed reports what of a tree is not of the closed language.
func closed(e *expr.Expr) string {
	known := map[string]bool{}
	for _, f := range expr.Functions() {
		known[f.Name] = f.Aggregate
	}
	wrong := ""
	expr.Walk(e, func(n *expr.Expr) bool {
		switch {
		case n.Op == expr.OpCall || n.Op == expr.OpAggregate:
			if aggregate, ok := known[n.Func]; !ok || aggregate != (n.Op == expr.OpAggregate) {
				wrong = "function " + n.Func
			}
		case slices.Contains([]expr.Op{expr.OpInvalid, expr.OpField, expr.OpMeasure, expr.OpAtom}, n.Op):
			wrong = "a bound or invalid node"
		case n.Op == expr.OpNumber:
			if strings.Trim(n.Text, "0123456789.e-") != "" {
				wrong = "number " + n.Text
			}
		}
		return true
	})
	return wrong
}

// roundTrip checks what holds of every text: Parse answers with a refusal or with a
// closed tree that its canonical text gives again.
func roundTrip(t *testing.T, text string) {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		if e != nil || err.Class == "" || err.Message == "" || err.Pos < -1 || err.Pos > len(text) {
			t.Errorf("Parse(%.200q) = %v, %+v", text, e, err)
		}
		return
	}
	if wrong := closed(e); wrong != "" {
		t.Errorf("Parse(%.200q) holds %s", text, wrong)
	}
	canonical := e.String()
	if len(canonical) > 64<<10 {
		return
	}
	again, err := expr.Parse(canonical)
	if err != nil {
		t.Fatalf("Parse(%.200q) prints %.300s, which is refused: %v", text, canonical, err)
	}
	if d := cmp.Diff(e, again, alike); d != "" {
		t.Errorf("%.200q and its canonical text %.300s differ:\n%s", text, canonical, d)
	}
	if again.String() != canonical {
		t.Errorf("%.300s prints %.300s", canonical, again)
	}
}

// TestCorpus: a statement of the corpus, alone or put where a value stands, is refused
// or becomes a closed tree.
func TestCorpus(t *testing.T) {
	cases := corpus.Cases()
	if len(cases) < 1000 {
		t.Fatalf("the corpus has %d cases", len(cases))
	}
	accepted := 0
	for _, c := range cases {
		for _, text := range []string{c.SQL, "a = " + c.SQL, "a = '" + c.SQL + "'", "sum(" + c.SQL + ")", `"` + c.SQL + `" > 1`, "a) " + c.SQL} {
			roundTrip(t, text)
		}
		if _, err := expr.Parse(c.SQL); err == nil {
			accepted++
			t.Logf("read as an expression: %q", c.SQL)
		}
	}
	if accepted > len(cases)/100 {
		t.Errorf("%d statements of the corpus are read as expressions; those of one word may be names", accepted)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a", "sum(orders.amount) FILTER (WHERE status = 'paid') / nullif(count(*), 0)", "CASE x WHEN 1 THEN 'a' ELSE b || 'c' END",
		"a IN (1, 2) AND NOT b BETWEEN DATE '2024-01-01' AND current_date + interval '1 month'", "x::numeric(10,2) > -1.5e3",
		"date_trunc('week', [t].`c`)", "count(distinct distinct)", "interval.interval - interval 1 day", "a -- b", "E'x'", "substring(a from 1 for 2)",
	} {
		f.Add(s)
	}
	f.Fuzz(roundTrip)
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"measure", "sum(orders.amount) FILTER (WHERE orders.status = 'paid') / nullif(count(DISTINCT orders.customer_id), 0)"},
		{"filter", "orders.created_at >= '2024-01-01' AND orders.status IN ('paid', 'shipped') AND customers.region <> 'EU'"},
		{"longest", "a" + strings.Repeat(" OR a", 13_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := expr.Parse(c.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
