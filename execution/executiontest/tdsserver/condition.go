package tdsserver

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"
)

// truth is a value of three-valued logic.
type truth int

const (
	truthUnknown truth = iota
	truthNo
	truthYes
)

func truthOf(b bool) truth {
	if b {
		return truthYes
	}
	return truthNo
}

// cond is a compiled condition.
type cond func(e *env) (truth, error)

// condition reads conditions that are joined by AND and OR.
func (p *parser) condition() (cond, error) {
	x, err := p.conjunction()
	for err == nil && p.take("OR") {
		var y cond
		if y, err = p.conjunction(); err == nil {
			a := x
			x = func(e *env) (truth, error) {
				v, err := a(e)
				if err != nil || v == truthYes {
					return v, err
				}
				w, err := y(e)
				if v == truthUnknown && w == truthNo {
					w = truthUnknown
				}
				return w, err
			}
		}
	}
	return x, err
}

func (p *parser) conjunction() (cond, error) {
	x, err := p.negation()
	for err == nil && p.take("AND") {
		var y cond
		if y, err = p.negation(); err == nil {
			a := x
			x = func(e *env) (truth, error) {
				v, err := a(e)
				if err != nil || v == truthNo {
					return v, err
				}
				w, err := y(e)
				if v == truthUnknown && w == truthYes {
					w = truthUnknown
				}
				return w, err
			}
		}
	}
	return x, err
}

func not(c cond) cond {
	return func(e *env) (truth, error) {
		v, err := c(e)
		switch v {
		case truthYes:
			v = truthNo
		case truthNo:
			v = truthYes
		case truthUnknown:
		}
		return v, err
	}
}

func (p *parser) negation() (cond, error) {
	defer func() { p.depth-- }()
	if err := p.deeper(); err != nil {
		return nil, err
	}
	if p.take("NOT") {
		c, err := p.negation()
		return not(c), err
	}
	if p.is("(") && !p.operand() {
		p.i++
		c, err := p.condition()
		if err != nil {
			return nil, err
		}
		return c, p.want(")")
	}
	return p.comparison()
}

// operand reports whether the next parentheses contain an expression. Then the
// tokens after them continue that expression.
func (p *parser) operand() bool {
	depth := 0
	for n := 0; p.at(n).kind != kindEnd; n++ {
		w := p.at(n)
		if w.kind != kindSign {
			continue
		}
		switch w.text {
		case "(":
			depth++
		case ")":
			if depth--; depth > 0 {
				continue
			}
			next := p.at(n + 1)
			if next.kind == kindSign {
				return !slices.Contains([]string{")", ";", ","}, next.text)
			}
			return next.kind == kindName && !next.quoted && slices.Contains([]string{"IS", "IN", "BETWEEN", "NOT"}, next.upper)
		}
	}
	return false
}

func (p *parser) comparison() (cond, error) {
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	negated := false
	switch {
	case p.take("IS", "NOT", "NULL"):
		return isNull(x, false), nil
	case p.take("IS", "NULL"):
		return isNull(x, true), nil
	case p.is("NOT", "IN"), p.is("NOT", "BETWEEN"):
		negated = true
		p.i++
	}
	var c cond
	switch {
	case p.take("IN"):
		c, err = p.in(x)
	case p.take("BETWEEN"):
		c, err = p.between(x)
	default:
		sign := *p.peek()
		switch sign.text {
		case "=", "<>", "!=", "<", ">", "<=", ">=":
		default:
			return nil, p.syntax()
		}
		if sign.kind != kindSign {
			return nil, p.syntax()
		}
		p.i++
		var y expr
		if y, err = p.expression(); err == nil {
			c, err = compare(sign.text, x, y)
		}
	}
	if negated && err == nil {
		c = not(c)
	}
	return c, err
}

func isNull(x expr, want bool) cond {
	return func(e *env) (truth, error) {
		v, err := x.eval(e)
		return truthOf((v == nil) == want), err
	}
}

