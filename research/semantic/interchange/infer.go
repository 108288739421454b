package interchange

import (
	"slices"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// infer records what types the names of a tree must have, if the tree has a type.
func infer(e *expr.Expr, want expr.Type, record func(expr.Name, expr.Type)) {
	if e == nil {
		return
	}
	all := func(t expr.Type, args ...*expr.Expr) {
		for _, a := range args {
			infer(a, t, record)
		}
	}
	switch e.Op {
	case expr.OpName:
		if want != expr.Unknown {
			record(e.Name, want)
		}
	case expr.OpAnd, expr.OpOr, expr.OpNot:
		all(expr.Boolean, e.Args...)
	case expr.OpAdd, expr.OpSub:
		t := expr.Number
		if slices.ContainsFunc(e.Args, func(a *expr.Expr) bool { return a.Op == expr.OpInterval }) {
			t = expr.Time
		}
		all(t, e.Args...)
	case expr.OpMul, expr.OpDiv, expr.OpMod, expr.OpNeg:
		all(expr.Number, e.Args...)
	case expr.OpConcat, expr.OpLike:
		all(expr.String, e.Args...)
	case expr.OpEq, expr.OpNe, expr.OpLt, expr.OpLe, expr.OpGt, expr.OpGe, expr.OpIn, expr.OpBetween:
		t := expr.Unknown
		for _, a := range e.Args {
			if found := evident(a); t == expr.Unknown {
				t = found
			}
		}
		all(t, e.Args...)
	case expr.OpCase:
		for i := range e.Args {
			t := want
			if i%2 == 0 && i+1 < len(e.Args) {
				t = expr.Boolean
			}
			all(t, e.Args[i])
		}
	case expr.OpCall, expr.OpAggregate:
		infer(e.Filter, expr.Boolean, record)
		i := slices.IndexFunc(functions, func(f expr.Function) bool { return f.Name == e.Func })
		for n, a := range e.Args {
			t := expr.Unknown
			if i >= 0 && len(functions[i].Args) > 0 {
				t = functions[i].Args[min(n, len(functions[i].Args)-1)]
			}
			if t == expr.Unknown && i >= 0 && functions[i].Result == expr.Unknown {
				t = want
			}
			all(t, a)
		}
	default:
		all(expr.Unknown, e.Args...)
	}
}

var functions = expr.Functions()

// evident is the type of a tree that it has whatever its names are. A string literal may
// be a date, and says nothing.
func evident(e *expr.Expr) expr.Type {
	switch e.Op {
	case expr.OpNumber, expr.OpAdd, expr.OpSub, expr.OpMul, expr.OpDiv, expr.OpMod, expr.OpNeg:
		if len(e.Args) > 0 && slices.ContainsFunc(e.Args, func(a *expr.Expr) bool { return a.Op == expr.OpInterval }) {
			return expr.Time
		}
		return expr.Number
	case expr.OpBool:
		return expr.Boolean
	case expr.OpDate, expr.OpTimestamp:
		return expr.Time
	case expr.OpCall:
		if i := slices.IndexFunc(functions, func(f expr.Function) bool { return f.Name == e.Func }); i >= 0 {
			return functions[i].Result
		}
	}
	return expr.Unknown
}

// differs says why an expression of the connection's SQL means something else in the
// closed language; empty: it means the same.
func (im *importer) differs(tree *expr.Expr) string {
	why := ""
	expr.Walk(tree, func(e *expr.Expr) bool {
		switch {
		case e.Op == expr.OpConcat && im.Dialect == "mysql":
			why = "|| joins conditions on this engine, and texts in the semantic layer; write concat or OR by hand"
		case e.Op != expr.OpCall:
		case e.Func == "concat" && im.Dialect == "mysql":
			why = "concat is NULL on this engine if a part is, and in the semantic layer NULL counts as the empty text"
		case e.Func == "length" && (im.Dialect == "mysql" || im.Dialect == "sqlserver"):
			why = "length counts bytes or leaves spaces out on this engine, and in the semantic layer it counts characters"
		case e.Func == "extract" && e.Args[0].Text == "second":
			why = "extract(second) has fractions on some engines, and is a whole number in the semantic layer"
		case e.Func == "extract" && (e.Args[0].Text == "week" || e.Args[0].Text == "dow") && im.Dialect != "postgres":
			why = "extract(" + e.Args[0].Text + ") counts differently on this engine"
		}
		return why == ""
	})
	return why
}
