package sqlserver_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// statementStarts are the words with which a statement of Transact-SQL begins,
// from the reference's pages Transact-SQL statements and Control-of-Flow.
const statementStarts = `
	ADD ALTER BACKUP BEGIN BREAK BULK CHECKPOINT CLOSE COMMIT CONTINUE COPY CREATE DBCC DEALLOCATE DECLARE DELETE DENY
	DISABLE DROP ELSE ENABLE END EXEC EXECUTE FETCH GET GOTO GRANT IF INSERT KILL MERGE MOVE OPEN PRINT RAISERROR READTEXT
	RECEIVE RECONFIGURE RENAME RESTORE RETURN REVERT REVOKE ROLLBACK SAVE SEND SET SETUSER SHUTDOWN THROW TRUNCATE UPDATE
	UPDATETEXT USE WAITFOR WHILE WRITETEXT DISK DUMP LINENO LOAD`

// TestStatementTable checks that the table lists every statement except SELECT and WITH,
// each with a code, and nothing else.
func TestStatementTable(t *testing.T) {
	want := strings.Fields(strings.ToLower(statementStarts))
	slices.Sort(want)
	if got := sqlserver.StatementKeywords(); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	second := map[string]string{
		"copy": "into", "enable": "trigger", "disable": "trigger", "rename": "object", "send": "on", "get": "conversation", "move": "conversation",
	}
	g := newGuard(t)
	for _, word := range want {
		for _, tail := range []string{"", " x", " (x)", " x y z", "; SELECT 1"} {
			sql := strings.TrimSpace(strings.ToUpper(word) + " " + second[word] + tail)
			v := g.Check(sql)
			if v.Allowed || v.Code == sqlguard.CodeParseError || v.Code == "" || v.Verb == sqlguard.VerbSelect {
				t.Errorf("%s: %v %s, verb %q", sql, v.Allowed, v.Code, v.Verb)
			}
			// After a query, the same words are a second statement or not valid SQL.
			for _, query := range []string{"SELECT 1 ", "SELECT a FROM t ", "SELECT a FROM t WHERE a = 1 ", "SELECT a FROM t ORDER BY a ", "WITH x AS (SELECT 1 AS a) SELECT a FROM x "} {
				if v := g.Check(query + sql); v.Allowed && sqlserver.ReservedWord(word) {
					t.Errorf("%s is allowed", query+sql)
				}
			}
		}
	}
}

var (
	wordCall    = regexp.MustCompile(`\.(?:is|isAny|accept|acceptAll|expect|followed|spells)\(([^()]*)\)`)
	wordLiteral = regexp.MustCompile(`"([a-z_0-9]+)"`)
	production  = regexp.MustCompile(`(?m)((?:^//.*\n)*)^func \(p \*parser\) (\w+)\(`)
)

// TestBareNames checks that a name at the start of a statement is read as a procedure or a
// label, in every notation.
func TestBareNames(t *testing.T) {
	g := newGuard(t)
	for sql, want := range map[string]sqlguard.Code{
		"sp_who":                            sqlguard.CodeProcedureCall,
		"sp_who 1, 'a', @b OUTPUT":          sqlguard.CodeProcedureCall,
		".sp_who":                           sqlguard.CodeProcedureCall,
		"..sp_who 'a'":                      sqlguard.CodeProcedureCall,
		"/* a */..[sp_who]/* b */\"c\"":     sqlguard.CodeProcedureCall,
		"master..xp_cmdshell 'dir'":         sqlguard.CodeProcedureCall,
		"[a]].b] . \"c\"":                   sqlguard.CodeProcedureCall,
		"srv.db.dbo.p;1":                    sqlguard.CodeMultipleStatements,
		"#temp":                             sqlguard.CodeProcedureCall,
		"throw_ball":                        sqlguard.CodeProcedureCall,
		"selec 1":                           sqlguard.CodeProcedureCall,
		"show tables":                       sqlguard.CodeProcedureCall,
		"describe t":                        sqlguard.CodeProcedureCall,
		"explain select 1":                  sqlguard.CodeProcedureCall,
		"copy of":                           sqlguard.CodeProcedureCall,
		"enable x":                          sqlguard.CodeProcedureCall,
		"sys.sp_executesql N'DROP TABLE t'": sqlguard.CodeDynamicSQL,
		"[SP_ExecuteSQL] @s":                sqlguard.CodeDynamicSQL,
		"ｓｐ_ｅｘｅｃｕｔｅｓｑｌ N'x'": sqlguard.CodeDynamicSQL,
		"again: SELECT 1": sqlguard.CodeMultipleStatements,
		"@p":              sqlguard.CodeParseError,
		"'sp_who'":        sqlguard.CodeParseError,
		"1":               sqlguard.CodeParseError,
		"VALUES (1)":      sqlguard.CodeParseError,
		"TABLE t":         sqlguard.CodeParseError,
		".":               sqlguard.CodeParseError,
	} {
		v := g.Check(sql)
		if v.Allowed || v.Code != want {
			t.Errorf("%s: allowed %v, %q, want %q: %v", sql, v.Allowed, v.Code, want, v.Findings)
		}
	}
}

