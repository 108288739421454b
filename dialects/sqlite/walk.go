package sqlite

import (
	"reflect"
	"strconv"

	"github.com/sqlc-dev/meyer/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// walker visits every field of every node of a text's statements, and states
// what it finds. It recurses as deep as the tree is; the guard's screen and
// the parser bound that.
type walker struct {
	sql     string
	seen    marks
	differs int // where a node spells something else than the text, or -1
	stmt    *sqlguard.Statement
	scope   *scope
	path    string          // leads to the common table expression that is walked
	refused bool            // a statement was refused whole, its leaves unvisited
	types   map[string]bool // the types of the statement so far
	strings []string        // room for qualifiers
}

// scope holds the common table expressions of one WITH. In SQLite all of them are
// visible in the whole statement of the WITH, and in each other in any order.
type scope struct {
	names map[string]bool // folded
	up    *scope
}

func newWalker(sql string) *walker {
	return &walker{sql: sql, seen: newMarks(len(sql)), differs: -1}
}

// statement judges one statement into st.
func (w *walker) statement(n ast.Stmt, st *sqlguard.Statement) {
	st.Span = statementSpan(w.sql, n)
	w.stmt, w.scope, w.path, w.types = st, nil, "", nil
	switch n := n.(type) {
	case *ast.SelectStmt:
		st.Verb = selectRule.verb
		if v, ok := n.Cores[0].(*ast.ValuesClause); ok && len(n.Cores) == 1 {
			st.Verb = sqlguard.VerbValues
			st.Columns = valuesColumns(v)
		} else if q, ok := n.Cores[0].(*ast.SelectQuery); ok {
			st.Columns = outputColumns(q)
		}
		w.selectStmt(n)
	case *ast.ExplainStmt:
		st.Verb = nodeRules["ExplainStmt"].verb
		w.explain(n)
	case *ast.PragmaStmt:
		st.Verb = nodeRules["PragmaStmt"].verb
		w.pragma(n)
	default:
		rule := nodeRules[nodeName(n)]
		st.Verb = rule.verb
		w.refuse(n, rule)
	}
}

var selectRule = nodeRules["SelectStmt"]

// nodeName is the name of a node's type, as nodeRules lists it.
func nodeName(n ast.Node) string {
	t := reflect.TypeOf(n)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() != astPath {
		return ""
	}
	return t.Name()
}

var astPath = reflect.TypeFor[ast.SelectStmt]().PkgPath()

// explain passes EXPLAIN over a query. It runs nothing in SQLite, except that
// some PRAGMAs act while they are prepared.
func (w *walker) explain(n *ast.ExplainStmt) {
	switch inner := n.Stmt.(type) {
	case *ast.SelectStmt:
		w.selectStmt(inner)
	case *ast.PragmaStmt:
		w.refused = true
		w.effect(sqlguard.Finding{
			Code: sqlguard.CodePragmaNotAllowed, Span: statementSpan(w.sql, inner),
			Message: "EXPLAIN explains queries only; some PRAGMAs act even under EXPLAIN",
		})
	default:
		w.refuse(inner, nodeRules[nodeName(inner)])
	}
}

// refuse states why a statement is refused, and what it would have changed.
func (w *walker) refuse(n ast.Stmt, rule nodeRule) {
	w.refused = true
	f := sqlguard.Finding{Code: rule.code, Message: rule.does, Span: statementSpan(w.sql, n)}
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

// target states the relation that a refused statement writes to, and the
// relations that it reads. The list need not be complete, because the statement
// is refused.
func (w *walker) target(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.InsertStmt:
		w.written(n.Table)
		w.with(n.With)
		if n.Select != nil {
			w.selectStmt(n.Select)
		}
		w.resultColumns(n.Returning)
	case *ast.UpdateStmt:
		w.written(n.Table)
		w.with(n.With)
		for _, pair := range n.Set {
			w.expr(pair.Value)
		}
		w.tableRefs(n.From)
		w.expr(n.Where)
		w.resultColumns(n.Returning)
	case *ast.DeleteStmt:
		w.written(n.Table)
		w.with(n.With)
		w.expr(n.Where)
		w.resultColumns(n.Returning)
	case *ast.CreateTableStmt:
		w.written(n.Name)
		if n.Select != nil {
			w.selectStmt(n.Select)
		}
	case *ast.CreateViewStmt:
		w.written(n.Name)
		w.selectStmt(n.Select)
	case *ast.CreateVirtualTableStmt:
		w.written(n.Name)
	case *ast.CreateTriggerStmt:
		w.written(n.Table)
	case *ast.AlterTableStmt:
		w.written(n.Table)
	case *ast.DropTableStmt:
		w.written(n.Name)
	case *ast.DropViewStmt:
		w.written(n.Name)
	default:
	}
}

func (w *walker) written(n *ast.QualifiedName) {
	schema, name := w.qualifiedName(n)
	w.relation(sqlguard.Relation{Schema: schema, Name: name, Access: sqlguard.AccessWrite, Span: span(n)}, false)
}

// selectStmt visits a query with its WITH.
func (w *walker) selectStmt(n *ast.SelectStmt) {
	outer := w.scope
	w.with(n.With)
	for _, core := range n.Cores {
		switch core := core.(type) {
		case *ast.SelectQuery:
			w.selectQuery(core)
		case *ast.ValuesClause:
			for _, row := range core.Rows {
				w.exprs(row)
			}
		default:
			w.unknown(core)
		}
	}
	w.scope = outer
}

// with opens the scope of a WITH and visits its members; nil means that there is
// none. The caller, which visits the statement of the WITH, closes the scope.
func (w *walker) with(n *ast.With) {
	if n == nil {
		return
	}
	names := make(map[string]bool, len(n.CTEs))
	for _, cte := range n.CTEs {
		names[lexical.Lower(w.name(cte.Name))] = true
	}
	w.scope = &scope{names: names, up: w.scope}
	path := w.path
	for _, cte := range n.CTEs {
		w.path = joinPath(path, "with."+cte.Name.Name)
		w.names(cte.Columns)
		w.selectStmt(cte.Select)
	}
	w.path = path
}

func joinPath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}

