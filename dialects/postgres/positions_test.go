package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// expressionPositions are reads in which @ marks a position where any expression
// is valid.
var expressionPositions = []string{
	"SELECT @",
	"SELECT ALL @ FROM t",
	"SELECT 1, (@) AS x, 2",
	"SELECT DISTINCT @ FROM t",
	"SELECT DISTINCT ON (@) a FROM t",
	"SELECT * FROM t WHERE @ = b",
	"SELECT * FROM t WHERE NOT (@ IS NULL)",
	"SELECT * FROM t WHERE a AND (b OR @ IS NOT NULL)",
	"SELECT a FROM t GROUP BY a, @",
	"SELECT a FROM t GROUP BY DISTINCT ROLLUP (a, (b, @)), CUBE (c)",
	"SELECT a FROM t GROUP BY GROUPING SETS ((a), (b, @), ())",
	"SELECT a, grouping(@) FROM t GROUP BY 1",
	"SELECT a FROM t GROUP BY a HAVING max(b) > @",
	"SELECT a FROM t ORDER BY @ DESC NULLS LAST",
	"SELECT a FROM t ORDER BY @ USING <",
	"SELECT a FROM t LIMIT @",
	"SELECT a FROM t LIMIT 1 OFFSET @",
	"SELECT a FROM t FETCH FIRST (@) ROWS ONLY",
	"SELECT a FROM t ORDER BY a FETCH FIRST (@) ROWS WITH TIES",
	"VALUES (1, @)",
	"VALUES (1), (2) ORDER BY @",
	"SELECT * FROM (VALUES (1, @)) AS v(a, b)",
	"SELECT * FROM t WHERE (a, b) IN (VALUES (1, @))",
	"SELECT * FROM t WHERE a IN (1, @)",
	"SELECT * FROM t WHERE @ NOT IN (1, 2)",
	"SELECT * FROM t WHERE a BETWEEN 1 AND @",
	"SELECT * FROM t WHERE a NOT BETWEEN SYMMETRIC @ AND 2",
	"SELECT * FROM t WHERE a LIKE @ ESCAPE 'x'",
	"SELECT * FROM t WHERE a ILIKE 'x' ESCAPE @",
	"SELECT * FROM t WHERE a SIMILAR TO @",
	"SELECT * FROM t WHERE a ~ @",
	"SELECT * FROM t WHERE a IS DISTINCT FROM @",
	"SELECT * FROM t WHERE @ IS NOT DISTINCT FROM a",
	"SELECT * FROM t WHERE (@)::bool IS NOT UNKNOWN",
	"SELECT * FROM t WHERE a = ANY (ARRAY[1, @])",
	"SELECT * FROM t WHERE @ <> ALL (b)",
	"SELECT * FROM t WHERE a = SOME (SELECT @)",
	"SELECT * FROM t WHERE (a, @) < (1, 2)",
	"SELECT * FROM t WHERE (a, b) OVERLAPS (@, d)",
	"SELECT * FROM t WHERE EXISTS (SELECT FROM u WHERE @ IS NULL)",
	"SELECT (SELECT (SELECT @))",
	"SELECT ARRAY(SELECT @)",
	"SELECT ARRAY[[1], [@]]",
	"SELECT ROW(1, @)",
	"SELECT (1, @)",
	"SELECT a[@] FROM t",
	"SELECT a[1:@] FROM t",
	"SELECT a[@:] FROM t",
	"SELECT (ARRAY[1, 2])[@]",
	"SELECT (ROW(@)).f1",
	"SELECT CASE @ WHEN 1 THEN 2 END",
	"SELECT CASE WHEN a THEN @ ELSE c END FROM t",
	"SELECT CASE a WHEN @ THEN 2 END FROM t",
	"SELECT CASE WHEN a THEN b ELSE @ END FROM t",
	"SELECT coalesce(a, @) FROM t",
	"SELECT greatest(a, @), least(a, b) FROM t",
	"SELECT nullif(@, a) FROM t",
	"SELECT CAST(@ AS text)",
	"SELECT (@)::text::int",
	"SELECT @ COLLATE \"C\"",
	"SELECT a AT TIME ZONE @ FROM t",
	"SELECT -(@)",
	"SELECT a || @ FROM t",
	"SELECT a OPERATOR(pg_catalog.+) @ FROM t",
	"SELECT lower(@)",
	"SELECT concat(VARIADIC ARRAY[@])",
	"SELECT make_interval(days => @)",
	"SELECT extract(epoch FROM @)",
	"SELECT overlay(a PLACING @ FROM 1 FOR 2) FROM t",
	"SELECT position(@ IN a) FROM t",
	"SELECT substring(a FROM @ FOR 2) FROM t",
	"SELECT substring(a SIMILAR @ ESCAPE '#') FROM t",
	"SELECT trim(LEADING @ FROM a) FROM t",
	"SELECT normalize(@, NFC)",
	"SELECT @ IS NFC NORMALIZED",
	"SELECT collation FOR (@)",
	"SELECT treat(@ AS int4)",
	"SELECT count(*) FILTER (WHERE @ IS NULL) FROM t",
	"SELECT sum(DISTINCT @) FROM t",
	"SELECT string_agg(a, ',' ORDER BY @) FROM t",
	"SELECT percentile_cont(@) WITHIN GROUP (ORDER BY a) FROM t",
	"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY @) FROM t",
	"SELECT sum(a) OVER (PARTITION BY @) FROM t",
	"SELECT sum(a) OVER (ORDER BY b, @) FROM t",
	"SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN @ PRECEDING AND CURRENT ROW) FROM t",
	"SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND @ FOLLOWING EXCLUDE TIES) FROM t",
	"SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY @)",
	"SELECT sum(a) OVER (w ORDER BY @) FROM t WINDOW w AS (PARTITION BY b)",
	"SELECT lag(a, 1, @) OVER () FROM t",
	"SELECT * FROM generate_series(1, @)",
	"SELECT * FROM t, LATERAL unnest(@) AS u(x)",
	"SELECT * FROM t LEFT JOIN LATERAL (SELECT @) AS u ON true",
	"SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(@)) WITH ORDINALITY AS r(a, b, c)",
	"SELECT * FROM json_to_recordset(@) AS r(a int, b text COLLATE \"C\")",
	"SELECT * FROM t JOIN u ON t.a = @",
	"SELECT * FROM (t JOIN u ON @ = 1) AS j",
	"SELECT * FROM t TABLESAMPLE bernoulli (@) REPEATABLE (1)",
	"SELECT * FROM t TABLESAMPLE system (1) REPEATABLE (@)",
	"SELECT * FROM CAST(@ AS text) AS x",
	"SELECT * FROM coalesce(@, 1) AS x",
	"WITH x AS (SELECT @) SELECT * FROM x",
	"WITH x(a) AS NOT MATERIALIZED (VALUES (@)) TABLE x",
	"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + @ FROM x) SELECT * FROM x",
	"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n FROM x) SEARCH DEPTH FIRST BY n SET o SELECT o, @ FROM x",
	"WITH a AS (WITH b AS (WITH c AS (SELECT @) SELECT * FROM c) SELECT * FROM b) SELECT * FROM a",
	"SELECT 1 UNION ALL SELECT @",
	"(SELECT 1 EXCEPT SELECT @) INTERSECT SELECT 2",
	"SELECT 1 UNION (SELECT 2 ORDER BY @ LIMIT 1)",
	"(((SELECT @)))",
	"SELECT xmlelement(name a, xmlattributes(@ AS b), 'c')",
	"SELECT xmlelement(name a, @)",
	"SELECT xmlconcat(a, @) FROM t",
	"SELECT xmlforest(a, @ AS b) FROM t",
	"SELECT xmlpi(name php, @)",
	"SELECT xmlroot(a, version @, standalone yes) FROM t",
	"SELECT xmlparse(document @)",
	"SELECT xmlserialize(content @ AS text)",
	"SELECT xmlexists(@ PASSING BY VALUE a) FROM t",
	"SELECT @ IS DOCUMENT",
	"SELECT * FROM XMLTABLE(XMLNAMESPACES(@ AS x), '/a' PASSING d COLUMNS b text)",
	"SELECT * FROM XMLTABLE(@ PASSING d COLUMNS b text PATH 'b')",
	"SELECT * FROM XMLTABLE('/a' PASSING @ COLUMNS b text PATH 'b')",
	"SELECT * FROM XMLTABLE('/a' PASSING d COLUMNS b text PATH @)",
	"SELECT * FROM XMLTABLE('/a' PASSING d COLUMNS n FOR ORDINALITY, b text PATH 'b' DEFAULT @ NOT NULL)",
	"SELECT @ IS JSON OBJECT WITH UNIQUE KEYS",
	"SELECT json(@)",
	"SELECT json_scalar(@)",
	"SELECT json_serialize(@ RETURNING text)",
	"SELECT json_object('a': @ ABSENT ON NULL)",
	"SELECT json_object(@ VALUE 1 FORMAT JSON RETURNING jsonb)",
	"SELECT json_array(1, @ NULL ON NULL)",
	"SELECT json_array(SELECT @)",
	"SELECT json_objectagg('a': @ WITH UNIQUE KEYS) FILTER (WHERE true) FROM t",
	"SELECT json_objectagg('a': b) OVER (PARTITION BY @) FROM t",
	"SELECT json_arrayagg(a ORDER BY @) FROM t",
	"SELECT json_arrayagg(@) FILTER (WHERE @ IS NULL) FROM t",
	"SELECT json_query(@, '$')",
	"SELECT json_query(a, @) FROM t",
	"SELECT json_exists(a, '$.b' PASSING @ AS x ERROR ON ERROR) FROM t",
	"SELECT json_value(a, '$' RETURNING int DEFAULT @ ON EMPTY NULL ON ERROR) FROM t",
	"SELECT json_value(a, '$' DEFAULT @ ON ERROR) FROM t",
	"SELECT * FROM JSON_TABLE(@, '$' COLUMNS (a int))",
	"SELECT * FROM JSON_TABLE(j, '$' PASSING @ AS x COLUMNS (a int)) AS k",
	"SELECT * FROM JSON_TABLE(j, '$' COLUMNS (a int PATH '$.a' DEFAULT @ ON EMPTY))",
	"SELECT * FROM JSON_TABLE(j, '$' COLUMNS (NESTED PATH '$.b' COLUMNS (c text PATH '$' DEFAULT @ ON ERROR)))",
	"SELECT numeric(@) '1'",
	"SELECT a::varchar(1)[], numeric(@, 2) '1' FROM t",
	"EXPLAIN SELECT @",
	"EXPLAIN (ANALYZE false, FORMAT json) SELECT @",
	"EXPLAIN (ANALYZE, VERBOSE, BUFFERS) SELECT a FROM t WHERE @ IS NULL",
}

