package sqlguard

import (
	"slices"
	"strings"
)

// quoting looks for texts of lists, rows and documents in a recursive query. Such a text hides
// the quotes and backslashes of the texts in it, so that one which holds the text before is
// about twice as long.
type quoting struct {
	*meter
	r       recursion
	aliases map[string]bool // of relations in FROM that may have values of the query
	rows    map[string]bool // those of the query itself, or of another one in FROM
	parts   []quotedPart
}

// quotedPart is an item of a list, or a call in FROM.
type quotedPart struct {
	flowItem
	inner bool // its value may have any name
	alien bool // it may read a value that is no column of the query
	text  bool // it makes a text of a value of the query
	holds bool // it puts such a value into a list, a row, a document or bytes
}

// hides returns a part that makes a text of a list, a row or a document which is made from the
// same text, in this part or in another one.
func (m *meter) hides(r recursion) (part flowItem, found bool) {
	q := quoting{meter: m, r: r, aliases: map[string]bool{}, rows: map[string]bool{r.query: true}}
	begins := m.begins(r.query, r.start, r.end)
	m.items(r.start, r.end, func(clause string, from, to int) {
		if from < begins || clause != "from" {
			return
		}
		if last := m.itemEnd(from, to); last > from && last < to && m.tokens[last].Kind == TokenClose {
			q.parts = append(q.parts, quotedPart{flowItem: flowItem{start: from, end: last}, inner: true}) // of a query in FROM
		}
		for i := from; i < to; i++ {
			switch call := i+1 < to && m.tokens[i+1].Kind == TokenOpen; {
			case !m.isName(i) || m.isExpressionWord(i):
			case call && !joinWord(m.word(i)):
				q.parts = append(q.parts, quotedPart{flowItem: flowItem{start: i, end: m.closing(i+1, to) + 1}, inner: true})
				q.aliases[m.name(i)] = true // or the names of its columns follow
			case !call && !r.others[m.name(i)]:
				q.aliases[m.name(i)] = true
			}
			if m.isName(i) && q.namesRows(i) {
				q.rows[m.name(i)] = true
			}
		}
	})
	for _, item := range r.flow.items {
		q.parts = append(q.parts, quotedPart{flowItem: item, inner: m.depths[item.start] != m.depths[r.start]})
	}
	for i := range q.parts {
		p, reads := &q.parts[i], false
		for j := p.start; j < p.end; j++ {
			if q.reads(j) {
				reads, p.alien = true, p.alien || q.aliases[q.name(j)] || !q.isValue(j, r.start, r.end, r.step)
			}
		}
		p.text, p.holds = reads && q.makesText(p.start, p.end), reads && q.holds(p.start, p.end)
	}
	for i := range q.parts {
		p := &q.parts[i]
		p.text = p.text || p.holds && m.growth.Adapts && q.wraps(p)
	}
	for i := range q.parts {
		text := &q.parts[i]
		if text.text && slices.ContainsFunc(q.parts, func(held quotedPart) bool { return held.holds && q.leads(&held, text) && q.leads(text, &held) }) {
			return text.flowItem, true
		}
	}
	return flowItem{}, false
}

// namesRows reports whether the name at i, in FROM, stands for rows of the query or of a query
// in brackets.
func (q *quoting) namesRows(i int) bool {
	before := i - 1
	if q.word(before) == "as" {
		before--
	}
	if before < 0 {
		return false
	}
	if q.tokens[before].Kind != TokenClose {
		return q.isName(before) && q.name(before) == q.r.query
	}
	first := q.opening(before, 0) + 1
	return first < len(q.tokens) && q.isClause(first)
}

// wraps reports whether a part puts a value of its own loop into a list, a row or a document
// that is not a longer list of the same type.
func (q *quoting) wraps(p *quotedPart) bool {
	targets := slices.Clone(p.targets)
	if !p.inner {
		return q.wrapsInto(p, targets)
	}
	known := false
	for i := range q.parts { // read by way of a name in FROM
		if top := &q.parts[i]; !top.inner {
			known = true
			if top.alien {
				targets = append(targets, top.targets...)
			}
		}
	}
	if !known { // the step stands in brackets
		targets = append(targets, "")
	}
	return q.wrapsInto(p, targets)
}

