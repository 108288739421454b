package pages

import (
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/ktxhq/ktx/httpapi"
)

//go:embed openapi.json
var described []byte

// object is a JSON object.
type object = map[string]any

// openAPI answers with a description of the REST API: the routes of openapi.json, and one
// for each tool with the schemas that MCP announces.
func (p *Pages) openAPI(w http.ResponseWriter, r *http.Request) {
	doc, err := p.describe()
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	httpapi.Respond(w, http.StatusOK, doc)
}

func (p *Pages) describe() (object, error) {
	var doc object
	var parts struct {
		Info  object                       `json:"info"`
		Paths map[string]map[string]object `json:"paths"`
	}
	if err := errors.Join(json.Unmarshal(described, &doc), json.Unmarshal(described, &parts)); err != nil {
		return nil, err
	}
	parts.Info["version"] = p.config.Version
	for _, operations := range parts.Paths {
		for _, operation := range operations {
			if operation["x-conditions"] == true {
				delete(operation, "x-conditions")
				own, _ := operation["parameters"].([]any)
				operation["parameters"] = slices.Concat(conditionParameters(), own)
			}
		}
	}
	for _, t := range p.tools() {
		answer := object{"type": "object"}
		if t.Output != nil {
			answer = nil
			if err := json.Unmarshal(t.Output, &answer); err != nil {
				return nil, err
			}
		}
		parts.Paths["/v1/tools/"+t.Name] = map[string]object{"post": {
			"operationId": t.Name, "tags": []string{"tools"}, "summary": t.Title, "description": t.Description,
			"requestBody": object{"content": object{"application/json": object{"schema": t.Input}}},
			"responses": object{
				"200": object{"description": "The answer of the tool. A client that accepts text/event-stream and not JSON gets the events progress, and at the end result or error.", "content": object{
					"application/json":  object{"schema": answer},
					"text/event-stream": object{"schema": object{"type": "string"}},
				}},
				"default": object{"$ref": "#/components/responses/failure"},
			},
		}}
	}
	doc["info"], doc["paths"] = parts.Info, parts.Paths
	return doc, nil
}

// conditionParameters are the conditions of a filter as parameters.
func conditionParameters() (list []any) {
	add := func(name, about string, schema object) {
		list = append(list, object{"name": name, "in": "query", "description": about, "schema": schema})
	}
	for _, c := range conditions {
		schema := object{"type": "string"}
		if c.choices != nil {
			schema["enum"] = c.choices
		}
		add(c.name, c.label, schema)
	}
	add("since", "From this time on: RFC 3339, a date, or an age such as 7d", object{"type": "string"})
	add("until", "Before this time", object{"type": "string"})
	add("minRows", "Rows, at least", object{"type": "integer", "minimum": 0})
	add("minMs", "Milliseconds, at least", object{"type": "number", "minimum": 0})
	return list
}
