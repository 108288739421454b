package pgdb

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// objectLoader makes objects from the rows of the server's catalogue.
type objectLoader struct {
	out *sqlguard.Objects

	// types are the names of all types, by OID as the server writes it. pending
	// are the types that refer to other types.
	types   map[string]sqlguard.CatalogName
	pending []pendingType
	// relations are positions in out. children are the OIDs of the relations
	// that inherit directly.
	relations map[string]int
	children  map[string][]string
	// routines are functions, and operators the functions of operators, by OID.
	routines  map[string]routine
	operators map[string]string
}

func newObjectLoader() *objectLoader {
	return &objectLoader{
		out: &sqlguard.Objects{
			Functions: []sqlguard.CatalogFunction{}, Operators: []sqlguard.CatalogOperator{}, Casts: []sqlguard.CatalogCast{},
			Types: []sqlguard.CatalogType{}, Relations: []sqlguard.CatalogRelation{},
		},
		types:     map[string]sqlguard.CatalogName{"0": {}},
		relations: map[string]int{}, children: map[string][]string{},
		routines: map[string]routine{}, operators: map[string]string{},
	}
}

// pendingType is a type whose base or attributes may not be known yet.
type pendingType struct {
	at             int // position in out.Types
	base           string
	columns, types string
}

// typeOf returns the name of a type. An unknown type is an error, because
// otherwise it would read as no type.
func (l *objectLoader) typeOf(oid string) (sqlguard.CatalogName, error) {
	name, ok := l.types[oid]
	if !ok {
		return name, fmt.Errorf("type %s has no name", oid)
	}
	return name, nil
}

