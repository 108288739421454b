package duckdb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/duckdb"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// reads are statements that must be allowed.
var reads = []string{
	"SELECT 1", "SELECT 1;", "; SELECT 1", "VALUES (1), (2)", "TABLE t", "FROM t", "FROM t SELECT a, count(*) GROUP BY ALL ORDER BY ALL LIMIT 10%",
	"SELECT * EXCLUDE (a) REPLACE (b + 1 AS b) RENAME (c AS d) FROM t", "SELECT COLUMNS('x.*'), COLUMNS(c -> c LIKE 'a%') FROM t", "SELECT t.* FROM s.t",
	"SELECT sum(x) FILTER (WHERE y > 1) OVER w FROM t WINDOW w AS (PARTITION BY y ORDER BY z ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
	"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1",
	"SELECT * FROM a ASOF JOIN b USING (k, ts)", "SELECT * FROM a POSITIONAL JOIN b", "SELECT * FROM a NATURAL JOIN b SEMI JOIN c USING (k)", "SELECT * FROM t, LATERAL (SELECT t.a + 1)",
	"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT * FROM c", "WITH a AS MATERIALIZED (SELECT 1 AS x) SELECT x FROM a",
	"SELECT {'a': 1, b: c}, [x * 2 for x in l if x > 1], MAP {'k': v}, l[1], l[1:2], s.field.sub, s['field'] FROM t",
	"SELECT list_transform(l, lambda x: x + 1), list_filter(l, x -> x > 1), l.list_sort(), name.upper().trim() FROM t",
	"PIVOT t ON a IN ('x', 'y') USING sum(b) GROUP BY c", "UNPIVOT t ON a, b INTO NAME n VALUE v", "SELECT * FROM t PIVOT (sum(b) FOR a IN (1, 2))",
	"SELECT d - INTERVAL '1 day', d + INTERVAL 3 MONTH, extract(year FROM d), date_trunc('month', d), DATE '2020-01-01' FROM t",
	"SELECT a::DECIMAL(10, 2), TRY_CAST(b AS INT[]), c::STRUCT(x INT, y VARCHAR), 'happy'::mood FROM t", "SELECT j->>'$.a', j->'b', json_extract(j, '$.c') FROM t",
	"SELECT * FROM range(10) r(i)", "SELECT * FROM range(10000000)", "SELECT unnest([1, 2])", "SELECT * FROM unnest([1, 2]) u(x)", "SELECT * FROM json_each('[1]')", "SELECT i FROM generate_series(1, 3) g(i)",
	"SELECT * FROM t USING SAMPLE reservoir(10 ROWS)", "SELECT * FROM t TABLESAMPLE 5%", "SELECT a FROM t ORDER BY a COLLATE NOCASE.NOACCENT NULLS LAST",
	"SELECT a FROM t UNION BY NAME SELECT b FROM u", "(SELECT a FROM t) EXCEPT ALL (SELECT a FROM u)", "SELECT DISTINCT ON (a) a, b FROM t",
	"SELECT approx_count_distinct(a), arg_max(a, b), quantile_cont(a, 0.5), percentile_cont(0.5) WITHIN GROUP (ORDER BY a), string_agg(a, ',' ORDER BY a) FROM t",
	"SELECT ifnull(a, 1), coalesce(a, 2), try(a / b), CASE a WHEN 1 THEN 'x' ELSE 'y' END, if(a > 1, 2, 3) FROM t", "SELECT position('a' IN b), substring(a FROM 1 FOR 2), trim(BOTH 'x' FROM a) FROM t",
	"DESCRIBE t", "DESCRIBE SELECT 1", "SUMMARIZE t", "SHOW TABLES", "SHOW ALL TABLES", "EXPLAIN SELECT a FROM t", "EXPLAIN (FORMAT json) SELECT 1",
	"PRAGMA table_info('t')", "PRAGMA show_tables", "SELECT * FROM pragma_table_info('t')", "SELECT table_name FROM duckdb_tables()", "SELECT * FROM information_schema.columns",
	"SELECT name FROM sqlite_master", "SELECT relname FROM pg_class", "SELECT current_setting('timezone')", "SELECT version(), current_date, now(), uuid()",
	"SELECT \"weird name\" FROM \"t\"\"u\" AS \"v w\"", "SELECT $$it's$$, E'a\\'b\\n', x'ab', 1_000, 1e5, .5", "SELECT /* a /* b */ c */ 1 -- d",
}

