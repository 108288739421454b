package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Stems returns the stems of the words of a text, in their order, without words that say
// nothing. A text of such words alone keeps them. An identifier of several words gives
// its words only.
func Stems(text string) []string {
	var out, all []string
	split(text, func(s span) {
		if s.whole {
			return
		}
		word := s.word
		if !s.gram {
			word = stem(word)
		}
		all = append(all, word)
		if !stopWords[s.word] {
			out = append(out, word)
		}
	})
	if len(out) == 0 {
		return all
	}
	return out
}

// Grams returns the runs of n runes within the words of a text. A word begins and ends
// with a space, and a shorter word is one run.
func Grams(text string, n int) []string {
	var out []string
	split(text, func(s span) {
		if s.whole || stopWords[s.word] {
			return
		}
		runes := []rune(" " + s.word + " ")
		if len(runes) <= n {
			out = append(out, string(runes))
			return
		}
		for i := 0; i+n <= len(runes); i++ {
			out = append(out, string(runes[i:i+n]))
		}
	})
	return out
}

// Vectors is an index of documents as vectors, in which a term has the weight
// (1 + ln count) × idf. It is immutable, and safe for concurrent use.
type Vectors struct {
	ids    map[string]uint32
	idf    []float64
	starts []uint32
	docs   []uint32
	values []float32 // of documents of length 1
	size   int
}

// NewVectors returns an index of documents, each of which is a list of terms.
func NewVectors(documents [][]string) *Vectors {
	v := &Vectors{ids: map[string]uint32{}, size: len(documents)}
	type entry struct {
		term, doc uint32
		count     int
	}
	var entries []entry
	df := []int{}
	for doc, terms := range documents {
		counts := map[uint32]int{}
		var order []uint32
		for _, t := range terms {
			id, ok := v.ids[t]
			if !ok {
				id = uint32(len(df)) //nolint:gosec // there are fewer than 2^32 in memory
				v.ids[strings.Clone(t)] = id
				df = append(df, 0)
			}
			if counts[id] == 0 {
				order = append(order, id)
				df[id]++
			}
			counts[id]++
		}
		for _, id := range order {
			entries = append(entries, entry{id, uint32(doc), counts[id]})
		}
	}
	v.idf = make([]float64, len(df))
	for id, n := range df {
		v.idf[id] = idf(len(documents), n)
	}
	lengths := make([]float64, len(documents))
	for _, e := range entries {
		w := tfWeight(e.count) * v.idf[e.term]
		lengths[e.doc] += float64(w * w)
	}
	v.starts = make([]uint32, len(df)+1)
	for _, e := range entries {
		v.starts[e.term+1]++
	}
	for i := range df {
		v.starts[i+1] += v.starts[i]
	}
	next := slices.Clone(v.starts)
	v.docs, v.values = make([]uint32, len(entries)), make([]float32, len(entries))
	for _, e := range entries {
		at := next[e.term]
		next[e.term]++
		v.docs[at] = e.doc
		v.values[at] = float32(tfWeight(e.count) * v.idf[e.term] / math.Sqrt(lengths[e.doc]))
	}
	return v
}

func tfWeight(count int) float64 { return 1 + math.Log(float64(count)) }

// A Match is a document that has a term of a question.
type Match struct {
	Doc   int
	Score float64 // the cosine: 0 to 1
}

// Search returns the documents that have one of the terms, best first. Documents with
// equal scores are in the order of their numbers.
func (v *Vectors) Search(terms []string) []Match {
	counts := map[uint32]int{}
	var order []uint32
	length := 0.0
	for _, t := range terms {
		id, ok := v.ids[t]
		if !ok {
			continue
		}
		if counts[id] == 0 {
			order = append(order, id)
		}
		counts[id]++
	}
	scores := make([]float64, v.size)
	for _, id := range order {
		w := tfWeight(counts[id]) * v.idf[id]
		length += float64(w * w)
		for i := v.starts[id]; i < v.starts[id+1]; i++ {
			scores[v.docs[i]] += float64(w * float64(v.values[i]))
		}
	}
	var out []Match
	for doc, score := range scores {
		if score > 0 {
			out = append(out, Match{doc, score / math.Sqrt(length)})
		}
	}
	slices.SortFunc(out, func(a, b Match) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) })
	return out
}
