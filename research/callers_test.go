package research_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/memory"
)

// caller calls the tools of a service over MCP, as one principal.
type caller struct {
	t       *testing.T
	session *mcp.ClientSession
}

// callerOf connects to a service. The actor is in the context of every call.
func callerOf(t *testing.T, s *research.Service, actor audit.Actor) *caller {
	t.Helper()
	server, err := s.Server("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	ctx := audit.WithActor(context.WithoutCancel(t.Context()), actor)
	here, there := mcp.NewInMemoryTransports()
	served, err := server.Connect(ctx, there, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "7"}, nil).Connect(context.WithoutCancel(t.Context()), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		_ = served.Wait()
	})
	return &caller{t: t, session: session}
}

// analyst is a principal that may use these connections only.
func analyst(name string, connections ...string) audit.Actor {
	return audit.Actor{Principal: name, Connections: connections}
}

// elapsed is the one member of answers that differs from call to call.
var elapsed = regexp.MustCompile(`"elapsedMs":\d+`)

// answer returns all that the caller is told: the text, whether it is an error, and
// the notes and the error in the _meta. The other form of the answer must be equal.
func (c *caller) answer(tool, arguments string) string {
	c.t.Helper()
	r, err := c.session.CallTool(context.WithoutCancel(c.t.Context()), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		c.t.Errorf("%s %s: %v", tool, arguments, err)
		return ""
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok || len(r.Content) != 1 {
		c.t.Errorf("%s %s: %d parts", tool, arguments, len(r.Content))
		return ""
	}
	meta := maps.Clone(r.Meta)
	maps.DeleteFunc(meta, func(name string, _ any) bool { return !strings.HasPrefix(name, "ktx/") })
	return elapsed.ReplaceAllString(fmt.Sprintf("error %t: %s\n%s", r.IsError, text.Text, jsonOf(c.t, meta)), `"elapsedMs":0`)
}

// call is one call of a tool.
type call struct{ tool, arguments string }

// answers returns the answers to calls, in order.
func (c *caller) answers(calls []call) []string {
	c.t.Helper()
	out := make([]string, len(calls))
	for i, x := range calls {
		out[i] = c.answer(x.tool, x.arguments)
	}
	return out
}

// must is answer for a call that has to succeed.
func (c *caller) must(tool, arguments string) string {
	c.t.Helper()
	text := c.answer(tool, arguments)
	if !strings.HasPrefix(text, "error false: ") {
		c.t.Errorf("%s %s: %s", tool, arguments, text)
	}
	return text
}

// sameAnswers wants equal answers to equal calls.
func sameAnswers(t *testing.T, what string, calls []call, want, got []string) {
	t.Helper()
	for i, x := range calls {
		if want[i] != got[i] {
			t.Errorf("%s: %s %s:\n%s\n\nwant\n%s", what, x.tool, x.arguments, got[i], want[i])
		}
	}
}

// fixedStores are the stores over the project in dir, with times and ids of runs that
// are the same in every test.
func fixedStores(t *testing.T, dir string) research.Stores {
	t.Helper()
	s := storesIn(t, dir)
	root := catalogtest.Open(t, dir)
	var runs atomic.Int64
	s.Memory = memory.New(root, memory.Options{
		Wiki:   s.Wiki,
		Now:    func() time.Time { return time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC) },
		Random: func() string { return fmt.Sprintf("run%d", runs.Add(1)) },
	})
	return s
}

// serviceOver is a service with fixed stores over the project in dir.
func serviceOver(t *testing.T, dir string, conns ...execution.Connection) *research.Service {
	t.Helper()
	return research.New(gatewayTo(t, conns...), slog.New(slog.DiscardHandler), fixedStores(t, dir))
}

// everyTool returns calls of all tools for a connection: queries by names, by words of
// comments and by values, right and misspelt, with a connection and without.
func everyTool(connection string, words []string, values []string) []call {
	calls := []call{{"connection_list", `{}`}}
	for _, id := range []string{connection, "nowhere", connection + "s"} {
		for _, w := range words {
			calls = append(calls, call{"entity_details", fmt.Sprintf(`{"connectionId":%q,"entities":[{"table":%q},{"table":"orders","columns":[%q]}]}`, id, w, w)})
		}
		calls = append(calls,
			call{"discover_data", fmt.Sprintf(`{"query":%q,"connectionId":%q}`, words[0], id)},
			call{"dictionary_search", fmt.Sprintf(`{"values":[%q],"connectionId":%q}`, values[0], id)},
			call{"sql_execution", fmt.Sprintf(`{"connectionId":%q,"sql":"SELECT 1 AS one"}`, id)},
			call{"sl_query", fmt.Sprintf(`{"connectionId":%q,"measures":["orders.order_count"],"dimensions":["status"],"include":["sql","plan"]}`, id)},
			call{"sl_read_source", fmt.Sprintf(`{"connectionId":%q,"sourceName":"orders"}`, id)},
			call{"memory_ingest", fmt.Sprintf(`{"content":"# Late orders\nAn order is late after 9 days.","connectionId":%q}`, id)},
		)
	}
	for _, w := range words {
		calls = append(calls,
			call{"discover_data", fmt.Sprintf(`{"query":%q,"limit":50}`, w)},
			call{"discover_data", fmt.Sprintf(`{"query":%q,"kinds":["table","column"],"connectionId":%q}`, w, connection)},
			call{"discover_data", fmt.Sprintf(`{"query":%q,"kinds":["sl_source","sl_measure","sl_dimension"],"limit":50}`, w)},
			call{"wiki_search", fmt.Sprintf(`{"query":%q}`, w)},
			call{"wiki_read", fmt.Sprintf(`{"key":%q}`, w)},
			call{"sl_read_source", fmt.Sprintf(`{"connectionId":%q,"sourceName":%q}`, connection, w)},
			call{"sl_query", fmt.Sprintf(`{"connectionId":%q,"measures":[%q],"include":["sql","plan"]}`, connection, "count("+w+".id)")},
			call{"sl_query", fmt.Sprintf(`{"connectionId":%q,"measures":["orders.revenue"],"dimensions":[%q],"filters":[%q],"include":["sql","plan"]}`, connection, w, w+" = 1")},
			call{"sl_query", fmt.Sprintf(`{"measures":[%q],"segments":[%q],"order_by":[%q]}`, w, w, w)},
		)
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return append(calls,
		call{"dictionary_search", `{"values":[` + strings.Join(quoted, ",") + `]}`},
		call{"memory_ingest", `{"content":"# Refunds\nRefunds mean orders that came back, see orders and main.orders."}`},
		call{"memory_ingest_status", `{"runId":"nothing"}`},
		call{"wiki_read", `{"key":"refunds"}`},
		call{"wiki_search", `{"query":"late orders"}`},
	)
}

// decoded reads the JSON of an answer that is no error.
func decoded[T any](t *testing.T, answer string) T {
	t.Helper()
	var v T
	text := strings.TrimPrefix(answer, "error false: ")
	text = text[:strings.LastIndexByte(text, '\n')] // the notes
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return v
}
