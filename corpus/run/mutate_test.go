package run_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// maxMutated is the most bytes of a text that is mutated.
const maxMutated = 4 << 10

// mutator changes texts token by token. It inserts tokens of all cases.
type mutator struct {
	dialect sqlguard.Dialect
	r       *rand.Rand
	pool    []string
}

func newMutator(d sqlguard.Dialect, cases []corpus.Case) *mutator {
	m := &mutator{dialect: d, r: rand.New(rand.NewPCG(2026, 11))}
	seen := map[string]bool{}
	for _, c := range cases {
		for _, token := range m.tokens(c.SQL) {
			if len(token) <= 64 && !seen[token] {
				seen[token] = true
				m.pool = append(m.pool, token)
			}
		}
	}
	return m
}

// tokens splits a text into its tokens and the text between them.
func (m *mutator) tokens(text string) []string {
	var parts []string
	from := 0
	for _, t := range m.dialect.Lex(text).List {
		if t.Start > from {
			parts = append(parts, text[from:t.Start])
		}
		parts = append(parts, t.Text(text))
		from = t.End
	}
	if from < len(text) {
		parts = append(parts, text[from:])
	}
	return parts
}

func (m *mutator) borrowed() string { return m.pool[m.r.IntN(len(m.pool))] }

// mutate returns text with one to three changes.
func (m *mutator) mutate(text string) string {
	parts := m.tokens(text)
	for range 1 + m.r.IntN(3) {
		i := m.r.IntN(len(parts) + 1)
		j := m.r.IntN(len(parts) + 1)
		switch m.r.IntN(9) {
		case 0: // delete
			parts = slices.Delete(parts, min(i, len(parts)), min(i+1, len(parts)))
		case 1: // duplicate
			if i < len(parts) {
				parts = slices.Insert(parts, i, parts[i])
			}
		case 2: // swap
			if i < len(parts) && j < len(parts) {
				parts[i], parts[j] = parts[j], parts[i]
			}
		case 3: // insert
			parts = slices.Insert(parts, i, " "+m.borrowed()+" ")
		case 4: // replace
			if i < len(parts) {
				parts[i] = m.borrowed()
			}
		case 5: // cut the rest
			parts = parts[:i]
		case 6: // put in parentheses
			parts = slices.Insert(parts, max(i, j), ")")
			parts = slices.Insert(parts, min(i, j), "(")
		case 7: // another statement, or a comment
			parts = slices.Insert(parts, i, []string{";", "; ", "--\n", "/**/", " UNION ", " AS x ", "\x00", "\u202e", "\r", "'", "\""}[m.r.IntN(11)])
		default: // the case of letters
			if i < len(parts) {
				parts[i] = strings.ToUpper(parts[i])
			}
		}
	}
	return strings.Join(parts, "")
}

// TestApprovalFollowsTheVerdict checks every case and mutations of it, more of
// them with KTX_TEST_FULL=1. Approve succeeds exactly when Check allows, and it
// approves exactly that text. Another guard with the same ID gives the same
// verdict. A text that is allowed is one statement that reads.
func TestApprovalFollowsTheVerdict(t *testing.T) {
	t.Parallel()
	mutations := 3
	if os.Getenv("KTX_TEST_FULL") == "1" {
		mutations = 16
	}
	all := readable(t)
	for _, d := range judged(t, all) {
		guard, other := newGuard(t, d), newGuard(t, d)
		if guard.ID() != other.ID() {
			t.Errorf("%s: two guards of one policy have two ids", d.Name())
		}
		cases := slices.DeleteFunc(slices.Clone(all), func(c corpus.Case) bool { return c.Dialect != d.Name() })
		m := newMutator(d, cases)
		allowed, refused := 0, 0
		for _, c := range cases {
			texts := []string{c.SQL}
			for range mutations {
				if len(c.SQL) <= maxMutated {
					texts = append(texts, m.mutate(c.SQL))
				}
			}
			for _, text := range texts {
				if checkApproval(t, guard, other, text) {
					allowed++
				} else {
					refused++
				}
			}
		}
		if allowed < 100 || refused < 100 {
			t.Errorf("%s: %d texts were allowed and %d refused, want at least 100 of each", d.Name(), allowed, refused)
		}
	}
}

// judged returns the dialects, all of which the corpus has cases for.
func judged(t *testing.T, cases []corpus.Case) []sqlguard.Dialect {
	t.Helper()
	var list []sqlguard.Dialect
	for _, d := range dialects.All() {
		if !slices.ContainsFunc(cases, func(c corpus.Case) bool { return c.Dialect == d.Name() }) {
			t.Errorf("the corpus has no case of %s", d.Name())
			continue
		}
		list = append(list, d)
	}
	return list
}

func newGuard(t *testing.T, d sqlguard.Dialect) *sqlguard.Guard {
	t.Helper()
	guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

// checkApproval reports whether text is allowed.
func checkApproval(t *testing.T, guard, other *sqlguard.Guard, text string) bool {
	t.Helper()
	v := guard.Check(text)
	approved, err := guard.Approve(text)
	if diff := cmp.Diff(v, other.Check(text)); diff != "" {
		t.Errorf("%.200q: two guards differ: %s", text, diff)
	}
	if !v.Allowed {
		rejected, ok := errors.AsType[*sqlguard.RejectedError](err)
		if !ok || len(v.Findings) == 0 || v.Code == "" {
			t.Errorf("%.200q: refused without findings, or approved: %v", text, err)
		} else if diff := cmp.Diff(v, rejected.Verdict); diff != "" {
			t.Errorf("%.200q: Approve and Check differ: %s", text, diff)
		}
		if opened, err := approved.SQLFor(guard.ID()); err == nil {
			t.Errorf("%.200q: refused, and opens %.200q", text, opened)
		}
		return false
	}
	opened, openErr := approved.SQLFor(guard.ID())
	if err != nil || openErr != nil || opened != text {
		t.Errorf("%.200q: allowed, and not approved: %v, %v", text, err, openErr)
	}
	if len(v.Findings) > 0 || v.Code != "" || v.Statements != 1 || !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > sqlguard.DefaultMaxBytes {
		t.Errorf("%.200q: allowed with %+v", text, v)
	}
	return true
}
