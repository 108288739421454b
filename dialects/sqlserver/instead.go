package sqlserver

import (
	"github.com/ktxhq/ktx/dialects/internal/instead"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reword returns a finding with a message and a hint that say what to write instead in
// Transact-SQL, when the statement has something that people know from other servers.
func (Dialect) Reword(sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	return wording.Word(sql, tokens, f)
}

const (
	listTables  = "SELECT TABLE_SCHEMA, TABLE_NAME FROM INFORMATION_SCHEMA.TABLES"
	listColumns = "SELECT COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = '$1'"
	listIndexes = "SELECT name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('$1')"
)

var (
	aName    = []sqlguard.Code{sqlguard.CodeProcedureCall, sqlguard.CodeParseError, sqlguard.CodeDynamicSQL}
	aWrite   = []sqlguard.Code{sqlguard.CodeWriteStatement, sqlguard.CodeStatementNotAllowed}
	aSession = []sqlguard.Code{sqlguard.CodeSessionChange, sqlguard.CodeTransactionControl}
	aDDL     = []sqlguard.Code{sqlguard.CodeDDLStatement}
	aBlock   = []sqlguard.Code{sqlguard.CodeProceduralBlock, sqlguard.CodeSessionChange, sqlguard.CodeParseError}
	aCall    = []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeFunctionNotAllowed}
)

