package expr

import (
	"slices"
	"strings"
)

// castWords says what the names of types mean, of one word or two.
var castWords = map[string]Type{
	"text": String, "varchar": String, "char": String, "character": String, "character varying": String, "nvarchar": String,
	"nchar": String, "string": String, "clob": String,
	"numeric": Number, "decimal": Number, "number": Number, "dec": Number,
	"double": Number, "double precision": Number, "float": Number, "real": Number, "float4": Number, "float8": Number, "float64": Number,
	"date": Time, "timestamp": Time, "datetime": Time, "datetime2": Time, "timestamp without time zone": Time,
	"boolean": Boolean, "bool": Boolean,
}

// integers are types on which engines disagree: some round, some cut.
var integers = []string{"int", "integer", "bigint", "smallint", "tinyint", "int2", "int4", "int8", "int64", "signed", "unsigned", "signed integer", "unsigned integer"}

func (p *parser) cast(t token) (node, *Error) {
	open := p.take()
	n, err := p.nested(open.pos, p.or)
	if err != nil {
		return node{}, err
	}
	if err := p.expectWord("as", "after the operand of CAST"); err != nil {
		return node{}, err
	}
	if n, err = p.castTo(n, t.pos); err != nil {
		return node{}, err
	}
	return n, p.closing("after the type of CAST")
}

// castTo reads a type and casts to it. Where engines mean different things by a type,
// the tree says the standard's meaning by other nodes, or the text is refused.
func (p *parser) castTo(n node, pos int) (node, *Error) {
	name, at, err := p.typeName()
	if err != nil {
		return node{}, err
	}
	sizes, err := p.typeSizes()
	if err != nil {
		return node{}, err
	}
	if slices.Contains(integers, name) {
		if len(sizes) > 0 || !isWhole(n.e) {
			return node{}, refuse(at, "write floor(x) or round(x) for a whole number, CAST(x AS numeric) for a number, and CASE WHEN x THEN 1 ELSE 0 END for a boolean", "a cast to %s cuts on some engines and rounds on others", name)
		}
		n.bare = false
		return n, nil
	}
	to, ok := castWords[name]
	if !ok {
		e := refuse(at, "cast to text, numeric, date, timestamp or boolean", "the type %s is not known", excerpt(name, 40))
		if strings.HasSuffix(name, "with time zone") || name == "timestamptz" {
			e.Hint = "cast to timestamp; times are taken as they are stored"
		}
		return node{}, e
	}
	switch {
	case to == String && len(sizes) > 0 && sizes[0] != "max":
		return node{}, refuse(at, "write CAST(x AS text), or substring(x, 1, "+sizes[0]+") to cut", "a cast to %s(%s) cuts the text on some engines", name, sizes[0])
	case to == Time && len(sizes) > 0, to == Boolean && len(sizes) > 0:
		return node{}, refuse(at, "leave the number in brackets out", "the type %s(%s) is not known", name, strings.Join(sizes, ", "))
	case to == Time && n.e.Op == OpString:
		return p.castLiteral(n, name, pos)
	}
	c, err := p.make(&Expr{Op: OpCast, Type: to, Args: []*Expr{n.e}, Pos: pos}, n)
	if err != nil {
		return node{}, err
	}
	switch {
	case name == "date":
		return p.make(&Expr{Op: OpCall, Func: "date_trunc", Args: []*Expr{{Op: OpString, Text: "day", Pos: pos}, c.e}, Pos: pos}, c)
	case to == Number && len(sizes) > 0 && (name == "numeric" || name == "decimal" || name == "number" || name == "dec"):
		e := &Expr{Op: OpCall, Func: "round", Args: []*Expr{c.e}, Pos: pos}
		if len(sizes) == 2 {
			e.Args = append(e.Args, &Expr{Op: OpNumber, Text: sizes[1], Pos: pos})
		}
		if err := literals(e); err != nil {
			return node{}, err
		}
		return p.make(e, c)
	}
	return c, nil
}

// castLiteral reads a string that is cast to a date or timestamp as that literal.
func (p *parser) castLiteral(n node, name string, pos int) (node, *Error) {
	e, ok := ParseTime(n.e.Text)
	switch {
	case !ok:
		return node{}, refuse(n.e.Pos, "write DATE '2024-01-31' or TIMESTAMP '2024-01-31 10:00:00'", "'%s' is neither a date nor a timestamp", excerpt(n.e.Text, 40))
	case name == "date" && e.Op == OpTimestamp:
		e = &Expr{Op: OpDate, Text: e.Text[:10]}
	case name != "date" && e.Op == OpDate:
		e = &Expr{Op: OpTimestamp, Text: e.Text + " 00:00:00"}
	}
	e.Pos = pos
	return p.make(e)
}

func (p *parser) typeName() (string, int, *Error) {
	t := p.take()
	if t.kind != tokenWord {
		return "", 0, refuse(t.pos, "cast to text, numeric, date, timestamp or boolean", "%s stands where the name of a type is expected", describe(t))
	}
	name := t.lower
	second := p.peek()
	switch {
	case name == "double" && second.word("precision"), name == "character" && second.word("varying"), (name == "signed" || name == "unsigned") && second.word("integer"):
		name += " " + p.take().lower
	case (name == "timestamp" || name == "time") && (second.word("with") || second.word("without")) && p.ahead(1).word("time") && p.ahead(2).word("zone"):
		name += " " + second.lower + " time zone"
		p.at += 3
	}
	return name, t.pos, nil
}

// typeSizes reads the numbers after a type: (10), (10, 2), (max).
func (p *parser) typeSizes() ([]string, *Error) {
	if !p.accept("(") {
		return nil, nil
	}
	var list []string
	for {
		t := p.take()
		switch {
		case t.word("max"):
			list = append(list, "max")
		case t.kind == tokenNumber && len(t.text) <= 4 && strings.Trim(t.text, "0123456789") == "":
			list = append(list, t.text)
		default:
			return nil, refuse(t.pos, "write a type such as numeric(10, 2)", "%s stands where the size of a type is expected", describe(t))
		}
		if !p.accept(",") || len(list) == 2 {
			break
		}
	}
	return list, p.closing("after the size of a type")
}

// isWhole says whether every value of e is a whole number or NULL, as its text shows.
func isWhole(e *Expr) bool {
	switch {
	case e.is(OpNull):
		return true
	case e.is(OpNumber):
		return strings.Trim(e.Text, "0123456789") == ""
	case e.is(OpNeg, OpAdd, OpSub, OpMul, OpMod, OpPresent):
		return !slices.ContainsFunc(e.Args, func(a *Expr) bool { return !isWhole(a) })
	case e.is(OpCase):
		for i := 1; i < len(e.Args); i += 2 {
			if !isWhole(e.Args[i]) {
				return false
			}
		}
		return len(e.Args)%2 == 0 || isWhole(e.Args[len(e.Args)-1])
	case e.is(OpAggregate):
		return e.Func == "count" || (e.Func == "sum" || e.Func == "min" || e.Func == "max") && isWhole(e.Args[0])
	case e.is(OpCall):
		switch e.Func {
		case "floor", "ceil", "length", "extract":
			return true
		case "round":
			return len(e.Args) == 1
		case "abs", "coalesce":
			return !slices.ContainsFunc(e.Args, func(a *Expr) bool { return !isWhole(a) })
		}
	}
	return false
}
