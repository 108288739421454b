package mysql

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/ktxhq/ktx/sqlguard"
)

// statement judges one statement.
func (w tidbWalker) statement(n ast.StmtNode) {
	rule := nodeRules[tidbNodeName(n)]
	w.st.Verb = rule.verb
	switch n := n.(type) {
	case *ast.SelectStmt:
		switch n.Kind {
		case ast.SelectStmtKindTable:
			w.st.Verb = sqlguard.VerbTable
		case ast.SelectStmtKindValues:
			w.st.Verb = sqlguard.VerbValues
		case ast.SelectStmtKindSelect:
		}
		w.selectStmt(n)
	case *ast.SetOprStmt:
		w.setOprStmt(n)
	case *ast.ExplainStmt:
		w.explain(n)
	case *ast.ShowStmt:
		w.show(n)
	default:
		w.refuseStatement(n, rule)
	}
	if w.explained {
		w.st.Verb = sqlguard.VerbExplain
	}
	// The server reads a row that a key names before it plans, and writes its values into
	// conditions.
	w.st.Plan = w.st.Verb == sqlguard.VerbExplain
}

// explain passes EXPLAIN over a query, and DESCRIBE of a table.
func (w tidbWalker) explain(n *ast.ExplainStmt) {
	w.format()
	switch inner := n.Stmt.(type) {
	case *ast.SelectStmt:
		w.selectStmt(inner)
	case *ast.SetOprStmt:
		w.setOprStmt(inner)
	case *ast.ShowStmt:
		w.st.Verb = sqlguard.VerbDescribe
		w.show(inner)
	case nil:
		w.unknown("ExplainStmt")
	default:
		w.refuseStatement(inner, nodeRules[tidbNodeName(inner)])
	}
	w.st.Executes = w.st.Executes || n.Analyze
	if n.Explore || n.SQLDigest != "" || n.PlanDigest != "" {
		w.refuse(sqlguard.CodeStatementNotAllowed, w.st.Span, "EXPLAIN of a digest belongs to no server that the guard reads for")
	}
	w.moreExplain(n)
}

// refuseStatement states why a statement is refused, and the relations that it
// names.
func (w tidbWalker) refuseStatement(n ast.StmtNode, rule nodeRule) {
	if rule.use != useRefused {
		rule.code, rule.does = sqlguard.CodeStatementNotAllowed, "this kind of statement is not known"
	}
	n.Accept(&tidbNames{w.walker})
	f := sqlguard.Finding{Code: rule.code, Span: w.st.Span, Message: rule.does}
	if len(w.st.Relations) > 0 {
		f.Object = w.st.Relations[0].Name
	}
	w.effect(f)
}

// tidbNames states the relations that a refused statement names. The parser's
// visitor may leave some out.
type tidbNames struct{ *walker }

// Enter is called for every node.
func (v *tidbNames) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableName); ok && t.Name.O != "" {
		access := sqlguard.AccessRead
		if len(v.st.Relations) == 0 {
			access = sqlguard.AccessWrite
		}
		v.relation(t.Schema.O, t.Name.O, "", access)
	}
	return n, false
}

// Leave is called after every node.
func (v *tidbNames) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// tidbShow says how the walk treats each form of SHOW. It refuses forms that are not
// listed.
var tidbShow = map[ast.ShowStmtType]showUse{
	ast.ShowCharset:         showPlain,
	ast.ShowCollation:       showPlain,
	ast.ShowDatabases:       showPlain,
	ast.ShowEngines:         showPlain,
	ast.ShowErrors:          showPlain,
	ast.ShowPrivileges:      showPlain,
	ast.ShowWarnings:        showPlain,
	ast.ShowFunctionStatus:  showPlain,
	ast.ShowProcedureStatus: showPlain,
	ast.ShowCreateDatabase:  showSchema,
	ast.ShowEvents:          showSchema,
	ast.ShowTableStatus:     showSchema,
	ast.ShowTables:          showSchema,
	ast.ShowTriggers:        showSource,
	ast.ShowColumns:         showRelation,
	ast.ShowCreateSequence:  showRelation,
	ast.ShowCreateTable:     showRelation,
	ast.ShowCreateView:      showSource,
	ast.ShowIndex:           showRelation,
	ast.ShowCreateProcedure: showSource,
	ast.ShowVariables:       showVariables,
	ast.ShowStatus:          showStatus,
	ast.ShowCreateUser:      showSecret,
	ast.ShowGrants:          showSecret,
	ast.ShowMasterStatus:    showReplication,
	ast.ShowProcessList:     showActivity,
	ast.ShowProfiles:        showSecret,
	ast.ShowReplicaStatus:   showReplication,
	ast.ShowBinlogStatus:    showReplication,
}

