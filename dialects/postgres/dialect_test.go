package postgres_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// statements returns the statements that the tests of this package read: the corpus,
// and those of the tables below.
func statements() []string {
	var out []string
	for _, c := range corpus.Cases() {
		if c.Dialect == "postgres" {
			out = append(out, c.SQL)
		}
	}
	for _, position := range expressionPositions {
		out = append(out, strings.ReplaceAll(position, "@", "lower(a.b)"))
	}
	out = append(out, reads...)
	for _, r := range refusals {
		out = append(out, r.sql)
	}
	return out
}

// reads must pass. Expressions in every position are in positions_test.go.
var reads = []string{
	"SELECT 1",
	"select 1;",
	";;SELECT 1;;",
	"SELECT",
	"SELECT FROM t",
	"TABLE t",
	"(TABLE ONLY public.t)",
	"VALUES (1, 'a'), (2, NULL)",
	"WITH t AS (SELECT 1) TABLE t",
	"SELECT 1 DELETE FROM docs", // DELETE is an alias here
	"SELECT a.* FROM t AS a (x, y) NATURAL JOIN u CROSS JOIN v",
	"SELECT t.a, u.b FROM s.t JOIN u USING (id) AS k WHERE k.id > 1",
	"SELECT t FROM t",
	"SELECT (t.c).d.e[1], (f.x).* FROM t, lateral (SELECT 1 AS x) f",
	"SELECT 'it''s', E'a\\'b', U&'\\0061', $q$ ' $q$, B'01', X'1f', N'n', 1e3, 0x1f, 1_000, .5, true, NULL",
	"SELECT 'a'\n'b' AS two_pieces",
	`SELECT U&"\0061" FROM "T" AS "select"`,
	"SELECT a ?| ARRAY['x'], a ?& ARRAY['x'], a ? 'x', a @> '{}', a #>> '{b}', a <-> b, a && b, !!q FROM t",
	"SELECT -1 AS \"query\", 2 AS pg_read_file, count AS c, date, name, t.count, t.date, t.name, t.system, t.user FROM t",
	"SELECT interval '1 day', timestamp with time zone 'now', date '2020-01-01', double precision '1', bit varying(3) '101'",
	"SELECT uuid('00000000-0000-0000-0000-000000000000'), jsonb('{}'), inet('::1')",
	"SELECT 'a'::mood, 'b'::s.mood[], mood 'c'",
	"SELECT current_user, session_user, user, current_role, current_catalog, current_schema, current_date, localtime(2), now()",
	"SELECT current_setting('server_version'), current_setting('TimeZone'::text), current_setting('search_path', true)",
	"SHOW server_version",
	"SHOW TIME ZONE",
	"SHOW TRANSACTION ISOLATION LEVEL",
	"EXPLAIN SELECT 1",
	"EXPLAIN ANALYZE VERBOSE SELECT 1",
	"EXPLAIN (FORMAT yaml, COSTS off, SUMMARY) VALUES (1)",
	"SELECT repeat('x', 1000), lpad('x', 10), generate_series(1, 1000), generate_series(now(), now(), '1 day')",
	"SELECT pid, state, wait_event FROM pg_stat_activity WHERE state = 'active'",
	"SELECT a.pid, b.query FROM pg_stat_activity a JOIN my_log b ON a.pid = b.pid",
	"SELECT * FROM (SELECT pid, state FROM pg_stat_activity) AS s",
	"WITH s AS (SELECT pid FROM pg_stat_activity) SELECT * FROM s",
	"SELECT count(*) FROM pg_stat_activity",
	"SELECT srvname FROM pg_foreign_server",
	"SELECT name FROM pg_settings",
	"SELECT c.relname, n.nspname, pg_get_expr(d.adbin, d.adrelid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid",
	"SELECT * FROM information_schema.columns",
	"SELECT pg_relation_size('t'::regclass), pg_size_pretty(1::bigint), obj_description(1, 'pg_class')",
	"WITH pg_authid AS (SELECT 1 AS a) SELECT * FROM pg_authid",
	"WITH RECURSIVE pg_shadow AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM pg_shadow WHERE n < 3) SELECT * FROM pg_shadow",
	"WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, a",
	"WITH RECURSIVE b AS (SELECT * FROM pg_authid), pg_authid AS (SELECT 1) SELECT * FROM b",
	"SELECT 'pg_sleep(1)', \"pg_sleep\" FROM t -- pg_sleep(1)",
	"SELECT /* DROP TABLE t; */ 1",
	"SELECT pg_input_is_valid('1', 'int4'), ts_rewrite('a & b'::tsquery, 'a'::tsquery, 'c'::tsquery)",
	"SELECT (x).k FROM (SELECT row(1) AS x) s",
	"SELECT x.x, x.upper FROM unnest(ARRAY['a']) AS x",
	"SELECT x.y, generate_series.generate_series FROM generate_series(1, 2) AS x (y), generate_series(1, 2)",
	"SELECT x.value, x.ordinality, y.key FROM json_array_elements('[1]') WITH ORDINALITY AS x, jsonb_each('{}') AS y",
	"SELECT x.anything FROM t, unnest(t.items) AS x",
	"SELECT u.id FROM user AS u",
	"SELECT x.lexeme, y.tokid FROM unnest('a'::tsvector) AS x, ts_parse('default', 'a') AS y",
	"SELECT (unnest(a)).b, (max(c)).d, (pg_identify_object(1, 2, 3)).type, (a + b).re, (coalesce(a, b)).c FROM t",
	"SELECT (json_populate_record(NULL::mytype, '{}')).a",
	"SELECT 1 AS a UNION SELECT 2 INTERSECT SELECT 3 ORDER BY a LIMIT ALL",
	"SELECT a FROM t ORDER BY a FETCH FIRST ROW ONLY",
	"SELECT x FROM unnest(ARRAY[1, 2]) WITH ORDINALITY AS u(x, n)",
	"SELECT x FROM unnest(ARRAY[1, 2]) WITH /* places */ ORDINALITY AS u(x, n)",
	"SELECT 1 WHERE 1 NOT -- out of range\nBETWEEN 2 AND 3 ORDER BY 1 NULLS /* at the end */ /* always */ LAST",
	"SELECT TIMESTAMP WITH /* zone */ TIME ZONE '2024-01-01'",
	"SELECT a FROM t WHERE (a, b) = ANY (SELECT c, d FROM u)",
}

