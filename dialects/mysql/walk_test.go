package mysql_test

import (
	"reflect"
	"slices"
	"testing"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	tidbvalues "github.com/pingcap/tidb/pkg/parser/test_driver"
	marino "github.com/sqlc-dev/marino/ast"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

// tree is one parser's tree.
type tree struct {
	types  []reflect.Type // what can stand in a query
	parts  []reflect.Type // structs of the package that are no nodes
	expr   reflect.Type
	node   reflect.Type
	rows   reflect.Type // the interface of what gives rows
	stmt   reflect.Type
	query  reflect.Type
	name   reflect.Type // CIStr
	marker func() any   // a node that is refused
	walk   func(stmt any) (sqlguard.Statement, bool)
}

// probeText is the text of the walk; its only word is the name that is planted.
const probeText = "probe"

var tidbTree = tree{
	types: tidbTypes,
	parts: []reflect.Type{
		reflect.TypeFor[tidb.IndexHint](), reflect.TypeFor[tidb.SelectLockInfo](), reflect.TypeFor[tidb.FrameExtent](), reflect.TypeFor[tidb.SelectStmtOpts](),
	},
	expr:   reflect.TypeFor[tidb.ExprNode](),
	node:   reflect.TypeFor[tidb.Node](),
	rows:   reflect.TypeFor[tidb.ResultSetNode](),
	stmt:   reflect.TypeFor[tidb.StmtNode](),
	query:  reflect.TypeFor[tidb.SelectStmt](),
	name:   reflect.TypeFor[tidb.CIStr](),
	marker: func() any { return &tidbvalues.ParamMarkerExpr{} },
	walk: func(stmt any) (sqlguard.Statement, bool) {
		return mysql.WalkTiDB(probeText, stmt.(tidb.StmtNode)) //nolint:forcetypeassert // a test of these types
	},
}

var marinoTree = tree{
	types: marinoTypes,
	parts: []reflect.Type{
		reflect.TypeFor[marino.IndexHint](), reflect.TypeFor[marino.SelectLockInfo](), reflect.TypeFor[marino.FrameExtent](), reflect.TypeFor[marino.SelectStmtOpts](),
	},
	expr:   reflect.TypeFor[marino.ExprNode](),
	node:   reflect.TypeFor[marino.Node](),
	rows:   reflect.TypeFor[marino.ResultSetNode](),
	stmt:   reflect.TypeFor[marino.StmtNode](),
	query:  reflect.TypeFor[marino.SelectStmt](),
	name:   reflect.TypeFor[marino.CIStr](),
	marker: func() any { return &marino.ParamMarkerExprBase{} },
	walk: func(stmt any) (sqlguard.Statement, bool) {
		return mysql.WalkMarino(probeText, stmt.(marino.StmtNode)) //nolint:forcetypeassert // a test of these types
	},
}

// unvisited lists the fields that the test leaves out, with the reason.
var unvisited = map[string]string{
	"ExplainStmt.Format":          "the word or literal behind FORMAT =, met there",
	"ExplainStmt.PlanDigest":      "refused",
	"ExplainStmt.SQLDigest":       "refused",
	"FuncCastExpr.AtTimeZone":     "a literal, met as one",
	"SelectStmt.TableHints":       "hints are read from the text",
	"SelectLockInfo.Tables":       "names of this query, refused with the clause",
	"SelectStmtOpts.TableHints":   "hints are read from the text",
	"ShowStmt.ShowGroupKey":       "stands in forms that are refused",
	"ShowStmt.ShowProfileLimit":   "stands in forms that are refused",
	"ShowStmt.Engine":             "refused",
	"ShowStmt.LogName":            "refused",
	"ShowStmt.ChannelName":        "refused",
	"ShowStmt.ParseTreeStmt":      "refused",
	"TableOptimizerHint.HintName": "hints are read from the text",
	"TableOptimizerHint.QBName":   "hints are read from the text",
	"TableOptimizerHint.Tables":   "hints are read from the text",
	"TableOptimizerHint.Indexes":  "hints are read from the text",
}

// scalars are the fields that hold no node and no name.
var scalars = map[string]bool{
	"AggregateFuncExpr.Distinct":            true,
	"BetweenExpr.Not":                       true,
	"BinaryOperationExpr.Op":                true,
	"ByItem.Desc":                           true,
	"ByItem.NullOrder":                      true,
	"CommonTableExpression.ConsumerCount":   true,
	"CommonTableExpression.IsRecursive":     true,
	"CompareSubqueryExpr.All":               true,
	"CompareSubqueryExpr.Op":                true,
	"ExistsSubqueryExpr.Not":                true,
	"ExplainStmt.Analyze":                   true,
	"ExplainStmt.Explore":                   true,
	"FrameBound.Type":                       true,
	"FrameBound.UnBounded":                  true,
	"FrameBound.Unit":                       true,
	"FrameClause.Type":                      true,
	"FuncCallExpr.Tp":                       true,
	"FuncCastExpr.ExplicitCharSet":          true,
	"FuncCastExpr.FunctionType":             true,
	"FuncCastExpr.Tp":                       true,
	"GetFormatSelectorExpr.Selector":        true,
	"GroupByClause.Rollup":                  true,
	"IndexHint.HintScope":                   true,
	"IndexHint.HintType":                    true,
	"IsNullExpr.Not":                        true,
	"IsTruthExpr.Not":                       true,
	"IsTruthExpr.True":                      true,
	"JSONOnResponse.Tp":                     true,
	"JSONTableColumn.Exists":                true,
	"JSONTableColumn.ForOrdinality":         true,
	"JSONTableColumn.Nested":                true,
	"JSONTableColumn.Tp":                    true,
	"JSONValueExpr.Returning":               true,
	"Join.ExplicitParens":                   true,
	"Join.NaturalJoin":                      true,
	"Join.StraightJoin":                     true,
	"Join.Tp":                               true,
	"MatchAgainst.Modifier":                 true,
	"OrderByClause.ForUnion":                true,
	"PatternInExpr.Not":                     true,
	"PatternLikeOrIlikeExpr.Escape":         true,
	"PatternLikeOrIlikeExpr.EscapeExplicit": true,
	"PatternLikeOrIlikeExpr.IsLike":         true,
	"PatternLikeOrIlikeExpr.Not":            true,
	"PatternLikeOrIlikeExpr.PatChars":       true,
	"PatternLikeOrIlikeExpr.PatTypes":       true,
	"PatternRegexpExpr.Not":                 true,
	"PatternRegexpExpr.Re":                  true,
	"PatternRegexpExpr.Sexpr":               true,
	"PositionExpr.N":                        true,
	"SelectField.Auxiliary":                 true,
	"SelectField.AuxiliaryColInAgg":         true,
	"SelectField.AuxiliaryColInOrderBy":     true,
	"SelectField.Offset":                    true,
	"SelectIntoOption.FieldsInfo":           true,
	"SelectIntoOption.LinesInfo":            true,
	"SelectIntoOption.Tp":                   true,
	"SelectLockInfo.LockType":               true,
	"SelectLockInfo.WaitSec":                true,
	"SelectStmt.AfterSetOperator":           true,
	"SelectStmt.AsViewSchema":               true,
	"SelectStmt.Distinct":                   true,
	"SelectStmt.IsInBraces":                 true,
	"SelectStmt.LockInfo":                   true,
	"SelectStmt.MoreLockInfos":              true,
	"SelectStmt.Kind":                       true,
	"SelectStmt.QueryBlockOffset":           true,
	"SelectStmt.SelectStmtOpts":             true,
	"SelectStmt.WithBeforeBraces":           true,
	"SelectStmtOpts.CalcFoundRows":          true,
	"SelectStmtOpts.Distinct":               true,
	"SelectStmtOpts.ExplicitAll":            true,
	"SelectStmtOpts.Priority":               true,
	"SelectStmtOpts.SQLBigResult":           true,
	"SelectStmtOpts.SQLBufferResult":        true,
	"SelectStmtOpts.SQLCache":               true,
	"SelectStmtOpts.SQLSmallResult":         true,
	"SelectStmtOpts.StraightJoin":           true,
	"SetOprSelectList.AfterSetOperator":     true,
	"SetOprStmt.IsInBraces":                 true,
	"ShowStmt.CountWarningsOrErrors":        true,
	"ShowStmt.DistributionJobID":            true,
	"ShowStmt.Extended":                     true,
	"ShowStmt.Flag":                         true,
	"ShowStmt.Full":                         true,
	"ShowStmt.GlobalScope":                  true,
	"ShowStmt.IfNotExists":                  true,
	"ShowStmt.ImportJobID":                  true,
	"ShowStmt.ImportJobRaw":                 true,
	"ShowStmt.Position":                     true,
	"ShowStmt.Roles":                        true,
	"ShowStmt.ShowProfileArgs":              true,
	"ShowStmt.ShowProfileTypes":             true,
	"ShowStmt.Tp":                           true,
	"ShowStmt.User":                         true,
	"SubqueryExpr.Correlated":               true,
	"SubqueryExpr.Evaluated":                true,
	"SubqueryExpr.Exists":                   true,
	"SubqueryExpr.MultiRows":                true,
	"TableName.IsAlias":                     true,
	"TableOptimizerHint.HintData":           true,
	"TableSample.SampleClauseUnit":          true,
	"TableSample.SampleMethod":              true,
	"TableSource.Lateral":                   true,
	"TimeUnitExpr.Unit":                     true,
	"TrimDirectionExpr.Direction":           true,
	"UnaryOperationExpr.Op":                 true,
	"VariableExpr.ExplicitScope":            true,
	"VariableExpr.IsGlobal":                 true,
	"VariableExpr.IsInstance":               true,
	"VariableExpr.IsSystem":                 true,
	"WindowFuncExpr.Distinct":               true,
	"WindowFuncExpr.FromLast":               true,
	"WindowFuncExpr.IgnoreNull":             true,
	"WindowSpec.OnlyAlias":                  true,
	"WithClause.IsRecursive":                true,
}

// TestWalkVisitsEveryField plants a marker, or a name, in every field of every
// type that a query can hold, and looks whether the walk meets it there.
func TestWalkVisitsEveryField(t *testing.T) {
	seen := make(map[string]bool)
	for _, tree := range []*tree{&tidbTree, &marinoTree} {
		listed := make(map[string]bool)
		for _, typ := range tree.types {
			listed[typ.Name()] = true
		}
		for _, name := range mysql.NodeNames() {
			switch mysql.NodeUse(name) {
			case "root", "part":
				if tree == &marinoTree && !listed[name] {
					t.Errorf("%s is not in marinoTypes", name)
				}
			}
		}
		tried := 0
		for _, typ := range slices.Concat(tree.types, tree.parts) {
			for i := range typ.NumField() {
				field := typ.Field(i)
				if !field.IsExported() {
					continue
				}
				key := typ.Name() + "." + field.Name
				seen[key] = true
				if unvisited[key] != "" {
					continue
				}
				value := tree.probe(field.Type, 4)
				if !value.IsValid() {
					if !scalars[key] {
						t.Errorf("%s of type %s is neither visited nor listed as a scalar", key, field.Type)
					}
					continue
				}
				tried++
				node := reflect.New(typ)
				if typ.Name() == "ShowStmt" {
					node.Elem().FieldByName("Tp").SetInt(int64(tidb.ShowColumns)) // marino has the same number
					table := node.Elem().FieldByName("Table")
					table.Set(reflect.New(table.Type().Elem()))
				}
				node.Elem().Field(i).Set(value)
				stmt, ok := tree.statement(node)
				if !ok {
					t.Errorf("%s cannot be embedded in a query", key)
					continue
				}
				st, met := tree.walk(stmt.Interface())
				refused := slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool {
					return f.Code == sqlguard.CodeParameterNotAllowed || f.Code == sqlguard.CodeSessionChange || f.Code == sqlguard.CodeStatementNotAllowed || f.Code == sqlguard.CodeSelectInto
				})
				if !met && !refused {
					t.Errorf("%s: the walk does not meet the value of this field: %+v", key, st.Effects)
				}
			}
		}
		if tried < 90 {
			t.Errorf("only %d fields tried", tried)
		}
	}
	for key := range unvisited {
		if !seen[key] {
			t.Errorf("%s is no field", key)
		}
	}
	for key := range scalars {
		if !seen[key] {
			t.Errorf("%s is no field", key)
		}
	}
}

