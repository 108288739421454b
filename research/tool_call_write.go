package research

import (
	"context"

	"github.com/ktxhq/ktx/research/upstream"
)

// ToolCallWrite calls a tool of another MCP server that a rule enables. The tool may
// change something. Progress may be nil.
func (s *Service) ToolCallWrite(ctx context.Context, in ToolCallInput, progress func(float64, string)) (upstream.Answer, error) {
	return s.callUpstream(ctx, in, true, progress)
}

func (s *Service) handleToolCallWrite(ctx context.Context, c *toolCall, in ToolCallInput) (verbatim, error) {
	answer, err := s.ToolCallWrite(ctx, in, func(p float64, message string) { c.progress(ctx, p, message) })
	return verbatim{answer.Result}, err
}
