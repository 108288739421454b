package postgres

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// checkArguments judges the arguments of a function that is allowed only with some
// arguments.
func (w *walker) checkArguments(n *funcCall, check argumentCheck, span sqlguard.Span) bool {
	switch check {
	case checkNone:
		return true
	case checkSettingName:
		// The call passes. The setting that it reads is judged separately.
		name, literal := "", false
		if len(n.Args) == 1 && !n.FuncVariadic && w.namedSetting(n.Args[0]) {
			return true
		}
		if len(n.Args) > 0 && !n.FuncVariadic {
			name, literal = settingName(argument(n, 0))
		}
		w.noteSetting(name, span, sqlguard.Ruling{Allowed: literal && settingAllowed(name)})
		return true
	case checkTypeName:
		text := argument(n, 1).GetAConst().GetSval()
		return text != nil && !n.FuncVariadic && w.typeText(text.Sval, n.Location)
	case checkThreeArguments:
		return len(n.Args) == 3 && !n.FuncVariadic
	case checkRepeat, checkPad:
		return textSize(n) <= maxLiteralText
	case checkSeries:
		return seriesFits(n)
	case checkBand:
		return len(n.Args) < 2 || !n.FuncVariadic && visiblyNoText(n.Args[1])
	case checkTopology:
		return w.topology(n)
	case checkSRID:
		return len(n.Args) == 2 && !n.FuncVariadic && visiblyInteger(n.Args[1])
	default:
		return false
	}
}

// argument returns an argument by its position. It returns nil when there is none, or
// when the call gives it by name: no checked function of the server has named arguments.
func argument(n *funcCall, place int) *node {
	if place >= len(n.Args) || n.Args[place].GetNamedArgExpr() != nil {
		return nil
	}
	return n.Args[place]
}

// number returns the value of a numeric literal, through signs, arithmetic and casts. A
// string literal counts when it contains a number.
func number(n *node) (float64, bool) {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	if c := n.GetAConst(); c != nil {
		switch {
		case c.GetIval() != nil:
			return float64(c.GetIval().Ival), true
		case c.GetFval() != nil:
			return parseNumber(c.GetFval().Fval)
		case c.GetSval() != nil:
			return parseNumber(strings.TrimSpace(c.GetSval().Sval))
		}
		return 0, false
	}
	if e := n.GetAExpr(); e != nil && len(e.Name) == 1 {
		return calculated(e)
	}
	return 0, false
}

// calculated is number for an operator over two literals, or a sign.
func calculated(e *aExpr) (float64, bool) {
	right, known := number(e.Rexpr)
	if !known {
		return 0, false
	}
	op := e.Name[0].GetString_().GetSval()
	if e.Lexpr == nil {
		switch op {
		case "-":
			return -right, true
		case "+":
			return right, true
		}
		return 0, false
	}
	left, known := number(e.Lexpr)
	if !known {
		return 0, false
	}
	switch op {
	case "+":
		return left + right, true
	case "-":
		return left - right, true
	case "*":
		return left * right, true
	case "/":
		return left / right, right != 0
	case "^":
		return math.Pow(left, right), true
	case "<<":
		return left * math.Pow(2, right), true
	default:
		return 0, false
	}
}

func parseNumber(text string) (float64, bool) {
	text = strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(text, 0, 64); err == nil && !strings.HasPrefix(text, "0") {
		return float64(i), true
	}
	if len(text) > 1 && text[0] == '0' && (text[1]|0x20 == 'x' || text[1]|0x20 == 'o' || text[1]|0x20 == 'b') {
		u, err := strconv.ParseUint(text, 0, 64)
		return float64(u), err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		return f, true
	}
	return f, err == nil
}

// textSize returns a lower bound of the length of an expression as text, from its
// literals. It returns 1 when there are none.
func textSize(f *funcCall) float64 {
	name := lastName(f.Funcname)
	switch name {
	case "repeat":
		if count, known := number(argument(f, 1)); known {
			return sizeOf(argument(f, 0)) * count
		}
	case "lpad", "rpad":
		if length, known := number(argument(f, 1)); known {
			return length
		}
	case "md5":
		return 32
	}
	return 1
}

func sizeOf(n *node) float64 {
	if cast := n.GetTypeCast(); cast != nil {
		n = cast.Arg
	}
	if s := n.GetAConst().GetSval(); s != nil {
		return float64(max(len(s.Sval), 1))
	}
	if f := n.GetFuncCall(); f != nil {
		return textSize(f)
	}
	return 1
}

// visiblyInteger reports whether an expression is an integer for all types of its
// columns.
func visiblyInteger(n *node) bool {
	if n.GetAConst().GetIval() != nil {
		return true
	}
	if cast := n.GetTypeCast(); cast != nil && len(cast.TypeName.GetArrayBounds()) == 0 {
		name := lastName(cast.TypeName.GetNames())
		return name == "int2" || name == "int4" || name == "int8"
	}
	if f := n.GetFuncCall(); f != nil {
		name := lastName(f.Funcname)
		return name == "st_srid"
	}
	return false
}

// visiblyNoText reports whether an expression is a number, a Boolean or an array for all
// types of its columns.
func visiblyNoText(n *node) bool {
	c := n.GetAConst()
	return c.GetIval() != nil || c.GetFval() != nil || c.GetBoolval() != nil || n.GetAArrayExpr() != nil || visiblyInteger(n)
}

// typeText judges the name of a type in a literal. It accepts a built-in type. It notes
// any other plain name like the type of a cast.
func (w *walker) typeText(text string, location int32) bool {
	if builtinTypeText(text) && (w.names == nil || !extensionType(typeWord(text))) {
		return true
	}
	schema, name, qualified := strings.Cut(strings.ToLower(text), ".")
	if !qualified {
		schema, name = "", schema
	}
	for part := range strings.SplitSeq(strings.ToLower(text), ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
			return false
		}
	}
	if strings.Contains(name, ".") {
		return false
	}
	w.noteType(schema, name, location)
	return true
}

// typeWord returns the name in a written type, without modifiers and brackets.
func typeWord(text string) string {
	word := strings.ToLower(strings.TrimSpace(text))
	if end := strings.IndexAny(word, "([ "); end >= 0 {
		word = word[:end]
	}
	return strings.TrimPrefix(word, "_")
}

// seriesFits reports whether generate_series over visible numbers stays within
// maxLiteralRows. It does not judge series of times; the limits of the connection bound
// them.
func seriesFits(n *funcCall) bool {
	start, startKnown := number(argument(n, 0))
	stop, stopKnown := number(argument(n, 1))
	step := 1.0
	if len(n.Args) > 2 {
		given, known := number(argument(n, 2))
		if !known || given == 0 {
			return true
		}
		step = given
	}
	return !startKnown || !stopKnown || (stop-start)/step < maxLiteralRows
}

// settingName returns the name of a setting that an argument gives as a
// literal, bare or cast to text.
func settingName(n *node) (string, bool) {
	if cast := n.GetTypeCast(); cast != nil {
		if name := lastName(cast.TypeName.GetNames()); name != "text" || len(cast.TypeName.ArrayBounds) > 0 {
			return "", false
		}
		n = cast.Arg
	}
	if s := n.GetAConst().GetSval(); s != nil {
		return cmp.Or(s.Sval, " "), true // "" would mean a computed name
	}
	return "", false
}
