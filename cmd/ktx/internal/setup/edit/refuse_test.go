package edit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/setup/edit"
)

// A text that cannot be edited without loss is refused, with the position.
func TestSetRefuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		language edit.Language
		text     string
		want     string
	}{
		{"no JSON", edit.JSON, "{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: invalid character '\"' after object value"},
		{"the end is missing", edit.JSON, "{\n  \"ü\": \"x", "line 2, column 10: parsing string: unexpected EOF"},
		{"a column in characters", edit.JSON, "{\"üü\": 1 x}", "line 1, column 10: invalid character 'x'"},
		{"behind a byte order mark", edit.JSON, "\ufeff{x", "line 1, column 2: invalid literal"},
		{"a text with a wrong escape, which is not quoted", edit.JSON, "{\"a\": \"se\\cret\"}", "line 1, column 7: invalid literal"},
		{"a comment without end", edit.JSON, "{} /* x", "line 1, column 4: parsing comment"},
		{"two texts", edit.JSON, "{}\n{}", "line 2, column 1: invalid character '{' after top-level value"},
		{"single quotes", edit.JSON, "{'a': 1}", "line 1, column 2: invalid character"},
		{"a list", edit.JSON, " [1]", "line 1, column 2: the text is not an object"},
		{"not UTF-8", edit.JSON, "{\n \"a\": \"\xff\"}", "line 2, column 8: the text is not UTF-8"},
		{"too deep", edit.JSON, "{\"a\": " + strings.Repeat("[", 2000000), "line 1, column 1006: values are nested more than 1000 deep"},
		{"brackets in texts and comments are not deep", edit.JSON, "{\"a\": \"" + strings.Repeat("\\\"[", 2000) + "\" // " + strings.Repeat("[", 2000) + "\n/*" + strings.Repeat("{", 2000) + "*/}", ""},
		{"a parent that is null", edit.JSON, "{\n  \"mcpServers\": null\n}", "line 2, column 17: mcpServers is not an object"},
		{"a parent that is a list", edit.JSON, "{\"mcpServers\": []}", "line 1, column 16: mcpServers is not an object"},
		{"a parent twice", edit.JSON, "{\n\"mcpServers\": {},\n \"mcpServers\": {}\n}", "line 3, column 2: mcpServers occurs twice"},
		{"a parent twice, once in escapes", edit.JSON, "{\"mcpServers\": {}, \"mcp\\u0053ervers\": {}}", "line 1, column 20: mcpServers occurs twice"},
		{"an entry twice", edit.JSON, "{\"mcpServers\": {\"ktx\": {}, \"ktx\": 1}}", "line 1, column 28: mcpServers.ktx occurs twice"},
		{"something else twice", edit.JSON, "{\"a\": 1, \"a\": 2}", ""},

		{"no TOML", edit.TOML, "a = 1\nb = = 2\n", "line 2, column 5: "},
		{"a column of TOML in characters", edit.TOML, "\ufeffa = \"üü\" x\n", "line 1, column 10: "},
		{"a key twice", edit.TOML, "a = 1\na = 2\n", "line 2, column 1: "},
		{"not UTF-8 in TOML", edit.TOML, "a = 1\n# \xff\n", "line 2, column 3: the text is not UTF-8"},
		{"a value", edit.TOML, "\nmcp_servers = 1\n", "line 2, column 1: mcp_servers is not a table"},
		{"a table on one line", edit.TOML, "  mcp_servers = { a = {} }\n", "line 1, column 3: mcp_servers is a table on one line"},
		{"tables in a list", edit.TOML, "a = 1\n\n[[mcp_servers]]\n", "line 3, column 1: mcp_servers is a list of tables"},
		{"a list of entries", edit.TOML, "[[mcp_servers.ktx]]\na = 1\n", "line 1, column 1: mcp_servers.ktx is a list of tables"},
		{"an entry in several places", edit.TOML, "[mcp_servers.ktx]\na = 1\n[b]\n[mcp_servers.ktx.env]\n", "line 1, column 1: mcp_servers.ktx is written in several places"},
		{"an entry of dotted keys", edit.TOML, "[mcp_servers]\nktx.url = 'a'\n", "line 2, column 1: mcp_servers.ktx is not written as a table"},
		{"too large for TOML", edit.TOML, strings.Repeat("#\n", 1<<19) + "#", "the text is larger than 1 MiB"},
		{"too deep for TOML", edit.TOML, "a = " + strings.Repeat("[", 1000000), "line 1, column 10005: arrays and inline tables are nested"},

		{"no YAML", edit.YAML, "a: 1\n b: 2\n", "line 2: mapping values are not allowed in this context"},
		{"a list of YAML", edit.YAML, "- a\n", "line 1, column 1: expected keys, one in a line"},
		{"one line of YAML", edit.YAML, "{a: 1}\n", "line 1, column 1: expected keys, one in a line"},
		{"two texts of YAML", edit.YAML, "a: 1\n---\nb: 1\n", "the text has more than one document"},
		{"an end of YAML", edit.YAML, "a: 1\n...\n", "the text has more than one document"},
		{"a tab", edit.YAML, "a:\n \tb: 1\n", "line 2, column 2: a tab cannot indent a line"},
		{"a value of YAML", edit.YAML, "\nextensions: x\n", "line 2, column 1: extensions must be written in block style"},
		{"a list below the key", edit.YAML, "extensions:\n- x\n", "line 1, column 1: extensions must be written in block style"},
		{"entries on one line", edit.YAML, "extensions: {a: 1}\n", "line 1, column 1: extensions must be written in block style"},
		{"an alias", edit.YAML, "a: &a {b: 1}\nextensions: *a\n", "line 2, column 1: extensions must be written in block style"},
		{"an anchor", edit.YAML, "extensions: &a\n  b: 1\n", "line 1, column 1: extensions must be written in block style"},
		{"a key of YAML twice", edit.YAML, "extensions:\n  a: 1\nextensions:\n  b: 1\n", "line 3, column 1: the key \"extensions\" occurs twice"},
		{"a byte order mark before YAML", edit.YAML, "\ufeffa: 1\n", "the text begins with a byte order mark"},
		{"too large for YAML", edit.YAML, strings.Repeat("#\n", 1<<19) + "#", "the text is larger than 1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := []string{"mcpServers", "ktx"}
			switch c.language {
			case edit.JSON:
			case edit.TOML:
				path[0] = "mcp_servers"
			case edit.YAML:
				path[0] = "extensions"
			}
			s, err := c.language.Set([]byte(c.text), path, json.RawMessage(`{"url": "x"}`))
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || !s.Empty() || strings.Contains(err.Error(), "cret") {
				t.Errorf("%v, want %q; %+v", err, c.want, s)
			}
		})
	}
}