func (p *parser) in(x expr) (cond, error) {
	if err := p.want("("); err != nil {
		return nil, err
	}
	c := func(*env) (truth, error) { return truthNo, nil }
	for {
		y, err := p.expression()
		if err != nil {
			return nil, err
		}
		one, err := compare("=", x, y)
		if err != nil {
			return nil, err
		}
		before := c
		c = func(e *env) (truth, error) {
			v, err := before(e)
			if err != nil || v == truthYes {
				return v, err
			}
			w, err := one(e)
			if v == truthUnknown && w == truthNo {
				w = truthUnknown
			}
			return w, err
		}
		if !p.take(",") {
			break
		}
	}
	return c, p.want(")")
}

func (p *parser) between(x expr) (cond, error) {
	low, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.want("AND"); err != nil {
		return nil, err
	}
	high, err := p.expression()
	if err != nil {
		return nil, err
	}
	a, err := compare(">=", x, low)
	if err != nil {
		return nil, err
	}
	b, err := compare("<=", x, high)
	if err != nil {
		return nil, err
	}
	return func(e *env) (truth, error) {
		v, err := a(e)
		if err != nil || v == truthNo {
			return v, err
		}
		w, err := b(e)
		if v == truthUnknown && w == truthYes {
			w = truthUnknown
		}
		return w, err
	}, nil
}

// compare converts both sides to one type and compares them. Text is compared
// without regard to case and to spaces at its end, as in the database's
// collation.
func compare(sign string, x, y expr) (cond, error) {
	a, b := x.t.class(), y.t.class()
	var err error
	switch {
	case a == b && a != classOther && a != classDecimal:
	case a == classNVarChar && b == classVarChar, a == classVarChar && b == classNVarChar:
	case a == classFloat, b == classFloat:
		x, y, err = convertBoth(x, y, Float)
	case a == classDecimal || b == classDecimal:
		x, y, err = convertBoth(x, y, Numeric(38, max(x.t.scale, y.t.scale)))
	case (a == classInteger || a == classBit) && (b == classVarChar || b == classNVarChar || b == classInteger || b == classBit),
		(b == classInteger || b == classBit) && (a == classVarChar || a == classNVarChar):
		x, y, err = convertBoth(x, y, BigInt)
	default:
		return nil, unknown("a comparison of "+x.t.String()+" with "+y.t.String(), 0)
	}
	if err != nil {
		return nil, err
	}
	return func(e *env) (truth, error) {
		a, b, ok, err := both(e, x, y)
		if err != nil || !ok {
			return truthUnknown, err
		}
		n, err := order(a, b)
		if err != nil {
			return truthUnknown, err
		}
		switch sign {
		case "=":
			return truthOf(n == 0), nil
		case "<>", "!=":
			return truthOf(n != 0), nil
		case "<":
			return truthOf(n < 0), nil
		case ">":
			return truthOf(n > 0), nil
		case "<=":
			return truthOf(n <= 0), nil
		default:
			return truthOf(n >= 0), nil
		}
	}, nil
}

func convertBoth(x, y expr, t Type) (a, b expr, err error) {
	if a, err = convert(x, t, false); err == nil {
		b, err = convert(y, t, false)
	}
	return a, b, err
}

// order compares two values of one class.
func order(a, b any) (int, error) {
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b), nil
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b), nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			switch {
			case a == b:
				return 0, nil
			case a:
				return 1, nil
			default:
				return -1, nil
			}
		}
	case string:
		if b, ok := b.(string); ok {
			fold := func(s string) string { return strings.ToUpper(strings.TrimRight(s, " ")) }
			return strings.Compare(fold(a), fold(b)), nil
		}
	case *big.Int:
		if b, ok := b.(*big.Int); ok {
			return a.Cmp(b), nil
		}
	case []byte:
		if b, ok := b.([]byte); ok {
			return bytes.Compare(a, b), nil
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b), nil
		}
	}
	return 0, unknown("this comparison", 0)
}
