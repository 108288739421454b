package ktx_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// codeTable renders every code that the binary lists.
func (c *commandLine) codeTable(t *testing.T) string {
	t.Helper()
	var list struct {
		Codes []struct {
			Code, Family, Title, Summary string
			Retryable                    bool
		}
	}
	c.json(t, "ktx explain --json", &list)
	out := tableHead("code", "family", "title", "summary", "retry")
	for _, code := range list.Codes {
		retry := ""
		if code.Retryable {
			retry = "yes"
		}
		out += row("`"+code.Code+"`", code.Family, code.Title, code.Summary, retry)
	}
	return out
}

// codePages renders the output of ktx explain for each code. It leaves out the cases of
// the corpus, because their number grows.
func (c *commandLine) codePages(t *testing.T) string {
	t.Helper()
	var list struct{ Codes []struct{ Code string } }
	c.json(t, "ktx explain --json", &list)
	var out strings.Builder
	for _, code := range list.Codes {
		var one struct{ Page string }
		c.json(t, "ktx explain "+code.Code+" --json", &one)
		page, _, _ := strings.Cut(one.Page, "\n## Cases\n")
		if strings.Count(page, "\n") < 4 {
			t.Errorf("ktx explain %s says next to nothing: %q", code.Code, page)
		}
		fenced := false
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if !fenced && strings.HasPrefix(line, "#") {
				line = "#" + line
			}
			out.WriteString(line)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// schemaNode holds the members of a JSON Schema that the tables need.
type schemaNode struct {
	Type                 any
	Description, Pattern string
	Enum                 []any
	Minimum, Maximum     *int64
	Default              any
	Properties           map[string]*schemaNode
	AdditionalProperties json.RawMessage
	Items                *schemaNode
	Required             []string
}

// keyTable renders every key of ktx.yaml from the schema that the binary prints. A key
// of connections.ID.guard has no row when guard has the same key. The keys that this
// version ignores share one row.
func (c *commandLine) keyTable(t *testing.T) string {
	t.Helper()
	var root schemaNode
	c.json(t, "ktx config schema", &root)
	type key struct{ path, value, description string }
	var keys []key
	var walk func(path string, n *schemaNode)
	walk = func(path string, n *schemaNode) {
		if path != "" && n.Description != "" && len(n.Properties) == 0 {
			keys = append(keys, key{path, n.value(), n.Description})
		}
		for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
			walk(strings.TrimPrefix(path+"."+key, "."), n.Properties[key])
		}
		var element schemaNode
		if json.Unmarshal(n.AdditionalProperties, &element) == nil && len(element.Properties) > 0 {
			walk(path+".ID", &element)
		}
		if n.Items != nil {
			walk(path+"[]", n.Items)
		}
	}
	walk("", &root)
	out, unused := tableHead("key", "value", "meaning"), map[string][]string{}
	for _, k := range keys {
		same := k
		if path, ok := strings.CutPrefix(k.path, "connections.ID."); ok {
			same.path = path
		}
		switch {
		case same != k && slices.Contains(keys, same):
		case k.value == anyValue:
			unused[k.description] = append(unused[k.description], "`"+k.path+"`")
		default:
			out += row("`"+k.path+"`", k.value, k.description)
		}
	}
	for _, description := range slices.Sorted(maps.Keys(unused)) {
		out += row(strings.Join(unused[description], ", "), anyValue, description)
	}
	return out
}

// anyValue is the entry for the value of a key that has no type.
const anyValue = "–"

// value describes the type of a value in words.
func (n *schemaNode) value() string {
	var allowed []string
	for _, v := range n.Enum {
		if v != nil {
			allowed = append(allowed, fmt.Sprintf("`%v`", v))
		}
	}
	if len(allowed) > 0 {
		return strings.Join(allowed, ", ")
	}
	types, _ := n.Type.([]any)
	kind, _ := n.Type.(string)
	if len(types) > 0 {
		kind, _ = types[0].(string)
	}
	switch {
	case kind == "":
		return anyValue
	case kind == "string" && slices.Contains(types, any("integer")):
		kind = "size"
	case kind == "string" && strings.Contains(n.Pattern, "µs"):
		kind = "duration"
	case kind == "string":
		kind = "text"
	case kind == "array":
		kind = "list"
	case kind == "object":
		kind = "map"
	}
	if n.Minimum != nil && n.Maximum != nil {
		kind += fmt.Sprintf(", %d to %d", *n.Minimum, *n.Maximum)
	}
	return kind
}

// toolTables renders the arguments and results of the MCP tools, from the list that
// clients get.
func toolTables(t *testing.T) string {
	t.Helper()
	type tool struct {
		Name, Title, Description  string
		InputSchema, OutputSchema schemaNode
	}
	var tools []tool
	for _, name := range []string{"tools", "tools-more"} {
		text, err := os.ReadFile("research/testdata/" + name + ".golden.json")
		if err != nil {
			t.Fatal(err)
		}
		var more []tool
		if err := json.Unmarshal(text, &more); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, more...)
	}
	var out strings.Builder
	for _, tool := range tools {
		first, _, _ := strings.Cut(tool.Description, ". ")
		fmt.Fprintf(&out, "### %s\n\n%s.\n\n", tool.Name, strings.TrimSuffix(first, "."))
		for _, part := range []struct {
			title string
			node  *schemaNode
		}{{"argument", &tool.InputSchema}, {"answer", &tool.OutputSchema}} {
			if len(part.node.Properties) == 0 {
				continue
			}
			out.WriteString(tableHead(part.title, "value", "", "what it is"))
			for _, name := range slices.Sorted(maps.Keys(part.node.Properties)) {
				p := part.node.Properties[name]
				when := "optional"
				if slices.Contains(part.node.Required, name) {
					when = "always"
				}
				if p.Default != nil {
					when = fmt.Sprintf("default %v", p.Default)
				}
				value := p.value()
				if p.Minimum != nil && p.Maximum == nil {
					value += ", at least " + strconv.FormatInt(*p.Minimum, 10)
				}
				out.WriteString(row("`"+name+"`", value, when, p.Description))
			}
			out.WriteString("\n")
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// importTable renders the shipped part of the import table.
func importTable() string {
	out := tableHead("package", "of ours", "of others")
	for _, r := range rooms {
		if r.support || r.path == "." {
			continue
		}
		own := slices.Clone(r.ours)
		for i, p := range own {
			own[i] = "`" + p + "`"
			if p == "..." {
				own[i] = "everything except test support"
			}
		}
		others := slices.Sorted(maps.Keys(r.others))
		for i, m := range others {
			others[i] = strings.TrimPrefix(m, "github.com/")
		}
		out += row("`"+r.path+"`", cmp.Or(strings.Join(own, ", "), "–"), cmp.Or(strings.Join(others, ", "), "–"))
	}
	return out
}
