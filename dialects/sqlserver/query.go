package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// selectStatement reads a query with the clauses that end a statement.
// Reference: SELECT (Transact-SQL).
//
//	query_expression [ORDER BY …] [FOR …] [OPTION (…)]
func (p *parser) selectStatement() {
	p.stmt.Verb = sqlguard.VerbSelect
	p.queryExpression()
	p.queryTail()
	if p.is("compute") {
		p.forbid("compute", p.here())
		p.skipStatement(p.at)
		return
	}
	if p.accept("option") {
		p.queryHints()
	}
	if p.is("into") { // other databases have INTO here
		p.into()
		p.skipStatement(p.at)
	}
}

// forbid states that the statement has a construct that no query may have.
func (p *parser) forbid(construct string, at sqlguard.Span) {
	rule := constructs[construct]
	p.effect(rule.code, at, rule.does)
}

// subquery reads a query in brackets. Reference: Subqueries.
func (p *parser) subquery() {
	p.expectMark('(')
	p.queryExpression()
	p.queryTail()
	p.expectMark(')')
}

// queryExpression reads queries that set operators join. Reference: Set
// operators - UNION, Set operators - EXCEPT and INTERSECT (Transact-SQL).
func (p *parser) queryExpression() {
	p.enter()
	p.queryTerm()
	p.setOperations()
	p.leave()
}

// setOperations reads the queries that set operators join to one before.
// Reference: Set operators - UNION, Set operators - EXCEPT and INTERSECT
// (Transact-SQL).
func (p *parser) setOperations() {
	for {
		switch {
		case p.accept("union"):
			p.accept("all")
		case p.accept("except"), p.accept("intersect"):
			p.accept("all") // the servers refuse it, so reading it is harmless
		default:
			return
		}
		p.queryTerm()
	}
}

// queryTerm reads one query, or several in brackets. Reference: SELECT
// (Transact-SQL), "query_expression".
func (p *parser) queryTerm() {
	if p.mark() == '(' {
		p.next()
		p.queryExpression()
		p.queryTail()
		p.expectMark(')')
		return
	}
	p.querySpecification()
}

// querySpecification reads one SELECT up to its HAVING or WINDOW clause.
// Reference: SELECT (Transact-SQL), "query_specification".
func (p *parser) querySpecification() {
	outputs := p.outputs
	p.outputs = false
	p.scopes = append(p.scopes, scope{outer: p.scope})
	read := len(p.scopes) - 1
	leave := p.within(read)
	p.expect("select")
	if !p.accept("all") {
		p.accept("distinct")
	}
	if p.is("top") {
		p.top()
	}
	star := false
	p.list(func() {
		star = star || p.operator() == "*" || p.qualifiedStar()
		if column := p.selectItem(); outputs && column != "" {
			p.stmt.Columns = append(p.stmt.Columns, column)
		}
	})
	if outputs && star { // it stands for some of them
		p.stmt.Columns = nil
	}
	if p.is("into") {
		p.into()
	}
	if p.accept("from") {
		p.list(p.tableSource)
	}
	if p.accept("where") {
		p.condition()
	}
	if p.acceptAll("group", "by") {
		p.groupBy()
	}
	if p.accept("having") {
		p.condition()
	}
	if p.atWindowClause() {
		p.windowClause()
	}
	leave()
	p.lastScope = read
}

// top reads TOP. Reference: TOP (Transact-SQL).
//
//	TOP (expression) | number [PERCENT] [WITH TIES | WITH APPROXIMATE]
func (p *parser) top() {
	p.next()
	switch {
	case p.mark() == '(':
		if k, _ := p.bracketed(); k == condition {
			p.fail("an expression instead of the condition before")
		}
	case p.tok.kind == sqlguard.TokenParameter:
		p.parameter()
	default:
		p.acceptSign()
		p.integer("a number or an expression in brackets")
	}
	p.accept("percent")
	if p.is("with") && (p.peek(1).spells("ties") || p.peek(1).spells("approximate") || p.peek(1).spells("approx")) {
		p.next()
		p.next()
	}
}

func (p *parser) acceptSign() {
	if op := p.operator(); op == "-" || op == "+" {
		p.next()
	}
}

// into reads INTO, which no query may have. Reference: SELECT - INTO Clause
// (Transact-SQL).
func (p *parser) into() {
	start := p.tok.start
	p.next()
	if p.tok.kind == sqlguard.TokenParameter {
		p.next()
	} else {
		n := p.multiName("the name of a table")
		if p.err != nil {
			return
		}
		p.relation(&n, sqlguard.AccessWrite)
	}
	p.forbid("into", p.since(start))
	if p.accept("on") {
		p.simpleName("the name of a filegroup")
	}
}

