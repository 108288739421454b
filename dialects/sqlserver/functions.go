package sqlserver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// function is the tables' entry for a function of the server's own.
type function struct {
	name   string // in lower case
	page   string // of the reference
	syntax syntax
	table  bool // returns rows: for FROM
	code   sqlguard.Code
	reason string // why it is refused
}

// syntax says how the arguments of a function are read.
type syntax uint8

const (
	syntaxPlain        syntax = iota
	syntaxSkip                // refused without reading the arguments
	syntaxCast                // (x AS type)
	syntaxConvert             // (type, x)
	syntaxDatePart            // (datepart, …)
	syntaxTrim                // ([BOTH] c FROM s)
	syntaxIIF                 // (condition, a, b)
	syntaxStar                // may have *
	syntaxJSON                // key : value, NULL ON NULL
	syntaxProperty            // the name of a setting
	syntaxSized               // its result can be huge
	syntaxFullText            // CONTAINS and FREETEXT, which are conditions
	syntaxCondition           // a condition otherwise
	syntaxChanges             // CHANGETABLE: a table and its versions
	syntaxVectorSearch        // VECTOR_SEARCH: named arguments, a table among them
)

func (f *function) denied() bool { return f.code != "" }

func (f *function) ruling() sqlguard.Ruling {
	r := sqlguard.Ruling{Allowed: !f.denied(), Code: f.code, Reason: f.reason}
	if f.denied() {
		r.Reveal = revealedFunctions[f.name]
	}
	return r
}

// refusal is the ruling on a name that only resembles the function's or lacks its schema:
// it could be a function of a user, so no group reveals it.
func (f *function) refusal() sqlguard.Ruling { return sqlguard.Ruling{Code: f.code, Reason: f.reason} }

// functions are the functions that a name of one part can call, by that name.
// systemFunctions are those of the schema sys.
var functions, systemFunctions = makeFunctions()

// lookupFunction returns the function of that name in any case of its letters,
// or nil. It allocates nothing for names in lower case.
func lookupFunction(name string) *function {
	if fn := functions[name]; fn != nil {
		return fn
	}
	return functions[lexical.Lower(name)]
}

func makeFunctions() (own, system map[string]*function) {
	own, system = make(map[string]*function), make(map[string]*function)
	for _, page := range functionPages {
		for name := range strings.FieldsSeq(page.names) {
			own[name] = &function{name: name, page: page.page, table: page.table}
		}
	}
	for _, d := range deniedFunctions {
		for name := range strings.FieldsSeq(d.names) {
			own[name] = &function{name: name, page: d.page, syntax: d.syntax, table: true, code: d.code, reason: d.reason}
		}
	}
	for _, s := range syntaxes {
		for name := range strings.FieldsSeq(s.names) {
			own[name].syntax = s.syntax
		}
	}
	for _, page := range systemFunctionPages {
		for name := range strings.FieldsSeq(page.names) {
			system[name] = &function{name: name, page: page.page, table: page.table}
		}
	}
	for _, d := range deniedSystemFunctions {
		for name := range strings.FieldsSeq(d.names) {
			system[name] = &function{name: name, page: d.page, table: true, code: d.code, reason: d.reason}
		}
	}
	return own, system
}

// ruleUnknown rules on the call of a name that the tables do not list, and
// reports whether it belongs to the server.
func ruleUnknown(n *name) (rule sqlguard.Ruling, builtin bool) {
	last := skeleton(n.last().text)
	switch {
	case strings.HasPrefix(last, "xp_"):
		return sqlguard.Ruling{Code: sqlguard.CodeFunctionSideEffect, Reason: "an extended procedure runs code outside of the database"}, true
	case strings.HasPrefix(last, "sp_"):
		return sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: "a name with sp_ is that of a system procedure"}, true
	case n.n == 1 && foreignFunctions[last] != "":
		return sqlguard.Ruling{Reason: "it is not Transact-SQL"}, false
	case n.n > 2:
		return sqlguard.Ruling{Reason: "it lies in another database or on another server"}, true
	case n.n == 2 && systemSchemas[skeleton(n.parts[0].text)]:
		if fn := systemFunctions[last]; fn != nil && fn.denied() {
			return fn.refusal(), true
		}
		ruling := sqlguard.Ruling{Reason: "not on the list of system functions known to be pure"}
		if lexical.Lower(n.last().text) == last {
			ruling.Reveal = revealedFunctions[last]
		}
		return ruling, true
	}
	if fn := systemFunctions[last]; fn != nil && fn.denied() {
		return fn.refusal(), true
	}
	return sqlguard.Ruling{}, false
}

// Bounds of literals in functions whose result grows with them.
const (
	maxResultBytes = 16 << 20
	maxSeriesRows  = 10_000_000
)

// excess returns the reason when the literals of a call ask for more than the limits: the
// second argument of REPLICATE, or the bounds of GENERATE_SERIES. start is the position of
// the first argument.
func (p *parser) excess(function string, start int) string {
	args := p.numbers(start)
	switch function {
	case "replicate", "space":
		if last := len(args) - 1; last >= 0 && args[last] != nil && *args[last] > maxResultBytes {
			return fmt.Sprintf("it makes a string of more than %d MiB", maxResultBytes>>20)
		}
	case "generate_series":
		if len(args) < 2 || args[0] == nil || args[1] == nil {
			break
		}
		step := 1.0
		if len(args) > 2 {
			if args[2] == nil || *args[2] == 0 {
				break
			}
			step = *args[2]
		}
		if (*args[1]-*args[0])/step > maxSeriesRows || (*args[0]-*args[1])/step > maxSeriesRows {
			return fmt.Sprintf("it makes more than %d rows", maxSeriesRows)
		}
	}
	return ""
}

// numbers returns the arguments from start to the current token that are
// numbers with or without a sign; the others are nil.
func (p *parser) numbers(start int) []*float64 {
	var out []*float64
	depth, from := 0, start
	for i := start; i < min(p.at, len(p.toks)); i++ {
		switch p.toks[i].kind { //nolint:exhaustive // only these tell arguments apart
		case sqlguard.TokenOpen:
			depth++
			continue
		case sqlguard.TokenClose:
			if depth--; depth >= 0 {
				continue
			}
		case sqlguard.TokenComma:
			if depth > 0 {
				continue
			}
		default:
			continue
		}
		out = append(out, p.number(from, i))
		from = i + 1
		if depth < 0 {
			break
		}
	}
	return out
}

// number returns the value of the tokens from … to-1 if they are a number, else nil.
func (p *parser) number(from, to int) *float64 {
	sign := 1.0
	for ; from < to-1; from++ {
		switch p.sql[p.toks[from].start:p.toks[from].end] {
		case "-":
			sign = -sign
		case "+":
		default:
			return nil
		}
	}
	if from != to-1 || p.toks[from].kind != sqlguard.TokenNumber {
		return nil
	}
	text := p.sql[p.toks[from].start:p.toks[from].end]
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		whole, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return nil
		}
		v = float64(whole)
	}
	v *= sign
	return &v
}
