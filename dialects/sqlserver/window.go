package sqlserver

// over reads what follows OVER. Reference: SELECT - OVER clause (Transact-SQL).
//
//	OVER name | OVER ([name] [PARTITION BY …] [ORDER BY …] [frame])
func (p *parser) over() {
	if p.mark() != '(' {
		p.simpleName("the name of a window, or its definition in brackets")
		return
	}
	p.windowDefinition()
}

// windowDefinition reads a window in brackets. Reference: SELECT - OVER clause
// (Transact-SQL), SELECT - WINDOW clause (Transact-SQL).
func (p *parser) windowDefinition() {
	p.expectMark('(')
	if p.atName() && !p.followed("partition", "by") && !p.atFrame() {
		p.simpleName("the name of a window")
	}
	if p.acceptAll("partition", "by") {
		p.list(func() { p.scalar() })
	}
	if p.acceptAll("order", "by") {
		p.orderBy()
	}
	if p.atFrame() {
		p.frame()
	}
	p.expectMark(')')
}

func (p *parser) atFrame() bool {
	return p.isAny("rows", "range") && p.markOf(1) != ')'
}

// frame reads ROWS or RANGE with one bound or two. Reference: SELECT - OVER
// clause (Transact-SQL), "ROWS or RANGE".
func (p *parser) frame() {
	p.next()
	if p.accept("between") {
		p.bound()
		p.expect("and")
		p.bound()
		return
	}
	p.bound()
}

// bound reads one end of a frame. Reference: SELECT - OVER clause
// (Transact-SQL), "window frame preceding".
func (p *parser) bound() {
	switch {
	case p.acceptAll("current", "row"):
		return
	case p.accept("unbounded"):
	default:
		p.scalar()
	}
	if !p.accept("preceding") {
		p.expect("following")
	}
}

// atWindowClause reports whether WINDOW name AS ( comes next. The word alone is a
// name.
func (p *parser) atWindowClause() bool {
	return p.is("window") && p.peek(1).isName() && p.peek(2).spells("as") && p.markOf(3) == '('
}

// windowClause reads named windows. Reference: SELECT - WINDOW clause
// (Transact-SQL).
func (p *parser) windowClause() {
	p.next()
	p.list(func() {
		p.simpleName("the name of a window")
		p.expect("as")
		p.windowDefinition()
	})
}
