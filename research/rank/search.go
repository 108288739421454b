package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Hit is a document that has a word of the question.
type Hit struct {
	Index int     // position of the index among those that were searched
	Doc   int     // number of the document in its index
	Score float64 // comparable within one search
	Mass  float64 // how much of the question the document covers; see Query.Within; similar words cover half
	Field int     // the field that contributed most
}

// A variant is a word of an index that stands for a word of a question.
type variant struct {
	word   uint32
	weight float64
}

// A match is what one word of a question finds in one index.
type match struct {
	docs   []uint32
	values []float32 // impact of the best variant, before scale
	fields []uint8
	scale  float32
	loose  bool // found by similar words
}

// value returns the impact of the i-th document.
func (m *match) value(i int) float64 { return float64(m.values[i] * m.scale) }

// variants returns the words of the index that stand for a word of a question, apart
// from similar ones. A word is in the list once, with its best weight.
func (x *Index) variants(w *queryWord) []variant {
	var out []variant
	add := func(word uint32, weight float64) {
		for i := range out {
			if out[i].word == word {
				out[i].weight = max(out[i].weight, weight)
				return
			}
		}
		out = append(out, variant{word, weight})
	}
	if w.term {
		x.addConcepts(w, add)
		return out
	}
	if id, ok := x.lookup(w.word); ok {
		add(id, 1)
	}
	for _, j := range w.joined {
		if id, ok := x.lookup(j); ok {
			add(id, joinedWeight)
		}
	}
	if w.gram {
		return out
	}
	for _, id := range x.inflections(w.stem) {
		add(id, stemWeight)
	}
	if w.relatives {
		for _, v := range x.relatives(w.word) {
			add(v.word, v.weight)
		}
	}
	for _, s := range w.short {
		for _, id := range x.inflections(s) {
			add(id, shortWeight)
		}
	}
	if !w.far || len(out) == 0 {
		x.addConcepts(w, add)
	}
	return out
}

// addConcepts adds the words that mean what the word of a question means. A term does not
// count a second time where the index has pairs of its own letters. A question in English
// finds words of other languages, and short ones only if they are in another script.
func (x *Index) addConcepts(w *queryWord, add func(word uint32, weight float64)) {
	for _, c := range w.concepts {
		for _, v := range x.concepts()[c.line] {
			word := x.words[v.word]
			if w.term && x.kinds[v.word]&kindGram != 0 && strings.Contains(w.word, word) || w.far && (v.english || len(word) < leastStart) {
				continue
			}
			add(v.word, float64(conceptWeight*float64(c.weight))*v.weight)
		}
	}
}

// A finding is what one word of a question finds in one index.
type finding struct {
	known   bool // the index has the word or a variant of it
	match   match
	similar *match // what similar words find, once that was asked for
}

// find looks a word up in an index.
func (x *Index) find(w *queryWord) finding {
	variants := x.variants(w)
	return finding{known: len(variants) > 0, match: x.best(variants)}
}

// findings returns what each word of the question finds in each of the indexes. What
// [Query.Within] found before is not looked up again.
func (q *Query) findings(indexes []*Index) map[*Index][]finding {
	out := make(map[*Index][]finding, len(indexes))
	for _, x := range indexes {
		if out[x] != nil {
			continue
		}
		found := q.found[x]
		if found == nil {
			found = make([]finding, len(q.words))
			for i := range q.words {
				found[i] = x.find(&q.words[i])
			}
		}
		out[x] = found
	}
	return out
}

// postings returns by word of the question and by index what the word finds. A word
// that is in none of the indexes finds the words that resemble it. keep adds these to
// the findings.
func (q *Query) postings(indexes []*Index, findings map[*Index][]finding, keep bool) [][]match {
	out := make([][]match, len(q.words))
	for i := range q.words {
		w := &q.words[i]
		known := false
		for _, x := range indexes {
			known = known || findings[x][i].known
		}
		out[i] = make([]match, len(indexes))
		for n, x := range indexes {
			f := &findings[x][i]
			switch {
			case known || w.gram:
				out[i][n] = f.match
			case f.similar != nil:
				out[i][n] = *f.similar
			default:
				out[i][n] = x.best(x.similar(w.word))
				out[i][n].loose = true
				if keep {
					f.similar = &out[i][n]
				}
			}
		}
	}
	return out
}

