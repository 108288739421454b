package bigquery

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/instead"
	"github.com/ktxhq/ktx/sqlguard"
)

// Reword returns a finding with a message and a hint that say what to write instead in
// GoogleSQL, when the statement has something that people know from other engines.
func (Dialect) Reword(sql string, tokens []sqlguard.Token, f sqlguard.Finding) sqlguard.Finding {
	worded := wording.Word(sql, tokens, f)
	if strings.Contains(worded.Hint, "double a quote") { // as other engines write it
		worded.Hint = `end the string with its quote, and put a backslash before a quote inside, as in 'it\'s'`
	}
	return worded
}

// SourceHint says where the columns of views are.
func (Dialect) SourceHint() string { return "the columns of a view are in INFORMATION_SCHEMA.COLUMNS" }

const (
	listTables  = "SELECT table_name FROM dataset.INFORMATION_SCHEMA.TABLES"
	listColumns = "SELECT column_name, data_type FROM dataset.INFORMATION_SCHEMA.COLUMNS WHERE table_name = '$1'"
	readOnly    = "this connection only reads: leave the statement out"
	literal     = "write the value as a literal, such as 42 or 'text'"
	noModel     = "leave the call out: no model or service is called from here"
)

var (
	aWrite     = []sqlguard.Code{sqlguard.CodeWriteStatement}
	aStatement = []sqlguard.Code{sqlguard.CodeStatementNotAllowed}
	aDDL       = []sqlguard.Code{sqlguard.CodeDDLStatement}
	aSession   = []sqlguard.Code{sqlguard.CodeSessionChange}
	aBlock     = []sqlguard.Code{sqlguard.CodeProceduralBlock, sqlguard.CodeMultipleStatements}
	aMark      = []sqlguard.Code{sqlguard.CodeExecutableComment}
	aSetting   = []sqlguard.Code{sqlguard.CodeSettingNotAllowed}
)

