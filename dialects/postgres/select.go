package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// judgeSelectStmt opens the scope of one query: SELECT, VALUES, TABLE, or a set operation
// of these.
func (w *walker) judgeSelectStmt(n *selectStmt) {
	w.verb(kindSelectStmt)
	ctes, items, level, access, starred := len(w.ctes), len(w.items), w.level, w.access, w.starred
	w.access, w.starred = sqlguard.AccessRead, false

	// The names of WITH are visible in the whole query. The names of its FROM are not
	// visible in WITH.
	with := n.WithClause
	n.WithClause = nil
	w.level = items
	if w.settled[n] && with != nil {
		w.settleWith(n, with)
	}
	w.visitWithClause(with)
	for _, item := range n.FromClause {
		w.collect(item)
	}
	if n.IntoClause != nil {
		w.selectInto(n.IntoClause)
	}
	if len(n.DistinctClause) == 1 && n.DistinctClause[0].GetNode() == nil {
		n.DistinctClause = nil // plain DISTINCT, not DISTINCT ON
	}
	restore := func() {}
	if w.settled[n] {
		w.settleParts(n)
		restore = w.showSettings(n)
	}
	w.fieldsSelectStmt(n)
	restore()

	w.ctes, w.items, w.level, w.access, w.starred = w.ctes[:ctes], w.items[:items], level, access, starred
	w.cteColumns = w.cteColumns[:min(ctes, len(w.cteColumns))]
}

// judgeWithClause adds the names of WITH to the scope, one after the other, or all at
// once for RECURSIVE. The judge of the statement with the clause removes them.
func (w *walker) judgeWithClause(n *withClause) {
	w.at(n.Location)
	if n.Recursive {
		for _, c := range n.Ctes {
			if cte := c.GetCommonTableExpr(); cte != nil {
				w.reachCTE(cte)
			}
		}
		w.fieldsWithClause(n)
		return
	}
	for _, c := range n.Ctes {
		cte := c.GetCommonTableExpr()
		if cte == nil {
			w.unreadable()
			continue
		}
		w.judgeCommonTableExpr(cte)
		w.reachCTE(cte)
	}
}

// reachCTE brings the name of a common table expression into scope.
func (w *walker) reachCTE(cte *commonTableExpr) {
	w.ctes = append(w.ctes, cte.Ctename)
	if w.names != nil {
		w.cteColumns = append(w.cteColumns, w.columnsOf(cte))
	}
}

// judgeCommonTableExpr visits the statement of a common table expression.
func (w *walker) judgeCommonTableExpr(n *commonTableExpr) {
	w.path = append(w.path, cteScope{n.Ctename, n.Location})
	if n.Ctematerialized == materialized {
		w.settle(n.Ctequery.GetSelectStmt())
	}
	w.fieldsCommonTableExpr(n)
	w.path = w.path[:len(w.path)-1]
}

// inReach reports whether an unqualified name means a common table expression.
func (w *walker) inReach(name string) bool {
	return slices.Contains(w.ctes, name)
}

// selectInto refuses SELECT … INTO.
func (w *walker) selectInto(n *intoClause) {
	if w.refused {
		return
	}
	span := w.tokenSpan(-1)
	name := ""
	if n.Rel != nil {
		span, name = w.nameSpan(n.Rel.Location), n.Rel.Relname
	}
	w.refuse(sqlguard.Finding{
		Code: sqlguard.CodeSelectInto, Span: span, Object: name,
		Message: fmt.Sprintf("SELECT INTO creates the table %s", name),
	})
}

// judgeIntoClause notes the table that the statement creates.
func (w *walker) judgeIntoClause(n *intoClause) {
	access := w.access
	w.access = sqlguard.AccessWrite
	w.fieldsIntoClause(n)
	w.access = access
}

