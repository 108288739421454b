package sqlserver_test

import (
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
)

const (
	tablesOfSQLServer = "SELECT TABLE_SCHEMA, TABLE_NAME FROM INFORMATION_SCHEMA.TABLES"
	columnsOfOrders   = "SELECT COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'orders'"
	noWrite           = "~this connection only reads"
)

// words are statements that models and BI tools send, and what SQL Server's refusals say.
var words = []dialecttest.Word{
	{"SHOW server_version", "SHOW is not Transact-SQL", "SELECT @@VERSION", "SELECT @@VERSION"},
	{"SELECT current_setting('server_version')", "no function current_setting", "SERVERPROPERTY('ProductVersion')", "SELECT SERVERPROPERTY('ProductVersion')"},
	{"SELECT id FROM orders OFFSET 5", "OFFSET needs ORDER BY and ROWS", "ORDER BY ", "SELECT id FROM orders ORDER BY id OFFSET 5 ROWS"},
	{"SELECT id FROM orders FETCH FIRST 5 ROWS ONLY", "FETCH stands after OFFSET", "OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY", "SELECT id FROM orders ORDER BY id OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY"},
	{"SELECT NEXT VALUE FOR s", "NEXT VALUE FOR moves a sequence", "SELECT MAX(id) FROM orders", "SELECT MAX(id) FROM orders"},
	{"SELECT OBJECT_DEFINITION(1)", "source text of views", "~sys.objects and sys.columns", "SELECT name FROM sys.columns"},
	{"SELECT REPLICATE('x', 100000000)", "more than 16 MiB", "~use a smaller number", "SELECT REPLICATE('x', 100)"},
	{"KILL 5", "KILL ends another session", "~only the operator administers the server", ""},
	{"DBCC CHECKDB", "DBCC runs a console command", "~only the operator administers the server", ""},
	{"ANALYZE orders", "SQL Server would run a procedure of that name", "~leave it out", ""},
	{"UPDATE STATISTICS orders", "UPDATE STATISTICS writes statistics", "~leave it out", ""},
	{"DROP TABLE orders", "DROP TABLE changes the schema", noWrite, ""},
	{"TRUNCATE TABLE orders", "TRUNCATE", noWrite, ""},
	{"CREATE TABLE #t (id int)", "CREATE TABLE", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE VIEW v AS SELECT * FROM orders", "CREATE VIEW", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"SELECT * INTO #t FROM orders", "INTO", "~the rows are returned to you", "SELECT * FROM orders"},
	{"INSERT INTO orders (id) VALUES (1)", "INSERT", "~with SELECT alone", ""},
	{"UPDATE orders SET status = 'x' WHERE id = 1", "UPDATE", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"WITH c AS (SELECT id FROM customers) UPDATE orders SET status = 'x' WHERE id IN (SELECT id FROM c)", "UPDATE changes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"WITH c AS (SELECT id FROM customers) DELETE FROM orders WHERE id IN (SELECT id FROM c)", "DELETE removes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id IN (1)"},
	{"DELETE FROM orders WHERE id = 1", "DELETE", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"USE shop", "USE", "~the connection's own database", ""},
	{"SET NOCOUNT ON", "SET", "~begins with the settings of the connection", ""},
	{"DECLARE @n int = 5; SELECT @n", "DECLARE", "WITH p AS (SELECT 7 AS n) SELECT n FROM p", "WITH p AS (SELECT 7 AS n) SELECT n FROM p"},
	{"BEGIN TRAN", "BEGIN TRANSACTION", "~send the query alone", ""},
	{"WAITFOR DELAY '00:00:05'", "WAITFOR", "~no statement waits", ""},
	{"PRINT 'x'", "PRINT", "~write SELECT", ""},
	{"EXEC sp_help 'orders'", "EXEC runs a procedure", "~INFORMATION_SCHEMA.COLUMNS", columnsOfOrders},
	{"EXEC sp_columns orders", "EXEC runs a procedure", columnsOfOrders, columnsOfOrders},
	{"sp_help orders", "sp_help is a procedure", columnsOfOrders, columnsOfOrders},
	{"EXEC sp_helpindex orders", "EXEC runs a procedure", "SELECT name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('orders')", "SELECT name, type_desc FROM sys.indexes WHERE object_id = OBJECT_ID('orders')"},
	{"EXEC sp_tables", "EXEC runs a procedure", tablesOfSQLServer, tablesOfSQLServer},
	{"EXEC sp_who2", "EXEC runs a procedure", "SELECT @@SPID", "SELECT @@SPID"},
	{"EXEC sp_executesql N'SELECT 1'", "EXECUTE", "~write the inner query directly", "SELECT 1"},
	{"SHOW TABLES", "SHOW is MySQL", tablesOfSQLServer, tablesOfSQLServer},
	{"DESCRIBE orders", "DESCRIBE is MySQL", columnsOfOrders, columnsOfOrders},
	{`\d orders`, `\d is a command`, columnsOfOrders, columnsOfOrders},
	{"PRAGMA table_info(orders)", "PRAGMA is SQLite", columnsOfOrders, columnsOfOrders},
	{"EXPLAIN SELECT * FROM orders", "EXPLAIN is not Transact-SQL", "~send the SELECT without EXPLAIN", "SELECT * FROM orders"},

	{"SELECT * FROM orders LIMIT 10", "LIMIT is not Transact-SQL", "SELECT TOP (10)", "SELECT TOP (10) * FROM orders"},
	{"SELECT * FROM orders ORDER BY id LIMIT 5, 10", "LIMIT is not Transact-SQL", "OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY", "SELECT * FROM orders ORDER BY id OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY"},
	{"SELECT * FROM orders ORDER BY id LIMIT 10 OFFSET 5", "LIMIT is not Transact-SQL", "OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY", "SELECT * FROM orders ORDER BY id OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY"},
	{"SELECT * FROM orders ORDER BY id FETCH FIRST 5 ROWS ONLY", "FETCH stands after OFFSET", "OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY", "SELECT * FROM orders ORDER BY id OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY"},
	{"SELECT count(*) FILTER (WHERE status = 'paid') FROM orders", "FILTER (WHERE …) is not Transact-SQL", "COUNT(CASE WHEN status = 'paid' THEN 1 END)", "SELECT COUNT(CASE WHEN status = 'paid' THEN 1 END) FROM orders"},
	{"SELECT * FROM orders WHERE note ILIKE '%x%'", "ILIKE is PostgreSQL", "LIKE", "SELECT * FROM orders WHERE note LIKE '%x%'"},
	{"SELECT * FROM orders WHERE note REGEXP '^a'", "REGEXP is MySQL", "LIKE", "SELECT * FROM orders WHERE note LIKE 'a%'"},
	{"SELECT * FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY id) = 1", "QUALIFY is not Transact-SQL", "AS t WHERE n = 1", "SELECT * FROM (SELECT o.*, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM orders o) AS t WHERE n = 1"},
	{"SELECT DISTINCT ON (customer_id) * FROM orders", "DISTINCT ON is PostgreSQL", "AS t WHERE n = 1", "SELECT * FROM (SELECT o.*, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY id) AS n FROM orders o) AS t WHERE n = 1"},
	{"SELECT * FROM orders ORDER BY note NULLS LAST", "NULLS LAST is not Transact-SQL", "CASE WHEN", "SELECT * FROM orders ORDER BY CASE WHEN note IS NULL THEN 1 ELSE 0 END, note"},
	{"SELECT id::text FROM orders", "x::type is PostgreSQL", "CAST(", "SELECT CAST(id AS varchar(10)) FROM orders"},
	{"SELECT * FROM orders WHERE placed_at > GETDATE() - INTERVAL '7 days'", "INTERVAL is not Transact-SQL", "DATEADD(day, -7, ", "SELECT * FROM orders WHERE placed_at > DATEADD(day, -7, GETDATE())"},
	{"SELECT EXTRACT(YEAR FROM placed_at) FROM orders", "EXTRACT is not Transact-SQL", "DATEPART(YEAR, ", "SELECT DATEPART(YEAR, placed_at) FROM orders"},
	{"SELECT POSITION('a' IN note) FROM orders", "POSITION is not Transact-SQL", "CHARINDEX('", "SELECT CHARINDEX('a', note) FROM orders"},
	{"SELECT IF(id > 1, 'a', 'b') FROM orders", "IF (…) in a query is MySQL", "IIF(", "SELECT IIF(id > 1, 'a', 'b') FROM orders"},
	{"SELECT * FROM orders JOIN customers USING (id)", "USING is not Transact-SQL", "JOIN customers ON", "SELECT * FROM orders JOIN customers ON orders.id = customers.id"},
	{"WITH RECURSIVE t AS (SELECT 1 AS n) SELECT * FROM t", "RECURSIVE is not Transact-SQL", "WITH t AS (", "WITH t AS (SELECT 1 AS n) SELECT * FROM t"},
	{"SELECT * FROM customers c CROSS JOIN LATERAL (SELECT 1 AS x) AS t", "LATERAL is PostgreSQL", "CROSS APPLY (", "SELECT * FROM customers c CROSS APPLY (SELECT 1 AS x) AS t"},
	{"SELECT id FROM orders MINUS SELECT id FROM customers", "MINUS is Oracle", "EXCEPT", "SELECT id FROM orders EXCEPT SELECT id FROM customers"},
	{"SELECT * FROM orders WHERE paid IS TRUE", "IS TRUE is not Transact-SQL", "= 1", "SELECT * FROM orders WHERE paid = 1"},
	{"SELECT * FROM orders WHERE placed_at > DATE '2026-01-01'", "DATE '…' is not Transact-SQL", "AS date)", "SELECT * FROM orders WHERE placed_at > CAST('2026-01-01' AS date)"},
	{"SELECT `id` FROM `orders`", "backticks quote names in MySQL", "~[id]", "SELECT [id] FROM [orders]"},
	{"SELECT * EXCEPT (note) FROM orders", "* EXCEPT is not Transact-SQL", "~name the columns", "SELECT id, status FROM orders"},
	{"SELECT * FROM orders FOR UPDATE", "FOR UPDATE is not Transact-SQL", "~leave it out", "SELECT * FROM orders"},
	{"SELECT * FROM orders WHERE id = ?", "? is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = :id", ":id is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = @id", "@id is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM {{ ref('orders') }}", "template", "~write the name", "SELECT * FROM orders"},
	{"SELECT id, FROM orders", "a comma before FROM", "~remove the comma", "SELECT id FROM orders"},
	{"SELECT count(* FROM orders", "a bracket that opens here is never closed", "~add the bracket", "SELECT count(*) FROM orders"},
	{"SELECT * FROM order", "ORDER is a reserved word", "[order]", "SELECT * FROM [order]"},
	{"SELECT 1; SELECT 2", "2 statements", "~each statement in a call of its own", ""},

	{"SELECT ifnull(note, 'x') FROM orders", "SQL Server has no function ifnull", "COALESCE(", "SELECT COALESCE(note, 'x') FROM orders"},
	{"SELECT length(note) FROM orders", "no function length", "LEN(", "SELECT LEN(note) FROM orders"},
	{"SELECT group_concat(note) FROM orders", "no function group_concat", "STRING_AGG(", "SELECT STRING_AGG(note, ', ') FROM orders"},
	{"SELECT now()", "SQL Server has no function now", "GETDATE()", "SELECT GETDATE()"},
	{"SELECT date_trunc('month', placed_at) FROM orders", "no function date_trunc", "DATETRUNC(month, ", "SELECT DATETRUNC(month, placed_at) FROM orders"},
	{"SELECT to_char(placed_at, 'YYYY') FROM orders", "no function to_char", "FORMAT(", "SELECT FORMAT(placed_at, 'yyyy') FROM orders"},
	{"SELECT strpos(note, 'a') FROM orders", "no function strpos", "CHARINDEX('", "SELECT CHARINDEX('a', note) FROM orders"},
	{"SELECT substr(note, 1, 2) FROM orders", "no function substr", "SUBSTRING(", "SELECT SUBSTRING(note, 1, 2) FROM orders"},
	{"SELECT mod(id, 2) FROM orders", "no function mod", " % ", "SELECT id % 2 FROM orders"},
	{"SELECT random()", "no function random", "RAND()", "SELECT RAND()"},
	{"SELECT SUBSTRING(note, 1, 3), sys.fn_x(id) FROM orders", "function sys.fn_x: not on the list", "~leave the call out", ""},
	{"SELECT gen_random_uuid()", "no function gen_random_uuid", "NEWID()", "SELECT NEWID()"},
	{"SELECT stddev(amount) FROM orders", "no function stddev", "STDEV(", "SELECT STDEV(amount) FROM orders"},
	{"SELECT json_extract(data, '$.a') FROM orders", "no function json_extract", "JSON_VALUE(", "SELECT JSON_VALUE(data, '$.a') FROM orders"},
	{"SELECT * FROM OPENROWSET('SQLNCLI', 'x', 'y')", "openrowset", "~a connection to that source", ""},
	{"SELECT name FROM sys.sql_logins", "relation sys.sql_logins", "SELECT ORIGINAL_LOGIN()", "SELECT ORIGINAL_LOGIN()"},
	{"SELECT * FROM sys.dm_exec_requests", "dm_exec_requests", "SELECT @@SPID", "SELECT @@SPID"},
}

// TestWords: a refusal names what is wrong in the statement, and what to write instead.
// The guard accepts what it suggests. There is no SQL Server here that could run it.
func TestWords(t *testing.T) {
	dialecttest.CheckWords(t, dialecttest.NewGuard(t, sqlserver.Dialect{}), words)
}

// TestInstead: the guard accepts what the table of functions suggests.
func TestInstead(t *testing.T) {
	dialecttest.CheckInstead(t, dialecttest.NewGuard(t, sqlserver.Dialect{}), sqlserver.Instead())
}
