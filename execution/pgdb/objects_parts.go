package pgdb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// routine is what the loader knows of a function by its OID.
type routine struct {
	sqlguard.CatalogRoutine
	// inlined says that the server may put the function's body in the place of
	// a call: it is in SQL, and neither SECURITY DEFINER nor with settings.
	inlined bool
}

// The facts of parts of relations.
const (
	partRelation = iota
	partKind
	partName
	partTree
	partPredicate
	partExpression
	partRuns
	partCompares // types whose values are compared
)

// The kinds of parts, as messages call them.
const (
	partOfPolicy = "row security policy"
	partOfKey    = "partition key"
)

// part reads what belongs to a relation and computes.
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
			use.runs[""] = true // nothing is known of it
			continue
		}
		use.plan(n)
		if row[partKind] == partOfKey {
			use.values(n) // the bounds of partitions are sorted
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

// routinesOf returns the functions with these OIDs. One of another session's
// temporary schema is not known, and bears no name.
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

// uses collects what an expression of a relation may run when a read is
// planned, by OID: functions, and types of which a value may be made.
type uses struct {
	l           *objectLoader
	runs, makes map[string]bool
}

// plan collects what the planner may evaluate: it replaces a function of
// constants by its result (eval_const_expressions), and a call of a function in
// SQL by its body. A function with an argument that cannot become a constant is
// left alone, and what an expression computes from rows was computed when they
// were written.
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
// row, so that the call is no constant, and whether a body may take its place.
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

// varies reports whether an expression certainly keeps a column in it, whatever
// the planner makes of it. A strict function of a null is null, so that nothing
// beside the column may turn out to be one.
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

// The fields that hold OIDs of functions, of operators, and of types of which a
// node makes values.
var (
	treeFunctions = []string{"funcid", "opfuncid", "hashfuncid", "negfuncid", "aggfnoid", "winfnoid"}
	treeOperators = []string{"opno", "opnos", "sortop", "eqop"}
	treeTypes     = []string{"consttype", "resulttype", "funcresulttype", "opresulttype", "minmaxtype", "array_typeid", "element_typeid", "row_typeid"}
)

// treePlain are the kinds of nodes that run nothing of the types of what they
// are given.
var treePlain = []string{
	"", "ARRAYEXPR", "BOOLEANTEST", "BOOLEXPR", "CASEEXPR", "CASEWHEN", "COALESCEEXPR", "COALESCE", "COERCETODOMAIN", "COLLATEEXPR", "CONST",
	"NULLTEST", "RELABELTYPE", "ROWEXPR", "ROW", "VAR", "WHEN", "CASE", "ARRAY", "CASETESTEXPR",
}

// functions are those that the node itself runs, the server's own left out.
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

// values collects the types of the values that a node and what is in it make.
func (u *uses) values(n *tree) {
	for _, name := range treeTypes {
		if n.kind == "COERCETODOMAIN" || n.kind == "RELABELTYPE" {
			break // nothing runs, or only for rows
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

// predicate collects what a scan of a partial index may run for rows: the
// server evaluates a part of the predicate again where the query implies it. What
// stands alone is implied by a query that says the same, so that its functions
// are in the query's text; not so what stands beside an alternative, nor
// the operators of one family, which imply each other.
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

// everything collects all that an expression runs.
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
