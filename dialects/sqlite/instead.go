package sqlite

import (
	"github.com/ktxhq/ktx/dialects/internal/instead"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reword returns a finding with a message and a hint that say what to write instead on
// SQLite, when the statement has something that people know from other engines.
func (Dialect) Reword(sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	return wording.Word(sql, tokens, f)
}

const (
	listTables  = "SELECT name FROM sqlite_schema WHERE type = 'table'"
	listColumns = "PRAGMA table_info($1)"
)

var (
	aWrite     = []sqlguard.Code{sqlguard.CodeWriteStatement, sqlguard.CodeStatementNotAllowed}
	aSession   = []sqlguard.Code{sqlguard.CodeSessionChange, sqlguard.CodeTransactionControl, sqlguard.CodeExternalRelation}
	aDDL       = []sqlguard.Code{sqlguard.CodeDDLStatement}
	anExternal = []sqlguard.Code{sqlguard.CodeExternalRelation}
	aPragma    = []sqlguard.Code{sqlguard.CodePragmaNotAllowed}
	aCall      = []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeFunctionNotAllowed}
)

// wording is what SQLite has instead of the SQL of other engines (sqlite.org/lang.html).
var wording = instead.Table{
	Product: "SQLite",
	Tables:  listTables,
	Columns: listColumns,
	Quote:   func(name string) string { return `"` + name + `"` },
	Rules: []instead.Rule{
		{Pattern: "^ show create table @", Says: "SHOW CREATE TABLE is MySQL", Write: "write SELECT name, type FROM pragma_table_xinfo('$1')"},
		{Pattern: "^ show columns|fields from|in @", Says: "SHOW COLUMNS is MySQL", Write: "write " + listColumns},
		{Pattern: "^ show full columns|fields from|in @", Says: "SHOW COLUMNS is MySQL", Write: "write " + listColumns},
		{Pattern: "^ show index|indexes|keys from|in @", Says: "SHOW INDEX is MySQL", Write: "write PRAGMA index_list($1)"},
		{Pattern: "^ show server_version|version", Says: "SHOW is not SQLite", Write: "write SELECT sqlite_version()"},
		{Pattern: "^ show", Says: "SHOW is not SQLite", Write: "for the tables write " + listTables},
		{Pattern: "^ describe|desc @", Says: "DESCRIBE is not SQLite", Write: "write PRAGMA table_info($1)"},
		{Pattern: "^ exec|execute|call", Says: "SQLite has no procedures", Write: "for the tables write " + listTables},
		{Pattern: "^ use @", Says: "USE is not SQLite: a connection is one file", Write: "leave it out"},
		{Pattern: "^ set", Says: "SET is not SQLite", Write: "leave it out, and write the value into the query"},
		{Pattern: "^ declare", Says: "SQLite has no variables", Write: "write the value into the query, or name it in WITH, as in WITH p AS (SELECT 7 AS n) SELECT p.n FROM p"},
		{Pattern: "^ explain analyze", Says: "EXPLAIN ANALYZE is not SQLite", Write: "write EXPLAIN QUERY PLAN SELECT …"},
		{Pattern: "^ explain ( … )", Says: "EXPLAIN with options is PostgreSQL", Write: "write EXPLAIN QUERY PLAN SELECT …"},
		{Pattern: "^ copy", Says: "COPY is PostgreSQL", Write: "write SELECT: the rows are returned to you"},
		{Pattern: "^ truncate", Says: "TRUNCATE is not SQLite, and removes rows", Write: "this connection only reads: leave the statement out"},
		{Pattern: "^ grant|revoke", Says: "SQLite has no rights", Write: "leave the statement out"},
		{Pattern: "^ merge into", Says: "MERGE is not SQLite, and changes rows", Write: "this connection only reads: leave the statement out"},

		{Pattern: "information_schema . columns", Codes: anExternal, Says: "SQLite has no information_schema", Write: "write SELECT name, type FROM pragma_table_info('orders') with the name of the table", Keep: true},
		{Pattern: "information_schema . tables|views", Codes: anExternal, Says: "SQLite has no information_schema", Write: "write " + listTables, Keep: true},
		{Pattern: "information_schema|pg_catalog . @", Codes: anExternal, Says: "SQLite has no information_schema and no pg_catalog", Write: "for the tables write " + listTables + ", for the columns of one PRAGMA table_info(name)", Keep: true},
		{Pattern: "sys . @", Codes: anExternal, Says: "schema sys is SQL Server", Write: "for the tables write " + listTables + ", for the columns of one PRAGMA table_info(name)", Keep: true},
		{Pattern: "@@ <parameter>", Says: "@@name is MySQL and SQL Server", Write: "leave it out; SELECT sqlite_version() is the version"},
		{Pattern: "within group (", Says: "WITHIN GROUP is not SQLite", Write: "number the rows with row_number() OVER (ORDER BY x), and read the one in the middle"},
		{Pattern: "( values … ) as @ (", Says: "names of columns after an alias are not SQLite", Write: "write WITH $1 (a, b) AS (VALUES (1, 2)) SELECT a FROM $1"},

		{Pattern: "select top #", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "select top ( # )", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "fetch first|next # row|rows", Says: "FETCH FIRST is not SQLite", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "offset # row|rows", Says: "OFFSET … ROWS is SQL Server", Write: "write LIMIT 10 OFFSET $1"},
		{Pattern: "offset # limit #", Says: "LIMIT stands before OFFSET", Write: "write LIMIT $2 OFFSET $1"},
		{Pattern: "limit all", Says: "LIMIT ALL is PostgreSQL", Write: "leave LIMIT out"},
		{Pattern: "qualify", Says: "QUALIFY is not SQLite", Write: "filter in an outer query: SELECT * FROM (SELECT …, row_number() OVER (…) AS n FROM …) AS t WHERE n = 1"},
		{Pattern: "distinct on (", Says: "DISTINCT ON is PostgreSQL", Write: "number the rows: SELECT * FROM (SELECT …, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM …) AS t WHERE n = 1"},
		{Pattern: "ilike", Says: "ILIKE is PostgreSQL", Write: "write LIKE, which ignores the case of ASCII letters"},
		{Pattern: "similar to", Says: "SIMILAR TO is PostgreSQL", Write: "write x GLOB '*part*' or x LIKE '%part%'"},
		{Pattern: "rlike '", Says: "RLIKE is MySQL", Write: "write x GLOB '*part*' or x LIKE '%part%'"},
		{Pattern: "~|~*|!~ '", Says: "~ with a pattern is PostgreSQL", Write: "write x GLOB '*part*' or x LIKE '%part%'"},
		{Pattern: "~ * '", Says: "~* is PostgreSQL", Write: "write x LIKE '%part%'"},
		{Pattern: "::", Says: "x::type is PostgreSQL", Write: "write CAST(x AS type), as in CAST(x AS INTEGER)"},
		{Pattern: ": <parameter>", Says: "x::type is PostgreSQL", Write: "write CAST(x AS type), as in CAST(x AS INTEGER)"},
		{Pattern: ": :", Says: "x::type is PostgreSQL", Write: "write CAST(x AS type), as in CAST(x AS INTEGER)"},
		{Pattern: "interval '", Says: "SQLite has no INTERVAL", Write: "write a modifier, as in date(x, '-7 days') or datetime('now', '-1 hour')"},
		{Pattern: "interval #", Says: "SQLite has no INTERVAL", Write: "write a modifier, as in date(x, '-7 days') or datetime('now', '-1 hour')"},
		{Pattern: "extract ( month from", Says: "EXTRACT is not SQLite", Write: "write CAST(strftime('%m', x) AS INTEGER)"},
		{Pattern: "extract ( day from", Says: "EXTRACT is not SQLite", Write: "write CAST(strftime('%d', x) AS INTEGER)"},
		{Pattern: "extract ( epoch from", Says: "EXTRACT is not SQLite", Write: "write unixepoch(x)"},
		{Pattern: "extract ( @ from", Says: "EXTRACT is not SQLite", Write: "write CAST(strftime('%Y', x) AS INTEGER)"},
		{Pattern: "position ( _ in", Codes: aCall, Says: "POSITION … IN is not SQLite", Write: "write instr(x, 'part')"},
		{Pattern: "substring ( … from #", Says: "SUBSTRING … FROM is not SQLite", Write: "write substr(x, 1, 3)"},
		{Pattern: "trim ( both|leading|trailing", Says: "TRIM (BOTH …) is not SQLite", Write: "write trim(x, ' '), ltrim(x, ' ') or rtrim(x, ' ')"},
		{Pattern: "overlay ( … placing", Says: "OVERLAY is not SQLite", Write: "write substr(x, 1, 2) || 'new' || substr(x, 5)"},
		{Pattern: "left (", Codes: aCall, Says: "SQLite has no function LEFT", Write: "write substr(x, 1, 3)"},
		{Pattern: "right (", Codes: aCall, Says: "SQLite has no function RIGHT", Write: "write substr(x, -3)"},
		{Pattern: "isnull (", Codes: aCall, Says: "ISNULL (x, y) is SQL Server", Write: "write ifnull(x, y)"},
		{Pattern: "convert ( … using", Says: "CONVERT … USING is MySQL", Write: "leave it out: text is UTF-8 here"},
		{Pattern: "try_cast|safe_cast (", Codes: aCall, Says: "TRY_CAST is not SQLite", Write: "write CAST(x AS type), which returns 0 for a text without a number"},
		{Pattern: "date '", Says: "DATE '…' is not SQLite", Write: "write the string alone, as in '2026-01-31', and compare it with date(x)"},
		{Pattern: "timestamp '", Says: "TIMESTAMP '…' is not SQLite", Write: "write the string alone, as in '2026-01-31 12:00:00'"},
		{Pattern: "at time zone", Says: "AT TIME ZONE is PostgreSQL", Write: "write datetime(x, 'localtime') or datetime(x, '+2 hours')"},
		{Pattern: "array [", Says: "SQLite has no arrays", Write: "write json_array(1, 2), or x IN (1, 2)"},
		{Pattern: "any|all|some ( select", Says: "ANY and ALL are not SQLite", Write: "write x IN (SELECT …), or compare with a sub-query of max() or min()"},
		{Pattern: "any|all|some ( array", Says: "SQLite has no arrays", Write: "write x IN (1, 2)"},
		{Pattern: "join lateral", Says: "LATERAL is PostgreSQL", Write: "write a sub-query in SELECT, or join with a sub-query that has its own GROUP BY"},
		{Pattern: "lateral (", Says: "LATERAL is PostgreSQL", Write: "write a sub-query in SELECT, or join with a sub-query that has its own GROUP BY"},
		{Pattern: "cross|outer apply", Says: "APPLY is SQL Server", Write: "write a sub-query in SELECT, or join with a sub-query that has its own GROUP BY"},
		{Pattern: "with ( nolock|readuncommitted )", Says: "hints of tables are SQL Server", Write: "leave WITH (…) out: a read waits for no writer here"},
		{Pattern: "( nolock )", Says: "hints of tables are SQL Server", Write: "leave (NOLOCK) out: a read waits for no writer here"},
		{Pattern: "use|force|ignore index (", Says: "hints on indexes are MySQL", Write: "leave the hint out: the planner chooses the index"},
		{Pattern: "straight_join", Says: "STRAIGHT_JOIN is MySQL", Write: "write JOIN"},
		{Pattern: "minus select", Says: "MINUS is Oracle", Write: "write EXCEPT"},
		{Pattern: "group by all", Says: "GROUP BY ALL is not SQLite", Write: "name the columns or their positions, as in GROUP BY 1, 2"},
		{Pattern: "by rollup|cube (", Codes: aCall, Says: "ROLLUP is not SQLite", Write: "write one SELECT for each level of the totals and UNION ALL"},
		{Pattern: "with rollup", Says: "ROLLUP is not SQLite", Write: "write one SELECT for each level of the totals and UNION ALL"},
		{Pattern: "grouping sets (", Says: "GROUPING SETS is not SQLite", Write: "write one SELECT for each set and UNION ALL"},
		{Pattern: "* except|exclude|replace (", Says: "* EXCEPT is not SQLite", Write: "name the columns that you need"},
		{Pattern: "pivot|unpivot (", Says: "PIVOT is not SQLite", Write: "write one aggregate for each column: count(*) FILTER (WHERE status = 'paid') AS paid"},
		{Pattern: "separator '", Says: "GROUP_CONCAT with SEPARATOR is MySQL", Write: "write group_concat(x, ', ')"},
		{Pattern: "match ( … ) against", Says: "MATCH … AGAINST is MySQL", Write: "write x LIKE '%part%'"},
		{Pattern: "@ div @", Says: "DIV is MySQL", Write: "write /, which drops the remainder of integers"},
		{Pattern: "@ div #", Says: "DIV is MySQL", Write: "write /, which drops the remainder of integers"},
		{Pattern: "{ { … } }", Says: "{{ … }} is a template that nobody has filled in", Write: "write the name or the value that it stands for"},
		{Pattern: "$ {", Says: "${…} is a variable that nobody has filled in", Write: "write the value as a literal"},
		{Pattern: "=|<|>|(|,|like|limit % s", Says: "%s is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "for update|share", Says: "SQLite has no FOR UPDATE", Write: "leave it out: every query reads one consistent state without locks"},
		{Pattern: "into @ from", Says: "SELECT INTO is not SQLite", Write: "leave INTO out: the rows are returned to you"},
		{Pattern: "extract (", Says: "EXTRACT is not SQLite", Write: "write CAST(strftime('%Y', x) AS INTEGER)"},

		{Pattern: "^ analyze", Codes: aWrite, Says: "ANALYZE writes statistics into the database", Write: "leave it out; for the plan of a query write EXPLAIN QUERY PLAN SELECT …", Keep: true},
		{Pattern: "^ vacuum|reindex", Codes: aWrite, Write: "leave it out: the file stays as it is", Keep: true},
		{Pattern: "^ create table|temp|temporary|view|virtual … select", Codes: aDDL, Write: "put the query into WITH, as in WITH t AS (SELECT …) SELECT * FROM t", Keep: true},
		{Pattern: "^ create index|unique", Codes: aDDL, Write: "leave it out; EXPLAIN QUERY PLAN SELECT … shows which indexes a query uses", Keep: true},
		{Pattern: "^ insert|replace into @", Codes: aWrite, Write: "this connection only reads: with VALUES or SELECT alone you see the rows, and a person inserts them", Keep: true},
		{Pattern: "^ update @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ delete from @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ attach|detach", Codes: append(aSession, append(aWrite, sqlguard.CodeFunctionFileAccess)...), Write: "leave it out: a connection reads its own file; another file needs a connection of its own", Keep: true},
		{Pattern: "^ begin|commit|rollback|savepoint", Codes: aSession, Write: "send the query alone: every call runs in its own read-only transaction", Keep: true},
		{Pattern: "^ pragma @ =", Codes: aPragma, Write: "leave it out: no PRAGMA changes a setting; PRAGMA table_info(name) and other reading forms are listed", Keep: true},
		{Pattern: "^ pragma database_list", Codes: aPragma, Write: "leave it out; for the tables write " + listTables, Keep: true},
	},
	Relations: map[string]string{
		"sqlite_stat1": "read the table itself, as in SELECT count(*) FROM orders", "sqlite_stat4": "read the table itself, as in SELECT count(*) FROM orders",
		"sqlite_sequence": "read the greatest key, as in SELECT max(id) FROM orders", "dbstat": "leave it out; PRAGMA table_list names the tables",
		"sqlite_dbpage": "leave it out; read the tables by their names",
	},
	Refused: map[string]string{
		"load_extension": "leave the call out: the session has the functions of the engine only", "readfile": "leave the call out: no statement reads files; read a table",
		"writefile": "leave the call out: the rows are returned to you", "eval": "write the inner query itself",
	},
	Functions: map[string]string{
		"nvl": "ifnull(x, y)", "nvl2": "iif(x IS NOT NULL, y, z)", "zeroifnull": "ifnull(x, 0)", "decode": "CASE x WHEN a THEN b ELSE c END", "greatest": "max(x, y)", "least": "min(x, y)",
		"now": "datetime('now')", "getdate": "datetime('now')", "sysdate": "datetime('now')", "sysdatetime": "datetime('now')", "current_datetime": "datetime('now')", "getutcdate": "datetime('now')", "utc_timestamp": "datetime('now')", "curdate": "date('now')", "today": "date('now')", "curtime": "time('now')",
		"year": "CAST(strftime('%Y', x) AS INTEGER)", "month": "CAST(strftime('%m', x) AS INTEGER)", "day": "CAST(strftime('%d', x) AS INTEGER)", "dayofmonth": "CAST(strftime('%d', x) AS INTEGER)", "hour": "CAST(strftime('%H', x) AS INTEGER)", "minute": "CAST(strftime('%M', x) AS INTEGER)",
		"second": "CAST(strftime('%S', x) AS INTEGER)", "week": "CAST(strftime('%W', x) AS INTEGER)", "weekofyear": "CAST(strftime('%W', x) AS INTEGER)", "dayofweek": "CAST(strftime('%w', x) AS INTEGER)", "weekday": "CAST(strftime('%w', x) AS INTEGER)", "dayofyear": "CAST(strftime('%j', x) AS INTEGER)",
		"quarter": "(CAST(strftime('%m', x) AS INTEGER) + 2) / 3", "monthname": "strftime('%m', x)", "dayname": "strftime('%w', x)", "date_part": "CAST(strftime('%Y', x) AS INTEGER)", "datepart": "CAST(strftime('%Y', x) AS INTEGER)", "datename": "strftime('%m', x)", "extract": "CAST(strftime('%Y', x) AS INTEGER)",
		"date_trunc": "date(x, 'start of month')", "datetrunc": "date(x, 'start of month')", "date_format": "strftime('%Y-%m-%d', x)", "to_char": "strftime('%Y-%m-%d', x)", "format_date": "strftime('%Y-%m-%d', x)", "to_date": "date(x)", "str_to_date": "date(x)", "to_timestamp": "datetime(x, 'unixepoch')",
		"from_unixtime": "datetime(x, 'unixepoch')", "unix_timestamp": "unixepoch(x)", "datediff": "julianday(x) - julianday(y)", "date_diff": "julianday(x) - julianday(y)", "timestampdiff": "unixepoch(y) - unixepoch(x)", "age": "julianday(x) - julianday(y)", "dateadd": "date(x, '+1 day')", "date_add": "date(x, '+1 day')",
		"date_sub": "date(x, '-1 day')", "adddate": "date(x, '+1 day')", "subdate": "date(x, '-1 day')", "add_months": "date(x, '+1 month')", "last_day": "date(x, 'start of month', '+1 month', '-1 day')", "eomonth": "date(x, 'start of month', '+1 month', '-1 day')", "make_date": "'2026-01-31'", "convert_tz": "datetime(x, '+2 hours')",
		"len": "length(x)", "char_length": "length(x)", "character_length": "length(x)", "datalength": "octet_length(x)", "charindex": "instr(x, 'part')", "strpos": "instr(x, 'part')", "locate": "instr(x, 'part')", "position": "instr(x, 'part')", "ucase": "upper(x)", "lcase": "lower(x)", "mid": "substr(x, 1, 3)", "btrim": "trim(x)",
		"left": "substr(x, 1, 3)", "right": "substr(x, -3)", "lpad": "printf('%05d', x)", "rpad": "printf('%-10s', x)", "repeat": "replace(hex(zeroblob(3)), '00', 'x')", "replicate": "replace(hex(zeroblob(3)), '00', 'x')", "space": "printf('%3s', '')", "chr": "char(65)", "nchar": "char(65)", "ascii": "unicode(x)", "ord": "unicode(x)",
		"initcap": "upper(substr(x, 1, 1)) || lower(substr(x, 2))", "split_part": "substr(x, 1, instr(x, ',') - 1)", "substring_index": "substr(x, 1, instr(x, ',') - 1)", "starts_with": "x LIKE 'part%'", "contains": "instr(x, 'part') > 0", "translate": "replace(x, 'a', 'b')", "regexp_replace": "replace(x, 'a', 'b')",
		"regexp_like": "x GLOB '*part*'", "regexp_matches": "x GLOB '*part*'", "isnumeric": "x GLOB '[0-9]*'", "to_hex": "printf('%x', x)", "md5": "hex(x), or compare the texts themselves", "sha2": "hex(x), or compare the texts themselves",
		"listagg": "group_concat(x, ', ')", "array_agg": "json_group_array(x)", "json_agg": "json_group_array(x)", "json_arrayagg": "json_group_array(x)", "jsonb_agg": "json_group_array(x)", "json_object_agg": "json_group_object(k, v)", "json_build_object": "json_object('key', x)", "jsonb_build_object": "json_object('key', x)",
		"json_value": "json_extract(x, '$.key')", "json_query": "json_extract(x, '$.key')", "json_extract_path_text": "json_extract(x, '$.key')", "jsonb_array_elements": "json_each(x)", "json_array_elements": "json_each(x)", "unnest": "json_each(x)", "json_length": "json_array_length(x)", "jsonb_array_length": "json_array_length(x)", "json_unquote": "json_extract(x, '$.key')",
		"stddev": "sqrt(avg(x * x) - avg(x) * avg(x))", "stdev": "sqrt(avg(x * x) - avg(x) * avg(x))", "stddev_pop": "sqrt(avg(x * x) - avg(x) * avg(x))", "stddev_samp": "sqrt(avg(x * x) - avg(x) * avg(x))", "variance": "avg(x * x) - avg(x) * avg(x)", "var_pop": "avg(x * x) - avg(x) * avg(x)", "var_samp": "avg(x * x) - avg(x) * avg(x)",
		"bool_or": "max(x)", "bool_and": "min(x)", "every": "min(x)", "any_value": "max(x)", "countif": "count(*) FILTER (WHERE condition)", "sumif": "sum(x) FILTER (WHERE condition)", "approx_count_distinct": "count(DISTINCT x)",
		"rand": "random()", "gen_random_uuid": "lower(hex(randomblob(16)))", "uuid": "lower(hex(randomblob(16)))", "newid": "lower(hex(randomblob(16)))", "truncate": "trunc(x)", "square": "x * x", "cbrt": "pow(x, 1.0 / 3)", "safe_divide": "x / nullif(y, 0)", "to_number": "CAST(x AS REAL)", "convert": "CAST(x AS INTEGER)",
		"version": "sqlite_version()", "current_setting": "sqlite_version()", "database": listTables, "current_database": listTables, "pg_typeof": "typeof(x)",
	},
}
