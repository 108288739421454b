package duckdb

import (
	"reflect"
	"strings"

	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// walker visits every field of every node of a text's statements, and states what it
// finds. It recurses as deep as the tree is; the guard's screen and the parser bound that.
type walker struct {
	sql     string
	met     ledger
	stmt    *sqlguard.Statement
	at      sqlguard.Span // the nearest node with a position around the one that is walked
	scope   *scope
	path    string // leads to the common table expression that is walked
	refused bool   // a statement was refused whole, its leaves unvisited
	types   map[string]bool
	files   Files
}

// scope has one common table expression, which hides relations of its name.
type scope struct {
	name string // folded
	up   *scope
}

// statement judges one statement into st.
func (w *walker) statement(n ast.Stmt, st *sqlguard.Statement) {
	st.Span = w.statementSpan(n)
	w.stmt, w.at, w.scope, w.path, w.types = st, st.Span, nil, "", nil
	switch n := n.(type) {
	case *ast.SelectStatement:
		st.Verb = verbOf(n)
		st.Columns = outputColumns(n.Node)
		w.query(n.Node)
	case *ast.ExplainStatement:
		st.Verb = sqlguard.VerbExplain
		st.Executes = n.Type == ast.ExplainAnalyze
		st.Plan = true // with the smallest and the greatest value of columns
		w.met.words([]string{"format", n.Format})
		if inner, ok := n.Statement.(*ast.SelectStatement); ok {
			w.query(inner.Node)
			return
		}
		w.refuse(n.Statement)
	case *ast.PragmaStatement:
		st.Verb = sqlguard.VerbPragma
		w.pragma(n)
	default:
		st.Verb = nodeRules[nodeName(n)].verb
		w.refuse(n)
	}
}

// verbOf tells DESCRIBE, SHOW and SUMMARIZE, which the parser reads as queries, from
// SELECT and VALUES.
func verbOf(n *ast.SelectStatement) sqlguard.Verb {
	q, ok := n.Node.(*ast.SelectNode)
	if !ok {
		return sqlguard.VerbSelect
	}
	switch from := q.FromTable.(type) {
	case *ast.ShowRef:
		if from.ShowType == ast.ShowTypeDescribe || from.ShowType == ast.ShowTypeSummary {
			return sqlguard.VerbDescribe
		}
		return sqlguard.VerbShow
	case *ast.ExpressionListRef:
		return sqlguard.VerbValues
	default:
		return sqlguard.VerbSelect
	}
}

// nodeName is the name of a node's type, as nodeRules lists it.
func nodeName(n ast.Node) string {
	t := reflect.TypeOf(n)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().PkgPath() != astPath {
		return ""
	}
	return t.Elem().Name()
}

var astPath = reflect.TypeFor[ast.SelectStatement]().PkgPath()

// refuse states why a statement is refused, and what it would have changed.
func (w *walker) refuse(n ast.Stmt) {
	w.refused = true
	rule := nodeRules[nodeName(n)]
	f := sqlguard.Finding{Code: rule.code, Message: rule.does, Span: w.stmt.Span}
	if rule.use != useRefused {
		f.Code, f.Message = sqlguard.CodeStatementNotAllowed, "this kind of statement is not known"
	}
	at := len(w.stmt.Relations)
	w.target(n)
	if len(w.stmt.Relations) > at {
		f.Object = w.stmt.Relations[at].Name
	}
	w.effect(f)
}

// target states the relation that a refused statement writes to. The list of what it
// reads need not be complete, because the statement is refused.
func (w *walker) target(n ast.Stmt) {
	written := func(schema, name string) {
		w.stmt.Relations = append(w.stmt.Relations, sqlguard.Relation{
			Schema: schema, Name: name, Access: sqlguard.AccessWrite, Span: w.at, Ruling: sqlguard.Ruling{Allowed: true},
		})
	}
	table := func(t ast.TableRef) {
		if t, ok := t.(*ast.BaseTableRef); ok {
			written(t.SchemaName, t.TableName)
		}
	}
	switch n := n.(type) {
	case *ast.InsertStatement:
		written(n.Schema, n.Table)
	case *ast.UpdateStatement:
		table(n.Table)
	case *ast.DeleteStatement:
		table(n.Table)
	case *ast.TruncateStatement:
		table(n.Table)
	case *ast.MergeIntoStatement:
		table(n.Target)
	default:
	}
}

// query visits a query with its WITH.
func (w *walker) query(n ast.QueryNode) {
	if n == nil {
		return
	}
	outer := w.scope
	w.within(n, func() {
		w.with(n.CTEMapRef())
		switch n := n.(type) {
		case *ast.SelectNode:
			w.selectNode(n)
		case *ast.SetOperationNode:
			for _, input := range n.Inputs {
				w.query(input)
			}
		case *ast.RecursiveCTENode:
			w.met.word(n.CTEName)
			w.met.words(n.Aliases)
			w.query(n.Left) // where the name is that of a table
			inside := w.scope
			w.scope = &scope{lexical.Lower(n.CTEName), w.scope}
			w.query(n.Right)
			w.exprs(n.KeyTargets)
			w.scope = inside
		case *ast.InsertQueryNode, *ast.UpdateQueryNode, *ast.DeleteQueryNode, *ast.CopyQueryNode:
			w.refused = true
			w.effect(sqlguard.Finding{Code: sqlguard.CodeWriteInCTE, Message: nodeRules[nodeName(n)].does, Span: w.at})
		default:
			w.unknown()
		}
		for _, m := range *n.ModifiersRef() {
			w.modifier(m)
		}
	})
	w.scope = outer
}

// with visits the members of a WITH and opens a scope for each, which the caller closes.
// A member is visible in those behind it and in the query, not in itself.
func (w *walker) with(m *ast.CTEMap) {
	path := w.path
	for _, e := range m.Entries {
		w.met.word(e.Name)
		if e.CTE != nil {
			w.path = joinPath(path, "with."+e.Name)
			w.within(e.CTE, func() {
				w.met.words(e.CTE.Aliases)
				w.exprs(e.CTE.KeyTargets)
				w.query(e.CTE.Query)
			})
		}
		w.scope = &scope{lexical.Lower(e.Name), w.scope}
	}
	w.path = path
}

func joinPath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}

