package run_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden verdicts")

// TestGoldenVerdicts compares the whole verdict on every case with
// testdata/verdicts.DIALECT.jsonl, one verdict on each line. Builds with and
// without cgo use the same file. Only the name of the parser is left out.
func TestGoldenVerdicts(t *testing.T) {
	t.Parallel()
	all := readable(t)
	for _, d := range judged(t, all) {
		guard := newGuard(t, d)
		var b bytes.Buffer
		for _, c := range all {
			if c.Dialect != d.Name() {
				continue
			}
			v := guard.Check(c.SQL)
			v.Parser = ""
			v.Normalized = shortened(v.Normalized)
			line, err := encode(struct {
				ID      string `json:"id"`
				Verdict any    `json:"verdict"`
			}{c.ID, v})
			if err != nil {
				t.Fatal(err)
			}
			b.Write(line)
		}
		name := filepath.Join("testdata", "verdicts."+d.Name()+".jsonl")
		if *update {
			if err := os.MkdirAll("testdata", 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(want, b.Bytes()) {
			continue
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); len(diff) > 8000 {
			t.Errorf("%s (make golden rewrites it): %s\n…", name, diff[:8000])
		} else {
			t.Errorf("%s (make golden rewrites it): %s", name, diff)
		}
	}
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// shortened returns both ends of a long text. Some cases have several
// kilobytes.
func shortened(text string) string {
	if len(text) <= 1000 {
		return text
	}
	return fmt.Sprintf("%s… %d bytes …%s", text[:200], len(text), text[len(text)-200:])
}
