//go:build linux

package faults_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/sqlguard"
)

// document is the file with the results.
var document = filepath.Join("..", "..", "..", "docs", "evidence", "reliability.md")

const (
	beginMark = "<!-- scenarios: begin, written by a test -->\n"
	endMark   = "<!-- scenarios: end, written by a test -->\n"
	notRun    = "not run"
)

// render returns the generated part of the document.
func render(results map[string]string) string {
	var out strings.Builder
	count, quick := 0, 0
	for _, g := range groups() {
		for _, sc := range g.scenarios {
			if count++; !sc.full {
				quick++
			}
		}
	}
	fmt.Fprintf(&out, "%d scenarios, %d of them in the quick half.\n\nFor every scenario:\n\n", count, quick)
	for _, condition := range always {
		fmt.Fprintf(&out, "- %s\n", condition)
	}
	for _, g := range groups() {
		fmt.Fprintf(&out, "\n### %s\n\n| scenario | what is done | passes when | result |\n|---|---|---|---|\n", g.title)
		for _, sc := range g.scenarios {
			result, ok := results[sc.name]
			if !ok {
				result = notRun
			}
			fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", sc.title(), sc.does, sc.condition(), result)
		}
	}
	return out.String()
}

// title returns the first cell of the scenario's row.
func (sc *scenario) title() string {
	if sc.full {
		return sc.name + " (full)"
	}
	return sc.name
}

// condition returns the condition for a pass, and the codes that are allowed.
func (sc *scenario) condition() string {
	if len(sc.codes) == 0 {
		return sc.passes
	}
	return sc.passes + " Codes: " + codeList(sc.codes) + "."
}

func codeList(codes []sqlguard.Code) string {
	var names []string
	for _, c := range codes {
		names = append(names, "`"+string(c)+"`")
	}
	return strings.Join(names, ", ")
}

// readDocument returns the generated part of the document, and the parts before
// and after it.
func readDocument(t *testing.T) (before, generated, after string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), beginMark)
	generated, after, ok2 := strings.Cut(rest, endMark)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no lines %q and %q", document, beginMark, endMark)
	}
	return before, generated, after
}

// told returns the results in the document, by scenario.
func told(generated string) map[string]string {
	results := map[string]string{}
	for line := range strings.Lines(generated) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) == 4 && strings.HasPrefix(cells[0], "| ") {
			name := strings.TrimSuffix(strings.TrimPrefix(cells[0], "| "), " (full)")
			results[name] = strings.TrimSuffix(cells[3], " |")
		}
	}
	return results
}

// writeResults writes the results of a run. Scenarios that did not run keep
// their result in the document.
func writeResults(t *testing.T, results map[string]string) {
	t.Helper()
	before, generated, after := readDocument(t)
	merged := told(generated)
	maps.Copy(merged, results)
	if err := os.WriteFile(document, []byte(before+beginMark+render(merged)+endMark+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTheDocumentIsTheSuite checks that the document matches the code. It must
// contain every scenario with its description and a result that is a pass, and
// nothing else.
func TestTheDocumentIsTheSuite(t *testing.T) {
	_, generated, _ := readDocument(t)
	results := told(generated)
	if diff := cmp.Diff(render(results), generated); diff != "" {
		t.Errorf("docs/evidence/reliability.md is not what the scenarios say; run make faults (-want +got):\n%s", diff)
	}
	names := map[string]bool{}
	for _, g := range groups() {
		for _, sc := range g.scenarios {
			if names[sc.name] {
				t.Errorf("two scenarios have the name %q", sc.name)
			}
			names[sc.name] = true
			if sc.does == "" || sc.passes == "" || sc.run == nil || strings.ContainsAny(sc.name+sc.does+sc.passes, "|\n") {
				t.Errorf("%s: a scenario needs words without bars for its row, and code", sc.name)
			}
			if result := results[sc.name]; result != "passes" && !strings.HasPrefix(result, "passes: ") {
				t.Errorf("%s: the document says %q", sc.name, result)
			}
		}
	}
	if len(names) < 30 {
		t.Errorf("%d scenarios", len(names))
	}
}
