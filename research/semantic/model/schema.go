package model

import (
	"encoding/json"
	"maps"
)

// Schema returns the JSON Schema (draft 2020-12) of the file of a source or an overlay,
// for editors. It is made of the tables of keys that [Load] reads files by. What needs
// more than one value to judge, such as names, is left to Load.
func Schema() []byte {
	s := objectSchema(sourceObject)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "ktx semantic layer: a source or an overlay"
	s["description"] = "A file of semantic-layer/CONNECTION. With table or sql it is a source of its own. With neither it is an overlay on the table of the same name in the manifest, which ktx scan writes."
	computed := map[string]any{"properties": map[string]any{"columns": map[string]any{"items": map[string]any{"required": []string{"expr"}}}}}
	only := map[string]any{}
	for _, k := range overlayKeys {
		only[k] = false
	}
	own := func(key string) map[string]any {
		return map[string]any{"required": []string{key, "grain"}, "properties": only}
	}
	computed["not"] = map[string]any{"anyOf": []any{map[string]any{"required": []string{"table"}}, map[string]any{"required": []string{"sql"}}}}
	s["oneOf"] = []any{own("table"), own("sql"), computed}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // of maps, lists, and texts only
	}
	return append(out, '\n')
}

func objectSchema(o *object) map[string]any {
	properties := map[string]any{}
	var required []string
	for i := range o.keys {
		k := &o.keys[i]
		properties[k.name] = keySchema(k)
		if k.required {
			required = append(required, k.name)
		}
	}
	out := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		out["required"] = required
	}
	return out
}

// scalar is what counts as a text in YAML: what stands in the file is taken as it is.
var scalar = []string{"string", "number", "boolean"}

func keySchema(k *key) map[string]any {
	out := map[string]any{"description": k.doc}
	kind := func(names ...string) {
		if k.blank {
			names = append(names, "null")
		}
		out["type"] = names
		if len(names) == 1 {
			out["type"] = names[0]
		}
	}
	switch k.shape {
	case shapeText:
		if k.enum != nil {
			out["enum"] = k.enum
			break
		}
		kind(append([]string(nil), scalar...)...)
		if !k.blank {
			out["pattern"] = `\S`
		}
	case shapeFlag:
		kind("boolean")
	case shapeTexts:
		kind("array")
		out["items"] = map[string]any{"type": scalar}
	case shapeObject:
		maps.Copy(out, objectSchema(k.of))
	case shapeList:
		kind("array")
		out["items"] = objectSchema(k.of)
	case shapeNamed:
		without := withoutName(k.of)
		kind("array", "object")
		out["items"] = objectSchema(k.of)
		out["additionalProperties"] = objectSchema(without)
	case shapeMap:
		kind("object")
		out["additionalProperties"] = objectSchema(k.of)
	case shapeLabels:
		kind("object")
		out["additionalProperties"] = map[string]any{"type": append(append([]string(nil), scalar...), "null")}
	case shapeAny:
	}
	return out
}