// refusals are statements that must be refused, with their codes.
var refusals = []struct {
	code sqlguard.Code
	sql  []string
}{
	{sqlguard.CodeWriteStatement, []string{
		"INSERT INTO t SELECT 1", "INSERT OR REPLACE INTO t VALUES (1)", "UPDATE t SET a = 1", "DELETE FROM t", "TRUNCATE t", "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
		"COPY t TO 'a.csv'", "COPY t FROM 'a.csv'", "COPY (SELECT 1) TO 'a.parquet' (FORMAT parquet)", "EXPORT DATABASE 'd'", "IMPORT DATABASE 'd'", "COPY FROM DATABASE a TO b (DATA)", "VACUUM", "ANALYZE t",
	}},
	{sqlguard.CodeWriteInCTE, []string{"WITH x AS (INSERT INTO t VALUES (1) RETURNING a) SELECT * FROM x", "SELECT (WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x)"}},
	{sqlguard.CodeDDLStatement, []string{
		"CREATE TABLE t (a INT)", "CREATE TEMP TABLE t AS SELECT 1", "CREATE VIEW v AS SELECT 1", "CREATE MACRO m(x) AS x", "CREATE TEMP MACRO m(x) AS TABLE SELECT x",
		"CREATE SECRET s (TYPE s3)", "ALTER TABLE t ADD COLUMN a INT", "DROP TABLE t", "COMMENT ON TABLE t IS 'x'",
	}},
	{sqlguard.CodeSessionChange, []string{
		"ATTACH 'a.db' AS a", "DETACH a", "USE a", "SET threads = 1", "SET VARIABLE x = 1", "RESET threads", "LOAD httpfs", "INSTALL httpfs", "INSTALL httpfs FROM 'http://a'",
	}},
	{sqlguard.CodeTransactionControl, []string{"BEGIN", "COMMIT", "ROLLBACK"}},
	{sqlguard.CodeDynamicSQL, []string{
		"PREPARE p AS SELECT 1", "EXECUTE p", "SELECT * FROM query('DROP TABLE t')", "SELECT * FROM query_table('t')", "SELECT * FROM json_execute_serialized_sql('{}')", "SELECT json_serialize_plan('SELECT 1')",
	}},
	{sqlguard.CodeFunctionNotAllowed, []string{
		"SELECT * FROM range(100000000000)", "SELECT [x FOR x IN range(1_000_000_000)]", "SELECT * FROM range(0, -100000000000, -1)", "SELECT unnest(generate_series(1, 1e12::BIGINT))",
		"SELECT * FROM repeat('a', 100000000000)", "SELECT * FROM repeat_row(1, 'a', num_rows = 100000000000)",
	}},
	{sqlguard.CodeProcedureCall, []string{"CALL enable_logging()", "CALL pragma_version()"}},
	{sqlguard.CodePragmaNotAllowed, []string{"PRAGMA enable_profiling", "PRAGMA database_list", "PRAGMA storage_info('t')", "PRAGMA import_database('d')"}},
	{sqlguard.CodeMultipleStatements, []string{"SELECT 1; SELECT 2", "PIVOT t ON a USING sum(b)", "SELECT * FROM (PIVOT t ON a)"}},
	{sqlguard.CodeFunctionFileAccess, []string{
		"SELECT * FROM 'a.csv'", "SELECT * FROM \"a.csv\"", "SELECT * FROM 'https://a/b.parquet'", "SELECT * FROM \"/etc/passwd\"", "SELECT * FROM read_csv('a')", "SELECT * FROM READ_TEXT('/etc/passwd')",
		"SELECT * FROM glob('*')", "SELECT * FROM t WHERE a IN (SELECT content FROM read_blob('x'))", "SELECT * FROM parquet_metadata('a')", "SELECT * FROM main.read_csv('a')",
		"SELECT * FROM 't'", "SUMMARIZE 'a.csv'", "DESCRIBE SELECT * FROM 'a.csv'", "FROM 'a.csv'", "TABLE 'a.csv'",
		"FROM a.csv", "SELECT * FROM main.a.Parquet", "SELECT * FROM t JOIN a.json USING (b)", "DESCRIBE a.csv",
	}},
	{sqlguard.CodeFunctionNetworkAccess, []string{"SELECT * FROM postgres_scan('a', 'b', 'c')", "SELECT * FROM mysql_query('a', 'b')"}},
	{sqlguard.CodeFunctionSideEffect, []string{"SELECT nextval('s')", "SELECT write_log('x')", "SELECT setseed(1)", "SELECT * FROM force_checkpoint()", "SELECT x.nextval() FROM t AS x"}},
	{sqlguard.CodeFunctionSleep, []string{"SELECT pg_sleep(1)", "SELECT sleep_ms(1)"}},
	{sqlguard.CodeFunctionAdmin, []string{"SELECT * FROM duckdb_settings()", "SELECT getenv('HOME')", "SELECT * FROM arrow_scan(1, 2, 3)", "SELECT getvariable('x')"}},
	{sqlguard.CodeCredentialRelation, []string{"SELECT * FROM duckdb_secrets()", "SELECT * FROM which_secret('s3://a', 's3')", "SELECT * FROM duckdb_logs", "SELECT * FROM duckdb_prepared_statements()"}},
	{sqlguard.CodeRelationNotAllowed, []string{"SELECT * FROM duckdb_databases", "SELECT * FROM pragma_database_list", "SELECT * FROM pg_catalog.pg_settings", "SELECT * FROM pg_settings"}},
	{sqlguard.CodeExternalRelation, []string{"SELECT * FROM other.main.t", "SELECT * FROM a.b.c.d"}},
	{sqlguard.CodeFunctionNotAllowed, []string{"SELECT my_macro(1)", "SELECT * FROM my_table_macro(1)", "SELECT s.f(1)", "SELECT * FROM pragma_table_info(a || 'b')", "SELECT __internal_compress_string_utinyint('a')", "SELECT range(3) FROM histogram(t, a)"}},
	{sqlguard.CodeSettingNotAllowed, []string{"SELECT current_setting('secret_directory')", "SELECT current_setting('a' || 'b')", "SHOW threads"}},
	{sqlguard.CodeParameterNotAllowed, []string{"SELECT ?", "SELECT $1", "SELECT $name", "SELECT * FROM t LIMIT ?"}},
	{sqlguard.CodeStatementNotAllowed, []string{"CHECKPOINT", "SHOW DATABASES", "SHOW VARIABLES"}},
	{sqlguard.CodeParseError, []string{
		"SELECT `a`", "SELECT 1a", "SELECT 0x1F", "SELECT U&'a'", "SELECT 'a'\n'b'", "SELECT 'a", "SELECT /* /* */ 1", "SELECT FROM WHERE",
	}},
}

