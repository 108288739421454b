package edit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

var entryPath = []string{"mcpServers", "ktx"}

const entry = `{"type":"http","url":"http://x/mcp","headers":{"Authorization":"Bearer ${T}"}}`

func TestSetJSON(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		path                []string
		value               string
	}{
		{name: "a new file", after: "{\n  \"mcpServers\": {\n    \"ktx\": {\n      \"type\": \"http\",\n      \"url\": \"http://x/mcp\",\n      \"headers\": {\n        \"Authorization\": \"Bearer ${T}\"\n      }\n    }\n  }\n}\n", value: entry},
		{name: "blanks", before: " \r\n", after: "{\r\n  \"mcpServers\": {\r\n    \"ktx\": {\r\n      \"u\": 1\r\n    }\r\n  }\r\n}\r\n"},
		{name: "an empty object", before: "{}", after: "{\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n}"},
		{name: "an empty object with blanks", before: "{ }\n", after: "{\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n}\n"},
		{name: "an empty object with lines", before: "{\n\n}\n", after: "{\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n\n}\n"},
		{name: "nothing but a comment", before: "{ /* none */ }", after: "{ /* none */\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n}"},
		{name: "nothing but a line comment", before: "{ // none\n}", after: "{ // none\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n}"},
		{name: "no newline at the end of a comment", before: "{} // end", after: "{\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n} // end"},
		{name: "minified", before: `{"a":1}`, after: `{"a":1,"mcpServers":{"ktx":{"u":1}}}`},
		{name: "minified, with servers", before: `{"mcpServers":{"x":{}},"b":1}`, after: `{"mcpServers":{"x":{},"ktx":{"u":1}},"b":1}`},
		{name: "minified, no servers", before: `{"mcpServers":{},"b":1}`, after: `{"mcpServers":{"ktx":{"u":1}},"b":1}`},
		{name: "one line", before: `{ "a": [1, 2], "b": 1 }`, after: `{ "a": [1, 2], "b": 1, "mcpServers": { "ktx": { "u": 1 } } }`},
		{name: "one line with a comment", before: `{ "a": 1 /* one */ }`, after: `{ "a": 1, /* one */ "mcpServers": { "ktx": { "u": 1 } } }`},
		{name: "one line with a line comment", before: "{ \"a\": 1 // one\n}", after: "{ \"a\": 1, // one\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n}"},
		{name: "tabs", before: "{\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t},\n\t\"z\": 1\n}\n", after: "{\n\t\"mcpServers\": {\n\t\t\"a\": {},\n\t\t\"ktx\": {\n\t\t\t\"u\": 1\n\t\t}\n\t},\n\t\"z\": 1\n}\n"},
		{name: "four", before: "{\n    \"z\": 1,\n    \"mcpServers\": {}\n}", after: "{\n    \"z\": 1,\n    \"mcpServers\": {\n        \"ktx\": {\n            \"u\": 1\n        }\n    }\n}"},
		{name: "odd", before: "  {\n     \"z\"  :  [ ]\n  }", after: "  {\n     \"z\"  :  [ ],\n     \"mcpServers\"  :  {\n        \"ktx\"  :  {\n           \"u\"  :  1\n        }\n     }\n  }"},
		{name: "CRLF", before: "{\r\n  \"a\": 1\r\n}\r\n", after: "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"ktx\": {\r\n      \"u\": 1\r\n    }\r\n  }\r\n}\r\n"},
		{name: "a trailing comma", before: "{\n  \"a\": 1,\n}\n", after: "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1,\n    },\n  },\n}\n"},
		{name: "a trailing comma and a comment", before: "{\n  \"a\": 1, // one\n}\n", after: "{\n  \"a\": 1, // one\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1,\n    },\n  },\n}\n"},
		{name: "a comment behind the last", before: "{\n  \"a\": 1 // one\n}\n", after: "{\n  \"a\": 1, // one\n  \"mcpServers\": {\n    \"ktx\": {\n      \"u\": 1\n    }\n  }\n}\n"},
		{name: "comments everywhere", before: "/*0*/{/*1*/\"mcpServers\"/*2*/:/*3*/{/*4*/\n  \"a\":1/*5*/\n/*6*/}/*7*/,/*8*/}//9", after: "/*0*/{/*1*/\"mcpServers\"/*2*/:/*3*/{/*4*/\n  \"a\":1,/*5*/\n/*6*/\n  \"ktx\":{\n    \"u\":1\n  }}/*7*/,/*8*/}//9"},
		{name: "a byte order mark", before: "\ufeff{\n \"a\": 1\n}", after: "\ufeff{\n \"a\": 1,\n \"mcpServers\": {\n  \"ktx\": {\n   \"u\": 1\n  }\n }\n}"},
		{name: "replaced", before: "{\n  \"mcpServers\": {\"ktx\": {\"old\": 1} /* ours */, \"b\": 1}\n}", after: "{\n  \"mcpServers\": {\"ktx\": {\"u\": 1} /* ours */, \"b\": 1}\n}"},
		{name: "a path as a key", path: []string{"projects", "/home/ü/\"q\"", "mcpServers", "ktx"}, before: "{\n  \"projects\": {\n    \"/home/\\u00fc/\\\"q\\\"\": {\n      \"a\": []\n    }\n  }\n}", after: "{\n  \"projects\": {\n    \"/home/\\u00fc/\\\"q\\\"\": {\n      \"a\": [],\n      \"mcpServers\": {\n        \"ktx\": {\n          \"u\": 1\n        }\n      }\n    }\n  }\n}"},
		{name: "a list in the value", before: "{\n}", value: `{"args":["a","b"],"e":{},"l":[]}`, after: "{\n  \"mcpServers\": {\n    \"ktx\": {\n      \"args\": [\n        \"a\",\n        \"b\"\n      ],\n      \"e\": {},\n      \"l\": []\n    }\n  }\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.path == nil {
				c.path = entryPath
			}
			if c.value == "" {
				c.value = `{"u": 1}`
			}
			checkSet(t, edit.JSON, c.before, c.path, c.value, c.after)
		})
	}
}

