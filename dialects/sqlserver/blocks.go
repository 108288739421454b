package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// blocks distinguishes the semicolons that end statements from those inside of a
// statement: in BEGIN … END, and in a procedure, function or trigger, which
// extends to the end of its batch. Reference: BEGIN…END (Transact-SQL), CREATE
// PROCEDURE (Transact-SQL).
type blocks struct {
	state blockState
	depth int // number of open BEGIN and CASE
	last  *word
}

type blockState uint8

const (
	blockStart  blockState = iota // nothing of a statement yet
	blockDefine                   // after CREATE or ALTER
	blockOther                    // in another statement
	blockModule                   // in a module: up to the end of the batch
)

// kind returns the kind of a token in its statement.
func (b *blocks) kind(t token) sqlguard.TokenKind {
	last := b.last
	if t.kind != sqlguard.TokenComment {
		b.last = t.word
	}
	switch t.kind { //nolint:exhaustive // only these matter
	case sqlguard.TokenComment:
		return t.kind
	case sqlguard.TokenClientCommand:
		*b = blocks{}
		return t.kind
	case sqlguard.TokenTerminator:
		if b.state == blockModule || b.depth > 0 {
			return sqlguard.TokenOperator
		}
		*b = blocks{}
		return t.kind
	}
	switch {
	case b.state == blockStart && (t.spells("create") || t.spells("alter")):
		b.state = blockDefine
	case b.state == blockDefine && (t.spells("procedure") || t.spells("proc") || t.spells("function") || t.spells("trigger")):
		b.state = blockModule
	case b.state == blockDefine && (t.spells("or") || t.spells("alter")):
	case b.state != blockModule:
		b.state = blockOther
	}
	switch {
	case t.spells("begin"), t.spells("case"):
		b.depth++
	case t.spells("end"):
		b.depth = max(b.depth-1, 0)
	case last != nil && last.text == "begin" && transactional(t):
		b.depth = max(b.depth-1, 0)
	}
	return t.kind
}

// transactional reports whether BEGIN before t opens no block.
func transactional(t token) bool {
	return t.spells("tran") || t.spells("transaction") || t.spells("distributed") || t.spells("conversation") || t.spells("dialog")
}
