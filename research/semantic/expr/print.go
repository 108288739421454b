package expr

import (
	"strconv"
	"strings"
)

// operators are the words between the operands of a node.
var operators = map[Op]string{
	OpAdd: " + ", OpSub: " - ", OpMul: " * ", OpDiv: " / ", OpMod: " % ", OpConcat: " || ",
	OpEq: " = ", OpNe: " <> ", OpLt: " < ", OpLe: " <= ", OpGt: " > ", OpGe: " >= ",
	OpAnd: " AND ", OpOr: " OR ",
}

// typeNames are the targets of a CAST in the canonical text.
var typeNames = map[Type]string{String: "text", Number: "numeric", Time: "timestamp", Boolean: "boolean"}

// String is the canonical text: fully parenthesised, with names as they were written.
// Trees are equal, but for Pos, exactly if their texts are, and Parse reads the text of
// a tree without bound nodes as the same tree. Bound nodes stand in braces, which no
// text of a model or of a request holds.
func (e *Expr) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e *Expr) write(b *strings.Builder) {
	if e == nil {
		b.WriteString("{nil}")
		return
	}
	switch e.Op {
	case OpNull:
		b.WriteString("NULL")
	case OpBool:
		b.WriteString(strings.ToUpper(e.Text))
	case OpNumber:
		b.WriteString(e.Text)
	case OpString:
		quote(b, e.Text, '\'')
	case OpDate:
		b.WriteString("DATE ")
		quote(b, e.Text, '\'')
	case OpTimestamp:
		b.WriteString("TIMESTAMP ")
		quote(b, e.Text, '\'')
	case OpInterval:
		b.WriteString("INTERVAL ")
		if n := e.Args[0]; n.Op == OpNeg {
			b.WriteString("-" + n.Args[0].Text)
		} else {
			b.WriteString(n.Text)
		}
		b.WriteString(" " + e.Text)
	case OpName:
		if e.Name.Qualifier != "" {
			printName(b, e.Name.Qualifier, e.Name.QuotedQualifier)
			b.WriteByte('.')
		}
		printName(b, e.Name.Leaf, e.Name.QuotedLeaf)
	case OpField:
		b.WriteString("{column " + strconv.Itoa(e.Field.Node) + "." + strconv.Itoa(e.Field.Column) + "}")
	case OpMeasure:
		b.WriteString("{measure " + strconv.Itoa(e.Measure.Node) + "." + strconv.Itoa(e.Measure.Index) + "}")
	case OpAtom:
		b.WriteString("{atom " + strconv.Itoa(e.Index) + "}")
	case OpNeg:
		b.WriteString("(- ")
		e.Args[0].write(b)
		b.WriteByte(')')
	case OpNot:
		b.WriteString("(NOT ")
		e.Args[0].write(b)
		b.WriteByte(')')
	case OpAdd, OpSub, OpMul, OpDiv, OpMod, OpConcat, OpEq, OpNe, OpLt, OpLe, OpGt, OpGe, OpAnd, OpOr:
		b.WriteByte('(')
		printList(b, e.Args, operators[e.Op])
		b.WriteByte(')')
	case OpIsNull:
		b.WriteByte('(')
		e.Args[0].write(b)
		b.WriteString(" IS " + negation(e) + "NULL)")
	case OpIn:
		b.WriteByte('(')
		e.Args[0].write(b)
		b.WriteString(" " + negation(e) + "IN (")
		printList(b, e.Args[1:], ", ")
		b.WriteString("))")
	case OpBetween:
		b.WriteByte('(')
		e.Args[0].write(b)
		b.WriteString(" " + negation(e) + "BETWEEN ")
		printList(b, e.Args[1:], " AND ")
		b.WriteByte(')')
	case OpLike:
		b.WriteByte('(')
		e.Args[0].write(b)
		b.WriteString(" " + negation(e) + "LIKE ")
		e.Args[1].write(b)
		b.WriteByte(')')
	case OpCase:
		b.WriteString("CASE")
		for i := 0; i+1 < len(e.Args); i += 2 {
			b.WriteString(" WHEN ")
			e.Args[i].write(b)
			b.WriteString(" THEN ")
			e.Args[i+1].write(b)
		}
		if len(e.Args)%2 == 1 {
			b.WriteString(" ELSE ")
			e.Args[len(e.Args)-1].write(b)
		}
		b.WriteString(" END")
	case OpCast:
		b.WriteString("CAST(")
		e.Args[0].write(b)
		b.WriteString(" AS " + typeNames[e.Type] + ")")
	case OpCall:
		e.printCall(b)
	case OpPresent:
		b.WriteString("{present " + strconv.Itoa(e.Field.Node) + " ")
		e.Args[0].write(b)
		b.WriteByte('}')
	case OpAggregate:
		e.printAggregate(b)
	case OpInvalid:
		b.WriteString("{invalid}")
	}
}

func (e *Expr) printCall(b *strings.Builder) {
	b.WriteString(e.Func + "(")
	if e.Func == "extract" {
		b.WriteString(e.Args[0].Text + " FROM ")
		e.Args[1].write(b)
	} else {
		printList(b, e.Args, ", ")
	}
	b.WriteByte(')')
}

func (e *Expr) printAggregate(b *strings.Builder) {
	b.WriteString(e.Func + "(")
	switch {
	case len(e.Args) == 0:
		b.WriteByte('*')
	case e.Distinct:
		b.WriteString("DISTINCT ")
	}
	printList(b, e.Args, ", ")
	b.WriteByte(')')
	if e.Filter != nil {
		b.WriteString(" FILTER (WHERE ")
		e.Filter.write(b)
		b.WriteByte(')')
	}
}

func negation(e *Expr) string {
	if e.Negated {
		return "NOT "
	}
	return ""
}

func printList(b *strings.Builder, list []*Expr, between string) {
	for i, a := range list {
		if i > 0 {
			b.WriteString(between)
		}
		a.write(b)
	}
}

func printName(b *strings.Builder, name string, quoted bool) {
	if quoted {
		quote(b, name, '"')
		return
	}
	b.WriteString(name)
}

func quote(b *strings.Builder, text string, mark byte) {
	m := string(mark)
	b.WriteString(m + strings.ReplaceAll(text, m, m+m) + m)
}
