package sqlguard

import (
	"fmt"
	"strconv"
	"strings"
)

// DefaultMaxConstant is how many bytes a value may have that a statement makes from
// constants alone, unless [Policy.MaxConstant] says otherwise.
const DefaultMaxConstant = 1 << 20

// costlyShare is which part of that an argument of a function may have whose cost
// grows faster than its arguments.
const costlyShare = 16

// Growth says what the functions of a dialect make from their arguments. Names are in
// lower case, without a schema.
type Growth struct {
	// Makers are functions whose value may be longer than their arguments.
	Makers map[string]Maker
	// Costly are functions whose cost grows faster than the length of an argument.
	// CostlyOperators are the operators of which the same is true.
	Costly          map[string]bool
	CostlyOperators map[string]bool
	// Collates says that a collation decides what equals the text that a function of
	// the kind MakesReplaceText replaces.
	Collates bool
	// Rereads says that the server computes a common table expression again for each
	// reference to it, so that a chain of them can multiply the work.
	Rereads bool
}

// maxReads is how often a statement may read common table expressions on such a server,
// counting what they read themselves. MariaDB 10.11 plans 512 reads in 0.2 seconds, 4096
// in 3 seconds, and each step more doubles that.
const maxReads = 1000

// Maker says how large the value of a function is.
type Maker uint8

// The kinds of maker. A text argument counts with its length, a numeric one with its
// magnitude.
const (
	MakesSum         Maker = iota // the arguments together: what a function makes that is in no table
	MakesRepeat                   // the first argument, as often as the second says
	MakesPad                      // as many characters as the second argument says
	MakesCount                    // as many bytes as the first argument says
	MakesFill                     // the first argument, as often as the product of the second says
	MakesFourfold                 // four times its arguments
	MakesReplace                  // the first argument with the third in place of each of its parts
	MakesReplaceText              // the first argument with the third in place of each second one in it, which is no pattern
	MakesFormat                   // its arguments, padded as the numbers among them and in the format say
	MakesRows                     // a row for each number up to the largest of its arguments
	MakesAll                      // its argument once for each row
	MakesLength                   // a number: the length of its argument
	MakesLarge                    // a number that may have any size
	MakesPower                    // a number: the first argument to the power of the second
	MakesSmall                    // a number of at most a million, or a short text
)

// growthOf returns the tables of a dialect, or nil when it has none.
func growthOf(d Dialect) *Growth {
	if d, ok := d.(interface{ Growth() *Growth }); ok {
		return d.Growth()
	}
	return nil
}

// amount is an upper bound for what constants make: the length of a value in bytes,
// its magnitude as a number, and the number of rows of a query. What comes from data
// counts as nothing.
// text says that the value may be something else than a number. A number counts as at
// most numberSize bytes, however it was computed.
type amount struct {
	size, num, rows float64
	text            bool
}

// numberSize is the length of a number. PostgreSQL's numeric may have more digits, but
// never as many as the limit on values.
const numberSize = 64

// boundless stands for every amount that is larger.
const boundless = 1e18

// power returns an upper bound for a to the power of b, each as at least 1.
func power(a, b float64) float64 {
	const steps = 5000 // no base from 1.01 on needs more to be boundless
	out := 1.0
	for range int(min(max(b, 1), steps)) {
		if out *= max(a, 1); out > boundless {
			return boundless
		}
	}
	if b > steps && a > 1 {
		return boundless
	}
	return out
}

func (a amount) join(b amount) amount {
	return amount{max(a.size, b.size), max(a.num, b.num), max(a.rows, b.rows), a.text || b.text}
}

func (a amount) bound() amount {
	limit := func(x float64) float64 {
		if x > boundless || x != x { // no number
			return boundless
		}
		return x
	}
	return amount{limit(a.size), limit(a.num), limit(a.rows), a.text}
}

