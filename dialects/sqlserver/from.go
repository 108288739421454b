package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// tableSource reads one item of FROM: a table and its joins.
// Reference: FROM clause plus JOIN, APPLY, PIVOT (Transact-SQL).
func (p *parser) tableSource() {
	p.enter()
	p.table()
	p.joins()
	p.leave()
}

// joins reads joins after a table. ON may follow later joins first: each
// closes the last join that is still open. Reference: FROM clause
// (Transact-SQL), "joined_table".
func (p *parser) joins() {
	open := 0
	for p.err == nil {
		switch {
		case p.is("pivot"), p.is("unpivot"):
			p.pivot()
		case p.is("cross") && p.peek(1).spells("apply"), p.is("outer") && p.peek(1).spells("apply"):
			p.next()
			p.next()
			lateral := p.lateral
			p.lateral = true
			p.table()
			p.lateral = lateral
		case p.is("cross"):
			p.next()
			p.joinHint()
			p.expect("join")
			p.table()
		case p.isAny("inner", "left", "right", "full", "join"):
			p.joinType()
			p.table()
			open++
		case open > 0 && p.is("on"):
			p.next()
			p.condition()
			open--
		case open > 0:
			p.fail("ON")
		default:
			return
		}
	}
}

// joinType reads [INNER | {LEFT | RIGHT | FULL} [OUTER]] [hint] JOIN. Reference:
// FROM clause plus JOIN, APPLY, PIVOT (Transact-SQL), "join_type".
func (p *parser) joinType() {
	if !p.is("join") {
		if !p.accept("inner") {
			p.next()
			p.accept("outer")
		}
		p.joinHint()
	}
	p.expect("join")
}

// joinHint reads the hint of a join. Reference: Join Hints (Transact-SQL).
func (p *parser) joinHint() {
	if p.isAny("loop", "hash", "merge", "remote") {
		p.next()
	}
}

// table reads one table, table function, derived table or join in brackets.
// Reference: FROM clause (Transact-SQL), "table_source".
func (p *parser) table() {
	switch {
	case p.mark() == '(':
		if p.bracketedTable() {
			p.derivedAlias()
		}
	case p.mark() == '{':
		p.next()
		if !p.accept("oj") {
			p.fail("oj")
			return
		}
		p.tableSource()
		p.expectMark('}')
	case p.tok.kind == sqlguard.TokenParameter:
		p.parameter()
		if p.mark() == '.' {
			p.method()
		}
		p.tableAlias(-1)
	case p.operator() == "::":
		p.oldSystemFunction()
	case p.isAny("openrowset", "openquery", "opendatasource", "openxml"):
		p.external()
	case p.isAny("containstable", "freetexttable", "semantickeyphrasetable", "semanticsimilaritydetailstable", "semanticsimilaritytable"):
		p.fullTextTable()
	default:
		p.namedTable()
	}
}

// bracketedTable reads the content of brackets and reports whether it is a query
// or a list of rows, which an alias must follow. Reference: FROM clause
// (Transact-SQL), "derived_table"; Table Value Constructor (Transact-SQL).
func (p *parser) bracketedTable() (query bool) {
	p.enter()
	defer p.leave()
	p.expectMark('(')
	switch {
	case p.is("select"):
		p.derived(func() {
			p.queryExpression()
			p.queryTail()
		})
		query = true
	case p.is("values"):
		p.next()
		p.list(func() { p.brackets(p.argument) })
		query = true
	case p.isAny("insert", "update", "delete", "merge"):
		rule := constructs["dml in from"]
		p.changes(rule.code, strings.ToUpper(p.tok.word.text)+" in FROM changes data")
		query = true
	case p.mark() == '(':
		query = p.bracketedTable()
		switch {
		case query && (p.isAny("union", "except", "intersect", "order", "for", "offset") || p.mark() == ')'):
			p.derived(func() {
				p.setOperations()
				p.queryTail()
			})
		case query:
			p.derivedAlias()
			fallthrough
		default:
			query = false
			p.joins()
		}
	default:
		p.tableSource()
	}
	p.expectMark(')')
	return query
}

