package emit

import (
	"slices"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// present writes a computed column of a node. If the node's row may be missing, and the
// expression would then have a value, a condition on the join's key makes it NULL.
func (w *writer) present(e *expr.Expr, top bool) {
	if !w.mayMiss(e) {
		w.value(e.Args[0], top)
		return
	}
	key := w.partner[e.Field.Node]
	w.text("CASE WHEN ")
	w.field(key, false)
	w.text(" IS NOT NULL THEN ")
	w.value(e.Args[0], true)
	w.text(" END")
}

// mayMiss reports whether a computed column needs the condition. The base of a leg has
// a row always.
func (w *writer) mayMiss(e *expr.Expr) bool {
	node := e.Field.Node
	return node >= 0 && node < len(w.partner) && w.partner[node].Node == node && !strict(e.Args[0], node)
}

// strictCalls are the functions that are NULL if their first argument is.
var strictCalls = []string{"abs", "ceil", "floor", "length", "lower", "nullif", "round", "safe_divide", "substring", "trim", "upper"}

// strict reports whether e is certainly NULL when all columns of the node are.
func strict(e *expr.Expr, node int) bool {
	any := func(args []*expr.Expr) bool {
		return slices.ContainsFunc(args, func(a *expr.Expr) bool { return strict(a, node) })
	}
	all := func(args []*expr.Expr) bool {
		return !slices.ContainsFunc(args, func(a *expr.Expr) bool { return !strict(a, node) })
	}
	switch e.Op {
	case expr.OpNull:
		return true
	case expr.OpField:
		return e.Field.Node == node
	case expr.OpNeg, expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpDiv, expr.OpMod, expr.OpConcat, expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe,
		expr.OpNot, expr.OpLike, expr.OpCast, expr.OpPresent:
		return any(e.Args)
	case expr.OpIn, expr.OpBetween:
		return strict(e.Args[0], node)
	case expr.OpAnd, expr.OpOr:
		return all(e.Args)
	case expr.OpCase:
		var results [8]*expr.Expr
		return all(caseResults(e, results[:0]))
	case expr.OpCall:
		switch {
		case slices.Contains(strictCalls, e.Func):
			return strict(e.Args[0], node)
		case e.Func == "date_trunc" || e.Func == "extract":
			return strict(e.Args[1], node)
		default:
			return e.Func == "coalesce" && all(e.Args)
		}
	case expr.OpInvalid, expr.OpBool, expr.OpNumber, expr.OpString, expr.OpDate, expr.OpTimestamp, expr.OpInterval, expr.OpName, expr.OpMeasure, expr.OpAtom,
		expr.OpIsNull, expr.OpAggregate:
	}
	return false
}
