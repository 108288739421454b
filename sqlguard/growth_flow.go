package sqlguard

// flow says which values of a recursive query a step makes from which, so that a value which
// grows with each step of a loop is told from one that is only read.
type flow struct {
	step
	items   []flowItem
	reaches map[string]map[string]bool // the values that are made from a value, also by way of others
}

// flowItem is an item of a select list, and the names of the value that it makes.
type flowItem struct {
	start, end int
	targets    []string
	uses       []string // the values that it reads, twice those that it reads more often than once
}

// maxFlow is how many values a recursive query may have whose ways are followed. Those of a
// larger one count as if each were made from all.
const maxFlow = 64

// flowOf follows the values of a recursive query. Its columns have the names that stand behind
// its own, or those of its first list.
func (m *meter) flowOf(start, end int, columns []string, s step) *flow {
	f := &flow{step: s, reaches: map[string]map[string]bool{}}
	lists, index, starred := 0, 0, false
	named := columns
	var first []string
	m.items(start, end, func(clause string, from, _ int) {
		if clause == "values" {
			lists = max(lists, 1) // the rows with which it begins
		}
		if clause != "select" {
			return
		}
		top := m.depths[from] == m.depths[start]
		if m.word(from-1) == "select" && top {
			lists, index = lists+1, 0
		}
		to := m.itemEnd(from, end)
		if from >= to {
			return
		}
		item := flowItem{start: from, end: to}
		at := m.alias(from, to)
		own := m.columnName(from, to, at)
		if m.text(to-1) == "*" && (to == from+1 || m.tokens[to-2].Kind == TokenDot) {
			starred = true
		}
		switch {
		case !top:
			item.targets = append(item.targets, own)
		case lists == 1:
			first = append(first, own)
			index++
			return // it begins, and is no step
		default:
			if columns == nil {
				named = first
			}
			if !starred && index < len(named) && named[index] != "" {
				item.targets = append(item.targets, named[index])
			} else {
				item.targets = append(item.targets, "")
			}
			if at >= 0 {
				item.targets = append(item.targets, own)
			}
			index++
		}
		stop := to
		if at >= 0 {
			stop = at
		}
		for name, times := range m.valuesRead(from, stop, s) {
			for range min(times, 2) {
				item.uses = append(item.uses, name)
			}
		}
		f.items = append(f.items, item)
	})
	if len(f.items) > maxFlow {
		return f
	}
	for _, item := range f.items {
		for _, from := range item.uses {
			for _, to := range item.targets {
				if f.reaches[from] == nil {
					f.reaches[from] = map[string]bool{}
				}
				f.reaches[from][to] = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, to := range f.reaches {
			for by := range to {
				for next := range f.reaches[by] {
					if !to[next] {
						to[next], changed = true, true
					}
				}
			}
		}
	}
	return f
}

// loops reports whether a value is made from another one, which is made from it: both grow
// together. A value whose name is not known may be any of them.
func (f *flow) loops(from string, targets []string) bool {
	for _, to := range targets {
		if len(f.items) > maxFlow || to == "" || from == to || f.reaches[to][from] || f.reaches[to][""] {
			return true
		}
	}
	return false
}

// looping counts how often an item reads values of its own loop.
func (f *flow) looping(item *flowItem) (n int) {
	for _, from := range item.uses {
		if f.loops(from, item.targets) {
			n++
		}
	}
	return n
}

// joins reports whether the item at from makes a text from two values of its own loop, so that
// it grows like the numbers of Fibonacci. text says that the query has texts.
func (f *flow) joins(m *meter, from, to int, text bool) bool {
	for i := range f.items {
		item := &f.items[i]
		if item.start != from || f.looping(item) < 2 {
			continue
		}
		for j := from; j < to; j++ {
			operator := m.text(j)
			switch {
			case operator == "||", m.isName(j) && j+1 < to && m.tokens[j+1].Kind == TokenOpen && m.joinsValues(m.name(j)):
				return true
			case m.growth.Plus && operator == "+" && text, m.addsLists(j, from, to, f.step):
				return true
			}
		}
	}
	return false
}

// recursion is a recursive query: the tokens from start to end, and what it makes of its values.
type recursion struct {
	step
	start, end int
	flow       *flow
	mutual     bool // some queries of the statement may read each other, as far as that was known
}

// recursionOf follows the values of a recursive query.
func (m *meter) recursionOf(query string, start, end int, columns []string) recursion {
	s := m.stepOf(m.valuesOf(query, start, end, columns), query, start, end)
	return recursion{step: s, start: start, end: end, flow: m.flowOf(start, end, columns, s), mutual: m.mutual}
}

// numbersOfSteps lets the columns of a recursive query whose numbers grow by a factor in each
// step stand for numbers without a bound: n * 2, n + n, or a + b, b. Those to which each step
// adds something stand for the largest number in the query. It is called before the query is
// measured, because the query may use them itself.
func (m *meter) numbersOfSteps(r recursion) {
	f := r.flow
	most := m.largest(r.start, r.end)
	for i := range f.items {
		item := &f.items[i]
		to := amount{num: most}
		switch {
		case f.multiplies(m, item):
			to = amount{num: boundless, wild: true}
		case f.looping(item) == 0 || !m.adds(item):
			continue
		}
		grown := map[string]bool{}
		for _, target := range item.targets {
			grown[target] = true
			for next := range f.reaches[target] {
				grown[next] = true
			}
		}
		for name := range r.names {
			if name != r.query && (grown[name] || grown[""] || len(f.items) > maxFlow) {
				m.give(name, to)
			}
		}
	}
}

// adds reports whether an item adds or subtracts.
func (m *meter) adds(item *flowItem) bool {
	for i := item.start; i < item.end; i++ {
		if text := m.operatorAt(i); text == "+" || text == "-" {
			return true
		}
	}
	return false
}

// multiplies reports whether an item makes a number from one of its own loop that can be larger
// by a factor.
func (f *flow) multiplies(m *meter, item *flowItem) bool {
	looping := f.looping(item)
	if looping == 0 {
		return false
	}
	times, adds, literal := false, false, false
	for i := item.start; i < item.end; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others make no number
		case TokenNumber:
			n := numberOf(m.text(i))
			literal = literal || n > 1 || n > 0 && n < 1
		case TokenString:
			literal = literal || numberIn(m.text(i)) > 1
		case TokenOperator:
			if i == item.start || m.tokens[i-1].Kind == TokenOpen || m.tokens[i-1].Kind == TokenDot {
				continue // all columns, or a sign
			}
			switch m.text(i) {
			case "<<":
				times, literal = true, true
			case "*", "^", "**", "/":
				times = true
			case "+", "-":
				adds = true
			}
		case TokenOpen:
			if i == item.start || !m.isName(i-1) || t.Text(m.sql) != "(" || m.isExpressionWord(i-1) {
				continue
			}
			fn := m.name(i - 1)
			switch kind, made := m.growth.kind(fn, m.text(i-1)); {
			case kind == MakesPower || kind == MakesTimes || kind == MakesShift || kind == MakesLarge || kind == MakesTotal:
				times, literal = true, true
			case !choices[fn] && (!made || kind == MakesValue):
				adds = adds || looping > 1
			}
		}
	}
	if m.dividesOnly(item) {
		times = false
	}
	return times && (literal || len(item.uses) > 1) || adds && looping > 1
}

// dividesOnly reports whether an item divides by whole numbers and does not multiply.
func (m *meter) dividesOnly(item *flowItem) bool {
	for i := item.start; i < item.end; i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen && m.isName(i-1):
			return false
		case m.tokens[i].Kind != TokenOperator:
		case m.text(i) == "*" || m.text(i) == "<<" || m.text(i) == "^" || m.text(i) == "**":
			return false
		case m.text(i) == "/" && (i+1 >= item.end || m.tokens[i+1].Kind != TokenNumber || numberOf(m.text(i+1)) < 1):
			return false
		}
	}
	return true
}
