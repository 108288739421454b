package sqlserver

// groupBy reads the list of GROUP BY. Reference: SELECT - GROUP BY
// (Transact-SQL).
//
//	[ALL] group [WITH (DISTRIBUTED_AGG)] [, …] [WITH ROLLUP | WITH CUBE]
func (p *parser) groupBy() {
	p.accept("all")
	p.list(func() {
		p.grouping(true)
		if p.is("with") && p.markOf(1) == '(' {
			p.next()
			p.next()
			p.expect("distributed_agg")
			p.expectMark(')')
		}
	})
	if p.is("with") && (p.peek(1).spells("rollup") || p.peek(1).spells("cube")) {
		p.next()
		p.next()
	}
}

// grouping reads one group: an expression, (), ROLLUP, CUBE or GROUPING SETS.
// Reference: SELECT - GROUP BY (Transact-SQL), "ROLLUP, CUBE, GROUPING SETS".
func (p *parser) grouping(sets bool) {
	switch {
	case p.isAny("rollup", "cube") && p.markOf(1) == '(':
		p.next()
		p.brackets(func() { p.grouping(false) })
	case sets && p.followed("grouping", "sets"):
		p.next()
		p.next()
		p.enter()
		p.brackets(func() { p.grouping(true) })
		p.leave()
	case p.mark() == '(' && p.markOf(1) == ')':
		p.next()
		p.next()
	case p.mark() == '(' && p.composite():
		p.brackets(func() { p.scalar() })
	default:
		p.scalar()
	}
}

// composite reports whether the brackets that open here contain a comma at their
// own level: a group of several expressions.
func (p *parser) composite() bool {
	depth := 0
	for i := 0; ; i++ {
		switch p.markOf(i) {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return false
			}
		case ',':
			if depth == 1 {
				return true
			}
		case 0:
			if p.peek(i).kind == endOfText {
				return false
			}
		}
	}
}
