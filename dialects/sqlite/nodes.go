package sqlite

import "github.com/ktxhq/ktx/sqlguard"

// nodeUse says what the walker does with a type of node.
type nodeUse uint8

const (
	useUnknown    nodeUse = iota // not listed: refused
	useRoot                      // a statement that reads; judged by its parts
	useRefused                   // a statement that is refused, with the code of its rule
	usePart                      // part of a query; every field that holds nodes is visited
	useLeaf                      // has no nodes; its span is marked as seen
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
	"SelectStmt":  {use: useRoot, verb: sqlguard.VerbSelect},
	"ExplainStmt": {use: useRoot, verb: sqlguard.VerbExplain},
	"PragmaStmt":  {use: useRoot, verb: sqlguard.VerbPragma},

	"InsertStmt": {useRefused, "insert", sqlguard.CodeWriteStatement, "INSERT writes rows"},
	"UpdateStmt": {useRefused, "update", sqlguard.CodeWriteStatement, "UPDATE changes rows"},
	"DeleteStmt": {useRefused, "delete", sqlguard.CodeWriteStatement, "DELETE removes rows"},

	"CreateTableStmt":        {useRefused, "create_table", sqlguard.CodeDDLStatement, "CREATE TABLE changes the schema"},
	"CreateIndexStmt":        {useRefused, "create_index", sqlguard.CodeDDLStatement, "CREATE INDEX changes the schema"},
	"CreateViewStmt":         {useRefused, "create_view", sqlguard.CodeDDLStatement, "CREATE VIEW changes the schema"},
	"CreateTriggerStmt":      {useRefused, "create_trigger", sqlguard.CodeDDLStatement, "CREATE TRIGGER changes the schema"},
	"CreateVirtualTableStmt": {useRefused, "create_virtual_table", sqlguard.CodeDDLStatement, "CREATE VIRTUAL TABLE changes the schema"},
	"AlterTableStmt":         {useRefused, "alter_table", sqlguard.CodeDDLStatement, "ALTER TABLE changes the schema"},
	"DropTableStmt":          {useRefused, "drop_table", sqlguard.CodeDDLStatement, "DROP TABLE changes the schema"},
	"DropViewStmt":           {useRefused, "drop_view", sqlguard.CodeDDLStatement, "DROP VIEW changes the schema"},
	"DropIndexStmt":          {useRefused, "drop_index", sqlguard.CodeDDLStatement, "DROP INDEX changes the schema"},
	"DropTriggerStmt":        {useRefused, "drop_trigger", sqlguard.CodeDDLStatement, "DROP TRIGGER changes the schema"},
	"ReindexStmt":            {useRefused, "reindex", sqlguard.CodeDDLStatement, "REINDEX rebuilds indexes"},

	// ANALYZE fills sqlite_stat1; VACUUM rewrites the file, and VACUUM INTO
	// writes a copy of it anywhere on the disk.
	"AnalyzeStmt": {useRefused, "analyze", sqlguard.CodeWriteStatement, "ANALYZE writes statistics into the database"},
	"VacuumStmt":  {useRefused, "vacuum", sqlguard.CodeWriteStatement, "VACUUM rewrites the database, or with INTO writes a copy of it to a file"},

	"BeginStmt":     {useRefused, "begin", sqlguard.CodeTransactionControl, "BEGIN starts a transaction"},
	"CommitStmt":    {useRefused, "commit", sqlguard.CodeTransactionControl, "COMMIT or END ends the transaction"},
	"RollbackStmt":  {useRefused, "rollback", sqlguard.CodeTransactionControl, "ROLLBACK ends the transaction or returns to a savepoint"},
	"SavepointStmt": {useRefused, "savepoint", sqlguard.CodeTransactionControl, "SAVEPOINT starts a nested transaction"},
	"ReleaseStmt":   {useRefused, "release", sqlguard.CodeTransactionControl, "RELEASE ends a nested transaction"},

	// The session then sees another file, which ATTACH creates when it is
	// not there.
	"AttachStmt": {useRefused, "attach", sqlguard.CodeSessionChange, "ATTACH opens or creates another database file for the session"},
	"DetachStmt": {useRefused, "detach", sqlguard.CodeSessionChange, "DETACH closes a database of the session"},

	"With":          {use: usePart},
	"CTE":           {use: usePart},
	"SelectQuery":   {use: usePart},
	"ValuesClause":  {use: usePart},
	"ResultColumn":  {use: usePart},
	"TableRef":      {use: usePart},
	"OrderingTerm":  {use: usePart},
	"Limit":         {use: usePart},
	"WindowDef":     {use: usePart},
	"FrameBound":    {use: usePart},
	"QualifiedName": {use: usePart},

	"BinaryExpr":    {use: usePart},
	"UnaryExpr":     {use: usePart},
	"ParenExpr":     {use: usePart},
	"LikeExpr":      {use: usePart},
	"IsExpr":        {use: usePart},
	"NullCheckExpr": {use: usePart},
	"BetweenExpr":   {use: usePart},
	"InExpr":        {use: usePart},
	"CaseExpr":      {use: usePart},
	"CaseWhen":      {use: usePart},
	"CastExpr":      {use: usePart},
	"CollateExpr":   {use: usePart},
	"FuncCall":      {use: usePart},
	"ExistsExpr":    {use: usePart},
	"SubqueryExpr":  {use: usePart},
	"VectorExpr":    {use: usePart},
	"QualifiedRef":  {use: usePart},
	"Star":          {use: usePart},

	"Ident":    {use: useLeaf},
	"Literal":  {use: useLeaf},
	"TypeName": {use: useLeaf},
	// Keywords only: the words of a join and of a set operation.
	"JoinOperator": {use: useLeaf},
	"CompoundOp":   {use: useLeaf},

	"BindParam": {use: useForbidden, code: sqlguard.CodeParameterNotAllowed, does: "a parameter marker has no value bound to it"},
	"RaiseExpr": {use: useForbidden, code: sqlguard.CodeFunctionNotAllowed, does: "RAISE belongs to triggers"},

	"Upsert":           {use: useDefinition},
	"SetPair":          {use: useDefinition},
	"TableOption":      {use: useDefinition},
	"ColumnDef":        {use: useDefinition},
	"ColumnConstraint": {use: useDefinition},
	"TableConstraint":  {use: useDefinition},
	"IndexedColumn":    {use: useDefinition},
	"ForeignKeyClause": {use: useDefinition},
	"ForeignKeyArg":    {use: useDefinition},
	"DeferClause":      {use: useDefinition},
}
