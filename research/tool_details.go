package research

import (
	"context"

	"github.com/ktxhq/ktx/research/upstream"
)

// ToolDetailsInput is the input of tool_details.
type ToolDetailsInput struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// ToolDetails returns the schemas of a tool of another MCP server, as the server sent
// them, and an example of a call.
func (s *Service) ToolDetails(ctx context.Context, in ToolDetailsInput) (upstream.Details, error) {
	return s.stores.Load().Upstream.Details(ctx, in.Server, in.Tool)
}
