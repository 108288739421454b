package sqlguard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// An ObjectDialect is a Dialect whose statements can be judged with the objects of
// a catalogue. Its tables decide on objects of the server and of reviewed
// extensions. A [Guard] looks up all other names in the catalogue.
type ObjectDialect interface {
	Dialect
	// AnalyzeObjects is like Analyze and also states the facts that depend on the
	// objects: the number of arguments of calls, operators that names knows,
	// operators that syntax implies, and a call for every qualified column, unless
	// the relation before the dot certainly has that column. part says what kind
	// of text it is.
	AnalyzeObjects(text string, part Part, names ObjectNames) ([]Statement, error)
	// ServerSchemas are the schemas of the server's own objects. Unqualified
	// names are looked up in the first of them before the search path.
	ServerSchemas() []string
	// ServerFunction decides on a function of the server's own that an operator, a
	// cast or an aggregate runs. The ruling must hold for any arguments.
	ServerFunction(name string) Ruling
	// Reviewed reports whether the functions, casts and types of an extension
	// were reviewed. ReviewedOperator and ReviewedType report the same for one of
	// its operators or types.
	Reviewed(extension string) bool
	ReviewedOperator(extension, name string) bool
	ReviewedType(extension, name string) bool
	// QuietCasts are the types of the server's own to which functions of the server
	// cast their arguments without a cast in the statement.
	QuietCasts() []string
	// ReturnsRow reports whether a function of the server's own can return a row or
	// a value of the type of its argument.
	ReturnsRow(function string) bool
	// Polymorphic reports whether a type of the server's own means any type or any
	// row.
	Polymorphic(name string) bool
}

// HomeDialect is an [ObjectDialect] whose servers look up names without a schema in the
// source of an object where the object is, not along the session's search path.
type HomeDialect interface {
	ObjectDialect
	// SearchFrom returns the schemas in which such names are looked up, for an object
	// in the given schema.
	SearchFrom(schema string) []string
}

// NoOwnTypes has the methods of an [ObjectDialect] that are about types, operators, casts
// and extensions, for servers on which users make none.
type NoOwnTypes struct{}

// ServerFunction refuses: no object of the catalogue runs a function by its name alone.
func (NoOwnTypes) ServerFunction(string) Ruling { return Ruling{} }

// Reviewed reports that there is no reviewed extension.
func (NoOwnTypes) Reviewed(string) bool { return false }

// ReviewedOperator reports that there is no reviewed extension.
func (NoOwnTypes) ReviewedOperator(string, string) bool { return false }

// ReviewedType reports that there is no reviewed extension.
func (NoOwnTypes) ReviewedType(string, string) bool { return false }

// QuietCasts returns no type.
func (NoOwnTypes) QuietCasts() []string { return nil }

// ReturnsRow reports that no function returns a row as a value.
func (NoOwnTypes) ReturnsRow(string) bool { return false }

// Polymorphic reports that no type means any type.
func (NoOwnTypes) Polymorphic(string) bool { return false }

// ownTypes tells the types [NoOwnTypes] from others.
func (NoOwnTypes) ownTypes() bool { return false }

// Part says what kind of text [ObjectDialect.AnalyzeObjects] reads.
type Part int

// The parts.
const (
	PartStatement  Part = iota // a statement as it was sent
	PartQuery                  // the query of a view
	PartBody                   // the body of a function; parameters are values
	PartExpression             // an expression, or several with commas between
)

// ObjectNames tells a dialect which objects exist.
type ObjectNames interface {
	// Callable reports whether a name that is written like a column could call a
	// user-defined function, or cast to a user-defined type.
	Callable(name string) bool
	// Operator reports whether an operator that is not the server's own could
	// run where this name is written.
	Operator(name string) bool
	// Columns returns the columns of the relation that a name means, read-only.
	Columns(schema, name string) ([]string, bool)
}

