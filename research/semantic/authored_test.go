package semantic_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/semantic"
)

// TestAuthored: the files of a scan are not files that a person wrote.
func TestAuthored(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files []string
		want  bool
	}{
		{"no folder", nil, false},
		{"a scan alone", []string{"_schema/main.yaml"}, false},
		{"a scan and other files", []string{"_schema/main.yaml", "notes.md", ".orders.yaml"}, false},
		{"an overlay", []string{"_schema/main.yaml", "orders.yml"}, true},
		{"a file alone", []string{"orders.yaml"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range test.files {
				full := filepath.Join(dir, semantic.Folder, "shop", filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(full, []byte("name: x\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = root.Close() }()
			if got := semantic.NewStore(root, time.Now).Authored("shop"); got != test.want {
				t.Errorf("authored is %t, want %t", got, test.want)
			}
		})
	}
}