// statement returns a statement that holds a node, the smallest that there is.
func (tr *tree) statement(node reflect.Value) (stmt reflect.Value, ok bool) {
	if node.Type().Implements(tr.stmt) {
		return node, true
	}
	for depth := 1; depth < 9 && !ok; depth++ {
		for _, root := range []string{"SelectStmt", "SetOprStmt"} {
			i := slices.IndexFunc(tr.types, func(t reflect.Type) bool { return t.Name() == root })
			if stmt, ok = tr.embed(tr.types[i], node, depth, nil); ok {
				break
			}
		}
	}
	return stmt, ok
}

// probe returns a value of type t that holds a marker or the name probe, the
// zero Value where there is none.
func (tr *tree) probe(t reflect.Type, depth int) reflect.Value {
	if depth == 0 {
		return reflect.Value{}
	}
	switch {
	case t == tr.expr, t == tr.node:
		return reflect.ValueOf(tr.marker())
	case t == tr.rows, t == tr.stmt:
		query := reflect.New(tr.query)
		query.Elem().FieldByName("Where").Set(reflect.ValueOf(tr.marker()))
		return query
	case t == tr.name:
		name := reflect.New(tr.name)
		name.Elem().FieldByName("O").SetString(probeText)
		name.Elem().FieldByName("L").SetString(probeText)
		return name.Elem()
	case t.Kind() == reflect.String:
		return reflect.ValueOf(probeText).Convert(t)
	case t.Kind() == reflect.Slice:
		item := tr.probe(t.Elem(), depth)
		if !item.IsValid() {
			return item
		}
		return reflect.Append(reflect.MakeSlice(t, 0, 1), item)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		if t.Elem().PkgPath() != tr.query.PkgPath() {
			return reflect.Value{}
		}
		node := reflect.New(t.Elem())
		for i := range t.Elem().NumField() {
			if field := t.Elem().Field(i); field.IsExported() && unvisited[t.Elem().Name()+"."+field.Name] == "" {
				if value := tr.probe(field.Type, depth-1); value.IsValid() {
					node.Elem().Field(i).Set(value)
					return node
				}
			}
		}
	case t.Kind() == reflect.Struct:
		if value := tr.probe(reflect.PointerTo(t), depth); value.IsValid() {
			return value.Elem()
		}
	}
	return reflect.Value{}
}

