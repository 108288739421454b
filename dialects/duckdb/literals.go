package duckdb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// maxLiteralRows is the most rows or elements that a function may make from literals.
const maxLiteralRows = 10_000_000

// excess rules on a function that makes rows or elements from literal arguments beyond
// reason, and returns false when it does not.
func excess(name string, args []ast.FunctionArgument) (sqlguard.Ruling, bool) {
	var rows float64
	switch name {
	case "range", "generate_series":
		rows = seriesRows(args)
	case "repeat", "repeat_row":
		if len(args) > 1 {
			rows, _ = constant(args[len(args)-1].Expr)
		}
	}
	return sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: fmt.Sprintf("it makes more than %d rows", maxLiteralRows), Excess: true}, rows > maxLiteralRows
}

// seriesRows returns how many rows a series has whose bounds are literals, or 0.
func seriesRows(args []ast.FunctionArgument) float64 {
	from, to, step := 0.0, 0.0, 1.0
	for i, at := range map[int][]*float64{1: {&to}, 2: {&from, &to}, 3: {&from, &to, &step}}[len(args)] {
		n, ok := constant(args[i].Expr)
		if !ok {
			return 0
		}
		*at = n
	}
	if step == 0 {
		return 0 // an error of the engine
	}
	return (to - from) / step
}

// constant returns the number that an expression of literals, signs and casts spells.
func constant(e ast.Expr) (float64, bool) {
	switch n := e.(type) {
	case *ast.ConstantExpression:
		f, err := strconv.ParseFloat(strings.ReplaceAll(n.Literal.Text, "_", ""), 64)
		return f, err == nil
	case *ast.CastExpression:
		return constant(n.Child)
	case *ast.ComparisonExpression: // an argument with its name
		return constant(n.Right)
	case *ast.FunctionExpression:
		if len(n.Arguments) == 1 && (n.FunctionName == "-" || n.FunctionName == "+") {
			f, ok := constant(n.Arguments[0].Expr)
			if n.FunctionName == "-" {
				f = -f
			}
			return f, ok
		}
	}
	return 0, false
}