// objects are the objects of a catalogue, indexed. They never change.
type objects struct {
	Objects
	dialect ObjectDialect
	server  []string                     // schemas of the server's own objects
	home    func(schema string) []string // of a [HomeDialect], else nil
	typed   bool                         // users can make types
	quiet   map[CatalogName]bool
	path    []string // where unqualified names are looked up; nil when unknown

	functions map[string][]int            // by name
	operators map[string][]int            // by name
	stands    map[string][]int            // operators that run in place of one of that name
	types     map[CatalogName]int         // index into Types
	relations map[CatalogName]int         // index into Relations
	named     map[string][]int            // relations by name
	parents   map[int][]int               // relations that read one as their child
	foreign   map[int]CatalogName         // the foreign table that a read of a relation reads
	columns   [][]string                  // the names of the columns of Relations
	parts     map[int]bool                // relations for which a read runs parts
	typeNames map[string]bool             // names of types, without schemas
	listNames map[string]bool             // names of array types, without their leading underscores
	multi     map[CatalogName]CatalogName // multiranges by their ranges
	arrays    map[CatalogName]CatalogName
	casts     []int            // casts that run a function that was not reviewed
	implicit  map[string][]int // implicit casts by their source; "" for those of the server
	risks     map[int][]risk

	mu    sync.Mutex
	local map[node]*localVerdict
}

func newObjects(d Dialect, o *Objects, path []string) (*objects, error) {
	reader, ok := d.(ObjectDialect)
	if !ok {
		return nil, errors.New("the dialect " + d.Name() + " does not judge with the objects of a catalogue")
	}
	x := &objects{
		Objects: o.clone(), dialect: reader, server: reader.ServerSchemas(),
		functions: make(map[string][]int, len(o.Functions)), operators: make(map[string][]int, len(o.Operators)),
		stands: make(map[string][]int), types: make(map[CatalogName]int, len(o.Types)),
		relations: make(map[CatalogName]int, len(o.Relations)), named: make(map[string][]int, len(o.Relations)),
		typeNames: make(map[string]bool, len(o.Types)), listNames: make(map[string]bool, len(o.Types)+len(o.Relations)),
		multi: make(map[CatalogName]CatalogName), arrays: make(map[CatalogName]CatalogName, len(o.Types)+len(o.Relations)),
		local: make(map[node]*localVerdict), implicit: make(map[string][]int), quiet: make(map[CatalogName]bool),
	}
	if at, ok := d.(HomeDialect); ok {
		x.home = at.SearchFrom
	}
	bare, ok := d.(interface{ ownTypes() bool })
	x.typed = !ok || bare.ownTypes()
	x.columns = make([][]string, len(x.Relations))
	if len(x.server) == 0 {
		return nil, fmt.Errorf("the dialect %s names no schema of the server's own", d.Name())
	}
	if path != nil {
		x.path = append(slices.Clone(x.server[:1]), path...)
	}
	for _, name := range reader.QuietCasts() {
		x.quiet[CatalogName{x.server[0], name}] = true
	}
	for i := range x.Functions {
		f := &x.Functions[i]
		x.functions[x.fold(f.Name)] = append(x.functions[x.fold(f.Name)], i)
	}
	for i := range x.Operators {
		op := &x.Operators[i]
		x.operators[op.Name] = append(x.operators[op.Name], i)
		for _, other := range []string{op.Commutator.Name, op.Negator.Name} {
			if other != "" && other != op.Name {
				x.stands[other] = append(x.stands[other], i)
			}
		}
	}
	for i := range x.Types {
		t := &x.Types[i]
		x.types[t.CatalogName] = i
		x.typeNames[t.Name] = true
		x.array(t.CatalogName)
	}
	for i := range x.Types {
		t := &x.Types[i]
		if base, ok := x.types[t.Base]; ok && t.Kind == TypeRange && x.Types[base].Kind == TypeRange {
			x.multi[t.Base] = t.CatalogName
		}
	}
	for i := range x.Relations {
		r := &x.Relations[i]
		x.relations[x.key(r.CatalogName)] = i
		x.named[r.Name] = append(x.named[r.Name], i)
		x.columns[i] = make([]string, len(r.Columns))
		for n, c := range r.Columns {
			x.columns[i][n] = c.Name
		}
		if x.typed {
			x.array(r.CatalogName)
		}
	}
	for i := range x.Casts {
		c := &x.Casts[i]
		if c.Context == CastImplicit && x.serverOwn(c.Source.Schema) {
			x.implicit[""] = append(x.implicit[""], i)
		} else if c.Context == CastImplicit {
			source := x.element(c.Source).String()
			x.implicit[source] = append(x.implicit[source], i)
		}
		if c.Function != (CatalogName{}) && !reader.Reviewed(c.Extension) {
			x.casts = append(x.casts, i)
		}
	}
	x.parents, x.foreign, x.parts = make(map[int][]int), make(map[int]CatalogName), make(map[int]bool)
	for i := range x.Relations {
		for n, at := range x.family(i) {
			if len(x.Relations[at].Parts) > 0 {
				x.parts[i] = true
			}
			if x.Relations[i].Kind == RelationPartitioned && len(x.Relations[i].Parts) > 0 {
				x.parts[at] = true
			}
			if n > 0 {
				x.parents[at] = append(x.parents[at], i)
			}
			if _, known := x.foreign[i]; !known && x.Relations[at].Kind == RelationForeign {
				x.foreign[i] = x.Relations[at].CatalogName
			}
		}
	}
	x.findRisks()
	return x, nil
}

