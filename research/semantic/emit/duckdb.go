package emit

import (
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// This file has what only DuckDB needs: rounding, and integers that are too narrow to compute
// with.

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
