package wiki_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki"
	"github.com/ktxhq/ktx/research/wiki/wikitest"
)

// project returns a folder with these files.
func project(tb testing.TB, files map[string]string) *os.Root {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = root.Close() })
	return root
}

func storeOf(t *testing.T, files map[string]string) *wiki.Store {
	t.Helper()
	return wiki.New(project(t, files), wiki.Options{User: "ann", Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
}

// TestQuality measures how often a search finds the page that a question is about.
// Questions that have no word of their page, not even inflected,
// are counted apart: only synonyms can find their pages.
func TestQuality(t *testing.T) {
	t.Parallel()
	pages, questions := wikitest.Fixture()
	files := map[string]string{}
	for key, text := range pages {
		files["wiki/global/"+key+".md"] = text
	}
	analyzer := rank.NewAnalyzer(nil)
	store := wiki.New(project(t, files), wiki.Options{Analyzer: analyzer, Now: func() time.Time { return time.Now().Add(time.Hour) }})
	var groups [2][2]quality // by half, and by whether the question has a word of its page
	for _, q := range questions {
		found, err := store.Search(q.Text, 10)
		if err != nil {
			t.Fatal(err)
		}
		shares := 0
		if analyzer.Query(q.Text).Mass(pages[q.Key]) > 0 {
			shares = 1
		}
		place := 1 + slices.IndexFunc(found.Hits, func(h wiki.Hit) bool { return h.Page.Key == q.Key })
		if groups[heldHalf(q)][shares].add(place); !q.Held && (place == 0 || place > 5) {
			t.Logf("%s is at place %d (0: not among ten) for %q", q.Key, place, q.Text)
		}
	}
	for half, name := range []string{"chosen on", "held out"} {
		shared, other := groups[half][1], groups[half][0]
		t.Logf("%s: with a word of the page: %v; without: %v", name, shared, other)
		if shared.hit5() < 0.90 || shared.mrr() < 0.78 {
			t.Errorf("%s: %v; hit@5 0.90 and MRR 0.78 are required", name, shared)
		}
		if other.hit5() < 0.35 {
			t.Errorf("%s, without a word of the page: %v; hit@5 0.35 is required", name, other)
		}
	}
}

// qualityOf asks each question among the pages.
func qualityOf(t *testing.T, pages map[string]string, questions []wikitest.Question) (all quality) {
	t.Helper()
	files := map[string]string{}
	for key, text := range pages {
		files["wiki/global/"+key+".md"] = text
	}
	store := storeOf(t, files)
	for _, q := range questions {
		found, err := store.Search(q.Text, 10)
		if err != nil {
			t.Fatal(err)
		}
		all.add(1 + slices.IndexFunc(found.Hits, func(h wiki.Hit) bool { return h.Page.Key == q.Key }))
	}
	t.Log(all)
	return all
}

// TestQualityElsewhere is TestQuality for pages of another trade among all pages.
func TestQualityElsewhere(t *testing.T) {
	t.Parallel()
	others, _ := wikitest.Fixture()
	pages, questions := wikitest.Letting()
	maps.Copy(pages, others)
	all := qualityOf(t, pages, questions)
	if all.hit5() < 0.65 {
		t.Errorf("%v; hit@5 0.65 is required", all)
	}
}

// TestQualityOffice is TestQuality for the pages of a company that sells software.
func TestQualityOffice(t *testing.T) {
	t.Parallel()
	pages, questions := wikitest.Office()
	all := qualityOf(t, pages, questions)
	if all.hit5() < 0.78 || all.mrr() < 0.6 {
		t.Errorf("%v; hit@5 0.78 and MRR 0.6 are required", all)
	}
}

// TestSentences: of two pages with the same words, the one that has them in one sentence
// comes first.
func TestSentences(t *testing.T) {
	t.Parallel()
	store := storeOf(t, map[string]string{
		"wiki/global/a.md": "The courier weighs parcels. Insurance is optional. Pallets travel by lorry. Customs forms come with it.",
		"wiki/global/b.md": "The courier weighs lorries. Insurance travels by it. Pallets come with customs forms. Parcels is optional.",
		"wiki/global/c.md": "Nobody answers the phone at noon. Lunch is at one. Visitors sign a book. The garden is open.",
	})
	for query, want := range map[string]string{"courier parcels": "a", "parcels optional": "b", "pallets customs": "b", "pallets lorry": "a"} {
		found, err := store.Search(query, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Hits) < 2 || found.Hits[0].Page.Key != want {
			t.Errorf("%q: %s is not first of both: %v", query, want, found.Hits)
		}
	}
}

// TestPairs: of two pages with the same words, the one is first in which the words of the
// query stand together, also across the end of a sentence.
func TestPairs(t *testing.T) {
	t.Parallel()
	const filler = " Nobody answers the phone at noon, lunch begins at one, visitors sign a book and leave the garden by the gate. "
	store := storeOf(t, map[string]string{
		"wiki/global/a.md": "Pallets wait for a lorry." + filler + "Customs sends forms. A courier weighs.",
		"wiki/global/b.md": "A courier sends pallets." + filler + "Forms wait for a lorry. Customs weighs.",
	})
	for query, want := range map[string]string{"forms courier": "a", "lorry customs": "b"} {
		found, err := store.Search(query, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Hits) != 2 || found.Hits[0].Page.Key != want || found.Hits[0].Score < found.Hits[1].Score+0.1 {
			t.Errorf("%q: %s is not first of both: %v", query, want, found.Hits)
		}
	}
}

// TestQualityInOtherLanguages asks for pages in eight languages, with other forms of their
// words, and wants the right page first.
func TestQualityInOtherLanguages(t *testing.T) {
	t.Parallel()
	pages, questions := wikitest.Languages()
	files := map[string]string{}
	for key, text := range pages {
		files["wiki/global/"+key+".md"] = text
	}
	store := storeOf(t, files)
	first := map[string]float64{} // the share of each language
	for _, q := range questions {
		found, err := store.Search(q.Text, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Hits) > 0 && found.Hits[0].Page.Key == q.Key {
			first[q.Key[:2]] += 0.1
		} else {
			t.Logf("%s is not first for %q", q.Key, q.Text)
		}
	}
	for _, language := range []string{"de", "fr", "es", "ru", "tr", "ar", "zh", "ja"} {
		if t.Logf("%s: %.1f", language, first[language]); first[language] < 0.75 {
			t.Errorf("%s: the right page is first for %.1f of the questions; 0.8 is required", language, first[language])
		}
	}
}

func heldHalf(q wikitest.Question) int {
	if q.Held {
		return 1
	}
	return 0
}

// quality sums up the places at which searches had the right page.
type quality struct {
	n, hits int
	places  float64
}

func (q *quality) add(place int) {
	q.n++
	if place > 0 {
		q.places += 1 / float64(place)
	}
	if place > 0 && place <= 5 {
		q.hits++
	}
}

func (q quality) hit5() float64 { return float64(q.hits) / float64(q.n) }
func (q quality) mrr() float64  { return q.places / float64(q.n) }

func (q quality) String() string {
	return fmt.Sprintf("%d questions, hit@5 %.3f, MRR %.3f", q.n, q.hit5(), q.mrr())
}

// BenchmarkSearch searches 1,000 pages that do not change.
func BenchmarkSearch(b *testing.B) {
	pages, questions := wikitest.Fixture()
	files := map[string]string{}
	for i := range 15 {
		for key, text := range pages {
			files[fmt.Sprintf("wiki/global/%s-%d.md", key, i)] = text
		}
	}
	store := wiki.New(project(b, files), wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: func() time.Time { return time.Now().Add(time.Hour) }})
	if _, err := store.Snapshot(); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := store.Search(questions[i%len(questions)].Text, 10); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPages reads 5,000 pages of about 60 words anew. It also tells how much memory the pages and
// their indexes hold.
func BenchmarkPages(b *testing.B) {
	pages, _ := wikitest.Fixture()
	files := map[string]string{}
	for i := 0; len(files) < 5000; i++ {
		for key, text := range pages {
			files[fmt.Sprintf("wiki/global/%s-%d.md", key, i)] = text
		}
	}
	root := project(b, files)
	held := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	var store *wiki.Store
	before := held()
	for b.Loop() {
		store = wiki.New(root, wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: func() time.Time { return time.Now().Add(time.Hour) }})
		if _, err := store.Snapshot(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(held()-before, "MB-held")
	runtime.KeepAlive(store)
}
