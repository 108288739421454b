package dialects_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ktxhq/ktx/dialects"
)

// The files that ADDING.md promises are there in every dialect.
func TestFilesOfEveryDialect(t *testing.T) {
	for _, d := range dialects.All() {
		for _, name := range []string{
			"doc.go", "dialect.go", "lex.go", "walk.go", "nodes.go", "functions.go", "session.go",
			"nodes_test.go", "lex_test.go",
		} {
			if _, err := os.Stat(filepath.Join(d.Name(), name)); err != nil {
				t.Errorf("%s: %v", d.Name(), err)
			}
		}
	}
}
