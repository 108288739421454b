package sqlcheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// withParameters checks a text as a file of SQL, or of another language.
func withParameters(t *testing.T, dialect, name, text string) report.File {
	t.Helper()
	c := sqlcheck.Checker{Stdin: strings.NewReader(text), Choose: with(t, dialect)}
	files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: name, Stdin: true}})
	if err != nil {
		t.Fatal(err)
	}
	return files[0]
}

// parameters are statements with parameters of the dialect, of drivers and of
// tools, by dialect. What does not begin with SELECT or WITH is a condition.
var parameters = map[string][]string{
	"postgres": {
		`$1 IS NULL OR a = $1`,
		`SELECT $1::int`,
		`SELECT $1`,
		`SELECT $1 AS x, $2`,
		`SELECT * FROM unnest($1::int[])`,
		`SELECT unnest($1)`,
		`SELECT CASE $1 WHEN 1 THEN 2 END`,
		`SELECT CASE WHEN $1 THEN a ELSE $2 END FROM t`,
		`(:a IS NULL OR a = :a)`,
		`? < a`,
		`?`,
		`NOT ?`,
		`NOT $1::bool AND a = 1`,
		`$1`,
		`$1 = ANY(tags)`,
		`a = ANY($1)`,
		`a OPERATOR(pg_catalog.=) ?`,
		`a OPERATOR(pg_catalog.=) :a AND b IN (:...ids)`,
		`a = $name AND b > $b`,
		`a = ANY(@ids::int[])`,
		`a = ANY(?)`,
		`a IN (?)`,
		`a IN ?`,
		`a IN (:v*:ids)`,
		`a IN :tuple:ids`,
		`(a, b) IN (:tuple*:rows)`,
		`a IN (:ids)`,
		`a IN (sqlc.slice('ids'))`,
		`a IN (sqlc.slice(ids))`,
		`a = sqlc.arg(x)`,
		`a = sqlc.arg('x')::int`,
		`a = COALESCE(sqlc.narg('x'), a)`,
		`sqlc.narg('x')::text IS NULL OR a = sqlc.narg('x')`,
		`SELECT sqlc.embed(t), sqlc.embed(u) FROM t JOIN u ON u.id = t.id`,
		`a = @x`,
		`a = @x::text`,
		`@x::text = '' OR a = @x`,
		`a LIKE '%' || :q || '%'`,
		`a ILIKE $1`,
		`a->>$1 = 'x'`,
		`a ? $1`,
		`a ?| $1`,
		`a ?& ARRAY[$1, $2]`,
		`a @> $1`,
		`a @> ARRAY[$1]::int[]`,
		`SELECT a FROM t LIMIT $1 OFFSET $2`,
		`SELECT a FROM t LIMIT ? OFFSET ?`,
		`SELECT a FROM t LIMIT :n OFFSET :o`,
		`SELECT a FROM t LIMIT @n OFFSET @o`,
		`SELECT a FROM t LIMIT sqlc.arg('n')`,
		`SELECT a FROM t OFFSET $1 ROWS FETCH NEXT $2 ROWS ONLY`,
		`SELECT a FROM t FETCH FIRST $1 ROWS ONLY`,
		`SELECT a FROM t ORDER BY CASE WHEN $1 = 'a' THEN a END, CASE WHEN @desc::bool THEN b END DESC`,
		`SELECT a FROM t ORDER BY $1`,
		`created > now() - $1::interval`,
		`created > now() - INTERVAL '1 day' * $1`,
		`created BETWEEN $1 AND $2`,
		`created BETWEEN :from AND :to`,
		`created BETWEEN @from_time AND @to_time`,
		`created >= :since::timestamptz`,
		`SELECT date_trunc($1, created) FROM t`,
		`SELECT generate_series($1::date, $2::date, '1 day')`,
		`SELECT * FROM generate_series($1::date, $2::date, interval '1 day') AS d`,
		`SELECT $1 AT TIME ZONE 'UTC'`,
		`SELECT created AT TIME ZONE $1 FROM t`,
		`SELECT extract(epoch FROM $1::timestamptz)`,
		`SELECT count(*) FILTER (WHERE a = $1) FROM t`,
		`SELECT a FROM t GROUP BY a HAVING count(*) > $1`,
		`SELECT a FROM t JOIN u ON $1 = u.id AND u.k = ?`,
		`(a, b) > ($1, $2)`,
		`(a, b) > (?, ?)`,
		`ROW(a, b) = ROW($1, $2)`,
		`a IS NOT DISTINCT FROM $1`,
		`a IS DISTINCT FROM :x`,
		`a = $1 COLLATE "C"`,
		`SELECT * FROM (VALUES ($1, $2), ($3, $4)) AS v(a, b)`,
		`SELECT * FROM (VALUES (?, ?), (?, ?)) AS v(a, b)`,
		`SELECT DISTINCT $1 FROM t`,
		"-- name: list-users\n-- raw: 1\nSELECT a FROM t WHERE a = $1",
		"-- :name x :? :*\n-- :doc all\nSELECT a FROM t WHERE a = :a\n",
		`SELECT a FROM t WHERE b = $1 UNION ALL SELECT $2`,
		`SELECT a FROM t TABLESAMPLE SYSTEM ($1)`,
		`SELECT sum(a) OVER (ORDER BY b ROWS $1 PRECEDING) FROM t`,
		`SELECT array_agg(a ORDER BY b) FROM t WHERE c = $1`,
		`SELECT jsonb_build_object('a', $1, 'b', :b)`,
		`SELECT coalesce($1, a), greatest(?, b) FROM t`,
		`SELECT cast($1 AS int), CAST(:x AS text), cast(? as date)`,
		`SELECT EXISTS (SELECT 1 FROM t WHERE a = $1 LIMIT 1)`,
		`SELECT a[$1] FROM t`,
		`SELECT a[1:n] FROM t`,
		`SELECT substring(a FROM $1 FOR $2) FROM t`,
		`SELECT overlay(a PLACING $1 FROM 2) FROM t`,
		`SELECT position($1 IN a) FROM t`,
		`SELECT trim(both $1 FROM a) FROM t`,
		`a = :a AND b = :b OR :c = c`,
		`a=? AND b<>? AND c<=?`,
		`EXISTS (SELECT 1 FROM t WHERE a=?)`,
		`a = :'x' AND b = ANY(:'users'::text[])`,
		`a = :v:x`,
		`a = :value:x`,
		`a <> ALL (:v*:ids)`,
		`a SIMILAR TO $1 ESCAPE $2`,
		`to_tsvector('english', a) @@ plainto_tsquery($1)`,
		`SELECT ts_rank(a, websearch_to_tsquery(:q)) FROM t`,
		`SELECT a FROM t, LATERAL jsonb_array_elements($1::jsonb) e`,
		`SELECT a FROM t JOIN unnest(:ids) AS x(id) ON x.id = t.id`,
		`SELECT a FROM json_to_recordset(?) AS x(a int)`,
		`a = {d '2020-01-01'}`,
		`a = {ts '2020-01-01 00:00:00'}`,
		`a = {t '00:00:00'}`,
		`{fn ucase(a)} = 'X'`,
		`{fn lcase({fn concat(a, 'x')})} = {fn user()}`,
		`a LIKE 'x!%' {escape '!'}`,
		`SELECT a FROM {oj t LEFT OUTER JOIN u ON t.a = u.a}`,
		`SELECT a FROM t {limit 5}`,
		`SELECT {fn now()}, {fn curdate()}, {fn timestampadd(SQL_TSI_DAY, 1, a)} FROM t`,
		`a = %s`,
		`a = %(name)s`,
		`WITH x AS (SELECT $1::int AS n) SELECT n FROM x`,
		`a@>? OR a&&? OR a~*? OR a||?||?=b OR a%?=0 OR a=-?`,
		`?=a OR ?<>b OR (?*2>=a) OR ?->>'x'=b`,
		`a@>@x OR a-@x=1 OR a=-@x`,
		`a=?1 AND b = ?2`,
		`a = :1 AND b[:2] IS NULL AND c[1:2] IS NULL`,
		`a LIKE '%'||?||'%'`,
		`a ?? 'x' OR a ??| ? OR a ??& array['x', ?] OR a @?? '$.x'`,
		`a BETWEEN SYMMETRIC ? AND ?`,
		`SELECT overlay(? PLACING ? FROM ? FOR ?)`,
		`SELECT * FROM xmltable(? PASSING ? COLUMNS a int PATH 'x')`,
		`b > now() - INTERVAL :x OR b < now() + interval ? OR b < interval @x + c OR b > interval %(x)s`,
		`SELECT a, $1 b FROM t`,
		`SELECT * FROM t WHERE a = $1 AND ($2::text IS NULL OR b = $2) AND (NOT @flag::bool OR c)`,
	},
	"mysql": {
		`a = _utf8mb4 ? AND b = _latin1 :b COLLATE latin1_bin`,
		`a IN (:...ids)`,
		`a = :1 AND b = :2`,
		`SELECT GROUP_CONCAT(a SEPARATOR ?) FROM t`,
		`? IS NULL OR a = ?`,
		`SELECT ?`,
		`SELECT ? AS x`,
		`(:a IS NULL OR a = :a)`,
		`? < a`,
		`?`,
		`NOT ?`,
		`a IN (?)`,
		`a IN ?`,
		`a IN (:v*:ids)`,
		`a IN (sqlc.slice('ids'))`,
		`a IN (sqlc.slice(ids))`,
		`a = sqlc.arg(x)`,
		`a = COALESCE(sqlc.narg('x'), a)`,
		`CAST(sqlc.narg('x') AS CHAR) IS NULL`,
		`a LIKE CONCAT('%', ?, '%')`,
		`a LIKE CONCAT('%', :q, '%')`,
		`SELECT a FROM t LIMIT ?`,
		`SELECT a FROM t LIMIT ?, ?`,
		`SELECT a FROM t LIMIT ? OFFSET ?`,
		`SELECT a FROM t LIMIT :o, :n`,
		`SELECT CASE ? WHEN 1 THEN 2 END`,
		`SELECT IF(? IS NULL, a, ?) FROM t`,
		`a > NOW() - INTERVAL ? DAY`,
		`a > DATE_SUB(NOW(), INTERVAL :d DAY)`,
		`a > DATE_ADD(?, INTERVAL 1 DAY)`,
		`MATCH(a) AGAINST (? IN BOOLEAN MODE)`,
		`MATCH(a) AGAINST (:q)`,
		`a REGEXP ?`,
		`a BETWEEN ? AND ?`,
		`(a, b) IN ((?, ?), (?, ?))`,
		`(a, b) > (?, ?)`,
		`SELECT CAST(? AS SIGNED), CONVERT(?, CHAR)`,
		`SELECT JSON_EXTRACT(a, ?) FROM t`,
		`SELECT * FROM JSON_TABLE(?, '$[*]' COLUMNS (a INT PATH '$')) j`,
		`? MEMBER OF (a)`,
		`SELECT a FROM t ORDER BY FIELD(a, ?)`,
		`SELECT a FROM t ORDER BY CASE WHEN ? = 'x' THEN a END`,
		`SELECT a FROM t GROUP BY a HAVING COUNT(*) > ?`,
		`SELECT a FROM t UNION SELECT ?`,
		`SELECT a FROM t JOIN u ON u.id = ? AND ? = t.x`,
		`a <=> ?`,
		`a = {d '2020-01-01'}`,
		`a = {ts '2020-01-01 00:00:00'}`,
		`{fn ucase(a)} = 'X'`,
		`a = %s`,
		`a = %(name)s`,
		`SELECT SUBSTRING(a, ?, ?) FROM t`,
		`SELECT SUBSTRING(a FROM ? FOR ?) FROM t`,
		`SELECT -?, !?`,
		`a = BINARY ?`,
		`SELECT EXISTS (SELECT 1 FROM t WHERE a = ?)`,
		`SELECT DATE_FORMAT(a, ?) FROM t`,
		`SELECT a DIV ?, a MOD ? FROM t`,
		`a = :v:x`,
		`NOT EXISTS (SELECT 1 FROM u WHERE u.a = ?) AND ? = 1`,
	},
	"sqlite": {
		`?1 IS NULL OR a = ?1`,
		`$x IS NULL OR a = :a`,
		`SELECT ?, :a, @b, $c`,
		`(:a IS NULL OR a = :a)`,
		`? < a`,
		`?`,
		`a IN (?)`,
		`a IN (:v*:ids)`,
		`a IN (sqlc.slice('ids'))`,
		`a IN (sqlc.slice(ids))`,
		`a = sqlc.arg(x)`,
		`a = COALESCE(sqlc.narg('x'), a)`,
		`CAST(sqlc.narg('x') AS text) IS NULL`,
		`a = @x`,
		`a GLOB ?`,
		`a MATCH ?`,
		`t MATCH :q`,
		`a LIKE ? ESCAPE ?`,
		`a IN (SELECT value FROM json_each(?))`,
		`SELECT value FROM json_each(:ids)`,
		`SELECT a FROM t LIMIT ? OFFSET ?`,
		`SELECT a FROM t LIMIT ?, ?`,
		`SELECT CASE ? WHEN 1 THEN 2 END`,
		`SELECT iif(? IS NULL, a, ?) FROM t`,
		`SELECT datetime('now', ?), strftime(?, a) FROM t`,
		`SELECT a FROM t ORDER BY CASE WHEN :s = 'x' THEN a END`,
		`a IS ?`,
		`a IS NOT :x`,
		`a BETWEEN ? AND ?`,
		`(a, b) > (?, ?)`,
		`SELECT * FROM (VALUES (?, ?), (?, ?))`,
		`SELECT CAST(? AS integer)`,
		`a = ? COLLATE NOCASE`,
		`SELECT a -> ?, a ->> :p FROM t`,
		`a = :v:x`,
		`NOT :x OR a`,
		`SELECT a FROM t GROUP BY a HAVING count(*) > ?`,
		`SELECT - :x`,
		`SELECT 1 WHERE EXISTS (SELECT 1 FROM t WHERE a = ?)`,
		`a = %s`,
	},
	"sqlserver": {
		`a = :1 AND b = :2`,
		`SELECT * FROM t FOR SYSTEM_TIME BETWEEN @a AND @b`,
		`SELECT * FROM t FOR SYSTEM_TIME FROM ? TO ? WHERE a = @c`,
		`@p1 IS NULL OR a = @p1`,
		`? IS NULL OR a = ?`,
		`:a IS NULL OR a = :a`,
		`SELECT @p1, ?, :a`,
		`SELECT TOP (@n) a FROM t`,
		`SELECT TOP (?) a FROM t`,
		`SELECT TOP @n a FROM t`,
		`SELECT a FROM t ORDER BY a OFFSET @o ROWS FETCH NEXT @n ROWS ONLY`,
		`SELECT a FROM t ORDER BY a OFFSET ? ROWS FETCH NEXT ? ROWS ONLY`,
		`SELECT a FROM t ORDER BY a OFFSET :o ROWS FETCH NEXT :n ROWS ONLY`,
		`a > DATEADD(day, @n, GETDATE())`,
		`a > DATEADD(day, -?, GETDATE())`,
		`a IN (SELECT value FROM STRING_SPLIT(@ids, ','))`,
		`a IN (SELECT value FROM STRING_SPLIT(?, ','))`,
		`SELECT * FROM OPENJSON(@j) WITH (a int)`,
		`SELECT * FROM OPENJSON(?) WITH (a int)`,
		`a IN (@a, @b)`,
		`a IN (?, ?)`,
		`? < a`,
		`SELECT CASE @p1 WHEN 1 THEN 2 END`,
		`SELECT CASE ? WHEN 1 THEN 2 END`,
		`SELECT IIF(@p1 = 1, a, @p2) FROM t`,
		`SELECT CAST(@a AS int), CONVERT(int, ?), TRY_CAST(:x AS date)`,
		`a LIKE '%' + @q + '%'`,
		`a LIKE ? ESCAPE '!'`,
		`a BETWEEN @a AND @b`,
		`a BETWEEN ? AND ?`,
		`SELECT a AT TIME ZONE @tz FROM t`,
		`CONTAINS(a, @q)`,
		`FREETEXT(a, ?)`,
		`SELECT * FROM t FOR SYSTEM_TIME AS OF @t`,
		`SELECT COALESCE(@a, a), ISNULL(?, b) FROM t`,
		`SELECT a FROM t GROUP BY a HAVING COUNT(*) > @n`,
		`SELECT * FROM (VALUES (@a, @b), (?, ?)) AS v(a, b)`,
		`EXISTS (SELECT 1 FROM u WHERE a = @x)`,
		`a = {d '2020-01-01'}`,
		`a = {ts '2020-01-01 00:00:00'}`,
		`{fn ucase(a)} = 'X'`,
		`SELECT -@x, -?`,
		`SELECT a FROM t WHERE a = :v:x`,
		`a = %s`,
	},
	"bigquery": {
		`a = @x.y AND b IN UNNEST(@x.list.c)`,
		`SELECT @x[OFFSET(0)], @x.y.z + 1, t.a FROM t WHERE @x.flag`,
		`a = @x`,
		`a = ?`,
		`a IN (@x, @y)`,
		`a IN UNNEST(@ids)`,
		`SELECT a FROM t LIMIT @n OFFSET @o`,
		`SELECT DATE_SUB(d, INTERVAL @n DAY), @x AS x FROM t`,
		`a BETWEEN @x AND @y`,
		`SELECT x FROM UNNEST(@ids) AS x`,
		`SELECT a FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY a) <= @n`,
		`SELECT STRUCT(@x AS x), [@x, @y] FROM t`,
	},
	"clickhouse": {
		`a = {x:UInt32}`,
		`SELECT {x:UInt32}, {y:String} AS y`,
		`a IN ({ids:Array(UInt32)})`,
		`a IN {ids:Array(UInt32)}`,
		`? = a`,
		`a = ?`,
		`a = :x`,
		`a = $1`,
		`SELECT a FROM t LIMIT {n:UInt8} OFFSET {o:UInt8}`,
		`SELECT a FROM t LIMIT ?`,
		`SELECT if({x:UInt8} = 1, a, b) FROM t`,
		`a BETWEEN ? AND ?`,
		`has({ids:Array(String)}, a)`,
		`a > now() - INTERVAL ? DAY`,
		`a > now() - INTERVAL {d:UInt8} DAY`,
		`a IN (?)`,
		`(a, b) IN ((?, ?))`,
	},
}

