package bigquery_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

// reads are statements that must be allowed.
var reads = []string{
	"SELECT 1", "SELECT 1;", "#standardSQL\nSELECT 1", "SELECT a, b AS c FROM `my-project.shop.orders` WHERE a > 1 ORDER BY b DESC NULLS LAST LIMIT 10 OFFSET 5",
	"SELECT * EXCEPT (a) REPLACE (b + 1 AS b) FROM shop.orders", "SELECT o.* FROM my-project.shop.orders AS o", "SELECT DISTINCT a FROM shop.orders",
	"SELECT SUM(x) OVER w FROM t WINDOW w AS (PARTITION BY y ORDER BY z ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
	"SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) = 1", "SELECT a FROM (SELECT a FROM t WHERE TRUE QUALIFY x > 1) QUALIFY SUM(a) OVER w > 1 WINDOW w AS () ORDER BY 1",
	"SELECT x, off FROM t, UNNEST(t.items) AS x WITH OFFSET AS off", "SELECT x.name FROM shop.orders AS o, o.items AS x", "SELECT * FROM UNNEST([1, 2, 3]) AS n",
	"SELECT * FROM UNNEST(ARRAY<STRUCT<a INT64, b STRING>>[(1, 'x')])", "SELECT STRUCT(1 AS a, 'b' AS b), [1, 2], (1, 2), arr[OFFSET(0)], arr[SAFE_ORDINAL(1)], j.a.b[0] FROM t",
	"WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT * FROM c", "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b",
	"SELECT a FROM t UNION ALL SELECT b FROM u UNION ALL (SELECT 1 EXCEPT DISTINCT SELECT 2)", "(SELECT a FROM t) INTERSECT DISTINCT (SELECT a FROM u)",
	"SELECT DATE_TRUNC(d, WEEK(MONDAY)), DATE_DIFF(d, e, DAY), EXTRACT(ISOWEEK FROM d), DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', INTERVAL 3 DAY FROM t",
	"SELECT EXTRACT(HOUR FROM ts AT TIME ZONE 'UTC'), ts - INTERVAL '1-2' YEAR TO MONTH, CURRENT_DATE, CURRENT_TIMESTAMP(), DATETIME '2020-01-01' FROM t",
	"SELECT CAST(a AS NUMERIC(10, 2)), SAFE_CAST(b AS INT64), CAST(d AS STRING FORMAT 'YYYY'), NUMERIC '1.5', JSON '{\"a\": 1}', b'x', r'\\d' FROM t",
	"SELECT SAFE.PARSE_JSON(a), NET.HOST(url), HLL_COUNT.MERGE(h), SAFE.NET.HOST(url), ML.MIN_MAX_SCALER(x) OVER () FROM t",
	"SELECT ARRAY_AGG(a IGNORE NULLS ORDER BY b LIMIT 3), STRING_AGG(DISTINCT a, ','), COUNT(*), COUNTIF(a > 1), ANY_VALUE(a HAVING MAX b), APPROX_QUANTILES(a, 4)[OFFSET(2)] FROM t",
	"SELECT IF(a > 1, 'x', 'y'), IFNULL(a, 1), COALESCE(a, b, 1), NULLIF(a, 0), CASE a WHEN 1 THEN 'x' ELSE 'y' END, a IS NOT DISTINCT FROM b, a BETWEEN 1 AND 2, a IN (1, 2), a IN UNNEST([1]), s LIKE 'a%' FROM t",
	"SELECT ARRAY(SELECT x FROM UNNEST(a) AS x WHERE x > 1), (SELECT MAX(x) FROM UNNEST(a) AS x), EXISTS (SELECT 1 FROM u WHERE u.id = t.id) FROM t",
	"SELECT * FROM t PIVOT (SUM(a) AS s FOR b IN ('x' AS x, 'y')) AS p", "SELECT * FROM t UNPIVOT (v FOR n IN (a AS 'x', b AS 'y'))", "SELECT * FROM t TABLESAMPLE SYSTEM (10 PERCENT)",
	"SELECT * FROM shop.orders FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)", "SELECT _TABLE_SUFFIX AS day FROM `p.logs.events_*` WHERE _TABLE_SUFFIX = '20240101'",
	"SELECT * FROM a JOIN b USING (id) LEFT JOIN c ON a.id = c.id FULL OUTER JOIN d ON TRUE CROSS JOIN e, f INNER JOIN g USING (x)", "SELECT * FROM (a JOIN b ON a.x = b.x)",
	"SELECT a, COUNT(*) FROM t GROUP BY ROLLUP (a, b) HAVING COUNT(*) > 1", "SELECT a FROM t GROUP BY ALL", "SELECT a FROM t GROUP BY GROUPING SETS (a, (a, b), CUBE (a))", "SELECT AS STRUCT 1 AS a", "SELECT AS VALUE a FROM t",
	"FROM shop.orders |> WHERE total > 100 |> AGGREGATE COUNT(*) AS n GROUP BY customer |> ORDER BY n DESC |> LIMIT 5",
	"FROM a |> JOIN b USING (id) |> EXTEND a.x + 1 AS y |> SET y = y * 2 |> DROP z |> RENAME y AS w |> AS q |> SELECT DISTINCT w |> TABLESAMPLE SYSTEM (1 PERCENT)",
	"SELECT 1 |> UNION ALL (SELECT 2), (SELECT 3) |> DISTINCT", "FROM t |> PIVOT (SUM(a) FOR b IN ('x')) |> CALL RANGE_SESSIONIZE('a', ['b'])", "FROM t |> WITH c AS (SELECT 1 AS x) |> CROSS JOIN c",
	"SELECT table_name FROM shop.INFORMATION_SCHEMA.TABLES", "SELECT column_name, data_type FROM `p.region-us.INFORMATION_SCHEMA.COLUMNS`", "SELECT schema_name FROM INFORMATION_SCHEMA.SCHEMATA", "SELECT table_id, row_count FROM shop.__TABLES__",
	"SELECT * FROM APPENDS(TABLE shop.orders, NULL, NULL)", "SELECT * FROM GAP_FILL(TABLE t, ts_column => 'ts', bucket_width => INTERVAL 1 DAY)", "SELECT query.id FROM VECTOR_SEARCH(TABLE shop.docs, 'e', (SELECT e FROM q), top_k => 3)",
	"SELECT ARRAY_FILTER(a, x -> x > 1), GENERATE_ARRAY(1, 100), GENERATE_DATE_ARRAY('2020-01-01', '2020-02-01', INTERVAL 1 WEEK), REPEAT('x', 3), JSON_VALUE(j, '$.a'), j['a'], TO_JSON_STRING(t) FROM t",
	"SELECT ST_DISTANCE(ST_GEOGPOINT(1, 2), g), REGEXP_CONTAINS(s, r'^a'), FORMAT('%d', 1), SESSION_USER(), GENERATE_UUID(), RAND(), FARM_FINGERPRINT(s) FROM t",
	"SELECT (a).UPPER().LENGTH() FROM t", "SELECT 'two birds'.REPLACE('bird', 'dog').(UPPER)()", "SELECT WITH(a AS 1, b AS a + 1, a * b)", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = .1) a FROM t GROUP BY a", "SELECT RANGE<DATE> '[2020-01-01, 2021-01-01)', DATE_BUCKET(d, INTERVAL 2 DAY) FROM t",
	"SELECT \"it's\", 'a\\'b\\n', '''x\n''y''', `weird name` FROM `t` AS `v w` # comment", "SELECT /* a /* b */ 1 -- c", "SELECT a FROM t WHERE s LIKE ANY ('a%', 'b%') AND a > (SELECT AVG(a) FROM t)", "SELECT x.y.z, t.1st FROM ds.t AS x",
	"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY b MEASURES FIRST(c.v) AS first_v PATTERN (c+ d?) DEFINE c AS v > 1, d AS v < 0)",
}

