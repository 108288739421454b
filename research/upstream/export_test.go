package upstream

import (
	"context"
	"encoding/json"
	"io"
	"os"
)

// StandingOf is what rules say about a tool.
func StandingOf(rules []Rule, server, tool string, readOnly bool) (Standing, error) {
	compiled, err := compileRules(rules)
	if err != nil {
		return Standing{}, err
	}
	return standing(compiled, server, tool, readOnly), nil
}

// NewLines reads the output of a server.
func NewLines(source *os.File, limit int) io.Reader { return newLines(source, bound(limit)) }

// Wait counts a line of n bytes that a server says without being asked.
func (b *Budget) Wait(ctx context.Context, n int) { (*budget)(b).take(ctx, n) }

// Budget is how fast that is read.
type Budget budget

// NewBudget returns one. Spent is called when it is spent for the first time.
func NewBudget(spent func()) *Budget { return (*Budget)(newBudget(paceUnasked, spent)) }

// bound is a limit of a line.
type bound int

func (b bound) limit() int { return int(b) }
func (bound) junk([]byte)  {}
func (bound) skip(int)     {}
func (bound) skipped()     {}

// Read reads a definition, checks arguments by it, and makes an example.
func Read(raw, arguments string) (*Tool, []string, error) {
	t, err := parseTool("server", json.RawMessage(raw))
	if err != nil {
		return nil, nil, err
	}
	_ = example(t.InputSchema())
	v, err := t.checker()
	if err != nil {
		return t, nil, nil //nolint:nilerr // such a tool is not called
	}
	problems, err := v.validate(json.RawMessage(arguments))
	if err != nil {
		return t, nil, nil //nolint:nilerr // such a call is not sent
	}
	return t, problems, nil
}
