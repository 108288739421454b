package sqlserver_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// cases are the corpus's own, long ones left out.
func cases(tb testing.TB) []corpus.Case {
	tb.Helper()
	var out []corpus.Case
	for _, c := range corpus.Cases() {
		if c.Dialect == "sqlserver" && len(c.SQL) < 4000 {
			out = append(out, c)
		}
	}
	if len(out) < 500 {
		tb.Fatalf("only %d cases", len(out))
	}
	return out
}

func seedFuzz(f *testing.F) {
	f.Helper()
	for _, c := range cases(f) {
		f.Add(c.SQL)
	}
	for _, s := range shapes {
		f.Add(shape(s).text(3))
	}
}

// FuzzLex holds that the tokens are in order, within the text, apart from each
// other, and leave out white space only.
func FuzzLex(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		for _, token := range (sqlserver.Dialect{}).Lex(sql).List {
			if token.Start < end || token.End <= token.Start || token.End > len(sql) {
				t.Fatalf("%q: token %v after offset %d", sql, token, end)
			}
			if gap := sql[end:token.Start]; strings.Trim(gap, " \t\n\v\f\r") != "" {
				t.Fatalf("%q: %q is no token", sql, gap)
			}
			end = token.End
		}
		if gap := sql[end:]; strings.Trim(gap, " \t\n\v\f\r") != "" {
			t.Fatalf("%q: %q is no token", sql, gap)
		}
	})
}

// FuzzAnalyze holds that no text makes the reader panic, and that what it
// returns lies within the text.
func FuzzAnalyze(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { analyze(t, sql) })
}

// analyze reads a text without the guard's screen before it.
func analyze(t *testing.T, sql string) {
	t.Helper()
	statements, err := sqlserver.Dialect{}.Analyze(sql)
	if err != nil {
		if syntax, ok := err.(*sqlguard.SyntaxError); !ok || syntax.Offset < 0 || syntax.Offset > len(sql) || syntax.Message == "" { //nolint:errorlint // the interface promises this very type
			t.Fatalf("%q: %#v", sql, err)
		}
		return
	}
	end := 0
	for _, st := range statements {
		if st.Span.Start < end {
			t.Fatalf("%q: statement at %v, the one before ends at %d", sql, st.Span, end)
		}
		end = st.Span.End
		inside(t, sql, st.Span)
		for _, f := range st.Effects {
			inside(t, sql, f.Span)
			if f.Code == "" || f.Message == "" {
				t.Fatalf("%q: effect %+v", sql, f)
			}
		}
		for _, r := range st.Relations {
			inside(t, sql, r.Span)
		}
		for _, c := range st.Calls {
			inside(t, sql, c.Span)
		}
		for _, c := range st.ColumnRefs {
			inside(t, sql, c.Span)
		}
		for _, c := range st.Types {
			inside(t, sql, c.Span)
		}
		for _, c := range st.Settings {
			inside(t, sql, c.Span)
		}
	}
}

func inside(t *testing.T, sql string, s sqlguard.Span) {
	t.Helper()
	if s.Start < 0 || s.End < s.Start || s.End > len(sql) {
		t.Fatalf("%q: span %v", sql, s)
	}
}

// FuzzCheck holds that a verdict is the same every time, that only an allowed
// text is approved, and that every word of an allowed text that begins a
// statement stands where a name stands.
func FuzzCheck(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) { check(t, sql) })
}

// check judges a text and reports whether it is allowed.
func check(t *testing.T, sql string) bool {
	t.Helper()
	v := newGuard(t).Check(sql)
	if again := newGuard(t).Check(sql); !reflect.DeepEqual(v, again) {
		t.Fatalf("%q: %+v, then %+v", sql, v, again)
	}
	if v.Code == sqlguard.CodeInternalError {
		t.Fatalf("%q: %+v", sql, v.Findings)
	}
	if _, err := newGuard(t).Approve(sql); (err == nil) != v.Allowed {
		t.Fatalf("%q: allowed is %v, approving it: %v", sql, v.Allowed, err)
	}
	if !v.Allowed {
		return false
	}
	if fault := suspicious(sql); fault != "" || !utf8.ValidString(sql) {
		t.Fatalf("%q is allowed: %s", sql, fault)
	}
	return true
}

// suspicious is a second opinion on an allowed text that knows no grammar: it
// looks for unquoted words that no read has outside of names behind a dot.
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
