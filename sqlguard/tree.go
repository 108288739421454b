package sqlguard

// Node is one node of a statement's syntax tree, for people to read. No verdict
// depends on it.
type Node struct {
	Role string // the field of the parent node that has it, or ""
	Kind string // the parser's name for it, such as "FuncCall"
	Text string // its name, operator or value, or ""
	// Span is its position in the text. It is zero when the parser does not give
	// one.
	Span     Span
	Children []Node
}
