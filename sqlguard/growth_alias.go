package sqlguard

import (
	"fmt"
	"strings"
)

// definition is an expression with a name, for a dialect in which the name stands for it
// in the whole query. The expression ends where AS or, without that word, the name begins.
type definition struct {
	name        string
	start, stop int
	relation    bool // in FROM, where a name stands for a table, whose columns the server computes once
	measured    bool
	reads       float64 // how many expressions the name stands for
}

// maxAliased is how many expressions the names of a statement may stand for, counting those
// of the names in them. ClickHouse 26.7 writes out each of them before any limit of time
// holds: 2,046, a chain of ten names that each have the one before twice, took it a quarter
// of a second, and each name more doubles that.
const maxAliased = 2500

// aliasHint is for names that stand for too much.
const aliasHint = "use each name once in the next expression, or compute the first ones in a query in FROM, whose columns the server computes once"

// define finds the expressions that have names.
func (m *meter) define() {
	type level struct {
		start int
		list  bool // a select list, where AS can be left out
		cast  bool // CAST(x AS type)
		from  bool // relations
	}
	levels := []level{{}}
	add := func(start, stop, name int) {
		d := &definition{name: callName(m.text(name)), start: start, stop: stop, relation: levels[len(levels)-1].from}
		if m.defined == nil {
			m.defined, m.starts, m.aliasAt, m.counted = map[string][]*definition{}, map[int]*definition{}, map[int]bool{}, map[string]*definition{}
		}
		m.defined[d.name] = append(m.defined[d.name], d)
		m.starts[start], m.aliasAt[name] = d, true
	}
	end := func(at int) { // of an item
		top := levels[len(levels)-1]
		if !top.list || at <= top.start {
			return
		}
		if name := m.alias(top.start, at); name > top.start && m.word(name-1) != "as" {
			add(top.start, name, name)
		}
	}
	for i := range m.tokens {
		top := &levels[len(levels)-1]
		switch m.tokens[i].Kind { //nolint:exhaustive // the others belong to an item
		case TokenOpen:
			levels = append(levels, level{start: i + 1, cast: m.word(i-1) == "cast"})
		case TokenClose:
			end(i)
			if len(levels) > 1 {
				levels = levels[:len(levels)-1]
			}
		case TokenComma:
			end(i)
			top.start = i + 1
		case TokenWord:
			switch w := m.word(i); {
			case w == "as" && (top.cast && m.word(i+2) != "as" || m.word(i+1) == "materialized"):
			case w == "as" && m.isName(i+1) && i > top.start:
				add(top.start, i, i+1)
			case i > 0 && m.tokens[i-1].Kind == TokenDot:
			case w == "on":
				top.from = false
			case m.isClause(i) || w == "prewhere" || w == "qualify" || w == "distinct" || w == "by" || w == "join":
				end(i)
				top.start, top.list = i+1, w == "select" || w == "distinct" && top.list
				top.from = w == "from" || w == "join" && m.word(i-1) != "array"
			}
		}
	}
	end(len(m.tokens))
	if m.defined == nil {
		return
	}
	total, worst := 0.0, &definition{}
	for i := range m.tokens {
		n, d := m.readsBehind(i)
		if total = min(total+n, boundless); n > worst.reads {
			worst = d
		}
	}
	if total > maxAliased {
		m.refuse(worst.start, worst.stop, fmt.Sprintf("names behind AS stand for %s expressions, counting those of the names in them, %s alone for %s; the limit is %d, because this server writes out each of them",
			count(total), worst.name, count(worst.reads), maxAliased), aliasHint)
	}
}

// readsBehind counts the expressions that the name at i stands for, and returns the largest
// of those that have it. A name that is being counted is a column there. Behind a dot is a
// column or a part, and behind AS the name itself.
func (m *meter) readsBehind(i int) (reads float64, of *definition) {
	if !m.isName(i) || m.aliasAt[i] || i > 0 && m.tokens[i-1].Kind == TokenDot {
		return 0, nil
	}
	name := callName(m.text(i))
	list := m.defined[name]
	if len(list) == 0 {
		return 0, nil
	}
	of, counted := m.counted[name]
	if !counted {
		m.counted[name] = nil
		for _, d := range list {
			if d.relation {
				continue
			}
			d.reads = 1
			for i := d.start; i < d.stop; i++ {
				n, _ := m.readsBehind(i)
				d.reads = min(d.reads+n, boundless)
			}
			if of == nil || d.reads > of.reads {
				of = d
			}
		}
		m.counted[name] = of
	}
	if of == nil {
		return 0, nil
	}
	return of.reads, of
}

