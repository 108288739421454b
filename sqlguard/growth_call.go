package sqlguard

import (
	"fmt"
	"strings"
	"unicode"
)

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
	values := m.ordered(open+1, stop)
	m.arguments(open+1, values, func(start, end int) {
		var a amount
		if from, to, body, ok := m.lambda(start, end); ok {
			names := m.parameters(from, to, first)
			a = m.query(body, end)
			if kind == MakesReduced && m.unbounded(names, from, body, end) {
				a.size = boundless
			}
		} else {
			a = m.query(start, end)
		}
		first = first.plus(a)
		args = append(args, a)
	})
	for at := values; at < stop; at++ { // MySQL's separator stands behind ORDER BY
		if m.word(at) == "separator" {
			args = append(args, m.query(at+1, stop))
			break
		}
	}
	if values < stop {
		m.expression(values+2, stop) // told if it makes something large, and no part of the value
	}
	out := m.made(name, open, stop, of, args, inFrom)
	if of.path { // or the name of a schema
		out = out.join(m.made(name, open, stop, operand{}, args[1:], inFrom))
	}
	return out
}

// ordered returns where the ORDER BY of an aggregate's arguments begins, or stop.
func (m *meter) ordered(start, stop int) int {
	for i := start; i < stop; i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen:
			i = m.closing(i, stop)
		case m.isClause(i) && m.word(i) == "select", m.isClause(i) && m.word(i) == "with", m.isClause(i) && m.word(i) == "values":
			return stop // of a query
		case i > start && m.word(i) == "order" && m.word(i+1) == "by" && m.tokens[i-1].Kind != TokenDot:
			return i
		}
	}
	return stop
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
		if isCast(fn) && m.castsToNumber(stop-1, stop) || fn == "convert" && m.convertsToNumber(open, stop) {
			out.size, out.text, out.items, out.each = min(out.size, numberSize), false, 0, 0
		}
		if isCast(fn) && m.growth.Quotes && out.text && stop > open+1 && m.tokens[open+1].Kind != TokenString {
			out.size = out.quoted()
		}
		out.wild = out.wild || m.growth.Strict && !numbers[fn] && !choices[fn] && !plain[fn]
		out.tiny = out.tiny || numbers[fn] && !whole[fn]
		if inFrom { // a row for each part of its arguments
			one, rows := all.element()
			if fn == "unnest" {
				one.text = true
				out = one
			}
			out.rows = rows
		}
	case MakesRepeat:
		out = amount{size: max(arg(0).size, 1) * arg(1).count()}
	case MakesPad:
		out = amount{size: max(arg(1).count(), arg(2).size)}
	case MakesResize:
		out = amount{size: arg(0).size + arg(1).count()*max(arg(2).size, 8)}
	case MakesCount:
		if out = (amount{size: arg(0).count()}); m.growth.Unsigned && fn == "char" && m.word(name-1) == "as" {
			return amount{} // MySQL does not pad to the length of a type
		}
	case MakesFill:
		// The third argument says the first place, which MakesIndex can return.
		out = amount{size: max(arg(0).size, 8) * arg(1).count(), num: all.num}.signs(all)
	case MakesFourfold:
		out.size *= 4
	case MakesText:
		out.size = all.quoted()
	case MakesTwelvefold:
		out.size *= 12
		out.wild = true // a date can become a long number
	case MakesBits:
		out.size *= 64
	case MakesInflated:
		if out.size > 0 {
			out.size = boundless
		}
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
		if m.growth.Quotes || m.growth.Hiding != "" { // %L, and %s of a row
			out.size = all.quoted()
		}
		out.size += m.padding(open+1, stop, of, all.count())
		for i := 1; i < len(args); i++ { // a format can have an argument more than once
			if m.refers(open+1, stop, of) {
				out.size = max(out.size, arg(0).size/2*args[i].size)
			}
		}
	case MakesRows:
		n := m.moments(open+1, stop, of, args, false, all.count())
		out = amount{num: max(n, all.num), rows: max(n, 1)}
	case MakesSeries, MakesDays:
		n := all.count()
		if !all.wild {
			n /= m.step(open+1, stop)
		}
		switch times, ok := m.times(open+1, stop); {
		case !m.growth.Aliases:
			n = m.moments(open+1, stop, of, args, kind == MakesDays, n)
		case ok:
			n = times
		default:
			n = m.steps(open+1, stop, args, arg(2).num)
		}
		out = amount{num: max(n, all.num), rows: max(n, 1)}
		if !inFrom {
			out = amount{num: max(n, all.num), size: 8 * n, items: n, each: 20}
		}
	case MakesAll:
		rows := m.rows()
		if strings.Contains(fn, "json") {
			all.size = all.quoted()
		}
		if rows > 1 {
			all.size = max(all.size, 20)
		}
		out = amount{size: all.size * rows, num: all.num}.signs(all)
		switch {
		case m.growth.Aliases:
			out.items, out.each = rows, all.size
		case fn == "array_agg" && !m.growth.lambdas():
			// The arrays of PostgreSQL have no arrays in them: those of the rows give their elements.
			one, n := all.element()
			if m.castsToScalar(open+1, m.ordered(open+1, stop)) {
				one, n = all, 1
			}
			out.items, out.each = rows*n, one.size
		}
	case MakesJoined:
		_, n := arg(0).element()
		if m.growth.Quotes && m.growth.lambdas() { // of lists in a list
			out.size = all.quoted()
		}
		out.size += n * arg(1).join(arg(2)).size
	case MakesChain:
		if m.growth.Quotes {
			out.size = all.quoted()
		}
		out.size += float64(len(args)) * arg(0).size
	case MakesBins:
		out = amount{size: 8 * arg(2).count()}
	case MakesSquare:
		out.size = all.size * max(4, arg(1).size) * m.depth(open+1, stop, arg(0).size)
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
		if fn == "bit_length" {
			out.num *= 8
		}
	case MakesIndex:
		// A place is at most the first place of the list and how many elements it has. The first
		// place is 1, or a number that stands in the list's text or was given to MakesFill.
		_, n := all.element()
		out = amount{num: all.num + max(all.size, n), size: 20}.signs(all)
	case MakesLarge:
		out = amount{num: boundless, size: max(20, 12*all.size)}
	case MakesPower:
		out = amount{num: power(arg(0).num, arg(1).count()), size: 20, wild: arg(0).wild || arg(0).tiny && arg(0).num >= 1}
	case MakesSmall:
		out = amount{num: max(min(all.count(), 1e6), 4), size: min(all.size, 64), tiny: fn == "random" || fn == "rand"}
		if all.text && all.size > 0 {
			out.num = unicode.MaxRune // of a character
		}
	case MakesTotal:
		out = amount{num: all.num * max(m.reading, 1), size: 20}.signs(all)
	case MakesNumber:
		out = amount{num: max(m.reading, 1), size: 20}
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
	if fn == "cast" && m.growth.Aliases && m.castsToOne(stop) {
		out.size, out.text, out.items, out.each = min(out.size, numberSize), false, 0, 0
	}
	if out.text && !choices[fn] && !kind.holds() {
		out.num = max(out.num, power(10, out.size)) // it may be digits
	}
	if kind == MakesCount && strings.HasPrefix(fn, "bit") {
		out.num = power(2, arg(0).count())
	}
	if !m.growth.lambdas() && !lists[fn] && !choices[fn] {
		out.items, out.each = 0, 0 // it may make a text of the elements, and others of the text
	}
	if out = out.bound(); out.size > m.most {
		m.tell(name, stop+1, fmt.Sprintf("the function %s makes a value of up to %s bytes from constants; the limit is %s", fn, count(out.size), count(m.most)))
		out.size, out.items, out.each = 0, 0, 0 // told once
	}
	return out
}

