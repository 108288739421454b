package stdio_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/stdio"
)

// session runs a server over pipes and returns a function that sends one line
// and one that reads the next answer.
func session(t *testing.T) (send func(string), next func() map[string]any) {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(context.WithoutCancel(t.Context()), stdio.New(inRead, outWrite)) }()
	answers := bufio.NewReader(outRead)
	t.Cleanup(func() {
		_ = inWrite.Close()
		if err := <-ended; err != nil {
			t.Errorf("the session ended with %v", err)
		}
		_ = outWrite.Close()
	})
	send = func(line string) {
		if _, err := io.WriteString(inWrite, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	next = func() map[string]any {
		line, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return m
	}
	return send, next
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestBadLinesDoNotEndTheSession(t *testing.T) {
	send, next := session(t)
	send(initialize)
	if r := next(); r["result"] == nil {
		t.Fatalf("initialize: %v", r)
	}
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, test := range []struct {
		line string
		code float64
	}{
		{`this is not JSON`, -32700},
		{`{"jsonrpc":"2.0","id":2,"method":"ping"`, -32700},
		{"\x00\xff", -32700},
		{`1`, -32600},
		{`null`, -32600},
		{`"ping"`, -32600},
		{`{}`, -32600},
		{`[]`, -32600},
		{`[1]`, -32600},
		{`{"jsonrpc":"1.0","id":2,"method":"ping"}`, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600},
		{`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, -32600},
		{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600},
		{`{"jsonrpc":"2.0","id":2,"method":7}`, -32600},
		{`{"jsonrpc":"2.0","id":2,"method":"ping","params":"x"}`, -32600},
		{`{"jsonrpc":"2.0","id":2}`, -32600},
		{strings.Repeat("x", 17<<20), -32600},
	} {
		send(test.line)
		r := next()
		if e, ok := r["error"].(map[string]any); !ok || e["code"] != test.code || r["id"] != nil {
			t.Errorf("%.40q answered %v, want code %v", test.line, r, test.code)
		}
	}
	send("\n   \n") // blank lines are no messages
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
		"  {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\r",
	} {
		send(line)
		if r := next(); r["id"] != 3.0 || r["error"] != nil {
			t.Errorf("after all that, ping answered %v", r)
		}
	}
	// What the transport reads but the SDK refuses must not end the session either.
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":7}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[1]}`,
		`{"jsonrpc":"2.0","id":6,"method":"no/such"}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"none"}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1000) + `","method":"ping"}`,
	} {
		send(line)
		if r := next(); r["error"] == nil && r["result"] == nil {
			t.Errorf("%s answered %v", line, r)
		}
	}
	send(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
	if r := next(); r["id"] != 8.0 || r["error"] != nil {
		t.Errorf("ping answered %v", r)
	}
}

func TestUnknownToolIsInvalidParams(t *testing.T) {
	send, next := session(t)
	send(initialize)
	next()
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"none"}}`)
	if e, ok := next()["error"].(map[string]any); !ok || e["code"] != -32602.0 {
		t.Errorf("answered %v", e)
	}
}
