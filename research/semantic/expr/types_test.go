package expr_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// env gives names types by their first letter: s1 is a string, n a number.
func env(e *expr.Expr) expr.Type {
	switch e.Name.Leaf[0] {
	case 's':
		return expr.String
	case 'n':
		return expr.Number
	case 't':
		return expr.Time
	case 'b':
		return expr.Boolean
	}
	return expr.Unknown
}

func TestTypeOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want expr.Type
	}{
		{"NULL", expr.Unknown},
		{"'a'", expr.String},
		{"1", expr.Number},
		{"TRUE", expr.Boolean},
		{"DATE '2024-01-01'", expr.Time},
		{"n + 1 - -n % 2", expr.Number},
		{"n + NULL", expr.Number},
		{"t + interval '1 day'", expr.Time},
		{"interval '1 day' + t", expr.Time},
		{"'2024-01-31' + interval '1 day'", expr.Time},
		{"t - interval '1 day' > now()", expr.Boolean},
		{"s || 'a'", expr.String},
		{"s = 'a'", expr.Boolean},
		{"t > '2024-01-31'", expr.Boolean},
		{"'2024-01-31T10:00' <= t", expr.Boolean},
		{"t BETWEEN '2024-01-01' AND '2024-01-31 10:00'", expr.Boolean},
		{"t IN ('2024-01-01', NULL)", expr.Boolean},
		{"b = TRUE", expr.Boolean},
		{"b AND NOT b OR n > 1", expr.Boolean},
		{"s LIKE 'a%'", expr.Boolean},
		{"n IS NULL", expr.Boolean},
		{"CASE WHEN b THEN n ELSE NULL END", expr.Number},
		{"CASE WHEN b THEN NULL END", expr.Unknown},
		{"CASE WHEN b THEN t ELSE '2024-01-01' END", expr.Time},
		{"CAST(n AS text)", expr.String},
		{"CAST(s AS numeric)", expr.Number},
		{"s::date", expr.Time},
		{"NULL::boolean", expr.Boolean},
		{"coalesce(NULL, n, 0)", expr.Number},
		{"coalesce('2024-01-01', t)", expr.Time},
		{"nullif(n, 0)", expr.Number},
		{"nullif('2024-01-01', t)", expr.Time},
		{"lower(s)", expr.String},
		{"length(s)", expr.Number},
		{"date_trunc('month', t)", expr.Time},
		{"extract(year FROM t)", expr.Number},
		{"extract(year FROM '2024-01-01')", expr.Number},
		{"round(n, 2)", expr.Number},
		{"concat(s, NULL)", expr.String},
		{"now()", expr.Time},
		{"count(*)", expr.Number},
		{"count(DISTINCT b)", expr.Number},
		{"sum(n) FILTER (WHERE b)", expr.Number},
		{"max(t)", expr.Time},
		{"min(s)", expr.String},
		{"max(b)", expr.Boolean},
		{"percentile(n, 0.9)", expr.Number},
		{"safe_divide(sum(n), count(*))", expr.Number},
	} {
		e := parse(t, c.text)
		before := e.String()
		got, err := expr.TypeOf(e, env)
		if err != nil || got != c.want {
			t.Errorf("TypeOf(%s) = %s, %v; want %s", c.text, got, err, c.want)
		}
		if e.String() != before {
			t.Errorf("TypeOf changes %s to %s", before, e)
		}
	}
}

