package project

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Schema returns the JSON Schema (2020-12) of ktx.yaml, made from [Config].
func Schema() ([]byte, error) {
	s := schemaOf(reflect.TypeFor[Config](), "", false)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = FileName
	return json.MarshalIndent(s, "", "  ")
}

type schema map[string]any

// typed sets the types of a value. Every value may also be null, which is how YAML
// reads an empty value, and which means the default.
func (s schema) typed(types ...string) { s["type"] = append(types, "null") }

// schemaOf returns the schema of t. If strict is set, unknown keys are errors.
func schemaOf(t reflect.Type, tag reflect.StructTag, strict bool) schema {
	s := schema{}
	if doc := tag.Get("doc"); doc != "" {
		s["description"] = doc
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Bytes]():
		s.typed("string", "integer")
		s["pattern"], s["minimum"] = `^[0-9]+ *(KiB|MiB|GiB|kB|KB|MB|GB|B)?$`, 1
	case t == reflect.TypeFor[Duration]():
		s.typed("string")
		s["pattern"] = `^([0-9]*[.]?[0-9]*(ns|us|µs|ms|s|m|h))+$`
	case t == reflect.TypeFor[Rate]():
		s.typed("string")
		s["pattern"] = `^[0-9]+/[smh]$`
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()), t.Kind() == reflect.String:
		s.text(tag)
	case t.Kind() == reflect.Bool:
		s.typed("boolean")
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		s.typed("integer")
		for key, keyword := range map[string]string{"min": "minimum", "max": "maximum"} {
			if n, err := strconv.ParseInt(tag.Get(key), 10, 64); err == nil {
				s[keyword] = n
			}
		}
	case t.Kind() == reflect.Slice:
		s.typed("array")
		var each reflect.StructTag
		if allowed := tag.Get("enum"); allowed != "" {
			each = reflect.StructTag(fmt.Sprintf("enum:%q", allowed))
		}
		s["items"] = schemaOf(t.Elem(), each, strict)
	case t.Kind() == reflect.Map:
		s.typed("object")
		s["additionalProperties"] = schemaOf(t.Elem(), "", strict)
		if t.Elem() == reflect.TypeFor[Connection]() {
			s["propertyNames"] = map[string]any{"pattern": connectionID.String()}
		}
	case t.Kind() == reflect.Struct:
		s.object(t, strict)
		if t == reflect.TypeFor[AllowedFunction]() {
			s.typed("object", "string", "number", "boolean") // the name alone
		}
	}
	return s
}

// text returns the schema of a string. It permits numbers and booleans too, because
// YAML reads an unquoted 5432 or true as one, and ktx takes it as a string.
func (s schema) text(tag reflect.StructTag) {
	allowed := tag.Get("enum")
	if allowed == "" {
		s.typed("string", "number", "boolean")
		return
	}
	values := []any{}
	for value := range strings.SplitSeq(allowed, ",") {
		values = append(values, value)
	}
	s["enum"] = append(values, nil)
}

func (s schema) object(t reflect.Type, strict bool) {
	properties := map[string]any{}
	for key, f := range fields(t) {
		properties[key] = schemaOf(f.Type, f.Tag, strict || slices.Contains(strictBlocks, key))
	}
	s.typed("object")
	s["properties"] = properties
	if strict {
		s["additionalProperties"] = false
	}
}