// defined reports whether an unqualified name is a common table expression here.
func (w *walker) defined(name string) bool {
	name = lexical.Lower(name)
	for s := w.scope; s != nil; s = s.up {
		if s.name == name {
			return true
		}
	}
	return false
}

func (w *walker) selectNode(n *ast.SelectNode) {
	w.exprs(n.SelectList)
	w.tableRef(n.FromTable)
	w.expr(n.Where)
	w.exprs(n.GroupExpressions)
	w.expr(n.Having)
	w.expr(n.Qualify)
	w.sample(n.Sample)
}

func (w *walker) modifier(m ast.ResultModifier) {
	w.within(m, func() {
		switch m := m.(type) {
		case *ast.DistinctModifier:
			w.exprs(m.DistinctOnTargets)
		case *ast.OrderModifier:
			w.orders(m.Orders)
		case *ast.LimitModifier:
			w.expr(m.Limit)
			w.expr(m.Offset)
		default:
			w.unknown()
		}
	})
}

func (w *walker) orders(list []ast.OrderByNode) {
	for i := range list {
		w.expr(list[i].Expression)
	}
}

func (w *walker) sample(n *ast.SampleOptions) {
	if n != nil {
		w.met.word(string(n.Method))
		w.met.text(n.SampleSize.Str)
	}
}

