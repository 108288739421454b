package postgres_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// Lex never fails: its tokens are in order, do not overlap and leave out
// nothing but white space.
func FuzzLex(f *testing.F) {
	for _, sql := range statements() {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		gap := func(to int) {
			for _, c := range []byte(sql[end:to]) {
				switch c {
				case ' ', '\t', '\n', '\r', '\f', '\v':
				default:
					t.Fatalf("byte %q before %d is in no token", c, to)
				}
			}
		}
		for _, token := range (postgres.Dialect{}).Lex(sql).List {
			if token.Start < end || token.End <= token.Start || token.End > len(sql) {
				t.Fatalf("token %+v after %d of %d", token, end, len(sql))
			}
			gap(token.Start)
			end = token.End
		}
		gap(len(sql))
	})
}

// Check never panics, says the same of the same text, and points into it. It
// is fuzzed rather than Analyze: the screen keeps from the parser what could
// end the process.
func FuzzCheck(f *testing.F) {
	for _, sql := range statements() {
		f.Add(sql)
	}
	for _, sql := range mutations(statements(), 500, 3) {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		g := guard(t)
		v := g.Check(sql)
		if diff := cmp.Diff(v, guard(t).Check(sql)); diff != "" {
			t.Fatalf("two guards differ:\n%s", diff)
		}
		if v.Allowed != (len(v.Findings) == 0) || v.Allowed && (v.Statements != 1 || v.Verb == "") {
			t.Fatalf("verdict %+v", v)
		}
		for _, finding := range v.Findings {
			if finding.Code == sqlguard.CodeInternalError {
				t.Fatalf("%+v", finding)
			}
			if finding.Span.Start < 0 || finding.Span.Start > finding.Span.End || finding.Span.End > len(sql) || finding.Message == "" {
				t.Fatalf("finding %+v", finding)
			}
		}
		if v.Statements == 0 || !utf8.ValidString(sql) {
			return
		}
		statements, err := postgres.Dialect{}.Analyze(sql)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range statements {
			spans := []sqlguard.Span{st.Span}
			for _, r := range st.Relations {
				spans = append(spans, r.Span)
			}
			for _, c := range st.Calls {
				spans = append(spans, c.Span)
			}
			for _, c := range st.ColumnRefs {
				spans = append(spans, c.Span)
			}
			for _, ty := range st.Types {
				spans = append(spans, ty.Span)
			}
			for _, s := range spans {
				if s.Start < st.Span.Start || s.Start >= s.End || s.End > st.Span.End {
					t.Fatalf("span %+v of %q outside of its statement %+v", s, sql, st.Span)
				}
			}
		}
	})
}
