package research_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// remember calls memory_ingest and memory_ingest_status, and returns the status with
// a fixed id.
func (c *client) remember(arguments string) string {
	c.t.Helper()
	r := c.tool("memory_ingest", arguments)
	var out struct{ RunID string }
	if err := json.Unmarshal(r.StructuredContent, &out); err != nil || r.IsError || out.RunID == "" {
		c.t.Fatalf("%s: %v", r.text(), err)
	}
	validate(c.t, "memory_ingest", r.StructuredContent)
	status := c.tool("memory_ingest_status", `{"runId":"`+out.RunID+`"}`)
	if status.IsError {
		c.t.Fatal(status.text())
	}
	validate(c.t, "memory_ingest_status", status.StructuredContent)
	return strings.ReplaceAll(status.text(), out.RunID, "RUN")
}

func TestMemoryIngest(t *testing.T) {
	dir := t.TempDir()
	c := connectIn(t, dir, artifact("lake", sqlguard.Policy{}))
	const text = `"# Net revenue\nNet revenue means gross minus refunds."`
	want := `{"runId":"RUN","status":"done","stage":"done","done":true,"captured":{"wiki":["net-revenue"],"sl":[],"xrefs":[]},"error":null,"commitHash":null,` +
		`"signalDetected":true,"signals":{"knowledge":true,"sl":false,"dialect":false,"reasons":["knowledge: a definition (line 2)","knowledge: a heading (line 1)"]}}`
	if got := c.remember(`{"content":` + text + `,"connectionId":"lake"}`); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if r := c.tool("wiki_search", `{"query":"what is left after refunds"}`); !strings.Contains(r.text(), `"key":"net-revenue"`) || !strings.Contains(r.text(), "untrusted: source mcp") {
		t.Errorf("the next search: %s", r.text())
	}
	if r := c.tool("wiki_read", `{"key":"net-revenue"}`); !strings.Contains(r.text(), `"content":"> Untrusted text (source mcp, tester, `) {
		t.Errorf("the page: %s", r.text())
	}
	if got := c.remember(`{"content":` + text + `}`); !strings.Contains(got, `"captured":{"wiki":[],"sl":[],"xrefs":[]}`) {
		t.Errorf("the second time: %s", got)
	}
	for arguments, want := range map[string]string{
		`{"content":" "}`:                                   "invalid_arguments: content: it is empty",
		`{"content":"password: Hunter2hunter"}`:             "invalid_arguments: content, line 1: it looks like it holds a password",
		`{"content":"a","connectionId":"laek"}`:             `unknown_connection: no connection has the id "laek"`,
		`{"content":"` + strings.Repeat("x", 70_000) + `"}`: "invalid_arguments: content: 70000 characters",
		`{"content":"` + strings.Repeat("é", 40_000) + `"}`: "invalid_arguments: content: it has 80000 bytes",
	} {
		if r := c.tool("memory_ingest", arguments); !r.IsError || !strings.HasPrefix(r.text(), want) {
			t.Errorf("%.60s: %s", arguments, r.text())
		}
	}
	for _, id := range []string{"nope", "../../ktx", ""} {
		if r := c.tool("memory_ingest_status", `{"runId":"`+id+`"}`); !r.IsError || !strings.HasPrefix(r.text(), "not_found: ") {
			t.Errorf("%q: %s", id, r.text())
		}
	}
}

// TestMemoryOfOthers: a run for a connection that the caller may not use is not
// found.
func TestMemoryOfOthers(t *testing.T) {
	dir := t.TempDir()
	owner := connectIn(t, dir, artifact("lake", sqlguard.Policy{}))
	r := owner.tool("memory_ingest", `{"content":"# A\nB.","connectionId":"lake"}`)
	if other := connectIn(t, dir).tool("memory_ingest_status", string(r.StructuredContent)); !other.IsError || !strings.HasPrefix(other.text(), "not_found: ") {
		t.Errorf("%s", other.text())
	}
}

// TestMemoryIsEqual: MCP and the command line make the same of equal texts. Only the
// page says how the text came.
func TestMemoryIsEqual(t *testing.T) {
	content := "# Refunds\n\nRefunds are negative payments in `payments`. Always subtract them.\n\n```sql\nSELECT sum(amount) FROM payments\n```\n"
	result := func(run func(dir string) string) (status, page string) {
		dir := t.TempDir()
		status = run(dir)
		text, err := os.ReadFile(filepath.Join(dir, "wiki/global/refunds.md"))
		if err != nil {
			t.Fatal(err)
		}
		return status, regexp.MustCompile(`"?20[0-9T:Z-]+"?|source: \w+|client: \w+`).ReplaceAllString(string(text), "…")
	}
	mcpStatus, mcpPage := result(func(dir string) string {
		arguments, err := json.Marshal(map[string]string{"content": content, "connectionId": "lake"})
		if err != nil {
			t.Fatal(err)
		}
		return connectIn(t, dir, artifact("lake", sqlguard.Policy{})).remember(string(arguments))
	})
	cliStatus, cliPage := result(func(dir string) string {
		gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, artifact("lake", sqlguard.Policy{}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = gateway.Close(t.Context()) }()
		s := research.New(gateway, slog.New(slog.DiscardHandler), storesIn(t, dir))
		ctx := audit.WithActor(t.Context(), audit.Actor{Client: audit.Client{Name: "ktx", Transport: "cli"}})
		out, err := s.MemoryIngest(ctx, research.MemoryIngestInput{Content: content, ConnectionID: "lake"})
		if err != nil {
			t.Fatal(err)
		}
		status, err := s.MemoryIngestStatus(ctx, research.MemoryIngestStatusInput(out))
		if err != nil {
			t.Fatal(err)
		}
		status.RunID = "RUN"
		text, err := json.Marshal(status)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	})
	if diff := cmp.Diff(mcpStatus, cliStatus); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(mcpPage, cliPage); diff != "" {
		t.Error(diff)
	}
}
