package wiki

import (
	"math"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki/glove"
)

// meaningWeight is what a page gets for being about the same as a query, for each word
// of the query, in units of the score of a rare word.
const meaningWeight = 0.45

// How near a passage as a whole has to be to a query of which it has no word and no
// synonym, and how many words the query has: one alone tells too little.
const (
	leastNearness = 0.4
	leastWords    = 2
)

// titleWeight is what the title of a page gets for being about the same as a query, beside
// meaningWeight.
const titleWeight = 0.1

// sentenceShare is how much of the nearness of a passage is that of its nearest sentence;
// the rest is that of the whole passage.
const sentenceShare = 0.3

// A meaning is what a passage is about: as a whole, and by sentence.
type meaning struct {
	whole     glove.Vector
	sentences []glove.Vector
}

// nearness is how near a passage is to a query: as a whole, and with its nearest
// sentence.
func (m *meaning) nearness(query *glove.Vector) (whole, mixed float64) {
	best := 0.0
	for i := range m.sentences {
		best = max(best, query.Dot(m.sentences[i]))
	}
	whole = query.Dot(m.whole)
	return whole, float64((1-sentenceShare)*whole) + float64(sentenceShare*best)
}

// findMeanings returns the meanings of the texts of a part. The direction of a text is the
// sum of the vectors of its words. A word counts by how rare it is here, and in the whole
// passage by the weight of its field. It also notes where words stand.
func (p *part) findMeanings() []meaning {
	type sentence struct {
		field int
		stems []string
	}
	texts := make([][]sentence, len(p.passages))
	weights := make([]map[string]float64, len(p.passages)) // by stem, the greatest weight of a field
	frequency := map[string]int{}
	for i, l := range p.passages {
		weights[i] = map[string]float64{}
		first := i == 0 || p.passages[i-1].page != l.page
		if first {
			p.places.begin()
		}
		for f, text := range p.pages[l.page].texts(l.passage) {
			for part := range strings.FieldsFuncSeq(text, endsSentence) {
				stems := rank.Stems(part)
				texts[i] = append(texts[i], sentence{f, stems})
				if f == fieldBody || first && f != fieldHeading {
					p.places.add(stems)
				}
				for _, stem := range stems {
					weights[i][stem] = max(weights[i][stem], fields[f].Weight)
				}
			}
		}
		for stem := range weights[i] {
			frequency[stem]++
		}
	}
	add := func(v *glove.Vector, stem string, weight float64) bool {
		w, ok := glove.Of(stem)
		if ok {
			v.Add(w, weight*math.Log(1+float64(len(texts))/float64(frequency[stem])))
		}
		return ok
	}
	out := make([]meaning, len(texts))
	for i := range texts {
		stems := make([]string, 0, len(weights[i]))
		for stem := range weights[i] {
			stems = append(stems, stem)
		}
		slices.Sort(stems) // sums depend on their order
		for _, stem := range stems {
			add(&out[i].whole, stem, weights[i][stem])
		}
		out[i].whole.Normalize()
		for _, part := range texts[i] {
			if part.field == fieldTags {
				continue
			}
			var v glove.Vector
			words := 0
			slices.Sort(part.stems)
			for _, stem := range slices.Compact(part.stems) {
				if add(&v, stem, 1) {
					words++
				}
			}
			if words >= leastWords {
				v.Normalize()
				out[i].sentences = append(out[i].sentences, v)
			}
		}
	}
	return out
}

// titleMeaning is the direction of a title. A word counts by how rare it is in English.
func titleMeaning(title string) (v glove.Vector) {
	for _, stem := range rank.Stems(title) {
		if w, ok := glove.Of(stem); ok {
			v.Add(w, rarity(stem))
		}
	}
	v.Normalize()
	return v
}

// endsSentence reports whether a sentence, or a part that stands for itself, ends here.
func endsSentence(r rune) bool { return strings.ContainsRune(".?!;:\n", r) }

// meaningOf returns the direction of a query, how many of its words have one, and the sum
// of the weights of all. Quoted texts and identifiers have none.
func meaningOf(q *rank.Query) (v glove.Vector, words int, weight float64) {
	text := q.Text()
	for _, name := range q.Names() {
		text = strings.ReplaceAll(text, name, " ")
	}
	seen := map[string]bool{}
	for _, stem := range rank.Stems(text) {
		if seen[stem] {
			continue
		}
		seen[stem] = true
		r := rarity(stem)
		weight += r
		if w, ok := glove.Of(stem); ok {
			v.Add(w, r)
			words++
		}
	}
	v.Normalize()
	return v, words, weight
}

// lift adds to the score of each page how near its nearest passage is to the query, and
// adds pages that are near and have no word of it.
func (n *Snapshot) lift(q *rank.Query, order []*candidate) []*candidate {
	about, words, weight := meaningOf(q)
	if words == 0 {
		return order
	}
	best := map[*Page]*candidate{}
	for _, c := range order {
		best[c.Page] = c
	}
	type nearest struct {
		whole, nearness float64
		passage         passage
		title           float64
	}
	near := map[*Page]nearest{}
	var pages []*Page
	total := 0
	for _, p := range n.parts {
		total += len(p.passages)
		for i, l := range p.passages {
			page := p.pages[l.page]
			whole, x := p.meanings[i].nearness(&about)
			old, ok := near[page]
			if !ok {
				pages = append(pages, page)
			}
			if !ok || x > old.nearness {
				near[page] = nearest{whole, x, l.passage, about.Dot(p.titles[l.page])}
			}
		}
	}
	unit := weight * math.Log(1+float64(total))
	for _, page := range pages {
		x := near[page].nearness
		c := best[page]
		if c == nil && near[page].whole >= leastNearness && words >= leastWords {
			c = &candidate{Hit: Hit{Page: page}, passage: near[page].passage}
			order = append(order, c)
		}
		if c != nil {
			c.Score += float64(meaningWeight*unit*max(0, x)) + float64(titleWeight*unit*max(0, near[page].title))
		}
	}
	return order
}

// nearestWord returns the word of a page that is nearest to a query.
func (c *candidate) nearestWord(meaning glove.Vector) string {
	word, most := "", 0.0
	for _, text := range c.Page.texts(c.passage) {
		for _, w := range plainWords(text) {
			stems := rank.Stems(w)
			if len(stems) != 1 {
				continue
			}
			if v, ok := glove.Of(stems[0]); ok && meaning.Dot(v) > most {
				word, most = w, meaning.Dot(v)
			}
		}
	}
	return word
}
