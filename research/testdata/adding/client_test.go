package research_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
)

// TestAddedTool is compiled into the overlay of TestAToolIsThreeEdits only.
func TestAddedTool(t *testing.T) {
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, sqliteConnection(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	shipped := shippedTools(t)
	if _, names, _ := dial(t, nil); !slices.Equal(names, shipped) {
		t.Errorf("without a gateway, tools/list has %v; want %v", names, shipped)
	}
	session, names, progress := dial(t, gateway)
	if want := append(shipped, "everything_test"); !slices.Equal(names, want) {
		t.Fatalf("tools/list has %v; want %v", names, want)
	}
	for _, c := range []struct{ arguments, text, notes string }{
		{`{"words":["a","<b>"],"times":"2","loud":true}`, `{"lines":["A <B>","A <B>"],"client":"adder","notes":["this tool is for a test"]}`, "[this tool is for a test]"},
		{`{"words":[],"times":1,"colour":"red"}`, `{"lines":[""],"client":"adder","notes":["the argument \"colour\" is not known and was ignored","this tool is for a test"]}`, `[the argument "colour" is not known and was ignored this tool is for a test]`},
		{`{"times":11}`, "invalid_arguments: times: 11; expected an integer from 1 to 10", "<nil>"},
		{`{"words":[],"times":1,"fault":"error"}`, "unknown_connection: there is no such connection", "<nil>"},
		{`{"words":[],"times":1,"fault":"panic"}`, "internal_error: ", "<nil>"},
	} {
		params := &mcp.CallToolParams{Name: "everything_test", Arguments: json.RawMessage(c.arguments)}
		params.SetProgressToken("p")
		res, err := session.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := res.Content[0].(*mcp.TextContent)
		failed := !strings.HasPrefix(c.text, "{")
		if res.IsError != failed || text == nil || !strings.HasPrefix(text.Text, c.text) || fmt.Sprint(res.Meta["ktx/notes"]) != c.notes {
			t.Errorf("%s: error %t, %+v, notes %v; want %s, notes %s", c.arguments, res.IsError, text, res.Meta["ktx/notes"], c.text, c.notes)
		}
	}
	for _, want := range []string{"0 Repeating", "1 Repeated 2 times", "0 Repeating", "1 Repeated 1 times"} {
		if got := <-progress; got != want {
			t.Errorf("progress %q, want %q", got, want)
		}
	}
}

// shippedTools returns the names in the golden list.
func shippedTools(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/tools.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list {
		names = append(names, tool.Name)
	}
	return names
}

// dial connects a client to a server over the gateway, which may be nil. It
// returns the names in tools/list and the progress that the client is told.
func dial(t *testing.T, gateway *execution.Gateway) (session *mcp.ClientSession, names []string, progress chan string) {
	t.Helper()
	server, err := research.New(gateway, slog.New(slog.DiscardHandler), storesOf(t)).Server("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	progress = make(chan string, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "adder", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			progress <- fmt.Sprintf("%v %s", req.Params.Progress, req.Params.Message)
		},
	})
	session, err = client.Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		_ = serving.Wait()
	})
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return session, names, progress
}
