package research

import (
	"context"
	"fmt"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// EverythingInput is the input of everything_test.
type EverythingInput struct {
	Words []string `json:"words"`
	Times int      `json:"times"`
	Loud  bool     `json:"loud"`
	Fault string   `json:"fault"` // "", error or panic
}

// Everything is the answer of everything_test.
type Everything struct {
	Lines  []string `json:"lines"`
	Client string   `json:"client"`
}

// Everything repeats the words.
func (s *Service) Everything(ctx context.Context, in EverythingInput) (Everything, error) {
	switch in.Fault {
	case "error":
		return Everything{}, execution.NewError(sqlguard.CodeUnknownConnection, "there is no such connection", nil)
	case "panic":
		panic("as asked")
	}
	line := strings.Join(in.Words, " ")
	if in.Loud {
		line = strings.ToUpper(line)
	}
	actor, _ := audit.ActorFrom(ctx)
	out := Everything{Lines: []string{}, Client: actor.Client.Name}
	for range in.Times {
		out.Lines = append(out.Lines, line)
	}
	return out, nil
}

func (s *Service) handleEverything(ctx context.Context, c *toolCall, in EverythingInput) (Everything, error) {
	c.progress(ctx, 0, "Repeating")
	out, err := s.Everything(ctx, in)
	if err != nil {
		return out, err
	}
	c.progress(ctx, 1, fmt.Sprintf("Repeated %d times", len(out.Lines)))
	c.notes = append(c.notes, "this tool is for a test")
	return out, nil
}

// hasGateway is the condition under which everything_test is listed.
func hasGateway(s *Service) bool { return s.gateway != nil }