func TestTypeRefused(t *testing.T) {
	for _, c := range []struct{ text, message, hint string }{
		{"sum(s)", "sum takes a number, and s is a string", "count(x)"},
		{"avg(b)", "avg takes a number, and b is a boolean", "count(*) FILTER"},
		{"sum(t)", "sum takes a number", "min(x)"},
		{"n AND b", "AND needs a condition, and n is a number", "comparison"},
		{"NOT s", "NOT needs a condition", "comparison"},
		{"b + 1", "b is a boolean", "CASE WHEN"},
		{"s * 2", "s is a string", "CAST"},
		{"t - t", "t is a time", "INTERVAL"},
		{"t + 1", "t is a time", "INTERVAL"},
		{"interval '1 day' - t", "no time before it", "x - INTERVAL"},
		{"n + interval '1 day'", "no time", "added to a time"},
		{"interval '1 day'", "interval stands where a value", "INTERVAL"},
		{"coalesce(interval '1 day', t)", "interval stands where a value", "INTERVAL"},
		{"n = '5'", "compares a number with a string", "without quotes"},
		{"s = 5", "compares a string with a number", "single quotes"},
		{"b = 1", "compares a boolean with a number", "TRUE"},
		{"b > TRUE", "no order", "="},
		{"t = 'yesterday'", "neither a date nor a timestamp", "2024-01-31"},
		{"t > 2024", "compares a time with a number", "DATE"},
		{"t = s", "compares a time with a string", "CAST"},
		{"t IN ('x')", "neither a date", "2024-01-31"},
		{"s || n", "n is a number", "CAST(x AS text)"},
		{"n LIKE '1%'", "LIKE compares texts", "CAST"},
		{"CASE WHEN n THEN 1 END", "WHEN needs a condition", "comparison"},
		{"CASE WHEN b THEN 1 ELSE 'a' END", "CASE gives a number with a string", "CAST"},
		{"coalesce(n, 'a')", "coalesce combines", "CAST"},
		{"count(*) FILTER (WHERE n)", "FILTER needs a condition", "comparison"},
		{"lower(n)", "lower takes a string", "CAST(x AS text)"},
		{"extract(year FROM n)", "takes a time", "type time"},
		{"CAST(b AS numeric)", "cannot be cast", "CASE WHEN"},
		{"CAST(n AS boolean)", "cannot be cast", "<> 0"},
		{"CAST(t AS numeric)", "cannot be cast", "extract"},
		{"CAST(n AS timestamp)", "cannot be cast", ""},
	} {
		got, err := expr.TypeOf(parse(t, c.text), env)
		if err == nil {
			t.Errorf("TypeOf(%s) = %s, want a refusal", c.text, got)
			continue
		}
		if err.Class != expr.UnsafeExpression || !strings.Contains(err.Message, c.message) || !strings.Contains(err.Hint, c.hint) {
			t.Errorf("TypeOf(%s): %s %q, hint %q; want %q and %q", c.text, err.Class, err.Message, err.Hint, c.message, c.hint)
		}
	}
}

// TestCheckMakesTimes: literals against times become times, and only those.
func TestCheckMakesTimes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"t >= '2024-01-31' AND s = '2024-01-31'", "((t >= DATE '2024-01-31') AND (s = '2024-01-31'))"},
		{"count(*) FILTER (WHERE t IN ('2024-01-31 10:00'))", "count(*) FILTER (WHERE (t IN (TIMESTAMP '2024-01-31 10:00:00')))"},
		{"CASE t WHEN '2024-01-31' THEN 'a' END", "CASE WHEN (t = DATE '2024-01-31') THEN 'a' END"},
		{"coalesce(t, '2024-01-31')", "coalesce(t, DATE '2024-01-31')"},
		{"CASE WHEN b THEN '2024-01-31' ELSE t END", "CASE WHEN b THEN DATE '2024-01-31' ELSE t END"},
		{"'2024-01-31' - interval 1 day", "(DATE '2024-01-31' - INTERVAL 1 day)"},
		{"date_trunc('month', '2024-01-31')", "date_trunc('month', DATE '2024-01-31')"},
	} {
		e := parse(t, c.text)
		got, _, err := expr.Check(e, env)
		if err != nil || got.String() != c.want {
			t.Errorf("Check(%s) = %v, %v; want %s", c.text, got, err, c.want)
		}
	}
	e := parse(t, "n + 1 > coalesce(n, 0)")
	if got, _, _ := expr.Check(e, env); got != e {
		t.Error("Check makes a new tree though nothing changes")
	}
}

func TestConjunctsAndMap(t *testing.T) {
	e := parse(t, "a AND b AND (c OR d) AND sum(x) FILTER (WHERE f) > 1")
	list := expr.Conjuncts(e)
	if len(list) != 4 {
		t.Fatalf("%d conjuncts", len(list))
	}
	if got := expr.And(append([]*expr.Expr{nil}, list...)).String(); got != e.String() {
		t.Errorf("And of the conjuncts is %s", got)
	}
	if expr.And(nil) != nil || expr.And(list[:1]) != list[0] || expr.Conjuncts(nil) != nil {
		t.Error("And or Conjuncts of one or none")
	}
	var names []string
	expr.Walk(e, func(n *expr.Expr) bool {
		if n.Op == expr.OpName {
			names = append(names, n.Name.Leaf)
		}
		return n.Op != expr.OpOr
	})
	if d := cmp.Diff([]string{"a", "b", "x", "f"}, names); d != "" {
		t.Error(d)
	}
	before := e.String()
	m, err := expr.Map(e, func(n *expr.Expr) (*expr.Expr, *expr.Error) {
		if n.Op == expr.OpName {
			n.Name.Leaf += "1"
		}
		return n, nil
	})
	if err != nil || m.String() != "(a1 AND b1 AND (c1 OR d1) AND (sum(x1) FILTER (WHERE f1) > 1))" || e.String() != before {
		t.Errorf("Map: %s, %v; the tree was %s and is %s", m, err, before, e)
	}
}