// derived reads a query in FROM. It cannot name columns of the other sources
// unless it follows APPLY. Reference: FROM clause (Transact-SQL),
// "derived_table".
func (p *parser) derived(read func()) {
	lateral := p.lateral
	p.lateral = false
	if !lateral {
		defer p.within(max(p.current().outer, 0))()
	}
	read()
	p.lateral = lateral
}

// derivedAlias reads the alias of a derived table, and its columns. The result
// of a query of type xml can be taken apart with nodes(); a view of a graph can
// be FOR PATH. Reference: FROM clause (Transact-SQL), "derived_table".
func (p *parser) derivedAlias() {
	if p.mark() == '.' {
		p.method()
	}
	p.acceptAll("for", "path")
	p.accept("as")
	p.expose(p.simpleName("an alias of the query before").text, true)
	if p.mark() == '(' {
		p.columnNames()
	}
	p.tableSample()
}

// namedTable reads a table or a table function by its name. Reference: FROM
// clause (Transact-SQL), "table_or_view_name".
func (p *parser) namedTable() {
	n := p.multiName("a table")
	switch {
	case p.err != nil:
		return
	case n.star:
		p.fail("the name of a table instead of the * before")
		return
	case p.mark() == '(' && (p.lateral || !p.atOldHints()):
		p.tableFunction(&n)
		return
	}
	relation := p.source(&n)
	if p.mark() == '(' {
		p.bareHints = append(p.bareHints, bareHint{n.at, p.at + 1})
	}
	if p.is("for") && p.peek(1).spells("system_time") {
		p.systemTime()
	}
	if p.is("for") && p.peek(1).spells("path") {
		p.next()
		p.next()
	}
	// Hints and samples are valid before and after the alias.
	p.tableSample()
	p.tableHints()
	p.tableAlias(relation)
	p.tableSample()
	p.tableHints()
}

// tableAlias reads [AS] alias. Reference: FROM clause (Transact-SQL),
// "table_alias".
func (p *parser) tableAlias(relation int) {
	switch {
	case p.accept("as"):
		p.aliased(relation, p.simpleName("an alias").text)
	case p.atName() && !p.atWindowClause():
		p.aliased(relation, p.namePart().text)
	default:
		return
	}
	if relation < 0 && p.mark() == '(' && !p.atOldHints() {
		p.columnNames()
	}
}

// tableFunction reads a call in FROM with its alias and columns. Reference:
// FROM clause (Transact-SQL), "rowset_function" and
// "user_defined_function"; nodes() Method (xml Data Type).
func (p *parser) tableFunction(n *name) {
	p.current().columns++
	if n.n > 1 {
		methods := len(p.methods)
		p.enter()
		p.qualifiedCall(n)
		p.leave()
		if len(p.methods) > methods {
			p.current().columns--
		}
	} else {
		fn := lookupFunction(n.last().text)
		if fn != nil && n.last().quoted && !fn.denied() {
			fn = nil // it may be a user-defined function
		}
		if fn != nil && !fn.table && !fn.denied() {
			fn = &function{name: fn.name, code: sqlguard.CodeFunctionNotAllowed, reason: "it is no table function"}
		}
		p.call(n, fn)
		call := len(p.stmt.Calls) - 1
		p.enter()
		if fn == nil {
			p.arguments()
		} else {
			p.argumentsOf(fn, call)
		}
		p.leave()
		if fn != nil && fn.name == "openjson" && p.is("with") && p.markOf(1) == '(' {
			p.openJSONColumns()
		}
		if fn != nil && fn.syntax == syntaxSkip && p.is("with") && p.markOf(1) == '(' {
			p.next()
			p.skipBrackets()
		}
	}
	for p.mark() == '.' && p.err == nil {
		p.method()
	}
	p.tableHints()
	p.tableAlias(-1)
	p.tableHints()
}

