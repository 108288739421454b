package research

import (
	"context"
	"math"

	"github.com/ktxhq/ktx/research/wiki"
)

// WikiSearchInput is the input of wiki_search.
type WikiSearchInput struct {
	Query string `json:"query"`
	// Limit is the most pages to return. 0 means DefaultWikiLimit.
	Limit int `json:"limit"`
}

// DefaultWikiLimit is how many pages a search returns by default.
const DefaultWikiLimit = 10

// WikiSearch is the answer of wiki_search.
type WikiSearch struct {
	Results    []WikiResult `json:"results"`
	TotalFound int          `json:"totalFound"`

	// Notes are for the reader of the answer: files that could not be read.
	Notes []string `json:"-"`
}

// WikiResult is one page that a search found.
type WikiResult struct {
	Key     string     `json:"key"`
	Path    string     `json:"path"`
	Scope   wiki.Scope `json:"scope"`
	Summary string     `json:"summary"`
	Score   float64    `json:"score"` // 0 to 1; the best page has 1
	// MatchReasons are the fields that hold words of the query, then "stale since …"
	// and "untrusted: …" where that is so.
	MatchReasons []string `json:"matchReasons,omitempty"`
	Lanes        []string `json:"lanes,omitempty"`
}

// The lanes of a page: how it was found.
const (
	laneName = "name" // the query is its key or its title
	laneText = "text" // it holds words of the query
)

// WikiSearch finds pages of the wiki. The best page comes first. A blank query finds
// nothing.
func (s *Service) WikiSearch(_ context.Context, in WikiSearchInput) (WikiSearch, error) {
	out := WikiSearch{Results: []WikiResult{}}
	limit := in.Limit
	if limit <= 0 {
		limit = DefaultWikiLimit
	}
	found, err := s.stores.Load().Wiki.Search(in.Query, limit)
	if err != nil {
		return out, storeError(err)
	}
	best := 0.0
	for _, h := range found.Hits {
		best = max(best, h.Score)
	}
	for i, h := range found.Hits {
		score := math.Round(h.Score/best*1e6) / 1e6
		if i > 0 {
			score = min(score, out.Results[i-1].Score) // a page that is named comes first whatever its words say
		} else {
			score = 1
		}
		out.Results = append(out.Results, WikiResult{
			Key: h.Page.Key, Path: h.Page.Path, Scope: h.Page.Scope, Summary: h.Page.Summary, Score: score,
			MatchReasons: matchReasons(h), Lanes: lanesOf(h),
		})
	}
	out.TotalFound, out.Notes = found.Total, someOf(found.Warnings, maxWarnings)
	return out, nil
}

// maxWarnings is how many warnings about files an answer has.
const maxWarnings = 5

func matchReasons(h wiki.Hit) []string {
	reasons := append([]string(nil), h.Fields...)
	if h.Page.StaleSince != "" {
		reasons = append(reasons, "stale since "+h.Page.StaleSince)
	}
	if h.Page.Untrusted() {
		reasons = append(reasons, "untrusted: source "+wiki.Excerpt(h.Page.Source, 40))
	}
	return reasons
}

func lanesOf(h wiki.Hit) []string {
	var lanes []string
	if h.Named {
		lanes = append(lanes, laneName)
	}
	if len(h.Fields) > 0 {
		lanes = append(lanes, laneText)
	}
	return lanes
}

// handleWikiSearch is [Service.WikiSearch] with its notes.
func (s *Service) handleWikiSearch(ctx context.Context, c *toolCall, in WikiSearchInput) (WikiSearch, error) {
	out, err := s.WikiSearch(ctx, in)
	c.notes = append(c.notes, out.Notes...)
	return out, err
}