// selectItem reads one item of a SELECT list and returns the name of its
// column, if the text tells it. Reference: SELECT Clause (Transact-SQL).
//
//   - | t.* | alias = expression | expression [[AS] alias]
func (p *parser) selectItem() string {
	switch {
	case p.operator() == "*":
		p.allColumns(p.here())
		p.next()
		return ""
	case p.tok.kind == sqlguard.TokenParameter && p.assigns():
		p.assignment()
		return ""
	case (p.tok.isName() || p.tok.kind == sqlguard.TokenString) && p.markOf(1) == '=':
		alias := p.columnAlias()
		p.next()
		p.scalar()
		return alias
	}
	start := p.at
	refs := len(p.stmt.ColumnRefs)
	if p.qualifiedStar() {
		n := p.multiName("a column")
		p.column(&n)
		return ""
	}
	p.scalar()
	column := ""
	if p.plainColumn(start) && len(p.stmt.ColumnRefs) == refs+1 {
		column = p.stmt.ColumnRefs[refs].Name
	}
	if p.accept("as") {
		return p.columnAlias()
	}
	if p.tok.kind == sqlguard.TokenString || p.atName() && !p.atWindowClause() {
		return p.columnAlias()
	}
	return column
}

// qualifiedStar reports whether the next tokens are t.*.
func (p *parser) qualifiedStar() bool {
	i := 0
	for ; p.peek(i).isName() || p.peek(i).kind == sqlguard.TokenDot; i++ {
		if i > 2*maxParts {
			return false
		}
	}
	return i > 1 && p.peek(i-1).kind == sqlguard.TokenDot && p.markOf(i) == '*'
}

// plainColumn reports whether the tokens since start are a name and dots.
func (p *parser) plainColumn(start int) bool {
	for i := start; i < p.at && i < len(p.toks); i++ {
		t := p.toks[i]
		if !t.isName() && t.kind != sqlguard.TokenDot {
			return false
		}
	}
	return p.at > start
}

// columnAlias reads an alias: a name, or a string literal. Reference: SELECT
// Clause (Transact-SQL), "column_alias".
func (p *parser) columnAlias() string {
	if p.tok.kind == sqlguard.TokenString {
		return p.stringLiteral("an alias")
	}
	return p.simpleName("an alias").text
}

// assigns reports whether a variable is assigned here: = or a compound
// operator. Reference: SELECT @local_variable (Transact-SQL).
func (p *parser) assigns() bool {
	if p.markOf(1) == '=' {
		return true
	}
	t := p.peek(1)
	if t.kind != sqlguard.TokenOperator || p.markOf(2) != '=' {
		return false
	}
	switch p.sql[t.start:t.end] {
	case "+", "-", "*", "/", "%", "&", "|", "^", "||":
		return true
	default:
		return false
	}
}

// assignment reads an assignment to a variable, which no query may hold.
// Reference: SELECT @local_variable (Transact-SQL).
func (p *parser) assignment() {
	start := p.tok.start
	p.next()
	if p.mark() != '=' {
		p.next()
	}
	p.next()
	p.forbid("assignment", p.since(start))
	p.scalar()
}

// queryTail reads the clauses behind the last query of an expression.
// Reference: SELECT (Transact-SQL).
func (p *parser) queryTail() {
	defer p.within(p.lastScope)()
	if p.acceptAll("order", "by") {
		p.orderBy()
		p.offsetFetch()
	}
	for p.is("for") {
		p.forClause()
	}
}

// orderBy reads the list of ORDER BY. Reference: SELECT - ORDER BY Clause
// (Transact-SQL).
func (p *parser) orderBy() {
	p.list(func() {
		p.scalar()
		if !p.accept("asc") {
			p.accept("desc")
		}
	})
}

// offsetFetch reads OFFSET and FETCH, which belong to ORDER BY. FETCH follows
// OFFSET or is APPROXIMATE. Reference: SELECT - ORDER BY Clause (Transact-SQL),
// "offset_fetch".
func (p *parser) offsetFetch() {
	offset := p.accept("offset")
	if offset {
		p.scalar()
		p.rows()
	}
	next := p.peek(1)
	if p.is("fetch") && (offset && (next.spells("first") || next.spells("next")) || next.spells("approximate") || next.spells("approx")) {
		p.fetch()
	}
}

// fetch reads FETCH. Reference: SELECT - ORDER BY Clause (Transact-SQL),
// "offset_fetch".
func (p *parser) fetch() {
	p.next()
	if !p.accept("approximate") {
		p.accept("approx")
	}
	if !p.accept("first") {
		p.expect("next")
	}
	p.scalar()
	p.rows()
	p.expect("only")
}

// rows reads ROW or ROWS. Reference: SELECT - ORDER BY Clause (Transact-SQL).
func (p *parser) rows() {
	if !p.accept("rows") {
		p.expect("row")
	}
}
