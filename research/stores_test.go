package research_test

import (
	"testing"
	"time"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/dictionary"
)

// storesOf returns all stores over a new project without files.
func storesOf(t *testing.T) research.Stores {
	t.Helper()
	return storesIn(t, t.TempDir())
}

// storesIn returns all stores over the project in dir.
func storesIn(t *testing.T, dir string) research.Stores {
	t.Helper()
	root := catalogtest.Open(t, dir)
	return research.Stores{Catalog: catalog.NewStore(root, time.Now), Dictionary: dictionary.NewStore(root)}
}
