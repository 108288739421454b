package sqlite_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/sqlite"
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
		for _, token := range (sqlite.Dialect{}).Lex(c.sql).List {
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
			tokens[i] = requote(tokens[i], m.rand.IntN(5))
		case 7: // a stretch left out
			i, j = min(i, j), max(i, j)
			tokens = append(tokens[:i], tokens[j:]...)
		}
	}
	separator := " "
	if m.rand.IntN(16) == 0 {
		separator = ""
	}
	return strings.Join(tokens, separator)
}

// requote spells a token with other quotes or none.
func requote(token string, style int) string {
	token = strings.Trim(token, "\"'`[]")
	switch style {
	case 0:
		return `"` + token + `"`
	case 1:
		return "'" + token + "'"
	case 2:
		return "`" + token + "`"
	case 3:
		return "[" + token + "]"
	default:
		return strings.ToUpper(token)
	}
}

// TestMutations compares the guard with the engine on texts near the ones of
// verdicts.txt: what the guard allows, the engine reads as one statement that
// touches nothing beyond what the guard saw; and what the parser refuses, the
// engine refuses too.
func TestMutations(t *testing.T) {
	budget, count := 10*time.Second, 400_000
	if testing.Short() {
		budget, count = time.Second, 20_000
	}
	var (
		g                   = newGuard(t)
		e                   = newEngine(t)
		m                   = newMutator(t, 1)
		deadline            = time.Now().Add(budget)
		texts, allowed, run int
	)
	for texts = 0; texts < count && time.Now().Before(deadline); texts++ {
		sql := m.next()
		v := g.Check(sql)
		switch {
		case v.Allowed:
			allowed++
			if fault := falseAccept(e, sql); fault != "" {
				t.Errorf("%s\nis allowed, but the engine %s", sql, fault)
			}
			if _, _, err := e.prepare(sql); err == nil {
				run++
			}
		case v.Code == sqlguard.CodeParseError:
			if actions, tail, err := e.prepare(sql); err == nil && tail == "" && len(actions) > 0 {
				t.Errorf("%s\nis refused, %+v, but the engine prepares it", sql, v.Findings)
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d texts, %d allowed, of which the engine prepares %d", texts, allowed, run)
}