// tableRef visits a part of FROM; nil means that there is none.
func (w *walker) tableRef(t ast.TableRef) {
	if t == nil {
		return
	}
	w.within(t, func() {
		switch n := t.(type) {
		case *ast.EmptyTableRef:
			w.aliased(n.Alias, nil, n.Sample)
		case *ast.BaseTableRef:
			w.aliased(n.Alias, n.ColumnNameAlias, n.Sample)
			w.base(n)
		case *ast.JoinRef:
			w.join(n)
		case *ast.SubqueryRef:
			w.aliased(n.Alias, n.ColumnNameAlias, n.Sample)
			w.subquery(n.Subquery)
		case *ast.TableFunctionRef:
			w.aliased(n.Alias, n.ColumnNameAlias, n.Sample)
			w.tableFunction(n)
		case *ast.ExpressionListRef:
			w.aliased(n.Alias, n.ExpectedNames, n.Sample)
			for _, row := range n.Values {
				w.exprs(row)
			}
		case *ast.PivotRef:
			w.pivot(n)
		case *ast.ShowRef:
			w.aliased(n.Alias, nil, n.Sample)
			w.show(n)
		default:
			w.unknown()
		}
	})
}

// aliased notes the names that a part of FROM gets. A list of names for columns renames
// them, so that a column can be read by another name.
func (w *walker) aliased(alias string, columns []string, sample *ast.SampleOptions) {
	w.met.word(alias)
	w.met.words(columns)
	if len(columns) > 0 {
		w.column(sqlguard.ColumnRef{Star: true})
	}
	w.sample(sample)
}

func (w *walker) subquery(n *ast.SelectStatement) {
	if n != nil {
		w.query(n.Node)
	}
}

// base states a relation of FROM, unless it is a common table expression.
func (w *walker) base(n *ast.BaseTableRef) {
	if n.At != nil {
		w.within(n.At, func() { w.expr(n.At.Expr) })
	}
	w.met.words([]string{n.CatalogName, n.SchemaName, n.TableName})
	w.met.words(n.Qualification)
	isText := w.at.Start < len(w.sql) && w.quotedText(w.at.Start)
	if n.CatalogName == "" && n.SchemaName == "" && len(n.Qualification) == 0 && w.defined(n.TableName) {
		if !isText {
			return
		}
		// Whether DuckDB takes a text for the file or for the common table expression is
		// not known.
		w.effect(sqlguard.Finding{Code: sqlguard.CodeFunctionFileAccess, Object: n.TableName, Span: w.at, Message: "a text in FROM is the name of a file, and a common table expression has it too; give the expression another name"})
		return
	}
	r := w.named(n.CatalogName, n.SchemaName, n.TableName, n.Qualification)
	if isText && w.files == nil {
		r.Ruling = w.refusedFile()
	} else if isText {
		r = w.file(n.TableName, "")
	}
	r.Alias = n.Alias
	w.stmt.Relations = append(w.stmt.Relations, r)
}

// quotedText reports whether a text literal begins at an offset.
func (w *walker) quotedText(at int) bool {
	l := lexer{text: w.sql, at: at}
	t, ok := l.next()
	return ok && t.Kind == sqlguard.TokenString
}

// named returns the relation that a name of up to three parts means. A name of more parts
// is one of a nested schema, which no rule can name.
func (w *walker) named(catalog, schema, name string, path []string) sqlguard.Relation {
	r := sqlguard.Relation{Database: catalog, Schema: schema, Name: name, Access: sqlguard.AccessRead, Span: w.at}
	r.Ruling, r.System = ruleRelation(schema, name)
	if file, ok := fileName(catalog, schema, name); ok && len(path) == 0 && !r.System {
		if w.files != nil {
			return w.file(file, "")
		}
		r.Ruling = sqlguard.Ruling{Code: sqlguard.CodeFunctionFileAccess, Reason: "DuckDB reads the file " + file + " if there is no such table"}
	}
	if len(path) > 0 {
		r.Ruling = sqlguard.Ruling{Code: sqlguard.CodeExternalRelation, Reason: "its name has more than three parts"}
	}
	return r
}

func (w *walker) join(n *ast.JoinRef) {
	w.aliased(n.Alias, n.ColumnNameAlias, n.Sample)
	w.tableRef(n.Left)
	w.tableRef(n.Right)
	w.expr(n.Condition)
	w.expr(n.RankingExpression)
	if n.RefType == ast.JoinRefNatural {
		w.column(sqlguard.ColumnRef{Star: true})
	}
	for _, c := range n.UsingColumns {
		w.met.word(c)
		w.column(sqlguard.ColumnRef{Name: c})
	}
}

