package pgdb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// routine is what the loader knows about a function.
type routine struct {
	sqlguard.CatalogRoutine
	// inlined says that the server may replace a call with the function's body:
	// the function is in SQL, is not SECURITY DEFINER and has no settings.
	inlined bool
}

// The columns of a row of parts of relations.
const (
	partRelation = iota
	partKind
	partName
	partTree
	partPredicate
	partExpression
	partRuns
	partCompares // types of the values that the part compares
)

// The kinds of parts, as messages call them.
const (
	partOfPolicy = "row security policy"
	partOfKey    = "partition key"
)

// part reads a part of a relation that computes something.
func (l *objectLoader) part(row []string) error {
	at, ok := l.relations[row[partRelation]]
	if !ok {
		return fmt.Errorf("%s %s belongs to relation %s, which is not there", row[partKind], row[partName], row[partRelation])
	}
	p := sqlguard.CatalogPart{
		Name: strings.TrimSpace(fmt.Sprintf("the %s %s", row[partKind], row[partName])),
		Own:  row[partKind] == partOfPolicy, Expression: row[partExpression],
	}
	if row[partKind] == partOfKey {
		p.Name = "the " + partOfKey
	}
	use := uses{l: l, runs: map[string]bool{}, makes: map[string]bool{}}
	for oid := range strings.FieldsSeq(row[partRuns]) {
		use.runs[oid] = true
	}
	for _, oid := range (treeField{words: strings.Fields(row[partCompares])}).made() {
		use.makes[oid] = true
	}
	for _, text := range []string{row[partTree], row[partPredicate]} {
		if text == "" {
			continue
		}
		n, err := readTree(text)
		if err != nil {
			use.runs[""] = true // it may run anything
			continue
		}
		use.plan(n)
		if row[partKind] == partOfKey {
			use.values(n) // the server sorts the bounds of partitions
		}
		if text == row[partPredicate] {
			use.predicate(n)
		}
	}
	var err error
	if p.Makes, err = l.typesOf(strings.Join(sortedKeys(use.makes), " ")); err != nil {
		return err
	}
	if p.Runs = l.routinesOf(sortedKeys(use.runs)); len(p.Runs)+len(p.Makes) == 0 && p.Expression == "" {
		return nil
	}
	slices.SortFunc(p.Makes, compareNames)
	if len(p.Makes) == 0 {
		p.Makes = nil
	}
	r := &l.out.Relations[at]
	r.Parts = append(r.Parts, p)
	return nil
}

// order reads the OIDs of a type and of functions that compare its values.
func (l *objectLoader) order(row []string) error {
	t, err := l.typeOf(row[0])
	if err != nil {
		return err
	}
	l.out.Orders = append(l.out.Orders, sqlguard.CatalogOrder{Type: t, Runs: l.routinesOf(strings.Fields(row[1]))})
	return nil
}

// routinesOf returns the functions with these OIDs. A function in another
// session's temporary schema is unknown and has no name.
func (l *objectLoader) routinesOf(oids []string) []sqlguard.CatalogRoutine {
	var out []sqlguard.CatalogRoutine
	for _, oid := range oids {
		out = append(out, l.routines[oid].CatalogRoutine)
	}
	slices.SortFunc(out, compareRoutines)
	return out
}

