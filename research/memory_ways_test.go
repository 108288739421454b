package research_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestMemoryOfBothWaysIsOne: a text that came over MCP is nothing new when it comes from
// the command line, and the other way round. The next search finds the page.
func TestMemoryOfBothWaysIsOne(t *testing.T) {
	t.Parallel()
	const content = "# Churn\n\nChurn means no order in `orders` for 90 days.\n"
	overMCP := func(t *testing.T, s *research.Service) (run, status string) {
		t.Helper()
		ask := callerOf(t, s, analyst("ana"))
		run = decoded[research.MemoryIngest](t, ask.must("memory_ingest", fmt.Sprintf(`{"content":%q}`, content))).RunID
		return run, ask.must("memory_ingest_status", fmt.Sprintf(`{"runId":%q}`, run))
	}
	overCLI := func(t *testing.T, s *research.Service) (run, status string) {
		t.Helper()
		ctx := audit.WithActor(context.WithoutCancel(t.Context()), audit.Actor{Client: audit.Client{Name: "ktx", Transport: "cli"}})
		out, err := s.MemoryIngest(ctx, research.MemoryIngestInput{Content: content})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.MemoryIngestStatus(ctx, research.MemoryIngestStatusInput(out))
		if err != nil {
			t.Fatal(err)
		}
		return out.RunID, jsonOf(t, got)
	}
	type way = func(*testing.T, *research.Service) (run, status string)
	for name, ways := range map[string][2]way{"MCP first": {overMCP, overCLI}, "the command line first": {overCLI, overMCP}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := research.New(gatewayTo(t, artifactOnly("w", sqlguard.Policy{})), slog.New(slog.DiscardHandler), fixedStores(t, dir))
			file := filepath.Join(dir, "wiki", "global", "churn.md")
			read := func() string {
				t.Helper()
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			first, status := ways[0](t, s)
			if !strings.Contains(status, `"wiki":["churn"]`) {
				t.Errorf("the first time: %s", status)
			}
			page := read()
			ask := callerOf(t, s, analyst("ben"))
			for _, tool := range []string{"discover_data", "wiki_search"} {
				if got := ask.must(tool, `{"query":"who has no order for 90 days"}`); !strings.Contains(got, `"churn"`) {
					t.Errorf("the next %s: %s", tool, got)
				}
			}
			second, status := ways[1](t, s)
			if second == first || !strings.Contains(status, `"captured":{"wiki":[],"sl":[],"xrefs":[]}`) || !strings.Contains(status, `"status":"done"`) {
				t.Errorf("the second time: %s", status)
			}
			if read() != page {
				t.Errorf("the page has changed: %s", read())
			}
		})
	}
}
