package duckdb

import "github.com/ktxhq/ktx/sqlguard"

// nodeUse says what the walker does with a type of node.
type nodeUse uint8

const (
	useUnknown    nodeUse = iota // not listed: refused
	useRoot                      // a statement that reads; judged by its parts
	useRefused                   // a statement that is refused, with the code of its rule
	usePart                      // part of a query; every field that holds nodes is visited
	useWriting                   // a query of WITH that writes
	useForbidden                 // part of a query that is refused, with the code of its rule
	useDefinition                // occurs only in refused statements
)

// nodeRule is the ruling on one type of node.
type nodeRule struct {
	use  nodeUse
	verb sqlguard.Verb
	code sqlguard.Code
	does string // of a refused one: what it does
}

// nodeRules lists every node type of the parser by its name in package ast.
var nodeRules = map[string]nodeRule{
	"SelectStatement":  {use: useRoot, verb: sqlguard.VerbSelect},
	"ExplainStatement": {use: useRoot, verb: sqlguard.VerbExplain},
	"PragmaStatement":  {use: useRoot, verb: sqlguard.VerbPragma},

	"InsertStatement":    {useRefused, "insert", sqlguard.CodeWriteStatement, "INSERT writes rows"},
	"UpdateStatement":    {useRefused, "update", sqlguard.CodeWriteStatement, "UPDATE changes rows"},
	"DeleteStatement":    {useRefused, "delete", sqlguard.CodeWriteStatement, "DELETE removes rows"},
	"TruncateStatement":  {useRefused, "truncate", sqlguard.CodeWriteStatement, "TRUNCATE removes all rows"},
	"MergeIntoStatement": {useRefused, "merge", sqlguard.CodeWriteStatement, "MERGE writes rows"},
	"VacuumStatement":    {useRefused, "vacuum", sqlguard.CodeWriteStatement, "VACUUM rewrites statistics and storage"},
	"AnalyzeStatement":   {useRefused, "analyze", sqlguard.CodeWriteStatement, "ANALYZE writes statistics into the database"},

	"CopyStatement":         {useRefused, "copy", sqlguard.CodeWriteStatement, "COPY reads or writes files"},
	"CopyDatabaseStatement": {useRefused, "copy_database", sqlguard.CodeWriteStatement, "COPY FROM DATABASE copies a database into another"},
	"ExportStatement":       {useRefused, "export", sqlguard.CodeWriteStatement, "EXPORT DATABASE writes files"},
	"ImportStatement":       {useRefused, "import", sqlguard.CodeWriteStatement, "IMPORT DATABASE runs the SQL of files"},

	"CreateStatement":    {useRefused, "create", sqlguard.CodeDDLStatement, "CREATE changes the schema"},
	"AlterStatement":     {useRefused, "alter", sqlguard.CodeDDLStatement, "ALTER changes the schema"},
	"DropStatement":      {useRefused, "drop", sqlguard.CodeDDLStatement, "DROP changes the schema"},
	"CommentOnStatement": {useRefused, "comment", sqlguard.CodeDDLStatement, "COMMENT ON changes the schema"},

	"TransactionStatement": {useRefused, "transaction", sqlguard.CodeTransactionControl, "BEGIN, COMMIT and ROLLBACK control the transaction"},
	"CheckpointStatement":  {useRefused, "checkpoint", sqlguard.CodeStatementNotAllowed, "CHECKPOINT writes the log into the database file"},

	"SetStatement":              {useRefused, "set", sqlguard.CodeSessionChange, "SET changes the session"},
	"ResetStatement":            {useRefused, "reset", sqlguard.CodeSessionChange, "RESET changes the session"},
	"UseStatement":              {useRefused, "use", sqlguard.CodeSessionChange, "USE changes the database of the session"},
	"AttachStatement":           {useRefused, "attach", sqlguard.CodeSessionChange, "ATTACH opens or creates another database"},
	"DetachStatement":           {useRefused, "detach", sqlguard.CodeSessionChange, "DETACH closes a database of the session"},
	"ConnectStatement":          {useRefused, "connect", sqlguard.CodeSessionChange, "CONNECT opens a connection to another database"},
	"DisconnectStatement":       {useRefused, "disconnect", sqlguard.CodeSessionChange, "DISCONNECT closes a connection"},
	"LoadStatement":             {useRefused, "load", sqlguard.CodeSessionChange, "LOAD and INSTALL load code from a file or the network"},
	"UpdateExtensionsStatement": {useRefused, "update_extensions", sqlguard.CodeSessionChange, "UPDATE EXTENSIONS loads code from the network"},
	"ExternalResourceStatement": {useRefused, "external_resource", sqlguard.CodeSessionChange, "it registers a resource outside of the database"},

	"PrepareStatement":    {useRefused, "prepare", sqlguard.CodeDynamicSQL, "PREPARE stores a statement that runs later"},
	"ExecuteStatement":    {useRefused, "execute", sqlguard.CodeDynamicSQL, "EXECUTE runs a prepared statement"},
	"DeallocateStatement": {useRefused, "deallocate", sqlguard.CodeSessionChange, "DEALLOCATE removes a prepared statement of the session"},
	"CallStatement":       {useRefused, "call", sqlguard.CodeProcedureCall, "CALL runs a table function; write SELECT * FROM it"},

	"InsertQueryNode": {use: useWriting, does: "INSERT in WITH writes rows"},
	"UpdateQueryNode": {use: useWriting, does: "UPDATE in WITH changes rows"},
	"DeleteQueryNode": {use: useWriting, does: "DELETE in WITH removes rows"},
	"CopyQueryNode":   {use: useWriting, does: "COPY in WITH writes a file"},

	"SelectNode":        {use: usePart},
	"SetOperationNode":  {use: usePart},
	"RecursiveCTENode":  {use: usePart},
	"CommonTableExpr":   {use: usePart},
	"DistinctModifier":  {use: usePart},
	"OrderModifier":     {use: usePart},
	"LimitModifier":     {use: usePart},
	"SampleOptions":     {use: usePart},
	"AtClause":          {use: usePart},
	"BaseTableRef":      {use: usePart},
	"EmptyTableRef":     {use: usePart},
	"JoinRef":           {use: usePart},
	"SubqueryRef":       {use: usePart},
	"TableFunctionRef":  {use: usePart},
	"ExpressionListRef": {use: usePart},
	"PivotRef":          {use: usePart},
	"ShowRef":           {use: usePart},

	"BetweenExpression":             {use: usePart},
	"CaseExpression":                {use: usePart},
	"CastExpression":                {use: usePart},
	"CollateExpression":             {use: usePart},
	"ColumnRefExpression":           {use: usePart},
	"ComparisonExpression":          {use: usePart},
	"ConjunctionExpression":         {use: usePart},
	"ConstantExpression":            {use: usePart},
	"FunctionExpression":            {use: usePart},
	"LambdaExpression":              {use: usePart},
	"OperatorExpression":            {use: usePart},
	"PositionalReferenceExpression": {use: usePart},
	"StarExpression":                {use: usePart},
	"SubqueryExpression":            {use: usePart},
	"TypeExpression":                {use: usePart},
	"WindowExpression":              {use: usePart},

	"ParameterExpression": {use: useForbidden, code: sqlguard.CodeParameterNotAllowed, does: "a parameter marker has no value bound to it"},
	"DefaultExpression":   {use: useForbidden, code: sqlguard.CodeStatementNotAllowed, does: "DEFAULT belongs to statements that write"},

	"AddColumnInfo":         {use: useDefinition},
	"AddConstraintInfo":     {use: useDefinition},
	"AlterColumnTypeInfo":   {use: useDefinition},
	"CheckConstraint":       {use: useDefinition},
	"ColumnDef":             {use: useDefinition},
	"CopyInfo":              {use: useDefinition},
	"CreateIndexInfo":       {use: useDefinition},
	"CreateMacroInfo":       {use: useDefinition},
	"CreateSchemaInfo":      {use: useDefinition},
	"CreateSecretInfo":      {use: useDefinition},
	"CreateSequenceInfo":    {use: useDefinition},
	"CreateTableInfo":       {use: useDefinition},
	"CreateTriggerInfo":     {use: useDefinition},
	"CreateTypeInfo":        {use: useDefinition},
	"CreateViewInfo":        {use: useDefinition},
	"DefaultConstraint":     {use: useDefinition},
	"DropColumnInfo":        {use: useDefinition},
	"DropConstraintInfo":    {use: useDefinition},
	"ForeignKeyConstraint":  {use: useDefinition},
	"GenericAlterInfo":      {use: useDefinition},
	"MacroFunction":         {use: useDefinition},
	"MergeIntoAction":       {use: useDefinition},
	"NotNullConstraint":     {use: useDefinition},
	"OnConflictInfo":        {use: useDefinition},
	"RenameColumnInfo":      {use: useDefinition},
	"RenameInfo":            {use: useDefinition},
	"SetDatabaseAliasInfo":  {use: useDefinition},
	"SetDefaultInfo":        {use: useDefinition},
	"SetNotNullInfo":        {use: useDefinition},
	"SetSequenceOptionInfo": {use: useDefinition},
	"UniqueConstraint":      {use: useDefinition},
	"UpdateSetInfo":         {use: useDefinition},
}