func TestReads(t *testing.T) {
	g := dialecttest.NewGuard(t, duckdb.Dialect{})
	for _, sql := range reads {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %s %+v", sql, v.Code, v.Findings)
		}
	}
}

func TestRefusals(t *testing.T) {
	g := dialecttest.NewGuard(t, duckdb.Dialect{})
	for _, c := range refusals {
		for _, sql := range c.sql {
			if v := g.Check(sql); v.Allowed || v.Code != c.code {
				t.Errorf("%s: %s, want %s: %+v", sql, v.Code, c.code, v.Findings)
			}
		}
	}
}

// TestFacts checks relations and columns that are easy to miss.
func TestFacts(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a FROM s.t AS x, u":                                          "s.t u",
		"WITH c AS (SELECT 1 FROM c) SELECT * FROM c":                        "c",
		"WITH RECURSIVE c AS (SELECT 1 UNION SELECT 1 FROM c) FROM c":        "",
		"WITH RECURSIVE c AS (SELECT 1 FROM c) SELECT * FROM c":              "c",
		"WITH c AS (SELECT 1) SELECT * FROM s.c, C":                          "s.c",
		"WITH a AS (SELECT * FROM b), b AS (SELECT 1) FROM a, b":             "b",
		"SELECT (WITH c AS (SELECT 1) SELECT 1 FROM c), 2 FROM c":            "c",
		"EXPLAIN SELECT * FROM t":                                            "t",
		"DESCRIBE s.t":                                                       "s.t",
		"SUMMARIZE t":                                                        "t",
		"PRAGMA table_info('t')":                                             "t",
		"SELECT * FROM pragma_table_info('t')":                               "pragma_table_info t",
		"PIVOT t ON a IN (1) USING sum(b)":                                   "t",
		"SELECT list_transform([1], x -> (SELECT max(a) FROM t))":            "t",
		"SELECT * FROM t ORDER BY (SELECT 1 FROM u) LIMIT (SELECT 1 FROM v)": "t u v",
		"SELECT count() FILTER (WHERE a IN (SELECT b FROM t)) OVER (ORDER BY (SELECT 1 FROM u)) FROM v": "t u v",
	} {
		list, err := duckdb.Dialect{}.Analyze(sql)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for _, r := range list[0].Relations {
			name := r.Name
			if r.Schema != "" {
				name = r.Schema + "." + name
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", sql, got, want)
		}
	}
}