// judgeRangeVar notes a relation.
func (w *walker) judgeRangeVar(n *rangeVar) {
	w.fieldsRangeVar(n)
	access := w.access
	if n == w.target {
		access = sqlguard.AccessWrite
	}
	if access == "" {
		access = sqlguard.AccessRead
	}
	if access == sqlguard.AccessRead && n.Schemaname == "" && n.Catalogname == "" && w.inReach(n.Relname) {
		return
	}
	r := sqlguard.Relation{
		Database: n.Catalogname, Schema: n.Schemaname, Name: n.Relname, Alias: n.Alias.GetAliasname(),
		Access: access, Span: w.nameSpan(n.Location), Ruling: sqlguard.Ruling{Allowed: true},
	}
	if facts, system := w.profile.relation(n.Schemaname, n.Relname); system {
		r.System = true
		r.Ruling = sqlguard.Ruling{Allowed: facts.Allowed, Reveal: facts.reveal}
		if !facts.Allowed {
			r.Ruling.Code, r.Ruling.Reason = facts.Code, facts.Reason
		}
	} else if keepsOthers(n.Schemaname, n.Relname) {
		r.Ruling = sqlguard.Ruling{
			Ruled: true, Code: sqlguard.CodeRelationNotAllowed,
			Reason: "an extension keeps rows or values of another table there, and this connection has rules of access; read that table",
		}
	}
	w.st.Relations = append(w.st.Relations, r)
	if len(n.Alias.GetColnames()) > 0 {
		// The list gives the columns other names.
		w.noteColumn(sqlguard.ColumnRef{Qualifier: []string{n.Alias.Aliasname}, Star: true, Span: r.Span})
	}
}

// judgeRangeTableSample allows the two methods of the server.
func (w *walker) judgeRangeTableSample(n *rangeTableSample) {
	w.at(n.Location)
	schema, name, ok := w.qualifiedName(n.Method)
	if !ok {
		w.unreadable()
		return
	}
	if schema != "" && schema != "pg_catalog" || name != "system" && name != "bernoulli" {
		w.st.Calls = append(w.st.Calls, sqlguard.Call{
			Schema: schema, Name: name, Notation: sqlguard.NotationCall, Span: w.nameSpan(n.Location), Arguments: -1,
			Ruling: sqlguard.Ruling{Reason: "as a sampling method only system and bernoulli are known to be pure"},
		})
	}
	w.fieldsRangeTableSample(n)
}

// judgeRangeFunction visits table functions. Each is in a list with its column
// definitions, which may be empty.
func (w *walker) judgeRangeFunction(n *rangeFunction) {
	for _, f := range n.Functions {
		pair := f.GetList()
		if pair == nil || len(pair.Items) == 0 {
			w.unreadable()
			continue
		}
		if len(pair.Items) == 2 && pair.Items[1].GetNode() == nil {
			pair.Items = pair.Items[:1]
		}
	}
	w.fieldsRangeFunction(n)
}

// judgeJsonTable visits JSON_TABLE.
func (w *walker) judgeJsonTable(n *jsonTable) {
	w.syntaxCall("json_table", n.Location, since17)
	w.fieldsJsonTable(n)
}

// judgeJoinExpr notes the columns that a join compares without naming them in
// an expression.
func (w *walker) judgeJoinExpr(n *joinExpr) {
	if w.names != nil && (n.IsNatural || len(n.UsingClause) > 0) {
		w.impliedOperators(nil, "=")
	}
	if n.IsNatural && !w.naturalColumns(n) {
		w.star(nil, w.tokenSpan(-1), "a NATURAL join")
	}
	for _, c := range n.UsingClause {
		if s := c.GetString_(); s != nil {
			w.column(nil, s.Sval, w.tokenSpan(-1))
		}
	}
	if len(n.Alias.GetColnames()) > 0 {
		w.star(nil, w.tokenSpan(-1), "a list of column names")
	}
	w.fieldsJoinExpr(n)
}

// verb sets the verb of the statement at the root of the walk.
func (w *walker) verb(kind nodeKind) {
	if w.st.Verb == "" {
		w.st.Verb = nodeRules[kind].verb
	}
}

// tableKeyword reports whether the statement is written as TABLE name.
func (w *walker) tableKeyword() bool {
	l := lexer{sql: w.sql, pos: w.st.Span.Start}
	for {
		t, ok := l.code()
		if !ok || t.Kind != sqlguard.TokenOpen {
			return ok && t.Kind == sqlguard.TokenWord && strings.EqualFold(t.Text(w.sql), "table")
		}
	}
}
