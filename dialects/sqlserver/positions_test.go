package sqlserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestPositions compares what the findings point at, in bytes of the text as
// given.
func TestPositions(t *testing.T) {
	g := newGuard(t)
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"SELECT 'é', a INTO [x y] FROM t", []string{"select_into INTO [x y]"}},
		{"SELECT é, @v FROM t WHERE b = @w", []string{"parameter_not_allowed @v", "parameter_not_allowed @w"}},
		{"SELECT @v += 1", []string{"parameter_not_allowed @v +="}},
		{"SELECT * FROM t WITH (NOLOCK, UPDLOCK) JOIN u (XLOCK) ON 1=1", []string{"locking_hint UPDLOCK", "locking_hint XLOCK"}},
		{"SELECT 1 OPTION (MAXDOP 1, QUERYTRACEON 1, MAXRECURSION 0)", []string{"hint_not_allowed QUERYTRACEON 1", "hint_not_allowed MAXRECURSION 0"}},
		{"SELECT 1 OPTION (USE HINT ('x'))", []string{"hint_not_allowed 'x'"}},
		{"SELECT NEXT VALUE FOR [a].b OVER (ORDER BY c)", []string{"function_side_effect NEXT VALUE FOR [a].b OVER (ORDER BY c)"}},
		{"SELECT a . b (1), x.y.z(2)", []string{"function_not_allowed a . b", "function_not_allowed x.y.z"}},
		{"SELECT LoginProperty('sa', 'x')", []string{"function_admin LoginProperty"}},
		{"SELECT * FROM OPENQUERY(s, 'x') AS q", []string{"function_network_access OPENQUERY"}},
		{"SELECT * FROM ::fn_dblog(NULL, NULL)", []string{"function_admin ::fn_dblog"}},
		{"SELECT * FROM [sys] . sql_logins, a.b.c.d", []string{"credential_relation [sys] . sql_logins", "external_relation a.b.c.d"}},
		{"SELECT @@VERSION, @@X, SERVERPROPERTY('ErrorLogFileName'), SERVERPROPERTY(a)", []string{
			"setting_not_allowed @@X", "setting_not_allowed 'ErrorLogFileName'", "setting_not_allowed (",
		}},
		{"SELECT geography::Foo(1).Bar, (a).Baz()", []string{"function_not_allowed geography::Foo", "function_not_allowed Bar", "function_not_allowed Baz"}},
		{"SELECT c.modify('x') FROM t", []string{"function_side_effect c.modify"}},
		{"SELECT 1; DROP TABLE t ;", []string{"multiple_statements DROP TABLE t", "ddl_statement DROP TABLE t"}},
		{"SELECT 1 /* x */ EXEC sp_who /* y */", []string{"multiple_statements EXEC sp_who", "procedure_call EXEC sp_who"}},
		{"/* x */ [sp_who] 'a' ;", []string{"procedure_call [sp_who] 'a'"}},
		{"WITH x AS (DELETE t OUTPUT deleted.a) SELECT 1", []string{"write_in_cte DELETE t OUTPUT deleted.a"}},
		{"WITH x AS (SELECT 1 a) DELETE FROM x", []string{"write_statement WITH x AS (SELECT 1 a) DELETE FROM x"}},
		{"SELECT * FROM (MERGE t USING u ON 1=1 WHEN MATCHED THEN DELETE) AS m", []string{"write_statement MERGE t USING u ON 1=1 WHEN MATCHED THEN DELETE"}},
		{"SELECT a FROM t FOR UPDATE OF a, b", []string{"locking_clause FOR UPDATE OF a, b"}},
		{"SELECT {call p(1)}", []string{"procedure_call {call p(1)}"}},
		{"SELECT a FROM t COMPUTE SUM(a)", []string{"statement_not_allowed COMPUTE"}},
	} {
		var got []string
		for _, f := range g.Check(c.sql).Findings {
			got = append(got, string(f.Code)+" "+c.sql[f.Span.Start:f.Span.End])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, - want, + got:\n%s", c.sql, diff)
		}
	}
}

// TestPath checks that the path of a finding inside WITH names the common table expression.
func TestPath(t *testing.T) {
	v := newGuard(t).Check("WITH a AS (SELECT 1 x), b AS (SELECT @v y) SELECT * FROM b")
	if len(v.Findings) != 1 || v.Findings[0].Path != "with.b" {
		t.Errorf("%+v", v.Findings)
	}
}

