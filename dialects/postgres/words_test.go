package postgres_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

const columnsOfOrders = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'orders'"

const tablesOfPostgres = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"

const noWrite = "this connection only reads"

// words are statements that models and BI tools send, and what PostgreSQL's refusals say.
var words = []dialecttest.Word{
	{"SHOW VARIABLES LIKE 'version'", "reads one setting by its name", "SHOW server_version", "SHOW server_version"},
	{"SHOW VARIABLES", "reads one setting by its name", "SHOW server_version", "SHOW server_version"},
	{"SHOW GLOBAL STATUS", "reads one setting by its name", "SHOW server_version", "SHOW server_version"},
	{"SHOW FULL PROCESSLIST", "SHOW PROCESSLIST is MySQL", "SELECT pid, state FROM pg_stat_activity", "SELECT pid, state FROM pg_stat_activity"},
	{"SHOW PROCESSLIST", "SHOW PROCESSLIST is MySQL", "SELECT pid, state FROM pg_stat_activity", "SELECT pid, state FROM pg_stat_activity"},
	{"SELECT current_setting(status) FROM orders", "the name of the setting is computed", "~as a literal", "SELECT current_setting('server_version')"},
	{"KILL 5", "KILL is MySQL and SQL Server", "~only the operator ends sessions", ""},
	{"ALTER SYSTEM SET work_mem = '1GB'", "ALTER SYSTEM changes the settings of the server", "~only the operator", ""},
	{"DECLARE c CURSOR FOR SELECT id FROM orders", "a cursor belongs to a session", "~the query after FOR alone", "SELECT id FROM orders"},
	{"FETCH 5 FROM c", "a cursor belongs to a session", "~send the query of the cursor", ""},
	{"COMMIT", "COMMIT controls the transaction", "~send the query alone", ""},
	{"SELECT DISTINCT ON customer_id id FROM orders", "DISTINCT ON needs brackets", "SELECT DISTINCT ON (customer_id) ", "SELECT DISTINCT ON (customer_id) id FROM orders ORDER BY customer_id"},
	{"SELECT id FROM orders TABLESAMPLE hourly (10)", "only system and bernoulli", "TABLESAMPLE SYSTEM (10)", "SELECT id FROM orders TABLESAMPLE SYSTEM (10)"},
	{"SELECT pg_get_viewdef('v')", "source text of views", "~information_schema.columns has the columns", ""},
	{"SELECT pg_get_functiondef(1)", "source text of views", "SELECT proname, pg_get_function_arguments(oid) FROM pg_proc", "SELECT proname, pg_get_function_arguments(oid) FROM pg_proc"},
	{"SELECT crypt('a', 'b')", "handles passwords or keys", "~no statement makes or tests passwords", ""},
	{"SELECT repeat('x', 100000000)", "more than 16 MiB", "~use a smaller number", "SELECT repeat('x', 100)"},
	{"SELECT generate_series(1, 100000000)", "more than 10 million rows", "~use a smaller number", ""},
	{"ANALYZE orders", "ANALYZE writes statistics", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"VACUUM orders", "VACUUM rewrites tables", "leave it out", ""},
	{"DROP TABLE orders", "DROP changes the schema", noWrite, ""},
	{"ALTER TABLE orders ADD x int", "changes the schema", noWrite, ""},
	{"TRUNCATE orders", "TRUNCATE removes all rows", noWrite, ""},
	{"CREATE TEMP TABLE t AS SELECT * FROM orders", "changes the schema", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE VIEW v AS SELECT * FROM orders", "changes the schema", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE INDEX i ON orders (status)", "changes the schema", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"REFRESH MATERIALIZED VIEW mv", "REFRESH MATERIALIZED VIEW", "SELECT * FROM mv", "SELECT * FROM mv"},
	{"SELECT * INTO copied FROM orders", "INTO", "~remove the INTO clause", "SELECT * FROM orders"},
	{"INSERT INTO orders (id) VALUES (1)", "INSERT changes data", "with VALUES or SELECT alone", ""},
	{"UPDATE orders SET status = 'x' WHERE id = 1", "UPDATE changes data", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"WITH c AS (SELECT id FROM customers) INSERT INTO orders (id) SELECT id FROM c ON CONFLICT (id) DO UPDATE SET status = 'x'", "INSERT changes data", "with VALUES or SELECT alone", ""},
	{"\\copy orders to 'orders.csv' csv", "a command of psql that copies", "SELECT * FROM orders", "SELECT * FROM orders"},
	{"\\copy (SELECT id FROM orders) to 'orders.csv'", "a command of psql that copies", "~the query between the brackets", "SELECT id FROM orders"},
	{"\\copy orders from 'orders.csv' csv", "a command of psql that copies", "a person loads the file", ""},
	{"WITH c AS (SELECT id FROM customers) UPDATE orders SET status = 'x' WHERE id IN (SELECT id FROM c)", "UPDATE changes data", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"WITH c AS (SELECT id FROM customers) DELETE FROM orders WHERE id IN (SELECT id FROM c)", "DELETE changes data", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"DELETE FROM orders WHERE id = 1", "DELETE changes data", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"WITH d AS (DELETE FROM orders RETURNING *) SELECT * FROM d", "DELETE inside WITH", "~select from the table", "WITH d AS (SELECT * FROM orders) SELECT * FROM d"},
	{"GRANT SELECT ON orders TO bob", "GRANT changes roles, privileges or ownership", "leave the statement out", ""},
	{"BEGIN", "controls the transaction", "send the query alone", ""},
	{"BEGIN; SELECT * FROM orders", "2 statements", "~each statement in a call of its own", "SELECT * FROM orders"},
	{"SET search_path = shop", "changes or uses the state of the session", "schema.table", ""},
	{"SET TIME ZONE 'UTC'", "state of the session", "AT TIME ZONE", "SELECT placed_at AT TIME ZONE 'UTC' FROM orders"},
	{"SET statement_timeout = 0", "state of the session", "time limits of its own", ""},
	{"COPY (SELECT * FROM orders) TO STDOUT", "COPY TO is not a read", "~use SELECT", "SELECT * FROM orders"},
	{"LOCK TABLE orders", "LOCK", "without locks", ""},
	{"SELECT * FROM orders FOR UPDATE", "FOR UPDATE locks", "~leave FOR UPDATE or FOR SHARE out", "SELECT * FROM orders"},
	{"LISTEN jobs", "state of the session", "leave it out", ""},
	{"CALL refresh()", "runs a procedure", "tables that the procedure reads", ""},

	{"SHOW TABLES", "SHOW TABLES is not PostgreSQL", tablesOfPostgres, tablesOfPostgres},
	{"SHOW FULL TABLES", "SHOW TABLES is not PostgreSQL", tablesOfPostgres, tablesOfPostgres},
	{"SHOW DATABASES", "SHOW reads settings only", "SELECT schema_name FROM information_schema.schemata", "SELECT schema_name FROM information_schema.schemata"},
	{"SHOW COLUMNS FROM orders", "SHOW COLUMNS is not PostgreSQL", columnsOfOrders, columnsOfOrders},
	{"SHOW INDEX FROM orders", "SHOW INDEX is not PostgreSQL", "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'orders'", "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'orders'"},
	{"SHOW CREATE TABLE orders", "SHOW CREATE TABLE is not PostgreSQL", columnsOfOrders, columnsOfOrders},
	{"SHOW ALL", "SHOW ALL shows every setting", "SHOW server_version", "SHOW server_version"},
	{"DESCRIBE orders", "DESCRIBE is not PostgreSQL", columnsOfOrders, columnsOfOrders},
	{"DESC orders", "DESCRIBE is not PostgreSQL", columnsOfOrders, columnsOfOrders},
	{`\d orders`, `\d is a command`, columnsOfOrders, columnsOfOrders},
	{`\dt`, `\dt is a command`, tablesOfPostgres, tablesOfPostgres},
	{"PRAGMA table_info(orders)", "PRAGMA is SQLite", columnsOfOrders, columnsOfOrders},
	{"USE shop", "USE is not PostgreSQL", "shop.name", ""},
	{"EXPLAIN QUERY PLAN SELECT * FROM orders", "EXPLAIN QUERY PLAN is SQLite", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"DECLARE @n int = 5", "DECLARE makes", "WITH p AS (SELECT 7 AS n) SELECT p.n FROM p", "WITH p AS (SELECT 7 AS n) SELECT p.n FROM p"},

	{"SELECT * FROM orders LIMIT 5, 10", "LIMIT 5, 10 is MySQL", "LIMIT 10 OFFSET 5", "SELECT * FROM orders LIMIT 10 OFFSET 5"},
	{"SELECT TOP 5 * FROM orders", "TOP is SQL Server", "LIMIT 5", "SELECT * FROM orders LIMIT 5"},
	{"SELECT TOP (5) * FROM orders", "TOP is SQL Server", "LIMIT 5", "SELECT * FROM orders LIMIT 5"},
	{"SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY id) = 1", "QUALIFY is not PostgreSQL", "AS t WHERE n = 1", "SELECT * FROM (SELECT o.*, row_number() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM orders o) AS t WHERE n = 1"},
	{"SELECT * FROM orders WITH (NOLOCK)", "hints of tables are SQL Server", "~leave WITH (…) out", "SELECT * FROM orders"},
	{"SELECT * FROM orders USE INDEX (i)", "hints on indexes are MySQL", "~leave the hint out", "SELECT * FROM orders"},
	{"SELECT * FROM customers c CROSS APPLY (SELECT 1 AS x) AS t", "CROSS APPLY is SQL Server", "CROSS JOIN LATERAL (", "SELECT * FROM customers c CROSS JOIN LATERAL (SELECT 1 AS x) AS t"},
	{"SELECT * FROM customers c OUTER APPLY (SELECT 1 AS x) AS t", "OUTER APPLY is SQL Server", "LEFT JOIN LATERAL (", "SELECT * FROM customers c LEFT JOIN LATERAL (SELECT 1 AS x) AS t ON true"},
	{"SELECT * EXCEPT (note) FROM orders", "* EXCEPT is not PostgreSQL", "~name the columns", "SELECT id, status FROM orders"},
	{"SELECT status, count(*) FROM orders GROUP BY ALL", "GROUP BY ALL is not PostgreSQL", "GROUP BY 1", "SELECT status, count(*) FROM orders GROUP BY 1"},
	{"SELECT id FROM orders MINUS SELECT id FROM customers", "MINUS is Oracle", "EXCEPT", "SELECT id FROM orders EXCEPT SELECT id FROM customers"},
	{"SELECT * FROM orders WHERE placed_at > now() - INTERVAL 7 DAY", "INTERVAL without quotes is MySQL", "INTERVAL '7 DAY'", "SELECT * FROM orders WHERE placed_at > now() - INTERVAL '7 DAY'"},
	{"SELECT DATE_SUB(placed_at, INTERVAL 7 DAY) FROM orders", "INTERVAL without quotes is MySQL", "INTERVAL '7 DAY'", "SELECT placed_at - INTERVAL '7 DAY' FROM orders"},
	{"SELECT ISNULL(note, 'x') FROM orders", "ISNULL (x, y) is SQL Server", "coalesce(", "SELECT coalesce(note, 'x') FROM orders"},
	{"SELECT * FROM orders WHERE note REGEXP '^a'", "REGEXP and RLIKE are MySQL", "~ '", "SELECT * FROM orders WHERE note ~ '^a'"},
	{"SELECT * FROM orders WHERE note RLIKE '^a'", "REGEXP and RLIKE are MySQL", "~ '", "SELECT * FROM orders WHERE note ~ '^a'"},
	{"SELECT rlike(note, '^a') FROM orders", "PostgreSQL has no function rlike", "~ '", "SELECT note ~ '^a' FROM orders"},
	{"SELECT :id", ":id is a parameter", "~as a literal", "SELECT 42"},
	{"EXEC monthly_report", "EXEC is SQL Server", "~select from the tables", ""},
	{"SELECT * FROM orders a, customers b WHERE a.customer_id = b.id(+)", "(+) is Oracle", "LEFT JOIN", "SELECT * FROM orders a LEFT JOIN customers b ON b.id = a.customer_id"},
	{"SELECT group_concat(note SEPARATOR ', ') FROM orders", "SEPARATOR is MySQL", "string_agg(", "SELECT string_agg(note, ', ') FROM orders"},
	{"SELECT TRY_CAST(note AS integer) FROM orders", "TRY_CAST is not PostgreSQL", "CAST(", "SELECT CAST('1' AS integer) FROM orders"},
	{"SELECT `id` FROM `orders`", "backticks quote names in MySQL", `"id"`, `SELECT "id" FROM "orders"`},
	{"SELECT [id] FROM [orders]", "[ and ] quote names in SQL Server", `"id"`, `SELECT "id" FROM "orders"`},
	{"SELECT * FROM {{ ref('orders') }}", "template", "~write the name", "SELECT * FROM orders"},
	{"SELECT * FROM orders WHERE id = ?", "? is a parameter", "write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = :id", ":id is a parameter", "write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = $1", "$1 is a parameter", "write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = %s", "%s is a parameter", "write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = %(id)s", "%(id)s is a parameter", "write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id == 1", "== is no operator", "~write =", "SELECT * FROM orders WHERE id = 1"},
	{"SELECT id, FROM orders", "a comma before FROM", "~remove the comma", "SELECT id FROM orders"},
	{"SELECT count(* FROM orders", "a bracket that opens here is never closed", "~add the bracket", "SELECT count(*) FROM orders"},
	{"SELECT count(*)) FROM orders", "a bracket closes here that never opened", "~remove it", "SELECT count(*) FROM orders"},
	{"SELECT * FROM orders WHERE status = ‘it is’", "typographic quotation mark", "write '", ""},
	{"SELECT * FROM orders WHERE note = 'it's", "ends at its second quote", "'it''s'", "SELECT * FROM orders WHERE note = 'it''s'"},
	{"SELECT order FROM orders", "ORDER is a reserved word", `"order"`, ""},
	{"SELECT id FROM user WHERE desc = 1", "DESC is a reserved word", `"desc"`, ""},

	{"SELECT ifnull(note, 'x') FROM orders", "PostgreSQL has no function ifnull", "coalesce(", "SELECT coalesce(note, 'x') FROM orders"},
	{"SELECT nvl(note, 'x') FROM orders", "PostgreSQL has no function nvl", "coalesce(", "SELECT coalesce(note, 'x') FROM orders"},
	{"SELECT IIF(id > 1, 'a', 'b') FROM orders", "no function iif", "CASE WHEN", "SELECT CASE WHEN id > 1 THEN 'a' ELSE 'b' END FROM orders"},
	{"SELECT LEN(note) FROM orders", "PostgreSQL has no function len", "length(", "SELECT length(note) FROM orders"},
	{"SELECT CHARINDEX('a', note) FROM orders", "no function charindex", "strpos(", "SELECT strpos(note, 'a') FROM orders"},
	{"SELECT instr(note, 'a') FROM orders", "no function instr", "strpos(", "SELECT strpos(note, 'a') FROM orders"},
	{"SELECT year(placed_at) FROM orders", "PostgreSQL has no function year", "extract(year FROM", "SELECT extract(year FROM placed_at) FROM orders"},
	{"SELECT month(placed_at) FROM orders", "no function month", "extract(month FROM", "SELECT extract(month FROM placed_at) FROM orders"},
	{"SELECT DATEPART(year, placed_at) FROM orders", "no function datepart", "extract(year FROM", "SELECT extract(year FROM placed_at) FROM orders"},
	{"SELECT date_format(placed_at, '%Y-%m') FROM orders", "no function date_format", "to_char(", "SELECT to_char(placed_at, 'YYYY-MM') FROM orders"},
	{"SELECT strftime('%Y', placed_at) FROM orders", "no function strftime", "to_char(", "SELECT to_char(placed_at, 'YYYY') FROM orders"},
	{"SELECT str_to_date(note, '%Y') FROM orders", "no function str_to_date", "to_date(", "SELECT to_date(note, 'YYYY') FROM orders WHERE false"},
	{"SELECT getdate()", "no function getdate", "now()", "SELECT now()"},
	{"SELECT curdate()", "no function curdate", "current_date", "SELECT current_date"},
	{"SELECT datediff(placed_at, placed_at) FROM orders", "no function datediff", "::date", "SELECT placed_at::date - placed_at::date FROM orders"},
	{"SELECT dateadd(day, 1, placed_at) FROM orders", "no function dateadd", "+ INTERVAL '1 day'", "SELECT placed_at + INTERVAL '1 day' FROM orders"},
	{"SELECT last_day(placed_at) FROM orders", "no function last_day", "date_trunc('month', ", "SELECT (date_trunc('month', placed_at) + INTERVAL '1 month - 1 day')::date FROM orders"},
	{"SELECT unix_timestamp(placed_at) FROM orders", "no function unix_timestamp", "extract(epoch FROM", "SELECT extract(epoch FROM placed_at) FROM orders"},
	{"SELECT group_concat(note) FROM orders", "PostgreSQL has no function group_concat", "string_agg(", "SELECT string_agg(note::text, ', ') FROM orders"},
	{"SELECT json_extract(data, '$.a') FROM orders", "no function json_extract", "->> 'key'", "SELECT data ->> 'key' FROM orders"},
	{"SELECT median(amount) FROM orders", "no function median", "percentile_cont(0.5) WITHIN GROUP (ORDER BY", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders"},
	{"SELECT countif(status = 'paid') FROM orders", "no function countif", "count(*) FILTER (WHERE", "SELECT count(*) FILTER (WHERE status = 'paid') FROM orders"},
	{"SELECT rand()", "no function rand", "random()", "SELECT random()"},
	{"SELECT newid()", "no function newid", "gen_random_uuid()", "SELECT gen_random_uuid()"},
	{"SELECT substring_index(note, ',', 1) FROM orders", "no function substring_index", "split_part(", "SELECT split_part(note, ',', 1) FROM orders"},
	{"SELECT DB_NAME()", "no function db_name", "current_database()", "SELECT current_database()"},
	{"SELECT nextval('orders_id_seq')", "function nextval", "SELECT last_value FROM pg_sequences", "SELECT last_value FROM pg_sequences"},
	{"SELECT pg_sleep(5)", "function pg_sleep", "no statement waits", ""},
	{"SELECT pg_read_file('/etc/passwd')", "function pg_read_file", "no statement reads files", ""},
	{"SELECT pg_terminate_backend(1)", "function pg_terminate_backend", "only the operator", ""},
	{"SELECT set_config('work_mem', '1GB', false)", "function set_config", "current_setting('server_version')", "SELECT current_setting('server_version')"},
	{"SELECT pg_advisory_lock(1)", "function pg_advisory_lock", "takes no locks", ""},
	{"SELECT query_to_xml('SELECT 1', true, true, '')", "function query_to_xml", "~the inner query itself", "SELECT json_agg(o) FROM orders o"},

	{"SELECT name, setting FROM pg_settings", "column setting of pg_settings", "SHOW work_mem", "SHOW work_mem"},
	{"SELECT rolname, rolpassword FROM pg_authid", "holds passwords", "SELECT rolname FROM pg_roles", "SELECT rolname FROM pg_roles"},
	{"SELECT * FROM pg_stat_activity", "* of pg_stat_activity", "SELECT pid, state FROM pg_stat_activity", "SELECT pid, state FROM pg_stat_activity"},
	{"SELECT most_common_vals FROM pg_stats", "pg_stats", "SELECT status, count(*) FROM orders GROUP BY status", "SELECT status, count(*) FROM orders GROUP BY status"},
	{"SELECT my_function(id) FROM orders", "function my_function", "functions.allow as schema.name", ""},
}

// TestWords: a refusal names what is wrong in the statement, and what to write instead.
// The guard accepts what it suggests, and PostgreSQL runs it.
func TestWords(t *testing.T) {
	rewritten := dialecttest.CheckWords(t, dialecttest.NewGuard(t, postgres.Dialect{}), words)
	testdb.Postgres(t).NewDatabase(t, append([]string{
		"CREATE TABLE orders (id int PRIMARY KEY, customer_id int, status text, amount numeric, note text, placed_at timestamptz, data json)",
		"CREATE TABLE customers (id int PRIMARY KEY, name text)",
		"INSERT INTO orders VALUES (1, 1, 'paid', 10, 'a,b', '2026-01-31', '{\"key\": 1}')",
		"CREATE MATERIALIZED VIEW mv AS SELECT * FROM orders",
	}, rewritten...)...)
}

// TestInstead: the guard accepts what the table of functions suggests.
func TestInstead(t *testing.T) {
	dialecttest.CheckInstead(t, dialecttest.NewGuard(t, postgres.Dialect{}), postgres.Instead())
}
