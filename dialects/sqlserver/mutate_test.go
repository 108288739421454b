package sqlserver_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/sqlserver"
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
	texts := append(lines(tb, "reads.txt"), ends...)
	for _, c := range cases(tb) {
		texts = append(texts, c.SQL)
	}
	for _, sql := range texts {
		var tokens []string
		for _, token := range (sqlserver.Dialect{}).Lex(sql).List {
			text := token.Text(sql)
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
	token = strings.Trim(token, "\"'[]")
	switch style {
	case 0:
		return `"` + token + `"`
	case 1:
		return "'" + token + "'"
	case 2:
		return "N'" + token + "'"
	case 3:
		return "[" + token + "]"
	default:
		return strings.ToUpper(token)
	}
}

// TestMutations holds on texts near the corpus's cases what the fuzz targets
// hold: no panic, spans in the text, one verdict, nothing allowed that a look
// without grammar takes for more than a read.
func TestMutations(t *testing.T) {
	budget, count := 10*time.Second, 300_000
	if testing.Short() {
		budget, count = time.Second, 20_000
	}
	m := newMutator(t, 1)
	deadline := time.Now().Add(budget)
	texts, allowed := 0, 0
	for ; texts < count && time.Now().Before(deadline) && !t.Failed(); texts++ {
		sql := m.next()
		analyze(t, sql)
		if check(t, sql) {
			allowed++
		}
	}
	t.Logf("%d texts, %d allowed", texts, allowed)
	if texts > 2000 && allowed < texts/100 {
		t.Errorf("%d of %d texts are allowed: the mutations miss their purpose", allowed, texts)
	}
}
