package semantictest

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// self is the node of the source that an expression belongs to.
const self = -1

type op uint8

const (
	opLiteral op = iota
	opColumn
	opMeasure
	opAggregate
	opAtom
	opAdd
	opSub
	opMul
	opDiv
	opNeg
	opSafeDivide
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opAnd
	opOr
	opNot
	opIsNull
	opNotNull
	opIn
	opBetween
	opLike // the pattern is a literal that ends in %
	opCase // when, then, …, else
	opCoalesce
	opNullif
	opLower
	opUpper
	opLength
	opConcat
	opAbs
	opFloor
	opTrunc   // name is the unit
	opExtract // name is the part
	opShift   // by count days, months or years
)

// tree is an expression.
type tree struct {
	op       op
	args     []*tree
	value    value  // of literals
	node     int    // of columns and measures
	col      int    // column, or measure
	name     string // the function of an aggregate, the unit
	count    int
	distinct bool
	filter   *tree
	atom     *atom
}

func lit(v value) *tree { return &tree{op: opLiteral, value: v} }

func col(node, c int) *tree { return &tree{op: opColumn, node: node, col: c} }

func meas(node, m int) *tree { return &tree{op: opMeasure, node: node, col: m} }

func mk(o op, args ...*tree) *tree { return &tree{op: o, args: args} }

func agg(name string, arg ...*tree) *tree { return &tree{op: opAggregate, name: name, args: arg} }

func (t *tree) is(ops ...op) bool { return slices.Contains(ops, t.op) }

func (t *tree) walk(f func(*tree)) {
	if t == nil {
		return
	}
	f(t)
	for _, a := range t.args {
		a.walk(f)
	}
	t.filter.walk(f)
}

// nodes are the nodes that a tree names, sorted; self is -1.
func (t *tree) nodes() []int {
	var list []int
	t.walk(func(t *tree) {
		if t.op == opColumn && !slices.Contains(list, t.node) {
			list = append(list, t.node)
		}
	})
	slices.Sort(list)
	return list
}

// eval is the value of a tree for a row of a node.
func (w *world) eval(t *tree, n, row int) value {
	if t.op == opColumn {
		if t.node == self {
			return w.column(n, row, t.col)
		}
		return w.column(t.node, w.row(n, row, t.node), t.col)
	}
	args := make([]value, len(t.args))
	for i, a := range t.args {
		args[i] = w.eval(a, n, row)
	}
	return w.apply(t, args)
}

// holds says whether a condition is true of a row: NULL is not.
func (w *world) holds(t *tree, n, row int) bool {
	v := w.eval(t, n, row)
	return v.kind == boolean && v.b
}