// wrapsInto is wraps for a part from which the targets are made.
func (q *quoting) wrapsInto(p *quotedPart, targets []string) bool {
	for i := p.start; i < p.end; i++ {
		if q.isRowOf(i) && q.rows[q.name(i)] {
			return true
		}
		if q.tokens[i].Kind != TokenOpen || !q.isHolder(i, p.start) || q.text(i) == "(" && q.word(i-1) == "in" || q.text(i) == "[" && q.word(i-2) == "unnest" {
			continue
		}
		from, to := i+1, q.closing(i, p.end)
		if q.text(i) == "(" && q.isName(i-1) {
			from, to = q.elements(q.name(i-1), from, to)
		}
		for j := from; j < to; j++ {
			if q.reads(j) && q.carried(j, targets) {
				return true
			}
		}
		if q.receives(i, p.start) && from == i+1 {
			return true
		}
	}
	return false
}

// elements returns the arguments of a function, between two places, that are elements of the list
// that it makes: none of a function that makes such a list of another one.
func (q *quoting) elements(fn string, start, end int) (from, to int) {
	comma := end // behind the first argument
	q.split(start, end, func(_, stop int) { comma = min(comma, stop) })
	switch {
	case strings.Contains(fn, "append") || strings.Contains(fn, "push_"):
		return comma, end
	case strings.Contains(fn, "prepend"):
		return start, comma
	case strings.Contains(fn, "value") || strings.Contains(fn, "pack") || strings.Contains(fn, "zip"):
		return start, end
	case strings.HasPrefix(fn, "list_") || strings.HasPrefix(fn, "array_"):
		return end, end
	default:
		return start, end
	}
}

// carried reports whether the token at i reads a value from which one of the targets is made,
// and which is made from that.
func (q *quoting) carried(i int, targets []string) bool {
	name := ""
	if q.isName(i) {
		name = q.name(i)
	}
	switch {
	case name == "" || q.rows[name]:
		return true
	case q.r.names[name] && (q.r.flow == nil || q.r.flow.loops(name, targets)): // of a lambda, or a query
		return true
	case !q.aliases[name]:
		return false
	}
	for k := range q.parts { // what FROM makes
		for j := q.parts[k].start; q.parts[k].inner && j < q.parts[k].end; j++ {
			if q.isName(j) && q.isValue(j, q.r.start, q.r.end, q.r.step) && (q.name(j) == q.r.query || q.r.flow.loops(q.name(j), targets)) {
				return true
			}
		}
	}
	return false
}

// unbounded reports whether a lambda, whose value is its first argument in the next step, makes a
// value that can double. The parameters begin at first.
func (m *meter) unbounded(names map[string]bool, first, start, end int) bool {
	s := m.stepOf(names, "", start, end)
	if m.doubles(start, end, s) {
		return true
	}
	if !m.growth.Quotes {
		return false
	}
	if m.tokens[first].Kind == TokenOpen {
		first++
	}
	s.names = map[string]bool{m.name(first): true}
	q := quoting{meter: m, r: recursion{step: s, start: start, end: end}}
	return q.holds(start, end) && (q.makesText(start, end) || m.growth.Adapts && q.wraps(&quotedPart{flowItem: flowItem{start: start, end: end}}))
}

// leads reports whether the value of one part may be read by another one, also by way of others.
func (q *quoting) leads(part, to *quotedPart) bool {
	if part.inner || to.inner || to.alien || len(q.r.flow.items) > maxFlow {
		return true
	}
	for _, target := range part.targets {
		for _, use := range to.uses {
			if target == "" || use == target || use == q.r.query || q.r.flow.reaches[target][use] || q.r.flow.reaches[target][""] {
				return true
			}
		}
	}
	return false
}

// reads reports whether the token at i may read a value of the query: one of its names, or one
// that is not known to be of a table of the database.
func (q *quoting) reads(i int) bool {
	switch q.operatorAt(i) {
	case "*":
		return q.isStar(i)
	case "#":
		return q.growth.Methods && i+1 < len(q.tokens) && q.tokens[i+1].Kind == TokenNumber
	}
	if !q.isName(i) || q.isExpressionWord(i) || i+1 < len(q.tokens) && q.tokens[i+1].Kind == TokenDot && (q.name(i) == q.r.query || !q.growth.lambdas()) {
		return false
	}
	if i+1 < len(q.tokens) && q.tokens[i+1].Kind == TokenOpen && q.text(i+1) == "(" {
		return q.growth.lambdas() && q.growth.Makers[q.name(i)] == MakesColumns
	}
	if i > 0 && (q.operatorAt(i-1) == "::" || q.word(i-1) == "as") {
		return false // a type, or a name
	}
	if i > 1 && q.tokens[i-1].Kind == TokenDot {
		return !q.r.others[q.name(i-2)]
	}
	return q.isValue(i, q.r.start, q.r.end, q.r.step) || q.aliases[q.name(i)]
}