// TestSyntaxErrors compares messages: what the parser expected, what it found,
// and where. No message quotes a literal.
func TestSyntaxErrors(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT":                                     `6 expected an expression, found the end of the text`,
		"SELECT a,":                                  `9 expected an expression, found the end of the text`,
		"SELECT a FROM":                              `13 expected a table, found the end of the text`,
		"SELECT a FROM t WHERE":                      `21 expected an expression, found the end of the text`,
		"SELECT a FROM t WHERE b":                    `22 expected a condition, found an expression`,
		"SELECT a FROM t WHERE b = 1 c":              `28 expected the end of the statement, found "c"`,
		"SELECT a FROM t u 'secret'":                 `18 expected the end of the statement, found a string literal`,
		"SELECT (1":                                  `9 expected ")", found the end of the text`,
		"SELECT (a = 1)":                             `14 expected an expression instead of the condition before, found the end of the text`,
		"SELECT CASE END":                            `12 expected an expression, found the keyword END`,
		"SELECT CASE a ELSE 1 END":                   `14 expected WHEN, found the keyword ELSE`,
		"SELECT a FROM t ORDER a":                    `16 expected the end of the statement, found the keyword ORDER`,
		"SELECT a FROM t JOIN u":                     `22 expected ON, found the end of the text`,
		"SELECT a FROM t GROUP BY":                   `24 expected an expression, found the end of the text`,
		"SELECT a FROM (SELECT 1 AS a)":              `29 expected an alias of the query before, found the end of the text`,
		"SELECT a FROM t LIMIT 5":                    `22 expected the end of the statement, found a number`,
		"SELECT a FROM t FOR XML":                    `23 expected RAW, AUTO, EXPLICIT or PATH, found the end of the text`,
		"SELECT a FROM t ORDER BY a OFFSET 5":        `35 expected ROW, found the end of the text`,
		"SELECT DATEADD('day', 1, a) FROM t":         `15 expected a part of a date, such as day, found a string literal`,
		"SELECT CAST(a int) FROM t":                  `14 expected AS, found "int"`,
		"WITH x AS SELECT 1":                         `10 expected "(", found the keyword SELECT`,
		"WITH x AS (SELECT 1 a)":                     `22 expected SELECT, found the end of the text`,
		"SELECT a FROM t WITH (NOLOCK":               `28 expected a table hint, found the end of the text`,
		"SELECT [] FROM t":                           `7 expected a name, and a quoted name cannot be empty, found "[]"`,
		"SELECT 'a":                                  `7 the string literal has no end`,
		"SELECT [a":                                  `7 the quoted name has no end`,
		"SELECT 1 /* a /* b */":                      `9 the comment has no end`,
		"SELECT `a`":                                 `7 quote names with [ and ], or with double quotes`,
		"SELECT ¿a":                                  `7 no token of Transact-SQL begins with this character`,
		"SELECT 0x1G":                                `7 a word follows this number without a space`,
		"SELECT a FROM t FETCH FIRST 5 ROWS ONLY":    `16 expected the end of the statement, found the keyword FETCH`,
		"SELECT a FROM t WHERE a ILIKE 'x'":          `22 expected a condition, found an expression`,
		"SELECT a FROM t WHERE d > b - INTERVAL '1'": `39 expected the end of the statement, found a string literal`,
		"SELECT 'a'::int":                            `10 expected the end of the statement, found "::"`,
		"SELECT a FROM t WHERE a = 1 AND":            `31 expected an expression, found the end of the text`,
		"SELECT a FROM t WHERE a = 1 AND b":          `33 expected a comparison, found the end of the text`,
		"SELECT a FROM t WHERE NOT a":                `27 expected a comparison, found the end of the text`,
		"SELECT a.b.c.d.e.f.g FROM t":                `18 expected a name of fewer parts, found "."`,
		"SELECT t. FROM t":                           `10 expected a name after the dot, found the keyword FROM`,
		"SELECT a FROM t PIVOT (SUM(a) FOR b IN (1)": `40 expected a value, written as a name, found a number`,
	} {
		_, err := sqlserver.Dialect{}.Analyze(sql)
		syntax, ok := err.(*sqlguard.SyntaxError) //nolint:errorlint // the interface promises exactly this type
		if !ok {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := itoa(syntax.Offset) + " " + syntax.Message; got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}
