package clickhouse

import (
	"regexp"
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// expression reads operands that operators join. The order in which the server applies
// operators changes no fact, so that it is not read. A lambda and a condition with ? do
// not continue one another without brackets, and no OR follows the latter. Reference:
// Operators.
func (p *parser) expression() {
	p.enter()
	defer p.leave()
	from := p.at
	p.logical()
	lambda, bare := p.mark() == "->", p.at == from+1
	if lambda {
		if !p.parameters(from) {
			p.fail("names before ->")
		}
		p.next()
		p.logical()
	}
	if p.acceptMark("?") {
		p.logical()
		p.expectMark(":")
		p.operation()
		for p.err == nil && p.accept("and") {
			p.operation()
		}
	}
	if lambda {
		p.lambdaEnd, p.bareLambda = p.at, bare
	}
}

// value reads an expression behind others. To the server, a name before -> takes the values
// before it as further parameters, so that it is none here.
func (p *parser) value() {
	t := p.tok
	p.expression()
	if p.bareLambda && p.lambdaEnd == p.at {
		p.failAt(t, lambdaBrackets)
	}
}

const lambdaBrackets = "a lambda behind other values needs brackets around its parameter"

// listed reads expressions that commas separate, up to one that end ends. To the server, a
// name before -> takes all that stand before it in the list as further parameters, so that
// they have to be names.
func (p *parser) listed(end func() bool) {
	names := true
	for p.err == nil {
		from, t := p.at, p.tok
		p.expression()
		if p.bareLambda && p.lambdaEnd == p.at && !names {
			p.failAt(t, lambdaBrackets)
			return
		}
		names = names && p.isPath(from)
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
		return p.isIdentifier(list[0])
	}
	if len(list)%2 == 0 || p.sql[list[0].start] != '(' {
		return false
	}
	for i, t := range list[1 : len(list)-1] {
		if i%2 == 0 && !p.isIdentifier(t) || i%2 == 1 && t.kind != sqlguard.TokenComma {
			return false
		}
	}
	return true
}

// valueWords are names that the server reads as values where an expression stands.
var valueWords = lexical.Set("true false inf infinity nan")

// isIdentifier reports whether a token is a name, and no value, where an expression stands.
func (p *parser) isIdentifier(t token) bool {
	return t.isName() && (t.kind == sqlguard.TokenQuotedName || !valueWords[lexical.Lower(p.sql[t.start:t.end])])
}

// isPath reports whether the tokens from that one up to the current one are a name with
// dots, which can be a parameter to the server.
func (p *parser) isPath(from int) bool {
	list := p.toks[from:p.at]
	for i, t := range list {
		if i%2 == 0 && !p.isIdentifier(t) || i%2 == 1 && t.kind != sqlguard.TokenDot {
			return false
		}
	}
	return len(list)%2 == 1
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

// maxBetween bounds how deep BETWEEN stands before another BETWEEN, in brackets or without.
// The server writes the left side of each twice, and no limit of time holds while it does.
const maxBetween = 8

// operation reads operands that every operator joins but AND, OR, ? and ->.
func (p *parser) operation() {
	outer := p.nested
	defer func() { p.nested = max(outer, p.nested) }()
	p.nested = 0
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
			if p.nested++; p.nested > maxBetween {
				p.fail("fewer BETWEEN inside of one another")
				return
			}
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
			negated := false
			for p.accept("not") {
				negated = true
			}
			if !negated && p.is("any", "all", "some") && p.markAt(1) == "(" && p.ahead(1, p.atQuery) && p.ahead(1, p.isSubquery) { // = ANY (query)
				if !compares {
					p.fail("a comparison before ANY, SOME or ALL")
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

// quantifies are the operators behind which ANY, SOME and ALL may stand before a query.
var quantifies = map[string]bool{"=": true, "==": true, "!=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true}

// ahead reports whether something holds n tokens on.
func (p *parser) ahead(n int, holds func() bool) bool {
	at := p.at
	p.load(at + n)
	found := holds()
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

// set reads what stands behind IN. A name there is a table, in brackets too.
func (p *parser) set() {
	if p.is("partition") {
		p.fail("a query, a list or a table")
		return
	}
	if p.mark() == "(" || p.mark() == "+" {
		n := p.plainName()
		p.operand()
		if n.parts != nil && p.err == nil {
			p.source(&n)
		}
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

// plainName returns the name that is all of the expression that begins here, without moving
// on: the server takes brackets around it and a plus before it away.
func (p *parser) plainName() (n name) {
	at, toks, err, open := p.at, p.toks, p.err, false
	for p.mark() == "(" || p.mark() == "+" {
		open = open || p.mark() == "("
		p.next()
	}
	if p.tok.isName() && p.markAt(1) != "(" {
		n = p.multiName("a table", 8)
		if p.err != nil || len(n.parts) > 2 || open && p.mark() != ")" && !p.is("as") || p.mark() == "[" || p.mark() == "::" || p.mark() == "." {
			n = name{}
		}
	}
	p.toks, p.err = toks, err // a failure cuts the tokens
	p.load(at)
	return n
}

// operand reads one operand with what can follow it: subscripts, elements, casts, zones.
func (p *parser) operand() {
	p.enter()
	defer p.leave()
	for p.mark() == "-" || p.mark() == "+" {
		p.next()
	}
	p.primary()
	column := p.pathEnd == p.at
	for p.err == nil {
		switch {
		case p.acceptMark("["):
			column = false
			p.expression()
			p.expectMark("]")
		case column && p.mark() == "." && p.markAt(1) == ":" && p.toks[p.at-1].isName(): // of a type: json.a.:Int64
			if p.load(p.at + 2); p.tok.kind == sqlguard.TokenQuotedName {
				p.next() // the name of a type with its arguments
			} else {
				p.typeName()
			}
		case p.acceptMark("::"):
			column = false
			p.typeName()
		case p.followed("at", "local"):
			column = false
			p.call("timeZone", p.here())
			p.load(p.at + 2)
		case p.followed("at", "time", "zone"):
			column = false
			p.call("toTimeZone", p.here())
			p.load(p.at + 3)
			p.operand()
		case p.mark() == "." && p.peek(1).kind == sqlguard.TokenNumber && isDigit(p.sql[p.peek(1).start]):
			column = false
			p.next()
			p.next()
		case p.mark() == "." && p.markAt(1) == "-" && p.peek(2).kind == sqlguard.TokenNumber:
			column = false
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
			p.star()
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

// star reads what can follow a star: a pattern of names and transformers.
func (p *parser) star() {
	if p.acceptAny("like", "ilike") {
		p.stringLiteral("a pattern in quotes after the star")
	}
	p.transformers()
}

// transformers reads what can follow a star or COLUMNS: EXCEPT, REPLACE, APPLY.
func (p *parser) transformers() {
	for p.err == nil {
		switch {
		case p.is("except") && (p.markAt(1) == "(" && !p.ahead(1, p.atQuery) || p.peek(1).isName() || p.atString(1)):
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
				if p.acceptMark("(") && p.arguments() {
					p.fail("arguments without DISTINCT or ALL")
				}
			} else if p.expression(); p.lambdaEnd != p.at || !p.bareLambda {
				p.fail("a function or a lambda, as in x -> x + 1")
			}
			if bracket {
				p.expectMark(")")
			}
		case p.is("except"): // columns that are left out, to the server
			p.fail("columns after EXCEPT")
		default:
			p.starEnd = p.at
			return
		}
	}
}

// intervalUnits are the units of INTERVAL, EXTRACT and the functions of dates.
var intervalUnits = lexical.Set(`nanosecond nanoseconds microsecond microseconds millisecond milliseconds second seconds minute minutes hour hours
	day days week weeks month months quarter quarters year years sql_tsi_nanosecond sql_tsi_microsecond sql_tsi_millisecond sql_tsi_second
	sql_tsi_minute sql_tsi_hour sql_tsi_day sql_tsi_week sql_tsi_month sql_tsi_quarter sql_tsi_year ns ms ss s mi n hh h dd d wk ww mm m qq q yyyy yy`)

// extractUnits are the units of EXTRACT and date_part besides.
var extractUnits = lexical.Set("epoch dow doy isodow isoyear century decade millennium timezone_hour timezone_minute")

func (p *parser) atUnit(n int) bool {
	t := p.peek(n)
	return t.kind == sqlguard.TokenWord && intervalUnits[lexical.Lower(p.sql[t.start:t.end])]
}

func (p *parser) atExtractUnit(n int) bool {
	t := p.peek(n)
	return p.atUnit(n) || t.kind == sqlguard.TokenWord && extractUnits[lexical.Lower(p.sql[t.start:t.end])]
}

// nameWords are reserved words that are names too where an expression stands, if what
// follows shows that no clause begins.
var nameWords = lexical.Set("group order right full")

// isNameHere reports whether the current token is one of nameWords that is a name.
func (p *parser) isNameHere() bool {
	if !nameWords[p.tok.word] {
		return false
	}
	switch next := p.peek(1); next.kind { //nolint:exhaustive // behind the others a clause may begin
	case endOfText, sqlguard.TokenComma, sqlguard.TokenClose, sqlguard.TokenTerminator, sqlguard.TokenDot:
		return true
	case sqlguard.TokenOperator:
		return binary[p.markAt(1)]
	default:
		return next.word == "as" || next.word == "and" || next.word == "or" || next.word == "from" || next.word == "desc" || next.word == "asc"
	}
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
	case w == "extract" && call && p.atExtractUnit(2) && p.peek(3).word == "from":
		at := p.here()
		p.load(p.at + 4)
		p.call("extract", at)
		p.aliasedExpression(false)
		p.expectMark(")")
	case w == "trim" && call && (p.peek(2).word == "both" || p.peek(2).word == "leading" || p.peek(2).word == "trailing"):
		p.call("trim", p.here())
		p.load(p.at + 3)
		p.operation()
		p.expect("from")
		p.expression()
		p.expectMark(")")
	case p.isNameHere():
		p.tok.word = ""
		p.named()
	case (w == "left" || w == "right") && call:
		p.function(lexical.Lower(p.text()))
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

// unitAhead reports whether a unit of time stands behind the current token, before a comma and
// before the bracket around closes.
func (p *parser) unitAhead() bool {
	depth := 0
	for n := 1; depth >= 0; n++ {
		switch t := p.peek(n); t.kind { //nolint:exhaustive // only these matter
		case endOfText, sqlguard.TokenTerminator:
			return false
		case sqlguard.TokenOpen:
			depth++
		case sqlguard.TokenClose:
			depth--
		case sqlguard.TokenComma:
			if depth == 0 {
				return false
			}
		default:
			if depth == 0 && p.atUnit(n) {
				return true
			}
		}
	}
	return false
}

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
		if p.unitAhead() { // which the server looks for, and takes any word in between for a name
			p.fail("quotes around the name interval")
			return
		}
		p.named() // a column of that name
		return
	}
	defer p.bar("interval")()
	p.next()
	if p.tok.kind == sqlguard.TokenString && !p.atUnit(1) {
		if !intervalText.MatchString(lexical.Lower(p.text())) {
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
	defer p.bar("end")()
	p.next()
	if !p.is("when") {
		p.expression()
	}
	if !p.is("when") {
		p.fail("WHEN")
		return
	}
	for p.accept("when") {
		p.value()
		p.expect("then")
		p.value()
	}
	if p.accept("else") {
		p.value()
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
		p.value()
	case p.accept("as"):
		at := p.at
		if p.tok.isName() && p.peek(1).word == "as" && p.starEnd != p.at-1 { // CAST(x AS alias AS type)
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
	first := lexical.Lower(n)
	p.load(p.at - 1)
	p.load(p.at + 1 + len(strings.Fields(p.longType())))
	if !typeNames[first] {
		p.failAt(p.toks[p.at-1], "ClickHouse has no type of this name")
		return
	}
	if p.acceptMark("(") && !p.acceptMark(")") {
		switch {
		case wholeTypes.MatchString(first):
			p.number()
		case strings.HasSuffix(first, "aggregatefunction"):
			p.aggregateArguments(first)
		default:
			p.list(func() { p.typeArgument(n, first) })
		}
		p.expectMark(")")
	}
	p.stmt.Types = appendType(p.stmt.Types, sqlguard.Type{Name: n, Builtin: true, Span: p.since(start)})
}

// longType returns the words that continue the name of a type whose first word is the
// current token, or "".
func (p *parser) longType() string {
	for _, more := range longTypes[lexical.Lower(p.text())] {
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

// aggregateArguments reads the arguments of AggregateFunction: a version, or none, a function
// and types.
func (p *parser) aggregateArguments(of string) {
	if of == "aggregatefunction" && p.tok.kind == sqlguard.TokenNumber && wholeNumber.MatchString(p.text()) {
		p.next()
		p.expectMark(",")
	}
	if p.simpleName("an aggregate function"); p.acceptMark("(") {
		p.list(func() {
			p.acceptMark("-")
			p.number()
		})
		p.expectMark(")")
	}
	for p.acceptMark(",") {
		p.typeName()
	}
}

var wholeNumber = regexp.MustCompile(`^[0-9]+$`)

// typeArgument reads an argument of a type: a type, a name with a type, a number, or a text
// with or without a number. as is the name of the type
// as written, and of that in lower case: the server reads some arguments only behind the
// exact name.
func (p *parser) typeArgument(as, of string) {
	enum, named := strings.HasPrefix(of, "enum"), as == "Tuple" || as == "Nested"
	switch {
	case as == "Dynamic":
		p.simpleName("a parameter")
		p.expectMark("=")
		p.number()
	case p.tok.kind == sqlguard.TokenNumber && !enum && of != "json" && of != "tuple" && !named:
		p.next()
	case enum || of != "json" && !named && p.atString(0):
		if !p.atString(0) {
			p.fail("a string literal")
			return
		}
		p.next()
		if p.acceptMark("=") {
			p.acceptMark("-")
			p.number()
		}
	case of == "json" && p.tok.kind == sqlguard.TokenWord && lexical.Lower(p.text()) == "skip":
		if p.next(); p.accept("regexp") {
			p.stringLiteral("a pattern in quotes")
		} else {
			p.multiName("a path", 8)
		}
	case of == "json" && p.tok.isName() && p.markAt(1) == "=":
		p.next()
		p.next()
		p.number()
	case of == "json":
		p.multiName("a path", 8)
		p.typeName()
	case as == "Nested" || as == "Tuple" && (p.tok.kind == sqlguard.TokenQuotedName || p.tok.isName() && p.peek(1).kind == sqlguard.TokenWord && p.longType() == ""):
		p.simpleName("a name")
		p.typeName()
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
	value := !p.isIdentifier(p.tok)
	n := name{at: p.here(), parts: []string{p.simpleName("an expression")}}
	if value {
		return
	}
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
			p.star()
			return
		case next.word == "columns" && p.markAt(2) == "(":
			if p.next(); p.text() != "COLUMNS" { // a function, to the server
				p.fail("COLUMNS in capital letters")
				return
			}
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
			p.pathEnd = p.at
			return
		}
	}
	p.column(&n)
	p.pathEnd = p.at
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
var ownForms = lexical.Set("substring position trim ltrim rtrim dateadd date_add datesub date_sub datediff date_diff timestampadd timestamp_add timestampsub timestamp_sub" +
	" timestampdiff timestamp_diff tuple extract cast overlay overlayutf8 date_part datepart")

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
	p.functionValue(function)
	own := ownForms[lexical.Lower(function)]
	if own && p.is("distinct", "all") {
		p.fail("an expression")
		return
	}
	more := false
	switch lexical.Lower(function) {
	case "substring", "position":
		p.wordArguments(lexical.Lower(function) == "position")
	case "overlay", "overlayutf8":
		p.overlay()
	case "date_part", "datepart":
		unit := lexical.Lower(strings.Trim(p.text(), "'"))
		if !p.atString(0) || !intervalUnits[unit] && !extractUnits[unit] {
			p.fail("a unit of time in quotes")
			return
		}
		p.next()
		p.expectMark(",")
		p.operation()
		p.expectMark(")")
	case "trim", "ltrim", "rtrim":
		if p.mark() == ")" {
			p.fail("an expression")
			return
		}
		p.arguments()
	case "dateadd", "date_add", "datesub", "date_sub", "datediff", "date_diff", "timestampadd", "timestamp_add", "timestampsub",
		"timestamp_sub", "timestampdiff", "timestamp_diff":
		if p.atUnit(0) {
			p.next()
			p.expectMark(",")
			p.value()
			p.expectMark(",")
			p.aliasedValue()
			if strings.HasSuffix(lexical.Lower(function), "diff") && p.acceptMark(",") {
				p.aliasedValue() // a time zone
			}
			p.expectMark(")")
			return
		}
		p.arguments()
	case "tuple":
		p.arguments()
	case "cast": // in quotes, where AS is not read
		p.expression()
		p.expectMark(",")
		p.value()
		p.expectMark(")")
	default:
		more = !p.arguments()
	}
	if own {
		return
	}
	if more && p.mark() == "(" && p.markAt(1) != ")" { // the parameters came first
		p.next()
		p.arguments()
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
	if !position {
		defer p.bar("for")()
	}
	p.operand()
	for p.err == nil && binary[p.mark()] {
		p.next()
		p.operand()
	}
	if p.starEnd != p.at && p.accept("as") {
		p.aliasName()
	}
	switch {
	case position && p.accept("in"):
		p.aliasedValue()
	case !position && p.accept("from"):
		p.aliasedValue()
		if p.accept("for") {
			p.aliasedValue()
		}
	default:
		p.expectMark(",")
		p.aliasedValue()
		if p.acceptMark(",") {
			p.aliasedValue()
		}
	}
	p.expectMark(")")
}

// overlay reads OVERLAY(s PLACING part FROM n FOR n), or the same with commas. To the
// server, a lambda takes all arguments before it, so that none is read here.
func (p *parser) overlay() {
	part := func() {
		p.expression()
		if p.lambdaEnd == p.at {
			p.fail("no lambda")
			return
		}
		if p.starEnd != p.at && p.accept("as") {
			p.aliasName()
		}
	}
	defer p.bar("placing", "for")()
	if part(); p.accept("placing") {
		part()
		p.expect("from")
		if part(); p.accept("for") {
			part()
		}
	} else {
		for p.acceptMark(",") {
			part()
		}
	}
	p.expectMark(")")
}
