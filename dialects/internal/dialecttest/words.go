package dialecttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/sqlguard"
)

// Word is a statement that is refused, and what the refusal must say: the statement, a
// part of the message of a finding, a part of the hint of that finding, and the statement
// rewritten as the hint says.
//
// The rewritten statement contains the part of the hint, in any case of letters, unless
// the part begins with ~, which says that it is not SQL. It is empty when no statement
// does what the first one wants.
type Word [4]string

// CheckWords checks what the refusals say. It returns the rewritten statements, which the
// guard accepts; the caller runs them on the engine.
func CheckWords(t *testing.T, g *sqlguard.Guard, words []Word) (rewritten []string) {
	t.Helper()
	seen := make(map[string]bool, len(words))
	for _, w := range words {
		sql, says, write, then := w[0], w[1], w[2], w[3]
		if seen[sql] {
			t.Errorf("%q is there twice", sql)
		}
		seen[sql] = true
		v := g.Check(sql)
		if v.Allowed {
			t.Errorf("%q is allowed", sql)
			continue
		}
		write, prose := strings.CutPrefix(write, "~")
		found := false
		for _, f := range v.Findings {
			found = found || strings.Contains(f.Message, says) && strings.Contains(f.Hint, write)
		}
		if !found || says == "" || write == "" {
			t.Errorf("%q\n  want %q\n   and %q", sql, says, write)
			for _, f := range v.Findings {
				t.Errorf("   got %s: %s\n  hint %s", f.Code, f.Message, f.Hint)
			}
		}
		if then == "" {
			continue
		}
		if !prose && !strings.Contains(strings.ToLower(then), strings.ToLower(write)) {
			t.Errorf("%q does not have %q", then, write)
		}
		if v := g.Check(then); !v.Allowed {
			t.Errorf("the rewritten %q is refused: %+v", then, v.Findings)
			continue
		}
		rewritten = append(rewritten, then)
	}
	return rewritten
}

// CheckInstead checks that the guard accepts what a table of functions suggests to write,
// and that it refuses the functions themselves, unless the dialect has some of them.
func CheckInstead(t *testing.T, g *sqlguard.Guard, functions map[string]string, some ...bool) {
	t.Helper()
	for name, write := range functions {
		if v := g.Check("SELECT " + name + "(x) FROM t"); v.Allowed && !slices.Contains(some, true) {
			t.Errorf("%s is a function of this dialect", name)
		}
		for one := range strings.SplitSeq(write, ", or ") {
			one, _, _ = strings.Cut(one, ", with ")
			one, _, _ = strings.Cut(one, " for the ")
			sql := "SELECT " + one + " FROM t"
			if first, _, _ := strings.Cut(one, " "); first == "SELECT" || first == "WITH" || first == "SHOW" || first == "DESCRIBE" {
				sql = one
			}
			if strings.HasSuffix(one, ") AS t") || strings.HasPrefix(one, "STRING_SPLIT") || strings.HasPrefix(one, "OPENJSON") || strings.HasPrefix(one, "json_each") {
				sql = "SELECT 1 FROM " + one
			}
			if strings.Contains(one, " the ") {
				continue // a sentence
			}
			if v := g.Check(sql); !v.Allowed {
				t.Errorf("%s: write %s: %+v", name, one, v.Findings)
			}
		}
	}
}