// defined reports whether an unqualified name is a common table expression
// here.
func (w *walker) defined(name string) bool {
	if w.scope == nil {
		return false
	}
	name = lexical.Lower(name)
	for s := w.scope; s != nil; s = s.up {
		if s.names[name] {
			return true
		}
	}
	return false
}

func (w *walker) selectQuery(n *ast.SelectQuery) {
	w.resultColumns(n.Columns)
	w.tableRefs(n.From)
	w.expr(n.Where)
	w.exprs(n.GroupBy)
	w.expr(n.Having)
	for _, window := range n.Windows {
		w.window(window)
	}
	w.ordering(n.OrderBy)
	if n.Limit != nil {
		w.expr(n.Limit.Count)
		w.expr(n.Limit.Offset)
	}
}

func (w *walker) resultColumns(list []*ast.ResultColumn) {
	for _, c := range list {
		w.expr(c.Expr)
		w.name(c.Alias)
	}
}

func (w *walker) tableRefs(list []*ast.TableRef) {
	for _, t := range list {
		w.tableRef(t)
	}
}

func (w *walker) tableRef(n *ast.TableRef) {
	alias := w.name(n.Alias)
	if n.Join != nil && n.Join.Type&ast.JoinNatural != 0 {
		w.column(sqlguard.ColumnRef{Star: true, Span: span(n.Join)})
	}
	if n.Name != nil {
		w.source(n.Name, n.Args, n.HasArgs, alias)
	}
	w.exprs(n.Args)
	if n.Select != nil {
		w.selectStmt(n.Select)
	}
	w.tableRefs(n.List)
	w.name(n.IndexedBy)
	w.expr(n.On)
	for _, c := range n.Using {
		w.column(sqlguard.ColumnRef{Name: w.name(c), Span: span(c)})
	}
}