// checkSet sets, sets again and removes.
func checkSet(t *testing.T, l edit.Language, before string, path []string, value, want string) {
	t.Helper()
	s, err := l.Set([]byte(before), path, json.RawMessage(value))
	if err != nil {
		t.Fatal(err)
	}
	after := s.Apply([]byte(before))
	if diff := cmp.Diff(want, string(after)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !s.Replaced && strings.Trim(s.Removed, " \t\r\n") != "" {
		t.Errorf("removed %q", s.Removed)
	}
	if again, err := l.Set(after, path, json.RawMessage(value)); err != nil || !again.Empty() {
		t.Errorf("set again: %+v, %v", again, err)
	}
	back, err := l.Remove(after, path, s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, string(back)); diff != "" {
		t.Errorf("removed, -want +got:\n%s", diff)
	}
	if structural, err := l.Remove(after, path, edit.Splice{Created: s.Created}); err != nil && !strings.Contains(err.Error(), "not in a line of its own") {
		t.Errorf("without undo: %v", err)
	} else {
		t.Logf("without undo: %s", structural)
	}
}

func TestSetTOML(t *testing.T) {
	const section = "[mcp_servers.ktx]\nurl = \"http://x/mcp\"\nenv = { A = \"b\" }"
	for _, c := range []struct {
		name, before, after string
	}{
		{"a new file", "", section + "\n"},
		{"blanks", "\n\n", section + "\n"},
		{"a table", "model = \"x\"\n\n[a]\nb = 1 # c\n", "model = \"x\"\n\n[a]\nb = 1 # c\n\n" + section + "\n"},
		{"no newline at the end", "a = 1", "a = 1\n\n" + section},
		{"a blank line at the end", "a = 1\n\n", "a = 1\n\n" + section + "\n"},
		{"a comment at the end", "a = 1\n# end", "a = 1\n# end\n\n" + section},
		{"CRLF", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(section, "\n", "\r\n") + "\r\n"},
		{"a byte order mark", "\ufeffa = 1\n", "\ufeffa = 1\n\n" + section + "\n"},
		{"another server", "[mcp_servers.x]\nurl = \"y\"\n[[list]]\na = 1\n", "[mcp_servers.x]\nurl = \"y\"\n[[list]]\na = 1\n\n" + section + "\n"},
		{"dotted keys", "mcp_servers.x.url = \"y\"\n", "mcp_servers.x.url = \"y\"\n\n" + section + "\n"},
		{"replaced", "[mcp_servers.ktx] # ours\nurl = \"y\" # u\n\n[b]\n", section + " # u\n\n[b]\n"},
		{"replaced on one line", "[mcp_servers]\n\"ktx\" = {url = \"y\"} # u\n", "[mcp_servers]\n\"ktx\" = { url = \"http://x/mcp\", env = { A = \"b\" } } # u\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkSet(t, edit.TOML, c.before, []string{"mcp_servers", "ktx"}, `{"url": "http://x/mcp", "env": {"A": "b"}}`, c.after)
		})
	}
}

