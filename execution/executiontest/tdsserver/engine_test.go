package tdsserver_test

import (
	"errors"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/ktxhq/ktx/execution/executiontest/tdsserver"
)

// TestEngine checks the answers of the interpreter. The expected answer is
// written row by row, or as the number of an error.
func TestEngine(t *testing.T) {
	const unknown = "error 2147483000"
	s := tdsserver.Start(t, tdsserver.Config{})
	s.SetTable("sys.things", tdsserver.Table{
		Columns: []tdsserver.Column{{Name: "kind", Type: tdsserver.VarChar(10)}, {Name: "n", Type: tdsserver.Int}},
		Rows:    [][]any{{"a", int64(1)}, {"b", int64(2)}, {"a", int64(3)}, {"c", nil}},
	})
	db := open(t, trusted(s))
	for _, c := range []struct{ text, want string }{
		{"SELECT 1", "1"},
		{"SELECT 1 + 2 * 3 - -4, 7 / 2, -7 / 2, 7 % 3, (1 + 2) * 3", "11 3 -3 1 9"},
		{"SELECT 2147483647 + 1", "error 8115"},
		{"SELECT CAST(2147483647 AS bigint) + 1", "2147483648"},
		{"SELECT 1 / 0", "error 8134"},
		{"SELECT 5 & 3, 5 | 3, 5 ^ 3", "1 7 6"},
		{"SELECT 'a' + N'ä' + '', LEN('ab '), DATALENGTH(N'ab '), UPPER('äb'), LEFT('abc', 2), RIGHT('abc', 2)", "aä 2 6 ÄB ab bc"},
		{"SELECT 'it''s' AS [a b], \"x\".id FROM items AS \"x\" WHERE x.id = 1", "it's 1"},
		{"SELECT * FROM items", "1 one|2 two|3 three"},
		{"SELECT TOP 2 name FROM dbo.items ORDER BY name", "one|three"},
		{"SELECT name FROM shop.dbo.items WHERE id IN (1, 3) ORDER BY name DESC", "three|one"},
		{"SELECT id FROM items WHERE id BETWEEN 2 AND 3 AND NOT (id = 3)", "2"},
		{"SELECT id FROM items WHERE (id = 1 OR id = 2) AND (id + 1) > 2", "2"},
		{"SELECT id FROM items WHERE NULL = NULL OR NOT (id > NULL)", ""},
		{"SELECT COUNT(*), COUNT_BIG(n), MIN(n), MAX(n), SUM(n) FROM sys.things", "4 3 1 3 6"},
		{"SELECT kind, COUNT(*) AS c FROM sys.things GROUP BY kind ORDER BY kind", "a 2|b 1|c 1"},
		{"SELECT n, COUNT(*) FROM sys.things GROUP BY kind", "error 8120"},
		{"SELECT COUNT(*), n FROM sys.things", "error 8120"},
		{"SELECT DISTINCT kind FROM sys.things", "a|b|c"},
		{"SELECT i.id, t.kind FROM items AS i LEFT JOIN sys.things AS t ON t.n = i.id + 1", "1 b|2 a|3 <nil>"},
		{"SELECT i.id, t.kind FROM items AS i JOIN sys.things AS t ON t.n = i.id WHERE t.kind = 'A'", "1 a|3 a"},
		{"SELECT a.value, b.value FROM GENERATE_SERIES(1, 2) AS a CROSS JOIN GENERATE_SERIES(5, 3, -2) AS b", "1 5|1 3|2 5|2 3"},
		{"SELECT v.x FROM (VALUES (1, 'a'), (2, 'b')) AS v (y, x) WHERE v.y = 2", "b"},
		{"SELECT d.c FROM (SELECT COUNT(*) AS c FROM items) AS d", "3"},
		{"SELECT 1 AS a UNION ALL SELECT id FROM items WHERE id > 2", "1|3"},
		{"SELECT CASE WHEN 1 = 2 THEN 'a' ELSE 'b' END, CASE 3 WHEN 3 THEN 1 END, IIF(1 > 2, 1, 2), COALESCE(NULL, 4), ISNULL(NULL, 5)", "b 1 2 4 5"},
		{"SELECT CAST('2024-02-29 12:34:56.1234567' AS datetime2(3))", "2024-02-29 12:34:56.123 +0000 UTC"},
		{"SELECT CONVERT(varchar(30), CAST('2024-02-29 12:34:56' AS datetime), 121)", "2024-02-29 12:34:56.000"},
		{"SELECT DAY(CONVERT(datetime, '01/02/2003'))", "2"},
		{"SET DATEFORMAT dmy; SELECT DAY(CONVERT(datetime, '01/02/2003'))", "1"},
		{"SELECT CAST('x' AS int)", "error 245"},
		{"SELECT TRY_CAST('x' AS int), TRY_CONVERT(date, 'x')", "<nil> <nil>"},
		{"SELECT CAST(300 AS tinyint)", "error 8115"},
		{"SELECT CAST(1.55 AS decimal(5, 1)), CAST(-1.55 AS decimal(5, 1)), CAST(12 AS money)", "1.6 -1.6 12.0000"},
		{"SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(20)), SERVERPROPERTY('nothing')", tdsserver.DefaultVersion + " <nil>"},
		{"SELECT SESSIONPROPERTY('ANSI_NULLS'), SESSIONPROPERTY('ARITHABORT')", "1 0"},
		{"SELECT IS_SRVROLEMEMBER('sysadmin'), IS_ROLEMEMBER('db_owner'), IS_MEMBER('public'), IS_ROLEMEMBER('nothing')", "0 0 1 <nil>"},
		{"SELECT HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'SELECT'), HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'INSERT')", "1 0"},
		{"SELECT permission_name FROM fn_my_permissions(NULL, 'DATABASE')", "CONNECT|SELECT"},
		{"SELECT lock_timeout, ansi_nulls FROM sys.dm_exec_sessions WHERE session_id = @@SPID", "-1 true"},
		{"SELECT d.name, OBJECT_SCHEMA_NAME(o.object_id) FROM sys.databases AS d, sys.objects AS o WHERE d.database_id = DB_ID()", "shop dbo"},
		{"SELECT QUOTENAME('a]b'), USER_NAME(USER_ID()), HAS_DBACCESS('model'), HAS_DBACCESS('nowhere')", "[a]]b] reader 0 <nil>"},
		{"DECLARE @x int = 2, @y nvarchar(5); SET @x = @x * 3; SELECT @y = N'y'; SELECT @x, @y", "6 y"},
		{"IF @@TRANCOUNT > 0 SELECT 1 ELSE BEGIN SELECT 2; END", "2"},
		{"SET ROWCOUNT 2; SELECT id FROM items", "1|2"},
		{"SET NOCOUNT ON; SELECT id FROM items OPTION (MAXDOP 1, RECOMPILE)", "1|2|3"},
		{"ROLLBACK", "error 3903"},
		{"COMMIT TRAN", "error 3902"},
		{"THROW 50001, N'stop', 3; SELECT 1", "error 50001"},
		{"RAISERROR('stop', 16, 1)", "error 50000"},
		{"RAISERROR('note', 5, 1); SELECT 1", "1"},
		{"PRINT 'note'; SELECT 1", "1"},
		{"WAITFOR DELAY '00:00:00.001'; SELECT 1", "1"},
		{"USE nowhere", "error 911"},
		{"SELECT /* /* nested */ */ 1 -- end", "1"},
		{"SELECT 'open", "error 105"},
		{"SELECT 1 /* open", "error 113"},
		{"SELECT 1 FROM", "error 102"},
		{"SELECT 1 2", "error 102"},
		{"SELECT nowhere FROM items", "error 207"},
		{"SELECT id FROM items AS a CROSS JOIN items AS b", "error 209"},
		{"SELECT 1 FROM nowhere", "error 208"},
		{"SELECT @nowhere", "error 137"},
		{"INSERT INTO items VALUES (4, N'four')", "error 229"},
		{"CREATE TABLE t (n int)", "error 262"},
		{"DROP TABLE items", "error 3701"},
		{"SELECT SOUNDEX('x')", unknown},
		{"SELECT 1.5 * 2", unknown},
		{"SELECT id INTO t FROM items", "error 102"},
		{"SELECT * FROM items FOR JSON AUTO", unknown},
		{"EXEC sp_who", unknown},
		{"DBCC CHECKDB", unknown},
		{"SET SHOWPLAN_TEXT 1", "error 102"},
		{"SET NOTHING ON", unknown},
		{"SET LANGUAGE Deutsch", unknown},
		{"SELECT 1 WHERE EXISTS (SELECT 1)", "error 102"},
	} {
		t.Run(c.text, func(t *testing.T) {
			if got := ask(t, db, c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestUnmodelledIsAnError checks that the server answers an unknown statement
// with an error whose number no SQL Server uses.
func TestUnmodelledIsAnError(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{})
	_, err := open(t, trusted(s)).ExecContext(t.Context(), "BACKUP DATABASE shop TO DISK = N'x'")
	e, ok := errors.AsType[mssql.Error](err)
	if !ok || e.Number < 1<<30 || !strings.Contains(e.Message, "does not model") {
		t.Errorf("error %v", err)
	}
}

// TestChanges checks that an account with the permission can change tables, and
// that a transaction keeps or undoes its changes.
func TestChanges(t *testing.T) {
	s := tdsserver.Start(t, tdsserver.Config{Accounts: []tdsserver.Account{tdsserver.Owner}})
	db := single(t, s)
	for _, c := range []struct{ text, want string }{
		{"BEGIN TRAN; INSERT INTO items VALUES (4, N'four'), (5, NULL); UPDATE items SET name = N'x' WHERE id = 1; SELECT id, name FROM items", "1 x|2 two|3 three|4 four|5 <nil>"},
		{"SELECT COUNT(*) FROM items", "3"}, // the driver has reset the session
		{"BEGIN TRAN; DELETE FROM items; COMMIT; SELECT COUNT(*) FROM items", "0"},
		{"CREATE TABLE dbo.t (n int NOT NULL, s nvarchar(10)); INSERT INTO t VALUES (1, N'a'); SELECT * FROM t", "1 a"},
		{"CREATE TABLE t (n int)", "error 2714"},
		{"BEGIN TRAN; DROP TABLE t; ROLLBACK; SELECT n FROM t", "1"},
		{"INSERT INTO t VALUES (1)", "error 213"},
		{"SET XACT_ABORT ON; BEGIN TRAN; DELETE FROM t; SELECT 1 / 0; COMMIT", "error 8134"},
		{"SELECT COUNT(*), @@TRANCOUNT FROM t", "1 0"},
		{"SET IMPLICIT_TRANSACTIONS ON; SELECT 1 AS n; SELECT n FROM t; DECLARE @n int = @@TRANCOUNT; ROLLBACK; SELECT @n", "1"},
	} {
		if got := ask(t, db, c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	var undone, kept int
	for _, w := range s.Writes() {
		if w.Undone {
			undone++
		} else {
			kept++
		}
	}
	if undone != 4 || kept != 3 {
		t.Errorf("%d changes undone, %d kept; want 4 and 3: %+v", undone, kept, s.Writes())
	}
}
