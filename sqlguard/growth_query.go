package sqlguard

import (
	"fmt"
	"maps"
	"slices"
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
	if d := m.starts[start]; d != nil && d.stop < end && m.nameEnds(d, end) {
		return m.measureDefinition(d)
	}
	type part struct {
		word       string
		start, end int
	}
	if at := m.pipe(start, end); m.growth.Pipes && at < end {
		return m.piped(start, at, end)
	}
	parts := make([]part, 0, 8)
	isQuery := false
	for i := start; i < end; i++ {
		if m.tokens[i].Kind == TokenOpen {
			i = m.closing(i, end)
			continue
		}
		if w := m.word(i); m.isClause(i) && (i == start || m.tokens[i-1].Kind != TokenDot && m.word(i-1) != "as") && !m.continues(start, i) {
			isQuery = isQuery || w == "select" || w == "values" || m.growth.Methods && w == "from" && (i == start || len(parts) > 0 && parts[0].word == "with")
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
	limit, later, starred := boundless, false, true
	outer, heads, source := m.unrolled, m.heads, m.source
	m.unrolled, m.heads, m.source = 1, nil, amount{}
	defer func() { m.unrolled, m.heads, m.source = outer, heads, source }()
	for _, p := range parts {
		if p.word == "with" {
			m.with(p.start, p.end)
		}
	}
	// The names and rows of FROM are known before the expressions that use them, wherever
	// these stand. Each FROM is measured once: twice at each level would be too often.
	type branchRows struct{ rows, unrolled float64 } // of a query between set operations
	sources := make([]branchRows, 0, 8)
	for _, p := range parts {
		switch p.word {
		case "from":
			branch = min(branch*m.from(p.start, p.end), boundless)
		case "union", "intersect", "except":
			sources = append(sources, branchRows{branch, m.unrolled})
			branch, m.unrolled = 1, 1
		}
	}
	sources = append(sources, branchRows{branch, m.unrolled})
	next := func() {
		branch, m.unrolled = sources[0].rows, sources[0].unrolled
		sources = sources[1:]
	}
	next()
	for _, p := range parts {
		switch p.word {
		case "from", "with":
		case "limit", "fetch":
			if n := max(m.expression(p.start, p.end).count(), 1); !m.growth.Aliases || m.limits(p.start, p.end) {
				limit = n
			}
		case "union", "intersect", "except":
			rows, later = rows+branch*m.unrolled, true
			next()
		case "select":
			out, starred = out.join(m.list(p.start, p.end, branch, later)), false
			if m.word(p.start) == "top" && p.start+2 < p.end && m.tokens[p.start+1].Kind == TokenNumber && m.word(p.start+2) != "percent" && m.word(p.start+2) != "with" {
				limit = max(numberOf(m.text(p.start+1)), 1)
			}
		case "values":
			starred = false
			out = out.join(m.list(p.start, p.end, 1, later))
			branch = 0
			m.split(p.start, p.end, func(int, int) { branch++ })
		default:
			m.rowsOf(p.start, p.end, branch)
			if n := m.filled(p.start, p.end); n > 1 {
				branch = min(branch*n, boundless)
			}
		}
	}
	branch = min(branch*m.unrolled, boundless)
	if starred { // all columns
		out = out.join(m.any())
	}
	out.rows = min(rows+branch, limit)
	if at := m.asText(parts[0].start, end); at > 0 {
		return m.document(parts[0].start, end, out)
	}
	return out.bound()
}

// continues reports whether the word of a clause at i belongs to what stands before it: IS
// DISTINCT FROM, ROWS FROM, WITHIN GROUP, WITH FILL, and the function values.
func (m *meter) continues(start, i int) bool {
	if i == start {
		return false
	}
	switch m.word(i) {
	case "from":
		return m.word(i-1) == "rows" || m.word(i-1) == "distinct" && (m.word(i-2) == "is" || m.word(i-2) == "not" && m.word(i-3) == "is")
	case "group":
		return m.word(i-1) == "within"
	case "with":
		return m.growth.Aliases && m.word(i+1) == "fill"
	case "values":
		return m.growth.Aliases && m.tokens[i-1].Kind != TokenOpen
	default:
		return false
	}
}

// asText returns where FOR XML or FOR JSON stands, which makes one text of all rows, or 0.
func (m *meter) asText(start, end int) int {
	for i := start; i < end; i++ {
		if m.tokens[i].Kind == TokenOpen {
			i = m.closing(i, end)
			continue
		}
		if w := m.word(i + 1); m.word(i) == "for" && (w == "xml" || w == "json") && i+1 < end {
			return i
		}
	}
	return 0
}

// document measures the text that FOR XML or FOR JSON makes of rows. An escaped character
// has up to six, and each row has the names of its columns twice.
func (m *meter) document(start, end int, rows amount) amount {
	const escaped, around = 6, 64
	text := float64(m.tokens[end-1].End - m.tokens[start].Start)
	each := escaped*rows.size*float64(max(m.width, 1)) + 2*text + around
	out := amount{size: each * rows.rows, num: rows.num, text: true}.bound()
	if rows.rows > 1 && out.size > m.most {
		m.tell(start, end, fmt.Sprintf("FOR XML or FOR JSON makes a text of up to %s bytes from constants; the limit is %s", count(out.size), count(m.most)))
		out.size = 0 // told once
	}
	return out
}

// pipe returns where the next |> is that is in no bracket, or end.
func (m *meter) pipe(start, end int) int {
	for i := start; i < end; i++ {
		switch m.tokens[i].Kind { //nolint:exhaustive // the others stand between
		case TokenOpen:
			i = m.closing(i, end)
		case TokenOperator:
			if m.text(i) == "|>" {
				return i
			}
		}
	}
	return end
}

// piped measures a query whose rows go through operators, of which the first begins at at.
func (m *meter) piped(start, at, end int) amount {
	out := m.query(start, at)
	rows := max(out.rows, 1)
	for at < end {
		from, next := at+1, m.pipe(at+1, end)
		at = next
		join := from // the last word of a join such as LEFT JOIN
		for join < next && joinWord(m.word(join)) && m.word(join) != "join" {
			join++
		}
		switch w := m.word(from); {
		case m.word(join) == "join":
			rows = min(rows*m.from(join+1, next), boundless)
		case w == "select", w == "extend", w == "rename":
			out = out.join(m.list(from+1, next, rows, false))
		case w == "set":
			m.split(from+1, next, func(start, end int) {
				a := m.rowsOf(min(start+2, end), end, rows)
				m.give(m.text(start), a)
				out = out.join(a)
			})
		case w == "aggregate":
			group := from + 1
			for group < next && m.word(group) != "group" {
				if m.tokens[group].Kind == TokenOpen {
					group = m.closing(group, next)
				}
				group++
			}
			group = min(group, next)
			out = out.join(m.list(from+1, group, rows, false))
			keys := group
			for keys < next && (m.word(keys) == "group" || m.word(keys) == "and" || m.word(keys) == "order" || m.word(keys) == "by") {
				keys++
			}
			if keys < next {
				out = out.join(m.list(keys, next, rows, false))
			}
		case w == "as":
			if from+1 < next {
				m.giveRelation(m.text(from+1), m.any())
			}
		case w == "limit":
			rows = min(rows, max(m.expression(from+1, next).count(), 1))
		case w == "union", w == "intersect", w == "except":
			m.split(from+1, next, func(start, end int) {
				for i := start; i < end; i++ {
					if m.tokens[i].Kind == TokenOpen {
						stop := m.closing(i, end)
						a := m.query(i+1, stop)
						out, rows, i = out.join(a), min(rows+max(a.rows, 1), boundless), stop
					}
				}
			})
		default:
			out = out.join(m.rowsOf(from, next, rows))
		}
	}
	out.rows = rows
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
	if m.names == nil {
		m.names = map[string]amount{}
	}
	m.names[name] = m.names[name].join(a)
	m.all = m.all.join(a)
}

// giveRelation lets a name stand for a relation, and where it stands alone for its whole row.
func (m *meter) giveRelation(name string, a amount) {
	m.give(name, a)
	if m.wholes == nil {
		m.wholes = map[string]amount{}
	}
	m.wholes[name] = m.wholes[name].join(a.row())
	m.all = m.all.join(a.row())
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

// withoutAlias returns where an item ends without the name that it gives, which it does not
// read. Where such a name can be the right side of an operator that is a word, or of one in
// OPERATOR(…), it stays in.
func (m *meter) withoutAlias(start, end int) int {
	at := m.alias(start, end)
	if at < 0 {
		return end
	}
	before := at - 1
	if m.word(before) == "as" {
		return before
	}
	switch m.tokens[before].Kind { //nolint:exhaustive // behind these, only the name of the item follows
	case TokenNumber, TokenString:
		return at
	case TokenWord, TokenQuotedName:
		if before > start && m.tokens[before-1].Kind == TokenDot {
			return at
		}
	case TokenClose:
		for i := start; i < before; i++ {
			if m.tokens[i].Kind != TokenOpen {
				continue
			}
			opened := i
			if i = m.closing(i, end); i == before && (opened == start || m.word(opened-1) != "operator") {
				return at
			}
		}
	}
	return end
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
	before := m.heads // the names of the list before
	var heads []string
	all := false // an item stands for all columns, so that the places of the next ones are not known
	m.split(start, end, func(start, end int) {
		width++
		at, from, stop := m.alias(start, end), start, end
		switch {
		case start+1 < end && m.isName(start) && m.text(start+1) == ":": // the alias is in front
			at, from = start, start+2
		case at >= 0:
			stop = at
		}
		if d := m.starts[from]; d != nil && d.stop <= stop && d.stop >= stop-1 {
			d.measured = true
			delete(m.starts, from)
		}
		a := m.rowsOf(from, stop, rows)
		named := false // the columns have the names under which they were measured
		if star := m.text(end - 1); star == "*" || m.text(start) == "*" {
			a, all = a.join(m.columns()), true
			named = star == "*" && m.known() && m.plain(start, end-1)
		}
		if at >= 0 {
			m.give(m.name(at), a)
		}
		head := m.columnName(start, end, at)
		if all {
			heads = append(heads, "")
		} else {
			heads = append(heads, head)
		}
		switch {
		case later && all:
			for _, name := range before[min(width-1, len(before)):] {
				m.give(name, a)
			}
			m.bare = m.bare.join(a)
		case later && width <= len(before) && before[width-1] != "":
			m.give(before[width-1], a)
		case later || head == "" && !named:
			m.bare = m.bare.join(a)
		}
		row += max(a.size, a.whole)
		out = out.join(a)
	})
	out.whole = max(out.whole, row)
	if m.word(start-1) == "values" && start < end && m.tokens[start].Kind == TokenOpen { // rows
		width = 0
		m.split(start+1, m.closing(start, end), func(int, int) { width++ })
	}
	m.width = max(m.width, width)
	m.heads = heads
	if later {
		m.heads = before
	}
	return out
}

// columnName returns the name of the column that an item of a list makes: its alias, which is
// at a token or at -1, or that of the column which it reads; or "".
func (m *meter) columnName(start, end, alias int) string {
	switch {
	case alias >= 0:
		return m.name(alias)
	case start < end && m.plain(start, end) && m.isName(end-1):
		return m.name(end - 1)
	default:
		return ""
	}
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

// columns is the largest value that * stands for: a column of a relation of FROM. In a recursive
// query, which is one of them and not measured yet, and where a name can be a column of another
// query, it can be any. Its whole is the size of all columns together.
func (m *meter) columns() amount {
	if !m.known() {
		return m.any()
	}
	out := m.source
	out.rows = 0
	return out
}

// known reports whether the relations of FROM were measured before the query, so that they are
// all that * stands for.
func (m *meter) known() bool { return !m.recurs && !m.mutual && !m.growth.lambdas() }

// sources adds a relation to those that FROM has.
func (m *meter) sources(a amount) {
	whole := m.source.whole + max(a.size, a.whole)
	m.source = m.source.join(a)
	m.source.whole = min(whole, boundless)
}

// named is the largest value that a name can stand for. A column without a name of its own
// can have any.
func (m *meter) named(name string) amount {
	a := m.wholes[name].join(m.column(name))
	a.rows = 0
	return a
}

// column is the largest value that a column of this name can have.
func (m *meter) column(name string) amount {
	m.lookUp(name)
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
	before := m.reading
	m.reading = rows
	a := m.expression(start, end)
	m.reading = before
	return a
}

// with measures common table expressions.
func (m *meter) with(start, end int) {
	recursive := m.word(start) == "recursive"
	m.mutual = m.mutual || recursive && (slices.Contains(m.words, "uescape") || m.readsLater(start, end))
	m.split(start, end, func(start, end int) {
		if m.word(start) == "recursive" {
			start++
		}
		if d := m.starts[start]; d != nil {
			m.measureDefinition(d)
			return
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
		open = m.queryOf(open, end)
		if open >= end {
			return
		}
		stop := m.closing(open, end)
		if m.growth.Rereads {
			reads := m.readsIn(open+1, stop)
			if m.once(open) {
				reads = 0
			}
			if m.reads == nil {
				m.reads = map[string]float64{}
			}
			m.reads[m.name(start)] = reads
		}
		recurs := recursive && m.mutual || (recursive || m.growth.Recurses) && m.has(open+1, stop, m.name(start))
		var r recursion
		if recurs {
			r = m.recursionOf(m.name(start), open+1, stop, columns)
			m.numbersOfSteps(r)
		}
		outside := m.recurs
		m.recurs = outside || recurs
		a := m.relation(open+1, stop, len(columns))
		m.recurs = outside
		if recurs {
			if r.mutual != m.mutual { // a WITH in the query was read meanwhile
				r = m.recursionOf(m.name(start), open+1, stop, columns)
			}
			a = a.join(m.repeated(r, a.text))
		}
		for _, name := range columns {
			m.give(name, a)
		}
		m.giveRelation(m.name(start), a)
	})
}

// readsLater reports whether a common table expression of the WITH between two tokens reads a
// later one, so that each of them may be recursive: MariaDB lets them read each other.
func (m *meter) readsLater(start, end int) bool {
	type query struct{ from, to int }
	var before []query
	for i := start; i < end; i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen:
			before = append(before, query{i + 1, m.closing(i, end)})
			i = m.closing(i, end)
		case m.namesQuery(i) && slices.ContainsFunc(before, func(q query) bool { return m.has(q.from, q.to, m.name(i)) }):
			return true
		}
	}
	return false
}

// queryOf returns the bracket that begins the query of a common table expression: the one
// behind AS, or the first one. There may be others before it, such as USING KEY (a).
func (m *meter) queryOf(from, end int) int {
	first := end
	for i := from; i < end; i++ {
		if m.tokens[i].Kind != TokenOpen {
			continue
		}
		if w := m.word(i - 1); w == "as" || w == "materialized" {
			return i
		}
		first = min(first, i)
	}
	return first
}

// once reports whether the server computes a common table expression only once, by the words
// before its query. It may compute one without MATERIALIZED again if what reads it has a
// LIMIT.
func (m *meter) once(open int) bool {
	switch {
	case !m.growth.Materializes:
		return false
	case m.word(open-1) == "materialized":
		return m.word(open-2) != "not"
	default:
		return !slices.ContainsFunc(m.tokens, func(t Token) bool {
			if t.Kind != TokenWord {
				return false
			}
			switch strings.ToLower(t.Text(m.sql)) {
			case "limit", "offset", "fetch", "top":
				return true
			}
			return false
		})
	}
}

// has reports whether a name stands between two tokens. Behind a dot is none of a common table
// expression.
func (m *meter) has(start, end int, name string) bool {
	for i := start; i < end; i++ {
		if m.isName(i) && m.name(i) == name && (i == start || m.tokens[i-1].Kind != TokenDot) {
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
		hint := onceHint
		if m.growth.Materializes {
			hint = materializedHint
		}
		m.refuse(start, end, fmt.Sprintf("common table expressions are read %s times here, counting what they read themselves; the limit is %d, because this server computes them again each time", count(reads), maxReads), hint)
	}
	return reads
}

// repeated measures what a recursive query adds: as many rows as its largest number says. It
// refuses a step that makes a longer value from a column of the query, which has no bound. The
// rows with which the query begins are no step.
func (m *meter) repeated(r recursion, text bool) (a amount) {
	start, end, s := r.start, r.end, r.step
	begins := m.begins(s.query, start, end)
	a.num = m.largest(start, end)
	endless := func() {
		a.size, a.text = boundless, true
		for name := range s.names {
			m.give(name, a)
		}
	}
	m.items(start, end, func(clause string, from, to int) {
		if from < begins {
			return
		}
		stop := to
		if clause == "select" {
			to = m.itemEnd(from, end)
			stop = m.withoutAlias(from, to)
		}
		if !m.doubles(from, stop, s) && (clause != "select" || !r.flow.joins(m, from, to, text)) {
			return
		}
		if clause == "select" && m.most < boundless {
			m.refuse(from, to, fmt.Sprintf("each step of the recursive query %s makes a value here that can be twice as long as the one before, so that it has no bound", s.query), stepHint)
		}
		endless()
	})
	if m.growth.Quotes {
		if item, found := m.hides(r); found {
			if m.most < boundless {
				m.refuse(item.start, item.end, fmt.Sprintf("each step of the recursive query %s makes a text here of a list, a row or a document with the text before, which can double it, so that it has no bound", s.query), stepHint)
			}
			endless()
		}
	}
	a.rows = max(a.num, 1)
	return a
}

// largest returns the largest number between two tokens, or product of numbers. A number that
// grows by steps of a recursive query counts as that: some condition ends the steps.
func (m *meter) largest(start, end int) (most float64) {
	product, times := 0.0, false
	for i := start; i < end; i++ {
		switch m.tokens[i].Kind { //nolint:exhaustive // the others stand between numbers
		case TokenNumber:
			n := numberOf(m.text(i))
			if product = max(product, 1) * max(n, 1); !times {
				product = n
			}
			most, times = max(most, product), false
		case TokenOperator:
			times = m.text(i) == "*"
		case TokenOpen, TokenClose: // as in 1000 * (1000)
		default:
			times = false
		}
	}
	return min(most, boundless)
}

// begins returns where the first part of a recursive query ends which does not read the query
// itself, or start if it does or may.
func (m *meter) begins(query string, start, end int) int {
	for i := start; i < end && !m.mutual; i++ {
		if m.tokens[i].Kind == TokenOpen {
			i = m.closing(i, end)
		}
		if m.word(i) == "union" && m.isClause(i) && !m.has(start, i, query) {
			return i
		}
	}
	return start
}

// valuesOf returns the names of a recursive query and of the values in it.
func (m *meter) valuesOf(query string, start, end int, columns []string) map[string]bool {
	own := map[string]bool{query: true}
	for _, c := range columns {
		own[c] = true
	}
	for i := start; i < end; i++ {
		if m.word(i-1) == "as" && m.isName(i) {
			own[m.name(i)] = true
		}
	}
	m.items(start, end, func(clause string, from, to int) {
		if clause != "select" {
			return
		}
		if name := m.columnName(from, to, m.alias(from, to)); name != "" {
			own[name] = true
		}
	})
	return own
}

// stepHint is for a recursive query whose steps make a value longer and longer.
const stepHint = "let each step add something to the value once, such as path || '/' || name"

// items calls each for the parts between commas of the clauses of a query and of those in it.
func (m *meter) items(start, end int, each func(clause string, start, end int)) {
	from, depth, clause := start, 0, "" // where the item begins, and how deep its brackets are
	var outside []string                // the clauses around the brackets
	for i := start; i <= end; i++ {
		w := ""
		if i < end {
			w = m.word(i)
			switch m.tokens[i].Kind { //nolint:exhaustive // only brackets nest
			case TokenOpen:
				depth++
				outside = append(outside, clause)
			case TokenClose:
				depth--
				if n := len(outside); n > 0 {
					clause, outside = outside[n-1], outside[:n-1]
				}
			}
		}
		if i == end || m.tokens[i].Kind == TokenComma && depth <= 0 || m.isClause(i) || w == "on" {
			if from < i {
				each(clause, from, i)
			}
			if from, depth = i+1, 0; w != "" {
				clause = w
			}
		}
	}
}

// itemEnd returns where the item of a list ends that begins at start.
func (m *meter) itemEnd(start, end int) int {
	for i := start; i < end; i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen:
			i = m.closing(i, end)
		case m.tokens[i].Kind == TokenComma, m.tokens[i].Kind == TokenClose, m.isClause(i) && !m.continues(start, i):
			return i
		}
	}
	return end
}

// others returns the names by which a recursive query reads relations of the database: a
// column behind such a name and a dot is none of its own.
func (m *meter) others(query string, start, end int) map[string]bool {
	plain, own := map[string]bool{}, map[string]bool{query: true}
	relation := func(i int) {
		for m.word(i) == "lateral" || m.word(i) == "only" {
			i++
		}
		last := i // of its name
		for last+2 < end && m.tokens[last+1].Kind == TokenDot && m.isName(last+2) {
			last += 2
		}
		alias := last + 1
		if m.word(alias) == "as" {
			alias++
		}
		switch {
		case i >= end || !m.isName(i) || last+1 < end && m.tokens[last+1].Kind == TokenOpen || last == i && m.carries(m.name(i), query, start, end) || m.sequence(last) > 0:
		case alias < end && m.isName(alias) && !joinWord(m.word(alias)) && !m.isClause(alias):
			plain[m.name(alias)] = true
		default:
			plain[m.name(last)] = true
		}
	}
	m.items(start, end, func(clause string, from, _ int) {
		if clause == "from" {
			relation(from)
		}
	})
	for i := start; i < end; i++ {
		if m.word(i) == "join" {
			relation(i + 1)
		}
		before := i - 1
		if m.word(before) == "as" {
			before--
		}
		if m.tokens[i].Kind == TokenString && (before >= 0 && m.tokens[before].Kind == TokenClose || m.word(i-1) == "as") {
			own[strings.ToLower(bodyOf(m.text(i)))] = true // SQLite takes a string for a name
		}
		if m.isName(i) && (i+1 < end && (m.text(i+1) == ":" || m.text(i+1) == "(") || before >= 0 && m.tokens[before].Kind == TokenClose || m.word(before) == "ordinality" ||
			m.isName(before) && m.carries(m.name(before), query, start, end)) {
			own[m.name(i)] = true // another name of a query, or of what a function gives
		}
	}
	for name := range own {
		delete(plain, name)
	}
	return plain
}

// ofTable reports whether the name at i is a column of a table of the database, by the name
// before it: one that stands for such tables alone in the whole statement. Such a value is data.
func (m *meter) ofTable(i int) bool {
	if m.growth.lambdas() || i < 2 || m.tokens[i-1].Kind != TokenDot || !m.isName(i-2) {
		return false
	}
	if m.tables == nil {
		m.tables = map[string]bool{}
		if !slices.Contains(m.words, "uescape") { // a name may be another one than it looks
			m.tables = m.others("", 0, len(m.tokens))
		}
	}
	return m.tables[m.name(i-2)]
}

// carries reports whether a relation of this name may have values of the recursive query between
// two tokens: the query itself, a common table expression in it, and every one where some read
// each other. The statement is searched for all of them once.
func (m *meter) carries(name, query string, start, end int) bool {
	if m.commons == nil {
		m.commons = map[string][]int{}
		for i := range m.tokens {
			if m.namesQuery(i) {
				m.commons[m.name(i)] = append(m.commons[m.name(i)], i)
			}
		}
	}
	return name == query || slices.ContainsFunc(m.commons[name], func(at int) bool { return m.mutual || at >= start && at < end })
}

// namesQuery reports whether the token at i names a common table expression.
func (m *meter) namesQuery(i int) bool {
	if !m.isName(i) || i+2 >= len(m.tokens) {
		return false
	}
	next := i + 1
	if m.tokens[next].Kind == TokenOpen {
		next = m.closing(next, len(m.tokens)-1) + 1
	}
	w := m.word(next + 1)
	return m.word(next) == "as" && next+1 < len(m.tokens) && (m.tokens[next+1].Kind == TokenOpen || w == "materialized" || w == "not") || m.word(next) == "using" && w == "key"
}

// step is what doubles knows of the query whose value is made again and again.
type step struct {
	names, others map[string]bool // of its values, and of relations that are none
	query         string          // the name of the query
	measures      bool            // it has the length of a value
	unrolls       bool            // it has as many rows as a value is long
	listless      bool            // none of its values is a list
}

// stepOf returns what doubles knows of a query, or of a lambda, when query is "".
func (m *meter) stepOf(names map[string]bool, query string, start, end int) step {
	s := step{names: names, query: query}
	if query != "" {
		s.others = m.others(query, start, end)
		s.listless = m.growth.PlusLists && m.listless(start, m.begins(query, start, end))
	}
	for i := start + 1; i < end && !s.measures; i++ {
		if m.tokens[i].Kind != TokenOpen || !m.isName(i-1) || !m.growth.Makers[m.name(i-1)].counts() {
			continue
		}
		for j, stop := i+1, m.closing(i, end); j < stop; j++ {
			s.measures = s.measures || m.isValue(j, start, end, s)
		}
	}
	s.unrolls = query != "" && m.unrolls(start, end, s)
	return s
}

// unrolls reports whether a recursive query makes rows of a value: by a function in FROM, or by
// one in a select list that can have several rows.
func (m *meter) unrolls(start, end int, s step) (found bool) {
	m.items(start, end, func(clause string, from, to int) {
		for i := from + 1; i < to && !found && (clause == "from" || clause == "select"); i++ {
			if m.tokens[i].Kind != TokenOpen || m.text(i) != "(" || !m.isName(i-1) || joinWord(m.word(i-1)) || clause == "select" && !manyRows(m.name(i-1)) {
				continue
			}
			for j, stop := i+1, m.closing(i, end); j < stop; j++ {
				found = found || m.isValue(j, start, end, s)
			}
		}
	})
	return found
}

// severalRows are parts of the names of functions that can have several rows in a select list.
var severalRows = strings.Fields("unnest table elements each keys matches query record series subscripts explode parse split dump debug")

// manyRows reports whether a function can have several rows in a select list, by its name.
func manyRows(fn string) bool {
	return slices.ContainsFunc(severalRows, func(part string) bool { return strings.Contains(fn, part) })
}

// isValue reports whether the token at i reads one of the values.
func (m *meter) isValue(i, start, end int, s step) bool {
	if !m.isName(i) || !s.names[m.name(i)] || i+1 < end && m.tokens[i+1].Kind == TokenOpen && m.text(i+1) == "(" {
		return false
	}
	if i+1 < end && m.tokens[i+1].Kind == TokenDot && (s.query != "" && m.name(i) == s.query || !m.growth.lambdas()) {
		return false // a qualifier
	}
	if i-2 >= start && m.word(i-2) == "interval" {
		return false // a unit
	}
	return i-2 < start || m.tokens[i-1].Kind != TokenDot || !m.isName(i-2) || !s.others[m.name(i-2)]
}

// doubles reports whether an expression can be longer than twice one of the values: it has
// one twice and joins values, or has one in a function that repeats. The parts of a CASE
// count one by one, without what stands between WHEN and THEN.
func (m *meter) doubles(start, end int, s step) bool {
	seen := m.valuesRead(start, end, s)
	if len(seen) == 0 && !s.unrolls {
		return false
	}
	joins, twice, repeats, pads, cases := false, false, false, false, 0
	for _, times := range seen {
		twice = twice || times > 1
	}
	for i := start; i < end; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others make nothing
		case TokenOperator:
			joins = joins || m.text(i) == "||" || m.growth.Plus && m.text(i) == "+" || m.addsLists(i, start, end, s)
		case TokenOpen:
			joins = joins || t.Text(m.sql) != "(" && (i == start || !m.isName(i-1))
			if i == start || !m.isName(i-1) || t.Text(m.sql) != "(" {
				continue
			}
			fn := m.name(i - 1)
			kind, made := m.growth.Makers[fn]
			pads = pads || (s.measures || s.unrolls) && (kind == MakesPad || kind == MakesCount || kind == MakesResize || kind == MakesFill || kind == MakesFormat || kind == MakesCopies)
			switch {
			case made && kind == MakesAll && (s.unrolls || !m.gathersOthers(i+1, m.closing(i, end), s)):
				repeats = true
			case len(seen) > 0 && kind.repeats() && (i-2 >= start && m.tokens[i-2].Kind == TokenDot || !m.gathersOthers(i+1, m.closing(i, end), s)):
				repeats = true
			case kind == MakesFormat && m.growth.Hiding != "" && len(seen) > 0 && m.quotesPart(i+1):
				repeats = true
			case m.growth.Strict && (!made || kind == MakesText) && !numbers[fn] && !choices[fn] && !plain[fn] && !expressionWord(fn), fn == "overlay", fn == "insert":
				joins = true
			case m.joinsValues(fn):
				joins = true
			}
		case TokenWord, TokenQuotedName:
			switch m.wordOf(start, i) {
			case "case":
				cases++
			case "end":
				cases--
			case "when":
				if cases > 0 {
					i = m.condition(i, end)
				}
			}
		}
	}
	return joins && twice || repeats || pads
}