// TestBoundNodes: bound nodes print differently from each other and from every text.
func TestBoundNodes(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range []*expr.Expr{
		{Op: expr.OpField, Field: expr.Field{Node: 1, Column: 23}},
		{Op: expr.OpField, Field: expr.Field{Node: 12, Column: 3}},
		{Op: expr.OpField, Field: expr.Field{Node: expr.Self, Column: 3}},
		{Op: expr.OpMeasure, Measure: expr.Measure{Node: 1, Index: 23}},
		{Op: expr.OpAtom, Index: 1},
		{Op: expr.OpAtom, Index: 12},
		{Op: expr.OpName, Name: expr.Name{Leaf: "a.b", QuotedLeaf: true}},
		{Op: expr.OpName, Name: expr.Name{Qualifier: "a", Leaf: "b"}},
	} {
		s := e.String()
		if seen[s] {
			t.Errorf("two nodes print %s", s)
		}
		seen[s] = true
		if _, err := expr.Parse(s); err == nil && e.Op != expr.OpName {
			t.Errorf("%s is read as a text", s)
		}
	}
}

func TestFunctionsAreSorted(t *testing.T) {
	list := expr.Functions()
	for i, f := range list {
		if i > 0 && list[i-1].Name >= f.Name {
			t.Errorf("%s stands after %s", f.Name, list[i-1].Name)
		}
		if f.Meaning == "" || f.Max > 0 && len(f.Args) == 0 {
			t.Errorf("%s has no meaning or no types of arguments", f.Name)
		}
	}
}

// TestTreesRoundTrip: the canonical text of a random tree is read as that tree.
func TestTreesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := tree(t, 5, true)
		got, err := expr.Parse(e.String())
		if err != nil {
			t.Fatalf("%s is refused: %v", e, err)
		}
		if d := cmp.Diff(e, got, alike); d != "" {
			t.Fatalf("%s is read differently:\n%s", e, d)
		}
	})
}