// maxNameBytes is the largest length of a name.
const maxNameBytes = 63

// array notes the name that the server gives to the array type of a type.
func (o *objects) array(element CatalogName) {
	name := "_" + element.Name
	for len(name) > maxNameBytes || !utf8.ValidString(name) {
		name = name[:len(name)-1]
	}
	o.arrays[CatalogName{element.Schema, name}] = element
	o.listNames[strings.TrimLeft(name, "_")] = true
}

// namesType reports whether a type could have the name. The name of an array type
// begins with more underscores when shorter names were taken.
func (o *objects) namesType(name string) bool {
	return o.typeNames[name] || strings.HasPrefix(name, "_") && o.listNames[strings.TrimLeft(name, "_")]
}

// element returns the type of the elements if n is an array, else n.
func (o *objects) element(n CatalogName) CatalogName {
	if ref, ok := o.typeAt(n); ok {
		return o.nameOf(ref)
	}
	if o.serverOwn(n.Schema) {
		n.Name = strings.TrimPrefix(n.Name, "_")
	}
	return n
}

// clone copies the parts that the caller could change later.
func (o *Objects) clone() Objects {
	c := Objects{
		Functions: slices.Clone(o.Functions), Operators: slices.Clone(o.Operators), Casts: slices.Clone(o.Casts),
		Types: slices.Clone(o.Types), Relations: slices.Clone(o.Relations), Orders: slices.Clone(o.Orders), FoldsNames: o.FoldsNames,
	}
	for i := range c.Functions {
		f := &c.Functions[i]
		f.Arguments, f.Results, f.Settings, f.Runs = slices.Clone(f.Arguments), slices.Clone(f.Results), slices.Clone(f.Settings), slices.Clone(f.Runs)
	}
	for i := range c.Types {
		t := &c.Types[i]
		t.Checks, t.Runs, t.Columns = slices.Clone(t.Checks), slices.Clone(t.Runs), slices.Clone(t.Columns)
	}
	for i := range c.Relations {
		r := &c.Relations[i]
		r.Columns, r.Children, r.Parts = slices.Clone(r.Columns), slices.Clone(r.Children), slices.Clone(r.Parts)
		for n := range r.Parts {
			p := &r.Parts[n]
			p.Runs, p.Makes = cloneRoutines(p.Runs), slices.Clone(p.Makes)
		}
	}
	for i := range c.Orders {
		c.Orders[i].Runs = cloneRoutines(c.Orders[i].Runs)
	}
	return c
}

func cloneRoutines(routines []CatalogRoutine) []CatalogRoutine {
	routines = slices.Clone(routines)
	for i := range routines {
		routines[i].Arguments = slices.Clone(routines[i].Arguments)
	}
	return routines
}

// searched reports whether a name without a schema is looked up in a schema.
func (o *objects) searched(schema string) bool {
	return o.path == nil || slices.Contains(o.path, schema)
}

// serverOwn reports whether a schema is one of the server's own.
func (o *objects) serverOwn(schema string) bool { return slices.Contains(o.server, schema) }

// fold returns the form in which a name is looked up.
func (o *objects) fold(name string) string {
	if o.FoldsNames {
		return strings.ToLower(name)
	}
	return name
}

// key returns the form in which the name of a relation is looked up.
func (o *objects) key(n CatalogName) CatalogName {
	return CatalogName{o.fold(n.Schema), o.fold(n.Name)}
}

