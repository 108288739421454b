package sqlguard

import (
	"embed"
	"slices"
)

// Code names a reason. Codes are stable: they are never renamed or reused.
type Code string

// The codes of a refused statement.
const (
	CodeEmptyStatement        Code = "empty_statement"
	CodeMultipleStatements    Code = "multiple_statements"
	CodeParseError            Code = "parse_error"
	CodeInputTooLarge         Code = "input_too_large"
	CodeNestingTooDeep        Code = "nesting_too_deep"
	CodeInvalidCharacters     Code = "invalid_characters"
	CodeExecutableComment     Code = "executable_comment"
	CodeClientCommand         Code = "client_command"
	CodeUnsupportedDialect    Code = "unsupported_dialect"
	CodeSessionModeMismatch   Code = "session_mode_mismatch"
	CodeStatementNotAllowed   Code = "statement_not_allowed"
	CodeWriteStatement        Code = "write_statement"
	CodeWriteInCTE            Code = "write_in_cte"
	CodeSelectInto            Code = "select_into"
	CodeDDLStatement          Code = "ddl_statement"
	CodePrivilegeStatement    Code = "privilege_statement"
	CodeTransactionControl    Code = "transaction_control"
	CodeSessionChange         Code = "session_change"
	CodeProceduralBlock       Code = "procedural_block"
	CodeProcedureCall         Code = "procedure_call"
	CodeDynamicSQL            Code = "dynamic_sql"
	CodeParameterNotAllowed   Code = "parameter_not_allowed"
	CodeLockingClause         Code = "locking_clause"
	CodeLockingHint           Code = "locking_hint"
	CodeFunctionNotAllowed    Code = "function_not_allowed"
	CodeFunctionSideEffect    Code = "function_side_effect"
	CodeFunctionFileAccess    Code = "function_file_access"
	CodeFunctionNetworkAccess Code = "function_network_access"
	CodeFunctionAdmin         Code = "function_admin"
	CodeFunctionSleep         Code = "function_sleep"
	CodeOperatorNotAllowed    Code = "operator_not_allowed"
	CodeTypeNotAllowed        Code = "type_not_allowed"
	CodeRelationNotAllowed    Code = "relation_not_allowed"
	CodeCredentialRelation    Code = "credential_relation"
	CodeExternalRelation      Code = "external_relation"
	CodeColumnNotAllowed      Code = "column_not_allowed"
	CodeSettingNotAllowed     Code = "setting_not_allowed"
	CodeHintNotAllowed        Code = "hint_not_allowed"
	CodePragmaNotAllowed      Code = "pragma_not_allowed"
	CodeExplainExecutes       Code = "explain_executes"
	CodeUnresolvedObject      Code = "unresolved_object"
	CodeInternalError         Code = "internal_error"
)

// The codes that only checks of files report.
const (
	CodeNotChecked           Code = "not_checked"
	CodeDialectUnknown       Code = "dialect_unknown"
	CodeDynamicSQLUnprovable Code = "dynamic_sql_unprovable"
	CodeSuppressionInvalid   Code = "suppression_invalid"
	CodeSuppressionExpired   Code = "suppression_expired"
	CodeSuppressionUnused    Code = "suppression_unused"
)

// The codes of permitted statements that got no answer.
const (
	CodeTimeout           Code = "timeout"
	CodeCancelled         Code = "cancelled"
	CodeConnectionLost    Code = "connection_lost"
	CodeServerRestarted   Code = "server_restarted"
	CodeBusy              Code = "busy"
	CodeDraining          Code = "draining"
	CodeAuditUnavailable  Code = "audit_unavailable"
	CodeUnknownConnection Code = "unknown_connection"
	CodeNotConfigured     Code = "not_configured"
	CodeNoBackend         Code = "no_backend"
	CodeInvalidArguments  Code = "invalid_arguments"
	CodeNotFound          Code = "not_found"
	CodeDatabaseError     Code = "database_error"
)

// Family groups codes by where they occur.
type Family string

// The families of codes.
const (
	FamilyGuard     Family = "guard"     // a statement is refused
	FamilyCheck     Family = "check"     // a file could not be judged, or a suppression is wrong
	FamilyExecution Family = "execution" // a permitted statement got no answer
)

// CodeInfo describes one code.
type CodeInfo struct {
	Code    Code   `json:"code"`
	Family  Family `json:"family"`
	Title   string `json:"title"`
	Summary string `json:"summary"` // one sentence
	// Retryable says that the sender can correct the statement (guard) or send
	// it again unchanged (execution).
	Retryable bool `json:"retryable"`
	// Page is the explanation in Markdown that `ktx explain` prints.
	Page string `json:"-"`

	hint string // the hint for findings that have no hint
}

