package duckdb

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
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
			if n, ok = moment(args[i].Expr); !ok {
				return 0
			}
		}
		*at = n
	}
	if step == 0 {
		return 0 // an error of the engine
	}
	return (to - from) / step
}

// moment returns the seconds of a literal that is cast to a date, a time or an interval, as
// intervals are written: '1 second' and 1 SECOND.
func moment(e ast.Expr) (float64, bool) {
	switch n := e.(type) {
	case *ast.ComparisonExpression: // an argument with its name
		return moment(n.Right)
	case *ast.CastExpression:
		c, ok := n.Child.(*ast.ConstantExpression)
		if !ok {
			return 0, false
		}
		if seconds, ok := span(c.Literal.Text); ok {
			return seconds, true
		}
		for _, form := range []string{time.DateOnly, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05"} {
			if t, err := time.Parse(form, c.Literal.Text); err == nil {
				return float64(t.Unix()), true
			}
		}
	case *ast.FunctionExpression: // to_seconds(1)
		if len(n.Arguments) == 1 && strings.HasPrefix(lexical.Lower(n.FunctionName), "to_") {
			count, ok := constant(n.Arguments[0].Expr)
			unit, known := unitSeconds(lexical.Lower(n.FunctionName)[len("to_"):])
			return count * unit, ok && known
		}
	}
	return 0, false
}

// span returns the seconds of an interval of one number and one unit.
func span(text string) (float64, bool) {
	number, unit, found := strings.Cut(strings.TrimSpace(text), " ") // '1 second'
	n, err := strconv.ParseFloat(number, 64)
	seconds, known := unitSeconds(lexical.Lower(strings.TrimSpace(unit)))
	return n * seconds, found && known && err == nil
}

// unitSeconds returns how many seconds a unit of time has at least.
func unitSeconds(unit string) (float64, bool) {
	n, known := map[string]float64{
		"microsecond": 1e-6, "us": 1e-6, "millisecond": 1e-3, "ms": 1e-3, "second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "m": 60, "hour": 3600, "hr": 3600, "h": 3600,
		"day": 86400, "d": 86400, "week": 7 * 86400, "w": 7 * 86400, "month": 28 * 86400, "mon": 28 * 86400, "year": 365 * 86400, "y": 365 * 86400,
	}[strings.TrimSuffix(unit, "s")]
	if unit == "s" || unit == "ms" || unit == "us" {
		return map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6}[unit], true
	}
	return n, known
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
		if len(n.Arguments) == 1 && (n.FunctionName == "-" || n.FunctionName == "+" || n.FunctionName == "trunc") {
			f, ok := constant(n.Arguments[0].Expr)
			if n.FunctionName == "-" {
				f = -f
			}
			return f, ok
		}
	}
	return 0, false
}
