package mysql_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

const noWrite = "~this connection only reads"

// words are statements that models and BI tools send, and what the refusals of MySQL and
// MariaDB say.
var words = []dialecttest.Word{
	{"ANALYZE TABLE orders", "ANALYZE TABLE writes statistics", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"OPTIMIZE TABLE orders", "OPTIMIZE", "SHOW TABLE STATUS", "SHOW TABLE STATUS"},
	{"DROP TABLE orders", "DROP TABLE", noWrite, ""},
	{"ALTER TABLE orders ADD x int", "changes the schema", noWrite, ""},
	{"TRUNCATE TABLE orders", "TRUNCATE", noWrite, ""},
	{"CREATE TEMPORARY TABLE t AS SELECT * FROM orders", "changes the schema", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE VIEW v AS SELECT * FROM orders", "changes the schema", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE INDEX i ON orders (status)", "changes the schema", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"INSERT INTO orders (id) VALUES (1)", "INSERT", "~with SELECT alone", ""},
	{"UPDATE orders SET status = 'x' WHERE id = 1", "UPDATE", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"WITH c AS (SELECT id FROM customers) UPDATE orders SET status = 'x' WHERE id IN (SELECT id FROM c)", "UPDATE changes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"WITH c AS (SELECT id FROM customers) DELETE FROM orders WHERE id IN (SELECT id FROM c)", "DELETE removes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"DELETE FROM orders WHERE id = 1", "DELETE", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"LOAD DATA INFILE '/tmp/x' INTO TABLE orders", "LOAD", "~select from a table", ""},
	{"SHOW server_version", "SHOW server_version is PostgreSQL", "SELECT VERSION()", "SELECT VERSION()"},
	{"SHOW search_path", "SHOW search_path is PostgreSQL", "SELECT DATABASE()", "SELECT DATABASE()"},
	{"SHOW timezone", "SHOW timezone is PostgreSQL", "SELECT @@time_zone", "SELECT @@time_zone"},
	{"SHOW work_mem", "SHOW in this form", "SELECT @@version", "SELECT @@version"},
	{"SELECT current_setting('server_version')", "no function current_setting", "@@version", "SELECT @@version"},
	{"SELECT @@datadir", "setting datadir", "~settings that hold a path", ""},
	{"SHOW GLOBAL STATUS", "SHOW STATUS need LIKE", "SHOW GLOBAL STATUS LIKE 'Uptime'", "SHOW GLOBAL STATUS LIKE 'Uptime'"},
	{"SHOW CREATE VIEW v", "source text of views", "SHOW COLUMNS FROM ", "SHOW COLUMNS FROM orders"},
	{"SELECT name FROM sys.tables", "sys are SQL Server", "SHOW TABLES", "SHOW TABLES"},
	{"SELECT name FROM sys.columns", "sys are SQL Server", "SHOW COLUMNS FROM orders", "SHOW COLUMNS FROM orders"},
	{"SELECT datetime('now')", "DATETIME (…) is SQLite", "NOW()", "SELECT NOW()"},
	{"SELECT * FROM generate_series(1, 10)", "no function generate_series", "WITH RECURSIVE s (n) AS", "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 10) SELECT n FROM s"},
	{"SELECT * FROM orders OFFSET 5", "OFFSET stands behind LIMIT", "LIMIT 1000 OFFSET 5", "SELECT * FROM orders LIMIT 1000 OFFSET 5"},
	{"SELECT * FROM orders TABLESAMPLE SYSTEM (10)", "neither MySQL nor MariaDB has TABLESAMPLE", "ORDER BY RAND() LIMIT 100", "SELECT * FROM orders ORDER BY RAND() LIMIT 100"},
	{"SELECT REPEAT('x', 100000000)", "more than 16 MiB", "~use a smaller number", "SELECT REPEAT('x', 100)"},
	{"KILL 5", "KILL administers the server", "~only the operator administers the server", ""},
	{"FLUSH TABLES", "FLUSH administers the server", "~only the operator administers the server", ""},
	{"DO 1 + 1", "DO runs expressions and returns nothing", "SELECT", "SELECT 1 + 1"},
	{"SELECT * FROM orders INTO OUTFILE '/tmp/x'", "INTO", "~leave INTO out", "SELECT * FROM orders"},
	{"GRANT SELECT ON shop.* TO bob", "GRANT", "~leave the statement out", ""},
	{"START TRANSACTION", "transaction", "~send the query alone", ""},
	{"SET NAMES utf8mb4", "session", "~already reads and writes UTF-8", ""},
	{"SET @n = 5", "SET", "~a value can stand in the query itself", ""},
	{"USE shop", "USE", "~shop.name", ""},
	{"CALL refresh()", "CALL", "~tables that the procedure reads", ""},
	{"SELECT * FROM orders FOR UPDATE", "FOR UPDATE", "~leave FOR UPDATE or FOR SHARE out", "SELECT * FROM orders"},
	{"SELECT 1; SELECT 2", "2 statements", "~each statement in a call of its own", ""},
	{"SHOW PROCESSLIST", "SHOW PROCESSLIST shows the statements of other sessions", "SELECT CONNECTION_ID()", "SELECT CONNECTION_ID()"},
	{"SHOW GRANTS", "SHOW GRANTS shows rights", "SELECT CURRENT_USER()", "SELECT CURRENT_USER()"},
	{"SHOW VARIABLES", "SHOW", "SELECT @@version", "SELECT @@version"},
	{"PRAGMA table_info(orders)", "PRAGMA is SQLite", "DESCRIBE orders", "DESCRIBE orders"},
	{`\d orders`, `\d is a command`, "DESCRIBE orders", "DESCRIBE orders"},
	{"EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM orders", "EXPLAIN with options in brackets", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"VACUUM orders", "VACUUM is PostgreSQL", "~leave it out", ""},

	{"SELECT * FROM orders o FULL OUTER JOIN customers c ON o.customer_id = c.id", "FULL JOIN is not MySQL", "UNION SELECT", "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer_id = c.id UNION SELECT o.id FROM orders o RIGHT JOIN customers c ON o.customer_id = c.id"},
	{"SELECT count(*) FILTER (WHERE status = 'paid') FROM orders", "FILTER (WHERE …) is not MySQL", "COUNT(CASE WHEN status = 'paid' THEN 1 END)", "SELECT COUNT(CASE WHEN status = 'paid' THEN 1 END) FROM orders"},
	{"SELECT * FROM orders WHERE note ILIKE '%x%'", "ILIKE is PostgreSQL", "LIKE", "SELECT * FROM orders WHERE note LIKE '%x%'"},
	{"SELECT TOP 5 * FROM orders", "TOP is SQL Server", "LIMIT 5", "SELECT * FROM orders LIMIT 5"},
	{"SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY id) = 1", "QUALIFY is not MySQL", "AS t WHERE n = 1", "SELECT * FROM (SELECT o.*, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM orders o) AS t WHERE n = 1"},
	{"SELECT DISTINCT ON (customer_id) * FROM orders", "DISTINCT ON is PostgreSQL", "AS t WHERE n = 1", "SELECT * FROM (SELECT o.*, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM orders o) AS t WHERE n = 1"},
	{"SELECT id::text FROM orders", "x::type is PostgreSQL", "CAST(", "SELECT CAST(id AS CHAR) FROM orders"},
	{"SELECT note::int FROM orders", "x::type is PostgreSQL", " AS SIGNED)", "SELECT CAST(note AS SIGNED) FROM orders"},
	{"SELECT placed_at::date FROM orders", "x::type is PostgreSQL", " AS DATE)", "SELECT CAST(placed_at AS DATE) FROM orders"},
	{"SELECT CAST(id AS VARCHAR(10)) FROM orders", "CAST has other names of types", " AS CHAR)", "SELECT CAST(id AS CHAR) FROM orders"},
	{"SELECT CAST(note AS INTEGER) FROM orders", "CAST has other names of types", " AS SIGNED)", "SELECT CAST(note AS SIGNED) FROM orders"},
	{"SELECT CAST(note AS TIMESTAMP) FROM orders", "CAST has other names of types", " AS DATETIME)", "SELECT CAST(note AS DATETIME) FROM orders"},
	{"SELECT * FROM orders ORDER BY note NULLS LAST", "NULLS LAST is not MySQL", "IS NULL, ", "SELECT * FROM orders ORDER BY note IS NULL, note"},
	{"SELECT * FROM orders OFFSET 5 LIMIT 10", "LIMIT stands before OFFSET", "LIMIT 10 OFFSET 5", "SELECT * FROM orders LIMIT 10 OFFSET 5"},
	{"SELECT * FROM orders ORDER BY id OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY", "FETCH FIRST is not MySQL", "LIMIT 10", "SELECT * FROM orders ORDER BY id LIMIT 10 OFFSET 5"},
	{"SELECT * FROM orders LIMIT ALL", "LIMIT ALL is PostgreSQL", "~leave LIMIT out", "SELECT * FROM orders"},
	{"SELECT * FROM orders WHERE placed_at > now() - INTERVAL '7 days'", "INTERVAL with a string is PostgreSQL", "INTERVAL 7 DAY", "SELECT * FROM orders WHERE placed_at > now() - INTERVAL 7 DAY"},
	{"SELECT * FROM orders WHERE note SIMILAR TO 'a|b'", "SIMILAR TO is PostgreSQL", "REGEXP '", "SELECT * FROM orders WHERE note REGEXP 'a|b'"},
	{"SELECT * FROM orders WHERE note ~ '^a'", "~ with a pattern is PostgreSQL", "REGEXP '", "SELECT * FROM orders WHERE note REGEXP '^a'"},
	{"SELECT * FROM customers c CROSS APPLY (SELECT 1 AS x) AS t", "APPLY is SQL Server", "~join with a sub-query", ""},
	{"SELECT * FROM orders WITH (NOLOCK)", "hints of tables are SQL Server", "~leave WITH (…) out", "SELECT * FROM orders"},
	{"SELECT [id] FROM [orders]", "[ and ] quote names in SQL Server", "`id`", "SELECT `id` FROM `orders`"},
	{"SELECT * FROM orders WHERE id = ANY(ARRAY[1, 2])", "has no arrays", " IN (1, 2)", "SELECT * FROM orders WHERE id IN (1, 2)"},
	{"SELECT * EXCEPT (note) FROM orders", "* EXCEPT is not MySQL", "~name the columns", "SELECT id, status FROM orders"},
	{"SELECT status, count(*) FROM orders GROUP BY ROLLUP (status)", "ROLLUP (…) is not MySQL", "WITH ROLLUP", "SELECT status, count(*) FROM orders GROUP BY status WITH ROLLUP"},
	{"SELECT EXTRACT(EPOCH FROM placed_at) FROM orders", "EXTRACT has no EPOCH", "UNIX_TIMESTAMP(", "SELECT UNIX_TIMESTAMP(placed_at) FROM orders"},
	{"SELECT placed_at AT TIME ZONE 'UTC' FROM orders", "AT TIME ZONE is PostgreSQL", "CONVERT_TZ(", "SELECT CONVERT_TZ(placed_at, '+00:00', '+02:00') FROM orders"},
	{"SELECT * FROM orders WHERE note IS DISTINCT FROM 'x'", "IS DISTINCT FROM is not MySQL", "NOT (", "SELECT * FROM orders WHERE NOT (note <=> 'x')"},
	{"WITH t AS MATERIALIZED (SELECT * FROM orders) SELECT * FROM t", "MATERIALIZED is PostgreSQL", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"SELECT * FROM orders WHERE id = ?", "? is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = :id", ":id is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = %s", "%s is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM {{ ref('orders') }}", "template", "~write the name", "SELECT * FROM orders"},
	{"SELECT id, FROM orders", "a comma before FROM", "~remove the comma", "SELECT id FROM orders"},
	{"SELECT count(* FROM orders", "a bracket that opens here is never closed", "~add the bracket", "SELECT count(*) FROM orders"},
	{"SELECT * FROM order", "ORDER is a reserved word", "`order`", ""},
	{"SELECT @n := @n + 1 FROM orders", "user variable", "~compute it in a sub-query", ""},

	{"SELECT LEN(note) FROM orders", "MySQL has no function len", "CHAR_LENGTH(", "SELECT CHAR_LENGTH(note) FROM orders"},
	{"SELECT nvl2(note, 1, 2) FROM orders", "no function nvl2", "IF(", "SELECT IF(note IS NOT NULL, 1, 2) FROM orders"},
	{"SELECT IIF(id > 1, 'a', 'b') FROM orders", "no function iif", "IF(", "SELECT IF(id > 1, 'a', 'b') FROM orders"},
	{"SELECT string_agg(note, ', ') FROM orders", "no function string_agg", "GROUP_CONCAT(", "SELECT GROUP_CONCAT(note SEPARATOR ', ') FROM orders"},
	{"SELECT array_agg(note) FROM orders", "no function array_agg", "JSON_ARRAYAGG(", "SELECT JSON_ARRAYAGG(note) FROM orders"},
	{"SELECT date_trunc('month', placed_at) FROM orders", "no function date_trunc", "DATE_FORMAT(", "SELECT DATE_FORMAT(placed_at, '%Y-%m-01') FROM orders"},
	{"SELECT to_date(note, 'YYYY') FROM orders", "no function to_date", "STR_TO_DATE(", "SELECT STR_TO_DATE(note, '%Y') FROM orders"},
	{"SELECT date_part('year', placed_at) FROM orders", "no function date_part", "EXTRACT(YEAR FROM", "SELECT EXTRACT(YEAR FROM placed_at) FROM orders"},
	{"SELECT strftime('%Y', placed_at) FROM orders", "no function strftime", "DATE_FORMAT(", "SELECT DATE_FORMAT(placed_at, '%Y') FROM orders"},
	{"SELECT getdate()", "no function getdate", "NOW()", "SELECT NOW()"},
	{"SELECT dateadd(day, 1, placed_at) FROM orders", "no function dateadd", "DATE_ADD(", "SELECT DATE_ADD(placed_at, INTERVAL 1 DAY) FROM orders"},
	{"SELECT strpos(note, 'a') FROM orders", "no function strpos", "LOCATE('", "SELECT LOCATE('a', note) FROM orders"},
	{"SELECT split_part(note, ',', 1) FROM orders", "no function split_part", "SUBSTRING_INDEX(", "SELECT SUBSTRING_INDEX(note, ',', 1) FROM orders"},
	{"SELECT random()", "no function random", "RAND()", "SELECT RAND()"},
	{"SELECT gen_random_uuid()", "no function gen_random_uuid", "UUID()", "SELECT UUID()"},
	{"SELECT trunc(amount, 1) FROM orders", "no function trunc", "TRUNCATE(", "SELECT TRUNCATE(amount, 1) FROM orders"},
	{"SELECT bool_or(id > 1) FROM orders", "no function bool_or", "MAX(", "SELECT MAX(id > 1) FROM orders"},
	{"SELECT json_build_object('a', id) FROM orders", "no function json_build_object", "JSON_OBJECT('", "SELECT JSON_OBJECT('a', id) FROM orders"},
	{"SELECT regexp_matches(note, 'a') FROM orders", "no function regexp_matches", "REGEXP_SUBSTR(", "SELECT REGEXP_SUBSTR(note, 'a') FROM orders"},
	{"SELECT sleep(5)", "function sleep", "~no statement waits", ""},
	{"SELECT load_file('/etc/passwd')", "function load_file", "~no statement reads files", ""},
	{"SELECT get_lock('a', 1)", "function get_lock", "~takes no locks", ""},
	{"SELECT user, host FROM mysql.user", "relation mysql.user", "SELECT CURRENT_USER()", "SELECT CURRENT_USER()"},
	{"SELECT * FROM information_schema.processlist", "processlist", "SELECT CONNECTION_ID()", "SELECT CONNECTION_ID()"},
}