// source states a relation of a FROM clause or behind IN, unless it is a
// common table expression.
func (w *walker) source(n *ast.QualifiedName, args []ast.Expr, called bool, alias string) {
	schema, name := w.qualifiedName(n)
	if n.Schema == nil && !called && w.defined(name) {
		return
	}
	r := sqlguard.Relation{Schema: schema, Name: name, Alias: alias, Access: sqlguard.AccessRead, Span: span(n)}
	if called {
		if reason := excess(lexical.Lower(name), args); reason != "" {
			w.effect(sqlguard.Finding{
				Code: sqlguard.CodeFunctionNotAllowed, Object: lexical.Lower(name), Span: r.Span,
				Message: "table function " + lexical.Lower(name) + ": " + reason, Hint: "use a smaller number",
			})
		}
		w.pragmaArguments(lexical.Lower(name), args)
	}
	w.relation(r, called)
}

// relation states a relation with the dialect's ruling.
func (w *walker) relation(r sqlguard.Relation, called bool) {
	if r.Access == "" {
		r.Access = sqlguard.AccessRead
	}
	r.Ruling, r.System = ruleRelation(r.Schema, r.Name, called)
	w.stmt.Relations = append(w.stmt.Relations, r)
}

func (w *walker) ordering(list []*ast.OrderingTerm) {
	for _, t := range list {
		w.expr(t.Expr)
	}
}

func (w *walker) window(n *ast.WindowDef) {
	if n == nil {
		return
	}
	w.name(n.Name)
	w.name(n.Base)
	w.exprs(n.Partition)
	w.ordering(n.OrderBy)
	if n.StartBound != nil {
		w.expr(n.StartBound.Expr)
	}
	if n.EndBound != nil {
		w.expr(n.EndBound.Expr)
	}
}

func (w *walker) exprs(list []ast.Expr) {
	for _, e := range list {
		w.expr(e)
	}
}

// expr visits an expression; nil means that there is none.
func (w *walker) expr(e ast.Expr) {
	switch n := e.(type) {
	case nil:
	case *ast.Ident:
		name := w.name(n)
		w.column(sqlguard.ColumnRef{Name: name, Span: span(n), Alias: rowidName(name)})
	case *ast.QualifiedRef:
		w.qualifiedRef(n)
	case *ast.Star:
		ref := sqlguard.ColumnRef{Star: true, Span: span(n)}
		if n.Table != nil {
			ref.Qualifier = w.qualifier([]*ast.Ident{n.Table})
		}
		w.column(ref)
	case *ast.Literal:
		w.literal(n)
	case *ast.BinaryExpr:
		w.expr(n.X)
		w.expr(n.Y)
	case *ast.UnaryExpr:
		w.expr(n.X)
	case *ast.ParenExpr:
		w.expr(n.X)
	case *ast.LikeExpr:
		w.like(n)
	case *ast.IsExpr:
		w.expr(n.X)
		w.expr(n.Y)
	case *ast.NullCheckExpr:
		w.expr(n.X)
	case *ast.BetweenExpr:
		w.expr(n.X)
		w.expr(n.Lo)
		w.expr(n.Hi)
	case *ast.InExpr:
		w.in(n)
	case *ast.CaseExpr:
		w.expr(n.Operand)
		for _, c := range n.Whens {
			w.expr(c.When)
			w.expr(c.Then)
		}
		w.expr(n.Else)
	case *ast.CastExpr:
		w.expr(n.X)
		w.typeName(n.Type)
	case *ast.CollateExpr:
		w.expr(n.X)
		w.name(n.Name)
	case *ast.FuncCall:
		w.call(n)
	case *ast.ExistsExpr:
		w.selectStmt(n.Select)
	case *ast.SubqueryExpr:
		w.selectStmt(n.Select)
	case *ast.VectorExpr:
		w.exprs(n.List)
	case *ast.BindParam:
		w.mark(n.Span, n.Raw)
		w.forbid(n)
	case *ast.RaiseExpr:
		w.expr(n.Message)
		w.forbid(n)
	default:
		w.unknown(e)
	}
}

