package research

import (
	"context"

	"github.com/ktxhq/ktx/research/skills"
)

// RecommendSkillsInput is the input of recommend_skills.
type RecommendSkillsInput struct {
	Query    string `json:"query"`
	Category string `json:"category"`
	// Limit is the most skills to return. 0 means DefaultRecommendLimit.
	Limit int `json:"limit"`
}

// DefaultRecommendLimit is how many skills recommend_skills returns by default.
const DefaultRecommendLimit = 5

// RecommendSkills is the answer of recommend_skills.
type RecommendSkills struct {
	Query        string             `json:"query"`
	SearchMethod skills.Method      `json:"searchMethod"`
	Count        int                `json:"count"`
	Skills       []RecommendedSkill `json:"skills"`

	// Notes are for the reader of the answer: what the search could not do.
	Notes []string `json:"-"`
}

// RecommendedSkill is one skill that fits a task.
type RecommendedSkill struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Category    *string      `json:"category"`
	Similarity  float64      `json:"similarity,omitempty"`
	Tier        *skills.Tier `json:"tier"`
	Uses        int          `json:"uses"`
	Why         string       `json:"why"`
}

// maxQueryShown is how much of a query an answer repeats, in bytes.
const maxQueryShown = 1000

// RecommendSkills finds the skills that fit a task. A blank query finds none.
func (s *Service) RecommendSkills(ctx context.Context, in RecommendSkillsInput) (RecommendSkills, error) {
	store := s.stores.Load().Skills
	out := RecommendSkills{Query: cutText(in.Query, maxQueryShown), SearchMethod: skills.MethodText, Skills: []RecommendedSkill{}}
	if store.Blank(in.Query) {
		out.Notes = append(out.Notes, "the query has no word; search_skills without a query lists all skills")
		return out, nil
	}
	limit := in.Limit
	if limit <= 0 {
		limit = DefaultRecommendLimit
	}
	found, err := store.Search(ctx, in.Query, skills.Filter{Category: in.Category}, limit)
	if err != nil {
		return out, err
	}
	for _, h := range found.Hits {
		out.Skills = append(out.Skills, RecommendedSkill{
			Name: h.Skill.Name, Description: h.Skill.Description, Category: filled(h.Skill.Category),
			Similarity: h.Similarity, Tier: tierOf(h.Counts), Uses: h.Counts.Uses, Why: h.Why,
		})
	}
	out.SearchMethod, out.Count, out.Notes = found.Method, len(out.Skills), found.Notes
	if out.Count == 0 && in.Category != "" {
		out.Notes = append(out.Notes, s.nearCategories(in.Category)...)
	}
	return out, nil
}

// handleRecommendSkills is [Service.RecommendSkills] with its notes.
func (s *Service) handleRecommendSkills(ctx context.Context, c *toolCall, in RecommendSkillsInput) (RecommendSkills, error) {
	out, err := s.RecommendSkills(ctx, in)
	c.notes = append(c.notes, out.Notes...)
	return out, err
}