// TestColumnRule checks that a denied column cannot be read by another name.
func TestColumnRule(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "main.users.email"}}
	g, err := sqlguard.New(duckdb.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{
		"email", "EMAIL", "u.email", "main.users.email FROM users", "email.upper()", "u.email.upper()", "main.users.email.upper() FROM users", "email[1]", "*", "u.*", "COLUMNS('e')", "COLUMNS(*)", "* EXCLUDE (name)", "u", "#1", "struct_extract(u, 'email')",
		"x FROM users AS u(x)", "1 FROM users AS u JOIN users AS v USING (email)", "1 FROM users NATURAL JOIN users AS v", "(SELECT email)", "list_transform([1], y -> email)",
		"sum(1) OVER (ORDER BY email)", "1 FROM users ORDER BY ALL", "* FROM (PIVOT users ON name IN ('a') USING count(*))", "* FROM (UNPIVOT users ON COLUMNS(*))", "* FROM (SUMMARIZE users)",
		"{'a': email}", "email::VARCHAR", "CASE WHEN email = '' THEN 1 END", "* REPLACE ('' AS email)", "* RENAME (name AS x)", "count(*) FILTER (WHERE email = '')", "[y for y in [email]]",
	} {
		sql := "SELECT " + item
		if !strings.Contains(item, " FROM ") {
			sql += " FROM users AS u"
		}
		if v := g.Check(sql); v.Allowed || v.Code == sqlguard.CodeParseError {
			t.Errorf("%s: %v %s %+v", sql, v.Allowed, v.Code, v.Findings)
		}
	}
	for _, sql := range []string{"SELECT u.name FROM users AS u", "SELECT count(*) FROM users", "FROM users SELECT name, id GROUP BY ALL"} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
}

