package sqlguard

import (
	"fmt"
	"strings"
	"unicode"
)

// units are the parts of a day by the words for them, each as often as a day has it.
var units = []struct {
	word string
	n    float64
}{{"microsecond", 86400e6}, {"millisecond", 86400e3}, {"second", 86400}, {"minute", 1440}, {"hour", 24}}

// times returns how many moments there are between two literal dates in steps of an interval,
// and false for a series of numbers. A date that is no literal counts as the other one. ok
// at first says that they are days unless there is an interval.
func (m *meter) times(start, end int, ok bool) (n float64, _ bool) {
	first, last, perDay, step := boundless, 0.0, 1.0, boundless
	seen := false // an interval
	for i := start; i < end; i++ {
		text := strings.ToLower(m.text(i))
		if m.word(i) == "interval" {
			ok, seen = true, true
		}
		switch t := m.tokens[i]; {
		case t.Kind == TokenNumber && i >= start+2 && m.word(i-2) == "date" && m.tokens[i-1].Kind == TokenOpen:
			if year := numberOf(text); year > 0 {
				first, last = min(first, year), max(last, year)
			}
		case t.Kind == TokenString && len(text) > 6 && text[5] == '-':
			if year := numberOf(text[1:5]); year > 0 {
				first, last = min(first, year), max(last, year)
			}
		case seen && (t.Kind == TokenNumber || t.Kind == TokenString):
			for field := range strings.FieldsSeq(strings.Trim(text, "'")) {
				if x := numberOf(field); x > 0 {
					step = min(step, x)
				}
			}
		}
		for _, u := range units {
			if ok && strings.Contains(text, u.word) {
				perDay = max(perDay, u.n)
				break
			}
		}
	}
	if !ok || last == 0 {
		return 0, ok
	}
	if step == boundless || step == 0 {
		step = 1
	}
	return (last - first + 1) * 366 * perDay / step, true
}

// parameters lets the names between start and end stand for an element of a list, or for
// its position.
func (m *meter) parameters(start, end int, list amount) map[string]bool {
	element, n := list.element()
	element.num = max(element.num, min(n, boundless))
	names := map[string]bool{}
	for i := start; i < end; i++ {
		if m.isName(i) {
			m.give(m.name(i), element)
			names[m.name(i)] = true
		}
	}
	return names
}

// lambda returns where the parameters and the body of a lambda begin, or false.
func (m *meter) lambda(start, end int) (from, to, body int, ok bool) {
	if !m.growth.lambdas() || start >= end {
		return 0, 0, 0, false
	}
	if m.growth.Methods && m.word(start) == "lambda" {
		for i := start + 1; i < end; i++ {
			if m.text(i) == ":" {
				return start + 1, i, i + 1, true
			}
		}
		return 0, 0, 0, false
	}
	at := start
	if m.tokens[start].Kind == TokenOpen {
		at = m.closing(start, end)
	}
	if at+1 < end && m.text(at+1) == "->" {
		return start, at + 1, at + 2, true
	}
	return 0, 0, 0, false
}

// arguments is like split, for the arguments of a function: the parameters of a lambda are
// one argument with its body.
func (m *meter) arguments(start, end int, each func(start, end int)) {
	const maxParameters = 32 // no list function has more than three
	lambda, parameters := -1, 0
	m.split(start, end, func(start, end int) {
		if m.growth.Methods && lambda < 0 && m.word(start) == "lambda" {
			lambda, parameters = start, 0
		}
		if lambda >= 0 {
			start = lambda
			if _, _, _, ok := m.lambda(start, end); !ok {
				if parameters++; parameters < maxParameters {
					return // its body comes later
				}
			}
			lambda = -1
		}
		each(start, end)
	})
}

