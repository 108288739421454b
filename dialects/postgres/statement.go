package postgres

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// statement refuses a statement other than a read. object is its relation, or "".
func (w *walker) statement(kind nodeKind, object string) {
	rule := nodeRules[kind]
	w.verb(kind)
	w.refused = true
	w.access = sqlguard.AccessWrite
	name := strings.ToUpper(strings.ReplaceAll(string(rule.verb), "_", " "))
	w.refuse(sqlguard.Finding{
		Code: rule.code, Span: w.statementSpan(), Object: object, Message: name + " " + doing(rule.code),
	})
}

// deeds has the rest of a message that begins with the name of a statement.
var deeds = map[sqlguard.Code]string{
	sqlguard.CodeWriteStatement:     "changes data",
	sqlguard.CodeDDLStatement:       "changes the schema",
	sqlguard.CodePrivilegeStatement: "changes roles, privileges or ownership",
	sqlguard.CodeTransactionControl: "controls the transaction",
	sqlguard.CodeSessionChange:      "changes or uses the state of the session",
	sqlguard.CodeDynamicSQL:         "works on statements that are stored in the session",
	sqlguard.CodeProceduralBlock:    "runs procedural code",
	sqlguard.CodeProcedureCall:      "runs a procedure",
	sqlguard.CodeLockingClause:      "locks tables",
}

func doing(code sqlguard.Code) string { return cmp.Or(deeds[code], "is not a read") }

// statementSpan is the span of the statement being judged: the one that EXPLAIN explains,
// or the whole statement.
func (w *walker) statementSpan() sqlguard.Span {
	span := w.st.Span
	if w.st.Verb != sqlguard.VerbExplain {
		return span
	}
	l := lexer{sql: w.sql, pos: span.Start}
	for {
		t, ok := l.code()
		if !ok || t.Start >= span.End {
			return span
		}
		word := t.Text(w.sql)
		if l.depth > 0 || t.Kind != sqlguard.TokenWord ||
			strings.EqualFold(word, "explain") || strings.EqualFold(word, "analyze") ||
			strings.EqualFold(word, "analyse") || strings.EqualFold(word, "verbose") {
			continue
		}
		span.Start = t.Start
		return span
	}
}

// write refuses INSERT, UPDATE, DELETE and MERGE, and visits them.
func (w *walker) write(kind nodeKind, target *rangeVar, visit func()) {
	w.verb(kind)
	ctes, refused, outer := len(w.ctes), w.refused, w.target
	if len(w.path) > 0 {
		scope := w.path[len(w.path)-1]
		name := strings.ToUpper(string(nodeRules[kind].verb))
		w.refuse(sqlguard.Finding{
			Code: sqlguard.CodeWriteInCTE, Span: w.bodySpan(scope.location), Object: target.GetRelname(),
			Message: fmt.Sprintf("%s inside WITH %q", name, scope.name),
		})
	} else {
		w.statement(kind, target.GetRelname())
	}
	access := w.access
	w.refused, w.access, w.target = true, sqlguard.AccessRead, target
	visit()
	w.refused, w.access, w.target = refused, access, outer
	w.ctes = w.ctes[:ctes]
	w.cteColumns = w.cteColumns[:min(ctes, len(w.cteColumns))]
}

func (w *walker) judgeInsertStmt(n *insertStmt) {
	w.write(kindInsertStmt, n.Relation, func() { w.fieldsInsertStmt(n) })
}

func (w *walker) judgeUpdateStmt(n *updateStmt) {
	w.write(kindUpdateStmt, n.Relation, func() { w.fieldsUpdateStmt(n) })
}

func (w *walker) judgeDeleteStmt(n *deleteStmt) {
	w.write(kindDeleteStmt, n.Relation, func() { w.fieldsDeleteStmt(n) })
}

func (w *walker) judgeMergeStmt(n *mergeStmt) {
	w.write(kindMergeStmt, n.Relation, func() { w.fieldsMergeStmt(n) })
}

