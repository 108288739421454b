package expr

import (
	"slices"
	"strconv"
	"strings"
)

// Parse reads a whole text as one expression. Names stay unbound (OpName). Aggregates and
// FILTER are allowed everywhere but within an aggregate: who knows the scope checks it.
// A text that is not an expression is refused with what is wrong in it and what to write
// instead.
func Parse(text string) (*Expr, *Error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	if tokens[0].kind == tokenEnd {
		return nil, refuse(0, "write an expression such as sum(orders.amount)", "the expression is empty")
	}
	p := &parser{tokens: tokens}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokenEnd {
		return nil, p.unexpected(t, "after the expression")
	}
	return n.e, nil
}

// parser reads tokens by precedence: OR, AND, NOT, predicates, ||, + and -, * and / and
// %, unary minus, ::.
type parser struct {
	tokens    []token
	at        int
	nesting   int
	nodes     int
	aggregate string // the aggregate whose arguments or filter are being read
}

// node is a tree with what its text showed.
type node struct {
	e      *Expr
	height int
	bare   bool // made by an operator that no brackets enclose
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) ahead(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

func (p *parser) take() token {
	t := p.peek()
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is that symbol.
func (p *parser) accept(symbol string) bool {
	if p.peek().is(symbol) {
		p.at++
		return true
	}
	return false
}

// acceptWord takes the next token if it is that word.
func (p *parser) acceptWord(lower string) bool {
	if p.peek().word(lower) {
		p.at++
		return true
	}
	return false
}

// closing takes a closing bracket.
func (p *parser) closing(where string) *Error {
	if t := p.peek(); !t.is(")") {
		if t.kind == tokenEnd {
			return refuse(t.pos, "", ") is missing %s", where)
		}
		return p.unexpected(t, where+", where ) is expected")
	}
	p.at++
	return nil
}

func (p *parser) expectWord(lower, where string) *Error {
	if t := p.peek(); !t.word(lower) {
		if t.kind == tokenEnd {
			return refuse(t.pos, "", "%s is missing %s", strings.ToUpper(lower), where)
		}
		return p.unexpected(t, where+", where "+strings.ToUpper(lower)+" is expected")
	}
	p.at++
	return nil
}

// make puts a node over others and keeps the bounds of the tree.
func (p *parser) make(e *Expr, below ...node) (node, *Error) {
	n := node{e: e}
	for _, b := range below {
		n.height = max(n.height, b.height+1)
	}
	p.nodes++
	if n.height > maxHeight {
		return node{}, refuse(e.Pos, "split it into several measures, or compare with IN (…)", "the expression is nested more than %d deep", maxHeight)
	}
	if p.nodes > maxNodes {
		return node{}, refuse(e.Pos, "split it into several measures", "the expression has more than %d parts", maxNodes)
	}
	return n, nil
}

// nested reads with brackets around.
func (p *parser) nested(pos int, read func() (node, *Error)) (node, *Error) {
	p.nesting++
	if p.nesting > maxNesting {
		return node{}, refuse(pos, "remove brackets that are not needed", "brackets are nested more than %d deep", maxNesting)
	}
	n, err := read()
	p.nesting--
	n.bare = false
	return n, err
}

func (p *parser) or() (node, *Error) { return p.chain(OpOr, "or", p.and) }

func (p *parser) and() (node, *Error) { return p.chain(OpAnd, "and", p.not) }

// chain reads operands joined by AND or OR as one node, whatever brackets group them.
func (p *parser) chain(op Op, word string, operand func() (node, *Error)) (node, *Error) {
	first, err := operand()
	if err != nil || !p.peek().word(word) {
		return first, err
	}
	list, pos := []node{first}, p.peek().pos
	for p.acceptWord(word) {
		n, err := operand()
		if err != nil {
			return node{}, err
		}
		list = append(list, n)
	}
	var args []*Expr
	for i, n := range list {
		if n.e.Op == op {
			args = append(args, n.e.Args...)
			list[i].height--
		} else {
			args = append(args, n.e)
		}
	}
	n, err := p.make(&Expr{Op: op, Args: args, Pos: pos}, list...)
	n.bare = true
	return n, err
}

func (p *parser) not() (node, *Error) {
	var at []int
	for p.peek().word("not") && !p.ahead(1).is(".") {
		at = append(at, p.take().pos)
	}
	n, err := p.predicate()
	for i := len(at) - 1; err == nil && i >= 0; i-- {
		n, err = p.make(&Expr{Op: OpNot, Args: []*Expr{n.e}, Pos: at[i]}, n)
		n.bare = true
	}
	return n, err
}

var comparisons = map[string]Op{"=": OpEq, "<>": OpNe, "!=": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe}

// predicate reads at most one comparison: of a = b = c dialects know different readings.
func (p *parser) predicate() (node, *Error) {
	left, err := p.concat()
	if err != nil {
		return node{}, err
	}
	n, found, err := p.predicateAfter(left)
	if err != nil || !found {
		return left, err
	}
	if t := p.peek(); p.startsPredicate(t) {
		return node{}, refuse(t.pos, "join comparisons by AND, or enclose the first one in brackets", "%s follows a comparison", describe(t))
	}
	n.bare = true
	return n, nil
}

func (p *parser) startsPredicate(t token) bool {
	if t.kind == tokenSymbol {
		_, ok := comparisons[t.text]
		return ok
	}
	return t.kind == tokenWord && (t.lower == "is" || t.lower == "in" || t.lower == "between" || t.lower == "like" || t.lower == "not")
}

func (p *parser) predicateAfter(left node) (node, bool, *Error) {
	t := p.peek()
	if t.kind == tokenSymbol {
		op, ok := comparisons[t.text]
		if !ok {
			return left, false, nil
		}
		p.take()
		if q := p.peek(); (q.word("any") || q.word("all") || q.word("some")) && p.ahead(1).is("(") {
			return node{}, false, refuse(q.pos, "write IN (…) with the values", "%s is not part of expressions", strings.ToUpper(q.text))
		}
		right, err := p.concat()
		if err != nil {
			return node{}, false, err
		}
		n, err := p.make(&Expr{Op: op, Args: []*Expr{left.e, right.e}, Pos: t.pos}, left, right)
		return n, true, err
	}
	if !p.startsPredicate(t) {
		return left, false, nil
	}
	p.take()
	negated := t.lower == "not"
	word := t
	if negated {
		if word = p.take(); word.word("is") || word.word("not") || !p.startsPredicate(word) || word.kind != tokenWord {
			if word.kind == tokenWord && refusedWords[word.lower].message != "" {
				return node{}, false, p.unexpected(word, "after NOT")
			}
			return node{}, false, refuse(word.pos, "write NOT IN, NOT BETWEEN or NOT LIKE, or NOT before the whole comparison", "%s follows NOT", describe(word))
		}
	}
	var n node
	var err *Error
	switch word.lower {
	case "is":
		n, err = p.isAfter(left, t)
	case "in":
		n, err = p.inAfter(left, t, negated)
	case "between":
		n, err = p.betweenAfter(left, t, negated)
	case "like":
		n, err = p.likeAfter(left, t, negated)
	}
	return n, true, err
}

func (p *parser) isAfter(left node, t token) (node, *Error) {
	negated := p.acceptWord("not")
	w := p.take()
	if !w.word("null") {
		hint := "write IS NULL, IS NOT NULL, or a comparison"
		if w.word("true") || w.word("false") {
			hint = "write x = " + strings.ToUpper(w.text) + ", or coalesce(x, FALSE) = " + strings.ToUpper(w.text)
		} else if w.word("distinct") {
			hint = "write a <> b OR (a IS NULL) <> (b IS NULL)"
		}
		return node{}, refuse(w.pos, hint, "%s follows IS, where only NULL or NOT NULL may follow", describe(w))
	}
	return p.make(&Expr{Op: OpIsNull, Args: []*Expr{left.e}, Negated: negated, Pos: t.pos}, left)
}

func (p *parser) inAfter(left node, t token, negated bool) (node, *Error) {
	if !p.peek().is("(") {
		return node{}, p.wrong(p.peek(), "after IN", "write the values in brackets: x IN ('a', 'b')")
	}
	open := p.take()
	if p.peek().is(")") {
		return node{}, refuse(open.pos, "write at least one value: x IN ('a', 'b')", "the list of IN is empty")
	}
	below := []node{left}
	args := []*Expr{left.e}
	for {
		n, err := p.nested(open.pos, p.or)
		if err != nil {
			return node{}, err
		}
		below, args = append(below, n), append(args, n.e)
		if !p.accept(",") {
			break
		}
	}
	if err := p.closing("after the list of IN"); err != nil {
		return node{}, err
	}
	return p.make(&Expr{Op: OpIn, Args: args, Negated: negated, Pos: t.pos}, below...)
}

func (p *parser) betweenAfter(left node, t token, negated bool) (node, *Error) {
	low, err := p.concat()
	if err != nil {
		return node{}, err
	}
	if err := p.expectWord("and", "after the lower bound of BETWEEN"); err != nil {
		return node{}, err
	}
	high, err := p.concat()
	if err != nil {
		return node{}, err
	}
	return p.make(&Expr{Op: OpBetween, Args: []*Expr{left.e, low.e, high.e}, Negated: negated, Pos: t.pos}, left, low, high)
}

func (p *parser) likeAfter(left node, t token, negated bool) (node, *Error) {
	right, err := p.concat()
	if err != nil {
		return node{}, err
	}
	return p.make(&Expr{Op: OpLike, Args: []*Expr{left.e, right.e}, Negated: negated, Pos: t.pos}, left, right)
}

// concat reads operands joined by ||. Dialects disagree on whether || or arithmetic binds
// closer, so that arithmetic as an operand needs brackets.
func (p *parser) concat() (node, *Error) {
	left, err := p.sum()
	if err != nil || !p.peek().is("||") {
		return left, err
	}
	for {
		t := p.peek()
		if left.bare && left.e.Op != OpConcat {
			return node{}, refuse(t.pos, "write brackets around the arithmetic: a || (b + c)", "|| and arithmetic stand side by side without brackets")
		}
		if !p.accept("||") {
			return left, nil
		}
		right, err := p.sum()
		if err != nil {
			return node{}, err
		}
		if right.bare {
			return node{}, refuse(t.pos, "write brackets around the arithmetic: a || (b + c)", "|| and arithmetic stand side by side without brackets")
		}
		if left, err = p.make(&Expr{Op: OpConcat, Args: []*Expr{left.e, right.e}, Pos: t.pos}, left, right); err != nil {
			return node{}, err
		}
		left.bare = true
	}
}

var sums = map[string]Op{"+": OpAdd, "-": OpSub}

var products = map[string]Op{"*": OpMul, "/": OpDiv, "%": OpMod}

func (p *parser) sum() (node, *Error) { return p.arithmetic(sums, p.product) }

func (p *parser) product() (node, *Error) { return p.arithmetic(products, p.unary) }

func (p *parser) arithmetic(ops map[string]Op, operand func() (node, *Error)) (node, *Error) {
	left, err := operand()
	for err == nil {
		t := p.peek()
		op, ok := ops[t.text]
		if !ok || t.kind != tokenSymbol {
			return left, nil
		}
		p.take()
		var right node
		if right, err = operand(); err != nil {
			break
		}
		left, err = p.make(&Expr{Op: op, Args: []*Expr{left.e, right.e}, Pos: t.pos}, left, right)
		left.bare = true
	}
	return node{}, err
}

func (p *parser) unary() (node, *Error) {
	var signs []int
	for {
		if t := p.peek(); t.is("-") {
			signs = append(signs, t.pos)
		} else if !t.is("+") {
			break
		}
		p.take()
	}
	n, err := p.postfix()
	for i := len(signs) - 1; err == nil && i >= 0; i-- {
		n, err = p.make(&Expr{Op: OpNeg, Args: []*Expr{n.e}, Pos: signs[i]}, n)
		n.bare = true
	}
	return n, err
}

func (p *parser) postfix() (node, *Error) {
	n, err := p.primary()
	for err == nil && p.peek().is("::") {
		t := p.take()
		n, err = p.castTo(n, t.pos)
	}
	return n, err
}

func (p *parser) primary() (node, *Error) {
	t := p.peek()
	switch t.kind {
	case tokenNumber:
		p.take()
		return p.make(&Expr{Op: OpNumber, Text: t.text, Pos: t.pos})
	case tokenString:
		p.take()
		if q := p.peek(); q.kind == tokenString {
			return node{}, refuse(q.pos, "join texts by ||, or double the quote inside a string: 'it''s'", "a string follows a string")
		}
		return p.make(&Expr{Op: OpString, Text: t.text, Pos: t.pos})
	case tokenSymbol:
		if t.text == "(" {
			return p.bracket()
		}
		if t.text == "*" {
			return node{}, refuse(t.pos, "write count(*), or name the column", "a star stands outside count(*)")
		}
	case tokenQuoted:
		return p.name()
	case tokenWord:
		return p.primaryWord(t)
	case tokenEnd:
	}
	return node{}, p.unexpected(t, "where a value is expected")
}

func (p *parser) bracket() (node, *Error) {
	open := p.take()
	if p.peek().is(")") {
		return node{}, refuse(open.pos, "write an expression between the brackets", "the brackets are empty")
	}
	n, err := p.nested(open.pos, p.or)
	if err != nil {
		return node{}, err
	}
	if t := p.peek(); t.is(",") {
		return node{}, refuse(t.pos, "compare each column by itself and join the comparisons by AND", "a list in brackets stands outside IN and outside a function")
	}
	return n, p.closing("after the bracketed expression")
}

// primaryWord reads what begins with a word. A word before a dot is always a name.
func (p *parser) primaryWord(t token) (node, *Error) {
	after := p.ahead(1)
	if after.is(".") {
		return p.name()
	}
	switch t.lower {
	case "null":
		p.take()
		return p.make(&Expr{Op: OpNull, Pos: t.pos})
	case "true", "false":
		p.take()
		return p.make(&Expr{Op: OpBool, Text: t.lower, Pos: t.pos})
	case "case":
		return p.caseWhen()
	case "date", "timestamp":
		if after.kind == tokenString {
			return p.timeLiteral()
		}
		if t.lower == "timestamp" && (after.word("with") || after.word("without")) {
			return node{}, refuse(after.pos, "write TIMESTAMP '2024-01-31 10:00:00'", "a time zone is not part of expressions")
		}
	case "timestamptz", "time", "datetime":
		if after.kind == tokenString {
			return node{}, refuse(t.pos, "write TIMESTAMP '2024-01-31 10:00:00' or DATE '2024-01-31'", "%s literals are not known", strings.ToUpper(t.text))
		}
	case "interval":
		if after.kind == tokenString || after.kind == tokenNumber || after.is("-") && p.ahead(2).kind == tokenNumber && p.ahead(3).kind == tokenWord && !operatorWord(p.ahead(3).lower) {
			return p.interval()
		}
	case "current_date", "current_timestamp":
		if !after.is("(") {
			p.take()
			return p.make(&Expr{Op: OpCall, Func: canonical(t.lower), Pos: t.pos})
		}
	case "and", "or", "in", "is", "between", "like", "when", "then", "else", "end", "as":
		return node{}, refuse(t.pos, `write a value before it; a column of this name stands in double quotes or after its source: source.`+t.lower, "%s stands where a value is expected", strings.ToUpper(t.text))
	case "not":
		return node{}, refuse(t.pos, "write NOT (…) in brackets", "NOT stands inside a comparison or arithmetic")
	case "exists":
		if after.is("(") {
			return node{}, refuse(t.pos, "write a condition on columns, or a measure", "a subquery (EXISTS) is not part of expressions")
		}
	case "select", "with", "values", "table":
		if t.lower == "select" || after.is("(") || after.kind == tokenWord && !operatorWord(after.lower) || after.kind == tokenQuoted {
			return node{}, p.unexpected(t, "")
		}
	}
	if after.is("(") {
		return p.call()
	}
	if after.kind == tokenString {
		return node{}, refuse(t.pos, "write the operator between them", "the string '%s' follows the name %s", excerpt(after.text, 30), excerpt(t.text, 40))
	}
	return p.name()
}

// operatorWord says whether a word may follow a value.
func operatorWord(lower string) bool {
	switch lower {
	case "and", "or", "is", "in", "between", "like", "not", "then", "when", "else", "end":
		return true
	}
	return false
}

func (p *parser) name() (node, *Error) {
	first := p.take()
	e := &Expr{Op: OpName, Name: Name{Leaf: first.text, QuotedLeaf: first.kind == tokenQuoted}, Pos: first.pos}
	if p.accept(".") {
		second := p.take()
		switch {
		case second.is("*"):
			return node{}, refuse(second.pos, "write count(*), or name the column", "a star stands outside count(*)")
		case second.kind != tokenWord && second.kind != tokenQuoted:
			return node{}, refuse(second.pos, "write source.column", "%s follows the dot after %s", describe(second), excerpt(first.text, 40))
		case p.peek().is("."):
			return node{}, refuse(p.peek().pos, "write source.column with the name of the source in the semantic layer", "the name %s.%s… has more than two parts", excerpt(first.text, 30), excerpt(second.text, 30))
		}
		e.Name = Name{Qualifier: first.text, Leaf: second.text, QuotedQualifier: first.kind == tokenQuoted, QuotedLeaf: second.kind == tokenQuoted}
	}
	if t := p.peek(); t.is("(") {
		return node{}, refuse(first.pos, "write the function's name alone: lower(x)", "a quoted or qualified name stands before (, where only a function may stand")
	}
	return p.make(e)
}

func (p *parser) timeLiteral() (node, *Error) {
	word, value := p.take(), p.take()
	e, ok := ParseTime(value.text)
	switch {
	case ok && word.lower == "date" && e.Op == OpDate, ok && word.lower == "timestamp" && e.Op == OpTimestamp:
	case ok && word.lower == "timestamp":
		e = &Expr{Op: OpTimestamp, Text: e.Text + " 00:00:00"}
	case word.lower == "date":
		return node{}, refuse(value.pos, "write DATE '2024-01-31'", "'%s' is not a date of the calendar in the form YYYY-MM-DD", excerpt(value.text, 40))
	default:
		return node{}, refuse(value.pos, "write TIMESTAMP '2024-01-31 10:00:00'", "'%s' is not a timestamp in the form YYYY-MM-DD HH:MM:SS without a time zone", excerpt(value.text, 40))
	}
	e.Pos = word.pos
	return p.make(e)
}

// interval reads INTERVAL '1 month', INTERVAL 1 month, and INTERVAL '1' month.
func (p *parser) interval() (node, *Error) {
	word := p.take()
	number := ""
	if p.accept("-") {
		number = "-"
	}
	value := p.take()
	number += value.text
	if value.kind == tokenString {
		if fields := strings.Fields(value.text); len(fields) == 2 {
			e, err := intervalOf(word.pos, fields[0], fields[1])
			if err != nil {
				return node{}, err
			}
			return p.makeInterval(e)
		} else if len(fields) != 1 {
			return node{}, refuse(value.pos, "write one number and one unit, such as INTERVAL '1 month'; add two intervals one after the other", "'%s' is not an interval", excerpt(value.text, 40))
		}
		number = strings.TrimSpace(value.text)
	}
	unit := p.take()
	if unit.kind != tokenWord {
		return node{}, refuse(unit.pos, "write INTERVAL '1 month'", "%s follows the number of an interval, where its unit is expected", describe(unit))
	}
	e, err := intervalOf(word.pos, number, unit.text)
	if err != nil {
		return node{}, err
	}
	return p.makeInterval(e)
}

func (p *parser) makeInterval(e *Expr) (node, *Error) {
	return p.make(e, node{e: e.Args[0], height: len(e.Args[0].Args)})
}

// caseWhen reads both forms. CASE x WHEN v is read as CASE WHEN x = v, which means the same.
func (p *parser) caseWhen() (node, *Error) {
	begin := p.take()
	var operand *node
	if !p.peek().word("when") || p.ahead(1).is(".") {
		n, err := p.nested(begin.pos, p.or)
		if err != nil {
			return node{}, err
		}
		operand = &n
	}
	var below []node
	for p.acceptWord("when") {
		when, err := p.nested(begin.pos, p.or)
		if err != nil {
			return node{}, err
		}
		if operand != nil {
			if len(below) > 0 {
				p.nodes += size(operand.e)
			}
			if when, err = p.make(&Expr{Op: OpEq, Args: []*Expr{operand.e, when.e}, Pos: when.e.Pos}, *operand, when); err != nil {
				return node{}, err
			}
		}
		if err := p.expectWord("then", "after the condition of WHEN"); err != nil {
			return node{}, err
		}
		then, err := p.nested(begin.pos, p.or)
		if err != nil {
			return node{}, err
		}
		below = append(below, when, then)
	}
	if len(below) == 0 {
		return node{}, p.wrong(p.peek(), "after CASE", "write CASE WHEN condition THEN value ELSE value END")
	}
	if p.acceptWord("else") {
		otherwise, err := p.nested(begin.pos, p.or)
		if err != nil {
			return node{}, err
		}
		below = append(below, otherwise)
	}
	if err := p.expectWord("end", "at the end of CASE"); err != nil {
		return node{}, err
	}
	args := make([]*Expr, len(below))
	for i, b := range below {
		args[i] = b.e
	}
	return p.make(&Expr{Op: OpCase, Args: args, Pos: begin.pos}, below...)
}

func size(e *Expr) int {
	n := 0
	Walk(e, func(*Expr) bool { n++; return true })
	return n
}

func canonical(lower string) string {
	if s, ok := spellings[lower]; ok {
		return s
	}
	return lower
}

// call reads a function with its arguments.
func (p *parser) call() (node, *Error) {
	t := p.take()
	switch t.lower {
	case "cast":
		return p.cast(t)
	case "extract":
		if q := p.ahead(1); p.ahead(2).word("from") && (q.kind == tokenWord || q.kind == tokenString) {
			return p.extractFrom(t)
		}
	case "year", "quarter", "month", "day", "hour", "minute", "second":
		args, err := p.arguments(t)
		if err != nil {
			return node{}, err
		}
		if len(args) != 1 {
			return node{}, refuse(t.pos, "write extract("+t.lower+" FROM x)", "%s takes 1 argument and has %d here", t.lower, len(args))
		}
		return p.finish(t, "extract", append([]node{{e: &Expr{Op: OpString, Text: t.lower, Pos: t.pos}}}, args...), false)
	}
	name, distinct := canonical(t.lower), false
	if name == "count_distinct" {
		name, distinct = "count", true
	}
	f, ok := functionNamed(name)
	if !ok {
		return node{}, unknownFunction(t)
	}
	if !f.Aggregate {
		args, err := p.arguments(t)
		if err != nil {
			return node{}, err
		}
		return p.finish(t, name, args, false)
	}
	if p.aggregate != "" {
		return node{}, &Error{Class: NestedAggregate, Message: "the aggregate " + t.lower + " stands inside the aggregate " + p.aggregate, Hint: "aggregate columns only; for arithmetic over aggregates write them side by side: sum(a) / count(b)", Pos: t.pos}
	}
	p.aggregate = t.lower
	defer func() { p.aggregate = "" }()
	if p.ahead(1).is("*") && (p.ahead(2).is(")") || name != "count") {
		if name != "count" || distinct {
			return node{}, refuse(p.ahead(1).pos, "name the column: "+t.lower+"(source.column)", "%s cannot take a star", t.lower)
		}
		p.at += 3
		return p.finish(t, name, nil, false)
	}
	if q, r := p.ahead(1), p.ahead(2); q.word("distinct") && !r.is(")") && !r.is(",") && !r.is(".") && !r.is("::") && (!p.startsPredicate(r) || p.ahead(3).is(".")) {
		p.at++
		p.tokens[p.at] = token{kind: tokenSymbol, text: "(", pos: q.pos, end: q.end}
		distinct = true
		if p.ahead(1).is("*") {
			return node{}, refuse(p.ahead(1).pos, "name the column: count(DISTINCT source.column)", "%s cannot take DISTINCT *", t.lower)
		}
	} else if q.word("all") && (r.kind == tokenWord || r.kind == tokenQuoted) && !operatorWord(r.lower) {
		return node{}, refuse(q.pos, "leave ALL out", "ALL inside an aggregate is not known")
	}
	args, err := p.arguments(t)
	if err != nil {
		return node{}, err
	}
	return p.finish(t, name, args, distinct)
}

// arguments reads a list in brackets. FROM and FOR of substring count as commas.
func (p *parser) arguments(t token) ([]node, *Error) {
	open := p.take()
	if p.accept(")") {
		return nil, nil
	}
	var list []node
	for {
		n, err := p.nested(open.pos, p.or)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		sub := t.lower == "substring" && (len(list) == 1 && p.acceptWord("from") || len(list) == 2 && p.acceptWord("for"))
		if !sub && !p.accept(",") {
			break
		}
	}
	return list, p.closing("after the arguments of " + t.lower)
}

func (p *parser) extractFrom(t token) (node, *Error) {
	p.take()
	part := p.take()
	p.take()
	n, err := p.nested(t.pos, p.or)
	if err != nil {
		return node{}, err
	}
	if err := p.closing("after the arguments of extract"); err != nil {
		return node{}, err
	}
	return p.finish(t, "extract", []node{{e: &Expr{Op: OpString, Text: part.text, Pos: part.pos}}, n}, false)
}

// finish checks a call's arguments as far as its text shows, and reads what may follow.
func (p *parser) finish(t token, name string, args []node, distinct bool) (node, *Error) {
	f, _ := functionNamed(name)
	e := &Expr{Op: OpCall, Func: name, Pos: t.pos}
	if f.Aggregate {
		e.Op = OpAggregate
	}
	star := f.Aggregate && len(args) == 0 && p.at > 1 && p.tokens[p.at-2].is("*")
	switch {
	case len(args) < f.Min || f.Max >= 0 && len(args) > f.Max || name == "count" && len(args) == 0 && !star:
		return node{}, wrongNumber(t, f, len(args))
	case distinct && name != "count" && name != "sum" && name != "avg" && name != "min" && name != "max":
		return node{}, refuse(t.pos, "leave DISTINCT out", "%s cannot take DISTINCT", name)
	}
	for _, a := range args {
		e.Args = append(e.Args, a.e)
	}
	e.Distinct = distinct && name != "min" && name != "max"
	if err := literals(e); err != nil {
		return node{}, err
	}
	if f.Aggregate && p.peek().word("filter") && p.ahead(1).is("(") {
		n, err := p.filter()
		if err != nil {
			return node{}, err
		}
		e.Filter = n.e
		args = append(args, n)
	}
	switch q := p.peek(); {
	case q.word("over"):
		return node{}, p.unexpected(q, "")
	case q.word("filter") && p.ahead(1).is("("):
		return node{}, refuse(q.pos, "write FILTER (WHERE …) once, after an aggregate", "FILTER follows %s(…), where it cannot stand", name)
	case q.word("within"):
		return node{}, refuse(q.pos, "write percentile(x, 0.9) or median(x)", "WITHIN GROUP is not part of expressions")
	}
	return p.make(e, args...)
}

func (p *parser) filter() (node, *Error) {
	p.take()
	open := p.take()
	if err := p.expectWord("where", "after FILTER ("); err != nil {
		return node{}, err
	}
	n, err := p.nested(open.pos, p.or)
	if err != nil {
		return node{}, err
	}
	return n, p.closing("after the condition of FILTER")
}

func wrongNumber(t token, f Function, n int) *Error {
	takes := count(f.Min, "argument")
	switch {
	case f.Max < 0:
		takes = count(f.Min, "argument") + " or more"
	case f.Max != f.Min:
		takes = strconv.Itoa(f.Min) + " to " + count(f.Max, "argument")
	}
	hint := ""
	switch f.Name {
	case "count":
		takes, hint = "1 argument", "write count(*), count(x), or count(DISTINCT x); for several columns join them: count(DISTINCT a || '-' || b)"
	case "min", "max":
		hint = "for the lesser or greater of two values write CASE WHEN a < b THEN a ELSE b END"
	case "percentile":
		hint = "write percentile(x, 0.9)"
	}
	return refuse(t.pos, hint, "%s takes %s and has %d here", t.lower, takes, n)
}

// literals checks the arguments that must be literals, because engines disagree on
// other values or because the text of the SQL depends on them.
func literals(e *Expr) *Error {
	switch e.Func {
	case "extract", "date_trunc":
		known, what, hint := units, "date_trunc knows the units ", "write date_trunc('month', x)"
		if e.Func == "extract" {
			known, what, hint = parts, "extract knows the parts ", "write extract(month FROM x)"
		}
		a := e.Args[0]
		lower := strings.ToLower(a.Text)
		if a.Op != OpString || !slices.Contains(known, lower) {
			return refuse(a.Pos, hint, "%s%s", what, strings.Join(known, ", "))
		}
		e.Args = []*Expr{{Op: OpString, Text: lower, Pos: a.Pos}, e.Args[1]}
	case "round":
		if len(e.Args) == 2 && !wholeNumber(e.Args[1], 0, 15) {
			return refuse(e.Args[1].Pos, "write round(x, 2)", "the second argument of round must be a whole number from 0 to 15")
		}
		if len(e.Args) == 2 && e.Args[1].Text == "0" {
			e.Args = e.Args[:1]
		}
	case "substring":
		if !wholeNumber(e.Args[1], 1, 1_000_000) || len(e.Args) == 3 && !wholeNumber(e.Args[2], 0, 1_000_000) {
			return refuse(e.Args[1].Pos, "write substring(x, 1, 3)", "substring takes a position from 1 on and a length, both as whole numbers")
		}
	case "percentile":
		a := e.Args[1]
		if n, err := strconv.ParseFloat(a.Text, 64); a.Op != OpNumber || err != nil || n > 1 {
			return refuse(a.Pos, "write percentile(x, 0.9)", "the second argument of percentile must be a number from 0 to 1")
		}
	}
	return nil
}

func wholeNumber(e *Expr, least, most int) bool {
	if e.Op != OpNumber {
		return false
	}
	n, err := strconv.Atoi(e.Text)
	return err == nil && n >= least && n <= most
}

// refusedWords are words of SQL that stand where an expression has ended or cannot begin.
var refusedWords = map[string]struct{ message, hint string }{
	"as":        {"AS names an output", "give the name in the measure's name: {\"expr\": …, \"name\": …}"},
	"asc":       {"ASC belongs to order_by", "give the order in order_by"},
	"at":        {"AT TIME ZONE is not part of expressions", "times are taken as they are stored"},
	"collate":   {"COLLATE is not part of expressions", "write lower(x) for a comparison that ignores case"},
	"delete":    {"the statement DELETE is not part of expressions", "write an expression over columns and measures"},
	"desc":      {"DESC belongs to order_by", "give the order in order_by"},
	"div":       {"the operator DIV is not part of expressions", "write floor(a / b)"},
	"drop":      {"the statement DROP is not part of expressions", "write an expression over columns and measures"},
	"escape":    {"ESCAPE is not part of expressions", "LIKE has no escape character; % and _ are wildcards"},
	"except":    {"a subquery is not part of expressions", "write a condition on columns, or a measure"},
	"from":      {"FROM is not part of expressions", "name columns as source.column; the joins follow from the model"},
	"glob":      {"the operator GLOB is not part of expressions", "write LIKE with % and _"},
	"group":     {"GROUP BY is not part of expressions", "give the columns as dimensions"},
	"having":    {"HAVING is not part of expressions", "give the condition in filters"},
	"ilike":     {"the operator ILIKE is not part of expressions", "write lower(x) LIKE 'text%' with the text in lower case"},
	"insert":    {"the statement INSERT is not part of expressions", "write an expression over columns and measures"},
	"intersect": {"a subquery is not part of expressions", "write a condition on columns, or a measure"},
	"into":      {"INTO is not part of expressions", "write an expression over columns and measures"},
	"isnull":    {"ISNULL is not part of expressions", "write IS NULL"},
	"join":      {"JOIN is not part of expressions", "name columns as source.column; the joins follow from the model"},
	"limit":     {"LIMIT is not part of expressions", "give the number in limit"},
	"match":     {"the operator MATCH is not part of expressions", "write LIKE with % and _"},
	"mod":       {"the operator MOD is not part of expressions", "write a % b"},
	"notnull":   {"NOTNULL is not part of expressions", "write IS NOT NULL"},
	"order":     {"ORDER BY is not part of expressions", "give the order in order_by"},
	"over":      {"OVER makes a window function, which is not part of expressions", "ask for measures by dimensions, with order_by and limit"},
	"regexp":    {"the operator REGEXP is not part of expressions", "write LIKE with % and _"},
	"rlike":     {"the operator RLIKE is not part of expressions", "write LIKE with % and _"},
	"select":    {"a subquery (SELECT) is not part of expressions", "write a condition on columns, or a measure"},
	"similar":   {"the operator SIMILAR TO is not part of expressions", "write LIKE with % and _"},
	"symmetric": {"BETWEEN SYMMETRIC is not part of expressions", "write BETWEEN with the lower bound first"},
	"table":     {"a subquery (TABLE) is not part of expressions", "write a condition on columns, or a measure"},
	"union":     {"a subquery (UNION) is not part of expressions", "write a condition on columns, or a measure"},
	"update":    {"the statement UPDATE is not part of expressions", "write an expression over columns and measures"},
	"values":    {"a subquery (VALUES) is not part of expressions", "write the values: x IN (1, 2)"},
	"where":     {"WHERE is not part of expressions", "give the condition in filters, or as sum(x) FILTER (WHERE …)"},
	"with":      {"a subquery (WITH) is not part of expressions", "write a condition on columns, or a measure"},
	"xor":       {"the operator XOR is not part of expressions", "write (a OR b) AND NOT (a AND b)"},
}

// unexpected is the refusal of a token that cannot stand where it stands.
func (p *parser) unexpected(t token, where string) *Error {
	if r, ok := refusedWords[t.lower]; ok && t.kind == tokenWord {
		e := refuse(t.pos, r.hint, "%s", r.message)
		if t.lower == "over" {
			e.Class = WindowFunction
		}
		return e
	}
	return p.wrong(t, where, "")
}

func (p *parser) wrong(t token, where, hint string) *Error {
	if t.kind == tokenEnd {
		return refuse(t.pos, hint, "the text ends %s", where)
	}
	return refuse(t.pos, hint, "%s stands %s", describe(t), where)
}
