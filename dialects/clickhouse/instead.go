package clickhouse

import (
	"github.com/ktxhq/ktx/dialects/internal/instead"
	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reword returns a finding with a message and a hint that say what to write instead on
// ClickHouse, when the statement has something that people know from other engines, or the
// name of a function in another case.
func (Dialect) Reword(sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	worded := wording.Word(sql, tokens, f)
	if _, has := lookupFunction(f.Object); has || worded != f || f.Code != sqlguard.CodeFunctionNotAllowed {
		return worded
	}
	if exact := exactSpellings[lexical.Lower(f.Object)]; exact != "" {
		worded.Message = "ClickHouse has no function " + f.Object + ": the names of its functions have a case"
		worded.Hint = "write " + exact
	}
	return worded
}

// exactSpellings has the functions of functions_table.go by their names in lower case.
var exactSpellings = func() map[string]string {
	m := make(map[string]string, len(exactNames))
	for name := range exactNames {
		m[lexical.Lower(name)] = max(m[lexical.Lower(name)], name)
	}
	return m
}()

const (
	listTables = "SHOW TABLES"
	sortedList = "arrayStringConcat(arraySort(groupArray(x)), ', ')"
	castTo     = "write CAST(x AS "
)

var (
	aWrite     = []sqlguard.Code{sqlguard.CodeWriteStatement}
	aStatement = []sqlguard.Code{sqlguard.CodeStatementNotAllowed}
	aSession   = []sqlguard.Code{sqlguard.CodeSessionChange}
	aDDL       = []sqlguard.Code{sqlguard.CodeDDLStatement}
	aCall      = []sqlguard.Code{sqlguard.CodeFunctionNotAllowed}
	aRelation  = []sqlguard.Code{sqlguard.CodeRelationNotAllowed, sqlguard.CodeCredentialRelation}
)

// wording is what ClickHouse has instead of the SQL of other engines (clickhouse.com/docs/sql-reference).
var wording = instead.Table{
	Product: "ClickHouse",
	Tables:  listTables,
	Columns: "DESCRIBE $1",
	Quote:   func(name string) string { return "`" + name + "`" },
	Rules: []instead.Rule{
		{Pattern: "^ pragma table_info|table_xinfo ( @ )", Says: "PRAGMA is SQLite", Write: "write DESCRIBE $1"},
		{Pattern: "^ pragma", Says: "PRAGMA is SQLite", Write: "write " + listTables},
		{Pattern: "^ exec|call", Says: "ClickHouse has no procedures", Write: "for the tables write SHOW TABLES, for the columns of one DESCRIBE name"},
		{Pattern: "^ explain analyze", Says: "EXPLAIN ANALYZE is not read here: it runs the query", Write: "write EXPLAIN SELECT … or EXPLAIN indexes = 1 SELECT …"},
		{Pattern: "^ explain ( analyze|buffers|verbose|costs|format|timing", Says: "EXPLAIN with options in brackets is PostgreSQL", Write: "write EXPLAIN SELECT … or EXPLAIN indexes = 1 SELECT …"},
		{Pattern: "^ explain format =", Says: "EXPLAIN FORMAT is MySQL", Write: "write EXPLAIN json = 1 SELECT …"},
		{Pattern: "^ explain query plan", Says: "EXPLAIN QUERY PLAN is SQLite", Write: "write EXPLAIN PLAN SELECT …"},
		{Pattern: "^ explain verbose|extended", Says: "EXPLAIN VERBOSE is PostgreSQL", Write: "write EXPLAIN actions = 1 SELECT …"},
		{Pattern: "^ vacuum", Says: "VACUUM is PostgreSQL, and rewrites tables", Write: "leave it out"},
		{Pattern: "^ analyze", Says: "ANALYZE is not ClickHouse, and writes statistics", Write: "leave it out; for the plan of a query write EXPLAIN SELECT …"},
		{Pattern: "^ load data", Says: "LOAD DATA is MySQL, and writes rows", Write: "this connection only reads: select from a table that has the data"},
		{Pattern: "^ merge into", Says: "MERGE is not ClickHouse, and changes rows", Write: "this connection only reads: leave the statement out"},
		{Pattern: "^ lock table|tables", Says: "LOCK TABLES is not ClickHouse", Write: "leave it out: a read waits for no writer here"},
		{Pattern: "^ declare", Says: "ClickHouse has no variables", Write: "write the value into the query, or name it in WITH, as in WITH 7 AS n SELECT n"},
		{Pattern: "^ values (", Says: "VALUES alone is no statement of ClickHouse", Write: "write SELECT * FROM (VALUES (1, 'a')) AS t (n, s)"},

		{Pattern: "@|@@ @|@@ version", Says: "@@version is MySQL and SQL Server", Write: "write version()"}, // @|@@ is the sign, and @ alone a name
		{Pattern: "@|@@ > '", Says: "@> is PostgreSQL", Write: "write hasAll(x, [1, 2]), or JSONExtractString(x, 'key') = 'value'"},
		{Pattern: "offset # limit #", Says: "LIMIT stands before OFFSET", Write: "write LIMIT $2 OFFSET $1"},
		{Pattern: "limit all", Says: "LIMIT ALL is PostgreSQL", Write: "leave LIMIT out"},
		{Pattern: "fetch first|next # row|rows", Says: "FETCH FIRST needs ORDER BY in ClickHouse", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "similar to", Says: "SIMILAR TO is PostgreSQL", Write: "write match(x, '^pattern$')"},
		{Pattern: "rlike '", Says: "RLIKE is MySQL", Write: "write match(x, 'pattern')"},
		{Pattern: "glob '", Says: "GLOB is SQLite", Write: "write LIKE with % and _, or match(x, 'pattern')"},
		{Pattern: "! ~ '", Says: "!~ with a pattern is PostgreSQL", Write: "write NOT match(x, 'pattern')"},
		{Pattern: "! ~ * '", Says: "!~* is PostgreSQL", Write: "write NOT match(x, '(?i)pattern')"},
		{Pattern: "~ '", Says: "~ with a pattern is PostgreSQL", Write: "write match(x, 'pattern')"},
		{Pattern: "~ * '", Says: "~* is PostgreSQL", Write: "write match(x, '(?i)pattern')"},
		{Pattern: "~", Says: "ClickHouse has no operator ~", Write: "write bitNot(x)"},
		{Pattern: "& &", Says: "&& is MySQL", Write: "write AND"},
		{Pattern: "&", Says: "ClickHouse has no operator &", Write: "write bitAnd(x, y)"},
		{Pattern: "< <", Says: "ClickHouse has no operator <<", Write: "write bitShiftLeft(x, 2)"},
		{Pattern: "-> > '", Says: "->> is PostgreSQL", Write: "write JSONExtractString(x, 'key')"},
		{Pattern: "#|#> > > '", Says: "#>> is PostgreSQL", Write: "write JSONExtractString(x, 'key', 'inner')"},
		{Pattern: "> >", Says: "ClickHouse has no operator >>", Write: "write bitShiftRight(x, 2)"},
		{Pattern: "array [", Says: "ARRAY[…] is PostgreSQL", Write: "write [1, 2], or x IN (1, 2)"},
		{Pattern: "from|join [ @ ]", Says: "[ and ] quote names in SQL Server", Write: "write `$1`, or the name without quotes"},
		{Pattern: "cross|outer apply", Says: "APPLY is SQL Server", Write: "join with a sub-query that has its own GROUP BY, or write LIMIT 1 BY key"},
		{Pattern: "join|, lateral (", Codes: aCall, Says: "LATERAL is PostgreSQL", Write: "join with a sub-query that has its own GROUP BY, or write LIMIT 1 BY key"},
		{Pattern: "= any ( [", Codes: aCall, Says: "ANY of an array is PostgreSQL", Write: "write has([1, 2], x), or x IN (1, 2)"},
		{Pattern: "with ( nolock|readuncommitted )", Says: "hints of tables are SQL Server", Write: "leave WITH (…) out: a read waits for no writer here"},
		{Pattern: "( nolock )", Says: "hints of tables are SQL Server", Write: "leave (NOLOCK) out: a read waits for no writer here"},
		{Pattern: "use|force|ignore index (", Says: "hints on indexes are MySQL", Write: "leave the hint out"},
		{Pattern: "straight_join", Says: "STRAIGHT_JOIN is MySQL", Write: "write JOIN"},
		{Pattern: "minus select", Says: "MINUS is Oracle", Write: "write EXCEPT"},
		{Pattern: "* exclude (", Says: "* EXCLUDE is not ClickHouse", Write: "write * EXCEPT (a, b)"},
		{Pattern: "pivot|unpivot (", Says: "PIVOT is not ClickHouse", Write: "write one aggregate for each column: countIf(status = 'paid') AS paid"},
		{Pattern: "separator '", Says: "GROUP_CONCAT with SEPARATOR is MySQL", Write: "write group_concat(x, ', ')"},
		{Pattern: "percentile_cont ( # ) within group", Says: "WITHIN GROUP is not ClickHouse", Write: "write quantileExactInclusive($1)(x)"},
		{Pattern: "percentile_disc ( # ) within group", Says: "WITHIN GROUP is not ClickHouse", Write: "write quantileExact($1)(x)"},
		{Pattern: "within group (", Says: "WITHIN GROUP is not ClickHouse", Write: "write " + sortedList},
		{Pattern: "string_agg|group_concat|listagg ( @ , ' order by", Says: "ClickHouse has no ORDER BY in an aggregate", Write: "write " + sortedList},
		{Pattern: "string_agg|group_concat|listagg ( @ . @ , ' order by", Says: "ClickHouse has no ORDER BY in an aggregate", Write: "write " + sortedList},
		{Pattern: "group_concat|array_agg ( @ order by", Says: "ClickHouse has no ORDER BY in an aggregate", Write: "sort the array, as in arraySort(groupArray(x)) or arraySort(p -> p.2, groupArray((x, y)))"},
		{Pattern: "group_concat|array_agg ( @ . @ order by", Says: "ClickHouse has no ORDER BY in an aggregate", Write: "sort the array, as in arraySort(groupArray(x)) or arraySort(p -> p.2, groupArray((x, y)))"},
		{Pattern: "match ( … ) against", Says: "MATCH … AGAINST is MySQL", Write: "write hasToken(x, 'word') or x ILIKE '%part%'"},
		{Pattern: "tablesample", Says: "TABLESAMPLE is PostgreSQL", Write: "write ORDER BY rand() LIMIT 100, or SAMPLE 0.1 on a table with a sampling key"},
		{Pattern: "convert ( … using", Says: "CONVERT … USING is MySQL", Write: "leave it out, or write convertCharset(x, 'latin1', 'utf-8')"},
		{Pattern: "between symmetric", Says: "BETWEEN SYMMETRIC is PostgreSQL", Write: "write x BETWEEN least(a, b) AND greatest(a, b)"},
		{Pattern: "next value for", Says: "ClickHouse has no sequences", Write: "read the greatest key, as in SELECT max(id) FROM orders"},
		{Pattern: "as|:: timestamptz", Says: "ClickHouse has no type TIMESTAMPTZ", Write: castTo + "DateTime) or CAST(x AS DateTime64(3))"},
		{Pattern: "as|:: datetime2|smalldatetime", Says: "DATETIME2 is SQL Server", Write: castTo + "DateTime) or CAST(x AS DateTime64(3))"},
		{Pattern: "as|:: jsonb", Says: "JSONB is PostgreSQL", Write: "read the text with JSONExtractString(x, 'key')"},
		{Pattern: "as|:: number|money", Says: "ClickHouse has no type of this name", Write: castTo + "Decimal(20, 6))"},
		{Pattern: "as|:: float8", Says: "ClickHouse has no type FLOAT8", Write: castTo + "Float64)"},
		{Pattern: "as|:: float4", Says: "ClickHouse has no type FLOAT4", Write: castTo + "Float32)"},
		{Pattern: "as|:: varchar2|bytea|citext", Says: "ClickHouse has no type of this name", Write: castTo + "String)"},
		{Pattern: "as|:: uniqueidentifier", Says: "UNIQUEIDENTIFIER is SQL Server", Write: castTo + "UUID)"},
		{Pattern: "timestamptz '", Says: "TIMESTAMPTZ '…' is PostgreSQL", Write: "write toDateTime('2026-01-31 12:00:00', 'UTC')"},
		{Pattern: "select|,|=|(|like|in n '", Says: "N'…' is SQL Server", Write: "write the string without N: text is UTF-8 here"},
		{Pattern: "select|,|=|(|like|in e '", Says: "E'…' is PostgreSQL", Write: "write the string without E: a backslash escapes in every string"},
		{Pattern: "for update|share", Says: "ClickHouse has no FOR UPDATE", Write: "leave it out: a read takes no locks"},
		{Pattern: "lock in share mode", Says: "LOCK IN SHARE MODE is MySQL", Write: "leave it out: a read takes no locks"},
		{Pattern: "{ { … } }", Says: "{{ … }} is a template that nobody has filled in", Write: "write the name or the value that it stands for"},
		{Pattern: "$ {", Says: "${…} is a variable that nobody has filled in", Write: "write the value as a literal"},
		{Pattern: "=|<|>|<=|>=|<>|!=|(|,|like|limit|and|between ?", Says: "? is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|<=|>=|<>|!=|(|,|like|limit|and|between : @", Says: ":$1 is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|<=|>=|<>|!=|(|,|like|limit|and|between $ #", Says: "$$1 is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|<=|>=|<>|!=|(|,|like|limit|and|between @|@@ @", Says: "@$1 is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|(|,|like|limit % s", Says: "%s is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},
		{Pattern: "=|<|>|(|,|like|limit % ( @ ) s", Says: "%($1)s is a parameter, and nothing is bound to it", Write: "write the value as a literal, such as 42 or 'text'"},

		{Pattern: "<parameter>", Codes: []sqlguard.Code{sqlguard.CodeParameterNotAllowed}, Write: "write the value as a literal, such as 42 or 'text'", Keep: true},
		{Pattern: "format @", Codes: aStatement, Write: "leave FORMAT out: the rows are returned to you", Keep: true},
		{Pattern: "^ show schemas", Codes: aStatement, Says: "SHOW SCHEMAS is not ClickHouse", Write: "write SHOW DATABASES"},
		{Pattern: "^ show keys from|in @", Codes: aStatement, Write: "write SHOW INDEX FROM $1", Keep: true},
		{Pattern: "^ show views", Codes: aStatement, Says: "SHOW VIEWS is not ClickHouse", Write: "write SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%View'"},
		{Pattern: "^ show table status", Codes: aStatement, Says: "SHOW TABLE STATUS is MySQL", Write: "write SELECT name, total_rows, total_bytes FROM system.tables WHERE database = currentDatabase()"},
		{Pattern: "^ show functions|function|procedure", Codes: aStatement, Write: "write SELECT name FROM system.functions", Keep: true},
		{Pattern: "^ show engines", Codes: aStatement, Write: "write SELECT name FROM system.table_engines", Keep: true},
		{Pattern: "^ show create database @", Codes: aStatement, Write: "write SHOW TABLES FROM $1", Keep: true},
		{Pattern: "^ show processlist", Codes: aStatement, Says: "SHOW PROCESSLIST shows the statements of other sessions", Write: "leave it out", Keep: true},
		{Pattern: "^ show full processlist", Codes: aStatement, Says: "SHOW PROCESSLIST shows the statements of other sessions", Write: "leave it out", Keep: true},
		{Pattern: "^ show grants|users|roles|access|privileges", Codes: aStatement, Write: "leave it out; SELECT currentUser() names your own account", Keep: true},
		{Pattern: "^ show", Codes: aStatement, Write: "leave it out: it is the operator's; for the tables write " + listTables, Keep: true},
		{Pattern: "^ explain", Codes: aStatement, Write: "write EXPLAIN SELECT …", Keep: true},
		{Pattern: "^ system|kill|backup|restore|watch", Codes: aStatement, Write: "leave it out: only the operator administers the server", Keep: true},
		{Pattern: "^ check", Codes: aStatement, Write: "leave it out; SELECT table, sum(rows) FROM system.parts WHERE active GROUP BY table shows what tables have", Keep: true},
		{Pattern: "settings @ =", Codes: []sqlguard.Code{sqlguard.CodeSettingNotAllowed}, Write: "leave SETTINGS out: the limits of the connection apply", Keep: true},
		{Pattern: "^ select … into @ from", Codes: []sqlguard.Code{sqlguard.CodeSelectInto}, Says: "SELECT INTO is SQL Server", Write: "leave INTO out: the rows are returned to you", Keep: true},
		{Pattern: "^ optimize", Codes: aWrite, Write: "leave it out; SELECT table, sum(rows) FROM system.parts WHERE active GROUP BY table shows what tables have", Keep: true},
		{Pattern: "^ copy", Codes: aWrite, Says: "COPY is PostgreSQL", Write: "write SELECT: the rows are returned to you", Keep: true},
		{Pattern: "^ create temporary|table|view|materialized|or … select", Codes: aDDL, Write: "put the query into WITH, as in WITH t AS (SELECT …) SELECT * FROM t", Keep: true},
		{Pattern: "^ create index|unique", Codes: aDDL, Write: "leave it out; EXPLAIN indexes = 1 SELECT … shows which indexes a query uses", Keep: true},
		{Pattern: "^ replace into", Codes: aDDL, Says: "REPLACE INTO is MySQL, and changes rows", Write: "this connection only reads: leave the statement out", Keep: true},
		{Pattern: "^ insert into", Codes: aWrite, Write: "this connection only reads: with SELECT alone you see the rows, and a person inserts them", Keep: true},
		{Pattern: "^ update @ . @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1.$2 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ update @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ alter table @ . @ update", Codes: aDDL, Write: "this connection only reads: SELECT * FROM $1.$2 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ alter table @ update", Codes: aDDL, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would change", Keep: true},
		{Pattern: "^ delete from @ . @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1.$2 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ delete from @", Codes: aWrite, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ alter table @ . @ delete", Codes: aDDL, Write: "this connection only reads: SELECT * FROM $1.$2 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ alter table @ delete", Codes: aDDL, Write: "this connection only reads: SELECT * FROM $1 WHERE … shows the rows that it would remove", Keep: true},
		{Pattern: "^ use @", Codes: aSession, Write: "leave it out, and write the database with the table, as in $1.name", Keep: true},
		{Pattern: "^ set", Codes: aSession, Write: "leave it out: every call begins with the settings of the connection; a value can stand in the query itself", Keep: true},

		{Pattern: "system . users|roles|grants|role_grants|quotas|row_policies|session_log", Codes: aRelation, Write: "leave it out; SELECT currentUser() names your own account", Keep: true},
		{Pattern: "system . query_log|query_thread_log|query_views_log|processes|text_log|mutations", Codes: aRelation, Write: "leave it out: it shows the statements of other sessions", Keep: true},
		{Pattern: "system . settings|server_settings|merge_tree_settings", Codes: aRelation, Write: "leave it out; SELECT version() names the release", Keep: true},
		{Pattern: "system . disks|replicas|clusters|part_log", Codes: aRelation, Write: "leave it out; SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active GROUP BY table shows sizes", Keep: true},
		{Pattern: "from|join merge (", Codes: aRelation, Write: "name the tables, with UNION ALL between the queries", Keep: true},
	},
	Refused: map[string]string{
		"dictget": joinIt, "dictgetordefault": joinIt, "dictgetornull": joinIt, "dictgetstring": joinIt, "dicthas": joinIt, "dictgethierarchy": joinIt, "dictisin": joinIt, "dictionary": joinIt,
		"joinget": "join with the table, as in FROM t ANY LEFT JOIN u USING (id)", "joingetornull": "join with the table, as in FROM t ANY LEFT JOIN u USING (id)",
		"sleep": "leave the call out: no statement waits", "sleepeachrow": "leave the call out: no statement waits",
		"timestampdiff": "write dateDiff('day', x, y)", "timestamp_diff": "write dateDiff('day', x, y)", "unnest": "write ARRAY JOIN x AS y after FROM",
		"mid":        "write substring(x, 1, 3)",
		"getsetting": "leave the call out; SELECT version() names the release", "in": "write x IN (1, 2)", "notin": "write x NOT IN (1, 2)",
	},
	Functions: map[string]string{
		"current_setting": "version()", "sqlite_version": "version()", "nvl": "ifNull(x, y)", "nvl2": "if(x IS NOT NULL, y, z)", "iif": "if(condition, x, y)", "iff": "if(condition, x, y)", "decode": "CASE x WHEN a THEN b ELSE c END", "zeroifnull": "ifNull(x, 0)", "nullifzero": "nullIf(x, 0)",
		"len": "length(x), or lengthUTF8(x)", "datalength": "length(x)", "bit_length": "length(x) * 8", "charindex": "position(x, 'part')", "strpos": "position(x, 'part')", "btrim": "trim(x)", "chr": "char(65)", "nchar": "char(65)", "ord": "ascii(x)", "unicode": "ascii(x)",
		"split_part": "splitByChar(',', x)[1]", "string_to_array": "splitByChar(',', x)", "string_split": "splitByChar(',', x)", "split": "splitByChar(',', x)", "elt": "['a', 'b'][x]", "field": "indexOf(['a', 'b'], x)", "find_in_set": "indexOf(splitByChar(',', y), x)", "starts_with": "startsWith(x, 'part')", "contains": "position(x, 'part') > 0", "stuff": "overlay(x, 'new', 1, 2)",
		"regexp_like": "match(x, 'pattern')", "regexp_contains": "match(x, 'pattern')", "regexp_match": "extract(x, 'pattern')", "regexp_count": "countMatches(x, 'pattern')", "isnumeric": "toFloat64OrNull(x) IS NOT NULL", "to_hex": "hex(x)", "encode": "hex(x), or base64Encode(x)", "levenshtein": "editDistance(x, y)", "sha2": "hex(SHA256(x))",
		"getdate": "now()", "sysdate": "now()", "sysdatetime": "now64()", "current_datetime": "now()", "getutcdate": "now('UTC')", "clock_timestamp": "now64(6)", "curtime": "formatDateTime(now(), '%H:%i:%S')", "utc_date": "toDate(now('UTC'))", "dayname": "dateName('weekday', x)", "weekday": "toDayOfWeek(x, 1)", "weekofyear": "toISOWeek(x)",
		"datetrunc": "date_trunc('month', x)", "timestamp_trunc": "date_trunc('month', x)", "to_char": "formatDateTime(x, '%Y-%m-%d')", "to_varchar": "toString(x)", "format_date": "formatDateTime(x, '%Y-%m-%d')", "strftime": "formatDateTime(x, '%Y-%m-%d')", "to_date": "toDate(x)", "to_timestamp": "toDateTime(x)", "datetime": "toDateTime(x)", "parse_date": "toDate(parseDateTime(x, '%Y-%m-%d'))",
		"unix_timestamp": "toUnixTimestamp(x)", "unixepoch": "toUnixTimestamp(x)", "julianday": "toUnixTimestamp(x) / 86400", "to_seconds": "toUnixTimestamp(x)", "add_months": "addMonths(x, 1)", "months_between": "dateDiff('month', x, y)", "eomonth": "toLastDayOfMonth(x)", "make_date": "makeDate(2026, 1, 31)", "datefromparts": "makeDate(2026, 1, 31)", "convert_tz": "toTimeZone(x, 'UTC')",
		"try_cast": "accurateCastOrNull(x, 'Int32')", "safe_cast": "accurateCastOrNull(x, 'Int32')", "try_convert": "accurateCastOrNull(x, 'Int32')", "convert": "CAST(x AS Int32)", "to_number": "toFloat64(x)", "safe_divide": "x / nullIf(y, 0)", "square": "x * x", "div": "intDiv(x, y)", "random": "rand()", "bit_count": "bitCount(x)",
		"gen_random_uuid": "generateUUIDv4()", "generate_uuid": "generateUUIDv4()", "newid": "generateUUIDv4()", "uuid": "generateUUIDv4()", "typeof": "toTypeName(x)", "pg_typeof": "toTypeName(x)", "current_schema": "currentDatabase()", "db_name": "currentDatabase()", "system_user": "currentUser()", "object_id": listTables,
		"listagg": "group_concat(x, ', ')", "concat_agg": "group_concat(x)", "wm_concat": "group_concat(x, ',')", "collect_list": "groupArray(x)", "collect_set": "groupUniqArray(x)", "json_agg": "groupArray(x)", "jsonb_agg": "groupArray(x)", "json_arrayagg": "groupArray(x)", "json_group_array": "groupArray(x)", "json_object_agg": "mapFromArrays(groupArray(x), groupArray(y))", "json_objectagg": "mapFromArrays(groupArray(x), groupArray(y))",
		"bool_or": "max(x)", "bool_and": "min(x)", "every": "min(x)", "first": "any(x), or argMin(x, y)", "last": "anyLast(x), or argMax(x, y)", "arg_max": "argMax(x, y)", "arg_min": "argMin(x, y)", "countif": "countIf(condition)", "count_if": "countIf(condition)", "sumif": "sumIf(x, condition)", "sum_if": "sumIf(x, condition)",
		"approx_count_distinct": "uniq(x)", "approx_distinct": "uniq(x)", "approx_percentile": "quantile(0.5)(x)", "approx_quantile": "quantile(0.5)(x)", "percentile": "quantile(0.5)(x)", "percentile_cont": "quantileExactInclusive(0.5)(x)", "percentile_disc": "quantileExact(0.5)(x)", "mode": "topK(1)(x)[1]", "stdev": "stddevSamp(x)", "stdevp": "stddevPop(x)", "var": "varSamp(x)", "variance": "varSamp(x)", "varp": "varPop(x)", "total": "ifNull(sum(x), 0)",
		"json_extract": "JSONExtractRaw(x, 'key')", "json_extract_path_text": "JSONExtractString(x, 'key')", "get_json_object": "JSON_VALUE(x, '$.key')", "json_unquote": "JSONExtractString(x, 'key')", "json_length": "JSONLength(x)", "jsonb_array_length": "JSONLength(x)", "json_array_elements": "arrayJoin(JSONExtractArrayRaw(x))", "jsonb_array_elements": "arrayJoin(JSONExtractArrayRaw(x))",
		"json_build_object": "toJSONString(map('key', x))", "jsonb_build_object": "toJSONString(map('key', x))", "json_object": "toJSONString(map('key', x))", "to_json": "toJSONString(x)", "to_jsonb": "toJSONString(x)", "row_to_json": "toJSONString(x)", "json_array": "toJSONString([x])",
		"array_length": "length(x)", "array_contains": "has(x, 'part')", "element_at": "x[1]", "explode": "arrayJoin(x)", "sequence": "range(1, 10)", "generate_array": "range(1, 10)", "map_keys": "mapKeys(x)", "map_values": "mapValues(x)", "struct": "tuple(x, y)",
		"currval": "max(x)", "nextval": "max(x)", "last_insert_id": "max(x)",
	},
}

const joinIt = "join with the table that the dictionary is loaded from, when it is in this database"
