package mysql_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

func seedFuzz(f *testing.F) {
	f.Helper()
	for _, c := range readVerdicts(f) {
		f.Add(c.sql)
	}
	for _, s := range shapes {
		f.Add(s.text(3))
	}
	for _, sql := range []string{"\x00", "SELECT 1\x00; DROP TABLE t", "\xff", "'\xff'", "\uFEFFSELECT 1", "SELECT\u00a01", "\v", "SELECT '\v'", "DELIMITER", "delimiter ;;\nSELECT 1;;", "SELECT @@", "SELECT @", "SELECT `", "SELECT x'", "SELECT 0x", "SELECT b'2'"} {
		f.Add(sql)
	}
}

// FuzzLex holds that the tokens are in order, within the text, apart from each
// other, and leave out white space only.
func FuzzLex(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		for _, token := range (mysql.Dialect{}).Lex(sql).List {
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

// FuzzAnalyze holds that no text that the screen lets through makes the reader
// panic, and that what it returns lies within the text.
func FuzzAnalyze(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) {
		if !utf8.ValidString(sql) || strings.Contains(sql, "\x00") {
			return
		}
		for _, d := range []mysql.Dialect{{}, mysql.MariaDB} {
			statements, err := d.Analyze(sql)
			if err != nil {
				if syntax, ok := err.(*sqlguard.SyntaxError); !ok || syntax.Offset < 0 || syntax.Offset > len(sql) { //nolint:errorlint // the interface promises this very type
					t.Fatalf("%q: %#v", sql, err)
				}
				continue
			}
			for _, st := range statements {
				inside(t, sql, st.Span)
				for _, f := range st.Effects {
					inside(t, sql, f.Span)
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
				for _, s := range st.Settings {
					inside(t, sql, s.Span)
				}
			}
		}
	})
}

func inside(t *testing.T, sql string, s sqlguard.Span) {
	t.Helper()
	if s.Start < 0 || s.End < s.Start || s.End > len(sql) {
		t.Fatalf("%q: span %v", sql, s)
	}
}

// FuzzCheck holds that a verdict is the same every time, and that only an
// allowed text is approved.
func FuzzCheck(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, sql string) {
		g := newGuard(t, mysql.Dialect{})
		v := g.Check(sql)
		if again := newGuard(t, mysql.Dialect{}).Check(sql); !reflect.DeepEqual(v, again) {
			t.Fatalf("%q: %+v, then %+v", sql, v, again)
		}
		if v.Code == sqlguard.CodeInternalError {
			t.Fatalf("%q: %+v", sql, v.Findings)
		}
		if _, err := g.Approve(sql); (err == nil) != v.Allowed {
			t.Fatalf("%q: allowed is %v, approving it: %v", sql, v.Allowed, err)
		}
		if v.Allowed && !utf8.ValidString(sql) {
			t.Fatalf("%q is allowed", sql)
		}
	})
}