// measure refuses a statement that makes a long value from constants, or gives one to
// a function whose cost grows faster than its arguments. The bounds are coarse: every
// operator counts as the one that makes most, and a name counts as the largest value
// that the statement gives to that name. So a bound may be too high; it is too low
// only where a value comes from data, or from a function that no table has.
func (g *Guard) measure(sql string, tokens []Token, v *Verdict) {
	if g.growth == nil || !g.growth.concerns(sql, tokens) {
		return
	}
	m := meter{growth: g.growth, sql: sql, v: v, names: map[string]amount{}, reads: map[string]float64{}, most: float64(DefaultMaxConstant)}
	if g.policy.MaxConstant > 0 {
		m.most = float64(g.policy.MaxConstant)
	}
	for _, t := range tokens {
		switch t.Kind { //nolint:exhaustive // the others stay
		case TokenComment, TokenExecutableComment:
		default:
			m.tokens = append(m.tokens, t)
		}
	}
	for i := range m.tokens {
		if m.escapedCall(i) {
			v.add(CodeFunctionNotAllowed, Span{Start: m.tokens[i-3].Start, End: m.tokens[i-3].End}, "the name of the function has an escape character of its own (UESCAPE); write the name plainly")
			return
		}
	}
	m.query(0, len(m.tokens))
	if len(m.reads) > 0 {
		m.readsIn(m.body(), len(m.tokens))
	}
}

// escapedCall reports whether the bracket at i follows a name with UESCAPE, which the
// tables do not read.
func (m *meter) escapedCall(i int) bool {
	return m.tokens[i].Kind == TokenOpen && i >= 3 && m.word(i-2) == "uescape" && m.tokens[i-3].Kind == TokenQuotedName
}

// body returns where the query after the common table expressions begins.
func (m *meter) body() int {
	for i := 0; i < len(m.tokens); i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen:
			i = m.closing(i, len(m.tokens))
		case m.word(i) == "select":
			return i
		}
	}
	return 0
}

// concerns reports whether a statement has anything that the tables name, joins texts
// often enough to make a long one, or has queries that could double what others give.
func (g *Growth) concerns(sql string, tokens []Token) bool {
	const manyQueries, queries, manyTokens = 12, 2, 300
	joins, selects := 0, 0
	var before Token // the last one that is no comment
	for _, t := range tokens {
		if t.Kind == TokenComment || t.Kind == TokenExecutableComment {
			continue
		}
		last := before
		before = t
		switch t.Kind { //nolint:exhaustive // the others make nothing
		case TokenWord:
			switch {
			case t.End-t.Start == len("uescape") && strings.EqualFold(t.Text(sql), "uescape"):
				return true
			case t.End-t.Start == len("select") && strings.EqualFold(t.Text(sql), "select"):
				selects++
			case g.Rereads && strings.EqualFold(t.Text(sql), "with"):
				return true
			}
			if selects >= manyQueries || selects >= queries && len(tokens) > manyTokens {
				return true
			}
		case TokenOpen:
			if last.Kind != TokenWord && last.Kind != TokenQuotedName && last.Kind != TokenQuotedText {
				continue
			}
			name := callName(last.Text(sql))
			if kind, made := g.Makers[name]; made && kind < MakesLength || g.Costly[name] {
				return true
			}
		case TokenOperator:
			text := t.Text(sql)
			if text == "||" {
				joins++
			}
			if joins > 8 {
				return true
			}
		}
	}
	return false
}

// callName returns the name of a function as the tables have it.
func callName(text string) string {
	if len(text) > 3 && strings.EqualFold(text[:2], "u&") {
		text = unescape(text[2:])
	}
	if n := len(text); n >= 2 && strings.ContainsRune("\"`[", rune(text[0])) {
		text = text[1 : n-1]
	}
	return strings.ToLower(text)
}

