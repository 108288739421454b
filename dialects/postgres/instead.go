package postgres

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/instead"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reword returns a finding with a message and a hint that say what to write instead on
// PostgreSQL, when the statement has something that people know from other servers.
func (Dialect) Reword(sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	return wording.Word(sql, tokens, f)
}

const (
	listTables  = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
	listColumns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '$1'"
	listIndexes = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = '$1'"
)

var (
	aSetting = []sqlguard.Code{sqlguard.CodeSettingNotAllowed, sqlguard.CodeParseError}
	aWrite   = []sqlguard.Code{sqlguard.CodeWriteStatement, sqlguard.CodeStatementNotAllowed}
	aSession = []sqlguard.Code{sqlguard.CodeSessionChange, sqlguard.CodeTransactionControl}
	aDDL     = []sqlguard.Code{sqlguard.CodeDDLStatement}
)

// wording is what PostgreSQL has instead of the SQL of other servers. The names of the
// functions and the forms are those of the PostgreSQL manual, chapters 9 and 38.
var wording = instead.Table{
	Product: "PostgreSQL",
	Tables:  listTables,
	Columns: listColumns,
	Quote:   func(name string) string { return `"` + strings.ToLower(name) + `"` },
	Rules: []instead.Rule{
		{Pattern: "^ show full|extended tables", Codes: aSetting, Says: "SHOW TABLES is not PostgreSQL", Write: "write " + listTables},
		{Pattern: "^ show tables|views", Codes: aSetting, Says: "SHOW TABLES is not PostgreSQL", Write: "write " + listTables},
		{Pattern: "^ show databases|schemas|catalogs", Codes: aSetting, Says: "PostgreSQL's SHOW reads settings only", Write: "write SELECT schema_name FROM information_schema.schemata"},
		{Pattern: "^ show columns|fields from|in @", Codes: aSetting, Says: "SHOW COLUMNS is not PostgreSQL", Write: "write " + listColumns},
		{Pattern: "^ show full columns|fields from|in @", Codes: aSetting, Says: "SHOW COLUMNS is not PostgreSQL", Write: "write " + listColumns},
		{Pattern: "^ show index|indexes|keys from|in @", Codes: aSetting, Says: "SHOW INDEX is not PostgreSQL", Write: "write " + listIndexes},
		{Pattern: "^ show create table @", Codes: aSetting, Says: "SHOW CREATE TABLE is not PostgreSQL", Write: "write " + listColumns},
		{Pattern: "^ show processlist", Codes: aSetting, Says: "SHOW PROCESSLIST is MySQL", Write: "write SELECT pid, state FROM pg_stat_activity"},
		{Pattern: "^ show full processlist", Codes: aSetting, Says: "SHOW PROCESSLIST is MySQL", Write: "write SELECT pid, state FROM pg_stat_activity"},
		{Pattern: "^ show variables|status|global|session|engine|engines|warnings|errors|grants|triggers|procedure|function|create|table", Codes: aSetting, Says: "PostgreSQL's SHOW reads one setting by its name", Write: "write SHOW with one name, as in SHOW server_version"},
		{Pattern: "^ show all", Codes: aSetting, Says: "SHOW ALL shows every setting, also those that are not on the list", Write: "name one setting, as in SHOW server_version", Keep: true},
		{Pattern: "^ describe|desc @", Says: "DESCRIBE is not PostgreSQL", Write: "write " + listColumns},
		{Pattern: "^ pragma table_info|table_xinfo ( @ )", Says: "PRAGMA is SQLite", Write: "write " + listColumns},
		{Pattern: "^ pragma", Says: "PRAGMA is SQLite", Write: "write " + listTables},
		{Pattern: "^ exec|execute sp_help|sp_columns '", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeDynamicSQL}, Says: "sp_help is a procedure of SQL Server", Write: "write SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'name'"},
		{Pattern: "^ exec", Says: "EXEC is SQL Server, and runs a procedure", Write: "select from the tables that the procedure reads"},
		{Pattern: "^ use @", Says: "USE is not PostgreSQL: a connection has one database", Write: "leave it out, and name the schema with the table, as in $1.name"},
		{Pattern: "^ kill", Says: "KILL is MySQL and SQL Server, and ends a session", Write: "leave it out: only the operator ends sessions of others"},
		{Pattern: "^ explain query plan", Says: "EXPLAIN QUERY PLAN is SQLite", Write: "write EXPLAIN SELECT …"},
		{Pattern: "^ explain extended|format", Says: "this form of EXPLAIN is MySQL", Write: "write EXPLAIN (FORMAT JSON) SELECT …"},
		{Pattern: "^ explain plan for", Says: "EXPLAIN PLAN FOR is Oracle", Write: "write EXPLAIN SELECT …"},
		{Pattern: "^ declare @ cursor|insensitive|asensitive|binary|scroll|no", Codes: aSession, Says: "a cursor belongs to a session, and a call has none", Write: "send the query after FOR alone: the rows are returned to you", Keep: true},
		{Pattern: "^ fetch|move|close", Codes: aSession, Says: "a cursor belongs to a session, and a call has none", Write: "send the query of the cursor: the rows are returned to you", Keep: true},
		{Pattern: "^ declare", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeSessionChange, sqlguard.CodeTransactionControl}, Says: "DECLARE makes a variable or a cursor, which a single query has not", Write: "write the value into the query, or name it in WITH, as in WITH p AS (SELECT 7 AS n) SELECT p.n FROM p"},

		{Pattern: "limit # , #", Says: "LIMIT $1, $2 is MySQL: the first number is the offset", Write: "write LIMIT $2 OFFSET $1"},
		{Pattern: "select top #", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "select distinct top #", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "select top ( # )", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "distinct on @", Says: "DISTINCT ON needs brackets around its columns", Write: "write SELECT DISTINCT ON ($1) … ORDER BY $1"},
		{Pattern: "tablesample @ (", Codes: []sqlguard.Code{sqlguard.CodeFunctionNotAllowed}, Write: "write TABLESAMPLE SYSTEM (10) or TABLESAMPLE BERNOULLI (10)", Keep: true},
		{Pattern: "qualify", Says: "QUALIFY is not PostgreSQL", Write: "filter in an outer query: SELECT * FROM (SELECT …, row_number() OVER (…) AS n FROM …) AS t WHERE n = 1"},
		{Pattern: "with ( nolock|readuncommitted|readpast )", Says: "hints of tables are SQL Server", Write: "leave WITH (…) out: a read waits for no writer here"},
		{Pattern: "( nolock )", Says: "hints of tables are SQL Server", Write: "leave (NOLOCK) out: a read waits for no writer here"},
		{Pattern: "use|force|ignore index (", Says: "hints on indexes are MySQL", Write: "leave the hint out: the planner chooses the index"},
		{Pattern: "straight_join", Says: "STRAIGHT_JOIN is MySQL", Write: "write JOIN"},
		{Pattern: "cross apply", Says: "CROSS APPLY is SQL Server", Write: "write CROSS JOIN LATERAL (SELECT …) AS t"},
		{Pattern: "outer apply", Says: "OUTER APPLY is SQL Server", Write: "write LEFT JOIN LATERAL (SELECT …) AS t ON true"},
		{Pattern: "from @ pivot|unpivot (", Says: "PIVOT is not PostgreSQL", Write: "write one aggregate for each column: count(*) FILTER (WHERE status = 'paid') AS paid"},
		{Pattern: "pivot ( _ ( @ ) for", Says: "PIVOT is not PostgreSQL", Write: "write one aggregate for each column: count(*) FILTER (WHERE status = 'paid') AS paid"},
		{Pattern: "* except|exclude|replace (", Says: "* EXCEPT is not PostgreSQL", Write: "name the columns that you need"},
		{Pattern: "group by all", Says: "GROUP BY ALL is not PostgreSQL", Write: "name the columns or their positions, as in GROUP BY 1, 2"},
		{Pattern: "( + )", Says: "(+) is Oracle", Write: "write LEFT JOIN b ON b.id = a.id"},
		{Pattern: "minus select", Says: "MINUS is Oracle", Write: "write EXCEPT"},
		{Pattern: "interval # @", Says: "an INTERVAL without quotes is MySQL", Write: "write INTERVAL '$1 $2'"},
		{Pattern: "isnull (", Codes: []sqlguard.Code{sqlguard.CodeParseError, sqlguard.CodeFunctionNotAllowed}, Says: "ISNULL (x, y) is SQL Server", Write: "write coalesce(x, y)"},
		{Pattern: "regexp|rlike '", Says: "REGEXP and RLIKE are MySQL", Write: "write x ~ 'pattern', or x ~* 'pattern' to ignore case"},
		{Pattern: "not regexp|rlike", Says: "REGEXP and RLIKE are MySQL", Write: "write x !~ 'pattern'"},
		{Pattern: "glob '", Says: "GLOB is SQLite", Write: "write LIKE with % and _, or x ~ 'pattern'"},
		{Pattern: "match ( … ) against", Says: "MATCH … AGAINST is MySQL", Write: "write to_tsvector('simple', x) @@ plainto_tsquery('simple', 'words')"},
		{Pattern: "match '", Says: "MATCH is SQLite", Write: "write to_tsvector('simple', x) @@ plainto_tsquery('simple', 'words')"},
		{Pattern: "@ div @", Says: "DIV is MySQL", Write: "write /, which drops the remainder of integers"},
		{Pattern: "@ div #", Says: "DIV is MySQL", Write: "write /, which drops the remainder of integers"},
		{Pattern: "separator '", Says: "GROUP_CONCAT with SEPARATOR is MySQL", Write: "write string_agg(x::text, ', ' ORDER BY y)"},
		{Pattern: "try_cast|safe_cast|try_convert (", Says: "TRY_CAST is not PostgreSQL", Write: "write CAST(x AS type), with a condition that keeps other values out"},
		{Pattern: "convert ( varchar|nvarchar|char|int|integer|date|datetime|decimal|float|bigint", Says: "CONVERT (type, x) is SQL Server", Write: "write CAST(x AS type)"},
		{Pattern: "convert ( … using", Says: "CONVERT … USING is MySQL", Write: "leave it out: text is UTF-8 here"},
		{Pattern: "as signed|unsigned )", Says: "SIGNED is a type of MySQL", Write: "write CAST(x AS integer)"},
		{Pattern: "date_add|date_sub|adddate|subdate ( … interval", Says: "DATE_ADD with INTERVAL 7 DAY is MySQL", Write: "write x + INTERVAL '7 days'"},
		{Pattern: "datediff|timestampdiff ( day|month|year|hour|minute|second|week", Says: "DATEDIFF with a unit is SQL Server", Write: "write x::date - y::date for days, or extract(epoch FROM x - y) for seconds"},
		{Pattern: "` @ `", Says: "backticks quote names in MySQL", Write: "write \"$1\", or the name without quotes"},
		{Pattern: "select|from|join|,|.|by|where|and [ @ ]", Says: "[ and ] quote names in SQL Server", Write: "write \"$1\", or the name without quotes"},
		{Pattern: "{ { … } }", Says: "{{ … }} is a template that nobody has filled in", Write: "write the name or the value that it stands for"},
		{Pattern: "$ {", Says: "${…} is a variable that nobody has filled in", Write: "write the value as a literal"},
		{Pattern: "=|<|>|<=|>=|<>|!=|in|(|,|like|limit|and|between|select : @", Says: ":$1 is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|<=|>=|<>|!=|(|,|like|limit|offset|and|between ?", Says: "? is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|(|,|like|limit % s", Says: "%s is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "% ( @ ) s", Says: "%($1)s is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "pg_settings", Codes: []sqlguard.Code{sqlguard.CodeSettingNotAllowed}, Write: "for one setting write SHOW server_version or SHOW work_mem; SELECT name, unit, short_desc FROM pg_settings reads the rest", Keep: true},
		{Pattern: "returning", Codes: aWrite, Write: "this connection only reads: use SELECT to see the rows, and leave the change to a person", Keep: true},
		{Pattern: "<=>", Codes: []sqlguard.Code{sqlguard.CodeOperatorNotAllowed, sqlguard.CodeParseError}, Says: "<=> is an operator of MySQL, and here of extensions only", Write: "write x IS NOT DISTINCT FROM y", Keep: true},
		{Pattern: "==", Codes: []sqlguard.Code{sqlguard.CodeOperatorNotAllowed, sqlguard.CodeParseError}, Says: "== is no operator of PostgreSQL", Write: "write =", Keep: true},
		{Pattern: "=~", Codes: []sqlguard.Code{sqlguard.CodeOperatorNotAllowed, sqlguard.CodeParseError}, Says: "=~ is no operator of PostgreSQL", Write: "write x ~ 'pattern'", Keep: true},

		{Pattern: "^ analyze", Codes: aWrite, Says: "ANALYZE writes statistics of tables", Write: "leave it out; for the plan of a query write EXPLAIN SELECT …", Keep: true},
		{Pattern: "^ vacuum", Codes: aWrite, Says: "VACUUM rewrites tables", Write: "leave it out: the server does it by itself", Keep: true},
		{Pattern: "^ create temp|temporary|unlogged|table|view|materialized|or … select", Codes: aDDL, Write: "put the query into WITH, as in WITH t AS (SELECT …) SELECT * FROM t", Keep: true},
		{Pattern: "^ create index|unique", Codes: aDDL, Write: "leave it out: an index is the operator's; EXPLAIN SELECT … shows what a query uses", Keep: true},
		{Pattern: "^ create function|procedure", Codes: aDDL, Write: "write what the function computes as an expression or a sub-query", Keep: true},
		{Pattern: "^ refresh materialized view @", Codes: append(aDDL, aWrite...), Says: "REFRESH MATERIALIZED VIEW changes data", Write: "read the view as it is, with SELECT * FROM $1", Keep: true},
		{Pattern: "^ insert into @", Codes: aWrite, Write: "this connection only reads: with VALUES or SELECT alone you see the rows, and a person inserts them", Keep: true},
		{Pattern: "^ update @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ delete from @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ truncate", Codes: append(aDDL, aWrite...), Says: "TRUNCATE removes all rows of a table", Write: "this connection only reads: leave the statement out", Keep: true},
		{Pattern: "^ set search_path|schema", Codes: aSession, Write: "leave it out, and write the schema with each table, as in schema.table", Keep: true},
		{Pattern: "^ set timezone|time", Codes: aSession, Write: "leave it out, and convert where you need it, as in x AT TIME ZONE 'Europe/Berlin'", Keep: true},
		{Pattern: "^ set statement_timeout|lock_timeout", Codes: aSession, Write: "leave it out: the connection has time limits of its own", Keep: true},
		{Pattern: "^ set", Codes: aSession, Write: "leave it out: every call begins with the settings of the connection", Keep: true},
		{Pattern: "^ @", Codes: []sqlguard.Code{sqlguard.CodeTransactionControl}, Says: "$1 controls the transaction", Write: "send the query alone: every call runs in its own read-only transaction", Keep: true},
		{Pattern: "^ alter system", Codes: aSession, Says: "ALTER SYSTEM changes the settings of the server", Write: "leave the statement out: only the operator changes settings of the server", Keep: true},
		{Pattern: "^ listen|notify|unlisten", Codes: aSession, Write: "leave it out: a call has no session in which it could wait", Keep: true},
		{Pattern: "^ lock", Codes: []sqlguard.Code{sqlguard.CodeLockingClause}, Write: "leave it out: every query reads one consistent state without locks", Keep: true},
		{Pattern: "^ call", Codes: []sqlguard.Code{sqlguard.CodeProcedureCall}, Write: "select from the tables that the procedure reads", Keep: true},
		{Pattern: "for update|share|no|key", Codes: []sqlguard.Code{sqlguard.CodeLockingClause}, Write: "leave FOR UPDATE or FOR SHARE out: every query reads one consistent state without locks", Keep: true},
	},
	Relations: map[string]string{
		"pg_authid": "for the names of roles write SELECT rolname FROM pg_roles", "pg_shadow": "for the names of roles write SELECT rolname FROM pg_roles",
		"pg_user":            "for the names of roles write SELECT rolname FROM pg_roles",
		"pg_stat_statements": "leave the texts out: SELECT queryid, calls, total_exec_time FROM pg_stat_statements",
		"pg_stat_activity":   "name the columns that you need, as in SELECT pid, state FROM pg_stat_activity",
		"pg_user_mappings":   "for the names of servers write SELECT srvname FROM pg_foreign_server",
		"pg_statistic":       "for values of a column read the table: SELECT status, count(*) FROM orders GROUP BY status",
		"pg_stats":           "for values of a column read the table: SELECT status, count(*) FROM orders GROUP BY status",
		"pg_hba_file_rules":  "leave it out: only the operator reads the rules of logins",
	},
	Refused: map[string]string{
		"nextval": "for the last number of a sequence write SELECT last_value FROM pg_sequences", "setval": "for the last number of a sequence write SELECT last_value FROM pg_sequences",
		"currval": "for the last number of a sequence write SELECT last_value FROM pg_sequences", "lastval": "for the last number of a sequence write SELECT last_value FROM pg_sequences",
		"set_config":           "read a setting with current_setting('server_version'); none can be changed",
		"pg_sleep":             "leave the call out: no statement waits",
		"query_to_xml":         "write the inner query itself; json_agg(t) makes one value of its rows",
		"table_to_xml":         "write SELECT json_agg(t) FROM the table AS t",
		"crosstab":             "write one aggregate for each column: count(*) FILTER (WHERE status = 'paid') AS paid",
		"pg_advisory_lock":     "leave the call out: a query takes no locks",
		"pg_try_advisory_lock": "leave the call out: a query takes no locks",
		"dblink":               "use a connection to that database: the call names a text that the guard cannot see",
		"pg_cancel_backend":    "leave the call out: only the operator ends statements of others",
		"pg_terminate_backend": "leave the call out: only the operator ends sessions of others",
		"pg_read_file":         "leave the call out: no statement reads files; read a table",
		"pg_get_viewdef":       "leave the call out; information_schema.columns has the columns of a view",
		"pg_get_triggerdef":    "leave the call out; SELECT tgname, tgrelid::regclass, tgenabled FROM pg_trigger names triggers and their tables",
		"pg_get_functiondef":   "leave the call out; SELECT proname, pg_get_function_arguments(oid) FROM pg_proc names functions and their arguments",
		"crypt":                "leave the call out: no statement makes or tests passwords", "gen_salt": "leave the call out: no statement makes or tests passwords",
		"pg_stat_get_activity": "write SELECT pid, state FROM pg_stat_activity",
		"txid_current":         "write txid_current_if_assigned()",
		"pg_current_xact_id":   "write pg_current_xact_id_if_assigned()",
	},
	Functions: map[string]string{
		"rlike": "x ~ 'pattern'", "ifnull": "coalesce(x, y)", "nvl": "coalesce(x, y)", "nvl2": "CASE WHEN x IS NOT NULL THEN y ELSE z END", "zeroifnull": "coalesce(x, 0)", "nullifzero": "nullif(x, 0)",
		"iif": "CASE WHEN condition THEN x ELSE y END", "if": "CASE WHEN condition THEN x ELSE y END", "len": "length(x)", "datalength": "octet_length(x)", "charindex": "strpos(x, 'part'), with the text first", "instr": "strpos(x, 'part')", "locate": "strpos(x, 'part'), with the text first",
		"ucase": "upper(x)", "lcase": "lower(x)", "mid": "substr(x, 1, 3)", "char": "chr(65)", "nchar": "chr(65)", "replicate": "repeat(x, 3)", "space": "repeat(' ', 3)",
		"substring_index": "split_part(x, ',', 1)", "stuff": "overlay(x PLACING 'new' FROM 1 FOR 2)", "isnumeric": "x ~ '^[0-9.]+$'", "printf": "format('%s', x)", "unhex": "decode(x, 'hex')",
		"hex": "to_hex(n), or encode(bytes, 'hex')", "to_base64": "encode(bytes, 'base64')", "from_base64": "decode(x, 'base64')", "unicode": "ascii(x)",
		"year": "extract(year FROM x)", "month": "extract(month FROM x)", "day": "extract(day FROM x)", "dayofmonth": "extract(day FROM x)", "hour": "extract(hour FROM x)",
		"minute": "extract(minute FROM x)", "second": "extract(second FROM x)", "quarter": "extract(quarter FROM x)", "week": "extract(week FROM x)", "weekofyear": "extract(week FROM x)",
		"dayofweek": "extract(dow FROM x)", "weekday": "extract(isodow FROM x)", "dayofyear": "extract(doy FROM x)", "yearweek": "to_char(x, 'IYYYIW')", "datepart": "extract(year FROM x)",
		"dayname": "to_char(x, 'FMDay')", "monthname": "to_char(x, 'FMMonth')", "datename": "to_char(x, 'FMMonth')", "date_format": "to_char(x, 'YYYY-MM-DD')", "strftime": "to_char(x, 'YYYY-MM-DD')",
		"format_date": "to_char(x, 'YYYY-MM-DD')", "str_to_date": "to_date(x, 'YYYY-MM-DD')", "parse_date": "to_date(x, 'YYYY-MM-DD')", "from_unixtime": "to_timestamp(x)", "unix_timestamp": "extract(epoch FROM x)",
		"unixepoch": "extract(epoch FROM x)", "julianday": "extract(julian FROM x)", "datetime": "x::timestamp", "getdate": "now()", "sysdate": "now()", "sysdatetime": "now()", "getutcdate": "now() AT TIME ZONE 'UTC'",
		"utc_timestamp": "now() AT TIME ZONE 'UTC'", "current_datetime": "now()", "curdate": "current_date", "today": "current_date", "curtime": "localtime", "dateadd": "x + INTERVAL '1 day'", "date_sub": "x - INTERVAL '1 day'", "adddate": "x + INTERVAL '1 day'", "subdate": "x - INTERVAL '1 day'", "add_months": "x + INTERVAL '1 month'", "datediff": "x::date - y::date", "timestampdiff": "extract(epoch FROM y - x)",
		"date_diff": "x::date - y::date", "months_between": "extract(epoch FROM x - y) / 2629746", "last_day": "(date_trunc('month', x) + INTERVAL '1 month - 1 day')::date", "eomonth": "(date_trunc('month', x) + INTERVAL '1 month - 1 day')::date",
		"datetrunc": "date_trunc('month', x)", "timestamp_trunc": "date_trunc('month', x)", "datefromparts": "make_date(2026, 1, 31)", "convert_tz": "x AT TIME ZONE 'Europe/Berlin'",
		"group_concat": "string_agg(x::text, ', ')", "listagg": "string_agg(x::text, ', ')", "wm_concat": "string_agg(x::text, ', ')", "collect_list": "array_agg(x)", "group_array": "array_agg(x)", "json_group_array": "json_agg(x)",
		"json_group_object": "json_object_agg(k, v)", "json_objectagg": "json_object_agg(k, v)", "json_extract": "x ->> 'key'", "json_unquote": "x ->> 'key'", "get_json_object": "x ->> 'key'",
		"json_length": "json_array_length(x)", "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "approx_count_distinct": "count(DISTINCT x)", "countif": "count(*) FILTER (WHERE condition)",
		"sumif": "sum(x) FILTER (WHERE condition)", "total": "coalesce(sum(x), 0)", "stdev": "stddev(x)", "std": "stddev_pop(x)", "stdevp": "stddev_pop(x)", "var": "variance(x)", "varp": "var_pop(x)", "rand": "random()", "newid": "gen_random_uuid()",
		"uuid": "gen_random_uuid()", "truncate": "trunc(x, 2)", "square": "power(x, 2)", "log2": "log(2, x)", "safe_divide": "x / nullif(y, 0)", "db_name": "current_database()", "database": "current_database()", "schema": "current_schema()",
		"system_user": "current_user", "find_in_set": "x = ANY (string_to_array(y, ','))", "field": "array_position(ARRAY['a', 'b'], x)", "array_contains": "x = ANY (y)", "split": "string_to_array(x, ',')", "string_split": "string_to_table(x, ',')",
		"regexp_extract": "substring(x FROM 'pattern')", "regexp_contains": "x ~ 'pattern'", "explode": "unnest(x)", "generate_array": "generate_series(1, 10)", "to_varchar": "x::text", "tostring": "x::text", "toint": "x::integer",
		"sqlite_version": "version()", "object_id": "to_regclass('name')", "startswith": "starts_with(x, 'part')", "contains": "strpos(x, 'part') > 0",
	},
}
