package emit

import (
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/execution/clickhousedb/typename"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// maxDepth bounds the recursion. Expressions and computed columns are bounded when they
// are read, so only a circular column of a broken model gets so deep.
const maxDepth = 5000

// value writes e as a value. Unless it is on top, a compound expression is written in
// parentheses.
func (w *writer) value(e *expr.Expr, top bool) {
	if !w.enter() {
		return
	}
	defer w.leave()
	switch e.Op {
	case expr.OpNull:
		w.text("NULL")
	case expr.OpBool:
		w.boolean(e.Text)
	case expr.OpNumber:
		w.digits(e.Text)
	case expr.OpString:
		w.str(e.Text)
	case expr.OpDate, expr.OpTimestamp:
		m, ok := momentOf(e)
		if !ok {
			w.broken("%q is no time", e.Text)
			return
		}
		if e.Op == expr.OpTimestamp && m.date {
			m = moment{m.text + " 00:00:00", false}
		}
		w.time(m)
	case expr.OpField:
		w.field(e.Field, top)
	case expr.OpAtom:
		w.atomValue(e)
	case expr.OpNeg:
		w.open(top)
		w.text("-")
		w.value(e.Args[0], false)
		w.close(top)
	case expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpDiv, expr.OpMod:
		w.arithmetic(e, top)
	case expr.OpConcat:
		w.concat(e, top)
	case expr.OpCase:
		w.caseOf(e)
	case expr.OpPresent:
		w.present(e, top)
	case expr.OpCast:
		w.cast(e.Args[0], e.Type, top)
	case expr.OpCall:
		w.call(e, top)
	case expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe, expr.OpAnd, expr.OpOr, expr.OpNot, expr.OpIsNull, expr.OpIn, expr.OpBetween, expr.OpLike:
		if w.dialect != SQLServer {
			w.predicate(e, top)
			return
		}
		w.text("CASE WHEN ")
		w.predicate(e, true)
		w.text(" THEN CAST(1 AS bit) WHEN NOT ")
		w.predicate(e, false)
		w.text(" THEN CAST(0 AS bit) END")
	case expr.OpInvalid, expr.OpInterval, expr.OpName, expr.OpMeasure, expr.OpAggregate:
		w.broken("a node of kind %d stands where a value is expected", e.Op)
	default:
		w.broken("unknown kind %d of node", e.Op)
	}
}

// predicate writes e as a condition. Only SQL Server tells conditions from values.
func (w *writer) predicate(e *expr.Expr, top bool) {
	if !w.enter() {
		return
	}
	defer w.leave()
	switch op := e.Op; {
	case op == expr.OpAnd:
		w.joined(" AND ", e.Args, top)
	case op == expr.OpOr:
		w.joined(" OR ", e.Args, top)
	case op == expr.OpNot:
		w.open(top)
		w.text("NOT ")
		w.predicate(e.Args[0], false)
		w.close(top)
	case int(op) < len(comparisons) && comparisons[op] != "":
		d := w.operands(e.Args)
		w.open(top)
		w.compared(e.Args[0], d)
		w.text(comparisons[op])
		w.compared(e.Args[1], d)
		w.close(top)
	case op == expr.OpIsNull:
		w.open(top)
		w.value(e.Args[0], false)
		w.text(" IS")
		w.not(e)
		w.text(" NULL")
		w.close(top)
	case op == expr.OpIn && w.dialect == ClickHouse && !literals(e.Args[1:]):
		w.oneOf(e, top)
	case op == expr.OpIn:
		d := w.operands(e.Args)
		w.open(top)
		w.compared(e.Args[0], d)
		w.not(e)
		w.text(" IN (")
		for i, a := range e.Args[1:] {
			if i > 0 {
				w.text(", ")
			}
			w.compared(a, d)
		}
		w.text(")")
		w.close(top)
	case op == expr.OpBetween:
		d := w.operands(e.Args)
		w.open(top)
		w.compared(e.Args[0], d)
		w.not(e)
		w.text(" BETWEEN ")
		w.compared(e.Args[1], d)
		w.text(" AND ")
		w.compared(e.Args[2], d)
		w.close(top)
	case op == expr.OpLike:
		w.like(e, top)
	case op == expr.OpPresent && !w.mayMiss(e):
		w.predicate(e.Args[0], top)
	default:
		w.truth(e, top)
	}
}

// comparisons are the operators of comparisons; the others are empty.
var comparisons = [expr.OpAggregate + 1]string{expr.OpEq: " = ", expr.OpNe: " <> ", expr.OpLt: " < ", expr.OpLe: " <= ", expr.OpGt: " > ", expr.OpGe: " >= "}

// truth writes a value as a condition.
func (w *writer) truth(e *expr.Expr, top bool) {
	switch {
	case w.typeOf(e) == expr.Number: // a minimum or maximum of booleans
		w.open(top)
		w.value(e, false)
		w.text(" <> 0")
		w.close(top)
	case w.dialect != SQLServer:
		w.value(e, top)
	case e.Op == expr.OpBool && e.Text == "true":
		w.open(top)
		w.text("1 = 1")
		w.close(top)
	case e.Op == expr.OpBool:
		w.open(top)
		w.text("1 = 0")
		w.close(top)
	default:
		w.open(top)
		w.value(e, false)
		w.text(" = 1")
		w.close(top)
	}
}

func (w *writer) enter() bool {
	if w.depth++; w.depth > maxDepth {
		w.broken("an expression is nested more than %d deep", maxDepth)
	}
	if !w.ok() {
		w.depth--
		return false
	}
	return true
}

func (w *writer) leave() { w.depth-- }

func (w *writer) open(top bool) {
	if !top {
		w.text("(")
	}
}

func (w *writer) close(top bool) {
	if !top {
		w.text(")")
	}
}

func (w *writer) not(e *expr.Expr) {
	if e.Negated {
		w.text(" NOT")
	}
}

func (w *writer) joined(by string, args []*expr.Expr, top bool) {
	if len(args) == 1 {
		w.predicate(args[0], top)
		return
	}
	w.open(top)
	for i, a := range args {
		if i > 0 {
			w.text(by)
		}
		w.predicate(a, false)
	}
	w.close(top)
}

func (w *writer) boolean(text string) {
	yes := text == "true"
	switch {
	case w.dialect == SQLServer && yes:
		w.text("CAST(1 AS bit)")
	case w.dialect == SQLServer:
		w.text("CAST(0 AS bit)")
	case yes:
		w.text("TRUE")
	default:
		w.text("FALSE")
	}
}

// field writes a column of the leg being written, or the expression of a computed one.
func (w *writer) field(f expr.Field, top bool) {
	m := w.plan.Model
	node := f.Node
	if node == expr.Self {
		node = w.self
	}
	if node < 0 || node >= len(m.Nodes) {
		w.broken("node %d does not exist", node)
		return
	}
	source := m.Sources[m.Nodes[node].Source]
	if f.Column < 0 || f.Column >= len(source.Columns) {
		w.broken("the source %s has no column %d", source.Name, f.Column)
		return
	}
	c := source.Columns[f.Column]
	if c.Expr != nil {
		before := w.self
		w.self = node
		w.value(c.Expr, top)
		w.self = before
		return
	}
	if w.aliases[node] == 0 {
		w.broken("the column %s.%s is not in the leg", m.Nodes[node].Name, c.Name)
		return
	}
	if w.read != nil {
		w.read[expr.Field{Node: node, Column: f.Column}] = true
	}
	w.text("t")
	w.number(w.aliases[node] - 1)
	w.text(".")
	w.databaseName(c.Name)
}

// atomValue writes an aggregate in the outer query.
func (w *writer) atomValue(e *expr.Expr) {
	if !w.outer || e.Index < 0 || e.Index >= len(w.plan.Atoms) {
		w.broken("the aggregate %d stands where it cannot", e.Index)
		return
	}
	w.column("q", "a", e.Index)
}

// arithmetic writes two operands with + - * / or %.
func (w *writer) arithmetic(e *expr.Expr, top bool) {
	a, b := e.Args[0], e.Args[1]
	switch op := e.Op; {
	case op == expr.OpAdd && b.Op == expr.OpInterval:
		w.shifted(a, b, false, top)
	case op == expr.OpAdd && a.Op == expr.OpInterval:
		w.shifted(b, a, false, top)
	case op == expr.OpAdd:
		w.infix(a, " + ", b, top)
	case op == expr.OpSub && b.Op == expr.OpInterval:
		w.shifted(a, b, true, top)
	case op == expr.OpSub:
		w.infix(a, " - ", b, top)
	case op == expr.OpMul:
		w.infix(a, " * ", b, top)
	case op == expr.OpDiv && w.outer:
		w.quotient(a, b, top)
	case op == expr.OpDiv:
		w.infix(a, " / ", b, top)
	case w.outer:
		w.remainder(a, b, top)
	case w.dialect == BigQuery: // which has no %
		w.text("MOD(")
		w.value(a, true)
		w.text(", ")
		w.value(b, true)
		w.text(")")
	default:
		w.infix(a, " % ", b, top)
	}
}

func (w *writer) infix(a *expr.Expr, op string, b *expr.Expr, top bool) {
	if w.typeOf(a) == expr.Time || w.typeOf(b) == expr.Time {
		w.fail(expr.UnsafeExpression, "add or subtract an interval, as interval '1 day'", "arithmetic between a time and something else than an interval means different things on different engines")
		return
	}
	term := func(e *expr.Expr) { w.value(e, false) }
	switch {
	case op == " / " || op == " % ":
	case w.dialect == ClickHouse:
		term = w.term
	case w.dialect == DuckDB:
		term = w.widened
	}
	w.open(top)
	term(a)
	w.text(op)
	term(b)
	w.close(top)
}

var doubles = map[Dialect]string{Postgres: "double precision", MySQL: "DOUBLE", SQLite: "REAL", SQLServer: "float", ClickHouse: "Nullable(Float64)", DuckDB: "DOUBLE", BigQuery: "FLOAT64"}

// quotient writes the exact division of R6.
func (w *writer) quotient(a, b *expr.Expr, top bool) {
	w.open(top)
	if a.Op == expr.OpCast && a.Type == expr.Number {
		w.value(a, false)
	} else {
		w.text("CAST(")
		w.value(a, true)
		w.text(" AS ", doubles[w.dialect], ")")
	}
	w.text(" / ")
	w.divisor(b)
	w.close(top)
}

// divisor writes b, or NULL if it is 0.
func (w *writer) divisor(b *expr.Expr) {
	if b.Op == expr.OpCall && b.Func == "nullif" && len(b.Args) == 2 && b.Args[1].Op == expr.OpNumber && b.Args[1].Text == "0" {
		w.value(b, false)
		return
	}
	if b.Op == expr.OpNumber && strings.ContainsAny(mantissa(b.Text), "123456789") {
		w.value(b, false)
		return
	}
	w.text("NULLIF(")
	w.value(b, true)
	w.text(", 0)")
}

// mantissa is a number without its exponent.
func mantissa(number string) string {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		return number[:i]
	}
	return number
}