// TestExecute distinguishes the forms of EXECUTE.
func TestExecute(t *testing.T) {
	g := newGuard(t)
	for sql, want := range map[string]sqlguard.Code{
		"EXEC p":                  sqlguard.CodeProcedureCall,
		"EXECUTE dbo.p 1":         sqlguard.CodeProcedureCall,
		"EXEC @r = p":             sqlguard.CodeProcedureCall,
		"EXEC srv.db.dbo.p":       sqlguard.CodeProcedureCall,
		"EXEC ('x')":              sqlguard.CodeDynamicSQL,
		"EXEC('x' + @y) AT srv":   sqlguard.CodeDynamicSQL,
		"EXECUTE (@x)":            sqlguard.CodeDynamicSQL,
		"EXEC @p":                 sqlguard.CodeDynamicSQL,
		"EXEC @r = @p":            sqlguard.CodeDynamicSQL,
		"EXEC 'p'":                sqlguard.CodeDynamicSQL,
		"EXEC sp_executesql N'x'": sqlguard.CodeDynamicSQL,
		"EXEC @r = master.sys.[sp_executesql] N'x'": sqlguard.CodeDynamicSQL,
		"EXEC ..sp_executesql N'x'":                 sqlguard.CodeDynamicSQL,
		"EXEC/**/SP_EXECUTESQL/**/N'x'":             sqlguard.CodeDynamicSQL,
		"EXECUTE AS USER = 'dbo'":                   sqlguard.CodeSessionChange,
		"EXEC AS LOGIN = 'sa'":                      sqlguard.CodeSessionChange,
		"EXEC":                                      sqlguard.CodeProcedureCall,
	} {
		if v := g.Check(sql); v.Allowed || v.Code != want {
			t.Errorf("%s: allowed %v, %q, want %q", sql, v.Allowed, v.Code, want)
		}
	}
}

// TestWordsOfTheGrammar checks that the lexer knows every word that a production asks for,
// and no other word.
func TestWordsOfTheGrammar(t *testing.T) {
	asked := map[string]bool{}
	for _, call := range wordCall.FindAllStringSubmatch(dialecttest.Source(t, "."), -1) {
		for _, literal := range wordLiteral.FindAllStringSubmatch(call[1], -1) {
			asked[literal[1]] = true
		}
	}
	if len(asked) < 150 {
		t.Errorf("only %d words found in the source", len(asked))
	}
	for text := range asked {
		if !sqlserver.KnownWord(text) {
			t.Errorf("a production asks for %q, which the lexer does not know", text)
		}
	}
	for _, text := range sqlserver.StatementKeywords() {
		if !sqlserver.KnownWord(text) {
			t.Errorf("the statement %q begins with a word that the lexer does not know", text)
		}
		asked[text] = true
	}
	for _, text := range sqlserver.TableWords() {
		if !sqlserver.KnownWord(text) {
			t.Errorf("a table has %q, which the lexer does not know", text)
		}
		asked[text] = true
	}
	for _, text := range sqlserver.WordsOfContext() {
		if !asked[text] {
			t.Errorf("no production asks for %q", text)
		}
		if len(text) > sqlserver.LongestWord {
			t.Errorf("%q is longer than the longest word", text)
		}
	}
}

