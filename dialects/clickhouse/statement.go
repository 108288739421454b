package clickhouse

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// batch reads every statement of the text. The error is that of the first statement. A
// later statement has its error as an effect, so that the findings before it are reported
// too.
func (p *parser) batch() ([]sqlguard.Statement, error) {
	var out []sqlguard.Statement
	for {
		semicolon := p.tok
		for p.acceptMark(";") {
		}
		if p.tok.kind == endOfText {
			return out, nil
		}
		if len(out) == 0 && semicolon.start != p.tok.start {
			return nil, &sqlguard.SyntaxError{Message: "a statement begins before the semicolon", Offset: semicolon.start}
		}
		p.facts = facts{}
		start := p.tok.start
		p.statement()
		if p.err != nil {
			if len(out) == 0 {
				return nil, p.err
			}
			at := sqlguard.Span{Start: p.err.Offset, End: min(p.err.Offset+1, len(p.sql))}
			p.stmt = sqlguard.Statement{Span: sqlguard.Span{Start: start, End: len(p.sql)}}
			p.effect(sqlguard.CodeParseError, at, p.err.Message)
			return append(out, p.stmt), nil
		}
		p.stmt.Span = p.since(start)
		out = append(out, p.stmt)
	}
}

// statement reads one statement with its end.
func (p *parser) statement() {
	switch {
	case p.atQuery():
		p.stmt.Verb = sqlguard.VerbSelect
		p.query()
	case p.is("explain"):
		p.stmt.Verb = sqlguard.VerbExplain
		p.explain()
	case p.is("describe", "desc"):
		p.stmt.Verb = sqlguard.VerbDescribe
		p.next()
		p.accept("table")
		p.described()
	case p.is("exists"):
		p.stmt.Verb = sqlguard.VerbDescribe
		p.exists()
	case p.is("show"):
		p.stmt.Verb = sqlguard.VerbShow
		p.show()
	default:
		rule, ok := statementRules[p.tok.word]
		if !ok {
			p.fail("SELECT, WITH, EXPLAIN, DESCRIBE or SHOW")
			return
		}
		p.refuse(rule)
		return
	}
	p.endOfStatement()
}

// endOfStatement reads what can follow every statement, which is refused, and fails
// unless the statement ends then.
func (p *parser) endOfStatement() {
	for p.err == nil && p.tok.kind != endOfText && p.mark() != ";" {
		construct := p.tok.word
		switch construct {
		case "settings", "format", "into":
		case "parallel":
			if p.peek(1).word != "with" {
				p.fail("the end of the statement")
				return
			}
		default:
			p.fail("the end of the statement")
			return
		}
		start := p.tok.start
		p.next()
		for p.tok.kind != endOfText && p.mark() != ";" && !p.is("settings", "format") && !p.followed("parallel", "with") {
			p.next()
		}
		p.refuseConstruct(construct, p.since(start))
	}
}

// refuse states why a statement is refused and skips it.
func (p *parser) refuse(rule statementRule) {
	start, message := p.tok.start, rule.does
	p.stmt.Verb = rule.verb
	word := func(n int) string {
		t := p.peek(n)
		return lexical.Lower(p.sql[t.start:t.end])
	}
	switch rule.verb { //nolint:exhaustive // the others have one rule
	case "create", "alter", "drop":
		object := word(1)
		if object == "or" {
			object = word(3)
		}
		if privileged[object] {
			rule.code, message = sqlguard.CodePrivilegeStatement, strings.ToUpper(string(rule.verb)+" "+object)+" changes users, roles, limits or stored credentials"
		}
	case "set":
		if word(1) == "role" || word(1) == "default" && word(2) == "role" {
			rule.code, message = sqlguard.CodePrivilegeStatement, "SET ROLE changes the privileges of the session"
		}
	}
	p.target()
	p.skipStatement()
	f := sqlguard.Finding{Code: rule.code, Message: message, Span: p.since(start)}
	if len(p.stmt.Relations) > 0 {
		f.Object = p.stmt.Relations[0].Name
	}
	p.stmt.Effects = append(p.stmt.Effects, f)
}

// target states the relation to which a refused statement writes, if its words show it.
func (p *parser) target() {
	insert := p.is("insert")
	if !insert && !p.is("delete", "update", "truncate", "optimize", "drop", "alter") {
		return
	}
	p.next()
	p.acceptAny("into", "from")
	p.accept("table")
	if insert && p.is("function") {
		return
	}
	if !p.tok.isName() || p.markAt(1) == "." && !p.peek(2).isName() {
		return
	}
	n := name{at: p.here(), parts: []string{p.namePart("a table")}}
	if p.err == nil && p.acceptMark(".") {
		n.at.End = p.tok.end
		n.parts = append(n.parts, p.namePart("a table"))
	}
	if p.err == nil {
		p.relation(&n, sqlguard.AccessWrite)
	}
}