// TestParameters: a parameter is a value wherever one can stand.
func TestParameters(t *testing.T) {
	t.Parallel()
	for dialect, list := range parameters {
		for _, sql := range list {
			if !strings.HasPrefix(sql, "SELECT ") && !strings.HasPrefix(sql, "--") && !strings.HasPrefix(sql, "WITH ") {
				sql = "SELECT a FROM t WHERE " + sql
			}
			if file := withParameters(t, dialect, "q.sql", sql); len(file.Findings) > 0 || file.Judged != 1 {
				t.Errorf("%s: %s: %+v", dialect, sql, file.Findings)
			}
		}
	}
}

// TestNamedQueries: a comment that names a query ends the one before it.
func TestNamedQueries(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"-- name: a\nSELECT a FROM t WHERE a = $1\n\n-- name: b\nSELECT '-- name: c'\nFROM t\n",
		"/* name: a :many */\nSELECT a FROM t WHERE a = $1\n\n/* name: b :one */\nSELECT b FROM t\n",
		"-- :name a :? :*\nSELECT a FROM t WHERE a = :a\n\n-- :name b :? :1\nSELECT b FROM t WHERE b IN (:v*:b)\n",
	} {
		if file := withParameters(t, "postgres", "q.sql", text); file.Judged != 2 || len(file.Findings) > 0 {
			t.Errorf("%s: %+v", text, file)
		}
	}
}

