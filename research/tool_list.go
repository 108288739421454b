package research

import (
	"context"

	"github.com/ktxhq/ktx/research/upstream"
)

// ToolListInput is the input of tool_list.
type ToolListInput struct {
	Server          string `json:"server"`
	Cursor          string `json:"cursor"`
	IncludeDisabled bool   `json:"includeDisabled"`
}

// ToolList is the answer of tool_list.
type ToolList struct {
	Tools      []upstream.Summary `json:"tools"`
	Hidden     int                `json:"hidden"`
	NextCursor string             `json:"nextCursor,omitempty"`
}

// ToolList returns the tools of one other MCP server, by name, a page at a time.
func (s *Service) ToolList(ctx context.Context, in ToolListInput) (ToolList, error) {
	page, next, hidden, err := s.stores.Load().Upstream.List(ctx, in.Server, in.Cursor, in.IncludeDisabled)
	if err != nil {
		return ToolList{}, err
	}
	return ToolList{Tools: page, Hidden: hidden, NextCursor: next}, nil
}