// openJSONColumns reads the columns of OPENJSON. Reference: OPENJSON
// (Transact-SQL), "with_clause".
func (p *parser) openJSONColumns() {
	p.next()
	p.brackets(func() {
		p.simpleName("the name of a column")
		p.dataType()
		if p.accept("collate") {
			p.simpleName("the name of a collation")
		}
		if p.tok.kind == sqlguard.TokenString {
			p.next()
		}
		if p.accept("as") {
			p.expect("json")
		}
	})
}

// fullTextTable reads CONTAINSTABLE and similar functions. Reference: CONTAINSTABLE
// (Transact-SQL), FREETEXTTABLE, SEMANTICKEYPHRASETABLE.
func (p *parser) fullTextTable() {
	p.builtin(functions[p.tok.word.text], p.here())
	p.next()
	p.expectMark('(')
	n := p.multiName("a table")
	if p.err != nil {
		return
	}
	p.relation(&n, sqlguard.AccessRead)
	p.expectMark(',')
	p.fullTextColumns()
	for p.acceptMark(',') {
		p.accept("language")
		if p.mark() == '*' || p.mark() == '(' {
			p.fullTextColumns()
			continue
		}
		p.scalar()
	}
	p.expectMark(')')
	p.current().columns++
	p.tableAlias(-1)
}

// external reads OPENROWSET and similar functions, which no query may have. Reference:
// OPENROWSET, OPENQUERY, OPENDATASOURCE, OPENXML (Transact-SQL).
func (p *parser) external() {
	p.builtin(functions[p.tok.word.text], p.here())
	p.next()
	p.skipBrackets()
	if p.accept("with") {
		if p.mark() == '(' {
			p.skipBrackets()
		} else {
			p.multiName("a table")
		}
	}
	for p.acceptMark('.') { // OPENDATASOURCE (…).database.schema.table
		if p.atName() {
			p.next()
		}
	}
	p.tableAlias(-1)
}

// oldSystemFunction reads ::fn_name(…), the form of calls to system functions
// of SQL Server 2000. Reference: sys.fn_helpcollations (Transact-SQL), for one
// of them.
func (p *parser) oldSystemFunction() {
	start := p.tok.start
	p.next()
	n := p.multiName("the name of a function")
	if p.err != nil {
		return
	}
	n.at.Start = start
	if fn := systemFunctions[lexical.Lower(n.last().text)]; fn != nil && n.n == 1 {
		p.call(&n, fn)
	} else {
		p.call(&n, nil)
	}
	p.arguments()
	p.tableAlias(-1)
}

// systemTime reads FOR SYSTEM_TIME. Reference: FROM clause (Transact-SQL),
// "system_time"; Temporal tables.
func (p *parser) systemTime() {
	p.next()
	p.next()
	switch {
	case p.accept("all"):
	case p.acceptAll("as", "of"):
		p.instant()
	case p.accept("from"):
		p.instant()
		p.expect("to")
		p.instant()
	case p.accept("between"):
		p.instant()
		p.expect("and")
		p.instant()
	case p.acceptAll("contained", "in"):
		p.brackets(p.instant)
	default:
		p.fail("AS OF, FROM, BETWEEN, CONTAINED IN or ALL")
	}
}

// instant reads a time of FOR SYSTEM_TIME: a literal or a variable. Reference:
// FROM clause (Transact-SQL), "date_time".
func (p *parser) instant() {
	switch {
	case p.tok.kind == sqlguard.TokenString:
		p.next()
	case p.tok.kind == sqlguard.TokenParameter:
		p.parameter()
	case p.mark() == '{' && lexical.Lower(p.sql[p.peek(1).start:p.peek(1).end]) != "fn":
		p.escape()
	default:
		p.fail("a time in quotes")
	}
}

// tableSample reads TABLESAMPLE if it comes next. Reference: FROM clause
// (Transact-SQL), "tablesample_clause".
func (p *parser) tableSample() {
	if !p.accept("tablesample") {
		return
	}
	p.accept("system")
	p.expectMark('(')
	p.scalar()
	if !p.accept("percent") {
		p.accept("rows")
	}
	p.expectMark(')')
	if p.accept("repeatable") {
		p.expectMark('(')
		p.scalar()
		p.expectMark(')')
	}
}
