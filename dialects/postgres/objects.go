package postgres

import (
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

var _ sqlguard.ObjectDialect = Dialect{}

// AnalyzeObjects is Analyze for a guard with the objects of a catalogue. A body
// may be written as BEGIN ATOMIC … END or as RETURN expression, an expression
// as CHECK (…).
func (d Dialect) AnalyzeObjects(text string, part sqlguard.Part, names sqlguard.ObjectNames) ([]sqlguard.Statement, error) {
	with := walker{profile: d.profile, names: names, part: part != sqlguard.PartStatement}
	switch part {
	case sqlguard.PartBody:
		text, with.body = bodyStatements(text), true
	case sqlguard.PartExpression:
		text = "SELECT " + checked(text)
	case sqlguard.PartStatement, sqlguard.PartQuery:
	}
	return analyze(text, with)
}

// bodyStatements returns the statements of a function's body.
func bodyStatements(text string) string {
	l := lexer{sql: text}
	word := func(t sqlguard.Token, keyword string) bool {
		return t.Kind == sqlguard.TokenWord && strings.EqualFold(t.Text(text), keyword)
	}
	first, _ := l.code()
	if word(first, "return") {
		return "SELECT " + text[first.End:]
	}
	second, _ := l.code()
	if !word(first, "begin") || !word(second, "atomic") {
		return text
	}
	end := len(text)
	for t, ok := l.code(); ok; t, ok = l.code() {
		if t.Kind != sqlguard.TokenTerminator {
			end = t.Start // of the last word, END
		}
	}
	return text[second.End:max(end, second.End)]
}

// checked returns the expression of a CHECK constraint; any other as it is.
func checked(text string) string {
	l := lexer{sql: text}
	first, ok := l.code()
	if !ok || first.Kind != sqlguard.TokenWord || !strings.EqualFold(first.Text(text), "check") {
		return text
	}
	for {
		t, ok := l.code()
		if !ok {
			return text
		}
		if t.Kind == sqlguard.TokenClose && l.depth == 0 {
			return text[first.End:t.End]
		}
	}
}

// ServerSchemas returns the schemas of the server's own functions and types.
func (Dialect) ServerSchemas() []string { return []string{"pg_catalog", "information_schema"} }

// ServerFunction rules on a function of pg_catalog or of a reviewed extension by its name
// alone. It refuses a function that is allowed only with some arguments.
func (d Dialect) ServerFunction(name string) sqlguard.Ruling {
	if d.profile != nil {
		if d.profile.allowed[name] {
			return sqlguard.Ruling{Allowed: true}
		}
		if r := d.profile.refusal("", name); r != nil {
			return r.Ruling()
		}
	}
	entry, ok := findFunction(name)
	if !ok {
		return sqlguard.Ruling{}
	}
	reason := functionReasons[entry.reason]
	ruling := sqlguard.Ruling{Allowed: entry.class == functionAllowed, Code: reason.code, Reason: reason.text}
	if !ruling.Allowed {
		ruling.Reveal = revealedFunctions[name]
	}
	return ruling
}

// Reviewed reports whether the functions of the extension were reviewed as harmless.
func (Dialect) Reviewed(extension string) bool { return reviewedExtensions[extension] }

// ReviewedOperator reports whether an operator of the extension is on the list.
func (Dialect) ReviewedOperator(extension, name string) bool {
	return reviewedExtensions[extension] && builtinOperator(name)
}

// ReviewedType reports whether a type of the extension is on the list.
func (Dialect) ReviewedType(extension, name string) bool {
	return reviewedExtensions[extension] && extensionType(name)
}

// QuietCasts returns json and jsonb: to_json and similar functions look for a
// cast of values whose type is not the server's own.
func (Dialect) QuietCasts() []string { return []string{"json", "jsonb"} }

// noteJSON notes a function that may look for such a cast. All of them have json
// in their names.
func (w *walker) noteJSON(name string) {
	if w.names != nil && strings.Contains(name, "json") {
		w.st.Serializes = true
	}
}

// ReturnsRow reports whether rowResults lists a function.
func (Dialect) ReturnsRow(function string) bool {
	_, row := slices.BinarySearch(rowResults[:], function)
	return row
}

// Polymorphic reports whether a type is one of the manual's polymorphic types,
// or record.
func (Dialect) Polymorphic(name string) bool {
	return name == "record" || strings.HasPrefix(name, "any")
}

var reviewedExtensions = func() map[string]bool {
	set := map[string]bool{}
	for i := range functionTable {
		if e := &functionTable[i]; e.extension != "" && e.extension != otherExtensions && e.class != functionDenied {
			set[e.extension] = true
		}
	}
	return set
}()

// extensionType reports whether a type is listed as one of an extension.
func extensionType(name string) bool {
	i, ok := slices.BinarySearchFunc(typeTable[:], name, func(e typeEntry, name string) int { return strings.Compare(e.name, name) })
	return ok && typeTable[i].schema == ""
}

// memberRuling rules on a function of a reviewed extension by its name.
func memberRuling(name string) sqlguard.Ruling {
	ruling := Dialect{}.ServerFunction(name)
	if ruling.Allowed {
		ruling.Code, ruling.Reason = "", ""
	}
	return ruling
}

func builtinName(name string) bool {
	_, ok := findFunction(name)
	return ok
}

// describeCall sets the fields that a guard compares with the objects of a catalogue.
func (w *walker) describeCall(n *funcCall, c *sqlguard.Call) {
	c.Arguments = len(n.Args)
	c.Typed, c.Scalar = w.typing(n.Args...)
	if n.AggWithinGroup {
		c.Arguments = -1 // for some functions the sorted expressions count as arguments
	}
	if _, collects := slices.BinarySearch(collectingFunctions[:], c.Name); collects {
		w.st.Collects = true
	}
	w.noteJSON(c.Name)
	entry, ok := findFunction(c.Name)
	if !ok {
		return
	}
	if c.Builtin {
		c.Extension = entry.extension
	}
	w.memberCall(n, entry, c)
}

// bareFunctions return facts about an array without creating a value of its
// elements' type. Their other arguments are numbers.
var bareFunctions = []string{"array_dims", "array_length", "array_lower", "array_ndims", "array_upper", "cardinality", "count"}

// noteBares finds the columns of a statement that go unchanged into its result or its
// order. A set operation converts its operands to one type, so it has no such columns.
func (w *walker) noteBares(n *selectStmt) {
	if w.names == nil || n == nil || n.Op != setopNone {
		return
	}
	w.bares = map[*columnRef]bool{}
	for _, t := range n.TargetList {
		if c := w.bareColumn(t.GetResTarget().GetVal()); c != nil {
			w.bares[c] = true
		}
	}
	for _, s := range n.SortClause {
		if by := s.GetSortBy(); by != nil && len(by.UseOp) == 0 && by.Node.GetColumnRef() != nil {
			w.bares[by.Node.GetColumnRef()] = true
		}
	}
	for _, g := range n.GroupClause {
		if c := g.GetColumnRef(); c != nil {
			w.bares[c] = true
		}
	}
}

// bareColumn returns the column whose value, part or size is the value of the expression,
// or nil.
func (w *walker) bareColumn(n *node) *columnRef {
	if c := n.GetColumnRef(); c != nil {
		return c
	}
	if i := n.GetAIndirection(); i != nil {
		for _, part := range i.Indirection {
			if part.GetAIndices() == nil {
				return nil
			}
		}
		return i.Arg.GetColumnRef()
	}
	f := n.GetFuncCall()
	if f == nil || len(f.Args) == 0 || len(f.Args) > 2 || len(f.AggOrder) > 0 || f.AggFilter != nil || f.Over != nil || len(f.Args) == 2 && f.Args[1].GetAConst().GetIval() == nil {
		return nil
	}
	if schema, name, ok := w.qualifiedName(f.Funcname); !ok || !slices.Contains(bareFunctions, name) || schema != "pg_catalog" && (schema != "" || w.names.Callable(name)) {
		return nil
	}
	return f.Args[0].GetColumnRef()
}

// collectingFunctions lists the functions of the server and of the reviewed extensions
// that make an array or a range from a value, or read strings as values of the type of
// another argument. The list is sorted.
var collectingFunctions = [...]string{
	"any_value_transfn", "array_agg", "array_agg_finalfn", "array_append", "array_cat", "array_fill", "array_position", "array_positions",
	"array_prepend", "array_remove", "array_replace", "elem_contained_by_multirange", "elem_contained_by_range",
	"json_populate_record", "json_populate_recordset", "jsonb_populate_record", "jsonb_populate_record_valid",
	"jsonb_populate_recordset", "lag", "lead", "multirange", "multirange_contains_elem", "nth_value", "percentile_disc",
	"percentile_disc_multi_final", "populate_record", "range_contains_elem", "width_bucket",
}

// operatorUse is one operator of a statement.
type operatorUse struct {
	schema, name  string
	operands      int
	typed, scalar uint64
}

// usesOperator notes the operators of an expression that the guard looks up in the
// catalogue.
func (w *walker) usesOperator(n *aExpr) {
	if name := lastName(n.Name); len(n.Name) == 1 && name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		w.impliedOperators([]*node{n.Lexpr, n.Rexpr}, "<", "<=", ">", ">=") // BETWEEN in one of its forms
		return
	}
	if n.Lexpr == nil {
		w.useOperator(n.Name, n.Location, n.Rexpr)
		return
	}
	w.useOperator(n.Name, n.Location, n.Lexpr, n.Rexpr)
}