// TestParametersThatAreNone: what stands for a name or for any SQL is a hole. A
// parameter changes nothing of what else a statement does, and one that stands
// where no value can is refused.
func TestParametersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dialect, sql string
		code         sqlguard.Code
		at           string // the text that the finding marks; not compared if empty
	}{
		{"postgres", "SELECT a FROM $1", sqlguard.CodeParseError, ""},
		{"postgres", "SELECT a $1 FROM t", sqlguard.CodeParameterNotAllowed, "$1"},
		{"postgres", "SELECT a FROM t WHERE b = $1; DELETE FROM t WHERE a = $1", sqlguard.CodeWriteStatement, "DELETE FROM t WHERE a = $1"},
		{"postgres", "SELECT $1::int, pg_read_file($2)", sqlguard.CodeFunctionFileAccess, "pg_read_file"},
		{"postgres", "SELECT a FROM t WHERE ? < a AND pg_sleep(:n) IS NULL", sqlguard.CodeFunctionSleep, "pg_sleep"},
		{"postgres", "SELECT a FROM t WHERE a||?||pg_sleep(?) IS NULL", sqlguard.CodeFunctionSleep, "pg_sleep"},
		{"postgres", "SELECT a FROM t WHERE a=?--?\n; DELETE FROM t WHERE a=?", sqlguard.CodeWriteStatement, "DELETE FROM t WHERE a=?"},
		{"postgres", "SELECT a FROM t WHERE a ??| ?; DELETE FROM t", sqlguard.CodeWriteStatement, "DELETE FROM t"},
		{"postgres", "SELECT a FROM t WHERE a ?! b AND c = ?", sqlguard.CodeOperatorNotAllowed, "?!"},
		{"postgres", "SELECT a FROM t WHERE b > INTERVAL $1", sqlguard.CodeParameterNotAllowed, "$1"}, // the server has no place for it
		{"postgres", "/* name: a :one */ SELECT 1 /* name: b :exec */ DELETE FROM t", sqlguard.CodeWriteStatement, "DELETE FROM t"},
		{"mysql", "# name: a :one\nSELECT 1\n# name: b :exec\nDELETE FROM t", sqlguard.CodeWriteStatement, "DELETE FROM t"},
		{"sqlite", "SELECT system_time FROM :i:name", sqlguard.CodeDynamicSQLUnprovable, ":i:name"},
		{"postgres", "SELECT :i:name FROM t", sqlguard.CodeDynamicSQLUnprovable, ":i:name"},
		{"postgres", "SELECT a FROM :identifier:name WHERE a = :v:x", sqlguard.CodeDynamicSQLUnprovable, ":identifier:name"},
		{"postgres", "SELECT a FROM t WHERE :sql:cond", sqlguard.CodeDynamicSQLUnprovable, ":sql:cond"},
		{"postgres", "SELECT :i*:cols FROM t :snip:rest", sqlguard.CodeDynamicSQLUnprovable, ":i*:cols"},
		{"postgres", "-- :name x :? :*\n-- :doc all\nSELECT a FROM t\n--~ (when (:b params) \"WHERE b = :b\")\n", sqlguard.CodeDynamicSQLUnprovable, `--~ (when (:b params) "WHERE b = :b")`},
		{"postgres", "-- :name x :? :*\nSELECT a FROM t WHERE\n/*~ (if (:b params) */\nb = :b\n/*~*/\nb <> :b\n/*~ ) ~*/\n", sqlguard.CodeDynamicSQLUnprovable, `/*~ (if (:b params) */`},
		{"postgres", "SELECT a FROM t WHERE a OPERATOR(pg_catalog.=) ?; DELETE FROM t", sqlguard.CodeWriteStatement, "DELETE FROM t"},
		{"postgres", "SELECT a FROM t WHERE a = $name; DELETE FROM t", sqlguard.CodeWriteStatement, "DELETE FROM t"},
		{"mysql", "SELECT a FROM t WHERE a = _utf8mb4 ? INTO OUTFILE 'f'", sqlguard.CodeSelectInto, ""},
		{"bigquery", "SELECT @x.y; DELETE FROM t WHERE true", sqlguard.CodeWriteStatement, "DELETE FROM t WHERE true"},
		{"postgres", "SELECT ?? FROM t WHERE a = ?", sqlguard.CodeDynamicSQLUnprovable, "??"},
		{"postgres", "SELECT a FROM :SCHEMA.t", sqlguard.CodeDynamicSQLUnprovable, ":SCHEMA"},
		{"postgres", "SELECT a FROM :\"name\"", sqlguard.CodeDynamicSQLUnprovable, ":\"name\""},
		{"postgres", "DROP TABLE :SCHEMA.t", sqlguard.CodeDDLStatement, "DROP TABLE :SCHEMA.t"},
		{"postgres", "{call f(?)}", sqlguard.CodeProcedureCall, ""},
		{"postgres", "{? = call f(?)}", sqlguard.CodeProcedureCall, ""},
		{"postgres", "SELECT {fn pg_sleep(1)}", sqlguard.CodeFunctionSleep, "pg_sleep"},
		{"postgres", "SELECT {fn ucase(a)} FROM t; DROP TABLE t", sqlguard.CodeDDLStatement, "DROP TABLE t"},
		{"postgres", "SELECT sqlc.evil(a) FROM t", sqlguard.CodeFunctionNotAllowed, ""},
		{"mysql", "SELECT ?? FROM t WHERE a = ?", sqlguard.CodeDynamicSQLUnprovable, "??"},
		{"mysql", "SELECT a FROM t WHERE a = @x", sqlguard.CodeSessionChange, "@x"},
		{"mysql", "SELECT a FROM t WHERE a = :x INTO OUTFILE 'f'", sqlguard.CodeSelectInto, ""},
		{"sqlite", "SELECT a FROM :i:name", sqlguard.CodeDynamicSQLUnprovable, ":i:name"},
		{"mysql", "SELECT a::int FROM t", sqlguard.CodeParseError, "::int"},
		{"sqlite", "SELECT a::int FROM t", sqlguard.CodeParseError, "::int"},
		{"sqlserver", "SELECT a FROM @t", sqlguard.CodeParameterNotAllowed, ""},
		{"clickhouse", "SELECT a FROM {name:Identifier} WHERE a = {x:UInt8}", sqlguard.CodeDynamicSQLUnprovable, "{name:Identifier}"},
	} {
		file := withParameters(t, test.dialect, "q.sql", test.sql)
		if len(file.Findings) == 0 || file.Findings[0].Code != test.code || file.Findings[0].Severity != report.SeverityError {
			t.Errorf("%s: %s: %+v", test.dialect, test.sql, file.Findings)
			continue
		}
		if span := file.Findings[0].Span; test.at != "" && test.sql[span.Start:span.End] != test.at {
			t.Errorf("%s: %s: marks %q", test.dialect, test.sql, test.sql[span.Start:span.End])
		}
	}
}

