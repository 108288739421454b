package stdio_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/stdio"
)

const (
	notify = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	call   = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}`
)

// slow is a session with a tool that answers after a while, or says that it
// was cancelled.
type slow struct {
	transport *stdio.Transport
	in        *io.PipeWriter
	out       *io.PipeReader
	answers   *bufio.Reader
	called    chan struct{}
	cancelled chan struct{}
	ended     chan error
}

func startSlow(t *testing.T, takes time.Duration) *slow {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	s := &slow{
		transport: stdio.New(inRead, outWrite), in: inWrite, out: outRead, answers: bufio.NewReader(outRead),
		called: make(chan struct{}, 8), cancelled: make(chan struct{}, 8), ended: make(chan error, 1),
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.wait(ctx, takes, "waited"), nil
	})
	s.transport.Serve(context.WithoutCancel(t.Context()), direct{s, takes})
	server.AddReceivingMiddleware(s.transport.Middleware())
	session, err := server.Connect(context.WithoutCancel(t.Context()), s.transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- session.Wait() }()
	t.Cleanup(func() {
		_ = inWrite.Close()
		_ = outRead.Close()
	})
	return s
}

func (s *slow) wait(ctx context.Context, takes time.Duration, text string) *mcp.CallToolResult {
	s.called <- struct{}{}
	select {
	case <-ctx.Done():
		s.cancelled <- struct{}{}
	case <-time.After(takes):
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// direct has the tool wait without the SDK.
type direct struct {
	s     *slow
	takes time.Duration
}

type clientKey struct{}

func (direct) Has(name string) bool { return name == "wait" }

func (direct) For(ctx context.Context, client *mcp.Implementation) context.Context {
	return context.WithValue(ctx, clientKey{}, client.Name)
}

func (d direct) Call(ctx context.Context, _ string, arguments json.RawMessage, progress func(float64, string)) *mcp.CallToolResult {
	if progress != nil {
		progress(0.5, "half")
	}
	client, _ := ctx.Value(clientKey{}).(string)
	return d.s.wait(ctx, d.takes, "waited directly for "+client+string(arguments))
}

func (s *slow) send(t *testing.T, lines ...string) {
	t.Helper()
	if _, err := io.WriteString(s.in, strings.Join(lines, "\n")+"\n"); err != nil {
		t.Fatal(err)
	}
}

// find reads up to the line that holds a text.
func (s *slow) find(text string) (string, error) {
	late := time.AfterFunc(2*time.Minute, func() { _ = s.out.CloseWithError(errors.New("too late")) })
	defer late.Stop()
	for {
		line, err := s.answers.ReadString('\n')
		if err != nil || strings.Contains(line, text) {
			return line, err
		}
	}
}

// until is find for a line that has to come.
func (s *slow) until(t *testing.T, text string) string {
	t.Helper()
	line, err := s.find(text)
	if err != nil {
		t.Fatalf("no %s: %v", text, err)
	}
	return line
}

func (s *slow) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("not ended within two minutes")
	}
}

// TestEndOfInputAwaitsAnswers: a client may write its requests and close its
// end; what can be answered soon is answered.
func TestEndOfInputAwaitsAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startSlow(t, 20*time.Millisecond)
		s.send(t, initialize, notify, call)
		go func() { _ = s.in.Close() }()
		s.until(t, `"id":1`)
		if line := s.until(t, `"id":2`); !strings.Contains(line, "waited") {
			t.Errorf("answered %s", line)
		}
		s.ends(t)
	})
}

// TestEndOfInputCancels: what takes longer is cancelled.
func TestEndOfInputCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startSlow(t, time.Minute)
		s.send(t, initialize, notify, call)
		s.until(t, `"id":1`)
		<-s.called
		start := time.Now()
		if err := s.in.Close(); err != nil {
			t.Fatal(err)
		}
		<-s.cancelled
		if took := time.Since(start); took < 100*time.Millisecond {
			t.Errorf("cancelled after %s", took)
		}
		s.ends(t)
	})
}

// TestStop: what runs is answered within the limit, and cancelled after it.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startSlow(t, 300*time.Millisecond)
		s.send(t, initialize, notify, call)
		s.until(t, `"id":1`)
		<-s.called
		go s.transport.Stop(time.Minute)
		if line := s.until(t, `"id":2`); !strings.Contains(line, "waited") {
			t.Errorf("answered %s", line)
		}
		s.ends(t)

		s = startSlow(t, time.Minute)
		s.send(t, initialize, notify, call)
		s.until(t, `"id":1`)
		<-s.called
		s.transport.Stop(50 * time.Millisecond)
		<-s.cancelled
		s.ends(t)

		s = startSlow(t, 0) // nothing runs
		s.transport.Stop(time.Minute)
		s.ends(t)
		time.Sleep(time.Second) // so that nothing in the transport waits any more
	})
}

// TestBatchesAreAwaited: each request of a batch is answered, in a version of
// the protocol that knows batches and in one that does not.
func TestBatchesAreAwaited(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-03-26", "2025-11-25"} {
		synctest.Test(t, func(t *testing.T) { testBatch(t, version) })
	}
}

func testBatch(t *testing.T, version string) {
	t.Helper()
	s := startSlow(t, 20*time.Millisecond)
	s.send(t, strings.Replace(initialize, "2025-11-25", version, 1), notify)
	s.until(t, `"id":1`)
	s.send(t, `[`+call+`,`+strings.Replace(call, `"id":2`, `"id":3`, 1)+`,`+notify+`]`)
	go func() { _ = s.in.Close() }()
	for range 2 {
		s.until(t, "waited")
	}
	s.ends(t)
}

// TestNoMessageEndsTheSession sends every combination of sound and odd members,
// each followed by a ping that has to be answered.
func TestNoMessageEndsTheSession(t *testing.T) {
	t.Parallel()
	ids := []string{"", `"id":null,`, `"id":1,`, `"id":"x",`, `"id":1.5,`, `"id":1e400,`, `"id":9223372036854775808,`}
	methods := []string{
		"", `"method":"ping",`, `"method":"",`, `"method":"initialize",`, `"method":"tools/call",`, `"method":"logging/setLevel",`,
		`"method":"notifications/cancelled",`, `"method":"notifications/initialized",`, `"method":"server/discover",`,
	}
	params := []string{"", `"params":null,`, `"params":[1],`, `"params":{"requestId":{}},`, `"params":{"name":1e999},`, `"params":{"_meta":5},`, `"params":{"_meta":{"progressToken":{}}},`}
	results := []string{"", `"result":null,`, `"error":5,`, `"error":{"code":"x"},`, `"result":{},"error":{"code":1,"message":"m"},`}
	s := startSlow(t, 0)
	s.send(t, initialize, notify)
	s.until(t, `"id":1`)
	sent := 0
	for _, id := range ids {
		for _, method := range methods {
			for _, param := range params {
				for _, result := range results {
					line := strings.TrimSuffix(`{"jsonrpc":"2.0",`+id+method+param+result, ",") + "}"
					ping := fmt.Sprintf(`"id":"ping %d"`, sent)
					sent++
					go func() {
						_, _ = io.WriteString(s.in, line+"\n["+line+"]\n"+`{"jsonrpc":"2.0",`+ping+`,"method":"ping"}`+"\n")
					}()
					if _, err := s.find(ping); err != nil {
						t.Fatalf("after %s: %v", line, err)
					}
				}
			}
		}
	}
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, s.answers) }()
	s.ends(t)
}

// TestUnreadAnswerStopsNoRequest: while a client does not read an answer, its further
// requests are read, and so are its cancellations.
func TestUnreadAnswerStopsNoRequest(t *testing.T) {
	t.Parallel()
	s := startSlow(t, 0)
	s.send(t, initialize)
	s.until(t, `"id":1`)
	s.send(t, notify)
	for id := 2; id < 8; id++ { // the first answer that is written waits for a reader
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(s.in, strings.Replace(call, `"id":2`, `"id":`+strconv.Itoa(id), 1)+"\n")
			sent <- err
		}()
		select {
		case <-s.called:
		case <-time.After(time.Minute):
			t.Fatalf("request %d was not read", id)
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		s.until(t, "waited")
	}
}

// TestPlainCalls: calls that ask for nothing but a tool do not go through the SDK, once
// the client is known, and are answered in the same form.
func TestPlainCalls(t *testing.T) {
	t.Parallel()
	s := startSlow(t, 0)
	s.send(t, initialize, notify, strings.Replace(call, `"id":2`, `"id":0`, 1)) // the client may not be known yet
	s.until(t, `"id":0`)
	for text, want := range map[string]string{
		call: `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"waited directly for t{}"}]}}`,
		strings.Replace(call, `"arguments"`, `"other":1,"arguments"`, 1):                    "waited",
		strings.Replace(call, `"arguments"`, `"_meta":{"a/b":1},"arguments"`, 1):            "waited",
		strings.Replace(call, `"arguments":{}`, `"arguments":{},"arguments":{"x":1}`, 1):    "waited",
		strings.Replace(call, `"arguments"`, `"_meta":{"progressToken":{}},"arguments"`, 1): "waited",
	} {
		s.send(t, text)
		line := s.until(t, `"id":2`)
		<-s.called
		if direct := strings.Contains(line, "directly"); direct != (text == call) || !strings.Contains(line, want) || direct && line != want+"\n" {
			t.Errorf("%s answered %s", text, line)
		}
	}
	s.send(t, strings.Replace(call, `"arguments"`, `"_meta":{"progressToken":"p"},"arguments"`, 1))
	line := s.until(t, `"jsonrpc"`)
	if want := `"method":"notifications/progress"`; !strings.Contains(line, want) || !strings.Contains(line, `"progressToken":"p"`) || !strings.Contains(line, `"progress":0.5`) {
		t.Errorf("before the answer came %s", line)
	}
	if line = s.until(t, `"id":2`); !strings.Contains(line, "directly") {
		t.Errorf("answered %s", line)
	}
	go func() { _ = s.in.Close() }()
	s.ends(t)
}

// TestAnIDInUse: the second of two requests with one ID is refused, and the first one is
// answered.
func TestAnIDInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startSlow(t, time.Second)
		s.send(t, initialize, notify)
		s.until(t, `"id":1`)
		s.send(t, call)
		<-s.called
		s.send(t, call)
		if line := s.until(t, `"jsonrpc"`); !strings.Contains(line, "-32600") || !strings.Contains(line, `"id":null`) {
			t.Errorf("the second one answered %s", line)
		}
		if line := s.until(t, `"id":2`); !strings.Contains(line, "directly") {
			t.Errorf("answered %s", line)
		}
		go func() { _ = s.in.Close() }()
		s.ends(t)
	})
}

// TestAClosedOutputEndsTheSession, and the calls that run.
func TestAClosedOutputEndsTheSession(t *testing.T) {
	t.Parallel()
	s := startSlow(t, 0)
	s.send(t, initialize, notify)
	s.until(t, `"id":1`)
	_ = s.out.Close()
	s.send(t, call)
	<-s.called
	select {
	case err := <-s.ended:
		if err == nil {
			t.Error("the session ended without an error")
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("not ended within two minutes")
	}
}
