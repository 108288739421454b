package semantic

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Kind is what a hit is.
type Kind uint8

// The kinds.
const (
	KindSource Kind = iota
	KindMeasure
	KindDimension
)

const kinds = 3

// Index is the searchable form of a model. It is immutable.
type Index struct {
	snapshot *Snapshot
	ranks    [kinds]*rank.Index
	objects  [kinds][]Object // by document
}

// Object is a source, or a measure or a column of it.
type Object struct {
	Source int
	Item   int // measure or column; -1 for a source
}

// The fields of the documents. The names are those of matchedOn.
const (
	fieldName = iota
	fieldBody // of a source: the names in it
	fieldDescription
	fieldDisplay // of a measure or column: its source
	fieldExpr
	fieldSample
)

var fields = []rank.Field{
	fieldName:        {Name: "name", Weight: 3, B: 0.5},
	fieldBody:        {Name: "body", Weight: 1, B: 0.6},
	fieldDescription: {Name: "description", Weight: 1, B: 0.75},
	fieldDisplay:     {Name: "display", Weight: 1.1, B: 0.5},
	fieldExpr:        {Name: "expr", Weight: 0.5, B: 0.75},
	fieldSample:      {Name: "sample_value", Weight: 0.5, B: 0.75},
}

// What an object lends to others, as a share of its score.
const (
	childShare  = 0.4 // of the best measure or column, to its source
	sourceShare = 0.3 // of a source, to its measures and columns
)

// Index returns the index of the model for questions that a reads. It is built once.
func (s *Snapshot) Index(a *rank.Analyzer) *Index {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	if s.index == nil || s.analyzer != a {
		s.index, s.analyzer = newIndex(a, s), a
	}
	return s.index
}

func newIndex(a *rank.Analyzer, s *Snapshot) *Index {
	x := &Index{snapshot: s}
	var builders [kinds]*rank.Builder
	for k := range builders {
		builders[k] = rank.NewBuilder(a, fields)
	}
	add := func(k Kind, o Object, texts ...rank.Text) {
		builders[k].Add(texts...)
		x.objects[k] = append(x.objects[k], o)
	}
	for i, source := range s.model.Sources {
		if source.Denied {
			continue
		}
		var names []string
		for n, m := range source.Measures {
			names = append(names, m.Name)
			add(KindMeasure, Object{i, n}, rank.Text{Field: fieldName, Text: m.Name}, rank.Text{Field: fieldDescription, Text: m.Description},
				rank.Text{Field: fieldDisplay, Text: source.Name}, rank.Text{Field: fieldExpr, Text: m.Text})
		}
		for n, c := range source.Columns {
			if !offered(c) {
				continue
			}
			names = append(names, c.Name)
			add(KindDimension, Object{i, n}, rank.Text{Field: fieldName, Text: c.Name}, rank.Text{Field: fieldDescription, Text: c.Description},
				rank.Text{Field: fieldDisplay, Text: source.Name}, rank.Text{Field: fieldSample, Text: strings.Join(c.Enum, ", ")})
		}
		add(KindSource, Object{i, -1}, rank.Text{Field: fieldName, Text: source.Name}, rank.Text{Field: fieldBody, Text: strings.Join(names, " ")},
			rank.Text{Field: fieldDescription, Text: source.Description}, rank.Text{Field: fieldDisplay, Text: strings.Join(source.Tags, " ")})
	}
	for k := range builders {
		x.ranks[k] = builders[k].Index()
	}
	return x
}

// offered reports whether a column is shown as a dimension.
func offered(c *model.Column) bool { return c.Visibility == model.Public }

// Ranks returns the indexes of the words.
func (x *Index) Ranks() []*rank.Index { return x.ranks[:] }

// Snapshot returns the model that the index is of.
func (x *Index) Snapshot() *Snapshot { return x.snapshot }

// SearchOptions say what a search is for.
type SearchOptions struct {
	Kinds []Kind
	Limit int
	// Authored leaves out what only a scan named: such a source says no more than its
	// table.
	Authored bool
}

// Hit is an object that a search found.
type Hit struct {
	Index int // position of the index among those that were searched
	Kind  Kind
	Object
	Score     float64 // comparable within one search
	Mass      float64 // see [rank.Hit]
	MatchedOn string
}

// Search returns the objects that have a word of the question, best first.
func Search(q *rank.Query, o SearchOptions, indexes ...*Index) []Hit {
	var ranks []*rank.Index
	for _, x := range indexes {
		ranks = append(ranks, x.ranks[:]...)
	}
	scores := rank.Score(q, ranks...)
	defer func() {
		for _, s := range scores {
			s.Release()
		}
	}()
	var hits []Hit
	for n, x := range indexes {
		sources, best := x.lent(scores[n*int(kinds):])
		for _, k := range o.Kinds {
			s := scores[n*int(kinds)+int(k)]
			for _, doc := range s.Docs {
				object := x.objects[k][doc]
				if o.Authored && x.snapshot.model.Sources[object.Source].Form == model.Manifest {
					continue
				}
				h := Hit{Index: n, Kind: k, Object: object, Score: s.Score[doc], Mass: s.Mass[doc], MatchedOn: fields[s.Field(int(doc))].Name}
				if k == KindSource {
					h.Score += float64(childShare * best[object.Source])
				} else {
					h.Score += float64(sourceShare * sources[object.Source])
				}
				hits = append(hits, h)
			}
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Item, b.Item))
	})
	return spread(hits, o.Limit)
}

// lent returns by source its score, and the best score of its measures and columns.
func (x *Index) lent(scores []*rank.Scores) (sources, best map[int]float64) {
	sources, best = map[int]float64{}, map[int]float64{}
	for k := range Kind(kinds) {
		for _, doc := range scores[k].Docs {
			at, score := x.objects[k][doc].Source, scores[k].Score[doc]
			if k == KindSource {
				sources[at] = score
			} else {
				best[at] = max(best[at], score)
			}
		}
	}
	return sources, best
}

// mostColumns is how many columns of one source come before others of it are put last.
const mostColumns = 3

// spread cuts the list, with at most three columns of a source before the rest of its
// columns, so that a wide source does not fill an answer.
func spread(hits []Hit, limit int) []Hit {
	type source struct{ index, source int }
	count := map[source]int{}
	out := make([]Hit, 0, min(len(hits), limit))
	var late []Hit
	for _, h := range hits {
		if key := (source{h.Index, h.Source}); h.Kind == KindDimension {
			if count[key]++; count[key] > mostColumns {
				late = append(late, h)
				continue
			}
		}
		out = append(out, h)
	}
	out = append(out, late...)
	return out[:min(len(out), limit)]
}

// ID returns the name by which sl_query and sl_read_source take the object.
func (x *Index) ID(h *Hit) string {
	source := x.snapshot.model.Sources[h.Source]
	switch h.Kind {
	case KindMeasure:
		return expr.Name{Qualifier: source.Name, Leaf: source.Measures[h.Item].Name}.String()
	case KindDimension:
		return expr.Name{Qualifier: source.Name, Leaf: source.Columns[h.Item].Name}.String()
	case KindSource:
	}
	return source.Name
}
