package clickhouse

import "github.com/ktxhq/ktx/sqlguard"

// statementRule says how the parser treats a statement with a leading keyword. It refuses
// all statements of the table without reading them.
type statementRule struct {
	verb sqlguard.Verb
	code sqlguard.Code
	does string
}

// statementRules lists the statements of the reference (SQL Reference, Statements), by
// their first keyword.
var statementRules = map[string]statementRule{
	"insert":   {"insert", sqlguard.CodeWriteStatement, "INSERT writes rows"},
	"delete":   {"delete", sqlguard.CodeWriteStatement, "DELETE removes rows"},
	"update":   {"update", sqlguard.CodeWriteStatement, "UPDATE changes rows"},
	"truncate": {"truncate", sqlguard.CodeWriteStatement, "TRUNCATE removes all rows"},
	"optimize": {"optimize", sqlguard.CodeWriteStatement, "OPTIMIZE merges the parts of a table, and can remove rows"},
	"copy":     {"copy", sqlguard.CodeWriteStatement, "COPY writes rows"},

	"create":   {"create", sqlguard.CodeDDLStatement, "CREATE changes the schema"},
	"alter":    {"alter", sqlguard.CodeDDLStatement, "ALTER changes the schema or the data"},
	"drop":     {"drop", sqlguard.CodeDDLStatement, "DROP changes the schema"},
	"undrop":   {"undrop", sqlguard.CodeDDLStatement, "UNDROP brings a table back"},
	"rename":   {"rename", sqlguard.CodeDDLStatement, "RENAME changes the schema"},
	"exchange": {"exchange", sqlguard.CodeDDLStatement, "EXCHANGE changes the schema"},
	"replace":  {"replace", sqlguard.CodeDDLStatement, "REPLACE changes the schema"},
	"attach":   {"attach", sqlguard.CodeDDLStatement, "ATTACH adds a table or a dictionary"},
	"detach":   {"detach", sqlguard.CodeDDLStatement, "DETACH removes a table or a dictionary from the server"},

	"grant":  {"grant", sqlguard.CodePrivilegeStatement, "GRANT changes privileges"},
	"revoke": {"revoke", sqlguard.CodePrivilegeStatement, "REVOKE changes privileges"},
	"move":   {"move", sqlguard.CodePrivilegeStatement, "MOVE changes where users and roles are stored"},

	"begin":    {"begin", sqlguard.CodeTransactionControl, "BEGIN starts a transaction"},
	"start":    {"begin", sqlguard.CodeTransactionControl, "START TRANSACTION starts a transaction"},
	"commit":   {"commit", sqlguard.CodeTransactionControl, "COMMIT ends a transaction"},
	"rollback": {"rollback", sqlguard.CodeTransactionControl, "ROLLBACK ends a transaction"},

	"set": {"set", sqlguard.CodeSessionChange, "SET changes the session"},
	"use": {"use", sqlguard.CodeSessionChange, "USE changes the database of the session"},

	"execute": {"execute_as", sqlguard.CodeSessionChange, "EXECUTE AS changes the user"},
	"prepare": {"prepare", sqlguard.CodeDynamicSQL, "PREPARE stores a statement that runs later"},

	"system":  {"system", sqlguard.CodeStatementNotAllowed, "SYSTEM controls the server"},
	"kill":    {"kill", sqlguard.CodeStatementNotAllowed, "KILL ends queries or mutations of others"},
	"backup":  {"backup", sqlguard.CodeStatementNotAllowed, "BACKUP writes a copy of tables"},
	"restore": {"restore", sqlguard.CodeStatementNotAllowed, "RESTORE brings tables back from a copy"},
	"check":   {"check", sqlguard.CodeStatementNotAllowed, "CHECK reads all data of tables, and can mark parts as broken"},
	"watch":   {"watch", sqlguard.CodeStatementNotAllowed, "WATCH does not end"},
}

// privileged are the kinds of objects whose CREATE, ALTER and DROP change privileges.
var privileged = map[string]bool{"user": true, "role": true, "quota": true, "row": true, "policy": true, "settings": true, "profile": true, "named": true, "masking": true}

// constructs lists what a read may not contain, with the code of the refusal.
var constructs = map[string]statementRule{
	"settings":  {code: sqlguard.CodeSettingNotAllowed, does: "SETTINGS changes settings of the server for this statement, its limits among them"},
	"format":    {code: sqlguard.CodeStatementNotAllowed, does: "FORMAT decides how the result is written; ktx reads it in a format of its own"},
	"into":      {code: sqlguard.CodeSelectInto, does: "INTO OUTFILE writes the result into a file"},
	"parameter": {code: sqlguard.CodeParameterNotAllowed, does: "a parameter of the query has no value here"},
	"parallel":  {code: sqlguard.CodeMultipleStatements, does: "PARALLEL WITH runs another statement at the same time"},
	"show":      {code: sqlguard.CodeStatementNotAllowed, does: "this form of SHOW is not on the list of those that may be read"},
	"explain":   {code: sqlguard.CodeStatementNotAllowed, does: "EXPLAIN is read only for SELECT"},
}