// listless reports whether a recursive query that begins with these tokens has no lists: it
// begins with literals, and every step has the types of those.
func (m *meter) listless(start, end int) bool {
	for i := start; i < end; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others are no literals
		case TokenNumber, TokenString, TokenComma, TokenClose:
		case TokenOperator:
			if m.text(i) == "::" && !listlessTypes[m.word(i+1)] {
				return false
			}
		case TokenOpen:
			if m.text(i) != "(" {
				return false
			}
		case TokenWord, TokenQuotedName:
			switch m.word(i) {
			case "select", "values", "as", "null", "true", "false":
				continue
			}
			if i > start && m.text(i-1) == "::" {
				continue // its type
			}
			named := i > start && (m.word(i-1) == "as" || m.tokens[i-1].Kind == TokenNumber || m.tokens[i-1].Kind == TokenString)
			if called := i+1 < end && m.tokens[i+1].Kind == TokenOpen; called || !named {
				return false
			}
		default:
			return false
		}
	}
	return end > start
}

// listlessTypes are the names of types that are no lists, unless [ follows.
var listlessTypes = words("bigint bool boolean date decimal double float hugeint int int4 int8 integer numeric real smallint text timestamp tinyint ubigint uhugeint uinteger usmallint utinyint varchar")

// addsLists reports whether the token at i is a + that may join two lists: neither side of it
// is a number, or part of other arithmetic.
func (m *meter) addsLists(i, start, end int, s step) bool {
	if !m.growth.PlusLists || s.listless || m.text(i) != "+" || i == start || i+1 >= end {
		return false
	}
	left, right := i-1, i+1
	if m.tokens[left].Kind == TokenNumber || m.tokens[right].Kind == TokenNumber || m.operatorAt(right) == "-" {
		return false
	}
	if m.tokens[left].Kind == TokenClose {
		left = m.opening(left, start)
		if left > start && m.isName(left-1) && !m.isExpressionWord(left-1) {
			left--
		}
	}
	for left-2 >= start && m.tokens[left-1].Kind == TokenDot && m.isName(left-2) {
		left -= 2
	}
	if left > start && (numeric[m.operatorAt(left-1)] || m.operatorAt(left-1) == "::" && m.castsToNumber(left, i)) {
		return false
	}
	for right+2 < end && m.isName(right) && m.tokens[right+1].Kind == TokenDot && m.isName(right+2) {
		right += 2
	}
	if m.isName(right) && !m.isExpressionWord(right) && right+1 < end && m.tokens[right+1].Kind == TokenOpen && m.text(right+1) == "(" {
		right++
	}
	if m.tokens[right].Kind == TokenOpen {
		right = m.closing(right, end)
	}
	return right+1 >= end || !numeric[m.operatorAt(right+1)] && (m.operatorAt(right+1) != "::" || !m.castsToNumber(right+2, end))
}

