package tdsserver

import (
	"fmt"
	"slices"
	"strings"
)

// parser reads a batch and compiles it at the same time. A compiled statement
// is a function.
type parser struct {
	c         *conn
	text      string
	words     []word
	i         int
	variables map[string]Type // by name in lower case
	scope     []binding       // the columns that names can refer to
	folds     []fold
	created   map[string]Table // created by CREATE TABLE earlier in the batch
	depth     int              // nesting depth of parentheses, cases and blocks
	loose     []int            // indexes in scope of the columns outside of aggregates
}

// statementNode is one statement of a batch.
type statementNode struct {
	line int32
	run  func(e *env) error
	// silent statements send no DONE of their own (IF, BEGIN … END).
	silent bool
	// implicit statements begin a transaction under IMPLICIT_TRANSACTIONS.
	implicit bool
}

// env is the environment in which a statement runs.
type env struct {
	r         *Reply
	s         *session
	variables map[string]any
	row       []any
	folded    []any // values of the aggregates
	stopped   bool  // the batch ends here
}

// binding is one column that an expression may name.
type binding struct {
	table, name string
	typ         Type
}

// peek returns the next token. After the last one it always returns the end.
func (p *parser) peek() *word { return p.at(0) }

func (p *parser) at(n int) *word { return &p.words[min(p.i+n, len(p.words)-1)] }

// is reports whether the next tokens are these keywords or signs.
func (p *parser) is(words ...string) bool {
	for n, text := range words {
		w := p.at(n)
		if w.kind == kindSign && w.text != text || w.kind == kindName && (w.quoted || w.upper != text) || w.kind != kindSign && w.kind != kindName {
			return false
		}
	}
	return true
}

// take consumes the tokens if they are next, and reports whether it did.
func (p *parser) take(words ...string) bool {
	if !p.is(words...) {
		return false
	}
	p.i += len(words)
	return true
}

// want is like take, and returns an error if the tokens are not next.
func (p *parser) want(words ...string) error {
	if p.take(words...) {
		return nil
	}
	return p.syntax()
}

// syntax returns the server's error 102 at the next token.
func (p *parser) syntax() *ServerError {
	w := p.peek()
	if w.kind == kindEnd {
		return &ServerError{Number: 102, State: 1, Class: 15, Line: w.line, Message: "Incorrect syntax near the end of the batch."}
	}
	return &ServerError{Number: 102, State: 1, Class: 15, Line: w.line, Message: "Incorrect syntax near '" + p.text[w.at:w.end] + "'."}
}

// name reads a name.
func (p *parser) name() (string, error) {
	w := p.peek()
	if w.kind != kindName || !w.quoted && slices.Contains(reserved, w.upper) {
		return "", p.syntax()
	}
	p.i++
	return w.text, nil
}

// reserved are the keywords that end a clause here, and so cannot be an alias.
var reserved = []string{
	"SELECT", "FROM", "WHERE", "ORDER", "GROUP", "HAVING", "UNION", "OPTION", "CROSS", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "ON", "AS", "SET",
	"BEGIN", "END", "IF", "ELSE", "COMMIT", "ROLLBACK", "WAITFOR", "PRINT", "RAISERROR", "DECLARE", "USE", "INSERT", "UPDATE", "DELETE",
	"CREATE", "DROP", "ALTER", "EXEC", "EXECUTE", "AND", "OR", "NOT", "WHEN", "THEN", "CASE", "INTO", "EXCEPT", "INTERSECT", "FOR",
}

// parse reads a whole batch.
func (c *conn) parse(text string, variables map[string]Type) ([]statementNode, error) {
	words, e := lex(text)
	if e != nil {
		return nil, e
	}
	p := &parser{c: c, text: text, words: words, variables: variables}
	return p.statements(func() bool { return p.peek().kind == kindEnd })
}

func (p *parser) statements(end func() bool) ([]statementNode, error) {
	var list []statementNode
	for {
		for p.take(";") {
		}
		if end() {
			return list, nil
		}
		if p.peek().kind == kindEnd {
			return nil, p.syntax()
		}
		st, err := p.statement()
		if err != nil {
			return nil, err
		}
		list = append(list, st)
	}
}

// deepest bounds how deeply expressions and statements can be nested.
const deepest = 200

// deeper enters one level of nesting. The caller leaves it again.
func (p *parser) deeper() error {
	if p.depth++; p.depth > deepest {
		return unknown("what is nested so deeply", p.peek().line)
	}
	return nil
}

// statement reads one statement.
func (p *parser) statement() (statementNode, error) {
	st := statementNode{line: p.peek().line}
	err := p.deeper()
	defer func() { p.depth-- }()
	if err != nil {
		return st, err
	}
	switch {
	case p.is("SELECT"):
		from := p.i
		st.run, err = p.selectStatement()
		st.implicit = slices.ContainsFunc(p.words[from:p.i], func(w word) bool { return w.upper == "FROM" && !w.quoted })
	case p.take("SET"):
		st.run, err = p.set()
	case p.take("BEGIN", "TRAN"), p.take("BEGIN", "TRANSACTION"):
		p.transactionName()
		st.run = func(e *env) error { return e.s.begin(e.r) }
	case p.take("COMMIT"):
		p.transactionWord()
		st.run = func(e *env) error { return e.s.commit(e.r) }
	case p.take("ROLLBACK"):
		p.transactionWord()
		st.run = func(e *env) error { return e.s.rollback(e.r) }
	case p.take("BEGIN"):
		st.silent = true
		st.run, err = p.block()
	case p.take("IF"):
		st.silent = true
		st.run, err = p.conditional()
	case p.take("WAITFOR", "DELAY"):
		st.run, err = p.waitFor()
	case p.take("PRINT"):
		st.run, err = p.print()
	case p.take("THROW"):
		st.run, err = p.throw()
	case p.take("RAISERROR"):
		st.run, err = p.raise()
	case p.take("DECLARE"):
		st.silent = true
		st.run, err = p.declare()
	case p.take("USE"):
		st.run, err = p.use()
	case p.is("INSERT"), p.is("UPDATE"), p.is("DELETE"), p.is("CREATE"), p.is("DROP"), p.is("ALTER"), p.is("TRUNCATE"), p.is("MERGE"):
		st.implicit = true
		st.run, err = p.write()
	default:
		what := p.peek()
		if what.kind != kindName {
			return st, p.syntax()
		}
		return st, unknown("a statement that begins with "+what.text, what.line)
	}
	return st, err
}

