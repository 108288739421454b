package migration_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// read returns the codes that a file has, without their prefix. Waits without a limit
// are left out unless they are asked for.
func read(t *testing.T, dialect, text string, o migration.Options, waits bool) []string {
	t.Helper()
	d, ok := dialects.Lookup(dialect)
	if !ok {
		t.Fatal(dialect)
	}
	o.Text = text
	r := migration.NewReader(d, o)
	codes := []string{}
	for _, span := range sqlguard.Split(d, text) {
		sql := text[span.Start:span.End]
		for _, f := range r.Statement(sql, d.Lex(sql).List) {
			if f.Span.Start < 0 || f.Span.End > len(sql) || f.Span.Start > f.Span.End || f.Message == "" || f.Hint == "" {
				t.Errorf("%s: finding %+v", sql, f)
			}
			if waits || f.Code != migration.CodeNoLockTimeout {
				codes = append(codes, strings.TrimPrefix(string(f.Code), "migration_"))
			}
		}
	}
	return codes
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect, sql string
		want         []string
	}{
		{"postgres", "CREATE INDEX i ON t (a)", []string{"index_blocks_writes"}},
		{"postgres", "CREATE INDEX ON t (a)", []string{"index_blocks_writes"}},
		{"postgres", "CREATE INDEX CONCURRENTLY i ON t (a)", nil},
		{"postgres", "CREATE TABLE t (a int); CREATE INDEX i ON t (a); ALTER TABLE t ADD CHECK (a > 0)", nil},
		{"postgres", `CREATE TABLE "T" (a int); CREATE INDEX i ON t (a)`, []string{"index_blocks_writes"}},
		{"postgres", "BEGIN; CREATE INDEX CONCURRENTLY i ON t (a); COMMIT", []string{"in_transaction"}},
		{"postgres", "BEGIN; SELECT 1; COMMIT; CREATE INDEX CONCURRENTLY i ON t (a)", nil},
		{"postgres", "DROP INDEX i", []string{"index_drop_blocks"}},
		{"postgres", "DROP INDEX CONCURRENTLY i", nil},
		{"postgres", "REINDEX TABLE t", []string{"index_blocks_writes"}},
		{"postgres", "REINDEX (CONCURRENTLY) TABLE t", nil},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)", []string{"constraint_scans"}},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c", nil},
		{"postgres", "BEGIN; ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID; COMMIT; BEGIN; ALTER TABLE t VALIDATE CONSTRAINT c; COMMIT", nil},
		{"postgres", "BEGIN; ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c; COMMIT", []string{"constraint_scans"}},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID, VALIDATE CONSTRAINT c", []string{"constraint_scans"}},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES u (id)", []string{"constraint_scans"}},
		{"postgres", "ALTER TABLE t ADD UNIQUE (a)", []string{"index_blocks_writes"}},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c UNIQUE USING INDEX i", nil},
		{"postgres", "ALTER TABLE t ALTER COLUMN a SET NOT NULL", []string{"not_null_scans"}},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c; ALTER TABLE t ALTER a SET NOT NULL", nil},
		{"postgres", "ALTER TABLE t ADD CONSTRAINT c CHECK (a IS NOT NULL) NOT VALID; ALTER TABLE t ALTER a SET NOT NULL", []string{"not_null_scans"}},
		{"postgres", "ALTER TABLE t ADD COLUMN b int NOT NULL", []string{"column_required"}},
		{"postgres", "ALTER TABLE t ADD b int NOT NULL DEFAULT 0", nil},
		{"postgres", "ALTER TABLE t ADD b timestamptz NOT NULL DEFAULT now()", nil},
		{"postgres", "ALTER TABLE t ADD b uuid DEFAULT gen_random_uuid()", []string{"rewrites_table"}},
		{"postgres", "ALTER TABLE t ADD b numeric(10, 2) DEFAULT 0, ADD c text DEFAULT upper('a')", nil},
		{"postgres", "ALTER TABLE t ADD b serial", []string{"rewrites_table"}},
		{"postgres", "ALTER TABLE t ADD b bigint GENERATED ALWAYS AS IDENTITY", []string{"rewrites_table"}},
		{"postgres", "ALTER TABLE t ADD b int GENERATED ALWAYS AS (a * 2) STORED", []string{"rewrites_table"}},
		{"postgres", "ALTER TABLE t ADD b int REFERENCES u (id)", []string{"constraint_scans"}},
		{"postgres", "ALTER TABLE t ALTER COLUMN a TYPE bigint", []string{"rewrites_table"}},
		{"postgres", "ALTER TABLE t ALTER a SET DATA TYPE text USING a::text, DROP COLUMN b", []string{"rewrites_table", "breaks_programs"}},
		{"postgres", "ALTER TABLE t RENAME COLUMN a TO b", []string{"breaks_programs"}},
		{"postgres", "ALTER TABLE t RENAME TO u", []string{"breaks_programs"}},
		{"postgres", "ALTER TABLE t RENAME CONSTRAINT a TO b", nil},
		{"postgres", "ALTER TABLE t SET LOGGED", []string{"rewrites_table"}},
		{"postgres", "ALTER TABLE t SET (fillfactor = 70)", nil},
		{"postgres", "ALTER TABLE t DETACH PARTITION p", []string{"blocks_writes"}},
		{"postgres", "ALTER TABLE t DETACH PARTITION p CONCURRENTLY", nil},
		{"postgres", "ALTER TABLE t ATTACH PARTITION p DEFAULT", []string{"constraint_scans"}},
		{"postgres", "ALTER TABLE t FROBNICATE", []string{"not_judged"}},
		{"postgres", "ALTER TABLE t ALTER a FROBNICATE", []string{"not_judged"}},
		{"postgres", "DROP TABLE t", []string{"breaks_programs"}},
		{"postgres", "TRUNCATE t", []string{"data_loss"}},
		{"postgres", "CREATE TABLE t (a int); TRUNCATE TABLE t, ONLY u, v", []string{"data_loss", "data_loss"}},
		{"postgres", "CREATE TABLE t (a int); TRUNCATE t", nil},
		{"postgres", "BEGIN; TRUNCATE t, u; COMMIT", []string{"data_loss", "data_loss", "lock_order"}},
		{"postgres", "WITH x (a) AS (SELECT 1 WHERE true), y AS (SELECT 2) DELETE FROM t", []string{"changes_all_rows"}},
		{"postgres", "WITH x AS (SELECT 1 AS a) DELETE FROM t USING x WHERE t.a = x.a", nil},
		{"postgres", "WITH x AS (SELECT 1 AS a) SELECT * FROM x FOR UPDATE", nil},
		{"postgres", "DROP VIEW IF EXISTS v; CREATE VIEW public.v AS SELECT 1", nil},
		{"postgres", "CREATE VIEW v AS SELECT 1; DROP VIEW v", []string{"breaks_programs"}},
		{"postgres", `DROP FUNCTION f(int), g; CREATE OR REPLACE FUNCTION "f"(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'`, []string{"breaks_programs"}},
		{"postgres", "DROP TABLE t; CREATE TABLE t (a int)", []string{"breaks_programs"}},
		{"sqlserver", "IF OBJECT_ID('[dbo].[P]') IS NOT NULL\nBEGIN\n    DROP PROCEDURE [dbo].[P]\nEND\nGO\nCREATE PROCEDURE [dbo].[P] AS SELECT 1\nGO", nil},
		{"mysql", "DROP PROCEDURE IF EXISTS p; CREATE PROCEDURE `p`() SELECT 1", nil},
		{"postgres", "UPDATE t SET a = 1", []string{"changes_all_rows"}},
		{"postgres", "UPDATE t SET a = 1 WHERE id = 1; DELETE FROM t WHERE a IN (SELECT 1)", nil},
		{"postgres", "VACUUM FULL t", []string{"rewrites_table"}},
		{"postgres", "VACUUM (FULL, ANALYZE) t", []string{"rewrites_table"}},
		{"postgres", "VACUUM t", nil},
		{"postgres", "CLUSTER t USING i", []string{"rewrites_table"}},
		{"postgres", "CLUSTER; CLUSTER VERBOSE t", []string{"rewrites_table", "rewrites_table"}},
		{"postgres", "REINDEX (CONCURRENTLY false) INDEX i; VACUUM (FULL off) t", []string{"index_blocks_writes"}},
		{"postgres", "REFRESH MATERIALIZED VIEW v", []string{"blocks_writes"}},
		{"postgres", "REFRESH MATERIALIZED VIEW CONCURRENTLY v", nil},
		{"postgres", "BEGIN; ALTER TABLE t ADD a int; ALTER TABLE u ADD a int; COMMIT", []string{"lock_order"}},
		{"postgres", "ALTER TABLE t ADD a int; ALTER TABLE u ADD a int", nil},
		{"postgres", "BEGIN; ALTER TYPE e ADD VALUE 'x'; UPDATE t SET s = 'x' WHERE id = 1; COMMIT", []string{"enum_value_used"}},
		{"postgres", "BEGIN; ALTER TYPE e ADD VALUE 'x'; COMMIT; UPDATE t SET s = 'x' WHERE id = 1", nil},
		{"postgres", "CREATE TABLE audit.t (a int); CREATE INDEX i ON t (a); CREATE INDEX j ON audit.t (a); DROP INDEX audit.j", []string{"index_blocks_writes"}},
		{"postgres", "CREATE TABLE public.t (a int); CREATE INDEX i ON t (a)", nil},
		{"postgres", "SELECT * INTO TEMP n FROM t; CREATE INDEX i ON n (a)", nil},
		{"postgres", "DO $$ BEGIN ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES u (id); EXCEPTION WHEN duplicate_object THEN null; END $$", []string{"constraint_scans", "lock_order"}},
		{"postgres", "DO $x$ BEGIN IF NOT EXISTS (SELECT 1) THEN CREATE INDEX i ON t (a); ELSE DROP TABLE t; END IF; END $x$ LANGUAGE plpgsql", []string{"index_blocks_writes", "breaks_programs"}},
		{"postgres", "DO $$ DECLARE n int; BEGIN SELECT 1 INTO n; FOR n IN SELECT 1 LOOP UPDATE t SET a = CASE WHEN b THEN 1 ELSE 2 END; END LOOP; END $$", []string{"changes_all_rows"}},
		{"postgres", "DO $$ BEGIN EXECUTE 'CREATE INDEX CONCURRENTLY i ON t (a)'; END $$", []string{"in_transaction"}},
		{"postgres", "DO 'BEGIN DROP TABLE t; END'", []string{"breaks_programs"}},
		{"postgres", "DO $$ BEGIN EXECUTE format('ALTER TABLE %I ADD a int', 't'); END $$", []string{"not_judged"}},
		{"postgres", "DO $$ BEGIN EXECUTE 'DROP TABLE ' || 't'; END $$", []string{"not_judged"}},
		{"postgres", "DO LANGUAGE plpython3u $$ pass $$", []string{"not_judged"}},
		{"postgres", "DO $$ BEGIN PERFORM set_config('lock_timeout', '1s', true); RAISE NOTICE 'DROP TABLE t'; END $$", nil},
		{"postgres", "DROP FUNCTION f(int), g", []string{"breaks_programs", "breaks_programs"}},
		{"postgres", "DROP EXTENSION IF EXISTS pgcrypto; DROP ROLE app", []string{"breaks_programs", "breaks_programs"}},
		{"postgres", "ALTER SCHEMA a RENAME TO b; ALTER FUNCTION f(int) RENAME TO g; ALTER SEQUENCE s SET SCHEMA b; ALTER SEQUENCE s RESTART", []string{"breaks_programs", "breaks_programs", "breaks_programs"}},
		{"postgres", "SELECT 1; GRANT SELECT ON t TO u; COMMENT ON TABLE t IS 'x'", nil},

		{"mysql", "ALTER TABLE t ADD COLUMN b int", []string{"not_online"}},
		{"mysql", "ALTER TABLE t ADD COLUMN b int, ALGORITHM=INSTANT", nil},
		{"mysql", "ALTER TABLE t ADD COLUMN b int, ALGORITHM=COPY", []string{"blocks_writes"}},
		{"mysql", "ALTER TABLE t ADD COLUMN b int NOT NULL, ALGORITHM=INSTANT", []string{"column_required"}},
		{"mysql", "ALTER TABLE t ADD COLUMN b char(36) NOT NULL DEFAULT (uuid()), ALGORITHM=INPLACE", []string{"rewrites_table"}},
		{"mysql", "ALTER TABLE t ADD COLUMN b datetime(3) DEFAULT CURRENT_TIMESTAMP(3), ADD COLUMN c json DEFAULT (json_object()), ALGORITHM=INSTANT", nil},
		{"mysql", "ALTER TABLE t ADD COLUMN b int AUTO_INCREMENT UNIQUE", []string{"blocks_writes"}},
		{"mysql", "ALTER TABLE t ADD INDEX i (a), ALGORITHM=INPLACE, LOCK=NONE", nil},
		{"mysql", "ALTER TABLE t ADD COLUMN b int, ALGORITHM=DEFAULT, LOCK=DEFAULT", []string{"not_online"}},
		{"mysql", "ALTER TABLE t ADD COLUMN b int COMMENT 'ALGORITHM=COPY'", []string{"not_online"}},
		{"mysql", "ALTER TABLE t MODIFY a bigint COMMENT 'LOCK=NONE'", []string{"rewrites_table"}},
		{"mysql", "ALTER TABLE t ADD COLUMN b int, LOCK SHARED", []string{"blocks_writes"}},
		{"mysql", "CREATE INDEX i ON t (a) ALGORITHM=DEFAULT", []string{"not_online"}},
		{"mysql", "CREATE INDEX i ON t (a) COMMENT 'lock none'", []string{"not_online"}},
		{"mysql", "CREATE INDEX i ON t (a)", []string{"not_online"}},
		{"mysql", "CREATE INDEX i ON t (a) ALGORITHM=INPLACE LOCK=NONE", nil},
		{"mysql", "CREATE TABLE t (a int); CREATE INDEX i ON t (a); ALTER TABLE t MODIFY a bigint", nil},
		{"mysql", "ALTER TABLE t ADD FULLTEXT INDEX i (a)", []string{"index_blocks_writes"}},
		{"mysql", "ALTER TABLE t MODIFY a bigint", []string{"rewrites_table"}},
		{"mysql", "ALTER TABLE t MODIFY a bigint, ALGORITHM=INPLACE, LOCK=NONE", nil},
		{"mysql", "ALTER TABLE t CHANGE a b int, ALGORITHM=INSTANT", []string{"breaks_programs"}},
		{"mysql", "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4", []string{"rewrites_table"}},
		{"mysql", "ALTER TABLE t DROP PRIMARY KEY", []string{"rewrites_table"}},
		{"mysql", "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (id)", []string{"constraint_scans"}},
		{"mysql", "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u (id), ALGORITHM=INPLACE, LOCK=NONE", nil},
		{"mysql", "ALTER TABLE t ADD CHECK (a > 0) NOT ENFORCED, ALGORITHM=INPLACE", nil},
		{"mysql", "ALTER TABLE t ALTER CHECK c ENFORCED", []string{"constraint_scans"}},
		{"mysql", "ALTER TABLE t ALTER CHECK c NOT ENFORCED, ALGORITHM=INSTANT", nil},
		{"mysql", "ALTER TABLE t DROP COLUMN a, ALGORITHM=INPLACE, LOCK=NONE", []string{"breaks_programs"}},
		{"mysql", "START TRANSACTION; ALTER TABLE t ADD COLUMN b int, ALGORITHM=INSTANT; ROLLBACK", []string{"in_transaction"}},
		{"mysql", "ALTER TABLE t FROBNICATE a", []string{"not_judged", "not_online"}},
		{"mysql", "RENAME TABLE t TO u", []string{"breaks_programs"}},
		{"mysql", "DELETE FROM t", []string{"changes_all_rows"}},
		{"mysql", "DELETE FROM t LIMIT 1000", nil},
		{"mysql", "PREPARE s FROM 'ALTER TABLE t ADD COLUMN b int NOT NULL, ALGORITHM=INSTANT'; EXECUTE s", []string{"column_required"}},
		{"mysql", "SET @s = 'DROP TABLE t'; PREPARE s FROM @s; EXECUTE s", []string{"not_judged"}},
		{"mysql", "DROP VIEW v, w", []string{"breaks_programs", "breaks_programs"}},

		{"sqlserver", "CREATE INDEX i ON dbo.t (a)", []string{"index_blocks_writes"}},
		{"sqlserver", "CREATE INDEX i ON dbo.t (a) WITH (ONLINE = ON)", nil},
		{"sqlserver", "CREATE CLUSTERED INDEX i ON dbo.t (a)", []string{"rewrites_table"}},
		{"sqlserver", "CREATE TABLE [dbo].[t] (a int); CREATE INDEX i ON dbo.t (a)", nil},
		{"sqlserver", "ALTER INDEX i ON t REBUILD", []string{"index_blocks_writes"}},
		{"sqlserver", "ALTER INDEX ALL ON t REBUILD WITH (ONLINE = ON)", nil},
		{"sqlserver", "DROP INDEX [dbo].[t].[i]", []string{"index_drop_blocks"}},
		{"sqlserver", "CREATE TABLE dbo.t (a int); DROP INDEX t.i", nil},
		{"sqlserver", "ALTER TABLE t ADD b int NOT NULL", []string{"column_required"}},
		{"sqlserver", "ALTER TABLE t ADD b uniqueidentifier NOT NULL DEFAULT NEWID()", []string{"rewrites_table"}},
		{"sqlserver", "ALTER TABLE t ADD b int NOT NULL DEFAULT 0", nil},
		{"sqlserver", "ALTER TABLE t ALTER COLUMN a bigint", []string{"rewrites_table"}},
		{"sqlserver", "ALTER TABLE t ALTER COLUMN a int NOT NULL", []string{"not_null_scans"}},
		{"sqlserver", "ALTER TABLE t ALTER COLUMN a bigint NOT NULL WITH (ONLINE = ON)", nil},
		{"sqlserver", "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)", []string{"constraint_scans"}},
		{"sqlserver", "ALTER TABLE t WITH NOCHECK ADD CONSTRAINT c CHECK (a > 0)", nil},
		{"sqlserver", "ALTER TABLE t DROP COLUMN a, b", []string{"breaks_programs", "breaks_programs"}},
		{"sqlserver", "EXEC sp_rename 'dbo.t.a', 'b', 'COLUMN'", []string{"breaks_programs"}},
		{"sqlserver", "ALTER TABLE t FROBNICATE", []string{"not_judged"}},
		{"sqlserver", "EXEC ('ALTER TABLE t ADD b int NOT NULL')", []string{"column_required"}},
		{"sqlserver", "EXEC sys.sp_executesql N'EXEC sp_rename ''t'', ''u'''", []string{"breaks_programs"}},
		{"sqlserver", "EXEC sp_executesql @stmt = @sql; EXEC dbo.refresh_totals 1", []string{"not_judged"}},
		{"sqlserver", "ALTER TABLE t ADD a int\nALTER TABLE t ADD b int NOT NULL\nCREATE INDEX i ON t (a)\nDROP INDEX i ON t\nUPDATE t SET a = 1\nEXEC sp_rename 't', 'u'", []string{"column_required", "index_blocks_writes", "index_drop_blocks", "changes_all_rows", "breaks_programs"}},
		{"sqlserver", "ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES u (id) ON DELETE CASCADE ON UPDATE NO ACTION ALTER TABLE u DROP COLUMN b", []string{"constraint_scans", "breaks_programs"}},
		{"sqlserver", "ALTER TABLE t DROP INDEX i", nil},
		{"sqlserver", "CREATE TABLE t (a int, INDEX i (a)) CREATE UNIQUE INDEX j ON t (a) ALTER TABLE t ALTER COLUMN a bigint CREATE INDEX k ON u (a)", []string{"index_blocks_writes"}},
		{"sqlserver", "CREATE TRIGGER g ON t AFTER INSERT AS DELETE FROM u DROP TABLE u", nil},
		{"sqlserver", "BEGIN TRAN; ALTER TABLE t ADD a int ALTER TABLE u ADD a int; COMMIT", []string{"lock_order"}},
		{"sqlserver", "UPDATE STATISTICS t; SELECT * INTO n FROM t; CREATE INDEX i ON n (a)", nil},
	} {
		if diff := cmp.Diff(append([]string{}, c.want...), read(t, c.dialect, c.sql, migration.Options{}, false)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.dialect, c.sql, diff)
		}
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect, sql string
		want         []string
	}{
		{"postgres", "ALTER TABLE t ADD a int; ALTER TABLE t ADD b int", []string{"no_lock_timeout"}},
		{"postgres", "SET lock_timeout = '2s'; ALTER TABLE t ADD a int", []string{}},
		{"postgres", "SET lock_timeout = 0; ALTER TABLE t ADD a int", []string{"no_lock_timeout"}},
		{"mysql", "SET SESSION lock_wait_timeout = 5; ALTER TABLE t ADD a int, ALGORITHM=INSTANT", []string{}},
		{"sqlserver", "SET LOCK_TIMEOUT 5000; ALTER TABLE t ADD a int", []string{}},
		{"sqlserver", "ALTER TABLE t ADD a int", []string{"no_lock_timeout"}},
	} {
		if diff := cmp.Diff(c.want, read(t, c.dialect, c.sql, migration.Options{}, true)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.dialect, c.sql, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	if got := read(t, "postgres", "CREATE INDEX CONCURRENTLY i ON t (a)", migration.Options{Transaction: true}, true); !slices.Equal(got, []string{"in_transaction"}) {
		t.Error(got)
	}
	if got := read(t, "mysql", "ALTER TABLE t ADD a int, ALGORITHM=INSTANT; ALTER TABLE u ADD a int, ALGORITHM=INSTANT", migration.Options{Transaction: true}, false); len(got) > 0 {
		t.Errorf("MySQL commits before and behind each change of a table, and yet %v", got)
	}
	d, _ := dialects.Lookup("postgres")
	r := migration.NewReader(d, migration.Options{Reads: func(name string) []string { return []string{"app/" + name + ".py:3"} }})
	const sql = "ALTER TABLE t DROP COLUMN total"
	if got := r.Statement(sql, d.Lex(sql).List)[0].Message; !strings.Contains(got, "app/total.py:3 still names it") {
		t.Error(got)
	}
}

// TestCodes: every code has its page, and what a page shows as found is found, and
// what it shows instead is not.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, c := range migration.Codes() {
		page := c.Page
		if !strings.HasPrefix(page, "# "+string(c.Code)+"\n") {
			t.Errorf("%s has no page", c.Code)
			continue
		}
		if _, ok := migration.LevelOf(c.Code); !ok {
			t.Errorf("%s has no level", c.Code)
		}
		found, instead := example(page, "## Found"), example(page, "## Instead")
		short := strings.TrimPrefix(string(c.Code), "migration_")
		dialect := "postgres"
		if strings.Contains(page, "ALGORITHM=") || short == "not_online" || short == "not_judged" {
			dialect = "mysql"
		}
		if got := read(t, dialect, found, migration.Options{}, true); !slices.Contains(got, short) {
			t.Errorf("%s: its page shows what has only %v:\n%s", c.Code, got, found)
		}
		if got := read(t, dialect, instead, migration.Options{}, true); slices.Contains(got, short) {
			t.Errorf("%s: what its page shows instead has it too:\n%s", c.Code, instead)
		}
	}
	if files, err := os.ReadDir("pages"); err != nil || len(files) != len(migration.Codes()) {
		t.Errorf("%d pages for %d codes, %v", len(files), len(migration.Codes()), err)
	}
}

func example(page, heading string) string {
	_, rest, _ := strings.Cut(page, heading)
	_, rest, _ = strings.Cut(rest, "```sql\n")
	text, _, _ := strings.Cut(rest, "```")
	return text
}

// FuzzStatement: no text makes the rules panic, and spans stay within it.
func FuzzStatement(f *testing.F) {
	for _, sql := range []string{"ALTER TABLE", "ALTER TABLE t ADD", "CREATE INDEX ON", "ALTER TABLE t ALTER", "DROP", "ALTER TABLE t ADD CONSTRAINT", "ALTER TABLE t DROP PARTITION", "REINDEX (", "EXEC sp_rename", "DO $$", "DO $$ BEGIN DROP TABLE", "DO 'BEGIN DROP'", "EXEC ('DROP", "PREPARE s FROM"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, d := range dialects.All() {
			if !migration.Supports(d.Name()) {
				continue
			}
			for _, x := range migration.NewReader(d, migration.Options{Transaction: true}).Statement(sql, d.Lex(sql).List) {
				if x.Span.Start < 0 || x.Span.End > len(sql) || x.Span.Start > x.Span.End {
					t.Errorf("%q: %+v", sql, x)
				}
			}
		}
	})
}