// callable returns the functions that a call with this number of arguments could
// mean; a negative number means any. The server chooses among them by the types of
// the arguments, which the statement does not show. A name without a schema is looked
// up in the schemas of home, or along the search path when home is nil.
func (o *objects) callable(home []string, schema, name string, arguments int) []int {
	var out []int
	for _, i := range o.functions[o.fold(name)] {
		f := &o.Functions[i]
		searched := schema != "" && o.fold(f.Schema) == o.fold(schema) || schema == "" && home == nil && o.searched(f.Schema) ||
			schema == "" && slices.ContainsFunc(home, func(s string) bool { return o.fold(s) == o.fold(f.Schema) })
		if f.Kind == FunctionProcedure || !searched {
			continue
		}
		least := len(f.Arguments) - f.Defaults
		switch {
		case arguments < 0,
			arguments >= least && arguments <= len(f.Arguments),
			f.Variadic && arguments >= least-1:
			out = append(out, i)
		}
	}
	return out
}

// Callable implements [ObjectNames].
func (o *objects) Callable(name string) bool {
	return o.namesType(name) || slices.ContainsFunc(o.functions[o.fold(name)], func(i int) bool { return o.Functions[i].Kind != FunctionProcedure })
}

// Operator implements [ObjectNames].
func (o *objects) Operator(name string) bool {
	return len(o.operators[name]) > 0 || len(o.stands[name]) > 0
}

// Columns implements [ObjectNames].
func (o *objects) Columns(schema, name string) ([]string, bool) {
	i, ok := o.relation(nil, schema, name)
	if !ok {
		return nil, false
	}
	return o.columns[i], true
}

// relation finds the relation that a name means: the one in its schema, or the first
// in the schemas of home, or along the search path when home is nil. When the path is
// not known, it resolves no name without a schema.
func (o *objects) relation(home []string, schema, name string) (int, bool) {
	if schema != "" {
		i, ok := o.relations[o.key(CatalogName{schema, name})]
		return i, ok
	}
	if home == nil {
		home = o.path
	}
	for _, s := range home {
		if i, ok := o.relations[o.key(CatalogName{s, name})]; ok {
			return i, true
		}
	}
	return 0, false
}

// virtual reports whether a name means a relation that no catalogue lists.
func (o *objects) virtual(r *Relation) bool {
	d, ok := o.dialect.(interface{ VirtualRelation(name string) bool })
	return ok && d.VirtualRelation(r.Name)
}

// hides reports whether a catalogue lacks objects that the role may not see.
func (o *objects) hides() bool {
	d, ok := o.dialect.(interface{ HidesObjects() bool })
	return ok && d.HidesObjects()
}

// maxSynonyms bounds the synonyms from a name to a relation.
const maxSynonyms = 32

// target returns the relation for which a synonym stands, and any other relation as
// it is.
func (o *objects) target(i int) (int, bool) {
	for range maxSynonyms {
		r := &o.Relations[i]
		if r.Kind != RelationSynonym {
			return i, true
		}
		at, ok := o.relations[o.key(r.Target)]
		if !ok {
			return i, false
		}
		i = at
	}
	return i, false
}

// typeRef is a type of the catalogue: one of Types, or the row of a relation.
type typeRef struct {
	index int
	row   bool
}

// typeOf resolves the name of a type. For an array it returns the type of the elements.
func (o *objects) typeOf(schema, name string) (typeRef, bool) {
	if schema != "" {
		return o.typeAt(CatalogName{schema, name})
	}
	for _, s := range o.path {
		if ref, ok := o.typeAt(CatalogName{s, name}); ok {
			return ref, true
		}
	}
	return typeRef{}, false
}

// typeAt finds the type of a name of the catalogue.
func (o *objects) typeAt(n CatalogName) (typeRef, bool) {
	for {
		if ref, ok := o.typeIn(n); ok {
			return ref, true
		}
		// An array has a second underscore when another type had the first name.
		rest, array := strings.CutPrefix(n.Name, "_")
		if !array {
			return typeRef{}, false
		}
		n.Name = rest
	}
}

func (o *objects) typeIn(key CatalogName) (typeRef, bool) {
	for range 2 {
		if i, ok := o.types[key]; ok {
			return typeRef{index: i}, true
		}
		if i, ok := o.relations[o.key(key)]; ok && o.typed {
			return typeRef{index: i, row: true}, true
		}
		element, array := o.arrays[key]
		if !array {
			break
		}
		key = element
	}
	return typeRef{}, false
}

