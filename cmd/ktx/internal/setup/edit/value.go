package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// readValue parses the value that is to be set.
func readValue(value json.RawMessage) (object, error) {
	doc, err := readJSON(value)
	if err != nil {
		return nil, fmt.Errorf("the value: %w", err)
	}
	if !json.Valid(value) || bytes.TrimSpace(value)[0] != '{' {
		return nil, errors.New("the value is not a JSON object")
	}
	return doc.tree(), nil
}

// same reports whether two values are equal, in any order of members.
func same(a, b any) bool {
	switch a := a.(type) {
	case object:
		b, ok := b.(object)
		if !ok || len(a) != len(b) {
			return false
		}
		for _, m := range a {
			i := slices.IndexFunc(b, func(other member) bool { return other.name == m.name })
			if i < 0 || !same(m.value, b[i].value) {
				return false
			}
		}
		return true
	case list:
		b, ok := b.(list)
		return ok && slices.EqualFunc(a, b, same)
	case scalar:
		b, ok := b.(scalar)
		return ok && sameScalar(a, b)
	default:
		return false
	}
}

func sameScalar(a, b scalar) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(string(a+b), ".eE\"") { // floats are less exact than whole numbers
		return a == "-0" && b == "0" || a == "0" && b == "-0" // TOML has one zero
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && x == y
}

// appendJSON appends a value as compact JSON.
func appendJSON(b []byte, value any) []byte {
	switch value := value.(type) {
	case object:
		b = append(b, '{')
		for i, m := range value {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, hujson.String(m.name)...), ':')
			b = appendJSON(b, m.value)
		}
		return append(b, '}')
	case list:
		b = append(b, '[')
		for i, v := range value {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v)
		}
		return append(b, ']')
	case scalar:
		return append(b, value...)
	default:
		return append(b, "null"...)
	}
}