// refusals are statements that must be refused, with their codes.
var refusals = []struct {
	code sqlguard.Code
	sql  []string
}{
	{sqlguard.CodeWriteStatement, []string{
		"INSERT INTO shop.orders (a) VALUES (1)", "INSERT shop.orders SELECT 1", "UPDATE shop.orders SET a = 1 WHERE TRUE", "DELETE FROM shop.orders WHERE TRUE", "DELETE shop.orders WHERE TRUE", "TRUNCATE TABLE shop.orders",
		"MERGE shop.a AS t USING shop.b AS s ON t.id = s.id WHEN MATCHED THEN DELETE", "EXPORT DATA OPTIONS (uri = 'gs://b/*.csv', format = 'CSV') AS SELECT 1", "EXPORT MODEL m OPTIONS (uri = 'gs://b')",
		"FROM t |> INSERT INTO u", "LOAD DATA INTO t FROM FILES (format = 'CSV')", "/* a */ LOAD DATA OVERWRITE t FROM FILES (format = 'CSV')", "SELECT 1 |> EXPORT DATA OPTIONS (uri = 'gs://b/*')", "FROM t |> CREATE TABLE u",
	}},
	{sqlguard.CodeDDLStatement, []string{
		"CREATE TABLE t (a INT64)", "CREATE TEMP TABLE t AS SELECT 1", "CREATE OR REPLACE VIEW v AS SELECT 1", "CREATE MATERIALIZED VIEW v AS SELECT 1", "CREATE MODEL m OPTIONS (model_type = 'linear_reg') AS SELECT 1",
		"CREATE EXTERNAL TABLE t OPTIONS (format = 'CSV', uris = ['gs://b/x'])", "CREATE SNAPSHOT TABLE a CLONE b", "CREATE TABLE a CLONE b", "UNDROP SCHEMA s", "CREATE SCHEMA s", "CREATE SEARCH INDEX i ON t (ALL COLUMNS)",
		"CREATE FUNCTION s.f(x INT64) AS (x)", "CREATE TEMP FUNCTION f(x INT64) RETURNS INT64 LANGUAGE js AS 'return x'", "CREATE FUNCTION s.f(x INT64) RETURNS INT64 REMOTE WITH CONNECTION c OPTIONS (endpoint = 'https://a')",
		"CREATE TABLE FUNCTION s.f() AS SELECT 1", "CREATE PROCEDURE s.p() BEGIN SELECT 1; END", "ALTER TABLE t ADD COLUMN a INT64", "DROP TABLE t", "DROP VIEW IF EXISTS v", "ALTER SCHEMA s SET OPTIONS (description = 'x')",
	}},
	{sqlguard.CodePrivilegeStatement, []string{
		"GRANT `roles/bigquery.dataViewer` ON TABLE shop.t TO 'user:a@b.c'", "REVOKE `roles/bigquery.dataViewer` ON SCHEMA shop FROM 'user:a@b.c'",
		"CREATE ROW ACCESS POLICY p ON t GRANT TO ('allUsers') FILTER USING (TRUE)", "DROP ALL ROW ACCESS POLICIES ON t",
	}},
	{sqlguard.CodeTransactionControl, []string{"BEGIN TRANSACTION", "BEGIN", "COMMIT TRANSACTION", "ROLLBACK"}},
	{sqlguard.CodeSessionChange, []string{"SET @@dataset_id = 'x'", "SET x = 1", "SET (x, y) = (1, 2)"}},
	{sqlguard.CodeProceduralBlock, []string{
		"DECLARE x INT64 DEFAULT 1", "BEGIN SELECT 1; END", "IF TRUE THEN SELECT 1; END IF", "WHILE FALSE DO SELECT 1; END WHILE", "LOOP BREAK; END LOOP", "REPEAT SELECT 1; UNTIL TRUE END REPEAT",
		"FOR r IN (SELECT 1) DO SELECT r; END FOR", "RAISE USING MESSAGE = 'x'", "RETURN", "ASSERT TRUE AS 'x'", "BEGIN INSERT INTO t VALUES (1); EXCEPTION WHEN ERROR THEN SELECT 1; END",
	}},
	{sqlguard.CodeProcedureCall, []string{"CALL shop.refresh()", "CALL BQ.JOBS.CANCEL('job')", "CALL `p.shop.refresh`(1)"}},
	{sqlguard.CodeDynamicSQL, []string{"EXECUTE IMMEDIATE 'SELECT 1'", "EXECUTE IMMEDIATE CONCAT('DROP TABLE ', 't') USING 1"}},
	{sqlguard.CodeMultipleStatements, []string{"SELECT 1; SELECT 2", "CREATE TEMP FUNCTION f(x INT64) AS (x); SELECT f(1)", "DECLARE x INT64; SELECT x", "SELECT 1; DROP TABLE t"}},
	{sqlguard.CodeExecutableComment, []string{"#legacySQL\nSELECT 1", "# legacysql\nSELECT 1", "SELECT 1 -- a\n#LegacySQL"}},
	{sqlguard.CodeFunctionNetworkAccess, []string{
		"SELECT * FROM EXTERNAL_QUERY('p.us.c', 'SELECT 1')", "SELECT * FROM external_query('c', 'DROP TABLE t')", "SELECT * FROM ML.PREDICT(MODEL m, TABLE t)", "SELECT * FROM ML.GENERATE_TEXT(MODEL m, (SELECT 'x' AS prompt))",
		"SELECT AI.GENERATE('x', connection_id => 'c')", "SELECT AI.IF(('x', a), connection_id => 'c') FROM t", "SELECT * FROM AI.FORECAST(TABLE t, data_col => 'a', timestamp_col => 'b')", "SELECT OBJ.GET_ACCESS_URL(ref, 'r') FROM t",
		"SELECT * FROM EXTERNAL_OBJECT_TRANSFORM(TABLE t, ['SIGNED_URL'])", "SELECT SAFE.AI.GENERATE('x')", "SELECT `AI`.`GENERATE`('x')", "SELECT `ai.generate`('x')", "FROM t |> CALL ML.PREDICT(MODEL m)", "SELECT ST_REGIONSTATS(g, 'ee://a', 'b').mean FROM t",
		"SELECT * FROM t WHERE a IN (SELECT a FROM EXTERNAL_QUERY('c', 'x'))",
	}},
	{sqlguard.CodeFunctionAdmin, []string{"SELECT KEYS.NEW_KEYSET('AEAD_AES_GCM_256')", "SELECT AEAD.DECRYPT_STRING(k, c, 'x') FROM t", "SELECT DETERMINISTIC_ENCRYPT(k, c, 'x') FROM t"}},
	{sqlguard.CodeFunctionNotAllowed, []string{
		"SELECT `safe.repeat`(1, 2)", "SELECT `net.host`(a)", "SELECT shop.f(1)", "SELECT `p.shop.f`(1)", "SELECT p.shop.f(1)", "SELECT my_function(1)", "SELECT * FROM shop.tvf(1)", "SELECT * FROM tvf(TABLE t)", "SELECT SAFE.shop.f(1)", "SELECT (1).(shop.f)()", "SELECT RANGE_SESSIONIZE(1)",
		"SELECT shop.upper('x')", "FROM t |> CALL shop.tvf()", "SELECT net.fetch('x')", "SELECT * FROM UPPER('x')", "SELECT ('x').(REPEAT)(5000000)", "SELECT (a).( SAFE.REPLACE /* c */ )('x', 'y') FROM t",
	}},
	{sqlguard.CodeSettingNotAllowed, []string{"SELECT @@project_id", "SELECT @@script.job_id", "SELECT * FROM t WHERE a = @@time_zone"}},
	{sqlguard.CodeParameterNotAllowed, []string{"SELECT @p", "SELECT ?", "SELECT a FROM t LIMIT @n"}},
	{sqlguard.CodeCredentialRelation, []string{"SELECT query FROM `region-us`.INFORMATION_SCHEMA.JOBS", "SELECT * FROM `p.region-us.INFORMATION_SCHEMA.JOBS_BY_PROJECT`", "SELECT * FROM `region-us`.`information_schema`.sessions_by_user"}},
	{sqlguard.CodeRelationNotAllowed, []string{
		"SELECT * FROM `region-us`.INFORMATION_SCHEMA.OBJECT_PRIVILEGES", "SELECT * FROM shop.INFORMATION_SCHEMA.SOMETHING", "SELECT * FROM INFORMATION_SCHEMA.RESERVATIONS", "SELECT * FROM shop.INFORMATION_SCHEMA", "SELECT * FROM a.b.c.INFORMATION_SCHEMA.TABLES",
		"SELECT * FROM `shop.orders$20240101`", "SELECT * FROM `shop.orders@-3600000`", "SELECT * FROM `shop.*_a`", "SELECT * FROM `shop..orders`", "SELECT * FROM `a*.orders`",
	}},
	{sqlguard.CodeExternalRelation, []string{"SELECT * FROM a.b.c.d", "SELECT * FROM `a.b`.`c.d`"}},
	{sqlguard.CodeColumnNotAllowed, []string{"SELECT view_definition FROM shop.INFORMATION_SCHEMA.VIEWS", "SELECT * FROM shop.INFORMATION_SCHEMA.ROUTINES", "SELECT ddl FROM shop.INFORMATION_SCHEMA.TABLES"}},
	{sqlguard.CodeHintNotAllowed, []string{"@{a=1} SELECT 1", "SELECT @{a=1} 1", "SELECT * FROM a JOIN @{join_method=hash_join} b ON TRUE"}},
	{sqlguard.CodeLockingClause, []string{"SELECT * FROM t FOR UPDATE"}},
	{sqlguard.CodeStatementNotAllowed, []string{
		"EXPLAIN SELECT 1", "DESCRIBE t", "SHOW TABLES", "GRAPH g MATCH (a) RETURN a.x", "FROM t |> FORK (|> SELECT 1), (|> SELECT 2)", "FROM t |> TEE (|> SELECT 1)",
	}},
	{sqlguard.CodeParseError, []string{
		"SELECT [a] FROM [p:d.t]", "SELECT 'a", "SELECT `a", "SELECT `\\x65mail` FROM t", "SELECT FROM WHERE", "SELECT * FROM t WHERE", "SELECT $x", "SELECT a FROM t QUALIFY", "SELECT a FROM t WHERE TRUE QUALIFY b QUALIFY c", "SELECT 1a b c", "SELECT a FROM t LIMIT 1 WHERE b",
		"SELECT NEW x.y{a: 1}", "SELECT 1 AS at", "SELECT EXTRACT the_day", "SELECT RANGE_CONTAINS(RANGE)", "TABLE CREATE", "SELECT 1 . AS", "SELECT CAST(GRAPH_TABLE AS DATE)", "SELECT AS CREATE 1 AS c", "SELECT * FROM /a/b", "VALUES (1)", "SELECT * FROM GRAPH_TABLE(g MATCH (a) RETURN a.x)",
	}},
}