// TestTemplates: in a file of SQL, what a program fills in is one note for each
// statement, and the rest of the statement is judged.
func TestTemplates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"ALTER TABLE {{ index .Options \"Namespace\" }}.users ADD COLUMN a {{ .Type }};": {"error 1 ddl_statement", "note 13 dynamic_sql_unprovable"},
		"SELECT {{ .Schema }}.f(a), pg_sleep(1) FROM {{ .Schema }}.t WHERE a = {{ .A }}": {"note 8 dynamic_sql_unprovable", "error 28 function_sleep"},
		"SELECT 1 {{ if .A }} FROM t {{ end }} WHERE; DROP TABLE t":                      {"note 10 dynamic_sql_unprovable", "error 46 ddl_statement"},
		"SELECT '{{1,2},{3,4}}'::int[], '{{ x }}' -- {{ y }}":                            nil,
		"SELECT * FROM t WHERE a = {{ .A }} AND b IN ({{ .B }})":                         nil,
		"SELECT a FROM t WHERE a = 1 {{ .More }}":                                        {"note 29 dynamic_sql_unprovable"},
		"SELECT {{ a FROM t": {"error 8 parse_error"},
		"SELECT * FROM \"{{ .Schema }}\".t; SELECT \"a\" FROM t":                                 {"note 16 dynamic_sql_unprovable"},
		"DELETE FROM ${SCHEMA}.t WHERE a = ${A}":                                                 {"error 1 write_statement", "note 13 dynamic_sql_unprovable"},
		"GRANT SELECT ON t TO role_${NAME}":                                                      {"error 1 privilege_statement", "note 27 dynamic_sql_unprovable"},
		"{% for a in b %}DELETE FROM t WHERE a = '{{ a }}'; {% endfor %} SELECT 1":               {"note 1 dynamic_sql_unprovable", "error 17 write_statement", "note 52 dynamic_sql_unprovable"},
		"SELECT a.{column}, b FROM a WHERE b = {value}":                                          {"note 10 dynamic_sql_unprovable"},
		"SELECT '${A}' FROM t -- ${B}":                                                           nil,
		"ALTER TABLE @cdm.t ADD COLUMN a int; SELECT a FROM @cdm.t WHERE a=@a":                   {"error 1 ddl_statement", "note 13 dynamic_sql_unprovable", "note 52 dynamic_sql_unprovable"},
		"SELECT a FROM t WHERE a<>@b AND b <@ ARRAY[1]":                                          nil,
		"CREATE TABLE @extschema@.a (b int); GRANT SELECT ON a TO @extowner@":                    {"error 1 ddl_statement", "error 37 privilege_statement"},
		"SELECT a FROM @extschema@.t JOIN @extschema:other@.u USING (a)":                         nil,
		"SELECT @extschema@.f(a) FROM t WHERE a <> @ b":                                          {"error 8 function_not_allowed"},
		"SELECT a FROM :name WHERE b = :b; DELETE FROM :name":                                    {"error 15 dynamic_sql_unprovable", "error 35 write_statement", "error 47 dynamic_sql_unprovable"},
		"ALTER EXTENSION e UPDATE TO :'version'; SELECT :'a'::text, substring(a FROM :b) FROM t": {"error 1 ddl_statement"},
		"UPDATE t SET a = :a! WHERE b = :b!":                                                     {"error 1 write_statement"},
		"SELECT a FROM t WHERE b = :b! AND c > :c!::int AND d <> :d":                             nil,
		"INSERT INTO t (a) VALUES :rows RETURNING a":                                             {"error 1 write_statement"},
		"SELECT a FROM t WHERE :b!=c AND :b !~ c":                                                nil,
	} {
		var got []string
		for _, f := range withParameters(t, "postgres", "a.sql", text).Findings {
			got = append(got, fmt.Sprintf("%s %d %s", f.Severity, f.Column, f.Code))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestTemplatesOfOthers: other dialects quote names in other ways, and SQL Server's
// tools have templates of their own.
func TestTemplatesOfOthers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dialect, text string
		want          []string
	}{
		{"bigquery", "SELECT a FROM `{{ params.project }}.{{ params.set }}.t` WHERE d = '{{ ds }}'", []string{"note 16 dynamic_sql_unprovable"}},
		{"bigquery", "SELECT a FROM t WHERE b = \"{{ ds }}\" AND c = @c", nil},
		{"clickhouse", "DROP TABLE `${DATABASE}`.t", []string{"error 1 ddl_statement", "note 13 dynamic_sql_unprovable"}},
		{"sqlserver", "SELECT a FROM [$(Database)].dbo.t WHERE a < 1 AND b > 2", []string{"note 16 dynamic_sql_unprovable"}},
		{"sqlserver", "USE $(Database)", []string{"error 1 session_change", "note 5 dynamic_sql_unprovable"}},
		{"sqlserver", "SELECT a FROM <owner, , dbo>.<table_name, sysname, t>", []string{"note 15 dynamic_sql_unprovable"}},
		{"sqlserver", "SELECT a FROM @rows AS r JOIN sys.dm_exec_sql_text(0x01) AS s ON 1 = 1", []string{"error 15 parameter_not_allowed", "error 31 function_admin"}},
		{"sqlserver", "SELECT a INTO @scratch@delimiter@prefix_rows FROM t", []string{"error 10 select_into"}},
		{"sqlserver", "SELECT a FROM t JOIN @a@b@c_rows r ON t.a = r.a", []string{"note 22 dynamic_sql_unprovable"}},
		{"sqlserver", "SELECT a FROM (@query) AS q", []string{"note 16 dynamic_sql_unprovable"}},
		{"sqlserver", "SELECT a FROM t WHERE b = @@VERSION AND c = @c", nil},
		{"mysql", "ALTER TABLE t ADD a int;--> statement-breakpoint\nDROP TABLE u;\n--> statement-breakpoint\nSELECT 1", []string{"error 1 ddl_statement", "error 1 ddl_statement"}},
		{"mysql", "CREATE PROCEDURE p()\none:BEGIN\n  DELETE FROM t;\nEND;\nSELECT 1", []string{"error 1 ddl_statement"}},
		{"bigquery", "BEGIN\nSELECT 1;\nEXCEPTION WHEN ERROR THEN\nDELETE FROM t WHERE true;\nEND;\nSELECT 2; END IF; SELECT END", []string{
			"error 1 procedural_block", "error 1 procedural_block", "error 1 procedural_block", "error 11 procedural_block", "error 26 parse_error",
		}},
		{"sqlserver", "SELECT @x.value('(/a)[1]', 'int')", []string{"error 8 parameter_not_allowed"}},
	} {
		var got []string
		for _, f := range withParameters(t, test.dialect, "a.sql", test.text).Findings {
			got = append(got, fmt.Sprintf("%s %d %s", f.Severity, f.Column, f.Code))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.text, diff)
		}
	}
}

