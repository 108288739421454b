package mysql_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/internal/dialecttest"
	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

func newMutator(tb testing.TB, seed uint64) *dialecttest.Mutator {
	tb.Helper()
	var statements []string
	for _, c := range readVerdicts(tb) {
		statements = append(statements, c.sql)
	}
	style := dialecttest.Style{
		Quotes:     "\"'`",
		Requote:    []string{`"@"`, "'@'", "`@`", "_utf8mb4'@'", `'@\'`},
		Separators: []string{"", "/**/"},
	}
	return dialecttest.NewMutator(mysql.Dialect{}, style, statements, seed)
}

// TestMutations runs mutations of the texts of verdicts.txt that the guard allows
// on a real server, in a session with all privileges. The server must only read.
func TestMutations(t *testing.T) {
	var (
		e                   = newEngine(t)
		g                   = e.guard(t)
		before              = e.state(t)
		allowed, ran, wrong int
		recent              []string
	)
	check := func() {
		if diff := cmp.Diff(before, e.state(t)); diff != "" {
			t.Errorf("one of these changed the server:\n%s\n%s", strings.Join(recent, "\n"), diff)
		}
		recent = recent[:0]
	}
	texts := newMutator(t, mutationSeed()).Each(t, 400_000, func(sql string) {
		v := g.Check(sql)
		if v.Code == sqlguard.CodeInternalError {
			t.Errorf("%s\n%+v", sql, v.Findings)
		}
		if v.Code == sqlguard.CodeParseError && testing.Verbose() && wrong < 40 && len(v.Findings) == 1 && e.reads(t.Context(), sql) {
			wrong++
			t.Logf("refused, and the server reads it: %s: %s", sql, v.Findings[0].Message)
		}
		if !v.Allowed {
			return
		}
		allowed++
		if crashes(sql) {
			return
		}
		fault, did := e.run(t.Context(), sql)
		if fault != "" {
			t.Errorf("%s\nis allowed, but the server %s", sql, fault)
		}
		if did {
			ran++
			if recent = append(recent, sql); len(recent) == 200 {
				check()
			}
		}
	})
	check()
	t.Logf("%d texts, %d allowed, of which the server reads %d", texts, allowed, ran)
	if ran < texts/100 {
		t.Errorf("the server reads only %d of %d statements, which is too few for this test", ran, texts)
	}
}
