package kit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki/wikitest"
)

// pageResults is how many pages are asked for.
const pageResults = 10

// pagesFound is the part of the answer of wiki_search that counts.
type pagesFound struct {
	Results []struct {
		Key string `json:"key"`
	} `json:"results"`
}

// pages measures wiki_search on the pages and questions of package wikitest.
func (k *kit) pages(ctx context.Context) error {
	p, err := k.project("pages")
	if err != nil {
		return err
	}
	files, questions := wikitest.Fixture()
	if err := errors.Join(p.write(files), p.configure()); err != nil {
		return err
	}
	s, err := startServer(ctx, k.program, p.dir)
	if err != nil {
		return err
	}
	places := make([]int, len(questions)) // 1 is the first; 0 is not found
	err = k.each(ctx, "pages", len(questions), func(ctx context.Context, i int) error {
		var answer pagesFound
		if _, err := s.call(ctx, "wiki_search", map[string]any{"query": questions[i].Text, "limit": pageResults}, &answer); err != nil {
			return fmt.Errorf("%q: %w", questions[i].Text, err)
		}
		for at, r := range answer.Results {
			if r.Key == questions[i].Key {
				places[i] = at + 1
			}
		}
		return nil
	})
	if err = errors.Join(err, s.close()); err != nil {
		return err
	}
	analyzer := rank.NewAnalyzer(nil)
	shares := make([]bool, len(questions))
	for i, q := range questions {
		shares[i] = analyzer.Query(q.Text).Mass(files[q.Key]) > 0
	}
	k.placed("pages", "all questions", bars{0.90, 0.78}, places, func(int) bool { return true })
	k.placed("pages", "all questions, held out", bars{0.90, 0.78}, places, func(i int) bool { return questions[i].Held })
	k.placed("pages", "a word of the page, held out", bars{}, places, func(i int) bool { return questions[i].Held && shares[i] })
	k.placed("pages", "no word of the page, held out", bars{}, places, func(i int) bool { return questions[i].Held && !shares[i] })
	return nil
}

// placed reports the questions that count.
func (k *kit) placed(data, question string, required bars, places []int, counts func(i int) bool) {
	n, hits, reciprocal := 0, 0, 0.0
	for i, place := range places {
		if !counts(i) {
			continue
		}
		n++
		hits += one(place > 0 && place <= 5)
		if place > 0 {
			reciprocal += 1 / float64(place)
		}
	}
	k.report.atLeast(required.recall, data, question, "hit@5", mean(float64(hits), n), n)
	k.report.atLeast(required.mrr, data, question, "MRR", mean(reciprocal, n), n)
}

// write writes pages of the wiki.
func (p *project) write(pages map[string]string) error {
	for key, text := range pages {
		if err := p.putText(filepath.Join(p.dir, "wiki", "global", key+".md"), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// tablesBesidePages is how a project with a wiki is asked for tables.
var tablesBesidePages = row{name: "tables among all kinds and 90 pages, over all databases", k: 15}

// amongPages adds the pages of package wikitest to a project with the schemas of a data
// set, and measures discover_data without kinds: whether pages stand before tables that
// questions of the data set need, and tables before pages that questions of package
// wikitest need.
func (k *kit) amongPages(ctx context.Context, d *dataset, p *project, s *server) error {
	pages, questions := wikitest.Fixture()
	questions = slices.DeleteFunc(questions, func(q wikitest.Question) bool { return q.Held })
	others, letting := wikitest.Letting()
	if err := errors.Join(p.write(pages), p.write(others)); err != nil {
		return err
	}
	if _, _, err := k.row(ctx, d, tablesBesidePages, s, s, nil); err != nil {
		return err
	}
	for _, set := range []struct {
		name      string
		questions []wikitest.Question
	}{{"pages among all kinds, chosen on", questions}, {"pages of letting among all kinds", letting}} {
		places := make([]int, len(set.questions))
		err := k.each(ctx, d.name+", "+set.name, len(places), func(ctx context.Context, i int) error {
			var answer discovered
			if _, err := s.call(ctx, "discover_data", map[string]any{"query": set.questions[i].Text, "limit": deepest}, &answer); err != nil {
				return fmt.Errorf("%q: %w", set.questions[i].Text, err)
			}
			places[i] = 1 + slices.IndexFunc(answer.Refs, func(r discoveredRef) bool { return r.Kind == "wiki" && r.ID == set.questions[i].Key })
			return nil
		})
		if err != nil {
			return err
		}
		k.placed(d.name, set.name, bars{}, places, func(int) bool { return true })
	}
	return nil
}