// lookUp measures the expressions behind a name that come later in the text.
func (m *meter) lookUp(name string) {
	for _, d := range m.defined[name] {
		if d.measured {
			continue
		}
		bare, width := m.bare, m.width
		m.measureDefinition(d)
		m.bare, m.width = bare, width
	}
}

// measureDefinition measures an expression with a name, and gives it to the name.
func (m *meter) measureDefinition(d *definition) amount {
	d.measured = true
	delete(m.starts, d.start)
	a := m.query(d.start, d.stop)
	m.give(d.name, a)
	return a
}

// apply measures what stands behind APPLY: a function or a lambda, which is called with
// each of the columns that out stands for. It returns where that ends.
func (m *meter) apply(start, end int, out *amount) int {
	stop := start + 1
	if start >= end {
		return end
	}
	from, to := start, end
	if m.tokens[start].Kind == TokenOpen {
		if close := m.closing(start, end); close < end && (close+1 == end || m.text(close+1) != "->") {
			from, to, stop = start+1, close, close+1
		}
	}
	column := out.join(m.any())
	if first, last, body, ok := m.lambda(from, to); ok {
		if to == end { // up to the next transformer
			for to = body; to < end && m.word(to) != "apply" && m.word(to) != "except" && m.word(to) != "replace"; to++ {
				if m.tokens[to].Kind == TokenOpen {
					to = m.closing(to, end)
				}
			}
			stop = min(to, end)
		}
		names := m.parameters(first, last, column)
		*out = m.query(body, min(to, end))
		if m.doubles(body, min(to, end), m.stepOf(names, "", body, min(to, end))) && column.size > numberSize {
			out.size = max(out.size, column.size*2)
		}
		return stop
	}
	if !m.isName(from) {
		return stop
	}
	args := []amount{column}
	open := from
	if from+1 < end && m.text(from+1) == "(" {
		open = from + 1
		args = append(args, m.folded0(open)...)
		if stop <= open {
			stop = m.closing(open, end) + 1
		}
	}
	*out = m.made(from, open, max(open, stop-1), operand{}, args, false)
	return stop
}

// nameEnds reports whether the name of a definition is the last token before end.
func (m *meter) nameEnds(d *definition, end int) bool {
	return d.stop+1 == end || d.stop+2 == end && m.word(d.stop) == "as"
}

// limits reports whether LIMIT says how many rows there are at most: in a number, and for
// all of them.
func (m *meter) limits(start, end int) bool {
	for i := start; i < end; i++ {
		if t := m.tokens[i]; t.Kind != TokenComma && (t.Kind != TokenNumber || strings.Contains(m.text(i), ".")) {
			return false
		}
	}
	return start < end
}

// filled is how many rows WITH FILL makes of each.
func (m *meter) filled(start, end int) (n float64) {
	for i := start; i+1 < end; i++ {
		if m.word(i) != "with" || m.word(i+1) != "fill" {
			continue
		}
		most, step := m.expression(i+2, end).num, 1.0
		if seconds, ok := m.between(i+2, end); ok {
			most = seconds / 3600
		}
		for j := i + 2; j < end; j++ {
			if x := numberOf(m.text(j)); m.tokens[j].Kind == TokenNumber && x > 0 {
				step = min(step, x)
			}
		}
		n = max(n, 1) * (most/step + 1)
	}
	return n
}

// endless reports whether the name at i is a relation that does not end, whose column it
// gives any number.
func (m *meter) endless(start, i int) bool {
	if i-2 < start-1 || i < 2 || m.tokens[i-1].Kind != TokenDot || !m.growth.Endless[callName(m.text(i-2))+"."+callName(m.text(i))] {
		return false
	}
	return true
}

// arrayJoin measures lists that FROM joins: a row for each element. It returns the index of
// the last token that belongs to them, and how many rows there are.
func (m *meter) arrayJoin(start, end int) (last int, rows float64) {
	stop := start
	for stop < end && !joinWord(m.word(stop)) && m.word(stop) != "array" || m.word(stop) == "as" {
		if m.tokens[stop].Kind == TokenOpen {
			stop = m.closing(stop, end)
		}
		stop++
	}
	rows = 1
	m.split(start, min(stop, end), func(start, end int) {
		at := m.alias(start, end)
		to := end
		if at >= 0 && m.word(at-1) == "as" {
			to = at - 1
		}
		a := m.query(start, to)
		each, n := a.element()
		if a.items > 0 || a.size > numberSize {
			rows = max(rows, n)
		}
		if at >= 0 {
			m.give(m.text(at), each)
		}
	})
	return min(stop, end) - 1, rows
}
