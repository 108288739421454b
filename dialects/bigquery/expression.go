package bigquery

import (
	"strings"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// expression judges a part of an expression, and reports false for what has no meaning of
// its own.
func (w *walker) expression(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Identifier:
		w.leaf(n.Pos(), n.End())
		w.unreserved(n)
	case *ast.IntLiteral, *ast.FloatLiteral, *ast.StringLiteralComponent, *ast.BytesLiteralComponent, *ast.BooleanLiteral, *ast.NullLiteral:
		w.leaf(n.Pos(), n.End())
	case *ast.PathExpression:
		w.refers(n)
		w.mentioned(w.namesOf(n))
	case *ast.DotIdentifier:
		w.node(n.Expr)
		if !w.endsPath(n.Expr) {
			w.unreserved(n.Name)
		}
		w.field(n.Name)
	case *ast.Star:
		w.column(sqlguard.ColumnRef{Star: true})
	case *ast.StarWithModifiers:
		w.column(sqlguard.ColumnRef{Star: true})
		w.node(n.Modifiers)
	case *ast.DotStar:
		w.dotStar(n.Expr)
	case *ast.DotStarWithModifiers:
		w.dotStar(n.Expr)
		w.node(n.Modifiers)
	case *ast.FunctionCall:
		w.call(n)
	case *ast.WithExpression:
		w.withExpression(n)
	case *ast.JSONLiteral:
		w.deep = true
		return false
	case *ast.SimpleType:
		w.typeName(n)
	case *ast.SystemVariableExpr:
		name := "@@" + strings.Join(w.words(n.Path), ".")
		w.leaf(w.at.Start, w.at.End)
		w.stmt.Settings = append(w.stmt.Settings, sqlguard.SettingRead{
			Name: lexical.Lower(name), Span: w.at, Ruling: sqlguard.Ruling{Reason: "variables of BigQuery's own show how a script or a session is set up"},
		})
	case *ast.SymbolQuantifier, *ast.BoundedQuantifier, *ast.FixedQuantifier:
		w.leaf(w.at.Start, w.at.End) // its question mark is no parameter
		return false
	case *ast.ArrayConstructor, *ast.StructConstructorWithParens, *ast.StructConstructorWithKeyword:
		w.stmt.Collects = true
		return false
	default:
		return false
	}
	return true
}

// words notes the leaves of a path and returns its names. One name between backquotes can
// hold several.
func (w *walker) words(path *ast.PathExpression) []string {
	names := make([]string, 0, len(path.Names))
	for _, id := range path.Names {
		w.leaf(id.Pos(), id.End())
		names = append(names, w.split(id)...)
	}
	return names
}

// namesOf is words of a path that names no function. Names of functions can be reserved.
func (w *walker) namesOf(path *ast.PathExpression) []string {
	if len(path.Names) > 0 {
		w.unreserved(path.Names[0])
	}
	return w.words(path)
}

// unreserved refuses a name that is a reserved word and stands behind no dot. The parser
// takes some for names, where GoogleSQL does not.
func (w *walker) unreserved(id *ast.Identifier) {
	start, end := id.Pos(), id.End()
	if start < 0 || start >= end || end > len(w.sql) || !reserved[lexical.Lower(w.sql[start:end])] {
		return
	}
	w.effect(sqlguard.Finding{Code: sqlguard.CodeParseError, Message: "this word is reserved: as a name it stands between backquotes", Span: sqlguard.Span{Start: start, End: end}})
}

// endsPath reports whether every word is a name behind an expression and a dot.
func (w *walker) endsPath(n ast.Node) bool {
	if n == nil || n.Pos() < 0 || n.Pos() >= n.End() || n.End() > len(w.sql) {
		return false
	}
	text := w.sql[n.Pos():n.End()]
	if strings.IndexByte(")]`", text[len(text)-1]) >= 0 {
		return true
	}
	word := text[strings.LastIndexFunc(text, func(r rune) bool { return r > 0x7f || !isWord(byte(r)) && !isDigit(byte(r)) })+1:] //nolint:gosec // a larger one is not converted
	return word != "" && !isDigit(word[0]) && !reserved[lexical.Lower(word)]
}

// split returns the names that an identifier holds: those between backquotes end at dots,
// except that the first one may be a project of a domain, as in example.com:project.
func (w *walker) split(id *ast.Identifier) []string {
	if !strings.Contains(id.Name, ".") || id.Pos() >= len(w.sql) || w.sql[id.Pos()] != '`' {
		return []string{id.Name}
	}
	domain := strings.IndexByte(id.Name, ':') + 1
	names := strings.Split(id.Name[domain:], ".")
	names[0] = id.Name[:domain] + names[0]
	return names
}