// explainOptions are the options of the forms of EXPLAIN.
var explainOptions = lexical.Set(`header description indexes projections actions json sorting keep_logical_steps graph compact
	optimize run_passes dump_passes dump_ast dump_tree passes oneline run_query_tree_passes query_tree_passes input_headers column_structure pretty`)

// explain reads EXPLAIN [AST | SYNTAX | QUERY TREE | PLAN | PIPELINE | ESTIMATE]
// [option = number, …] of a query. The server would explain other statements too.
func (p *parser) explain() {
	p.next()
	// The server computes a sub-query for one value before it plans.
	p.stmt.Plan = p.stmt.Plan || !p.is("ast", "pipeline", "estimate")
	if !p.accept("query", "tree") {
		p.acceptAny("ast", "syntax", "plan", "pipeline", "estimate")
	}
	if p.tok.kind == sqlguard.TokenWord && p.markAt(1) == "=" {
		p.list(func() {
			if p.tok.kind != sqlguard.TokenWord || !explainOptions[p.text()] {
				p.stmt.Settings = append(p.stmt.Settings, sqlguard.SettingRead{
					Name: p.text(), Span: p.here(), Ruling: sqlguard.Ruling{Reason: "EXPLAIN has no such option on the list of those that may be set"},
				})
			}
			if p.tok.kind != sqlguard.TokenWord {
				p.fail("an option of EXPLAIN")
				return
			}
			p.next()
			p.expectMark("=")
			p.number()
		})
	}
	if !p.atQuery() {
		if _, ok := statementRules[p.tok.word]; ok || p.is("explain", "show", "describe", "desc", "exists", "current") {
			start := p.tok.start
			p.skipStatement()
			p.refuseConstruct("explain", p.since(start))
			return
		}
	}
	p.query()
}

// described reads what DESCRIBE describes.
func (p *parser) described() {
	if p.atQuery() {
		p.query()
		return
	}
	if p.tok.isName() && p.markAt(1) == "(" {
		p.tableFunction()
		return
	}
	p.namedTable()
}

// exists reads EXISTS [TEMPORARY] [TABLE | VIEW | DATABASE | DICTIONARY] name.
func (p *parser) exists() {
	p.next()
	temporary := p.accept("temporary")
	switch {
	case !temporary && p.accept("database"):
		p.simpleName("a database")
		return
	case p.acceptAny("table", "view", "dictionary"):
	}
	p.namedTable()
}

// shownBehind are what can stand behind the words between SHOW and the kind of objects.
var shownBehind = map[string]bool{
	"temporary tables": true, "full tables": true, "full columns": true, "full fields": true, "extended columns": true, "extended fields": true,
	"extended index": true, "extended indexes": true, "extended indices": true,
}

// show reads the forms of SHOW that read structure: DATABASES, TABLES, COLUMNS, INDEXES
// and CREATE.
func (p *parser) show() {
	start := p.tok.start
	p.next()
	n := 0
	if p.is("temporary", "full", "extended") {
		n = 1
	}
	what := p.peek(n).word
	if n == 1 && !shownBehind[p.tok.word+" "+what] {
		what = ""
	}
	switch {
	case what == "databases", what == "tables":
		p.load(p.at + n + 1)
		if what == "tables" && p.acceptAny("from", "in") {
			p.simpleName("a database")
		}
		p.showFilter(what == "databases")
	case what == "columns" || what == "fields" || what == "index" || what == "indexes" || what == "indices":
		p.load(p.at + n + 1)
		if !p.acceptAny("from", "in") {
			p.fail("FROM")
			return
		}
		p.namedTable()
		if what == "columns" || what == "fields" {
			p.showFilter(false)
		}
	case p.is("create") && (!p.peek(1).isName() || p.markAt(2) == "." || p.peek(2).kind == endOfText || p.is("create") && (p.peek(1).word == "table" || p.peek(1).word == "view")):
		p.next()
		if p.is("table", "view") && p.peek(1).isName() {
			p.next()
		}
		if at := p.namedTable(); at >= 0 {
			p.stmt.Relations[at].Source = true
		}
	default:
		p.skipStatement()
		p.refuseConstruct("show", p.since(start))
	}
}

// namedTable reads the name of a table that is read. It returns the index of the relation,
// or -1.
func (p *parser) namedTable() int {
	n := p.multiName("a table", 2)
	if p.err != nil {
		return -1
	}
	return p.relation(&n, sqlguard.AccessRead)
}

// showFilter reads [[NOT] LIKE | ILIKE text] [WHERE condition] [LIMIT n].
func (p *parser) showFilter(databases bool) {
	switch {
	case p.is("like", "ilike"), p.is("not") && (p.peek(1).word == "like" || p.peek(1).word == "ilike"):
		p.accept("not")
		p.next()
		p.stringLiteral("a pattern")
	case !databases && p.accept("where"):
		p.expression()
	}
	if p.accept("limit") {
		p.number()
	}
}