// TestWords: a refusal names what is wrong in the statement, and what to write instead.
// The guards of both products accept what it suggests, and the server runs it.
func TestWords(t *testing.T) {
	rewritten := dialecttest.CheckWords(t, dialecttest.NewGuard(t, mysql.Dialect{}), words)
	mariadb := dialecttest.NewGuard(t, mysql.MariaDB)
	for _, sql := range rewritten {
		if v := mariadb.Check(sql); !v.Allowed {
			t.Errorf("MariaDB: %q is refused: %+v", sql, v.Findings)
		}
	}
	if v := mariadb.Check("SELECT len(x) FROM t"); v.Findings[0].Message != "MariaDB has no function len" {
		t.Errorf("MariaDB says %q", v.Findings[0].Message)
	}
	testdb.MariaDB(t).NewDatabase(t, append([]string{
		"CREATE TABLE orders (id int PRIMARY KEY, customer_id int, status varchar(20), amount decimal(10, 2), note varchar(100), placed_at datetime)",
		"CREATE TABLE customers (id int PRIMARY KEY, name varchar(100))",
		"INSERT INTO orders VALUES (1, 1, 'paid', 10, 'a,b', '2026-01-31')",
	}, rewritten...)...)
}

// TestInstead: the guards accept what the table of functions suggests.
func TestInstead(t *testing.T) {
	for _, d := range []mysql.Dialect{{}, mysql.MariaDB} {
		dialecttest.CheckInstead(t, dialecttest.NewGuard(t, d), mysql.Instead(), d == mysql.MariaDB)
	}
}
