package clickhouse_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// words are statements that models and BI tools send, and what ClickHouse's refusals say.
var words = []dialecttest.Word{
	{"SHOW SCHEMAS", "SHOW SCHEMAS is not ClickHouse", "SHOW DATABASES", "SHOW DATABASES"},
	{"SHOW KEYS FROM orders", "form of SHOW", "SHOW INDEX FROM orders", "SHOW INDEX FROM orders"},
	{"SHOW VIEWS", "SHOW VIEWS is not ClickHouse", "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%View'", "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%View'"},
	{"SHOW TABLE STATUS", "SHOW TABLE STATUS is MySQL", "SELECT name, total_rows, total_bytes FROM system.tables WHERE database = currentDatabase()", "SELECT name, total_rows, total_bytes FROM system.tables WHERE database = currentDatabase()"},
	{"SHOW FUNCTIONS", "form of SHOW", "SELECT name FROM system.functions", "SELECT name FROM system.functions"},
	{"SHOW ENGINES", "form of SHOW", "SELECT name FROM system.table_engines", "SELECT name FROM system.table_engines"},
	{"SHOW CREATE DATABASE default", "form of SHOW", "SHOW TABLES FROM default", "SHOW TABLES FROM default"},
	{"SHOW PROCESSLIST", "statements of other sessions", "~leave it out", ""},
	{"SHOW GRANTS", "form of SHOW", "SELECT currentUser()", "SELECT currentUser()"},
	{"SHOW VARIABLES", "form of SHOW", "SHOW TABLES", "SHOW TABLES"},
	{"SHOW SETTINGS LIKE 'max%'", "form of SHOW", "SHOW TABLES", "SHOW TABLES"},
	{"PRAGMA table_info(orders)", "PRAGMA is SQLite", "DESCRIBE orders", "DESCRIBE orders"},
	{"PRAGMA table_list", "PRAGMA is SQLite", "SHOW TABLES", "SHOW TABLES"},
	{"\\d orders", "\\d is a command", "DESCRIBE orders", "DESCRIBE orders"},
	{"\\dt", "\\dt is a command", "SHOW TABLES", "SHOW TABLES"},
	{".tables", ".tables is a command", "SHOW TABLES", "SHOW TABLES"},
	{"EXEC sp_help orders", "no procedures", "~DESCRIBE name", "DESCRIBE orders"},
	{"CALL p()", "no procedures", "SHOW TABLES", "SHOW TABLES"},
	{"EXPLAIN ANALYZE SELECT * FROM orders", "EXPLAIN ANALYZE is not read here", "EXPLAIN indexes = 1 SELECT", "EXPLAIN indexes = 1 SELECT * FROM orders"},
	{"EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM orders", "options in brackets", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"EXPLAIN FORMAT=JSON SELECT * FROM orders", "EXPLAIN FORMAT is MySQL", "EXPLAIN json = 1 SELECT", "EXPLAIN json = 1 SELECT * FROM orders"},
	{"EXPLAIN QUERY PLAN SELECT * FROM orders", "EXPLAIN QUERY PLAN is SQLite", "EXPLAIN PLAN SELECT", "EXPLAIN PLAN SELECT * FROM orders"},
	{"EXPLAIN VERBOSE SELECT * FROM orders", "EXPLAIN VERBOSE is PostgreSQL", "EXPLAIN actions = 1 SELECT", "EXPLAIN actions = 1 SELECT * FROM orders"},
	{"EXPLAIN DROP TABLE orders", "EXPLAIN is read only for SELECT", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"VACUUM orders", "VACUUM is PostgreSQL", "~leave it out", ""},
	{"ANALYZE orders", "ANALYZE is not ClickHouse", "EXPLAIN SELECT", "EXPLAIN SELECT * FROM orders"},
	{"LOAD DATA INFILE 'a' INTO TABLE orders", "LOAD DATA is MySQL", "~this connection only reads", ""},
	{"MERGE INTO orders USING customers ON 1 WHEN MATCHED THEN DELETE", "MERGE is not ClickHouse", "~this connection only reads", ""},
	{"LOCK TABLES orders READ", "LOCK TABLES is not ClickHouse", "~leave it out", ""},
	{"DECLARE @n int", "no variables", "WITH 7 AS n SELECT n", "WITH 7 AS n SELECT n"},
	{"VALUES (1, 'a')", "VALUES alone", "SELECT * FROM (VALUES (1, 'a')) AS t (n, s)", "SELECT * FROM (VALUES (1, 'a')) AS t (n, s)"},
	{"COPY orders TO STDOUT", "COPY is PostgreSQL", "~the rows are returned to you", ""},
	{"CREATE TEMPORARY TABLE t AS SELECT * FROM orders", "CREATE changes", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE MATERIALIZED VIEW v AS SELECT * FROM orders", "CREATE changes", "WITH t AS (", "WITH t AS (SELECT * FROM orders) SELECT * FROM t"},
	{"CREATE INDEX i ON orders (status) TYPE minmax", "CREATE changes", "EXPLAIN indexes = 1 SELECT", "EXPLAIN indexes = 1 SELECT * FROM orders"},
	{"INSERT INTO orders (id) VALUES (1)", "INSERT writes rows", "~a person inserts them", ""},
	{"REPLACE INTO orders VALUES (1)", "REPLACE INTO is MySQL", "~this connection only reads", ""},
	{"UPDATE orders SET status = 'x' WHERE id = 1", "UPDATE changes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"UPDATE default.orders SET status = 'x' WHERE id = 1", "UPDATE changes rows", "SELECT * FROM default.orders WHERE", "SELECT * FROM default.orders WHERE id = 1"},
	{"DELETE FROM orders WHERE id = 1", "DELETE removes rows", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"ALTER TABLE orders UPDATE status = 'x' WHERE id = 1", "ALTER changes", "SELECT * FROM orders WHERE", "SELECT * FROM orders WHERE id = 1"},
	{"ALTER TABLE default.orders DELETE WHERE id = 1", "ALTER changes", "SELECT * FROM default.orders WHERE", "SELECT * FROM default.orders WHERE id = 1"},
	{"OPTIMIZE TABLE orders FINAL", "OPTIMIZE merges", "SELECT table, sum(rows) FROM system.parts WHERE active GROUP BY table", "SELECT table, sum(rows) FROM system.parts WHERE active GROUP BY table"},
	{"CHECK TABLE orders", "CHECK reads all data", "SELECT table, sum(rows) FROM system.parts WHERE active GROUP BY table", "SELECT table, sum(rows) FROM system.parts WHERE active GROUP BY table"},
	{"USE shop", "USE changes", "~as in shop.name", ""},
	{"SET max_threads = 1", "SET changes", "~leave it out", ""},
	{"SYSTEM FLUSH LOGS", "SYSTEM controls", "~only the operator", ""},
	{"KILL QUERY WHERE 1", "KILL ends", "~only the operator", ""},
	{"SELECT * FROM orders SETTINGS max_threads = 1", "SETTINGS changes", "~leave SETTINGS out", "SELECT * FROM orders"},
	{"SELECT * FROM orders FORMAT JSON", "FORMAT decides", "~leave FORMAT out", "SELECT * FROM orders"},
	{"SELECT * INTO t FROM orders", "SELECT INTO is SQL Server", "~leave INTO out", "SELECT * FROM orders"},
	{"SELECT dictGet('d', 'name', customer_id) FROM orders", "function dictGet", "~join with the table", "SELECT c.name FROM orders AS o LEFT JOIN customers AS c ON c.id = o.customer_id"},
	{"SELECT * FROM dictionary('d')", "function dictionary", "~join with the table", ""},
	{"SELECT joinGet('t', 'a', id) FROM orders", "function joinGet", "ANY LEFT JOIN", "SELECT * FROM orders ANY LEFT JOIN customers USING (id)"},
	{"SELECT query FROM system.query_log", "system.query_log", "~statements of other sessions", ""},
	{"SELECT * FROM system.processes", "system.processes", "~statements of other sessions", ""},
	{"SELECT name FROM system.users", "system.users", "SELECT currentUser()", "SELECT currentUser()"},
	{"SELECT value FROM system.settings", "system.settings", "SELECT version()", "SELECT version()"},
	{"SELECT * FROM system.disks", "system.disks", "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active GROUP BY table", "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active GROUP BY table"},
	{"SELECT * FROM merge('default', 'ord.*')", "function merge", "UNION ALL", "SELECT id FROM orders UNION ALL SELECT id FROM customers"},
	{"SELECT sleep(1)", "function sleep", "~no statement waits", ""},

	{"SELECT @@version", "@@version is MySQL", "version()", "SELECT version()"},
	{"SELECT * FROM orders OFFSET 5 LIMIT 10", "LIMIT stands before OFFSET", "LIMIT 10 OFFSET 5", "SELECT * FROM orders LIMIT 10 OFFSET 5"},
	{"SELECT * FROM orders LIMIT ALL", "LIMIT ALL is PostgreSQL", "~leave LIMIT out", "SELECT * FROM orders"},
	{"SELECT * FROM orders FETCH FIRST 5 ROWS ONLY", "FETCH FIRST needs ORDER BY", "LIMIT 5", "SELECT * FROM orders LIMIT 5"},
	{"SELECT * FROM orders WHERE note SIMILAR TO 'a%'", "SIMILAR TO is PostgreSQL", "match(", "SELECT * FROM orders WHERE match(note, '^a')"},
	{"SELECT * FROM orders WHERE note RLIKE 'a'", "RLIKE is MySQL", "match(", "SELECT * FROM orders WHERE match(note, 'a')"},
	{"SELECT * FROM orders WHERE note GLOB 'a*'", "GLOB is SQLite", "LIKE", "SELECT * FROM orders WHERE note LIKE 'a%'"},
	{"SELECT * FROM orders WHERE note ~ '^a'", "~ with a pattern is PostgreSQL", "match(", "SELECT * FROM orders WHERE match(note, '^a')"},
	{"SELECT * FROM orders WHERE note ~* '^a'", "~* is PostgreSQL", "'(?i)", "SELECT * FROM orders WHERE match(note, '(?i)^a')"},
	{"SELECT * FROM orders WHERE note !~ '^a'", "!~ with a pattern is PostgreSQL", "NOT match(", "SELECT * FROM orders WHERE NOT match(note, '^a')"},
	{"SELECT id & 2 FROM orders", "no operator &", "bitAnd(", "SELECT bitAnd(id, 2) FROM orders"},
	{"SELECT id << 2 FROM orders", "no operator <<", "bitShiftLeft(", "SELECT bitShiftLeft(id, 2) FROM orders"},
	{"SELECT id >> 2 FROM orders", "no operator >>", "bitShiftRight(", "SELECT bitShiftRight(id, 2) FROM orders"},
	{"SELECT ~id FROM orders", "no operator ~", "bitNot(", "SELECT bitNot(id) FROM orders"},
	{"SELECT * FROM orders WHERE id > 0 && id < 2", "&& is MySQL", "AND", "SELECT * FROM orders WHERE id > 0 AND id < 2"},
	{"SELECT data->>'key' FROM orders", "->> is PostgreSQL", "JSONExtractString(", "SELECT JSONExtractString(data, 'key') FROM orders"},
	{"SELECT data #>> '{key,inner}' FROM orders", "#>> is PostgreSQL", "JSONExtractString(", "SELECT JSONExtractString(data, 'key', 'inner') FROM orders"},
	{"SELECT data @> '{\"key\": 1}' FROM orders", "@> is PostgreSQL", "JSONExtractString(", "SELECT JSONExtractString(data, 'key') = '1' FROM orders"},
	{"SELECT ARRAY[1, 2]", "ARRAY[…] is PostgreSQL", "[1, 2]", "SELECT [1, 2]"},
	{"SELECT * FROM orders WHERE id = ANY([1, 2])", "ANY of an array", "has([1, 2], ", "SELECT * FROM orders WHERE has([1, 2], id)"},
	{"SELECT * FROM [orders]", "quote names in SQL Server", "`orders`", "SELECT * FROM `orders`"},
	{"SELECT * FROM customers c CROSS APPLY (SELECT 1) t", "APPLY is SQL Server", "LIMIT 1 BY", "SELECT * FROM orders LIMIT 1 BY customer_id"},
	{"SELECT * FROM customers c CROSS JOIN LATERAL (SELECT 1) t", "LATERAL is PostgreSQL", "LIMIT 1 BY", "SELECT * FROM orders LIMIT 1 BY customer_id"},
	{"SELECT * FROM orders WITH (NOLOCK)", "hints of tables are SQL Server", "~leave WITH (…) out", "SELECT * FROM orders"},
	{"SELECT * FROM orders USE INDEX (i)", "hints on indexes are MySQL", "~leave the hint out", "SELECT * FROM orders"},
	{"SELECT id FROM orders MINUS SELECT id FROM customers", "MINUS is Oracle", "EXCEPT", "SELECT id FROM orders EXCEPT SELECT id FROM customers"},
	{"SELECT * EXCLUDE (note) FROM orders", "* EXCLUDE is not ClickHouse", "* EXCEPT (", "SELECT * EXCEPT (note) FROM orders"},
	{"SELECT * FROM orders PIVOT (count(*) FOR status IN ('paid'))", "PIVOT is not ClickHouse", "countIf(status = 'paid') AS paid", "SELECT countIf(status = 'paid') AS paid FROM orders"},
	{"SELECT group_concat(note SEPARATOR ', ') FROM orders", "SEPARATOR is MySQL", "group_concat(", "SELECT group_concat(note, ', ') FROM orders"},
	{"SELECT STRING_AGG(note, ', ' ORDER BY note) FROM orders", "no ORDER BY in an aggregate", "arrayStringConcat(arraySort(groupArray(", "SELECT arrayStringConcat(arraySort(groupArray(note)), ', ') FROM orders"},
	{"SELECT ARRAY_AGG(note ORDER BY id) FROM orders", "no ORDER BY in an aggregate", "arraySort(p -> p.2, groupArray((", "SELECT arraySort(p -> p.2, groupArray((note, id))) FROM orders"},
	{"SELECT LISTAGG(note, ', ') WITHIN GROUP (ORDER BY note) FROM orders", "WITHIN GROUP is not ClickHouse", "arrayStringConcat(arraySort(groupArray(", "SELECT arrayStringConcat(arraySort(groupArray(note)), ', ') FROM orders"},
	{"SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY amount) FROM orders", "WITHIN GROUP is not ClickHouse", "quantileExactInclusive(0.9)(", "SELECT quantileExactInclusive(0.9)(amount) FROM orders"},
	{"SELECT * FROM orders WHERE MATCH(note) AGAINST ('x')", "MATCH … AGAINST is MySQL", "ILIKE '%", "SELECT * FROM orders WHERE note ILIKE '%x%'"},
	{"SELECT * FROM orders TABLESAMPLE BERNOULLI (10)", "TABLESAMPLE is PostgreSQL", "ORDER BY rand() LIMIT 100", "SELECT * FROM orders ORDER BY rand() LIMIT 100"},
	{"SELECT CONVERT(note USING utf8) FROM orders", "CONVERT … USING is MySQL", "~leave it out", "SELECT convertCharset(assumeNotNull(note), 'latin1', 'utf-8') FROM orders"},
	{"SELECT * FROM orders WHERE id BETWEEN SYMMETRIC 3 AND 1", "BETWEEN SYMMETRIC is PostgreSQL", "BETWEEN least(", "SELECT * FROM orders WHERE id BETWEEN least(3, 1) AND greatest(3, 1)"},
	{"SELECT NEXT VALUE FOR s", "no sequences", "SELECT max(id) FROM orders", "SELECT max(id) FROM orders"},
	{"SELECT '2026-01-31'::timestamptz", "no type TIMESTAMPTZ", "CAST(", "SELECT CAST('2026-01-31' AS DateTime64(3))"},
	{"SELECT CAST(amount AS NUMBER) FROM orders", "no type of this name", "CAST(", "SELECT CAST(amount AS Decimal(20, 6)) FROM orders"},
	{"SELECT amount::float8 FROM orders", "no type FLOAT8", "CAST(", "SELECT CAST(amount AS Float64) FROM orders"},
	{"SELECT TIMESTAMPTZ '2026-01-31 12:00:00'", "TIMESTAMPTZ '…' is PostgreSQL", "toDateTime('2026-01-31 12:00:00', 'UTC')", "SELECT toDateTime('2026-01-31 12:00:00', 'UTC')"},
	{"SELECT * FROM orders WHERE status = N'paid'", "N'…' is SQL Server", "~without N", "SELECT * FROM orders WHERE status = 'paid'"},
	{"SELECT E'a\\nb'", "E'…' is PostgreSQL", "~without E", "SELECT 'a\\nb'"},
	{"SELECT * FROM orders FOR UPDATE", "no FOR UPDATE", "~leave it out", "SELECT * FROM orders"},
	{"SELECT * FROM orders LOCK IN SHARE MODE", "LOCK IN SHARE MODE is MySQL", "~leave it out", "SELECT * FROM orders"},
	{"SELECT * FROM orders WHERE id = ?", "? is a parameter", "~write the value as a literal", "SELECT * FROM orders WHERE id = 1"},
	{"SELECT * FROM orders WHERE id = {id:Int64}", "a parameter of the query", "~write the value as a literal", "SELECT * FROM orders WHERE id = 1"},
	{"EXPLAIN SELECT * FROM orders FORMAT JSON", "FORMAT decides", "~leave FORMAT out", "EXPLAIN SELECT * FROM orders"},
	{"SELECT * FROM orders WHERE id = :id", ":id is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = %s", "%s is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = %(id)s", "%(id)s is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = $1", "$1 is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM orders WHERE id = @id", "@id is a parameter", "~write the value as a literal", ""},
	{"SELECT * FROM {{ ref('orders') }}", "template", "~write the name", "SELECT * FROM orders"},
	{"SELECT * FROM ${table}", "${…} is a variable", "~write the value", ""},
	{"SELECT TRY_CAST(note AS Int32) FROM orders", "no function TRY_CAST", "accurateCastOrNull(", "SELECT accurateCastOrNull(note, 'Int32') FROM orders"},
	{"SELECT NVL(note, 'x') FROM orders", "no function NVL", "ifNull(", "SELECT ifNull(note, 'x') FROM orders"},
	{"SELECT LEN(note) FROM orders", "no function LEN", "length(", "SELECT length(note) FROM orders"},
	{"SELECT GETDATE()", "no function GETDATE", "now()", "SELECT now()"},
	{"SELECT TIMESTAMPDIFF(DAY, placed_at, now()) FROM orders", "function TIMESTAMPDIFF", "dateDiff('day', ", "SELECT dateDiff('day', placed_at, now()) FROM orders"},
	{"SELECT LISTAGG(note, ', ') FROM orders", "no function LISTAGG", "group_concat(", "SELECT group_concat(note, ', ') FROM orders"},
	{"SELECT to_char(placed_at, 'YYYY-MM-DD') FROM orders", "no function to_char", "formatDateTime(", "SELECT formatDateTime(placed_at, '%Y-%m-%d') FROM orders"},
	{"SELECT bool_or(id > 1) FROM orders", "no function bool_or", "max(", "SELECT max(id > 1) FROM orders"},
	{"SELECT toyear(placed_at) FROM orders", "no function toyear: the names", "toYear", "SELECT toYear(placed_at) FROM orders"},
	{"SELECT MEDIAN(amount) FROM orders", "no function MEDIAN: the names", "median", "SELECT median(amount) FROM orders"},
	{"SELECT json_value(data, '$.key') FROM orders", "no function json_value: the names", "JSON_VALUE", "SELECT JSON_VALUE(data, '$.key') FROM orders"},
}

// TestWords: a refusal names what is wrong in the statement, and what to write instead.
// The guard accepts what it suggests.
func TestWords(t *testing.T) {
	dialecttest.CheckWords(t, dialecttest.NewGuard(t, clickhouse.Dialect{}), words)
}

// TestInstead: the guard accepts what the table of functions suggests.
func TestInstead(t *testing.T) {
	dialecttest.CheckInstead(t, dialecttest.NewGuard(t, clickhouse.Dialect{}), clickhouse.Instead())
}

// TestWordsOfTheEngine runs what the refusals suggest, and asks whether the functions are
// unknown that they call so.
func TestWordsOfTheEngine(t *testing.T) {
	e := startEngine(t)
	for _, sql := range append([]string{
		"CREATE TABLE orders (id Int64, customer_id Int64, status String, amount Float64, note Nullable(String), placed_at DateTime, data String) ENGINE = MergeTree ORDER BY id",
		"CREATE TABLE customers (id Int64, name String) ENGINE = MergeTree ORDER BY id",
		`INSERT INTO orders VALUES (1, 1, 'paid', 10, 'a,b', '2026-01-31 12:00:00', '{"key": 1}')`,
	}, dialecttest.CheckWords(t, dialecttest.NewGuard(t, clickhouse.Dialect{}), words)...) {
		if _, err := e.Query(sql, "TSV"); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// Values of the types that x and y have in the suggestions.
	values := []string{"now()", "'2026-01-31'", "toInt64(1)", "['a']", "'[1]'", "map('k', 1)"}
	for _, name := range slices.Sorted(maps.Keys(clickhouse.Instead())) {
		if _, err := e.Query("SELECT "+name+"(1)", "TSV"); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: the engine has it: %v", name, err)
		}
		for one := range strings.SplitSeq(clickhouse.Instead()[name], ", or ") {
			runs := slices.ContainsFunc(values, func(v string) bool {
				sql := "SELECT " + one + " FROM (SELECT " + v + " AS x, " + v + " AS y, x AS z, x AS a, y AS b, y AS c, 1 AS condition)"
				if strings.HasPrefix(one, "SHOW ") {
					sql = one
				}
				_, err := e.Query(sql, "TSV")
				return err == nil
			})
			if !runs {
				t.Errorf("%s: the engine does not run %s", name, one)
			}
		}
	}
}
