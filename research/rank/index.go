package rank

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// saturation is k1 of BM25: a word that is in a field ten times is worth less than
// twice a word that is there twice.
const saturation = 1.2

// A Field is a kind of text that documents have.
type Field struct {
	Name   string
	Weight float64 // of a word in this field, compared to other fields
	B      float64 // 0 to 1: how much long texts count less
}

// A Text is a text of a document.
type Text struct {
	Field  int // position in the fields of the builder
	Text   string
	Weight float64 // multiplies the weight of the field; 0 is 1
}

// maxFields is the number of fields that an index can have.
const maxFields = 16

// A Builder makes an [Index]. It is not safe for concurrent use.
type Builder struct {
	analyzer *Analyzer
	fields   []Field
	ids      map[string]uint32
	words    []string
	lasting  []bool // by word: it is a word of its own, not only a whole identifier
	grams    []bool
	entries  []entry
	lengths  []float32 // by document and field
	docs     int
	counts   []float64 // scratch

	known map[string][]term // the words of short texts
	terms []term            // scratch
}

// A term is a word of a text.
type term struct {
	word  uint32
	whole bool
}

// The texts whose words a builder remembers. Many columns have the same name.
const (
	maxKnownTexts = 1 << 17
	maxKnownBytes = 64 // of a text
)

// An entry is the weighted count of one word in one field of one document.
type entry struct {
	word, doc uint32
	field     uint8
	count     float32
}

// NewBuilder returns a builder of an index with these fields, at most 16.
func NewBuilder(a *Analyzer, fields []Field) *Builder {
	if len(fields) == 0 || len(fields) > maxFields {
		panic("rank: an index has 1 to 16 fields")
	}
	return &Builder{analyzer: a, fields: slices.Clone(fields), ids: map[string]uint32{}, known: map[string][]term{}, counts: make([]float64, len(fields))}
}

// Add adds a document, and returns its number. Numbers count from 0.
func (b *Builder) Add(texts ...Text) int {
	doc := uint32(b.docs) //nolint:gosec // there are fewer than 2^32 in memory
	b.docs++
	from := len(b.entries)
	clear(b.counts)
	for _, t := range texts {
		weight := t.Weight
		if weight == 0 {
			weight = 1
		}
		for _, w := range b.split(t.Text) {
			if !w.whole {
				b.counts[t.Field]++
			}
			b.entries = append(b.entries, entry{word: w.word, doc: doc, field: uint8(t.Field), count: float32(weight)}) //nolint:gosec // at most maxFields
		}
	}
	for _, n := range b.counts {
		b.lengths = append(b.lengths, float32(n))
	}
	// One entry for each word and field.
	added := b.entries[from:]
	slices.SortFunc(added, func(x, y entry) int { return cmp.Or(cmp.Compare(x.word, y.word), cmp.Compare(x.field, y.field)) })
	kept := 0
	for i := range added {
		if kept > 0 && added[kept-1].word == added[i].word && added[kept-1].field == added[i].field {
			added[kept-1].count += added[i].count
			continue
		}
		added[kept] = added[i]
		kept++
	}
	b.entries = b.entries[:from+kept]
	return int(doc)
}

// split returns the words of a text, until the next call.
func (b *Builder) split(text string) []term {
	if terms, ok := b.known[text]; ok {
		return terms
	}
	b.terms = b.terms[:0]
	split(text, func(s span) { b.terms = append(b.terms, term{b.word(s), s.whole}) })
	if len(text) <= maxKnownBytes && len(b.known) < maxKnownTexts {
		b.known[strings.Clone(text)] = slices.Clone(b.terms)
	}
	return b.terms
}

// word returns the number of a word.
func (b *Builder) word(s span) uint32 {
	id, ok := b.ids[s.word]
	if !ok {
		id = uint32(len(b.words)) //nolint:gosec // there are fewer than 2^32 in memory
		word := strings.Clone(s.word)
		b.ids[word] = id
		b.words = append(b.words, word)
		b.lasting = append(b.lasting, false)
		b.grams = append(b.grams, s.gram)
	}
	if !s.whole {
		b.lasting[id] = true
	}
	return id
}

