package oracle_test

// mariadbTexts are queries whose results are computed from values of several
// types, or of none.
var mariadbTexts = []string{
	"SELECT NULL", "SELECT 'x'", "SELECT ''", "SELECT 1", "SELECT 1.0", "SELECT -0.0", "SELECT -0e0", "SELECT 1e0", "SELECT TRUE, FALSE, NULL IS NULL, 1 = 1, NOT 1, 1 = NULL, 2 > 1 AND 0",
	"SELECT 1, 1, 1 AS a, 2 AS a, 'é', 3 AS `a\"b`, 4 AS `<x>&`, 5 AS `größe 世界`, 6 AS `a b`, 7 AS `\\\\`",
	"SELECT x'41', x'ff', 0x00, b'1', b'100000001', x'', _binary 'text', _latin1 x'e9', _utf8mb4 'é', N'é', 'a' 'b'",
	"SELECT 9007199254740992, 9007199254740993, -9007199254740993, 18446744073709551615, 18446744073709551616, 9223372036854775808, 99999999999999999999999999999999999999999999999999999999999999999",
	"SELECT 0.1 + 0.2, 0.1e0 + 0.2e0, 1/3, 2/3e0, 10 DIV 3, 10 % 3, POW(2, 0.5), EXP(1), PI(), SQRT(2), RAND(1), 1e308, 1e-300, CRC32('x'), BIT_COUNT(255), ROUND(1.005, 2), TRUNCATE(-1.999, 1), FORMAT(1234567.891, 2), CONV('ff', 16, 10)",
	"SELECT CAST('2024-02-29' AS DATE), CAST('12:34:56.789' AS TIME(3)), CAST('2024-02-29 12:34:56' AS DATETIME), CAST(1 AS SIGNED), CAST(-1 AS UNSIGNED), CAST(1.5 AS DECIMAL(65,30)), CAST('x' AS BINARY(3)), CAST('é' AS CHAR(1)), CAST('1.5' AS DOUBLE)",
	"SELECT DATE'2024-02-29', TIME'-25:00:00', TIMESTAMP'2024-02-29 00:00:00.000001', MAKETIME(838, 59, 59), SEC_TO_TIME(-3020399), TIMEDIFF('2024-01-01 00:00:00', '2023-12-01 00:00:00.000001'), FROM_UNIXTIME(1), FROM_UNIXTIME(1.5), UNIX_TIMESTAMP('2024-01-01'), UNIX_TIMESTAMP('2024-01-01 00:00:00.5')",
	"SELECT DATE_ADD('2024-01-31', INTERVAL 1 MONTH), '2024-01-31' + INTERVAL 1 DAY, DATE'2024-01-31' + INTERVAL '1:1' MINUTE_SECOND, LAST_DAY('2024-02-01'), YEAR('2024-02-01'), EXTRACT(YEAR_MONTH FROM '2024-02-01'), STR_TO_DATE('29.02.2024', '%d.%m.%Y'), DATE_FORMAT('2024-02-29', '%W %M %e'), TO_DAYS('0000-01-01'), WEEK('2024-02-29')",
	"SELECT CONCAT('a', NULL), CONCAT_WS(',', 'a', NULL, 'b'), GROUP_CONCAT(n ORDER BY n), SUM(n), AVG(n), COUNT(*), STDDEV(n), MIN(n), BIT_AND(n), MAX(CONCAT(n, 'x')) FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 7) AS v",
	"SELECT JSON_OBJECT('k', 'é', 'n', NULL, 'f', 1.50, 't', TRUE), JSON_ARRAY(1, '\"', NULL), JSON_EXTRACT('{\"a\":[1,{\"b\":null}]}', '$.a'), JSON_UNQUOTE('\"x\\\\n\"'), JSON_KEYS('{\"b\":1,\"a\":2}'), JSON_VALID('x'), JSON_TYPE('1.5'), JSON_LENGTH('[1,2]'), JSON_SEARCH('[\"a\"]', 'one', 'a')",
	"SELECT HEX('é'), UNHEX('ff00'), UNHEX('c3a9'), TO_BASE64('x'), FROM_BASE64('/w=='), COMPRESS('x'), SHA2('x', 256), AES_ENCRYPT('a', 'k'), CHAR(65, 255), CHAR(233 USING latin1), INET_ATON('1.2.3.4'), INET6_ATON('::1'), INET_NTOA(1), INET6_NTOA(INET6_ATON('::1'))",
	"SELECT ST_AsText(POINT(1, 2)), POINT(1, 2), ST_AsBinary(POINT(1, 2)), ST_Distance(POINT(0, 0), POINT(3, 4)), ST_X(POINT(1.5, 2)), ST_GeomFromText('LINESTRING(0 0,1 1)'), ST_AsGeoJSON(POINT(1, 2)), ST_SRID(POINT(1, 2))",
	"SELECT REPEAT('é', 500000)", "SELECT REPEAT('\\\\\"\\n\\t', 200000)", "SELECT REPEAT(x'00ff', 200000)", "SELECT SPACE(100), REPEAT('', 3), LPAD('x', 5, 'é'), RPAD('', 3, '\\0')",
	"SELECT NULL UNION SELECT 1", "SELECT 1 UNION SELECT 'a' UNION SELECT NULL", "SELECT 1 UNION SELECT 1.5 UNION SELECT 1e0", "SELECT x'ff' UNION SELECT 'a'", "SELECT 1 UNION SELECT 18446744073709551615", "SELECT DATE'2024-01-01' UNION SELECT '2024-01-01 00:00:00'", "SELECT TIME'10:00:00' UNION SELECT 'x'", "SELECT b'1' UNION SELECT 1", "SELECT -1 UNION ALL SELECT 9223372036854775808",
	"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, i / 7, CONCAT('n', i), IF(i % 5, i, NULL), i * 1e0 / 3, CAST(i AS CHAR), i > 250 FROM n",
	"SELECT 1 WHERE FALSE", "SELECT * FROM (SELECT 1 AS a, 2 AS b) AS x, (SELECT 3 AS a) AS y", "(SELECT 1) UNION (SELECT 2) ORDER BY 1 DESC", "SELECT IF(1, 'a', 2), IF(0, 1.5, 1), IFNULL(NULL, x'ff'), NULLIF(1, 1), COALESCE(NULL, DATE'2024-01-01'), GREATEST(1, 2.5, '3'), LEAST('a', 'b'), INTERVAL(5, 1, 3), FIELD('b', 'a', 'b'), ELT(2, 'a', 'b')",
	"SELECT ROW_NUMBER() OVER (ORDER BY i), RANK() OVER (ORDER BY i), NTILE(2) OVER (ORDER BY i), PERCENT_RANK() OVER (ORDER BY i), LAG(i) OVER (ORDER BY i), FIRST_VALUE(i) OVER (ORDER BY i) FROM (SELECT 1 AS i UNION SELECT 2 UNION SELECT 3) AS v ORDER BY i",
	"SELECT CONVERT('é' USING latin1), CONVERT(x'e9' USING latin1), CONVERT('世' USING gbk), CONVERT('世' USING binary), 'é' COLLATE utf8mb4_bin, CHARSET('é'), COLLATION('é'), CHARSET(x'ff'), LOWER('É'), REVERSE('é世')",
	"SELECT VERSION(), DATABASE() IS NULL, @@sql_mode, @@time_zone, @@character_set_results, @@autocommit",
	"SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1, 3",
	"SHOW TABLES", "SHOW COLUMNS FROM c_latin1", "DESCRIBE c_latin1", "SHOW INDEX FROM c_latin1",
	"SELECT 'a long text without a name, which the server cuts after so many letters: ääääääääääääääääääääääääääääääääääää'",
	"SELECT 0x80, 'a\\'b', \"a\\\"b\", 'a''b', 'a\\0b', '\\Z', '\\%', '\\x'",
}

