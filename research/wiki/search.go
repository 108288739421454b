package wiki

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
)

// A Hit is a page that a search found.
type Hit struct {
	Page  *Page
	Score float64 // greater is better; comparable within one search only
	Mass  float64 // as [rank.Hit.Mass], of the best passage
	// Field is where the words were found that count most: key, title, summary,
	// tags, heading or body.
	Field string
	// Fields are all fields of the page that hold a word of the query, in that
	// order.
	Fields []string
	// Start and End are the byte offsets in Page.Body of the first word of the
	// query in the best passage, or anywhere in the body. Both are 0 if the body
	// has none.
	Start, End int
	// Named says that the query is the key or the title of the page.
	Named bool
}

// Found is the answer of a search.
type Found struct {
	Hits  []Hit // the best first
	Total int   // pages that match, including those beyond the limit
	// Warnings are about pages that could not be read.
	Warnings []string
}

// sentenceWeight is what the words count that one sentence of a page has together, beside
// those of the whole passage: words that stand together belong together.
const sentenceWeight = 0.25

// staleFactor lowers the score of a page that says that it is stale.
const staleFactor = 0.5

// Search returns the pages that match a query, at most limit. A query that is the
// key or the title of a page has this page first. An empty query finds nothing.
func (s *Store) Search(query string, limit int) (Found, error) {
	snapshot, err := s.Snapshot()
	if err != nil {
		return Found{}, err
	}
	return snapshot.Search(s.analyzer.Query(query), query, limit), nil
}

// Search is [Store.Search] on the pages of the snapshot. The query q is text as the
// analyzer of the store reads it.
func (n *Snapshot) Search(q *rank.Query, text string, limit int) Found {
	order, expansions := n.candidates(q)
	named := strings.Trim(Slug(text), "-")
	for _, c := range order {
		c.Named = named != "" && (strings.EqualFold(named, c.Page.Key) || named == Slug(c.Page.Title))
		if c.Named {
			c.Field = "key"
		}
	}
	slices.SortFunc(order, compare)
	found := Found{Total: len(order), Warnings: n.Warnings()}
	synonyms := together(n.analyzer, expansions)
	for _, c := range order[:min(limit, len(order))] {
		c.locate(q, synonyms)
		if len(c.Fields) == 0 {
			meaning, _, _ := meaningOf(q)
			c.place(n.analyzer.Query(c.nearestWord(meaning)).Find)
			if len(c.Fields) > 0 {
				c.Field = c.Fields[0]
			}
		}
		found.Hits = append(found.Hits, c.Hit)
	}
	return found
}

// candidates returns the pages that have a word of the query or a synonym of one, each
// with its best passage.
func (n *Snapshot) candidates(q *rank.Query) ([]*candidate, []expansion) {
	known := map[string]bool{}
	var passages, sentences []*rank.Index
	for _, p := range n.parts {
		maps.Copy(known, p.known)
		passages, sentences = append(passages, p.index), append(sentences, p.sentences)
	}
	expansions := expand(n.analyzer, q, known)
	sums, first, direct := score(q, expansions, passages)
	best := map[*Page]*candidate{}
	var order []*candidate
	for i, s := range sums {
		part := n.parts[i]
		for k, doc := range s.Docs {
			l := part.passages[doc]
			page := part.pages[l.page]
			c := best[page]
			switch {
			case c == nil:
				c = &candidate{}
				best[page], order = c, append(order, c)
			case c.Score > s.Score[doc] || c.Score == s.Score[doc] && c.passage.start < l.start:
				continue
			}
			field := int(first[i][doc])
			if k < direct[i] {
				field = s.Field(int(doc))
			}
			*c = candidate{Hit: Hit{Page: page, Score: s.Score[doc], Mass: s.Mass[doc], Field: fields[field].Name}, passage: l.passage}
		}
	}
	together := map[*Page]float64{} // the score of the best sentence
	sums, _, _ = score(q, expansions, sentences)
	for i, s := range sums {
		for _, doc := range s.Docs {
			page := n.parts[i].pages[n.parts[i].sentenceOf[doc]]
			together[page] = max(together[page], s.Score[doc])
		}
		s.Release()
	}
	for _, c := range order {
		c.Score += float64(sentenceWeight * together[c.Page])
	}
	if !q.Foreign() { // the vectors are of English words
		order = n.lift(q, order)
		n.pair(q, order)
	}
	level(order)
	for _, c := range order {
		if c.Page.StaleSince != "" {
			c.Score *= staleFactor
		}
	}
	return order, expansions
}

