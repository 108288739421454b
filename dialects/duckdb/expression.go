package duckdb

import (
	"strings"

	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

func (w *walker) exprs(list []ast.Expr) {
	for _, e := range list {
		w.expr(e)
	}
}

// expr visits an expression; nil means that there is none.
func (w *walker) expr(e ast.Expr) {
	if e == nil {
		return
	}
	w.met.word(e.GetAlias())
	w.within(e, func() { w.expression(e) })
}

func (w *walker) expression(e ast.Expr) {
	switch n := e.(type) {
	case *ast.ColumnRefExpression:
		w.columnRef(n.ColumnNames)
	case *ast.ConstantExpression:
		w.met.text(n.Literal.Text)
	case *ast.StarExpression:
		w.star(n)
	case *ast.FunctionExpression:
		w.call(n)
	case *ast.WindowExpression:
		w.window(n)
	case *ast.OperatorExpression:
		w.met.word(operatorNames[n.Type])
		w.exprs(n.Operands)
		w.collects(n.Type == ast.ArrayConstructor)
	case *ast.ComparisonExpression:
		w.expr(n.Left)
		w.expr(n.Right)
	case *ast.ConjunctionExpression:
		w.exprs(n.Operands)
	case *ast.BetweenExpression:
		w.expr(n.Input)
		w.expr(n.Lower)
		w.expr(n.Upper)
	case *ast.CaseExpression:
		for _, c := range n.CaseChecks {
			w.expr(c.When)
			w.expr(c.Then)
		}
		w.expr(n.ElseExpr)
	case *ast.CastExpression:
		w.expr(n.Child)
		if n.CastType != nil {
			w.expr(n.CastType)
		} else if n.ResolvedType == "DATE" { // date(x)
			w.met.word("date")
		}
	case *ast.CollateExpression:
		w.expr(n.Child)
		w.met.words(strings.Split(n.Collation, "."))
	case *ast.SubqueryExpression:
		w.expr(n.Child)
		w.subquery(n.Subquery)
	case *ast.LambdaExpression:
		w.expr(n.LHS)
		w.expr(n.Expr)
	case *ast.TypeExpression:
		w.typeName(n)
	case *ast.PositionalReferenceExpression:
		// It is a column of the result of FROM, which no name tells.
		w.column(sqlguard.ColumnRef{Star: true})
	case *ast.ParameterExpression:
		w.met.word(n.Name)
		w.forbid(n)
	case *ast.DefaultExpression:
		w.forbid(n)
	default:
		w.unknown()
	}
}

func (w *walker) collects(yes bool) { w.stmt.Collects = w.stmt.Collects || yes }

// forbid refuses a node that no query may hold.
func (w *walker) forbid(n ast.Node) {
	rule := nodeRules[nodeName(n)]
	w.effect(sqlguard.Finding{Code: rule.code, Message: rule.does, Span: w.at})
}

// columnRef states the columns that a name may mean. The parts before the column may be a
// catalogue, a schema and a table, and those behind it fields of a structure, in every
// way of which DuckDB takes the first that there is.
func (w *walker) columnRef(parts []string) {
	w.met.words(parts)
	w.mentioned(parts)
}

func (w *walker) mentioned(parts []string) {
	for i, name := range parts {
		w.column(sqlguard.ColumnRef{Qualifier: parts[:i:i], Name: name, Element: i < len(parts)-1})
	}
}

// star states the columns of a star. The names that it leaves out count as mentioned.
func (w *walker) star(n *ast.StarExpression) {
	ref := sqlguard.ColumnRef{Star: true}
	if n.RelationName != "" {
		w.met.word(n.RelationName)
		ref.Qualifier = []string{n.RelationName}
	}
	w.column(ref)
	w.met.words(n.ExcludeList)
	for _, c := range n.QualifiedExcludeList {
		w.met.words(c.Path)
	}
	for _, r := range n.ReplaceList {
		w.met.word(r.Key)
		w.expr(r.Expr)
	}
	for _, r := range n.RenameList {
		w.met.words(r.Key.Path)
		w.met.word(r.Name)
	}
	w.expr(n.Expr)
}

func (w *walker) call(n *ast.FunctionExpression) {
	w.functionName(n.Catalog, n.Schema, n.FunctionName, n.Qualification)
	name := lexical.Lower(n.FunctionName)
	notation := sqlguard.NotationCall
	if n.IsOperator {
		notation = sqlguard.NotationOperator
	}
	switch {
	case name == "current_setting" && n.Schema == "" && n.Catalog == "":
		w.setting(n.Arguments)
	case n.IsOperator && allowedNames[name] && n.Schema == "":
		// DuckDB has no operators of users.
	default:
		w.stated(n.Catalog, n.Schema, name, notation, n.Qualification)
		if rule, yes := excess(name, n.Arguments); yes {
			if call := &w.stmt.Calls[len(w.stmt.Calls)-1]; call.Ruling.Allowed {
				call.Ruling = rule
			}
		}
	}
	if n.ExportState {
		// Bytes of a state that its function never wrote are those of the process.
		w.effect(sqlguard.Finding{Code: sqlguard.CodeFunctionNotAllowed, Object: name, Span: w.at, Message: "EXPORT_STATE shows memory of the process; write " + name + " without it"})
	}
	w.collects(name == "list_value" || name == "list_pack" || name == "row" || name == "struct_pack" || name == "map")
	w.arguments(n)
}

// functionName notes the parts of a function's name.
func (w *walker) functionName(catalog, schema, name string, path []string) {
	w.met.words([]string{catalog, schema, name})
	w.met.word(written[name])
	w.met.words(path)
}

// operatorNames are the functions that the parser reads as operators.
var operatorNames = map[ast.ExpressionType]string{ast.OperatorCoalesce: "ifnull", ast.OperatorTry: "try"}

// written are the names as which the parser resolves functions, with the names that they
// have in the text.
var written = map[string]string{"count_star": "count", "quantile_cont": "percentile_cont", "quantile_disc": "percentile_disc"}

// stated states the call of a function. What is written before its name may be a column,
// of which the value is then the first argument.
func (w *walker) stated(catalog, schema, name string, notation sqlguard.Notation, path []string) {
	if len(path) == 0 {
		for _, part := range []string{catalog, schema} {
			if part != "" {
				path = append(path, part)
			}
		}
	}
	w.mentioned(path)
	call := sqlguard.Call{Schema: schema, Name: name, Notation: notation, Span: w.at}
	call.Ruling, call.Builtin = ruleFunction(name)
	w.stmt.Calls = append(w.stmt.Calls, call)
}

func (w *walker) arguments(n *ast.FunctionExpression) {
	for _, a := range n.Arguments {
		w.met.word(a.Name)
		w.expr(a.Expr)
	}
	w.expr(n.Filter)
	w.orders(n.OrderBys)
}

// setting states the setting that current_setting reads.
func (w *walker) setting(args []ast.FunctionArgument) {
	read := sqlguard.SettingRead{Span: w.at}
	if len(args) == 1 {
		if c, ok := args[0].Expr.(*ast.ConstantExpression); ok && c.Literal.Kind == ast.LiteralString {
			read.Name = lexical.Lower(c.Literal.Text)
			read.Ruling.Allowed = readableSettings[read.Name]
		}
	}
	w.stmt.Settings = append(w.stmt.Settings, read)
}

// readableSettings change what a query returns, and show nothing else, or are a number or one
// of a few words.
var readableSettings = lexical.Set(`access_mode threads default_collation default_null_order default_order null_order timezone calendar integer_division
	ieee_floating_point_ops old_implicit_casting order_by_non_integer_literal scalar_subquery_error_on_multiple_rows search_path schema`)

func (w *walker) window(n *ast.WindowExpression) {
	w.functionName(n.Catalog, n.Schema, n.FunctionName, n.Qualification)
	w.stated(n.Catalog, n.Schema, lexical.Lower(n.FunctionName), sqlguard.NotationCall, n.Qualification)
	for _, a := range n.Arguments {
		w.met.word(a.Name)
		w.expr(a.Expr)
	}
	w.expr(n.FilterExpr)
	w.exprs(n.Partitions)
	w.orders(n.Orders)
	w.orders(n.ArgOrders)
	w.expr(n.StartExpr)
	w.expr(n.EndExpr)
	w.expr(n.OffsetExpr)
	w.expr(n.DefaultExpr)
}

// typeName states a type. Types of users are names for others, and run no code.
func (w *walker) typeName(n *ast.TypeExpression) {
	w.met.words([]string{n.Catalog, n.Schema, n.TypeName, n.GetAlias()})
	w.met.words(n.Qualification)
	name := lexical.Lower(n.TypeName)
	if !w.types[name] {
		if w.types == nil {
			w.types = make(map[string]bool)
		}
		w.types[name] = true
		w.stmt.Types = append(w.stmt.Types, sqlguard.Type{Schema: n.Schema, Name: name, Span: w.at, Builtin: true})
	}
	w.exprs(n.Args)
}
