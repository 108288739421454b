package sqlguard

import (
	"fmt"
	"strings"
)

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
	parts := make([]part, 0, 8)
	isQuery := false
	for i := start; i < end; i++ {
		if m.tokens[i].Kind == TokenOpen {
			i = m.closing(i, end)
			continue
		}
		if w := m.word(i); clauses[w] && (i == start || m.tokens[i-1].Kind != TokenDot && m.word(i-1) != "as" && (w != "from" || !m.compares(i))) {
			isQuery = isQuery || w == "select" || w == "values" || m.growth.Methods && w == "from" && i == start
			if len(parts) > 0 {
				parts[len(parts)-1].end = i
			}
			parts = append(parts, part{w, i + 1, end})
		}
	}
	if !isQuery {
		if w := m.word(start); m.growth.Methods && (w == "pivot" || w == "pivot_wider") {
			return m.pivot(start+1, end)
		}
		return m.expression(start, end)
	}
	out, rows, branch := amount{}, 0.0, 1.0
	limit, later, starred := boundless, false, parts[0].word == "from"
	// The names of the relations are known before the expressions that use them, wherever
	// these stand. Each FROM is measured once: twice at each level would be too often.
	for _, p := range parts {
		if p.word == "with" {
			m.with(p.start, p.end)
		}
	}
	branches := make([]float64, 8)
	if len(parts) > len(branches) {
		branches = make([]float64, len(parts))
	}
	for i, p := range parts {
		if p.word == "from" {
			branches[i] = m.from(p.start, p.end)
		}
	}
	for i, p := range parts {
		switch p.word {
		case "from":
			branch = branches[i]
		case "limit", "fetch":
			limit = max(m.expression(p.start, p.end).count(), 1)
		case "union", "intersect", "except":
			rows, branch, later = rows+branch, 1, true
		case "select":
			for j := i + 1; j < len(parts) && !separates(parts[j].word); j++ {
				if parts[j].word == "from" {
					branch = branches[j]
				}
			}
			out, starred = out.join(m.list(p.start, p.end, branch, later)), false
		case "values":
			out = out.join(m.list(p.start, p.end, 1, later))
			branch = 0
			m.split(p.start, p.end, func(int, int) { branch++ })
		case "with":
		default:
			m.rowsOf(p.start, p.end, branch)
		}
	}
	if starred { // all columns
		out = out.join(m.any())
	}
	out.rows = min(rows+branch, limit)
	return out.bound()
}

// compares reports whether FROM at i belongs to IS DISTINCT FROM or ROWS FROM, and begins no clause.
func (m *meter) compares(i int) bool {
	return m.word(i-1) == "rows" || m.word(i-1) == "distinct" && (m.word(i-2) == "is" || m.word(i-2) == "not" && m.word(i-3) == "is")
}

