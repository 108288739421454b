package research

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
)

// tool is one MCP tool: its advertised bytes and its handler.
type tool struct {
	name    string
	handler func(*Service, context.Context, *toolCall) (json.RawMessage, error)

	title, description string
	input, output      json.RawMessage
	wire               json.RawMessage // the tool as tools/list sends it
	schema             *schema         // of the input
}

//go:embed schemas/*.json
var schemas embed.FS

// tools returns the tools in the order in which they are advertised.
func tools() ([]*tool, error) {
	list := []*tool{
		{name: "connection_list", handler: (*Service).handleConnectionList},
		{name: "sql_execution", handler: (*Service).handleSQLExecution},
	}
	for _, t := range list {
		if err := t.load(); err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.name, err)
		}
	}
	return list, nil
}

func (t *tool) load() error {
	text, err := schemas.ReadFile("schemas/" + t.name + ".json")
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	var wire bytes.Buffer
	if err := json.Compact(&wire, text); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	t.wire = wire.Bytes()
	var head struct {
		Name, Title, Description  string
		InputSchema, OutputSchema json.RawMessage
	}
	if err := json.Unmarshal(t.wire, &head); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if head.Name != t.name {
		return fmt.Errorf("the schema is of %q", head.Name)
	}
	t.title, t.description, t.input, t.output = head.Title, head.Description, head.InputSchema, head.OutputSchema
	t.schema = new(schema)
	if err := json.Unmarshal(t.input, t.schema); err != nil {
		return fmt.Errorf("read input schema: %w", err)
	}
	return nil
}

// toolsArray returns the tools member of tools/list, byte for byte.
func toolsArray(list []*tool) json.RawMessage {
	b := []byte{'['}
	for i, t := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t.wire...)
	}
	return append(b, ']')
}
