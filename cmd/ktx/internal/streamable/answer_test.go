package streamable_test

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/httpapi"
)

// refused is a JSON-RPC error over HTTP.
type refused struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// TestRefusalsAreJSON: whatever is wrong with a request, its answer is a JSON-RPC
// error as JSON.
func TestRefusalsAreJSON(t *testing.T) {
	t.Parallel()
	sessions := newDesk(t, nil)
	session := sessions.begin(t)
	stateless := newDesk(t, func(c *httpapi.Config) { c.Sessions = nil })
	const unknown = `{"jsonrpc":"2.0","id":"u","method":"no/such"}`
	for _, test := range []struct {
		name, method, body string
		headers            []string
		status, code       int
		id                 string
	}{
		{"unknown method", "POST", unknown, nil, 200, -32601, `"u"`},
		{"unknown method, an odd ID", "POST", `{"jsonrpc":"2.0","id":1.5,"method":"no/such"}`, nil, 200, -32601, `1.5`},
		{"no parameters", "POST", `{"jsonrpc":"2.0","id":4,"method":"tools/call"}`, nil, 400, -32600, `4`},
		{"wrong Accept", "POST", list, []string{"Accept", "text/html"}, 400, -32600, `2`},
		{"wrong Content-Type", "POST", list, []string{"Content-Type", "text/plain"}, 415, -32600, `2`},
		{"batch", "POST", "[" + list + "]", []string{"Mcp-Protocol-Version", "2025-11-25"}, 400, -32600, `null`},
		{"not JSON", "POST", `{"jsonrpc"`, nil, 400, -32700, `null`},
		{"another version", "POST", list, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, -32600, `2`},
		{"PUT", "PUT", "", nil, 405, -32600, `null`},
		{"PATCH", "PATCH", "", nil, 405, -32600, `null`},
	} {
		for kind, d := range map[string]*desk{"session": sessions, "stateless": stateless} {
			t.Run(test.name+"/"+kind, func(t *testing.T) {
				id := ""
				if d == sessions {
					id = session
				}
				res, err := http.DefaultClient.Do(d.request(t.Context(), t, test.method, id, test.body, test.headers...))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
				var r refused
				if err != nil || kind != "application/json" || json.Unmarshal(text, &r) != nil || r.Error == nil || res.StatusCode != test.status ||
					r.Version != "2.0" || r.Error.Code != test.code || r.Error.Message == "" || string(r.ID) != test.id {
					t.Errorf("answered %d, %s: %s; want %d and %d for %s", res.StatusCode, kind, text, test.status, test.code, test.id)
				}
			})
		}
	}
	if status, text := sessions.ask(t, http.MethodPost, session, `{"jsonrpc":"2.0","method":"notifications/no_such"}`); status != http.StatusAccepted || text != "" {
		t.Errorf("an unknown notification answered %d %s", status, text)
	}
}

// TestIDsKeepTheirForm: an answer has the ID as the client wrote it.
func TestIDsKeepTheirForm(t *testing.T) {
	t.Parallel()
	sessions := newDesk(t, nil)
	session := sessions.begin(t)
	stateless := newDesk(t, func(c *httpapi.Config) { c.Sessions = nil })
	for _, id := range []string{`7`, `1.5`, `1e3`, `9007199254740993`, `"x"`, `"1.5"`, `"\u00001.5"`, `"<&>"`} {
		for _, method := range []string{"tools/list", "no/such"} {
			body := `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
			for kind, answer := range map[string]func() (int, string){
				"session":   func() (int, string) { return sessions.ask(t, http.MethodPost, session, body) },
				"stateless": func() (int, string) { return stateless.ask(t, http.MethodPost, "", body) },
			} {
				status, text := answer()
				var r struct{ ID json.RawMessage }
				_, message, found := strings.Cut(text, "data: ")
				if !found {
					message = text
				}
				if err := json.Unmarshal([]byte(message), &r); status != http.StatusOK || err != nil || string(r.ID) != id {
					t.Errorf("%s, %s with the ID %s answered %d %s", kind, method, id, status, text)
				}
			}
		}
	}
}

// TestCancelledRequestsAreNotAnswered: the stream of a cancelled request ends
// without an answer, and another session cannot cancel it.
func TestCancelledRequestsAreNotAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	session, other := d.begin(t), d.begin(t)
	for _, id := range []string{`7`, `"x"`, `1.5`} {
		body := strings.Replace(wait, `"id":7`, `"id":`+id, 1)
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
		type answered struct {
			status int
			text   string
		}
		done := make(chan answered, 1)
		go func() {
			status, text := d.ask(t, http.MethodPost, session, body)
			done <- answered{status, text}
		}()
		<-d.called
		d.ask(t, http.MethodPost, other, cancel)
		select {
		case <-d.cancelled:
			t.Errorf("another session cancelled %s", id)
		default:
		}
		if status, _ := d.ask(t, http.MethodPost, session, cancel); status != http.StatusAccepted {
			t.Errorf("the cancellation of %s answered %d", id, status)
		}
		d.isCancelled(t)
		if a := <-done; a.status != http.StatusOK || a.text != "" {
			t.Errorf("the cancelled request %s was answered %d %q", id, a.status, a.text)
		}
	}
}