// remainder writes a % b over aggregates. The operands may have fractions, which %
// alone does not take on every engine.
func (w *writer) remainder(a, b *expr.Expr, top bool) {
	if b.Op == expr.OpCall && b.Func == "nullif" && len(b.Args) == 2 && b.Args[1].Op == expr.OpNumber && b.Args[1].Text == "0" {
		b = b.Args[0] // NULLIF is written below
	}
	exact := func(e *expr.Expr, as string) {
		w.text("CAST(")
		w.value(e, true)
		w.text(" AS ", as, ")")
	}
	if w.dialect == BigQuery {
		w.text("MOD(")
		exact(a, "BIGNUMERIC")
		w.text(", NULLIF(")
		exact(b, "BIGNUMERIC")
		w.text(", 0))")
		return
	}
	w.open(top)
	switch w.dialect { //nolint:exhaustive // BigQuery is above
	case Postgres, SQLServer, ClickHouse, DuckDB:
		as := map[Dialect]string{Postgres: "numeric", SQLServer: "decimal(38, 10)", ClickHouse: "Nullable(Decimal(38, 10))", DuckDB: "DECIMAL(38, 10)"}[w.dialect]
		exact(a, as)
		w.text(" % NULLIF(")
		exact(b, as)
		w.text(", 0)")
	case SQLite: // % of SQLite cuts both operands to integers
		w.value(a, false)
		w.text(" - ")
		w.value(b, false)
		w.text(" * CAST(1.0 * ")
		w.value(a, false)
		w.text(" / NULLIF(")
		w.value(b, true)
		w.text(", 0) AS INTEGER)")
	case MySQL:
		w.value(a, false)
		w.text(" % NULLIF(")
		w.value(b, true)
		w.text(", 0)")
	}
	w.close(top)
}