// Codes returns every code in the order of the documentation.
func Codes() []CodeInfo {
	out := slices.Clone(codeTable)
	for i := range out {
		out[i].Page = page(out[i].Code)
	}
	return out
}

// LookupCode returns the description of code.
func LookupCode(code Code) (CodeInfo, bool) {
	i := slices.IndexFunc(codeTable, func(c CodeInfo) bool { return c.Code == code })
	if i < 0 {
		return CodeInfo{}, false
	}
	info := codeTable[i]
	info.Page = page(code)
	return info, true
}

//go:embed pages/*.md
var pages embed.FS

func page(code Code) string {
	text, err := pages.ReadFile("pages/" + string(code) + ".md")
	if err != nil { // a test checks that every code has its page
		return ""
	}
	return string(text)
}

var codeTable = []CodeInfo{
	{Code: CodeEmptyStatement, Family: FamilyGuard, Title: "Nothing to run", Summary: "The text holds no statement.", Retryable: true, hint: "send one SELECT"},
	{Code: CodeMultipleStatements, Family: FamilyGuard, Title: "More than one statement", Summary: "The text holds more than one statement; a call runs exactly one.", Retryable: true, hint: "send each statement in a call of its own"},
	{Code: CodeParseError, Family: FamilyGuard, Title: "Not readable as SQL", Summary: "The parser cannot read the text, or skips a part of it.", Retryable: true, hint: "correct the syntax at the position that the finding gives"},
	{Code: CodeInputTooLarge, Family: FamilyGuard, Title: "Text too large", Summary: "The text is longer, or has more parts, than the guard reads.", Retryable: true, hint: "shorten the statement: join against a table instead of listing values"},
	{Code: CodeNestingTooDeep, Family: FamilyGuard, Title: "Nested too deeply", Summary: "Brackets, CASE, sub-queries or chains of operators go deeper than parsers can follow safely.", Retryable: true, hint: "flatten the expression, for example with IN or a join"},
	{Code: CodeInvalidCharacters, Family: FamilyGuard, Title: "Characters that hide meaning", Summary: "The text is not valid UTF-8, or holds control, invisible or direction-changing characters outside of literals.", Retryable: true, hint: "write the statement with plain spaces and visible characters; such characters may stand inside string literals"},
	{Code: CodeExecutableComment, Family: FamilyGuard, Title: "Comment that a server executes", Summary: "A comment starts with a mark that makes some servers run its content.", Retryable: true, hint: "remove the comment, or write its content as plain SQL"},
	{Code: CodeClientCommand, Family: FamilyGuard, Title: "Command of a client, not SQL", Summary: "The text holds a command of a command line client.", Retryable: true, hint: "send SQL only"},
	{Code: CodeUnsupportedDialect, Family: FamilyGuard, Title: "Dialect without a reader", Summary: "No reader exists for this SQL dialect, so nothing can be judged.", hint: "set the dialect to one that ktx reads"},
	{Code: CodeSessionModeMismatch, Family: FamilyGuard, Title: "Session differs from what was judged", Summary: "The server's session reads SQL differently from the parser that judged it.", hint: "tell the operator: the settings of the server or the role differ from what ktx sets"},
	{Code: CodeStatementNotAllowed, Family: FamilyGuard, Title: "Kind of statement not allowed", Summary: "Only statements that read are run; this kind is not one of them.", hint: "use SELECT: this connection only reads"},
	{Code: CodeWriteStatement, Family: FamilyGuard, Title: "Statement writes", Summary: "The statement changes data.", hint: "this connection only reads: use SELECT to see the rows, and leave the change to a person"},
	{Code: CodeWriteInCTE, Family: FamilyGuard, Title: "Write inside WITH", Summary: "A common table expression changes data.", Retryable: true, hint: "select from the table instead of writing to it"},
	{Code: CodeSelectInto, Family: FamilyGuard, Title: "SELECT INTO", Summary: "The SELECT stores its result in a table, file or variable.", Retryable: true, hint: "remove the INTO clause: the rows are returned to you"},
	{Code: CodeDDLStatement, Family: FamilyGuard, Title: "Statement changes the schema", Summary: "The statement creates, alters or drops an object.", hint: "this connection only reads: leave the statement out"},
	{Code: CodePrivilegeStatement, Family: FamilyGuard, Title: "Statement changes privileges", Summary: "The statement changes roles, grants or ownership.", hint: "leave the statement out: only the operator changes rights"},
	{Code: CodeTransactionControl, Family: FamilyGuard, Title: "Transaction control", Summary: "The statement begins, ends or changes a transaction.", hint: "send the query alone: every call runs in its own read-only transaction"},
	{Code: CodeSessionChange, Family: FamilyGuard, Title: "Statement changes the session", Summary: "The statement changes settings or state of the session.", hint: "leave the statement out: every call begins with the settings of the connection"},
	{Code: CodeProceduralBlock, Family: FamilyGuard, Title: "Procedural block", Summary: "The statement runs procedural code.", hint: "express it as one SELECT"},
	{Code: CodeProcedureCall, Family: FamilyGuard, Title: "Procedure call", Summary: "The statement calls a procedure.", hint: "select from the tables that the procedure reads"},
	{Code: CodeDynamicSQL, Family: FamilyGuard, Title: "SQL made at run time", Summary: "The statement runs SQL text that the guard cannot see.", Retryable: true, hint: "write the inner query directly as SQL"},
	{Code: CodeParameterNotAllowed, Family: FamilyGuard, Title: "Parameter or variable", Summary: "The text holds a parameter marker or a user variable; nothing is bound to it.", Retryable: true, hint: "write the value as a literal"},
	{Code: CodeLockingClause, Family: FamilyGuard, Title: "Locking clause", Summary: "The query locks the rows it reads.", Retryable: true, hint: "remove FOR UPDATE, FOR SHARE or the like"},
	{Code: CodeLockingHint, Family: FamilyGuard, Title: "Locking hint", Summary: "A table hint takes or holds locks.", Retryable: true, hint: "remove the hint"},
	{Code: CodeFunctionNotAllowed, Family: FamilyGuard, Title: "Function not on the list", Summary: "The function is not on the list of functions known to be pure.", Retryable: true, hint: "leave the call out, or use another built-in function"},
	{Code: CodeFunctionSideEffect, Family: FamilyGuard, Title: "Function changes state", Summary: "The function changes data, locks, sequences or session state.", Retryable: true, hint: "remove the call"},
	{Code: CodeFunctionFileAccess, Family: FamilyGuard, Title: "Function reaches files", Summary: "The function reads or writes files of the server.", hint: "leave the call out: no statement reads or writes files; read a table"},
	{Code: CodeFunctionNetworkAccess, Family: FamilyGuard, Title: "Function reaches the network", Summary: "The function opens network connections from the server.", hint: "leave the call out: no statement opens connections from the server; connection_list or ktx status names the databases that can be read"},
	{Code: CodeFunctionAdmin, Family: FamilyGuard, Title: "Function administers the server", Summary: "The function controls or inspects the server itself or other sessions.", hint: "leave the call out: only the operator administers the server"},
	{Code: CodeFunctionSleep, Family: FamilyGuard, Title: "Function that waits", Summary: "The function does nothing but hold the connection.", Retryable: true, hint: "remove the call"},
	{Code: CodeOperatorNotAllowed, Family: FamilyGuard, Title: "Operator not on the list", Summary: "The operator is not built in, so it may run any function.", Retryable: true, hint: "use a built-in operator or a listed function"},
	{Code: CodeTypeNotAllowed, Family: FamilyGuard, Title: "Type not on the list", Summary: "A cast to this type may run code that the guard cannot see.", Retryable: true, hint: "cast to a built-in type"},
	{Code: CodeRelationNotAllowed, Family: FamilyGuard, Title: "Relation not allowed", Summary: "The table or view is a system relation that is not listed, or the policy denies it.", hint: "use another table or view: no spelling of this name is allowed"},
	{Code: CodeCredentialRelation, Family: FamilyGuard, Title: "Relation holds secrets", Summary: "The relation holds credentials, or statements of other sessions.", hint: "leave the relation out: no statement reads what it holds"},
	{Code: CodeExternalRelation, Family: FamilyGuard, Title: "Relation outside the connection", Summary: "The relation lies in another database, server or file.", hint: "use a connection to that database"},
	{Code: CodeColumnNotAllowed, Family: FamilyGuard, Title: "Column not allowed", Summary: "The policy denies the column, or the statement may read a denied column unseen.", Retryable: true, hint: "leave the column out: the operator has denied it"},
	{Code: CodeSettingNotAllowed, Family: FamilyGuard, Title: "Setting not on the list", Summary: "The setting is not on the list of settings that may be read.", Retryable: true, hint: "leave it out: settings that hold a path, a command or a key are not listed; others can be read by their literal names"},
	{Code: CodeHintNotAllowed, Family: FamilyGuard, Title: "Hint not allowed", Summary: "The hint changes settings or limits of the statement.", Retryable: true, hint: "remove the hint"},
	{Code: CodePragmaNotAllowed, Family: FamilyGuard, Title: "PRAGMA not on the list", Summary: "The PRAGMA is not one of the listed read forms.", Retryable: true, hint: "leave it out: PRAGMAs that read the schema are listed, as in PRAGMA table_info(name) and PRAGMA index_list(name)"},
	{Code: CodeExplainExecutes, Family: FamilyGuard, Title: "EXPLAIN that executes", Summary: "EXPLAIN ANALYZE runs its statement, and the policy does not permit it.", Retryable: true, hint: "use EXPLAIN without ANALYZE"},
	{Code: CodeUnresolvedObject, Family: FamilyGuard, Title: "Name that cannot be resolved", Summary: "A policy rule could apply to the name, and it cannot be resolved to one object, or the database has no such object.", Retryable: true, hint: "correct the name, or write it with its schema"},
	{Code: CodeInternalError, Family: FamilyGuard, Title: "Fault inside the guard", Summary: "The guard met a fault of its own and refused.", hint: "write the statement in another way, and tell the operator"},

	{Code: CodeNotChecked, Family: FamilyCheck, Title: "Not checked", Summary: "A file could not be read or judged."},
	{Code: CodeDialectUnknown, Family: FamilyCheck, Title: "Dialect unknown", Summary: "Nothing says which SQL dialect the file is written in."},
	{Code: CodeDynamicSQLUnprovable, Family: FamilyCheck, Title: "SQL built at run time", Summary: "The SQL is put together at run time in a way that cannot be judged."},
	{Code: CodeSuppressionInvalid, Family: FamilyCheck, Title: "Suppression without code or reason", Summary: "A suppression lacks its code, its reason or a readable date."},
	{Code: CodeSuppressionExpired, Family: FamilyCheck, Title: "Suppression expired", Summary: "The date of a suppression has passed."},
	{Code: CodeSuppressionUnused, Family: FamilyCheck, Title: "Suppression unused", Summary: "A suppression matches no finding."},

	{Code: CodeTimeout, Family: FamilyExecution, Title: "Time limit reached", Summary: "The statement ran longer than its limit and was ended at the server.", hint: "narrow the query with WHERE, or aggregate less data"},
	{Code: CodeCancelled, Family: FamilyExecution, Title: "Cancelled", Summary: "The caller cancelled, and the statement was ended at the server.", Retryable: true, hint: "call again if the answer is still wanted"},
	{Code: CodeConnectionLost, Family: FamilyExecution, Title: "Connection lost", Summary: "The connection to the database broke.", Retryable: true, hint: "try again"},
	{Code: CodeServerRestarted, Family: FamilyExecution, Title: "Server restarting", Summary: "The database server is starting or shutting down.", Retryable: true, hint: "try again in a few seconds"},
	{Code: CodeBusy, Family: FamilyExecution, Title: "Too many statements", Summary: "The connection's queue is full.", Retryable: true, hint: "try again after the time given"},
	{Code: CodeDraining, Family: FamilyExecution, Title: "Shutting down", Summary: "The gateway is stopping and takes no new statements.", Retryable: true, hint: "call again when the server has started again"},
	{Code: CodeAuditUnavailable, Family: FamilyExecution, Title: "Audit log not writable", Summary: "The decision could not be recorded, so the statement did not run.", hint: "tell the operator: the audit log's disk is full or failing"},
	{Code: CodeUnknownConnection, Family: FamilyExecution, Title: "Unknown connection", Summary: "No connection of that id is configured.", hint: "use the id of a connection that is configured"},
	{Code: CodeNotConfigured, Family: FamilyExecution, Title: "Connection not configured", Summary: "The connection has no address to connect to.", hint: "tell the operator: ktx.yaml has no address for the connection"},
	{Code: CodeNoBackend, Family: FamilyExecution, Title: "No backend for this engine", Summary: "This version runs no statements on this engine.", hint: "use a tool that reads the scan of the connection, or another connection"},
	{Code: CodeInvalidArguments, Family: FamilyExecution, Title: "Invalid arguments", Summary: "The arguments of the call do not fit its schema.", hint: "correct the listed arguments"},
	{Code: CodeNotFound, Family: FamilyExecution, Title: "Not found", Summary: "No page, skill or run has the name that the call gives.", hint: "correct the name"},
	{Code: CodeDatabaseError, Family: FamilyExecution, Title: "Error of the database", Summary: "The database refused or failed the statement; its own message and SQLSTATE are given.", hint: "correct the statement as the database's message says"},
}

// HintFor returns the general hint for code, or "" when there is none.
func HintFor(code Code) string {
	info, _ := LookupCode(code)
	return info.hint
}