// convertsToNumber reports whether SQL Server's CONVERT(type, value) names a numeric type.
func (m *meter) convertsToNumber(open, stop int) bool {
	next := open + 2
	if !m.growth.Plus || next >= stop || !m.castsToNumber(open+1, open+2) {
		return false
	}
	if m.tokens[next].Kind == TokenOpen {
		next = m.closing(next, stop) + 1
	}
	return next < stop && m.tokens[next].Kind == TokenComma
}

// castsToOne reports whether a CAST that closes at stop makes one number, or none: whether AS
// and the name of a numeric type are its end, also in Nullable(…).
func (m *meter) castsToOne(stop int) bool {
	at := stop - 1
	if at >= 4 && m.tokens[at].Kind == TokenClose && m.word(at-3) == "nullable" {
		at--
		return m.word(at-3) == "as" && m.castsToNumber(at, stop)
	}
	return at > 0 && m.word(at-1) == "as" && m.castsToNumber(at, stop)
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

// depth returns how deep the first argument may be nested: as deep as it has brackets when it
// is a literal, else as deep as it is long.
func (m *meter) depth(start, end int, size float64) float64 {
	if m.tokens[start].Kind != TokenString || start+1 < end && m.tokens[start+1].Kind != TokenComma && m.text(start+1) != "::" {
		return size
	}
	return float64(strings.Count(m.text(start), "[") + strings.Count(m.text(start), "{") + 1)
}

// numbers are functions whose value is a number, whatever their arguments are, and whole
// those of them that make no fraction of whole numbers. choices return one of their
// arguments, and plain are functions whose value is a number that is no larger than those
// among the arguments, or a text of parts of them.
var (
	numbers = words("abs avg cbrt ceil ceiling count floor ln log log10 log2 mod round sqrt sum trunc truncate width_bucket ntile")
	whole   = words("abs ceil ceiling count floor mod round sum trunc truncate width_bucket ntile")
	choices = words("coalesce greatest ifnull least max min nullif isnull nvl if iif lag lead first_value last_value nth_value any_value percentile_disc percentile_cont median mode")
	plain   = words(`upper lower ucase lcase trim ltrim rtrim btrim substr substring left right mid reverse initcap concat split_part translate overlay insert
		cast convert try_cast row array unnest string_to_array regexp_substr regexp_replace json_extract json_value json_unquote json_query jsonb_extract json json_each json_tree
		json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text json_extract_path json_extract_path_text jsonb_extract_path jsonb_extract_path_text
		json_to_recordset jsonb_to_recordset json_table varchar nvarchar char character varying numeric decimal dec number int integer bigint smallint tinyint float real double text
		grouping grouping_id stddev stddev_pop stddev_samp typeof pg_typeof values some every bool_and bool_or`)
)

// lists are the functions of PostgreSQL that make a list whose elements are those of their
// arguments.
var lists = words("array_agg unnest array_cat array_append array_prepend")

func words(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}
