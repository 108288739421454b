package mysql

import (
	"github.com/ktxhq/ktx/dialects/internal/instead"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reword returns a finding with a message and a hint that say what to write instead on
// MySQL and MariaDB, when the statement has something that people know from other
// servers.
func (d Dialect) Reword(sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	if d.product == productMariaDB {
		return wording.WordFor("MariaDB", sql, tokens, f)
	}
	return wording.Word(sql, tokens, f)
}

var (
	aStatement = []sqlguard.Code{sqlguard.CodeStatementNotAllowed, sqlguard.CodeParseError}
	aWrite     = []sqlguard.Code{sqlguard.CodeWriteStatement, sqlguard.CodeStatementNotAllowed}
	aSession   = []sqlguard.Code{sqlguard.CodeSessionChange, sqlguard.CodeTransactionControl}
	aDDL       = []sqlguard.Code{sqlguard.CodeDDLStatement}
	aRelation  = []sqlguard.Code{sqlguard.CodeRelationNotAllowed}
	aType      = []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeTypeNotAllowed}
)

// wording is what MySQL and MariaDB have instead of the SQL of other servers. What it
// names is in both (MySQL Reference Manual, chapter 14; MariaDB Knowledge Base).
var wording = instead.Table{
	Product: "MySQL",
	Tables:  "SHOW TABLES",
	Columns: "DESCRIBE $1",
	Quote:   func(name string) string { return "`" + name + "`" },
	Rules: []instead.Rule{
		{Pattern: "^ pragma table_info|table_xinfo ( @ )", Says: "PRAGMA is SQLite", Write: "write DESCRIBE $1"},
		{Pattern: "^ pragma", Says: "PRAGMA is SQLite", Write: "write SHOW TABLES"},
		{Pattern: "^ exec|execute|sp_help|sp_columns", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeDynamicSQL}, Says: "EXEC runs a procedure or a prepared statement, and this connection only reads", Write: "for the tables write SHOW TABLES, for the columns of one DESCRIBE name", Keep: true},
		{Pattern: "^ vacuum", Says: "VACUUM is PostgreSQL, and rewrites tables", Write: "leave it out"},
		{Pattern: "^ explain ( …  )", Says: "EXPLAIN with options in brackets is PostgreSQL", Write: "write EXPLAIN SELECT … or EXPLAIN FORMAT=JSON SELECT …"},
		{Pattern: "^ explain query plan", Says: "EXPLAIN QUERY PLAN is SQLite", Write: "write EXPLAIN SELECT …"},
		{Pattern: "^ merge into", Codes: []sqlguard.Code{sqlguard.CodeSelectInto, sqlguard.CodeParseError}, Says: "MERGE is not $product, and changes rows", Write: "this connection only reads: leave the statement out"},
		{Pattern: "^ copy", Says: "COPY is PostgreSQL", Write: "write SELECT: the rows are returned to you"},

		{Pattern: "^ show server_version", Codes: aStatement, Says: "SHOW server_version is PostgreSQL", Write: "write SELECT VERSION()"},
		{Pattern: "^ show search_path", Codes: aStatement, Says: "SHOW search_path is PostgreSQL", Write: "write SELECT DATABASE()"},
		{Pattern: "^ show timezone|time", Codes: aStatement, Says: "SHOW timezone is PostgreSQL", Write: "write SELECT @@time_zone"},
		{Pattern: "sys . tables|views|objects|schemas|databases", Codes: aRelation, Says: "views of this name in sys are SQL Server", Write: "write SHOW TABLES", Keep: true},
		{Pattern: "sys . columns", Codes: aRelation, Says: "views of this name in sys are SQL Server", Write: "write SHOW COLUMNS FROM orders", Keep: true},
		{Pattern: "datetime ( '", Says: "DATETIME (…) is SQLite", Write: "write NOW(), or CAST(x AS DATETIME)"},
		{Pattern: "from|join|, generate_series (", Says: "$product has no function generate_series", Write: "write WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 10) SELECT n FROM s"},

		{Pattern: "full outer|join", Says: "FULL JOIN is not $product", Write: "write SELECT … FROM a LEFT JOIN b ON … UNION SELECT … FROM a RIGHT JOIN b ON …"},
		{Pattern: "filter ( where", Says: "FILTER (WHERE …) is not $product", Write: "put the condition into the aggregate: COUNT(CASE WHEN status = 'paid' THEN 1 END)"},
		{Pattern: "ilike", Codes: aStatement, Says: "ILIKE is PostgreSQL", Write: "write LIKE, which ignores case under the usual collations, or LOWER(x) LIKE 'part%'"},
		{Pattern: "select top #", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "select top ( # )", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "qualify", Says: "QUALIFY is not $product", Write: "filter in an outer query: SELECT * FROM (SELECT …, ROW_NUMBER() OVER (…) AS n FROM …) AS t WHERE n = 1"},
		{Pattern: ":: int|integer|bigint|smallint", Says: "x::type is PostgreSQL", Write: "write CAST(x AS SIGNED)"},
		{Pattern: ":: text|varchar|char|uuid|json|jsonb", Says: "x::type is PostgreSQL", Write: "write CAST(x AS CHAR)"},
		{Pattern: ":: numeric|decimal|float|float8|double|real", Says: "x::type is PostgreSQL", Write: "write CAST(x AS DECIMAL(20, 6))"},
		{Pattern: ":: date|timestamp|timestamptz", Says: "x::type is PostgreSQL", Write: "write CAST(x AS DATE) or CAST(x AS DATETIME)"},
		{Pattern: "::", Says: "x::type is PostgreSQL", Write: "write CAST(x AS CHAR), with SIGNED, DECIMAL(20, 6), DATE or DATETIME for other types"},
		{Pattern: ": : int|integer|bigint|smallint", Says: "x::type is PostgreSQL", Write: "write CAST(x AS SIGNED)"},
		{Pattern: ": : date|timestamp|timestamptz", Says: "x::type is PostgreSQL", Write: "write CAST(x AS DATE) or CAST(x AS DATETIME)"},
		{Pattern: ": :", Says: "x::type is PostgreSQL", Write: "write CAST(x AS CHAR), with SIGNED, DECIMAL(20, 6), DATE or DATETIME for other types"},
		{Pattern: "distinct on (", Says: "DISTINCT ON is PostgreSQL", Write: "number the rows: SELECT * FROM (SELECT …, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM …) AS t WHERE n = 1"},
		{Pattern: "fetch first|next # row|rows", Says: "FETCH FIRST is not $product", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "offset # row|rows", Says: "OFFSET … ROWS is SQL Server", Write: "write LIMIT 10 OFFSET $1"},
		{Pattern: "offset # limit #", Says: "LIMIT stands before OFFSET", Write: "write LIMIT $2 OFFSET $1"},
		{Pattern: "offset #", Says: "OFFSET stands behind LIMIT", Write: "write LIMIT 1000 OFFSET $1"},
		{Pattern: "limit all", Says: "LIMIT ALL is PostgreSQL", Write: "leave LIMIT out"},
		{Pattern: "tablesample", Codes: aStatement, Write: "write ORDER BY RAND() LIMIT 100", Keep: true},
		{Pattern: "nulls first", Says: "NULLS FIRST is not $product", Write: "write ORDER BY x IS NULL DESC, x"},
		{Pattern: "nulls last", Says: "NULLS LAST is not $product", Write: "write ORDER BY x IS NULL, x"},
		{Pattern: "interval '", Says: "INTERVAL with a string is PostgreSQL", Write: "write INTERVAL 7 DAY, as in NOW() - INTERVAL 7 DAY"},
		{Pattern: "similar to", Says: "SIMILAR TO is PostgreSQL", Write: "write x REGEXP 'pattern'"},
		{Pattern: "~|~*|!~ '", Says: "~ with a pattern is PostgreSQL", Write: "write x REGEXP 'pattern'"},
		{Pattern: "~ * '", Says: "~* is PostgreSQL", Write: "write x REGEXP 'pattern'"},
		{Pattern: "cross|outer apply", Says: "APPLY is SQL Server", Write: "join with a sub-query that has its own GROUP BY"},
		{Pattern: "with ( nolock|readuncommitted )", Says: "hints of tables are SQL Server", Write: "leave WITH (…) out: a read waits for no writer here"},
		{Pattern: "( nolock )", Says: "hints of tables are SQL Server", Write: "leave (NOLOCK) out: a read waits for no writer here"},
		{Pattern: "select|from|join|,|.|by|where|and [ @ ]", Says: "[ and ] quote names in SQL Server", Write: "write `$1`, or the name without quotes"},
		{Pattern: "array [", Says: "$product has no arrays", Write: "write JSON_ARRAY(1, 2), or x IN (1, 2)"},
		{Pattern: "any|all ( array", Says: "$product has no arrays", Write: "write x IN (1, 2)"},
		{Pattern: "minus select", Says: "MINUS is Oracle", Write: "write EXCEPT"},
		{Pattern: "as varchar|text|string|nvarchar", Codes: aType, Says: "CAST has other names of types in $product", Write: "write CAST(x AS CHAR)"},
		{Pattern: "as int|integer|bigint|smallint", Codes: aType, Says: "CAST has other names of types in $product", Write: "write CAST(x AS SIGNED)"},
		{Pattern: "as timestamp|timestamptz )", Codes: aType, Says: "CAST has other names of types in $product", Write: "write CAST(x AS DATETIME)"},
		{Pattern: "as numeric|number )", Codes: aType, Says: "CAST has other names of types in $product", Write: "write CAST(x AS DECIMAL(20, 6))"},
		{Pattern: "as boolean|bool )", Codes: aType, Says: "$product has no type BOOLEAN in CAST", Write: "write x <> 0"},
		{Pattern: "convert ( varchar|nvarchar|int|integer|datetime|date ,", Says: "CONVERT (type, x) is SQL Server", Write: "write CAST(x AS CHAR), with SIGNED, DATE or DATETIME for other types"},
		{Pattern: "try_cast|safe_cast ( ", Says: "TRY_CAST is not $product", Write: "write CAST(x AS CHAR)"},
		{Pattern: "as materialized (", Says: "MATERIALIZED is PostgreSQL", Write: "write WITH t AS (SELECT …)"},
		{Pattern: "as not materialized (", Says: "MATERIALIZED is PostgreSQL", Write: "write WITH t AS (SELECT …)"},
		{Pattern: "group by all", Says: "GROUP BY ALL is not $product", Write: "name the columns or their positions, as in GROUP BY 1, 2"},
		{Pattern: "by rollup|cube (", Says: "ROLLUP (…) is not $product", Write: "write GROUP BY a, b WITH ROLLUP"},
		{Pattern: "grouping sets (", Says: "GROUPING SETS is not $product", Write: "write GROUP BY a, b WITH ROLLUP, or one SELECT for each set and UNION ALL"},
		{Pattern: "* except|exclude|replace (", Says: "* EXCEPT is not $product", Write: "name the columns that you need"},
		{Pattern: "pivot|unpivot (", Says: "PIVOT is not $product", Write: "write one aggregate for each column: SUM(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) AS paid"},
		{Pattern: "extract ( epoch from", Says: "EXTRACT has no EPOCH in $product", Write: "write UNIX_TIMESTAMP(x)"},
		{Pattern: "extract ( dow|isodow from", Says: "EXTRACT has no DOW in $product", Write: "write DAYOFWEEK(x)"},
		{Pattern: "extract ( doy from", Says: "EXTRACT has no DOY in $product", Write: "write DAYOFYEAR(x)"},
		{Pattern: "at time zone", Says: "AT TIME ZONE is PostgreSQL", Write: "write CONVERT_TZ(x, '+00:00', '+02:00')"},
		{Pattern: "is distinct from", Says: "IS DISTINCT FROM is not $product", Write: "write NOT (x <=> y)"},
		{Pattern: "is not distinct from", Says: "IS NOT DISTINCT FROM is not $product", Write: "write x <=> y"},
		{Pattern: "within group (", Says: "WITHIN GROUP is not $product", Write: "number the rows with ROW_NUMBER() OVER (ORDER BY x), and read the one in the middle"},
		{Pattern: "glob '", Says: "GLOB is SQLite", Write: "write LIKE with % and _, or REGEXP"},
		{Pattern: "==", Says: "== is no operator of $product", Write: "write =", Keep: true},
		{Pattern: "= = ", Says: "== is no operator of $product", Write: "write =", Keep: true},
		{Pattern: "{ { … } }", Says: "{{ … }} is a template that nobody has filled in", Write: "write the name or the value that it stands for"},
		{Pattern: "$ {", Says: "${…} is a variable that nobody has filled in", Write: "write the value as a literal"},
		{Pattern: "=|<|>|<=|>=|<>|!=|in|(|,|like|limit|and|between : @", Says: ":$1 is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|(|,|like|limit % s", Says: "%s is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},

		{Pattern: "^ analyze table", Codes: aWrite, Says: "ANALYZE TABLE writes statistics", Write: "leave it out; for the plan of a query write EXPLAIN SELECT …", Keep: true},
		{Pattern: "^ analyze", Codes: aWrite, Says: "ANALYZE writes statistics of tables", Write: "leave it out; for the plan of a query write EXPLAIN SELECT …", Keep: true},
		{Pattern: "^ optimize|repair|check|checksum", Codes: aWrite, Write: "leave it out; SHOW TABLE STATUS shows sizes and numbers of rows", Keep: true},
		{Pattern: "^ create temporary|table|view|or … select", Codes: aDDL, Write: "put the query into WITH, as in WITH t AS (SELECT …) SELECT * FROM t", Keep: true},
		{Pattern: "^ create index|unique|fulltext", Codes: aDDL, Write: "leave it out: an index is the operator's; EXPLAIN SELECT … shows what a query uses", Keep: true},
		{Pattern: "^ insert|replace into @", Codes: aWrite, Write: "this connection only reads: with SELECT alone you see the rows, and a person inserts them", Keep: true},
		{Pattern: "^ update @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ delete from @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ load data", Codes: aWrite, Write: "this connection only reads: select from a table that has the data", Keep: true},
		{Pattern: "^ use @", Codes: aSession, Write: "leave it out, and write the database with the table, as in $1.name", Keep: true},
		{Pattern: "^ set names|character", Codes: aSession, Write: "leave it out: the session already reads and writes UTF-8", Keep: true},
		{Pattern: "^ set", Codes: aSession, Write: "leave it out: every call begins with the settings of the connection; a value can stand in the query itself", Keep: true},
		{Pattern: "^ begin|start", Codes: aSession, Write: "send the query alone: every call runs in its own read-only transaction", Keep: true},
		{Pattern: "^ show processlist", Codes: aStatement, Says: "SHOW PROCESSLIST shows the statements of other sessions", Write: "leave it out; SELECT CONNECTION_ID() is your own session", Keep: true},
		{Pattern: "^ show full processlist", Codes: aStatement, Says: "SHOW PROCESSLIST shows the statements of other sessions", Write: "leave it out; SELECT CONNECTION_ID() is your own session", Keep: true},
		{Pattern: "^ show grants", Codes: aStatement, Says: "SHOW GRANTS shows rights of accounts", Write: "leave it out; SELECT CURRENT_USER() names your own account", Keep: true},
		{Pattern: "^ show status", Codes: append(aStatement, sqlguard.CodeSettingNotAllowed), Write: "name one counter, as in SHOW STATUS LIKE 'Uptime'", Keep: true},
		{Pattern: "^ show global|session status", Codes: append(aStatement, sqlguard.CodeSettingNotAllowed), Write: "name one counter, as in SHOW GLOBAL STATUS LIKE 'Uptime'", Keep: true},
		{Pattern: "^ show variables|global|session", Codes: append(aStatement, sqlguard.CodeSettingNotAllowed), Write: "read one setting by its name, as in SELECT @@version", Keep: true},
		{Pattern: "^ show create view|function|procedure|trigger|event", Codes: aStatement, Write: "leave it out; SHOW COLUMNS FROM name shows the columns of a view", Keep: true},
		{Pattern: "^ show engine|master|slave|replica|binary", Codes: aStatement, Write: "leave it out: only the operator administers the server", Keep: true},
		{Pattern: "^ show @", Codes: aStatement, Write: "for one setting write SELECT @@version with its name, for the tables SHOW TABLES", Keep: true},
		{Pattern: "^ kill|flush|reset|shutdown|purge|change|install|uninstall|cache|binlog|stop|restart|clone", Codes: aStatement, Write: "leave the statement out: only the operator administers the server", Keep: true},
		{Pattern: "^ do", Codes: []sqlguard.Code{sqlguard.CodeProcedureCall}, Says: "DO runs expressions and returns nothing", Write: "write SELECT before an expression that you want to see", Keep: true},
		{Pattern: "for update|share", Codes: []sqlguard.Code{sqlguard.CodeLockingClause}, Write: "leave FOR UPDATE or FOR SHARE out: every query reads one consistent state without locks", Keep: true},
		{Pattern: "lock in share mode", Codes: []sqlguard.Code{sqlguard.CodeLockingClause}, Write: "leave LOCK IN SHARE MODE out: every query reads one consistent state without locks", Keep: true},
		{Pattern: "into outfile|dumpfile", Codes: []sqlguard.Code{sqlguard.CodeSelectInto}, Write: "leave INTO out: the rows are returned to you", Keep: true},
	},
	Relations: map[string]string{
		"user": "leave it out; SELECT CURRENT_USER() names your own account", "db": "leave it out; SELECT CURRENT_USER() names your own account",
		"processlist":      "leave it out; SELECT CONNECTION_ID() is your own session",
		"global_variables": "read one setting by its name, as in SELECT @@version", "session_variables": "read one setting by its name, as in SELECT @@version",
	},
	Refused: map[string]string{
		"sleep": "leave the call out: no statement waits", "benchmark": "leave the call out; EXPLAIN SELECT … shows the plan of a query",
		"get_lock": "leave the call out: a query takes no locks", "release_lock": "leave the call out: a query takes no locks",
		"load_file": "leave the call out: no statement reads files; read a table", "last_insert_id": "read the greatest key, as in SELECT MAX(id) FROM orders",
		"nextval": "read the greatest key, as in SELECT MAX(id) FROM orders", "kdf": "leave the call out: no statement makes keys of passwords",
	},
	Functions: map[string]string{
		"current_setting": "@@version", "sqlite_version": "VERSION()",
		"nvl": "IFNULL(x, y)", "nvl2": "IF(x IS NOT NULL, y, z)", "iif": "IF(condition, x, y)", "decode": "CASE x WHEN a THEN b ELSE c END", "zeroifnull": "IFNULL(x, 0)",
		"len": "CHAR_LENGTH(x)", "datalength": "OCTET_LENGTH(x)", "charindex": "LOCATE('part', x)", "strpos": "LOCATE('part', x)", "btrim": "TRIM(x)", "chr": "CHAR(65)", "nchar": "CHAR(65)", "replicate": "REPEAT(x, 3)",
		"split_part": "SUBSTRING_INDEX(x, ',', 1)", "initcap": "CONCAT(UPPER(LEFT(x, 1)), LOWER(SUBSTRING(x, 2)))", "stuff": "INSERT(x, 1, 2, 'new')", "string_to_array": "SUBSTRING_INDEX(x, ',', 1)", "printf": "CONCAT(x, y)", "translate": "REPLACE(x, 'a', 'b')",
		"starts_with": "x LIKE 'part%'", "contains": "x LIKE '%part%'", "isnumeric": "x REGEXP '^[0-9.]+$'",
		"string_agg": "GROUP_CONCAT(x SEPARATOR ', ')", "listagg": "GROUP_CONCAT(x SEPARATOR ', ')", "array_agg": "JSON_ARRAYAGG(x)", "json_agg": "JSON_ARRAYAGG(x)", "jsonb_agg": "JSON_ARRAYAGG(x)", "json_group_array": "JSON_ARRAYAGG(x)", "collect_list": "JSON_ARRAYAGG(x)",
		"json_object_agg": "JSON_OBJECTAGG(k, v)", "jsonb_object_agg": "JSON_OBJECTAGG(k, v)", "json_build_object": "JSON_OBJECT('key', x)", "jsonb_build_object": "JSON_OBJECT('key', x)", "json_extract_path_text": "JSON_UNQUOTE(JSON_EXTRACT(x, '$.key'))",
		"array_length": "JSON_LENGTH(x)", "jsonb_array_length": "JSON_LENGTH(x)", "json_array_length": "JSON_LENGTH(x)",
		"to_char": "DATE_FORMAT(x, '%Y-%m-%d')", "to_date": "STR_TO_DATE(x, '%Y-%m-%d')", "to_timestamp": "FROM_UNIXTIME(x)", "to_number": "CAST(x AS DECIMAL(20, 6))", "date_trunc": "DATE_FORMAT(x, '%Y-%m-01') for the month", "datetrunc": "DATE_FORMAT(x, '%Y-%m-01') for the month",
		"date_part": "EXTRACT(YEAR FROM x)", "datepart": "EXTRACT(YEAR FROM x)", "datename": "MONTHNAME(x)", "dateadd": "DATE_ADD(x, INTERVAL 1 DAY)", "date_diff": "DATEDIFF(x, y)", "age": "TIMESTAMPDIFF(DAY, x, y)", "strftime": "DATE_FORMAT(x, '%Y-%m-%d')",
		"format_date": "DATE_FORMAT(x, '%Y-%m-%d')", "julianday": "TO_DAYS(x)", "datetime": "CAST(x AS DATETIME)", "unixepoch": "UNIX_TIMESTAMP(x)", "getdate": "NOW()", "sysdatetime": "NOW()", "getutcdate": "UTC_TIMESTAMP()", "clock_timestamp": "NOW(6)", "eomonth": "LAST_DAY(x)",
		"make_date": "STR_TO_DATE('2026-01-31', '%Y-%m-%d')", "datefromparts": "STR_TO_DATE('2026-01-31', '%Y-%m-%d')", "add_months": "DATE_ADD(x, INTERVAL 1 MONTH)",
		"random": "RAND()", "gen_random_uuid": "UUID()", "newid": "UUID()", "generate_series": "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 10) SELECT n FROM s", "unnest": "JSON_TABLE(x, '$[*]' COLUMNS (v VARCHAR(100) PATH '$')) AS t",
		"trunc": "TRUNCATE(x, 2)", "square": "POW(x, 2)", "cbrt": "POW(x, 1 / 3)", "median": "AVG(x), or number the rows with ROW_NUMBER() OVER (ORDER BY x)", "percentile_cont": "ROW_NUMBER() OVER (ORDER BY x), and read the row in the middle", "bool_or": "MAX(x)", "bool_and": "MIN(x)", "every": "MIN(x)",
		"stdev": "STDDEV_SAMP(x)", "stdevp": "STDDEV_POP(x)", "var": "VAR_SAMP(x)", "varp": "VAR_POP(x)", "total": "IFNULL(SUM(x), 0)", "countif": "COUNT(CASE WHEN condition THEN 1 END)", "sumif": "SUM(CASE WHEN condition THEN x END)", "approx_count_distinct": "COUNT(DISTINCT x)",
		"regexp_match": "REGEXP_SUBSTR(x, 'pattern')", "regexp_matches": "REGEXP_SUBSTR(x, 'pattern')", "regexp_extract": "REGEXP_SUBSTR(x, 'pattern')", "regexp_contains": "x REGEXP 'pattern'", "regexp_count": "REGEXP_SUBSTR(x, 'pattern')",
		"db_name": "DATABASE()", "current_database": "DATABASE()", "current_schema": "DATABASE()", "object_id": "SHOW TABLES LIKE 'name'", "safe_divide": "x / NULLIF(y, 0)", "concat_agg": "GROUP_CONCAT(x)",
		"encode": "HEX(x)", "unicode": "ORD(x)", "typeof": "DESCRIBE name", "pg_typeof": "DESCRIBE name", "to_json": "JSON_OBJECT('key', x)", "row_to_json": "JSON_OBJECT('key', x)",
	},
}