// numeric are the operators that bind as + or closer, and have no lists.
var numeric = map[string]bool{"-": true, "*": true, "/": true, "//": true, "%": true, "^": true, "**": true}

// gathersOthers reports whether a call reads only columns of relations that have no value
// of the recursive query, each with the name of its relation.
func (m *meter) gathersOthers(start, end int, s step) bool {
	for i := start; i < end; i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen:
			return false
		case m.isName(i) && (m.text(i+1) != "." || !s.others[m.name(i)]) && (i-2 < start || m.text(i-1) != "." || !s.others[m.name(i-2)]):
			return false
		}
	}
	return s.query != ""
}

// wordOf returns the word at i, or "" for one behind a dot.
func (m *meter) wordOf(start, i int) string {
	if i > start && m.tokens[i-1].Kind == TokenDot {
		return ""
	}
	return m.word(i)
}

// valuesRead counts how often an expression reads each value. The parts of a CASE count one
// by one, without what stands between WHEN and THEN.
func (m *meter) valuesRead(start, end int, s step) map[string]int {
	seen := map[string]int{}
	type choice struct{ before, most map[string]int } // what a CASE has seen
	var cases []choice
	for i := start; i < end; i++ {
		if !m.isName(i) {
			continue
		}
		switch w := m.wordOf(start, i); w {
		case "case":
			cases = append(cases, choice{maps.Clone(seen), maps.Clone(seen)})
		case "when", "else", "end":
			if n := len(cases); n > 0 {
				for name, times := range seen {
					cases[n-1].most[name] = max(cases[n-1].most[name], times)
				}
				if w == "end" {
					seen, cases = cases[n-1].most, cases[:n-1]
				} else {
					seen = maps.Clone(cases[n-1].before)
				}
			}
			if w == "when" && len(cases) > 0 {
				i = m.condition(i, end)
			}
		}
		if m.isValue(i, start, end, s) {
			seen[m.name(i)]++
		}
	}
	return seen
}