// concat writes a || b, which is NULL if one of them is.
func (w *writer) concat(e *expr.Expr, top bool) {
	switch w.dialect {
	case MySQL: // where || may be OR
		w.text("CONCAT(")
		w.asText(e.Args[0], true)
		w.text(", ")
		w.asText(e.Args[1], true)
		w.text(")")
	case SQLServer:
		w.open(top)
		w.asText(e.Args[0], false)
		w.text(" + ")
		w.asText(e.Args[1], false)
		w.close(top)
	case Postgres, SQLite, ClickHouse, DuckDB, BigQuery:
		w.open(top)
		w.asText(e.Args[0], false)
		w.text(" || ")
		w.asText(e.Args[1], false)
		w.close(top)
	}
}

// asText writes e as a text, whatever its type is.
func (w *writer) asText(e *expr.Expr, top bool) {
	switch w.typeOf(e) {
	case expr.String:
		if as, strict := strictTexts[w.dialect]; strict && !plainText(w.native(e), w.dialect) {
			w.text("CAST(")
			w.value(e, true)
			w.text(" AS ", as, ")")
			return
		}
		w.value(e, top)
	case expr.Unknown:
		if e.Op != expr.OpNull {
			w.value(e, top)
			return
		}
		w.cast(e, expr.String, top)
	case expr.Number, expr.Time, expr.Boolean:
		w.cast(e, expr.String, top)
	}
}

