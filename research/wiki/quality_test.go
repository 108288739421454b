package wiki_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki"
)

// question asks for one page of testdata/quality.txt, mostly in other words than
// those of the page.
type question struct {
	key, text string
}

// qualityFixture returns the pages of testdata/quality.txt as files, and their
// questions. A page begins with "= key", and its questions with "?".
func qualityFixture(t testing.TB) (pages map[string]string, questions []question) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "quality.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pages = map[string]string{}
	for _, part := range strings.Split("\n"+string(text), "\n= ")[1:] {
		key, rest, _ := strings.Cut(part, "\n")
		var head, body []string
		for line := range strings.SplitSeq(rest, "\n") {
			switch {
			case strings.HasPrefix(line, "? "):
				questions = append(questions, question{key, line[2:]})
			case strings.HasPrefix(line, "summary: "), strings.HasPrefix(line, "tags: "):
				name, value, _ := strings.Cut(line, ": ")
				head = append(head, fmt.Sprintf("%s: %q", name, value))
			default:
				body = append(body, line)
			}
		}
		pages[key] = "---\n" + strings.Join(head, "\n") + "\n---\n" + strings.Join(body, "\n")
	}
	return pages, questions
}

// project returns a folder with these files.
func project(t testing.TB, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func storeOf(t testing.TB, files map[string]string) *wiki.Store {
	t.Helper()
	return wiki.New(project(t, files), wiki.Options{User: "ann", Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
}

// TestQuality measures how often a search finds the page that a question is about.
// The weights were chosen on the questions with an even number; those with an odd
// number were read off only.
func TestQuality(t *testing.T) {
	t.Parallel()
	pages, questions := qualityFixture(t)
	files := map[string]string{}
	for key, text := range pages {
		files["wiki/global/"+key+".md"] = text
	}
	store := storeOf(t, files)
	for half, name := range []string{"chosen on", "held out"} {
		n, hits, sum := 0, 0, 0.0
		for i, q := range questions {
			if i%2 != half {
				continue
			}
			n++
			found, err := store.Search(q.text, 50)
			if err != nil {
				t.Fatal(err)
			}
			rank := 0
			for i, h := range found.Hits {
				if h.Page.Key == q.key {
					rank = i + 1
					break
				}
			}
			if rank > 0 {
				sum += 1 / float64(rank)
			}
			if rank > 0 && rank <= 5 {
				hits++
			} else {
				t.Logf("%s: %q: rank %d", q.key, q.text, rank)
			}
		}
		hit5, mrr := float64(hits)/float64(n), sum/float64(n)
		t.Logf("%s: %d questions, hit@5 %.3f, MRR %.3f", name, n, hit5, mrr)
		if hit5 < 0.90 || mrr < 0.78 {
			t.Errorf("%s: hit@5 %.3f and MRR %.3f; 0.90 and 0.78 are required", name, hit5, mrr)
		}
	}
}