// separates reports whether a word stands between two queries.
func separates(word string) bool {
	return word == "select" || word == "union" || word == "intersect" || word == "except" || word == "values"
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
	m.names[name] = m.names[name].join(a)
	m.all = m.all.join(a)
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

// pivot measures PIVOT as a statement: a relation, and aggregates of it.
func (m *meter) pivot(start, end int) amount {
	on := start
	for on < end && m.word(on) != "on" && m.word(on) != "using" {
		if m.tokens[on].Kind == TokenOpen {
			on = m.closing(on, end)
		}
		on++
	}
	rows := m.from(start, min(on, end))
	out := m.rowsOf(min(on, end), end, rows)
	m.bare, out.rows = m.bare.join(out), rows
	return out
}

// list measures the parts of a select list or of VALUES. rows is how many rows an
// aggregate reads. later says that the columns have the names of another list.
func (m *meter) list(start, end int, rows float64, later bool) (out amount) {
	width, row := 0, 0.0
	m.split(start, end, func(start, end int) {
		width++
		at, from, stop := m.alias(start, end), start, end
		switch {
		case start+1 < end && m.isName(start) && m.text(start+1) == ":": // the alias is in front
			at, from = start, start+2
		case at >= 0:
			stop = at
		}
		a := m.rowsOf(from, stop, rows)
		if star := m.text(end - 1); star == "*" || m.text(start) == "*" {
			a = a.join(m.any())
		}
		if at >= 0 {
			m.give(m.name(at), a)
		}
		if later || at < 0 && !m.plain(start, end) {
			m.bare = m.bare.join(a)
		}
		row += a.size
		out = out.join(a)
	})
	out.whole = max(out.whole, row)
	if m.word(start-1) == "values" && start < end && m.tokens[start].Kind == TokenOpen { // rows
		width = 0
		m.split(start+1, m.closing(start, end), func(int, int) { width++ })
	}
	m.width = max(m.width, width)
	return out
}

// plain reports whether the tokens are the name of a column, which it keeps.
func (m *meter) plain(start, end int) bool {
	for i := start; i < end; i++ {
		if m.tokens[i].Kind != TokenDot && !m.isName(i) {
			return false
		}
	}
	return true
}

// any is the largest value that the statement gives to any name.
func (m *meter) any() amount {
	out := m.all.join(m.other)
	out.rows = 0
	return out
}

// named is the largest value that a name can stand for. A column without a name of its own
// can have any.
func (m *meter) named(name string) amount {
	a := m.names[name].join(m.other)
	a.rows = 0
	return a
}

// relation measures the query of a derived table. names is how many of its columns get a
// name from outside.
func (m *meter) relation(start, end, names int) amount {
	bare, width := m.bare, m.width
	m.bare, m.width = amount{}, 0
	a := m.query(start, end)
	if names < m.width {
		m.other = m.other.join(m.bare)
	}
	m.bare, m.width = bare, width
	return a
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
					columns = append(columns, m.name(i))
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
			m.reads[m.name(start)] = m.readsIn(open+1, stop)
		}
		a := m.relation(open+1, stop, len(columns))
		if recursive || m.growth.Recurses && m.has(open+1, stop, m.name(start)) {
			a = a.join(m.repeated(open+1, stop, columns))
		}
		for _, name := range columns {
			m.give(name, a)
		}
		m.give(m.name(start), a.row())
	})
}

// has reports whether a name stands between two tokens.
func (m *meter) has(start, end int, name string) bool {
	for i := start; i < end; i++ {
		if m.isName(i) && m.name(i) == name {
			return true
		}
	}
	return false
}

// readsIn returns how often the tokens read common table expressions, with what those
// read, and one for the reader itself. It refuses too many.
func (m *meter) readsIn(start, end int) float64 {
	reads := 1.0
	for i := start; i < end; i++ {
		if m.isName(i) && (i+1 >= end || m.tokens[i+1].Kind != TokenDot) {
			reads = min(reads+m.reads[m.name(i)], boundless)
		}
	}
	if reads > maxReads {
		m.refuse(start, end, fmt.Sprintf("common table expressions are read %s times here, counting what they read themselves; the limit is %d, because this server computes them again each time", count(reads), maxReads), onceHint)
	}
	return reads
}

// repeated measures what a recursive query adds: as many rows as its largest number says,
// and a text without bound when a step makes a longer one from a column of the query.
func (m *meter) repeated(start, end int, columns []string) (a amount) {
	own := map[string]bool{}
	for _, c := range columns {
		own[c] = true
	}
	for i := start; i < end; i++ {
		switch t := m.tokens[i]; {
		case t.Kind == TokenNumber:
			a.num = max(a.num, numberOf(m.text(i)))
		case m.word(i-1) == "as" && m.isName(i):
			own[m.name(i)] = true
		}
	}
	from, depth := start, 0 // where the item begins, and how deep its brackets are
	for i := start; i <= end; i++ {
		w := ""
		if i < end {
			w = m.word(i)
			switch m.tokens[i].Kind { //nolint:exhaustive // only brackets nest
			case TokenOpen:
				depth++
			case TokenClose:
				depth--
			}
		}
		if i == end || m.tokens[i].Kind == TokenComma && depth <= 0 || clauses[w] || w == "on" {
			if m.doubles(from, i, own) {
				a.size, a.text = boundless, true
				for name := range own {
					m.give(name, a)
				}
			}
			from, depth = i+1, 0
		}
	}
	a.rows = max(a.num, 1)
	return a
}

