package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// predicate reads a condition without AND, OR and NOT, or an expression with a
// value where no operator follows. Reference: Predicates; Search condition
// (Transact-SQL).
func (p *parser) predicate() kind {
	if p.given == none {
		switch {
		case p.is("exists"):
			p.next()
			p.subquery()
			return condition
		case p.is("match") && p.markOf(1) == '(':
			p.match()
			return condition
		}
	}
	k := p.binary()
	if k != scalar {
		return k
	}
	switch {
	case p.comparison():
		p.compared()
	case p.is("not") && (p.peek(1).spells("like") || p.peek(1).spells("between") || p.peek(1).spells("in")):
		p.next()
		return p.rightSide()
	case p.isAny("like", "between", "in", "is"):
		return p.rightSide()
	default:
		return scalar
	}
	return condition
}

// rightSide reads LIKE, BETWEEN, IN and IS with their right sides. Reference:
// LIKE (Transact-SQL), BETWEEN (Transact-SQL).
func (p *parser) rightSide() kind {
	switch {
	case p.accept("like"):
		p.scalar()
		switch {
		case p.accept("escape"):
			p.scalar()
		case p.mark() == '{' && p.peek(1).spells("escape"):
			p.next()
			p.next()
			p.stringLiteral("a character")
			p.expectMark('}')
		}
	case p.accept("between"):
		p.scalar()
		p.expect("and")
		p.scalar()
	case p.accept("in"):
		p.in()
	default:
		p.isPredicate()
	}
	return condition
}

// isPredicate reads IS [NOT] NULL and IS [NOT] DISTINCT FROM. Reference: IS NULL
// (Transact-SQL), IS [NOT] DISTINCT FROM (Transact-SQL).
func (p *parser) isPredicate() {
	p.expect("is")
	p.accept("not")
	switch {
	case p.accept("null"):
	case p.accept("distinct"):
		p.expect("from")
		p.compared()
	default:
		p.fail("NULL or DISTINCT FROM")
	}
}

// comparison reads a comparison operator if one comes next. It may contain white
// space. Reference: Comparison Operators (Transact-SQL).
func (p *parser) comparison() bool {
	switch p.operator() {
	case "<=", "<>", ">=", "!=", "!<", "!>", "=":
		p.next()
		return true
	case "<":
		p.next()
		if op := p.operator(); op == "=" || op == ">" {
			p.next()
		}
		return true
	case ">":
		p.next()
		if p.operator() == "=" {
			p.next()
		}
		return true
	default:
		if p.tok.kind == sqlguard.TokenOperator && p.text() == "!" {
			p.next()
			if op := p.operator(); op != "=" && op != "<" && op != ">" {
				p.fail("=, < or >")
			}
			p.next()
			return true
		}
		return false
	}
}

// compared reads the right side of a comparison. Reference: SOME | ANY
// (Transact-SQL), ALL (Transact-SQL).
func (p *parser) compared() {
	if p.isAny("all", "any", "some") {
		p.next()
		p.subquery()
		return
	}
	p.scalar()
}

// in reads the list or query of IN. Reference: IN (Transact-SQL).
func (p *parser) in() {
	p.expectMark('(')
	switch {
	case p.is("select"):
		p.queryExpression()
		p.queryTail()
	case p.mark() == '(':
		inner, query := p.bracketed()
		if query && p.isAny("union", "except", "intersect", "order", "for", "offset") {
			p.setOperations()
			p.queryTail()
			break
		}
		p.given = inner
		fallthrough
	default:
		p.list(p.scalar)
	}
	p.expectMark(')')
}

// match reads the search of a graph. Reference: MATCH (Transact-SQL).
//
//	MATCH (node-(edge)->node … [AND …])
func (p *parser) match() {
	p.next()
	p.expectMark('(')
	for {
		p.matchPattern()
		if !p.accept("and") {
			break
		}
	}
	p.expectMark(')')
}

// matchPattern reads one path, or LAST_NODE on both sides. Reference: MATCH
// (Transact-SQL), "graph_search_pattern".
func (p *parser) matchPattern() {
	switch {
	case p.is("shortest_path") && p.markOf(1) == '(':
		p.next()
		p.expectMark('(')
		p.arbitraryPath()
		p.expectMark(')')
		if p.accept("and") {
			p.matchPattern()
		}
		return
	case p.is("last_node") && p.markOf(1) == '(':
		p.node()
		if p.mark() == '=' {
			p.next()
			p.node()
			return
		}
	default:
		p.node()
	}
	for p.atEdge() {
		p.edge()
		p.node()
	}
}

// node reads the alias of a node, or LAST_NODE (alias). Reference: MATCH
// (Transact-SQL), "last_node".
func (p *parser) node() {
	if p.is("last_node") && p.markOf(1) == '(' {
		p.next()
		p.expectMark('(')
		p.simpleName("a node")
		p.expectMark(')')
		return
	}
	p.simpleName("a node")
}

func (p *parser) atEdge() bool {
	return p.operator() == "-" && p.markOf(1) == '(' || p.operator() == "<" && p.markOf(1) == '-'
}

// edge reads -(edge)-> or <-(edge)-. Reference: MATCH (Transact-SQL).
func (p *parser) edge() {
	backward := p.operator() == "<"
	if backward {
		p.next()
	}
	p.expectMark('-')
	p.expectMark('(')
	p.simpleName("an edge")
	p.expectMark(')')
	p.expectMark('-')
	if !backward {
		p.expectMark('>')
	}
}

// arbitraryPath reads the pattern of SHORTEST_PATH: one side repeats. Reference:
// SHORTEST_PATH (Transact-SQL).
func (p *parser) arbitraryPath() {
	if p.acceptMark('(') { // (node-(edge)->)+ node
		for p.err == nil && p.mark() != ')' {
			p.node()
			p.edge()
		}
		p.expectMark(')')
		p.repetition()
		p.node()
		return
	}
	p.node()
	p.expectMark('(')
	for p.err == nil && p.mark() != ')' {
		p.edge()
		p.node()
	}
	p.expectMark(')')
	p.repetition()
}

// repetition reads + or {1,n}. Reference: SHORTEST_PATH (Transact-SQL).
func (p *parser) repetition() {
	if p.acceptMark('+') {
		return
	}
	p.expectMark('{')
	p.integer("a number")
	p.expectMark(',')
	p.integer("a number")
	p.expectMark('}')
}
