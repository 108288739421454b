package mysql

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// resultSet visits a source of rows.
func (w tidbWalker) resultSet(n ast.Node, alias string) {
	switch n := n.(type) {
	case nil:
	case *ast.SelectStmt:
		if n != nil {
			w.selectStmt(n)
		}
	case *ast.SetOprStmt:
		if n != nil {
			w.setOprStmt(n)
		}
	case *ast.SetOprSelectList:
		if n != nil {
			w.setOprSelectList(n)
		}
	case *ast.SubqueryExpr:
		if n != nil {
			w.subquery(n)
		}
	case *ast.TableSource:
		if n != nil {
			w.tableSource(n)
		}
	case *ast.TableName:
		if n != nil {
			w.tableName(n, alias)
		}
	case *ast.Join:
		if n != nil {
			w.join(n)
		}
	default:
		w.foreign(n)
	}
}

// selectStmt visits SELECT, TABLE and VALUES.
func (w tidbWalker) selectStmt(n *ast.SelectStmt) {
	outer := w.enter()
	w.with(n.With)
	w.hints(n.TableHints)
	if n.SelectStmtOpts != nil {
		w.hints(n.SelectStmtOpts.TableHints)
	}
	if n.Kind == ast.SelectStmtKindSelect {
		w.fieldList(n.Fields)
	}
	if n.From != nil && n.From.TableRefs != nil {
		w.join(n.From.TableRefs)
	}
	if n.Kind == ast.SelectStmtKindTable {
		w.column(sqlguard.ColumnRef{Star: true, Span: w.span(-1)})
	}
	for _, row := range n.Lists {
		if row != nil {
			w.exprs(row.Values)
		}
	}
	w.expr(n.Where)
	if n.GroupBy != nil {
		w.byItems(n.GroupBy.Items)
	}
	if n.Having != nil {
		w.expr(n.Having.Expr)
	}
	for i := range n.WindowSpecs {
		w.windowSpec(&n.WindowSpecs[i])
	}
	w.orderBy(n.OrderBy)
	w.limit(n.Limit)
	w.lockInfo(n.LockInfo)
	w.moreLocks(n)
	w.intoOption(n.SelectIntoOpt)
	w.leave(outer)
}

func (w tidbWalker) setOprStmt(n *ast.SetOprStmt) {
	outer := w.enter()
	w.with(n.With)
	if n.SelectList != nil {
		w.setOprSelectList(n.SelectList)
	}
	w.orderBy(n.OrderBy)
	w.limit(n.Limit)
	w.leave(outer)
}

func (w tidbWalker) setOprSelectList(n *ast.SetOprSelectList) {
	outer := w.enter()
	w.with(n.With)
	for _, s := range n.Selects {
		w.resultSet(s, "")
	}
	w.orderBy(n.OrderBy)
	w.limit(n.Limit)
	w.leave(outer)
}

// with visits the members of a WITH. Each can use the members before it, and with
// RECURSIVE also itself.
func (w tidbWalker) with(n *ast.WithClause) {
	if n == nil {
		return
	}
	path := w.path
	w.begin()
	for _, cte := range n.CTEs {
		if cte == nil {
			continue
		}
		w.name(cte.Name.O)
		for _, column := range cte.ColNameList {
			w.name(column.O)
		}
		if n.IsRecursive {
			w.define(cte.Name.O)
		}
		w.path = joinPath(path, "with."+cte.Name.O)
		if cte.Query != nil {
			w.subquery(cte.Query)
		}
		if !n.IsRecursive {
			w.define(cte.Name.O)
		}
	}
	w.path = path
}

func (w tidbWalker) subquery(n *ast.SubqueryExpr) {
	outer := w.scope
	w.resultSet(n.Query, "")
	w.scope = outer
}

func (w tidbWalker) fieldList(n *ast.FieldList) {
	if n == nil {
		return
	}
	for _, f := range n.Fields {
		if f == nil {
			continue
		}
		if f.WildCard != nil {
			w.star(f.WildCard.Schema.O, f.WildCard.Table.O)
		}
		w.expr(f.Expr)
		w.alias(f.AsName.O)
	}
	if w.depth == 1 {
		w.outputs(n)
	}
}

// outputs notes the names of the columns of the result. There are none if a star stands
// for some of them.
func (w tidbWalker) outputs(n *ast.FieldList) {
	for _, f := range n.Fields {
		if f != nil && f.WildCard != nil {
			return
		}
	}
	for _, f := range n.Fields {
		if f != nil {
			w.output(f)
		}
	}
}

