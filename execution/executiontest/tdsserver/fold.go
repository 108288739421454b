package tdsserver

import (
	"math"
	"math/big"
)

// fold is an aggregate over all rows.
type fold struct {
	start func() any
	step  func(so any, v any) (any, error)
	value expr
}

// fold reads the argument of an aggregate.
func (p *parser) fold(name string) (expr, error) {
	var f fold
	seen := p.loose
	defer func() { p.loose = seen }() // columns within an aggregate are evaluated by it
	t := Int
	star := name == "COUNT" || name == "COUNT_BIG"
	if name == "COUNT_BIG" {
		t = BigInt
	}
	if star && p.take("*") {
		f.value = constant(Int, int64(1))
	} else {
		x, err := p.expression()
		if err != nil {
			return expr{}, err
		}
		f.value = x
		if !star {
			t = x.t.nullable()
		}
	}
	if err := p.want(")"); err != nil {
		return expr{}, err
	}
	switch name {
	case "COUNT", "COUNT_BIG":
		f.start = func() any { return int64(0) }
		f.step = func(so, _ any) (any, error) { return so.(int64) + 1, nil } //nolint:forcetypeassert // the type that start made
	case "SUM":
		if t.class() != classInteger {
			return expr{}, unknown("SUM of "+t.String(), 0)
		}
		f.start = func() any { return nil }
		f.step = func(so, v any) (any, error) {
			if so == nil {
				return v, nil
			}
			n := new(big.Int).Add(big.NewInt(so.(int64)), big.NewInt(v.(int64))) //nolint:forcetypeassert // integers
			if !n.IsInt64() || t.width() <= 4 && (n.Int64() > math.MaxInt32 || n.Int64() < math.MinInt32) {
				return nil, overflow(t)
			}
			return n.Int64(), nil
		}
	default:
		want := map[string]int{"MIN": -1, "MAX": 1}[name]
		f.start = func() any { return nil }
		f.step = func(so, v any) (any, error) {
			if so == nil {
				return v, nil
			}
			n, err := order(v, so)
			if n == want {
				so = v
			}
			return so, err
		}
	}
	i := len(p.folds)
	p.folds = append(p.folds, f)
	return expr{t: t, eval: func(e *env) (any, error) { return e.folded[i], nil }}, nil
}
