package dialects_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestAllIsSortedAndFound(t *testing.T) {
	all := dialects.All()
	if !slices.IsSortedFunc(all, func(a, b sqlguard.Dialect) int { return strings.Compare(a.Name(), b.Name()) }) {
		t.Error("the list is not sorted by name")
	}
	for _, d := range all {
		found, ok := dialects.Lookup(d.Name())
		if !ok || found.Name() != d.Name() {
			t.Errorf("Lookup(%q) = %v, %v", d.Name(), found, ok)
		}
		if d.Version() == "" {
			t.Errorf("%s: no version", d.Name())
		}
	}
	if _, ok := dialects.Lookup("sql"); ok {
		t.Error("Lookup finds a dialect that does not exist")
	}
}

// TestContract checks that every dialect keeps the promises of the interface.
func TestContract(t *testing.T) {
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				t.Fatal(err)
			}
			// CheckOnce must give the same verdict as Check, also with reused lists of
			// tokens.
			judge := func(sql string) sqlguard.Verdict {
				v, once := g.Check(sql), g.CheckOnce(sql)
				if v.Allowed {
					once.Normalized, once.Fingerprint = v.Normalized, v.Fingerprint
				}
				if !reflect.DeepEqual(v, once) {
					t.Errorf("%q: CheckOnce says %+v, Check %+v", sql, once, v)
				}
				return v
			}
			for _, sql := range []string{"SELECT 1", "select a, count(*) from t group by a;", "WITH x AS (SELECT 1 AS n) SELECT n FROM x"} {
				if v := judge(sql); !v.Allowed {
					t.Errorf("%s: refused: %+v", sql, v.Findings)
				}
			}
			for sql, code := range map[string]sqlguard.Code{
				"":                    sqlguard.CodeEmptyStatement,
				"-- nothing":          sqlguard.CodeEmptyStatement,
				"SELECT 1; SELECT 2":  sqlguard.CodeMultipleStatements,
				"SELECT FROM FROM":    sqlguard.CodeParseError,
				"DELETE FROM t":       sqlguard.CodeWriteStatement,
				"CREATE TABLE t (a)":  "",
				"DROP TABLE t":        sqlguard.CodeDDLStatement,
				"SELECT no_such_f(1)": sqlguard.CodeFunctionNotAllowed,
				"SELECT 'a":           "",
			} {
				v := judge(sql)
				if v.Allowed || code != "" && v.Code != code {
					t.Errorf("%q: allowed %v, code %q, want refused with %q", sql, v.Allowed, v.Code, code)
				}
			}
			for _, sql := range []string{"", "'", `"`, "/*", "--", "$", "$$", "\\", "a.b.c", "1e", "x'", "((((", "é\xff\x00"} {
				dialecttest.CheckTokens(t, d, sql, "")
			}
		})
	}
}
