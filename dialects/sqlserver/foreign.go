package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// foreignFunctions maps functions of other SQL languages that people often write
// to what Transact-SQL has for a call of them.
var foreignFunctions = map[string]string{
	"age": "DATEDIFF(day, y, x)", "current_setting": "SERVERPROPERTY('ProductVersion')", "sqlite_version": "@@VERSION", "any_value": "MAX(x)", "array_agg": "STRING_AGG(x, ', ')", "atan2": "ATN2(y, x)", "btrim": "TRIM(x)", "ceil": "CEILING(x)", "char_length": "LEN(x)", "character_length": "LEN(x)", "chr": "CHAR(65)",
	"curdate": "CAST(GETDATE() AS date)", "curtime": "CAST(GETDATE() AS time)", "date": "CAST(x AS date)", "date_add": "DATEADD(day, 1, x)", "date_format": "FORMAT(x, 'yyyy-MM-dd')", "date_part": "DATEPART(year, x)", "date_sub": "DATEADD(day, -1, x)",
	"date_trunc": "DATETRUNC(month, x)", "datetime": "CAST(x AS datetime2)", "dayname": "DATENAME(weekday, x)", "dayofweek": "DATEPART(weekday, x)", "dayofyear": "DATEPART(dayofyear, x)", "gen_random_uuid": "NEWID()", "group_concat": "STRING_AGG(x, ', ')", "hour": "DATEPART(hour, x)",
	"ifnull": "COALESCE(x, y)", "initcap": "CONCAT(UPPER(LEFT(x, 1)), LOWER(SUBSTRING(x, 2, 100)))", "instr": "CHARINDEX('part', x)", "json_agg": "FOR JSON PATH at the end of the query", "json_extract": "JSON_VALUE(x, '$.key')", "julianday": "DATEDIFF(day, '2000-01-01', x)", "last_day": "EOMONTH(x)",
	"lcase": "LOWER(x)", "length": "LEN(x)", "listagg": "STRING_AGG(x, ', ')", "ln": "LOG(x)", "locate": "CHARINDEX('part', x)", "lpad": "RIGHT(REPLICATE('0', 5) + x, 5)", "make_date": "DATEFROMPARTS(2026, 1, 31)", "md5": "HASHBYTES('MD5', x)",
	"median": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER ()", "minute": "DATEPART(minute, x)", "mod": "x % y", "monthname": "DATENAME(month, x)", "now": "GETDATE()", "nvl": "COALESCE(x, y)", "octet_length": "DATALENGTH(x)", "pow": "POWER(x, 2)", "printf": "FORMATMESSAGE('%s', x)",
	"quarter": "DATEPART(quarter, x)", "random": "RAND()", "repeat": "REPLICATE(x, 3)", "rpad": "LEFT(x + REPLICATE(' ', 5), 5)", "second": "DATEPART(second, x)", "sha256": "HASHBYTES('SHA2_256', x)", "split_part": "STRING_SPLIT(x, ',')", "stddev": "STDEV(x)", "stddev_pop": "STDEVP(x)", "stddev_samp": "STDEV(x)",
	"str_to_date": "CONVERT(date, x, 23)", "strftime": "FORMAT(x, 'yyyy-MM-dd')", "string_to_array": "STRING_SPLIT(x, ',')", "strpos": "CHARINDEX('part', x)", "substr": "SUBSTRING(x, 1, 3)", "sysdate": "SYSDATETIME()", "timestampdiff": "DATEDIFF(day, x, y)", "to_char": "FORMAT(x, 'yyyy-MM-dd')",
	"to_date": "CONVERT(date, x, 23)", "to_number": "CAST(x AS decimal(20, 6))", "to_timestamp": "CONVERT(datetime2, x, 126)", "trunc": "ROUND(x, 0, 1)", "ucase": "UPPER(x)", "unnest": "OPENJSON(x)", "uuid": "NEWID()", "var_pop": "VARP(x)", "var_samp": "VAR(x)", "variance": "VAR(x)",
	"week": "DATEPART(week, x)", "weekday": "DATEPART(weekday, x)", "count_if": "COUNT(CASE WHEN x = 'a' THEN 1 END)", "countif": "COUNT(CASE WHEN x = 'a' THEN 1 END)", "bool_or": "MAX(x)", "bool_and": "MIN(x)", "json_object_agg": "FOR JSON PATH at the end of the query", "json_build_object": "JSON_OBJECT('key': x)",
	"regexp_match": "PATINDEX('%[0-9]%', x)", "unixepoch": "DATEDIFF(second, '1970-01-01', x)", "unix_timestamp": "DATEDIFF(second, '1970-01-01', x)", "from_unixtime": "DATEADD(second, x, '1970-01-01')", "current_database": "DB_NAME()", "total": "COALESCE(SUM(x), 0)", "hex": "CONVERT(varchar(100), x, 2)",
	"typeof": "SQL_VARIANT_PROPERTY(x, 'BaseType')", "safe_divide": "x / NULLIF(y, 0)", "add_months": "DATEADD(month, 1, x)", "nvl2": "IIF(x IS NOT NULL, y, z)", "log2": "LOG(x, 2)", "percentile_approx": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER ()",
}

// atForeignFetch reports whether the next tokens are FETCH {FIRST | NEXT} n. That
// is not a statement on a cursor, in which a name follows.
func (p *parser) atForeignFetch() bool {
	return p.is("fetch") && (p.peek(1).spells("first") || p.peek(1).spells("next")) && (p.peek(2).kind == sqlguard.TokenNumber || p.markOf(2) == '(')
}
