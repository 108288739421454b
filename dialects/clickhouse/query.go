package clickhouse

import (
	"maps"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// atQuery reports whether a query begins here. A bracket is one only if a query begins
// behind it.
func (p *parser) atQuery() bool {
	n := 0
	for p.markAt(n) == "(" {
		n++
	}
	t := p.peek(n)
	return t.word == "select" || t.word == "with" || t.word == "from" && p.peek(n+1).word == "" || t.word == "from" && p.peek(n+1).isName()
}

// query reads a query: selects that UNION, EXCEPT and INTERSECT join.
func (p *parser) query() {
	p.enter()
	defer p.leave()
	p.inner++
	defer func() { p.inner-- }()
	member := p.member
	p.member = ""
	if member != "" && p.bracketed() {
		p.member = member
	}
	for {
		p.selectPart()
		if member != "" {
			p.ctes[member] = true
		}
		if !p.acceptAny("union", "except", "intersect") {
			return
		}
		p.acceptAny("all", "distinct")
	}
}

// bracketed reports whether the next brackets hold all of a query in brackets.
func (p *parser) bracketed() bool {
	return p.mark() == "(" && p.markAt(p.closes(p.at)-p.at+1) == ")"
}

// selectPart reads one operand of a set operation.
func (p *parser) selectPart() {
	if p.acceptMark("(") {
		p.inner--
		p.query()
		p.inner++
		p.expectMark(")")
		return
	}
	if p.err != nil {
		return
	}
	outer, lambdas := p.ctes, p.lambdas
	defer func() { p.ctes, p.lambdas = outer, lambdas }()
	if p.accept("with") {
		p.with()
	}
	from := false
	if p.accept("from") {
		p.fromFirst = true
		p.tables()
		p.fromFirst = false
		from = true
	}
	p.expect("select")
	on, top := p.selectList()
	if !from && p.accept("from") {
		p.tables()
	}
	p.clauses(on, top)
}

// with reads the names of WITH: name AS (query), or expression AS name.
func (p *parser) with() {
	recursive := p.accept("recursive")
	p.ctes, p.lambdas = copied(p.ctes), copied(p.lambdas)
	p.list(func() {
		if p.err != nil {
			return
		}
		if !p.atTableExpression() {
			n := p.plainName()
			if p.aliasedExpression(true); p.err != nil {
				return
			}
			if alias := p.nameOf(p.toks[p.at-1]); p.lambdaEnd == p.at-2 {
				p.lambdas[alias] = true
			} else if n.parts != nil {
				p.standFor(alias, n)
			}
			return
		}
		path := p.path
		n := p.simpleName("a name")
		if p.acceptMark("(") {
			p.list(func() { p.simpleName("a column") })
			p.expectMark(")")
		}
		p.expect("as")
		p.accept("materialized")
		p.path = joinPath(path, "with."+n)
		// In itself, the name is that of a table. With RECURSIVE it is so in the first SELECT,
		// and in the only one.
		if delete(p.ctes, n); recursive {
			p.member = n
		}
		p.expectMark("(")
		p.inner++
		p.query()
		p.inner--
		p.expectMark(")")
		p.ctes[n] = true
		p.path = path
	})
}

// standFor notes that an alias of WITH stands for a name. Behind IN it is a table if that is one.
func (p *parser) standFor(alias string, n name) {
	if p.stands == nil {
		p.stands = map[string][]name{}
	}
	p.stands[alias] = append(p.stands[alias], n)
}

// nameOf returns the name that a token spells.
func (p *parser) nameOf(t token) string {
	text := p.sql[t.start:t.end]
	if t.kind == sqlguard.TokenQuotedName {
		text, _ = unquote(text)
	}
	return text
}

// copied returns a copy of a set of names, to which names can be added.
func copied(set map[string]bool) map[string]bool {
	out := make(map[string]bool, len(set)+1)
	maps.Copy(out, set)
	return out
}

// alone reads a part that sees no name of a WITH around it: to the server, names in it are
// those of tables.
func (p *parser) alone(read func()) {
	ctes, stands, lambdas := p.ctes, p.stands, p.lambdas
	p.ctes, p.stands, p.lambdas = nil, nil, nil
	read()
	p.ctes, p.stands, p.lambdas = ctes, stands, lambdas
}

// atTableExpression reports whether a name of WITH for a query begins here.
func (p *parser) atTableExpression() bool {
	if !p.tok.isName() {
		return false
	}
	n := 1
	if p.markAt(1) == "(" { // name (column, …) AS (
		for n = 2; p.peek(n).isName(); n += 2 {
			if p.markAt(n+1) != "," {
				break
			}
		}
		if n++; p.markAt(n) != ")" {
			return false
		}
		n++
	}
	if p.peek(n).word != "as" {
		return false
	}
	if p.peek(n+1).word == "materialized" {
		n++
	}
	at := p.at
	p.load(p.at + n + 1)
	found := p.mark() == "(" && p.atQuery()
	p.load(at)
	return found
}

// selectList reads what follows SELECT up to the end of the list, and reports whether it
// begins with DISTINCT ON, and with TOP.
func (p *parser) selectList() (on, top bool) {
	if p.accept("distinct") {
		if on = p.accept("on"); on {
			p.expectMark("(")
			p.list(p.expression)
			p.expectMark(")")
		}
	} else if p.is("all") {
		p.next()
	}
	if top = p.accept("top"); top {
		if p.acceptMark("(") {
			p.number()
			p.expectMark(")")
		} else {
			p.number()
		}
	}
	for {
		alias := p.item()
		if !p.acceptMark(",") {
			return on, top
		}
		if !alias && (p.is("from") && p.peek(1).word != "mod" || p.tok.kind == endOfText) { // a comma behind the last item
			return on, top
		}
	}
}

// item reads one item of a SELECT list, and reports whether it has an alias.
func (p *parser) item() (alias bool) {
	n := p.outputExpression()
	switch {
	case p.starEnd == p.at:
	case p.accept("as"):
		n, alias = p.aliasName(), true
	case p.atAlias():
		n, alias = p.simpleName("an alias"), true
	}
	p.output(n)
	return alias
}

// outputExpression reads an expression and returns its name if it is a column.
func (p *parser) outputExpression() (column string) {
	from := p.at
	p.expression()
	if p.err != nil || p.at == from {
		return ""
	}
	for _, t := range p.toks[from:p.at] {
		if !t.isName() && t.kind != sqlguard.TokenDot {
			return ""
		}
	}
	last := p.toks[p.at-1]
	column = p.sql[last.start:last.end]
	if last.kind == sqlguard.TokenQuotedName {
		column, _ = unquote(column)
	}
	return column
}

// aliasedExpression reads an expression that may have a name behind AS, or must.
func (p *parser) aliasedExpression(must bool) {
	p.expression()
	if p.starEnd != p.at && p.accept("as") {
		p.aliasName()
		return
	}
	if must {
		p.fail("AS and a name")
	}
}

// aliasedValue reads a value that may have a name behind AS.
func (p *parser) aliasedValue() {
	p.value()
	if p.starEnd != p.at && p.accept("as") {
		p.aliasName()
	}
}

// aliasName reads the name behind AS. The server takes a keyword there too.
func (p *parser) aliasName() string {
	if p.tok.kind != sqlguard.TokenWord && p.tok.kind != sqlguard.TokenQuotedName {
		p.fail("a name")
		return ""
	}
	return p.namePart("a name")
}

// atAlias reports whether the current token is an alias without AS.
func (p *parser) atAlias() bool {
	if p.err != nil || p.at == 0 {
		return false
	}
	if last := p.toks[p.at-1]; last.kind == sqlguard.TokenQuotedName && lexical.Lower(p.sql[last.start+1:last.end-1]) == "from" {
		return false // the server reads no alias behind such a name
	}
	return p.tok.kind == sqlguard.TokenQuotedName || p.tok.kind == sqlguard.TokenWord && !notAlias[p.tok.word] && !isDigit(p.sql[p.tok.start])
}

// clauses reads the clauses behind FROM. on and top say how the list of SELECT begins.
// Reference: SELECT Query.
func (p *parser) clauses(on, top bool) {
	if p.accept("prewhere") {
		p.expression()
	}
	if p.accept("where") {
		p.expression()
	}
	var mode string
	if p.accept("group", "by") {
		mode = p.groupBy()
	}
	p.totals(mode)
	if p.accept("having") {
		p.expression()
	}
	if p.accept("window") {
		p.list(func() {
			p.simpleName("the name of a window")
			p.expect("as")
			p.windowSpec()
		})
	}
	if p.accept("qualify") {
		p.expression()
	}
	ordered := p.accept("order", "by")
	if ordered {
		p.orderBy()
	}
	p.limits(ordered, on, top)
}

// groupBy reads the list behind GROUP BY. It returns the word of ROLLUP(…) or CUBE(…).
func (p *parser) groupBy() (mode string) {
	switch {
	case p.accept("grouping", "sets"):
		p.expectMark("(")
		p.list(func() {
			if p.acceptMark("(") {
				if p.mark() != ")" {
					p.list(p.expression)
				}
				p.expectMark(")")
				return
			}
			p.expression()
		})
		p.expectMark(")")
	case p.is("rollup", "cube"):
		mode = p.tok.word
		p.next()
		p.expectMark("(")
		p.list(p.expression)
		p.expectMark(")")
	case p.accept("all"):
	default:
		p.list(func() { p.aliasedExpression(false) })
	}
	return mode
}

// totals reads WITH ROLLUP, WITH CUBE and WITH TOTALS, each once. The list of GROUP BY can
// have said one of the first two before.
func (p *parser) totals(mode string) {
	said := map[string]bool{mode: true}
	for p.is("with") {
		word := p.peek(1).word
		if said[word] || word != "rollup" && word != "cube" && word != "totals" {
			return
		}
		said[word] = true
		p.load(p.at + 2)
	}
}

// orderBy reads the list of ORDER BY, with FILL and INTERPOLATE.
func (p *parser) orderBy() {
	p.filled = false
	if p.accept("all") {
		p.direction()
	} else {
		p.list(p.orderItem)
	}
	if p.filled && p.accept("interpolate") && p.acceptMark("(") {
		if p.mark() != ")" {
			p.list(func() {
				n := p.multiName("a column", 1)
				p.column(&n)
				if p.accept("as") {
					p.interpolated()
				}
			})
		}
		p.expectMark(")")
	}
}

// interpolated reads an expression of INTERPOLATE. The server computes it from the row before,
// again and again, so that a function can make a value that is longer each time, and no limit
// of time holds in between.
func (p *parser) interpolated() {
	from, calls := p.at, len(p.stmt.Calls)
	start := p.tok.start
	p.expression()
	grows := ""
	for _, c := range p.stmt.Calls[min(calls, len(p.stmt.Calls)):] {
		refused := c.Builtin && !c.Ruling.Allowed // which says more of the statement
		if !refused && !interpolates[lexical.Lower(c.Name)] {
			grows = c.Name
		}
	}
	for at := from; at < p.at && p.err == nil; at++ {
		if p.sql[p.toks[at].start:p.toks[at].end] == "||" {
			grows = "||"
		}
	}
	if grows != "" {
		p.effect(sqlguard.CodeInputTooLarge, p.since(start), "INTERPOLATE computes each row from the one before, so "+grows+" could make a value that is longer each time; use arithmetic there, and the function in a query around this one")
	}
}

// interpolates are functions whose value is no longer than their arguments, however often they
// are called on their own result.
var interpolates = lexical.Set(`plus minus multiply divide intdiv modulo negate abs round floor ceil trunc sqrt least greatest if multiif coalesce ifnull nullif
	tostring todate todatetime todatetime64 toint32 toint64 touint32 touint64 tofloat32 tofloat64 tonullable assumenotnull identity
	adddays addweeks addmonths addyears addhours addminutes addseconds subtractdays subtractweeks subtractmonths subtractyears subtracthours subtractminutes subtractseconds
	tostartofday tostartofhour tostartofmonth tostartofyear tostartofweek lower upper date_add dateadd date_sub datesub now today tointervalday tointervalhour`)

func (p *parser) direction() {
	p.acceptAny("asc", "ascending", "desc", "descending")
	if p.accept("nulls") && !p.acceptAny("first", "last") {
		p.fail("FIRST or LAST")
	}
}

func (p *parser) orderItem() {
	p.aliasedExpression(false)
	p.direction()
	if p.accept("collate") {
		p.stringLiteral("a collation in quotes")
	}
	if p.accept("with", "fill") {
		p.filled = true
		if p.accept("from") {
			p.expression()
		}
		if p.accept("to") {
			p.expression()
		}
		if p.accept("step") {
			p.expression()
		}
		if p.accept("staleness") {
			p.expression()
		}
	}
}

// limits reads LIMIT n BY, LIMIT, OFFSET and FETCH. WITH TIES and FETCH need an ORDER BY.
// DISTINCT ON stands with no LIMIT n BY and no WITH TIES, and TOP with no other LIMIT.
func (p *parser) limits(ordered, on, top bool) {
	limited, grouped := false, false
	for !limited && p.is("limit") {
		limit := p.tok
		p.next()
		p.expression()
		limited = true
		skips := p.acceptMark(",") || p.accept("offset")
		if skips {
			p.expression()
		}
		if top && (grouped || !p.is("by")) {
			p.failAt(limit, "TOP and LIMIT in one SELECT; leave TOP out")
			return
		}
		switch {
		case ordered && !on && p.accept("with", "ties"):
			return
		case !grouped && !on && p.accept("by"):
			grouped = true
			if !p.accept("all") {
				p.list(p.expression)
			}
			limited = false
			if !p.is("limit") {
				if ordered && !skips && p.accept("fetch") {
					p.fetch()
				}
				return
			}
		}
	}
	if limited {
		return
	}
	if p.accept("offset") {
		p.expression()
		if p.acceptAny("row", "rows") && ordered && p.accept("fetch") {
			p.fetch()
		}
		return
	}
	if ordered && p.accept("fetch") {
		p.fetch()
	}
}

func (p *parser) fetch() {
	if !p.acceptAny("first", "next") {
		p.fail("FIRST or NEXT")
	}
	p.expression()
	if !p.acceptAny("row", "rows") {
		p.fail("ROW or ROWS")
	}
	if !p.accept("only") && !p.accept("with", "ties") {
		p.fail("ONLY or WITH TIES")
	}
}

// windowSpec reads ( [name] [PARTITION BY …] [ORDER BY …] [frame] ).
func (p *parser) windowSpec() {
	p.expectMark("(")
	if p.tok.isName() && !p.is("partition", "rows", "range") {
		p.next()
	}
	if p.accept("partition", "by") {
		p.list(p.expression)
	}
	if p.accept("order", "by") {
		p.list(p.orderItem)
	}
	if p.acceptAny("rows", "range") {
		if p.accept("between") {
			p.bound()
			p.expect("and")
			p.bound()
		} else {
			p.bound()
		}
	}
	p.expectMark(")")
}

// bound reads one bound of a frame.
func (p *parser) bound() {
	if p.accept("current") {
		p.expect("row")
		return
	}
	if !p.accept("unbounded") {
		p.operation()
	}
	if !p.acceptAny("preceding", "following") {
		p.fail("PRECEDING or FOLLOWING")
	}
}