// embed returns a pointer to a struct of type t that holds node somewhere.
func (tr *tree) embed(t reflect.Type, node reflect.Value, depth int, path []reflect.Type) (reflect.Value, bool) {
	if reflect.PointerTo(t) == node.Type() {
		return node, true
	}
	if depth == 0 || slices.Contains(path, t) {
		return reflect.Value{}, false
	}
	path = append(path, t)
	out := reflect.New(t)
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() || unvisited[t.Name()+"."+field.Name] != "" {
			continue
		}
		if value, ok := tr.embedIn(field.Type, node, depth-1, path); ok {
			out.Elem().Field(i).Set(value)
			return out, true
		}
	}
	return reflect.Value{}, false
}

// embedIn returns a value of any type that holds node.
func (tr *tree) embedIn(t reflect.Type, node reflect.Value, depth int, path []reflect.Type) (reflect.Value, bool) {
	switch {
	case t == node.Type():
		return node, true
	case t == node.Type().Elem():
		return node.Elem(), true
	case t.Kind() == reflect.Slice:
		item, ok := tr.embedIn(t.Elem(), node, depth, path)
		if !ok {
			return item, false
		}
		return reflect.Append(reflect.MakeSlice(t, 0, 1), item), true
	case t.Kind() == reflect.Interface && t.NumMethod() > 0 && node.Type().Implements(t):
		return node, true
	case t.Kind() == reflect.Interface && depth > 0:
		for _, carrier := range tr.types {
			if !reflect.PointerTo(carrier).Implements(t) || reflect.PointerTo(carrier).Implements(tr.stmt) {
				continue
			}
			if value, ok := tr.embed(carrier, node, depth-1, path); ok {
				return value, true
			}
		}
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && t.Elem().PkgPath() == tr.query.PkgPath():
		return tr.embed(t.Elem(), node, depth, path)
	case t.Kind() == reflect.Struct && t.PkgPath() == tr.query.PkgPath() && t != tr.name:
		if value, ok := tr.embed(t, node, depth, path); ok {
			return value.Elem(), true
		}
	}
	return reflect.Value{}, false
}

