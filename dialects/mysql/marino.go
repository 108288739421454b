package mysql

import (
	"reflect"
	"sync"

	"github.com/sqlc-dev/marino/ast"
	marinomode "github.com/sqlc-dev/marino/mysql"
	"github.com/sqlc-dev/marino/parser"

	"github.com/ktxhq/ktx/sqlguard"
)

// marinoParsers are parsers with the pinned SQL mode. Each parses one statement at a time.
var marinoParsers = sync.Pool{New: func() any {
	p := parser.New()
	mode, err := marinomode.GetSQLMode(sqlMode)
	if err != nil {
		return nil
	}
	p.SetSQLMode(mode)
	return p
}}

// readMarino parses a text with marino and walks over its statement.
func readMarino(w *walker, text string) error {
	if w.effort() > maxEffort {
		return &unreadError{cause: errEffort}
	}
	p, ok := marinoParsers.Get().(*parser.Parser)
	if !ok {
		return errNoParser
	}
	statements, _, err := p.ParseSQL(text, parser.CharsetConnection("utf8mb4"), parser.CollationConnection(""))
	switch {
	case err != nil:
		err = &unreadError{cause: err}
	case len(statements) != 1:
		err = &unreadError{cause: errDivided}
	default:
		marinoWalker{w}.statement(statements[0])
	}
	marinoParsers.Put(p) // not after a panic, which leaves a parser in any state
	return err
}

// maxEffort bounds the number of tokens that marino reads, counting repeated reads.
const maxEffort = 400_000

// effort is an upper bound of the number of tokens that marino reads. When marino
// cannot know what a bracket opens, it reads the content as one construct and,
// after an error, again as another. This happens at every level.
func (l *ledger) effort() int {
	weights := []int{1}
	sum := 0
	for i := range l.items {
		weight := weights[len(weights)-1]
		sum += weight
		if sum > maxEffort {
			break
		}
		switch l.items[i].Kind { //nolint:exhaustive // others open no level
		case sqlguard.TokenOpen:
			switch {
			case l.word(i-1, "interval"):
				weight *= 3
			case i == 0, l.kind(i-1) == sqlguard.TokenOpen, l.kind(i-1) == sqlguard.TokenComma, l.word(i-1, "in"),
				l.word(i-1, "from"), l.word(i-1, "join"), l.word(i-1, "json_value"):
				weight *= 2
			}
			weights = append(weights, min(weight, maxEffort))
		case sqlguard.TokenClose:
			if len(weights) > 1 {
				weights = weights[:len(weights)-1]
			}
		}
	}
	return sum
}

// marinoWalker walks over a tree of marino.
type marinoWalker struct{ *walker }

// marinoNodeName is the name of a node's type, as nodeRules lists it.
func marinoNodeName(n any) string { return nodeName(n, marinoNodes) }

var marinoNodes = reflect.TypeFor[ast.SelectStmt]().PkgPath()

// literal meets a literal of the text. What the parser adds (the 1 of COUNT(*))
// is met nowhere.
func (w marinoWalker) literal(n *ast.ValueExprBase) {
	switch n.Kind() {
	case ast.KindNull:
	case ast.KindInt64:
		if n.Type.GetFlag()&marinomode.IsBooleanFlag == 0 {
			w.integer(magnitude(n.GetInt64()))
		}
	case ast.KindUint64:
		w.integer(n.GetUint64())
	case ast.KindFloat32, ast.KindFloat64:
		w.number(canonicalFloat(n.GetFloat64()))
	case ast.KindString, ast.KindBytes:
		w.text(n.GetString())
	case ast.KindMysqlDecimal:
		w.number(n.GetMysqlDecimal().String())
	case ast.KindBinaryLiteral:
		w.binary(string(n.GetBinaryLiteral()))
	default:
		w.unknown("literal")
	}
}

// value visits literals, and nodes that TiDB's tree does not have.
func (w marinoWalker) value(e ast.ExprNode) {
	switch n := e.(type) {
	case *ast.ParamMarkerExprBase:
		w.parameter()
	case *ast.ValueExprBase:
		w.literal(n)
	case *ast.JSONValueExpr:
		w.call("", "json_value", 2)
		w.expr(n.Doc)
		w.expr(n.Path)
		w.fieldType(n.Returning)
		w.onResponse(n.OnEmpty)
		w.onResponse(n.OnError)
	default:
		w.unknown(marinoNodeName(e))
	}
}

// foreign visits a source of rows that TiDB's tree does not have.
func (w marinoWalker) foreign(n ast.Node) {
	table, ok := n.(*ast.JSONTableExpr)
	if !ok || table == nil {
		w.unknown(marinoNodeName(n))
		return
	}
	w.call("", "json_table", -1)
	w.expr(table.Doc)
	w.expr(table.Path)
	w.jsonColumns(table.Columns)
}

func (w marinoWalker) jsonColumns(list []*ast.JSONTableColumn) {
	for _, c := range list {
		if c == nil {
			continue
		}
		if c.Nested {
			w.keyword("nested")
		}
		w.name(c.Name.O)
		w.fieldType(c.Tp)
		w.expr(c.Path)
		w.expr(c.NestedPath)
		w.onResponse(c.OnEmpty)
		w.onResponse(c.OnError)
		w.jsonColumns(c.NestedColumns)
	}
}

func (w marinoWalker) onResponse(n *ast.JSONOnResponse) {
	if n != nil {
		w.expr(n.Value)
	}
}

// showUse says what becomes of a form of SHOW. What only marino reads is not on
// the list.
func (w marinoWalker) showUse(n *ast.ShowStmt) showUse {
	if n.Engine != "" || n.LogName != "" || n.Position != nil || n.ChannelName != "" || n.ParseTreeStmt != nil {
		return showRefused
	}
	if use, ok := marinoMoreShow[n.Tp]; ok {
		return use
	}
	return marinoShow[n.Tp]
}

// marinoMoreShow are forms that only marino has.
var marinoMoreShow = map[ast.ShowStmtType]showUse{
	ast.ShowCreateEvent:    showSource,
	ast.ShowCreateFunction: showSource,
	ast.ShowCreateTrigger:  showSource,
	ast.ShowBinaryLogs:     showSecret,
}

// showsObject reports whether the name in a form of SHOW is that of a trigger or event,
// which is no relation.
func (w marinoWalker) showsObject(n *ast.ShowStmt) bool {
	return n.Tp == ast.ShowCreateTrigger || n.Tp == ast.ShowCreateEvent
}

// moreExplain refuses EXPLAIN … INTO @v.
func (w marinoWalker) moreExplain(n *ast.ExplainStmt) {
	if n.IntoVar != "" {
		w.into("EXPLAIN INTO assigns a variable of the session")
	}
}

func (w marinoWalker) moreLocks(n *ast.SelectStmt) {
	for _, lock := range n.MoreLockInfos {
		w.lockInfo(lock)
	}
}

func (w marinoWalker) moreInto(n *ast.SelectIntoOption) {
	w.alias(n.Charset)
	w.exprs(n.Vars)
}

func (w marinoWalker) moreCast(n *ast.FuncCastExpr) {
	if n.AtTimeZone != "" {
		w.text(n.AtTimeZone)
	}
}