// TestNamesFilledIn: where ? stands for a name, the statement is judged with a
// name, and nobody knows which.
func TestNamesFilledIn(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		`db.ExecContext(ctx, "ALTER TABLE ? ADD COLUMN ? TEXT", bun.Ident("a"), bun.Ident("b"))`:       {"error ddl_statement", "note dynamic_sql_unprovable", "note dynamic_sql_unprovable"},
		`db.ExecContext(ctx, "SELECT id FROM t WHERE a = ? AND b", 1)`:                                 nil,
		`db.NewRaw("(COALESCE(?, ?) || ?) COLLATE ?", bun.Ident("a"), "", "b")`:                        nil,
		`db.NewRaw("DELETE FROM ?", bun.Ident("a"))`:                                                   {"error write_statement", "note dynamic_sql_unprovable"},
		`db.ExecContext(ctx, "SELECT FROM WHERE ?", 1)`:                                                {"error parse_error"},
		`s.QueryContext(ctx, "WHERE a = ?", 1)`:                                                        {"note parse_error"},
		`s.QueryContext(ctx, "WHERE a = 1; DROP TABLE t")`:                                             {"note parse_error", "error ddl_statement"},
		`stmt1.QueryRowx("not a statement")`:                                                           nil,
		`q, args, err := sqlx.In("DELETE FROM t WHERE a IN (?)", ids); db.Exec(db.Rebind(q), args...)`: {"error write_statement"},
		`db.QueryRow("SELECT ?::jsonb->?, d->>? FROM t", a, b, c)`:                                     nil,
	} {
		var got []string
		for _, f := range withParameters(t, "postgres", "a.go", "package a\n\nfunc f() { "+code+" }\n").Findings {
			got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

// TestRoutineInCode: the body of a routine of MySQL belongs to the statement in code too.
func TestRoutineInCode(t *testing.T) {
	t.Parallel()
	code := "package a\n\nfunc f() {\n\tdb.ExecContext(ctx, `CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN\n" +
		"\t\tIF NEW.a > 1 THEN SET NEW.a = 1; END IF;\n\tEND`)\n\tdb.ExecContext(ctx, `CREATE TABLE b (a int); DROP TABLE t`)\n}\n"
	var got []string
	for _, f := range withParameters(t, "mysql", "a.go", code).Findings {
		got = append(got, fmt.Sprintf("%s %d %s", f.Severity, f.Line, f.Code))
	}
	if diff := cmp.Diff([]string{"error 4 ddl_statement", "error 7 ddl_statement", "error 7 ddl_statement"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestTaggedTemplates: a library binds or quotes what fills a template with its tag,
// unless the program says that it is SQL.
func TestTaggedTemplates(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		"db.one(sql`SELECT ${a.b} FROM ${table} WHERE ${a.b} = ${x}`)":                    {"note dynamic_sql_unprovable", "note dynamic_sql_unprovable"},
		"db.one(sql`DELETE FROM ${table}`)":                                               {"error write_statement", "note dynamic_sql_unprovable"},
		"db.one(sql`SELECT a FROM ${sql.unsafe(table)}`)":                                 {"error dynamic_sql_unprovable", "note dynamic_sql_unprovable"},
		"db.$queryRaw`SELECT a FROM t WHERE b > now() - INTERVAL ${a} OR ${b} IS NULL`":   nil,
		"db.one(sql.unsafe`DELETE FROM t WHERE a = ${a}`)":                                {"error write_statement"},
		"db.one(sql.type(z.any())`DELETE FROM t WHERE a = ${a}`)":                         {"error write_statement"},
		"db.one(sql.typeAlias('id')`SELECT a FROM t WHERE a = ${a}`)":                     nil,
		"db.one(sql.fragment`DELETE FROM t WHERE a = ${a}`)":                              {"error write_statement"},
		"pool.request().query`DELETE FROM t WHERE a = ${a}`":                              {"error write_statement"},
		"db.any('SELECT a FROM t WHERE a = $1::int AND b IN ($2:csv)')":                   nil,
		"db.any('DELETE FROM $1:name WHERE a = $2')":                                      {"error write_statement", "note dynamic_sql_unprovable"},
		"db.query('{call f(?)}')":                                                         {"error procedure_call", "error function_not_allowed"},
		"db.query(`SELECT a FROM ${table}`)":                                              {"note dynamic_sql_unprovable"},
		"db.one(sql`SELECT * FROM (VALUES ${sql.join(rows, sql.raw(', '))}) AS t`)":       {"note dynamic_sql_unprovable"},
		"db.one(sql`SELECT * FROM (VALUES ${sql.join(rows, sql.raw(', 1'))}) AS t`)":      {"error dynamic_sql_unprovable"},
		"db.$queryRawUnsafe(`SELECT a FROM ${table}`)":                                    {"error dynamic_sql_unprovable"},
		"db.query(sql`UPDATE t SET ${key} = lower(${key})`)":                              {"error write_statement", "note dynamic_sql_unprovable"},
		"db.one(sql`SELECT a FROM t ORDER BY a ${up ? sql`asc` : sql`desc`}`)":            nil,
		"db.$queryRaw`INSERT INTO \"t\" (a) VALUES (${a}, \"public\".\"f\"(${b}, ${c}))`": {"error write_statement", "error function_not_allowed"},
	} {
		var got []string
		for _, f := range withParameters(t, "postgres", "a.ts", code).Findings {
			got = append(got, fmt.Sprintf("%s %s", f.Severity, f.Code))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

// TestAssignedVariable: a variable that the statement assigns is no parameter.
func TestAssignedVariable(t *testing.T) {
	t.Parallel()
	var got []string
	for _, f := range withParameters(t, "mysql", "a.sql", "SELECT MATCH(a) AGAINST (? IN BOOLEAN MODE), @r := ? FROM t WHERE b = @b").Findings {
		got = append(got, fmt.Sprintf("%d %s", f.Column, f.Code))
	}
	if diff := cmp.Diff([]string{"46 session_change"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestComposed: what psycopg's module sql makes of names and values is one, whatever it is,
// and a note where nothing says which name. Functions of others with these names say
// nothing.
func TestComposed(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`cur.copy_expert(sql.SQL("SELECT {f} FROM {t} WHERE a = {v}").format(f=sql.Identifier("a"), t=sql.Identifier("s", "t"), v=sql.Literal(x)))`: "",
		`cur.copy_expert(sql.SQL("SELECT {} FROM t").format(sql.SQL(", ").join([sql.Placeholder("x"), sql.Identifier("b"), sql.Literal(2)])))`:      "",
		`cur.copy_expert(sql.SQL("SELECT {} FROM t").format(sql.SQL(", ").join([sql.Identifier(a), sql.Identifier("b")])))`:                         "dynamic_sql_unprovable note\n",
		`cur.copy_expert(psycopg2.sql.SQL("SELECT a FROM {}").format(psycopg2.sql.Identifier(x)))`:                                                  "dynamic_sql_unprovable note\n",
		`cur.copy_expert(sql.SQL("SELECT a FROM {}").format(other.Identifier(x)))`:                                                                  "dynamic_sql_unprovable error\n",
		`cur.copy_expert(sql.SQL("SELECT a FROM {}").format(sql.SQL(x)))`:                                                                           "dynamic_sql_unprovable error\n",
		`cur.copy_expert('SHOW "%s"' % name)`:                                                        "dynamic_sql_unprovable error\n",
		`n = int(x); cur.copy_expert(f"/* {n} */ SELECT 1")`:                                         "",
		`cur.copy_expert(f"/* {x} */ SELECT 1")`:                                                     "dynamic_sql_unprovable error\n",
		`conn.pgconn.exec_("DROP TABLE t")`:                                                          "ddl_statement error\n",
		`cur.copy_expert(sql.SQL("DELETE FROM {}").format(sql.Identifier("t")))`:                     "write_statement error\n",
		`cur.copy_expert(sql.SQL("SELECT a FROM {}").format(sql.Identifier('x"y')))`:                 "",
		`cur.copy_expert(sql.SQL("SELECT rolpassword FROM {}").format(sql.Identifier('pg_authid')))`: "credential_relation error\n",
	} {
		file := withParameters(t, "postgres", "a.py", "import psycopg2\nfrom psycopg2 import sql\n"+code+"\n")
		got := ""
		for _, f := range file.Findings {
			got += fmt.Sprintf("%s %s\n", f.Code, f.Severity)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// TestScripts: what files of SQL have that is not the server's own: psql's variables, the
// name of a file as a parameter, a terminator before another delimiter, and constraints
// that the reader does not know yet.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ dialect, text, want string }{
		{"postgres", `COMMENT ON COLUMN :"registry".changes.planned_at IS 'x';`, "ddl_statement error\ndynamic_sql_unprovable error\n"},
		{"postgres", `COPY t FROM :x;`, "write_statement error\nfunction_file_access error\n"},
		{"postgres", `COPY t FROM $1;`, "write_statement error\nfunction_file_access error\n"},
		{"postgres", `COPY (SELECT a FROM t) TO :'x';`, "function_file_access error\n"},
		{"postgres", `COPY (SELECT a FROM :x) TO STDOUT;`, "statement_not_allowed error\ndynamic_sql_unprovable error\n"},
		{"postgres", `DROP SCHEMA IF EXISTS :x CASCADE;`, "ddl_statement error\ndynamic_sql_unprovable error\n"},
		{"postgres", `CREATE FUNCTION :x.f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql;`, "ddl_statement error\ndynamic_sql_unprovable error\n"},
		{"postgres", `SELECT a FROM :x;`, "dynamic_sql_unprovable error\n"},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c NOT NULL a NO INHERIT;", "ddl_statement error\n"},
		{"postgres", "ALTER TABLE t ADD NOT NULL \"a b\" NOT VALID;", "ddl_statement error\n"},
		{"postgres", "CREATE TABLE t (a int CONSTRAINT x NOT NULL, CONSTRAINT y NOT NULL a);", "ddl_statement error\n"},
		{"mysql", "DELIMITER |\nCREATE TRIGGER a BEFORE INSERT ON d\nFOR EACH ROW BEGIN\n  SET NEW.x = 1;\nEND;\n|\nDELIMITER ;\nSELECT 1;\n", "ddl_statement error\n"},
	} {
		file := withParameters(t, test.dialect, "a.sql", test.text)
		got := ""
		for _, f := range file.Findings {
			got += fmt.Sprintf("%s %s\n", f.Code, f.Severity)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
}

// TestLibraries: the functions of more libraries take SQL, and what they take beside it
// is none.
func TestLibraries(t *testing.T) {
	t.Parallel()
	const write = "DELETE FROM t WHERE a = $1"
	for name, calls := range map[string][]string{
		"a.go": {
			`db.QueryOne(&x, "%s")`, `engine.SQL("%s").Find(&x)`, `sess.UpdateBySql("%s").Exec()`, `sqlitex.Execute(conn, "%s", nil)`, `sqlitex.ExecScript(conn, "%s")`,
			`conn.AsyncInsert(ctx, "%s", true)`, `conn.ExecParams(ctx, "%s", nil)`,
		},
		"a.ts": {
			`client.queryObject("%s")`, "client.queryArray`%s`", `client.query(new Cursor("%s"))`, `db.runAsync("%s")`, `client.executeMultiple("%s")`, `request.batch("%s")`, `sql("%s", [a])`,
		},
		"a.py": {
			`pl.read_database("%s", c)`, `database.fetch_all(query="%s")`, `c.execute_query_dict("%s")`, `hook.get_records("%s")`, `PostgresOperator(task_id="delete from x", sql="%s")`, `DDL("%s")`,
		},
	} {
		for _, call := range calls {
			code := strings.ReplaceAll(call, "%s", write)
			if name == "a.go" {
				code = "package a\n\nfunc f() { " + code + " }\n"
			}
			if file := withParameters(t, "postgres", name, code); !slices.ContainsFunc(file.Findings, func(f report.Finding) bool {
				return f.Code == sqlguard.CodeWriteStatement && f.Severity == report.SeverityError
			}) {
				t.Errorf("%s: %+v", code, file.Findings)
			}
		}
	}
	for name, code := range map[string]string{
		"a.ts": "sql('select'); sql(rows, 'set'); sql([1]); batch(() => 1); batch(updates); worker.runAsync('wait for it')",
		"a.py": "files.copy('a set of files')\nfetch_all(urls)\nget_first(rows)\n",
	} {
		if file := withParameters(t, "postgres", name, code); len(file.Findings) > 0 {
			t.Errorf("%s: %+v", code, file.Findings)
		}
	}
}