// isStar reports whether the * at i stands for columns, and is no product.
func (q *quoting) isStar(i int) bool {
	if i == 0 {
		return false
	}
	switch before := q.tokens[i-1]; before.Kind { //nolint:exhaustive // behind the others it is a product
	case TokenOpen, TokenComma, TokenDot:
		return true
	case TokenWord:
		return q.isClause(i-1) || q.word(i-1) == "distinct"
	default:
		return false
	}
}

// within reports whether a value is read between two places.
func (q *quoting) within(start, end int) bool {
	for i := start; i < end; i++ {
		if q.reads(i) {
			return true
		}
	}
	return false
}

// holds reports whether the tokens between two places put a value into a list, a row, a document
// or bytes.
func (q *quoting) holds(start, end int) bool {
	for i := start; i < end; i++ {
		switch {
		case q.word(i) == "bytea" && i > start && (q.operatorAt(i-1) == "::" || q.word(i-1) == "as"):
			return true
		case q.isRowOf(i): // the whole row
			return true
		case q.tokens[i].Kind == TokenOpen && q.isHolder(i, start) && (q.within(i+1, q.closing(i, end)) || q.receives(i, start)):
			return true
		}
	}
	return false
}

// isRowOf reports whether the token at i reads a row of the query or of a relation with its values.
func (q *quoting) isRowOf(i int) bool {
	if !q.isName(i) || !q.reads(i) || i > 0 && q.tokens[i-1].Kind == TokenDot || i+1 < len(q.tokens) && q.tokens[i+1].Kind == TokenDot {
		return false
	}
	if w := q.word(i - 1); w == "from" || w == "join" || q.isName(i-1) && !q.isClause(i-1) && !q.isExpressionWord(i-1) {
		return false // a relation, or another name of one
	}
	return q.name(i) == q.r.query || q.aliases[q.name(i)]
}

// receives reports whether the bracket at i is that of a function behind a value and a dot.
func (q *quoting) receives(i, start int) bool {
	return q.growth.Methods && i-2 > start && q.isName(i-1) && q.tokens[i-2].Kind == TokenDot && q.within(q.operand(i-2, start), i-2)
}

// isHolder reports whether the bracket at i makes a list, a row or a document.
func (q *quoting) isHolder(i, start int) bool {
	named := i > start && q.isName(i-1)
	if q.text(i) == "{" {
		return true
	}
	if q.text(i) == "[" && i > start && q.tokens[i-1].Kind == TokenClose {
		return false // an element of what stands before it
	}
	if q.text(i) != "(" {
		return !named || q.isExpressionWord(i-1)
	}
	if named && (!q.isExpressionWord(i-1) || q.word(i-1) == "array") {
		fn := q.name(i - 1)
		return slices.ContainsFunc(q.growth.Holders, func(part string) bool { return strings.Contains(fn, part) })
	}
	for j, stop := i+1, q.closing(i, len(q.tokens)); j < stop; j++ {
		switch q.tokens[j].Kind { //nolint:exhaustive // the others are parts of the elements
		case TokenOpen:
			j = q.closing(j, stop)
		case TokenComma:
			return true
		}
	}
	return false
}

// makesText reports whether the tokens between two places make a text of a value that may be a
// list, a row, a document or bytes.
func (q *quoting) makesText(start, end int) bool {
	for i := start; i < end; i++ {
		switch q.tokens[i].Kind { //nolint:exhaustive // the others convert nothing
		case TokenOperator:
			switch q.text(i) {
			case "->>", "#>>":
				if q.within(q.operand(i, start), i) {
					return true
				}
			case "::":
				if q.castsToText(i+1, end) && q.within(q.operand(i, start), i) {
					return true
				}
			case "||":
				if q.isRow(i+1, end) || i > start && q.tokens[i-1].Kind == TokenClose && q.isRow(q.operand(i, start), end) {
					return true
				}
			}
		case TokenOpen:
			if i == start || !q.isName(i-1) {
				continue
			}
			stop := q.closing(i, end)
			fn := q.name(i - 1)
			if isCast(fn) && !q.castsToText(q.typeAt(i, stop), stop) || !q.within(i+1, stop) && !q.receives(i, start) {
				continue
			}
			switch kind := q.growth.Makers[fn]; {
			case kind == MakesText, kind == MakesFormat, kind == MakesChain, kind == MakesCast, isCast(fn):
				return true
			case (kind == MakesJoined || kind == MakesFourfold) && q.growth.lambdas(): // of lists in a list
				return true
			case kind == MakesManyfold && q.isHolder(i, start):
				return true
			}
		}
	}
	return false
}