func TestReads(t *testing.T) {
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	for _, sql := range reads {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %s %+v", sql, v.Code, v.Findings)
		}
	}
}

func TestRefusals(t *testing.T) {
	g := dialecttest.NewGuard(t, bigquery.Dialect{})
	for _, c := range refusals {
		for _, sql := range c.sql {
			if v := g.Check(sql); v.Allowed || v.Code != c.code {
				t.Errorf("%s: %s, want %s: %+v", sql, v.Code, c.code, v.Findings)
			}
		}
	}
}

// TestFacts checks relations that are easy to miss.
func TestFacts(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a FROM s.t AS x, u": "s.t u",
		"SELECT a FROM `p.s.t`, `p`.`s`.`u`, `p.s`.v, my-p-1.s.w, `e.com:p.s.t`":    "p.s.t p.s.u p.s.v my-p-1.s.w e.com:p.s.t",
		"WITH c AS (SELECT 1 FROM c) SELECT * FROM c":                               "c",
		"WITH RECURSIVE c AS (SELECT 1 UNION ALL SELECT 1 FROM c) FROM c":           "",
		"WITH RECURSIVE a AS (SELECT 1 FROM b), b AS (SELECT 1) FROM a":             "",
		"WITH c AS (SELECT 1) SELECT * FROM s.c, C, `c`":                            "s.c",
		"WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a, b":           "b",
		"SELECT (WITH c AS (SELECT 1) SELECT 1 FROM c), 2 FROM c":                   "c",
		"SELECT * FROM (WITH c AS (SELECT 1) SELECT 1 FROM c), c":                   "c",
		"FROM t |> WITH c AS (SELECT 1) |> CROSS JOIN c |> CROSS JOIN d":            "t d",
		"FROM t |> UNION ALL (SELECT * FROM u), (FROM v)":                           "t u v",
		"FROM t |> WHERE a IN (SELECT b FROM u) |> JOIN v ON TRUE":                  "t u v",
		"SELECT * FROM t ORDER BY (SELECT 1 FROM u)":                                "t u",
		"SELECT ARRAY_FILTER([1], x -> x > (SELECT MAX(a) FROM t))":                 "t",
		"SELECT COUNT(*) OVER (ORDER BY (SELECT 1 FROM u)) FROM v":                  "v u",
		"SELECT * FROM APPENDS(TABLE s.t)":                                          "s.t",
		"SELECT * FROM VECTOR_SEARCH(TABLE s.t, 'e', TABLE q, 1)":                   "s.t q",
		"WITH q AS (SELECT 1) SELECT * FROM VECTOR_SEARCH(TABLE s.t, 'e', TABLE q)": "s.t",
		"SELECT * FROM s.tvf((SELECT 1 FROM t))":                                    "s.tvf t",
		"SELECT * FROM s.qualify, s./* c */qualify, s.#\nqualify":                   "s.qualify s.qualify s.qualify",
		"SELECT * FROM `s.events_*`":                                                "s.events_*",
		// arrays of rows
		"SELECT * FROM s.t, t.items":                                           "s.t",
		"SELECT * FROM s.t AS x, X.items AS i, i.parts":                        "s.t",
		"SELECT * FROM s.t AS x, t.items":                                      "s.t t.items",
		"SELECT * FROM t.items, s.t":                                           "t.items s.t",
		"SELECT * FROM s.t AS x LEFT JOIN x.items ON TRUE":                     "s.t",
		"SELECT * FROM `s.t`, t.items":                                         "s.t t.items",
		"SELECT * FROM s.t AS x, (x.items CROSS JOIN u)":                       "s.t x.items u",
		"SELECT * FROM s.t AS x, (SELECT * FROM x.items)":                      "s.t x.items",
		"SELECT ARRAY(SELECT 1 FROM x.items) FROM s.t AS x":                    "s.t",
		"SELECT 1 FROM s.t AS x WHERE EXISTS (SELECT 1 FROM x.items)":          "s.t",
		"SELECT (SELECT 1 FROM (SELECT * FROM x.items)) FROM s.t AS x":         "s.t",
		"SELECT (WITH c AS (SELECT * FROM x.items) SELECT 1) FROM s.t AS x":    "s.t x.items",
		"SELECT 1 FROM s.t AS x GROUP BY (SELECT 1 FROM x.items)":              "s.t x.items",
		"SELECT 1 FROM s.t AS x UNION ALL SELECT (SELECT 1 FROM x.items)":      "s.t x.items",
		"SELECT 1 FROM s.t AS x ORDER BY (SELECT 1 FROM x.items)":              "s.t x.items",
		"FROM s.t AS x |> EXTEND (SELECT 1 FROM x.items)":                      "s.t x.items",
		"FROM s.t AS x |> AGGREGATE COUNT(*) |> CROSS JOIN x.items":            "s.t x.items",
		"SELECT * FROM s.t AS x PIVOT (SUM(a) FOR b IN (1)), x.items":          "s.t x.items",
		"SELECT * FROM s.t AS x TABLESAMPLE SYSTEM (1 PERCENT), x.items":       "s.t",
		"WITH x AS (SELECT 1) SELECT * FROM x.items":                           "x.items",
		"SELECT * FROM UNNEST([STRUCT([1] AS items)]) AS x, x.items":           "",
		"SELECT * FROM s.t AS x, f.tvf(x.items, (SELECT 1 FROM x.items)) AS y": "s.t f.tvf x.items",
	} {
		list, err := bigquery.Dialect{}.Analyze(sql)
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
			if r.Database != "" {
				name = r.Database + "." + name
			}
			if r.Prefix != strings.HasSuffix(name, "*") {
				t.Errorf("%s: %+v", sql, r)
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", sql, got, want)
		}
	}
}

