package project

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Schema returns the JSON Schema (2020-12) of ktx.yaml, made from [Config].
func Schema() ([]byte, error) {
	s := schemaOf(reflect.TypeFor[Config](), "", "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = FileName
	return json.MarshalIndent(s, "", "  ")
}

func schemaOf(t reflect.Type, path string, tag reflect.StructTag) map[string]any {
	s := map[string]any{}
	if doc := tag.Get("doc"); doc != "" {
		s["description"] = doc
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Bytes]():
		s["type"], s["pattern"] = []string{"string", "integer"}, `^[0-9]+ *(KiB|MiB|GiB|kB|KB|MB|GB|B)?$`
	case t == reflect.TypeFor[Duration]():
		s["type"], s["pattern"] = "string", `^([0-9.]+(ns|us|ms|s|m|h))+$`
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()), t.Kind() == reflect.String:
		s["type"] = "string"
		if allowed := tag.Get("enum"); allowed != "" {
			s["enum"] = strings.Split(allowed, ",")
		}
	case t.Kind() == reflect.Bool:
		s["type"] = "boolean"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		s["type"] = "integer"
		for key, keyword := range map[string]string{"min": "minimum", "max": "maximum"} {
			if n, err := strconv.ParseInt(tag.Get(key), 10, 64); err == nil {
				s[keyword] = n
			}
		}
	case t.Kind() == reflect.Slice:
		s["type"], s["items"] = "array", schemaOf(t.Elem(), path, "")
	case t.Kind() == reflect.Map:
		s["type"], s["additionalProperties"] = "object", schemaOf(t.Elem(), path, "")
		s["propertyNames"] = map[string]any{"pattern": connectionID.String()}
	case t.Kind() == reflect.Struct:
		properties := map[string]any{}
		for key, f := range fields(t) {
			properties[key] = schemaOf(f.Type, join(path, key), f.Tag)
		}
		s["type"], s["properties"] = "object", properties
		if len(path) > 0 {
			for part := range strings.SplitSeq(path, ".") {
				for _, strict := range strictBlocks {
					if part == strict {
						s["additionalProperties"] = false
					}
				}
			}
		}
	}
	return s
}
