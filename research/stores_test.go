package research_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/memory"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/wiki"
)

// storesOf returns all stores over a new project without files.
func storesOf(t *testing.T) research.Stores {
	t.Helper()
	return storesIn(t, t.TempDir())
}

// storesIn returns all stores over the project in dir.
func storesIn(tb testing.TB, dir string) research.Stores {
	tb.Helper()
	root := catalogtest.Open(tb, dir)
	analyzer := rank.NewAnalyzer(nil)
	pages := wiki.New(root, wiki.Options{Analyzer: analyzer, Now: time.Now})
	return research.Stores{
		Analyzer: analyzer, Catalog: catalog.NewStore(root, time.Now), Dictionary: dictionary.NewStore(root), Wiki: pages, Memory: memory.New(root, memory.Options{Wiki: pages, Now: time.Now, Random: rand.Text}),
		Semantic: semantic.NewStore(root, time.Now),
	}
}