// TestExpressionPositions: the guard judges an expression in every position, and no
// position makes it refuse an allowed expression.
func TestExpressionPositions(t *testing.T) {
	g := guard(t)
	for _, position := range expressionPositions {
		for _, tt := range []struct {
			expression string
			code       sqlguard.Code
		}{
			{"lower('a')", ""},
			{"(SELECT max(k) FROM elsewhere)", ""},
			{"pg_sleep(1)", sqlguard.CodeFunctionSleep},
			{`pg_catalog."pg_read_file"('/etc/passwd')`, sqlguard.CodeFunctionFileAccess},
			{`U&"set\005fconfig"('a', 'b', false)`, sqlguard.CodeFunctionSideEffect},
			{"myschema.anything()", sqlguard.CodeFunctionNotAllowed},
			{"('x'::text).pg_ls_dir", sqlguard.CodeFunctionFileAccess},
			{"(SELECT x.pg_ls_dir FROM unnest(ARRAY['/']) AS x)", sqlguard.CodeFunctionFileAccess},
			{"(1 OPERATOR(public.+) 2)", sqlguard.CodeOperatorNotAllowed},
			{"(SELECT rolpassword FROM pg_authid)", sqlguard.CodeCredentialRelation},
			{"(SELECT query FROM pg_stat_activity)", sqlguard.CodeCredentialRelation},
			{"(SELECT k FROM elsewhere FOR UPDATE)", sqlguard.CodeLockingClause},
			{"(SELECT k INTO e FROM elsewhere)", sqlguard.CodeSelectInto},
			{"(WITH w AS (DELETE FROM elsewhere RETURNING k) SELECT k FROM w)", sqlguard.CodeWriteInCTE},
			{"$1", sqlguard.CodeParameterNotAllowed},
			{"current_setting('data_directory')", sqlguard.CodeSettingNotAllowed},
			{"(SELECT k FROM elsewhere TABLESAMPLE public.anything(1))", sqlguard.CodeFunctionNotAllowed},
		} {
			sql := strings.ReplaceAll(position, "@", tt.expression)
			v := g.Check(sql)
			switch {
			case v.Code == sqlguard.CodeParseError:
				// Some positions take a simple expression only.
				if strings.HasPrefix(tt.expression, "(") || tt.expression == "lower('a')" {
					t.Errorf("%s: %s", sql, v.Findings[0].Message)
				}
			case tt.code == "" && !v.Allowed:
				t.Errorf("%s: refused: %+v", sql, v.Findings)
			case tt.code != "" && !slices.ContainsFunc(v.Findings, func(f sqlguard.Finding) bool { return f.Code == tt.code }):
				t.Errorf("%s: no finding with code %s: %+v", sql, tt.code, v.Findings)
			}
		}
	}
}

func guard(tb testing.TB) *sqlguard.Guard {
	tb.Helper()
	return dialecttest.NewGuard(tb, postgres.Dialect{})
}
