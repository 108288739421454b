package sqlite

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sqlc-dev/meyer/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// Bounds on the work that literal arguments may ask a function to do.
const (
	maxLiteralBytes = 16 << 20
	maxLiteralRows  = 10_000_000
)

// excess says why literal arguments of a function ask for too much, or "".
func excess(name string, args []ast.Expr) string {
	switch name {
	case "zeroblob", "randomblob":
		if len(args) > 0 {
			if n, ok := constant(args[0]); ok && n > maxLiteralBytes {
				return fmt.Sprintf("it makes a value of more than %d MiB", maxLiteralBytes>>20)
			}
		}
	case "printf", "format":
		if wideFormat(args) {
			return fmt.Sprintf("it makes a value of more than %d MiB", maxLiteralBytes>>20)
		}
	case "generate_series":
		if seriesRows(args) > maxLiteralRows {
			return fmt.Sprintf("it makes more than %d rows", maxLiteralRows)
		}
	}
	return ""
}

// seriesRows returns how many rows generate_series makes from literal bounds, or 0 when
// they are not literals.
func seriesRows(args []ast.Expr) float64 {
	if len(args) < 2 {
		return 0
	}
	from, ok1 := constant(args[0])
	to, ok2 := constant(args[1])
	step, ok3 := 1.0, true
	if len(args) > 2 {
		step, ok3 = constant(args[2])
	}
	if !ok1 || !ok2 || !ok3 {
		return 0
	}
	if step == 0 {
		step = 1
	}
	return math.Floor((to-from)/step) + 1
}

// wideFormat reports whether a literal format has a width or precision beyond
// the bound, written in it or given as a literal for a "*".
func wideFormat(args []ast.Expr) bool {
	if len(args) == 0 {
		return false
	}
	format, ok := unwrap(args[0]).(*ast.Literal)
	if !ok || format.Kind != ast.LitString {
		return false
	}
	star := false
	for rest := format.Value; ; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			break
		}
		spec := after[:len(after)-len(strings.TrimLeft(after, "-+ #0!,'123456789.*"))]
		rest = strings.TrimPrefix(after[len(spec):], "%") // "%%" is not a directive
		star = star || strings.Contains(spec, "*")
		for number := range strings.FieldsFuncSeq(spec, func(r rune) bool { return r < '0' || r > '9' }) {
			if n, err := strconv.ParseFloat(number, 64); err != nil || n > maxLiteralBytes {
				return true
			}
		}
	}
	if star {
		for _, arg := range args[1:] {
			if n, ok := constant(arg); ok && math.Abs(n) > maxLiteralBytes {
				return true
			}
		}
	}
	return false
}

// constant returns the value of an expression that consists of literals.
func constant(e ast.Expr) (float64, bool) {
	return constantWithin(e, 64)
}

func constantWithin(e ast.Expr, depth int) (float64, bool) {
	if depth == 0 {
		return 0, false
	}
	switch n := unwrap(e).(type) {
	case *ast.Literal:
		switch n.Kind {
		case ast.LitInteger, ast.LitFloat:
			text := strings.ReplaceAll(n.Raw, "_", "")
			if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
				v, err := strconv.ParseUint(text[2:], 16, 64)
				return float64(v), err == nil
			}
			v, err := strconv.ParseFloat(text, 64)
			return v, err == nil || errors.Is(err, strconv.ErrRange)
		case ast.LitString:
			v, err := strconv.ParseFloat(strings.TrimSpace(n.Value), 64)
			return v, err == nil
		case ast.LitNull, ast.LitBlob, ast.LitCurrentDate, ast.LitCurrentTime, ast.LitCurrentTimestamp:
			return 0, false
		default:
			return 0, false
		}
	case *ast.CastExpr:
		return constantWithin(n.X, depth-1)
	case *ast.UnaryExpr:
		v, ok := constantWithin(n.X, depth-1)
		if n.Op == ast.OpMinus {
			v = -v
		}
		return v, ok && (n.Op == ast.OpMinus || n.Op == ast.OpPlus)
	case *ast.BinaryExpr:
		x, ok1 := constantWithin(n.X, depth-1)
		y, ok2 := constantWithin(n.Y, depth-1)
		if !ok1 || !ok2 {
			return 0, false
		}
		return operate(n.Op, x, y)
	default:
		return 0, false
	}
}

// operate computes one operator of a constant expression.
func operate(op ast.Operator, x, y float64) (float64, bool) {
	switch op { //nolint:exhaustive // the value of any other operator is not visible
	case ast.OpAdd:
		return x + y, true
	case ast.OpSub:
		return x - y, true
	case ast.OpMul:
		return x * y, true
	case ast.OpDiv:
		return x / y, y != 0
	case ast.OpLShift:
		return x * math.Pow(2, y), true
	case ast.OpRShift:
		return math.Floor(x / math.Pow(2, y)), true
	default:
		return 0, false
	}
}

// unwrap removes brackets.
func unwrap(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

// decode returns the name or value that a quoted or plain name or a string
// literal spells.
func decode(raw string) string {
	if len(raw) < 2 {
		return raw
	}
	switch quote := raw[0]; quote {
	case '[':
		return raw[1 : len(raw)-1]
	case '\'', '"', '`':
		body := raw[1 : len(raw)-1]
		if strings.IndexByte(body, quote) < 0 {
			return body
		}
		return strings.ReplaceAll(body, string([]byte{quote, quote}), string([]byte{quote}))
	default:
		return raw
	}
}

// span is the span of a node.
func span(n ast.Node) sqlguard.Span {
	return sqlguard.Span{Start: n.Pos(), End: n.End()}
}
