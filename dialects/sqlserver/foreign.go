package sqlserver

import "github.com/ktxhq/ktx/sqlguard"

// foreignFunctions maps functions of other SQL languages that people often write
// to their replacements in Transact-SQL.
var foreignFunctions = map[string]string{
	"age": "DATEDIFF", "any_value": "MAX", "array_agg": "STRING_AGG", "atan2": "ATN2", "btrim": "TRIM", "ceil": "CEILING",
	"char_length": "LEN", "character_length": "LEN", "chr": "CHAR or NCHAR", "curdate": "CAST (GETDATE() AS date)", "curtime": "CAST (GETDATE() AS time)",
	"date": "CAST (x AS date)", "date_add": "DATEADD", "date_format": "FORMAT", "date_part": "DATEPART", "date_sub": "DATEADD",
	"date_trunc": "DATETRUNC, with the part as a word", "datetime": "CAST (x AS datetime2)", "dayname": "DATENAME (weekday, x)", "dayofweek": "DATEPART (weekday, x)",
	"gen_random_uuid": "NEWID()", "group_concat": "STRING_AGG", "hour": "DATEPART (hour, x)", "ifnull": "ISNULL or COALESCE",
	"initcap": "UPPER and LOWER", "instr": "CHARINDEX", "json_agg": "FOR JSON", "json_extract": "JSON_VALUE or JSON_QUERY", "julianday": "DATEDIFF", "last_day": "EOMONTH",
	"lcase": "LOWER", "length": "LEN", "listagg": "STRING_AGG", "ln": "LOG", "locate": "CHARINDEX", "lpad": "RIGHT with REPLICATE", "make_date": "DATEFROMPARTS",
	"md5": "HASHBYTES", "median": "PERCENTILE_CONT", "minute": "DATEPART (minute, x)", "mod": "the operator %", "monthname": "DATENAME (month, x)",
	"now": "GETDATE() or SYSDATETIME()", "nvl": "ISNULL or COALESCE", "octet_length": "DATALENGTH", "pow": "POWER", "printf": "FORMATMESSAGE or FORMAT",
	"quarter": "DATEPART (quarter, x)", "random": "RAND()", "repeat": "REPLICATE", "rpad": "LEFT with REPLICATE", "second": "DATEPART (second, x)",
	"sha256": "HASHBYTES", "split_part": "STRING_SPLIT", "stddev": "STDEV", "stddev_pop": "STDEVP", "stddev_samp": "STDEV", "str_to_date": "CONVERT", "strftime": "FORMAT",
	"string_to_array": "STRING_SPLIT", "strpos": "CHARINDEX", "substr": "SUBSTRING", "sysdate": "SYSDATETIME()", "timestampdiff": "DATEDIFF", "to_char": "FORMAT",
	"to_date": "CONVERT", "to_number": "CAST", "to_timestamp": "CONVERT", "trunc": "ROUND (x, 0, 1) or DATETRUNC", "ucase": "UPPER",
	"unnest": "OPENJSON or STRING_SPLIT", "uuid": "NEWID()", "var_pop": "VARP", "var_samp": "VAR", "variance": "VAR", "week": "DATEPART (week, x)", "weekday": "DATEPART (weekday, x)",
}

// foreign returns a message for syntax of other SQL languages at a position where
// a statement should end, which says how to write it in Transact-SQL. It returns
// "" for all other syntax.
func (p *parser) foreign() string {
	before := token{}
	if p.at > 0 && p.at <= len(p.toks) {
		before = p.toks[p.at-1]
	}
	is := func(t token, word string) bool {
		return t.kind == sqlguard.TokenWord && lower(p.sql[t.start:t.end]) == word
	}
	switch {
	case is(before, "limit"), is(p.tok, "limit"):
		return "LIMIT is not Transact-SQL: write SELECT TOP (n), or ORDER BY … OFFSET 0 ROWS FETCH NEXT n ROWS ONLY"
	case is(before, "ilike"), is(p.tok, "ilike"), is(before, "regexp"), is(before, "rlike"), is(before, "similar"):
		return "this operator is not Transact-SQL: write LIKE, whose sense of case is the collation's, or REGEXP_LIKE"
	case is(before, "interval"):
		return "INTERVAL is not Transact-SQL: write DATEADD (day, n, x)"
	case is(before, "qualify"), is(p.tok, "qualify"):
		return "QUALIFY is not Transact-SQL: filter the window function in an outer query"
	case p.atForeignFetch():
		return "write FETCH after ORDER BY … OFFSET n ROWS"
	case p.operator() == "::":
		return "write casts as CAST (x AS type)"
	default:
		return ""
	}
}

// atForeignFetch reports whether the next tokens are FETCH {FIRST | NEXT} n. That
// is not a statement on a cursor, in which a name follows.
func (p *parser) atForeignFetch() bool {
	return p.is("fetch") && (p.peek(1).spells("first") || p.peek(1).spells("next")) && (p.peek(2).kind == sqlguard.TokenNumber || p.markOf(2) == '(')
}
