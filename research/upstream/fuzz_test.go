package upstream_test

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/research/upstream/upstreamtest"
)

// FuzzLines writes output of a server. What is read is JSON, line by line, within the
// limit.
func FuzzLines(f *testing.F) {
	f.Add("{}\nnot json\n[1]\n")
	f.Add(`{"jsonrpc":"2.0","result":{"id":7,"text":"` + strings.Repeat("a", 300) + `"},"id":42}` + "\n{}\n")
	f.Add(`{"method":"x","id":1,"params":"` + strings.Repeat(`\"`, 200) + `"}` + "\n")
	f.Add("\xff\xfe{\n\r\n\x00")
	f.Fuzz(func(t *testing.T, output string) {
		const limit = 256
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = io.WriteString(w, output)
			_ = w.Close()
		}()
		got, err := io.ReadAll(upstream.NewLines(r, limit))
		_ = r.Close()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(got)) {
			if len(line) > limit+1 || !json.Valid([]byte(line)) {
				t.Errorf("%q gives %q", output, line)
			}
		}
	})
}

// FuzzDefinitions reads definitions of tools, checks arguments by them, and makes
// examples.
func FuzzDefinitions(f *testing.F) {
	for i := range 3 {
		f.Add(upstreamtest.Generated(i), `{"id":"x"}`)
	}
	f.Add(`{"name":"a\u0000b\u202e","inputSchema":{"$ref":"#/$defs/x","$defs":{"x":{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#"}]}}}}`, `{"a":[[[1]]]}`)
	f.Add(`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"enum":[1,"b",null]},"c":{"pattern":"(a+)+$"}},"required":["a"]}}`, `{"a":2,"c":"aaaaaaaaaaaaaaaaaaaaaaaaa!"}`)
	f.Fuzz(func(t *testing.T, definition, arguments string) {
		if !json.Valid([]byte(definition)) {
			return
		}
		tool, problems, err := upstream.Read(definition, arguments)
		if err != nil {
			return
		}
		for _, text := range append(problems, tool.Name, tool.Description, tool.Summary) {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
				t.Errorf("%q shows %q", definition, text)
			}
		}
		if again, _, err := upstream.Read(definition, arguments); err != nil || again.Hash != tool.Hash {
			t.Errorf("%q has two hashes", definition)
		}
	})
}

func FuzzPatterns(f *testing.F) {
	for _, p := range []string{"a*", "!b?", "/^x/i", "[a-z]", "[!a]", "s:t", "/("} {
		f.Add(p, "abc")
	}
	f.Fuzz(func(_ *testing.T, pattern, name string) {
		if p, err := upstream.ParsePatterns([]string{pattern}); err == nil {
			p.Match("server", name)
		}
	})
}
