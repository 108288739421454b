package tdsserver

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// expr is a compiled expression. It has the same values as a row, except that
// character data is always a string and integers are int64.
type expr struct {
	t    Type
	eval func(e *env) (any, error)
	// name is the column's name if the expression is only a column.
	name string
}

func constant(t Type, v any) expr {
	return expr{t: t, eval: func(*env) (any, error) { return v, nil }}
}

// expression reads an expression: a sum of products of units.
func (p *parser) expression() (expr, error) {
	x, err := p.product()
	for err == nil && (p.is("+") || p.is("-") || p.is("&") || p.is("|") || p.is("^")) {
		sign := p.peek().text
		p.i++
		var y expr
		if y, err = p.product(); err == nil {
			x, err = arithmetic(sign, x, y)
		}
	}
	return x, err
}

func (p *parser) product() (expr, error) {
	x, err := p.unit()
	for err == nil && (p.is("*") || p.is("/") || p.is("%")) {
		sign := p.peek().text
		p.i++
		var y expr
		if y, err = p.unit(); err == nil {
			x, err = arithmetic(sign, x, y)
		}
	}
	return x, err
}

// unit reads a literal, a variable, a column, a call, or an expression in
// parentheses.
func (p *parser) unit() (expr, error) {
	defer func() { p.depth-- }()
	if err := p.deeper(); err != nil {
		return expr{}, err
	}
	w := p.peek()
	switch w.kind {
	case kindInteger:
		p.i++
		return integerLiteral(w.text)
	case kindDecimal:
		p.i++
		return decimalLiteral(w.text)
	case kindFloat:
		p.i++
		f, err := strconv.ParseFloat(w.text, 64)
		if err != nil {
			return expr{}, unknown("the number "+w.text, w.line)
		}
		return constant(FloatFixed, f), nil
	case kindString:
		p.i++
		return constant(VarChar(uint16(max(len(codePage1252(w.text)), 1))), w.text), nil
	case kindNString:
		p.i++
		return constant(NVarChar(uint16(max(units(w.text), 1))), w.text), nil
	case kindBinary:
		p.i++
		digits := w.text
		if len(digits)%2 == 1 {
			digits = "0" + digits
		}
		b, err := hex.DecodeString(digits)
		if err != nil {
			return expr{}, unknown("the binary constant 0x"+w.text, w.line)
		}
		return constant(VarBinary(uint16(max(len(b), 1))), b), nil
	case kindVariable:
		p.i++
		return p.variable(w)
	case kindSign:
		switch {
		case p.take("("):
			x, err := p.expression()
			if err == nil {
				err = p.want(")")
			}
			return x, err
		case p.take("+"):
			return p.unit()
		case p.take("-"):
			x, err := p.unit()
			if err != nil {
				return expr{}, err
			}
			return negative(x)
		}
	case kindName:
		if !w.quoted {
			switch w.upper {
			case "NULL":
				p.i++
				return constant(Int, nil), nil
			case "CASE":
				p.i++
				return p.caseOf()
			}
			if bare, ok := bareFunctions[w.upper]; ok {
				p.i++
				return bare(p)
			}
		}
		if p.at(1).kind == kindSign && p.at(1).text == "(" {
			return p.call()
		}
		return p.column()
	case kindEnd:
	}
	return expr{}, p.syntax()
}

// integerLiteral returns an int, or a numeric if the number is too large for an
// int (T-SQL reference, "Constants").
func integerLiteral(text string) (expr, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return decimalLiteral(text + ".")
	}
	return constant(IntFixed, n), nil
}

// decimalLiteral returns a numeric with exactly the digits that are written.
func decimalLiteral(text string) (expr, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	whole = strings.TrimLeft(whole, "0")
	digits := whole + fraction
	if len(digits) > 38 {
		return expr{}, &ServerError{Number: 1007, State: 1, Class: 15, Message: "The number '" + text + "' is out of the range for numeric representation (maximum precision 38)."}
	}
	i, ok := new(big.Int).SetString("0"+digits, 10)
	if !ok {
		return expr{}, unknown("the number "+text, 0)
	}
	return constant(Numeric(byte(max(len(digits), 1)), byte(len(fraction))), i), nil
}

func negative(x expr) (expr, error) {
	inner := x.eval
	if c := x.t.class(); c != classInteger && c != classFloat && c != classDecimal && c != classMoney {
		return expr{}, unknown("a minus before "+x.t.String(), 0)
	}
	return expr{t: x.t.nullable(), eval: func(e *env) (any, error) {
		v, err := inner(e)
		switch v := v.(type) {
		case int64:
			if v == math.MinInt64 || x.t.width() == 4 && v == math.MinInt32 {
				return nil, overflow(x.t)
			}
			return -v, err
		case float64:
			return -v, err
		case *big.Int:
			return new(big.Int).Neg(v), err
		default:
			return nil, err
		}
	}}, nil
}

func overflow(t Type) *ServerError {
	name, _, _ := strings.Cut(t.String(), "(")
	return &ServerError{Number: 8115, State: 2, Class: 16, Message: "Arithmetic overflow error converting expression to data type " + name + "."}
}

// class is a group of types that have the same arithmetic.
type class = int

const (
	classOther class = iota
	classInteger
	classBit
	classFloat
	classDecimal
	classMoney
	classVarChar
	classNVarChar
	classBinary
	classTime
)

