package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The limits of an input.
const (
	// MaxBytes is how large an input may be.
	MaxBytes   = 32 << 20
	maxDepth   = 64
	maxValues  = 2_000_000
	maxSources = 2_000
	maxItems   = 5_000  // of one source
	maxMetrics = 10_000 // of one input
	maxText    = 16_384 // bytes of a name, an expression, or a description
)

// object is a mapping of the input.
type object map[string]any

// kind is what the value of a key must be. A value that is null counts as left out.
type kind byte

const (
	text    kind = 's'
	flag    kind = 'b'
	number  kind = 'n'
	single  kind = 'o' // an object
	objects kind = 'l'
	texts   kind = 't'
	anyKind kind = '*' // not read, or checked where it is read
)

// wrong says what is wrong with the keys of an object; empty: nothing. A key that is not
// known and says something might change what the object means.
func (o object) wrong(keys map[string]kind) string {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		v := o[name]
		k, known := keys[name]
		if !known {
			if !empty(v) {
				return fmt.Sprintf("it has the key %s, which ktx does not know", shorten(name))
			}
			continue
		}
		if v == nil {
			continue
		}
		fits := true
		switch k {
		case text:
			s, ok := v.(string)
			if len(s) > maxText {
				return fmt.Sprintf("its %s is longer than %d bytes", name, maxText)
			}
			fits = ok
		case flag:
			_, fits = v.(bool)
		case number:
			_, fits = v.(json.Number)
		case single:
			_, fits = v.(map[string]any)
		case objects:
			fits = each(v, func(v any) bool { _, ok := v.(map[string]any); return ok })
		case texts:
			fits = each(v, func(v any) bool { s, ok := v.(string); return ok && len(s) <= maxText })
		case anyKind:
		}
		if !fits {
			return fmt.Sprintf("its %s does not have the form that the format gives it", name)
		}
	}
	return ""
}

func each(v any, f func(any) bool) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(v any) bool { return !f(v) })
}

// empty reports whether a value says nothing.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return !slices.ContainsFunc(v, func(v any) bool { return !empty(v) })
	case map[string]any:
		for _, inner := range v {
			if !empty(inner) {
				return false
			}
		}
		return true
	}
	return false
}

func (o object) text(key string) string {
	s, _ := o[key].(string)
	return s
}

func (o object) flag(key string) bool {
	b, _ := o[key].(bool)
	return b
}

func (o object) object(key string) object {
	m, _ := o[key].(map[string]any)
	return m
}

func (o object) objects(key string) []object {
	var out []object
	list, _ := o[key].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (o object) texts(key string) []string {
	var out []string
	list, _ := o[key].([]any)
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// readJSON reads a bounded JSON object.
func readJSON(content []byte) (object, error) {
	if err := bounded(content); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	depth, values := 0, 0
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unreadable("", "it is not valid JSON: %s", shorten(err.Error()))
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if values++; depth > maxDepth || values > maxValues {
			return nil, unreadable("", "it has more than %d values, or is nested deeper than %d levels", maxValues, maxDepth)
		}
	}
	dec = json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, unreadable("", "it is not valid JSON: %s", shorten(err.Error()))
	}
	if dec.More() {
		return nil, unreadable("", "something follows the JSON object")
	}
	o, ok := root.(map[string]any)
	if !ok {
		return nil, unreadable("", "it is not a JSON object")
	}
	return o, nil
}

func bounded(content []byte) error {
	switch {
	case len(content) > MaxBytes:
		return unreadable("", "it is larger than %d bytes", MaxBytes)
	case !utf8.Valid(content):
		return unreadable("", "it is not UTF-8")
	}
	return nil
}

// readYAML reads a bounded YAML or JSON mapping without anchors and tags.
func readYAML(content []byte) (object, error) {
	if err := bounded(content); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(content))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable("", "it is not valid YAML: %s", shorten(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, unreadable("", "it holds more than one YAML document")
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, unreadable("", "it is not a YAML mapping")
	}
	values := 0
	v, err := plain(doc.Content[0], 1, &values)
	if err != nil {
		return nil, err
	}
	o, _ := v.(map[string]any)
	return o, nil
}

// plain is a YAML value in the terms of JSON.
func plain(n *yaml.Node, depth int, values *int) (any, error) {
	if *values++; depth > maxDepth || *values > maxValues {
		return nil, unreadable("", "it has more than %d values, or is nested deeper than %d levels", maxValues, maxDepth)
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return nil, unreadable("write the value out", "line %d: YAML anchors, aliases and tags are not read", n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if _, again := out[k.Value]; k.Kind != yaml.ScalarNode || k.Tag == "!!merge" || again {
				return nil, unreadable("", "line %d: a key is not plain, or is given twice", k.Line)
			}
			v, err := plain(n.Content[i+1], depth+1, values)
			if err != nil {
				return nil, err
			}
			out[k.Value] = v
		}
		return out, nil
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			v, err := plain(c, depth+1, values)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return nil, nil
		case "!!bool":
			return strings.EqualFold(n.Value, "true"), nil
		case "!!int", "!!float":
			return json.Number(n.Value), nil
		}
		return n.Value, nil
	}
	return nil, unreadable("", "line %d: it is not plain YAML", n.Line)
}
