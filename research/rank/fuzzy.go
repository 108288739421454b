package rank

import (
	"cmp"
	"slices"
)

// What similar words must have in common.
const (
	minContained  = 4    // letters of the contained word
	minShare      = 0.35 // of the length of the containing word
	minTrigrams   = 0.5  // Jaccard share of the trigrams of two words
	typoLetters   = 5    // of a word that may have one typing error
	twoTypos      = 9    // letters of a word that may have two
	maxSimilar    = 12   // words of an index that stand for an unknown word
	maxFuzzyBytes = 64   // of a word that is compared
)

// A vocabulary finds the words of an index that are similar to a word.
type vocabulary struct {
	keys   []uint32 // trigrams, sorted
	starts []uint32
	words  []uint32
}

// trigrams returns the trigrams of a word between two borders, sorted, each once. A
// trigram is a hash of three bytes, which is their number.
func trigrams(word string) []uint32 {
	if len(word) > maxFuzzyBytes {
		word = word[:maxFuzzyBytes]
	}
	padded := "\x01" + word + "\x01"
	out := make([]uint32, 0, len(padded))
	for i := 0; i+3 <= len(padded); i++ {
		out = append(out, uint32(padded[i])<<16|uint32(padded[i+1])<<8|uint32(padded[i+2]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// vocabulary returns the vocabulary of the index.
func (x *Index) vocabulary() *vocabulary {
	x.fuzzyOnce.Do(func() {
		type pair struct{ key, word uint32 }
		var pairs []pair
		for i, w := range x.words {
			if x.kinds[i]&kindWord == 0 || x.kinds[i]&kindGram != 0 || len(w) < minContained || numeric(w) {
				continue
			}
			for _, key := range trigrams(w) {
				pairs = append(pairs, pair{key, uint32(i)})
			}
		}
		slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.word, b.word)) })
		v := &vocabulary{words: make([]uint32, len(pairs))}
		for i, p := range pairs {
			if i == 0 || p.key != pairs[i-1].key {
				v.keys = append(v.keys, p.key)
				v.starts = append(v.starts, uint32(i))
			}
			v.words[i] = p.word
		}
		v.starts = append(v.starts, uint32(len(pairs))) //nolint:gosec // there are fewer than 2^32 in memory
		x.fuzzy = v
	})
	return x.fuzzy
}

// similar returns the words of the index that resemble a word, the most similar first.
func (x *Index) similar(word string) []variant {
	if len(word) < minContained || numeric(word) {
		return nil
	}
	v := x.vocabulary()
	shared := map[uint32]int{}
	for _, key := range trigrams(word) {
		i, ok := slices.BinarySearch(v.keys, key)
		if !ok {
			continue
		}
		for _, w := range v.words[v.starts[i]:v.starts[i+1]] {
			shared[w]++
		}
	}
	var out []variant
	for w, n := range shared {
		if n < 2 {
			continue
		}
		if s := similarity(word, x.words[w]); s > 0 {
			out = append(out, variant{word: w, weight: fuzzyWeight * s})
		}
	}
	slices.SortFunc(out, func(a, b variant) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.word, b.word)) })
	return out[:min(len(out), maxSimilar)]
}

// similarity returns how well one word stands for another, from 0 to 1.
func similarity(a, b string) float64 {
	if len(a) > maxFuzzyBytes || len(b) > maxFuzzyBytes || len(a) < minContained || len(b) < minContained || numeric(a) || numeric(b) {
		return 0
	}
	best := 0.0
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	if share := float64(len(short)) / float64(len(long)); share >= minShare && contains(long, short) {
		best = share
	}
	allowed := 0
	switch {
	case len(short) >= twoTypos:
		allowed = 2
	case len(short) >= typoLetters:
		allowed = 1
	}
	if allowed > 0 && len(long)-len(short) <= allowed {
		if d := distance(a, b, allowed); d <= allowed {
			best = max(best, 1-float64(d)/float64(len(long)))
		}
	}
	x, y := trigrams(a), trigrams(b)
	common := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			common, i, j = common+1, i+1, j+1
		case x[i] < y[j]:
			i++
		default:
			j++
		}
	}
	if share := float64(common) / float64(len(x)+len(y)-common); share >= minTrigrams {
		best = max(best, share)
	}
	return best
}

// contains reports whether one word begins or ends with another, or has it within.
func contains(long, short string) bool {
	for i := 0; i+len(short) <= len(long); i++ {
		if long[i:i+len(short)] == short {
			return true
		}
	}
	return false
}

// distance returns the number of edits between two words: a byte more, less or other,
// or two neighbours exchanged. It stops counting above the limit.
func distance(a, b string, limit int) int {
	var rows [3][maxFuzzyBytes + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// numeric reports whether the word is of digits alone.
func numeric(word string) bool {
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			return false
		}
	}
	return true
}