// TestSystemViews checks which project a view of INFORMATION_SCHEMA belongs to.
func TestSystemViews(t *testing.T) {
	for name, want := range map[string]string{
		"INFORMATION_SCHEMA.SCHEMATA": "", "p.INFORMATION_SCHEMA.SCHEMATA": "p", "shop.INFORMATION_SCHEMA.TABLES": "", "`p.shop.INFORMATION_SCHEMA.TABLES`": "p",
		"`region-us`.INFORMATION_SCHEMA.SCHEMATA": "", "p.`region-us`.INFORMATION_SCHEMA.TABLES": "p", "p.information_schema.schemata_options": "p",
	} {
		list, err := bigquery.Dialect{}.Analyze("SELECT 1 FROM " + name)
		if err != nil || len(list) != 1 || len(list[0].Relations) != 1 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r := list[0].Relations[0]; !r.System || r.Database != want || r.Schema != "INFORMATION_SCHEMA" || !r.Ruling.Allowed {
			t.Errorf("%s: %+v, want project %q", name, r, want)
		}
	}
}

// TestOutputColumns checks the names of the result.
func TestOutputColumns(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a, t.b, c AS d, 1 FROM t": "a b d ", "SELECT *, a FROM t": "", "SELECT t.* FROM t": "", "(SELECT a) UNION ALL SELECT b": "a", "SELECT a |> SELECT b": "", "FROM t": "", "SELECT AS VALUE a FROM t": "",
		"WITH c AS (SELECT x) SELECT y FROM c": "y", "SELECT f(a).b": "b",
	} {
		list, err := bigquery.Dialect{}.Analyze(sql)
		if err != nil || len(list) != 1 || strings.Join(list[0].Columns, " ") != want {
			t.Errorf("%s: %v %q, want %q", sql, err, list[0].Columns, want)
		}
	}
}

