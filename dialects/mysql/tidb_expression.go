package mysql

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	tidbtypes "github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/types"

	"github.com/ktxhq/ktx/sqlguard"
)

func (w tidbWalker) exprs(list []ast.ExprNode) {
	for _, e := range list {
		w.expr(e)
	}
}

// expr visits an expression; nil means that there is none.
func (w tidbWalker) expr(e ast.ExprNode) {
	switch n := e.(type) {
	case nil:
	case *ast.ColumnNameExpr:
		w.columnName(n.Name)
	case *ast.BinaryOperationExpr:
		w.expr(n.L)
		w.expr(n.R)
	case *ast.UnaryOperationExpr:
		w.expr(n.V)
	case *ast.ParenthesesExpr:
		w.expr(n.Expr)
	case *ast.FuncCallExpr:
		w.funcCall(n)
	case *ast.AggregateFuncExpr:
		w.aggregate(n)
	case *ast.WindowFuncExpr:
		w.call("", n.Name, len(n.Args), synonyms(n.Name)...)
		w.arguments(n.Args)
		w.endOfValues(n.Name)
		w.windowSpec(&n.Spec)
	case *ast.FuncCastExpr:
		w.expr(n.Expr)
		w.fieldType(n.Tp)
		w.moreCast(n)
	case *ast.CaseExpr:
		w.expr(n.Value)
		for _, c := range n.WhenClauses {
			if c != nil {
				w.expr(c.Expr)
				w.expr(c.Result)
			}
		}
		w.expr(n.ElseClause)
	case *ast.BetweenExpr:
		w.expr(n.Expr)
		w.expr(n.Left)
		w.expr(n.Right)
	case *ast.PatternInExpr:
		w.expr(n.Expr)
		w.exprs(n.List)
		w.expr(n.Sel)
	case *ast.PatternLikeOrIlikeExpr:
		w.expr(n.Expr)
		w.expr(n.Pattern)
		w.escape(n)
	case *ast.PatternRegexpExpr:
		w.expr(n.Expr)
		w.expr(n.Pattern)
	case *ast.IsNullExpr:
		w.expr(n.Expr)
	case *ast.IsTruthExpr:
		w.expr(n.Expr)
	case *ast.SubqueryExpr:
		w.subquery(n)
	case *ast.ExistsSubqueryExpr:
		w.expr(n.Sel)
	case *ast.CompareSubqueryExpr:
		w.expr(n.L)
		w.expr(n.R)
	case *ast.RowExpr:
		w.exprs(n.Values)
	case *ast.SetCollationExpr:
		w.expr(n.Expr)
		w.alias(n.Collate)
	case *ast.MatchAgainst:
		for _, c := range n.ColumnNames {
			w.columnName(c)
		}
		w.expr(n.Against)
	case *ast.DefaultExpr:
		w.columnName(n.Name)
	case *ast.ValuesExpr:
		if n.Column != nil {
			w.columnName(n.Column.Name)
		}
	case *ast.PositionExpr:
		w.number(strconv.Itoa(n.N))
		w.expr(n.P)
	case *ast.TableNameExpr:
		if n.Name != nil {
			w.tableName(n.Name, "")
		}
	case *ast.VariableExpr:
		w.variable(n)
	case *ast.TimeUnitExpr, *ast.TrimDirectionExpr, *ast.GetFormatSelectorExpr:
		// Keywords, which complete.go accounts for.
	default:
		w.value(e)
	}
}

func (w tidbWalker) columnName(n *ast.ColumnName) {
	if n != nil {
		w.columnRef(n.Schema.O, n.Table.O, n.Name.O)
	}
}

// escape marks the literal of LIKE … ESCAPE, of which the tree keeps one byte.
func (w tidbWalker) escape(n *ast.PatternLikeOrIlikeExpr) {
	if !n.IsLike {
		w.refuse(sqlguard.CodeStatementNotAllowed, w.span(-1), "ILIKE belongs to no server that the guard reads for")
	}
	if n.EscapeExplicit {
		w.text(string(n.Escape))
	}
}

func (w tidbWalker) funcCall(n *ast.FuncCallExpr) {
	name, args := n.FnName.O, n.Args
	if words, ok := rewritten[n.FnName.L]; ok && n.Schema.O == "" {
		if name = words[0]; len(words) == 1 {
			w.call("", name, len(args))
			w.lastWord(args)
			return
		}
		if w.meet(words[0], classAny) < 0 {
			w.meet(words[1], classAny)
		}
		w.exprs(args)
		return
	}
	if n.FnName.L == "nextval" && n.Schema.O == "" && w.sequence("next") {
		for _, e := range args {
			w.expr(e)
		}
		return
	}
	w.call(n.Schema.O, name, len(args))
	if n.Schema.O == "" && excessive[n.FnName.L] {
		w.excess(tidbArguments(args))
	}
	switch n.FnName.L {
	case ast.Trim, ast.Convert, ast.WeightString:
		if n.FnName.L == ast.Trim && len(args) > 1 {
			if v, ok := args[1].(ast.ValueExpr); !ok || v.GetValue() != " " || !w.trimsSpaces() {
				w.expr(args[1]) // stands before the other in the text
			}
			w.expr(args[0])
			w.exprs(args[2:])
			return
		}
		w.lastWord(args)
		return
	}
	w.exprs(args)
}

