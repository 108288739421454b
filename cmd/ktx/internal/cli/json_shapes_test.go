package cli_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestShapesAreDocumented: docs/json.md names every versioned shape that the
// commands print, and no other.
func TestShapesAreDocumented(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`"(ktx-[a-z-]+/[0-9]+)"`)
	printed := map[string]bool{}
	for _, room := range []string{"..", "../../../../corpus/run", "../../../../sqlcheck"} {
		tree := os.DirFS(room)
		err := fs.WalkDir(tree, ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(tree, path)
			for _, m := range shape.FindAllSubmatch(text, -1) {
				printed[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(printed) < 20 {
		t.Errorf("only %d shapes were found in the sources", len(printed))
	}
	page, err := os.ReadFile("../../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("\\| `(ktx-[a-z-]+/[0-9]+)` \\|").FindAllSubmatch(page, -1) {
		documented[string(m[1])] = true
	}
	for name := range printed {
		if !documented[name] {
			t.Errorf("docs/json.md does not name %s", name)
		}
	}
	for name := range documented {
		if !printed[name] {
			t.Errorf("docs/json.md names %s, which no command prints", name)
		}
	}
}