// mariadbUnread are queries that the product's parser or its guard refuses, by the
// product of the server; "" means both.
var mariadbUnread = map[string][]string{
	"": {
		"SELECT CONVERT('世' USING sjis), CONVERT('世' USING ujis), CONVERT('é' USING cp850), CONVERT('é' USING utf16), CONVERT('é😀' USING ucs2)",
		"SELECT UNCOMPRESS(COMPRESS('x'))", // the guard does not know how long it becomes
		// Sizes near the longest packet of the protocol.
		"SELECT REPEAT('x', 16777211)", "SELECT REPEAT('x', 16777212), 1",
	},
	"mariadb": {
		"SELECT CAST('::1' AS INET6), CAST('::ffff:192.0.2.1' AS INET6)", "VALUES (1, 'a'), (NULL, NULL), (3, '')", "SELECT 1 UNION VALUES (2), (NULL)",
	},
}

// mariadbOnly are queries that only one product supports.
var mariadbOnly = map[string][]string{
	"mariadb": {
		"SELECT JSON_DETAILED('{\"a\":1}'), JSON_COMPACT('{ \"a\" : 1 }'), JSON_LOOSE('{\"a\":1}'), JSON_EXISTS('{\"a\":1}', '$.a'), JSON_QUERY('{\"a\":[1]}', '$.a'), JSON_VALUE('{\"a\":1.50}', '$.a')",
		"EXPLAIN SELECT 1", // MySQL's shows the limit on rows
		"SELECT MD5('x'), SHA1('x')", "SELECT ADD_MONTHS('2024-01-31', 1), CHR(65), TRIM_ORACLE(' x '), NVL(NULL, 1), NVL2(1, 2, 3), NATURAL_SORT_KEY('a10')",
	},
	"mysql": {
		"VALUES ROW(1, 'a'), ROW(NULL, NULL), ROW(3, '')", "TABLE c_latin1 ORDER BY id LIMIT 3", "SELECT UUID_TO_BIN('00000000-0000-0000-0000-00000000002a'), BIN_TO_UUID(x'0000000000000000000000000000002a'), x'f0' | x'0f', CAST('[1, 2.50]' AS JSON), JSON_PRETTY('{\"a\":1}'), CAST(1 AS FLOAT), CAST(2024 AS YEAR)",
		"SELECT REGEXP_LIKE('a', 'A'), ST_Latitude(ST_GeomFromText('POINT(1 2)', 4326)), JSON_STORAGE_SIZE('1'), GROUPING(n), n FROM (SELECT 1 AS n) AS v GROUP BY n WITH ROLLUP",
	},
}