// refusals must be refused, with the code first.
var refusals = []struct {
	sql  string
	code sqlguard.Code
}{
	// Kinds of statements.
	{"", sqlguard.CodeEmptyStatement},
	{" ; -- nothing\n /* at all */ ;", sqlguard.CodeEmptyStatement},
	{"SELECT 1; SELECT 2", sqlguard.CodeMultipleStatements},
	{"SELECT 1;;\n;DROP TABLE t", sqlguard.CodeMultipleStatements},
	{"SELECT 1 /*;*/; --;\nDELETE FROM t", sqlguard.CodeMultipleStatements},
	{"SELECT FROM WHERE", sqlguard.CodeParseError},
	{"SELECT 'open", sqlguard.CodeParseError},
	{"SELECT 1 /* open", sqlguard.CodeParseError},
	{"INSERT INTO t VALUES (DEFAULT)", sqlguard.CodeWriteStatement},
	{"INSERT INTO t DEFAULT VALUES RETURNING *", sqlguard.CodeWriteStatement},
	{"INSERT INTO t SELECT 1 ON CONFLICT (lower(a)) DO UPDATE SET a = excluded.a WHERE t.b", sqlguard.CodeWriteStatement},
	{"UPDATE ONLY t AS x SET (a, b) = (SELECT 1, 2), c[1] = DEFAULT FROM u WHERE CURRENT OF k", sqlguard.CodeWriteStatement},
	{"DELETE FROM t USING u WHERE t.a = u.a RETURNING t.*", sqlguard.CodeWriteStatement},
	{"WITH x AS (SELECT 1) DELETE FROM t", sqlguard.CodeWriteStatement},
	{"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (1)", sqlguard.CodeWriteStatement},
	{"TRUNCATE t, u CASCADE", sqlguard.CodeWriteStatement},
	{"VACUUM (FULL) t", sqlguard.CodeWriteStatement},
	{"ANALYZE", sqlguard.CodeWriteStatement},
	{"REFRESH MATERIALIZED VIEW CONCURRENTLY m", sqlguard.CodeWriteStatement},
	{"CREATE TABLE x AS SELECT 1", sqlguard.CodeDDLStatement},
	{"CREATE MATERIALIZED VIEW x AS SELECT 1", sqlguard.CodeDDLStatement},
	{"CREATE TABLE x AS EXECUTE p", sqlguard.CodeDDLStatement},
	{"CREATE VIEW v AS SELECT 1", sqlguard.CodeDDLStatement},
	{"CREATE TEMP TABLE x (a int)", sqlguard.CodeDDLStatement},
	{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END", sqlguard.CodeDDLStatement},
	{"CREATE RULE r AS ON SELECT TO t DO INSTEAD (SELECT 1; DELETE FROM u)", sqlguard.CodeDDLStatement},
	{"ALTER TABLE t ADD COLUMN a int", sqlguard.CodeDDLStatement},
	{"ALTER TABLE t RENAME TO u", sqlguard.CodeDDLStatement},
	{"DROP TABLE IF EXISTS t", sqlguard.CodeDDLStatement},
	{"COMMENT ON TABLE t IS NULL", sqlguard.CodeDDLStatement},
	{"GRANT SELECT ON t TO public", sqlguard.CodePrivilegeStatement},
	{"ALTER ROLE x SUPERUSER", sqlguard.CodePrivilegeStatement},
	{"ALTER TABLE t OWNER TO x", sqlguard.CodeDDLStatement},
	{"ALTER SCHEMA s OWNER TO x", sqlguard.CodePrivilegeStatement},
	{"BEGIN", sqlguard.CodeTransactionControl},
	{"COMMIT AND CHAIN", sqlguard.CodeTransactionControl},
	{"ROLLBACK TO SAVEPOINT s", sqlguard.CodeTransactionControl},
	{"PREPARE TRANSACTION 'x'", sqlguard.CodeTransactionControl},
	{"SET TRANSACTION READ WRITE", sqlguard.CodeTransactionControl},
	{"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", sqlguard.CodeTransactionControl},
	{"SET CONSTRAINTS ALL DEFERRED", sqlguard.CodeTransactionControl},
	{"SET search_path = x", sqlguard.CodeSessionChange},
	{"SET LOCAL ROLE x", sqlguard.CodeSessionChange},
	{"SET SESSION AUTHORIZATION DEFAULT", sqlguard.CodeSessionChange},
	{"RESET ALL", sqlguard.CodeSessionChange},
	{"DISCARD ALL", sqlguard.CodeSessionChange},
	{"LISTEN x", sqlguard.CodeSessionChange},
	{"NOTIFY x, 'y'", sqlguard.CodeSessionChange},
	{"LOAD 'x'", sqlguard.CodeSessionChange},
	{"DECLARE c CURSOR FOR SELECT 1", sqlguard.CodeSessionChange},
	{"FETCH ALL FROM c", sqlguard.CodeSessionChange},
	{"MOVE c", sqlguard.CodeSessionChange},
	{"CLOSE ALL", sqlguard.CodeSessionChange},
	{"ALTER SYSTEM SET x = 1", sqlguard.CodeSessionChange},
	{"DO $$ BEGIN END $$", sqlguard.CodeProceduralBlock},
	{"CALL p(1)", sqlguard.CodeProcedureCall},
	{"PREPARE p AS SELECT 1", sqlguard.CodeDynamicSQL},
	{"EXECUTE p (1)", sqlguard.CodeDynamicSQL},
	{"DEALLOCATE ALL", sqlguard.CodeDynamicSQL},
	{"LOCK TABLE t IN ACCESS SHARE MODE", sqlguard.CodeLockingClause},
	{"CHECKPOINT", sqlguard.CodeStatementNotAllowed},
	{"COPY t FROM STDIN", sqlguard.CodeWriteStatement},
	{"COPY t FROM '/etc/passwd'", sqlguard.CodeWriteStatement},
	{"COPY t TO '/tmp/x'", sqlguard.CodeFunctionFileAccess},
	{"COPY (SELECT 1) TO PROGRAM 'id'", sqlguard.CodeFunctionFileAccess},
	{"COPY (SELECT pg_sleep(1)) TO STDOUT", sqlguard.CodeStatementNotAllowed},
	{"COPY (DELETE FROM t RETURNING *) TO STDOUT", sqlguard.CodeWriteStatement},
	{"EXPLAIN DELETE FROM t", sqlguard.CodeWriteStatement},
	{"EXPLAIN (ANALYZE off) INSERT INTO t VALUES (1)", sqlguard.CodeWriteStatement},
	{"EXPLAIN EXECUTE p", sqlguard.CodeDynamicSQL},
	{"EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", sqlguard.CodeDDLStatement},
	{"EXPLAIN DECLARE c CURSOR FOR SELECT 1", sqlguard.CodeSessionChange},
	{"EXPLAIN REFRESH MATERIALIZED VIEW m", sqlguard.CodeWriteStatement},
	{`SELECT 1 \gexec`, sqlguard.CodeClientCommand},
	{`\! id`, sqlguard.CodeClientCommand},
	{"VALUES (DEFAULT)", sqlguard.CodeStatementNotAllowed},

	// Writes inside reads.
	{"SELECT * INTO x FROM t", sqlguard.CodeSelectInto},
	{"SELECT 1 INTO TEMP TABLE x", sqlguard.CodeSelectInto},
	{"SELECT 1 INTO x UNION SELECT 2", sqlguard.CodeSelectInto},
	{"WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x", sqlguard.CodeWriteInCTE},
	{"WITH x AS MATERIALIZED (MERGE INTO t USING u ON true WHEN MATCHED THEN DO NOTHING RETURNING 1) SELECT 1", sqlguard.CodeWriteInCTE},
	{"WITH a AS (SELECT 1), b AS (WITH c AS (INSERT INTO t VALUES (1) RETURNING 1) SELECT * FROM c) SELECT * FROM a", sqlguard.CodeWriteInCTE},
	{"SELECT * FROM t FOR NO KEY UPDATE SKIP LOCKED", sqlguard.CodeLockingClause},
	{"SELECT * FROM t FOR KEY SHARE OF t NOWAIT", sqlguard.CodeLockingClause},
	{"SELECT * FROM t FOR UPDATE FOR SHARE", sqlguard.CodeLockingClause},
	{"SELECT * FROM (SELECT * FROM t FOR SHARE LIMIT 1) x", sqlguard.CodeLockingClause},

	// Names of functions, however they are written.
	{`SELECT "pg_sleep"(1)`, sqlguard.CodeFunctionSleep},
	{`SELECT PG_SLEEP(1)`, sqlguard.CodeFunctionSleep},
	{`SELECT pg_catalog . "pg_sleep" (1)`, sqlguard.CodeFunctionSleep},
	{`SELECT pg_sleep/**/(1)`, sqlguard.CodeFunctionSleep},
	{"SELECT pg_sleep -- x\n (1)", sqlguard.CodeFunctionSleep},
	{`SELECT U&"pg!005fsleep" UESCAPE '!' (1)`, sqlguard.CodeFunctionSleep},
	{`SELECT shop.pg_catalog.pg_sleep(1)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT "PG_SLEEP"(1)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT public.lower('A')`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT treat('/etc/passwd' AS pg_read_file)`, sqlguard.CodeFunctionFileAccess},
	{`SELECT treat('/etc/passwd' AS x.pg_read_file)`, sqlguard.CodeFunctionFileAccess},
	{`SELECT * FROM pg_read_file('/etc/passwd')`, sqlguard.CodeFunctionFileAccess},
	{`SELECT * FROM x(1) AS y(a int)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT uuid('a', 'b')`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT uuid(a) FROM t`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT mytype('a')`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS x`, sqlguard.CodeFunctionFileAccess},
	{`SELECT "x"."pg_read_file" FROM (VALUES ('/etc/passwd')) AS x`, sqlguard.CodeFunctionFileAccess},
	{`SELECT s.x.pg_ls_dir FROM x`, sqlguard.CodeFunctionFileAccess},
	{`SELECT d.s.x.U&"\0070g_ls_dir" FROM x`, sqlguard.CodeFunctionFileAccess},
	{`SELECT ('/etc/passwd').pg_read_file`, sqlguard.CodeFunctionFileAccess},
	{`SELECT (ARRAY['/etc/passwd'])[1].pg_read_file`, sqlguard.CodeFunctionFileAccess},
	{`SELECT (SELECT '/etc/passwd'::text).pg_read_file`, sqlguard.CodeFunctionFileAccess},
	{`SELECT (x).a.b.pg_read_file FROM x`, sqlguard.CodeFunctionFileAccess},
	{`SELECT (1).anything`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT (now()).anything`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT (pg_catalog.lower('a')).anything`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT ('a' || 'b').anything`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT (SELECT lower('a')).anything`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.anything FROM generate_series(1, 2) AS x`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.anything FROM unnest(ARRAY['a', 'b']) AS x`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.anything FROM unnest('{a}'::text[]) AS x`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.anything FROM CAST('a' AS text) AS x`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.anything FROM lower('a') AS x (y)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.anything FROM current_user AS x`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT lower.anything FROM lower('a')`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT ('a'::text).upper`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT (current_user).anything`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT x.current_setting FROM unnest(ARRAY['data_directory']) AS x`, sqlguard.CodeSettingNotAllowed},
	{`SELECT ts_rewrite('a'::tsquery, 'SELECT 1')`, sqlguard.CodeDynamicSQL},
	{`SELECT pg_input_is_valid('1', a) FROM t`, sqlguard.CodeTypeNotAllowed},
	{`SELECT st_transform(g, '+proj=x +nadgrids=y') FROM t`, sqlguard.CodeFunctionFileAccess},

	// Arguments that are too large.
	{`SELECT repeat('x', 100000000)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT repeat('xxxxxxxxxx', 1000 * 10000)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT pg_catalog.repeat(repeat('x', 10000), 10000)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT lpad('x', 1 << 30)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT rpad(a, '99999999'::int) FROM t`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT * FROM generate_series(1, 1e9)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT * FROM generate_series(1000000000, 1, -1)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT * FROM generate_series(0, 1, 0.00000001)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT * FROM generate_series(0x0, 0x7fffffff)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT * FROM generate_series(-2147483648, 2147483647)`, sqlguard.CodeFunctionNotAllowed},

	// Operators, types, sampling.
	{`SELECT 1 OPERATOR(public.=) 1`, sqlguard.CodeOperatorNotAllowed},
	{`SELECT a FROM t ORDER BY a USING OPERATOR(public.<)`, sqlguard.CodeOperatorNotAllowed},
	{`SELECT a OPERATOR(s.=) ANY (ARRAY[1]) FROM t`, sqlguard.CodeOperatorNotAllowed},
	{`SELECT a OPERATOR(s.=) ALL (SELECT 1) FROM t`, sqlguard.CodeOperatorNotAllowed},
	{`SELECT OPERATOR(s.-) a FROM t`, sqlguard.CodeOperatorNotAllowed},
	{`SELECT @#@ 24`, sqlguard.CodeOperatorNotAllowed},
	{`SELECT NULL::SETOF int`, sqlguard.CodeTypeNotAllowed},
	{`SELECT * FROM t TABLESAMPLE system_rows(1)`, sqlguard.CodeFunctionNotAllowed},
	{`SELECT * FROM t TABLESAMPLE public.system(1)`, sqlguard.CodeFunctionNotAllowed},

	// System relations, in every notation that hides their names.
	{`SELECT * FROM pg_authid`, sqlguard.CodeCredentialRelation},
	{`SELECT * FROM "pg_authid"`, sqlguard.CodeCredentialRelation},
	{`SELECT * FROM pg_catalog.pg_shadow`, sqlguard.CodeCredentialRelation},
	{`SELECT * FROM U&"pg\005fauthid"`, sqlguard.CodeCredentialRelation},
	{`TABLE ONLY pg_authid`, sqlguard.CodeCredentialRelation},
	{`SELECT * FROM shop.pg_catalog.pg_authid`, sqlguard.CodeCredentialRelation},
	{`SELECT * FROM pg_toast.pg_toast_1260`, sqlguard.CodeRelationNotAllowed},
	{`SELECT * FROM pg_temp.x`, sqlguard.CodeRelationNotAllowed},
	{`SELECT * FROM pg_no_such`, sqlguard.CodeRelationNotAllowed},
	{`SELECT * FROM information_schema.user_mapping_options`, sqlguard.CodeCredentialRelation},
	{`SELECT 1 FROM pg_authid TABLESAMPLE system (1)`, sqlguard.CodeCredentialRelation},
	// A name of WITH hides a relation only where the name is in scope.
	{`WITH pg_authid AS (SELECT * FROM pg_authid) SELECT * FROM pg_authid`, sqlguard.CodeCredentialRelation},
	{`WITH a AS (SELECT * FROM pg_authid), pg_authid AS (SELECT 1) SELECT * FROM a`, sqlguard.CodeCredentialRelation},
	{`WITH pg_authid AS (SELECT 1) SELECT * FROM pg_catalog.pg_authid`, sqlguard.CodeCredentialRelation},
	{`WITH x AS (WITH pg_authid AS (SELECT 1) SELECT * FROM pg_authid) SELECT * FROM x, pg_authid`, sqlguard.CodeCredentialRelation},
	{`SELECT * FROM (WITH pg_authid AS (SELECT 1) SELECT 1) x, pg_authid`, sqlguard.CodeCredentialRelation},
	{`(WITH pg_authid AS (SELECT 1) SELECT * FROM pg_authid) UNION SELECT 1 FROM pg_authid`, sqlguard.CodeCredentialRelation},
	{`SELECT 1 FROM pg_authid UNION (WITH pg_authid AS (SELECT 1) SELECT * FROM pg_authid)`, sqlguard.CodeCredentialRelation},
	{`WITH "PG_AUTHID" AS (SELECT 1) SELECT * FROM pg_authid`, sqlguard.CodeCredentialRelation},
	{`SELECT * FROM t AS pg_authid, pg_authid AS u`, sqlguard.CodeCredentialRelation},

	// Columns that an allowed relation does not show.
	{`SELECT * FROM pg_stat_activity`, sqlguard.CodeCredentialRelation},
	{`TABLE pg_stat_activity`, sqlguard.CodeCredentialRelation},
	{`SELECT query FROM pg_stat_activity`, sqlguard.CodeCredentialRelation},
	{`SELECT a."query" FROM pg_catalog.pg_stat_activity AS a`, sqlguard.CodeCredentialRelation},
	{`SELECT a.* FROM t, pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT a FROM pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT pg_stat_activity::text FROM pg_stat_activity`, sqlguard.CodeCredentialRelation},
	{`SELECT row_to_json(a) FROM pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT a.row_to_json FROM pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT (a).query FROM pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT (a).* FROM pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT x.f FROM pg_stat_activity AS x (a, b, c, d, e, f)`, sqlguard.CodeCredentialRelation},
	{`SELECT j.q FROM (t JOIN pg_stat_activity a ON true) AS j (q)`, sqlguard.CodeCredentialRelation},
	{`SELECT j FROM (t JOIN pg_stat_activity a ON true) AS j`, sqlguard.CodeCredentialRelation},
	{`SELECT j.query FROM (t JOIN pg_stat_activity a ON true) AS j`, sqlguard.CodeCredentialRelation},
	{`SELECT 1 FROM pg_stat_activity a JOIN t USING (query)`, sqlguard.CodeCredentialRelation},
	{`SELECT 1 FROM t NATURAL JOIN pg_stat_activity`, sqlguard.CodeCredentialRelation},
	{`SELECT (SELECT a.query) FROM pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT s.q FROM pg_stat_activity a, LATERAL (SELECT a.query) AS s (q)`, sqlguard.CodeCredentialRelation},
	{`SELECT 1 FROM pg_stat_activity ORDER BY query`, sqlguard.CodeCredentialRelation},
	{`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%x%'`, sqlguard.CodeCredentialRelation},
	{`SELECT (SELECT 1 FROM (SELECT a.query) d, (VALUES (1)) a) FROM pg_stat_activity a`, sqlguard.CodeCredentialRelation},
	{`SELECT query FROM public.pg_stat_statements`, sqlguard.CodeCredentialRelation},
	{`SELECT s.srvoptions FROM pg_foreign_server s`, sqlguard.CodeCredentialRelation},

	// Settings.
	{"SHOW ALL", sqlguard.CodeSettingNotAllowed},
	{"SHOW data_directory", sqlguard.CodeSettingNotAllowed},
	{"SHOW my.secret", sqlguard.CodeSettingNotAllowed},
	{"SELECT current_setting('DATA_DIRECTORY')", sqlguard.CodeSettingNotAllowed},
	{`SELECT current_setting(E'data\x5fdirectory')`, sqlguard.CodeSettingNotAllowed},
	{"SELECT current_setting('server_' || 'version')", sqlguard.CodeSettingNotAllowed},
	{"SELECT current_setting(name) FROM pg_settings", sqlguard.CodeSettingNotAllowed},
	{"SELECT current_setting('server_versionx'::varchar(14))", sqlguard.CodeSettingNotAllowed},
	{"SELECT current_setting('')", sqlguard.CodeSettingNotAllowed},
	{"SELECT current_setting()", sqlguard.CodeSettingNotAllowed},
	{"SELECT current_setting(VARIADIC ARRAY['server_version'])", sqlguard.CodeSettingNotAllowed},
}

func TestReads(t *testing.T) {
	g := guard(t)
	for _, sql := range reads {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: refused: %+v", sql, v.Findings)
		}
	}
}

