package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// batch reads every statement of the text. The error is that of the first
// statement. A later statement has its error as an effect, so that the findings
// before it are reported too. Reference: SQL Server Utilities Statements - GO;
// Batches.
func (p *parser) batch() ([]sqlguard.Statement, error) {
	var out []sqlguard.Statement
	for {
		for p.acceptMark(';') {
		}
		if p.tok.kind == endOfText {
			return out, nil
		}
		p.facts = newFacts()
		p.stmt.Span.Start = p.tok.start
		from := p.at
		p.statement(len(out) == 0)
		if p.err != nil {
			if len(out) == 0 {
				return nil, p.err
			}
			at := sqlguard.Span{Start: p.err.Offset, End: min(p.err.Offset+1, len(p.sql))}
			p.stmt = sqlguard.Statement{Span: sqlguard.Span{Start: p.stmt.Span.Start, End: len(p.sql)}}
			p.effect(sqlguard.CodeParseError, at, p.err.Message)
			return append(out, p.stmt), nil
		}
		p.stmt.Span = p.since(p.stmt.Span.Start)
		p.finish()
		p.settleHints(from)
		out = append(out, p.stmt)
	}
}

// statement reads one statement. first says that it begins the batch. There a name alone
// runs a procedure. Reference: Transact-SQL statements.
func (p *parser) statement(first bool) {
	switch {
	case p.is("select"), p.mark() == '(':
		p.selectStatement()
		p.endOfStatement()
		return
	case p.is("with"):
		p.withStatement()
		return
	case p.tok.kind == sqlguard.TokenParameter && first:
		p.fail("SELECT")
		return
	case p.mark() == '{' && p.atODBCCall():
		p.refuse(statementRule{verb: "call", code: sqlguard.CodeProcedureCall, does: constructs["odbc call"].does})
		return
	}
	if p.refused() {
		return
	}
	if !p.atName() && p.mark() != '.' {
		p.fail("SELECT or WITH")
		return
	}
	p.bareName()
}

// refused reads a statement that the table refuses, and reports whether there was one.
func (p *parser) refused() bool {
	if p.tok.word == nil || p.tok.kind != sqlguard.TokenWord {
		return false
	}
	rule, ok := statementRules[p.tok.word.text]
	if !ok {
		return false
	}
	if rule.second != nil {
		found := len(rule.second) == 0
		for _, word := range rule.second {
			found = found || strings.EqualFold(p.sql[p.peek(1).start:p.peek(1).end], word)
		}
		if !found {
			return false
		}
	}
	p.refuse(rule)
	return true
}

// refuse states why a statement is refused and skips it up to a terminator,
// because nothing else shows where it ends.
func (p *parser) refuse(rule statementRule) {
	start, from := p.tok.start, p.at
	p.stmt.Verb = rule.verb
	rule = p.refine(rule)
	at := len(p.stmt.Relations)
	p.target()
	p.skipStatement(from)
	f := sqlguard.Finding{Code: rule.code, Message: rule.does, Span: p.since(start), Path: p.path}
	if len(p.stmt.Relations) > at {
		f.Object = p.stmt.Relations[at].Name
	}
	p.stmt.Verb = rule.verb
	p.stmt.Effects = append(p.stmt.Effects, f)
}

// skipStatement skips to the terminator of the statement that begins at the
// token from. Semicolons in the bodies of modules and blocks are not terminators.
func (p *parser) skipStatement(from int) {
	var b blocks
	for i := from; i < p.at; i++ {
		b.kind(p.peek(i - p.at))
	}
	for p.tok.kind != endOfText && b.kind(p.tok) != sqlguard.TokenTerminator {
		p.next()
	}
}

// refine returns the rule for a statement whose later words decide its kind.
func (p *parser) refine(rule statementRule) statementRule {
	word := func(n int) string {
		t := p.peek(n)
		return lexical.Lower(p.sql[t.start:t.end])
	}
	switch rule.verb { //nolint:exhaustive // the other statements have one rule
	case "create", "alter", "drop":
		object := word(1)
		at := 2
		if object == "or" { // CREATE OR ALTER
			object, at = word(3), 4
		}
		if privileged[object] || privileged[object+" "+word(at)] {
			rule.code, rule.does = sqlguard.CodePrivilegeStatement, strings.ToUpper(string(rule.verb)+" "+object)+" changes logins, roles or permissions"
		} else if p.peek(1).kind == sqlguard.TokenWord {
			rule.does = strings.ToUpper(string(rule.verb)+" "+object) + " changes the schema or the server"
			if len(object) <= 20 {
				rule.verb = sqlguard.Verb(string(rule.verb) + "_" + object)
			}
		}
	case "begin":
		switch word(1) {
		case "tran", "transaction", "distributed":
			rule = statementRule{verb: "begin_transaction", code: sqlguard.CodeTransactionControl, does: "BEGIN TRANSACTION starts a transaction"}
		case "dialog", "conversation":
			rule = statementRule{verb: "begin_conversation", code: sqlguard.CodeWriteStatement, does: "BEGIN DIALOG starts a conversation"}
		}
	case "execute":
		return p.refineExecute(rule, word)
	case "open", "close":
		if word(1) == "symmetric" || word(1) == "master" || word(1) == "all" {
			rule.does = strings.ToUpper(string(rule.verb)) + " changes the keys that the session may use"
		}
	}
	return rule
}