func compareRoutines(a, b sqlguard.CatalogRoutine) int {
	return cmp.Or(compareNames(a.CatalogName, b.CatalogName), slices.CompareFunc(a.Arguments, b.Arguments, compareNames))
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// uses collects what the server may run for an expression of a relation when it
// plans a read. It holds OIDs: of functions, and of types of which the server
// may make a value.
type uses struct {
	l           *objectLoader
	runs, makes map[string]bool
}

// plan collects what the planner may evaluate. The planner replaces a function
// of constants by its result (eval_const_expressions), and a call of a function
// in SQL by its body. It does not evaluate a function with an argument that
// cannot become a constant. The values that an expression computes from rows
// were computed when the rows were written.
func (u *uses) plan(n *tree) {
	if held, inlined := u.held(n); !held {
		u.all(n)
		if !slices.Contains(treePlain, n.kind) {
			u.values(n)
		}
	} else if inlined {
		u.all(n)
	}
	for _, f := range n.fields {
		for _, child := range f.trees {
			u.plan(child)
		}
	}
}

// held reports whether an argument of a function or operator varies with the
// row, so that the call is not constant. inlined says whether the function's
// body may replace the call.
func (u *uses) held(n *tree) (held, inlined bool) {
	switch n.kind {
	case "FUNCEXPR", "OPEXPR", "DISTINCTEXPR", "NULLIFEXPR", "SCALARARRAYOPEXPR":
		held = slices.ContainsFunc(n.field("args").children(), u.varies)
	}
	if n.kind == "FUNCEXPR" || n.kind == "OPEXPR" {
		for _, oid := range u.functions(n) {
			r, known := u.l.routines[oid]
			inlined = inlined || !known || r.inlined
		}
	}
	return held, inlined
}

// varies reports whether an expression certainly still contains a column after
// planning. A strict function of NULL is NULL, so no other argument may turn
// out to be NULL.
func (u *uses) varies(n *tree) bool {
	switch n.kind {
	case "VAR":
		return true
	case "RELABELTYPE", "COLLATEEXPR", "COERCEVIAIO":
		return slices.ContainsFunc(n.field("arg").children(), u.varies)
	case "FUNCEXPR", "OPEXPR":
		if held, inlined := u.held(n); !held || inlined {
			return false
		}
		for _, argument := range n.field("args").children() {
			null := argument.field("constisnull").words
			if constant := argument.kind == "CONST" && len(null) == 1 && null[0] == "false"; !constant && !u.varies(argument) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// The fields of a node that hold OIDs: of functions, of operators, and of the
// types of the values that the node makes.
var (
	treeFunctions = []string{"funcid", "opfuncid", "hashfuncid", "negfuncid", "aggfnoid", "winfnoid"}
	treeOperators = []string{"opno", "opnos", "sortop", "eqop"}
	treeTypes     = []string{"consttype", "resulttype", "funcresulttype", "opresulttype", "minmaxtype", "array_typeid", "element_typeid", "row_typeid"}
)

// treePlain are the kinds of nodes that run no function of the types of their
// inputs.
var treePlain = []string{
	"", "ARRAYEXPR", "BOOLEANTEST", "BOOLEXPR", "CASEEXPR", "CASEWHEN", "COALESCEEXPR", "COALESCE", "COERCETODOMAIN", "COLLATEEXPR", "CONST",
	"NULLTEST", "RELABELTYPE", "ROWEXPR", "ROW", "VAR", "WHEN", "CASE", "ARRAY", "CASETESTEXPR",
}

// functions returns the functions that the node itself runs, except the
// server's own.
func (u *uses) functions(n *tree) []string {
	var out []string
	for _, name := range treeFunctions {
		out = append(out, n.field(name).made()...)
	}
	for _, name := range treeOperators {
		for _, oid := range n.field(name).made() {
			if runs, known := u.l.operators[oid]; !known {
				out = append(out, "")
			} else if len((treeField{words: []string{runs}}).made()) > 0 {
				out = append(out, runs)
			}
		}
	}
	return out
}

func (u *uses) all(n *tree) {
	for _, oid := range u.functions(n) {
		u.runs[oid] = true
	}
}

// values collects the types of the values that a node and its children make.
func (u *uses) values(n *tree) {
	for _, name := range treeTypes {
		if n.kind == "COERCETODOMAIN" || n.kind == "RELABELTYPE" {
			break // the node runs nothing, or runs it only for rows
		}
		for _, oid := range n.field(name).made() {
			u.makes[oid] = true
		}
	}
	for _, f := range n.fields {
		for _, child := range f.children() {
			u.values(child)
		}
	}
}

// predicate collects what a scan of a partial index may run for rows, because
// the server evaluates a part of the predicate again when the query implies it.
// A condition that is not part of an OR is implied by a query that contains the
// same condition, so the query itself names its functions. That is not true for
// the parts of an OR, and not for the operators of one family, which imply each
// other.
func (u *uses) predicate(n *tree) {
	switch n.kind {
	case "", "FUNCEXPR", "NULLTEST", "RELABELTYPE", "COLLATEEXPR", "COERCEVIAIO", "CONST", "VAR":
	case "OPEXPR":
		u.all(n)
	case "BOOLEXPR":
		if op := n.field("boolop").words; len(op) != 1 || op[0] != "and" {
			u.everything(n)
			return
		}
	default:
		u.everything(n)
		return
	}
	for _, f := range n.fields {
		for _, child := range f.children() {
			u.predicate(child)
		}
	}
}

// everything collects everything that an expression runs.
func (u *uses) everything(n *tree) {
	u.all(n)
	if n.kind != "VAR" {
		for _, name := range treeTypes {
			for _, oid := range n.field(name).made() {
				u.makes[oid] = true
			}
		}
	}
	for _, f := range n.fields {
		for _, child := range f.children() {
			u.everything(child)
		}
	}
}