func (w *walker) qualifiedRef(n *ast.QualifiedRef) {
	last := len(n.Parts) - 1
	name := w.name(n.Parts[last])
	w.column(sqlguard.ColumnRef{Qualifier: w.qualifier(n.Parts[:last]), Name: name, Span: span(n), Alias: rowidName(name)})
}

// rowidName reports whether a name can mean the rowid, and with it a column that is
// an INTEGER PRIMARY KEY.
func rowidName(name string) bool {
	switch len(name) {
	case len("oid"), len("rowid"), len("_rowid_"):
		name = lexical.Lower(name)
		return name == "rowid" || name == "oid" || name == "_rowid_"
	default:
		return false
	}
}

// qualifier marks names and returns what they spell. Its results share arrays.
func (w *walker) qualifier(names []*ast.Ident) []string {
	if cap(w.strings)-len(w.strings) < len(names) {
		w.strings = make([]string, 0, max(16, len(names)))
	}
	from := len(w.strings)
	for _, n := range names {
		w.strings = append(w.strings, w.name(n))
	}
	return w.strings[from:len(w.strings):len(w.strings)]
}

// like visits an operator that SQLite runs as a function. LIKE and GLOB are
// its own; MATCH and REGEXP call what the application registered.
func (w *walker) like(n *ast.LikeExpr) {
	name := lexical.Lower(w.name(n.Op))
	if name != "like" && name != "glob" {
		w.stmt.Calls = append(w.stmt.Calls, newCall(name, sqlguard.NotationOperator, span(n.Op)))
	}
	w.expr(n.X)
	w.expr(n.Y)
	w.expr(n.Escape)
}

func (w *walker) in(n *ast.InExpr) {
	w.expr(n.X)
	w.exprs(n.List)
	if n.Select != nil {
		w.selectStmt(n.Select)
	}
	if n.Table != nil {
		// IN t is IN (SELECT * FROM t).
		w.source(n.Table, n.Args, n.HasArgs, "")
		w.column(sqlguard.ColumnRef{Star: true, Qualifier: []string{n.Table.Name.Name}, Span: span(n.Table)})
	}
	w.exprs(n.Args)
}

func (w *walker) call(n *ast.FuncCall) {
	call := newCall(lexical.Lower(w.name(n.Name)), sqlguard.NotationCall, span(n.Name))
	if call.Ruling.Allowed {
		if reason := excess(call.Name, n.Args); reason != "" {
			call.Ruling = sqlguard.Ruling{Code: sqlguard.CodeFunctionNotAllowed, Reason: reason, Excess: true}
		}
	}
	w.stmt.Calls = append(w.stmt.Calls, call)
	w.exprs(n.Args)
	w.ordering(n.OrderBy)
	w.expr(n.Filter)
	w.window(n.Over)
}

func newCall(name string, notation sqlguard.Notation, at sqlguard.Span) sqlguard.Call {
	call := sqlguard.Call{Name: name, Notation: notation, Span: at}
	call.Ruling, call.Builtin = ruleFunction(name)
	return call
}

// typeName states the type of a cast. Every type name of SQLite is a name for
// one of its five affinities, so nothing of a user's runs in a cast.
func (w *walker) typeName(n *ast.TypeName) {
	if n == nil {
		return
	}
	if w.text(n.Span) == n.Raw {
		w.markRange(n.Pos(), n.End())
	} else {
		w.differs = n.Pos()
	}
	name := lexical.Lower(n.Name)
	if w.types[name] {
		return
	}
	if w.types == nil {
		w.types = make(map[string]bool)
	}
	w.types[name] = true
	w.stmt.Types = append(w.stmt.Types, sqlguard.Type{Name: name, Span: span(n), Builtin: true})
}

