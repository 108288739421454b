package sqlguard_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlguard"
)

// FuzzScreen fuzzes the screen and the verdict, with a reader that allows everything
// that reaches it. It checks that nothing panics, that two guards give the same
// verdict, that Approve succeeds exactly when Check allows, and that each finding lies
// in the statement.
func FuzzScreen(f *testing.F) {
	for _, seed := range []string{
		"", "SELECT 1", "SELECT 'a;b' /* c */ -- d", "SELECT\v1", "\uFEFFSELECT 1", "SELECT '\x00'", "SELECT \xff", "a\rb", "/*! x */", `\g`,
		"((((", "))))", "CASE CASE WHEN END END END", "AS case AS end", "BETWEEN AND BETWEEN AND AND", "'", `"`, "/*", "a.b.c[1][2]", "é\u202e\u00a0",
		"WITH a AS (SELECT 1), b AS NOT MATERIALIZED (SELECT 2) SELECT 1 UNION SELECT 2 JOIN c ON d",
	} {
		f.Add(seed)
	}
	g, err := sqlguard.New(selecting(nil), sqlguard.Policy{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	again, err := sqlguard.New(selecting(nil), sqlguard.Policy{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		v := g.Check(sql)
		if diff := cmp.Diff(v, again.Check(sql)); diff != "" {
			t.Fatalf("another guard gives another verdict: %s", diff)
		}
		if v.Allowed != (len(v.Findings) == 0) || v.Allowed != (v.Code == "") {
			t.Fatalf("inconsistent verdict: %+v", v)
		}
		if !utf8.ValidString(sql) && v.Allowed {
			t.Fatal("a statement that is not UTF-8 is allowed")
		}
		for _, finding := range v.Findings {
			if finding.Span.Start < 0 || finding.Span.End < finding.Span.Start || finding.Span.End > len(sql) || finding.Line < 1 || finding.Column < 1 {
				t.Fatalf("the finding lies outside of the statement: %+v", finding)
			}
		}
		a, err := g.Approve(sql)
		if (err == nil) != v.Allowed {
			t.Fatalf("Check says %v, Approve %v", v.Allowed, err)
		}
		if text, err := a.SQLFor(g.ID()); (err == nil) != v.Allowed || v.Allowed && text != sql {
			t.Fatalf("SQLFor returns %q, %v", text, err)
		}
		sqlguard.Split(selecting(nil), sql)
	})
}
