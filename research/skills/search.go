package skills

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
)

// Store answers questions about the skills of a project. It is safe for concurrent use.
type Store struct {
	catalog    *Catalog
	state      State
	embedder   Embedder
	categories map[string]string
}

// Options are the settings of a [Store].
type Options struct {
	Catalog *Catalog
	// State keeps uses, ratings and vectors.
	State State
	// Embedder makes vectors. It may be nil.
	Embedder Embedder
	// Categories are texts that agents get with each skill of a category.
	Categories map[string]string
}

// NewStore returns a store. It opens nothing.
func NewStore(o Options) *Store {
	return &Store{catalog: o.Catalog, state: o.State, embedder: o.Embedder, categories: o.Categories}
}

// Catalog returns the skills.
func (s *Store) Catalog() *Catalog { return s.catalog }

// Guidance returns what agents are told of a category, or "".
func (s *Store) Guidance(category string) string { return s.categories[category] }

// Method says how skills were found.
type Method string

// The methods.
const (
	MethodText     Method = "text"     // by words
	MethodHybrid   Method = "hybrid"   // by words and by vectors
	MethodSemantic Method = "semantic" // by vectors; no skill has a word of the question
)

// MinSimilarity is the similarity below which a vector does not find a skill.
const MinSimilarity = 0.35

// nearest is how many vectors a search asks for.
const nearest = 50

// Filter leaves skills out of a search.
type Filter struct {
	Category string // without regard to case; "" for all
	Tier     Tier   // TierNone for all
}

// A Hit is a skill that a search found.
type Hit struct {
	Skill  *Skill
	Counts Counts
	// Similarity is that of the vectors, or 0 if the skill was not found by its vector.
	Similarity float64
	// Why says in which texts of the skill there are words of the question.
	Why string
}

// Found is the answer of a search.
type Found struct {
	Method Method
	Hits   []Hit // the best first
	Total  int   // skills that match, with those beyond the limit
	// Notes say what the search could not do, or left out.
	Notes []string
}

// coverage is the part of a score that depends on how much of the question the skill
// covers, compared with the skill that covers most.
const coverage = 0.5

// Search returns the skills that fit a question, the best first, at most limit. A blank
// question finds all skills, by name.
func (s *Store) Search(ctx context.Context, query string, f Filter, limit int) (Found, error) {
	snapshot, err := s.catalog.Snapshot()
	if err != nil {
		return Found{}, err
	}
	out, list := s.find(ctx, snapshot, query)
	var counts map[string]Counts
	if f.Tier != TierNone {
		counts = s.counts(ctx, nil, &out)
	}
	list = slices.DeleteFunc(list, func(c candidate) bool {
		return f.Category != "" && !strings.EqualFold(c.skill.Category, f.Category) || f.Tier != TierNone && counts[c.skill.Name].Tier() != f.Tier
	})
	out.Total = len(list)
	list = list[:min(limit, len(list))]
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.skill.Name
	}
	fresh, err := s.catalog.fresh(snapshot, names) // supporting files may have changed
	if err != nil {
		return Found{}, err
	}
	if f.Tier == TierNone {
		counts = s.counts(ctx, names, &out)
	}
	q := s.catalog.analyzer.Query(query)
	for _, c := range list {
		skill := fresh.Skill(c.skill.Name)
		if skill == nil {
			out.Total--
			continue
		}
		h := Hit{Skill: skill, Counts: counts[skill.Name], Similarity: c.similarity}
		if !q.Empty() {
			body, _ := fresh.Body(skill)
			h.Why = why(q, skill, body, c)
		}
		out.Hits = append(out.Hits, h)
	}
	return out, nil
}

// candidate is a hit before it is known whether it is returned.
type candidate struct {
	skill      *Skill
	score      float64
	mass       float64
	similarity float64
}

// find returns all skills that fit a question, the best first.
func (s *Store) find(ctx context.Context, snapshot *Snapshot, query string) (Found, []candidate) {
	out := Found{Method: MethodText}
	q := s.catalog.analyzer.Query(query)
	if q.Empty() {
		list := make([]candidate, len(snapshot.skills))
		for i, k := range snapshot.skills {
			list[i] = candidate{skill: k}
		}
		return out, list
	}
	words := snapshot.words(q)
	var vectors []candidate
	if s.embedder != nil {
		vectors = s.vectors(ctx, snapshot, query, &out)
	}
	switch {
	case len(vectors) == 0:
	case len(words) == 0:
		out.Method = MethodSemantic
	default:
		out.Method = MethodHybrid
	}
	list := fuse(words, vectors)
	named := strings.Join(strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), "-")
	if i := slices.IndexFunc(list, func(c candidate) bool { return c.skill.Name == named }); i > 0 {
		first := list[i]
		list = slices.Insert(slices.Delete(list, i, i+1), 0, first)
	}
	return out, list
}

