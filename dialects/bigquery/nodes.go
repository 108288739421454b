package bigquery

import (
	"reflect"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/sqlguard"
)

// nodeUse says what the walker does with a type of node.
type nodeUse uint8

const (
	useUnknown    nodeUse = iota // not listed: refused
	useRoot                      // a statement that reads; judged by its parts
	useRefused                   // a statement that is refused, with the code of its rule
	usePart                      // part of a query; every field that holds nodes is visited
	useForbidden                 // part of a query that is refused, with the code of its rule
	useDefinition                // occurs only in what is refused whole
)

// nodeRule is the ruling on types of nodes.
type nodeRule struct {
	use   nodeUse
	verb  sqlguard.Verb
	code  sqlguard.Code
	does  string // of a refused one: what it does
	nodes []ast.Node
}

// nodeRules are the node types of the parser.
var nodeRules = []nodeRule{
	{use: useRoot, verb: sqlguard.VerbSelect, nodes: []ast.Node{&ast.QueryStatement{}}},

	{useRefused, "insert", sqlguard.CodeWriteStatement, "INSERT writes rows", []ast.Node{&ast.InsertStatement{}}},
	{useRefused, "update", sqlguard.CodeWriteStatement, "UPDATE changes rows", []ast.Node{&ast.UpdateStatement{}}},
	{useRefused, "delete", sqlguard.CodeWriteStatement, "DELETE removes rows", []ast.Node{&ast.DeleteStatement{}}},
	{useRefused, "merge", sqlguard.CodeWriteStatement, "MERGE writes rows", []ast.Node{&ast.MergeStatement{}}},
	{useRefused, "truncate", sqlguard.CodeWriteStatement, "TRUNCATE TABLE removes all rows", []ast.Node{&ast.TruncateStatement{}}},
	{useRefused, "clone_data", sqlguard.CodeWriteStatement, "CLONE DATA writes rows", []ast.Node{&ast.CloneDataStatement{}}},
	{useRefused, "export_data", sqlguard.CodeWriteStatement, "EXPORT DATA writes rows to files or to another service", []ast.Node{&ast.ExportDataStatement{}}},
	{useRefused, "export_model", sqlguard.CodeWriteStatement, "EXPORT MODEL writes files", []ast.Node{&ast.ExportModelStatement{}}},
	{useRefused, "analyze", sqlguard.CodeWriteStatement, "ANALYZE writes statistics", []ast.Node{&ast.AnalyzeStatement{}}},

	{useRefused, "create", sqlguard.CodeDDLStatement, "CREATE changes the schema", []ast.Node{
		&ast.CreateTableStatement{}, &ast.CreateExternalTableStatement{}, &ast.CreateViewStatement{}, &ast.CreateSequenceStatement{}, &ast.CreateDatabaseStatement{},
		&ast.CreateSchemaStatement{}, &ast.CreateExternalSchemaStatement{}, &ast.CreateConstantStatement{}, &ast.CreateModelStatement{}, &ast.CreateIndexStatement{},
		&ast.CreateEntityStatement{}, &ast.CreateLocalityGroupStatement{}, &ast.CreatePropertyGraphStatement{}, &ast.CreateQueueStatement{},
		&ast.CreateChangeStreamStatement{}, &ast.CreateProtoBundleStatement{}, &ast.DefineTableStatement{},
	}},
	{useRefused, "create_function", sqlguard.CodeDDLStatement, "CREATE FUNCTION and CREATE PROCEDURE make code, TEMP ones too", []ast.Node{
		&ast.CreateFunctionStatement{}, &ast.CreateTableFunctionStatement{}, &ast.CreateProcedureStatement{},
	}},
	{useRefused, "alter", sqlguard.CodeDDLStatement, "ALTER changes the schema", []ast.Node{
		&ast.AlterStatement{}, &ast.AlterIndexStatement{}, &ast.AlterChangeStreamStatement{}, &ast.AlterLocalityGroupStatement{}, &ast.AlterProtoBundleStatement{},
	}},
	{useRefused, "drop", sqlguard.CodeDDLStatement, "DROP changes the schema", []ast.Node{
		&ast.DropStatement{}, &ast.DropIndexStatement{}, &ast.DropEntityStatement{}, &ast.DropProtoBundleStatement{},
	}},
	{useRefused, "rename", sqlguard.CodeDDLStatement, "RENAME changes the schema", []ast.Node{&ast.RenameStatement{}}},

	{useRefused, "grant", sqlguard.CodePrivilegeStatement, "GRANT changes who may do what", []ast.Node{&ast.GrantStatement{}, &ast.GrantToRoleStatement{}, &ast.GrantRoleStatement{}}},
	{useRefused, "revoke", sqlguard.CodePrivilegeStatement, "REVOKE changes who may do what", []ast.Node{&ast.RevokeStatement{}}},
	{useRefused, "row_access_policy", sqlguard.CodePrivilegeStatement, "row access policies decide who may read which rows", []ast.Node{
		&ast.CreateRowAccessPolicyStatement{}, &ast.AlterRowAccessPolicyStatement{}, &ast.AlterAllRowAccessPoliciesStatement{}, &ast.DropRowAccessPolicyStatement{},
		&ast.DropAllRowAccessPoliciesStatement{},
	}},

	{useRefused, "transaction", sqlguard.CodeTransactionControl, "BEGIN, COMMIT and ROLLBACK control the transaction", []ast.Node{
		&ast.BeginStatement{}, &ast.CommitStatement{}, &ast.RollbackStatement{}, &ast.SetTransactionStatement{},
	}},
	{useRefused, "batch", sqlguard.CodeTransactionControl, "batches of statements change data", []ast.Node{
		&ast.StartBatchStatement{}, &ast.RunBatchStatement{}, &ast.AbortBatchStatement{},
	}},
	{useRefused, "set", sqlguard.CodeSessionChange, "SET changes variables of the session", []ast.Node{
		&ast.SystemVariableAssignment{}, &ast.ParameterAssignment{}, &ast.SingleAssignment{}, &ast.AssignmentFromStruct{},
	}},
	{useRefused, "import", sqlguard.CodeSessionChange, "IMPORT and MODULE load code", []ast.Node{&ast.ImportStatement{}, &ast.ModuleStatement{}}},
	{useRefused, "define_macro", sqlguard.CodeSessionChange, "DEFINE MACRO changes how later text is read", []ast.Node{&ast.DefineMacroStatement{}}},

	{useRefused, "call", sqlguard.CodeProcedureCall, "CALL runs a procedure, which can do anything", []ast.Node{&ast.CallStatement{}}},
	{useRefused, "execute_immediate", sqlguard.CodeDynamicSQL, "EXECUTE IMMEDIATE runs a text that is only known when it runs", []ast.Node{&ast.ExecuteImmediateStatement{}}},
	{useRefused, "run", sqlguard.CodeDynamicSQL, "RUN runs another script", []ast.Node{&ast.RunStatement{}}},
	{useRefused, "script", sqlguard.CodeProceduralBlock, "statements of a script run others, and declare variables", []ast.Node{
		&ast.Script{}, &ast.BeginEndBlock{}, &ast.VariableDeclaration{}, &ast.IfStatement{}, &ast.WhileStatement{}, &ast.RepeatStatement{}, &ast.ForInStatement{},
		&ast.BreakStatement{}, &ast.ContinueStatement{}, &ast.ReturnStatement{}, &ast.RaiseStatement{}, &ast.AssertStatement{},
	}},

	{useRefused, "explain", sqlguard.CodeStatementNotAllowed, "BigQuery has no EXPLAIN", []ast.Node{&ast.ExplainStatement{}}},
	{useRefused, "describe", sqlguard.CodeStatementNotAllowed, "BigQuery has no DESCRIBE", []ast.Node{&ast.DescribeStatement{}}},
	{useRefused, "show", sqlguard.CodeStatementNotAllowed, "BigQuery has no SHOW", []ast.Node{&ast.ShowStatement{}}},
	{useRefused, "hinted", sqlguard.CodeHintNotAllowed, "a hint stands before the statement", []ast.Node{&ast.HintedStatement{}}},
	{useRefused, "pipeline", sqlguard.CodeStatementNotAllowed, "pipe operators follow a statement that is no query", []ast.Node{&ast.SubpipelineStatement{}, &ast.StatementWithPipeOperators{}}},

	{use: usePart, nodes: []ast.Node{
		// queries
		&ast.Query{}, &ast.AliasedQueryExpression{}, &ast.WithClause{}, &ast.WithClauseEntry{}, &ast.AliasedQuery{}, &ast.AliasedQueryModifiers{},
		&ast.RecursionDepthModifier{}, &ast.IntOrUnbounded{}, &ast.Select{}, &ast.SelectAs{}, &ast.WithModifier{}, &ast.SelectList{}, &ast.SelectColumn{}, &ast.Alias{},
		&ast.OptionsList{}, &ast.OptionsEntry{}, &ast.SetOperation{}, &ast.SetOperationMetadataList{}, &ast.SetOperationMetadata{}, &ast.SetOperationType{},
		&ast.SetOperationAllOrDistinct{}, &ast.SetOperationColumnMatchMode{}, &ast.SetOperationColumnPropagationMode{}, &ast.ColumnList{},
		&ast.WhereClause{}, &ast.GroupBy{}, &ast.GroupByAll{}, &ast.GroupingItem{}, &ast.Rollup{}, &ast.Cube{}, &ast.GroupingSet{}, &ast.GroupingSetList{},
		&ast.GroupingItemOrder{}, &ast.Having{}, &ast.Qualify{}, &ast.OrderBy{}, &ast.OrderingExpression{}, &ast.Collate{}, &ast.NullOrder{}, &ast.LimitOffset{},
		&ast.Limit{}, &ast.LimitAll{}, &ast.WindowClause{}, &ast.WindowDefinition{}, &ast.WindowSpecification{}, &ast.WindowFrame{}, &ast.WindowFrameExpr{}, &ast.PartitionBy{},
		// FROM
		&ast.FromClause{}, &ast.TablePathExpression{}, &ast.TableSubquery{}, &ast.TVF{}, &ast.TVFArgument{}, &ast.InputTableArgument{}, &ast.Descriptor{},
		&ast.DescriptorColumnList{}, &ast.DescriptorColumn{}, &ast.TableClause{}, &ast.UnnestExpression{}, &ast.ExpressionWithOptAlias{}, &ast.WithOffset{}, &ast.ForSystemTime{},
		&ast.SampleClause{}, &ast.SampleSize{}, &ast.SampleSuffix{}, &ast.WithWeight{}, &ast.RepeatableClause{}, &ast.PathExpressionList{}, &ast.PivotClause{},
		&ast.PivotExpressionList{}, &ast.PivotExpression{}, &ast.PivotValueList{}, &ast.PivotValue{}, &ast.UnpivotClause{}, &ast.UnpivotInItemList{}, &ast.UnpivotInItem{},
		&ast.UnpivotInItemLabel{}, &ast.Join{}, &ast.OnClause{}, &ast.UsingClause{}, &ast.OnOrUsingClauseList{}, &ast.ParenthesizedJoin{}, &ast.PipeJoin{}, &ast.PipeJoinLhsPlaceholder{},
		&ast.MatchRecognizeClause{}, &ast.AfterMatchSkipClause{}, &ast.RowPatternOperation{}, &ast.EmptyRowPattern{}, &ast.RowPatternVariable{}, &ast.RowPatternAnchor{},
		&ast.RowPatternQuantification{}, &ast.SymbolQuantifier{}, &ast.FixedQuantifier{}, &ast.QuantifierBound{}, &ast.BoundedQuantifier{},
		// pipe operators
		&ast.FromQuery{}, &ast.PipeSelect{}, &ast.PipeExtend{}, &ast.PipeWindow{}, &ast.PipeLimitOffset{}, &ast.PipeDistinct{}, &ast.PipeAggregate{}, &ast.PipeWhere{},
		&ast.PipeTablesample{}, &ast.PipeOrderBy{}, &ast.PipeSet{}, &ast.PipeSetItem{}, &ast.PipeAs{}, &ast.PipeRename{}, &ast.PipeRenameItem{}, &ast.PipeDrop{},
		&ast.PipeAssert{}, &ast.PipeSetOperation{}, &ast.PipeCall{}, &ast.PipeWith{}, &ast.PipePivot{}, &ast.PipeUnpivot{}, &ast.PipeMatchRecognize{}, &ast.PipeRecursiveUnion{},
		&ast.IdentifierList{},
		// expressions
		&ast.Identifier{}, &ast.PathExpression{}, &ast.DotIdentifier{}, &ast.ArrayElement{}, &ast.Star{}, &ast.StarWithModifiers{}, &ast.DotStar{}, &ast.DotStarWithModifiers{},
		&ast.StarModifiers{}, &ast.StarExceptList{}, &ast.StarReplaceItem{}, &ast.NullLiteral{}, &ast.BooleanLiteral{}, &ast.IntLiteral{}, &ast.FloatLiteral{}, &ast.StringLiteral{},
		&ast.StringLiteralComponent{}, &ast.BytesLiteral{}, &ast.BytesLiteralComponent{}, &ast.NumericLiteral{}, &ast.BigNumericLiteral{}, &ast.JSONLiteral{}, &ast.DateOrTimeLiteral{},
		&ast.IntervalExpr{}, &ast.RangeLiteral{}, &ast.MaxLiteral{}, &ast.DefaultLiteral{}, &ast.UnaryExpression{}, &ast.BinaryExpression{}, &ast.BitwiseShiftExpression{}, &ast.AndExpr{}, &ast.OrExpr{},
		&ast.Location{}, &ast.BetweenExpression{}, &ast.InList{}, &ast.InExpression{}, &ast.AnySomeAllOp{}, &ast.LikeExpression{}, &ast.QuantifiedComparisonExpression{},
		&ast.ArrayConstructor{}, &ast.StructConstructorWithParens{}, &ast.StructConstructorArg{}, &ast.StructConstructorWithKeyword{}, &ast.WithExpression{},
		&ast.ExpressionSubquery{}, &ast.CaseValueExpression{}, &ast.CaseNoValueExpression{}, &ast.FunctionCall{}, &ast.NamedArgument{}, &ast.ExpressionWithAlias{}, &ast.Lambda{},
		&ast.HavingModifier{}, &ast.AnalyticFunctionCall{}, &ast.SystemVariableExpr{}, &ast.CastExpression{}, &ast.ExtractExpression{}, &ast.FormatClause{},
		&ast.SimpleType{}, &ast.ArrayType{}, &ast.StructType{}, &ast.StructField{}, &ast.RangeType{}, &ast.MapType{}, &ast.FunctionType{}, &ast.FunctionTypeArgList{}, &ast.TypeParameterList{},
	}},

	{useForbidden, "", sqlguard.CodeParameterNotAllowed, "a parameter has no value here", []ast.Node{&ast.ParameterExpr{}}},
	{useForbidden, "", sqlguard.CodeLockingClause, "FOR UPDATE takes locks", []ast.Node{&ast.LockMode{}}},
	{useForbidden, "", sqlguard.CodeHintNotAllowed, "hints between @{ and } are not read here", []ast.Node{&ast.Hint{}}},
	{useForbidden, "", sqlguard.CodeWriteStatement, "a pipe operator writes rows or files", []ast.Node{&ast.PipeInsert{}, &ast.PipeExportData{}, &ast.PipeCreateTable{}}},
	{useForbidden, "", sqlguard.CodeStatementNotAllowed, "this pipe operator makes more than one result", []ast.Node{
		&ast.PipeFork{}, &ast.PipeTee{}, &ast.PipeIf{}, &ast.PipeLog{}, &ast.PipeDescribe{}, &ast.PipeStaticDescribe{},
	}},
	{useForbidden, "", sqlguard.CodeFunctionNetworkAccess, "a model or a connection can send rows to another service", []ast.Node{&ast.ModelClause{}, &ast.ConnectionClause{}}},
	{useForbidden, "", sqlguard.CodeStatementNotAllowed, "queries of property graphs are not read here", []ast.Node{&ast.GqlQuery{}, &ast.GraphTableQuery{}, &ast.GraphIsLabeledPredicate{}}},
	{useForbidden, "", sqlguard.CodeStatementNotAllowed, "this part of GoogleSQL is not BigQuery", []ast.Node{
		&ast.AliasedGroupRows{}, &ast.ClampedBetweenModifier{}, &ast.WithReportModifier{}, &ast.SequenceArg{}, &ast.NewConstructor{}, &ast.BracedNewConstructor{}, &ast.UpdateConstructor{},
		&ast.BracedConstructor{}, &ast.StructBracedConstructor{}, &ast.ReplaceFieldsExpression{}, &ast.DotGeneralizedField{},
	}},

	{use: useDefinition, nodes: []ast.Node{
		&ast.AddColumnAction{}, &ast.AddColumnIdentifierAction{}, &ast.AddConstraintAction{}, &ast.AddStoredColumnAction{}, &ast.AddSubEntityAction{}, &ast.AddTtlAction{},
		&ast.AliasedQueryList{}, &ast.AlterActionList{}, &ast.AlterColumnDropDefaultAction{}, &ast.AlterColumnDropGeneratedAction{}, &ast.AlterColumnDropNotNullAction{},
		&ast.AlterColumnIdentityAction{}, &ast.AlterColumnOptionsAction{}, &ast.AlterColumnSetDefaultAction{}, &ast.AlterColumnSetGeneratedAction{},
		&ast.AlterColumnTypeAction{}, &ast.AlterConstraintEnforcementAction{}, &ast.AlterConstraintSetOptionsAction{}, &ast.AlterSubEntityAction{}, &ast.ArrayColumnSchema{},
		&ast.AssertRowsModified{}, &ast.AutoIncrementColumnAttribute{}, &ast.BracedConstructorField{}, &ast.BracedConstructorFieldValue{}, &ast.BracedConstructorLhs{},
		&ast.ChangeStreamForClause{}, &ast.ChangeStreamTrackedTable{}, &ast.CheckConstraint{}, &ast.CloneDataSource{}, &ast.CloneDataSourceList{}, &ast.ClusterBy{},
		&ast.ColumnAttributeList{}, &ast.ColumnDefinition{}, &ast.ColumnOnUpdateClause{}, &ast.ColumnPosition{}, &ast.ColumnWithOptions{}, &ast.ColumnWithOptionsList{},
		&ast.DropChangeStreamForAllAction{}, &ast.DropColumnAction{}, &ast.DropConstraintAction{}, &ast.DropPrimaryKeyAction{}, &ast.DropStoredColumnAction{},
		&ast.DropSubEntityAction{}, &ast.DropTtlAction{}, &ast.ElseifClause{}, &ast.ElseifClauseList{}, &ast.ExceptionHandler{}, &ast.ExceptionHandlerList{},
		&ast.ExecuteIntoClause{}, &ast.ExecuteUsingArgument{}, &ast.ExecuteUsingClause{}, &ast.FilterUsingClause{}, &ast.ForeignKey{}, &ast.ForeignKeyActions{},
		&ast.ForeignKeyReference{}, &ast.FunctionDeclaration{}, &ast.FunctionParameter{}, &ast.FunctionParameters{}, &ast.GeneratedColumnInfo{}, &ast.GqlFilter{},
		&ast.GqlFor{}, &ast.GqlGraphPatternQuery{}, &ast.GqlInlineSubqueryCall{}, &ast.GqlLet{}, &ast.GqlLetVariableDefinition{}, &ast.GqlLetVariableDefinitionList{},
		&ast.GqlLinearOpsQuery{}, &ast.GqlMatch{}, &ast.GqlNamedCall{}, &ast.GqlOperatorList{}, &ast.GqlOrderByAndPage{}, &ast.GqlPage{}, &ast.GqlPageLimit{},
		&ast.GqlPageOffset{}, &ast.GqlReturn{}, &ast.GqlSample{}, &ast.GqlSetOperation{}, &ast.GqlWith{}, &ast.GrantToClause{}, &ast.GranteeList{},
		&ast.GraphDerivedProperty{}, &ast.GraphDerivedPropertyList{}, &ast.GraphDynamicLabel{}, &ast.GraphDynamicProperties{}, &ast.GraphEdgePattern{},
		&ast.GraphElementLabel{}, &ast.GraphElementLabelAndProperties{}, &ast.GraphElementLabelAndPropertiesList{}, &ast.GraphElementPatternFiller{}, &ast.GraphElementTable{},
		&ast.GraphElementTableList{}, &ast.GraphLabelFilter{}, &ast.GraphLabelOperation{}, &ast.GraphLhsHint{}, &ast.GraphNodePattern{}, &ast.GraphNodeTableReference{},
		&ast.GraphPathMode{}, &ast.GraphPathPattern{}, &ast.GraphPathSearchPrefix{}, &ast.GraphPathSearchPrefixCount{}, &ast.GraphPattern{}, &ast.GraphProperties{},
		&ast.GraphPropertyNameAndValue{}, &ast.GraphPropertySpecification{}, &ast.GraphRhsHint{}, &ast.GraphWildcardLabel{}, &ast.HiddenColumnAttribute{}, &ast.HintEntry{},
		&ast.IdentityColumnIncrementBy{}, &ast.IdentityColumnInfo{}, &ast.IdentityColumnMaxValue{}, &ast.IdentityColumnMinValue{}, &ast.IdentityColumnRestartCounterWith{},
		&ast.IdentityColumnSkipRange{}, &ast.IdentityColumnStartWith{}, &ast.IndexAllColumns{}, &ast.IndexItemList{}, &ast.IndexStoringExpressionList{},
		&ast.IndexUnnestExpressionList{}, &ast.InputOutputClause{}, &ast.InsertValuesRow{}, &ast.InsertValuesRowList{}, &ast.IntoAlias{}, &ast.MacroBody{}, &ast.MergeAction{},
		&ast.MergeWhenClause{}, &ast.MergeWhenClauseList{}, &ast.NewConstructorArg{}, &ast.NotNullColumnAttribute{}, &ast.OnConflictClause{}, &ast.PipeIfCase{},
		&ast.PlacementKeyColumnAttribute{}, &ast.PrimaryKey{}, &ast.PrimaryKeyColumnAttribute{}, &ast.PrimaryKeyElement{}, &ast.PrimaryKeyElementList{}, &ast.Privilege{},
		&ast.Privileges{}, &ast.ProtoBundleAction{}, &ast.RebuildAction{}, &ast.RenameColumnAction{}, &ast.RenameToClause{}, &ast.ReplaceFieldsArg{}, &ast.ReplaceTtlAction{},
		&ast.ReturningClause{}, &ast.RevokeFromClause{}, &ast.SetAsAction{}, &ast.SetChangeStreamForAction{}, &ast.SetOptionsAction{}, &ast.SimpleColumnSchema{},
		&ast.SpannerAlterColumnAction{}, &ast.SpannerInterleaveClause{}, &ast.SpannerSetOnDeleteAction{}, &ast.SpannerTableOptions{}, &ast.SqlFunctionBody{},
		&ast.StatementList{}, &ast.StructColumnField{}, &ast.StructColumnSchema{}, &ast.Subpipeline{}, &ast.TVFSchema{}, &ast.TVFSchemaColumn{}, &ast.TableAndColumnInfo{},
		&ast.TableAndColumnInfoList{}, &ast.TableElementList{}, &ast.TableSynonym{}, &ast.TemplatedParameterType{}, &ast.TransactionIsolationLevel{},
		&ast.TransactionModeList{}, &ast.TransactionReadWriteMode{}, &ast.TransformClause{}, &ast.TtlClause{}, &ast.UnnestExpressionWithOptAliasAndOffset{},
		&ast.UntilClause{}, &ast.UpdateItem{}, &ast.UpdateItemList{}, &ast.UpdateSetValue{}, &ast.WithConnectionClause{}, &ast.WithPartitionColumnsClause{},
		&ast.YieldItemList{},
	}},
}

// rulesByType finds the rule of a type of node.
var rulesByType = func() map[reflect.Type]*nodeRule {
	m := make(map[reflect.Type]*nodeRule)
	for i := range nodeRules {
		for _, n := range nodeRules[i].nodes {
			m[reflect.TypeOf(n)] = &nodeRules[i]
		}
	}
	return m
}()

func ruleOf(n ast.Node) nodeRule {
	if rule := rulesByType[reflect.TypeOf(n)]; rule != nil {
		return *rule
	}
	return nodeRule{}
}