// refineExecute distinguishes the forms of EXECUTE: of a string, as another user,
// and of a procedure. Reference: EXECUTE (Transact-SQL), EXECUTE AS
// (Transact-SQL), sp_executesql (Transact-SQL).
func (p *parser) refineExecute(rule statementRule, word func(int) string) statementRule {
	dynamic := statementRule{verb: "execute", code: sqlguard.CodeDynamicSQL, does: "EXECUTE runs SQL that is built at run time"}
	at := 1
	if p.peek(1).kind == sqlguard.TokenParameter && p.markOf(2) == '=' {
		at = 3
	}
	switch t := p.peek(at); {
	case p.markOf(at) == '(' || t.kind == sqlguard.TokenString || t.kind == sqlguard.TokenParameter:
		return dynamic
	case word(at) == "as":
		return statementRule{verb: "execute_as", code: sqlguard.CodeSessionChange, does: "EXECUTE AS changes the user of the session"}
	}
	for {
		t := p.peek(at)
		switch {
		case runsText(procedureName(p.sql[t.start:t.end], t.kind)):
			return dynamic
		case t.isName() || t.kind == sqlguard.TokenDot:
			at++
			if t.isName() && p.peek(at).kind != sqlguard.TokenDot {
				return rule
			}
		default:
			return rule
		}
	}
}

func procedureName(text string, kind sqlguard.TokenKind) string {
	if kind == sqlguard.TokenQuotedName {
		text = decodeName(text)
	}
	return skeleton(text)
}

// runsText reports whether a procedure of the server runs SQL from its arguments.
func runsText(procedure string) bool {
	switch procedure {
	case "sp_executesql", "sp_prepare", "sp_prepexec", "sp_prepexecrpc", "sp_execute", "sp_cursoropen", "sp_cursorprepare",
		"sp_cursorprepexec", "sp_cursorexecute", "sp_execute_external_script", "sp_execute_remote", "sp_msforeachtable",
		"sp_msforeachdb", "sp_describe_first_result_set", "sp_describe_undeclared_parameters", "xp_execresultset":
		return true
	default:
		return false
	}
}

// bareName refuses a name where a statement should begin: at the start of a
// batch it runs a procedure, before a colon it is a label. Reference: EXECUTE
// (Transact-SQL), GOTO (Transact-SQL).
func (p *parser) bareName() {
	start, from := p.tok.start, p.at
	if p.markOf(1) == ':' {
		p.stmt.Verb = "label"
		p.next()
		p.next()
		p.effect(sqlguard.CodeProceduralBlock, p.since(start), "a label is a target of GOTO")
		return
	}
	n := p.multiName("SELECT")
	if p.err != nil {
		return
	}
	p.stmt.Verb = "execute"
	p.skipStatement(from)
	f := sqlguard.Finding{
		Code: sqlguard.CodeProcedureCall, Span: p.since(start), Object: n.String(),
		Message: "no statement begins with " + n.String() + ", so that the server runs it as a procedure",
		Hint:    "begin with SELECT or WITH",
	}
	if runsText(skeleton(n.last().text)) {
		f.Code, f.Message = sqlguard.CodeDynamicSQL, "the procedure "+n.last().text+" runs SQL that is built at run time"
	}
	p.stmt.Effects = append(p.stmt.Effects, f)
}

// target states the relation to which a refused statement writes, if its words show it.
func (p *parser) target() {
	switch {
	case p.isAny("insert", "update", "delete", "merge", "truncate"):
		p.next()
		if p.accept("top") && p.mark() == '(' {
			p.skipBrackets()
			p.accept("percent")
		}
		_ = p.accept("into") || p.accept("from") || p.accept("table")
	case p.isAny("create", "alter", "drop") && p.peek(1).spells("table"):
		p.next()
		p.next()
		if p.is("if") {
			p.load(p.at + 2)
		}
	case p.is("bulk"):
		p.load(p.at + 2)
	default:
		return
	}
	// A missing name is not an error: the statement is refused in any case.
	if p.atName() && (p.markOf(1) != '.' || p.peek(2).isName()) {
		saved, err := p.at, p.err
		toks := p.toks
		n := p.multiName("a table")
		if p.err != nil {
			p.toks, p.err = toks, err
			p.load(saved)
			return
		}
		p.relation(&n, sqlguard.AccessWrite)
	}
}

// endOfStatement fails unless the statement ends here: at a terminator, at the end of the
// text, or before another statement.
func (p *parser) endOfStatement() {
	switch {
	case p.err == nil && p.mark() == '(' && p.peek(1).spells("where"): // FILTER (WHERE …)
		p.fail("the end of the statement")
		return
	case p.err != nil || p.tok.kind == endOfText || p.mark() == ';' || p.mark() == '(' || p.is("select"):
		return
	case p.tok.word != nil && p.tok.kind == sqlguard.TokenWord:
		if rule, ok := statementRules[p.tok.word.text]; ok && rule.second == nil && !p.atForeignFetch() {
			return
		}
	}
	p.fail("the end of the statement")
}