// typesOf returns the names of a list of types.
func (l *objectLoader) typesOf(oids string) ([]sqlguard.CatalogName, error) {
	names := []sqlguard.CatalogName{}
	for oid := range strings.FieldsSeq(oids) {
		name, err := l.typeOf(oid)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// columnsOf combines the names and types of columns.
func (l *objectLoader) columnsOf(names, oids string) ([]sqlguard.CatalogColumn, error) {
	list, err := jsonList[string](names)
	if err != nil {
		return nil, err
	}
	types, err := l.typesOf(oids)
	if err != nil {
		return nil, err
	}
	if len(list) != len(types) {
		return nil, fmt.Errorf("%d columns of %d types", len(list), len(types))
	}
	columns := make([]sqlguard.CatalogColumn, len(list))
	for i, name := range list {
		columns[i] = sqlguard.CatalogColumn{Name: name, Type: types[i]}
	}
	return columns, nil
}

// namesOf reads a list of schemas and names.
func namesOf(text string) ([]sqlguard.CatalogName, error) {
	list, err := jsonList[[2]string](text)
	if err != nil {
		return nil, err
	}
	var names []sqlguard.CatalogName
	for _, pair := range list {
		names = append(names, sqlguard.CatalogName{Schema: pair[0], Name: pair[1]})
	}
	slices.SortFunc(names, compareNames)
	return slices.Compact(names), nil
}

// The columns of a row of types.
const (
	typeOID = iota
	typeSchema
	typeName
	typeKind // "" when the type is not listed
	typeExtension
	typeChecks
	typeRuns
	typeColumns
	typeColumnTypes
	typeBase
)

func (l *objectLoader) typeFacts(row []string) error {
	name := sqlguard.CatalogName{Schema: row[typeSchema], Name: row[typeName]}
	l.types[row[typeOID]] = name
	if row[typeKind] == "" {
		return nil
	}
	t := sqlguard.CatalogType{CatalogName: name, Extension: row[typeExtension]}
	switch row[typeKind] {
	case "b":
		t.Kind = sqlguard.TypeBase
	case "c":
		t.Kind = sqlguard.TypeComposite
	case "d":
		t.Kind = sqlguard.TypeDomain
	case "e":
		t.Kind = sqlguard.TypeEnum
	case "r", "m": // m is a multirange, which belongs to a range
		t.Kind = sqlguard.TypeRange
	default:
		return fmt.Errorf("type %s.%s is of the kind %q", name.Schema, name.Name, row[typeKind])
	}
	var err error
	if t.Checks, err = jsonList[string](row[typeChecks]); err != nil {
		return err
	}
	if t.Runs, err = namesOf(row[typeRuns]); err != nil {
		return err
	}
	l.out.Types = append(l.out.Types, t)
	l.pending = append(l.pending, pendingType{len(l.out.Types) - 1, row[typeBase], row[typeColumns], row[typeColumnTypes]})
	return nil
}

// The columns of a row of functions.
const (
	functionSchema = iota
	functionName
	functionKind
	functionVolatility
	functionDefiner
	functionLanguage
	functionExtension
	functionArguments
	functionDefaults
	functionResult
	functionAllArguments
	functionModes
	functionVariadic
	functionSettings
	functionDefaultValues
	functionRuns
	functionBody
	functionOID
)

func (l *objectLoader) function(row []string) error {
	f := sqlguard.CatalogFunction{
		CatalogName: sqlguard.CatalogName{Schema: row[functionSchema], Name: row[functionName]},
		Language:    row[functionLanguage], Extension: row[functionExtension],
		SecurityDefiner: row[functionDefiner] == "t", Variadic: row[functionVariadic] == "t",
		DefaultValues: row[functionDefaultValues], Body: row[functionBody],
	}
	switch row[functionKind] {
	case "f":
		f.Kind = sqlguard.FunctionPlain
	case "a":
		f.Kind = sqlguard.FunctionAggregate
	case "w":
		f.Kind = sqlguard.FunctionWindow
	case "p":
		f.Kind = sqlguard.FunctionProcedure
	default:
		return fmt.Errorf("function %s.%s is of the kind %q", f.Schema, f.Name, row[functionKind])
	}
	switch row[functionVolatility] {
	case "i":
		f.Volatility = sqlguard.VolatilityImmutable
	case "s":
		f.Volatility = sqlguard.VolatilityStable
	case "v":
		f.Volatility = sqlguard.VolatilityVolatile
	default:
		return fmt.Errorf("function %s.%s has the volatility %q", f.Schema, f.Name, row[functionVolatility])
	}
	var err error
	if f.Defaults, err = strconv.Atoi(row[functionDefaults]); err != nil {
		return fmt.Errorf("function %s.%s: %w", f.Schema, f.Name, err)
	}
	if f.Arguments, err = l.typesOf(row[functionArguments]); err != nil {
		return err
	}
	if f.Results, err = l.results(row[functionResult], row[functionAllArguments], row[functionModes]); err != nil {
		return fmt.Errorf("function %s.%s: %w", f.Schema, f.Name, err)
	}
	if f.Settings, err = jsonList[string](row[functionSettings]); err != nil {
		return err
	}
	if f.Runs, err = namesOf(row[functionRuns]); err != nil {
		return err
	}
	l.out.Functions = append(l.out.Functions, f)
	l.routines[row[functionOID]] = routine{
		CatalogRoutine: sqlguard.CatalogRoutine{CatalogName: f.CatalogName, Arguments: f.Arguments},
		inlined:        f.Language == "sql" && !f.SecurityDefiner && len(f.Settings) == 0,
	}
	return nil
}

// results returns the types of the values that a function returns: the result,
// the states of an aggregate, then each argument that is a result column (o, b
// and t of pg_proc.proargmodes).
func (l *objectLoader) results(result, all, modes string) ([]sqlguard.CatalogName, error) {
	items := func(array string) []string {
		return strings.FieldsFunc(array, func(r rune) bool { return r == '{' || r == ',' || r == '}' })
	}
	oids, kinds := items(all), items(modes)
	if len(oids) != len(kinds) {
		return nil, fmt.Errorf("%d arguments of %d modes", len(oids), len(kinds))
	}
	list := slices.Compact(strings.Fields(result))
	for i, kind := range kinds {
		switch kind {
		case "o", "b", "t":
			list = append(list, oids[i])
		case "i", "v":
		default:
			return nil, fmt.Errorf("an argument has the mode %q", kind)
		}
	}
	return l.typesOf(strings.Join(list, " "))
}

// operator reads schema, name, the types of both sides, the schemas and names
// of its function, commutator and negator, its extension, and the OIDs of the
// operator and its function.
func (l *objectLoader) operator(row []string) error {
	left, err := l.typeOf(row[2])
	if err != nil {
		return err
	}
	right, err := l.typeOf(row[3])
	if err != nil {
		return err
	}
	l.out.Operators = append(l.out.Operators, sqlguard.CatalogOperator{
		CatalogName: sqlguard.CatalogName{Schema: row[0], Name: row[1]}, Left: left, Right: right,
		Function:   sqlguard.CatalogName{Schema: row[4], Name: row[5]},
		Commutator: sqlguard.CatalogName{Schema: row[6], Name: row[7]},
		Negator:    sqlguard.CatalogName{Schema: row[8], Name: row[9]},
		Extension:  row[10],
	})
	l.operators[row[11]] = row[12]
	return nil
}

// cast reads both types, the schema and name of its function, its context and
// its extension.
func (l *objectLoader) cast(row []string) error {
	source, err := l.typeOf(row[0])
	if err != nil {
		return err
	}
	target, err := l.typeOf(row[1])
	if err != nil {
		return err
	}
	c := sqlguard.CatalogCast{Source: source, Target: target, Function: sqlguard.CatalogName{Schema: row[2], Name: row[3]}, Extension: row[5]}
	switch row[4] {
	case "e":
		c.Context = sqlguard.CastExplicit
	case "a":
		c.Context = sqlguard.CastAssignment
	case "i":
		c.Context = sqlguard.CastImplicit
	default:
		return fmt.Errorf("the cast of %s to %s has the context %q", source.Name, target.Name, row[4])
	}
	l.out.Casts = append(l.out.Casts, c)
	return nil
}

// relation reads OID, schema, name, kind, extension, the names and types of its
// columns, and the query of a view.
func (l *objectLoader) relation(row []string) error {
	r := sqlguard.CatalogRelation{CatalogName: sqlguard.CatalogName{Schema: row[1], Name: row[2]}, Extension: row[4], Definition: row[7]}
	switch row[3] {
	case "r":
		r.Kind = sqlguard.RelationTable
	case "p":
		r.Kind = sqlguard.RelationPartitioned
	case "v":
		r.Kind = sqlguard.RelationView
	case "m":
		r.Kind = sqlguard.RelationMaterialized
	case "f":
		r.Kind = sqlguard.RelationForeign
	case "S":
		r.Kind = sqlguard.RelationSequence
	default:
		return fmt.Errorf("relation %s.%s is of the kind %q", r.Schema, r.Name, row[3])
	}
	var err error
	if r.Columns, err = l.columnsOf(row[5], row[6]); err != nil {
		return err
	}
	l.relations[row[0]] = len(l.out.Relations)
	l.out.Relations = append(l.out.Relations, r)
	return nil
}

// inherits reads the OIDs of a relation and of one that inherits from it.
func (l *objectLoader) inherits(row []string) error {
	l.children[row[0]] = append(l.children[row[0]], row[1])
	return nil
}

// finish resolves references to later rows, and sorts.
func (l *objectLoader) finish() error {
	for _, p := range l.pending {
		t := &l.out.Types[p.at]
		var err error
		if t.Base, err = l.typeOf(p.base); err != nil {
			return err
		}
		if t.Kind == sqlguard.TypeComposite {
			if t.Columns, err = l.columnsOf(p.columns, p.types); err != nil {
				return err
			}
		}
	}
	for parent := range l.children {
		if err := l.descend(parent); err != nil {
			return err
		}
	}
	o := l.out
	slices.SortFunc(o.Functions, func(a, b sqlguard.CatalogFunction) int {
		return cmp.Or(compareNames(a.CatalogName, b.CatalogName), slices.CompareFunc(a.Arguments, b.Arguments, compareNames))
	})
	slices.SortFunc(o.Operators, func(a, b sqlguard.CatalogOperator) int {
		return cmp.Or(compareNames(a.CatalogName, b.CatalogName), compareNames(a.Left, b.Left), compareNames(a.Right, b.Right))
	})
	slices.SortFunc(o.Casts, func(a, b sqlguard.CatalogCast) int {
		return cmp.Or(compareNames(a.Source, b.Source), compareNames(a.Target, b.Target))
	})
	for i := range o.Relations {
		slices.SortStableFunc(o.Relations[i].Parts, func(a, b sqlguard.CatalogPart) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), slices.CompareFunc(a.Runs, b.Runs, compareRoutines))
		})
	}
	slices.SortFunc(o.Orders, func(a, b sqlguard.CatalogOrder) int { return compareNames(a.Type, b.Type) })
	slices.SortFunc(o.Types, func(a, b sqlguard.CatalogType) int { return compareNames(a.CatalogName, b.CatalogName) })
	slices.SortFunc(o.Relations, func(a, b sqlguard.CatalogRelation) int { return compareNames(a.CatalogName, b.CatalogName) })
	return nil
}

// descend lists all relations that inherit from a relation, directly or not.
func (l *objectLoader) descend(parent string) error {
	at, ok := l.relations[parent]
	if !ok {
		return fmt.Errorf("relation %s is inherited from and not there", parent)
	}
	var heirs []sqlguard.CatalogName
	seen := map[string]bool{parent: true}
	for next := slices.Clone(l.children[parent]); len(next) > 0; {
		oid := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[oid] {
			continue
		}
		seen[oid] = true
		i, ok := l.relations[oid]
		if !ok {
			return fmt.Errorf("relation %s inherits and is not there", oid)
		}
		heirs = append(heirs, l.out.Relations[i].CatalogName)
		next = append(next, l.children[oid]...)
	}
	slices.SortFunc(heirs, compareNames)
	l.out.Relations[at].Children = heirs
	return nil
}
