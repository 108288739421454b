package dialects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestConstants: each line of testdata/constants/DIALECT.refused.txt makes a long value from
// constants, or work without end. Each line of DIALECT.passes.txt is a statement that analysts
// write.
func TestConstants(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/constants/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, file := range files {
		name, kind, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), ".")
		t.Run(name+" "+kind, func(t *testing.T) {
			t.Parallel()
			d, ok := dialects.Lookup(name)
			if !ok {
				t.Fatalf("no dialect %s", name)
			}
			guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for sql := range strings.Lines(string(text)) {
				v := guard.CheckOnce(strings.TrimSpace(sql))
				if kind == "passes" && !v.Allowed || kind == "refused" && v.Code != sqlguard.CodeInputTooLarge {
					t.Errorf("%s%t, %s: %v", sql, v.Allowed, v.Code, v.Findings)
				}
			}
		})
	}
}
