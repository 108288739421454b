package sqlguard

import (
	"fmt"
	"strconv"
	"strings"
)

// numberOf returns the value of a number, or 0.
func numberOf(text string) float64 {
	text = strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseFloat(text, 64); err == nil || n > 0 {
		return max(n, -n)
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return float64(n)
	}
	return 0
}

// literal measures a string. A string may become a number by a cast, and a date that
// is subtracted from another one becomes a number of days.
func literal(text string) amount {
	open := strings.IndexAny(text, `'"`)
	if strings.HasPrefix(text, "$") {
		open = strings.IndexByte(text[1:], '$') + 1
	}
	prefix, body := "", text
	if open >= 0 {
		prefix, body = strings.ToLower(text[:open]), text[open+1:max(len(text)-1, open+1)]
	}
	a := amount{size: float64(len(body)), text: true}
	switch prefix {
	case "x", "b":
		if n, err := strconv.ParseUint(body, map[string]int{"x": 16, "b": 2}[prefix], 64); err == nil {
			a.num = float64(n)
		} else if len(body) > 8 {
			a.num = boundless
		}
	default:
		a.num = max(numberOf(strings.TrimSpace(body)), numberIn(body))
		a.tiny, a.negative = strings.ContainsAny(body, ".eE"), strings.Contains(body, "-")
		if strings.Contains(body, `\`) { // digits may be written as escapes
			a.num = max(a.num, power(10, a.size))
		}
	}
	return a
}

// literal measures a string. Where a backslash hides characters in hexadecimal digits alone,
// they are decoded.
func (m *meter) literal(text string) amount {
	if !m.growth.Aliases || !strings.Contains(text, `\`) {
		return literal(text)
	}
	a := literal(strings.ReplaceAll(unslash(text), `\`, ""))
	a.size = max(a.size, float64(len(text)))
	return a
}

// numberIn returns the largest number that is written in a text, such as one of JSON.
func numberIn(text string) (most float64) {
	isDigit := func(i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }
	for i := 0; i < len(text); i++ {
		if !isDigit(i) {
			continue
		}
		end := i
		for isDigit(end) || end < len(text) && text[end] == '.' && isDigit(end+1) {
			end++
		}
		if end < len(text) && text[end]|0x20 == 'e' && (isDigit(end+1) || end+1 < len(text) && text[end+1] == '+' && isDigit(end+2)) {
			for end++; isDigit(end) || end < len(text) && text[end] == '+'; end++ {
			}
		}
		most = max(most, numberOf(text[i:end]))
		i = end
	}
	return most
}

// maxDays is how many days there are between two dates that a server knows.
const maxDays = 2.2e9

// expression measures the tokens from start to end. The length is the sum of all
// parts, because any operator may join them. Numbers are combined from left to right,
// each as at least 1: that is no less than any order of the operators gives.
func (m *meter) expression(start, end int) amount {
	var out amount
	operator := "+"
	costly, dates, minus, bits := "", false, false, false
	// What stands between WHEN and THEN is not part of the value.
	condition, inCondition := 0.0, false
	var before amount // the value without its last operand
	var last operand
	joined := false // a text is made from others
	add := func(a amount, from, to int) {
		if m.growth.Quotes && operator == "||" && to > from+1 { // it may be a row
			a.size = a.quoted()
		}
		before1, before2 := before, last
		before, last = out, operand{amount: a, start: from, end: to, operator: operator}
		if inCondition {
			condition += a.size
			a.size, a.text, a.items, a.each = 0, false, 0, 0
		}
		sum := out.plus(a)
		out.size, out.items, out.each, out.rows = sum.size, sum.items, sum.each, sum.rows
		out.text = out.text || a.text && a.size > 0
		if inCondition {
			return
		}
		n, exact := max(a.num, 0), to == from+1 && m.tokens[from].Kind == TokenNumber
		divides := m.growth.Strict && (operator == "/" || operator == "div")
		out.wild = out.wild || a.wild || divides && !exact && (a.tiny || a.wild)
		out.tiny = out.tiny || a.tiny || divides && out.num > 0
		out.negative = out.negative || a.negative
		switch operator {
		case "*":
			out.num = max(out.num, 1) * max(n, 1)
		case "^", "**":
			out.wild = out.wild || out.tiny && out.num >= 1
			out.num = power(out.num, n)
		case "<<":
			out.num = max(out.num, 1) * power(2, n)
		case "/", "div":
			if n > 0 && n < 1 {
				out.num /= n
			}
		case "%":
			switch {
			case n == 0: // it is data
			case before2.operator == "*":
				out.num = max(before1.num, 1) * max(min(before2.amount.num, n), 1)
			case before2.operator == "+" || before2.operator == "-":
				out.num = before1.num + min(before2.amount.num, n)
			default:
				out.num += n
			}
		case "::": // the name of a type, which may read elements in a text
			if !m.growth.lambdas() {
				out.items, out.each = 0, 0
			}
			if to > from+1 { // of so many bits
				out.num = max(out.num, n)
			}
		default:
			out.num += n
		}
		out = out.bound()
		operator = "+"
	}
	for i := start; i < end; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others are no values
		case TokenString:
			a := m.literal(t.Text(m.sql))
			if i > start && m.tokens[i-1].Kind == TokenString { // one literal in two parts
				out.num, joined = max(out.num, power(10, out.size+a.size)), true
			}
			if m.growth.Unsigned && (m.word(i-1) == "date" || m.word(i-1) == "time" || m.word(i-1) == "timestamp") {
				a.wild = true
			}
			dates = dates || a.size >= 4 && numberOf(strings.Trim(t.Text(m.sql), "' ")) == 0
			add(a, i, i+1)
		case TokenNumber:
			n := numberOf(t.Text(m.sql))
			add(amount{size: float64(t.End - t.Start), num: n, tiny: n < 1e15 && n != float64(int64(n))}, i, i+1)
		case TokenOperator:
			text := t.Text(m.sql)
			minus = minus || text == "-"
			out.negative = out.negative || minus
			bits = bits || m.growth.Unsigned && (text == ">>" || text == "&" || text == "|" || text == "^")
			out.wild = out.wild || m.growth.Unsigned && (text == "~" || strings.HasPrefix(text, "@@"))
			if m.growth.CostlyOperators[text] {
				costly = text
			}
			switch {
			case text == "||", m.growth.Plus && text == "+" && out.text:
				if m.growth.Quotes && last.operator != "||" && last.end > last.start+1 {
					out.size += last.amount.quoted() - last.amount.size
				}
				out.text, joined = true, true
			case m.growth.Methods && text == "#" && i+1 < end && m.tokens[i+1].Kind == TokenNumber:
				add(m.any(), i, i+2)
				i++
				continue
			case m.growth.Methods && text == "!" && i > start: // a factorial
				out.num = boundless
			case text == "::" && !inCondition && m.castsToNumber(i+1, end):
				out.size, out.text = before.size+min(last.amount.size, numberSize), before.text
				out.items, out.each = before.items, before.each
			case m.growth.Quotes && !inCondition && (text == "->>" || text == "#>>" || text == "::" && !m.isLiteral(last.start, last.end)):
				out.size += last.amount.quoted() - last.amount.size
			}
			if (text == "-" || text == "+") && i > start && m.tokens[i-1].Kind == TokenOperator {
				continue // a sign: the operator before it stays
			}
			operator = text
		case TokenComma:
			out.text = true // a row
		case TokenOpen:
			stop := m.closing(i, end)
			switch {
			case t.Text(m.sql) == "[" && i > start && last.end == i: // an element or a part of the operand
				whole := last.amount.plus(m.brackets(i+1, stop))
				if !m.growth.lambdas() {
					whole.items, whole.each = 0, 0 // a text, in which a cast may read elements
				}
				from := last.start
				out, operator = before, last.operator
				add(whole, from, stop+1)
			case t.Text(m.sql) == "[":
				add(m.brackets(i+1, stop), i, stop+1)
			case m.growth.Methods && i-2 >= start && m.tokens[i-2].Kind == TokenDot && m.isName(i-1):
				of := last
				if of.operator == "::" || m.word(i-3) == "end" {
					of.amount, of.start, of.path = out, start, false
				} else {
					out, operator = before, last.operator
				}
				add(m.call(i-1, i, stop, of, false), of.start, stop+1)
			case i > start && m.word(i-1) == "array" && t.Text(m.sql) == "(" && !m.growth.Aliases: // the rows of a query
				a := m.query(i+1, stop)
				n, each := max(a.rows, 1), a.size
				a.size, a.text = n*each, true
				if m.growth.Methods {
					each = max(each, 8)
					a.size, a.items, a.each, a.rows = n*each, n, each, 0
				}
				add(a.bound(), i, stop+1)
			case i > start && (m.word(i-1) == "over" || m.word(i-1) == "filter"):
				m.window(i+1, stop) // it says which rows there are, and is no part of the value
			case i > start && m.isName(i-1) && !m.isExpressionWord(i-1):
				add(m.call(i-1, i, stop, operand{}, false), i-1, stop+1)
				if m.growth.Aliases && stop+1 < end && m.text(stop+1) == "(" { // the first bracket had parameters
					stop = m.closing(stop+1, end)
				}
			default:
				add(m.query(i+1, stop), i, stop+1)
			}
			i = stop
		case TokenWord, TokenQuotedName, TokenQuotedText:
			if m.growth.Aliases && m.word(i) == "apply" && i > start {
				i = m.apply(i+1, end, &out) - 1
				continue
			}
			if i+1 < end && m.tokens[i+1].Kind == TokenOpen && m.text(i+1) != "[" && !m.isExpressionWord(i) {
				continue // a function
			}
			if i+1 < end && m.tokens[i+1].Kind == TokenDot {
				if !m.growth.lambdas() {
					if i+2 < end && m.text(i+2) == "*" { // all columns, as one value
						add(m.named(m.name(i)), i, i+3)
						i += 2
					}
					continue // a qualifier
				}
				// Each name of the path can be the column, and the others its fields.
				// A field is no longer than the column, while a relation has all its columns.
				path, from := m.column(m.name(i)), i
				for i+2 < end && m.tokens[i+1].Kind == TokenDot && m.isName(i+2) && (i+3 >= end || m.tokens[i+3].Kind != TokenOpen || m.text(i+3) != "(") {
					i += 2
					path = path.join(m.column(m.name(i)))
				}
				path = path.join(m.named(m.name(i)))
				add(path, from, i+1)
				last.path = true
				continue
			}
			if t.Kind == TokenQuotedText {
				add(m.literal(t.Text(m.sql)), i, i+1)
			}
			name := m.name(i)
			if t.Kind == TokenWord && (name == "when" || name == "then") {
				inCondition = name == "when"
			}
			switch name {
			case "and", "or", "then", "else", "when", "between", "as", "from", "for", "in":
				operator = "+"
			case "div":
				operator = "div"
			case "unsigned":
				bits = m.growth.Unsigned
			case "current_date", "current_timestamp", "current_time", "localtimestamp", "localtime", "utc_date", "utc_time", "utc_timestamp":
				dates = true
				out.wild = out.wild || m.growth.Unsigned
			default:
				if m.isExpressionWord(i) {
					continue
				}
				if m.growth.Strict && numbered[name] && i > start && (m.text(i-1) == "::" || m.word(i-1) == "as") {
					out.wild = true
				}
				a := m.named(name)
				if (a != amount{}) && (m.isType(start, i) || m.ofTable(i)) {
					a = amount{}
				}
				add(a, i, i+1)
				last.path = true
			}
		}
	}
	out.wild = out.wild || bits && out.negative
	if dates && minus {
		out.num = max(out.num, maxDays)
	}
	if all := out.size + condition; costly != "" && all > m.most/costlyShare {
		m.tell(start, end, fmt.Sprintf("the operator %s gets %s bytes from constants; its cost grows faster than that, and the limit is %s", costly, count(all), count(m.most/costlyShare)))
	}
	if !out.text {
		out.size, out.items, out.each = min(out.size, numberSize), 0, 0
	} else if joined {
		out.num = max(out.num, power(10, out.size)) // the digits of the parts together
	}
	if out.size > m.most {
		m.tell(start, end, fmt.Sprintf("constants make a value of up to %s bytes here; the limit is %s", count(out.size), count(m.most)))
	}
	return out.bound()
}

// window measures the parts of OVER (…) and FILTER (…), each by itself.
func (m *meter) window(start, end int) {
	m.split(start, end, func(start, end int) {
		from := start
		for i := start; i < end; i++ {
			switch {
			case m.tokens[i].Kind == TokenOpen:
				i = m.closing(i, end)
			case m.word(i) == "order" && m.word(i+1) == "by":
				m.expression(from, i)
				from = i + 2
			}
		}
		m.query(from, end)
	})
}

// isLiteral reports whether the tokens from start to end are one literal.
func (m *meter) isLiteral(start, end int) bool {
	return end == start+1 && (m.tokens[start].Kind == TokenString || m.tokens[start].Kind == TokenNumber)
}

// isType reports whether the name at i is that of a type to which the expression is cast.
func (m *meter) isType(start, i int) bool {
	if i <= start || m.growth.lambdas() {
		return false
	}
	return m.text(i-1) == "::" || m.word(i-1) == "as" && start > 1 && m.tokens[start-1].Kind == TokenOpen && m.word(start-2) == "cast"
}

// castsToScalar reports whether the tokens end in :: and the name of a type of the server that
// is no array. A type of a user may be one.
func (m *meter) castsToScalar(start, end int) bool {
	return end-2 > start && m.text(end-2) == "::" && scalars[m.word(end-1)]
}

// scalars are types of PostgreSQL that are no arrays.
var scalars = words("text varchar name bpchar bool boolean int int2 int4 int8 integer bigint smallint numeric decimal real float4 float8 date time timestamp timestamptz interval uuid oid regclass json jsonb inet")

// operand is a part of an expression: the tokens from start to end. path says that it is a
// name, which can also be the schema of a function behind it.
type operand struct {
	amount     amount
	start, end int
	operator   string // which joins it to what stands before it
	path       bool
}

// numbered are the types that read a number from a text in which it does not stand so.
var numbered = words("money oid regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc regprocedure regrole regtype xid cid")

// castsToNumber reports whether the name of a numeric type stands after ::, and no array
// of it.
func (m *meter) castsToNumber(i, end int) bool {
	if w := m.word(i); m.growth.Aliases && (strings.HasPrefix(w, "int") || strings.HasPrefix(w, "uint") || strings.HasPrefix(w, "float")) {
		return true
	}
	switch m.word(i) {
	case "signed", "unsigned", "bigint", "float", "float4", "float8", "int", "int2", "int4", "int8", "integer", "numeric", "decimal", "real", "smallint":
		return i < end && (i+1 >= end || m.text(i+1) != "[" && m.word(i+1) != "array")
	default:
		return false
	}
}

// expressionWords are words behind which a bracket is no list of arguments.
const expressionWords = "and or not in any all some exists select when then else case between like as over filter is by where having distinct values array"

// expressionWord reports whether a bracket after a word is no list of arguments.
func expressionWord(word string) bool { return commonWords[word].role&expressionRole != 0 }

// brackets measures the elements of an array.
func (m *meter) brackets(start, end int) (out amount) {
	if list, ok := m.comprehension(start, end); ok {
		return list
	}
	product, sum := 1.0, 0.0
	m.split(start, end, func(start, end int) {
		a := m.query(start, end)
		out.size += max(a.size, 1)
		out.items, out.each = out.items+1, max(out.each, a.size)
		product, sum = product*max(a.num, 1), sum+a.num
		if m.growth.Aliases { // no function takes the elements for dimensions
			product, sum = max(product, a.num), 0
		}
	})
	out.num, out.text = max(product, sum), true
	return out.bound()
}

// comprehension measures [value FOR name IN list IF condition], and returns false for other
// brackets.
func (m *meter) comprehension(start, end int) (amount, bool) {
	parts := map[string]int{}
	for i := start; i < end && m.growth.Methods; i++ {
		if m.tokens[i].Kind == TokenOpen {
			i = m.closing(i, end)
			continue
		}
		if w := m.word(i); w == "for" || parts["for"] > 0 && (w == "in" || w == "if") {
			if parts[w] == 0 {
				parts[w] = i
			}
		}
	}
	if parts["for"] <= start || parts["in"] == 0 {
		return amount{}, false
	}
	stop := end
	if at := parts["if"]; at > parts["in"] {
		stop = at
	}
	list := m.query(parts["in"]+1, stop)
	m.parameters(parts["for"]+1, parts["in"], list)
	if stop < end {
		m.expression(stop+1, end)
	}
	return list.mapped(m.query(start, parts["for"])), true
}
