package mysql

import (
	"reflect"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	tidbmode "github.com/pingcap/tidb/pkg/parser/mysql"
	tidbvalues "github.com/pingcap/tidb/pkg/parser/test_driver"
)

// tidbParsers are parsers with the pinned SQL mode. Each parses one statement at a time.
// Those of tidbOldParsers read the names of window functions as ordinary names, like
// servers that do not reserve them.
var (
	tidbParsers    = sync.Pool{New: func() any { return newTiDB(true) }}
	tidbOldParsers = sync.Pool{New: func() any { return newTiDB(false) }}
)

func newTiDB(windows bool) any {
	p := parser.New()
	mode, err := tidbmode.GetSQLMode(sqlMode)
	if err != nil {
		return nil
	}
	p.SetSQLMode(mode)
	// The walk does not use the positions of nodes, because the parser sets only few.
	p.SetParserConfig(parser.ParserConfig{EnableWindowFunction: windows, EnableStrictDoubleTypeCheck: true, SkipPositionRecording: true})
	return p
}

// readTiDB parses a text with TiDB's parser and walks over its statement.
func readTiDB(w *walker, text string) error { return useTiDB(&tidbParsers, w, text) }

// readOldTiDB does the same where the server does not reserve the names of
// window functions.
func readOldTiDB(w *walker, text string) error {
	if w.dialect.product == productUnknown || w.dialect.product == productMySQL && w.dialect.release() >= 800_02 {
		return &unreadError{cause: errReserved}
	}
	return useTiDB(&tidbOldParsers, w, text)
}

// tidbParams are the character set and collation of the session.
var tidbParams = []parser.ParseParam{parser.CharsetConnection("utf8mb4"), parser.CollationConnection("")}

func useTiDB(pool *sync.Pool, w *walker, text string) error {
	p, ok := pool.Get().(*parser.Parser)
	if !ok {
		return errNoParser
	}
	statements, _, err := p.ParseSQL(text, tidbParams...)
	switch {
	case err != nil:
		err = &unreadError{cause: err}
	case len(statements) != 1:
		err = &unreadError{cause: errDivided}
	default:
		tidbWalker{w}.statement(statements[0])
	}
	pool.Put(p) // not after a panic, which leaves a parser in any state
	return err
}

// tidbWalker walks over a tree of TiDB's parser.
type tidbWalker struct{ *walker }

// tidbNodeName is the name of a node's type, as nodeRules lists it.
func tidbNodeName(n any) string { return nodeName(n, tidbPath) }

var tidbPath = reflect.TypeFor[ast.SelectStmt]().PkgPath()

// literal meets a literal of the text. What the parser adds (the 1 of COUNT(*))
// is met nowhere.
func (w tidbWalker) literal(n *tidbvalues.ValueExpr) {
	switch n.Kind() {
	case tidbvalues.KindNull:
	case tidbvalues.KindInt64:
		if n.Type.GetFlag()&tidbmode.IsBooleanFlag == 0 {
			w.integer(magnitude(n.GetInt64()))
		}
	case tidbvalues.KindUint64:
		w.integer(n.GetUint64())
	case tidbvalues.KindFloat32, tidbvalues.KindFloat64:
		w.number(canonicalFloat(n.GetFloat64()))
	case tidbvalues.KindString, tidbvalues.KindBytes:
		w.text(n.GetString())
	case tidbvalues.KindMysqlDecimal:
		w.number(n.GetMysqlDecimal().String())
	case tidbvalues.KindBinaryLiteral:
		w.binary(string(n.GetBinaryLiteral()))
	default:
		w.unknown("literal")
	}
}

// value visits an expression of the value driver, which the parser's own
// package does not know.
func (w tidbWalker) value(e ast.ExprNode) {
	switch n := e.(type) {
	case *tidbvalues.ParamMarkerExpr:
		w.parameter()
	case *tidbvalues.ValueExpr:
		w.literal(n)
	default:
		w.unknown(tidbNodeName(e))
	}
}

// foreign visits nodes that only marino's tree has.
func (w tidbWalker) foreign(n ast.Node) { w.unknown(tidbNodeName(n)) }

// showUse says what becomes of a form of SHOW.
func (w tidbWalker) showUse(n *ast.ShowStmt) showUse { return tidbShow[n.Tp] }

// The parts of marino's nodes that these do not have.

func (w tidbWalker) showsObject(*ast.ShowStmt) bool { return false }

func (w tidbWalker) moreExplain(*ast.ExplainStmt) {}

func (w tidbWalker) moreLocks(*ast.SelectStmt) {}

func (w tidbWalker) moreInto(*ast.SelectIntoOption) {}

func (w tidbWalker) moreCast(*ast.FuncCastExpr) {}