func (p *parser) transactionWord() {
	for _, w := range []string{"TRANSACTION", "TRAN", "WORK"} {
		if p.take(w) {
			p.transactionName()
			return
		}
	}
}

// transactionName skips the name of a transaction. @@TRANCOUNT does not depend
// on names.
func (p *parser) transactionName() {
	if w := p.peek(); w.kind == kindName && (w.quoted || !slices.Contains(reserved, w.upper) && w.upper != "THROW" && w.upper != "WITH") {
		p.i++
	}
}

func (p *parser) block() (func(*env) error, error) {
	list, err := p.statements(func() bool { return p.is("END") })
	if err != nil {
		return nil, err
	}
	p.i++
	return func(e *env) error { return e.runAll(list, false) }, nil
}

func (p *parser) conditional() (func(*env) error, error) {
	cond, err := p.condition()
	if err != nil {
		return nil, err
	}
	yes, err := p.statement()
	if err != nil {
		return nil, err
	}
	var no *statementNode
	mark := p.i
	for p.take(";") {
	}
	if p.take("ELSE") {
		st, err := p.statement()
		if err != nil {
			return nil, err
		}
		no = &st
	} else {
		p.i = mark
	}
	return func(e *env) error {
		ok, err := cond(e)
		switch {
		case err != nil:
			return err
		case ok == truthYes:
			return e.runAll([]statementNode{yes}, false)
		case no != nil:
			return e.runAll([]statementNode{*no}, false)
		default:
			return nil
		}
	}, nil
}

// runAll runs statements in order. An error of the server ends its statement.
// XACT_ABORT and the class of the error decide whether it ends the batch too.
func (e *env) runAll(list []statementNode, top bool) error {
	for i, st := range list {
		if st.implicit && e.s.on("IMPLICIT_TRANSACTIONS") && e.s.transaction == 0 {
			if err := e.s.begin(e.r); err != nil {
				return err
			}
		}
		err := st.run(e)
		if se, ok := err.(*ServerError); ok { //nolint:errorlint // statements return it as it is
			if err := e.s.report(e.r, se, st.line); err != nil {
				return err
			}
			if e.s.on("XACT_ABORT") || se.Class >= 20 || se.ends {
				e.stopped = true
				if e.s.on("XACT_ABORT") && e.s.transaction != 0 {
					if err := e.s.rollback(e.r); err != nil {
						return err
					}
				}
			}
			st.silent = false
		} else if err != nil {
			return err
		}
		if e.stopped {
			return e.r.err
		}
		last := top && i == len(list)-1 && !e.r.proc
		if !st.silent && !last {
			if err := e.r.DoneMore(); err != nil {
				return err
			}
		}
	}
	return nil
}

// batch answers a batch, or the statement of sp_executesql.
func (c *conn) batch(r *Reply, text string, parameters []Parameter) error {
	q := Request{Connection: c.id, Text: text, Login: c.login}
	if h := c.s.handler(q); h != nil {
		if err := h(r); err != nil {
			return handlerError(err)
		}
		return r.err
	}
	e := &env{r: r, s: &c.session, variables: make(map[string]any)}
	types := make(map[string]Type)
	for _, p := range parameters {
		name := strings.ToLower(p.Name)
		types[name], e.variables[name] = p.Type, p.Value
	}
	list, err := c.parse(text, types)
	if err == nil && len(list) == 0 {
		return r.err
	}
	if err != nil {
		return c.session.report(r, err, 1)
	}
	return e.runAll(list, true)
}

// call answers the call of a procedure ([MS-TDS] 2.2.6.6).
func (c *conn) call(r *Reply, call *RPC, last bool) error {
	r.proc = true
	if h := c.s.handler(Request{Connection: c.id, Text: statement([]RPC{*call}), Call: call, Login: c.login}); h != nil {
		if err := h(r); err != nil {
			return handlerError(err)
		}
		return r.err
	}
	var err error
	text := statement([]RPC{*call})
	switch {
	case call.Name != "sp_executesql":
		err = c.session.report(r, &ServerError{Number: 2812, State: 62, Class: 16, Message: "Could not find stored procedure '" + call.Name + "'."}, 1)
	case text == "":
		err = c.session.report(r, unknown("this call of sp_executesql", 1), 1)
	default:
		var parameters []Parameter
		if len(call.Parameters) > 2 {
			parameters = call.Parameters[2:]
		}
		err = c.batch(r, text, parameters)
		if err == nil {
			err = r.ReturnStatus(0)
		}
	}
	if err == nil && !last {
		r.done(tokenDoneProc, DoneMore)
		err = r.err
	}
	return err
}

// handlerError marks an error in a test's own answer, unless the request was
// ended.
func handlerError(err error) error {
	if isEnd(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errHandler, err)
}
