package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// changesArguments reads the arguments of CHANGETABLE. Its columns are those of
// the table's key, which the text does not name. Reference: CHANGETABLE
// (Transact-SQL).
//
//	(CHANGES table, version | VERSION table, (column, …), (value, …) [, FORCESEEK])
func (p *parser) changesArguments() {
	p.expectMark('(')
	versions := p.accept("version")
	if !versions {
		p.expect("changes")
	}
	n := p.multiName("a table")
	if p.err != nil {
		return
	}
	p.relation(&n, sqlguard.AccessRead)
	p.allColumns(n.at)
	p.expectMark(',')
	if versions {
		p.brackets(p.searchedColumn)
		p.expectMark(',')
		p.brackets(p.scalar)
	} else {
		p.scalar()
	}
	if p.acceptMark(',') {
		p.expect("forceseek")
	}
	p.expectMark(')')
}

// vectorSearchArguments reads the arguments of VECTOR_SEARCH. Reference:
// VECTOR_SEARCH (Transact-SQL).
//
//	(TABLE = table [AS alias], COLUMN = column, SIMILAR_TO = vector, METRIC = 'name' [, TOP_N = n])
func (p *parser) vectorSearchArguments() {
	p.expectMark('(')
	p.expect("table")
	p.expectMark('=')
	n := p.multiName("a table")
	if p.err != nil {
		return
	}
	relation := p.relation(&n, sqlguard.AccessRead)
	if p.accept("as") || p.atName() {
		p.aliased(relation, p.simpleName("an alias").text)
	}
	p.expectMark(',')
	p.expect("column")
	p.expectMark('=')
	p.searchedColumn()
	p.expectMark(',')
	p.expect("similar_to")
	p.expectMark('=')
	p.scalar()
	p.expectMark(',')
	p.expect("metric")
	p.expectMark('=')
	p.stringLiteral("the name of a metric in quotes")
	if p.acceptMark(',') {
		p.expect("top_n")
		p.expectMark('=')
		p.scalar()
	}
	p.expectMark(')')
}
