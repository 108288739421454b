package bigquery_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/bigquery"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// words are statements that models and BI tools send, and what BigQuery's refusals say.
var words = []dialecttest.Word{
	{"SHOW TABLES", "no SHOW", "INFORMATION_SCHEMA.TABLES", "SELECT table_name FROM shop.INFORMATION_SCHEMA.TABLES"},
	{"SHOW DATABASES", "no SHOW", "SELECT schema_name FROM INFORMATION_SCHEMA.SCHEMATA", "SELECT schema_name FROM INFORMATION_SCHEMA.SCHEMATA"},
	{"DESCRIBE shop.orders", "no DESCRIBE", "FROM shop.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'orders'", "SELECT column_name, data_type FROM shop.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'orders'"},
	{"\\d orders", "\\d is a command", "INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'orders'", "SELECT column_name, data_type FROM shop.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'orders'"},
	{"\\dt", "\\dt is a command", "INFORMATION_SCHEMA.TABLES", "SELECT table_name FROM shop.INFORMATION_SCHEMA.TABLES"},
	{"PRAGMA table_list", "PRAGMA is SQLite", "INFORMATION_SCHEMA.TABLES", "SELECT table_name FROM shop.INFORMATION_SCHEMA.TABLES"},
	{"EXPLAIN SELECT * FROM orders", "no EXPLAIN", "~without EXPLAIN", "SELECT * FROM orders"},
	{"VACUUM orders", "VACUUM is PostgreSQL", "~leave it out", ""},
	{"COPY orders TO STDOUT", "COPY is PostgreSQL", "~the rows are returned to you", ""},
	{"USE shop", "no USE", "~as in dataset.table", "SELECT * FROM shop.orders"},
	{"VALUES (1), (2)", "VALUES alone", "UNION ALL", "SELECT 1 AS n UNION ALL SELECT 2"},
	{"CALL shop.p()", "CALL runs a procedure", "~select from the tables", ""},
	{"EXECUTE IMMEDIATE 'SELECT 1'", "EXECUTE IMMEDIATE runs", "~write the inner query", "SELECT 1"},
	{"EXPORT DATA OPTIONS (uri = 'gs://b/*') AS SELECT * FROM orders", "EXPORT DATA writes", "~the rows are returned to you", "SELECT * FROM orders"},
	{"LOAD DATA INTO orders FROM FILES (uris = ['gs://b/*'])", "LOAD DATA writes", "~this connection only reads", ""},
	{"INSERT INTO orders (id) VALUES (1)", "INSERT writes rows", "~a person inserts them", ""},
	{"UPDATE shop.orders SET status = 'x' WHERE id = 1", "UPDATE changes rows", "SELECT * FROM shop.orders WHERE", "SELECT * FROM shop.orders WHERE id = 1"},
	{"UPDATE orders SET status = 'x' WHERE id = 1", "UPDATE changes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"DELETE FROM shop.orders WHERE id = 1", "DELETE removes rows", "SELECT * FROM shop.orders WHERE", "SELECT * FROM shop.orders WHERE id = 1"},
	{"DELETE FROM orders WHERE id = 1", "DELETE removes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"MERGE INTO orders USING docs ON TRUE WHEN MATCHED THEN DELETE", "MERGE writes rows", "~this connection only reads", ""},
	{"CREATE TEMP TABLE t AS SELECT * FROM orders", "CREATE changes", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE TEMP FUNCTION f(x INT64) AS (x * 2); SELECT f(id) FROM orders", "2 statements", "~where it is called", "SELECT id * 2 FROM orders"},
	{"DECLARE n INT64 DEFAULT 7; SELECT n", "2 statements", "WITH v AS (SELECT 7 AS n) SELECT n FROM v", "WITH v AS (SELECT 7 AS n) SELECT n FROM v"},
	{"IF TRUE THEN SELECT 1; END IF", "statements of a script", "~one SELECT for each call", "SELECT 1"},
	{"SET @@time_zone = 'UTC'", "SET changes", "~leave it out", ""},
	{"#legacySQL\nSELECT id FROM [p:shop.orders]", "comment", "#standardSQL", "#standardSQL\nSELECT id FROM `p.shop.orders`"},
	{"SELECT id FROM [p:shop.orders]", "older SQL of BigQuery", "`p.shop.orders`", "SELECT id FROM `p.shop.orders`"},
	{"SELECT id FROM [orders]", "quote names in SQL Server", "`orders`", "SELECT id FROM `orders`"},
	{"SELECT id::text FROM orders", ":: is PostgreSQL", "CAST(x AS STRING)", "SELECT CAST(x AS STRING) FROM orders"},
	{"SELECT id::bigint FROM orders", ":: is PostgreSQL", "CAST(x AS INT64)", "SELECT CAST(x AS INT64) FROM orders"},
	{"SELECT id::date FROM orders", ":: is PostgreSQL", "CAST(x AS date)", "SELECT CAST(x AS date) FROM orders"},
	{"SELECT * FROM orders WHERE status ILIKE 'a%'", "no ILIKE", "LOWER(", "SELECT * FROM orders WHERE LOWER(status) LIKE 'a%'"},
	{"SELECT * FROM orders WHERE status SIMILAR TO 'a%'", "SIMILAR TO is PostgreSQL", "REGEXP_CONTAINS(", "SELECT * FROM orders WHERE REGEXP_CONTAINS(status, r'^a')"},
	{"SELECT * FROM orders WHERE status RLIKE 'a'", "RLIKE is MySQL", "REGEXP_CONTAINS(", "SELECT * FROM orders WHERE REGEXP_CONTAINS(status, r'a')"},
	{"SELECT * FROM orders WHERE status ~ '^a'", "~ with a pattern", "REGEXP_CONTAINS(", "SELECT * FROM orders WHERE REGEXP_CONTAINS(status, r'^a')"},
	{"SELECT data->>'key' FROM orders", "->> is PostgreSQL", "JSON_VALUE(", "SELECT JSON_VALUE(data, '$.key') FROM orders"},
	{"SELECT data->'key' FROM orders", "-> with a key", "JSON_QUERY(", "SELECT JSON_QUERY(data, '$.key') FROM orders"},
	{"SELECT id FROM orders LIMIT 5, 10", "LIMIT with a comma", "LIMIT 10 OFFSET 5", "SELECT id FROM orders LIMIT 10 OFFSET 5"},
	{"SELECT id FROM orders OFFSET 5 LIMIT 10", "LIMIT stands before OFFSET", "LIMIT 10 OFFSET 5", "SELECT id FROM orders LIMIT 10 OFFSET 5"},
	{"SELECT id FROM orders FETCH FIRST 5 ROWS ONLY", "no FETCH FIRST", "LIMIT 5", "SELECT id FROM orders LIMIT 5"},
	{"SELECT TOP 5 id FROM orders", "TOP is SQL Server", "LIMIT 5", "SELECT id FROM orders LIMIT 5"},
	{"SELECT DISTINCT ON (customer_id) id FROM orders", "DISTINCT ON is PostgreSQL", "QUALIFY ROW_NUMBER() OVER (PARTITION BY", "SELECT id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY id) = 1"},
	{"SELECT COUNT(*) FILTER (WHERE id > 1) FROM orders", "no FILTER", "COUNTIF(", "SELECT COUNTIF(id > 1) FROM orders"},
	{"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY id) FROM orders", "no WITHIN GROUP", "APPROX_QUANTILES(", "SELECT APPROX_QUANTILES(id, 100)[OFFSET(50)] FROM orders"},
	{"SELECT id FROM orders MINUS SELECT id FROM docs", "MINUS is Oracle", "EXCEPT DISTINCT", "SELECT id FROM orders EXCEPT DISTINCT SELECT id FROM docs"},
	{"SELECT id FROM orders UNION SELECT id FROM docs", "UNION needs ALL", "UNION DISTINCT", "SELECT id FROM orders UNION DISTINCT SELECT id FROM docs"},
	{"SELECT id FROM orders EXCEPT SELECT id FROM docs", "need DISTINCT", "EXCEPT DISTINCT", "SELECT id FROM orders EXCEPT DISTINCT SELECT id FROM docs"},
	{"SELECT * EXCLUDE (id) FROM orders", "* EXCLUDE is not BigQuery", "* EXCEPT (", "SELECT * EXCEPT (id) FROM orders"},
	{"SELECT created_at AT TIME ZONE 'UTC' FROM orders", "only in EXTRACT", "DATETIME(", "SELECT DATETIME(created_at, 'UTC') FROM orders"},
	{"SELECT id FROM orders WITH (NOLOCK)", "hints of tables", "~leave WITH (…) out", "SELECT id FROM orders"},
	{"SELECT id FROM orders FOR UPDATE", "no FOR UPDATE", "~leave it out", "SELECT id FROM orders"},
	{"SELECT id INTO t FROM orders", "no SELECT INTO", "~leave INTO out", "SELECT id FROM orders"},
	{"SELECT GROUP_CONCAT(status SEPARATOR ', ') FROM orders", "SEPARATOR is MySQL", "STRING_AGG(", "SELECT STRING_AGG(status, ', ') FROM orders"},
	{"SELECT * FROM ML.PREDICT(MODEL shop.m, TABLE orders)", "ml.predict", "~no model or service", ""},
	{"SELECT AI.GENERATE(status) FROM orders", "ai.generate", "~no model or service", ""},
	{"SELECT * FROM EXTERNAL_QUERY('us.c', 'SELECT 1')", "external_query", "~tables of this project", ""},
	{"SELECT @@project_id", "@@project_id", "SESSION_USER()", "SELECT SESSION_USER()"},
	{"SELECT id FROM orders WHERE id = @id", "a parameter", "~as a literal", "SELECT id FROM orders WHERE id = 1"},
	{"SELECT id FROM orders WHERE id = :id", ":id is a parameter", "~as a literal", "SELECT id FROM orders WHERE id = 1"},
	{"SELECT * FROM {{ ref('orders') }}", "is a template", "~that it stands for", "SELECT * FROM orders"},
	{"SELECT NOW()", "BigQuery has no function NOW", "CURRENT_TIMESTAMP()", "SELECT CURRENT_TIMESTAMP()"},
	{"SELECT DATEDIFF(a, b) FROM orders", "BigQuery has no function DATEDIFF", "DATE_DIFF(", "SELECT DATE_DIFF(a, b, DAY) FROM orders"},
	{"SELECT TO_CHAR(created_at, 'YYYY') FROM orders", "BigQuery has no function TO_CHAR", "FORMAT_TIMESTAMP('%Y-%m-%d', ", "SELECT FORMAT_TIMESTAMP('%Y-%m-%d', created_at) FROM orders"},
	{"SELECT * FROM generate_series(1, 10)", "BigQuery has no function generate_series", "UNNEST(GENERATE_ARRAY(1, 10))", "SELECT * FROM UNNEST(GENERATE_ARRAY(1, 10))"},
	{"SELECT query FROM `region-us`.INFORMATION_SCHEMA.JOBS", "INFORMATION_SCHEMA.JOBS", "~statements of other users", ""},
	{"SELECT * FROM shop.INFORMATION_SCHEMA.TABLES", "column ddl", "~without ddl", "SELECT table_name, table_type FROM shop.INFORMATION_SCHEMA.TABLES"},
}

func TestWords(t *testing.T) {
	dialecttest.CheckWords(t, dialecttest.NewGuard(t, bigquery.Dialect{}), words)
}
