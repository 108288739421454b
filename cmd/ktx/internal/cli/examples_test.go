package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// session is a client of ktx mcp stdio.
type session struct {
	*process
	id float64
}

// serve starts ktx mcp stdio in a project and shakes hands.
func serve(t *testing.T, dir string) (s *session, instructions string) {
	t.Helper()
	s = &session{process: run(t, dir, "mcp", "stdio"), id: 1}
	s.send(t, initialize)
	result, _ := s.answer(t, 1)["result"].(map[string]any)
	instructions, _ = result["instructions"].(string)
	s.send(t, ready)
	return s, instructions
}

// request sends a request and returns its result.
func (s *session) request(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	s.id++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.id, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	s.send(t, string(text))
	answer := s.answer(t, s.id)
	if answer["error"] != nil {
		t.Fatalf("%s: %v", method, answer["error"])
	}
	if text, err = json.Marshal(answer["result"]); err != nil {
		t.Fatal(err)
	}
	return text
}

// example is a call of a tool that a text shows.
type example struct {
	tool, arguments string
}

// toolAnswer is what the tests read of the answers of all tools.
type toolAnswer struct {
	IsError bool
	Content []struct{ Text string }
	Meta    map[string]any `json:"_meta"`
	Answer  struct {
		Refs []struct{ ID string }
		// Results is that of entity_details, dictionary_search and wiki_search.
		Results []struct {
			OK      *bool
			Matches *[]struct{ MatchedValue string }
		}
		Notes    []string
		Rows     [][]any
		Key      string
		RunID    string
		Status   string
		Captured struct{ Wiki []string }
	} `json:"structuredContent"`
}

// problem returns what is wrong with an answer to an example: a refusal, an argument
// that the tool does not know, or an answer that holds nothing. wanted says that
// values of dictionary_search must be in the database.
func (a *toolAnswer) problem(tool string, wanted bool) string {
	var text string
	if len(a.Content) > 0 {
		text = a.Content[0].Text
	}
	none := ""
	switch {
	case a.IsError:
		return text
	case a.Meta["ktx/notes"] != nil && tool != "sl_query": // whose notes explain a good answer
		return fmt.Sprint(a.Meta["ktx/notes"])
	case len(a.Answer.Notes) > 0 && tool != "sl_query":
		return strings.Join(a.Answer.Notes, "; ")
	case tool == "discover_data" && len(a.Answer.Refs) == 0, (tool == "sql_execution" || tool == "sl_query") && len(a.Answer.Rows) == 0:
		none = "it finds nothing"
	case (tool == "wiki_search" || tool == "entity_details" || tool == "dictionary_search") && len(a.Answer.Results) == 0:
		none = "it finds nothing"
	case tool == "wiki_read" && a.Answer.Key == "", tool == "memory_ingest" && a.Answer.RunID == "":
		none = "the answer has no key or run"
	}
	for _, r := range a.Answer.Results {
		if r.OK != nil && !*r.OK || wanted && r.Matches != nil && len(*r.Matches) == 0 {
			none = "it names what does not exist"
		}
	}
	for _, row := range a.Answer.Rows {
		if slices.ContainsFunc(row, func(v any) bool { return v == nil || v == float64(0) }) {
			none = "a value is 0 or null"
		}
	}
	if none != "" {
		return none + ": " + text
	}
	return ""
}

// try calls a tool as an example says, and fails the test if that is no good example.
// It follows what memory_ingest stores up to its end.
func (s *session) try(t *testing.T, c example, wanted bool) *toolAnswer {
	t.Helper()
	if !json.Valid([]byte(c.arguments)) {
		t.Errorf("%s %s: not JSON", c.tool, c.arguments)
		return &toolAnswer{}
	}
	ask := func(tool, arguments string) *toolAnswer {
		t.Helper()
		var out toolAnswer
		text := s.request(t, "tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(arguments)})
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if problem := out.problem(tool, wanted); problem != "" {
			t.Errorf("%s %s: %s", tool, arguments, problem)
		}
		return &out
	}
	out := ask(c.tool, c.arguments)
	for end := time.Now().Add(hang); c.tool == "memory_ingest" && out.Answer.RunID != ""; {
		run := ask("memory_ingest_status", fmt.Sprintf(`{"runId": %q}`, out.Answer.RunID))
		if run.Answer.Status == "done" {
			if len(run.Answer.Captured.Wiki) == 0 {
				t.Errorf("%s %s stores nothing", c.tool, c.arguments)
			}
			break
		}
		if run.Answer.Status != "running" || time.Now().After(end) {
			t.Fatalf("%s %s: %+v", c.tool, c.arguments, run)
		}
	}
	return out
}

var (
	fencedExample = regexp.MustCompile("(?ms)^```(text|sql)\n(.*?)^```$")
	callExample   = regexp.MustCompile(`(?m)^([a-z]+_[a-z_]+) (\{.*\})$`)
	inlineSQL     = regexp.MustCompile("`(SELECT [^`]+|PRAGMA [^`]+)`")
	anyCall       = regexp.MustCompile(`\b([a-z]+_[a-z_]+) ?(\{[^\n]*\})`)
)

// examplesOf returns the calls that a text in Markdown shows, in order. Statements of
// sql blocks and statements in code style are calls of sql_execution.
func examplesOf(t *testing.T, text string) []example {
	t.Helper()
	statement := func(sql string) example {
		arguments, err := json.Marshal(map[string]string{"connectionId": "demo", "sql": sql})
		if err != nil {
			t.Fatal(err)
		}
		return example{"sql_execution", string(arguments)}
	}
	var calls []example
	for _, m := range inlineSQL.FindAllStringSubmatch(text, -1) {
		if m[1] != "PRAGMA table_info(t)" { // t stands for any table
			calls = append(calls, statement(m[1]))
		}
	}
	for _, m := range fencedExample.FindAllStringSubmatch(text, -1) {
		if m[1] == "sql" {
			calls = append(calls, statement(m[2]))
			continue
		}
		for line := range strings.Lines(m[2]) {
			c := callExample.FindStringSubmatch(strings.TrimSpace(line))
			if c == nil {
				t.Errorf("this line of an example is no call of a tool: %s", line)
				continue
			}
			calls = append(calls, example{c[1], c[2]})
		}
	}
	return calls
}

// TestSkillExamplesRun: every call that the skill shows works on the project that it
// names, and finds something.
func TestSkillExamplesRun(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash("../setup/skill.md"))
	if err != nil {
		t.Fatal(err)
	}
	calls := examplesOf(t, string(text))
	seen := map[string]int{}
	s, _ := serve(t, shop(t))
	found := ""
	for _, c := range calls {
		seen[c.tool]++
		answer := s.try(t, c, true)
		if c.tool != "discover_data" {
			continue
		}
		for _, ref := range answer.Answer.Refs {
			found += ref.ID + " "
		}
	}
	// The search leads to what the examples use next.
	for _, id := range []string{"main.orders ", "main.customers ", "main.customers.city ", "revenue "} {
		if !strings.Contains(found, id) {
			t.Errorf("discover_data does not find %s: %s", id, found)
		}
	}
	for _, tool := range []string{"discover_data", "entity_details", "dictionary_search", "sql_execution", "wiki_search", "wiki_read", "memory_ingest"} {
		if seen[tool] == 0 {
			t.Errorf("the skill has no example of %s: %v", tool, calls)
		}
	}
}