// TestColumnRule checks that a denied column cannot be read by another name.
func TestColumnRule(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Columns = []sqlguard.ColumnRule{{Match: "shop.users.email"}}
	g, err := sqlguard.New(bigquery.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{
		"email", "EMAIL", "`email`", "u.email", "u.`email`", "email.x", "u.email.x", "*", "u.*", "* EXCEPT (email)", "* REPLACE ('' AS email)", "u", "TO_JSON_STRING(u)", "FORMAT('%t', u)", "[u][OFFSET(0)].email", "(u).email",
		"users FROM shop.users", "users.email FROM `p.shop.users`", "users FROM `shop.users`", "1 FROM shop.users AS u JOIN shop.users AS v USING (email)", "1 FROM shop.users NATURAL JOIN shop.users AS v", "(SELECT email)", "ARRAY(SELECT email)",
		"ARRAY_FILTER([1], y -> email = '')", "SUM(1) OVER (ORDER BY email)", "1 FROM shop.users ORDER BY email", "1 FROM shop.users GROUP BY email", "1 FROM shop.users QUALIFY COUNT(email) OVER () > 1", "1 FROM shop.users HAVING MAX(email) > ''",
		"x FROM shop.users PIVOT (COUNT(*) FOR name IN ('a'))", "p FROM shop.users UNPIVOT (v FOR n IN (name)) AS p", "x FROM shop.users, UNNEST([email]) AS x", "x FROM shop.users AS u, u.email AS x", "x FROM shop.users AS u, email.parts AS x",
		"AS STRUCT *", "AS VALUE u", "STRUCT(email)", "CAST(email AS STRING)", "CASE WHEN email = '' THEN 1 END", "COUNT(DISTINCT email)", "ANY_VALUE(name HAVING MAX email)", "ARRAY_AGG(name ORDER BY email)", "STRING_AGG(u.email)", "IF(email = '', 1, 2)",
		"x FROM APPENDS(TABLE shop.users)", "email FROM `shop.use*`", "* FROM `shop.*`",
	} {
		sql := "SELECT " + item
		if !strings.Contains(item, " FROM ") {
			sql += " FROM shop.users AS u"
		}
		if v := g.Check(sql); v.Allowed || v.Code == sqlguard.CodeParseError {
			t.Errorf("%s: %v %s %+v", sql, v.Allowed, v.Code, v.Findings)
		}
	}
	for _, sql := range []string{
		"FROM shop.users", "FROM shop.users |> LIMIT 1", "FROM shop.users |> SELECT email", "FROM shop.users |> WHERE email = '' |> SELECT name", "FROM shop.users |> RENAME email AS x |> SELECT x", "FROM shop.users |> AS u |> SELECT u", "FROM shop.users AS u |> SELECT u",
		"FROM shop.users |> EXTEND email AS x |> SELECT x", "FROM shop.users |> AGGREGATE COUNT(*) GROUP BY email", "FROM shop.users |> DISTINCT |> SELECT name", "FROM shop.users |> SET email = '' |> SELECT email", "FROM shop.users |> DROP name",
		"FROM shop.users |> JOIN shop.users AS v USING (email) |> SELECT name", "(FROM shop.users) |> SELECT name",
	} {
		if v := g.Check(sql); v.Allowed || v.Code == sqlguard.CodeParseError {
			t.Errorf("%s: %v %s %+v", sql, v.Allowed, v.Code, v.Findings)
		}
	}
	for _, sql := range []string{
		"SELECT u.name FROM shop.users AS u", "SELECT COUNT(*) FROM shop.users", "SELECT name, id FROM `p.shop.users` GROUP BY ALL", "FROM shop.users |> WHERE id > 1 |> SELECT name |> DISTINCT", "FROM shop.users |> AGGREGATE COUNT(*) GROUP BY name",
		"SELECT x.part FROM shop.users AS u, u.addresses AS x",
	} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: %+v", sql, v.Findings)
		}
	}
}

