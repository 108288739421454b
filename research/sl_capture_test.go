package research_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research"
)

// TestSLCapture: a definition in a text is written to the overlay of its source, once,
// after all of it was checked, and the next request knows it.
func TestSLCapture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ask := callerOf(t, serviceOver(t, dir, salesProject(t, dir, "a")), analyst("ana", "a"))
	file := filepath.Join(dir, "semantic-layer", "a", "orders.yaml")
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	remember := func(content string) string {
		t.Helper()
		run := decoded[research.MemoryIngest](t, ask.must("memory_ingest", fmt.Sprintf(`{"content":%q,"connectionId":"a"}`, content))).RunID
		return ask.must("memory_ingest_status", fmt.Sprintf(`{"runId":%q}`, run))
	}
	const text = "# Average\n\nLargest order = max(orders.total)\n\nIt is about orders.\n"
	if got := remember(text); !strings.Contains(got, `"sl":["a/orders"]`) || !strings.Contains(got, `"xrefs":["orders","a/orders"]`) {
		t.Errorf("the first time: %s", got)
	}
	once := read()
	for _, part := range []string{"# Written by hand.", "# the sum", "name: largest_order", "max(orders.total)"} {
		if !strings.Contains(once, part) {
			t.Errorf("the file lacks %q: %s", part, once)
		}
	}
	if got := ask.must("sl_query", `{"measures":["orders.largest_order"]}`); !strings.Contains(got, "[[20]]") {
		t.Errorf("the next request: %s", got)
	}
	remember(text + "Again.\n")
	if read() != once {
		t.Errorf("the second time the file has changed: %s", read())
	}
	for content, why := range map[string]string{
		"# A\nLargest order = min(orders.total)\n": "is defined already, as max(orders.total)",
		"# B\nWrong = sum(orders.totl)\n":          "no source has all the columns",
		"# C\nRows = count(id)\n":                  "several sources have the columns",
		"# D\n```yaml\nname: orders\nmeasures:\n  - {name: good, expr: sum(total)}\n  - {name: bad, expr: sum(status)}\n```\n": "line",
		"# E\n```yaml\nname: orders\ntable: customers\nmeasures: [{name: x, expr: sum(total)}]\n```\n":                         "only name, measures and segments",
		"# F\n```yaml\nname: orders\nmeasures: [{name: x, expr: 'sum(total); drop table orders'}]\n```\n":                      "line",
	} {
		if got := remember(content); !strings.Contains(got, "is not written") || !strings.Contains(got, why) || !strings.Contains(got, `"sl":[]`) {
			t.Errorf("%s: %s", content, got)
		}
		if read() != once {
			t.Fatalf("%s has changed the file: %s", content, read())
		}
	}
}
