// Package expr is the closed expression language of the semantic layer.
//
// Texts of a model and of a request become a small tree ([Expr]). Nothing of a text
// reaches SQL in another way: literals are values, names are looked up in the model,
// and functions stand in a list. What the grammar does not know is refused.
package expr

// Op says what a node is.
type Op uint8

// The kinds of nodes. Args holds the operands in the order of the text.
const (
	OpInvalid   Op = iota // the zero value; no valid tree holds it
	OpNull                // NULL
	OpBool                // Text is true or false
	OpNumber              // Text is an unsigned decimal number, as 12, 0.5, or 1e6
	OpString              // Text is the value, without quotes
	OpDate                // Text is YYYY-MM-DD, checked against the calendar
	OpTimestamp           // Text is YYYY-MM-DD HH:MM:SS, with up to six digits of fractions
	OpInterval            // Text is a unit (year, quarter, month, week, day, hour, minute, second); Args[0] is an integer OpNumber, or OpNeg of one
	OpName                // Name; not bound to the model yet
	OpField               // Field; a bound column
	OpMeasure             // Measure; a bound measure of the model
	OpAtom                // Index; an aggregate of a plan, see package plan
	OpNeg                 // -a
	OpAdd                 // a + b; one side may be an interval if the other is a time
	OpSub                 // a - b
	OpMul                 // a * b
	OpDiv                 // a / b
	OpMod                 // a % b
	OpConcat              // a || b
	OpEq                  // a = b
	OpNe                  // a <> b
	OpLt                  // a < b
	OpLe                  // a <= b
	OpGt                  // a > b
	OpGe                  // a >= b
	OpAnd                 // two operands or more
	OpOr                  // two operands or more
	OpNot                 // NOT a
	OpIsNull              // a IS NULL; Negated: IS NOT NULL
	OpIn                  // Args[0] IN (Args[1:]); Negated: NOT IN
	OpBetween             // Args[0] BETWEEN Args[1] AND Args[2]; Negated: NOT BETWEEN
	OpLike                // Args[0] LIKE Args[1]; Negated: NOT LIKE; no escape character
	OpCase                // when, then, when, then, …, and a last one alone is ELSE; CASE x WHEN v is read as CASE WHEN x = v
	OpCast                // CAST(Args[0] AS Type)
	OpCall                // Func of Args; Func stands in Functions
	OpPresent             // Args[0] if the node of Field has a row, and NULL if a left join found none (R4); no text has it
	OpAggregate           // Func of Args; see Distinct and Filter; count(*) has no Args
)

// Type is what a value is. A model and a request know four.
type Type uint8

// The types. Unknown is the type of NULL.
const (
	Unknown Type = iota
	String
	Number
	Time
	Boolean
)

// Name is a name as it stands in a text: one part, or source (or alias) and field.
type Name struct {
	Qualifier       string // "" if the name has one part
	Leaf            string
	QuotedQualifier bool // in any of the forms "x", `x`, [x]
	QuotedLeaf      bool
}

// Self is the node of the source that an expression of a model belongs to. Who uses the
// expression puts the node in, which is the source's own or an alias of it.
const Self = -1

// Field is a column of a node of the model.
type Field struct {
	Node   int // index in model.Model.Nodes, or Self
	Column int // index in the columns of the node's source
}

// Measure is a measure of a node of the model.
type Measure struct {
	Node  int // index in model.Model.Nodes, or Self
	Index int // in the measures of the node's source
}

// Expr is a node of the tree. A tree is never changed once it is built.
type Expr struct {
	Op       Op
	Args     []*Expr
	Text     string  // of literals and intervals
	Func     string  // of OpCall and OpAggregate, in lower case
	Type     Type    // of OpCast: the target
	Name     Name    // of OpName
	Field    Field   // of OpField
	Measure  Measure // of OpMeasure
	Index    int     // of OpAtom
	Negated  bool    // of OpIsNull, OpIn, OpBetween, OpLike
	Distinct bool    // of OpAggregate
	Filter   *Expr   // of OpAggregate: FILTER (WHERE …)
	Pos      int     // byte offset in the text it was read from
}
