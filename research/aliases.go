package research

import "encoding/json"

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