func (w *walker) literal(n *ast.Literal) {
	if n.Kind == ast.LitString && decode(n.Raw) != n.Value {
		w.differs = n.Pos()
	}
	w.mark(n.Span, n.Raw)
}

// forbid refuses a node that no query may hold.
func (w *walker) forbid(n ast.Node) {
	rule := nodeRules[nodeName(n)]
	w.effect(sqlguard.Finding{Code: rule.code, Message: rule.does, Span: span(n)})
}

// unknown refuses a node that the walker does not know.
func (w *walker) unknown(n ast.Node) {
	w.effect(sqlguard.Finding{
		Code: sqlguard.CodeStatementNotAllowed, Span: span(n),
		Message: "the statement holds a construct that the guard does not know",
	})
}

func (w *walker) effect(f sqlguard.Finding) {
	f.Path = w.path
	w.stmt.Effects = append(w.stmt.Effects, f)
}

func (w *walker) column(ref sqlguard.ColumnRef) {
	if w.stmt.ColumnRefs == nil {
		w.stmt.ColumnRefs = make([]sqlguard.ColumnRef, 0, 4+len(w.sql)/24)
	}
	w.stmt.ColumnRefs = append(w.stmt.ColumnRefs, ref)
}

// qualifiedName marks a name and returns its parts. A schema that is written and
// empty does not belong to the connection.
func (w *walker) qualifiedName(n *ast.QualifiedName) (schema, name string) {
	if n.Schema != nil && n.Schema.Name == "" {
		w.effect(sqlguard.Finding{
			Code: sqlguard.CodeExternalRelation, Span: span(n),
			Message: "only the schemas main and temp belong to this connection",
		})
	}
	return w.name(n.Schema), w.name(n.Name)
}

func (w *walker) names(list []*ast.Ident) {
	for _, n := range list {
		w.name(n)
	}
}

// name marks an identifier and returns what it spells; nil is "".
func (w *walker) name(n *ast.Ident) string {
	if n == nil {
		return ""
	}
	if decode(n.Raw) != n.Name {
		w.differs = n.Pos()
	}
	w.mark(n.Span, n.Raw)
	return n.Name
}

// mark notes that a leaf was met, and whether the text at its position is raw.
func (w *walker) mark(at ast.Span, raw string) {
	if w.text(at) != raw {
		w.differs = at.Start
		return
	}
	w.seen.set(at.Start, at.Stop)
}

// text returns the text at the position of a node.
func (w *walker) text(at ast.Span) string {
	if at.Start < 0 || at.Stop > len(w.sql) || at.Start > at.Stop {
		return ""
	}
	return w.sql[at.Start:at.Stop]
}

// markRange notes that everything between two offsets was met.
func (w *walker) markRange(start, end int) {
	for i := max(start, 0); i <= min(end, len(w.sql)); i++ {
		w.seen.set(i, i)
	}
}

// outputColumns are the names of a query's columns: aliases and plain columns. There are
// none if a star stands for some of them.
func outputColumns(n *ast.SelectQuery) []string {
	names := make([]string, 0, len(n.Columns))
	for _, c := range n.Columns {
		switch e := c.Expr.(type) {
		case *ast.Star:
			return nil
		case *ast.Ident:
			names = append(names, aliasOr(c.Alias, e.Name))
		case *ast.QualifiedRef:
			names = append(names, aliasOr(c.Alias, e.Parts[len(e.Parts)-1].Name))
		default:
			if c.Alias != nil {
				names = append(names, c.Alias.Name)
			}
		}
	}
	return names
}

// valuesColumns are the names that SQLite gives to the columns of VALUES.
func valuesColumns(n *ast.ValuesClause) []string {
	names := make([]string, 0, len(n.Rows[0]))
	for i := range n.Rows[0] {
		names = append(names, "column"+strconv.Itoa(i+1))
	}
	return names
}

func aliasOr(alias *ast.Ident, name string) string {
	if alias != nil {
		return alias.Name
	}
	return name
}
