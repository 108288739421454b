package emit

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// This file has what only ClickHouse needs: columns that become NULL where a join finds no
// row, aggregates of nothing, and values of one type where the engine would mix types
// without an error and compare them wrongly.

// nullable writes a node that is joined. The columns that the leg reads become nullable,
// because a row without a partner has their defaults otherwise, such as 0 (join_use_nulls).
func (w *writer) nullable(node int) {
	s := w.plan.Model.Sources[w.plan.Model.Nodes[node].Source]
	w.text("(SELECT ")
	first := true
	for i, c := range s.Columns {
		if !w.read[expr.Field{Node: node, Column: i}] {
			continue
		}
		if !first {
			w.text(", ")
		}
		first = false
		if c.Opaque() { // it cannot be nullable, and is only counted
			w.text("CASE WHEN s.")
			w.databaseName(c.Name)
			w.text(" IS NOT NULL THEN 1 END AS ")
		} else {
			w.text("toNullable(s.")
			w.databaseName(c.Name)
			w.text(") AS ")
		}
		w.databaseName(c.Name)
	}
	if first { // written to find the columns
		w.text("1")
	}
	w.text(" FROM ")
	w.rowsOf(s)
	w.text(" AS s) AS t")
	w.number(w.aliases[node] - 1)
}

// orNull makes an aggregate of no rows NULL, which is 0 or another default otherwise.
func (w *writer) orNull() {
	if w.dialect == ClickHouse {
		w.text("OrNull")
	}
}

// longInteger reports whether e is a column that the manifest knows as an integer of 64
// bits.
func (w *writer) longInteger(e *expr.Expr) bool {
	t := w.native(e)
	return t == "Int64" || t == "UInt64"
}

// The forms of times. A form that several types share converts them without loss.
const (
	dateForm    = "date"    // Date and Date32
	secondsForm = "seconds" // DateTime
	preciseForm = "precise" // DateTime64
	castForm    = "cast"    // everything cast to DateTime64
)

// zoneOf finds the zone in the name of a type.
var zoneOf = regexp.MustCompile(`^DateTime(?:64\(\d+, )?\(?'([^']+)'\)$`)

// form returns the form of a time and its zone, if it has one of its own.
func (w *writer) form(e *expr.Expr) (form, zone string) {
	switch e.Op { //nolint:exhaustive // other expressions are cast
	case expr.OpField, expr.OpPresent:
		native := w.native(e)
		switch {
		case native == "Date" || native == "Date32":
			return dateForm, ""
		case strings.HasPrefix(native, "DateTime64"):
			form = preciseForm
		case strings.HasPrefix(native, "DateTime"):
			form = secondsForm
		default:
			return castForm, ""
		}
		if m := zoneOf.FindStringSubmatch(native); m != nil {
			zone = m[1]
		}
		return form, zone
	case expr.OpAtom:
		if a := &w.plan.Atoms[e.Index]; len(a.Args) > 0 && (a.Func == "min" || a.Func == "max") {
			return w.form(a.Args[0])
		}
	case expr.OpCall:
		switch e.Func {
		case "current_date":
			return dateForm, ""
		case "date_trunc":
			if grains[e.Args[0].Text] == plan.Hour {
				return preciseForm, ""
			}
			return dateForm, ""
		case "now":
			return secondsForm, ""
		}
	default:
	}
	return castForm, ""
}

// commonForm returns the form in which all times of a comparison can be written, and the
// zone of literals.
func (w *writer) commonForm(args []*expr.Expr) (form, zone string) {
	for _, a := range args {
		if _, literal := momentOf(a); literal || a.Op == expr.OpNull || a.Op == expr.OpString {
			continue
		}
		f, z := w.form(a)
		if zone == "" {
			zone = z
		}
		if form == "" {
			form = f
		} else if form != f {
			form = castForm
		}
	}
	for _, a := range args {
		m, literal := momentOf(a)
		if literal && (form == dateForm && !m.midnight() || form == secondsForm && !m.seconds()) {
			form = castForm
		}
	}
	if form == "" {
		form = castForm
	}
	return form, zone
}

func (m moment) midnight() bool { return m.date || strings.HasSuffix(m.text, " 00:00:00") }

// seconds reports whether DateTime has the moment, in every zone.
func (m moment) seconds() bool {
	return m.text > "1970-01-02" && m.text < "2106-02-06" && len(m.text) <= len("2006-01-02 15:04:05")
}

// inForm writes a time of a comparison. ClickHouse makes IN of several comparisons of one
// value, and takes constants of another type than that of the value for other times.
func (w *writer) inForm(e *expr.Expr, o operands) {
	m, literal := momentOf(e)
	switch {
	case literal:
		w.instantOf(m, o.form, o.zone)
	case o.form == castForm && e.Op != expr.OpString && e.Op != expr.OpNull:
		w.text("CAST(")
		w.value(e, true)
		w.text(" AS Nullable(DateTime64(6")
		if o.zone != "" {
			w.text(", ")
			w.str(o.zone)
		}
		w.text(")))")
	default:
		w.in(e, expr.Time, false)
	}
}