func TestRefusals(t *testing.T) {
	g := guard(t)
	for _, tt := range refusals {
		v := g.Check(tt.sql)
		switch {
		case v.Allowed:
			t.Errorf("%s: allowed", tt.sql)
		case v.Code != tt.code:
			t.Errorf("%s: %s, want %s: %+v", tt.sql, v.Code, tt.code, v.Findings)
		}
	}
}

// TestCorpus checks this dialect against the corpus, which has other authors than the
// tables of this package.
func TestCorpus(t *testing.T) {
	g := guard(t)
	for _, c := range corpus.Cases() {
		if c.Dialect != "postgres" || c.Expect == corpus.Policy {
			continue
		}
		v := g.Check(c.SQL)
		if v.Allowed != (c.Expect == corpus.Allow) {
			t.Errorf("%s (%s): allowed %v, want %s: %+v", c.ID, c.Title, v.Allowed, c.Expect, v.Findings)
		} else if !v.Allowed && len(c.Codes) > 0 && !slices.Contains(c.Codes, string(v.Code)) {
			t.Errorf("%s (%s): code %s, want one of %v", c.ID, c.Title, v.Code, c.Codes)
		}
	}
}

// TestPlaces: the span of a finding is that of the construct.
func TestPlaces(t *testing.T) {
	g := guard(t)
	for _, tt := range []struct {
		sql   string // « and » mark the span of the first finding
		path  string
		about string // in the message
	}{
		{`WITH x AS («INSERT INTO orders VALUES (1) RETURNING (id)») SELECT * FROM x`, "with.x", `INSERT inside WITH "x"`},
		{`WITH "As" (a, b) AS NOT MATERIALIZED (WITH y AS («DELETE FROM t») SELECT 1) SELECT 1`, "with.As.with.y", `DELETE inside WITH "y"`},
		{`EXPLAIN (COSTS off) «UPDATE t SET a = 1»`, "", "UPDATE changes data"},
		{`EXPLAIN ANALYZE VERBOSE «CREATE TABLE x AS SELECT 1» ; `, "", "CREATE TABLE AS"},
		{"-- é\n «DROP TABLE t» -- x\n;", "", "DROP"},
		{`SELECT 'é', «"pg_catalog" . "pg_sleep"»(1)`, "", "pg_catalog.pg_sleep"},
		{`SELECT «U&"\0070g_read_file"»('x')`, "", "function pg_read_file:"},
		{`SELECT (1 + 1), «x.pg_read_file» FROM x`, "", "pg_read_file"},
		{`SELECT ((x)."a").«"pg_read_file"» FROM x`, "", "pg_read_file"},
		{`SELECT 1 «OPERATOR (s.+)» 2`, "", "s.+"},
		{`SELECT 1, «@#@» 2`, "", "@#@"},
		{`SELECT * FROM a JOIN «pg_catalog."pg_authid"» b ON true`, "", "pg_catalog.pg_authid"},
		{`SELECT * FROM t «FOR  UPDATE» OF t`, "", "FOR UPDATE locks"},
		{`SELECT "for update", (SELECT 1 FROM t «FOR NO KEY UPDATE»)`, "", "FOR NO KEY UPDATE"},
		{`SELECT a, «$12» FROM t`, "", "$12"},
		{`SELECT a INTO «s.x» FROM t`, "", "x"},
		{`«SHOW data_directory»`, "", "data_directory"},
		{`SELECT «current_setting»('a')`, "", "setting a"},
		{`SELECT 1 FROM t TABLESAMPLE «s.m»(1)`, "", "s.m"},
		{`SELECT a, «s.query» FROM pg_stat_activity s`, "", "column query of s"},
		{`SELECT «s.*» FROM pg_stat_activity s`, "", "* of s"},
		{`SELECT 1; «SELECT 2»;`, "", "2 statements"},
		{`SELECT a b «c»`, "", `syntax error at or near "c"`},
		{`SELECT 'é' «'»x secret'`, "", "syntax error at or near '…'"},
	} {
		sql := strings.NewReplacer("«", "", "»", "").Replace(tt.sql)
		v := g.Check(sql)
		if v.Allowed {
			t.Errorf("%s: allowed", sql)
			continue
		}
		f := v.Findings[0]
		if marked := sql[:f.Span.Start] + "«" + sql[f.Span.Start:f.Span.End] + "»" + sql[f.Span.End:]; marked != tt.sql {
			t.Errorf("%s\n  is marked as %s", tt.sql, marked)
		}
		if !strings.Contains(f.Message, tt.about) || f.Path != tt.path {
			t.Errorf("%s: message %q, path %q; want %q, %q", sql, f.Message, f.Path, tt.about, tt.path)
		}
	}
}

