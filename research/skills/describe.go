package skills

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// maxSimilar is how many similar skills a description has.
const maxSimilar = 3

// Similar returns the three published skills that are most like a skill: by their
// vectors, else by their words, else those of its category with the best ratings.
func (s *Store) Similar(ctx context.Context, snapshot *Snapshot, k *Skill) []*Skill {
	if s.embedder != nil {
		if list := s.neighbours(ctx, snapshot, k); len(list) > 0 {
			return list
		}
	}
	var list []*Skill
	words := snapshot.words(s.catalog.analyzer.Query(strings.Join(append([]string{k.Name, k.Description}, k.Tags...), " ")))
	whole := 0.0 // of the question: the skill has all of its words
	for _, c := range words {
		whole = max(whole, c.mass)
	}
	for _, c := range words {
		if c.skill != k && c.mass >= minShare*whole && len(list) < maxSimilar {
			list = append(list, c.skill)
		}
	}
	if len(list) > 0 || k.Category == "" {
		return list
	}
	var names []string
	for _, other := range snapshot.skills {
		if other != k && strings.EqualFold(other.Category, k.Category) {
			list, names = append(list, other), append(names, other.Name)
		}
	}
	counts, err := s.state.Counts(ctx, names)
	if err != nil {
		counts = nil // then by name
	}
	slices.SortStableFunc(list, func(a, b *Skill) int {
		return cmp.Compare(counts[b.Name].Average(), counts[a.Name].Average())
	})
	return list[:min(maxSimilar, len(list))]
}

// minShare is how much of the words of a skill a lexical neighbour must have.
const minShare = 0.2

// neighbours returns the skills whose vectors are nearest to that of a skill.
func (s *Store) neighbours(ctx context.Context, snapshot *Snapshot, k *Skill) []*Skill {
	model := s.embedder.Model()
	vector, err := s.state.Vector(ctx, model, k.Text)
	if err != nil || vector == nil {
		return nil
	}
	near, err := s.state.Nearest(ctx, model, vector, nearest)
	if err != nil {
		return nil
	}
	var list []*Skill
	for _, n := range near {
		if other := snapshot.Text(n.Text); other != nil && other != k && len(list) < maxSimilar && n.Similarity >= MinSimilarity {
			list = append(list, other)
		}
	}
	return list
}

// Blank reports whether a question has no word to search for.
func (s *Store) Blank(query string) bool { return s.catalog.analyzer.Query(query).Empty() }

// Ratings returns the uses and ratings of a skill, and the newest ratings one by one, at
// most limit.
func (s *Store) Ratings(ctx context.Context, name string, limit int) (Counts, []Rating, error) {
	counts, err := s.state.Counts(ctx, []string{name})
	if err != nil {
		return Counts{}, nil, err
	}
	list, err := s.state.Ratings(ctx, name, limit)
	return counts[name], list, err
}

// Use counts a use of a skill.
func (s *Store) Use(ctx context.Context, name string) error { return s.state.Use(ctx, name) }

// Rate keeps a rating of a skill. Its name must be that of a published skill.
func (s *Store) Rate(ctx context.Context, r Rating) error { return s.state.Rate(ctx, r) }
