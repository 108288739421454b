package dialecttest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// A Mutator makes new statements from the tokens of given statements. The same statements
// and the same seed make the same results.
type Mutator struct {
	Rand  *rand.Rand
	Seeds [][]string // the statements of fewer than 60 tokens, as their tokens

	pool  []string // every token of the statements, without duplicates
	style Style
}

// Style says how a dialect spells tokens.
type Style struct {
	Quotes  string   // every character that quotes
	Requote []string // ways to quote, each with @ for the content
	// Each separator is used between the tokens of one statement in 16. The other
	// statements have spaces.
	Separators []string
}

// NewMutator returns a mutator of the statements.
func NewMutator(d sqlguard.Dialect, style Style, statements []string, seed uint64) *Mutator {
	m := &Mutator{Rand: rand.New(rand.NewPCG(seed, 7)), style: style} //nolint:gosec // the same seed must make the same statements
	known := make(map[string]bool)
	for _, sql := range statements {
		var tokens []string
		for _, token := range d.Lex(sql).List {
			text := token.Text(sql)
			tokens = append(tokens, text)
			if !known[text] {
				known[text] = true
				m.pool = append(m.pool, text)
			}
		}
		if len(tokens) > 0 && len(tokens) < 60 {
			m.Seeds = append(m.Seeds, tokens)
		}
	}
	return m
}

// Each calls f with new statements and stops when f fails the test. It makes 20,000
// statements, or with [Full] as many as f handles in ten seconds, but not more than most.
// It returns the number of statements.
func (m *Mutator) Each(t *testing.T, most int, f func(sql string)) int {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	if !Full() {
		most, deadline = 20_000, time.Now().Add(time.Hour)
	}
	n := 0
	for ; n < most && !t.Failed() && time.Now().Before(deadline); n++ {
		f(m.Next())
	}
	return n
}

// Next returns a statement made by one to four changes of a seed.
func (m *Mutator) Next() string {
	tokens := append([]string(nil), m.Seeds[m.Rand.IntN(len(m.Seeds))]...)
	for range 1 + m.Rand.IntN(4) {
		if len(tokens) == 0 {
			break
		}
		i, j := m.Rand.IntN(len(tokens)), m.Rand.IntN(len(tokens))
		switch m.Rand.IntN(8) {
		case 0: // leave one out
			tokens = append(tokens[:i], tokens[i+1:]...)
		case 1: // twice
			tokens = append(tokens[:i+1], tokens[i:]...)
		case 2: // swap
			tokens[i], tokens[j] = tokens[j], tokens[i]
		case 3: // another token
			tokens[i] = m.pool[m.Rand.IntN(len(m.pool))]
		case 4: // one more token
			tokens = append(tokens[:i], append([]string{m.pool[m.Rand.IntN(len(m.pool))]}, tokens[i:]...)...)
		case 5: // a stretch of another seed
			other := m.Seeds[m.Rand.IntN(len(m.Seeds))]
			from := m.Rand.IntN(len(other))
			to := from + m.Rand.IntN(len(other)-from) + 1
			tokens = append(tokens[:i:i], append(append([]string(nil), other[from:to]...), tokens[i:]...)...)
		case 6: // other quotes
			tokens[i] = m.requote(tokens[i])
		case 7: // a stretch left out
			i, j = min(i, j), max(i, j)
			tokens = append(tokens[:i], tokens[j:]...)
		}
	}
	separator := " "
	if i := m.Rand.IntN(16); i < len(m.style.Separators) {
		separator = m.style.Separators[i]
	}
	return strings.Join(tokens, separator)
}

// requote spells a token with other quotes, or in upper case without any.
func (m *Mutator) requote(token string) string {
	token = strings.Trim(token, m.style.Quotes)
	if i := m.Rand.IntN(len(m.style.Requote) + 1); i < len(m.style.Requote) {
		return strings.Replace(m.style.Requote[i], "@", token, 1)
	}
	return strings.ToUpper(token)
}