// TestTables checks that no function is allowed and refused.
func TestTables(t *testing.T) {
	allowed, refused, undecided := duckdb.Functions()
	for _, name := range append(allowed, duckdb.TableFunctions()...) {
		if duckdb.Denied(name) {
			t.Errorf("%s is listed and denied", name)
		}
		if slices.Contains(undecided, name) {
			t.Errorf("%s is listed and undecided", name)
		}
		if name != strings.ToLower(name) {
			t.Errorf("%s is not in lower case", name)
		}
	}
	if len(allowed) < 600 || len(refused) < 80 {
		t.Errorf("%d functions allowed, %d refused", len(allowed), len(refused))
	}
}

// TestGroupsThatRepeat: the tree has an expression of GROUP BY once, also where the text has
// it twice. What only resembles it is not left out.
func TestGroupsThatRepeat(t *testing.T) {
	t.Parallel()
	g := dialecttest.NewGuard(t, duckdb.Dialect{})
	for _, sql := range []string{
		"SELECT count(*) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())",
		"SELECT count(*) FROM t GROUP BY GROUPING SETS ((date_trunc('month', d), b), (date_trunc('month', d)), (b)) HAVING count(*) > 1",
		"SELECT count(*) FROM t GROUP BY a, (a), ROLLUP (b, a), CUBE (B)",
		"SELECT count(*) FROM t GROUP BY GROUPING SETS (GROUPING SETS ((a), (a, x.b)), x.b) ORDER BY 1",
		"SELECT y, q FROM t GROUP BY GROUPING SETS ((y, q), (y), (q), ()) ORDER BY y, q",
		"SELECT count(*) FROM t GROUP /* ; */ BY /**/ GROUPING -- sets\n SETS (/**/(a, /* a */ b), (a /**/))",
		"SELECT (SELECT count(*) FROM u GROUP BY GROUPING SETS ((c), (c, d), (d))) FROM t GROUP BY a, a",
	} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
}

// TestRecursion: in the first part of WITH RECURSIVE, the name is that of a table.
func TestRecursion(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]int{
		"WITH RECURSIVE c AS (SELECT id FROM c UNION ALL SELECT 1 WHERE false) FROM c":               1,
		"WITH RECURSIVE c AS ((SELECT id FROM c) UNION SELECT 1 FROM c) FROM c":                      1,
		"WITH RECURSIVE c(k) USING KEY (k) AS (SELECT id FROM c UNION SELECT 1 FROM c) FROM c":       1,
		"WITH RECURSIVE c AS (SELECT 1 AS id UNION ALL SELECT id FROM c WHERE id < 3) FROM c":        0,
		"WITH RECURSIVE c AS (SELECT 1 AS id UNION ALL (SELECT 2 UNION ALL SELECT 3 FROM c)) FROM c": 0,
	} {
		list, err := duckdb.Dialect{}.Analyze(sql)
		if err != nil || len(list) != 1 || len(list[0].Relations) != want {
			t.Errorf("%s: %v %+v, want %d relations", sql, err, list, want)
		}
	}
}

// TestStates: states of aggregates are bytes of the process. On 1.5.6, this finalize ended it,
// and the cast of a state to BLOB showed addresses.
func TestStates(t *testing.T) {
	t.Parallel()
	g := dialecttest.NewGuard(t, duckdb.Dialect{})
	for _, sql := range []string{
		`SELECT finalize(cast_to_type('\x20\x00\x00\x00AAAA\x10\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00'::BLOB, first(a) EXPORT_STATE)) FROM (VALUES ('a')) t(a)`,
		"SELECT (sum(a) EXPORT_STATE)::BLOB FROM t", "SELECT sum(a) FILTER (a > 1) EXPORT_STATE FROM t", "SELECT finalize(state) FROM t", "SELECT combine(a, b) FROM t", "SELECT state.finalize() FROM t",
	} {
		if v := g.CheckOnce(sql); v.Code != sqlguard.CodeFunctionNotAllowed {
			t.Errorf("%s: %q", sql, v.Code)
		}
	}
	if v := g.CheckOnce("SELECT sum(a) FILTER (a > 1), export_state FROM t"); !v.Allowed {
		t.Errorf("refused: %v", v.Findings)
	}
}
