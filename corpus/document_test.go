package corpus_test

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
)

// TestLines reads cases.json as JSON Lines, and checks which texts are such a document.
func TestLines(t *testing.T) {
	t.Parallel()
	document, err := fs.ReadFile(corpus.Files(), "cases.json")
	if err != nil {
		t.Fatal(err)
	}
	cases, bad, err := corpus.ReadJSONLines(bytes.NewReader(corpus.Lines(document)))
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	if diff := cmp.Diff(corpus.Cases(), cases); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct{ text, want string }{
		{"{\"schema\": [],\n \"cases\": [\n\n{\"id\":\n1}, {\"id\": 2}\n]}", "\n\n\n{\"id\":1}\n{\"id\":2}\n"},
		{`{"cases": [{"id": 1}]}`, "{\"id\":1}\n"},
		{`{"id": 1}`, `{"id": 1}`},
		{"{\"id\": 1}\n{\"cases\": [1]}", "{\"id\": 1}\n{\"cases\": [1]}"},
		{`{"cases": 1}`, `{"cases": 1}`},
		{`[{"cases": []}]`, `[{"cases": []}]`},
		{"no JSON", "no JSON"},
	} {
		if got := string(corpus.Lines([]byte(tt.text))); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}
