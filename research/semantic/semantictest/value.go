package semantictest

import (
	"math/big"
	"strings"
	"time"
)

// kind is what a value is.
type kind uint8

const (
	null kind = iota
	number
	text
	moment
	boolean
)

// value is a value of a row or of an answer. Moments are YYYY-MM-DD HH:MM:SS.
type value struct {
	kind kind
	n    *big.Rat
	s    string
	b    bool
}

func num(n *big.Rat) value { return value{kind: number, n: n} }

func whole(n int64) value { return num(big.NewRat(n, 1)) }

func words(s string) value { return value{kind: text, s: s} }

func truth(b bool) value { return value{kind: boolean, b: b} }

// at makes a moment of a date or of a date with a time of day.
func at(s string) value {
	if len(s) == len(time.DateOnly) {
		s += " 00:00:00"
	}
	return value{kind: moment, s: s}
}

// key is equal for equal values alone; NULL equals NULL.
func (v value) key() string {
	switch v.kind {
	case number:
		return "n" + v.n.RatString()
	case text, moment:
		return "s" + v.s
	case boolean:
		if v.b {
			return "true"
		}
		return "false"
	case null:
	}
	return "null"
}

// compare orders two values of one kind, neither of which is NULL.
func compare(a, b value) int {
	switch a.kind {
	case number:
		return a.n.Cmp(b.n)
	case boolean:
		switch {
		case a.b == b.b:
			return 0
		case a.b:
			return 1
		}
		return -1
	case text, moment, null:
	}
	return strings.Compare(a.s, b.s)
}

// exact says whether every engine holds the number without rounding.
func (v value) exact() bool {
	return v.kind != number || new(big.Rat).Mul(v.n, big.NewRat(16, 1)).IsInt()
}

// near says that two numbers are so close that engines may take them for equal or not.
func near(a, b value) bool {
	if a.kind != number || b.kind != number {
		return false
	}
	if a.n.Cmp(b.n) == 0 {
		return !a.exact()
	}
	d := new(big.Rat).Sub(a.n, b.n)
	return d.Abs(d).Cmp(big.NewRat(1, 1000)) < 0
}

// trunc is the first instant of the bucket that a moment lies in.
func trunc(v value, grain string) value {
	if v.kind == null {
		return v
	}
	t, err := time.Parse(time.DateTime, v.s)
	if err != nil {
		panic("semantictest: " + err.Error())
	}
	y, m, d := t.Date()
	switch grain {
	case "hour":
		t = time.Date(y, m, d, t.Hour(), 0, 0, 0, time.UTC)
	case "day":
		t = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	case "week":
		t = time.Date(y, m, d-(int(t.Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
	case "month":
		t = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	case "quarter":
		t = time.Date(y, m-(m-1)%3, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		t = time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return at(t.Format(time.DateTime))
}

// Kind is what a value of an answer is.
type Kind string

// The kinds of values.
const (
	Null    Kind = "null"
	Number  Kind = "number"
	Text    Kind = "text"
	Time    Kind = "time"
	Boolean Kind = "boolean"
)

// Value is a value of an answer in canonical form: a number as a decimal with at most
// twelve digits after the point, a time as YYYY-MM-DD, with HH:MM:SS if it is not
// midnight, a boolean as true or false.
type Value struct {
	Kind Kind
	Text string
}

func (v value) canonical() Value {
	switch v.kind {
	case number:
		s := v.n.FloatString(12)
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		if s == "-0" {
			s = "0"
		}
		return Value{Number, s}
	case text:
		return Value{Text, v.s}
	case moment:
		return Value{Time, strings.TrimSuffix(v.s, " 00:00:00")}
	case boolean:
		return Value{Boolean, v.key()}
	case null:
	}
	return Value{Kind: Null}
}
