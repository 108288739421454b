package research_test

import (
	"crypto/rand"
	"os"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/memory"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/wiki"
)

// storesOf returns all stores over a new project without files.
func storesOf(t *testing.T) research.Stores {
	t.Helper()
	return storesIn(t, t.TempDir())
}

// storesIn returns all stores over the project in dir.
func storesIn(t *testing.T, dir string) research.Stores {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	pages := wiki.New(root, wiki.Options{Analyzer: rank.NewAnalyzer(nil), Now: time.Now})
	return research.Stores{
		Catalog: catalog.NewStore(root, time.Now), Wiki: pages, Memory: memory.New(root, memory.Options{Wiki: pages, Now: time.Now, Random: rand.Text}),
	}
}
