package sqlserver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// lines returns the lines of a file of testdata. Escapes are those of Go.
func lines(tb testing.TB, file string) []string {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(content)) {
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.TrimRight(line, "\n"), `"`, `\"`) + `"`)
		if err != nil {
			tb.Fatalf("%s: %s: %v", file, line, err)
		}
		out = append(out, text)
	}
	return out
}

// TestAttacks judges statements that try to deceive the parser, each with the code of its
// refusal.
func TestAttacks(t *testing.T) {
	g := newGuard(t)
	attacks := lines(t, "attacks.txt")
	if len(attacks) < 500 {
		t.Errorf("only %d texts", len(attacks))
	}
	for _, line := range attacks {
		code, sql, _ := strings.Cut(line, " ")
		sql = strings.TrimLeft(sql, " ")
		if v := g.Check(sql); v.Allowed || string(v.Code) != code {
			t.Errorf("%q: allowed %v, %q, want %q: %v", sql, v.Allowed, v.Code, code, v.Findings)
		}
	}
}

// TestReads judges queries that read and nothing else.
func TestReads(t *testing.T) {
	g := newGuard(t)
	reads := lines(t, "reads.txt")
	if len(reads) < 250 {
		t.Errorf("only %d texts", len(reads))
	}
	for _, sql := range reads {
		if v := g.Check(sql); !v.Allowed {
			t.Errorf("%q: %v", sql, v.Findings)
		}
	}
}

// ends are queries that end with a clause that could continue, or with a name after which
// an alias may follow.
var ends = []string{
	"SELECT 1", "SELECT 1 a", "SELECT 1 AS a", "SELECT a = 1", "SELECT 'a'", "SELECT a.b", "SELECT *", "SELECT TOP 1 a", "SELECT @@VERSION",
	"SELECT -1", "SELECT $1", "SELECT 0x", "SELECT N''", "SELECT [a]", "SELECT (1)", "SELECT GETDATE()", "SELECT CASE WHEN 1 = 1 THEN 2 END",
	"SELECT CAST(1 AS int)", "SELECT a COLLATE Latin1_General_CI_AS", "SELECT a AT TIME ZONE 'UTC'", "SELECT {fn NOW()}",
	"SELECT SUM(a) OVER w FROM t WINDOW w AS (ORDER BY a)", "SELECT SUM(a) OVER (ORDER BY a)", "SELECT LAG(a) IGNORE NULLS OVER (ORDER BY a)",
	"SELECT a FROM t", "SELECT a FROM t x", "SELECT a FROM t AS x", "SELECT a FROM s.t", "SELECT a FROM t WITH (NOLOCK)", "SELECT a FROM t (NOLOCK)",
	"SELECT a FROM t TABLESAMPLE (1 PERCENT)", "SELECT a FROM t TABLESAMPLE (1 ROWS) REPEATABLE (2)", "SELECT * FROM t FOR SYSTEM_TIME ALL",
	"SELECT * FROM t PIVOT (SUM(a) FOR b IN ([c])) p", "SELECT * FROM a JOIN b ON 1 = 1", "SELECT * FROM a CROSS JOIN b",
	"SELECT * FROM a CROSS APPLY (SELECT 1 AS b) c", "SELECT * FROM (VALUES (1)) v(a)", "SELECT * FROM (SELECT 1) AS d(a)", "SELECT * FROM OPENJSON('x')",
	"SELECT * FROM OPENJSON('x') WITH (a int)", "SELECT n.c.value('.', 'int') FROM t CROSS APPLY t.x.nodes('/a') n(c)", "SELECT f.a.STArea() FROM f",
	"SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b LIKE 'x' ESCAPE '!'", "SELECT a FROM t WHERE b IS NOT NULL",
	"SELECT a FROM t WHERE b BETWEEN 1 AND 2", "SELECT a FROM t WHERE EXISTS (SELECT 1)", "SELECT a FROM t WHERE b > ALL (SELECT 1)",
	"SELECT a FROM t WHERE CONTAINS(a, 'x')", "SELECT a FROM t GROUP BY a", "SELECT a FROM t GROUP BY a WITH ROLLUP", "SELECT a FROM t GROUP BY ROLLUP (a)",
	"SELECT a FROM t GROUP BY a HAVING 1 = 1", "SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER BY a OFFSET 1 ROWS",
	"SELECT a FROM t ORDER BY a OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY", "SELECT a FROM t FOR XML AUTO", "SELECT a FROM t FOR XML PATH(''), TYPE",
	"SELECT a FROM t FOR JSON PATH", "SELECT a FROM t OPTION (RECOMPILE)", "SELECT 1 UNION SELECT 2", "(SELECT 1)", "((SELECT 1) UNION (SELECT 2))",
	"WITH c AS (SELECT 1 AS a) SELECT a FROM c", "WITH XMLNAMESPACES ('u' AS p) SELECT 1 AS a FOR XML RAW", ";WITH c AS (SELECT 1 AS a) SELECT a FROM c",
	"SELECT 1;", "SELECT 1 -- x\n", "SELECT 1 /* x */",
}

