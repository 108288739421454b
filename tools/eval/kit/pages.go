package kit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

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
	for key, text := range files {
		if err := p.putText(filepath.Join(p.dir, "wiki", "global", key+".md"), []byte(text)); err != nil {
			return err
		}
	}
	if err := p.configure(); err != nil {
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
	k.placed("all questions", bars{0.90, 0.78}, places, func(int) bool { return true })
	k.placed("all questions, held out", bars{0.90, 0.78}, places, func(i int) bool { return questions[i].Held })
	k.placed("a word of the page, held out", bars{}, places, func(i int) bool { return questions[i].Held && shares[i] })
	k.placed("no word of the page, held out", bars{}, places, func(i int) bool { return questions[i].Held && !shares[i] })
	return nil
}

// placed reports the questions that count.
func (k *kit) placed(question string, required bars, places []int, counts func(i int) bool) {
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
	k.report.atLeast(required.recall, "pages", question, "hit@5", mean(float64(hits), n), n)
	k.report.atLeast(required.mrr, "pages", question, "MRR", mean(reciprocal, n), n)
}
