package dictionary_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/rank"
)

// text generates values in several scripts, with what is dirty in real ones.
func text() *rapid.Generator[string] {
	runes := []rune("aAbBcC01 -–'./ÉéßİıσςΣяЯёאבاأة東京ไทย\u00a0\t\n\u200b")
	return rapid.StringOfN(rapid.SampledFrom(runes), 0, 8, -1)
}

// kindOf judges one value by the definition of the types.
func kindOf(query, value string) dictionary.MatchType {
	q, v := rank.Fold(query), rank.Fold(value)
	if q == "" || v == "" {
		return ""
	}
	if q == v {
		return dictionary.MatchExact
	}
	if c := rank.FoldCode(query); c != "" && c == rank.FoldCode(value) {
		return dictionary.MatchCode
	}
	if strings.HasPrefix(v, q) {
		return dictionary.MatchPrefix
	}
	kind := dictionary.MatchType("")
	for i := range v {
		if !strings.HasPrefix(v[i:], q) {
			continue
		}
		if r, _ := utf8.DecodeLastRuneInString(v[:i]); !unicode.In(r, unicode.L, unicode.N, unicode.M) {
			return dictionary.MatchWord
		}
		kind = dictionary.MatchSubstring
	}
	return kind
}

// TestSearchFindsByDefinition compares the search in the arena with a judgement of
// each value by itself.
func TestSearchFindsByDefinition(t *testing.T) {
	t.Parallel()
	root, _ := open(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfN(rapid.SliceOfNDistinct(text(), 0, 12, rapid.ID[string]), 1, 4).Draw(t, "columns")
		query := text().Draw(t, "query")
		n++
		id := fmt.Sprintf("c%d", n)
		w, err := dictionary.NewWriter(root, id, "1")
		if err != nil {
			t.Fatal(err)
		}
		s := &snapshot{id: id, sync: "1"}
		want := map[dictionary.MatchType]int{}
		total := 0
		for i, texts := range columns {
			r := catalog.Ref{Name: fmt.Sprintf("t%d", i)}
			s.tables = append(s.tables, table(r, "c"))
			if err := w.Column(r, "c", values(texts...), -1, true); err != nil {
				t.Fatal(err)
			}
			for _, v := range texts {
				if k := kindOf(query, v); k != "" {
					want[k]++
					total++
				}
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		set, err := dictionary.NewStore(root).Set(s, rules(false))
		if err != nil {
			t.Fatal(err)
		}
		result := dictionary.Search([]string{query}, set)[0]
		if total == 0 {
			if slices.ContainsFunc(result.Matches, func(m dictionary.Match) bool { return m.MatchType != dictionary.MatchFuzzy }) {
				t.Fatalf("%q: %v", query, result.Matches)
			}
			return
		}
		if got := len(result.Matches) + result.Omitted; got != total {
			t.Fatalf("%q: %d matches, want %d", query, got, total)
		}
		perColumn := map[string]int{}
		for _, m := range result.Matches {
			if got := kindOf(query, m.MatchedValue); got != m.MatchType {
				t.Fatalf("%q: %q is %s, want %s", query, m.MatchedValue, m.MatchType, got)
			}
			if perColumn[m.SourceName]++; perColumn[m.SourceName] > dictionary.MaxColumnMatches {
				t.Fatalf("%q: %s has more than %d matches", query, m.SourceName, dictionary.MaxColumnMatches)
			}
		}
		if !slices.IsSortedFunc(result.Matches, func(a, b dictionary.Match) int { return order(a.MatchType) - order(b.MatchType) }) {
			t.Fatalf("%q: the matches are not sorted by type: %v", query, result.Matches)
		}
	})
}

func order(k dictionary.MatchType) int {
	return slices.Index([]dictionary.MatchType{dictionary.MatchExact, dictionary.MatchCode, dictionary.MatchPrefix, dictionary.MatchWord, dictionary.MatchSubstring, dictionary.MatchFuzzy}, k)
}

// TestEqualInputGivesEqualBytes: the order in which a scan writes does not matter,
// and no answer depends on anything but the values.
func TestEqualInputGivesEqualBytes(t *testing.T) {
	t.Parallel()
	answer := func(order []int) string {
		root, _ := open(t)
		w := writer(t, root, "1")
		s := &snapshot{id: "c", sync: "1"}
		for _, i := range order {
			add(t, w, ref("s", fmt.Sprintf("t%d", i)), "c", "Paris", "London", "Parys")
			s.tables = append(s.tables, table(ref("s", fmt.Sprintf("t%d", i)), "c"))
		}
		commit(t, w)
		b, err := json.Marshal(dictionary.Search([]string{"paris", "par", "lodnon"}, setOf(t, root, s)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if d := cmp.Diff(answer([]int{1, 2, 3, 4}), answer([]int{4, 2, 1, 3})); d != "" {
		t.Error(d)
	}
}

// FuzzValuesFile: no file makes the reader panic, or read what is not there.
func FuzzValuesFile(f *testing.F) {
	root, dir := open(f)
	scan(f, root, "c", "1", columnValues{ref("s", "t"), "a", values("Paris", "ÉTÉ", "x")}, columnValues{ref("s", "t"), "b", values("y")})
	whole, err := os.ReadFile(filepath.Join(dir, ".ktx/values/c/1/values"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{})
	s := &snapshot{id: "c", sync: "1", tables: []*catalog.Table{table(ref("s", "t"), "a", "b")}}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, file := range [][]byte{body, dictionary.Seal(body)} {
			set, err := dictionary.ReadSet(s, rules(false), file)
			if err != nil {
				continue
			}
			for _, r := range dictionary.Search([]string{"paris", "y", "pariis", "\n"}, set) {
				for _, m := range r.Matches {
					if !utf8.ValidString(m.MatchedValue) {
						t.Errorf("%q is not UTF-8", m.MatchedValue)
					}
				}
			}
		}
	})
}
