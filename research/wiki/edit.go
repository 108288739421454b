package wiki

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Capture says from where a part of a page came.
type Capture struct {
	At     string // RFC 3339, UTC
	Source string // mcp or cli
	Client string // the name that the client gave itself
	SHA256 string // of the content without differences in white space, in hex
}

// Head is the head of a page that is about to be changed. Keys that ktx does not
// know stay as they are, and so do comments.
type Head struct {
	node *yaml.Node
}

// Split returns the head and the body of a page, for [Join]. The error says that the
// head cannot be read, and so must not be written again.
func Split(text []byte) (*Head, string, error) {
	s := strings.TrimPrefix(string(text), byteOrderMark)
	head, body, found := cutHead(s)
	h := &Head{node: &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}}
	if !found {
		return h, body, nil
	}
	node, err := parseHead(head)
	if err != nil {
		return nil, "", fmt.Errorf("line %d: %w", headLine(err)+1, err)
	}
	if node != nil {
		h.node = node
	}
	return h, body, nil
}

// Join returns a page made of a head and a body. A head without keys is left out.
func Join(h *Head, body string) ([]byte, error) {
	if len(h.node.Content) == 0 {
		if strings.HasPrefix(body, fence+"\n") || strings.HasPrefix(body, fence+"\r\n") {
			return []byte(fence + "\n" + fence + "\n" + body), nil // or the body would be read as a head
		}
		return []byte(body), nil
	}
	var b bytes.Buffer
	b.WriteString(fence + "\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(h.node), e.Close()); err != nil {
		return nil, fmt.Errorf("write the head: %w", err)
	}
	if b.Len() > maxHead {
		return nil, fmt.Errorf("the head would have %d bytes, and at most %d are read", b.Len(), maxHead)
	}
	b.WriteString(fence + "\n")
	b.WriteString(body)
	return b.Bytes(), nil
}

// Set sets a key to a text.
func (h *Head) Set(key, value string) { h.put(key, scalarNode(value)) }

// Has reports whether the head has a key with a value.
func (h *Head) Has(key string) bool {
	n := h.get(key)
	return n != nil && (n.Kind != yaml.ScalarNode || n.Tag != "!!null" && n.Value != "")
}

// Add adds items to a list, except those that it has. A single value becomes a
// list.
func (h *Head) Add(key string, items ...string) {
	p := &Page{}
	var have []string
	n := h.get(key)
	if n != nil {
		have = p.list(&yaml.Node{Value: key}, n)
	}
	if n == nil || n.Kind != yaml.SequenceNode {
		if len(have)+len(items) == 0 {
			return
		}
		n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		for _, item := range have {
			n.Content = append(n.Content, scalarNode(item))
		}
		h.put(key, n)
	}
	for _, item := range items {
		item = collapse(item)
		if item == "" || len(item) > maxItem || len(n.Content) >= maxItems || slices.Contains(have, item) {
			continue
		}
		have = append(have, item)
		n.Content = append(n.Content, scalarNode(item))
	}
}

// AddCapture adds an entry to captures. Of more than 50 entries the oldest are
// dropped.
func (h *Head) AddCapture(c Capture) {
	n := h.get("captures")
	if n == nil || n.Kind != yaml.SequenceNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		h.put("captures", n)
	}
	entry := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
	for _, pair := range [][2]string{{"at", c.At}, {"source", c.Source}, {"client", c.Client}, {"sha256", c.SHA256}} {
		if pair[1] != "" {
			entry.Content = append(entry.Content, scalarNode(pair[0]), scalarNode(pair[1]))
		}
	}
	n.Content = append(n.Content, entry)
	if extra := len(n.Content) - maxCaptures; extra > 0 {
		n.Content = slices.Delete(n.Content, 0, extra)
	}
}

// maxCaptures is how many entries of captures are kept and read.
const maxCaptures = 50

// captures reads the entries of captures. Entries that are wrong are left out.
func (p *Page) captures(value *yaml.Node) {
	if value.Kind != yaml.SequenceNode {
		p.problem(value.Line+1, LevelError, "captures is not a list")
		return
	}
	for _, n := range value.Content {
		if n.Kind != yaml.MappingNode || len(p.Captures) == maxCaptures {
			continue
		}
		var c Capture
		for i := 0; i+1 < len(n.Content); i += 2 {
			text := cut(collapse(p.scalar(n.Content[i], n.Content[i+1])), maxItem)
			switch n.Content[i].Value {
			case "at":
				c.At = text
			case "source":
				c.Source = text
			case "client":
				c.Client = text
			case "sha256":
				c.SHA256 = text
			}
		}
		p.Captures = append(p.Captures, c)
	}
}

func (h *Head) get(key string) *yaml.Node {
	for i := 0; i+1 < len(h.node.Content); i += 2 {
		if h.node.Content[i].Value == key {
			return h.node.Content[i+1]
		}
	}
	return nil
}

func (h *Head) put(key string, value *yaml.Node) {
	for i := 0; i+1 < len(h.node.Content); i += 2 {
		if h.node.Content[i].Value == key {
			h.node.Content[i+1] = value
			return
		}
	}
	h.node.Style &^= yaml.FlowStyle
	h.node.Content = append(h.node.Content, scalarNode(key), value)
}

func scalarNode(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}