// unescape decodes the escapes of a name such as U&"\0061".
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		from, digits := i+1, 4
		if from < len(text) && text[from] == '+' {
			from, digits = from+1, 6
		}
		if text[i] == '\\' && from+digits <= len(text) {
			if n, err := strconv.ParseUint(text[from:from+digits], 16, 32); err == nil {
				b.WriteRune(rune(n)) //nolint:gosec // at most six hexadecimal digits
				i = from + digits - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// meter measures one statement.
type meter struct {
	growth *Growth
	sql    string
	tokens []Token
	v      *Verdict
	names  map[string]amount  // what the statement gives names to
	reads  map[string]float64 // how often reading a common table expression reads others and itself
	most   float64
	told   bool
}

func (m *meter) text(i int) string { return m.tokens[i].Text(m.sql) }

func (m *meter) word(i int) string {
	if i < 0 || i >= len(m.tokens) || m.tokens[i].Kind != TokenWord {
		return ""
	}
	return strings.ToLower(m.text(i))
}

func (m *meter) isName(i int) bool {
	if i < 0 || i >= len(m.tokens) {
		return false
	}
	k := m.tokens[i].Kind
	return k == TokenWord || k == TokenQuotedName || k == TokenQuotedText
}

// closing returns the index of the bracket that closes the one at open, or end.
func (m *meter) closing(open, end int) int {
	depth := 0
	for i := open; i < end; i++ {
		switch m.tokens[i].Kind { //nolint:exhaustive // only brackets nest
		case TokenOpen:
			depth++
		case TokenClose:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return end
}

// clauses are the words that begin a part of a query.
var clauses = map[string]bool{
	"select": true, "values": true, "from": true, "where": true, "group": true, "having": true, "order": true, "limit": true,
	"offset": true, "fetch": true, "union": true, "intersect": true, "except": true, "with": true, "window": true, "explain": true,
}

// query measures the tokens from start to end as a query, or as an expression when
// they are none.
func (m *meter) query(start, end int) amount {
	type part struct {
		word       string
		start, end int
	}
	var parts []part
	isQuery := false
	for i := start; i < end; i++ {
		if m.tokens[i].Kind == TokenOpen {
			i = m.closing(i, end)
			continue
		}
		if w := m.word(i); clauses[w] && (i == start || m.tokens[i-1].Kind != TokenDot) {
			isQuery = isQuery || w == "select" || w == "values"
			if len(parts) > 0 {
				parts[len(parts)-1].end = i
			}
			parts = append(parts, part{w, i + 1, end})
		}
	}
	if !isQuery {
		return m.expression(start, end)
	}
	out, rows, branch := amount{}, 0.0, 1.0
	limit := boundless
	for _, p := range parts {
		if p.word == "with" {
			m.with(p.start, p.end)
		}
	}
	for i, p := range parts {
		switch p.word {
		case "from":
			if i > 0 && parts[i-1].word == "select" {
				continue // measured with it: twice at each level would be too often
			}
			branch = m.from(p.start, p.end)
		case "limit", "fetch":
			limit = max(m.expression(p.start, p.end).num, 1)
		case "union", "intersect", "except":
			rows, branch = rows+branch, 1
		case "select":
			// The names of a FROM clause are known before the expressions that
			// use them.
			if i+1 < len(parts) && parts[i+1].word == "from" {
				branch = m.from(parts[i+1].start, parts[i+1].end)
			}
			out = out.join(m.list(p.start, p.end, branch))
		case "values":
			out = out.join(m.list(p.start, p.end, 1))
		case "with":
		default:
			m.expression(p.start, p.end)
		}
	}
	out.rows = min(rows+branch, limit)
	return out.bound()
}

// split calls each for each part of a list between commas.
func (m *meter) split(start, end int, each func(start, end int)) {
	from := start
	for i := start; i < end; i++ {
		switch m.tokens[i].Kind { //nolint:exhaustive // the others belong to a part
		case TokenOpen:
			i = m.closing(i, end)
		case TokenComma:
			each(from, i)
			from = i + 1
		}
	}
	if from < end {
		each(from, end)
	}
}

// give lets a name stand for an amount.
func (m *meter) give(name string, a amount) {
	name = callName(name)
	m.names[name] = m.names[name].join(a)
}

// alias returns the index of the name that a part of a list is given at its end, or
// -1.
func (m *meter) alias(start, end int) int {
	last := end - 1
	if last <= start || !m.isName(last) || m.word(last) == "end" || m.word(last) == "null" {
		return -1
	}
	before := last - 1
	switch m.tokens[before].Kind { //nolint:exhaustive // an operand ends before an alias
	case TokenOperator, TokenDot, TokenComma, TokenOpen:
		return -1
	}
	return last
}

// list measures the parts of a select list or of VALUES. rows is how many rows an
// aggregate reads.
func (m *meter) list(start, end int, rows float64) (out amount) {
	m.split(start, end, func(start, end int) {
		at := m.alias(start, end)
		stop := end
		if at >= 0 {
			stop = at
		}
		a := m.rowsOf(start, stop, rows)
		if at >= 0 {
			m.give(m.text(at), a)
		}
		out = out.join(a)
	})
	return out
}

// rowsOf measures an expression whose aggregates read rows.
func (m *meter) rowsOf(start, end int, rows float64) amount {
	before := m.names["\x00rows"]
	m.names["\x00rows"] = amount{rows: rows}
	a := m.expression(start, end)
	m.names["\x00rows"] = before
	return a
}

// with measures common table expressions.
func (m *meter) with(start, end int) {
	recursive := m.word(start) == "recursive"
	m.split(start, end, func(start, end int) {
		if m.word(start) == "recursive" {
			start++
		}
		if !m.isName(start) {
			return
		}
		var columns []string
		open := start + 1
		if open < end && m.tokens[open].Kind == TokenOpen { // names of columns
			stop := m.closing(open, end)
			for i := open + 1; i < stop; i++ {
				if m.isName(i) {
					columns = append(columns, callName(m.text(i)))
				}
			}
			open = stop
		}
		for open < end && m.tokens[open].Kind != TokenOpen {
			open++
		}
		if open >= end {
			return
		}
		stop := m.closing(open, end)
		if m.growth.Rereads {
			m.reads[callName(m.text(start))] = m.readsIn(open+1, stop)
		}
		a := m.query(open+1, stop)
		if recursive {
			a = a.join(m.repeated(open+1, stop, columns))
		}
		for _, name := range append(columns, callName(m.text(start))) {
			m.give(name, a)
		}
	})
}

// readsIn returns how often the tokens read common table expressions, with what those
// read, and one for the reader itself. It refuses too many.
func (m *meter) readsIn(start, end int) float64 {
	reads := 1.0
	for i := start; i < end; i++ {
		if m.isName(i) && (i+1 >= end || m.tokens[i+1].Kind != TokenDot) {
			reads = min(reads+m.reads[callName(m.text(i))], boundless)
		}
	}
	if reads > maxReads {
		m.tell(start, end, fmt.Sprintf("common table expressions are read %s times here, counting what they read themselves; the limit is %d, because this server computes them again each time", count(reads), maxReads))
	}
	return reads
}

// repeated measures what a recursive query adds: as many rows as its largest number
// says, and a text without bound when a step joins a column of the query to itself.
func (m *meter) repeated(start, end int, columns []string) (a amount) {
	own := map[string]bool{}
	for _, c := range columns {
		own[c] = true
	}
	joins, seen := false, map[string]int{}
	for i := start; i < end; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others make nothing
		case TokenNumber:
			a.num = max(a.num, numberOf(m.text(i)))
		case TokenOperator:
			joins = joins || m.text(i) == "||"
		case TokenComma:
			seen = map[string]int{}
		case TokenWord:
			name := m.word(i)
			if name == "select" || name == "where" {
				seen = map[string]int{}
			}
			joins = joins || name == "concat"
			if m.word(i-1) == "as" {
				own[name] = true
			}
			if seen[name]++; seen[name] > 1 && own[name] && joins {
				a.size, a.text = boundless, true
			}
		}
	}
	a.rows = max(a.num, 1)
	return a
}

// from measures the relations of a FROM clause, and returns how many rows they have
// together. A relation of the database counts as one row.
func (m *meter) from(start, end int) float64 {
	rows := 1.0
	for i := start; i < end; i++ {
		if m.tokens[i].Kind != TokenOpen {
			if m.isName(i) && (i+1 >= end || m.tokens[i+1].Kind != TokenOpen) {
				if a, known := m.names[callName(m.text(i))]; known && a.rows > 1 && (i == start || m.tokens[i-1].Kind != TokenDot) {
					rows *= a.rows
				}
			}
			continue
		}
		stop := m.closing(i, end)
		var a amount
		if m.isName(i-1) && i > start && !joinWord(m.word(i-1)) {
			a = m.call(i-1, i, stop)
		} else {
			a = m.query(i+1, stop)
		}
		rows = min(rows*max(a.rows, 1), boundless)
		// What follows names it and its columns.
		next := stop + 1
		for next < end && (m.word(next) == "as" || m.word(next) == "with" || m.word(next) == "ordinality") {
			next++
		}
		if next < end && m.isName(next) && !joinWord(m.word(next)) {
			m.give(m.text(next), a)
			if next+1 < end && m.tokens[next+1].Kind == TokenOpen {
				close := m.closing(next+1, end)
				for j := next + 2; j < close; j++ {
					if m.isName(j) {
						m.give(m.text(j), a)
					}
				}
				next = close
			}
			i = next
			continue
		}
		if m.isName(i - 1) {
			m.give(m.text(i-1), a) // a function without an alias has its own name
		}
		i = stop
	}
	return rows
}

// joinWord reports whether a word stands between relations.
func joinWord(word string) bool {
	switch word {
	case "on", "using", "join", "left", "right", "full", "inner", "cross", "lateral", "natural", "from", "where", "and", "or", "not", "in", "exists", "tablesample", "as", "outer", "straight_join":
		return true
	default:
		return false
	}
}

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
		a.num = numberOf(strings.TrimSpace(body))
	}
	return a
}