// isRow reports whether a row or a document with a value begins at i.
func (q *quoting) isRow(i, end int) bool {
	if i+1 < end && q.isName(i) && q.tokens[i+1].Kind == TokenOpen && q.word(i) != "array" {
		i++
	}
	return i < end && q.tokens[i].Kind == TokenOpen && (q.text(i) == "(" || q.growth.Aliases) && q.isHolder(i, 0) && q.within(i+1, q.closing(i, end))
}

// operand returns where the operand begins that ends before the operator at i.
func (q *quoting) operand(i, start int) int {
	from := i - 1
	for from > start {
		if q.tokens[from].Kind == TokenClose {
			from = q.opening(from, start)
		}
		if q.wordOf(start, from) == "end" {
			from = q.caseOf(from, start)
		}
		switch {
		case from > start && q.tokens[from].Kind == TokenOpen && q.isName(from-1) && (!q.isExpressionWord(from-1) || q.word(from-1) == "array"):
			from--
		case from > start && q.tokens[from].Kind == TokenOpen && q.text(from) == "[":
			from-- // an element of what stands before it
		case from-1 > start && q.tokens[from-1].Kind == TokenDot:
			from -= 2
		case from-1 > start && (q.operatorAt(from-1) == "::" || q.operatorAt(from-1) == "->" || q.operatorAt(from-1) == "#>"):
			from -= 2
		default:
			return from
		}
	}
	return max(from, start)
}

// caseOf returns the CASE whose END stands at i, or start when that is before it.
func (q *quoting) caseOf(i, start int) int {
	for depth := 0; i > start; i-- {
		switch q.wordOf(start, i) {
		case "end":
			depth++
		case "case":
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// isCast reports whether a function is a cast, with AS before the type.
func isCast(fn string) bool { return fn == "cast" || fn == "try_cast" }

// typeAt returns where the type begins in the cast between two brackets.
func (m *meter) typeAt(open, stop int) int {
	for i := stop - 1; i > open; i-- {
		switch {
		case m.tokens[i].Kind == TokenClose:
			i = m.opening(i, open)
		case m.word(i) == "as" || m.tokens[i].Kind == TokenComma:
			return i + 1
		}
	}
	return stop - 1
}

// castsToText reports whether the name of a type stands at i that is not known to be no text,
// and no list.
func (m *meter) castsToText(i, end int) bool {
	if i >= end || m.castsToNumber(i, end) || i+1 < end && (m.text(i+1) == "[" || m.word(i+1) == "array") {
		return false
	}
	w := m.word(i)
	return !scalars[w] || texts[w] || w == "json" && m.growth.Methods
}

// mayHide reports whether the last argument between two brackets is no name of a type without
// texts.
func (m *meter) mayHide(open, stop int) bool {
	for i := m.typeAt(open, stop); i < stop; i++ {
		switch t := m.tokens[i]; t.Kind { //nolint:exhaustive // the others are computed
		case TokenNumber, TokenOpen, TokenClose, TokenComma:
		case TokenWord, TokenString:
			text := strings.ToLower(t.Text(m.sql))
			if slices.ContainsFunc(textTypes, func(part string) bool { return strings.Contains(text, part) }) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// textTypes are parts of the names of types that are texts, or can be.
var textTypes = strings.Fields("string char text varchar dynamic variant json object blob binary clob")

// texts are those of scalars that are texts.
var texts = words("text varchar name bpchar")

// quotesPart reports whether a format in a literal has a part that hides characters, or the
// tokens at i are no literal.
func (m *meter) quotesPart(i int) bool {
	if !m.isText(i) {
		return true
	}
	text := m.text(i)
	for at := strings.IndexByte(text, '%'); at >= 0; {
		rest := strings.TrimLeft(text[at+1:], "0123456789$-*+ #'.")
		if rest != "" && strings.IndexByte(m.growth.Hiding, rest[0]) >= 0 {
			return true
		}
		text = strings.TrimPrefix(rest, "%")
		at = strings.IndexByte(text, '%')
	}
	return false
}
