package research

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/ktxhq/ktx/research/upstream"
)

// ToolSearchInput is the input of tool_search.
type ToolSearchInput struct {
	Query  []string `json:"query"`
	Server string   `json:"server"`
	Tags   []string `json:"tags"`
	Limit  int      `json:"limit"` // 0 is 5
	Detail string   `json:"detail"`
}

// searchAliases reads a query that is one text.
func searchAliases(arguments map[string]any) {
	if text, ok := arguments["query"].(string); ok {
		arguments["query"] = []any{text}
	}
}

// ToolSearch is the answer of tool_search.
type ToolSearch struct {
	Results     []FoundTool `json:"results"`
	Hidden      int         `json:"hidden"`
	Suggestions []string    `json:"suggestions,omitempty"`
	// Unsearched are servers whose tools are not known, because there is no connection.
	Unsearched []string `json:"unsearched,omitempty"`
	// Omitted counts results whose schema was left out, because the answer would be too
	// long.
	Omitted int `json:"omittedSchemas,omitempty"`
}

// FoundTool is a tool that a search found.
type FoundTool struct {
	upstream.Found

	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
}

// The defaults and limits of tool_search.
const (
	defaultToolLimit = 5
	maxToolSchemas   = 64 << 10 // bytes of all schemas of an answer
)

// ToolSearch finds tools of other MCP servers.
func (s *Service) ToolSearch(ctx context.Context, in ToolSearchInput) (ToolSearch, error) {
	found, err := s.stores.Load().Upstream.Search(ctx, upstream.Query{Texts: in.Query, Server: in.Server, Tags: in.Tags, Limit: cmp.Or(in.Limit, defaultToolLimit)})
	if err != nil {
		return ToolSearch{}, err
	}
	out := ToolSearch{Results: []FoundTool{}, Hidden: found.Hidden, Suggestions: found.Suggestions, Unsearched: found.Missing}
	size := 0
	for _, f := range found.Results {
		tool := FoundTool{Found: f}
		if in.Detail == "schema" {
			schema := f.Definition().InputSchema()
			if size += len(schema); size <= maxToolSchemas {
				tool.InputSchema = schema
			} else {
				out.Omitted++
			}
		}
		out.Results = append(out.Results, tool)
	}
	return out, nil
}
