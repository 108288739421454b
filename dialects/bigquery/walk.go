package bigquery

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// walker visits every field of every node of a text's statements, and states what it
// finds. It recurses as deep as the tree is; the guard's screen bounds that.
type walker struct {
	sql     string
	leaves  []sqlguard.Span
	stmt    *sqlguard.Statement
	at      sqlguard.Span // the nearest node with a position around the one that is walked
	ctes    *scope
	aliases *scope // names that surely are aliases here
	outside *scope // those of the queries around the one that is walked
	path    string // leads to the common table expression that is walked
	refused bool   // a statement was refused whole, its leaves unvisited
	types   map[string]bool

	variables *variable // of WITH(…)
	weight    int       // how often names of WITH(…) stand in the part that is walked
	grows     bool      // the part that is walked is an argument of a function that grows
	pretty    bool      // JSON is indented
	recursive bool      // it is a member of WITH RECURSIVE
	deep      bool      // a text becomes JSON, which can be nested as deep as it is long
}

// statement judges one statement into st.
func (w *walker) statement(n ast.Node, st *sqlguard.Statement) {
	st.Span = w.statementSpan(n.Pos(), n.End())
	*w = walker{sql: w.sql, leaves: w.leaves, refused: w.refused, stmt: st, at: st.Span}
	rule := ruleOf(n)
	st.Verb = rule.verb
	query, ok := n.(*ast.QueryStatement)
	if !ok {
		w.refuse(n, rule)
		return
	}
	st.Columns = outputColumns(query.Query)
	w.node(query.Query)
	if w.pretty && w.deep {
		w.effect(sqlguard.Finding{Code: sqlguard.CodeInputTooLarge, Message: "TO_JSON_STRING indents JSON by how deep it is nested: leave its second argument out", Span: st.Span})
	}
}

// refuse states why a statement is refused, and what it would have changed.
func (w *walker) refuse(n ast.Node, rule nodeRule) {
	w.refused = true
	f := sqlguard.Finding{Code: rule.code, Message: rule.does, Span: w.stmt.Span}
	if rule.use != useRefused {
		f.Code, f.Message = sqlguard.CodeStatementNotAllowed, "this kind of statement is not known"
	}
	if path := target(n); path != nil {
		if r := w.named(path); r.Ruling.Allowed {
			r.Access = sqlguard.AccessWrite
			f.Object = r.Name
			w.stmt.Relations = append(w.stmt.Relations, r)
		}
	}
	w.effect(f)
}

// target is the relation that a refused statement writes to, or nil. The list of what it
// reads need not be complete, because the statement is refused.
func target(n ast.Node) *ast.PathExpression {
	var of ast.Node
	switch n := n.(type) {
	case *ast.InsertStatement:
		of = n.Target
	case *ast.UpdateStatement:
		of = n.Target
	case *ast.DeleteStatement:
		of = n.Target
	case *ast.MergeStatement:
		return n.Target
	case *ast.TruncateStatement:
		return n.Target
	case *ast.CreateTableStatement:
		return n.Name
	case *ast.CreateViewStatement:
		return n.Name
	case *ast.DropStatement:
		return n.Path
	default:
	}
	path, _ := of.(*ast.PathExpression)
	return path
}

// node visits a node, whose position is then the one of what has none.
func (w *walker) node(n ast.Node) {
	if missing(n) {
		return
	}
	outer := w.at
	if start, end := n.Pos(), n.End(); start >= 0 && start < end && end <= len(w.sql) {
		w.at = sqlguard.Span{Start: start, End: end}
	}
	w.visit(n)
	w.at = outer
}

// missing reports whether a field has no node.
func missing(n ast.Node) bool {
	if n == nil {
		return true
	}
	v := reflect.ValueOf(n)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func (w *walker) nodes(list []ast.Node) {
	for _, n := range list {
		w.node(n)
	}
}

// visit judges a node by its type. Types that are not named here have no meaning of their
// own when the table lists them as parts, and are refused otherwise.
func (w *walker) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.Query:
		w.query(n)
	case *ast.WithClause:
		w.with(n)
	case *ast.Select:
		w.selection(n)
	case *ast.TablePathExpression:
		w.tablePath(n)
	case *ast.TableSubquery:
		w.apart(n.Query)
		w.node(n.Alias)
		w.nodes(n.PostfixOperators)
		w.visible(aliasOf(n.Alias), n.PostfixOperators)
	case *ast.TVF:
		w.tableFunction(n)
	case *ast.TableClause:
		w.tableClause(n)
	case *ast.Join:
		w.join(n)
	case *ast.ParenthesizedJoin:
		aliases := w.aliases
		w.apart(n.Join)
		w.nodes(n.PostfixOperators)
		w.aliases = aliases
	case *ast.PivotClause, *ast.UnpivotClause, *ast.MatchRecognizeClause, *ast.PipeAs:
		// Its alias can stand for a row with all columns.
		w.column(sqlguard.ColumnRef{Star: true})
		w.nodes(n.Children())
	case *ast.UsingClause:
		for _, key := range n.Keys {
			w.columnName(key)
		}
	case *ast.PipeSetItem:
		w.columnName(n.Column)
		w.node(n.Expr)
	case *ast.PipeRenameItem:
		w.columnName(n.OldName)
		w.node(n.NewName)
	default:
		if w.expression(n) {
			return
		}
		switch rule := ruleOf(n); rule.use { //nolint:exhaustive // every other use is refused
		case usePart:
			w.nodes(n.Children())
		case useForbidden:
			w.forbid(rule)
		default:
			w.forbid(nodeRule{code: sqlguard.CodeStatementNotAllowed, does: "the statement holds a construct that the guard does not know"})
		}
	}
}