func (t Type) class() class {
	switch t.id {
	case typeInt1, typeInt2, typeInt4, typeInt8, typeIntN:
		return classInteger
	case typeBit, typeBitN:
		return classBit
	case typeFlt4, typeFlt8, typeFltN:
		return classFloat
	case typeDecimal, typeNumeric:
		return classDecimal
	case typeMoney, typeMoney4, typeMoneyN:
		return classMoney
	case typeBigChar, typeBigVarChar, typeText:
		return classVarChar
	case typeNChar, typeNVarChar, typeNText, typeXML:
		return classNVarChar
	case typeBigBinary, typeBigVarBinary, typeImage:
		return classBinary
	case typeDate, typeTime, typeDateTime2, typeDateTimeOffset, typeDateTime, typeDateTim4, typeDateTimN:
		return classTime
	default:
		return classOther
	}
}

// nullable returns the same type for values that may be NULL.
func (t Type) nullable() Type {
	switch t.id {
	case typeInt1:
		return TinyInt
	case typeInt2:
		return SmallInt
	case typeInt4:
		return Int
	case typeInt8:
		return BigInt
	case typeBit:
		return Bit
	case typeFlt4:
		return Real
	case typeFlt8:
		return Float
	case typeMoney:
		return Money
	case typeMoney4:
		return SmallMoney
	case typeDateTime:
		return DateTime
	case typeDateTim4:
		return SmallDateTime
	default:
		return t
	}
}

// arithmetic combines two expressions with an operator.
func arithmetic(sign string, x, y expr) (expr, error) {
	a, b := x.t.class(), y.t.class()
	text := func(c class) bool { return c == classVarChar || c == classNVarChar }
	switch {
	case sign == "+" && text(a) && text(b):
		return concatenation(x, y), nil
	case a == classInteger && b == classInteger:
		return integers(sign, x, y)
	case (a == classFloat || b == classFloat) && (a == classFloat || a == classInteger || a == classDecimal) && (b == classFloat || b == classInteger || b == classDecimal):
		return floats(sign, x, y)
	default:
		return expr{}, unknown(x.t.String()+" "+sign+" "+y.t.String(), 0)
	}
}

// both evaluates two expressions. It reports false if either is NULL.
func both(e *env, x, y expr) (a, b any, ok bool, err error) {
	if a, err = x.eval(e); err != nil {
		return nil, nil, false, err
	}
	if b, err = y.eval(e); err != nil {
		return nil, nil, false, err
	}
	return a, b, a != nil && b != nil, nil
}

func concatenation(x, y expr) expr {
	t := x.t
	if y.t.class() == classNVarChar && x.t.class() != classNVarChar {
		t = NVarChar(0)
	}
	unit := uint32(1)
	if t.class() == classNVarChar {
		t, unit = Type{id: typeNVarChar, collation: t.collation}, 2
	} else {
		t = Type{id: typeBigVarChar, collation: t.collation}
	}
	length := func(t Type) uint32 {
		if t.class() == classNVarChar {
			return t.size / 2
		}
		return t.size
	}
	if x.t.size == sizeMax || y.t.size == sizeMax {
		t.size = sizeMax
	} else {
		t.size = min(unit*(length(x.t)+length(y.t)), 8000)
	}
	return expr{t: t, eval: func(e *env) (any, error) {
		a, b, ok, err := both(e, x, y)
		if err != nil || !ok {
			return nil, err
		}
		s, okA := a.(string)
		u, okB := b.(string)
		if !okA || !okB {
			return nil, unknown("a sum of a text that is not held in memory", 0)
		}
		return s + u, nil
	}}
}

func integers(sign string, x, y expr) (expr, error) {
	t := Int
	if x.t.width() == 8 || y.t.width() == 8 {
		t = BigInt
	}
	return expr{t: t, eval: func(e *env) (any, error) {
		va, vb, ok, err := both(e, x, y)
		if err != nil || !ok {
			return nil, err
		}
		a, b := va.(int64), vb.(int64) //nolint:forcetypeassert // the values of integer types
		if (sign == "/" || sign == "%") && b == 0 {
			return nil, &ServerError{Number: 8134, State: 1, Class: 16, Message: "Divide by zero error encountered."}
		}
		n := new(big.Int)
		switch sign {
		case "+":
			n.Add(big.NewInt(a), big.NewInt(b))
		case "-":
			n.Sub(big.NewInt(a), big.NewInt(b))
		case "*":
			n.Mul(big.NewInt(a), big.NewInt(b))
		case "/":
			n.Quo(big.NewInt(a), big.NewInt(b))
		case "%":
			n.Rem(big.NewInt(a), big.NewInt(b))
		case "&":
			n.SetInt64(a & b)
		case "|":
			n.SetInt64(a | b)
		case "^":
			n.SetInt64(a ^ b)
		}
		if !n.IsInt64() || t == Int && (n.Int64() > math.MaxInt32 || n.Int64() < math.MinInt32) {
			return nil, overflow(t)
		}
		return n.Int64(), nil
	}}, nil
}

func floats(sign string, x, y expr) (expr, error) {
	switch sign {
	case "+", "-", "*", "/":
	default:
		return expr{}, unknown("float "+sign+" float", 0)
	}
	x, err := convert(x, Float, false)
	if err != nil {
		return expr{}, err
	}
	if y, err = convert(y, Float, false); err != nil {
		return expr{}, err
	}
	return expr{t: Float, eval: func(e *env) (any, error) {
		va, vb, ok, err := both(e, x, y)
		if err != nil || !ok {
			return nil, err
		}
		a, b := va.(float64), vb.(float64) //nolint:forcetypeassert // the values of float
		var f float64
		switch sign {
		case "+":
			f = a + b
		case "-":
			f = a - b
		case "*":
			f = a * b
		case "/":
			if b == 0 {
				return nil, &ServerError{Number: 8134, State: 1, Class: 16, Message: "Divide by zero error encountered."}
			}
			f = a / b
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, overflow(Float)
		}
		return f, nil
	}}, nil
}