// score returns the scores of the documents that have words of a query or synonyms of them,
// the field of those that have synonyms only, and how many of the first documents have words.
func score(q *rank.Query, expansions []expansion, indexes []*rank.Index) (sums []*rank.Scores, first [][]uint8, direct []int) {
	sums = rank.Score(weigh(q), indexes...)
	for _, s := range sums {
		first = append(first, make([]uint8, len(s.Score)))
		direct = append(direct, len(s.Docs))
	}
	for _, e := range expansions {
		e.add(indexes, sums, first)
	}
	return sums, first, direct
}

// level gives a page of the user that says the same as the project's page of its key the score
// of that one. They differ a little, because each folder has an index of its own.
func level(order []*candidate) {
	global := map[string]*candidate{}
	for _, c := range order {
		if c.Page.Scope == Global {
			global[c.Page.Key] = c
		}
	}
	for _, c := range order {
		if g := global[c.Page.Key]; g != nil && g != c && g.Page.Title == c.Page.Title && g.Page.Summary == c.Page.Summary &&
			slices.Equal(g.Page.Tags, c.Page.Tags) && g.Page.Body == c.Page.Body {
			c.Score = g.Score
		}
	}
}

// candidate is a hit before it is known whether it is returned.
type candidate struct {
	Hit
	passage passage
}

func compare(a, b *candidate) int {
	if a.Named != b.Named {
		if a.Named {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(rounded(b.Score), rounded(a.Score)), cmp.Compare(a.Page.SortOrder, b.Page.SortOrder),
		strings.Compare(a.Page.Key, b.Page.Key), strings.Compare(string(b.Page.Scope), string(a.Page.Scope)),
	)
}

// rounded is a score as it is told.
func rounded(score float64) float64 { return math.Round(score * 1e6) }

// locate finds where the page has the words of the query, or else synonyms of them.
func (c *candidate) locate(q *rank.Query, synonyms []*rank.Query) {
	c.place(q.Find)
	if len(c.Fields) == 0 {
		c.place(func(text string) (start, end int, ok bool) {
			for _, s := range synonyms {
				if a, b, found := s.Find(text); found && (!ok || a < start) {
					start, end, ok = a, b, true
				}
			}
			return start, end, ok
		})
	}
	if !slices.Contains(c.Fields, c.Field) && len(c.Fields) > 0 {
		c.Field = c.Fields[0]
	}
}

// place finds the fields of the page in which find finds something.
func (c *candidate) place(find func(text string) (start, end int, ok bool)) {
	p := c.Page
	for _, f := range []struct{ name, text string }{
		{"key", p.Key}, {"title", p.Title}, {"summary", p.Summary}, {"tags", strings.Join(slices.Concat(p.Tags, p.SLRefs, p.Tables), "\n")}, {"heading", c.passage.heading},
	} {
		if _, _, ok := find(f.text); ok {
			c.Fields = append(c.Fields, f.name)
		}
	}
	start, end, ok := find(p.Body[c.passage.start:c.passage.end])
	if ok {
		start, end = start+c.passage.start, end+c.passage.start
	} else {
		start, end, ok = find(p.Body)
	}
	if ok {
		c.Start, c.End = start, end
		c.Fields = append(c.Fields, "body")
	}
}
