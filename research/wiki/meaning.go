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
const meaningWeight = 0.6

// How near a page has to be to a query of which it has no word and no synonym, and how
// many words the query has: one alone tells too little.
const (
	leastNearness = 0.4
	leastWords    = 2
)

// meanings returns the directions of the texts of a part: the sums of the vectors of
// their words. A word counts by the weight of its field and by how rare it is here.
func (p *part) meanings() []glove.Vector {
	texts := make([]map[string]float64, len(p.passages))
	frequency := map[string]int{}
	for i, l := range p.passages {
		texts[i] = map[string]float64{}
		for f, text := range p.pages[l.page].texts(l.passage) {
			for _, stem := range rank.Stems(text) {
				texts[i][stem] = max(texts[i][stem], fields[f].Weight)
			}
		}
		for stem := range texts[i] {
			frequency[stem]++
		}
	}
	out := make([]glove.Vector, len(texts))
	for i, weights := range texts {
		stems := make([]string, 0, len(weights))
		for stem := range weights {
			stems = append(stems, stem)
		}
		slices.Sort(stems) // sums depend on their order
		for _, stem := range stems {
			if v, ok := glove.Of(stem); ok {
				out[i].Add(v, weights[stem]*math.Log(1+float64(len(texts))/float64(frequency[stem])))
			}
		}
		out[i].Normalize()
	}
	return out
}

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
	meaning, words, weight := meaningOf(q)
	if words == 0 {
		return order
	}
	best := map[*Page]*candidate{}
	for _, c := range order {
		best[c.Page] = c
	}
	type nearest struct {
		nearness float64
		passage  passage
	}
	near := map[*Page]nearest{}
	var pages []*Page
	total := 0
	for _, p := range n.parts {
		total += len(p.passages)
		for i, l := range p.passages {
			page := p.pages[l.page]
			x := meaning.Dot(p.directions[i])
			old, ok := near[page]
			if !ok {
				pages = append(pages, page)
			}
			if !ok || x > old.nearness {
				near[page] = nearest{x, l.passage}
			}
		}
	}
	unit := meaningWeight * weight * math.Log(1+float64(total))
	for _, page := range pages {
		x := near[page].nearness
		c := best[page]
		if c == nil && x >= leastNearness && words >= leastWords {
			c = &candidate{Hit: Hit{Page: page}, passage: near[page].passage}
			order = append(order, c)
		}
		if c != nil {
			c.Score += float64(unit * max(0, x))
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
