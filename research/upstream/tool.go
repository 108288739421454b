package upstream

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// The limits of what a server may list. What is beyond them is left out, with a
// warning.
const (
	maxTools     = 5000 // of one server
	maxPages     = 500
	maxPage      = 8 << 20   // of one page, in bytes
	maxToolBytes = 256 << 10 // of one definition
	maxListBytes = 16 << 20  // of all definitions of one server
)

// How many definitions of one server ktx trusts at most. A server that lists ever other
// tools must not fill the file that has those of all servers.
const (
	maxPins     = 2 * maxTools
	maxPinBytes = maxListBytes
)

// Tool is a tool of a server, as the server defined it.
type Tool struct {
	Server      string
	Name        string // as it is shown and called by agents
	Title       string
	Description string
	Summary     string // the first sentence of the description
	ReadOnly    bool   // annotated with readOnlyHint
	Destructive bool   // annotated with destructiveHint
	Idempotent  bool   // annotated with idempotentHint
	Parameters  []Parameter
	// Definition is the tool as the server sent it.
	Definition json.RawMessage
	// Hash is that of name, title, description, schemas and annotations.
	Hash string

	raw string // the name that the server knows it by

	check     sync.Once
	validator *validator
	invalid   error
}

// Parameter is a top-level argument of a tool.
type Parameter struct {
	Name, Description string
	Type              string // of JSON Schema; "" when there is none or more than one
	Required          bool
}

// definition is what ktx reads of a tool's definition.
type definition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  json.RawMessage `json:"annotations"`
}

type annotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
}

// parseTool reads a definition.
func parseTool(server string, raw json.RawMessage) (*Tool, error) {
	if len(raw) > maxToolBytes {
		return nil, fmt.Errorf("a definition has %d bytes, at most %d are read", len(raw), maxToolBytes)
	}
	var d definition
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("a definition is not a tool")
	}
	t := &Tool{Server: server, raw: d.Name, Name: clean(d.Name, maxName), Description: clean(d.Description, maxDescription), Definition: compacted(raw)}
	if t.Name == "" {
		return nil, fmt.Errorf("a tool has no name")
	}
	var a annotations
	if len(d.Annotations) > 0 {
		if err := json.Unmarshal(d.Annotations, &a); err != nil {
			return nil, fmt.Errorf("tool %s: its annotations cannot be read", t.Name)
		}
	}
	t.Title = clean(cmp.Or(d.Title, a.Title), maxName)
	t.Summary = clean(firstSentence(t.Description), maxSummary)
	t.ReadOnly, t.Destructive, t.Idempotent = a.ReadOnly && !a.Destructive, a.Destructive, a.Idempotent
	t.Parameters = parameters(d.InputSchema)
	t.Hash = d.hash()
	return t, nil
}

// compacted returns a JSON text without white space.
func compacted(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return bytes.Clone(raw)
	}
	return bytes.Clone(b.Bytes())
}

// hash returns the hash of what a person approves. Two definitions that differ in the
// order of their keys only have the same.
func (d *definition) hash() string {
	sum := sha256.New()
	for _, part := range []json.RawMessage{quote(d.Name), quote(d.Title), quote(d.Description), canonical(d.InputSchema), canonical(d.OutputSchema), canonical(d.Annotations)} {
		_, _ = fmt.Fprintf(sum, "%d:", len(part))
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string can be encoded
	return b
}

// canonical returns a JSON text with its keys sorted, and its numbers as they are.
func canonical(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return b
}

// maxParameters bounds how many arguments of a tool are indexed.
const maxParameters = 200

// parameters returns the top-level properties of an input schema, sorted by name.
func parameters(raw json.RawMessage) []Parameter {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	var out []Parameter
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if len(out) == maxParameters {
			break
		}
		p := Parameter{Name: name, Required: slices.Contains(schema.Required, name)}
		var property struct {
			Description string          `json:"description"`
			Type        json.RawMessage `json:"type"`
		}
		if json.Unmarshal(schema.Properties[name], &property) == nil {
			p.Description = clean(property.Description, maxDescription)
			_ = json.Unmarshal(property.Type, &p.Type) // a list of types is none
		}
		out = append(out, p)
	}
	return out
}

// parseTools reads the definitions of a server, sorted by name. It returns what is wrong
// with those that it leaves out.
func parseTools(server string, raws []json.RawMessage) (tools []*Tool, problems []string) {
	total := 0
	seen := map[string]bool{}
	for _, raw := range raws {
		if total += len(raw); total > maxListBytes || len(tools) == maxTools {
			problems = append(problems, fmt.Sprintf("the server lists more than %d tools or %d bytes of definitions; the others are left out", maxTools, maxListBytes))
			break
		}
		t, err := parseTool(server, raw)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		if seen[t.Name] {
			problems = append(problems, fmt.Sprintf("two tools are shown as %s; the second one is left out", t.Name))
			continue
		}
		seen[t.Name] = true
		tools = append(tools, t)
	}
	slices.SortFunc(tools, func(a, b *Tool) int { return compareNames(a.Name, b.Name) })
	if len(problems) > 10 {
		problems = append(problems[:10], fmt.Sprintf("and %d more", len(problems)-10))
	}
	return tools, problems
}

// digest identifies a list of tools.
func digest(tools []*Tool) string {
	sum := sha256.New()
	for _, t := range tools {
		sum.Write([]byte(t.Hash))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
