package postgres

import (
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// walker collects the facts of one statement. The visits of plain nodes are
// generated. The judges below and in the neighbouring files visit the others. Its
// lists work as stacks for scopes: a judge that opens a scope removes what the
// scope added.
type walker struct {
	sql     string
	st      *sqlguard.Statement
	profile *profile // the relative of PostgreSQL, nil for PostgreSQL itself
	near    int      // the last location that the parser gave

	access  sqlguard.Access // what the enclosing statement does to the relations that it names
	target  *rangeVar       // the relation to which the enclosing statement writes
	refused bool            // inside a statement other than a read

	ctes    []string   // names of common table expressions in scope
	path    []cteScope // the enclosing common table expressions
	items   []fromItem // the items of FROM in scope, outer queries first
	level   int        // start of the current query's items
	starred bool       // every item of the current query was read whole

	// names knows the objects of the catalogue; it is nil without a catalogue. body says
	// that the SQL is a function's body, in which parameters are values.
	names      sqlguard.ObjectNames
	body       bool
	part       bool       // the SQL is not a statement of its own; it may be inlined in one
	cteColumns [][]string // the columns of ctes, "" for an unknown column; only set with names
	operators  map[operatorUse]bool
	naturals   int                 // NATURAL joins whose columns were looked up
	bares      map[*columnRef]bool // see noteBares
	bare       bool                // the current column is one of them
	bareStar   bool                // a bare star was noted

	settled map[*selectStmt]bool // see settle

	locks *lockingSearch
	room  []string // see strings
	types map[[2]string]bool
}

// cteScope is a common table expression that the walk is inside.
type cteScope struct {
	name     string
	location int32
}

// list visits the nodes of a list. An element without a value is refused, because
// it could mean anything.
func (w *walker) list(nodes []*node) {
	for _, n := range nodes {
		if n == nil {
			w.unreadable()
			continue
		}
		w.node(n)
	}
}

// unreadable refuses a node whose content this package does not know.
func (w *walker) unreadable() {
	w.refuse(sqlguard.Finding{
		Code: sqlguard.CodeStatementNotAllowed, Span: w.tokenSpan(-1),
		Message: "the statement holds a construct that the guard does not know",
	})
}

// enter notes a node that has no judge, and reports whether the walk visits its fields.
func (w *walker) enter(kind nodeKind) bool {
	switch nodeRules[kind].class {
	case nodePlain:
		return true
	case nodeStatement:
		w.statement(kind, "")
		return false
	case nodeOpenStatement:
		w.statement(kind, "")
		return true
	case nodePart:
		if w.refused {
			return true
		}
	case nodeRefused, nodeJudged, nodeInternal:
	}
	w.refuse(sqlguard.Finding{
		Code: sqlguard.CodeStatementNotAllowed, Span: w.tokenSpan(-1), Object: nodeNames[kind],
		Message: fmt.Sprintf("the statement holds a construct (%s) that no read has", nodeNames[kind]),
	})
	return false
}

// maxEffects bounds the number of effects of one statement.
const maxEffects = 1000

// refuse adds an effect: something that no policy permits.
func (w *walker) refuse(f sqlguard.Finding) {
	if len(w.st.Effects) >= maxEffects {
		return
	}
	if f.Path == "" && len(w.path) > 0 {
		f.Path = w.cteNames()
	}
	w.st.Effects = append(w.st.Effects, f)
}

// cteNames is the path of the enclosing common table expressions: "with.a.with.b".
func (w *walker) cteNames() string {
	var b strings.Builder
	for i, c := range w.path {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString("with.")
		b.WriteString(c.name)
	}
	return b.String()
}

// judgeParamRef refuses $n, because no value is bound to it.
func (w *walker) judgeParamRef(n *paramRef) {
	if w.body {
		w.fieldsParamRef(n)
		return
	}
	w.refuse(sqlguard.Finding{
		Code: sqlguard.CodeParameterNotAllowed, Span: w.tokenSpan(n.Location),
		Message: fmt.Sprintf("parameter $%d has no value here", n.Number),
	})
	w.fieldsParamRef(n)
}

// judgeSetToDefault refuses DEFAULT as a value outside of a statement that
// writes.
func (w *walker) judgeSetToDefault(n *setToDefault) {
	if !w.refused {
		w.refuse(sqlguard.Finding{
			Code: sqlguard.CodeStatementNotAllowed, Span: w.tokenSpan(n.Location),
			Message: "DEFAULT stands for the default of a column that is written to",
		})
	}
	w.fieldsSetToDefault(n)
}

// judgeLockingClause refuses FOR UPDATE and similar clauses. Its list contains
// aliases of this query, not relations.
func (w *walker) judgeLockingClause(*lockingClause) {
	span := w.lockingSpan()
	w.refuse(sqlguard.Finding{
		Code: sqlguard.CodeLockingClause, Span: span,
		Message: strings.ToUpper(strings.Join(strings.Fields(w.sql[span.Start:span.End]), " ")) + " locks the rows that the query reads",
	})
}

// judgeTypeName notes a type.
func (w *walker) judgeTypeName(n *typeName) {
	w.at(n.Location)
	w.fieldsTypeName(n)
	schema, name, ok := w.qualifiedName(n.Names)
	if !ok {
		w.unreadable()
		return
	}
	if n.Setof || n.PctType {
		what := "SETOF"
		if n.PctType {
			what = "%TYPE"
		}
		w.refuse(sqlguard.Finding{
			Code: sqlguard.CodeTypeNotAllowed, Span: w.nameSpan(n.Location), Object: name,
			Message: fmt.Sprintf("%s is for declarations, not for a query", what),
		})
	}
	w.noteType(schema, name, n.Location)
}

// noteType adds a type to the facts, each once.
func (w *walker) noteType(schema, name string, location int32) {
	const fewTypes = 8
	if len(w.st.Types) < fewTypes {
		for i := range w.st.Types {
			if t := &w.st.Types[i]; t.Name == name && t.Schema == schema {
				return
			}
		}
	} else {
		if w.types == nil {
			w.types = make(map[[2]string]bool)
			for _, t := range w.st.Types {
				w.types[[2]string{t.Schema, t.Name}] = true
			}
		}
		key := [2]string{schema, name}
		if w.types[key] {
			return
		}
		w.types[key] = true
	}
	w.st.Types = append(w.st.Types, sqlguard.Type{
		Schema: schema, Name: name, Span: w.nameSpan(location), Builtin: builtinType(schema, name),
		Extension: w.names != nil && schema == "" && extensionType(name),
	})
}

// qualifiedName splits the parts of a name. A name of three parts keeps its database
// before the schema, so that no list matches it. It returns false when an element of the
// list is not a string.
func (w *walker) qualifiedName(parts []*node) (schema, name string, ok bool) {
	for i, part := range parts {
		s := part.GetString_()
		if s == nil {
			return "", "", false
		}
		switch {
		case i == len(parts)-1:
			name = s.Sval
		case i == 0:
			schema = s.Sval
		default:
			schema += "." + s.Sval
		}
	}
	return schema, name, name != ""
}

// lastName returns the last part of a name.
func lastName(parts []*node) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1].GetString_().GetSval()
}
