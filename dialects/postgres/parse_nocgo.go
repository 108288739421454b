//go:build !cgo

package postgres

import (
	"errors"

	pg "github.com/sqlc-dev/oliphant"
	"github.com/sqlc-dev/oliphant/parser"
)

const parserVersion = "oliphant 0.2.0 (PostgreSQL 18 grammar)"

// parseTree parses sql. The error is a *parserError when the text does not
// parse.
func parseTree(sql string) (*pg.ParseResult, error) {
	parse := pg.Parse
	if mayLabor(sql) {
		parse = parseBounded
	}
	tree, err := parse(sql)
	if failure, ok := errors.AsType[*parser.Error](err); ok {
		return nil, &parserError{message: failure.Message, character: failure.Cursorpos}
	}
	return tree, err
}

// The names by which code that both builds share knows the parser's types.
type (
	node                      = pg.Node
	alias                     = pg.Alias
	rangeVar                  = pg.RangeVar
	selectStmt                = pg.SelectStmt
	insertStmt                = pg.InsertStmt
	updateStmt                = pg.UpdateStmt
	deleteStmt                = pg.DeleteStmt
	mergeStmt                 = pg.MergeStmt
	explainStmt               = pg.ExplainStmt
	copyStmt                  = pg.CopyStmt
	createTableAsStmt         = pg.CreateTableAsStmt
	variableSetStmt           = pg.VariableSetStmt
	variableShowStmt          = pg.VariableShowStmt
	withClause                = pg.WithClause
	commonTableExpr           = pg.CommonTableExpr
	intoClause                = pg.IntoClause
	lockingClause             = pg.LockingClause
	joinExpr                  = pg.JoinExpr
	rangeFunction             = pg.RangeFunction
	rangeTableSample          = pg.RangeTableSample
	jsonTable                 = pg.JsonTable
	columnRef                 = pg.ColumnRef
	aIndirection              = pg.A_Indirection
	aExpr                     = pg.A_Expr
	aArrayExpr                = pg.A_ArrayExpr
	caseExpr                  = pg.CaseExpr
	subLink                   = pg.SubLink
	sortBy                    = pg.SortBy
	funcCall                  = pg.FuncCall
	typeName                  = pg.TypeName
	paramRef                  = pg.ParamRef
	setToDefault              = pg.SetToDefault
	sqlValueFunction          = pg.SQLValueFunction
	mergeSupportFunc          = pg.MergeSupportFunc
	jsonFuncExpr              = pg.JsonFuncExpr
	jsonParseExpr             = pg.JsonParseExpr
	jsonScalarExpr            = pg.JsonScalarExpr
	jsonSerializeExpr         = pg.JsonSerializeExpr
	jsonObjectConstructor     = pg.JsonObjectConstructor
	jsonArrayConstructor      = pg.JsonArrayConstructor
	jsonArrayQueryConstructor = pg.JsonArrayQueryConstructor
	jsonObjectAgg             = pg.JsonObjectAgg
	jsonArrayAgg              = pg.JsonArrayAgg
)

const (
	setopNone     = pg.SetOperation_SETOP_NONE
	exprOp        = pg.A_Expr_Kind_AEXPR_OP
	exprOpAny     = pg.A_Expr_Kind_AEXPR_OP_ANY
	exprIn        = pg.A_Expr_Kind_AEXPR_IN
	exprNullif    = pg.A_Expr_Kind_AEXPR_NULLIF
	boolAnd       = pg.BoolExprType_AND_EXPR
	materialized  = pg.CTEMaterialize_CTEMaterializeAlways
	sublinkExists = pg.SubLinkType_EXISTS_SUBLINK
	sublinkArray  = pg.SubLinkType_ARRAY_SUBLINK
	sublinkExpr   = pg.SubLinkType_EXPR_SUBLINK
	setMultiple   = pg.VariableSetKind_VAR_SET_MULTI
	matviewObject = pg.ObjectType_OBJECT_MATVIEW
)
