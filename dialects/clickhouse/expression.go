package clickhouse

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// expression reads operands that operators join. The order in which the server applies
// operators changes no fact, so that it is not read. A lambda and a condition with ? do
// not continue one another without brackets. Reference: Operators.
func (p *parser) expression() {
	p.enter()
	defer p.leave()
	from := p.at
	p.logical()
	lambda := p.mark() == "->"
	if lambda {
		p.bareLambda = p.at == from+1
		if !p.parameters(from) {
			p.fail("names before ->")
		}
		p.next()
		p.logical()
	}
	if p.acceptMark("?") {
		p.logical()
		p.expectMark(":")
		p.logical()
	}
	if lambda {
		p.lambdaEnd = p.at
	}
}

// listed reads expressions that commas separate, up to one that end ends. To the server, a
// name before -> takes all that stand before it in the list as further parameters, so that
// they have to be names.
func (p *parser) listed(end func() bool) {
	names := true
	for p.err == nil {
		from, t := p.at, p.tok
		p.bareLambda = false
		p.expression()
		if p.bareLambda && p.lambdaEnd == p.at && !names {
			p.failAt(t, "a lambda behind other values needs brackets around its parameter")
			return
		}
		names = names && p.at == from+1 && t.isName()
		if p.starEnd != p.at && p.accept("as") {
			names = false
			p.aliasName()
		}
		if !p.acceptMark(",") || end() {
			return
		}
	}
}

// parameters reports whether the tokens from that one up to the current one are a name, or
// names in brackets.
func (p *parser) parameters(from int) bool {
	list := p.toks[from:p.at]
	if len(list) == 1 {
		return list[0].isName()
	}
	if len(list)%2 == 0 || p.sql[list[0].start] != '(' {
		return false
	}
	for i, t := range list[1 : len(list)-1] {
		if i%2 == 0 && !t.isName() || i%2 == 1 && t.kind != sqlguard.TokenComma {
			return false
		}
	}
	return true
}

// logical reads operations that AND and OR join.
func (p *parser) logical() {
	if p.err != nil {
		return
	}
	p.operation()
	for p.err == nil && p.acceptAny("and", "or") {
		p.operation()
	}
}

// operation reads operands that every operator joins but AND, OR, ? and ->.
func (p *parser) operation() {
	for p.accept("not") {
	}
	p.operand()
	pattern := false // the operand before belongs to a pattern, which ESCAPE may follow
	for p.err == nil {
		before := pattern
		pattern = false
		switch {
		case p.is("is"):
			p.next()
			p.accept("not")
			if !p.acceptAny("null", "true", "false", "unknown") {
				if !p.accept("distinct", "from") {
					p.fail("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
					return
				}
				p.operand()
			}
		case p.is("between"), p.is("not") && p.peek(1).word == "between":
			p.accept("not")
			p.next()
			p.between()
		case p.is("in"), p.followed("not", "in"), p.followed("global", "in"), p.followed("global", "not", "in"):
			p.accept("global")
			p.accept("not")
			p.next()
			p.set()
		case p.is("like", "ilike", "regexp"), p.is("not") && (p.peek(1).word == "like" || p.peek(1).word == "ilike"):
			p.accept("not")
			pattern = !p.is("regexp")
			p.next()
			p.operand()
		case before && p.is("escape") && p.atString(1):
			p.next()
			p.next()
		case p.acceptAny("div", "mod"):
			pattern = before
			p.operand()
		case binary[p.mark()]:
			compares := quantifies[p.mark()]
			pattern = before && computes[p.mark()]
			p.next()
			for p.accept("not") {
			}
			if p.is("any", "all") && p.markAt(1) == "(" && p.queryAt(1) { // = ANY (query)
				if !compares {
					p.fail("a comparison before ANY or ALL")
					return
				}
				p.load(p.at + 1)
			}
			p.operand()
		default:
			return
		}
	}
}

var binary = map[string]bool{
	"+": true, "-": true, "*": true, "/": true, "%": true, "=": true, "==": true, "!=": true, "<>": true, "<": true, "<=": true,
	">": true, ">=": true, "<=>": true, "||": true,
}

// computes are the operators that bind closer than LIKE.
var computes = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "||": true}