// instantOf writes a literal in a form; "" is the one of the literal.
func (w *writer) instantOf(m moment, form, zone string) {
	if year := m.text[:4]; year < "1900" || year > "2299" {
		w.fail(expr.UnsupportedInDialect, "write a time from 1900 to 2299", "ClickHouse has no date %s", m.text[:10])
		return
	}
	if form == "" && m.date {
		form = dateForm
	}
	text, function, scale := m.text, "toDateTime64(", ", 6"
	switch {
	case form == dateForm:
		w.text("toDate32('", text[:10], "')")
		return
	case form == secondsForm:
		function, scale = "toDateTime(", ""
	case form == "" && !strings.Contains(text, "."):
		scale = ", 0"
	}
	if m.date {
		text += " 00:00:00"
	}
	w.text(function, "'", text, "'", scale)
	if zone != "" {
		w.text(", ")
		w.str(zone)
	}
	w.text(")")
}

// roomy writes a time to which an interval can be added: Date and DateTime stop at their
// borders without an error.
func (w *writer) roomy(e *expr.Expr, unit string) {
	form, _ := w.form(e)
	as := ""
	switch {
	case e.Op == expr.OpDate || e.Op == expr.OpTimestamp || e.Op == expr.OpString:
	case form == dateForm && (unit == "hour" || unit == "minute" || unit == "second"), form == secondsForm:
		as = " AS Nullable(DateTime64(0)))"
	case form == dateForm:
		as = " AS Nullable(Date32))"
	case form == castForm:
		as = " AS Nullable(DateTime64(6)))"
	}
	if as == "" {
		w.in(e, expr.Time, false)
		return
	}
	w.text("CAST(")
	w.value(e, true)
	w.text(as)
}

// truncatedClickHouse counts back from the date, because functions such as toStartOfMonth
// return a Date, which begins in 1970.
func (w *writer) truncatedClickHouse(e *expr.Expr, g plan.Grain) {
	back := func(part string) {
		w.around("addDays(toDate32(", e, "), 1 - ")
		w.around(part+"(", e, "))")
	}
	switch g {
	case plan.Hour:
		w.around("dateTrunc('hour', CAST(", e, " AS Nullable(DateTime64(6))))")
	case plan.Day:
		w.around("toDate32(", e, ")")
	case plan.Week:
		back("toDayOfWeek")
	case plan.Month:
		back("toDayOfMonth")
	case plan.Quarter:
		w.text("addMonths(")
		back("toDayOfMonth")
		w.around(", -((toMonth(", e, ") - 1) % 3))")
	case plan.Year:
		back("toDayOfYear")
	case plan.NoGrain:
		w.broken("no granularity")
	}
}

// literals reports whether all values of a list are texts or numbers. IN of ClickHouse
// takes no other constants of another type than that of the value, and ignores NULL.
func literals(list []*expr.Expr) bool {
	return !slices.ContainsFunc(list, func(e *expr.Expr) bool {
		if e.Op == expr.OpNeg {
			e = e.Args[0]
		}
		return e.Op != expr.OpString && e.Op != expr.OpNumber
	})
}

// oneOf writes IN as comparisons.
func (w *writer) oneOf(e *expr.Expr, top bool) {
	o := w.operands(e.Args)
	op, by := " = ", " OR "
	if e.Negated {
		op, by = " <> ", " AND "
	}
	w.open(top)
	for i, a := range e.Args[1:] {
		if i > 0 {
			w.text(by)
		}
		w.text("(")
		w.compared(e.Args[0], o)
		w.text(op)
		w.compared(a, o)
		w.text(")")
	}
	w.close(top)
}

// mixture says how values of which an expression gives one are written.
type mixture struct {
	domain expr.Type
	cast   string // on ClickHouse, the type to which all are cast; "" if they fit
	form   string // of times on BigQuery
}

func (w *writer) mixture(list []*expr.Expr) mixture {
	m := mixture{domain: w.domain(list...)}
	if m.domain == expr.Number && w.dialect == ClickHouse {
		m.cast = w.commonNumber(list)
	}
	if m.domain == expr.Time && w.dialect == BigQuery {
		m.form = w.bigCommon(list)
	}
	return m
}

// mixed writes one of several values.
func (w *writer) mixed(e *expr.Expr, m mixture) {
	if m.form != "" {
		w.bigIn(e, m.form, true)
		return
	}
	if m.cast == "" || e.Op == expr.OpNull {
		if w.dialect == ClickHouse && m.domain == expr.Number && e.Op == expr.OpNumber {
			w.term(e)
			return
		}
		w.in(e, m.domain, true)
		return
	}
	w.text("CAST(")
	w.in(e, m.domain, true)
	w.text(" AS ", m.cast, ")")
}

