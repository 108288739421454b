package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/rpc"
	"github.com/ktxhq/ktx/execution/audit"
)

// toolServer sends lines of JSON-RPC to a server.
type toolServer interface {
	// call sends a request and returns its answer; a request that is cancelled has none.
	call(t *testing.T, line string) string
	// begin sends a request without waiting for it, and end waits for what begin started.
	begin(t *testing.T, line string) (end func())
	notify(t *testing.T, line string)
}

type pipeServer struct{ *process }

func (o pipeServer) call(t *testing.T, line string) string {
	t.Helper()
	o.send(t, line)
	return fmt.Sprint(o.answer(t, 2))
}

func (o pipeServer) begin(t *testing.T, line string) func() {
	t.Helper()
	o.send(t, line)
	return func() {}
}

func (o pipeServer) notify(t *testing.T, line string) {
	t.Helper()
	o.send(t, line)
}

type webServer struct{ *client }

func (o webServer) call(t *testing.T, line string) string {
	t.Helper()
	return o.post(t, http.StatusOK, line)
}

func (o webServer) begin(t *testing.T, line string) func() {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, _, err := o.do(context.WithoutCancel(t.Context()), http.MethodPost, line)
		done <- err
	}()
	return func() {
		t.Helper()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func (o webServer) notify(t *testing.T, line string) {
	t.Helper()
	o.post(t, http.StatusAccepted, line)
}

// TestDirectCallsAreRecordedAlike: a call that our transports answer without the SDK
// leaves the same events as one that the SDK passes on, but for times and ids. A member of
// _meta that only the SDK knows makes the difference between the two.
func TestDirectCallsAreRecordedAlike(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(t *testing.T, dir string) toolServer{
		"stdio": func(t *testing.T, dir string) toolServer {
			t.Helper()
			s, _ := serve(t, dir)
			return pipeServer{s.process}
		},
		"http": func(t *testing.T, dir string) toolServer {
			t.Helper()
			c := &client{url: serverOf(t, dir).URL}
			c.begin(t)
			return webServer{c}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := shop(t)
			server := connect(t, dir)
			for _, c := range []struct{ title, tool, arguments, has string }{
				{"success", "sql_execution", `{"connectionId":"demo","sql":"SELECT id, status FROM orders LIMIT 3"}`, "status"},
				{"a cut answer", "sql_execution", `{"connectionId":"demo","sql":"SELECT * FROM orders","maxRows":1,"unknown":true}`, "unknown"},
				{"refusal", "sql_execution", `{"connectionId":"demo","sql":"DELETE FROM orders"}`, "write_statement"},
				{"error of the database", "sql_execution", `{"connectionId":"demo","sql":"SELECT nope FROM orders"}`, "database_error"},
				{"unknown connection", "sql_execution", `{"connectionId":"nowhere","sql":"SELECT 1"}`, "unknown_connection"},
				{"invalid arguments", "sql_execution", `{"connectionId":"demo"}`, "invalid_arguments"},
				{"arguments of another form", "sql_execution", `[1]`, "invalid_arguments"},
				{"a tool without a statement", "connection_list", `{}`, "demo"},
				{"a tool that writes the statement", "sl_query", `{"connectionId":"demo","measures":["orders.revenue"],"dimensions":["customers.country"]}`, "revenue"},
				{"cancelled", "sql_execution", `{"connectionId":"demo","sql":"` + counting(2_000_000_000) + `"}`, ""},
			} {
				var seen [2][]audit.Event
				for way, meta := range []string{"", `,"_meta":{"example.com/other":1}`} {
					params := fmt.Sprintf(`{"name":%q,"arguments":%s%s}`, c.tool, c.arguments, meta)
					if _, plain := rpc.PlainCall("tools/call", []byte(params)); plain != (way == 0) {
						t.Fatalf("%s: plain %v", params, plain)
					}
					line := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + params + `}`
					before := len(recordedNow(t, dir))
					since := func() []audit.Event { return recordedNow(t, dir)[before:] }
					ends := func(kind audit.Type) func() bool {
						return func() bool {
							return slices.ContainsFunc(since(), func(e audit.Event) bool { return e.Type == kind })
						}
					}
					if c.title == "cancelled" {
						end := server.begin(t, line)
						waitFor(t, ends(audit.QueryDecision))
						server.notify(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`)
						waitFor(t, ends(audit.QueryCancelled))
						end()
					} else if text := server.call(t, line); !strings.Contains(text, c.has) {
						t.Errorf("%s: %s", c.title, text)
					}
					seen[way] = since()
				}
				if len(seen[0]) == 0 && c.title != "a tool without a statement" {
					t.Errorf("%s left no event", c.title)
				}
				if diff := cmp.Diff(withoutTimes(seen[1]), withoutTimes(seen[0])); diff != "" {
					t.Errorf("%s: the events of a call by the SDK (-) and of a direct one (+):\n%s", c.title, diff)
				}
			}
		})
	}
}

// withoutTimes returns events without times and ids. It leaves query.ended out, which stands
// there only when the engine took longer than usual to end a statement.
func withoutTimes(events []audit.Event) []audit.Event {
	var out []audit.Event
	for _, e := range events {
		if e.Type == audit.QueryEnded {
			continue
		}
		e.Time, e.Seq, e.QueryID, e.Chain = time.Time{}, 0, "", audit.Chain{}
		e.Decision.LatencyUS, e.Result.ExecMS, e.Result.QueueMS, e.Result.Ended = 0, 0, 0, ""
		if at, err := netip.ParseAddrPort(e.Client.Address); err == nil {
			e.Client.Address = at.Addr().String() // each request has a connection of its own
		}
		out = append(out, e)
	}
	return out
}
