package sqlserver

// pivot reads PIVOT or UNPIVOT behind a table. Reference: FROM - Using PIVOT
// and UNPIVOT (Transact-SQL).
//
//	PIVOT (aggregate(column) FOR column IN (value, …)) AS alias
//	UNPIVOT (value FOR name IN (column, …)) AS alias
func (p *parser) pivot() {
	unpivot := p.is("unpivot")
	p.next()
	p.expectMark('(')
	if unpivot {
		p.simpleName("the name of a column")
	} else {
		p.list(func() {
			n := p.multiName("an aggregate function")
			if p.err != nil {
				return
			}
			if p.mark() != '(' {
				p.fail(`"("`)
				return
			}
			p.callOf(&n)
			if p.accept("as") {
				p.simpleName("an alias")
			}
		})
	}
	p.expect("for")
	if unpivot {
		p.simpleName("the name of a column")
	} else {
		p.searchedColumn()
	}
	p.expect("in")
	p.brackets(func() {
		if unpivot {
			p.searchedColumn()
			return
		}
		p.simpleName("a value, written as a name")
	})
	p.expectMark(')')
	p.accept("as")
	p.expose(p.simpleName("an alias").text, true)
	if p.mark() == '(' {
		p.columnNames()
	}
}
