package rpc_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
)

// TestAnswerTo: the response to a call has the values of the SDK's own encoding, on one
// line.
func TestAnswerTo(t *testing.T) {
	t.Parallel()
	id, err := jsonrpc.MakeID("a\"b")
	if err != nil {
		t.Fatal(err)
	}
	with := func(body string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: body}}, StructuredContent: json.RawMessage(body)}
	}
	noted := with(`{"a":"\\ \"<é>"}`)
	noted.Meta = mcp.Meta{"ktx/notes": []string{"n"}}
	other := with(`{}`)
	other.StructuredContent = json.RawMessage(`{"b":1}`)
	for name, res := range map[string]*mcp.CallToolResult{
		"short": with(`{"rows":[[1,"x\ny"]]}`), "long": with(`{"rows":["` + strings.Repeat(`\"`, 100_000) + `"]}`), "notes": noted,
		"two contents": other, "breaks": with("{\"a\":\n1}"),
		"error": {IsError: true, Meta: mcp.Meta{"ktx/error": 1}, Content: []mcp.Content{&mcp.TextContent{Text: "no\n"}}},
	} {
		var out strings.Builder
		if _, err := rpc.AnswerTo(id, res).WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		text, err := rpc.Compact(res)
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := json.Unmarshal([]byte(`{"jsonrpc":"2.0","id":"a\"b","result":`+string(text)+`}`), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || strings.Index(out.String(), "\n") != out.Len()-1 {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var out strings.Builder
	if _, err := rpc.AnswerTo(id, with(`{"a":`)).WriteTo(&out); err != nil || !strings.Contains(out.String(), "-32603") || !strings.HasSuffix(out.String(), "}\n") {
		t.Errorf("an answer that is not JSON became %s, %v", out.String(), err)
	}
}

// TestTextLeftOut: an answer whose text was left empty is written like one that has it.
func TestTextLeftOut(t *testing.T) {
	t.Parallel()
	id, err := jsonrpc.MakeID("a")
	if err != nil {
		t.Fatal(err)
	}
	written := func(res *mcp.CallToolResult) string {
		var out bytes.Buffer
		if _, err := rpc.AnswerTo(id, res).WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, body := range []string{`{}`, `{"a":"\"\\x"}`, "{\n}", `{"a":"` + strings.Repeat("é", 100_000) + `"}`} {
		for _, failed := range []bool{false, true} {
			answer := func(text string) *mcp.CallToolResult {
				return &mcp.CallToolResult{Meta: mcp.Meta{"n": 1}, Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(body), IsError: failed}
			}
			if got, want := written(answer("")), written(answer(body)); got != want {
				t.Errorf("%.200s\n%.200s", got, want)
			}
		}
	}
}