// usesOperatorOf notes the operator that compares with the rows of a sub-query.
func (w *walker) usesOperatorOf(n *subLink) {
	switch {
	case len(n.OperName) > 0:
		w.useOperator(n.OperName, n.Location, n.Testexpr, n.Subselect)
	case n.Testexpr != nil:
		w.impliedOperators([]*node{n.Testexpr, n.Subselect}, "=") // IN
	}
	if n.SubLinkType == sublinkArray {
		w.st.Collects = true
	}
}

// sortOperator notes the operator of ORDER BY … USING.
func (w *walker) sortOperator(n *sortBy) { w.useOperator(n.UseOp, n.Location, n.Node, n.Node) }

// useOperator notes an operator that the statement writes.
func (w *walker) useOperator(parts []*node, location int32, operands ...*node) {
	schema, name, ok := w.qualifiedName(parts)
	if !ok {
		return // refused when the operator is judged
	}
	if name == "||" || name == "#=" {
		w.st.Collects = true
	}
	own := builtinOperator(name) && (schema == "" || schema == "pg_catalog")
	if own && !w.names.Operator(name) {
		return
	}
	use := operatorUse{schema: schema, name: name, operands: len(operands)}
	if use.typed, use.scalar = w.typing(operands...); !w.newOperator(use) {
		return
	}
	span := w.tokenSpan(location)
	if schema != "" {
		span = w.bracketSpan(location)
	}
	w.st.Calls = append(w.st.Calls, sqlguard.Call{
		Schema: schema, Name: name, Notation: sqlguard.NotationOperator, Span: span, Arguments: use.operands, Typed: use.typed, Scalar: use.scalar,
		Builtin: own, Ruling: sqlguard.Ruling{Allowed: own},
	})
}

