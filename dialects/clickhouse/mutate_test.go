package clickhouse_test

import (
	"slices"
	"testing"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
)

// attacks are statements that are refused, for mutations.
var attacks = []string{
	"INSERT INTO t SELECT 1", "INSERT INTO FUNCTION file('a.csv') SELECT 1", "ALTER TABLE t DELETE WHERE 1", "DROP TABLE t", "CREATE TABLE t (a Int8) ENGINE = Memory",
	"SELECT 1 PARALLEL WITH DROP TABLE t", "SELECT 1; DROP TABLE t", "SELECT * FROM t INTO OUTFILE 'a' FORMAT CSV", "SELECT 1 SETTINGS readonly = 0, max_threads = 1",
	"SELECT * FROM url('http://a', CSV)", "SELECT file('/etc/passwd')", "SET readonly = 0", "SYSTEM SHUTDOWN", "KILL QUERY WHERE 1", "EXPLAIN AST DROP TABLE t",
	"SELECT dictGet('d', 'a', 1)", "SELECT * FROM system.users", "GRANT ALL ON *.* TO u", "TRUNCATE TABLE t", "OPTIMIZE TABLE t FINAL", "RENAME TABLE a TO b", "USE d",
	"SELECT in(1, system.users)", "SELECT {a:UInt8}", "DELETE FROM t WHERE 1", "UPDATE t SET a = 1 WHERE 1", "WITH 1 AS x INSERT INTO t SELECT x", "SELECT $a$ $a$ /* */ -- x",
}

func newMutator(tb testing.TB, seed uint64, more ...string) *dialecttest.Mutator {
	tb.Helper()
	style := dialecttest.Style{
		Quotes: "\"'`", Requote: []string{`"@"`, "'@'", "`@`", "$$@$$", "/*@*/", "x'@'", "--@\n", "{@:UInt8}", "@$"}, Separators: []string{"", "\n", "/**/"},
	}
	return dialecttest.NewMutator(clickhouse.Dialect{}, style, slices.Concat(reads(tb), attacks, unread, more), seed)
}

// TestMutations checks what every dialect promises on mutations of reads and attacks.
func TestMutations(t *testing.T) {
	allowed := 0
	texts := newMutator(t, 1).Each(t, 300_000, func(sql string) {
		dialecttest.CheckTokens(t, clickhouse.Dialect{}, sql, "")
		dialecttest.CheckFacts(t, clickhouse.Dialect{}, sql)
		if dialecttest.CheckVerdict(t, clickhouse.Dialect{}, sql).Allowed {
			allowed++
		}
	})
	t.Logf("%d texts, %d allowed", texts, allowed)
	if allowed < texts/100 {
		t.Errorf("%d of %d statements are allowed, which is too few for this test", allowed, texts)
	}
}