// call measures the call of the function that is named at name, with arguments between open
// and stop, and what stands before a dot in front of the name. inFrom says that it is a
// relation.
func (m *meter) call(name, open, stop int, of operand, inFrom bool) amount {
	if m.growth.Aliases {
		return m.folded(name, open, stop, inFrom)
	}
	fn := m.name(name)
	kind := m.growth.Makers[fn]
	var args []amount
	if of.end > of.start {
		args = append(args, of.amount)
	}
	var first amount // the arguments before a lambda
	for _, a := range args {
		first = first.plus(a)
	}
	// FROM, FOR and IN separate arguments too, and an aggregate has an ORDER BY.
	m.arguments(open+1, stop, func(start, end int) {
		var a amount
		if from, to, body, ok := m.lambda(start, end); ok {
			names := m.parameters(from, to, first)
			a = m.query(body, end)
			if kind == MakesReduced && m.doubles(body, end, names) {
				a.size = boundless
			}
		} else {
			a = m.query(start, end)
		}
		first = first.plus(a)
		args = append(args, a)
	})
	out := m.made(name, open, stop, of, args, inFrom)
	if of.path { // or the name of a schema
		out = out.join(m.made(name, open, stop, operand{}, args[1:], inFrom))
	}
	return out
}

// made measures what a function makes of its arguments.
func (m *meter) made(name, open, stop int, of operand, args []amount, inFrom bool) amount {
	var all amount
	for _, a := range args {
		all = all.plus(a)
	}
	all.rows = 0
	arg := func(i int) amount {
		if i < len(args) {
			return args[i]
		}
		return amount{}
	}
	fn := m.name(name)
	if m.growth.Costly[fn] && all.size > m.most/costlyShare {
		m.tell(name, stop+1, fmt.Sprintf("the function %s gets %s bytes from constants; its cost grows faster than that, and the limit is %s", fn, count(all.size), count(m.most/costlyShare)))
	}
	out := all
	kind, _ := m.growth.kind(fn, m.text(name))
	switch kind { //nolint:exhaustive // more has the others
	case MakesColumns: // all that the statement gives names to
		out = m.any()
	case MakesSum:
		switch {
		case numbers[fn]:
			out.size, out.text, out.items, out.each = min(out.size, numberSize), false, 0, 0
		case !choices[fn]:
			out.text = true
		}
		if inFrom { // a row for each part of its arguments
			one, rows := all.element()
			if fn == "unnest" {
				one.text = true
				out = one
			}
			out.rows = rows
		}
	case MakesRepeat:
		out = amount{size: max(arg(0).size, 1) * arg(1).num}
	case MakesPad:
		out = amount{size: max(arg(1).num, arg(2).size)}
	case MakesResize:
		out = amount{size: arg(0).size + arg(1).num*max(arg(2).size, 8)}
	case MakesCount:
		out = amount{size: arg(0).num}
	case MakesFill:
		out = amount{size: max(arg(0).size, 8) * arg(1).num}
	case MakesFourfold:
		out.size *= 4
	case MakesReplace:
		out = amount{size: max(arg(0).size, 1) * max(arg(2).size, 1)}
		if arg(0).size == 0 {
			out.size = arg(2).size // the text is data
		}
	case MakesReplaceText:
		// Matches do not overlap, and what takes their place is not searched again. So
		// n bytes have at most n/m matches of m bytes, and become n + n/m × (to - m).
		out = amount{size: max(arg(0).size, 1) * max(arg(2).size/m.searched(open+1, stop, of), 1)}
	case MakesFormat:
		out.size += m.padding(open+1, stop, of, all.num)
		for i := 1; i < len(args); i++ { // a format can have an argument more than once
			if m.refers(open+1, stop, of) {
				out.size = max(out.size, arg(0).size/2*args[i].size)
			}
		}
	case MakesRows:
		out = amount{num: all.num, rows: max(all.num, 1)}
	case MakesSeries, MakesDays:
		n := all.num / m.step(open+1, stop)
		if times, ok := m.times(open+1, stop, kind == MakesDays); ok {
			n = times
		} else if m.growth.Aliases {
			n = m.steps(open+1, stop, args, arg(2).num)
		}
		out = amount{num: max(n, all.num), rows: max(n, 1)}
		if !inFrom {
			out = amount{num: max(n, all.num), size: 8 * n, items: n, each: 20}
		}
	case MakesAll:
		rows := m.rows()
		if rows > 1 {
			all.size = max(all.size, 20)
		}
		out = amount{size: all.size * rows, num: all.num}
		if m.growth.Aliases {
			out.items, out.each = rows, all.size
		}
	case MakesJoined:
		_, n := arg(0).element()
		out.size += n * arg(1).join(arg(2)).size
	case MakesChain:
		out.size += float64(len(args)) * arg(0).size
	case MakesBins:
		out = amount{size: 8 * arg(2).num}
	case MakesSquare:
		out = amount{size: all.size * all.size}
	case MakesEach:
		out = all
		switch {
		case len(args) > 1 && m.growth.Aliases:
			out = zipped(args[1:]).mapped(args[0])
		case len(args) > 1:
			out = args[0].mapped(args[len(args)-1])
		}
	case MakesReduced:
		_, n := arg(0).element()
		if m.growth.Aliases && len(args) > 1 {
			_, n = zipped(args[1:]).element()
		}
		out = amount{size: all.size + n*all.size, num: boundless}
		if len(args) == 1 {
			out.size = all.size
		}
	case MakesLength:
		_, n := all.element()
		out = amount{num: max(all.size, n)}
	case MakesLarge:
		out = amount{num: boundless, size: 20}
	case MakesPower:
		out = amount{num: power(arg(0).num, arg(1).num), size: 20}
	case MakesSmall:
		out = amount{num: min(all.num, 1e6), size: min(all.size, 64)}
		if all.text && all.size > 0 {
			out.num = unicode.MaxRune // of a character
		}
	case MakesTotal:
		out = amount{num: all.num * max(m.names["\x00rows"].rows, 1), size: 20}
	case MakesNumber:
		out = amount{num: max(m.names["\x00rows"].rows, 1), size: 20}
	default:
		out = m.more(kind, open, stop, args, all)
	}
	switch kind { //nolint:exhaustive // the others are alike
	case MakesSum:
	case MakesRows, MakesNumbers:
		out.text = false
	case MakesHeld, MakesUnrolled, MakesCast:
		out.text = all.text
	default:
		out.text = kind.long()
	}
	if out.text && !choices[fn] && !kind.holds() {
		out.num = max(out.num, power(10, out.size)) // it may be digits
	}
	if out = out.bound(); out.size > m.most {
		m.tell(name, stop+1, fmt.Sprintf("the function %s makes a value of up to %s bytes from constants; the limit is %s", fn, count(out.size), count(m.most)))
		out.size, out.items, out.each = 0, 0, 0 // told once
	}
	return out
}