// best returns the documents that have one of the variants, sorted, with the impact of
// the best one.
func (x *Index) best(variants []variant) match {
	switch len(variants) {
	case 0:
		return match{}
	case 1:
		from, to := x.starts[variants[0].word], x.starts[variants[0].word+1]
		return match{docs: x.posts[from:to], values: x.impacts[from:to], fields: x.tops[from:to], scale: float32(variants[0].weight)}
	}
	half := len(variants) / 2
	return merge(x.best(variants[:half]), x.best(variants[half:]))
}

// merge returns the better of two matches for each document.
func merge(a, b match) match {
	n := len(a.docs) + len(b.docs)
	out := match{docs: make([]uint32, 0, n), values: make([]float32, 0, n), fields: make([]uint8, 0, n), scale: 1}
	take := func(m *match, i int) {
		out.docs = append(out.docs, m.docs[i])
		out.values = append(out.values, m.values[i]*m.scale)
		out.fields = append(out.fields, m.fields[i])
	}
	i, j := 0, 0
	for i < len(a.docs) || j < len(b.docs) {
		switch {
		case j == len(b.docs) || i < len(a.docs) && a.docs[i] < b.docs[j]:
			take(&a, i)
			i++
		case i == len(a.docs) || b.docs[j] < a.docs[i]:
			take(&b, j)
			j++
		default:
			if a.values[i]*a.scale >= b.values[j]*b.scale {
				take(&a, i)
			} else {
				take(&b, j)
			}
			i, j = i+1, j+1
		}
	}
	return out
}

// idf returns the weight of a word that df of n documents have.
func idf(n, df int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// Search returns the documents of the indexes that have a word of the question, best
// first. Documents with equal scores are in the order of their indexes and numbers. The
// indexes are those of one analyzer.
func Search(q *Query, indexes ...*Index) []Hit {
	var hits []Hit
	for n, s := range ScoreAlone(q, indexes...) {
		for _, doc := range s.Docs {
			hits = append(hits, Hit{Index: n, Doc: int(doc), Score: s.Score[doc], Mass: s.MassOf(int(doc)), Field: s.Field(int(doc))})
		}
		s.Release()
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Doc, b.Doc))
	})
	return hits
}

// Scores are the documents of one index that have a word of a question.
type Scores struct {
	Docs  []uint32  // not sorted
	Score []float64 // by document; 0 for those that are not in Docs
	Mass  []float64 // by document; nil from [ScoreAlone]

	index   *Index
	matches []match   // by word of the question
	idf     []float64 // by word
	masses  []float64 // by word
	spare   []float64 // zero, for Mass
}

// buffers are memory for scores. The scores are zero, and there are no documents.
type buffers struct {
	docs        []uint32
	score, mass []float64 // mass may be nil
}

// Score returns the scores of each index, as [Search] sorts them. The words count by
// their rarity in all of the indexes.
func Score(q *Query, indexes ...*Index) []*Scores {
	out := ScoreAlone(q, indexes...)
	for _, s := range out {
		if s.Mass, s.spare = s.spare, nil; s.Mass == nil {
			s.Mass = make([]float64, s.index.docs)
		}
		for i := range s.matches {
			mass := s.masses[i]
			for _, doc := range s.matches[i].docs {
				s.Mass[doc] += mass
			}
		}
	}
	return out
}