// judgeExplainStmt visits the explained statement. ANALYZE counts as on unless its value
// clearly means off.
func (w *walker) judgeExplainStmt(n *explainStmt) {
	w.verb(kindExplainStmt)
	for _, o := range n.Options {
		option := o.GetDefElem()
		if option == nil {
			w.unreadable()
			continue
		}
		if strings.EqualFold(option.Defname, "analyze") && !switchedOff(option.Arg) {
			w.st.Executes = true
		}
	}
	w.settle(n.Query.GetSelectStmt())
	w.fieldsExplainStmt(n)
}

// switchedOff reports whether the value of an option means no.
func switchedOff(n *node) bool {
	switch {
	case n.GetString_() != nil:
		s := n.GetString_().Sval
		return strings.EqualFold(s, "off") || strings.EqualFold(s, "false")
	case n.GetInteger() != nil:
		return n.GetInteger().Ival == 0
	default:
		return false
	}
}

// judgeVariableShowStmt notes the setting that SHOW reads.
func (w *walker) judgeVariableShowStmt(n *variableShowStmt) {
	w.verb(kindVariableShowStmt)
	ruling := sqlguard.Ruling{Allowed: settingAllowed(n.Name)}
	if strings.EqualFold(n.Name, "all") {
		ruling.Reason = "shows every setting"
	}
	w.noteSetting(n.Name, w.st.Span, ruling)
}

func (w *walker) noteSetting(name string, span sqlguard.Span, ruling sqlguard.Ruling) {
	if !ruling.Allowed {
		ruling.Code, ruling.Reveal = sqlguard.CodeSettingNotAllowed, revealedSettings[strings.ToLower(name)]
	}
	w.st.Settings = append(w.st.Settings, sqlguard.SettingRead{Name: name, Span: span, Ruling: ruling})
}

// judgeVariableSetStmt distinguishes SET TRANSACTION from other forms of SET.
func (w *walker) judgeVariableSetStmt(n *variableSetStmt) {
	w.statement(kindVariableSetStmt, n.Name)
	if n.Kind == setMultiple {
		f := &w.st.Effects[len(w.st.Effects)-1]
		f.Code, f.Message = sqlguard.CodeTransactionControl, "SET "+strings.ToUpper(n.Name)+" "+doing(sqlguard.CodeTransactionControl)
	}
	w.fieldsVariableSetStmt(n)
}

// judgeCopyStmt refuses COPY, with a code for the source or target of its data.
func (w *walker) judgeCopyStmt(n *copyStmt) {
	w.verb(kindCopyStmt)
	w.refused = true
	w.access = sqlguard.AccessRead
	if n.IsFrom {
		w.access = sqlguard.AccessWrite
	}
	w.fieldsCopyStmt(n)
	refuse := func(code sqlguard.Code, message, hint string) {
		w.refuse(sqlguard.Finding{
			Code: code, Span: w.st.Span, Object: n.Relation.GetRelname(), Message: message, Hint: hint,
		})
	}
	const instead = "use SELECT: the rows are returned to you"
	if n.IsFrom {
		refuse(sqlguard.CodeWriteStatement, "COPY FROM changes data", "")
	}
	switch {
	case n.IsProgram:
		refuse(sqlguard.CodeFunctionFileAccess, "COPY runs a program on the server", instead)
	case n.Filename != "":
		refuse(sqlguard.CodeFunctionFileAccess, "COPY reads or writes a file of the server", instead)
	case !n.IsFrom:
		refuse(sqlguard.CodeStatementNotAllowed, "COPY TO is not a read that returns rows", instead)
	}
}

// judgeCreateTableAsStmt refuses CREATE TABLE AS, also inside EXPLAIN.
func (w *walker) judgeCreateTableAsStmt(n *createTableAsStmt) {
	w.statement(kindCreateTableAsStmt, n.GetInto().GetRel().GetRelname())
	if n.Objtype == matviewObject {
		f := &w.st.Effects[len(w.st.Effects)-1]
		f.Message = "CREATE MATERIALIZED VIEW " + doing(f.Code)
		if w.st.Verb == nodeRules[kindCreateTableAsStmt].verb {
			w.st.Verb = "create_materialized_view"
		}
	}
	w.fieldsCreateTableAsStmt(n)
}
