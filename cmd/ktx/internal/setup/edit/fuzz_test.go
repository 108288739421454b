package edit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

func FuzzJSON(f *testing.F) {
	for _, text := range []string{"", "{}", "{ \"mcpServers\": {\"x\": {}, } /* c */ } // d", "\ufeff{\r\n\t\"a\": [1,\r\n2] // c\r\n}", `{"mcpServers":{"ktx":{"a":1}}}`, `{"a":{"b":"ü\u00e9"}}`} {
		f.Add(text, "mcpServers", "ktx", text)
	}
	f.Fuzz(func(t *testing.T, text, parent, key, other string) {
		fuzz(t, edit.JSON, text, []string{parent, key}, other)
	})
}

func FuzzTOML(f *testing.F) {
	for _, text := range []string{"", "a = 1", "[mcp_servers.x]\r\nu = 'y' # c\r\n", "[[a]]\nb.c = \"\"\"\n[x]\n\"\"\"\n", "\ufeff[mcp_servers]\nktx = {}\n", "[mcp_servers.ktx]\na = 1\n\n\n"} {
		f.Add(text, "mcp_servers", "ktx", text)
	}
	f.Fuzz(func(t *testing.T, text, parent, key, other string) {
		fuzz(t, edit.TOML, text, []string{parent, key}, other)
	})
}

func FuzzYAML(f *testing.F) {
	for _, text := range []string{"", "a: 1", "---\nextensions:\n  x:\n    cmd: 'y' # c\r\n", "extensions: {}\nb: |+\n  x\n\n", "extensions:\n# c\n- a\n", "extensions:\n  ktx: {a: *b}\n", "? x\n: &a y\n...\n", "extensions:\nb:\n- c\n- d", "\"extensions\":\n   ktx:\n      a: 1\n   # c\nb: ü"} {
		f.Add(text, "extensions", "ktx", text)
	}
	f.Fuzz(func(t *testing.T, text, parent, key, other string) {
		fuzz(t, edit.YAML, text, []string{parent, key}, other)
	})
}

// fuzz sets and removes a value, and replaces the changed part by another text.
func fuzz(t *testing.T, l edit.Language, text string, path []string, other string) {
	t.Helper()
	value := json.RawMessage(`{"url":"x","headers":{"A":"${B}"}}`)
	s, err := l.Set([]byte(text), path, value)
	if err != nil {
		if _, err := l.Remove([]byte(text), path, edit.Splice{Inserted: other, Created: 1}); err == nil && !readable(l, text) {
			t.Fatal("removed from what cannot be read")
		}
		return
	}
	if !s.Replaced && strings.Trim(s.Removed, " \t\r\n") != "" {
		t.Fatalf("removed %q", s.Removed)
	}
	after := s.Apply([]byte(text))
	if got, found, err := l.Lookup(after, path); err != nil || !found || (l == edit.JSON && !s.Empty() && string(got) != string(value)) {
		t.Fatalf("%s, %t, %v", got, found, err)
	}
	if again, err := l.Set(after, path, value); err != nil || !again.Empty() {
		t.Fatalf("set again: %+v, %v", again, err)
	}
	if !s.Empty() {
		if back, err := l.Remove(after, path, s); err != nil || string(back) != text {
			t.Fatalf("%v\nwant %q\ngot  %q\nof   %q", err, text, back, after)
		}
	}
	removed, err := l.Remove(after, path, edit.Splice{Inserted: other, Removed: text, Created: 1})
	if err != nil {
		return
	}
	if _, found, err := l.Lookup(removed, path); err != nil || found {
		t.Fatalf("removed: %q, %t, %v", removed, found, err)
	}
}

func readable(l edit.Language, text string) bool {
	_, _, err := l.Lookup([]byte(text), []string{"x"})
	return err == nil
}