// A value in TOML is on lines of its own, whatever it contains.
func TestSetTOMLValues(t *testing.T) {
	s, err := edit.TOML.Set(nil, []string{"projects", "/a b/\"ü\"", ""}, json.RawMessage(`{"a.b": "\t\n\r\"\\\u0001\u007fü😀", "l": [1, [true, 1.50], {}, {"x y": "'"}], "e": {}, "n": -1e+3}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "[projects.\"/a b/\\\"ü\\\"\".\"\"]\n" +
		"\"a.b\" = \"\\t\\n\\r\\\"\\\\\\u0001\\u007Fü😀\"\n" +
		"l = [1, [true, 1.50], {}, { \"x y\" = \"'\" }]\n" +
		"e = {}\n" +
		"n = -1e+3\n"
	if diff := cmp.Diff(want, s.Inserted); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSetYAML(t *testing.T) {
	const (
		entry   = "  ktx:\n    url: \"http://x/mcp\"\n    env:\n      A: \"b\"\n    args: [\"c\", 1, true]\n"
		section = "extensions:\n" + entry
	)
	deeper := strings.ReplaceAll(entry, "\n", "\n  ")
	for _, c := range []struct {
		name, before, after string
	}{
		{"a new file", "", section},
		{"a comment", "# mine\n", "# mine\n" + section},
		{"another key", "model: x # c\n", "model: x # c\n" + section},
		{"no newline at the end", "model: x", "model: x\n" + strings.TrimSuffix(section, "\n")},
		{"CRLF", "model: x\r\n", "model: x\r\n" + strings.ReplaceAll(section, "\n", "\r\n")},
		{"another entry", "extensions: # all\n  # first\n  developer:\n    args:\n    - a\n  # last\n\nz: 1\n", "extensions: # all\n" + entry + "  # first\n  developer:\n    args:\n    - a\n  # last\n\nz: 1\n"},
		{"deeper", "extensions:\n    developer: {a: 1}\n", "extensions:\n  " + strings.TrimSuffix(deeper, "  ") + "    developer: {a: 1}\n"},
		{"a key without a value", "extensions:\nz: 1\n", section + "z: 1\n"},
		{"a key without a value at the end", "z: 1\nextensions:", "z: 1\n" + strings.TrimSuffix(section, "\n")},
		{"empty braces", "ü: 'é'\nextensions: {} # none\nz: 1\n", "ü: 'é'\nextensions: {\"ktx\": {\"url\": \"http://x/mcp\", \"env\": {\"A\": \"b\"}, \"args\": [\"c\", 1, true]}} # none\nz: 1\n"},
		{"a text of several lines", "a: |+\n  extensions:\n    ktx: 1\n\n", "a: |+\n  extensions:\n    ktx: 1\n\n" + section},
		{"replaced", "extensions:\n  ktx:\n    url: y\n    # in it\n    list:\n    - a\n  # after\n  z: 1\n", "extensions:\n" + entry + "  # after\n  z: 1\n"},
		{"replaced at the end", "extensions:\n  ktx: {url: y}", "extensions:\n" + strings.TrimSuffix(entry, "\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkSet(t, edit.YAML, c.before, []string{"extensions", "ktx"}, `{"url": "http://x/mcp", "env": {"A": "b"}, "args": ["c", 1, true]}`, c.after)
		})
	}
}