// TestRefusedConstructs checks that every construct of the table is refused in every
// position in which it can occur.
func TestRefusedConstructs(t *testing.T) {
	texts := map[string][]string{
		"into":           {"SELECT a INTO x FROM t", "SELECT 1 a INTO #x", "WITH c AS (SELECT 1 a) SELECT a INTO dbo.x FROM c", "SELECT a INTO x FROM t UNION SELECT 1"},
		"variable":       {"SELECT @a", "SELECT a FROM @t", "SELECT TOP (@n) a FROM t", "SELECT TOP @n a FROM t", "SELECT a FROM t WHERE b = @b", "SELECT @x.value('/a', 'int')", "SELECT * FROM @x.nodes('/a') AS n(c)", "SELECT a FROM t ORDER BY a OFFSET @o ROWS"},
		"assignment":     {"SELECT @a = 1", "SELECT @a += 1", "SELECT @a = b FROM t"},
		"dml in from":    {"SELECT * FROM (DELETE FROM t OUTPUT deleted.a) AS x", "SELECT * FROM u JOIN (MERGE t USING u ON 1=1 WHEN MATCHED THEN DELETE OUTPUT $action) AS x ON 1=1"},
		"dml in with":    {"WITH x AS (INSERT INTO t OUTPUT inserted.a VALUES (1)) SELECT * FROM x", "WITH a AS (SELECT 1 b), x AS (UPDATE t SET a = 1) SELECT * FROM x"},
		"next value for": {"SELECT NEXT VALUE FOR dbo.s", "SELECT a, NEXT VALUE FOR s OVER (ORDER BY a) FROM t", "SELECT * FROM (SELECT NEXT VALUE FOR s AS a) AS x"},
		"for update":     {"SELECT a FROM t FOR UPDATE", "SELECT a FROM t FOR UPDATE OF a, b"},
		"odbc call":      {"SELECT {call p}", "SELECT {call p(1)}"},
		"compute":        {"SELECT a FROM t ORDER BY a COMPUTE SUM(a)", "SELECT a FROM t COMPUTE SUM(a) BY a"},
	}
	g := newGuard(t)
	for _, construct := range sqlserver.RefusedConstructs() {
		if len(texts[construct]) == 0 {
			t.Errorf("no text has the construct %q", construct)
		}
		for _, sql := range texts[construct] {
			if v := g.Check(sql); v.Allowed || v.Code != sqlserver.ConstructCode(construct) {
				t.Errorf("%s: allowed %v, code %q %v", sql, v.Allowed, v.Code, v.Findings)
			}
		}
	}
}

// TestProductionsNameTheirPage checks that every method of the parser names the page of the
// reference that it implements, except methods that read no syntax.
func TestProductionsNameTheirPage(t *testing.T) {
	helpers := strings.Fields(`
		accept acceptAll acceptMark acceptSign argumentsOf assigns atEdge atForeignFetch atFrame atGlobal atName atNullOption atOldHints atPseudo
		atWindowClause brackets compared composite demand endOfStatement enter excess expect expectMark fail failAt followed forbid foreign
		found here integer is isAny leave list literalArguments load mark markOf next number numbers operator peek plainColumn
		qualifiedStar refine refuse refuseHint refused since sizedArguments skipBrackets skipEscape skipStatement skipToClose
		stringLiteral target text wordName`)
	named := 0
	for _, method := range production.FindAllStringSubmatch(dialecttest.Source(t, "."), -1) {
		switch comment, name := method[1], method[2]; {
		case strings.Contains(comment, "Reference:"):
			named++
		case !slices.Contains(helpers, name):
			t.Errorf("%s names no page of the reference", name)
		}
	}
	if named < 90 {
		t.Errorf("only %d productions name their page", named)
	}
}
