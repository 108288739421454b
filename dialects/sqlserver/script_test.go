package sqlserver_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestDivide: each | marks the start of another statement without a semicolon.
func TestDivide(t *testing.T) {
	for _, script := range []string{
		"SET NOCOUNT ON | SELECT a FROM t | DELETE FROM t",
		"USE shop | SELECT 1 | USE [other] | EXEC sp_who 'a', @b = 2 | SELECT 2",
		"DECLARE @a int = 1, @b int | SET @a = CASE WHEN @b = 1 THEN 2 ELSE 3 END | SELECT @a | PRINT 'x'",
		"IF EXISTS (SELECT 1 FROM t) | DELETE FROM t | ELSE | INSERT INTO t (a) SELECT a FROM u | SELECT 2",
		"IF @a = 1 AND @b IS NOT NULL | BEGIN | UPDATE t SET a = 1 FROM t JOIN u ON t.a = u.a WHERE b = 2 | SET @a = 2 | END | SELECT 1",
		"BEGIN TRAN | INSERT t VALUES (1), (DEFAULT) | SELECT 1 | INSERT t DEFAULT VALUES | EXEC p | INSERT INTO t EXEC p 1 | COMMIT TRAN",
		"BEGIN TRY | DROP TABLE IF EXISTS t | END TRY | BEGIN CATCH | ROLLBACK | END CATCH",
		"DROP TABLE t | IF EXISTS (SELECT 1 FROM u) | DROP TABLE u",
		"WHILE 1 = 1 | BEGIN | BREAK | END | SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 3 | SELECT 4",
		"WITH x AS (SELECT 1 AS a) SELECT a FROM x | DELETE FROM t",
		"WITH x AS (SELECT 1 AS a) INSERT INTO t SELECT a FROM x | SELECT 1",
		"WITH x AS (SELECT 1 AS a) UPDATE x SET a = 2 | SELECT 1",
		"DECLARE c CURSOR LOCAL FOR SELECT a FROM t FOR UPDATE OF a | OPEN c | FETCH NEXT FROM c INTO @a | CLOSE c | DEALLOCATE c",
		"SELECT a FROM t ORDER BY a OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY | FETCH NEXT FROM c",
		"ALTER TABLE t ALTER COLUMN a int NULL | ALTER TABLE t DROP COLUMN IF EXISTS a | DROP TABLE u",
		"ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (a) ON DELETE SET NULL ON UPDATE CASCADE | SELECT 1",
		"ALTER DATABASE d SET SINGLE_USER WITH ROLLBACK IMMEDIATE | SET LOCK_TIMEOUT 5 | SELECT 1",
		"GRANT SELECT, UPDATE, EXECUTE ON t TO u WITH GRANT OPTION | DENY DELETE ON t TO u | REVOKE GRANT OPTION FOR SELECT ON t FROM u | SELECT 1",
		"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1) WHEN NOT MATCHED BY SOURCE THEN DELETE | SELECT 1",
		"SELECT a FROM t INNER MERGE JOIN u ON t.a = u.a | SELECT 1",
		"BULK INSERT t FROM 'x' | SELECT 1",
		"CREATE VIEW v AS SELECT a FROM t | SELECT 1",
		"CREATE OR ALTER VIEW v AS SELECT a FROM t",
		"CREATE PROCEDURE p AS SELECT 1 DELETE FROM t; DELETE FROM u",
		"CREATE OR ALTER FUNCTION f () RETURNS int AS BEGIN RETURN 1 END SELECT 1",
		"ALTER TRIGGER g ON t AFTER INSERT, UPDATE AS DELETE FROM u",
		"again: | SELECT 1 | GOTO again",
		"EXECUTE AS USER = 'x' | SELECT 1 | REVERT",
		"SELECT a AS [delete], 'drop table t' AS b, t.[set] FROM t -- update t set a = 1\n",
		"SELECT (SELECT 1 DELETE FROM t) AS a",
		"SELECT 1 /* ; */ | SELECT 2",
		"INSERT INTO t | DELETE FROM u",
		"SELECT a, DELETE FROM t",
		"SELECT 1 UNION DELETE FROM t",
	} {
		var want []string
		for part := range strings.SplitSeq(script, "|") {
			want = append(want, trimmed(part))
		}
		text := strings.ReplaceAll(script, "| ", "")
		if diff := cmp.Diff(want, divided(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestDivideBlocks: between BEGIN and END semicolons end statements too.
func TestDivideBlocks(t *testing.T) {
	want := []string{"BEGIN", "DELETE FROM t", "x", "SELECT 1", "END"}
	if diff := cmp.Diff(want, divided("BEGIN DELETE FROM t; x; ;SELECT 1; END")); diff != "" {
		t.Error(diff)
	}
}

func divided(text string) []string {
	var got []string
	for _, span := range (sqlserver.Dialect{}).Divide(text) {
		got = append(got, trimmed(text[span.Start:span.End]))
	}
	return got
}

// trimmed is a piece without the comments around it.
func trimmed(piece string) string {
	piece = strings.TrimSpace(piece)
	piece, _, _ = strings.Cut(piece, " -- ")
	return strings.TrimSuffix(piece, " /* ; */")
}

// scriptWords are the words from which the tests build texts.
var scriptWords = strings.Fields(`
	SELECT INSERT UPDATE DELETE MERGE DROP ALTER CREATE GRANT SET USE EXEC IF ELSE BEGIN END CASE WHEN THEN WHILE DECLARE FETCH
	INTO FROM VALUES WITH AS FOR ON TO UNION ALL OPTION EXISTS JOIN OR TABLE PROCEDURE TRAN a t x [y] 1 'z' @v ( ) , . ; : = * /**/`)

// TestDividedTextsAreRefusedOnceMore: if the guard refuses a text, it must also refuse at
// least one of the pieces. The pieces must contain every token of the text. A text that
// the guard allows must be one piece.
func TestDividedTextsAreRefusedOnceMore(t *testing.T) {
	guard := newGuard(t)
	r := rand.New(rand.NewPCG(5, 6))
	divisions := 0
	for range 20_000 {
		var words []string
		for range 1 + r.IntN(14) {
			words = append(words, scriptWords[r.IntN(len(scriptWords))])
		}
		text := strings.Join(words, " ")
		for _, span := range sqlguard.Split(sqlserver.Dialect{}, text) {
			judge(t, guard, text[span.Start:span.End], &divisions)
		}
	}
	if divisions < 1000 {
		t.Errorf("only %d texts were divided", divisions)
	}
}

func judge(t *testing.T, guard *sqlguard.Guard, text string, divisions *int) {
	t.Helper()
	spans := (sqlserver.Dialect{}).Divide(text)
	end := 0
	for _, span := range append(slices.Clone(spans), sqlguard.Span{Start: len(text), End: len(text)}) {
		between := (sqlserver.Dialect{}).Lex(text[end:max(span.Start, end)])
		if span.Start < end || slices.ContainsFunc(between.List, func(t sqlguard.Token) bool {
			return t.Kind != sqlguard.TokenComment && text[end+t.Start:end+t.End] != ";"
		}) {
			t.Fatalf("%q: %v", text, spans)
		}
		end = span.End
	}
	if len(spans) < 2 {
		return
	}
	*divisions++
	whole := guard.Check(text)
	if whole.Allowed {
		t.Errorf("%q is allowed, but Divide splits it: %v", text, spans)
	}
	for _, span := range spans {
		if !guard.Check(text[span.Start:span.End]).Allowed {
			return
		}
	}
	if whole.Code != sqlguard.CodeMultipleStatements {
		t.Errorf("%q is refused with %s, but all its pieces are allowed: %v", text, whole.Code, spans)
	}
}
