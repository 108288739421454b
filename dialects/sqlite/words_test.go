package sqlite_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

const tablesOfSQLite = "SELECT name FROM sqlite_schema WHERE type = 'table'"

const noWrite = "~this connection only reads"

// words are statements that models and BI tools send, and what SQLite's refusals say.
var words = []dialecttest.Word{
	{"ANALYZE orders", "ANALYZE writes statistics", "EXPLAIN QUERY PLAN SELECT", "EXPLAIN QUERY PLAN SELECT * FROM orders"},
	{"VACUUM", "VACUUM rewrites", "~leave it out", ""},
	{"DROP TABLE orders", "DROP TABLE changes the schema", noWrite, ""},
	{"ALTER TABLE orders ADD x int", "ALTER TABLE", noWrite, ""},
	{"TRUNCATE TABLE orders", "TRUNCATE is not SQLite", noWrite, ""},
	{"CREATE TEMP TABLE t AS SELECT * FROM orders", "CREATE TABLE", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE VIEW v AS SELECT * FROM orders", "CREATE VIEW", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE INDEX i ON orders (status)", "CREATE INDEX", "EXPLAIN QUERY PLAN SELECT", "EXPLAIN QUERY PLAN SELECT * FROM orders"},
	{"INSERT INTO orders (id) VALUES (1)", "INSERT", "~with VALUES or SELECT alone", ""},
	{"UPDATE orders SET status = 'x' WHERE id = 1", "UPDATE", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"WITH c AS (SELECT id FROM customers) UPDATE orders SET status = 'x' WHERE id IN (SELECT id FROM c)", "UPDATE changes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"WITH c AS (SELECT id FROM customers) DELETE FROM orders WHERE id IN (SELECT id FROM c)", "DELETE removes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"DELETE FROM orders WHERE id = 1", "DELETE", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"ATTACH 'other.db' AS o", "ATTACH", "~a connection of its own", ""},
	{"BEGIN", "BEGIN", "~send the query alone", ""},
	{"PRAGMA journal_mode = WAL", "journal_mode", "~no PRAGMA changes a setting", ""},
	{"PRAGMA database_list", "database_list", tablesOfSQLite, tablesOfSQLite},
	{"SHOW TABLES", "SHOW is not SQLite", tablesOfSQLite, tablesOfSQLite},
	{"SHOW COLUMNS FROM orders", "SHOW COLUMNS is MySQL", "PRAGMA table_info(orders)", "PRAGMA table_info(orders)"},
	{"SHOW CREATE TABLE orders", "SHOW CREATE TABLE is MySQL", "SELECT name, type FROM pragma_table_xinfo('orders')", "SELECT name, type FROM pragma_table_xinfo('orders')"},
	{"SHOW INDEX FROM orders", "SHOW INDEX is MySQL", "PRAGMA index_list(orders)", "PRAGMA index_list(orders)"},
	{"DESCRIBE orders", "DESCRIBE is not SQLite", "PRAGMA table_info(orders)", "PRAGMA table_info(orders)"},
	{`\d orders`, `\d is a command`, "PRAGMA table_info(orders)", "PRAGMA table_info(orders)"},
	{".tables", ".tables is a command", tablesOfSQLite, tablesOfSQLite},
	{".schema orders", ".schema is a command", "PRAGMA table_info(orders)", "PRAGMA table_info(orders)"},
	{"USE shop", "USE is not SQLite", "~leave it out", ""},
	{"SET search_path = shop", "SET is not SQLite", "~leave it out", ""},
	{"EXPLAIN ANALYZE SELECT * FROM orders", "EXPLAIN ANALYZE is not SQLite", "EXPLAIN QUERY PLAN SELECT", "EXPLAIN QUERY PLAN SELECT * FROM orders"},
	{"EXEC sp_help orders", "SQLite has no procedures", tablesOfSQLite, tablesOfSQLite},
	{"COPY orders TO STDOUT", "COPY is PostgreSQL", "~the rows are returned to you", ""},
	{"GRANT SELECT ON orders TO bob", "SQLite has no rights", "~leave the statement out", ""},

	{"SELECT TOP 5 * FROM orders", "TOP is SQL Server", "LIMIT 5", "SELECT * FROM orders LIMIT 5"},
	{"SELECT * FROM orders FETCH FIRST 5 ROWS ONLY", "FETCH FIRST is not SQLite", "LIMIT 5", "SELECT * FROM orders LIMIT 5"},
	{"SELECT * FROM orders OFFSET 5 LIMIT 10", "LIMIT stands before OFFSET", "LIMIT 10 OFFSET 5", "SELECT * FROM orders LIMIT 10 OFFSET 5"},
	{"SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY id) = 1", "QUALIFY is not SQLite", "AS t WHERE n = 1", "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM orders) AS t WHERE n = 1"},
	{"SELECT DISTINCT ON (customer_id) * FROM orders", "DISTINCT ON is PostgreSQL", "AS t WHERE n = 1", "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM orders) AS t WHERE n = 1"},
	{"SELECT * FROM orders WHERE note ILIKE '%x%'", "ILIKE is PostgreSQL", "LIKE", "SELECT * FROM orders WHERE note LIKE '%x%'"},
	{"SELECT * FROM orders WHERE note SIMILAR TO 'a'", "SIMILAR TO is PostgreSQL", "GLOB '", "SELECT * FROM orders WHERE note GLOB 'a'"},
	{"SELECT * FROM orders WHERE note ~ '^a'", "~ with a pattern is PostgreSQL", "GLOB '", "SELECT * FROM orders WHERE note GLOB 'a*'"},
	{"SELECT id::text FROM orders", "x::type is PostgreSQL", "CAST(", "SELECT CAST(id AS TEXT) FROM orders"},
	{"SELECT * FROM orders WHERE placed_at > now() - INTERVAL '7 days'", "SQLite has no INTERVAL", "'-7 days')", "SELECT * FROM orders WHERE placed_at > date('now', '-7 days')"},
	{"SELECT EXTRACT(YEAR FROM placed_at) FROM orders", "EXTRACT is not SQLite", "CAST(strftime('%Y', ", "SELECT CAST(strftime('%Y', placed_at) AS INTEGER) FROM orders"},
	{"SELECT EXTRACT(MONTH FROM placed_at) FROM orders", "EXTRACT is not SQLite", "CAST(strftime('%m', ", "SELECT CAST(strftime('%m', placed_at) AS INTEGER) FROM orders"},
	{"SELECT POSITION('a' IN note) FROM orders", "POSITION … IN is not SQLite", "instr(", "SELECT instr(note, 'a') FROM orders"},
	{"SELECT SUBSTRING(note FROM 1 FOR 3) FROM orders", "SUBSTRING … FROM is not SQLite", "substr(", "SELECT substr(note, 1, 3) FROM orders"},
	{"SELECT TRIM(BOTH ' ' FROM note) FROM orders", "TRIM (BOTH …) is not SQLite", "trim(", "SELECT trim(note, ' ') FROM orders"},
	{"SELECT LEFT(note, 3) FROM orders", "SQLite has no function LEFT", "substr(", "SELECT substr(note, 1, 3) FROM orders"},
	{"SELECT ISNULL(note, 'x') FROM orders", "ISNULL (x, y) is SQL Server", "ifnull(", "SELECT ifnull(note, 'x') FROM orders"},
	{"SELECT * FROM orders WHERE placed_at > DATE '2026-01-01'", "DATE '…' is not SQLite", "date(", "SELECT * FROM orders WHERE date(placed_at) > '2026-01-01'"},
	{"SELECT placed_at AT TIME ZONE 'UTC' FROM orders", "AT TIME ZONE is PostgreSQL", "'localtime')", "SELECT datetime(placed_at, 'localtime') FROM orders"},
	{"SELECT * FROM orders WHERE id = ANY(SELECT 1)", "ANY and ALL are not SQLite", " IN (SELECT", "SELECT * FROM orders WHERE id IN (SELECT 1)"},
	{"SELECT * FROM customers c CROSS JOIN LATERAL (SELECT 1) t", "LATERAL is PostgreSQL", "~write a sub-query in SELECT", ""},
	{"SELECT * FROM customers c CROSS APPLY (SELECT 1) t", "APPLY is SQL Server", "~write a sub-query in SELECT", ""},
	{"SELECT * FROM orders WITH (NOLOCK)", "hints of tables are SQL Server", "~leave WITH (…) out", "SELECT * FROM orders"},
	{"SELECT id FROM orders MINUS SELECT id FROM customers", "MINUS is Oracle", "EXCEPT", "SELECT id FROM orders EXCEPT SELECT id FROM customers"},
	{"SELECT status, count(*) FROM orders GROUP BY ROLLUP (status)", "ROLLUP is not SQLite", "UNION ALL", "SELECT status, count(*) FROM orders GROUP BY status UNION ALL SELECT NULL, count(*) FROM orders"},
	{"SELECT status, count(*) FROM orders GROUP BY status WITH ROLLUP", "ROLLUP is not SQLite", "UNION ALL", "SELECT status, count(*) FROM orders GROUP BY status UNION ALL SELECT NULL, count(*) FROM orders"},
	{"SELECT * EXCEPT (note) FROM orders", "* EXCEPT is not SQLite", "~name the columns", "SELECT id, status FROM orders"},
	{"SELECT group_concat(note SEPARATOR ', ') FROM orders", "SEPARATOR is MySQL", "group_concat(", "SELECT group_concat(note, ', ') FROM orders"},
	{"SELECT * FROM orders FOR UPDATE", "SQLite has no FOR UPDATE", "~leave it out", "SELECT * FROM orders"},
	{"SELECT * FROM orders WHERE id = ?", "? is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = :id", ":id is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = $1", "$1 is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = @id", "@id is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM {{ ref('orders') }}", "template", "~write the name", "SELECT * FROM orders"},
	{"SELECT id, FROM orders", "a comma before FROM", "~remove the comma", "SELECT id FROM orders"},
	{"SELECT count(* FROM orders", "a bracket that opens here is never closed", "~add the bracket", "SELECT count(*) FROM orders"},
	{"SELECT * FROM order", "ORDER is a reserved word", `"order"`, ""},
	{"SELECT 1; SELECT 2", "2 statements", "~each statement in a call of its own", ""},

	{"SELECT now()", "SQLite has no function now", "datetime('now')", "SELECT datetime('now')"},
	{"SELECT getdate()", "no function getdate", "datetime('now')", "SELECT datetime('now')"},
	{"SELECT curdate()", "no function curdate", "date('now')", "SELECT date('now')"},
	{"SELECT year(placed_at) FROM orders", "SQLite has no function year", "CAST(strftime('%Y', ", "SELECT CAST(strftime('%Y', placed_at) AS INTEGER) FROM orders"},
	{"SELECT quarter(placed_at) FROM orders", "no function quarter", " + 2) / 3", "SELECT (CAST(strftime('%m', placed_at) AS INTEGER) + 2) / 3 FROM orders"},
	{"SELECT date_trunc('month', placed_at) FROM orders", "no function date_trunc", "'start of month')", "SELECT date(placed_at, 'start of month') FROM orders"},
	{"SELECT date_format(placed_at, '%Y') FROM orders", "no function date_format", "strftime(", "SELECT strftime('%Y', placed_at) FROM orders"},
	{"SELECT to_char(placed_at, 'YYYY') FROM orders", "no function to_char", "strftime(", "SELECT strftime('%Y', placed_at) FROM orders"},
	{"SELECT datediff(placed_at, placed_at) FROM orders", "no function datediff", "julianday(", "SELECT julianday(placed_at) - julianday(placed_at) FROM orders"},
	{"SELECT date_add(placed_at, 1) FROM orders", "no function date_add", "'+1 day')", "SELECT date(placed_at, '+1 day') FROM orders"},
	{"SELECT LEN(note) FROM orders", "SQLite has no function len", "length(", "SELECT length(note) FROM orders"},
	{"SELECT nvl(note, 'x') FROM orders", "no function nvl", "ifnull(", "SELECT ifnull(note, 'x') FROM orders"},
	{"SELECT greatest(1, 2)", "no function greatest", "max(", "SELECT max(1, 2)"},
	{"SELECT strpos(note, 'a') FROM orders", "no function strpos", "instr(", "SELECT instr(note, 'a') FROM orders"},
	{"SELECT array_agg(note) FROM orders", "no function array_agg", "json_group_array(", "SELECT json_group_array(note) FROM orders"},
	{"SELECT lpad(id, 5, '0') FROM orders", "no function lpad", "printf('%05d', ", "SELECT printf('%05d', id) FROM orders"},
	{"SELECT stddev(amount) FROM orders", "no function stddev", "sqrt(avg(", "SELECT sqrt(avg(amount * amount) - avg(amount) * avg(amount)) FROM orders"},
	{"SELECT gen_random_uuid()", "no function gen_random_uuid", "lower(hex(randomblob(16)))", "SELECT lower(hex(randomblob(16)))"},
	{"SELECT json_value(data, '$.a') FROM orders", "no function json_value", "json_extract(", "SELECT json_extract(data, '$.key') FROM orders"},
	{"SELECT bool_or(id > 1) FROM orders", "no function bool_or", "max(", "SELECT max(id > 1) FROM orders"},
	{"SELECT split_part(note, ',', 1) FROM orders", "no function split_part", "instr(", "SELECT substr(note, 1, instr(note, ',') - 1) FROM orders"},
	{"SELECT * FROM information_schema.tables", "SQLite has no information_schema", tablesOfSQLite, tablesOfSQLite},
	{"SELECT column_name FROM information_schema.columns WHERE table_name = 'orders'", "SQLite has no information_schema", "SELECT name, type FROM pragma_table_info('orders')", "SELECT name, type FROM pragma_table_info('orders')"},
	{"SELECT * FROM information_schema.key_column_usage", "SQLite has no information_schema", "PRAGMA table_info(", "PRAGMA table_info(orders)"},
	{"SELECT relname FROM pg_catalog.pg_class", "no pg_catalog", tablesOfSQLite, tablesOfSQLite},
	{"SELECT name FROM sys.tables", "schema sys is SQL Server", tablesOfSQLite, tablesOfSQLite},
	{"SHOW server_version", "SHOW is not SQLite", "SELECT sqlite_version()", "SELECT sqlite_version()"},
	{"SELECT @@version", "@@name is MySQL and SQL Server", "SELECT sqlite_version()", "SELECT sqlite_version()"},
	{"SELECT current_setting('server_version')", "SQLite has no function current_setting", "sqlite_version()", "SELECT sqlite_version()"},
	{"PRAGMA journal_mode", "journal_mode", "PRAGMA table_info(", "PRAGMA table_info(orders)"},
	{"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders", "WITHIN GROUP is not SQLite", "row_number() OVER (ORDER BY ", "SELECT amount, row_number() OVER (ORDER BY amount) FROM orders"},
	{"SELECT a FROM (VALUES (1, 2)) AS v (a, b)", "names of columns after an alias are not SQLite", "WITH v (a, b) AS (VALUES (1, 2)) SELECT a FROM v", "WITH v (a, b) AS (VALUES (1, 2)) SELECT a FROM v"},
	{"SELECT zeroblob(100000000)", "more than 16 MiB", "~use a smaller number", "SELECT zeroblob(1000)"},
	{"SELECT * FROM generate_series(1, 100000000)", "more than 10000000 rows", "~use a smaller number", ""},
	{"SELECT load_extension('x')", "function load_extension", "~leave the call out", ""},
	{"SELECT readfile('/etc/passwd')", "function readfile", "~no statement reads files", ""},
	{"SELECT * FROM sqlite_sequence", "sqlite_sequence", "SELECT max(id) FROM orders", "SELECT max(id) FROM orders"},
}

// TestWords: a refusal names what is wrong in the statement, and what to write instead.
// The guard accepts what it suggests, and SQLite runs it.
func TestWords(t *testing.T) {
	rewritten := dialecttest.CheckWords(t, dialecttest.NewGuard(t, sqlite.Dialect{}), words)
	testdb.SQLiteFile(t, append([]string{
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id int, status text, amount real, note text, placed_at text, data text)",
		"CREATE TABLE customers (id INTEGER PRIMARY KEY, name text)",
		`INSERT INTO orders VALUES (1, 1, 'paid', 10, 'a,b', '2026-01-31', '{"key": 1}')`,
	}, rewritten...)...)
}

// TestInstead: the guard accepts what the table of functions suggests.
func TestInstead(t *testing.T) {
	dialecttest.CheckInstead(t, dialecttest.NewGuard(t, sqlite.Dialect{}), sqlite.Instead())
}