// maxDays is how many days there are between two dates that a server knows.
const maxDays = 2.2e9

// expression measures the tokens from start to end. The length is the sum of all
// parts, because any operator may join them. Numbers are combined from left to right,
// each as at least 1: that is no less than any order of the operators gives.
func (m *meter) expression(start, end int) amount {
	var out amount
	operator := "+"
	costly, dates, minus := "", false, false
	// What stands between WHEN and THEN is not part of the value.
	condition, inCondition := 0.0, false
	var before, last amount // the value without its last operand, and that operand
	add := func(a amount) {
		before, last = out, a
		if inCondition {
			condition += a.size
			a.size, a.text = 0, false
		}
		out.size += a.size
		out.text = out.text || a.text && a.size > 0
		out.rows = max(out.rows, a.rows)
		n := max(a.num, 0)
		switch operator {
		case "*":
			out.num = max(out.num, 1) * max(n, 1)
		case "^", "**":
			out.num = power(out.num, n)
		case "<<":
			out.num = max(out.num, 1) * power(2, n)
		case "/":
			if n > 0 && n < 1 {
				out.num /= n
			}
		case "::": // the name of a type
		default:
			out.num += n
		}
		out = out.bound()
		operator = "+"
	}
	for i := start; i < end; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others are no values
		case TokenString:
			a := literal(t.Text(m.sql))
			dates = dates || a.num == 0 && a.size >= 4
			add(a)
		case TokenNumber:
			n := numberOf(t.Text(m.sql))
			add(amount{size: float64(t.End - t.Start), num: n})
		case TokenOperator:
			text := t.Text(m.sql)
			minus = minus || text == "-"
			if m.growth.CostlyOperators[text] {
				costly = text
			}
			switch {
			case text == "||":
				out.text = true
			case text == "::" && !inCondition && m.castsToNumber(i+1, end):
				out.size, out.text = before.size+min(last.size, numberSize), before.text
			}
			operator = text
		case TokenComma:
			out.text = true // a row
		case TokenOpen:
			stop := m.closing(i, end)
			switch {
			case t.Text(m.sql) == "[":
				add(m.brackets(i+1, stop))
			case i > start && m.isName(i-1) && !expressionWord(m.word(i-1)):
				add(m.call(i-1, i, stop))
			default:
				add(m.query(i+1, stop))
			}
			i = stop
		case TokenWord, TokenQuotedName, TokenQuotedText:
			if i+1 < end && (m.tokens[i+1].Kind == TokenOpen && !expressionWord(m.word(i)) || m.tokens[i+1].Kind == TokenDot) {
				continue // a function, or a qualifier
			}
			if t.Kind == TokenQuotedText {
				add(literal(t.Text(m.sql)))
			}
			name := callName(t.Text(m.sql))
			if t.Kind == TokenWord && (name == "when" || name == "then") {
				inCondition = name == "when"
			}
			switch name {
			case "and", "or", "then", "else", "when", "between", "as", "from", "for", "in":
				operator = "+"
			case "current_date", "current_timestamp", "localtimestamp":
				dates = true
			default:
				a := m.names[name]
				a.rows = 0
				add(a)
			}
		}
	}
	if dates && minus {
		out.num = max(out.num, maxDays)
	}
	if all := out.size + condition; costly != "" && all > m.most/costlyShare {
		m.tell(start, end, fmt.Sprintf("the operator %s gets %s bytes from constants; its cost grows faster than that, and the limit is %s", costly, count(all), count(m.most/costlyShare)))
	}
	if !out.text {
		out.size = min(out.size, numberSize)
	}
	if out.size > m.most {
		m.tell(start, end, fmt.Sprintf("constants make a value of up to %s bytes here; the limit is %s", count(out.size), count(m.most)))
	}
	return out.bound()
}

