package rpc

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tools calls tools without the SDK.
type Tools interface {
	// Has reports whether Call knows a tool. All others are left to the SDK.
	Has(name string) bool
	// For returns a context for the calls of a client, as it names itself.
	For(ctx context.Context, client *mcp.Implementation) context.Context
	// Call calls a tool. progress is nil when the client wants no notifications. In an
	// answer whose text is that of its structured content, it may leave the text empty,
	// because a copy of a large answer is a large part of what a call costs.
	Call(ctx context.Context, name string, arguments json.RawMessage, progress func(float64, string)) *mcp.CallToolResult
}

// ToolCall is what a plain call of a tool says: nothing but the tool, its arguments and
// the token for progress, which may be nil.
type ToolCall struct {
	Name             string
	Arguments, Token json.RawMessage
}

const methodCall = "tools/call"

// PlainCall reads a request. ok is false when it is not a plain call of a tool. Such a
// request may be valid all the same, and is left to the SDK. So is one with a member
// twice, because readers differ in which of them they take.
func PlainCall(method string, params json.RawMessage) (c ToolCall, ok bool) {
	if method != methodCall {
		return c, false
	}
	var name, meta json.RawMessage
	if !only(params, map[string]*json.RawMessage{"name": &name, "arguments": &c.Arguments, "_meta": &meta}) {
		return c, false
	}
	if meta != nil && !only(meta, map[string]*json.RawMessage{"progressToken": &c.Token}) {
		return c, false
	}
	if _, isText := Unquote(c.Token); c.Token != nil && !isText {
		if id, isNumber := MakeID(c.Token); !isNumber || !id.IsValid() {
			return c, false
		}
	}
	c.Name, ok = Unquote(name)
	return c, ok
}

// only reads the members of a valid JSON text. It reports whether the text is an object of
// these members alone, none of them twice.
func only(text []byte, into map[string]*json.RawMessage) bool {
	plain := true
	object := members(text, func(name string, v json.RawMessage, shallow bool) bool {
		value, known := into[name]
		if plain = known && shallow && *value == nil; plain {
			*value = v
		}
		return plain
	})
	return object && plain
}

// AnswerTo returns the response to a call of a tool, with a line break.
func AnswerTo(id jsonrpc.ID, res *mcp.CallToolResult) Message {
	m, err := answerTo(id, res)
	if err == nil {
		return m
	}
	return Text(ErrorTo(id, jsonrpc.CodeInternalError, "the answer is not JSON"))
}

func answerTo(id jsonrpc.ID, res *mcp.CallToolResult) (Message, error) {
	content, body := shared(res)
	if body == nil || res.IsError || content.Meta != nil || content.Annotations != nil {
		text, err := Compact(res)
		if err != nil {
			return nil, err
		}
		line, err := Encode(&jsonrpc.Response{ID: id, Result: text})
		return Text(line), err
	}
	head := append(AppendID([]byte(`{"jsonrpc":"2.0","id":`), id), `,"result":{`...)
	if len(res.Meta) > 0 {
		meta, err := Compact(res.Meta)
		if err != nil {
			return nil, err
		}
		head = append(append(append(head, `"_meta":`...), meta...), ',')
	}
	return Message{
		{text: append(head, `"content":[{"type":"text","text":`...)},
		{text: body, quoted: true},
		{text: []byte(`}],"structuredContent":`)},
		{text: body},
		{text: []byte("}}\n")},
	}, nil
}