// strictTexts are the texts of engines whose functions of texts take no other type that the
// model calls a string, such as an enumeration.
var strictTexts = map[Dialect]string{ClickHouse: "Nullable(String)", DuckDB: "VARCHAR"}

// plainText reports whether a function of texts takes a column of a type, or an unknown one.
func plainText(native string, d Dialect) bool {
	return native == "" || strings.EqualFold(native, map[Dialect]string{ClickHouse: "String", DuckDB: "VARCHAR"}[d])
}

func (w *writer) caseOf(e *expr.Expr) {
	var results [8]*expr.Expr
	r := w.mixture(caseResults(e, results[:0]))
	w.text("CASE")
	i := 0
	for ; i+1 < len(e.Args); i += 2 {
		w.text(" WHEN ")
		w.predicate(e.Args[i], true)
		w.text(" THEN ")
		w.mixed(e.Args[i+1], r)
	}
	if i < len(e.Args) {
		w.text(" ELSE ")
		w.mixed(e.Args[i], r)
	}
	w.text(" END")
}

// caseResults returns what a CASE may give.
func caseResults(e *expr.Expr, list []*expr.Expr) []*expr.Expr {
	for i := 1; i < len(e.Args); i += 2 {
		list = append(list, e.Args[i])
	}
	if len(e.Args)%2 == 1 {
		list = append(list, e.Args[len(e.Args)-1])
	}
	return list
}

// domain is the type in which values are compared or mixed: a text beside a time is read
// as a time, and a boolean beside a number counts as 0 or 1.
func (w *writer) domain(args ...*expr.Expr) expr.Type {
	d := expr.Unknown
	for _, a := range args {
		switch t := w.typeOf(a); {
		case t == expr.Time:
			return expr.Time
		case d == expr.Unknown || t == expr.Number && d == expr.Boolean:
			d = t
		}
	}
	return d
}

// in writes e as a value of the domain.
func (w *writer) in(e *expr.Expr, domain expr.Type, top bool) {
	switch {
	case domain == expr.Time && e.Op == expr.OpString:
		m, ok := momentOf(e)
		if !ok {
			w.fail(expr.UnsafeExpression, "write it as '2024-01-31' or '2024-01-31 10:00:00'", "%q is compared with a time and is neither a date nor a timestamp", e.Text)
			return
		}
		w.time(m)
	case domain == expr.Number && w.typeOf(e) == expr.Boolean:
		w.bit(e, top)
	default:
		w.value(e, top)
	}
}

// bit writes a boolean as 0 or 1.
func (w *writer) bit(e *expr.Expr, top bool) {
	switch {
	case e.Op == expr.OpBool && e.Text == "true":
		w.text("1")
	case e.Op == expr.OpBool:
		w.text("0")
	case w.dialect == MySQL || w.dialect == SQLite:
		w.value(e, top)
	default:
		w.text("CASE WHEN ")
		w.predicate(e, true)
		w.text(" THEN 1 WHEN NOT ")
		w.predicate(e, false)
		w.text(" THEN 0 END")
	}
}

// operands says how the operands of a comparison are written.
type operands struct {
	domain     expr.Type
	form, zone string // of times on ClickHouse and BigQuery
}