// words returns the skills that have a word of the question, the best first.
func (s *Snapshot) words(q *rank.Query) []candidate {
	indexes := make([]*rank.Index, len(s.shards))
	for i, h := range s.shards {
		indexes[i] = h.index
	}
	var list []candidate
	most := 0.0
	for i, sums := range rank.Score(q, indexes...) {
		for _, doc := range sums.Docs {
			list = append(list, candidate{skill: s.shards[i].skills[doc], score: sums.Score[doc], mass: sums.Mass[doc]})
			most = max(most, sums.Mass[doc])
		}
		sums.Release()
	}
	for i := range list {
		list[i].score *= 1 - coverage + coverage*list[i].mass/most
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.skill.Name, b.skill.Name))
	})
	return list
}

// vectors returns the skills whose vectors are near that of the question, the nearest
// first, each with its share as score. What keeps it from doing so is a note.
func (s *Store) vectors(ctx context.Context, snapshot *Snapshot, query string, out *Found) []candidate {
	model := s.embedder.Model()
	if n, err := s.state.Vectors(ctx, model); err != nil || n == 0 {
		note := "no skill has a vector of " + model.Name + " yet; ktx skills backfill makes them"
		if err != nil {
			note = "the vectors cannot be read: " + err.Error()
		}
		out.Notes = append(out.Notes, "searched by words only: "+note)
		return nil
	}
	vector, err := s.embedder.Query(ctx, query)
	if err != nil {
		out.Notes = append(out.Notes, "searched by words only: "+err.Error())
		return nil
	}
	near, err := s.state.Nearest(ctx, model, vector, nearest)
	if err != nil {
		out.Notes = append(out.Notes, "searched by words only: the vectors cannot be read: "+err.Error())
		return nil
	}
	var list []candidate
	dropped := 0
	for i, share := range shares(near) {
		n := near[i]
		skill := snapshot.Text(n.Text)
		switch {
		case skill == nil: // the skill has changed since, or is a draft now
		case n.Similarity < MinSimilarity:
			dropped++
		default:
			list = append(list, candidate{skill: skill, similarity: n.Similarity, score: share})
		}
	}
	if dropped > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("skills with a similarity below %.2f were left out", MinSimilarity))
	}
	return list
}

// shares divides 1 among the nearest vectors. A share is e times as great where the
// similarity is one standard deviation greater. So a vector that stands out counts much,
// and vectors that hardly differ count little each, however similar a model finds
// unrelated texts. If none differs, all shares are 0.
func shares(near []Near) []float64 {
	out := make([]float64, len(near))
	mean, variance, sum := 0.0, 0.0, 0.0
	for _, n := range near {
		mean += n.Similarity / float64(len(near))
	}
	for _, n := range near {
		variance += (n.Similarity - mean) * (n.Similarity - mean) / float64(len(near))
	}
	if variance < 1e-12 { // similarities have six decimals
		return out
	}
	for i, n := range near {
		out[i] = math.Exp((n.Similarity - near[0].Similarity) / math.Sqrt(variance))
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// vectorWeight is what the shares of all vectors count together, beside the best words.
// Vectors of a weak model seldom move what words found then;
// docs/evidence/discovery-quality.md has figures.
const vectorWeight = 0.5

// fuse merges two ranked lists by their scores. Scores of words count compared with the
// best one.
func fuse(words, vectors []candidate) []candidate {
	if len(vectors) == 0 {
		return words
	}
	list := slices.Clone(words)
	at := map[*Skill]int{}
	for i := range list {
		list[i].score /= words[0].score
		at[list[i].skill] = i
	}
	for _, c := range vectors {
		c.score = float64(c.score * vectorWeight)
		if i, ok := at[c.skill]; ok {
			list[i].score += c.score
			list[i].similarity = c.similarity
		} else {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.similarity, a.similarity), strings.Compare(a.skill.Name, b.skill.Name))
	})
	return list
}

// counts returns the uses and ratings of skills. Without them a search still works.
func (s *Store) counts(ctx context.Context, names []string, out *Found) map[string]Counts {
	counts, err := s.state.Counts(ctx, names)
	if err != nil {
		out.Notes = append(out.Notes, "uses and ratings are missing: "+err.Error())
	}
	return counts
}

// maxWhy is how many words an explanation has.
const maxWhy = 6

// why says where the skill has words of the question, as the skill writes them.
func why(q *rank.Query, k *Skill, body string, c candidate) string {
	var parts []string
	taken := map[string]bool{}
	for _, field := range []struct{ name, text string }{
		{"name", k.Name}, {"description", k.Description}, {"tags", strings.Join(append([]string{k.Category}, k.Tags...), "\n")}, {"body", body},
	} {
		var has []string
		for rest := field.text; len(taken) < maxWhy; {
			start, end, ok := q.Find(rest)
			if !ok || end <= start {
				break
			}
			if word := strings.ToLower(rest[start:end]); !taken[word] {
				taken[word] = true
				has = append(has, excerpt(word, 40))
			}
			rest = rest[end:]
		}
		if len(has) > 0 {
			parts = append(parts, field.name+": "+strings.Join(has, ", "))
		}
	}
	if c.similarity > 0 {
		parts = append(parts, "meaning: "+strconv.FormatFloat(math.Round(c.similarity*100)/100, 'f', -1, 64))
	}
	if len(parts) == 0 {
		return "similar words"
	}
	return strings.Join(parts, "; ")
}