// wording is what BigQuery has instead of the SQL of other engines (GoogleSQL reference).
var wording = instead.Table{
	Product: "BigQuery",
	Tables:  listTables,
	Columns: listColumns,
	Quote:   func(name string) string { return "`" + name + "`" },
	Rules: []instead.Rule{
		{Pattern: "^ show columns|fields from|in @", Codes: aStatement, Says: "SHOW is MySQL", Write: "write " + listColumns},
		{Pattern: "^ show tables", Codes: aStatement, Says: "BigQuery has no SHOW", Write: "write " + listTables},
		{Pattern: "^ show databases|schemas", Codes: aStatement, Says: "BigQuery has no SHOW", Write: "write SELECT schema_name FROM INFORMATION_SCHEMA.SCHEMATA"},
		{Pattern: "^ show", Codes: aStatement, Says: "BigQuery has no SHOW", Write: "write " + listTables},
		{Pattern: "^ show", Says: "BigQuery has no SHOW", Write: "write " + listTables},
		{Pattern: "^ describe|desc @ . @", Codes: aStatement, Says: "BigQuery has no DESCRIBE", Write: "write SELECT column_name, data_type FROM $1.INFORMATION_SCHEMA.COLUMNS WHERE table_name = '$2'"},
		{Pattern: "^ describe|desc @", Codes: aStatement, Says: "BigQuery has no DESCRIBE", Write: "write " + listColumns},
		{Pattern: "^ pragma", Says: "PRAGMA is SQLite", Write: "write " + listTables},
		{Pattern: "^ explain", Codes: aStatement, Says: "BigQuery has no EXPLAIN", Write: "send the query without EXPLAIN"},
		{Pattern: "^ explain", Says: "BigQuery has no EXPLAIN", Write: "send the query without EXPLAIN"},
		{Pattern: "^ vacuum", Says: "VACUUM is PostgreSQL", Write: "leave it out"},
		{Pattern: "^ copy", Says: "COPY is PostgreSQL", Write: "write SELECT: the rows are returned to you"},
		{Pattern: "^ use", Says: "BigQuery has no USE", Write: "write the data set before the name, as in dataset.table"},
		{Pattern: "^ values (", Says: "VALUES alone is no statement of BigQuery", Write: "write SELECT 1 AS n UNION ALL SELECT 2"},
		{Pattern: "^ exec", Says: "EXEC is SQL Server, and no procedure runs here", Write: "select from the tables that the procedure reads"},
		{Pattern: "^ call", Codes: []sqlguard.Code{sqlguard.CodeProcedureCall}, Write: "select from the tables that the procedure reads", Keep: true},
		{Pattern: "^ execute", Codes: []sqlguard.Code{sqlguard.CodeDynamicSQL}, Write: "write the inner query directly as SQL, with its values as literals", Keep: true},
		{Pattern: "^ export data", Codes: aWrite, Write: "write the SELECT behind AS: the rows are returned to you", Keep: true},
		{Pattern: "^ load data", Codes: aWrite, Write: readOnly, Keep: true},
		{Pattern: "^ insert", Codes: aWrite, Write: "this connection only reads: hand the rows to the user, so that a person inserts them", Keep: true},
		{Pattern: "^ update @ . @ set", Codes: aWrite, Write: "this connection only reads; for the rows that would change write SELECT * FROM $1.$2 WHERE …", Keep: true},
		{Pattern: "^ update @ set", Codes: aWrite, Write: "this connection only reads; for the rows that would change write SELECT * FROM $1 WHERE …", Keep: true},
		{Pattern: "^ delete from @ . @ where", Codes: aWrite, Write: "this connection only reads; for the rows that would go write SELECT * FROM $1.$2 WHERE …", Keep: true},
		{Pattern: "^ delete from @ where", Codes: aWrite, Write: "this connection only reads; for the rows that would go write SELECT * FROM $1 WHERE …", Keep: true},
		{Pattern: "^ merge|truncate|analyze", Codes: aWrite, Write: readOnly, Keep: true},
		{Pattern: "^ create temp|temporary|or table", Codes: aDDL, Write: "name the query in the statement: WITH t AS (SELECT …) SELECT … FROM t", Keep: true},
		{Pattern: "^ create table|view|materialized", Codes: aDDL, Write: "name the query in the statement: WITH t AS (SELECT …) SELECT … FROM t", Keep: true},
		{Pattern: "^ create temp|temporary function", Codes: []sqlguard.Code{sqlguard.CodeDDLStatement, sqlguard.CodeMultipleStatements}, Write: "write the expression of the function where it is called", Keep: true},
		{Pattern: "^ create|alter|drop|undrop", Codes: aDDL, Write: readOnly, Keep: true},
		{Pattern: "^ declare", Codes: aBlock, Write: "write the value into the query, or name it in WITH, as in WITH v AS (SELECT 7 AS n) SELECT n FROM v", Keep: true},
		{Pattern: "^ begin|if|while|loop|for|repeat", Codes: aBlock, Write: "send one SELECT for each call", Keep: true},
		{Pattern: "^ set", Codes: aSession, Write: "leave it out; write the value into the query", Keep: true},

		{Pattern: "from|join|, [ @ : @ . @ ]", Says: "[project:dataset.table] is the older SQL of BigQuery", Write: "write `$1.$2.$3`"},
		{Pattern: "from|join [ @ . @ ]", Says: "[dataset.table] is the older SQL of BigQuery", Write: "write `$1.$2`"},
		{Pattern: "from|join [ @ ]", Says: "[ and ] quote names in SQL Server", Write: "write `$1`, or the name without quotes"},
		{Pattern: ": : timestamptz|timestamp", Says: ":: is PostgreSQL", Write: "write CAST(x AS TIMESTAMP)"},
		{Pattern: ": : text|varchar|string", Says: ":: is PostgreSQL", Write: "write CAST(x AS STRING)"},
		{Pattern: ": : int|integer|bigint", Says: ":: is PostgreSQL", Write: "write CAST(x AS INT64)"},
		{Pattern: ": : @", Says: ":: is PostgreSQL", Write: "write CAST(x AS $1)"},
		{Pattern: "ilike", Says: "BigQuery has no ILIKE", Write: "write LOWER(x) LIKE 'pattern'"},
		{Pattern: "similar to", Says: "SIMILAR TO is PostgreSQL", Write: "write REGEXP_CONTAINS(x, r'^pattern$')"},
		{Pattern: "rlike|regexp '", Says: "RLIKE is MySQL", Write: "write REGEXP_CONTAINS(x, r'pattern')"},
		{Pattern: "glob '", Says: "GLOB is SQLite", Write: "write LIKE with % and _, or REGEXP_CONTAINS(x, r'pattern')"},
		{Pattern: "~ '", Says: "~ with a pattern is PostgreSQL", Write: "write REGEXP_CONTAINS(x, r'pattern')"},
		{Pattern: "~ * '", Says: "~* is PostgreSQL", Write: "write REGEXP_CONTAINS(x, r'(?i)pattern')"},
		{Pattern: "-> > '", Says: "->> is PostgreSQL", Write: "write JSON_VALUE(x, '$.key')"},
		{Pattern: "-> '", Says: "-> with a key is PostgreSQL", Write: "write JSON_QUERY(x, '$.key')"},
		{Pattern: "limit # , #", Says: "LIMIT with a comma is MySQL", Write: "write LIMIT $2 OFFSET $1"},
		{Pattern: "offset # limit #", Says: "LIMIT stands before OFFSET", Write: "write LIMIT $2 OFFSET $1"},
		{Pattern: "fetch first|next # row|rows", Says: "BigQuery has no FETCH FIRST", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "select top #", Says: "TOP is SQL Server", Write: "write LIMIT $1 at the end of the query"},
		{Pattern: "distinct on (", Says: "DISTINCT ON is PostgreSQL", Write: "write QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY x) = 1 at the end of the query"},
		{Pattern: "filter ( where", Says: "BigQuery has no FILTER", Write: "write COUNTIF(condition), or SUM(IF(condition, x, 0))"},
		{Pattern: "within group (", Says: "BigQuery has no WITHIN GROUP", Write: "write APPROX_QUANTILES(x, 100)[OFFSET(50)], or PERCENTILE_CONT(x, 0.5) OVER ()"},
		{Pattern: "cross|outer apply", Says: "APPLY is SQL Server", Write: "write CROSS JOIN UNNEST(x) for an array, or a join with a sub-query"},
		{Pattern: "lateral (", Says: "LATERAL is not read here", Write: "write CROSS JOIN UNNEST(x) for an array, or a join with a sub-query"},
		{Pattern: "minus select", Says: "MINUS is Oracle", Write: "write EXCEPT DISTINCT"},
		{Pattern: "except|intersect select|(", Says: "EXCEPT and INTERSECT need DISTINCT in BigQuery", Write: "write EXCEPT DISTINCT or INTERSECT DISTINCT"},
		{Pattern: "union select|(", Says: "UNION needs ALL or DISTINCT in BigQuery", Write: "write UNION ALL or UNION DISTINCT"},
		{Pattern: "* exclude (", Says: "* EXCLUDE is not BigQuery", Write: "write * EXCEPT (a, b)"},
		{Pattern: "at time zone", Says: "AT TIME ZONE is read only in EXTRACT and CAST … FORMAT", Write: "write DATETIME(x, 'UTC') or FORMAT_TIMESTAMP('%F %T', x, 'UTC')"},
		{Pattern: "with ( nolock|readuncommitted )", Says: "hints of tables are SQL Server", Write: "leave WITH (…) out: a read waits for no writer here"},
		{Pattern: "for update|share", Codes: []sqlguard.Code{sqlguard.CodeLockingClause, sqlguard.CodeParseError}, Says: "BigQuery has no FOR UPDATE", Write: "leave it out: a read takes no locks"},
		{Pattern: "into @ from", Says: "BigQuery has no SELECT INTO", Write: "leave INTO out: the rows are returned to you"},
		{Pattern: "separator '", Says: "GROUP_CONCAT with SEPARATOR is MySQL", Write: "write STRING_AGG(x, ', ')"},
		{Pattern: "graph_table (", Says: "queries of property graphs are not read here", Write: "join the tables of the graph"},
		{Pattern: "ml . @ (", Codes: []sqlguard.Code{sqlguard.CodeFunctionNetworkAccess}, Write: noModel, Keep: true},
		{Pattern: "ai . @ (", Codes: []sqlguard.Code{sqlguard.CodeFunctionNetworkAccess}, Write: noModel, Keep: true},
		{Pattern: "external_query (", Codes: []sqlguard.Code{sqlguard.CodeFunctionNetworkAccess}, Write: "read the tables of this project: the other database needs a connection of its own", Keep: true},
		{Pattern: "_", Codes: aMark, Write: "write GoogleSQL, and leave the line out or write #standardSQL", Keep: true},
		{Pattern: "_", Codes: aSetting, Write: "leave it out, or write the value: CURRENT_TIMESTAMP() and SESSION_USER() can be read", Keep: true},
		{Pattern: "<parameter>", Codes: []sqlguard.Code{sqlguard.CodeParameterNotAllowed}, Write: literal, Keep: true},
		{Pattern: "{ { … } }", Says: "{{ … }} is a template that nobody has filled in", Write: "write the name or the value that it stands for"},
		{Pattern: "$ {", Says: "${…} is a variable that nobody has filled in", Write: literal},
		{Pattern: "=|<|>|<=|>=|<>|!=|(|,|like|limit|and|between : @", Says: ":$1 is a parameter, and nothing is bound to it", Write: literal},
		{Pattern: "=|<|>|(|,|like|limit % s", Says: "%s is a parameter, and nothing is bound to it", Write: literal},
	},
	Functions: map[string]string{
		"now": "CURRENT_TIMESTAMP()", "getdate": "CURRENT_DATETIME()", "sysdate": "CURRENT_DATETIME()", "curdate": "CURRENT_DATE()", "localtimestamp": "CURRENT_DATETIME()",
		"isnull": "IFNULL(x, 0)", "nvl": "IFNULL(x, 0)", "len": "LENGTH(x)", "charindex": "STRPOS(x, 'part')", "locate": "STRPOS(x, 'part')", "position": "STRPOS(x, 'part')",
		"group_concat": "STRING_AGG(x, ', ')", "listagg": "STRING_AGG(x, ', ')", "string_to_array": "SPLIT(x, ',')", "array_agg_distinct": "ARRAY_AGG(DISTINCT x)",
		"to_char": "FORMAT_TIMESTAMP('%Y-%m-%d', x)", "date_format": "FORMAT_TIMESTAMP('%Y-%m-%d', x)", "strftime": "FORMAT_TIMESTAMP('%Y-%m-%d', x)", "to_date": "PARSE_DATE('%Y-%m-%d', x)",
		"to_timestamp": "TIMESTAMP_SECONDS(x), or PARSE_TIMESTAMP('%Y-%m-%d', x)", "from_unixtime": "TIMESTAMP_SECONDS(x)", "unix_timestamp": "UNIX_SECONDS(x)",
		"datediff": "DATE_DIFF(x, y, DAY)", "dateadd": "DATE_ADD(x, INTERVAL 1 DAY)", "datepart": "EXTRACT(YEAR FROM x)", "date_part": "EXTRACT(YEAR FROM x)", "year": "EXTRACT(YEAR FROM x)", "month": "EXTRACT(MONTH FROM x)", "day": "EXTRACT(DAY FROM x)", "age": "DATE_DIFF(x, y, DAY)",
		"generate_series": "UNNEST(GENERATE_ARRAY(1, 10))", "unnest": "CROSS JOIN UNNEST(x)", "json_extract_path_text": "JSON_VALUE(x, '$.key')", "jsonb_array_elements": "UNNEST(JSON_QUERY_ARRAY(x))",
		"regexp_matches": "REGEXP_EXTRACT_ALL(x, r'pattern')", "regexp_like": "REGEXP_CONTAINS(x, r'pattern')", "split_part": "SPLIT(x, ',')[SAFE_OFFSET(0)]", "substring_index": "SPLIT(x, ',')[SAFE_OFFSET(0)]",
		"median": "APPROX_QUANTILES(x, 2)[OFFSET(1)]", "bool_or": "LOGICAL_OR(x)", "bool_and": "LOGICAL_AND(x)", "every": "LOGICAL_AND(x)", "iif": "IF(x > 0, 1, 0)", "decode": "CASE x WHEN 1 THEN 'a' END",
		"random": "RAND()", "gen_random_uuid": "GENERATE_UUID()", "uuid": "GENERATE_UUID()", "newid": "GENERATE_UUID()", "cardinality": "ARRAY_LENGTH(x)", "try_cast": "SAFE_CAST(x AS INT64)",
		"to_number": "SAFE_CAST(x AS NUMERIC)", "version": "SESSION_USER() for the account; BigQuery has no version", "current_database": "the name of the project", "current_user": "SESSION_USER()",
	},
	Relations: map[string]string{
		"jobs": "leave it out: it shows the statements of other users", "jobs_by_project": "leave it out: it shows the statements of other users", "jobs_by_user": "leave it out: it shows statements",
		"pg_tables": "write " + listTables, "sqlite_master": "write " + listTables,
	},
}
