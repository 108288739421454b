package wiki

import (
	"math"
	"slices"

	"github.com/ktxhq/ktx/research/rank"
)

// pairWeight is what two words count that follow each other in a query and stand within
// pairReach words of each other in a page, beside the commoner of the two.
const (
	pairWeight = 0.7
	pairReach  = 4
)

// places are where the words of the pages of a part stand. The words of all pages count
// from 0, with gaps between pages.
type places struct {
	words  map[string][]uint32 // by stem, sorted
	starts []uint32            // of each page
	next   uint32
}

// begin begins the next page.
func (p *places) begin() {
	p.next += pairReach + 1
	p.starts = append(p.starts, p.next)
}

// add adds words of the page.
func (p *places) add(stems []string) {
	for _, stem := range stems {
		p.words[stem] = append(p.words[stem], p.next)
		p.next++
	}
}

// eachPage calls yield with the number of each page at which one of the places is. The
// places are sorted.
func (p *places) eachPage(at []uint32, yield func(page int)) {
	page := -1
	for _, a := range at {
		if page >= 0 && (page+1 == len(p.starts) || a < p.starts[page+1]) {
			continue
		}
		page, _ = slices.BinarySearch(p.starts, a+1)
		page--
		yield(page)
	}
}

// together returns the places of a word that are near a place of another.
func (p *places) together(a, b string) []uint32 {
	var out []uint32
	others := p.words[b]
	for _, at := range p.words[a] {
		for len(others) > 0 && others[0]+pairReach < at {
			others = others[1:]
		}
		if len(others) > 0 && others[0] <= at+pairReach {
			out = append(out, at)
		}
	}
	return out
}

// pair adds to the score of each page what its pairs of words count that follow each other
// in the query.
func (n *Snapshot) pair(q *rank.Query, order []*candidate) {
	best := map[*Page]*candidate{}
	for _, c := range order {
		best[c.Page] = c
	}
	total := 0
	for _, p := range n.parts {
		total += len(p.pages)
	}
	worth := func(stem string) float64 {
		pages := 0
		for _, p := range n.parts {
			p.places.eachPage(p.places.words[stem], func(int) { pages++ })
		}
		return float64(rarity(stem) * math.Log(1+float64(total)/(float64(pages)+0.5)))
	}
	stems := rank.Stems(q.Text())
	for i := 1; i < len(stems); i++ {
		a, b := stems[i-1], stems[i]
		if a == b {
			continue
		}
		gain := -1.0
		for _, p := range n.parts {
			p.places.eachPage(p.places.together(a, b), func(page int) {
				if gain < 0 {
					gain = pairWeight * min(worth(a), worth(b))
				}
				if c := best[p.pages[page]]; c != nil {
					c.Score += gain
				}
			})
		}
	}
}
