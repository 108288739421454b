package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tools calls tools without the SDK.
type Tools interface {
	// Has reports whether Call knows a tool. All others are left to the SDK.
	Has(name string) bool
	// For returns a context for the calls of a client, as it names itself.
	For(ctx context.Context, client *mcp.Implementation) context.Context
	// Call calls a tool. progress is nil when the client wants no notifications.
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
	if !members(params, map[string]*json.RawMessage{"name": &name, "arguments": &c.Arguments, "_meta": &meta}) {
		return c, false
	}
	if meta != nil && !members(meta, map[string]*json.RawMessage{"progressToken": &c.Token}) {
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

// members reads the members of a valid JSON text. It reports whether the text is an
// object of these members alone, none of them twice.
func members(text []byte, into map[string]*json.RawMessage) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	for at := 1; ; {
		at = skipSpace(text, at)
		switch text[at] {
		case '}':
			return true
		case ',':
			at++
			continue
		}
		nameEnd, _ := skipValue(text, at)
		name, _ := Unquote(text[at:nameEnd])
		at = skipSpace(text, skipSpace(text, nameEnd)+1)
		end, shallow := skipValue(text, at)
		value, known := into[name]
		if !known || !shallow || *value != nil {
			return false
		}
		*value = text[at:end:end]
		at = end
	}
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
	body := twice(res)
	if body == nil {
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
	m := Message{
		{text: append(head, `"content":[{"type":"text","text":`...)},
		{text: body, quoted: true},
		{text: []byte(`}],"structuredContent":`)},
		{text: body},
		{text: []byte("}}\n")},
	}
	if len(body) < lateFrom {
		return Text(m.appendTo(nil)), nil
	}
	return m, nil
}

// twice returns the content of an answer that has it once as text and once as it is, or
// nil for any other answer.
func twice(res *mcp.CallToolResult) json.RawMessage {
	if res.IsError || len(res.Content) != 1 {
		return nil
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	body, structured := res.StructuredContent.(json.RawMessage)
	if !ok || !structured || string(body) != text.Text || text.Meta != nil || text.Annotations != nil || slices.ContainsFunc(body, control) || !json.Valid(body) {
		return nil
	}
	return body
}

// appendTo appends the whole message.
func (m Message) appendTo(b []byte) []byte {
	for _, p := range m {
		if !p.quoted {
			b = append(b, p.text...)
			continue
		}
		b = append(b, '"')
		for _, c := range p.text { // compact JSON: no control characters to escape
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
		}
		b = append(b, '"')
	}
	return b
}