func TestSetRefusesValues(t *testing.T) {
	for _, c := range []struct {
		language    edit.Language
		value, want string
	}{
		{edit.JSON, ``, "the value is not a JSON object"},
		{edit.JSON, `[]`, "the value: line 1, column 1: the text is not an object"},
		{edit.JSON, `{"a": 1,}`, "the value is not a JSON object"},
		{edit.TOML, `{"a": null}`, "TOML has no null"},
		{edit.TOML, `{"a": 9223372036854775808}`, "with the change the file would not be valid"},
	} {
		if _, err := c.language.Set(nil, []string{"a"}, json.RawMessage(c.value)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.value, err, c.want)
		}
	}
	for _, path := range [][]string{nil, {"a", "\xff"}} {
		if _, err := edit.JSON.Set(nil, path, json.RawMessage(`{}`)); err == nil {
			t.Errorf("%q: no error", path)
		}
	}
	if _, err := edit.Language(7).Set(nil, []string{"a"}, json.RawMessage(`{}`)); err == nil {
		t.Error("a language that is not: no error")
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		language edit.Language
		text     string
		want     string // "" for not found
	}{
		{edit.JSON, "", ""},
		{edit.JSON, "{}", ""},
		{edit.JSON, `{"mcpServers": 1}`, ""},
		{edit.JSON, `{"mcpServers": {/* c */ "ktx" : { "b" : [ 1.0, "\u00e9" , ], "a": null, } } }`, `{"b":[1.0,"\u00e9"],"a":null}`},
		{edit.JSON, `{"mcpServers": {"ktx": 7}}`, `7`},
		{edit.TOML, "", ""},
		{edit.TOML, "mcpServers = 1", ""},
		{edit.TOML, "mcpServers.ktx.url = 'x'\n[mcpServers.ktx.env]\na = nan\nd = 1979-05-27\nf = 1.5\n", `{"env":{"a":"NaN","d":"1979-05-27","f":1.5},"url":"x"}`},
		{edit.TOML, "mcpServers = { ktx = { l = [1, 2, { a = true }] } }", `{"l":[1,2,{"a":true}]}`},
	} {
		got, found, err := c.language.Lookup([]byte(c.text), []string{"mcpServers", "ktx"})
		if err != nil || found != (c.want != "") || string(got) != c.want {
			t.Errorf("%s: %s, %t, %v; want %s", c.text, got, found, err, c.want)
		}
	}
	if _, _, err := edit.JSON.Lookup([]byte("{"), []string{"a"}); err == nil || !strings.HasPrefix(err.Error(), "line 1, column 2: ") {
		t.Errorf("no JSON: %v", err)
	}
}