// The kinds of numbers. ClickHouse has no common type for some of them, and makes a
// Variant of them, with which nothing can be computed.
const (
	small     = 1 << iota // an integer that fits every type
	integer64             // an integer of at most 64 bits with a sign
	wide                  // any other integer
	exact                 // a decimal
	double
	unsure // nobody knows
)

// commonNumber returns the type to which numbers must be cast to be mixed; "" if they fit.
func (w *writer) commonNumber(list []*expr.Expr) string {
	kinds, large := 0, 0
	for _, e := range list {
		if e.Op == expr.OpNull {
			continue
		}
		if k := w.numberKind(e); k != small {
			kinds |= k
			large++
		}
	}
	switch {
	case large <= 1, kinds == integer64, kinds == exact, kinds == integer64|exact, kinds == double:
		return ""
	case kinds&^(integer64|wide) == 0:
		return "Nullable(Int256)"
	default:
		return doubles[ClickHouse]
	}
}

// numberKind is the kind of a number.
func (w *writer) numberKind(e *expr.Expr) int {
	switch e.Op { //nolint:exhaustive // nobody knows the kind of others
	case expr.OpNumber:
		switch {
		case !strings.ContainsAny(e.Text, ".eE") && len(e.Text) <= 4:
			return small
		case !strings.ContainsAny(e.Text, ".eE") && len(e.Text) <= 18:
			return integer64
		case decimalLiteral(e.Text):
			return exact
		}
		return double
	case expr.OpNeg:
		if k := w.numberKind(e.Args[0]); k != small {
			return k
		}
		return integer64
	case expr.OpBool:
		return small
	case expr.OpPresent:
		return w.numberKind(e.Args[0])
	case expr.OpField:
		return w.columnKind(e)
	case expr.OpAtom:
		return w.atomKind(&w.plan.Atoms[e.Index])
	case expr.OpDiv:
		if w.outer {
			return double
		}
	case expr.OpCast:
		return double
	case expr.OpCall:
		switch e.Func {
		case "extract":
			return integer64
		case "length":
			return wide
		case "round", "safe_divide":
			return double
		}
	default:
	}
	return unsure
}

func (w *writer) columnKind(e *expr.Expr) int {
	native := w.native(e)
	switch {
	case w.typeOf(e) == expr.Boolean, native == "UInt8", native == "Int8":
		return small
	case native == "Int16", native == "Int32", native == "Int64", native == "UInt16", native == "UInt32":
		return integer64
	case strings.HasPrefix(native, "Int"), strings.HasPrefix(native, "UInt"):
		return wide
	case strings.HasPrefix(native, "Decimal"):
		return exact
	case strings.HasPrefix(native, "Float"), native == "BFloat16":
		return double
	default:
		return unsure
	}
}

func (w *writer) atomKind(a *plan.Atom) int {
	switch a.Func {
	case "count":
		return integer64
	case "avg", "median", "percentile":
		return double
	}
	if len(a.Args) == 0 {
		return unsure
	}
	k := w.numberKind(a.Args[0])
	switch {
	case a.Func != "sum":
		return k
	case w.longInteger(a.Args[0]):
		return wide
	case k == small:
		return unsure // with or without a sign
	default:
		return k
	}
}

// decimalLiteral reports whether a number with a fraction can be written as a Decimal.
func decimalLiteral(text string) bool {
	return strings.Contains(text, ".") && !strings.ContainsAny(text, "eE") && len(text) <= 38
}

// term writes an operand of + - *. A number with a fraction is a decimal there, so that
// arithmetic with decimals stays exact.
func (w *writer) term(e *expr.Expr) {
	if e.Op != expr.OpNumber || !decimalLiteral(e.Text) || !isNumber(e.Text) {
		w.value(e, false)
		return
	}
	_, fraction, _ := strings.Cut(e.Text, ".")
	w.text("CAST('", e.Text, "' AS Decimal(38, ", strconv.Itoa(len(fraction)), "))")
}

// roundClickHouse rounds the decimal digits of a number, because ROUND of a double takes
// halves to even. What a decimal cannot hold has no fraction, and stays.
func (w *writer) roundClickHouse(e *expr.Expr, places int) {
	w.text("COALESCE(CAST(ROUND(toDecimal256(CAST(")
	w.value(e, true)
	w.text(" AS Nullable(String)), 20), ", strconv.Itoa(places), ") AS ", doubles[ClickHouse], "), CAST(")
	w.value(e, true)
	w.text(" AS ", doubles[ClickHouse], "))")
}
