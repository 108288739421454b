package mysql

import (
	"errors"
	"fmt"
	"reflect"

	tidb "github.com/pingcap/tidb/pkg/parser"
	tidbast "github.com/pingcap/tidb/pkg/parser/ast"
	tidbvalues "github.com/pingcap/tidb/pkg/parser/test_driver"
	marinoast "github.com/sqlc-dev/marino/ast"
	marino "github.com/sqlc-dev/marino/parser"

	"github.com/ktxhq/ktx/dialects/internal/syntaxtree"
	"github.com/ktxhq/ktx/sqlguard"
)

// errNoTree says that no parser has a tree of a statement. Such a statement is judged by
// its words.
var errNoTree = errors.New("no parser reads the statement")

// Tree returns the syntax tree of each statement, for people to read: TiDB's, or
// marino's when TiDB's parser cannot read the statement. Neither has the
// positions of its nodes.
func (d Dialect) Tree(sql string) ([]sqlguard.Node, error) {
	var nodes []sqlguard.Node
	for _, tokens := range divide(d.Lex(sql).List) {
		span := spanOf(tokens)
		n, ok := treeOf(sql[span.Start:span.End])
		if !ok {
			l := newLedger(sql, tokens)
			effort := l.effort()
			l.release()
			if effort > maxEffort {
				return nil, errNoTree
			}
			if n, ok = marinoTreeOf(sql[span.Start:span.End]); !ok {
				return nil, errNoTree
			}
		}
		nodes = append(nodes, treeReader.Read(n, span))
	}
	return nodes, nil
}

var treeReader = syntaxtree.Reader{
	Packages: []string{tidbPath, marinoNodes, reflect.TypeFor[tidbvalues.ValueExpr]().PkgPath()},
	Hidden:   []string{"Offset", "QueryBlockOffset", "ExplicitAll", "SQLCache", "IsInBraces", "InExecute"},
	Names:    []string{"CIStr"},
	Text:     treeText,
}

func treeOf(text string) (any, bool) {
	p, ok := tidbParsers.Get().(*tidb.Parser)
	if !ok {
		return nil, false
	}
	statements, _, err := p.ParseSQL(text, tidb.CharsetConnection("utf8mb4"), tidb.CollationConnection(""))
	tidbParsers.Put(p)
	if err != nil || len(statements) != 1 {
		return nil, false
	}
	return statements[0], true
}

func marinoTreeOf(text string) (any, bool) {
	p, ok := marinoParsers.Get().(*marino.Parser)
	if !ok {
		return nil, false
	}
	statements, _, err := p.ParseSQL(text, marino.CharsetConnection("utf8mb4"), marino.CollationConnection(""))
	marinoParsers.Put(p)
	if err != nil || len(statements) != 1 {
		return nil, false
	}
	return statements[0], true
}

// treeText spells names, literals and types.
func treeText(v any) (string, bool) {
	switch n := v.(type) {
	case tidbast.CIStr:
		return n.O, true
	case marinoast.CIStr:
		return n.O, true
	case *tidbvalues.ParamMarkerExpr, *marinoast.ParamMarkerExprBase:
		return "?", true
	case interface{ GetValue() any }: // a literal
		if text, ok := n.GetValue().(string); ok {
			return "'" + text + "'", true
		}
		return fmt.Sprint(n.GetValue()), true
	case interface{ CompactStr() string }:
		return n.CompactStr(), true
	default:
		return "", false
	}
}