// show judges SHOW by its form, and walks over its filter.
func (w tidbWalker) show(n *ast.ShowStmt) {
	use := w.showUse(n)
	if n.CountWarningsOrErrors {
		w.keyword("count")
	}
	switch use {
	case showPlain:
	case showSchema:
		w.shownSchema(n.DBName)
	case showRelation:
		if n.Table != nil {
			w.shownRelation(n.Table.Schema.O, n.Table.Name.O, n.DBName, n.Tp == ast.ShowCreateTable)
		} else {
			w.unknown("ShowStmt")
		}
		if n.Column != nil {
			w.columnName(n.Column)
		}
	case showVariables, showStatus:
		scope := ""
		if n.GlobalScope {
			scope = "global"
		}
		w.shownNames(use, scope, w.shownPatterns(n))
		return
	case showRefused, showSource, showSecret, showActivity, showReplication:
		w.refuseShow(use)
		w.shownRefused(n)
		return
	}
	if n.Pattern != nil {
		w.expr(n.Pattern)
	}
	w.expr(n.Where)
	w.limit(n.Limit)
	if n.User != nil || n.Roles != nil || n.IndexName.O != "" || n.Partition.O != "" || n.ResourceGroupName != "" || n.Procedure != nil && use != showSource {
		w.unknown("ShowStmt")
	}
}

// shownRefused states what a refused form of SHOW names, for a policy that reveals it.
func (w tidbWalker) shownRefused(n *ast.ShowStmt) {
	switch {
	case n.Table != nil && w.showsObject(n):
		w.shownSchema(n.Table.Schema.O)
	case n.Table != nil:
		w.shownRelation(n.Table.Schema.O, n.Table.Name.O, n.DBName, false)
	case n.Procedure != nil:
		w.names(n.Procedure.Schema.O, n.Procedure.Name.O, "")
	case n.Tp == ast.ShowTriggers:
		w.shownSchema(n.DBName)
	}
	if n.Pattern != nil {
		w.expr(n.Pattern)
	}
	w.expr(n.Where)
}

// shownPatterns returns the names that SHOW VARIABLES or SHOW STATUS asks for, or
// nil when the statement does not show them.
func (w tidbWalker) shownPatterns(n *ast.ShowStmt) []string {
	if n.Pattern != nil && n.Where == nil {
		w.expr(n.Pattern)
		if s, ok := tidbString(n.Pattern.Pattern); ok {
			return []string{s}
		}
		return nil
	}
	w.expr(n.Where)
	return tidbVariables(n.Where)
}

// tidbVariables returns the names with which a condition compares Variable_name, or nil when
// it can be true for another name.
func tidbVariables(where ast.ExprNode) []string {
	switch e := where.(type) {
	case *ast.ParenthesesExpr:
		return tidbVariables(e.Expr)
	case *ast.BinaryOperationExpr:
		if e.Op == opcode.LogicOr {
			left, right := tidbVariables(e.L), tidbVariables(e.R)
			if left == nil || right == nil {
				return nil
			}
			return append(left, right...)
		}
		if s, ok := tidbString(e.R); ok && e.Op == opcode.EQ && tidbNamed(e.L) {
			return []string{s}
		}
	case *ast.PatternInExpr:
		var names []string
		for _, item := range e.List {
			s, ok := tidbString(item)
			if !ok {
				return nil
			}
			names = append(names, s)
		}
		if tidbNamed(e.Expr) && e.Sel == nil && !e.Not {
			return names
		}
	}
	return nil
}

func tidbString(e ast.ExprNode) (string, bool) {
	v, ok := e.(ast.ValueExpr)
	if !ok {
		return "", false
	}
	s, ok := v.GetValue().(string)
	return s, ok
}

// tidbNamed reports whether an expression is the column Variable_name.
func tidbNamed(e ast.ExprNode) bool {
	c, ok := e.(*ast.ColumnNameExpr)
	return ok && c.Name != nil && c.Name.Name.L == "variable_name" && c.Name.Table.O == ""
}
