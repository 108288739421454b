package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// statementRule says how the parser treats a statement with a leading keyword. The parser
// reads only SELECT, with or without WITH. It refuses all other statements without reading
// them.
type statementRule struct {
	verb sqlguard.Verb
	code sqlguard.Code
	does string
	// second limits the rule to statements whose second word is one of these;
	// it is for keywords that are names elsewhere.
	second []string
}

// statementRules lists the statements of the reference, pages Transact-SQL
// statements and Control-of-Flow, by their first keyword.
var statementRules = map[string]statementRule{
	"insert":     {verb: "insert", code: sqlguard.CodeWriteStatement, does: "INSERT writes rows"},
	"update":     {verb: "update", code: sqlguard.CodeWriteStatement, does: "UPDATE changes rows"},
	"delete":     {verb: "delete", code: sqlguard.CodeWriteStatement, does: "DELETE removes rows"},
	"merge":      {verb: "merge", code: sqlguard.CodeWriteStatement, does: "MERGE inserts, updates and deletes rows"},
	"truncate":   {verb: "truncate", code: sqlguard.CodeWriteStatement, does: "TRUNCATE TABLE removes all rows"},
	"bulk":       {verb: "bulk_insert", code: sqlguard.CodeWriteStatement, does: "BULK INSERT writes rows from a file"},
	"copy":       {verb: "copy", code: sqlguard.CodeWriteStatement, does: "COPY INTO writes rows from files", second: []string{"into"}},
	"writetext":  {verb: "writetext", code: sqlguard.CodeWriteStatement, does: "WRITETEXT writes a value"},
	"updatetext": {verb: "updatetext", code: sqlguard.CodeWriteStatement, does: "UPDATETEXT changes a value"},
	"readtext":   {verb: "readtext", code: sqlguard.CodeStatementNotAllowed, does: "READTEXT reads through a text pointer"},

	"create":  {verb: "create", code: sqlguard.CodeDDLStatement, does: "CREATE changes the schema"},
	"alter":   {verb: "alter", code: sqlguard.CodeDDLStatement, does: "ALTER changes the schema or the server"},
	"drop":    {verb: "drop", code: sqlguard.CodeDDLStatement, does: "DROP changes the schema"},
	"enable":  {verb: "enable_trigger", code: sqlguard.CodeDDLStatement, does: "ENABLE TRIGGER changes a trigger", second: []string{"trigger"}},
	"disable": {verb: "disable_trigger", code: sqlguard.CodeDDLStatement, does: "DISABLE TRIGGER changes a trigger", second: []string{"trigger"}},
	"rename":  {verb: "rename", code: sqlguard.CodeDDLStatement, does: "RENAME changes the schema", second: []string{"object", "database"}},

	"grant":  {verb: "grant", code: sqlguard.CodePrivilegeStatement, does: "GRANT changes permissions"},
	"revoke": {verb: "revoke", code: sqlguard.CodePrivilegeStatement, does: "REVOKE changes permissions"},
	"deny":   {verb: "deny", code: sqlguard.CodePrivilegeStatement, does: "DENY changes permissions"},
	"add":    {verb: "add", code: sqlguard.CodePrivilegeStatement, does: "ADD SIGNATURE and ADD SENSITIVITY CLASSIFICATION change what an object may do"},

	"commit":   {verb: "commit", code: sqlguard.CodeTransactionControl, does: "COMMIT ends the transaction"},
	"rollback": {verb: "rollback", code: sqlguard.CodeTransactionControl, does: "ROLLBACK ends the transaction"},
	"save":     {verb: "save", code: sqlguard.CodeTransactionControl, does: "SAVE TRANSACTION sets a savepoint"},

	"set":     {verb: "set", code: sqlguard.CodeSessionChange, does: "SET changes the session or a variable"},
	"use":     {verb: "use", code: sqlguard.CodeSessionChange, does: "USE changes the database of the session"},
	"setuser": {verb: "setuser", code: sqlguard.CodeSessionChange, does: "SETUSER changes the user of the session"},
	"revert":  {verb: "revert", code: sqlguard.CodeSessionChange, does: "REVERT changes the user of the session"},
	"open":    {verb: "open", code: sqlguard.CodeSessionChange, does: "OPEN opens a cursor or a key"},
	"close":   {verb: "close", code: sqlguard.CodeSessionChange, does: "CLOSE closes a cursor or a key"},
	"fetch":   {verb: "fetch", code: sqlguard.CodeSessionChange, does: "FETCH reads from a cursor"},

	"deallocate": {verb: "deallocate", code: sqlguard.CodeSessionChange, does: "DEALLOCATE removes a cursor"},

	"declare":  {verb: "declare", code: sqlguard.CodeProceduralBlock, does: "DECLARE creates a variable or a cursor"},
	"if":       {verb: "if", code: sqlguard.CodeProceduralBlock, does: "IF runs statements on a condition"},
	"else":     {verb: "if", code: sqlguard.CodeProceduralBlock, does: "ELSE runs statements on a condition"},
	"while":    {verb: "while", code: sqlguard.CodeProceduralBlock, does: "WHILE repeats statements"},
	"begin":    {verb: "begin", code: sqlguard.CodeProceduralBlock, does: "BEGIN starts a block of statements"},
	"end":      {verb: "end", code: sqlguard.CodeProceduralBlock, does: "END ends a block or a conversation"},
	"return":   {verb: "return", code: sqlguard.CodeProceduralBlock, does: "RETURN leaves the batch"},
	"goto":     {verb: "goto", code: sqlguard.CodeProceduralBlock, does: "GOTO jumps to a label"},
	"break":    {verb: "break", code: sqlguard.CodeProceduralBlock, does: "BREAK leaves a loop"},
	"continue": {verb: "continue", code: sqlguard.CodeProceduralBlock, does: "CONTINUE repeats a loop"},
	"waitfor":  {verb: "waitfor", code: sqlguard.CodeProceduralBlock, does: "WAITFOR holds the connection"},
	"print":    {verb: "print", code: sqlguard.CodeProceduralBlock, does: "PRINT sends a message"},

	"raiserror": {verb: "raiserror", code: sqlguard.CodeProceduralBlock, does: "RAISERROR raises an error and can write to the log"},
	"throw":     {verb: "throw", code: sqlguard.CodeProceduralBlock, does: "THROW raises an error", second: []string{}},

	"exec":    {verb: "execute", code: sqlguard.CodeProcedureCall, does: "EXECUTE runs a procedure"},
	"execute": {verb: "execute", code: sqlguard.CodeProcedureCall, does: "EXECUTE runs a procedure"},

	"backup":      {verb: "backup", code: sqlguard.CodeStatementNotAllowed, does: "BACKUP writes a copy of a database, a log or a key"},
	"restore":     {verb: "restore", code: sqlguard.CodeStatementNotAllowed, does: "RESTORE replaces a database or reads a backup"},
	"dump":        {verb: "backup", code: sqlguard.CodeStatementNotAllowed, does: "DUMP writes a copy of a database or a log"},
	"load":        {verb: "restore", code: sqlguard.CodeStatementNotAllowed, does: "LOAD replaces a database"},
	"kill":        {verb: "kill", code: sqlguard.CodeStatementNotAllowed, does: "KILL ends another session"},
	"shutdown":    {verb: "shutdown", code: sqlguard.CodeStatementNotAllowed, does: "SHUTDOWN stops the server"},
	"reconfigure": {verb: "reconfigure", code: sqlguard.CodeStatementNotAllowed, does: "RECONFIGURE changes the server's configuration"},
	"checkpoint":  {verb: "checkpoint", code: sqlguard.CodeStatementNotAllowed, does: "CHECKPOINT writes the database's pages"},
	"dbcc":        {verb: "dbcc", code: sqlguard.CodeStatementNotAllowed, does: "DBCC runs a console command of the server"},
	"lineno":      {verb: "lineno", code: sqlguard.CodeStatementNotAllowed, does: "LINENO changes the numbers of lines in messages"},
	"disk":        {verb: "disk", code: sqlguard.CodeStatementNotAllowed, does: "DISK makes or changes a device"},

	"send":    {verb: "send", code: sqlguard.CodeWriteStatement, does: "SEND writes a message to a conversation", second: []string{"on"}},
	"receive": {verb: "receive", code: sqlguard.CodeWriteStatement, does: "RECEIVE takes messages out of a queue", second: []string{}},
	"get":     {verb: "get_conversation", code: sqlguard.CodeWriteStatement, does: "GET CONVERSATION GROUP locks a conversation group", second: []string{"conversation"}},
	"move":    {verb: "move_conversation", code: sqlguard.CodeWriteStatement, does: "MOVE CONVERSATION changes a conversation", second: []string{"conversation"}},
}