// joinsValues reports whether a function puts its arguments together.
func (m *meter) joinsValues(fn string) bool {
	switch fn {
	case "row", "list_cat", "array_cat", "format", "printf":
		return true
	default:
		return m.growth.Joins[fn] || strings.Contains(fn, "concat") || strings.Contains(fn, "append") || strings.Contains(fn, "prepend") || strings.Contains(fn, "pack")
	}
}

// condition returns the THEN that belongs to the WHEN at i, or i without one.
func (m *meter) condition(i, end int) int {
	nested := 0
	for j := i + 1; j < end; j++ {
		switch {
		case m.tokens[j].Kind == TokenOpen:
			j = m.closing(j, end)
		case m.word(j) == "case":
			nested++
		case m.word(j) == "end":
			nested--
		case m.word(j) == "then" && nested == 0:
			return j
		}
	}
	return i
}

// from measures the relations of a FROM clause, and returns how many rows they have
// together. A relation of the database counts as one row.
func (m *meter) from(start, end int) float64 {
	rows := 1.0
	for i := start; i < end; i++ {
		if m.tokens[i].Kind != TokenOpen {
			if m.word(i) == "on" && i > start && m.tokens[i-1].Kind != TokenDot {
				stop := m.conditionEnd(i+1, end)
				m.rowsOf(i+1, stop, rows)
				i = stop - 1
				continue
			}
			if m.isName(i) && (i+1 >= end || m.tokens[i+1].Kind != TokenOpen) {
				if n := m.sequence(i); n > 0 {
					rows = min(rows*n, boundless)
					m.give("seq", amount{num: n})
					m.sources(amount{num: n})
				} else if a, known := m.names[m.name(i)]; known && (i == start || m.tokens[i-1].Kind != TokenDot) {
					rows = min(rows*max(a.rows, 1), boundless)
					m.sources(m.named(m.name(i)))
				}
				if m.endless(start, i) {
					rows = boundless
				}
			}
			if m.growth.Aliases && m.word(i) == "array" && m.word(i+1) == "join" {
				var n float64
				i, n = m.arrayJoin(i+2, end)
				rows = min(rows*n, boundless)
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
			if column, ok := m.growth.Columns[callName(m.text(i-1))]; ok {
				m.give(column, a)
			} else if kind != MakesRows && kind != MakesSeries && m.namesAfter(stop, end) == 0 {
				m.other = m.other.join(a) // its columns have names of their own
			}
		default:
			a = m.relation(i+1, stop, m.namesAfter(stop, end))
		}
		rows = min(rows*max(a.rows, 1), boundless)
		m.sources(a)
		if m.growth.Strict && i > start && m.isName(i-1) && !joinWord(m.word(i-1)) {
			m.give("value", a) // as SQLite names the column of a function
		}
		// What follows names it and its columns.
		next := stop + 1
		for next < end && (m.word(next) == "as" || m.word(next) == "with" || m.word(next) == "ordinality") {
			next++
		}
		if next < end && m.isName(next) && !joinWord(m.word(next)) {
			m.giveRelation(m.name(next), a)
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

// conditionEnd returns where the condition ends that follows the ON of a join: before the next
// relation. What a condition calls is no relation: it adds no rows, and nothing reads its value.
func (m *meter) conditionEnd(start, end int) int {
	for i := start; i < end; i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen:
			i = m.closing(i, end)
		case m.tokens[i].Kind == TokenComma:
			return i
		case m.tokens[i].Kind != TokenWord || m.tokens[i-1].Kind == TokenDot:
		default:
			call := i+1 < end && m.tokens[i+1].Kind == TokenOpen
			switch m.word(i) {
			case "join", "inner", "cross", "full", "natural", "outer", "straight_join", "on":
				return i
			case "left", "right": // or a function
				if !call {
					return i
				}
			case "pivot", "unpivot":
				if call {
					return i
				}
			case "array":
				if m.word(i+1) == "join" {
					return i
				}
			}
		}
	}
	return end
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