// castsToNumber reports whether the name of a numeric type stands after ::, and no array
// of it.
func (m *meter) castsToNumber(i, end int) bool {
	switch m.word(i) {
	case "bigint", "float", "float4", "float8", "int", "int2", "int4", "int8", "integer", "numeric", "decimal", "real", "smallint":
		return i < end && (i+1 >= end || m.text(i+1) != "[" && m.word(i+1) != "array")
	default:
		return false
	}
}

// expressionWord reports whether a bracket after a word is no list of arguments.
func expressionWord(word string) bool {
	switch word {
	case "and", "or", "not", "in", "any", "all", "some", "exists", "select", "when", "then", "else", "case", "between", "like", "as", "over", "filter", "is", "by", "where", "having", "distinct", "values", "array":
		return true
	default:
		return false
	}
}

// brackets measures the elements of an array.
func (m *meter) brackets(start, end int) (out amount) {
	product, sum := 1.0, 0.0
	m.split(start, end, func(start, end int) {
		a := m.query(start, end)
		out.size += a.size
		product, sum = product*max(a.num, 1), sum+a.num
	})
	out.num, out.text = max(product, sum), true
	return out.bound()
}

// call measures the call of the function that is named at name, with arguments
// between open and stop.
func (m *meter) call(name, open, stop int) amount {
	var args []amount
	var all amount
	// FROM, FOR and IN separate arguments too, and an aggregate has an ORDER BY.
	m.split(open+1, stop, func(start, end int) {
		a := m.query(start, end)
		args = append(args, a)
		all.size, all.num, all.text = all.size+a.size, all.num+a.num, all.text || a.text
	})
	arg := func(i int) amount {
		if i < len(args) {
			return args[i]
		}
		return amount{}
	}
	fn := callName(m.text(name))
	if m.growth.Costly[fn] && all.size > m.most/costlyShare {
		m.tell(name, stop+1, fmt.Sprintf("the function %s gets %s bytes from constants; its cost grows faster than that, and the limit is %s", fn, count(all.size), count(m.most/costlyShare)))
	}
	out := all
	kind := m.growth.Makers[fn]
	switch kind {
	case MakesSum:
		switch {
		case numbers[fn]:
			out.size, out.text = min(out.size, numberSize), false
		case !choices[fn]:
			out.text = true
		}
	case MakesRepeat:
		out = amount{size: max(arg(0).size, 1) * arg(1).num}
	case MakesPad:
		out = amount{size: max(arg(1).num, arg(2).size)}
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
		out = amount{size: max(arg(0).size, 1) * max(arg(2).size/m.searched(open+1, stop), 1)}
	case MakesFormat:
		out.size += m.padding(open+1, stop, all.num)
	case MakesRows:
		out = amount{num: all.num, rows: max(all.num, 1)}
	case MakesAll:
		rows := max(m.names["\x00rows"].rows, 1)
		if rows > 1 {
			all.size = max(all.size, 20)
		}
		out = amount{size: all.size * rows}
	case MakesLength:
		out = amount{num: all.size}
	case MakesLarge:
		out = amount{num: boundless, size: 20}
	case MakesPower:
		out = amount{num: power(arg(0).num, arg(1).num), size: 20}
	case MakesSmall:
		out = amount{num: min(all.num, 1e6), size: min(all.size, 64)}
	}
	if kind != MakesSum {
		out.text = kind < MakesLength && kind != MakesRows
	}
	if out = out.bound(); out.size > m.most {
		m.tell(name, stop+1, fmt.Sprintf("the function %s makes a value of up to %s bytes from constants; the limit is %s", fn, count(out.size), count(m.most)))
		out.size = 0 // told once
	}
	return out
}

