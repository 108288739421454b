package expr

import "slices"

// String is the name of a type as the files of a model write it, or unknown.
func (t Type) String() string {
	switch t {
	case String:
		return "string"
	case Number:
		return "number"
	case Time:
		return "time"
	case Boolean:
		return "boolean"
	case Unknown:
	}
	return "unknown"
}

// TypeOf is the type of a tree's value. env gives the types of names, fields, measures,
// and atoms. A tree whose operands do not fit is refused; NULL fits everything, and a
// string literal that stands against a time fits if it is a date or timestamp.
func TypeOf(e *Expr, env func(*Expr) Type) (Type, *Error) {
	_, t, err := Check(e, env)
	return t, err
}

// Check is TypeOf, and returns the tree with the string literals that stand against
// times as dates and timestamps. e is not changed.
func Check(e *Expr, env func(*Expr) Type) (*Expr, Type, *Error) {
	return checker{env}.check(e)
}

type checker struct{ env func(*Expr) Type }

// check returns e itself if nothing in it becomes another node.
func (c checker) check(e *Expr) (*Expr, Type, *Error) {
	switch {
	case e.is(OpNull):
		return e, Unknown, nil
	case e.is(OpBool):
		return e, Boolean, nil
	case e.is(OpNumber):
		return e, Number, nil
	case e.is(OpString):
		return e, String, nil
	case e.is(OpDate, OpTimestamp):
		return e, Time, nil
	case e.is(OpName, OpField, OpMeasure, OpAtom):
		return e, c.env(e), nil
	case e.is(OpInterval):
		return nil, Unknown, refuse(e.Pos, "write x + INTERVAL '1 month' with a time x", "an interval stands where a value is expected")
	case e.is(OpInvalid):
		return nil, Unknown, refuse(e.Pos, "", "the expression holds a part without a kind")
	}
	if (e.Op == OpAdd || e.Op == OpSub) && (e.Args[0].Op == OpInterval || e.Args[1].Op == OpInterval) {
		return c.shift(e)
	}
	args, types := make([]*Expr, len(e.Args)), make([]Type, len(e.Args))
	for i, a := range e.Args {
		var err *Error
		if args[i], types[i], err = c.check(a); err != nil {
			return nil, Unknown, err
		}
	}
	filter := e.Filter
	if filter != nil {
		f, t, err := c.check(filter)
		if err != nil {
			return nil, Unknown, err
		}
		if err := boolean(f, t, "FILTER"); err != nil {
			return nil, Unknown, err
		}
		filter = f
	}
	t, err := c.result(e, args, types)
	if err != nil {
		return nil, Unknown, err
	}
	if filter != e.Filter || !slices.Equal(args, e.Args) {
		n := *e
		n.Args, n.Filter = args, filter
		e = &n
	}
	return e, t, nil
}

// result is the type of e over operands, of which it replaces the literals of times.
func (c checker) result(e *Expr, args []*Expr, types []Type) (Type, *Error) {
	switch {
	case e.is(OpNeg, OpAdd, OpSub, OpMul, OpDiv, OpMod):
		return Number, arithmetic(e, args, types)
	case e.is(OpConcat):
		for i, t := range types {
			if t != String && t != Unknown {
				return 0, refuse(args[i].Pos, "write CAST(x AS text)", "|| joins texts, and %s is a %s", label(args[i]), t)
			}
		}
		return String, nil
	case e.is(OpEq, OpNe, OpLt, OpLe, OpGt, OpGe, OpIn, OpBetween):
		t, err := same(e, args, types, "compares")
		if err == nil && t == Boolean && e.Op != OpEq && e.Op != OpNe && e.Op != OpIn {
			err = refuse(e.Pos, "write = or <>", "booleans have no order")
		}
		return Boolean, err
	case e.is(OpAnd, OpOr, OpNot):
		for i, t := range types {
			if err := boolean(args[i], t, map[Op]string{OpAnd: "AND", OpOr: "OR", OpNot: "NOT"}[e.Op]); err != nil {
				return 0, err
			}
		}
		return Boolean, nil
	case e.is(OpIsNull):
		return Boolean, nil
	case e.is(OpLike):
		for i, t := range types {
			if t != String && t != Unknown {
				return 0, refuse(args[i].Pos, "compare with =, <, > or BETWEEN; or write CAST(x AS text) LIKE …", "LIKE compares texts, and %s is a %s", label(args[i]), t)
			}
		}
		return Boolean, nil
	case e.is(OpCase):
		return caseType(e, args, types)
	case e.is(OpPresent):
		return types[0], nil
	case e.is(OpCast):
		return e.Type, castable(e, args[0], types[0])
	case e.is(OpCall, OpAggregate):
		return callType(e, args, types)
	}
	return 0, refuse(e.Pos, "", "the expression holds a part without a kind")
}