// smuggled are statements, one for each beginning, in a form that needs no
// terminator before it.
var smuggled = []string{
	"ADD SIGNATURE TO p BY CERTIFICATE c", "ALTER TABLE t ADD x int", "BACKUP DATABASE d TO DISK = 'x'", "BEGIN SELECT 1 END", "BEGIN TRAN",
	"BEGIN TRY SELECT 1 END TRY BEGIN CATCH END CATCH", "BEGIN DIALOG CONVERSATION @h FROM SERVICE a TO SERVICE 'b'", "BREAK",
	"BULK INSERT t FROM 'x'", "CHECKPOINT", "CLOSE c", "COMMIT", "CONTINUE", "COPY INTO t FROM 'x'", "CREATE TABLE x (a int)",
	"DBCC CHECKDB", "DEALLOCATE c", "DECLARE @x int", "DELETE t", "DELETE FROM t", "DENY SELECT ON t TO u", "DISABLE TRIGGER ALL ON t", "DROP TABLE t",
	"DUMP DATABASE d", "ENABLE TRIGGER ALL ON t", "END CONVERSATION @h", "EXEC sp_who", "EXECUTE ('SELECT 1')", "EXEC @r = p 1", "FETCH NEXT FROM c",
	"GET CONVERSATION GROUP @g FROM q", "GOTO lbl", "GRANT SELECT ON t TO u", "IF 1 = 1 SELECT 1", "INSERT t VALUES (1)", "INSERT INTO t SELECT 1",
	"KILL 53", "LINENO 5", "LOAD DATABASE d", "MERGE t USING u ON 1 = 1 WHEN MATCHED THEN DELETE;", "MOVE CONVERSATION @h TO @g", "OPEN c",
	"OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'x'", "PRINT 'x'", "RAISERROR ('x', 16, 1) WITH LOG", "READTEXT t.c @p 0 1", "RECEIVE * FROM q",
	"RECEIVE TOP (1) * FROM q", "RECONFIGURE", "RESTORE DATABASE d", "RETURN", "REVERT", "REVOKE SELECT ON t FROM u", "ROLLBACK", "SAVE TRAN x",
	"SELECT 2", "SEND ON CONVERSATION @h ('x')", "SET ROWCOUNT 1", "SETUSER 'x'", "SHUTDOWN WITH NOWAIT", "SHUTDOWN", "THROW 51000, 'x', 1",
	"TRUNCATE TABLE t", "UPDATE t SET a = 1", "UPDATETEXT t.c @p 0 1 'x'", "USE master", "WAITFOR DELAY '0:0:9'", "WHILE 1 = 1 BREAK",
	"WITH c AS (SELECT 1 AS a) DELETE t", "WRITETEXT t.c @p 'x'", "lbl: SELECT 1", "(SELECT 2)", "{call sp_who}", "GO DROP TABLE t", "INTO x", "INTO #x FROM t",
}

// TestSmuggling puts every statement after every query, with different separators. None
// of the results is one query.
func TestSmuggling(t *testing.T) {
	g := newGuard(t)
	separators := []string{" ", "\n", "\t", ";", " ; ", "/**/", " --\n", "\r\n", "\f"}
	for _, end := range ends {
		if v := g.Check(end); !v.Allowed {
			t.Errorf("%s alone: %v", end, v.Findings)
		}
		for _, statement := range smuggled {
			for _, separator := range separators {
				sql := end + separator + statement
				if v := g.Check(sql); v.Allowed {
					t.Errorf("%q is allowed", sql)
				}
			}
		}
	}
}

// TestWordsAsAliases puts a statement after an alias that is a word of the grammar. The
// words alone are valid aliases.
func TestWordsAsAliases(t *testing.T) {
	g := newGuard(t)
	for _, word := range []string{
		"throw", "send", "receive", "get", "move", "enable", "disable", "copy", "rename", "label", "apply", "window", "path", "next", "first", "rows",
		"value", "values_", "output", "go_", "call", "conversation", "within", "ties", "ignore", "nulls", "hash", "loop", "[exec]", `"drop"`,
	} {
		for _, form := range []string{"SELECT 1 %s", "SELECT 1 AS %s", "SELECT a FROM t %s", "SELECT a FROM t AS %s", "SELECT a FROM (SELECT 1 AS a) %s"} {
			query := fmt.Sprintf(form, word)
			if v := g.Check(query); !v.Allowed {
				t.Errorf("%s: %v", query, v.Findings)
			}
			for _, statement := range smuggled {
				if v := g.Check(query + " " + statement); v.Allowed || v.Code == sqlguard.CodeInternalError {
					t.Errorf("%s %s: allowed %v, %s", query, statement, v.Allowed, v.Code)
				}
			}
		}
	}
}

// TestGluedStatements puts a statement directly after tokens that need no white space
// after them.
func TestGluedStatements(t *testing.T) {
	g := newGuard(t)
	for _, token := range []string{
		"1", "1.", ".5", "1.5", "1e", "1e5", "1e+", "1E-", "0x", "0x1", "0xf", "$", "$1", "$1.", "€5", "'a'", "N'a'", "''", "[a]", `"a"`, "(1)", "*",
		"{d '2024-01-01'}", "GETDATE()", "a.[b]", "1/**/", "1--\n",
	} {
		for _, statement := range smuggled {
			for _, form := range []string{"SELECT %s%s", "SELECT a FROM t WHERE a=%s%s", "SELECT a FROM t ORDER BY %s%s"} {
				sql := fmt.Sprintf(form, token, statement)
				if strings.Contains(sql, "0xDBCC ") || strings.Contains(sql, "0x1DBCC ") || strings.Contains(sql, "0xfDBCC ") {
					continue // all these letters are digits of the literal
				}
				if v := g.Check(sql); v.Allowed || v.Code == sqlguard.CodeInternalError {
					t.Errorf("%q: allowed %v, %s", sql, v.Allowed, v.Code)
				}
			}
		}
	}
}