// privileged are the kinds of objects whose CREATE, ALTER and DROP change privileges.
var privileged = map[string]bool{
	"login": true, "user": true, "role": true, "credential": true, "authorization": true,
	"certificate": true, "symmetric": true, "asymmetric": true, "master": true,
	"server role": true, "application role": true, "server audit": true, "database audit": true,
	"database scoped": true, "database encryption": true, "cryptographic provider": true, "security policy": true,
	"column master": true, "column encryption": true, "service master": true,
}

// constructs lists the constructs that a SELECT may not contain, with the code of
// the refusal. The productions look them up here.
var constructs = map[string]statementRule{
	"into":           {code: sqlguard.CodeSelectInto, does: "SELECT INTO creates a table and writes the result into it"},
	"variable":       {code: sqlguard.CodeParameterNotAllowed, does: "a variable or parameter has no value here"},
	"assignment":     {code: sqlguard.CodeParameterNotAllowed, does: "SELECT assigns a value to a variable"},
	"dml in from":    {code: sqlguard.CodeWriteStatement, does: "a statement in FROM changes data"},
	"dml in with":    {code: sqlguard.CodeWriteInCTE, does: "a statement inside WITH changes data"},
	"next value for": {code: sqlguard.CodeFunctionSideEffect, does: "NEXT VALUE FOR moves a sequence"},
	"for update":     {code: sqlguard.CodeLockingClause, does: "FOR UPDATE locks the rows that are read"},
	"odbc call":      {code: sqlguard.CodeProcedureCall, does: "the escape {call …} runs a procedure"},
	"compute":        {code: sqlguard.CodeStatementNotAllowed, does: "COMPUTE adds results of its own; servers after 2008 do not know it"},
}
