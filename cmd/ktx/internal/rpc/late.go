package rpc

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK copies an answer several times on its way to a transport, and an answer
// has its content twice: as text and as structured content. So a transport takes the
// content of a large answer out, and writes it when the message comes by.

// lateFrom is the size of a content from which on it is taken out.
const lateFrom = 4 << 10

// markPrefix begins the two texts that stand for a content. The rest of a mark is
// random, so no data contains one.
const (
	markPrefix = "ktx-late-"
	markLength = len(markPrefix) + 26 + 1
)

// Late keeps the contents of answers until they are written. It is safe for
// concurrent use.
type Late struct {
	mu     sync.Mutex
	bodies map[string][]byte // by the mark without its last letter
}

// Take takes the content out of res if it is large, and the same as text and as
// structured content.
func (l *Late) Take(res mcp.Result) {
	r, ok := res.(*mcp.CallToolResult)
	if !ok {
		return
	}
	text, body := twice(r, lateFrom)
	if body == nil {
		return
	}
	mark := markPrefix + rand.Text()
	l.mu.Lock()
	if l.bodies == nil {
		l.bodies = map[string][]byte{}
	}
	l.bodies[mark] = body
	l.mu.Unlock()
	with := *text
	with.Text = mark + "t"
	r.Content, r.StructuredContent = []mcp.Content{&with}, json.RawMessage(`"`+mark+`s"`)
}

// shared is twice for the answer of [Tools]. It fills in the text that was left empty when
// the answer cannot be written without it.
func shared(res *mcp.CallToolResult) (*mcp.TextContent, json.RawMessage) {
	body, structured := res.StructuredContent.(json.RawMessage)
	if !structured || len(res.Content) != 1 {
		return nil, nil
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok || text.Text != "" {
		return twice(res, 0)
	}
	if res.IsError || slices.ContainsFunc(body, control) || !json.Valid(body) {
		text.Text = string(body)
		return nil, nil
	}
	return text, body
}

// twice returns the content of an answer that has it once as text and once as structured
// content, in at least that many bytes, or nil for any other answer.
func twice(res *mcp.CallToolResult, least int) (*mcp.TextContent, json.RawMessage) {
	if len(res.Content) != 1 {
		return nil, nil
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	body, structured := res.StructuredContent.(json.RawMessage)
	if !ok || !structured || len(body) < least || string(body) != text.Text || slices.ContainsFunc(body, control) || !json.Valid(body) {
		return nil, nil
	}
	return text, body
}

// control reports whether a character cannot stand in a JSON string as it is.
func control(c byte) bool { return c < ' ' }

// Middleware takes the large contents out of the answers of a server. late returns
// where the answer to a request is kept, or nil.
func Middleware(late func(mcp.Request) *Late) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if err == nil {
				if l := late(req); l != nil {
					l.Take(res)
				}
			}
			return res, err
		}
	}
}

// Message is a message whose content is written late. Its parts are written one
// after the other.
type Message []part

// Text returns the message of an encoded text.
func Text(text []byte) Message { return Message{{text: text}} }

type part struct {
	text   []byte
	quoted bool // written as a JSON string
}

// Message returns what to write for an encoded message. The content is forgotten.
func (l *Late) Message(text []byte) Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.bodies) == 0 {
		return Text(text)
	}
	var m Message
	var marks []string
	from := 0 // where the search goes on
	for {
		at := bytes.Index(text[from:], []byte(`"`+markPrefix))
		if at < 0 {
			break
		}
		at += from
		end := at + 1 + markLength
		from = at + 1
		if end >= len(text) || text[end] != '"' {
			continue
		}
		mark := string(text[at+1 : end-1])
		body, ok := l.bodies[mark]
		if !ok {
			continue
		}
		m = append(m, part{text: text[:at]}, part{text: body, quoted: text[end-1] == 't'})
		marks = append(marks, mark)
		text, from = text[end+1:], 0
	}
	for _, mark := range marks {
		delete(l.bodies, mark)
	}
	return append(m, part{text: text})
}

// chunk is how much of a content is written at a time.
const chunk = 64 << 10

// most returns how many bytes the message has at most.
func (m Message) most() (n int) {
	for _, p := range m {
		if n += len(p.text); p.quoted {
			n += len(p.text) + 2
		}
	}
	return n
}

// WriteTo implements [io.WriterTo].
func (m Message) WriteTo(w io.Writer) (n int64, err error) {
	if len(m) == 1 {
		k, err := w.Write(m[0].text)
		return int64(k), err
	}
	out := make([]byte, 0, min(chunk, m.most()))
	flush := func() {
		if err == nil && len(out) > 0 {
			var k int
			k, err = w.Write(out)
			n += int64(k)
		}
		out = out[:0]
	}
	add := func(b []byte) {
		for len(b) > 0 && err == nil {
			k := min(len(b), cap(out)-len(out))
			out, b = append(out, b[:k]...), b[k:]
			if len(out) == cap(out) {
				flush()
			}
		}
	}
	for _, p := range m {
		if !p.quoted {
			add(p.text)
			continue
		}
		add([]byte{'"'})
		for text := p.text; len(text) > 0; { // compact JSON: no control characters to escape
			k := slices.IndexFunc(text, func(c byte) bool { return c == '"' || c == '\\' })
			if k < 0 {
				add(text)
				break
			}
			add(text[:k])
			add([]byte{'\\', text[k]})
			text = text[k+1:]
		}
		add([]byte{'"'})
	}
	flush()
	return n, err
}