// TestLocksInTheTree holds that the walk meets every kind of locking clause.
func TestLocksInTheTree(t *testing.T) {
	share := &marino.SelectLockInfo{LockType: marino.SelectLockForShare}
	for name, walk := range map[string]func() (sqlguard.Statement, bool){
		"TiDB": func() (sqlguard.Statement, bool) {
			return mysql.WalkTiDB(probeText, &tidb.SelectStmt{LockInfo: &tidb.SelectLockInfo{LockType: 99}})
		},
		"marino": func() (sqlguard.Statement, bool) {
			return mysql.WalkMarino(probeText, &marino.SelectStmt{LockInfo: share})
		},
		"marino, the second": func() (sqlguard.Statement, bool) {
			return mysql.WalkMarino(probeText, &marino.SelectStmt{MoreLockInfos: []*marino.SelectLockInfo{share}})
		},
	} {
		if st, _ := walk(); len(st.Effects) != 1 || st.Effects[0].Code != sqlguard.CodeLockingClause {
			t.Errorf("%s: %+v", name, st.Effects)
		}
	}
}

// strange nodes satisfy the parsers' interfaces but are not from their packages.
type (
	strangeTiDB       struct{ tidb.StmtNode }
	strangeTiDBExpr   struct{ tidb.ExprNode }
	strangeMarino     struct{ marino.StmtNode }
	strangeMarinoExpr struct{ marino.ExprNode }
	// InsertStmt has the name of a listed node.
	InsertStmt struct{ tidb.StmtNode }
)