// TestToolExamplesRun does the same for the examples in the descriptions of the tools,
// whose words need not be in the demo, and for calls in the server's instructions.
func TestToolExamplesRun(t *testing.T) {
	t.Parallel()
	s, instructions := serve(t, shop(t))
	var listed struct {
		Tools []struct{ Name, Description string }
	}
	if err := json.Unmarshal(s.request(t, "tools/list", map[string]any{}), &listed); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var calls []example
	for _, tool := range listed.Tools {
		names[tool.Name] = true
		_, arguments, ok := strings.Cut(tool.Description, "Example: ")
		if !ok {
			t.Errorf("%s has no example", tool.Name)
		}
		calls = append(calls, example{tool.Name, arguments})
	}
	// What memory_ingest stores is what the examples of other tools look for.
	slices.SortStableFunc(calls, func(a, b example) int {
		rank := func(c example) int { return strings.Index("memory_ingest", c.tool) }
		return rank(b) - rank(a)
	})
	stored := ""
	for _, c := range calls {
		if c.tool == "memory_ingest_status" { // a run of the example's name cannot exist
			var in map[string]string
			if err := json.Unmarshal([]byte(c.arguments), &in); err != nil || len(in) != 1 || in["runId"] == "" {
				t.Errorf("%s %s: %v", c.tool, c.arguments, err)
			}
			c.arguments = fmt.Sprintf(`{"runId": %q}`, stored)
		}
		answer := s.try(t, c, false)
		if c.tool == "memory_ingest" {
			stored = answer.Answer.RunID
		}
	}
	for _, m := range anyCall.FindAllStringSubmatch(instructions, -1) {
		s.try(t, example{m[1], m[2]}, true)
	}
	steps := regexp.MustCompile(`(?m)^\d+\. ([a-z_]+):`).FindAllStringSubmatch(instructions, -1)
	if len(steps) < 6 {
		t.Errorf("the instructions have %d steps: %s", len(steps), instructions)
	}
	for _, m := range steps {
		if !names[m[1]] {
			t.Errorf("the instructions name %s, which is not listed", m[1])
		}
	}
}

// TestBadExamplesAreFound: the check of examples finds each kind of mistake.
func TestBadExamplesAreFound(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, shop(t))
	for _, c := range []example{
		{"discover_data", `{"query": "zzzz"}`},
		{"discover_data", `{"query": "orders", "connection": "demo"}`},
		{"entity_details", `{"connectionId": "demo", "entities": [{"table": "order_lines"}]}`},
		{"entity_details", `{"connectionId": "demo", "entities": [{"table": "orders", "columns": ["town"]}]}`},
		{"dictionary_search", `{"values": ["Atlantis"], "connectionId": "demo"}`},
		{"wiki_search", `{"query": "zzzz"}`},
		{"wiki_read", `{"key": "nothing"}`},
		{"sql_execution", `{"connectionId": "demo", "sql": "SELECT town FROM customers"}`},
		{"sql_execution", `{"connectionId": "demo", "sql": "DELETE FROM customers"}`},
		{"sql_execution", `{"connectionId": "demo", "sql": "SELECT count(*) FROM orders WHERE status = 'Late'"}`},
		{"sql_execution", `{"connectionId": "shop", "sql": "SELECT 1"}`},
	} {
		var out toolAnswer
		text := s.request(t, "tools/call", map[string]any{"name": c.tool, "arguments": json.RawMessage(c.arguments)})
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		if out.problem(c.tool, true) == "" {
			t.Errorf("%s %s passes as an example: %s", c.tool, c.arguments, text)
		}
	}
}
