package upstreams_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/execution/executiontest/executable"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func TestMain(m *testing.M) {
	os.Exit(executable.Run(func() int { return testdb.Run(m) }))
}

// published are MCP servers of others, which scripts/npm-tools has installed.
type published struct{ dir string }

func publishedServers(t *testing.T) published {
	t.Helper()
	dir := os.Getenv("KTX_TEST_UPSTREAMS")
	if dir == "" {
		t.Skip("KTX_TEST_UPSTREAMS is not set; make test sets it where Node is, and make conformance always")
	}
	return published{dir}
}

// program returns the path of a server.
func (p published) program(name string) string {
	return filepath.Join(p.dir, "node_modules", ".bin", name)
}

// agent starts ktx for a project with these servers and rules, and connects to it.
func (p published) agent(t *testing.T, upstreams map[string]any) *mcp.ClientSession {
	t.Helper()
	dir := t.TempDir()
	config, err := json.Marshal(map[string]any{"upstreams": upstreams}) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), executable.KTX(t), "mcp", "stdio")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// ask calls a tool of ktx, and returns the texts of its answer.
func ask(t *testing.T, s *mcp.ClientSession, tool string, arguments any) (text string, failed bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, part := range res.Content {
		if part, ok := part.(*mcp.TextContent); ok {
			text += part.Text
		}
	}
	return text, res.IsError
}

type object = map[string]any

// TestUpstreamServers searches the tools of published servers, and calls some.
func TestUpstreamServers(t *testing.T) {
	p := publishedServers(t)
	files, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "note.txt"), []byte("the note"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := func(name string, args ...string) object {
		return object{"command": p.program(name), "args": args}
	}
	memory := server("mcp-server-memory")
	memory["env"] = object{"MEMORY_FILE_PATH": filepath.Join(files, "memory.json")}
	s := p.agent(t, object{
		"servers": object{
			"everything": server("mcp-server-everything", "stdio"), "memory": memory, "files": server("mcp-server-filesystem", files),
			"thinking": server("mcp-server-sequential-thinking"),
		},
		"rules": []object{{"match": []string{"*"}, "server": "memory", "enabled": true}},
	})
	for query, want := range map[string]string{
		"read the text of a file": `"tool":"read_text_file"`, "search nodes of the knowledge graph": `"tool":"search_nodes"`,
		"add two numbers": `"tool":"get-sum"`, "think step by step": `"tool":"sequentialthinking"`,
	} {
		if text, failed := ask(t, s, "tool_search", object{"query": []string{query}}); failed || !strings.Contains(text, want) {
			t.Errorf("%s: %s lacks %s", query, text, want)
		}
	}
	for _, c := range []struct {
		call, server, tool string
		arguments          object
		want               string
	}{
		{"tool_call", "everything", "echo", object{"message": "hello"}, "hello"},
		{"tool_call", "everything", "get-sum", object{"a": 2, "b": 40}, "42"},
		{"tool_call", "files", "read_text_file", object{"path": filepath.Join(files, "note.txt")}, "the note"},
		{"tool_call", "files", "write_file", object{"path": filepath.Join(files, "note.txt"), "content": "other"}, "TOOL_DISABLED: "},
		{"tool_call_write", "memory", "create_entities", object{"entities": []object{{"name": "ktx", "entityType": "gateway", "observations": []string{"reads only"}}}}, "reads only"},
		{"tool_call", "memory", "search_nodes", object{"query": "gateway"}, "reads only"},
		{"tool_call", "thinking", "sequentialthinking", object{"thought": "t", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}, "thoughtHistoryLength"},
	} {
		if text, _ := ask(t, s, c.call, object{"server": c.server, "tool": c.tool, "arguments": c.arguments}); !strings.Contains(text, c.want) {
			t.Errorf("%s %s: got %s, want %s", c.server, c.tool, text, c.want)
		}
	}
	t.Log("4 servers found and called")
}

// TestUpstreamDatabases sends the corpus to two database servers of others, before a
// real PostgreSQL: every refusal is stopped, and everything else gets through.
func TestUpstreamDatabases(t *testing.T) {
	p := publishedServers(t)
	url := testdb.Postgres(t).NewDatabase(t)
	for _, tt := range []struct {
		name, tool string
		args       []string
	}{
		{"mcp-server-postgres", "query", []string{url}},
		{"dbhub", "execute_sql", []string{"--transport", "stdio", "--dsn", url}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := p.agent(t, object{
				"servers": object{"db": object{"command": p.program(tt.name), "args": tt.args, "timeout": "20s"}},
				"rules":   []object{{"match": []string{tt.tool}, "enabled": true, "sql": object{"argument": "sql", "dialect": "postgres"}}},
			})
			if text, failed := ask(t, s, "tool_call", object{"server": "db", "tool": tt.tool, "arguments": object{"sql": "SELECT 40 + 2 AS answer"}}); failed || !strings.Contains(text, "42") {
				t.Fatalf("a read: %s", text)
			}
			stopped, passed, unsendable := 0, 0, 0
			for _, c := range corpus.Cases() {
				if c.Dialect != "postgres" || c.Policy != nil {
					continue
				}
				if !utf8.ValidString(c.SQL) {
					unsendable++ // no JSON text can hold it
					continue
				}
				text, _ := ask(t, s, "tool_call", object{"server": "db", "tool": tt.tool, "arguments": object{"sql": c.SQL}})
				refused := strings.HasPrefix(text, "SQL_REJECTED: ")
				switch {
				case refused != (c.Expect == corpus.Reject):
					t.Errorf("%s, which is to %s: %.300s", c.ID, c.Expect, text)
				case refused:
					stopped++
				default:
					passed++
				}
			}
			t.Logf("%d stopped, %d passed on, %d that no JSON can hold", stopped, passed, unsendable)
			if stopped == 0 || passed == 0 {
				t.Error("nothing was asked")
			}
		})
	}
}