// Index returns the index of the documents added so far. The builder must not be used
// afterwards.
func (b *Builder) Index() *Index {
	x := &Index{analyzer: b.analyzer, fields: b.fields, docs: b.docs}
	order := make([]uint32, len(b.words)) // words by their spelling
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int { return strings.Compare(b.words[i], b.words[j]) })
	rank := make([]uint32, len(order))
	x.words = make([]string, len(order))
	x.kinds = make([]uint8, len(order))
	for at, id := range order {
		rank[id] = uint32(at)
		x.words[at] = b.words[id]
		if b.lasting[id] {
			x.kinds[at] |= kindWord
		}
		if b.grams[id] {
			x.kinds[at] |= kindGram
		}
	}
	norms := b.norms()
	// Documents are added in order, so counting sort by word leaves them sorted.
	starts := make([]uint32, len(x.words)+1)
	last := make([]int64, len(x.words))
	for i := range last {
		last[i] = -1
	}
	for i := range b.entries {
		e := &b.entries[i]
		e.word = rank[e.word]
		if last[e.word] != int64(e.doc) {
			last[e.word] = int64(e.doc)
			starts[e.word+1]++
		}
	}
	for i := range x.words {
		starts[i+1] += starts[i]
	}
	x.starts = starts
	n := starts[len(x.words)]
	x.posts = make([]uint32, n)
	x.impacts = make([]float32, n)
	x.tops = make([]uint8, n)
	tops := make([]float32, n) // what the field in x.tops contributes
	next := slices.Clone(starts[:len(x.words)])
	for i := range last {
		last[i] = -1
	}
	for i := range b.entries {
		e := &b.entries[i]
		tf := float32(b.fields[e.field].Weight) * e.count / norms[int(e.doc)*len(b.fields)+int(e.field)]
		at := next[e.word]
		if last[e.word] == int64(e.doc) {
			at--
		} else {
			last[e.word] = int64(e.doc)
			next[e.word]++
			x.posts[at] = e.doc
		}
		x.impacts[at] += tf
		if tf > tops[at] || tf == tops[at] && b.fields[e.field].Name < b.fields[x.tops[at]].Name {
			tops[at], x.tops[at] = tf, e.field
		}
	}
	for i, tf := range x.impacts {
		x.impacts[i] = tf * (saturation + 1) / (tf + saturation)
	}
	b.entries, b.ids, b.lengths, b.known = nil, nil, nil, nil
	x.finish()
	return x
}

// norms returns by document and field what the count of a word is divided by.
func (b *Builder) norms() []float32 {
	width := len(b.fields)
	sums := make([]float64, width)
	filled := make([]float64, width)
	for i, n := range b.lengths {
		if n > 0 {
			sums[i%width] += float64(n)
			filled[i%width]++
		}
	}
	out := b.lengths
	for i, n := range out {
		f := i % width
		if n == 0 || sums[f] == 0 {
			out[i] = 1
			continue
		}
		mean := sums[f] / filled[f]
		out[i] = float32(1 - b.fields[f].B + b.fields[f].B*float64(n)/mean)
	}
	return out
}

// The kinds of the words of an index.
const (
	kindWord uint8 = 1 << iota // not only a whole identifier
	kindGram                   // two letters of a script without spaces
)

// An Index holds the words of documents. It is immutable, and safe for concurrent use.
type Index struct {
	analyzer *Analyzer
	fields   []Field
	docs     int
	words    []string // sorted
	kinds    []uint8  // by word
	starts   []uint32 // by word, and one more: its place in posts
	posts    []uint32 // documents, sorted within a word
	impacts  []float32
	tops     []uint8 // the field that contributes most to the impact

	stems  []string // sorted
	groups []uint32 // by stem, and one more: its place in forms
	forms  []uint32 // words

	buffers sync.Pool // *buffers

	fuzzyOnce sync.Once
	fuzzy     *vocabulary

	conceptsOnce sync.Once
	byConcept    map[uint16][]sayer
}

// finish derives what is not stored.
func (x *Index) finish() {
	type pair struct {
		stem string
		word uint32
	}
	pairs := make([]pair, 0, len(x.words))
	for i, w := range x.words {
		if x.kinds[i]&kindGram == 0 {
			pairs = append(pairs, pair{stem(w), uint32(i)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(strings.Compare(a.stem, b.stem), cmp.Compare(a.word, b.word)) })
	x.forms = make([]uint32, len(pairs))
	for i, p := range pairs {
		if i == 0 || p.stem != pairs[i-1].stem {
			x.stems = append(x.stems, p.stem)
			x.groups = append(x.groups, uint32(i))
		}
		x.forms[i] = p.word
	}
	x.groups = append(x.groups, uint32(len(pairs))) //nolint:gosec // there are fewer than 2^32 in memory
}

// Docs returns the number of documents.
func (x *Index) Docs() int { return x.docs }

// Words returns the number of different words.
func (x *Index) Words() int { return len(x.words) }

// Fields returns the fields, as the builder got them.
func (x *Index) Fields() []Field { return slices.Clone(x.fields) }

// lookup returns the number of a word.
func (x *Index) lookup(word string) (uint32, bool) {
	i, ok := slices.BinarySearch(x.words, word)
	return uint32(i), ok //nolint:gosec // there are fewer than 2^32 in memory
}

// inflections returns the words with this stem.
func (x *Index) inflections(stemmed string) []uint32 {
	i := sort.SearchStrings(x.stems, stemmed)
	if i == len(x.stems) || x.stems[i] != stemmed {
		return nil
	}
	return x.forms[x.groups[i]:x.groups[i+1]]
}

// Holding returns the documents that have every word of the text, sorted.
func (x *Index) Holding(text string) []uint32 {
	var out []uint32
	first := true
	split(text, func(s span) {
		var docs []uint32
		if word, ok := x.lookup(s.word); ok {
			docs = x.posts[x.starts[word]:x.starts[word+1]]
		}
		if first {
			out, first = slices.Clone(docs), false
			return
		}
		out = slices.DeleteFunc(out, func(doc uint32) bool {
			_, ok := slices.BinarySearch(docs, doc)
			return !ok
		})
	})
	return out
}