// step returns the third argument if it is a literal number that is larger than 1, else 1.
func (m *meter) step(start, end int) float64 {
	argument, step := 0, 1.0
	m.split(start, end, func(start, end int) {
		if argument++; argument == 3 && end == start+1 && m.tokens[start].Kind == TokenNumber {
			step = max(numberOf(m.text(start)), 1)
		}
	})
	return step
}

// searched returns how many bytes a function replaces at least when it replaces its
// second argument. That is 1 unless the argument is a plain literal. Each of its
// characters is at least one byte in the text, whatever the character sets are.
//
// Where a collation decides, only letters of ASCII count, and two as one byte: a
// collation can pass over all other characters, and be told that digits are a number,
// but no character of n bytes equals more than 2n letters (\u33af, of three bytes, is
// rad/s2).
func (m *meter) searched(start, end int, of operand) float64 {
	argument, at := 0, -1
	if of.end > of.start {
		argument = 1
	}
	m.split(start, end, func(start, end int) {
		if argument++; argument == 2 && end == start+1 && m.tokens[start].Kind == TokenString {
			at = start
		}
	})
	if at < 0 {
		return 1
	}
	text := m.text(at)
	if len(text) < 2 || text[0] != '\'' || text[len(text)-1] != '\'' || strings.Contains(text, `\`) {
		return 1
	}
	quotes := strings.Count(text[1:len(text)-1], "''")
	text = strings.ReplaceAll(text[1:len(text)-1], "''", "")
	if strings.Contains(text, "'") {
		return 1 // two literals in one
	}
	n := 0.0
	if !m.growth.Collates {
		n = float64(quotes)
	}
	for _, c := range text {
		switch {
		case !m.growth.Collates:
			n++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			n += 0.5
		}
	}
	return max(n, 1)
}

// numbers are functions whose value is a number, whatever their arguments are. choices
// return one of their arguments.
var (
	numbers = map[string]bool{
		"abs": true, "avg": true, "ceil": true, "ceiling": true, "count": true, "floor": true, "ln": true, "log": true, "log10": true, "mod": true,
		"round": true, "sqrt": true, "sum": true, "trunc": true, "truncate": true,
	}
	choices = map[string]bool{"coalesce": true, "greatest": true, "ifnull": true, "least": true, "max": true, "min": true, "nullif": true}
)
