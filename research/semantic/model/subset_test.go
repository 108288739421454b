package model_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/research/semantic/model"
)

// compare fails if the subset of YAML reads a text otherwise than the library.
func compare(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string,
) (known bool) {
	t.Helper()
	subset, library, known, err := model.ReadBoth(text)
	switch {
	case !known:
	case err != nil:
		t.Fatalf("the library refuses what the subset reads: %v\n%s\n%s", err, text, subset)
	case subset != library:
		t.Fatalf("%s\nsubset:\n%s\nlibrary:\n%s", text, subset, library)
	}
	return known
}

// TestSubset: what the subset of YAML knows, and what it leaves to the library.
func TestSubset(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a: b\n", "a: b", "# first\n\na: b # c\n  # d\n\n", "a: 'it''s' # x\nb: \"x: {y}, #z\"\n", "a: b#c\n", "a: http://x/y\n",
		"a:\n  b:\n    c: d\n  e: f\n", "a:\n- b\n- c: d\n  e: f\n- {}\n- []\ng: h\n", "a:\n    -   b: c\n        d: e\n", "\"on\": x\n'y': z\n",
		"a: {b: c, \"d\": 'e', f: [1, 2.5, true, null, ~], g: {h: -3}}\n", "é: ü\n", "a: ~\nb: null\nc: True\n", "a: sum(x) / count(*)\n",
		"a: (b > 1 and c <> 'x') or d\n", "table name: x\n", "a: 2024-01-01\n", "a: .5\nb: +1\nc: -1\nd: 0x1F\n", "a: b  \nc: d\n",
		"a: x ? y\nb: c, d\ne: [f g, h]\n", "a:   b\n", "a: 'b'   # c\n", orders, customers, regions, manifest,
		string(star(3)["t0.yaml"].Data),
	} {
		if !compare(t, text) {
			t.Errorf("the subset leaves %q to the library", text)
		}
	}
	for _, text := range []string{
		"", "\n", "# nothing\n", "- a\n", "a\n", "{a: b}\n", " a: b\n", "a: b\n c: d\n", "a: b\n c\n", "a: |\n  b\n", "a: >\n  b\n", "a: &b c\n", "a: *b\n", "a: !b c\n",
		"a: \"b\\n\"\n", "a: \"b\n  c\"\n", "a: [b,\n  c]\n", "a: [b, ]\n", "a: {b}\n", "a: {b: }\n", "a: [b: c]\n", "a:\n", "a: b: c\n", "a: b:\n", "a : b\n", "a:\tb\n",
		"a: b\r\n", "---\na: b\n", "a: b\n---\nc: d\n", "a: b\n...\n", "%YAML 1.1\n", "? a\n: b\n", "a:\n  - - b\n", "a:\n  -\n    b: c\n", "<<: {a: b}\n", "a: <<\n",
		"a: @b\n", "a: `b`\n", "a: %b\n", "a: 'b\n", "a: \"b\" c\n", "a: [b] c\n", "a: {b: c}}\n", "a: -\n", "a: ,b\n", "a: ]\n", "a:\n  b: c\n d: e\n", "a: \xff\n", "a: \u2028b\n",
		"\ufeffa: b\n", "a: \u0085b\n", "a: b\x00\n", "a:\n- b\n-c\n", "a: {b: c#d}\n", "a: {b: c #d}\n", "a: ?b\n", "a: :b\n", strings.Repeat("a", 300) + ": b\n",
	} {
		if _, _, known, _ := model.ReadBoth(text); known {
			t.Errorf("the subset reads %q", text)
		}
	}
}

// pieces are what the texts of TestSubsetIsYAML are put together of.
var pieces = []string{
	"a", "b: ", "c:", ": ", ":", "- ", "-", "  ", " ", "\n", "\n", "\n  ", "\n- ", "\n    ", "#", " # x", "{", "}", "[", "]", ", ", ",", "'", "''", "\"", "{a: b}", "[a, b]", "'x'", "\"y\"",
	"null", "~", "true", "é", "\u00a0", "?", "? ", "|", ">", "&a ", "*a", "!x ", "%", "@", "`", "=", "<<", "-1", ".5", "(", ")", "/", "$", "+", "<", "^", ";", "\\", "...", "---", "\t", "a b", "a.b",
	"name: x\n", "list:\n", "  - k: v\n", "    l: w\n", "\n\n", "x#y",
}

// TestSubsetIsYAML: what the subset reads, it reads as the library does.
func TestSubsetIsYAML(t *testing.T) {
	t.Parallel()
	text := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		lines := rapid.IntRange(1, 6).Draw(t, "lines")
		for i := range lines {
			in := 0
			if i > 0 {
				in = 2 * rapid.IntRange(0, 3).Draw(t, "indent")
			}
			b.WriteString(strings.Repeat(" ", in))
			b.WriteString(rapid.SampledFrom([]string{"", "", "", "- "}).Draw(t, "dash"))
			b.WriteString(rapid.SampledFrom([]string{"a", "b", "c", "d-e", "\"f\"", "'g'", "h i", "é", "1"}).Draw(t, "key"))
			b.WriteString(rapid.SampledFrom([]string{": ", ": ", ": ", ":", ":\n", ": # x\n"}).Draw(t, "colon"))
			b.WriteString(rapid.SampledFrom([]string{"x", "'it''s'", "\"y: #z\"", "", "{a: b, c: [d, -1]}", "[]", "null", "~", "true", "a # b", "a#b", "-x", "x y  ", ".5", "{a: {b: 'c'}}"}).Draw(t, "value"))
			if rapid.IntRange(0, 5).Draw(t, "odd") == 0 {
				b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
			}
			b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n\n", "\n  # y\n"}).Draw(t, "end"))
		}
		return b.String()
	})
	known, tried := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for _, text := range rapid.SliceOfN(text, 20, 20).Draw(t, "texts") {
			tried++
			if compare(t, text) {
				known++
			}
		}
	})
	if known < tried/50 {
		t.Errorf("of %d texts, %d are of the subset: the test compares nothing", tried, known)
	}
	t.Logf("of %d texts, %d are of the subset", tried, known)
}

// FuzzSubset compares the two readers on any text.
func FuzzSubset(f *testing.F) {
	for _, text := range []string{orders, customers, regions, manifest, shop, people, "a:\n- b\n- c: 'd'\n  \"e\": {f: [g, -1, null]} # h\n", strings.Join(pieces, "")} {
		f.Add(text)
	}
	for _, text := range validFiles {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { compare(t, text) })
}
