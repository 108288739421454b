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

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s).*)`)

// parse reads the YAML of a file. Its root is nil if the file has no content.
func parse(text []byte) (root *yaml.Node, line int, err error) {
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
	return top, top.Line, nil
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

// null reports whether nothing stands there, be it by a word for it.
func null(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func countNodes(n *yaml.Node) int {
	total := 1
	for _, c := range n.Content {
		total += countNodes(c)
	}
	return total
}
