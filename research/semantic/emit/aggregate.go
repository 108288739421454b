package emit

import (
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// aggregate writes the call of an aggregate over the rows that the condition holds for.
// argument writes its first argument.
func (w *writer) aggregate(a *plan.Atom, condition func(), filtered bool, argument func()) {
	if err := lacks(a.Func, a.Distinct, w.dialect); err != nil {
		if w.err == nil {
			w.err = err
		}
		return
	}
	value := func() {
		if !filtered {
			argument()
			return
		}
		w.text("CASE WHEN ")
		condition()
		w.text(" THEN ")
		argument()
		w.text(" END")
	}
	if a.Func != "count" && len(a.Args) == 0 || len(a.Args) > 2 {
		w.broken("%s of %d arguments", a.Func, len(a.Args))
		return
	}
	distinct := ""
	if a.Distinct {
		distinct = "DISTINCT "
	}
	switch a.Func {
	case "count":
		if w.dialect == ClickHouse {
			// Its counts have no sign and cannot be mixed with numbers that have one, and a
			// setting decides whether DISTINCT is exact.
			w.text("CAST(")
			defer w.text(" AS Int64)")
			if a.Distinct {
				w.text("uniqExact(")
				value()
				w.text(")")
				return
			}
		}
		w.text(counts[w.dialect], distinct)
		switch {
		case len(a.Args) > 0:
			value()
		case filtered:
			w.text("CASE WHEN ")
			condition()
			w.text(" THEN 1 END")
		default:
			w.text("*")
		}
		w.text(")")
	case "sum", "min", "max":
		if a.Func == "sum" {
			w.text(w.sum(a.Args[0]))
		} else {
			w.text(strings.ToUpper(a.Func))
		}
		w.orNull()
		w.text("(", distinct)
		value()
		w.text(")")
	case "avg":
		w.text("AVG")
		w.orNull()
		w.text("(", distinct)
		if w.dialect == MySQL || w.dialect == SQLServer {
			// The mean of integers is cut to an integer on SQL Server, and that of decimals
			// after a few digits on both.
			w.text("CAST(")
			value()
			w.text(" AS ", doubles[w.dialect], ")")
		} else {
			value()
		}
		w.text(")")
	case "median", "percentile":
		fraction := "0.5"
		if a.Func == "percentile" {
			if len(a.Args) != 2 || a.Args[1].Op != expr.OpNumber {
				w.fail(expr.UnsafeExpression, "write it as percentile(x, 0.9)", "percentile takes a number from 0 to 1 after its first argument")
				return
			}
			fraction = a.Args[1].Text
		}
		if w.dialect == ClickHouse {
			w.text("quantileExactInclusiveOrNull(")
			w.digits(fraction)
			w.text(")(CAST(")
			value()
			w.text(" AS ", doubles[ClickHouse], "))")
			return
		}
		if w.dialect == DuckDB {
			w.text("QUANTILE_CONT(CAST(")
			value()
			w.text(" AS ", doubles[DuckDB], "), ")
			w.digits(fraction)
			w.text(")")
			return
		}
		if w.dialect == BigQuery { // whose PERCENTILE_CONT is no aggregate, and whose aggregates are not exact
			w.text("WITH(v AS ARRAY_AGG(CAST(")
			value()
			w.text(" AS ", doubles[BigQuery], ") IGNORE NULLS), (SELECT PERCENTILE_CONT(x, ")
			w.digits(fraction)
			w.text(") OVER () FROM UNNEST(v) AS x LIMIT 1))")
			return
		}
		w.text("PERCENTILE_CONT(")
		w.digits(fraction)
		w.text(") WITHIN GROUP (ORDER BY CAST(")
		value()
		w.text(" AS double precision))")
	default:
		w.broken("the aggregate %q", a.Func)
	}
}

// counts begin a count, which may be larger than an int on SQL Server.
var counts = map[Dialect]string{Postgres: "COUNT(", MySQL: "COUNT(", SQLite: "COUNT(", SQLServer: "COUNT_BIG(", ClickHouse: "COUNT(", DuckDB: "COUNT(", BigQuery: "COUNT("}

// argument writes the first argument of an aggregate over the rows of its leg.
func (w *writer) argument(a *plan.Atom) {
	e := a.Args[0]
	switch {
	case (a.Func == "min" || a.Func == "max") && w.typeOf(e) == expr.Boolean:
		w.bit(e, true)
	case a.Func == "sum" && w.dialect == SQLServer && w.smallInteger(e):
		w.text("CAST(")
		w.value(e, true)
		w.text(" AS bigint)") // the sum of ints is an int
	case (a.Func == "sum" || a.Func == "avg") && w.dialect == ClickHouse && w.longInteger(e):
		w.text("toInt128(")
		w.value(e, true)
		w.text(")") // the sum of 64 bits has 64 bits, and no error says that it was larger
	default:
		w.value(e, true)
	}
}

// smallInteger reports whether e is a column that the manifest knows as an integer.
func (w *writer) smallInteger(e *expr.Expr) bool {
	switch strings.ToLower(w.native(e)) {
	case "int", "integer", "smallint", "tinyint":
		return true
	default:
		return false
	}
}

// integers are the types of a count.
var integers = map[Dialect]string{Postgres: "bigint", MySQL: "SIGNED", SQLite: "INTEGER", SQLServer: "bigint", ClickHouse: "Nullable(Int64)", DuckDB: "BIGINT", BigQuery: "INT64"}

// absent writes the NULL of an aggregate that the leg l does not compute. PostgreSQL and
// SQL Server settle the types of a UNION pair by pair, so that the NULL must have the
// aggregate's own type. The aggregate over no rows has it, and is NULL.
func (w *writer) absent(i int, l *plan.Leg) {
	a := &w.plan.Atoms[i]
	switch {
	case w.dialect == MySQL || w.dialect == SQLite || w.dialect == ClickHouse || w.dialect == DuckDB || w.dialect == BigQuery: // a NULL has the type of the other legs
		w.text("NULL")
		return
	case a.Func == "count":
		w.text("CAST(NULL AS ", integers[w.dialect], ")")
		return
	case a.Leg < 0 || a.Leg >= len(w.plan.Legs):
		w.broken("the aggregate %d has no leg", i)
		return
	}
	own := &w.plan.Legs[a.Leg]
	w.enterLeg(own)
	w.text("(")
	w.indent++
	w.line()
	w.text("SELECT ")
	w.aggregate(a, nil, false, func() { w.argument(a) })
	w.from(own)
	w.line()
	w.text("WHERE 1 = 0")
	w.indent--
	w.line()
	w.text(")")
	w.enterLeg(l)
}

// semiLeg writes a leg that keeps of each key's rows those with the last or first value
// (R20). From the inside out: the rows, r; the last value of each key, s; the groups.
func (w *writer) semiLeg(l *plan.Leg, all bool) {
	p := w.plan
	kept := w.conditionsOf(l)
	w.text("SELECT")
	w.indent++
	first := true
	for i := range p.Dimensions {
		w.item(&first)
		w.column("s", "d", i)
	}
	w.atoms(l, all, &first, func(i int) {
		a := &p.Atoms[i]
		k := kept[i]
		w.aggregate(a, func() {
			w.column("s", "o", k)
			w.text(" = ")
			w.column("s", "m", k)
		}, true, func() { w.column("s", "x", i) })
	})
	w.indent--
	w.line()
	w.text("FROM (")
	w.indent++
	w.line()
	w.windows(l, kept)
	w.indent--
	w.line()
	w.text(") AS s")
	for i := range p.Dimensions {
		if i == 0 {
			w.line()
			w.text("GROUP BY ")
		} else {
			w.text(", ")
		}
		w.column("s", "d", i)
	}
}

// conditionsOf numbers the different filters of a leg's aggregates: for each aggregate of
// the plan, which of the columns o0, o1, … is its own.
func (w *writer) conditionsOf(l *plan.Leg) map[int]int {
	numbers := make(map[int]int, len(l.Atoms))
	next := 0
	for k, i := range l.Atoms {
		if i < 0 || i >= len(w.plan.Atoms) {
			w.broken("the aggregate %d does not exist", i)
			return numbers
		}
		n := -1
		for _, before := range l.Atoms[:k] {
			if equal(w.plan.Atoms[before].Filter, w.plan.Atoms[i].Filter) {
				n = numbers[before]
				break
			}
		}
		if n < 0 {
			n = next
			next++
		}
		numbers[i] = n
	}
	return numbers
}

// equal reports whether two bound expressions are the same.
func equal(a, b *expr.Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Op != b.Op || a.Text != b.Text || a.Func != b.Func || a.Type != b.Type || a.Field != b.Field || a.Index != b.Index ||
		a.Negated != b.Negated || a.Distinct != b.Distinct || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if !equal(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return equal(a.Filter, b.Filter)
}

// windows writes the rows of a semi-additive leg with the last value of each key.
func (w *writer) windows(l *plan.Leg, kept map[int]int) {
	p := w.plan
	w.text("SELECT")
	w.indent++
	first := true
	for i := range p.Dimensions {
		w.item(&first)
		w.column("r", "d", i)
	}
	for _, i := range l.Atoms {
		if len(p.Atoms[i].Args) > 0 {
			w.item(&first)
			w.column("r", "x", i)
		}
	}
	w.eachCondition(l, kept, func(_, k int) {
		w.item(&first)
		w.column("r", "o", k)
		w.item(&first)
		if l.Semi.First {
			w.text("MIN(")
		} else {
			w.text("MAX(")
		}
		w.column("r", "o", k)
		w.text(") OVER (")
		keys := 0
		key := func(prefix string, n int) {
			for i := range n {
				if keys == 0 {
					w.text("PARTITION BY ")
				} else {
					w.text(", ")
				}
				keys++
				w.column("r", prefix, i)
			}
		}
		key("d", len(p.Dimensions))
		key("p", len(l.Semi.Per))
		w.text(") AS m")
		w.number(k)
	})
	w.indent--
	w.line()
	w.text("FROM (")
	w.indent++
	w.line()
	w.rows(l, kept)
	w.indent--
	w.line()
	w.text(") AS r")
}

// rows writes the rows of a semi-additive leg: dimensions, arguments, the value that
// decides (NULL where the filter leaves a row out), and the keys.
func (w *writer) rows(l *plan.Leg, kept map[int]int) {
	p := w.plan
	w.text("SELECT")
	w.indent++
	first := true
	for i := range p.Dimensions {
		w.item(&first)
		w.dimension(&p.Dimensions[i])
		w.text(" AS d")
		w.number(i)
	}
	for _, i := range l.Atoms {
		if len(p.Atoms[i].Args) > 0 {
			w.item(&first)
			w.argument(&p.Atoms[i])
			w.text(" AS x")
			w.number(i)
		}
	}
	w.eachCondition(l, kept, func(i, k int) {
		w.item(&first)
		if f := p.Atoms[i].Filter; f != nil {
			w.text("CASE WHEN ")
			w.predicate(f, true)
			w.text(" THEN ")
			w.value(l.Semi.Over, true)
			w.text(" END")
		} else {
			w.value(l.Semi.Over, true)
		}
		w.text(" AS o")
		w.number(k)
	})
	for i, e := range l.Semi.Per {
		w.item(&first)
		w.value(e, true)
		w.text(" AS p")
		w.number(i)
	}
	w.indent--
	w.from(l)
	w.conditions(l.Where)
}

// eachCondition calls f once for each number of kept, with an aggregate that has it.
func (w *writer) eachCondition(l *plan.Leg, kept map[int]int, f func(i, k int)) {
	next := 0
	for _, i := range l.Atoms {
		if kept[i] == next {
			f(i, next)
			next++
		}
	}
}