// TestUnknownNodes checks that the walk refuses nodes that the table does not list.
func TestUnknownNodes(t *testing.T) {
	refused := func(name string, st sqlguard.Statement, _ bool) {
		if !slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool { return f.Code == sqlguard.CodeStatementNotAllowed }) {
			t.Errorf("%s: no effect refuses it: %+v", name, st)
		}
	}
	tidbWalk := func(name string, n tidb.StmtNode) {
		st, met := mysql.WalkTiDB(probeText, n)
		refused("TiDB: "+name, st, met)
	}
	marinoWalk := func(name string, n marino.StmtNode) {
		st, met := mysql.WalkMarino(probeText, n)
		refused("marino: "+name, st, met)
	}
	tidbWalk("statement", &strangeTiDB{&tidb.SelectStmt{}})
	tidbWalk("name of a known one", &InsertStmt{&tidb.SelectStmt{}})
	tidbWalk("explained", &tidb.ExplainStmt{Stmt: &strangeTiDB{&tidb.SelectStmt{}}})
	tidbWalk("nothing explained", &tidb.ExplainStmt{})
	tidbWalk("expression", &tidb.SelectStmt{Where: &strangeTiDBExpr{&tidb.RowExpr{}}})
	tidbWalk("unlisted expression", &tidb.SelectStmt{Where: &tidb.MaxValueExpr{}})
	tidbWalk("unlisted SHOW", &tidb.ShowStmt{})
	marinoWalk("statement", &strangeMarino{&marino.SelectStmt{}})
	marinoWalk("expression", &marino.SelectStmt{Where: &strangeMarinoExpr{&marino.RowExpr{}}})
	marinoWalk("unlisted expression", &marino.SelectStmt{Where: &marino.MaxValueExpr{}})
	marinoWalk("unlisted SHOW", &marino.ShowStmt{})
}