func (w *writer) operands(args []*expr.Expr) operands {
	o := operands{domain: w.domain(args...)}
	if o.domain == expr.Time && w.dialect == ClickHouse {
		o.form, o.zone = w.commonForm(args)
	}
	if o.domain == expr.Time && w.dialect == BigQuery {
		o.form = w.bigCommon(args)
	}
	return o
}

// compared writes an operand of a comparison.
func (w *writer) compared(e *expr.Expr, o operands) {
	switch {
	case o.domain == expr.Time && w.dialect == SQLite && e.Op != expr.OpNull:
		w.instant(e)
	case o.domain == expr.Time && w.dialect == ClickHouse:
		w.inForm(e, o)
	case o.domain == expr.Time && w.dialect == BigQuery:
		w.bigIn(e, o.form, false)
	default:
		w.in(e, o.domain, false)
	}
}

// typeOf is the type of a bound expression, as far as the emission depends on it.
func (w *writer) typeOf(e *expr.Expr) expr.Type {
	switch e.Op {
	case expr.OpBool, expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe, expr.OpAnd, expr.OpOr, expr.OpNot, expr.OpIsNull, expr.OpIn, expr.OpBetween, expr.OpLike:
		return expr.Boolean
	case expr.OpNumber, expr.OpNeg, expr.OpMul, expr.OpDiv, expr.OpMod:
		return expr.Number
	case expr.OpAdd, expr.OpSub:
		if e.Args[0].Op == expr.OpInterval || e.Args[1].Op == expr.OpInterval {
			return expr.Time
		}
		return expr.Number
	case expr.OpString, expr.OpConcat:
		return expr.String
	case expr.OpDate, expr.OpTimestamp:
		return expr.Time
	case expr.OpField:
		return w.fieldType(e.Field)
	case expr.OpAtom:
		return w.atomType(e.Index)
	case expr.OpCase:
		var results [8]*expr.Expr
		return w.domain(caseResults(e, results[:0])...)
	case expr.OpPresent:
		return w.typeOf(e.Args[0])
	case expr.OpCast:
		return e.Type
	case expr.OpCall:
		return w.callType(e)
	case expr.OpInvalid, expr.OpNull, expr.OpInterval, expr.OpName, expr.OpMeasure, expr.OpAggregate:
	}
	return expr.Unknown
}

func (w *writer) fieldType(f expr.Field) expr.Type {
	if c, _ := w.columnOf(f); c != nil {
		return c.Type
	}
	return expr.Unknown
}

// columnOf returns a column and its node, or nil.
func (w *writer) columnOf(f expr.Field) (*model.Column, int) {
	node := f.Node
	if node == expr.Self {
		node = w.self
	}
	m := w.plan.Model
	if node < 0 || node >= len(m.Nodes) {
		return nil, node
	}
	columns := m.Sources[m.Nodes[node].Source].Columns
	if f.Column < 0 || f.Column >= len(columns) {
		return nil, node
	}
	return columns[f.Column], node
}

// native is the type of a column at the database, without what wraps it; "" for other
// expressions and for columns of which nobody knows it.
func (w *writer) native(e *expr.Expr) string {
	if e.Op == expr.OpPresent {
		e = e.Args[0]
	}
	if e.Op != expr.OpField {
		return ""
	}
	c, node := w.columnOf(e.Field)
	switch {
	case c == nil:
		return ""
	case c.Expr != nil:
		before := w.self
		w.self = node
		defer func() { w.self = before }()
		return w.native(c.Expr)
	default:
		inner, _ := typename.Unwrap(c.NativeType)
		return inner
	}
}

// atomType is the type of an aggregate. Booleans have become numbers in it.
func (w *writer) atomType(i int) expr.Type {
	if i < 0 || i >= len(w.plan.Atoms) {
		return expr.Unknown
	}
	a := &w.plan.Atoms[i]
	if a.Func != "min" && a.Func != "max" || len(a.Args) == 0 {
		return expr.Number
	}
	t := a.Type
	if t == expr.Unknown {
		t = w.typeOf(a.Args[0])
	}
	if t == expr.Boolean {
		return expr.Number
	}
	return t
}

// integer reads the integer of a literal, with or without a sign.
func integer(e *expr.Expr) (int, bool) {
	sign := 1
	if e.Op == expr.OpNeg && len(e.Args) == 1 {
		sign, e = -1, e.Args[0]
	}
	if e.Op != expr.OpNumber {
		return 0, false
	}
	n, err := strconv.Atoi(e.Text)
	return sign * n, err == nil
}
