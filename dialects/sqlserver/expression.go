package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// kind says what kind an expression is. Transact-SQL has no boolean values: a
// condition is valid only where the grammar requires one.
type kind uint8

const (
	none kind = iota
	scalar
	condition
)

// scalar reads an expression that has a value. Reference: Expressions
// (Transact-SQL).
func (p *parser) scalar() {
	p.enter()
	if p.binary() == condition {
		p.fail("an expression instead of the condition before")
	}
	p.leave()
}

// condition reads a condition. Reference: Search condition (Transact-SQL).
func (p *parser) condition() {
	at := p.tok
	if p.any() == scalar && p.err == nil {
		p.failAt(at, "expected a condition, found an expression")
	}
}

// any reads a condition or an expression with a value. Reference: Expressions;
// Search condition (Transact-SQL).
func (p *parser) any() kind {
	p.enter()
	k := p.or()
	p.leave()
	return k
}

// or reads operands of OR. Reference: OR (Transact-SQL).
func (p *parser) or() kind {
	k := p.and()
	for p.is("or") {
		p.demand(k)
		p.next()
		k = p.and()
		p.demand(k)
	}
	return k
}

// and reads operands of AND. Reference: AND (Transact-SQL).
func (p *parser) and() kind {
	k := p.not()
	for p.is("and") {
		p.demand(k)
		p.next()
		k = p.not()
		p.demand(k)
	}
	return k
}

// demand fails unless an operand of AND, OR or NOT is a condition.
func (p *parser) demand(k kind) {
	if k == scalar {
		p.fail("a comparison")
	}
}

// not reads a condition with its NOT. Reference: NOT (Transact-SQL).
func (p *parser) not() kind {
	negated := false
	for p.given == none && p.accept("not") {
		negated = true
	}
	k := p.predicate()
	if negated {
		p.demand(k)
	}
	return k
}

// binary reads operands that arithmetic, bit and string operators join. Their
// precedence decides nothing here. Reference: Operators (Transact-SQL).
func (p *parser) binary() kind {
	k := p.unary()
	for {
		switch p.operator() {
		case "+", "-", "*", "/", "%", "&", "|", "^", "||", "<<", ">>":
		default:
			return k
		}
		if k == condition {
			p.fail("AND, OR or the end of the condition")
			return k
		}
		p.next()
		if p.unary() == condition {
			p.fail("an expression instead of the condition before")
		}
	}
}

// unary reads an operand with its signs. Reference: Unary Operators.
func (p *parser) unary() kind {
	if p.given == none {
		for {
			if op := p.operator(); op != "+" && op != "-" && op != "~" {
				break
			}
			p.next()
		}
	}
	return p.postfix(p.primary())
}

// postfix reads what may follow an operand: method calls, COLLATE and AT TIME
// ZONE. Reference: COLLATE (Transact-SQL), AT TIME ZONE (Transact-SQL).
func (p *parser) postfix(k kind) kind {
	for k == scalar {
		switch {
		case p.mark() == '.':
			p.method()
		case p.accept("collate"):
			p.simpleName("the name of a collation")
		case p.followed("at", "time", "zone"):
			p.load(p.at + 3)
			p.timeZone()
		default:
			return k
		}
	}
	return k
}

// timeZone reads the operand of AT TIME ZONE, which is left-associative.
// Reference: AT TIME ZONE (Transact-SQL).
func (p *parser) timeZone() {
	if p.primary() == condition {
		p.fail("the name of a time zone")
	}
	for p.mark() == '.' && p.err == nil {
		p.method()
	}
}

// primary reads one operand. Reference: Expressions (Transact-SQL).
func (p *parser) primary() kind {
	if k := p.given; k != none {
		p.given = none
		return k
	}
	switch p.tok.kind { //nolint:exhaustive // no other kind begins an operand
	case sqlguard.TokenString, sqlguard.TokenNumber:
		p.next()
		return scalar
	case sqlguard.TokenParameter:
		p.parameter()
		return scalar
	case sqlguard.TokenOpen:
		if p.mark() == '{' {
			return p.escape()
		}
		k, _ := p.bracketed()
		return k
	case sqlguard.TokenQuotedName, sqlguard.TokenDot:
		return p.named()
	case sqlguard.TokenWord:
		switch {
		case p.atGlobal():
			p.global()
			return scalar
		case p.atPseudo():
			return p.pseudo()
		case p.tok.word != nil:
			return p.wordPrimary()
		default:
			return p.named()
		}
	}
	p.fail("an expression")
	return none
}