// tableFunction states a function of FROM.
func (w *walker) tableFunction(n *ast.TableFunctionRef) {
	f, ok := n.Function.(*ast.FunctionExpression)
	if !ok {
		w.expr(n.Function)
		return
	}
	w.within(f, func() {
		if w.reader(n, f) {
			return
		}
		name := lexical.Lower(f.FunctionName)
		w.functionName(f.Catalog, f.Schema, f.FunctionName, f.Qualification)
		r := sqlguard.Relation{Database: f.Catalog, Schema: f.Schema, Name: f.FunctionName, Alias: n.Alias, Access: sqlguard.AccessRead, Span: w.at, System: true}
		r.Ruling = ruleTableFunction(lexical.Lower(f.Schema), name)
		if f.Catalog != "" || len(f.Qualification) > 0 {
			r.Ruling = sqlguard.Ruling{Code: sqlguard.CodeExternalRelation, Reason: "its name has a catalogue"}
		}
		if rule, yes := excess(name, f.Arguments); yes && r.Ruling.Allowed {
			r.Ruling = rule
		}
		w.stmt.Relations = append(w.stmt.Relations, r)
		if namingFunctions[name] && r.Ruling.Allowed {
			w.namedByText(f.Arguments, name)
		}
		w.arguments(f)
	})
}

// namedByText states the relation that the text argument of a function names.
func (w *walker) namedByText(args []ast.FunctionArgument, function string) {
	if len(args) == 1 {
		if c, ok := args[0].Expr.(*ast.ConstantExpression); ok && c.Literal.Kind == ast.LiteralString && plainName(c.Literal.Text) {
			w.stmt.Relations = append(w.stmt.Relations, w.named("", "", c.Literal.Text, nil))
			return
		}
	}
	w.effect(sqlguard.Finding{
		Code: sqlguard.CodeFunctionNotAllowed, Object: function, Span: w.at,
		Message: function + " names a table that the guard cannot see; give it one plain name as a text",
	})
}

// plainName reports whether a text is a name of one part without quotes.
func plainName(text string) bool {
	for i := range len(text) {
		if !isWord(text[i]) && (i == 0 || !isDigit(text[i])) {
			return false
		}
	}
	return text != ""
}

func (w *walker) pivot(n *ast.PivotRef) {
	w.aliased(n.Alias, n.ColumnNameAlias, n.Sample)
	w.tableRef(n.Source)
	w.exprs(n.Aggregates)
	w.met.words(n.UnpivotNames)
	// All columns that the clause does not name are in the result or its groups.
	w.column(sqlguard.ColumnRef{Star: true})
	for _, c := range n.GroupBy {
		w.met.word(c)
		w.column(sqlguard.ColumnRef{Name: c})
	}
	for i := range n.Pivots {
		p := &n.Pivots[i]
		w.exprs(p.PivotExpressions)
		w.met.words(p.UnpivotNames)
		w.met.word(p.PivotEnum)
		w.subquery(p.Subquery)
		for _, e := range p.Entries {
			w.met.word(e.Alias)
			w.expr(e.StarExpr)
			w.expr(e.Expr)
			for _, v := range e.Values {
				w.met.text(v.Str)
				w.met.word(v.Str)
			}
		}
		// Without values the engine first makes a type of all values that it finds.
		if len(p.PivotExpressions) > 0 && len(p.Entries) == 0 {
			w.effect(sqlguard.Finding{
				Code: sqlguard.CodeMultipleStatements, Span: w.at,
				Message: "PIVOT without a list of values is several statements to DuckDB; write ON column IN (value, …)",
			})
		}
	}
}