// The entry is removed even if its text, or the text around it, was changed.
func TestRemoveChanged(t *testing.T) {
	for _, c := range []struct {
		name                string
		language            edit.Language
		before              string
		old, changed, after string // what is edited in the text, and the expected result
	}{
		{name: "the entry", language: edit.JSON, before: "{\n  \"a\": 1\n}\n", old: `"u": 1`, changed: `"u": 2`, after: "{\n  \"a\": 1\n}\n"},
		{name: "a server behind it", language: edit.JSON, before: "{\n  \"a\": 1\n}\n", old: "    }\n  }", changed: "    },\n    \"x\": 1\n  }", after: "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": 1\n  }\n}\n"},
		{name: "a server before it", language: edit.JSON, before: "{\n  \"a\": 1\n}\n", old: "    \"ktx\"", changed: "    \"x\": 1,\n    \"ktx\"", after: "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": 1\n  }\n}\n"},
		{name: "a comment in the parent", language: edit.JSON, before: "{\n  \"a\": 1\n}\n", old: "    \"ktx\"", changed: "    // ours\n    \"ktx\"", after: "{\n  \"a\": 1,\n  \"mcpServers\": {\n    // ours\n  }\n}\n"},
		{name: "nothing is left", language: edit.JSON, before: "", old: `"u": 1`, changed: `"u": 2`, after: "{}\n"},
		{name: "the member before it went", language: edit.JSON, before: "{\n  \"a\": 1\n}\n", old: "\n  \"a\": 1,", changed: "", after: "{}\n"},
		{name: "a member behind a comment", language: edit.JSON, before: "{\n  \"a\": 1 // one\n}\n", old: "\n}\n", changed: ",\n  \"b\": 2\n}\n", after: "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n"},
		{name: "all on one line", language: edit.JSON, before: "{\"a\":1,\"mcpServers\":{\"x\":2}}", old: `"ktx":{"u":1}`, changed: `"ktx": {"u":3} , "y": 1`, after: "{\"a\":1,\"mcpServers\":{\"x\":2,\"y\": 1}}"},
		{name: "a comment behind it", language: edit.JSON, before: "{\n  \"mcpServers\": {\n    \"x\": 1\n  }\n}\n", old: "    }\n", changed: "    } // ours\n", after: "{\n  \"mcpServers\": {\n    \"x\": 1 // ours\n  }\n}\n"},
		{name: "a line comment before it, one line behind", language: edit.JSON, before: "{\n  \"mcpServers\": {\n    \"x\": 1\n  }\n}\n", old: ",\n    \"ktx\": {\n      \"u\": 1\n    }", changed: ", // c\n    \"ktx\": {}, \"y\": 1", after: "{\n  \"mcpServers\": {\n    \"x\": 1, // c\n    \"y\": 1\n  }\n}\n"},

		{name: "a member before its parent", language: edit.JSON, before: "{}\n", old: "{\n  \"mcp", changed: "{\n  \"n\": 1,\n  \"mcp", after: "{\n  \"n\": 1\n}\n"},
		{name: "members around it", language: edit.JSON, before: "{\"mcpServers\":{}}", old: "\"ktx\":{\"u\":1}", changed: "\"x\":1,\"ktx\":{\"u\":1}", after: "{\"mcpServers\":{\"x\":1}}"},

		{name: "the table", language: edit.TOML, before: "a = 1\n\n[b]\nc = 1\n", old: "u = 1", changed: "u = 2", after: "a = 1\n\n[b]\nc = 1\n"},
		{name: "keys in the table", language: edit.TOML, before: "[b]\nc = 1\n", old: "u = 1\n", changed: "u = 1\nv = 2\n\n[z]\n", after: "[b]\nc = 1\n\n[z]\n"},
		{name: "tables below it, apart", language: edit.TOML, before: "[b]\nc = 1\n", old: "u = 1\n", changed: "u = 1\n[z]\n[mcpServers.ktx.env]\na = 'b'\n# end\n", after: "[b]\nc = 1\n\n[z]\n# end\n"},
		{name: "keys with dots", language: edit.TOML, before: "", old: "[mcpServers.ktx]\nu = 1", changed: "mcpServers.x.u = 1\nmcpServers.ktx.u = 1", after: "mcpServers.x.u = 1\n"},
		{name: "keys in the parent", language: edit.TOML, before: "", old: "[mcpServers.ktx]\nu = 1", changed: "[mcpServers]\nktx = { u = 1 }\nx = {}", after: "[mcpServers]\nx = {}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.language.Set([]byte(c.before), entryPath, json.RawMessage(`{"u": 1}`))
			if err != nil {
				t.Fatal(err)
			}
			text := string(s.Apply([]byte(c.before)))
			if strings.Count(text, c.old) != 1 {
				t.Fatalf("%q is not once in %q", c.old, text)
			}
			text = strings.Replace(text, c.old, c.changed, 1)
			got, err := c.language.Remove([]byte(text), entryPath, s)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.after {
				t.Errorf("of %q\ngot  %q\nwant %q", text, got, c.after)
			}
			if again, err := c.language.Remove(got, entryPath, s); err != nil || string(again) != string(got) {
				t.Errorf("removed again: %q, %v", again, err)
			}
		})
	}
}