// forbid refuses a node that no query may hold. Its leaves are not visited.
func (w *walker) forbid(rule nodeRule) {
	w.leaf(w.at.Start, w.at.End)
	w.effect(sqlguard.Finding{Code: rule.code, Message: rule.does, Span: w.at})
}

// query visits a query with its WITH and its pipe operators.
func (w *walker) query(n *ast.Query) {
	ctes, aliases, outside := w.ctes, w.aliases, w.outside
	w.outside = w.aliases
	w.node(n.WithClause)
	w.node(n.QueryExpr)
	w.aliases = w.outside // those of FROM without SELECT end here
	w.node(n.OrderBy)
	w.node(n.Limit)
	w.node(n.LockMode)
	if from, ok := n.QueryExpr.(*ast.FromQuery); ok && !narrows(n.PipeOperators) {
		w.starAt(from)
	}
	w.nodes(n.PipeOperators)
	w.ctes, w.aliases, w.outside = ctes, aliases, outside
}

// narrows reports whether pipe operators after FROM name the columns that they keep,
// before anything that needs all of them.
func narrows(operators []ast.Node) bool {
	for _, n := range operators {
		switch n.(type) {
		case *ast.PipeSelect, *ast.PipeAggregate:
			return true
		case *ast.PipeWhere, *ast.PipeJoin, *ast.PipeExtend, *ast.PipeOrderBy, *ast.PipeLimitOffset, *ast.PipeTablesample:
		default:
			return false
		}
	}
	return false
}

func (w *walker) starAt(n ast.Node) {
	w.column(sqlguard.ColumnRef{Star: true})
	w.stmt.ColumnRefs[len(w.stmt.ColumnRefs)-1].Span = sqlguard.Span{Start: n.Pos(), End: n.End()}
}

// selection visits SELECT. Its list and WHERE see the aliases of FROM. The aliases that
// the other clauses see depend on more than the text.
func (w *walker) selection(n *ast.Select) {
	outer := w.aliases
	w.node(n.Hint)
	w.node(n.WithModifier)
	w.node(n.SelectAs)
	w.node(n.From)
	w.node(n.SelectList)
	w.node(n.Where)
	w.aliases = outer
	w.node(n.GroupBy)
	w.node(n.Having)
	w.node(n.Qualify)
	w.node(n.Window)
}

func aliasOf(n *ast.Alias) string {
	if n == nil {
		return ""
	}
	return n.Identifier.Name
}

func (w *walker) join(n *ast.Join) {
	w.node(n.Hint)
	w.node(n.Lhs)
	w.node(n.Rhs)
	w.node(n.OnOrUsingClause)
	w.node(n.ClauseList)
	if n.Natural {
		w.column(sqlguard.ColumnRef{Star: true})
	}
	if n.ParseError != nil {
		w.effect(sqlguard.Finding{Code: sqlguard.CodeParseError, Message: "the statement has more ON and USING than joins", Span: w.at})
	}
}

func (w *walker) effect(f sqlguard.Finding) {
	f.Path = w.path
	w.stmt.Effects = append(w.stmt.Effects, f)
}

func (w *walker) column(ref sqlguard.ColumnRef) {
	ref.Span = w.at
	w.stmt.ColumnRefs = append(w.stmt.ColumnRefs, ref)
	if strings.EqualFold(ref.Name, "_file_name") { // a column that BigQuery gives to every external table: its folders can be values of any column
		w.stmt.ColumnRefs = append(w.stmt.ColumnRefs, sqlguard.ColumnRef{Qualifier: ref.Qualifier, Star: true, Span: ref.Span})
	}
}

// outputColumns returns the names that a query shows, or nil if a star or a pipe operator
// decides some of them.
func outputColumns(n *ast.Query) []string {
	if n == nil || len(n.PipeOperators) > 0 {
		return nil
	}
	switch q := n.QueryExpr.(type) {
	case *ast.Query:
		return outputColumns(q)
	case *ast.SetOperation:
		if len(q.Inputs) > 0 {
			return selectedColumns(q.Inputs[0])
		}
	}
	return selectedColumns(n.QueryExpr)
}

func selectedColumns(n ast.Node) []string {
	s, ok := n.(*ast.Select)
	if !ok || s.SelectAs != nil || s.SelectList == nil {
		if q, ok := n.(*ast.Query); ok {
			return outputColumns(q)
		}
		return nil
	}
	var out []string
	for _, c := range s.SelectList.Columns {
		switch e := c.Expr.(type) {
		case *ast.Star, *ast.StarWithModifiers, *ast.DotStar, *ast.DotStarWithModifiers:
			return nil
		case *ast.PathExpression:
			out = append(out, e.Names[len(e.Names)-1].Name)
		case *ast.DotIdentifier:
			out = append(out, e.Name.Name)
		default:
			out = append(out, "")
		}
		if c.Alias != nil {
			out[len(out)-1] = c.Alias.Identifier.Name
		}
	}
	return out
}