func analyze(t *testing.T, sql string) sqlguard.Statement {
	t.Helper()
	statements, err := postgres.Dialect{}.Analyze(sql)
	if err != nil || len(statements) != 1 {
		t.Fatalf("Analyze(%q): %d statements, %v", sql, len(statements), err)
	}
	return statements[0]
}

func TestVerbsAndColumns(t *testing.T) {
	for _, tt := range []struct {
		sql      string
		verb     sqlguard.Verb
		columns  []string
		executes bool
	}{
		{
			"SELECT a, b AS c, t.d, (e).f, count(*), 1, 1 + 1, 'x'::text, a::int, upper(a) COLLATE \"C\" FROM t", sqlguard.VerbSelect,
			[]string{"a", "c", "d", "f", "count", "?column?", "?column?", "text", "a", "upper"},
			false,
		},
		{
			"SELECT CASE WHEN a THEN b END, CASE WHEN a THEN 1 ELSE b END, nullif(a, b), coalesce(a, b), GREATEST(a, b), ARRAY[1], ROW(1), EXISTS (SELECT), ARRAY(SELECT 1), (SELECT z FROM t), Current_User, grouping(a)", sqlguard.VerbSelect,
			[]string{"case", "b", "nullif", "coalesce", "greatest", "array", "row", "exists", "array", "z", "current_user", "grouping"},
			false,
		},
		{"SELECT a, * FROM t", sqlguard.VerbSelect, nil, false},
		{"SELECT t.* FROM t", sqlguard.VerbSelect, nil, false},
		{"SELECT (t).* FROM t", sqlguard.VerbSelect, nil, false},
		{"SELECT a FROM t UNION SELECT b FROM u", sqlguard.VerbSelect, []string{"a"}, false},
		{"((TABLE t))", sqlguard.VerbTable, nil, false},
		{"TABLE t UNION SELECT 1", sqlguard.VerbSelect, nil, false},
		{"VALUES (1, 2), (3, 4)", sqlguard.VerbValues, []string{"column1", "column2"}, false},
		{"VALUES (1) UNION VALUES (2)", sqlguard.VerbSelect, []string{"column1"}, false},
		{"SHOW datestyle", sqlguard.VerbShow, []string{"datestyle"}, false},
		{"EXPLAIN SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, false},
		{"EXPLAIN ANALYZE SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (ANALYZE) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (ANALYZE TRUE) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (ANALYZE 'on') SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (ANALYZE 1) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (ANALYZE 2.5) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (\"analyze\" yes) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (ANALYZE off, ANALYZE) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, true},
		{"EXPLAIN (ANALYZE OFF) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, false},
		{"EXPLAIN (ANALYZE 0, VERBOSE) SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, false},
		{"EXPLAIN (ANALYZE 'False') SELECT 1", sqlguard.VerbExplain, []string{"QUERY PLAN"}, false},
		{"DELETE FROM t", "delete", nil, false},
		{"CREATE MATERIALIZED VIEW v AS SELECT 1", "create_materialized_view", nil, false},
	} {
		st := analyze(t, tt.sql)
		if st.Verb != tt.verb || st.Executes != tt.executes {
			t.Errorf("%s: verb %q, executes %v; want %q, %v", tt.sql, st.Verb, st.Executes, tt.verb, tt.executes)
		}
		if diff := cmp.Diff(tt.columns, st.Columns); diff != "" {
			t.Errorf("%s: columns (-want +got):\n%s", tt.sql, diff)
		}
	}
}

func TestRelations(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		{"SELECT 1 FROM t, s.u AS a, d.s.v JOIN w ON true", []string{"read t", "read s.u a", "read d.s.v", "read w"}},
		{"SELECT * FROM f(1) AS t, (SELECT 1) AS u, XMLTABLE('/' PASSING a COLUMNS b text) AS v", nil},
		{"WITH t AS (SELECT * FROM t) SELECT * FROM t", []string{"read t"}},
		{"WITH t AS (SELECT 1), u AS (SELECT * FROM t, v) SELECT * FROM u, s.t", []string{"read v", "read s.t"}},
		{"WITH RECURSIVE t AS (SELECT * FROM u), u AS (SELECT * FROM t) SELECT * FROM t, u", nil},
		{"SELECT (SELECT 1 FROM t) FROM (WITH t AS (SELECT 1) SELECT * FROM t) x", []string{"read t"}},
		{"WITH t AS (SELECT 1) SELECT * FROM (SELECT * FROM t UNION SELECT * FROM (VALUES (1)) v WHERE EXISTS (SELECT 1 FROM t)) x", nil},
		{"WITH t AS (SELECT 1) INSERT INTO t SELECT * FROM t, u", []string{"write t", "read u"}},
		{"WITH x AS (INSERT INTO t SELECT * FROM u RETURNING *) SELECT * FROM x, t", []string{"write t", "read u", "read t"}},
		{"UPDATE t SET a = 1 FROM u, t AS v", []string{"write t", "read u", "read t v"}},
		{"MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE", []string{"write t", "read u"}},
		{"SELECT 1 INTO s.x FROM t", []string{"write s.x", "read t"}},
		{"CREATE TABLE x AS SELECT * FROM t", []string{"read t", "write x"}},
		{"CREATE VIEW v AS SELECT * FROM t", []string{"write v", "read t"}},
		{"TRUNCATE t, u", []string{"write t", "write u"}},
		{"SELECT 1 FROM t FOR UPDATE OF t", []string{"read t"}},
		{"EXPLAIN SELECT 1 FROM t", []string{"read t"}},
	} {
		var got []string
		for _, r := range analyze(t, tt.sql).Relations {
			got = append(got, strings.Join(slices.DeleteFunc([]string{string(r.Access), joined(r.Database, r.Schema, r.Name), r.Alias}, func(s string) bool { return s == "" }), " "))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.sql, diff)
		}
	}
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ".")
}

func TestColumnRefs(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want []string
	}{
		{"SELECT a, t.b, s.t.c FROM s.t WHERE d", []string{"a", "t.b", "s.t.c", "d"}},
		{"SELECT * FROM t, u AS v, (SELECT 1) AS w", []string{"t.*", "v.*"}},
		{"SELECT t.*, w.* FROM t, (SELECT a FROM u) AS w", []string{"t.*", "a"}},
		{"TABLE t", []string{"t.*"}},
		{"SELECT w.x, v FROM (SELECT a AS x FROM t) AS w, t AS v", []string{"v", "a"}},
		{"SELECT 1 FROM t NATURAL JOIN u", []string{"t.*", "u.*"}},
		{"SELECT 1 FROM t JOIN u USING (a, b)", []string{"a", "b"}},
		{"SELECT x FROM t AS v (x, y)", []string{"x", "v.*"}},
		{"SELECT j.a, j FROM (t JOIN u ON true) AS j", []string{"j.a", "j", "*"}},
		{"SELECT t.to_jsonb, t.concat FROM t", []string{"t.to_jsonb", "t.*", "t.concat", "t.*"}},
		{"WITH c AS (SELECT a FROM t) SELECT *, c.a, c FROM c", []string{"a", "c"}},
		// The sub-query sees t of the outermost query, not the values beside it.
		{"SELECT (SELECT 1 FROM (SELECT t.s) d, (VALUES (1)) t) FROM t", []string{"t.s"}},
	} {
		var got []string
		for _, c := range analyze(t, tt.sql).ColumnRefs {
			name := c.Name
			if c.Star {
				name = "*"
			}
			got = append(got, joined(append(slices.Clone(c.Qualifier), name)...))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.sql, diff)
		}
	}
}