func TestRemoveRefuses(t *testing.T) {
	for _, c := range []struct {
		language   edit.Language
		text, want string
	}{
		{edit.JSON, "{", "line 1, column 2: "},
		{edit.JSON, `{"mcpServers": {"ktx": 1, "ktx": 2}}`, "line 1, column 27: mcpServers.ktx occurs twice"},
		{edit.TOML, "mcpServers = { ktx = {}, x = {} }\n", "line 1, column 1: mcpServers is a table on one line"},
	} {
		if got, err := c.language.Remove([]byte(c.text), entryPath, edit.Splice{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// A manifest may contain any change. Remove does not trust it.
func TestRemoveWithForeignUndo(t *testing.T) {
	text := `{"a": {"ktx": 1}, "mcpServers": {"x": 1, "ktx": {"u": 1}}, "b": 2}`
	for _, undo := range []edit.Splice{
		{Inserted: `"u"`},
		{Inserted: `, "ktx": {"u": 1}`, Removed: `, "y": 1`},
		{Inserted: text},
		{Inserted: `"b": 2`, Offset: -5},
		{Inserted: `{"u": 1}`, CommaAt: 1 << 40},
		{Inserted: `{"u": 1}`, Created: 1 << 40},
		{Inserted: `, "ktx": {"u": 1}`, Created: -1, Replaced: true},
	} {
		got, err := edit.JSON.Remove([]byte(text), entryPath, undo)
		if want := `{"a": {"ktx": 1}, "mcpServers": {"x": 1}, "b": 2}`; err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v", undo, got, err)
		}
	}
}