// mentioned states the columns that a path may mean. What is before the column may be a
// relation, and what is behind it fields of a structure.
func (w *walker) mentioned(parts []string) {
	for i, name := range parts {
		w.column(sqlguard.ColumnRef{Qualifier: parts[:i:i], Name: name, Element: i < len(parts)-1})
	}
}

// columnName states the column that one name means.
func (w *walker) columnName(id *ast.Identifier) {
	w.unreserved(id)
	w.field(id)
}

// field states a column, or a field of one, behind a dot.
func (w *walker) field(id *ast.Identifier) {
	w.leaf(id.Pos(), id.End())
	w.column(sqlguard.ColumnRef{Name: id.Name})
}

// dotStar states the columns of x.*.
func (w *walker) dotStar(of ast.Node) {
	ref := sqlguard.ColumnRef{Star: true}
	if path, ok := of.(*ast.PathExpression); ok {
		ref.Qualifier = w.namesOf(path)
	} else {
		w.node(of)
	}
	w.column(ref)
}

// call states the call of a function.
func (w *walker) call(n *ast.FunctionCall) {
	name := w.function(n.Function)
	if n.IsChained && w.closes(n.Function.End()) {
		if grown(name) {
			// The guard measures the arguments of x.f(y), but not those of x.(f)(y).
			w.stmt.Calls[len(w.stmt.Calls)-1].Ruling = sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: "write the function without brackets around its name"}
		}
	}
	w.limits(name, n)
	grows := w.grows
	w.grows = grows || grown(name)
	for _, arg := range n.Args {
		if _, star := arg.(*ast.Star); star && name == "count" {
			continue // COUNT(*) reads no column
		}
		w.node(arg)
	}
	w.grows = grows
	w.stmt.Collects = w.stmt.Collects || name == "array_agg" || name == "array_concat_agg"
	w.node(n.Where)
	w.node(n.Having)
	w.node(n.GroupBy)
	w.node(n.HavingClause)
	w.node(n.ClampedBetween)
	w.node(n.WithReport)
	w.node(n.OrderBy)
	w.node(n.LimitOffset)
}

// closes reports whether a bracket closes at an offset, behind comments.
func (w *walker) closes(at int) bool {
	for l := (lexer{text: w.sql, at: max(at, 0)}); ; {
		t, ok := l.next()
		if !ok || t.Kind != sqlguard.TokenComment {
			return ok && t.Kind == sqlguard.TokenClose
		}
	}
}

// function states the call of the function that a path names, and returns the name as the
// tables have it.
func (w *walker) function(path *ast.PathExpression) string {
	parts := w.words(path)
	call := sqlguard.Call{Notation: sqlguard.NotationCall, Span: w.at}
	if path.Pos() < path.End() {
		call.Span = sqlguard.Span{Start: path.Pos(), End: path.End()}
	}
	written := parts
	if len(parts) > 1 && lexical.Lower(parts[0]) == "safe" {
		parts = parts[1:] // an error of the function is then NULL
	}
	name := lexical.Lower(strings.Join(parts, "."))
	if call.Ruling, call.Builtin = ruleFunction(name); call.Builtin && call.Ruling.Allowed && len(path.Names) < len(written) {
		call.Ruling = sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: "write the function without backquotes around its dots"}
	}
	if call.Builtin {
		parts = strings.Split(name, ".")
	} else {
		parts = written
	}
	last := len(parts) - 1
	call.Schema, call.Name = strings.Join(parts[:last], "."), parts[last]
	w.stmt.Calls = append(w.stmt.Calls, call)
	return name
}

// typeName states a type. BigQuery has no types of users.
func (w *walker) typeName(n *ast.SimpleType) {
	parts := w.namesOf(n.Name)
	name := lexical.Lower(strings.Join(parts, "."))
	if !w.types[name] {
		if w.types == nil {
			w.types = make(map[string]bool)
		}
		w.types[name] = true
		w.stmt.Types = append(w.stmt.Types, sqlguard.Type{Name: name, Span: w.at, Builtin: builtinTypes[name]})
	}
	w.node(n.TypeParameters)
	w.node(n.Collate)
}

var builtinTypes = lexical.Set(`bool boolean int int64 smallint integer bigint tinyint byteint float64 float numeric decimal bignumeric bigdecimal string bytes
	date datetime time timestamp interval geography json struct array range`)