// bracketed reads the content of brackets and reports whether it is a query.
// After ( ( … the first SELECT decides whether it is a query or an expression.
// Reference: Subqueries; Expressions (Transact-SQL).
func (p *parser) bracketed() (k kind, query bool) {
	p.enter()
	defer p.leave()
	p.expectMark('(')
	switch {
	case p.is("select"):
		outputs := p.outputs
		p.outputs = false
		p.queryExpression()
		p.queryTail()
		p.outputs = outputs
		p.expectMark(')')
		return scalar, true
	case p.mark() == '(':
		inner, isQuery := p.bracketed()
		if isQuery && (p.isAny("union", "except", "intersect", "order", "for", "offset") || p.mark() == ')') {
			p.setOperations()
			p.queryTail()
			p.expectMark(')')
			return inner, true
		}
		p.given = inner
	}
	k = p.or()
	p.expectMark(')')
	return k, false
}

// parameter reads @name, which no query may hold. Reference: Variables
// (Transact-SQL).
func (p *parser) parameter() {
	p.forbid("variable", p.here())
	p.next()
}

// wordPrimary reads an operand that begins with a word of the grammar.
// Reference: Expressions (Transact-SQL).
func (p *parser) wordPrimary() kind {
	switch p.tok.word.text {
	case "null":
		p.next()
		return scalar
	case "default":
		// Only an argument can be DEFAULT; arguments read it themselves.
		p.fail("an expression")
		return none
	case "case":
		p.caseExpression()
		return scalar
	case "current_timestamp", "current_date", "current_time", "current_user", "session_user", "system_user", "user":
		p.builtin(functions[p.tok.word.text], p.here())
		p.next()
		return scalar
	case "identitycol", "rowguidcol":
		p.allColumns(p.here())
		p.next()
		return scalar
	case "next":
		if p.followed("next", "value", "for") {
			p.nextValue()
			return scalar
		}
	case "left", "right", "coalesce", "nullif", "convert", "try_convert", "contains", "freetext", "update", "identity", "openxml", "openrowset", "openquery", "opendatasource":
		if p.markOf(1) == '(' {
			n := p.wordName()
			return p.callOf(&n)
		}
	}
	if p.tok.word.reserved {
		p.fail("an expression")
		return none
	}
	return p.named()
}

// wordName reads a keyword as a name of one part.
func (p *parser) wordName() name {
	n := name{n: 1, at: p.here()}
	n.parts[0] = part{text: p.text(), at: n.at}
	p.next()
	return n
}

// caseExpression reads CASE. Reference: CASE (Transact-SQL).
func (p *parser) caseExpression() {
	p.next()
	searched := p.is("when")
	if !searched {
		p.scalar()
	}
	if !p.is("when") {
		p.fail("WHEN")
	}
	for p.accept("when") {
		if searched {
			p.condition()
		} else {
			p.scalar()
		}
		p.expect("then")
		p.scalar()
	}
	if p.accept("else") {
		p.scalar()
	}
	p.expect("end")
}

// nextValue reads NEXT VALUE FOR, which no query may hold. Reference: NEXT
// VALUE FOR (Transact-SQL).
func (p *parser) nextValue() {
	start := p.tok.start
	p.load(p.at + 3)
	p.multiName("the name of a sequence")
	if p.accept("over") {
		p.over()
	}
	p.forbid("next value for", p.since(start))
}

// named reads a column, or a call of a function or method by its name.
// Reference: Expressions (Transact-SQL), "column", "scalar_function".
func (p *parser) named() kind {
	n := p.multiName("an expression")
	switch {
	case p.err != nil:
		return none
	case n.star:
		p.fail("an expression instead of the * before")
		return none
	case p.mark() == '(':
		return p.callOf(&n)
	case p.operator() == "::":
		p.static(&n)
		return scalar
	}
	p.column(&n)
	return scalar
}
