package research

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/wiki"
	"github.com/ktxhq/ktx/sqlguard"
)

// SearchSkillsInput is the input of search_skills.
type SearchSkillsInput struct {
	Query    string      `json:"query"`
	Category string      `json:"category"`
	Tier     skills.Tier `json:"tier"`
	// Limit is the most skills to return. 0 means DefaultSkillsLimit.
	Limit int `json:"limit"`
}

// DefaultSkillsLimit is how many skills search_skills returns by default.
const DefaultSkillsLimit = 20

// SearchSkills is the answer of search_skills.
type SearchSkills struct {
	SearchMethod skills.Method `json:"searchMethod"`
	Count        int           `json:"count"`
	Skills       []SkillEntry  `json:"skills"`
	Omitted      int           `json:"omitted"`

	// Notes are for the reader of the answer: what the search could not do.
	Notes []string `json:"-"`
}

// SkillEntry is one skill of a list.
type SkillEntry struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Category    *string      `json:"category"`
	Similarity  float64      `json:"similarity,omitempty"`
	Tier        *skills.Tier `json:"tier"`
	Rating      *string      `json:"rating"` // the average, such as 4.5
	Uses        int          `json:"uses"`
}

// SearchSkills finds skills by words, category and tier, or lists them.
func (s *Service) SearchSkills(ctx context.Context, in SearchSkillsInput) (SearchSkills, error) {
	out := SearchSkills{Skills: []SkillEntry{}}
	limit := in.Limit
	if limit <= 0 {
		limit = DefaultSkillsLimit
	}
	found, err := s.stores.Load().Skills.Search(ctx, in.Query, skills.Filter{Category: in.Category, Tier: in.Tier}, limit)
	if err != nil {
		return out, err
	}
	for _, h := range found.Hits {
		out.Skills = append(out.Skills, skillEntry(h))
	}
	out.SearchMethod, out.Count, out.Notes = found.Method, len(out.Skills), found.Notes
	if out.Omitted = found.Total - out.Count; out.Omitted > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d more skills match; narrow the query, or name a category or tier", out.Omitted))
	}
	if out.Count == 0 && in.Category != "" {
		out.Notes = append(out.Notes, s.nearCategories(in.Category)...)
	}
	return out, nil
}

func skillEntry(h skills.Hit) SkillEntry {
	e := SkillEntry{Name: h.Skill.Name, Description: h.Skill.Description, Similarity: h.Similarity, Tier: tierOf(h.Counts), Uses: h.Counts.Uses, Rating: ratingOf(h.Counts)}
	e.Category = filled(h.Skill.Category)
	return e
}

// filled returns a text, or nil for "".
func filled(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func tierOf(c skills.Counts) *skills.Tier {
	t := c.Tier()
	if t == skills.TierNone {
		return nil
	}
	return &t
}

func ratingOf(c skills.Counts) *string {
	if c.Ratings() == 0 {
		return nil
	}
	return filled(skills.ShowAverage(c.Average()))
}

// nearCategories names the categories that are like one that no skill has.
func (s *Service) nearCategories(asked string) []string {
	snapshot, err := s.stores.Load().Skills.Catalog().Snapshot()
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	var known []string
	for _, k := range snapshot.Skills() {
		if strings.EqualFold(k.Category, asked) {
			return nil
		}
		if k.Category != "" && !seen[k.Category] {
			seen[k.Category] = true
			known = append(known, k.Category)
		}
	}
	if near := wiki.Nearest(asked, known, 5); len(near) > 0 {
		return []string{"no skill has this category; the nearest are " + strings.Join(near, ", ")}
	}
	return []string{"no skill has this category"}
}

// skillOf returns a published skill with its files as they are now.
func (s *Service) skillOf(name string) (*skills.Snapshot, *skills.Skill, error) {
	name = strings.TrimSpace(name)
	snapshot, err := s.stores.Load().Skills.Catalog().Fresh(name)
	if err != nil {
		return nil, nil, err
	}
	if k := snapshot.Skill(name); k != nil {
		return snapshot, k, nil
	}
	known := make([]string, len(snapshot.Skills()))
	for i, k := range snapshot.Skills() {
		known[i] = k.Name
	}
	message := fmt.Sprintf("There is no skill %q.", wiki.Excerpt(name, 80))
	if near := wiki.Nearest(name, known, 5); len(near) > 0 {
		message += " Nearest: " + strings.Join(near, ", ") + "."
	}
	return nil, nil, &execution.Error{Code: sqlguard.CodeNotFound, Message: message, Retryable: true, Hint: "find skills with recommend_skills"}
}

// skillError gives an error of reading a skill its code.
func skillError(err error) error {
	if errors.Is(err, skills.ErrChanged) {
		return &execution.Error{Code: sqlguard.CodeNotFound, Message: err.Error(), Retryable: true, Hint: "call again"}
	}
	return err
}

// handleSearchSkills is [Service.SearchSkills] with its notes.
func (s *Service) handleSearchSkills(ctx context.Context, c *toolCall, in SearchSkillsInput) (SearchSkills, error) {
	out, err := s.SearchSkills(ctx, in)
	c.notes = append(c.notes, out.Notes...)
	return out, err
}
