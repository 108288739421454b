package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

type nodeKind uint8

const (
	scalarNode nodeKind = iota + 1
	mappingNode
	sequenceNode
)

// nodeTag tells of a scalar what matters here: everything but null and true and false is
// read as the text that stands in the file.
type nodeTag uint8

const (
	textTag nodeTag = iota
	nullTag
	boolTag
)

// node is a value of a YAML file.
type node struct {
	kind  nodeKind
	tag   nodeTag
	flow  bool // a mapping or a list in brackets
	line  int32
	text  string
	items []node // of a mapping: keys and values in turns
}

// null reports whether nothing stands there, be it by a word for it.
func (n *node) null() bool { return n.kind == scalarNode && n.tag == nullTag }

// count returns how many nodes a tree has.
func (n *node) count() int {
	total := 1
	for i := range n.items {
		total += n.items[i].count()
	}
	return total
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s).*)`)

// parse reads the YAML of a file. Its root is nil if the file has no content.
func parse(text []byte) (root *node, line int, err error) {
	if !utf8.Valid(text) {
		return nil, 1 + bytes.Count(text[:firstInvalid(text)], []byte("\n")), errors.New("the file is not UTF-8")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, 0, nil
	case err != nil:
		line, message := 1, "the file is not valid YAML"
		if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
			message = "the file is not valid YAML: " + shorten(m[2])
			if n, err := strconv.Atoi(m[1]); err == nil {
				line = n
			}
			if strings.HasPrefix(m[2], "did not find expected") {
				line++ // the parser, unlike the scanner, counts lines from 0
			}
		}
		return nil, line, errors.New(message)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, max(second.Line, 1), errors.New("the file holds several YAML documents; it may have one")
	case !errors.Is(err, io.EOF):
		return nil, 1, errors.New("the file is not valid YAML after its first document")
	}
	if len(doc.Content) == 0 {
		return nil, 0, nil
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, 0, nil
	}
	if n, why := unusable(top, 0); n != nil {
		return nil, n.Line, errors.New(why)
	}
	out := converted(top)
	return &out, top.Line, nil
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// unusable finds what of YAML a file may not use.
func unusable(n *yaml.Node, depth int) (*yaml.Node, string) {
	switch {
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		return n, "YAML anchors and aliases (&a, *a) are not supported; write the value out, or put a text that begins with & or * in quotes"
	case n.Style&yaml.TaggedStyle != 0:
		return n, "YAML tags (!…) are not supported; put a text that begins with ! in quotes"
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		return n, "YAML merge keys (<<) are not supported"
	case len(n.Value) > maxValue:
		return n, fmt.Sprintf("a value has %d bytes; at most %d are read", len(n.Value), maxValue)
	case len(n.Content) > 2*maxItems:
		return n, fmt.Sprintf("a list has more than %d entries", maxItems)
	case depth > maxDepth:
		return n, fmt.Sprintf("the file is nested deeper than %d levels", maxDepth)
	}
	for _, child := range n.Content {
		if bad, why := unusable(child, depth+1); bad != nil {
			return bad, why
		}
	}
	return nil, ""
}

// converted returns the library's tree, which is usable, as ours.
func converted(n *yaml.Node) node {
	out := node{kind: scalarNode, line: int32(n.Line), text: n.Value, flow: n.Style&yaml.FlowStyle != 0} //nolint:gosec // a file has at most 8 MiB
	switch n.Kind {
	case yaml.MappingNode:
		out.kind = mappingNode
	case yaml.SequenceNode:
		out.kind = sequenceNode
	case yaml.ScalarNode, yaml.DocumentNode, yaml.AliasNode:
	}
	switch {
	case out.kind != scalarNode:
	case n.Tag == "!!null":
		out.tag = nullTag
	case n.Tag == "!!bool":
		out.tag = boolTag
	}
	if len(n.Content) > 0 {
		out.items = make([]node, len(n.Content))
		for i, c := range n.Content {
			out.items[i] = converted(c)
		}
	}
	return out
}
