package rpc_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
)

// counted counts writes, and the bytes of the longest.
type counted struct {
	bytes.Buffer
	longest int
}

func (c *counted) Write(p []byte) (int, error) {
	c.longest = max(c.longest, len(p))
	return c.Buffer.Write(p)
}

// TestLate: a content that was taken out is in the message as if it had stayed.
func TestLate(t *testing.T) {
	t.Parallel()
	for _, inner := range []string{
		strings.Repeat(`a`, 300_000), strings.Repeat(`"`, 5_000), strings.Repeat(`\`, 70_000), strings.Repeat("é<&>\x00\n\u2028", 9_000),
		`"ktx-late-ABCDEFGHIJKLMNOPQRSTUVWXYZt"` + strings.Repeat("x", 5_000), "short",
	} {
		body, err := rpc.Compact(map[string]string{"value": inner})
		if err != nil {
			t.Fatal(err)
		}
		whole := func() *mcp.CallToolResult {
			return &mcp.CallToolResult{
				Meta:    mcp.Meta{"note": `"ktx-late-`},
				Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}, StructuredContent: json.RawMessage(body),
			}
		}
		var late rpc.Late
		res, other := whole(), whole()
		late.Take(res)
		late.Take(other)
		text, err := rpc.Compact(res)
		if err != nil {
			t.Fatal(err)
		}
		if len(inner) > 5 && len(text) > 500 {
			t.Errorf("%d bytes go through the SDK", len(text))
		}
		m := late.Message(text)
		var out counted
		n, err := m.WriteTo(&out)
		if err != nil || int(n) != out.Len() {
			t.Fatalf("%d bytes written, %d returned, %v", out.Len(), n, err)
		}
		if len(inner) > 100_000 && out.longest > 64<<10 {
			t.Errorf("a write of %d bytes", out.longest)
		}
		var got, want any
		text, err = rpc.Compact(whole())
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in %.300s", err, out.Bytes())
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if !bytes.Equal(a, b) {
			t.Errorf("%.300s\n%.300s", a, b)
		}
	}
}

// TestLateKeepsOthers: what is not the same twice stays, and so does data that looks
// like a mark.
func TestLateKeepsOthers(t *testing.T) {
	t.Parallel()
	long := `{"a":"` + strings.Repeat("x", 10_000) + `"}`
	for name, res := range map[string]*mcp.CallToolResult{
		"text alone":  {Content: []mcp.Content{&mcp.TextContent{Text: long}}},
		"other text":  {Content: []mcp.Content{&mcp.TextContent{Text: long + " "}}, StructuredContent: json.RawMessage(long)},
		"two":         {Content: []mcp.Content{&mcp.TextContent{Text: long}, &mcp.TextContent{Text: long}}, StructuredContent: json.RawMessage(long)},
		"not JSON":    {Content: []mcp.Content{&mcp.TextContent{Text: long[1:]}}, StructuredContent: json.RawMessage(long[1:])},
		"two lines":   {Content: []mcp.Content{&mcp.TextContent{Text: long + "\n"}}, StructuredContent: json.RawMessage(long + "\n")},
		"not raw":     {Content: []mcp.Content{&mcp.TextContent{Text: long}}, StructuredContent: long},
		"another one": {Content: []mcp.Content{&mcp.ImageContent{Data: []byte(long)}}, StructuredContent: json.RawMessage(long)},
	} {
		var late rpc.Late
		before, errBefore := json.Marshal(res)
		late.Take(res)
		after, errAfter := json.Marshal(res)
		if !bytes.Equal(before, after) || (errBefore == nil) != (errAfter == nil) {
			t.Errorf("%s was taken out", name)
		}
	}
	var late rpc.Late
	held := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: long}}, StructuredContent: json.RawMessage(long)}
	late.Take(held)
	for _, text := range []string{`"ktx-late-`, `"ktx-late-ABCDEFGHIJKLMNOPQRSTUVWXYZs"`, `"ktx-late-"ktx-late-ABCDEFGHIJKLMNOPQRSTUVWXYZs"x`} {
		var out bytes.Buffer
		if _, err := late.Message([]byte(text)).WriteTo(&out); err != nil || out.String() != text {
			t.Errorf("%s became %s, %v", text, out.Bytes(), err)
		}
	}
}

// TestLateLeavesControls: a content with white space that a JSON string cannot hold stays
// with the SDK, which escapes it.
func TestLateLeavesControls(t *testing.T) {
	t.Parallel()
	for _, space := range []string{"\t", "\r", "\n"} {
		body := `{"value":` + space + `"` + strings.Repeat("x", 9_000) + `"}`
		res := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: body}}, StructuredContent: json.RawMessage(body)}
		var late rpc.Late
		late.Take(res)
		text, err := rpc.Compact(res)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := late.Message(text).WriteTo(&out); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%q between the tokens of a content: %v, valid %v", space, err, json.Valid(out.Bytes()))
		}
	}
}
