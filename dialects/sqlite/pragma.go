package sqlite

import (
	"strings"

	"github.com/sqlc-dev/meyer/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// pragmaArgument says which argument a listed PRAGMA accepts.
type pragmaArgument uint8

const (
	argNone         pragmaArgument = iota // a value would set something
	argTable                              // the name of a table or view
	argIndex                              // the name of an index
	argOptionalName                       // nothing, or the name of a table
	argCount                              // nothing, the most problems to report, or the name of a table
)

// pragmas lists the PRAGMAs that may be read, with the arguments that they
// accept. The table-valued form pragma_NAME uses the same list.
var pragmas = map[string]pragmaArgument{
	"table_info":       argTable,
	"table_xinfo":      argTable,
	"table_list":       argOptionalName,
	"index_list":       argTable,
	"index_info":       argIndex,
	"index_xinfo":      argIndex,
	"foreign_key_list": argTable,
	"function_list":    argNone,
	"collation_list":   argNone,
	"compile_options":  argNone,
	"user_version":     argNone,
	"application_id":   argNone,
	"schema_version":   argNone,
	"encoding":         argNone,
	"page_count":       argNone,
	"page_size":        argNone,
	"freelist_count":   argNone,
	"quick_check":      argCount,
	"integrity_check":  argCount,
}

// pragma judges a PRAGMA statement.
func (w *walker) pragma(n *ast.PragmaStmt) {
	w.qualifiedName(n.Name)
	w.markRange(n.Name.End(), n.End()) // its value, which the parser keeps as text
	name := lexical.Lower(n.Name.Name.Name)
	refuse := func(message string) {
		w.effect(sqlguard.Finding{
			Code: sqlguard.CodePragmaNotAllowed, Object: name, Message: message,
			Span: statementSpan(w.sql, n),
		})
	}
	schema := ""
	if n.Name.Schema != nil {
		schema = n.Name.Schema.Name
	}
	argument, listed := pragmas[name]
	switch {
	case !listed:
		refuse("PRAGMA " + name + " is not on the list of PRAGMAs that may be read")
	case schema != "" && !ownSchema(schema):
		w.effect(sqlguard.Finding{
			Code: sqlguard.CodeExternalRelation, Object: schema, Span: span(n.Name.Schema),
			Message: "only the schemas main and temp belong to this connection",
		})
	case !n.HasValue:
	case argument == argNone:
		refuse("PRAGMA " + name + " may be read without a value only")
	case argument == argIndex:
	case argument == argCount && isCount(n.Value):
	default:
		w.relation(sqlguard.Relation{Schema: schema, Name: decode(n.Value), Span: valueSpan(w.sql, n)}, false)
	}
}

// isCount reports whether the value of a PRAGMA is a number.
func isCount(value string) bool {
	value = strings.TrimLeft(value, "+-.")
	return value != "" && isDigit(value[0])
}

// valueSpan is the span of a PRAGMA's value.
func valueSpan(sql string, n *ast.PragmaStmt) sqlguard.Span {
	if i := strings.LastIndex(sql[n.Name.End():n.End()], n.Value); i >= 0 {
		start := n.Name.End() + i
		return sqlguard.Span{Start: start, End: start + len(n.Value)}
	}
	return span(n)
}

// pragmaArguments states the relation that a table-valued PRAGMA names in a literal
// argument. It refuses a schema other than the connection's own.
func (w *walker) pragmaArguments(name string, args []ast.Expr) {
	argument, ok := pragmas[strings.TrimPrefix(name, "pragma_")]
	if !ok || !strings.HasPrefix(name, "pragma_") {
		return
	}
	literal := func(i int) (*ast.Literal, bool) {
		if i >= len(args) {
			return nil, false
		}
		l, ok := unwrap(args[i]).(*ast.Literal)
		return l, ok && l.Kind == ast.LitString
	}
	schema := ""
	if l, ok := literal(1); ok {
		schema = l.Value
	}
	if l, ok := literal(0); ok && argument != argNone && argument != argIndex {
		w.relation(sqlguard.Relation{Schema: schema, Name: l.Value, Span: span(l)}, false)
	}
}
