package research

import (
	"encoding/json"
	"strings"
)

// tableAlias returns a reference to a table, in any shape that models write, as the
// JSON of a [catalog.Ref] in a text, which every tool takes for a name. Other values
// are returned as they are.
func tableAlias(value any) any {
	in, ok := value.(map[string]any)
	if !ok {
		return value
	}
	first := func(names ...string) any {
		for _, name := range names {
			if s, ok := in[name].(string); ok && s != "" {
				return s
			}
		}
		return nil
	}
	name := first("name", "table")
	if name == nil {
		return value
	}
	text, err := json.Marshal(map[string]any{"catalog": first("catalog"), "db": first("db", "schema"), "name": name})
	if err != nil { // texts never fail
		return value
	}
	return string(text)
}

// listAlias puts a single value in a list.
func listAlias(members map[string]any, name string) {
	switch value := members[name].(type) {
	case nil, []any:
	default:
		members[name] = []any{value}
	}
}

// discoverAliases accepts a single kind without a list.
func discoverAliases(arguments map[string]any) { listAlias(arguments, "kinds") }

// entityAliases accepts a single entity without a list, an entity that is only its
// table, a table as an object, and a single column without a list.
func entityAliases(arguments map[string]any) {
	listAlias(arguments, "entities")
	entities, _ := arguments["entities"].([]any)
	for i, value := range entities {
		switch e := value.(type) {
		case string:
			entities[i] = map[string]any{"table": e}
		case map[string]any:
			if _, has := e["name"]; has {
				ref := map[string]any{"table": tableAlias(e)}
				if columns, ok := e["columns"]; ok {
					ref["columns"] = columns
				}
				e = ref
			} else if _, isText := e["table"].(string); isText && (e["schema"] != nil || e["db"] != nil) {
				e["table"] = tableAlias(e)
				for _, part := range []string{"schema", "db", "catalog"} {
					delete(e, part)
				}
			}
			e["table"] = tableAlias(e["table"])
			listAlias(e, "columns")
			entities[i] = e
		}
	}
}

// slQueryAliases accepts what models write instead of the lists and shapes of sl_query: a
// single value without a list, a measure as {measure}, a dimension as {dimension}, {id} or
// {name}, a granularity in capitals, and a key of the order as {id, desc}, "field desc"
// or -field. Field wins over id, and direction over desc.
func slQueryAliases(arguments map[string]any) {
	for _, name := range []string{"measures", "dimensions", "filters", "segments", "order_by", "include"} {
		listAlias(arguments, name)
	}
	eachObject(arguments, "measures", func(m map[string]any) {
		rename(m, "expr", "expression", "measure", "field", "id")
		if _, has := m["expr"]; !has { // {name} alone is the name of a measure
			rename(m, "expr", "name")
		}
	})
	eachObject(arguments, "dimensions", func(d map[string]any) {
		rename(d, "field", "dimension", "id", "name")
		rename(d, "granularity", "grain")
		lower(d, "granularity")
	})
	eachObject(arguments, "order_by", func(o map[string]any) {
		rename(o, "field", "id", "name")
		lower(o, "direction")
		if desc, has := o["desc"]; has {
			delete(o, "desc")
			if _, has := o["direction"]; !has {
				o["direction"] = "asc"
				if desc == true || desc == "true" {
					o["direction"] = "desc"
				}
			}
		}
		if o["direction"] == nil {
			delete(o, "direction")
		}
	})
	keys, _ := arguments["order_by"].([]any)
	for i, key := range keys {
		text, ok := key.(string)
		if !ok {
			continue
		}
		words := strings.Fields(text)
		switch n := len(words); {
		case n > 1 && (strings.EqualFold(words[n-1], "desc") || strings.EqualFold(words[n-1], "asc")):
			field := strings.TrimSpace(text[:len(strings.TrimRight(text, " \t\n"))-len(words[n-1])])
			keys[i] = map[string]any{"field": field, "direction": strings.ToLower(words[n-1])}
		case n == 1 && len(text) > 1 && text[0] == '-':
			keys[i] = map[string]any{"field": text[1:], "direction": "desc"}
		}
	}
}

// eachObject calls f with each object of a list.
func eachObject(arguments map[string]any, name string, f func(map[string]any)) {
	list, _ := arguments[name].([]any)
	for _, value := range list {
		if object, ok := value.(map[string]any); ok {
			f(object)
		}
	}
}

// rename gives the first of the members others the name to, unless the object has it,
// and removes those that then say the same a second time. A member without a value counts as absent.
func rename(object map[string]any, to string, others ...string) {
	if object[to] == nil {
		delete(object, to)
	}
	for _, name := range others {
		value, has := object[name]
		if !has || name == "name" && to == "expr" && object[to] != nil {
			continue
		}
		delete(object, name)
		if _, has := object[to]; !has && value != nil {
			object[to] = value
		}
	}
}

// lower writes a member that is a text in lower case, and removes one without a value.
func lower(object map[string]any, name string) {
	switch value := object[name].(type) {
	case string:
		object[name] = strings.ToLower(strings.TrimSpace(value))
	case nil:
		delete(object, name)
	}
}
