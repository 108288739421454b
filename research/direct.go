package research

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Direct calls tools as the server of [Service.Server] does, for a transport that
// spares plain calls the way through the SDK.
type Direct struct {
	service *Service
	tools   map[string]*tool
}

// Direct returns the tools that s lists now, without those whose answers are whole
// results of other servers.
func (s *Service) Direct() (*Direct, error) {
	list, err := s.tools()
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	d := &Direct{service: s, tools: make(map[string]*tool, len(list))}
	for _, t := range list {
		if !t.verbatim {
			d.tools[t.name] = t
		}
	}
	return d, nil
}

// Has reports whether Call knows a tool.
func (d *Direct) Has(name string) bool { return d.tools[name] != nil }

// For returns a context in which calls are those of a client, as it names itself.
func (*Direct) For(ctx context.Context, client *mcp.Implementation) context.Context {
	return withClient(ctx, client)
}

// Call calls a tool that Has knows. progress is nil when the client wants no
// notifications; it is not called after Call returns. The text of an answer with
// structured content is left out, because it is the same.
func (d *Direct) Call(ctx context.Context, name string, arguments json.RawMessage, progress func(float64, string)) *mcp.CallToolResult {
	return d.service.answer(ctx, &toolCall{tool: d.tools[name], arguments: arguments, notify: progress, direct: true})
}
