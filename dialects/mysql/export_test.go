package mysql

import (
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	marino "github.com/sqlc-dev/marino/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// NodeUse names what the walk does with a type of node, "" when the type is not
// listed.
func NodeUse(name string) string {
	return map[nodeUse]string{
		useRoot: "root", useRefused: "refused", usePart: "part", useLeaf: "leaf", useForbidden: "forbidden", useOther: "other",
	}[nodeRules[name].use]
}

// NodeNames are the listed types of nodes.
func NodeNames() []string { return slices.Sorted(maps.Keys(nodeRules)) }

// FunctionNames are the listed names of functions.
func FunctionNames() []string { return slices.Sorted(maps.Keys(functions)) }

// FunctionRuling rules on a call.
func FunctionRuling(d Dialect, schema, name string, args int) (sqlguard.Ruling, bool) {
	return d.functionRuling(schema, name, args)
}

// RelationRuling rules on a relation.
func RelationRuling(schema, name string) (bool, sqlguard.Ruling) { return relationRuling(schema, name) }

// SettingRuling rules on a setting.
func SettingRuling(scope, name string) sqlguard.Ruling { return Dialect{}.settingRuling(scope, name) }

// Tables returns the names in the tables, by table.
func Tables() map[string][]string {
	lists := map[string][]string{
		"settings":           slices.Sorted(maps.Keys(settings)),
		"information_schema": slices.Sorted(maps.Keys(informationSchema)),
		"adherent":           slices.Sorted(maps.Keys(adherentNames)),
		"mariadb_adherent":   slices.Sorted(maps.Keys(mariadbAdherentNames)),
		"words":              slices.Sorted(maps.Keys(wordNames)),
		"schemas":            systemSchemas,
	}
	for _, page := range functionPages {
		lists["functions"] = append(lists["functions"], fields(page.names)...)
	}
	for _, d := range deniedFunctions {
		lists["functions"] = append(lists["functions"], fields(d.names)...)
	}
	return lists
}

func fields(list string) []string { return slices.Collect(strings.FieldsSeq(list)) }

// WalkTiDB judges a statement of TiDB's tree as Analyze does. It reports whether the walk
// met the only word of sql.
func WalkTiDB(sql string, n tidb.StmtNode) (st sqlguard.Statement, met bool) {
	l := newLedger(sql, Dialect{}.Lex(sql).List)
	defer l.release()
	st.Span = sqlguard.Span{End: len(sql)}
	tidbWalker{&walker{ledger: l, st: &st}}.statement(n)
	return st, l.items[0].met
}

// WalkMarino does the same for marino's tree.
func WalkMarino(sql string, n marino.StmtNode) (st sqlguard.Statement, met bool) {
	l := newLedger(sql, Dialect{}.Lex(sql).List)
	defer l.release()
	st.Span = sqlguard.Span{End: len(sql)}
	marinoWalker{&walker{ledger: l, st: &st}}.statement(n)
	return st, l.items[0].met
}

// Complete compares a text with the tree of TiDB's parser for another text.
func Complete(text, tree string) error {
	l := newLedger(text, Dialect{}.Lex(text).List)
	defer l.release()
	p := parser.New()
	statements, _, err := p.ParseSQL(tree)
	if err != nil {
		return err
	}
	var st sqlguard.Statement
	tidbWalker{&walker{ledger: l, st: &st}}.statement(statements[0])
	return l.complete()
}

// WordOnly reports whether a name in quotes does not mean one of the server's functions.
func WordOnly(name string) bool { return wordOnly(name) }

// Instead are the functions of other servers with what to write instead.
func Instead() map[string]string { return wording.Functions }

// CounterRelations are the relations of counters, by schema.
var CounterRelations = counterRelations
