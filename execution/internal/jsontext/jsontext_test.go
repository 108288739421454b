package jsontext_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution/internal/jsontext"
)

var errMalformed = errors.New("malformed")

func quoted(text string, out *jsontext.Text) error {
	r := jsontext.Reader{Reader: bufio.NewReader(strings.NewReader(text)), Malformed: errMalformed}
	return r.Quoted(out)
}

// TestQuoted compares the text of any string with what the standard library wrote.
func TestQuoted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		keep := int64(rapid.IntRange(-1, len(want)+1).Draw(t, "keep"))
		over := 0
		out := jsontext.Text{Keep: keep, Over: func() { over++ }}
		if err := quoted(string(raw[1:]), &out); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		kept, wantOver := want[:min(max(int(keep), 0), len(want))], 0
		if keep >= 0 && int(keep) < len(want) {
			wantOver = 1
		}
		if string(out.Bytes) != kept || out.Size != int64(len(want)) || over != wantOver {
			t.Errorf("%s: kept %q of %d bytes, over %d times; want %q of %d, %d times", raw, out.Bytes, out.Size, over, kept, len(want), wantOver)
		}
	})
}

// TestMalformed has what is no string, and strings that do not end.
func TestMalformed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"a\nb\"": errMalformed, `\x"`: errMalformed, `\u12g4"`: errMalformed, `\ud800"`: errMalformed, `\ud800\n"`: errMalformed, `\ud800\u0041"`: errMalformed,
		`\udc00\ud800"`: errMalformed, "": io.ErrUnexpectedEOF, "abc": io.ErrUnexpectedEOF, `\`: io.ErrUnexpectedEOF, `\u00`: io.ErrUnexpectedEOF,
	} {
		if err := quoted(text, &jsontext.Text{Keep: 100}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
