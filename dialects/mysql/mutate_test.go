package mysql_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/mysql"
	"github.com/ktxhq/ktx/sqlguard"
)

// mutator makes texts out of the tokens of other texts.
type mutator struct {
	rand  *rand.Rand
	seeds [][]string
	pool  []string // tokens
}

func newMutator(tb testing.TB, seed uint64) *mutator {
	tb.Helper()
	m := &mutator{rand: rand.New(rand.NewPCG(seed, 7))}
	known := make(map[string]bool)
	for _, c := range readVerdicts(tb) {
		var tokens []string
		for _, token := range (mysql.Dialect{}).Lex(c.sql).List {
			text := token.Text(c.sql)
			tokens = append(tokens, text)
			if !known[text] {
				known[text] = true
				m.pool = append(m.pool, text)
			}
		}
		if len(tokens) > 0 && len(tokens) < 60 {
			m.seeds = append(m.seeds, tokens)
		}
	}
	return m
}

// next returns a text made by one to four changes of a seed.
func (m *mutator) next() string {
	tokens := append([]string(nil), m.seeds[m.rand.IntN(len(m.seeds))]...)
	for range 1 + m.rand.IntN(4) {
		if len(tokens) == 0 {
			break
		}
		i, j := m.rand.IntN(len(tokens)), m.rand.IntN(len(tokens))
		switch m.rand.IntN(8) {
		case 0: // leave one out
			tokens = append(tokens[:i], tokens[i+1:]...)
		case 1: // twice
			tokens = append(tokens[:i+1], tokens[i:]...)
		case 2: // swap
			tokens[i], tokens[j] = tokens[j], tokens[i]
		case 3: // another token
			tokens[i] = m.pool[m.rand.IntN(len(m.pool))]
		case 4: // one more token
			tokens = append(tokens[:i], append([]string{m.pool[m.rand.IntN(len(m.pool))]}, tokens[i:]...)...)
		case 5: // a stretch of another seed
			other := m.seeds[m.rand.IntN(len(m.seeds))]
			from := m.rand.IntN(len(other))
			to := from + m.rand.IntN(len(other)-from) + 1
			tokens = append(tokens[:i:i], append(append([]string(nil), other[from:to]...), tokens[i:]...)...)
		case 6: // other quotes
			tokens[i] = requote(tokens[i], m.rand.IntN(6))
		case 7: // a stretch left out
			i, j = min(i, j), max(i, j)
			tokens = append(tokens[:i], tokens[j:]...)
		}
	}
	separator := " "
	switch m.rand.IntN(16) {
	case 0:
		separator = ""
	case 1:
		separator = "/**/"
	}
	return strings.Join(tokens, separator)
}

// requote spells a token with other quotes or none.
func requote(token string, style int) string {
	token = strings.Trim(token, "\"'`")
	switch style {
	case 0:
		return `"` + token + `"`
	case 1:
		return "'" + token + "'"
	case 2:
		return "`" + token + "`"
	case 3:
		return "_utf8mb4'" + token + "'"
	case 4:
		return "'" + token + `\'`
	default:
		return strings.ToUpper(token)
	}
}

// TestMutations runs what the guard allows of texts near the ones of
// verdicts.txt on a real server, in a session that may do everything: the server
// does nothing but read.
func TestMutations(t *testing.T) {
	budget, count := 10*time.Second, 400_000
	if testing.Short() {
		budget, count = time.Second, 20_000
	}
	var (
		e                          = newEngine(t)
		g                          = e.guard(t)
		m                          = newMutator(t, mutationSeed())
		deadline                   = time.Now().Add(budget)
		before                     = e.state(t)
		texts, allowed, ran, wrong int
		recent                     []string
	)
	check := func() {
		if diff := cmp.Diff(before, e.state(t)); diff != "" {
			t.Errorf("one of these changed the server:\n%s\n%s", strings.Join(recent, "\n"), diff)
		}
		recent = recent[:0]
	}
	for texts = 0; texts < count && time.Now().Before(deadline) && !t.Failed(); texts++ {
		sql := m.next()
		v := g.Check(sql)
		if v.Code == sqlguard.CodeInternalError {
			t.Errorf("%s\n%+v", sql, v.Findings)
		}
		if v.Code == sqlguard.CodeParseError && testing.Verbose() && wrong < 40 && len(v.Findings) == 1 && e.reads(t.Context(), sql) {
			wrong++
			t.Logf("refused, and the server reads it: %s: %s", sql, v.Findings[0].Message)
		}
		if !v.Allowed {
			continue
		}
		allowed++
		if crashes(sql) {
			continue
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
	}
	check()
	t.Logf("%d texts, %d allowed, of which the server reads %d", texts, allowed, ran)
}