// TestAccess checks rules on relations with wildcards and projects.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		policy  sqlguard.Policy
		allowed []string
		refused []string
	}{
		{
			sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"logs.events_secret", "hr.*"}}},
			[]string{"`logs.events_2*`", "`logs.other_*`", "logs.events", "`p.logs.events_2*`", "`web.events_*`", "logs.INFORMATION_SCHEMA.TABLES"},
			[]string{"`logs.events_*`", "`logs.EVENTS_S*`", "`logs.*`", "logs.events_secret", "logs.Events_Secret", "`p.logs.events_secret`", "q.logs.events_secret", "`hr.a*`", "hr.people", "`hr.*`", "`HR.a*`"},
		},
		{
			sqlguard.Policy{Tables: sqlguard.Names{Deny: []string{"logs.events_s*"}}},
			[]string{"`logs.events_a*`", "`logs.f*`"},
			[]string{"`logs.events_*`", "`logs.events_s*`", "`logs.events_secret_*`", "`logs.e*`", "`logs.*`"},
		},
		{
			sqlguard.Policy{Tables: sqlguard.Names{Allow: []string{"logs.events_*", "shop.orders"}}, Database: "p"},
			[]string{"`logs.events_*`", "`logs.events_2024*`", "shop.orders", "p.shop.orders", "`p.logs.events_2024`"},
			[]string{"`logs.event*`", "`logs.*`", "`shop.orders*`", "`shop.ord*`", "q.shop.orders", "`q.logs.events_*`", "shop.Orders", "Shop.orders", "orders", "`Logs.events_*`"},
		},
		{
			sqlguard.Policy{Schemas: sqlguard.Names{Deny: []string{"hr"}}},
			[]string{"`logs.*`", "x.shop.orders"},
			[]string{"`hr.*`", "hr.a", "x.HR.a", "`x.hr.a_*`", "a", "`a*`"},
		},
		{
			sqlguard.Policy{Schemas: sqlguard.Names{Allow: []string{"shop"}}},
			[]string{"`shop.*`", "shop.orders"},
			[]string{"`logs.*`", "p.shop.orders", "`p.shop.*`"},
		},
		{
			sqlguard.Policy{Database: "p", Databases: []string{"bigquery-public-data"}},
			[]string{"p.shop.orders", "shop.orders", "bigquery-public-data.samples.shakespeare", "`bigquery-public-data.samples.s*`", "P.shop.orders", "shop.INFORMATION_SCHEMA.TABLES"},
			[]string{"q.shop.orders", "`q.shop.INFORMATION_SCHEMA.TABLES`", "q.INFORMATION_SCHEMA.SCHEMATA", "`q.shop.*`"},
		},
		{
			sqlguard.Policy{},
			[]string{"p.shop.orders", "q.shop.orders", "`q.shop.INFORMATION_SCHEMA.TABLES`", "orders", "`o*`"},
			nil,
		},
		{
			sqlguard.Policy{SearchPath: []string{"shop"}, Tables: sqlguard.Names{Deny: []string{"shop.secrets"}}},
			[]string{"orders", "`o*`"},
			[]string{"secrets", "`s*`", "`*`"},
		},
	} {
		g, err := sqlguard.New(bigquery.Dialect{}, c.policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.allowed {
			if v := g.Check("SELECT a FROM " + name); !v.Allowed {
				t.Errorf("%+v: %s: %+v", c.policy, name, v.Findings)
			}
		}
		for _, name := range c.refused {
			if v := g.Check("SELECT a FROM " + name); v.Allowed || v.Code == sqlguard.CodeParseError {
				t.Errorf("%+v: %s: %v %s", c.policy, name, v.Allowed, v.Code)
			}
		}
	}
}

