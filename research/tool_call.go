package research

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/sqlguard"
)

// ToolCallInput is the input of tool_call and of tool_call_write.
type ToolCallInput struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// ToolCall calls a read-only tool of another MCP server. Progress may be nil.
func (s *Service) ToolCall(ctx context.Context, in ToolCallInput, progress func(float64, string)) (upstream.Answer, error) {
	return s.callUpstream(ctx, in, false, progress)
}

func (s *Service) callUpstream(ctx context.Context, in ToolCallInput, write bool, progress func(float64, string)) (upstream.Answer, error) {
	answer, err := s.stores.Load().Upstream.Call(ctx, upstream.Request{Server: in.Server, Tool: in.Tool, Arguments: in.Arguments, Write: write, Progress: progress})
	if err != nil && ctx.Err() != nil {
		return upstream.Answer{}, execution.NewError(sqlguard.CodeCancelled, "the call was cancelled", ctx.Err())
	}
	return answer, recorded(err)
}

func (s *Service) handleToolCall(ctx context.Context, c *toolCall, in ToolCallInput) (verbatim, error) {
	answer, err := s.ToolCall(ctx, in, func(p float64, message string) { c.progress(ctx, p, message) })
	return verbatim{answer.Result}, err
}

// callAliases reads arguments that a model wrote as a JSON text.
func callAliases(arguments map[string]any) {
	text, ok := arguments["arguments"].(string)
	if !ok {
		return
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var object map[string]any
	if d.Decode(&object) == nil && object != nil && !d.More() {
		arguments["arguments"] = object
	}
}

// verbatim is the result of a call that another server answered. It is passed on as it
// is: the SDK would round numbers and drop what it does not know.
type verbatim struct{ result json.RawMessage }

// AppendJSON implements appender.
func (v verbatim) AppendJSON(b []byte) []byte { return append(b, v.result...) }

// passOn is what the handler of a call leaves for the middleware, which replaces the
// result.
type passOn struct{ result json.RawMessage }

type passOnKey struct{}

// verbatimResult is the SDK's result with the members of another server's result.
type verbatimResult struct {
	*mcp.CallToolResult

	result json.RawMessage
}

// MarshalJSON keeps the members of the SDK's envelope that the other server did not
// give, and its _meta beside that of the server.
func (r *verbatimResult) MarshalJSON() ([]byte, error) {
	envelope, err := json.Marshal(r.CallToolResult)
	if err != nil {
		return nil, fmt.Errorf("pass a result on: %w", err)
	}
	var members, own map[string]json.RawMessage
	if err := json.Unmarshal(envelope, &members); err != nil {
		return nil, fmt.Errorf("pass a result on: %w", err)
	}
	if err := json.Unmarshal(r.result, &own); err != nil {
		return nil, fmt.Errorf("pass a result on: %w", err)
	}
	delete(own, "resultType") // of the other session
	meta := map[string]json.RawMessage{}
	for _, m := range []json.RawMessage{own["_meta"], members["_meta"]} {
		if len(m) > 0 {
			_ = json.Unmarshal(m, &meta) // one that is no object is left out
		}
	}
	delete(members, "content")
	delete(members, "structuredContent")
	delete(members, "isError")
	maps.Copy(members, own)
	delete(members, "_meta")
	if len(meta) > 0 {
		if members["_meta"], err = json.Marshal(meta); err != nil {
			return nil, fmt.Errorf("pass a result on: %w", err)
		}
	}
	if members["content"] == nil {
		members["content"] = json.RawMessage("[]")
	}
	return json.Marshal(members)
}
