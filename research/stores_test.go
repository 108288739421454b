package research_test

import (
	"os"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
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
	return research.Stores{Catalog: catalog.NewStore(root, time.Now)}
}
