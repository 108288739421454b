package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// callOf reads the call of a function whose name was read; the next token opens
// its brackets. Reference: What are the SQL database functions; the page of each
// function where its syntax is its own.
func (p *parser) callOf(n *name) kind {
	p.enter()
	defer p.leave()
	if n.n > 1 {
		p.qualifiedCall(n)
		p.afterCall()
		return scalar
	}
	var fn *function
	if !n.last().quoted || n.last().text != "" {
		fn = lookupFunction(n.last().text)
	}
	p.call(n, fn)
	call := len(p.stmt.Calls) - 1
	k := scalar
	if fn == nil {
		p.arguments()
	} else {
		k = p.argumentsOf(fn, call)
	}
	if k == condition {
		return k
	}
	p.afterCall()
	return k
}

// argumentsOf reads the arguments of a function of the server's own.
func (p *parser) argumentsOf(fn *function, call int) kind {
	switch fn.syntax {
	case syntaxPlain:
		p.arguments()
	case syntaxSkip:
		p.skipBrackets()
	case syntaxCast:
		p.castArguments()
	case syntaxConvert:
		p.convertArguments()
	case syntaxDatePart:
		p.datePartArguments()
	case syntaxTrim:
		p.trimArguments()
	case syntaxIIF:
		p.expectMark('(')
		p.condition()
		p.expectMark(',')
		p.list(p.scalar)
		p.expectMark(')')
	case syntaxStar:
		p.starArguments(fn)
	case syntaxJSON:
		p.jsonArguments()
	case syntaxProperty:
		p.propertyArguments(fn)
	case syntaxSized:
		p.sizedArguments(fn, call)
	case syntaxFullText:
		p.fullTextArguments()
		return condition
	case syntaxCondition:
		p.arguments()
		return condition
	case syntaxChanges:
		p.changesArguments()
	case syntaxVectorSearch:
		p.vectorSearchArguments()
	}
	return scalar
}

// arguments reads ( [DISTINCT | ALL] expression, … ). DEFAULT may replace an
// argument of a user-defined function. Reference: What are the Microsoft SQL
// database functions?
func (p *parser) arguments() {
	p.expectMark('(')
	if p.acceptMark(')') {
		return
	}
	if !p.accept("distinct") {
		p.accept("all")
	}
	p.list(p.argument)
	if p.acceptAll("order", "by") {
		p.orderBy()
	}
	p.expectMark(')')
}

// argument reads one argument. Reference: User-Defined Functions, "DEFAULT".
func (p *parser) argument() {
	if p.is("default") {
		p.next()
		return
	}
	p.scalar()
}

// castArguments reads (expression AS type [USING culture]). Reference: CAST and
// CONVERT (Transact-SQL), TRY_CAST, PARSE, TRY_PARSE.
func (p *parser) castArguments() {
	p.expectMark('(')
	p.scalar()
	p.expect("as")
	p.dataType()
	if p.accept("using") {
		p.scalar()
	}
	p.expectMark(')')
}

// convertArguments reads (type, expression [, style]). Reference: CAST and
// CONVERT (Transact-SQL), TRY_CONVERT.
func (p *parser) convertArguments() {
	p.expectMark('(')
	p.dataType()
	p.expectMark(',')
	p.list(p.scalar)
	p.expectMark(')')
}

// datePartArguments reads (datepart, …): the first argument is a word and no
// column. Reference: DATEADD, DATEDIFF, DATENAME, DATEPART, DATETRUNC,
// DATE_BUCKET (Transact-SQL).
func (p *parser) datePartArguments() {
	p.expectMark('(')
	if p.tok.kind != sqlguard.TokenWord || !dateParts[lexical.Lower(p.text())] {
		p.fail("a part of a date, such as day")
		return
	}
	p.next()
	for p.acceptMark(',') {
		p.scalar()
	}
	p.expectMark(')')
}

// dateParts are the parts of a date with their abbreviations.
var dateParts = func() map[string]bool {
	m := make(map[string]bool)
	for part := range strings.FieldsSeq(`year yyyy yy quarter qq q month mm m dayofyear dy y day dd d week ww wk weekday
		dw w hour hh minute mi n second ss s millisecond ms microsecond mcs nanosecond ns tzoffset tz iso_week isowk
		isoww iso8601_week sql_tsi_frac_second sql_tsi_second sql_tsi_minute sql_tsi_hour sql_tsi_day sql_tsi_week
		sql_tsi_month sql_tsi_quarter sql_tsi_year`) {
		m[part] = true
	}
	return m
}()

// trimArguments reads ([LEADING | TRAILING | BOTH] [characters FROM] string),
// and the list of LTRIM and RTRIM. Reference: TRIM (Transact-SQL).
func (p *parser) trimArguments() {
	p.expectMark('(')
	if p.isAny("leading", "trailing", "both") && p.markOf(1) != ')' && p.markOf(1) != ',' && p.markOf(1) != '.' {
		p.next()
	}
	p.scalar()
	if p.accept("from") {
		p.scalar()
	}
	for p.acceptMark(',') {
		p.scalar()
	}
	p.expectMark(')')
}