// doubles reports whether an expression can be longer than twice the value of one of the
// names: it has one twice and joins values, or has one in a function that repeats.
func (m *meter) doubles(start, end int, names map[string]bool) bool {
	joins, twice, repeats := false, false, false
	seen := map[string]int{}
	for i := start; i < end; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others make nothing
		case TokenOperator:
			joins = joins || m.text(i) == "||" || m.growth.Plus && m.text(i) == "+"
		case TokenOpen:
			joins = joins || t.Text(m.sql) != "(" && (i == start || !m.isName(i-1))
			if i == start || !m.isName(i-1) || t.Text(m.sql) != "(" {
				continue
			}
			fn := m.name(i - 1)
			switch kind, made := m.growth.Makers[fn]; {
			case made && (kind == MakesAll || kind == MakesTwelvefold || kind == MakesBits || kind == MakesRepeat || kind == MakesFourfold || kind == MakesReplace || kind == MakesReplaceText || kind == MakesEach || kind == MakesReduced):
				repeats = true
			case m.growth.Strict && !made && !numbers[fn] && !choices[fn] && !plain[fn] && !expressionWord(fn), fn == "overlay", fn == "insert":
				joins = true
			case strings.Contains(fn, "concat") || strings.Contains(fn, "append") || strings.Contains(fn, "prepend") || strings.Contains(fn, "pack") || fn == "row" || fn == "list_cat" || fn == "array_cat" || fn == "format" || fn == "printf":
				joins = true
			}
		case TokenWord, TokenQuotedName:
			name := m.name(i)
			if i+1 < end && m.tokens[i+1].Kind == TokenOpen && m.text(i+1) == "(" || !names[name] {
				continue
			}
			seen[name]++
			twice = twice || seen[name] > 1
		}
	}
	return len(seen) > 0 && (joins && twice || repeats)
}

// from measures the relations of a FROM clause, and returns how many rows they have
// together. A relation of the database counts as one row.
func (m *meter) from(start, end int) float64 {
	rows := 1.0
	for i := start; i < end; i++ {
		if m.tokens[i].Kind != TokenOpen {
			if m.isName(i) && (i+1 >= end || m.tokens[i+1].Kind != TokenOpen) {
				if n := m.sequence(i); n > 0 {
					rows = min(rows*n, boundless)
					m.give("seq", amount{num: n})
				} else if a, known := m.names[m.name(i)]; known && a.rows > 1 && (i == start || m.tokens[i-1].Kind != TokenDot) {
					rows = min(rows*a.rows, boundless)
				}
			}
			continue
		}
		stop := m.closing(i, end)
		var a amount
		switch {
		case m.word(i-1) == "pivot" && i > start:
			m.rowsOf(i+1, stop, rows)
			i = stop
			continue
		case m.isName(i-1) && i > start && !joinWord(m.word(i-1)):
			kind := m.growth.Makers[m.name(i-1)]
			a = m.call(i-1, i, stop, operand{}, true)
			if kind != MakesRows && kind != MakesSeries && m.namesAfter(stop, end) == 0 {
				m.other = m.other.join(a) // its columns have names of their own
			}
		default:
			a = m.relation(i+1, stop, m.namesAfter(stop, end))
		}
		rows = min(rows*max(a.rows, 1), boundless)
		if m.growth.Strict && i > start && m.isName(i-1) && !joinWord(m.word(i-1)) {
			m.give("value", a) // as SQLite names the column of a function
		}
		// What follows names it and its columns.
		next := stop + 1
		for next < end && (m.word(next) == "as" || m.word(next) == "with" || m.word(next) == "ordinality") {
			next++
		}
		if next < end && m.isName(next) && !joinWord(m.word(next)) {
			m.give(m.name(next), a.row())
			if next+1 < end && m.tokens[next+1].Kind == TokenOpen {
				close := m.closing(next+1, end)
				for j := next + 2; j < close; j++ {
					if m.isName(j) {
						m.give(m.name(j), a)
					}
				}
				next = close
			}
			i = next
			continue
		}
		if m.isName(i - 1) {
			m.give(m.name(i-1), a) // a function without an alias has its own name
		}
		i = stop
	}
	return rows
}

// sequence returns how many rows a table of MariaDB's sequence engine has (seq_1_to_10), or 0.
func (m *meter) sequence(i int) float64 {
	if !m.growth.Unsigned || !strings.HasPrefix(m.name(i), "seq_") {
		return 0
	}
	return numberIn(m.name(i))
}

// namesAfter is how many names the columns of the relation get whose bracket closes at stop.
func (m *meter) namesAfter(stop, end int) (n int) {
	for next := stop + 1; next < end; next++ {
		switch {
		case m.tokens[next].Kind == TokenOpen:
			for close := m.closing(next, end); next < close; next++ {
				if m.isName(next) {
					n++
				}
			}
			return n
		case !m.isName(next) || joinWord(m.word(next)) && m.word(next) != "as":
			return 0
		}
	}
	return 0
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