// TestColumnRule: a column rule refuses every way to read the column.
func TestColumnRule(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "public.t.secret"}}
	policy.SearchPath = []string{"public"}
	g, err := sqlguard.New(postgres.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"SELECT secret FROM t", "SELECT t.secret FROM t", "SELECT * FROM t", "SELECT x.* FROM t x", "TABLE t", "SELECT t FROM t",
		"SELECT t.to_json FROM t", "SELECT (t).secret FROM t", "SELECT j FROM (t JOIN t u ON true) AS j", "SELECT 1 FROM t ORDER BY secret",
		"SELECT x.a FROM t AS x (b, a)", "SELECT 1 FROM t NATURAL JOIN (SELECT 1 AS a) u", "SELECT count(t.*) FROM t",
		"SELECT 1 FROM t JOIN (SELECT 'x' AS secret) u USING (secret)", "WITH c AS (SELECT * FROM t) SELECT 1 FROM c",
		"SELECT (SELECT 1 FROM (SELECT t.secret) d, (VALUES (1)) t) FROM t", "SELECT row_to_json(ROW(t.*)) FROM t",
		"SELECT j.b FROM (t JOIN t u ON true) AS j (a, b)", "SELECT array_agg(t) FROM t", "SELECT s FROM t, LATERAL (SELECT t.*) s",
	} {
		if v := g.Check(sql); v.Allowed {
			t.Errorf("%s: allowed", sql)
		}
	}
	for _, sql := range []string{
		"SELECT a FROM t", "SELECT t.a, x.secret FROM t, (SELECT 1 AS secret) x", "SELECT * FROM (SELECT a FROM t) s", "SELECT count(*) FROM t",
		"WITH c AS (SELECT a FROM t) SELECT * FROM c", "SELECT t.name, t.count FROM t",
	} {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%s: refused: %+v", sql, v.Findings)
		}
	}
}