// starArguments reads the arguments of a function that takes *. For COUNT it
// means rows, for the checksums every column. Reference: COUNT, COUNT_BIG,
// CHECKSUM, BINARY_CHECKSUM (Transact-SQL).
func (p *parser) starArguments(fn *function) {
	if p.mark() == '(' && p.markOf(1) == '*' {
		p.next()
		if !strings.HasPrefix(fn.name, "count") && !strings.HasPrefix(fn.name, "approx") {
			p.allColumns(p.here())
		}
		p.next()
		p.expectMark(')')
		return
	}
	p.arguments()
}

// jsonArguments reads the arguments of the functions that make JSON. Reference:
// JSON_OBJECT, JSON_ARRAY, JSON_OBJECTAGG, JSON_ARRAYAGG, JSON_VALUE,
// JSON_QUERY (Transact-SQL).
//
//	([key : value | value, …] [ORDER BY …] [NULL | ABSENT ON NULL] [RETURNING type])
func (p *parser) jsonArguments() {
	p.expectMark('(')
	if p.mark() != ')' && !p.atNullOption() && !p.is("returning") {
		p.list(func() {
			p.scalar()
			if p.acceptMark(':') {
				p.scalar()
			}
		})
	}
	if p.acceptAll("order", "by") {
		p.orderBy()
	}
	if p.atNullOption() {
		p.load(p.at + 3)
	}
	if p.accept("returning") {
		p.dataType()
	}
	if p.accept("with") {
		p.expect("array")
		p.expect("wrapper")
	}
	p.expectMark(')')
}

func (p *parser) atNullOption() bool {
	return p.followed("null", "on", "null") || p.followed("absent", "on", "null")
}

// propertyArguments reads the arguments of a function that reads a setting by its name.
// Reference: SERVERPROPERTY (Transact-SQL) and similar pages.
func (p *parser) propertyArguments(fn *function) {
	start := p.tok
	read := sqlguard.SettingRead{}
	if p.mark() == '(' && p.peek(1).kind == sqlguard.TokenString && p.markOf(2) == ')' {
		t := p.peek(1)
		property := decodeString(p.sql[t.start:t.end])
		read = rulePropertyRead(fn.name, property)
		read.Span = spanOf(t)
	} else {
		read.Span = spanOf(start)
	}
	p.stmt.Settings = append(p.stmt.Settings, read)
	p.arguments()
}

// sizedArguments reads the arguments of a function whose result can be huge.
func (p *parser) sizedArguments(fn *function, call int) {
	start := p.at + 1
	p.arguments()
	if reason := p.excess(fn.name, start); reason != "" {
		p.stmt.Calls[call].Ruling = sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: reason, Excess: true}
	}
}

// fullTextArguments reads the arguments of CONTAINS and FREETEXT. Reference:
// CONTAINS (Transact-SQL), FREETEXT (Transact-SQL).
//
//	(column | (column, …) | * | PROPERTY (column, 'name'), search [, LANGUAGE term])
func (p *parser) fullTextArguments() {
	p.expectMark('(')
	p.fullTextColumns()
	p.fullTextSearch()
	p.expectMark(')')
}

// fullTextColumns reads the searched columns. Reference: CONTAINS (Transact-SQL),
// "column_list"; FREETEXT (Transact-SQL).
func (p *parser) fullTextColumns() {
	switch {
	case p.mark() == '*':
		p.allColumns(p.here())
		p.next()
	case p.mark() == '(':
		p.brackets(func() {
			if p.mark() == '*' {
				p.allColumns(p.here())
				p.next()
				return
			}
			p.searchedColumn()
		})
	case strings.EqualFold(p.text(), "property") && p.markOf(1) == '(':
		p.next()
		p.expectMark('(')
		p.searchedColumn()
		p.expectMark(',')
		p.stringLiteral("the name of a property")
		p.expectMark(')')
	default:
		p.searchedColumn()
	}
}

// searchedColumn reads the name of a column in a position where no other
// expression is valid. Reference: CONTAINS (Transact-SQL), "column_name".
func (p *parser) searchedColumn() {
	if p.atPseudo() {
		p.pseudo()
		return
	}
	n := p.multiName("a column")
	if p.err == nil {
		p.column(&n)
	}
}

// fullTextSearch reads the search and what follows it. Reference: CONTAINS
// (Transact-SQL), "contains_search_condition".
func (p *parser) fullTextSearch() {
	p.expectMark(',')
	p.scalar()
	for p.acceptMark(',') {
		p.accept("language")
		p.scalar()
	}
}

// afterCall reads what may follow the brackets of a call: WITHIN GROUP, IGNORE
// NULLS, OVER. Reference: SELECT - OVER clause, STRING_AGG, PERCENTILE_CONT,
// FIRST_VALUE (Transact-SQL).
func (p *parser) afterCall() {
	if p.is("within") && p.peek(1).spells("group") {
		p.next()
		p.next()
		p.expectMark('(')
		if !p.acceptAll("graph", "path") {
			p.expect("order")
			p.expect("by")
			p.orderBy()
		}
		p.expectMark(')')
	}
	if p.isAny("ignore", "respect") && p.peek(1).spells("nulls") {
		p.next()
		p.next()
	}
	if p.accept("over") {
		p.over()
	}
}