// shift is a time and an interval.
func (c checker) shift(e *Expr) (*Expr, Type, *Error) {
	at := 0
	if e.Args[0].Op == OpInterval {
		at = 1
	}
	if at == 1 && (e.Op == OpSub || e.Args[1].Op == OpInterval) {
		return nil, 0, refuse(e.Pos, "write x + INTERVAL '1 month' or x - INTERVAL '1 month' with a time x", "an interval has no time before it")
	}
	a, t, err := c.check(e.Args[at])
	if err != nil {
		return nil, 0, err
	}
	if a.Op == OpString {
		if a, err = timeLiteral(a); err != nil {
			return nil, 0, err
		}
		t = Time
	}
	if t != Time && t != Unknown {
		return nil, 0, refuse(e.Pos, "an interval is added to a time, or taken from one", "%s is a %s and no time", label(a), t)
	}
	if a != e.Args[at] {
		n := *e
		n.Args = slices.Clone(e.Args)
		n.Args[at] = a
		e = &n
	}
	return e, Time, nil
}

func arithmetic(e *Expr, args []*Expr, types []Type) *Error {
	for i, t := range types {
		if t == Number || t == Unknown {
			continue
		}
		hint := "write CAST(x AS numeric)"
		switch t {
		case Time:
			hint = "write x + INTERVAL '1 day', or compare the two times"
		case Boolean:
			hint = "write CASE WHEN x THEN 1 ELSE 0 END"
		case Unknown, String, Number:
		}
		return refuse(args[i].Pos, hint, "arithmetic (%s) needs numbers, and %s is a %s", sign(e.Op), label(args[i]), t)
	}
	return nil
}

func sign(op Op) string {
	if op == OpNeg {
		return "-"
	}
	return operators[op][1:2]
}

// same wants one type of all operands and makes string literals times among times.
func same(e *Expr, args []*Expr, types []Type, does string) (Type, *Error) {
	want := Unknown
	if slices.Contains(types, Time) {
		want = Time
	}
	for i, t := range types {
		if want == Time && args[i].Op == OpString {
			l, err := timeLiteral(args[i])
			if err != nil {
				return 0, err
			}
			args[i], t = l, Time
		}
		switch {
		case t == Unknown:
		case want == Unknown:
			want = t
		case t != want:
			return 0, refuse(e.Pos, unlike(want, t), "%s %s a %s with a %s", what(e), does, want, t)
		}
	}
	return want, nil
}

func what(e *Expr) string {
	switch {
	case e.is(OpIn):
		return "IN"
	case e.is(OpBetween):
		return "BETWEEN"
	case e.is(OpCase):
		return "CASE"
	case e.is(OpCall):
		return e.Func
	}
	return operators[e.Op][1 : len(operators[e.Op])-1]
}

func unlike(a, b Type) string {
	pair := []Type{min(a, b), max(a, b)}
	switch {
	case pair[1] == Boolean:
		return "compare a boolean with TRUE or FALSE"
	case pair[0] == String && pair[1] == Number:
		return "write numbers without quotes and texts in single quotes, or CAST one side"
	case pair[1] == Time && pair[0] == Number:
		return "compare a time with DATE '2024-01-31', or a part of it: extract(year FROM x)"
	}
	return "CAST one side"
}

func timeLiteral(e *Expr) (*Expr, *Error) {
	l, ok := ParseTime(e.Text)
	if !ok {
		return nil, refuse(e.Pos, "write '2024-01-31' or '2024-01-31 10:00:00'", "'%s' stands against a time and is neither a date nor a timestamp", excerpt(e.Text, 40))
	}
	l.Pos = e.Pos
	return l, nil
}