// TestSyntaxOfNewerServers: some syntax of newer servers means a call of a user-defined
// function to older servers. There the verdict depends on the server's version.
func TestSyntaxOfNewerServers(t *testing.T) {
	for sql, since := range map[string]int{
		"SELECT json_value(a, '$') FROM t":  17,
		"SELECT json_query(a, '$') FROM t":  17,
		"SELECT json_exists(a, '$') FROM t": 17,
		"SELECT json_scalar(a) FROM t":      17,
		"SELECT json(a) FROM t":             17,
		"SELECT json_serialize(a) FROM t":   17,
		"SELECT merge_action()":             17,
		"SELECT json_array(a) FROM t":       16,
		"SELECT json_arrayagg(a) FROM t":    16,
		"SELECT lower(a) FROM t":            13,
		"SELECT random_normal()":            16,
		"SELECT any_value(a) FROM t":        16,
	} {
		for major := 13; major <= 20; major++ {
			g, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), &sqlguard.Catalog{Major: major})
			if err != nil {
				t.Fatal(err)
			}
			if v := g.Check(sql); v.Allowed != (major >= since) {
				t.Errorf("%s on %d: allowed %v: %+v", sql, major, v.Allowed, v.Findings)
			}
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, tt := range []struct {
		sql, message string
		offset       int
	}{
		{"SELECT a b c", `syntax error at or near "c"`, 11},
		{"SELECT 'é', 'secret' 'again'", `syntax error at or near '…'`, 22},
		{"SELECT 1 12345", `syntax error at or near a number`, 9},
		{"SELECT (", "syntax error at end of input", 8},
		{"SELECT 'secret", "unterminated quoted string at or near '…'", 7},
		{"SELECT 1\x00", "the text holds a NUL character", 8},
		{"SELECT '\xff'", "the text is not valid UTF-8", 0},
	} {
		_, err := postgres.Dialect{}.Analyze(tt.sql)
		syntax, ok := errors.AsType[*sqlguard.SyntaxError](err)
		if !ok || syntax.Message != tt.message || syntax.Offset != tt.offset {
			t.Errorf("%q: %v, want %q at %d", tt.sql, err, tt.message, tt.offset)
		}
	}
}