// quantifies are the operators behind which ANY and ALL may stand before a query.
var quantifies = map[string]bool{"=": true, "==": true, "!=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true}

// queryAt reports whether a query begins n tokens on.
func (p *parser) queryAt(n int) bool {
	at := p.at
	p.load(at + n)
	found := p.atQuery()
	p.load(at)
	return found
}

// between reads two operands with AND between them.
func (p *parser) between() {
	side := func() {
		p.operand()
		for p.err == nil && binary[p.mark()] {
			p.next()
			p.operand()
		}
	}
	side()
	p.expect("and")
	side()
}

// set reads what stands behind IN. A name there is a table.
func (p *parser) set() {
	if p.is("partition") {
		p.fail("a query, a list or a table")
		return
	}
	if p.tok.isName() && p.markAt(1) != "(" {
		at := p.at
		n := p.multiName("a table", 8)
		if p.err == nil && p.mark() != "[" && p.mark() != "::" && p.mark() != "." {
			if len(n.parts) <= 2 {
				p.source(&n)
			}
			p.column(&n)
			return
		}
		if p.err != nil {
			return
		}
		p.load(at)
	}
	p.operand()
}

// operand reads one operand with what can follow it: subscripts, elements, casts.
func (p *parser) operand() {
	p.enter()
	defer p.leave()
	for p.mark() == "-" || p.mark() == "+" {
		p.next()
	}
	column := p.tok.isName() && p.markAt(1) != "("
	p.primary()
	for p.err == nil {
		switch {
		case p.acceptMark("["):
			p.expression()
			p.expectMark("]")
		case column && p.mark() == "." && p.markAt(1) == ":" && p.toks[p.at-1].isName(): // of a type: json.a.:Int64
			if p.load(p.at + 2); p.tok.kind == sqlguard.TokenQuotedName {
				p.next() // the name of a type with its arguments
			} else {
				p.typeName()
			}
		case p.acceptMark("::"):
			p.typeName()
		case p.mark() == "." && p.peek(1).kind == sqlguard.TokenNumber && isDigit(p.sql[p.peek(1).start]):
			p.next()
			p.next()
		case p.mark() == "." && p.markAt(1) == "-" && p.peek(2).kind == sqlguard.TokenNumber:
			p.load(p.at + 3)
		case p.mark() == "." && (p.peek(1).kind == sqlguard.TokenWord || p.peek(1).kind == sqlguard.TokenQuotedName):
			p.next()
			n := name{at: p.here(), parts: []string{p.namePart("a name")}}
			p.column(&n)
		default:
			return
		}
	}
}

// primary reads an operand without what follows it.
func (p *parser) primary() {
	switch p.tok.kind { //nolint:exhaustive // the other kinds begin no operand
	case sqlguard.TokenString:
		p.next()
	case sqlguard.TokenNumber:
		p.next()
	case sqlguard.TokenParameter:
		p.parameter()
	case sqlguard.TokenOpen:
		p.bracket()
	case sqlguard.TokenOperator:
		if p.mark() == "*" {
			p.columns(nil, p.here())
			p.next()
			p.transformers()
			return
		}
		p.fail("an expression")
	case sqlguard.TokenQuotedName:
		p.named()
	case sqlguard.TokenWord:
		p.word()
	default:
		p.fail("an expression")
	}
}

// bracket reads (…) or […].
func (p *parser) bracket() {
	switch p.mark() {
	case "(":
		if p.atQuery() && p.isSubquery() {
			p.next()
			p.query()
			p.expectMark(")")
			return
		}
		p.next()
		if p.acceptMark(")") {
			return
		}
		p.elements()
		if p.starEnd == p.at-1 {
			p.starEnd = p.at
		}
	case "[":
		p.next()
		if p.acceptMark("]") {
			return
		}
		p.listed(func() bool { return false })
		p.expectMark("]")
	default: // a map in braces is no value here; map(…) makes one
		p.fail("an expression")
	}
}

// isSubquery reports whether the bracket here is that of a query itself, not of an
// expression that begins with a query in brackets, as in ((SELECT 1) + 1).
func (p *parser) isSubquery() bool {
	if p.markAt(1) != "(" {
		return true
	}
	depth := 0
	for i := p.at + 1; i < len(p.toks); i++ {
		switch p.toks[i].kind { //nolint:exhaustive // only brackets matter
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			if depth--; depth == 0 {
				if i+1 >= len(p.toks) {
					return false
				}
				switch next := p.toks[i+1]; next.word {
				case "union", "except", "intersect":
					return true
				default:
					return p.sql[next.start:next.end] == ")"
				}
			}
		}
	}
	return false
}

// elements reads expressions with commas between, also behind the last, up to a bracket.
func (p *parser) elements() {
	p.listed(func() bool { return p.mark() == ")" })
	p.expectMark(")")
}

// transformers reads what can follow a star or COLUMNS: EXCEPT, REPLACE, APPLY.
func (p *parser) transformers() {
	for p.err == nil {
		switch {
		case p.is("except") && (p.markAt(1) == "(" && !p.queryAt(1) || p.peek(1).isName() || p.atString(1)):
			p.next()
			p.accept("strict")
			switch {
			case p.acceptMark("("):
				if p.atString(0) {
					p.next()
				} else {
					p.list(func() { p.simpleName("a column") })
				}
				p.expectMark(")")
			case p.atString(0):
				p.next()
			default:
				p.simpleName("a column")
			}
		case p.is("replace") && (p.markAt(1) == "(" || p.peek(1).word == "strict" || p.peek(1).isName() || p.peek(1).kind == sqlguard.TokenNumber):
			p.next()
			p.accept("strict")
			item := func() {
				p.expression()
				p.expect("as")
				p.aliasName()
			}
			if p.acceptMark("(") {
				p.list(item)
				p.expectMark(")")
			} else {
				item()
			}
		case p.accept("apply"):
			bracket := p.acceptMark("(")
			if p.tok.isName() && p.markAt(1) != "->" {
				at := p.here()
				p.call(p.simpleName("a function"), at)
				if p.acceptMark("(") {
					p.arguments()
				}
			} else if p.expression(); p.lambdaEnd != p.at {
				p.fail("a function or a lambda")
			}
			if bracket {
				p.expectMark(")")
			}
		case p.is("except"): // columns that are left out, to the server
			p.fail("columns after EXCEPT")
		case p.is("like", "ilike") && !p.atString(1): // a pattern of names, to the server
			p.fail("a pattern in quotes after the star")
		default:
			p.starEnd = p.at
			return
		}
	}
}

// intervalUnits are the units of INTERVAL, EXTRACT and the functions of dates.
var intervalUnits = wordSet(`nanosecond nanoseconds microsecond microseconds millisecond milliseconds second seconds minute minutes hour hours
	day days week weeks month months quarter quarters year years sql_tsi_second sql_tsi_minute sql_tsi_hour sql_tsi_day sql_tsi_week
	sql_tsi_month sql_tsi_quarter sql_tsi_year ns us ms ss s mi n hh h dd d wk ww mm m qq q yyyy yy`)

func (p *parser) atUnit(n int) bool {
	t := p.peek(n)
	return t.kind == sqlguard.TokenWord && intervalUnits[lower(p.sql[t.start:t.end])]
}

// word reads an operand that begins with a word.
func (p *parser) word() {
	call := p.markAt(1) == "("
	switch w := p.tok.word; {
	case w == "null":
		p.next()
	case w == "case":
		p.caseExpression()
	case w == "exists" && call:
		p.next()
		p.next()
		p.query()
		p.expectMark(")")
	case w == "interval" && !call || w == "interval" && p.intervalInBrackets():
		p.interval()
	case (w == "date" || w == "timestamp") && p.atString(1):
		p.next()
		p.next()
	case w == "columns" && call:
		p.matchColumns(nil)
	case w == "cast" && call:
		p.cast()
	case w == "extract" && call && p.atUnit(2) && p.peek(3).word == "from":
		at := p.here()
		p.load(p.at + 4)
		p.call("extract", at)
		p.expression()
		p.expectMark(")")
	case w == "trim" && call && (p.peek(2).word == "both" || p.peek(2).word == "leading" || p.peek(2).word == "trailing"):
		p.call("trim", p.here())
		p.load(p.at + 3)
		p.operation()
		p.expect("from")
		p.expression()
		p.expectMark(")")
	case (w == "left" || w == "right") && call:
		p.function(lower(p.text()))
	case reserved[w] && (!call || w != "and" && w != "or" && w != "not" && w != "like" && w != "ilike"):
		p.fail("an expression")
	case reserved[w]:
		p.function(w)
	default:
		p.named()
	}
}

// numberText is a text of a number.
var numberText = regexp.MustCompile(`^'-?[0-9]+(\.[0-9]+)?'$`)

// intervalText is the text of an interval: numbers, each with its unit.
var intervalText = regexp.MustCompile(`^'( *-?[0-9]+(\.[0-9]+)? +(nanosecond|microsecond|millisecond|second|minute|hour|day|week|month|quarter|year)s?)+ *'$`)

func (p *parser) intervalInBrackets() bool {
	depth := 0
	for n := 1; ; n++ {
		switch t := p.peek(n); t.kind { //nolint:exhaustive // only these matter
		case endOfText:
			return false
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			if depth--; depth == 0 {
				return p.atUnit(n + 1)
			}
		}
	}
}

// interval reads INTERVAL n unit, or INTERVAL 'n unit'.
func (p *parser) interval() {
	if next := p.peek(1); next.kind != sqlguard.TokenString && next.kind != sqlguard.TokenNumber && p.markAt(1) != "(" && p.markAt(1) != "-" && (!next.isName() || notAlias[next.word]) {
		p.named() // a column of that name
		return
	}
	p.next()
	if p.tok.kind == sqlguard.TokenString && !p.atUnit(1) {
		if !intervalText.MatchString(lower(p.text())) {
			p.fail("a number and a unit of time")
			return
		}
		p.next()
		return
	}
	if p.tok.kind == sqlguard.TokenString && !numberText.MatchString(p.text()) {
		p.fail("a number")
		return
	}
	p.operation()
	if !p.atUnit(0) {
		p.fail("a unit of time")
		return
	}
	p.next()
}

// caseExpression reads CASE … END.
func (p *parser) caseExpression() {
	p.next()
	if !p.is("when") {
		p.expression()
	}
	if !p.is("when") {
		p.fail("WHEN")
		return
	}
	for p.accept("when") {
		p.expression()
		p.expect("then")
		p.expression()
	}
	if p.accept("else") {
		p.expression()
	}
	p.expect("end")
}

// cast reads CAST(x AS type) and CAST(x, 'type').
func (p *parser) cast() {
	p.next()
	p.expectMark("(")
	p.expression()
	switch {
	case p.acceptMark(","):
		if p.tok.kind == sqlguard.TokenString {
			p.next()
		} else {
			p.expression()
		}
	case p.accept("as"):
		at := p.at
		if p.tok.isName() && p.peek(1).word == "as" { // CAST(x AS alias AS type)
			p.load(at + 2)
		}
		p.typeName()
	default:
		p.fail("AS and a type")
	}
	p.expectMark(")")
}

// typeName reads the name of a type with its arguments. Users make no types.
func (p *parser) typeName() {
	p.enter()
	defer p.leave()
	start := p.tok.start
	n := p.simpleName("a type")
	if p.err != nil {
		return
	}
	first := lower(n)
	p.load(p.at - 1)
	p.load(p.at + 1 + len(strings.Fields(p.longType())))
	if !typeNames[first] {
		p.failAt(p.toks[p.at-1], "ClickHouse has no type of this name")
		return
	}
	if p.acceptMark("(") && !p.acceptMark(")") {
		if wholeTypes.MatchString(first) {
			p.number()
		} else {
			p.list(func() { p.typeArgument(first) })
		}
		p.expectMark(")")
	}
	p.stmt.Types = appendType(p.stmt.Types, sqlguard.Type{Name: n, Builtin: true, Span: p.since(start)})
}

// longType returns the words that continue the name of a type whose first word is the
// current token, or "".
func (p *parser) longType() string {
	for _, more := range longTypes[lower(p.text())] {
		match := true
		for i, w := range strings.Fields(more) {
			t := p.peek(i + 1)
			match = match && t.kind == sqlguard.TokenWord && strings.EqualFold(p.sql[t.start:t.end], w)
		}
		if match {
			return more
		}
	}
	return ""
}

func appendType(list []sqlguard.Type, t sqlguard.Type) []sqlguard.Type {
	for i := range list {
		if list[i].Name == t.Name {
			return list
		}
	}
	return append(list, t)
}

// typeArgument reads an argument of a type: a type, a name with a type, a number, a text
// with or without a number, or a function of AggregateFunction.
func (p *parser) typeArgument(of string) {
	enum := strings.HasPrefix(of, "enum")
	switch {
	case p.tok.kind == sqlguard.TokenNumber && !enum && of != "json" && of != "tuple" && of != "nested":
		p.next()
	case enum || of != "json" && p.atString(0):
		if !p.atString(0) {
			p.fail("a string literal")
			return
		}
		p.next()
		if p.acceptMark("=") {
			p.acceptMark("-")
			p.number()
		}
	case of == "json" && p.tok.kind == sqlguard.TokenWord && lower(p.text()) == "skip" && p.peek(1).isName():
		p.next()
		p.multiName("a path", 8)
	case (of == "json" || of == "dynamic") && p.tok.isName() && p.markAt(1) == "=":
		p.next()
		p.next()
		p.number()
	case of == "json":
		p.multiName("a path", 8)
		p.typeName()
	case (of == "tuple" || of == "nested") && (p.tok.kind == sqlguard.TokenQuotedName || p.tok.isName() && p.peek(1).kind == sqlguard.TokenWord && p.longType() == ""):
		p.next()
		p.typeName()
	case strings.HasSuffix(of, "aggregatefunction") && p.tok.isName() && !typeNames[lower(p.text())]:
		p.next() // sum in AggregateFunction(sum, UInt8)
		if p.acceptMark("(") {
			p.list(func() {
				p.acceptMark("-")
				p.number()
			})
			p.expectMark(")")
		}
	default:
		p.typeName()
	}
}

// named reads a column or a call.
func (p *parser) named() {
	if p.markAt(1) == "(" {
		if !p.tok.isName() {
			p.fail("an expression")
			return
		}
		p.function("")
		return
	}
	n := name{at: p.here(), parts: []string{p.simpleName("an expression")}}
	object := false // behind .^, where no array may be
	for p.err == nil && (p.mark() == "." || p.mark() == "[" && p.markAt(1) == "]" && len(n.parts) > 1) {
		if object && p.mark() == "[" {
			p.fail("the end of the path")
			return
		}
		for p.mark() == "[" && p.markAt(1) == "]" && len(n.parts) > 1 { // each element of an array in JSON: json.a[].b
			p.load(p.at + 2)
		}
		if p.mark() != "." {
			break
		}
		switch next := p.peek(1); {
		case p.markAt(1) == "*":
			p.next()
			n.at.End = p.tok.end
			p.next()
			p.columns(n.parts, n.at)
			p.transformers()
			return
		case next.word == "columns" && p.markAt(2) == "(":
			p.next()
			p.matchColumns(n.parts)
			return
		case next.kind == sqlguard.TokenWord, next.kind == sqlguard.TokenQuotedName:
			p.next()
			n.at.End = p.tok.end
			n.parts = append(n.parts, p.namePart("a name"))
		case p.markAt(1) == "^" && p.peek(2).isName(): // the object at a path of JSON
			object = true
			p.load(p.at + 2)
			n.at.End = p.tok.end
			n.parts = append(n.parts, p.namePart("a name"))
		default:
			p.column(&n)
			return
		}
	}
	p.column(&n)
}

// matchColumns reads COLUMNS('pattern') or COLUMNS(column, …).
func (p *parser) matchColumns(qualifier []string) {
	p.columns(qualifier, p.here())
	p.next()
	p.expectMark("(")
	if p.atString(0) {
		p.next()
	} else {
		p.list(func() {
			n := p.multiName("a column", 3)
			p.column(&n)
		})
	}
	p.expectMark(")")
	if qualifier != nil && p.is("except") && p.markAt(1) != "(" {
		p.fail("brackets after EXCEPT")
		return
	}
	p.transformers()
}

// ownForms are functions whose calls the server reads by rules of their own, and which
// take neither FILTER nor OVER.
var ownForms = wordSet("substring position trim ltrim rtrim dateadd date_add datesub date_sub datediff date_diff timestampadd timestamp_add timestampsub timestamp_sub" +
	" timestampdiff timestamp_diff tuple extract")

// function reads a call. keyword is the name of the function if a keyword spells it.
func (p *parser) function(keyword string) {
	at := p.here()
	function := keyword
	if keyword == "" {
		function = p.simpleName("a function")
	} else {
		p.next()
	}
	p.call(function, at)
	p.expectMark("(")
	more := false
	switch lower(function) {
	case "substring", "substr", "mid", "position":
		p.wordArguments(lower(function) == "position")
	case "trim", "ltrim", "rtrim":
		if p.mark() == ")" {
			p.fail("an expression")
			return
		}
		p.arguments()
	case "dateadd", "date_add", "datesub", "date_sub", "datediff", "date_diff", "timestampadd", "timestamp_add", "timestampsub",
		"timestamp_sub", "timestampdiff", "timestamp_diff":
		if p.atUnit(0) && p.markAt(1) != "." {
			p.next()
			p.expectMark(",")
			p.expression()
			p.expectMark(",")
			if p.mark() == ")" {
				p.fail("an expression")
				return
			}
		}
		p.arguments()
	case "tuple":
		if p.is("distinct", "all") {
			p.fail("an expression")
			return
		}
		p.arguments()
	default:
		more = !p.arguments()
	}
	if more && p.mark() == "(" && p.markAt(1) != ")" { // the parameters came first
		p.next()
		p.arguments()
	}
	if ownForms[lower(function)] {
		return
	}
	if p.accept("filter") {
		p.expectMark("(")
		p.expect("where")
		p.expression()
		p.expectMark(")")
	}
	if p.is("ignore", "respect") && p.peek(1).word == "nulls" {
		p.load(p.at + 2)
	}
	if p.accept("over") {
		if p.mark() == "(" {
			p.windowSpec()
		} else {
			p.simpleName("a window")
		}
	}
}

// arguments reads the arguments of a call with the closing bracket. It reports whether
// DISTINCT or ALL stands before them.
func (p *parser) arguments() (quantified bool) {
	if p.acceptMark(")") {
		return false
	}
	if quantified = p.is("distinct", "all"); quantified {
		p.next()
	}
	p.listed(func() bool { return false })
	p.expectMark(")")
	return quantified
}

// wordArguments reads arguments that words can separate: SUBSTRING(s FROM n FOR n),
// POSITION(part IN s).
func (p *parser) wordArguments(position bool) {
	p.operand()
	for p.err == nil && binary[p.mark()] {
		p.next()
		p.operand()
	}
	switch {
	case position && p.accept("in"):
		p.expression()
	case !position && p.accept("from"):
		if p.is("for") {
			p.fail("an expression")
			return
		}
		p.expression()
		if p.accept("for") {
			p.expression()
		}
	default:
		p.expectMark(",")
		p.aliasedExpression(false)
		if p.acceptMark(",") {
			p.aliasedExpression(false)
		}
	}
	p.expectMark(")")
}