func boolean(e *Expr, t Type, where string) *Error {
	if t == Boolean || t == Unknown {
		return nil
	}
	return refuse(e.Pos, "write a comparison, such as x = 1 or x IS NOT NULL", "%s needs a condition, and %s is a %s", where, label(e), t)
}

func caseType(e *Expr, args []*Expr, types []Type) (Type, *Error) {
	var values []*Expr
	var of []Type
	var at []int
	for i := range args {
		if i%2 == 0 && i+1 < len(args) {
			if err := boolean(args[i], types[i], "WHEN"); err != nil {
				return 0, err
			}
			continue
		}
		values, of, at = append(values, args[i]), append(of, types[i]), append(at, i)
	}
	t, err := same(e, values, of, "gives")
	if err != nil {
		return 0, err
	}
	for i, v := range values {
		args[at[i]] = v
	}
	return t, nil
}

// castable refuses casts that mean different things, or nothing, on some engine.
func castable(e, a *Expr, from Type) *Error {
	if from == e.Type || from == Unknown {
		return nil
	}
	hint := ""
	switch {
	case e.Type == String && from != Boolean, from == String && e.Type != Boolean:
		return nil
	case e.Type == Boolean && from == Number:
		hint = "write x <> 0"
	case e.Type == Boolean && from == String:
		hint = "write x = 'true' with the text that stands for true"
	case from == Boolean && e.Type == Number:
		hint = "write CASE WHEN x THEN 1 ELSE 0 END"
	case from == Boolean && e.Type == String:
		hint = "write CASE WHEN x THEN 'true' ELSE 'false' END"
	case e.Type == Number:
		hint = "write extract(year FROM x)"
	}
	return refuse(e.Pos, hint, "%s is a %s and cannot be cast to %s", label(a), from, typeNames[e.Type])
}

func callType(e *Expr, args []*Expr, types []Type) (Type, *Error) {
	f, ok := functionNamed(e.Func)
	if !ok || f.Aggregate != (e.Op == OpAggregate) {
		return 0, refuse(e.Pos, "", "the function %s is not known", excerpt(e.Func, 40))
	}
	if len(args) < f.Min || f.Max >= 0 && len(args) > f.Max {
		return 0, refuse(e.Pos, "", "%s has %d arguments here", f.Name, len(args))
	}
	for i, t := range types {
		want := f.Args[min(i, len(f.Args)-1)]
		if want == Time && args[i].Op == OpString {
			l, err := timeLiteral(args[i])
			if err != nil {
				return 0, err
			}
			args[i], t = l, Time
		}
		if want != Unknown && t != Unknown && t != want {
			return 0, refuse(args[i].Pos, argumentHint(f, want, t), "%s takes a %s, and %s is a %s", f.Name, want, label(args[i]), t)
		}
	}
	switch {
	case f.Result != Unknown:
		return f.Result, nil
	case e.Op == OpAggregate:
		return types[0], nil
	}
	t, err := same(e, args, types, "combines")
	if f.Name == "nullif" && err == nil && types[0] != Unknown {
		t = types[0]
		if args[0].Op == OpDate || args[0].Op == OpTimestamp {
			t = Time
		}
	}
	return t, err
}

func argumentHint(f Function, want, got Type) string {
	switch {
	case f.Aggregate && got == Boolean:
		return "write count(*) FILTER (WHERE x), or " + f.Name + "(CASE WHEN x THEN 1 ELSE 0 END)"
	case f.Aggregate:
		return "write count(x), count(DISTINCT x), min(x) or max(x)"
	case got == Boolean:
		return "write CASE WHEN x THEN … ELSE … END"
	case want == String:
		return "write CAST(x AS text)"
	case want == Time:
		return "name a column of type time, or write CAST(x AS timestamp)"
	}
	return "write CAST(x AS numeric)"
}

// label names an operand in a message.
func label(e *Expr) string {
	switch {
	case e.is(OpName, OpNumber, OpString, OpDate, OpTimestamp, OpBool):
		return excerpt(e.String(), 60)
	case e.is(OpField, OpMeasure):
		if e.Name.Leaf != "" {
			n := Expr{Op: OpName, Name: e.Name}
			return excerpt(n.String(), 60)
		}
		return "the column"
	case e.is(OpCall, OpAggregate):
		return e.Func + "(…)"
	}
	return "the operand"
}
