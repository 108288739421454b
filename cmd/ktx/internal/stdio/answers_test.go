package stdio_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/cmd/ktx/internal/stdio"
)

// TestIDsKeepTheirForm: an answer has the ID as the client wrote it.
func TestIDsKeepTheirForm(t *testing.T) {
	t.Parallel()
	s := startSlow(t, 0)
	s.send(t, initialize, notify)
	s.until(t, `"id":1`)
	for _, id := range []string{
		`7`, `-7`, `0`, `1.5`, `-0`, `1e3`, `1.0`, `1e400`, `9007199254740993`, `-9223372036854775808`, `9223372036854775808`,
		`"x"`, `""`, `"1.5"`, `"<&>"`, `"ä😀"`, `"\u00001.5"`, `"\u0000"`, `"a\"b\\c"`,
	} {
		for _, method := range []string{"ping", "no/such"} {
			s.send(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"}`)
			line, err := s.find(`"jsonrpc"`)
			if err != nil {
				t.Fatal(err)
			}
			var r struct{ ID json.RawMessage }
			if err := json.Unmarshal([]byte(line), &r); err != nil || string(r.ID) != id {
				t.Errorf("%s with the ID %s answered %s", method, id, line)
			}
		}
	}
}

// TestCancelledRequestsAreNotAnswered, in both kinds of the protocol, whatever the
// form of the ID.
func TestCancelledRequestsAreNotAnswered(t *testing.T) {
	t.Parallel()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},`
	for name, meta := range map[string]string{"2025-11-25": "", "2026-07-28": meta} {
		for _, id := range []string{`2`, `"x"`, `1.5`, `9007199254740993`, `"\u0000x"`} {
			t.Run(name+" "+id, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := startSlow(t, time.Hour)
					if meta == "" {
						s.send(t, initialize, notify)
						s.until(t, `"id":1`)
					}
					s.send(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{`+meta+`"name":"wait","arguments":{}}}`)
					<-s.called
					s.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
					<-s.cancelled
					time.Sleep(time.Second) // an answer would be first
					go func() {
						_, _ = io.WriteString(s.in, `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{`+strings.TrimSuffix(meta, ",")+"}}\n")
					}()
					if line, err := s.find(`"jsonrpc"`); err != nil || !strings.Contains(line, `"id":3`) {
						t.Errorf("after the cancellation came %s %v", line, err)
					}
					go func() { _ = s.in.Close() }()
					s.ends(t) // the cancelled request is not waited for
				})
			})
		}
	}
}

// TestNoticesComeBeforeTheAnswer: a client that reads everything that is there
// does not read the last notification together with the answer.
func TestNoticesComeBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inRead, inWrite := io.Pipe()
		outRead, outWrite := io.Pipe()
		transport := stdio.New(inRead, outWrite)
		conn, err := transport.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			id, _ := jsonrpc.MakeID(1.0)
			_ = conn.Write(t.Context(), &jsonrpc.Request{Method: "notifications/progress", Params: json.RawMessage(`{"progressToken":1,"progress":1}`)})
			_ = conn.Write(t.Context(), &jsonrpc.Response{ID: id, Result: json.RawMessage(`{}`)})
			_ = outWrite.Close()
		}()
		var at []time.Time
		buf := make([]byte, 4096)
		for {
			n, err := outRead.Read(buf)
			if n > 0 {
				at = append(at, time.Now())
			}
			if err != nil {
				break
			}
		}
		if len(at) != 2 || at[1].Sub(at[0]) < time.Millisecond {
			t.Errorf("the messages came at %v", at)
		}
		_ = conn.Close()
		_ = inWrite.Close()
	})
}

// TestReadsMessagesAsTheSDK: what the transport finds in a message is what the
// SDK's own decoder finds.
func TestReadsMessagesAsTheSDK(t *testing.T) {
	t.Parallel()
	texts := rapid.SampledFrom([]string{`"a"`, `"\"}"`, `"\\"`, `"{["`, `1`, `-2.5e3`, `true`, `null`, `{}`, `[]`, `[1,{"id":5}]`, `{"a":{"method":"x"}, "b":[ ]}`, `""`})
	names := rapid.SampledFrom([]string{"params", "x", "Method", "ID", `a\"b`, "result", `pa\u0072ams`})
	space := rapid.SampledFrom([]string{"", " ", "\t", " \r"})
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		sp := func() string { return space.Draw(r, "space") }
		fmt.Fprintf(&b, `{%s"jsonrpc"%s:%s"2.0"%s,"id":%d,"method":"m"`, sp(), sp(), sp(), sp(), rapid.IntRange(-9, 9).Draw(r, "id"))
		for range rapid.IntRange(0, 4).Draw(r, "members") {
			fmt.Fprintf(&b, `%s,%s"%s"%s:%s%s`, sp(), sp(), names.Draw(r, "name"), sp(), sp(), texts.Draw(r, "value"))
		}
		b.WriteString(sp() + "}")
		want, err := jsonrpc.DecodeMessage([]byte(b.String()))
		if err != nil {
			r.Skip()
		}
		w, _ := want.(*jsonrpc.Request)
		if len(w.Params) > 0 && !strings.ContainsAny(string(w.Params[:1]), "{[n") {
			r.Skip() // the transport refuses these
		}
		transport := stdio.New(strings.NewReader(b.String()+"\n"), io.Discard)
		conn, err := transport.Connect(t.Context())
		if err != nil {
			r.Fatal(err)
		}
		got, err := conn.Read(t.Context())
		if err != nil {
			r.Fatalf("%s: %v", b.String(), err)
		}
		g, _ := got.(*jsonrpc.Request)
		if g.ID != w.ID || g.Method != w.Method || string(g.Params) != string(w.Params) {
			r.Errorf("%s is %+v, the SDK reads %+v", b.String(), g, w)
		}
		_ = conn.Write(t.Context(), &jsonrpc.Response{ID: g.ID, Result: json.RawMessage(`{}`)})
		_ = conn.Close()
	})
}

var _ mcp.Connection = (*stdio.Transport)(nil)