// ScoreAlone is [Score] without the masses. [Scores.MassOf] computes single ones.
func ScoreAlone(q *Query, indexes ...*Index) []*Scores {
	total := 0
	out := make([]*Scores, len(indexes))
	for n, x := range indexes {
		total += x.docs
		b := x.buffer()
		out[n] = &Scores{index: x, Docs: b.docs, Score: b.score, spare: b.mass}
	}
	for i, found := range q.postings(indexes, q.findings(indexes), false) {
		df := 0
		for n := range found {
			df += len(found[n].docs)
		}
		weight := idf(total, df) * q.words[i].weight
		mass := weight
		if q.mass != nil {
			mass = q.mass[i]
		}
		for n, m := range found {
			if m.loose {
				out[n].add(m, weight, fuzzyWeight*mass)
			} else {
				out[n].add(m, weight, mass)
			}
		}
	}
	return out
}

// add counts one word.
func (s *Scores) add(m match, weight, mass float64) {
	s.matches = append(s.matches, m)
	s.idf = append(s.idf, weight)
	s.masses = append(s.masses, mass)
	docs, score := s.Docs, s.Score
	values := m.values[:len(m.docs)]
	for k, doc := range m.docs {
		before := score[doc]
		if before == 0 {
			docs = append(docs, doc)
		}
		score[doc] = before + float64(weight*float64(values[k]*m.scale))
	}
	s.Docs = docs
}

// buffer returns memory for the scores of one search.
func (x *Index) buffer() buffers {
	if b, ok := x.buffers.Get().(*buffers); ok {
		return *b
	}
	return buffers{score: make([]float64, x.docs)}
}

// Release gives the memory back for other searches. The scores must not be used
// afterwards. It need not be called.
func (s *Scores) Release() {
	b := buffers{docs: s.Docs[:0], score: s.Score, mass: s.spare}
	zero(b.score, s.Docs)
	if s.Mass != nil {
		zero(s.Mass, s.Docs)
		b.mass = s.Mass
	}
	s.index.buffers.Put(&b)
	*s = Scores{index: s.index}
}

// zero sets the values of the documents to zero. No others are set.
func zero(values []float64, docs []uint32) {
	if len(docs) > len(values)/8 {
		clear(values)
		return
	}
	for _, doc := range docs {
		values[doc] = 0
	}
}

// MassOf returns how much of the question a document covers; see [Query.Within]. It is
// 0 for a document without a score.
func (s *Scores) MassOf(doc int) float64 {
	sum := 0.0
	for i := range s.matches {
		if _, ok := slices.BinarySearch(s.matches[i].docs, uint32(doc)); ok { //nolint:gosec // there are fewer than 2^32 in memory
			sum += s.masses[i]
		}
	}
	return sum
}

// Field returns the field that contributed most to the score of a document. Of equal
// ones it is the first by name. It is 0 for a document without a score.
func (s *Scores) Field(doc int) int {
	var sums [maxFields]float64
	for i := range s.matches {
		m := &s.matches[i]
		if at, ok := slices.BinarySearch(m.docs, uint32(doc)); ok { //nolint:gosec // there are fewer than 2^32 in memory
			sums[m.fields[at]] += float64(s.idf[i] * m.value(at))
		}
	}
	best := 0
	for f := range s.index.fields {
		if sums[f] > sums[best] || sums[f] == sums[best] && sums[f] > 0 && s.index.fields[f].Name < s.index.fields[best].Name {
			best = f
		}
	}
	return best
}

// Words returns the number of words of the question.
func (s *Scores) Words() int { return len(s.matches) }

// With returns the documents that have one word of the question, sorted. Nobody may
// change the list.
func (s *Scores) With(word int) []uint32 { return s.matches[word].docs }

// Best raises best[i] to the greatest contribution of one word of the question to a
// document of the i-th group. The groups follow each other: group i ends before document
// ends[i].
func (s *Scores) Best(word int, ends []uint32, best []float64) {
	m := &s.matches[word]
	docs := m.docs
	values := m.values[:len(docs)]
	for i, end := range ends {
		if len(docs) == 0 {
			return
		}
		// The greatest value gives the greatest contribution, because the factors are
		// positive.
		top, k := float32(0), 0
		for ; k < len(docs) && docs[k] < end; k++ {
			top = max(top, values[k])
		}
		docs, values = docs[k:], values[k:]
		best[i] = max(best[i], s.idf[word]*float64(top*m.scale))
	}
}
