package research

import (
	"context"
	"fmt"
	"time"

	"github.com/ktxhq/ktx/research/skills"
)

// DescribeSkillInput is the input of describe_skill.
type DescribeSkillInput struct {
	Name string `json:"name"`
}

// DescribeSkill is the answer of describe_skill: everything about a skill but its text.
type DescribeSkill struct {
	Name          string         `json:"name"`
	Description   string         `json:"description"`
	Category      *string        `json:"category"`
	Tags          []string       `json:"tags"`
	License       *string        `json:"license"`
	Compatibility *string        `json:"compatibility"`
	Author        *string        `json:"author"`
	ForkedFrom    *string        `json:"forkedFrom"`
	AllowedTools  []string       `json:"allowedTools"`
	URI           string         `json:"uri"`
	Files         []SkillFile    `json:"files"`
	Tier          *skills.Tier   `json:"tier"`
	Uses          int            `json:"uses"`
	Rating        *string        `json:"rating"`
	Ratings       [5]int         `json:"ratings"` // how many have 1 to 5 stars
	Reviews       []SkillReview  `json:"reviews"`
	Omitted       int            `json:"omittedReviews"`
	Forks         int            `json:"forks"`
	Similar       []SimilarSkill `json:"similar"`

	// Notes are for the reader of the answer: what could not be read.
	Notes []string `json:"-"`
}

// SkillFile is a file of a skill.
type SkillFile struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// SkillReview is a rating with what its author wrote.
type SkillReview struct {
	Stars   int    `json:"stars"`
	Comment string `json:"comment"`
	By      string `json:"by"`
	At      string `json:"at"`
}

// SimilarSkill is a skill that is like another.
type SimilarSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// maxReviews is how many reviews a description has.
const maxReviews = 10

// DescribeSkill returns what is known of a skill.
func (s *Service) DescribeSkill(ctx context.Context, in DescribeSkillInput) (DescribeSkill, error) {
	snapshot, k, err := s.skillOf(in.Name)
	if err != nil {
		return DescribeSkill{}, err
	}
	store := s.stores.Load().Skills
	out := DescribeSkill{
		Name: k.Name, Description: k.Description, Category: filled(k.Category), Tags: listOf(k.Tags), License: filled(k.License),
		Compatibility: filled(k.Compatibility), Author: filled(k.Author), ForkedFrom: filled(k.ForkedFrom), AllowedTools: listOf(k.AllowedTools),
		URI: skillURI(k.Name, skills.Main), Files: []SkillFile{}, Reviews: []SkillReview{}, Similar: []SimilarSkill{}, Forks: snapshot.Forks(k.Name),
	}
	if k.ForkedFrom != "" && snapshot.Skill(k.ForkedFrom) == nil {
		out.ForkedFrom = nil // it is not here, or not published
	}
	for _, f := range k.Files {
		out.Files = append(out.Files, SkillFile{f.Path, f.Size, f.Digest})
	}
	counts, reviews, err := store.Ratings(ctx, k.Name, maxReviews)
	if err != nil {
		out.Notes = append(out.Notes, "uses and ratings are missing: "+err.Error())
	}
	out.Tier, out.Uses, out.Rating, out.Ratings = tierOf(counts), counts.Uses, ratingOf(counts), counts.Stars
	for _, r := range reviews {
		out.Reviews = append(out.Reviews, SkillReview{r.Stars, r.Comment, r.Rater, r.Time.UTC().Format(time.RFC3339)})
	}
	if out.Omitted = counts.Ratings() - len(out.Reviews); out.Omitted > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d older reviews are left out", out.Omitted))
	}
	for _, other := range store.Similar(ctx, snapshot, k) {
		out.Similar = append(out.Similar, SimilarSkill{other.Name, other.Description})
	}
	return out, nil
}

// listOf returns a list that is encoded as [] if it is empty.
func listOf(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// skillURI returns the resource of a file of a skill.
func skillURI(name, file string) string { return "skill://" + name + "/" + escapePath(file) }

// handleDescribeSkill is [Service.DescribeSkill] with its notes.
func (s *Service) handleDescribeSkill(ctx context.Context, c *toolCall, in DescribeSkillInput) (DescribeSkill, error) {
	out, err := s.DescribeSkill(ctx, in)
	c.notes = append(c.notes, out.Notes...)
	return out, err
}