// tree is a random tree of the kinds that Parse makes.
func tree(t *rapid.T, depth int, aggregates bool) *expr.Expr {
	below := func() *expr.Expr { return tree(t, depth-1, aggregates) }
	last := 12
	if depth <= 0 {
		last = 4
	}
	switch rapid.IntRange(0, last).Draw(t, "kind") {
	case 0:
		return &expr.Expr{Op: expr.OpString, Text: rapid.StringMatching(`[a-z'"\\;\-é ]{0,6}`).Draw(t, "string")}
	case 1:
		return &expr.Expr{Op: expr.OpNumber, Text: rapid.SampledFrom([]string{"0", "1", "12.50", "1e6", "0.5", "1.5e-3"}).Draw(t, "number")}
	case 2:
		return rapid.SampledFrom([]*expr.Expr{
			{Op: expr.OpNull},
			{Op: expr.OpBool, Text: "true"},
			{Op: expr.OpBool, Text: "false"},
			{Op: expr.OpDate, Text: "2024-02-29"},
			{Op: expr.OpTimestamp, Text: "2024-02-29 10:00:00.5"},
		}).Draw(t, "literal")
	case 3, 4:
		words := []string{"a", "order", "select", "case", "date", "interval", "filter", "distinct", "count", "größe", "is", "null"}
		n := expr.Name{Leaf: rapid.SampledFrom(words).Draw(t, "leaf")}
		n.QuotedLeaf = rapid.Bool().Draw(t, "quoted")
		if rapid.Bool().Draw(t, "qualified") {
			n.Qualifier, n.QuotedQualifier = rapid.SampledFrom(words).Draw(t, "qualifier"), rapid.Bool().Draw(t, "quotedQualifier")
		} else if !n.QuotedLeaf {
			n.Leaf = rapid.SampledFrom([]string{"a", "order", "date", "interval", "filter", "distinct", "count", "größe"}).Draw(t, "bare")
		}
		return &expr.Expr{Op: expr.OpName, Name: n}
	case 5:
		op := rapid.SampledFrom([]expr.Op{expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpDiv, expr.OpMod, expr.OpConcat, expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe}).Draw(t, "binary")
		return &expr.Expr{Op: op, Args: []*expr.Expr{below(), below()}}
	case 6:
		op := rapid.SampledFrom([]expr.Op{expr.OpNeg, expr.OpNot}).Draw(t, "unary")
		return &expr.Expr{Op: op, Args: []*expr.Expr{below()}}
	case 7:
		op := rapid.SampledFrom([]expr.Op{expr.OpAnd, expr.OpOr}).Draw(t, "chain")
		var args []*expr.Expr
		for len(args) < 2 {
			if a := below(); a.Op == op {
				args = append(args, a.Args...)
			} else {
				args = append(args, a)
			}
		}
		return &expr.Expr{Op: op, Args: args}
	case 8:
		negated := rapid.Bool().Draw(t, "negated")
		return rapid.SampledFrom([]*expr.Expr{
			{Op: expr.OpIsNull, Args: []*expr.Expr{below()}, Negated: negated},
			{Op: expr.OpIn, Args: []*expr.Expr{below(), below(), below()}, Negated: negated},
			{Op: expr.OpBetween, Args: []*expr.Expr{below(), below(), below()}, Negated: negated},
			{Op: expr.OpLike, Args: []*expr.Expr{below(), below()}, Negated: negated},
		}).Draw(t, "predicate")
	case 9:
		args := []*expr.Expr{below(), below(), below(), below(), below()}
		return &expr.Expr{Op: expr.OpCase, Args: args[:rapid.IntRange(2, 5).Draw(t, "arms")]}
	case 10:
		to := rapid.SampledFrom([]expr.Type{expr.String, expr.Number, expr.Boolean, expr.Time}).Draw(t, "type")
		a := below()
		if to == expr.Time && a.Op == expr.OpString {
			to = expr.String
		}
		return &expr.Expr{Op: expr.OpCast, Type: to, Args: []*expr.Expr{a}}
	case 11:
		month := &expr.Expr{Op: expr.OpString, Text: "month"}
		two := &expr.Expr{Op: expr.OpNumber, Text: "2"}
		return rapid.SampledFrom([]*expr.Expr{
			{Op: expr.OpCall, Func: "coalesce", Args: []*expr.Expr{below(), below()}},
			{Op: expr.OpCall, Func: "extract", Args: []*expr.Expr{month, below()}},
			{Op: expr.OpCall, Func: "date_trunc", Args: []*expr.Expr{month, below()}},
			{Op: expr.OpCall, Func: "substring", Args: []*expr.Expr{below(), two, two}},
			{Op: expr.OpCall, Func: "round", Args: []*expr.Expr{below(), two}},
			{Op: expr.OpCall, Func: "now"},
			{Op: expr.OpAdd, Args: []*expr.Expr{below(), {Op: expr.OpInterval, Text: "day", Args: []*expr.Expr{two}}}},
			{Op: expr.OpSub, Args: []*expr.Expr{below(), {Op: expr.OpInterval, Text: "day", Args: []*expr.Expr{{Op: expr.OpNeg, Args: []*expr.Expr{two}}}}}},
		}).Draw(t, "call")
	}
	if !aggregates {
		return &expr.Expr{Op: expr.OpNull}
	}
	row := func() *expr.Expr { return tree(t, depth-1, false) }
	e := rapid.SampledFrom([]*expr.Expr{
		{Op: expr.OpAggregate, Func: "count"},
		{Op: expr.OpAggregate, Func: "count", Distinct: true, Args: []*expr.Expr{row()}},
		{Op: expr.OpAggregate, Func: "sum", Args: []*expr.Expr{row()}},
		{Op: expr.OpAggregate, Func: "percentile", Args: []*expr.Expr{row(), {Op: expr.OpNumber, Text: "0.9"}}},
	}).Draw(t, "aggregate")
	if rapid.Bool().Draw(t, "filtered") {
		e.Filter = row()
	}
	return e
}