// searched returns how many bytes a function replaces at least when it replaces its
// second argument. That is 1 unless the argument is a plain literal. Each of its
// characters is at least one byte in the text, whatever the character sets are.
//
// Where a collation decides, only letters of ASCII count, and two as one byte: a
// collation can pass over all other characters, and be told that digits are a number,
// but no character of n bytes equals more than 2n letters (\u33af, of three bytes, is
// rad/s2).
func (m *meter) searched(start, end int) float64 {
	argument, at := 0, -1
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

// padding returns how many bytes a format may add: its widest width, and what the
// numbers among the arguments say when it takes widths from there, or is not written
// in the statement.
func (m *meter) padding(start, end int, numbers float64) float64 {
	if start >= end || m.tokens[start].Kind != TokenString {
		return numbers
	}
	text := m.text(start)
	if strings.Contains(text, "*") {
		return numbers + widest(text)
	}
	return widest(text)
}

// widest returns the largest number in a text: a width or a precision of a format.
func widest(text string) (most float64) {
	n := 0.0
	for i := range len(text) {
		if c := text[i]; c >= '0' && c <= '9' {
			n = min(n*10+float64(c-'0'), boundless)
			most = max(most, n)
		} else {
			n = 0
		}
	}
	return most
}

// count writes a number of bytes.
func count(n float64) string {
	if n >= 1e15 {
		return "very many"
	}
	return strconv.FormatInt(int64(n), 10)
}

// tell adds a finding, once for a statement: the parts of a large value are large too.
func (m *meter) tell(start, end int, message string) {
	if m.told || start >= len(m.tokens) {
		return
	}
	m.told = true
	for _, f := range m.v.Findings {
		if f.Span.Start >= m.tokens[start].Start && f.Span.Start < m.tokens[min(end, len(m.tokens))-1].End {
			return // the statement is refused for what stands here
		}
	}
	span := Span{m.tokens[start].Start, m.tokens[min(end, len(m.tokens))-1].End}
	m.v.add(CodeInputTooLarge, span, message)
	m.v.Findings[len(m.v.Findings)-1].Hint = smallerHint
}

// smallerHint is for a statement that is refused only for the size of what it makes.
const smallerHint = "use a smaller number, or read the value from a table"
