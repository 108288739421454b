package clickhouse

import (
	"regexp"

	"github.com/ktxhq/ktx/sqlguard"
)

// tables reads what FROM names: tables that joins connect. Reference: FROM Clause, JOIN
// Clause, ARRAY JOIN Clause.
func (p *parser) tables() {
	p.table()
	for p.err == nil {
		switch {
		case p.acceptMark(","):
			p.table()
		case p.accept("array", "join"), p.accept("left", "array", "join"), p.accept("inner", "array", "join"):
			p.list(func() {
				p.aliasedExpression(false)
			})
		case p.join(plainJoins):
			p.table()
		case p.join(joins):
			p.table()
			p.condition()
		default:
			return
		}
	}
}

// condition reads ON or USING behind a join.
func (p *parser) condition() {
	switch {
	case p.accept("on"):
		p.expression()
	case p.accept("using"):
		column := func() {
			n := p.multiName("a column", 3)
			p.column(&n)
			if p.accept("as") {
				p.aliasName()
			}
		}
		if p.acceptMark("(") {
			p.list(column)
			p.expectMark(")")
		} else {
			p.list(column)
		}
	default:
		p.fail("ON or USING")
	}
}

// join reads the words of a join up to JOIN, and reports whether there is one with these
// words.
func (p *parser) join(words map[string]bool) bool {
	n := 0
	if w := p.peek(n).word; w == "global" || w == "local" {
		n++
	}
	for range 4 {
		switch p.peek(n).word {
		case "any", "all", "asof", "semi", "anti", "only", "inner", "left", "right", "full", "outer", "cross", "paste", "natural":
			n++
			continue
		}
		break
	}
	if p.peek(n).word != "join" || !words[p.words(n)] {
		return false
	}
	if p.peek(max(n-1, 0)).word == "natural" { // all columns of a name that both have
		p.columns(nil, p.here())
	}
	p.load(p.at + n + 1)
	return true
}

// words returns the next n words with a space between two, without GLOBAL and LOCAL.
func (p *parser) words(n int) string {
	text := ""
	for i := range n {
		w := p.peek(i).word
		if i == 0 && (w == "global" || w == "local") {
			continue
		}
		if text != "" {
			text += " "
		}
		text += w
	}
	return text
}

// plainJoins are the words before JOIN of the joins without a condition, and joins those
// of the others.
var (
	plainJoins = map[string]bool{"cross": true, "paste": true, "natural": true}
	joins      = func() map[string]bool {
		out := map[string]bool{"": true, "inner": true, "left": true, "right": true, "full": true, "left outer": true, "right outer": true, "full outer": true}
		for _, strict := range []string{"any", "all", "asof", "semi", "anti", "only"} {
			out[strict] = true
			kinds := []string{"left", "right", "inner", "full"}
			if strict == "semi" || strict == "anti" || strict == "only" {
				kinds = kinds[:2]
			}
			for _, kind := range kinds {
				out[strict+" "+kind], out[kind+" "+strict] = true, true
				if kind != "inner" {
					out[strict+" "+kind+" outer"], out[kind+" "+strict+" outer"] = true, true
				}
			}
		}
		return out
	}()
)

// table reads one table, query or table function with its alias, FINAL and SAMPLE.
func (p *parser) table() {
	if p.err != nil {
		return
	}
	p.enter()
	defer p.leave()
	first := p.fromFirst
	p.fromFirst = false
	relation, sub := -1, false
	switch {
	case p.mark() == "(" && p.atQuery():
		p.next()
		p.inner++
		p.query()
		p.inner--
		p.expectMark(")")
		sub = true
	case p.mark() == "(" && p.peek(1).word == "values" && p.markAt(2) == "(":
		p.load(p.at + 2)
		p.list(p.expression)
		p.expectMark(")")
		sub = true
	case p.mark() == "(" && p.peek(1).word == "explain":
		p.next()
		p.inner++
		p.alone(p.explain)
		p.inner--
		p.expectMark(")")
		sub = true
	case p.tok.kind == sqlguard.TokenParameter:
		p.parameter()
	case p.tok.isName() && p.markAt(1) == "(":
		p.tableFunction()
	default:
		n := p.multiName("a table, a table function or a query in brackets", 2)
		if p.err != nil {
			return
		}
		if p.mark() == "(" && len(n.parts) == 2 { // a view with parameters
			relation = p.relation(&n, sqlguard.AccessRead)
			p.next()
			p.tableArguments()
			break
		}
		relation = p.source(&n)
	}
	p.fromFirst = first
	p.tableAlias(relation)
	if p.accept("final") && sub {
		p.fail("the end of the query in brackets")
	}
	if p.accept("sample") {
		p.ratio()
		if p.accept("offset") {
			p.ratio()
		}
	}
}

// tableAlias reads the alias of a table, which can name its columns.
func (p *parser) tableAlias(relation int) {
	switch {
	case p.accept("as"):
		p.aliased(relation, p.aliasName())
	case !p.fromFirst && p.atAlias() && !p.is("uuid"): // behind which the server reads the identifier of a table
		p.aliased(relation, p.simpleName("an alias"))
	default:
		return
	}
	if p.mark() == "(" {
		p.columns(nil, p.here())
		p.next()
		p.list(func() { p.simpleName("a column") })
		p.expectMark(")")
	}
}

// ratio reads a decimal number, or two with a stroke between.
func (p *parser) ratio() {
	part := func() {
		if p.tok.kind == sqlguard.TokenNumber && !decimalText.MatchString(p.text()) {
			p.fail("a decimal number")
			return
		}
		p.number()
	}
	part()
	if p.acceptMark("/") {
		part()
	}
}

var decimalText = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// tableFunction reads the call of a table function. The arguments of those that are not
// on the list are not read.
func (p *parser) tableFunction() {
	at := p.here()
	function := p.simpleName("a table function")
	p.tableCall(function, at)
	use := tableFunctions[function]
	p.expectMark("(")
	switch use {
	case "":
		p.skipToClose()
	case "query":
		p.inner++
		p.alone(p.query)
		p.inner--
	default:
		p.structure(function)
		p.tableArguments()
		return
	}
	p.expectMark(")")
}

// tableArguments reads the arguments of a table function or a view with the closing
// bracket. DISTINCT before them would call another function.
func (p *parser) tableArguments() {
	defer p.bar("settings")() // which follow here, to the server
	if p.mark() != ")" {
		p.listed(func() bool { return false })
	}
	p.expectMark(")")
}

// skipToClose reads up to the bracket that closes the current level.
func (p *parser) skipToClose() {
	for depth := 0; p.tok.kind != endOfText; p.next() {
		switch p.tok.kind { //nolint:exhaustive // only brackets matter
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			if depth == 0 {
				return
			}
			depth--
		}
	}
}

// parameter reads {name:Type}, which is refused.
func (p *parser) parameter() {
	start := p.tok.start
	p.next()
	p.skipToClose()
	if p.mark() != "}" {
		p.fail(`"}"`)
		return
	}
	p.next()
	p.refuseConstruct("parameter", p.since(start))
}