// output notes the name of a column of the result.
func (w tidbWalker) output(f *ast.SelectField) {
	name := f.AsName.O
	if c, ok := f.Expr.(*ast.ColumnNameExpr); name == "" && ok && c.Name != nil {
		name = c.Name.Name.O
	}
	if name != "" {
		w.st.Columns = append(w.st.Columns, name)
	}
}

func (w tidbWalker) join(n *ast.Join) {
	w.resultSet(n.Left, "")
	if n.NaturalJoin {
		at, _ := w.find("natural")
		w.column(sqlguard.ColumnRef{Star: true, Span: at})
	}
	w.resultSet(n.Right, "")
	if n.On != nil {
		w.expr(n.On.Expr)
	}
	for _, c := range n.Using {
		w.columnName(c)
	}
}

func (w tidbWalker) tableSource(n *ast.TableSource) {
	w.resultSet(n.Source, n.AsName.O)
	if _, ok := n.Source.(*ast.TableName); !ok {
		w.name(n.AsName.O)
	}
	for _, c := range n.ColumnNames {
		w.name(c.O)
	}
}

// tableName visits a relation with the alias that it has.
func (w tidbWalker) tableName(n *ast.TableName, alias string) {
	w.relation(n.Schema.O, n.Name.O, alias, sqlguard.AccessRead)
	for _, p := range n.PartitionNames {
		w.name(p.O)
	}
	w.name(alias)
	for _, h := range n.IndexHints {
		if h == nil {
			continue
		}
		for _, index := range h.IndexNames {
			w.name(index.O)
		}
	}
	if n.AsOf != nil {
		w.expr(n.AsOf.TsExpr)
		w.refuse(sqlguard.CodeStatementNotAllowed, w.span(-1), "AS OF belongs to no server that the guard reads for")
	}
	if n.TableSample != nil {
		w.expr(n.TableSample.Expr)
		w.expr(n.TableSample.RepeatableSeed)
		w.refuse(sqlguard.CodeStatementNotAllowed, w.span(-1), "neither MySQL nor MariaDB has TABLESAMPLE")
	}
}

func (w tidbWalker) byItems(list []*ast.ByItem) {
	for _, item := range list {
		if item != nil {
			w.expr(item.Expr)
		}
	}
}

func (w tidbWalker) orderBy(n *ast.OrderByClause) {
	if n != nil {
		w.byItems(n.Items)
	}
}

// limit visits LIMIT. The tree does not show the order of its numbers.
func (w tidbWalker) limit(n *ast.Limit) {
	if n == nil {
		return
	}
	w.expr(n.Offset)
	w.expr(n.Count)
}

func (w tidbWalker) windowSpec(n *ast.WindowSpec) {
	w.name(n.Name.O)
	w.name(n.Ref.O)
	if n.PartitionBy != nil {
		w.byItems(n.PartitionBy.Items)
	}
	w.orderBy(n.OrderBy)
	if n.Frame != nil {
		w.expr(n.Frame.Extent.Start.Expr)
		w.expr(n.Frame.Extent.End.Expr)
	}
}

func (w tidbWalker) lockInfo(n *ast.SelectLockInfo) {
	if n == nil {
		return
	}
	for _, t := range n.Tables { // behind OF, names of this query
		if t != nil {
			w.names(t.Schema.O, t.Name.O, "")
		}
	}
	switch n.LockType {
	case ast.SelectLockNone:
		return
	case ast.SelectLockForShare, ast.SelectLockForShareNoWait, ast.SelectLockForShareSkipLocked:
		if _, ok := w.find("lock", "in", "share", "mode"); ok {
			w.lock("lock", "in", "share", "mode")
		} else {
			w.lock("for", "share")
		}
	case ast.SelectLockForUpdate, ast.SelectLockForUpdateNoWait, ast.SelectLockForUpdateSkipLocked, ast.SelectLockForUpdateWaitN:
		w.lock("for", "update")
	default:
		w.lock("for")
	}
}

func (w tidbWalker) intoOption(n *ast.SelectIntoOption) {
	if n == nil {
		return
	}
	switch n.Tp {
	case ast.SelectIntoOutfile, ast.SelectIntoDumpfile:
		w.into("SELECT INTO writes the rows to a file of the server")
	case ast.SelectIntoVars:
		w.into("SELECT INTO assigns variables of the session")
	default:
		w.into("SELECT INTO writes what it reads")
	}
	w.text(n.FileName)
	w.moreInto(n)
}

// hints visits optimizer hints. hints.go also reads them from the text, because
// the parsers drop hints that they do not know.
func (w tidbWalker) hints(list []*ast.TableOptimizerHint) {
	for _, h := range list {
		if h != nil && refusedHint(h.HintName.O) {
			w.hint(h.HintName.O)
		}
	}
}