// nameOf returns the name of a type.
func (o *objects) nameOf(ref typeRef) CatalogName {
	if ref.row {
		return o.Relations[ref.index].CatalogName
	}
	return o.Types[ref.index].CatalogName
}

// String returns the name with its schema.
func (n CatalogName) String() string { return qualified(n.Schema, n.Name) }

// signature returns the function's name in messages.
func (f *CatalogFunction) signature() string {
	arguments := make([]string, len(f.Arguments))
	for i, a := range f.Arguments {
		arguments[i] = a.Name
	}
	return f.String() + "(" + strings.Join(arguments, ", ") + ")"
}

// family returns a relation and its children at every level, without duplicates.
func (o *objects) family(i int) []int {
	out := []int{i}
	if len(o.Relations[i].Children) == 0 {
		return out
	}
	seen := map[int]bool{i: true}
	for n := 0; n < len(out); n++ {
		for _, child := range o.Relations[out[n]].Children {
			if at, ok := o.relations[o.key(child)]; ok && !seen[at] {
				seen[at] = true
				out = append(out, at)
			}
		}
	}
	return out
}

// relatives returns a relation, its children and its parents: a read of one can
// show rows of another.
func (o *objects) relatives(i int) []int { return append(o.family(i), o.parents[i]...) }

// schemasOf returns the schemas that have a relation of that name.
func (o *objects) schemasOf(name string) []string {
	schemas := map[string]bool{}
	for _, i := range o.named[name] {
		schemas[o.Relations[i].Schema] = true
	}
	return slices.Sorted(maps.Keys(schemas))
}

// operatorsFor returns the operators that a name with this number of operands could
// run: those of the name, and those that the server runs instead of one of them. The
// second kind does not depend on the search path.
func (o *objects) operatorsFor(schema, name string, operands int) []int {
	var out []int
	seen := map[int]bool{}
	add := func(i int) {
		if !seen[i] {
			seen[i] = true
			out = append(out, i)
		}
	}
	for _, i := range o.operators[name] {
		op := &o.Operators[i]
		if operands > 0 && len(op.operands()) != operands || schema == "" && !o.searched(op.Schema) || schema != "" && schema != op.Schema {
			continue
		}
		add(i)
	}
	for _, i := range o.stands[name] {
		add(i)
	}
	for n := 0; n < len(out); n++ {
		op := &o.Operators[out[n]]
		for _, other := range []CatalogName{op.Commutator, op.Negator} {
			for _, i := range o.operators[other.Name] {
				if o.Operators[i].CatalogName == other {
					add(i)
				}
			}
			for _, i := range o.stands[other.Name] {
				add(i)
			}
		}
	}
	return out
}

// operands are the types of an operator's operands.
func (op *CatalogOperator) operands() []CatalogName {
	var out []CatalogName
	for _, t := range []CatalogName{op.Left, op.Right} {
		if t != (CatalogName{}) {
			out = append(out, t)
		}
	}
	return out
}

// signature returns the operator's name in messages.
func (op *CatalogOperator) signature() string {
	sides := make([]string, 0, 2)
	for _, t := range op.operands() {
		sides = append(sides, t.Name)
	}
	return op.String() + " (" + strings.Join(sides, ", ") + ")"
}

// constructor reports whether a function is a constructor that the server created
// for a range: it has the range's name and the arguments of a constructor.
func (o *objects) constructor(f *CatalogFunction) bool {
	if f.Language != "internal" || f.Kind != FunctionPlain || f.SecurityDefiner {
		return false
	}
	i, ok := o.types[f.CatalogName]
	if !ok || o.Types[i].Kind != TypeRange {
		return false
	}
	base := o.Types[i].Base
	under, ok := o.types[base]
	multirange := ok && o.Types[under].Kind == TypeRange
	switch len(f.Arguments) {
	case 0:
		return multirange
	case 1: // a multirange of its range, or of several
		element, array := o.arrays[f.Arguments[0]]
		return multirange && (f.Arguments[0] == base || array && element == base)
	case 2:
		return f.Arguments[0] == base && f.Arguments[1] == base
	case 3:
		return f.Arguments[0] == base && f.Arguments[1] == base && f.Arguments[2] == CatalogName{o.server[0], "text"}
	default:
		return false
	}
}
