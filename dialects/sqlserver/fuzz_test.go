package sqlserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// cases returns the cases of the corpus without the long ones.
func cases(tb testing.TB) []corpus.Case {
	tb.Helper()
	return slices.DeleteFunc(dialecttest.Cases(tb, "sqlserver"), func(c corpus.Case) bool { return len(c.SQL) >= 4000 })
}

func seedFuzz(f *testing.F) {
	f.Helper()
	for _, c := range cases(f) {
		f.Add(c.SQL)
	}
	for _, s := range shapes {
		f.Add(s.Text(3))
	}
}

func FuzzLex(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckTokens(t, sqlserver.Dialect{}, sql, "") })
}

func FuzzAnalyze(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { dialecttest.CheckFacts(t, sqlserver.Dialect{}, sql) })
}

func FuzzCheck(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { check(t, sql) })
}

// check judges a statement and reports whether it is allowed. It checks the contract of
// every guard. It also checks that in an allowed statement, words that can begin a
// statement occur only as names.
func check(t *testing.T, sql string) bool {
	t.Helper()
	if !dialecttest.CheckVerdict(t, sqlserver.Dialect{}, sql).Allowed {
		return false
	}
	if fault := suspicious(sql); fault != "" {
		t.Fatalf("%q is allowed: %s", sql, fault)
	}
	return true
}

// suspicious checks an allowed statement a second time, without a grammar. It looks for
// unquoted words that a read can have only as names after a dot.
func suspicious(sql string) string {
	tokens := sqlserver.Dialect{}.Lex(sql).List
	previous := sqlguard.Token{}
	for i, t := range tokens {
		if t.Kind == sqlguard.TokenComment {
			continue
		}
		next := ""
		for _, n := range tokens[i+1:] {
			if n.Kind != sqlguard.TokenComment {
				next = n.Text(sql)
				break
			}
		}
		if t.Kind == sqlguard.TokenWord {
			word := strings.ToLower(t.Text(sql))
			switch word {
			case "insert", "update", "delete", "merge", "truncate", "create", "alter", "drop", "grant", "revoke", "deny", "exec",
				"execute", "into", "set", "use", "declare", "begin", "commit", "rollback", "save", "backup", "restore", "kill",
				"shutdown", "reconfigure", "checkpoint", "dbcc", "bulk", "waitfor", "print", "raiserror", "return", "goto",
				"while", "if", "openrowset", "openquery", "opendatasource", "openxml", "writetext", "updatetext", "readtext",
				"setuser", "revert", "deallocate", "procedure", "trigger":
				odbc := word == "insert" && strings.EqualFold(previous.Text(sql), "fn")
				hint := word == "use" && strings.EqualFold(next, "hint")
				join := word == "merge" && (strings.EqualFold(next, "join") || strings.EqualFold(next, "union"))
				if !odbc && !join && !hint {
					return "the word " + word
				}
			}
		}
		if t.Kind == sqlguard.TokenParameter || t.Kind == sqlguard.TokenInvalid || t.Kind == sqlguard.TokenUnterminated || t.Kind == sqlguard.TokenClientCommand {
			return "the token " + t.Text(sql)
		}
		previous = t
	}
	return ""
}