func TestStatementSpans(t *testing.T) {
	sql := " -- a\n SELECT 1 /* x */ ; ; /* y */ VALUES ('é;') -- z\n;SELECT $$;$$"
	statements, err := postgres.Dialect{}.Analyze(sql)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, st := range statements {
		got = append(got, sql[st.Span.Start:st.Span.End])
	}
	if diff := cmp.Diff([]string{"SELECT 1", "VALUES ('é;')", "SELECT $$;$$"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got = nil
	for _, span := range sqlguard.Split(postgres.Dialect{}, sql) {
		got = append(got, sql[span.Start:span.End])
	}
	if len(got) != 3 || !strings.HasPrefix(got[0], "SELECT 1") {
		t.Errorf("Split: %q", got)
	}
}

// Version names the parser that go.mod requires.
func TestVersion(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	name, rest, _ := strings.Cut(postgres.Dialect{}.Version(), " ")
	version, _, _ := strings.Cut(rest, " ")
	if !strings.Contains(string(mod), name+" v"+version+"\n") && !strings.Contains(string(mod), name+"/v6 v"+version+"\n") {
		t.Errorf("Version is %q, and go.mod requires another", postgres.Dialect{}.Version())
	}
}

func TestSession(t *testing.T) {
	var names []string
	for _, s := range (postgres.Dialect{}).Session() {
		names = append(names, s.Name)
	}
	if !slices.Contains(names, "standard_conforming_strings") || !slices.Contains(names, "client_encoding") {
		t.Errorf("Session lists %v", names)
	}
}