// apply is what an operator makes of the values of its operands. NULL makes NULL but
// where SQL says otherwise.
func (w *world) apply(t *tree, a []value) value {
	switch {
	case t.is(opLiteral):
		return t.value
	case t.is(opAnd, opOr):
		return logic(t.op, a)
	case t.is(opIsNull):
		return truth(a[0].kind == null)
	case t.is(opNotNull):
		return truth(a[0].kind != null)
	case t.is(opIn):
		return w.in(a)
	case t.is(opCase):
		for i := 0; i+1 < len(a); i += 2 {
			if a[i].kind == boolean && a[i].b {
				return a[i+1]
			}
		}
		return a[len(a)-1]
	case t.is(opCoalesce):
		for _, v := range a {
			if v.kind != null {
				return v
			}
		}
		return value{}
	case t.is(opNullif):
		if a[0].kind != null && a[1].kind != null && w.compare(a[0], a[1]) == 0 {
			return value{}
		}
		return a[0]
	case t.is(opBetween):
		low, high := w.comparison(opGe, a[0], a[1]), w.comparison(opLe, a[0], a[2])
		return logic(opAnd, []value{low, high})
	}
	if slices.ContainsFunc(a, func(v value) bool { return v.kind == null }) {
		return value{}
	}
	switch {
	case t.is(opAdd):
		return num(new(big.Rat).Add(a[0].n, a[1].n))
	case t.is(opSub):
		return num(new(big.Rat).Sub(a[0].n, a[1].n))
	case t.is(opMul):
		return num(new(big.Rat).Mul(a[0].n, a[1].n))
	case t.is(opNeg):
		return num(new(big.Rat).Neg(a[0].n))
	case t.is(opAbs):
		return num(new(big.Rat).Abs(a[0].n))
	case t.is(opDiv, opSafeDivide):
		if a[1].n.Sign() == 0 {
			return value{}
		}
		return num(new(big.Rat).Quo(a[0].n, a[1].n))
	case t.is(opFloor):
		q := new(big.Int).Div(a[0].n.Num(), a[0].n.Denom()) // the remainder is never negative
		return num(new(big.Rat).SetInt(q))
	case t.is(opEq, opNe, opLt, opLe, opGt, opGe):
		return w.comparison(t.op, a[0], a[1])
	case t.is(opNot):
		return truth(!a[0].b)
	case t.is(opLike):
		return truth(strings.HasPrefix(a[0].s, strings.TrimSuffix(a[1].s, "%")))
	case t.is(opLower):
		return words(strings.ToLower(a[0].s))
	case t.is(opUpper):
		return words(strings.ToUpper(a[0].s))
	case t.is(opLength):
		return whole(int64(len([]rune(a[0].s))))
	case t.is(opConcat):
		return words(a[0].s + a[1].s)
	case t.is(opTrunc):
		return trunc(a[0], t.name)
	case t.is(opExtract):
		return extract(a[0], t.name)
	case t.is(opShift):
		d, err := time.Parse(time.DateTime, a[0].s)
		if err != nil {
			panic("semantictest: " + err.Error())
		}
		return at(shift(d, t.name, t.count).Format(time.DateTime))
	}
	panic("semantictest: operator " + strconv.Itoa(int(t.op)) + " has no value of its own")
}

func logic(o op, a []value) value {
	unknown := false
	for _, v := range a {
		switch {
		case v.kind == null:
			unknown = true
		case v.b == (o == opOr):
			return v
		}
	}
	if unknown {
		return value{}
	}
	return truth(o == opAnd)
}

func (w *world) in(a []value) value {
	if a[0].kind == null {
		return value{}
	}
	unknown := false
	for _, v := range a[1:] {
		if v.kind == null {
			unknown = true
		} else if w.compare(a[0], v) == 0 {
			return truth(true)
		}
	}
	if unknown {
		return value{}
	}
	return truth(false)
}

// compare also notes comparisons of numbers that engines round.
func (w *world) compare(a, b value) int {
	if near(a, b) {
		w.near = true
	}
	return compare(a, b)
}

func (w *world) comparison(o op, a, b value) value {
	if a.kind == null || b.kind == null {
		return value{}
	}
	c := w.compare(a, b)
	return truth(map[op]bool{opEq: c == 0, opNe: c != 0, opLt: c < 0, opLe: c <= 0, opGt: c > 0, opGe: c >= 0}[o])
}

func extract(v value, part string) value {
	t, err := time.Parse(time.DateTime, v.s)
	if err != nil {
		panic("semantictest: " + err.Error())
	}
	n := t.Year()
	switch part {
	case "quarter":
		n = (int(t.Month()) + 2) / 3
	case "month":
		n = int(t.Month())
	case "week":
		_, n = t.ISOWeek()
	case "day":
		n = t.Day()
	case "dow":
		n = int(t.Weekday())
	case "doy":
		n = t.YearDay()
	case "hour":
		n = t.Hour()
	}
	return whole(int64(n))
}

// shift adds to a time. Where the month has no such day, the last one of the month is
// meant.
func shift(t time.Time, unit string, count int) time.Time {
	switch unit {
	case "day":
		return t.AddDate(0, 0, count)
	case "year":
		count *= 12
	}
	first := t.AddDate(0, 0, 1-t.Day()).AddDate(0, count, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