// lastWord visits arguments. Those after the first may represent a word of the
// text: a character set or a type.
func (w tidbWalker) lastWord(args []ast.ExprNode) {
	for i, e := range args {
		if v, ok := e.(ast.ValueExpr); ok && i > 0 {
			if s, ok := v.GetValue().(string); ok {
				w.alias(s)
				continue
			}
		}
		w.expr(e)
	}
}

func (w tidbWalker) aggregate(n *ast.AggregateFuncExpr) {
	w.call("", n.F, len(n.Args), synonyms(n.F)...)
	args := n.Args
	if !strings.EqualFold(n.F, ast.AggFuncGroupConcat) || len(args) < 2 {
		w.arguments(args)
		w.orderBy(n.Order)
		return
	}
	written := w.separated()
	w.exprs(args[:len(args)-1])
	w.orderBy(n.Order)
	separator := args[len(args)-1]
	if v, ok := separator.(ast.ValueExpr); !written && ok && v.GetValue() == "," {
		return // what a GROUP_CONCAT without SEPARATOR has
	}
	w.expr(separator)
}

// arguments visits the arguments of the function that was stated last. Where the text has
// the * of COUNT(*), the tree has a number 1, which is not to be found in the text.
func (w tidbWalker) arguments(args []ast.ExprNode) {
	if len(args) == 1 && w.overRows() {
		if v, ok := args[0].(ast.ValueExpr); ok && v.GetValue() == int64(1) {
			return
		}
	}
	w.exprs(args)
}

func (w tidbWalker) variable(n *ast.VariableExpr) {
	if !n.IsSystem {
		w.userVariable(n.Name, n.Value != nil)
		w.expr(n.Value)
		return
	}
	w.systemVariable(n.Name)
	w.expr(n.Value)
}

// fieldType meets the words of a type.
func (w tidbWalker) fieldType(tp *types.FieldType) {
	if tp == nil {
		return
	}
	switch tp.GetType() {
	case tidbtypes.TypeDate, tidbtypes.TypeNewDate:
		w.typeWords("date")
	case tidbtypes.TypeDatetime:
		w.typeWords("datetime")
	case tidbtypes.TypeTimestamp:
		w.typeWords("timestamp")
	case tidbtypes.TypeDuration:
		w.typeWords("time")
	case tidbtypes.TypeYear:
		w.typeWords("year")
	case tidbtypes.TypeNewDecimal:
		w.typeWords("decimal", "dec", "numeric", "fixed")
	case tidbtypes.TypeFloat, tidbtypes.TypeDouble:
		w.typeWords("float", "double", "real", "float4", "float8")
	case tidbtypes.TypeJSON:
		w.typeWords("json")
	case tidbtypes.TypeTiny, tidbtypes.TypeShort, tidbtypes.TypeInt24, tidbtypes.TypeLong, tidbtypes.TypeLonglong:
		w.typeWords("signed", "unsigned", "int", "integer", "bigint", "smallint", "tinyint", "mediumint", "bool", "boolean", "int1", "int2", "int3", "int4", "int8", "middleint", "serial")
	case tidbtypes.TypeBit:
		w.typeWords("bit")
	case tidbtypes.TypeGeometry:
		w.typeWords("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection")
	case tidbtypes.TypeVarchar, tidbtypes.TypeVarString, tidbtypes.TypeString,
		tidbtypes.TypeTinyBlob, tidbtypes.TypeMediumBlob, tidbtypes.TypeLongBlob, tidbtypes.TypeBlob:
		w.typeWords("char", "character", "binary", "nchar", "national", "varchar", "varcharacter", "varbinary", "nvarchar", "text", "tinytext", "mediumtext", "longtext", "blob", "tinyblob", "mediumblob", "longblob", "long", "inet4", "inet6", "uuid")
	default:
		w.unknown("type")
	}
}

// tidbArguments returns the values of the literals of a call.
func tidbArguments(list []ast.ExprNode) []argument {
	out := make([]argument, len(list))
	for i, e := range list {
		sign := 1.0
		for range 64 {
			if p, ok := e.(*ast.ParenthesesExpr); ok {
				e = p.Expr
			} else if u, ok := e.(*ast.UnaryOperationExpr); ok {
				if u.Op == opcode.Minus {
					sign = -sign
				}
				e = u.V
			}
		}
		if v, ok := e.(ast.ValueExpr); ok {
			out[i] = literalArgument(v.GetValue(), sign)
		} else {
			out[i].bytes = 1
		}
	}
	return out
}