// show visits DESCRIBE, SUMMARIZE and SHOW. SHOW of one name is a setting, or a table of
// that name.
func (w *walker) show(n *ast.ShowRef) {
	w.met.words([]string{n.CatalogName, n.SchemaName, unquote(n.TableName)})
	w.met.words(n.Qualification)
	switch n.ShowType {
	case ast.ShowTypeDescribe, ast.ShowTypeSummary:
		if n.ShowType == ast.ShowTypeSummary {
			w.column(sqlguard.ColumnRef{Star: true})
		}
		if n.Query != nil {
			w.query(n.Query)
			return
		}
		if n.TableName == "" {
			return
		}
		w.stmt.Relations = append(w.stmt.Relations, w.named(n.CatalogName, n.SchemaName, n.TableName, n.Qualification))
	case ast.ShowTypeShowSpecial:
		switch name := lexical.Lower(unquote(n.TableName)); name {
		case "tables", "schemas", "__show_tables_expanded":
		case "databases", "variables":
			w.effect(sqlguard.Finding{Code: sqlguard.CodeStatementNotAllowed, Message: "this SHOW shows how the session is set up", Span: w.stmt.Span})
		default:
			w.effect(sqlguard.Finding{Code: sqlguard.CodeStatementNotAllowed, Message: "this form of SHOW is not on the list of those that may be read", Span: w.stmt.Span})
		}
	case ast.ShowTypeShow:
		if n.Query != nil {
			w.query(n.Query)
		}
		w.stmt.Relations = append(w.stmt.Relations, w.named(n.CatalogName, n.SchemaName, n.TableName, n.Qualification))
		w.effect(sqlguard.Finding{Code: sqlguard.CodeSettingNotAllowed, Message: "SHOW of one name reads a setting; write DESCRIBE for a table", Span: w.stmt.Span})
	case ast.ShowTypeShowFrom:
		if n.Query != nil {
			w.query(n.Query)
		}
	default:
		w.unknown()
	}
}

// unquote removes the quotes that the parser puts around the special names of SHOW.
func unquote(name string) string {
	if len(name) > 2 && name[0] == '"' && name[len(name)-1] == '"' {
		return name[1 : len(name)-1]
	}
	return name
}

// within walks a part of the statement, whose position is then the one of what has none.
func (w *walker) within(n ast.Node, walk func()) {
	outer := w.at
	if start, end := n.Pos(), n.End(); start >= 0 && start < end && end <= len(w.sql) {
		w.at = w.trimmed(start, end)
	}
	walk()
	w.at = outer
}

// trimmed returns a span of the parser without the white space at its ends.
func (w *walker) trimmed(start, end int) sqlguard.Span {
	for start < end-1 && isSpace(w.sql[start]) {
		start++
	}
	for end > start+1 && isSpace(w.sql[end-1]) {
		end--
	}
	return sqlguard.Span{Start: start, End: end}
}

// unknown refuses a node that the walker does not know.
func (w *walker) unknown() {
	w.effect(sqlguard.Finding{
		Code: sqlguard.CodeStatementNotAllowed, Span: w.at,
		Message: "the statement holds a construct that the guard does not know",
	})
}

func (w *walker) effect(f sqlguard.Finding) {
	f.Path = w.path
	w.stmt.Effects = append(w.stmt.Effects, f)
}

func (w *walker) column(ref sqlguard.ColumnRef) {
	ref.Span = w.at
	w.stmt.ColumnRefs = append(w.stmt.ColumnRefs, ref)
	if strings.EqualFold(ref.Name, "filename") { // a column that DuckDB gives to every file it reads: its folders can be values of any column
		w.stmt.ColumnRefs = append(w.stmt.ColumnRefs, sqlguard.ColumnRef{Qualifier: ref.Qualifier, Star: true, Span: ref.Span})
	}
}

// outputColumns are the names of a query's columns: aliases and plain columns. There are
// none if a star stands for some of them.
func outputColumns(n ast.QueryNode) []string {
	q, ok := n.(*ast.SelectNode)
	if !ok {
		return nil
	}
	names := make([]string, 0, len(q.SelectList))
	for _, e := range q.SelectList {
		if _, star := e.(*ast.StarExpression); star {
			return nil
		}
		if op, unpacked := e.(*ast.OperatorExpression); unpacked && op.Type == ast.OperatorUnpack {
			return nil
		}
		if alias := e.GetAlias(); alias != "" {
			names = append(names, alias)
		} else if c, ok := e.(*ast.ColumnRefExpression); ok {
			names = append(names, c.ColumnNames[len(c.ColumnNames)-1])
		}
	}
	return names
}
