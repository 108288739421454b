package semantictest

import (
	"math/rand/v2"
	"strings"
)

// printer writes trees as texts of a model's file or of a request, in spellings that it
// draws.
type printer struct {
	*world
	rng    *rand.Rand
	source int // whose expression it is; -1: of a request
}

func (p *printer) chance(percent int) bool { return p.rng.IntN(100) < percent }

// ident writes a name, plain if it may stand so, else or sometimes in quotes.
func (p *printer) ident(name string) string {
	if plain(name) && !p.chance(10) {
		if ascii(name) && p.chance(3) {
			return strings.ToUpper(name)
		}
		return name
	}
	switch p.rng.IntN(3) {
	case 0:
		return "`" + name + "`"
	case 1:
		return "[" + name + "]"
	}
	return `"` + name + `"`
}

// plain says whether a name is a word.
func plain(name string) bool { return !strings.ContainsAny(name, " -.'\"") }

func (p *printer) columnName(n, c int) string {
	if n == self {
		name := p.ident(p.sources[p.source].columns[c].name)
		if p.chance(10) && !p.aliased(p.source) {
			return p.ident(p.sources[p.source].name) + "." + name
		}
		return name
	}
	name := p.of(n).columns[c].name
	if p.chance(15) && p.only(n, name, p.source >= 0) {
		return p.ident(name)
	}
	return p.ident(p.nodes[n].name) + "." + p.ident(name)
}

// only says whether a name without its source can mean this column alone.
func (p *printer) only(n int, name string, inModel bool) bool {
	if p.nodes[n].alias || p.aliased(n) || inModel && p.source == n {
		return false
	}
	for i, s := range p.sources {
		for _, c := range s.columns {
			if c.name == name && i != n {
				return false
			}
		}
		for _, m := range s.measures {
			if m.name == name {
				return false
			}
		}
	}
	return true
}

func (p *printer) aliased(source int) bool {
	for _, n := range p.nodes {
		if n.alias && n.source == source {
			return true
		}
	}
	return false
}

func (p *printer) measureName(n, m int) string {
	if n == self {
		return p.ident(p.sources[p.source].measures[m].name)
	}
	name := p.of(n).measures[m].name
	if p.source < 0 && p.chance(20) && !p.nodes[n].alias && !p.aliased(n) {
		count := 0
		for _, s := range p.sources {
			for _, o := range s.measures {
				if o.name == name {
					count++
				}
			}
			for _, c := range s.columns {
				if c.name == name {
					count++
				}
			}
		}
		if count == 1 {
			return p.ident(name)
		}
	}
	return p.ident(p.nodes[n].name) + "." + p.ident(name)
}

var infix = map[op]string{
	opAdd: "+", opSub: "-", opMul: "*", opDiv: "/", opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=",
	opAnd: "AND", opOr: "OR", opConcat: "||", opLike: "LIKE",
}

var prefix = map[op]string{
	opSafeDivide: "safe_divide", opCoalesce: "coalesce", opNullif: "nullif", opLower: "lower", opUpper: "upper",
	opLength: "length", opAbs: "abs", opFloor: "floor",
}

// text writes a tree. Operands that are operators themselves stand in brackets.
func (p *printer) text(t *tree) string {
	switch {
	case t.is(opLiteral):
		return p.literal(t.value, false)
	case t.is(opColumn):
		return p.columnName(t.node, t.col)
	case t.is(opMeasure):
		return p.measureName(t.node, t.col)
	case t.is(opAggregate):
		return p.aggregateText(t)
	case t.is(opNeg):
		return "- " + p.operand(t.args[0], false)
	case t.is(opNot):
		return p.word("NOT ") + p.operand(t.args[0], false)
	case t.is(opIsNull):
		return p.operand(t.args[0], false) + p.word(" IS NULL")
	case t.is(opNotNull):
		return p.operand(t.args[0], false) + p.word(" IS NOT NULL")
	case t.is(opIn):
		var list []string
		for _, a := range t.args[1:] {
			list = append(list, p.operand(a, true))
		}
		return p.operand(t.args[0], true) + p.word(" IN (") + strings.Join(list, ", ") + ")"
	case t.is(opBetween):
		return p.operand(t.args[0], true) + p.word(" BETWEEN ") + p.operand(t.args[1], true) + p.word(" AND ") + p.operand(t.args[2], true)
	case t.is(opCase):
		var b strings.Builder
		b.WriteString(p.word("CASE"))
		for i := 0; i+1 < len(t.args); i += 2 {
			b.WriteString(p.word(" WHEN ") + p.text(t.args[i]) + p.word(" THEN ") + p.text(t.args[i+1]))
		}
		return b.String() + p.word(" ELSE ") + p.text(t.args[len(t.args)-1]) + p.word(" END")
	case t.is(opTrunc):
		return "date_trunc('" + t.name + "', " + p.text(t.args[0]) + ")"
	case t.is(opExtract):
		return p.word("extract(") + t.name + p.word(" FROM ") + p.text(t.args[0]) + ")"
	case t.is(opShift):
		unit := " " + t.name
		if t.count != 1 {
			unit += "s"
		}
		return p.operand(t.args[0], false) + " + " + p.word("INTERVAL") + " '" + itoa(t.count) + unit + "'"
	}
	if name, ok := prefix[t.op]; ok {
		var list []string
		for _, a := range t.args {
			list = append(list, p.text(a))
		}
		return p.word(name) + "(" + strings.Join(list, ", ") + ")"
	}
	compares := t.op >= opEq && t.op <= opGe
	var list []string
	for _, a := range t.args {
		list = append(list, p.operand(a, compares))
	}
	return strings.Join(list, " "+p.word(infix[t.op])+" ")
}

// word writes a keyword in capitals or small letters.
func (p *printer) word(s string) string {
	if p.chance(30) {
		return strings.ToLower(s)
	}
	return s
}

func (p *printer) operand(t *tree, compared bool) string {
	if t.op == opLiteral {
		return p.literal(t.value, compared)
	}
	s := p.text(t)
	if t.is(opColumn, opMeasure, opAggregate, opTrunc, opExtract, opCase) {
		return s
	}
	if _, ok := prefix[t.op]; ok {
		return s
	}
	return "(" + s + ")"
}

func (p *printer) literal(v value, compared bool) string {
	switch v.kind {
	case number:
		s := v.canonical().Text
		if strings.HasPrefix(s, "-") {
			return "(" + s + ")"
		}
		return s
	case text:
		return "'" + strings.ReplaceAll(v.s, "'", "''") + "'"
	case boolean:
		return p.word(strings.ToUpper(v.key()))
	case moment:
		s := "'" + v.canonical().Text + "'"
		if compared && p.chance(60) {
			return s
		}
		if len(s) == 12 {
			return p.word("DATE ") + s
		}
		return p.word("TIMESTAMP ") + s
	case null:
	}
	return p.word("NULL")
}

func (p *printer) aggregateText(t *tree) string {
	s := p.word(t.name)
	switch {
	case len(t.args) == 0:
		s += "(*)"
	case t.distinct && t.name == "count" && p.chance(30):
		s = "count_distinct(" + p.text(t.args[0]) + ")"
	case t.distinct:
		s += p.word("(DISTINCT ") + p.text(t.args[0]) + ")"
	default:
		list := make([]string, len(t.args))
		for i, a := range t.args {
			list[i] = p.text(a)
		}
		s += "(" + strings.Join(list, ", ") + ")"
	}
	if t.filter != nil {
		s += p.word(" FILTER (WHERE ") + p.text(t.filter) + ")"
	}
	return s
}
