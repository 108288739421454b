package research_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/research/upstream/upstreamtest"
	"github.com/ktxhq/ktx/sqlguard"
)

// noJudge stands for the guard of the wiring, which refuses in this test what says so.
type noJudge struct{}

func (noJudge) Judge(_ context.Context, _ upstream.SQLRule, sql string) (upstream.Judgement, error) {
	if strings.HasPrefix(sql, "DELETE") {
		return upstream.Judgement{}, &sqlguard.RejectedError{Verdict: sqlguard.Verdict{Code: sqlguard.CodeParseError, Findings: []sqlguard.Finding{{Code: sqlguard.CodeParseError, Message: "DELETE writes", Hint: "read instead", Line: 1, Column: 1}}}}
	}
	return upstream.Judgement{}, nil
}

// connectUpstream returns a client of a server that has the misbehaving server "bad".
func connectUpstream(t *testing.T, rules ...upstream.Rule) *client {
	t.Helper()
	return connectUpstreamWith(t, storesOf(t), rules...)
}

// connectUpstreamWith is connectUpstream with further stores.
func connectUpstreamWith(t *testing.T, stores research.Stores, rules ...upstream.Rule) *client {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := &audittest.Log{}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	stores.Upstream = upstream.New(upstream.Options{Root: root, Log: log, Judge: noJudge{}, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(stores.Upstream.Close)
	text := func(s string) upstream.Value { return func() (string, error) { return s, nil } }
	if err := stores.Upstream.Configure(upstream.Config{Rules: rules, Servers: []upstream.Server{
		{Name: "bad", Description: "A server for tests.", Command: program, Args: []upstream.Value{text(upstreamtest.Argument)}},
	}}); err != nil {
		t.Fatal(err)
	}
	gateway, err := execution.NewGateway(t.Context(), log, sqliteConnection(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gateway.Close(context.WithoutCancel(t.Context())) })
	c := serveWith(t, gateway, stores)
	c.log = log
	c.shakeHands()
	return c
}

// upstreamTools are the tools that a project with other MCP servers adds.
var upstreamTools = []string{"server_list", "tool_search", "tool_list", "tool_details", "tool_call", "tool_call_write"}

func writing() upstream.Rule {
	yes := true
	return upstream.Rule{Match: []string{"*"}, Enabled: &yes, Tags: []string{"test"}}
}

func TestUpstreamTools(t *testing.T) {
	c := connectUpstream(t, upstream.Rule{Match: []string{"run_sql"}, SQL: &upstream.SQLRule{Argument: "sql", Dialect: "postgres"}}, writing())
	answer := c.call("tools/list", map[string]any{})
	var r struct {
		Tools []struct {
			Name, Title, Description  string
			InputSchema, OutputSchema json.RawMessage
			Annotations               map[string]any
		}
	}
	if err := json.Unmarshal(answer["result"], &r); err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	all := 0
	for _, tool := range r.Tools {
		if !slices.Contains(upstreamTools, tool.Name) {
			continue
		}
		names = append(names, tool.Name)
		n, err := codec.Count(tool.Name + tool.Description + string(tool.InputSchema))
		if err != nil {
			t.Fatal(err)
		}
		all += n
		for side, raw := range map[string]json.RawMessage{"inputSchema": tool.InputSchema, "outputSchema": tool.OutputSchema} {
			var schema any
			if raw != nil && json.Unmarshal(raw, &schema) == nil {
				portable(t, tool.Name+"."+side, schema)
			}
		}
		if tool.Annotations["title"] != tool.Title {
			t.Errorf("%s: its annotations lack the title", tool.Name)
		}
	}
	if !slices.Equal(names, upstreamTools) {
		t.Errorf("got %q", names)
	}
	if all > 600 {
		t.Errorf("the tools of other servers: %d tokens, at most 600", all)
	} else {
		t.Logf("the tools of other servers: %d tokens", all)
	}

	if got := c.tool("server_list", "").text(); got != `{"servers":[{"name":"bad","description":"A server for tests.","status":"disconnected"}]}` {
		t.Errorf("got %s", got)
	}
	found := c.tool("tool_search", `{"query":"say something back","limit":1,"detail":"schema","tags":["TEST"]}`)
	validate(t, "tool_search", found.StructuredContent)
	if got := found.text(); !strings.Contains(got, `"tool":"echo"`) || !strings.Contains(got, `"inputSchema":{"type":"object"`) {
		t.Errorf("got %s", got)
	}
	validate(t, "tool_list", c.tool("tool_list", `{"server":"bad","includeDisabled":true}`).StructuredContent)
	details := c.tool("tool_details", `{"server":"bad","tool":"echo"}`)
	validate(t, "tool_details", details.StructuredContent)
	if !strings.Contains(details.text(), `"example":{"server":"bad","tool":"echo","arguments":{"text":"…"}}`) {
		t.Errorf("got %s", details.text())
	}
	validate(t, "server_list", c.tool("server_list", "{}").StructuredContent)

	// The answer of the other server is passed on as it is.
	raw := c.call("tools/call", map[string]any{"name": "tool_call", "arguments": map[string]any{"server": "bad", "tool": "precise"}})
	for _, part := range []string{`{"type":"hologram","depth":3}`, `"structuredContent":{"n":9007199254740993,"d":1.10}`, `"x/y":1`} {
		if !strings.Contains(string(raw["result"]), part) {
			t.Errorf("the result lacks %s: %s", part, raw["result"])
		}
	}
	if got := c.tool("tool_call", `{"server":"bad","tool":"echo","arguments":"{\"text\":\"as text\"}"}`); got.IsError || !strings.Contains(string(got.StructuredContent), "as text") {
		t.Errorf("got %+v", got)
	}
	if got := c.tool("tool_call", `{"server":"bad","tool":"fail"}`); !got.IsError || got.text() != "it failed" {
		t.Errorf("got %+v", got)
	}
	for arguments, want := range map[string]string{
		`{"server":"bad","tool":"write_note"}`:                                  "TOOL_DISABLED: the tool is not read-only",
		`{"server":"bad","tool":"nothing"}`:                                     "TOOL_NOT_FOUND: ",
		`{"server":"bad","tool":"run_sql","arguments":{"sql":"DELETE FROM t"}}`: "SQL_REJECTED: ",
		`{"server":"nobody","tool":"x"}`:                                        "SERVER_NOT_FOUND: ",
		`{"server":"bad"}`:                                                      "invalid_arguments: ",
	} {
		if got := c.tool("tool_call", arguments); !got.IsError || !strings.HasPrefix(got.text(), want) {
			t.Errorf("%s: got %s, want %s", arguments, got.text(), want)
		}
	}
	if got := c.tool("tool_call", `{"server":"bad","tool":"run_sql","arguments":{"sql":"SELECT 1"}}`); got.IsError {
		t.Errorf("got %s", got.text())
	}
	if got := c.tool("tool_call_write", `{"server":"bad","tool":"write_note","arguments":{"text":"x"}}`); got.IsError {
		t.Errorf("got %s", got.text())
	}
	for _, e := range c.log.Events(audit.ToolCall) {
		if e.Client.Name != "tester" || e.Tool.Server == "" {
			t.Errorf("got %+v", e)
		}
	}
	// An error has the members of every error, and the server and the tool.
	got := string(c.tool("tool_call", `{"server":"bad","tool":"run_sql","arguments":{"sql":"DELETE FROM t"}}`).Meta["ktx/error"])
	for _, part := range []string{`"code":"SQL_REJECTED"`, `"server":"bad"`, `"tool":"run_sql"`, `"verdict":{`} {
		if !strings.Contains(got, part) {
			t.Errorf("the error lacks %s: %s", part, got)
		}
	}
}

// TestMoreTools compares the bytes of the tools that a project with other MCP servers and
// with skills adds with a golden file, from which docs/evidence/tools.md is made too.
func TestMoreTools(t *testing.T) {
	dir := t.TempDir()
	page(t, dir, "skills/close-books/SKILL.md", skillText("close-books", "Closes the books.", "Close.\n"))
	stores, _ := skillsIn(t, dir)
	c := connectUpstreamWith(t, stores, writing())
	var r struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(c.call("tools/list", map[string]any{})["result"], &r); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(upstreamTools), "search_skills", "recommend_skills", "describe_skill", "guide_skill")
	more := []json.RawMessage{}
	for _, raw := range r.Tools {
		var tool struct{ Name string }
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(want, tool.Name) {
			more = append(more, raw)
		}
	}
	if len(more) != len(want) {
		t.Errorf("%d tools, want %d", len(more), len(want))
	}
	text, err := json.Marshal(more)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "tools-more.golden.json", append(text, '\n'))
}

// TestUpstreamToolsAreOptional checks that tool_call_write is listed only if a rule
// enables a tool that is not read-only.
func TestUpstreamToolsAreOptional(t *testing.T) {
	c := connectUpstream(t)
	if list := string(c.call("tools/list", map[string]any{})["result"]); strings.Contains(list, `"name":"tool_call_write"`) || !strings.Contains(list, `"name":"tool_call"`) {
		t.Error("tool_call_write is listed, or tool_call is not")
	}
}