// impliedOperators notes operators that the server looks up by name for other syntax,
// such as IN, BETWEEN and USING. Without operands, the operands are columns.
func (w *walker) impliedOperators(operands []*node, names ...string) {
	use := operatorUse{operands: 2, typed: 3}
	if len(operands) > 0 {
		use.typed, use.scalar = w.typing(operands...)
	}
	for _, name := range names {
		if use.name = name; !w.names.Operator(name) || !w.newOperator(use) {
			continue
		}
		w.st.Calls = append(w.st.Calls, sqlguard.Call{
			Name: name, Notation: sqlguard.NotationOperator, Span: w.tokenSpan(-1), Arguments: 2, Typed: use.typed, Scalar: use.scalar,
			Builtin: true, Ruling: sqlguard.Ruling{Allowed: true},
		})
	}
}

// newOperator reports whether an operator was not noted before.
func (w *walker) newOperator(use operatorUse) bool {
	if w.operators[use] {
		return false
	}
	if w.operators == nil {
		w.operators = make(map[operatorUse]bool)
	}
	w.operators[use] = true
	return true
}

// judgeCaseExpr notes the comparison of CASE x WHEN y.
func (w *walker) judgeCaseExpr(n *caseExpr) {
	w.at(n.Location)
	if w.names != nil && n.Arg != nil {
		for _, when := range n.Args {
			w.impliedOperators([]*node{n.Arg, when.GetCaseWhen().GetExpr()}, "=")
		}
	}
	w.fieldsCaseExpr(n)
}

// judgeA_ArrayExpr notes that values become elements of an array.
func (w *walker) judgeA_ArrayExpr(n *aArrayExpr) {
	w.at(n.Location)
	w.st.Collects = true
	w.fieldsA_ArrayExpr(n)
}