var tidbTypes = []reflect.Type{
	reflect.TypeFor[tidb.AggregateFuncExpr](),
	reflect.TypeFor[tidb.BetweenExpr](),
	reflect.TypeFor[tidb.BinaryOperationExpr](),
	reflect.TypeFor[tidb.ByItem](),
	reflect.TypeFor[tidb.CaseExpr](),
	reflect.TypeFor[tidb.ColumnName](),
	reflect.TypeFor[tidb.ColumnNameExpr](),
	reflect.TypeFor[tidb.CommonTableExpression](),
	reflect.TypeFor[tidb.CompareSubqueryExpr](),
	reflect.TypeFor[tidb.DefaultExpr](),
	reflect.TypeFor[tidb.ExistsSubqueryExpr](),
	reflect.TypeFor[tidb.ExplainStmt](),
	reflect.TypeFor[tidb.FieldList](),
	reflect.TypeFor[tidb.FrameBound](),
	reflect.TypeFor[tidb.FrameClause](),
	reflect.TypeFor[tidb.FuncCallExpr](),
	reflect.TypeFor[tidb.FuncCastExpr](),
	reflect.TypeFor[tidb.GroupByClause](),
	reflect.TypeFor[tidb.HavingClause](),
	reflect.TypeFor[tidb.IsNullExpr](),
	reflect.TypeFor[tidb.IsTruthExpr](),
	reflect.TypeFor[tidb.Join](),
	reflect.TypeFor[tidb.Limit](),
	reflect.TypeFor[tidb.MatchAgainst](),
	reflect.TypeFor[tidb.OnCondition](),
	reflect.TypeFor[tidb.OrderByClause](),
	reflect.TypeFor[tidb.ParenthesesExpr](),
	reflect.TypeFor[tidb.PartitionByClause](),
	reflect.TypeFor[tidb.PatternInExpr](),
	reflect.TypeFor[tidb.PatternLikeOrIlikeExpr](),
	reflect.TypeFor[tidb.PatternRegexpExpr](),
	reflect.TypeFor[tidb.PositionExpr](),
	reflect.TypeFor[tidb.RowExpr](),
	reflect.TypeFor[tidb.SelectField](),
	reflect.TypeFor[tidb.SelectIntoOption](),
	reflect.TypeFor[tidb.SelectStmt](),
	reflect.TypeFor[tidb.SetCollationExpr](),
	reflect.TypeFor[tidb.SetOprSelectList](),
	reflect.TypeFor[tidb.SetOprStmt](),
	reflect.TypeFor[tidb.ShowStmt](),
	reflect.TypeFor[tidb.SubqueryExpr](),
	reflect.TypeFor[tidb.TableName](),
	reflect.TypeFor[tidb.TableNameExpr](),
	reflect.TypeFor[tidb.TableOptimizerHint](),
	reflect.TypeFor[tidb.TableRefsClause](),
	reflect.TypeFor[tidb.TableSource](),
	reflect.TypeFor[tidb.UnaryOperationExpr](),
	reflect.TypeFor[tidb.ValuesExpr](),
	reflect.TypeFor[tidb.VariableExpr](),
	reflect.TypeFor[tidb.WhenClause](),
	reflect.TypeFor[tidb.WildCardField](),
	reflect.TypeFor[tidb.WindowFuncExpr](),
	reflect.TypeFor[tidb.WindowSpec](),
	reflect.TypeFor[tidb.WithClause](),
	reflect.TypeFor[tidb.AsOfClause](),
	reflect.TypeFor[tidb.TableSample](),
	reflect.TypeFor[tidb.TimeUnitExpr](),
	reflect.TypeFor[tidb.TrimDirectionExpr](),
	reflect.TypeFor[tidb.GetFormatSelectorExpr](),
}