// TestFunctionPolicy checks how a policy can allow functions of users.
func TestFunctionPolicy(t *testing.T) {
	p := sqlguard.DefaultPolicy()
	p.Functions = sqlguard.Names{Allow: []string{"shop.f", "shop.tvf", "ml.predict", "shop.external_query"}, Deny: []string{"net.host", "x.upper"}}
	g, err := sqlguard.New(bigquery.Dialect{}, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{
		"SELECT shop.f(1)": true, "SELECT `shop.f`(1)": true, "SELECT * FROM shop.tvf(1)": true, "SELECT shop.F(1)": false, "SELECT p.shop.f(1)": false, "SELECT shop.g(1)": false, "SELECT * FROM ML.PREDICT(TABLE t)": false,
		"SELECT NET.HOST('x')": false, "SELECT UPPER('x')": false, "SELECT LOWER('x')": true, "SELECT * FROM EXTERNAL_QUERY('a', 'b')": false, "SELECT SAFE.NET.HOST('x')": false,
	} {
		if v := g.Check(sql); v.Allowed != want {
			t.Errorf("%s: %v %+v", sql, v.Allowed, v.Findings)
		}
	}
}

// TestTables checks that no function is allowed and refused.
func TestTables(t *testing.T) {
	allowed, refused, tables := bigquery.Functions()
	for name := range allowed {
		if refused[name] || tables[name] {
			t.Errorf("%s is in two tables", name)
		}
		if name != strings.ToLower(name) {
			t.Errorf("%s is not in lower case", name)
		}
		if bigquery.Denied(name) && !strings.HasPrefix(name, "ml.") {
			t.Errorf("%s is listed and denied", name)
		}
	}
	for name := range tables {
		if bigquery.Denied(name) {
			t.Errorf("%s is listed and denied", name)
		}
	}
	if len(allowed) < 380 || len(refused) < 6 {
		t.Errorf("%d functions allowed, %d refused", len(allowed), len(refused))
	}
}

// TestNamesWithDots: a name of WITH that holds a dot does not hide the table of that path.
func TestNamesWithDots(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]int{"WITH `d.t` AS (SELECT 1) SELECT * FROM `d.t`": 1, "WITH RECURSIVE `d.t` AS (SELECT 1) SELECT * FROM `d.t`": 1, "WITH t AS (SELECT 1) SELECT * FROM `t`": 0} {
		list, err := bigquery.Dialect{}.Analyze(sql)
		if err != nil || len(list) != 1 || len(list[0].Relations) != want {
			t.Errorf("%s: %v %+v, want %d relations", sql, err, list, want)
		}
	}
}
