package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// withStatement reads a statement that begins with WITH. Reference: WITH
// common_table_expression (Transact-SQL), WITH XMLNAMESPACES.
//
//	WITH [XMLNAMESPACES (…)] [, name [(columns)] AS (query)] … SELECT …
func (p *parser) withStatement() {
	start := p.tok.start
	p.next()
	switch {
	case p.accept("xmlnamespaces"):
		p.brackets(p.xmlNamespace)
		if p.acceptMark(',') {
			p.list(p.commonTable)
		}
	case p.accept("change_tracking_context"): // only before statements that write
		p.skipBrackets()
		if p.acceptMark(',') {
			p.list(p.commonTable)
		}
		if !p.isAny("insert", "update", "delete", "merge") {
			p.fail("INSERT, UPDATE, DELETE or MERGE")
			return
		}
	default:
		p.list(p.commonTable)
	}
	switch {
	case p.is("select"), p.mark() == '(':
		p.selectStatement()
		p.endOfStatement()
	case p.isAny("insert", "update", "delete", "merge"):
		p.refuse(statementRules[p.tok.word.text])
		p.stmt.Effects[len(p.stmt.Effects)-1].Span.Start = start
	default:
		p.fail("SELECT")
	}
}

// xmlNamespace reads one declaration. Reference: WITH XMLNAMESPACES
// (Transact-SQL).
func (p *parser) xmlNamespace() {
	if p.accept("default") {
		p.stringLiteral("the address of a namespace")
		return
	}
	p.stringLiteral("the address of a namespace")
	p.expect("as")
	p.simpleName("a prefix")
}

// commonTable reads one common table expression. Its name is visible in itself
// and in what follows. Reference: WITH common_table_expression (Transact-SQL).
func (p *parser) commonTable() {
	n := p.simpleName("the name of a common table expression")
	if p.ctes == nil {
		p.ctes = make(map[string]string)
	}
	p.ctes[lexical.Lower(n.text)] = n.text
	if p.mark() == '(' {
		p.columnNames()
	}
	p.expect("as")
	outer, outputs := p.path, p.outputs
	p.path, p.outputs = joinPath(outer, "with."+n.text), false
	p.expectMark('(')
	if p.isAny("insert", "update", "delete", "merge") {
		rule := constructs["dml in with"]
		p.changes(rule.code, strings.ToUpper(p.tok.word.text)+" inside WITH changes data")
	} else {
		leave := p.within(0) // A query of WITH can name nothing around it.
		p.queryExpression()
		p.queryTail()
		leave()
	}
	p.expectMark(')')
	p.path, p.outputs = outer, outputs
}

// changes refuses a statement that changes data inside of a query, up to the
// bracket around it. Reference: Transact-SQL statements.
func (p *parser) changes(code sqlguard.Code, message string) {
	start := p.tok.start
	p.target()
	p.skipToClose()
	p.effect(code, p.since(start), message)
}

// columnNames reads (name, …). Reference: WITH common_table_expression
// (Transact-SQL), "column_name".
func (p *parser) columnNames() {
	p.brackets(func() { p.simpleName("the name of a column") })
}

func joinPath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