// wording is what SQL Server has instead of the SQL of other servers (Transact-SQL
// reference).
var wording = instead.Table{
	Product: "SQL Server",
	Tables:  listTables,
	Columns: listColumns,
	Quote:   func(name string) string { return "[" + name + "]" },
	Rules: []instead.Rule{
		{Pattern: "^ show columns|fields|index|indexes|keys from|in @", Codes: aName, Says: "SHOW is MySQL; SQL Server would run a procedure of that name", Write: "write " + listColumns},
		{Pattern: "^ show create table @", Codes: aName, Says: "SHOW is MySQL; SQL Server would run a procedure of that name", Write: "write " + listColumns},
		{Pattern: "^ show server_version|version", Codes: aName, Says: "SHOW is not Transact-SQL; SQL Server would run a procedure of that name", Write: "write SELECT @@VERSION"},
		{Pattern: "^ show", Codes: aName, Says: "SHOW is MySQL; SQL Server would run a procedure of that name", Write: "write " + listTables},
		{Pattern: "^ describe|desc @", Codes: aName, Says: "DESCRIBE is MySQL; SQL Server would run a procedure of that name", Write: "write " + listColumns},
		{Pattern: "^ explain", Codes: aName, Says: "EXPLAIN is not Transact-SQL; SQL Server would run a procedure of that name", Write: "send the SELECT without EXPLAIN; sys.indexes lists the indexes that it can use"},
		{Pattern: "^ pragma table_info|table_xinfo ( @ )", Codes: aName, Says: "PRAGMA is SQLite", Write: "write " + listColumns},
		{Pattern: "^ pragma", Codes: aName, Says: "PRAGMA is SQLite", Write: "write " + listTables},
		{Pattern: "^ analyze|vacuum", Codes: aName, Says: "ANALYZE and VACUUM are PostgreSQL; SQL Server would run a procedure of that name", Write: "leave it out"},
		{Pattern: "^ copy", Codes: aName, Says: "COPY is PostgreSQL", Write: "write SELECT: the rows are returned to you"},
		{Pattern: "^ call", Codes: aName, Says: "CALL is not Transact-SQL, and no procedure runs here", Write: "select from the tables that the procedure reads"},
		{Pattern: "^ exec|execute sp_help|sp_columns '", Codes: aName, Says: "EXEC runs a procedure, and this connection only reads", Write: "write SELECT COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'name'", Keep: true},
		{Pattern: "^ exec|execute sp_help|sp_columns @", Codes: aName, Says: "EXEC runs a procedure, and this connection only reads", Write: "write " + listColumns, Keep: true},
		{Pattern: "^ sp_help|sp_columns @", Codes: aName, Says: "sp_help is a procedure, and this connection only reads", Write: "write " + listColumns, Keep: true},
		{Pattern: "^ exec|execute sp_tables", Codes: aName, Says: "EXEC runs a procedure, and this connection only reads", Write: "write " + listTables, Keep: true},
		{Pattern: "^ exec|execute sp_helptext", Codes: aName, Says: "EXEC runs a procedure, and this connection only reads", Write: "write " + listTables, Keep: true},
		{Pattern: "^ exec|execute sp_helpindex '", Codes: aName, Says: "EXEC runs a procedure, and this connection only reads", Write: "write SELECT name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('name')", Keep: true},
		{Pattern: "^ exec|execute sp_helpindex @", Codes: aName, Says: "EXEC runs a procedure, and this connection only reads", Write: "write " + listIndexes, Keep: true},
		{Pattern: "^ exec|execute|sp_who|sp_who2 sp_who|sp_who2", Codes: aName, Says: "EXEC runs a procedure, and this connection only reads", Write: "leave it out; SELECT @@SPID is your own session", Keep: true},
		{Pattern: "^ sp_who|sp_who2", Codes: aName, Says: "sp_who is a procedure, and this connection only reads", Write: "leave it out; SELECT @@SPID is your own session", Keep: true},
		{Pattern: "^ exec|execute sp_executesql", Codes: aName, Write: "write the inner query directly as SQL, with its values as literals", Keep: true},
		{Pattern: "^ exec|execute", Codes: aName, Write: "select from the tables that the procedure reads", Keep: true},

		{Pattern: "limit # , #", Says: "LIMIT is not Transact-SQL", Write: "write ORDER BY x OFFSET $1 ROWS FETCH NEXT $2 ROWS ONLY"},
		{Pattern: "limit # offset #", Says: "LIMIT is not Transact-SQL", Write: "write ORDER BY x OFFSET $2 ROWS FETCH NEXT $1 ROWS ONLY"},
		{Pattern: "limit #", Says: "LIMIT is not Transact-SQL", Write: "write SELECT TOP ($1) …, or ORDER BY x OFFSET 0 ROWS FETCH NEXT $1 ROWS ONLY"},
		{Pattern: "limit all", Says: "LIMIT is not Transact-SQL", Write: "leave LIMIT ALL out"},
		{Pattern: "filter ( where", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeMultipleStatements}, Says: "FILTER (WHERE …) is not Transact-SQL", Write: "put the condition into the aggregate: COUNT(CASE WHEN status = 'paid' THEN 1 END)"},
		{Pattern: "ilike", Says: "ILIKE is PostgreSQL", Write: "write LIKE, which ignores case under the usual collations, or LOWER(x) LIKE 'part%'"},
		{Pattern: "regexp|rlike", Says: "REGEXP is MySQL", Write: "write LIKE with %, _ and [a-z], as in x LIKE '%[0-9]%'"},
		{Pattern: "similar to", Says: "SIMILAR TO is PostgreSQL", Write: "write LIKE with %, _ and [a-z], as in x LIKE '%[0-9]%'"},
		{Pattern: "~|~* '", Says: "~ with a pattern is PostgreSQL", Write: "write LIKE with %, _ and [a-z], as in x LIKE '%[0-9]%'"},
		{Pattern: "~ * '", Says: "~* is PostgreSQL", Write: "write LIKE with %, _ and [a-z], as in x LIKE '%[0-9]%'"},
		{Pattern: "glob '", Says: "GLOB is SQLite", Write: "write LIKE with %, _ and [a-z], as in x LIKE '%[0-9]%'"},
		{Pattern: "qualify", Says: "QUALIFY is not Transact-SQL", Write: "filter in an outer query: SELECT * FROM (SELECT …, ROW_NUMBER() OVER (…) AS n FROM …) AS t WHERE n = 1"},
		{Pattern: "distinct on (", Says: "DISTINCT ON is PostgreSQL", Write: "number the rows: SELECT * FROM (SELECT …, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM …) AS t WHERE n = 1"},
		{Pattern: "fetch first|next # row|rows", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeSessionChange}, Says: "FETCH stands after OFFSET", Write: "write ORDER BY x OFFSET 0 ROWS FETCH NEXT $1 ROWS ONLY, or SELECT TOP ($1) …"},
		{Pattern: "offset #", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeMultipleStatements}, Says: "OFFSET needs ORDER BY and ROWS", Write: "write ORDER BY x OFFSET $1 ROWS"},
		{Pattern: "next value for", Codes: []sqlguard.Code{sqlguard.CodeFunctionSideEffect}, Write: "read the greatest key, as in SELECT MAX(id) FROM orders", Keep: true},
		{Pattern: "^ kill|shutdown|reconfigure|dbcc|backup|restore|checkpoint|disable|enable", Codes: aWrite, Write: "leave the statement out: only the operator administers the server", Keep: true},
		{Pattern: "nulls first", Says: "NULLS FIRST is not Transact-SQL, which sorts NULL first", Write: "leave it out, or write ORDER BY CASE WHEN x IS NULL THEN 0 ELSE 1 END, x"},
		{Pattern: "nulls last", Says: "NULLS LAST is not Transact-SQL", Write: "write ORDER BY CASE WHEN x IS NULL THEN 1 ELSE 0 END, x"},
		{Pattern: ":: int|integer|bigint|smallint|text|varchar|char|numeric|decimal|float|real|date|timestamp|timestamptz|uuid|json|jsonb|bool|boolean", Codes: aCall, Says: "x::type is PostgreSQL", Write: "write CAST(x AS type), as in CAST(x AS int)"},
		{Pattern: ": :", Codes: aCall, Says: "x::type is PostgreSQL", Write: "write CAST(x AS type), as in CAST(x AS int)"},
		{Pattern: "interval '", Says: "INTERVAL is not Transact-SQL", Write: "write DATEADD(day, -7, x)"},
		{Pattern: "interval #", Says: "INTERVAL is not Transact-SQL", Write: "write DATEADD(day, -7, x)"},
		{Pattern: "extract ( @ from", Codes: aCall, Says: "EXTRACT is not Transact-SQL", Write: "write DATEPART($1, x)"},
		{Pattern: "position ( _ in", Codes: aCall, Says: "POSITION is not Transact-SQL", Write: "write CHARINDEX('part', x)"},
		{Pattern: "substring ( … from", Codes: aCall, Says: "SUBSTRING … FROM is not Transact-SQL", Write: "write SUBSTRING(x, 1, 3)"},
		{Pattern: "overlay (", Codes: aCall, Says: "OVERLAY is not Transact-SQL", Write: "write STUFF(x, 1, 2, 'new')"},
		{Pattern: "if (", Codes: aCall, Says: "IF (…) in a query is MySQL", Write: "write IIF(x > 1, 'a', 'b')"},
		{Pattern: "separator '", Says: "GROUP_CONCAT is MySQL", Write: "write STRING_AGG(x, ', ')"},
		{Pattern: "join @ using (", Says: "USING is not Transact-SQL", Write: "write JOIN $1 ON a.id = $1.id"},
		{Pattern: "join @ @ using (", Says: "USING is not Transact-SQL", Write: "write JOIN $1 $2 ON a.id = $2.id"},
		{Pattern: "natural join|left|inner", Says: "NATURAL JOIN is not Transact-SQL", Write: "write JOIN t ON a.id = t.id"},
		{Pattern: "with recursive", Says: "RECURSIVE is not Transact-SQL", Write: "write WITH t AS (…) alone: it may refer to itself"},
		{Pattern: "join lateral", Says: "LATERAL is PostgreSQL", Write: "write CROSS APPLY (SELECT …) AS t, or OUTER APPLY for a LEFT JOIN"},
		{Pattern: "lateral (", Says: "LATERAL is PostgreSQL", Write: "write CROSS APPLY (SELECT …) AS t"},
		{Pattern: "array [", Says: "Transact-SQL has no arrays", Write: "write x IN (1, 2), or (VALUES (1), (2)) AS t (n)"},
		{Pattern: "any|all ( array", Says: "Transact-SQL has no arrays", Write: "write x IN (1, 2)"},
		{Pattern: "minus select", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeMultipleStatements}, Says: "MINUS is Oracle", Write: "write EXCEPT"},
		{Pattern: "is true|false", Says: "IS TRUE is not Transact-SQL", Write: "write x = 1 for a bit"},
		{Pattern: "is not true|false", Says: "IS NOT TRUE is not Transact-SQL", Write: "write x = 0 OR x IS NULL for a bit"},
		{Pattern: "@ div @", Says: "DIV is MySQL", Write: "write /, which drops the remainder of integers"},
		{Pattern: "@ div #", Says: "DIV is MySQL", Write: "write /, which drops the remainder of integers"},
		{Pattern: "use|force|ignore index (", Says: "hints on indexes are MySQL", Write: "leave the hint out: the planner chooses the index"},
		{Pattern: "straight_join", Says: "STRAIGHT_JOIN is MySQL", Write: "write JOIN"},
		{Pattern: "* except|exclude|replace (", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeMultipleStatements}, Says: "* EXCEPT is not Transact-SQL", Write: "name the columns that you need"},
		{Pattern: "as materialized (", Says: "MATERIALIZED is PostgreSQL", Write: "write WITH t AS (SELECT …)"},
		{Pattern: "==", Says: "== is no operator of Transact-SQL", Write: "write ="},
		{Pattern: "= = ", Says: "== is no operator of Transact-SQL", Write: "write ="},
		{Pattern: "<=>", Says: "<=> is MySQL", Write: "write x IS NOT DISTINCT FROM y"},
		{Pattern: "date '", Says: "DATE '…' is not Transact-SQL", Write: "write the string alone, as in '2026-01-31', or CAST('2026-01-31' AS date)"},
		{Pattern: "timestamp '", Says: "TIMESTAMP '…' is not Transact-SQL", Write: "write CAST('2026-01-31 12:00:00' AS datetime2)"},
		{Pattern: "` @ `", Says: "backticks quote names in MySQL", Write: "write [$1], or the name without quotes"},
		{Pattern: "`", Says: "backticks quote names in MySQL", Write: "write [name], or the name without quotes"},
		{Pattern: "{ { … } }", Says: "{{ … }} is a template that nobody has filled in", Write: "write the name or the value that it stands for"},
		{Pattern: "$ {", Says: "${…} is a variable that nobody has filled in", Write: "write the value as a literal"},
		{Pattern: "=|<|>|<=|>=|<>|!=|in|(|,|like|and|between : @", Says: ":$1 is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|<=|>=|<>|!=|(|,|like|and|between ?", Says: "? is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "for update|share", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeLockingClause}, Says: "FOR UPDATE is not Transact-SQL", Write: "leave it out: a query locks no rows here", Keep: true},
		{Pattern: "returning", Says: "RETURNING is PostgreSQL", Write: "this connection only reads: use SELECT"},
		{Pattern: "current_date", Codes: aCall, Says: "CURRENT_DATE is not in this version of Transact-SQL", Write: "write CAST(GETDATE() AS date)"},

		{Pattern: "^ update statistics", Codes: aWrite, Says: "UPDATE STATISTICS writes statistics of tables", Write: "leave it out", Keep: true},
		{Pattern: "^ create table|view|or", Codes: aDDL, Write: "put the query into WITH, as in WITH t AS (SELECT …) SELECT * FROM t", Keep: true},
		{Pattern: "^ create index|unique|clustered|nonclustered", Codes: aDDL, Write: "leave it out: an index is the operator's", Keep: true},
		{Pattern: "^ insert into @", Codes: aWrite, Write: "this connection only reads: with SELECT alone you see the rows, and a person inserts them", Keep: true},
		{Pattern: "^ update @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ delete from @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ truncate table", Codes: append(aDDL, aWrite...), Write: "this connection only reads: leave the statement out", Keep: true},
		{Pattern: "^ use @", Codes: aSession, Write: "leave it out: a call begins in the connection's own database", Keep: true},
		{Pattern: "^ set nocount|ansi_nulls|quoted_identifier|dateformat|datefirst|language", Codes: aSession, Write: "leave it out: every call begins with the settings of the connection", Keep: true},
		{Pattern: "^ set transaction", Codes: aSession, Write: "leave it out: every call runs in a transaction of its own", Keep: true},
		{Pattern: "^ set", Codes: append(aSession, aBlock...), Write: "leave it out, and write the value into the query", Keep: true},
		{Pattern: "^ declare", Codes: aBlock, Write: "leave the variable out, and write its value into the query, or name it in WITH, as in WITH p AS (SELECT 7 AS n) SELECT n FROM p", Keep: true},
		{Pattern: "^ begin tran|transaction", Codes: aSession, Write: "send the query alone: every call runs in a transaction of its own", Keep: true},
		{Pattern: "^ waitfor", Codes: append(aSession, sqlguard.CodeFunctionSleep, sqlguard.CodeProceduralBlock, sqlguard.CodeStatementNotAllowed), Write: "leave it out: no statement waits", Keep: true},
		{Pattern: "^ if|while", Codes: aBlock, Write: "write one SELECT with CASE WHEN … THEN … END", Keep: true},
		{Pattern: "^ print", Codes: append(aSession, aBlock...), Write: "write SELECT: the rows are returned to you", Keep: true},
		{Pattern: "into # @ from", Codes: []sqlguard.Code{sqlguard.CodeSelectInto}, Write: "leave INTO out: the rows are returned to you; put an intermediate result into WITH", Keep: true},
	},
	Relations: map[string]string{
		"sql_logins": "leave it out; SELECT ORIGINAL_LOGIN() names your own login", "server_principals": "leave it out; SELECT ORIGINAL_LOGIN() names your own login", "syslogins": "leave it out; SELECT ORIGINAL_LOGIN() names your own login",
		"dm_exec_requests": "leave it out; SELECT @@SPID is your own session", "dm_exec_sessions": "leave it out; SELECT @@SPID is your own session", "sysprocesses": "leave it out; SELECT @@SPID is your own session", "dm_exec_query_stats": "leave it out: it holds statements of other sessions",
		"configurations": "read one setting, as in SELECT @@VERSION or SELECT SERVERPROPERTY('ProductVersion')",
	},
	Refused: map[string]string{
		"object_definition": "leave the call out; sys.objects and sys.columns name objects and their columns",
		"openrowset":        "use a connection to that source: the call reaches files and other servers", "opendatasource": "use a connection to that source", "openquery": "use a connection to that server", "xp_cmdshell": "leave the call out: no statement runs programs",
	},
	Functions: foreignFunctions,
}
