package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// This file has what only DuckDB needs: rounding, sums of doubles, and integers that are too
// narrow to compute with.

// roundDuckDB rounds the decimal digits of a number, because ROUND of a double rounds the
// binary number: 1.005 to 1.0. What a decimal cannot hold has no such digits. A decimal stays
// one.
func (w *writer) roundDuckDB(e *expr.Expr, places int) {
	w.text("COALESCE(ROUND(TRY_CAST(CAST(")
	w.value(e, true)
	w.text(" AS VARCHAR) AS DECIMAL(38, 18)), ", strconv.Itoa(places), "), ROUND(")
	w.value(e, true)
	w.text(", ", strconv.Itoa(places), "))")
}

// widths are the types in which integers are computed that have no sign or few bits. In
// DuckDB, 1 has the type of the column that it is added to.
var widths = map[string]string{
	"TINYINT": "BIGINT", "SMALLINT": "BIGINT", "UTINYINT": "BIGINT", "USMALLINT": "BIGINT", "UINTEGER": "BIGINT", "UBIGINT": "HUGEINT", "UHUGEINT": "HUGEINT",
}

// widened writes an operand of + - *.
func (w *writer) widened(e *expr.Expr) {
	column := e
	if e.Op == expr.OpAtom {
		if a := &w.plan.Atoms[e.Index]; len(a.Args) > 0 && (a.Func == "min" || a.Func == "max") {
			column = a.Args[0]
		}
	}
	as := widths[strings.ToUpper(w.native(column))]
	if as == "" {
		w.value(e, false)
		return
	}
	w.text("CAST(")
	w.value(e, true)
	w.text(" AS ", as, ")")
}

// sum returns the name of the aggregate that adds e. DuckDB adds in the order in which its
// threads come to rows, so that the last digits of a plain sum of doubles vary.
func (w *writer) sum(e *expr.Expr) string {
	if w.dialect == DuckDB && w.double(e) {
		return "FSUM"
	}
	return "SUM"
}

// double reports whether e is known to be a double. It looks at an expression once, however
// often it stands in others.
func (w *writer) double(e *expr.Expr) bool {
	is, known := w.doubles[e]
	if !known {
		is = w.isDouble(e)
		if w.doubles == nil {
			w.doubles = map[*expr.Expr]bool{}
		}
		w.doubles[e] = is
	}
	return is
}

func (w *writer) isDouble(e *expr.Expr) bool {
	switch e.Op { //nolint:exhaustive // nobody knows the type of others
	case expr.OpField, expr.OpPresent:
		switch strings.ToUpper(w.native(e)) {
		case "DOUBLE", "FLOAT", "REAL":
			return true
		}
		return false
	case expr.OpCast:
		return e.Type == expr.Number
	case expr.OpDiv:
		return true
	case expr.OpNeg, expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpMod:
		return slices.ContainsFunc(e.Args, w.double)
	case expr.OpCase:
		var results [8]*expr.Expr
		return slices.ContainsFunc(caseResults(e, results[:0]), w.double)
	case expr.OpCall:
		return e.Func == "coalesce" && slices.ContainsFunc(e.Args, w.double)
	default:
		return false
	}
}