var marinoTypes = []reflect.Type{
	reflect.TypeFor[marino.AggregateFuncExpr](),
	reflect.TypeFor[marino.BetweenExpr](),
	reflect.TypeFor[marino.BinaryOperationExpr](),
	reflect.TypeFor[marino.ByItem](),
	reflect.TypeFor[marino.CaseExpr](),
	reflect.TypeFor[marino.ColumnName](),
	reflect.TypeFor[marino.ColumnNameExpr](),
	reflect.TypeFor[marino.CommonTableExpression](),
	reflect.TypeFor[marino.CompareSubqueryExpr](),
	reflect.TypeFor[marino.DefaultExpr](),
	reflect.TypeFor[marino.ExistsSubqueryExpr](),
	reflect.TypeFor[marino.ExplainStmt](),
	reflect.TypeFor[marino.FieldList](),
	reflect.TypeFor[marino.FrameBound](),
	reflect.TypeFor[marino.FrameClause](),
	reflect.TypeFor[marino.FuncCallExpr](),
	reflect.TypeFor[marino.FuncCastExpr](),
	reflect.TypeFor[marino.GroupByClause](),
	reflect.TypeFor[marino.HavingClause](),
	reflect.TypeFor[marino.IsNullExpr](),
	reflect.TypeFor[marino.IsTruthExpr](),
	reflect.TypeFor[marino.Join](),
	reflect.TypeFor[marino.Limit](),
	reflect.TypeFor[marino.MatchAgainst](),
	reflect.TypeFor[marino.OnCondition](),
	reflect.TypeFor[marino.OrderByClause](),
	reflect.TypeFor[marino.ParenthesesExpr](),
	reflect.TypeFor[marino.PartitionByClause](),
	reflect.TypeFor[marino.PatternInExpr](),
	reflect.TypeFor[marino.PatternLikeOrIlikeExpr](),
	reflect.TypeFor[marino.PatternRegexpExpr](),
	reflect.TypeFor[marino.PositionExpr](),
	reflect.TypeFor[marino.RowExpr](),
	reflect.TypeFor[marino.SelectField](),
	reflect.TypeFor[marino.SelectIntoOption](),
	reflect.TypeFor[marino.SelectStmt](),
	reflect.TypeFor[marino.SetCollationExpr](),
	reflect.TypeFor[marino.SetOprSelectList](),
	reflect.TypeFor[marino.SetOprStmt](),
	reflect.TypeFor[marino.ShowStmt](),
	reflect.TypeFor[marino.SubqueryExpr](),
	reflect.TypeFor[marino.TableName](),
	reflect.TypeFor[marino.TableNameExpr](),
	reflect.TypeFor[marino.TableOptimizerHint](),
	reflect.TypeFor[marino.TableRefsClause](),
	reflect.TypeFor[marino.TableSource](),
	reflect.TypeFor[marino.UnaryOperationExpr](),
	reflect.TypeFor[marino.ValuesExpr](),
	reflect.TypeFor[marino.VariableExpr](),
	reflect.TypeFor[marino.WhenClause](),
	reflect.TypeFor[marino.WildCardField](),
	reflect.TypeFor[marino.WindowFuncExpr](),
	reflect.TypeFor[marino.WindowSpec](),
	reflect.TypeFor[marino.WithClause](),
	reflect.TypeFor[marino.AsOfClause](),
	reflect.TypeFor[marino.TableSample](),
	reflect.TypeFor[marino.TimeUnitExpr](),
	reflect.TypeFor[marino.TrimDirectionExpr](),
	reflect.TypeFor[marino.GetFormatSelectorExpr](),
	reflect.TypeFor[marino.JSONOnResponse](),
	reflect.TypeFor[marino.JSONTableColumn](),
	reflect.TypeFor[marino.JSONTableExpr](),
	reflect.TypeFor[marino.JSONValueExpr](),
}
