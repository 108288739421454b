package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/upstream"
)

// until waits for a condition, with a bound of minutes.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited too long: " + what)
		}
	}
}

// lines returns the lines of a log of upstreamtest that begin so.
func lines(t *testing.T, log, prefix string) []string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestServerThatHangs(t *testing.T) {
	s := misbehaving(t, "-hang-initialize")
	s.Timeout = 300 * time.Millisecond
	w := manage(t, one(s))
	e := w.failure(upstream.CodeServerConnection, "echo", `{"text":"x"}`)
	if !e.Retryable || !strings.Contains(e.Message, "did not answer in time") {
		t.Errorf("got %+v", e)
	}
	// The circuit is open now: the answer comes at once, with the time to wait. On a slow
	// machine the pause may be over; then the next try opens it again, for longer.
	until(t, "an answer comes at once", func() bool {
		return w.failure(upstream.CodeServerConnection, "echo", `{"text":"x"}`).RetryAfter > 0
	})
	if got := w.Servers(t.Context()); got[0].Status != upstream.StatusError || !strings.Contains(got[0].LastError, "in time") {
		t.Errorf("got %+v", got)
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	w := manage(t, one(upstream.Server{Name: "bad", Command: "no-such-program-of-ktx"}))
	if e := w.failure(upstream.CodeServerConnection, "echo", ""); !strings.Contains(e.Message, "the command is not there: no-such-program-of-ktx") {
		t.Errorf("got %+v", e)
	}
}

func TestServerThatDies(t *testing.T) {
	w := manage(t, one(misbehaving(t), upstream.Rule{Match: []string{"*"}, Enabled: new(true)}))
	mark := func() string { return fmt.Sprintf(`{"mark":%q}`, filepath.Join(t.TempDir(), "mark")) }
	e := w.failure(upstream.CodeServerConnection, "die", "")
	if !strings.Contains(e.Message, "the server ended during the call") || !strings.Contains(e.Message, "fatal: it dies") {
		t.Errorf("got %q", e.Message)
	}
	// It is started again. A read-only call is sent a second time, another one is not.
	w.works("die_once", mark(), "alive")
	_, err := w.Call(t.Context(), upstream.Request{Server: "bad", Tool: "die_once_writing", Arguments: json.RawMessage(mark()), Write: true})
	if own, ok := errors.AsType[*upstream.Error](err); !ok || own.Code != upstream.CodeServerConnection || !strings.Contains(own.Hint, "first see whether it has") {
		t.Errorf("got %v", err)
	}
	w.works("echo", `{"text":"x"}`, "echo")
}

// TestServerThatDiesAgain: a server that ends again and again is not started at once any
// more.
func TestServerThatDiesAgain(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := manage(t, one(misbehaving(t, "-log", log)))
	var e *upstream.Error
	until(t, "it ends again and again", func() bool {
		e = w.failure(upstream.CodeServerConnection, "die", "")
		return e.RetryAfter > 0
	})
	if !strings.Contains(e.Message, "the server ends again and again; it wrote: fatal: it dies") {
		t.Errorf("got %+v", e)
	}
	// On a slow machine the pause may be over before this call; then it ends once more.
	until(t, "a call does not start it", func() bool {
		started := len(lines(t, log, "started"))
		_, err := w.call("echo", `{"text":"x"}`)
		if e, ok := errors.AsType[*upstream.Error](err); ok && e.RetryAfter > 0 && len(lines(t, log, "started")) == started {
			return true
		}
		_, _ = w.call("die", "")
		return false
	})
	if got := w.Servers(t.Context()); got[0].Status != upstream.StatusError {
		t.Errorf("got %+v", got)
	}
	until(t, "it is started again", func() bool {
		_, err := w.call("echo", `{"text":"x"}`)
		return err == nil
	})
}

func TestServerThatFloods(t *testing.T) {
	w := manage(t, one(misbehaving(t, "-flood", "-noise", "-garbage")))
	for range 5 {
		w.works("echo", `{"text":"x"}`, "echo")
	}
	if e := w.failure(upstream.CodeServerConnection, "die", ""); len(e.Message) > 1000 {
		t.Errorf("%d bytes: %.200s", len(e.Message), e.Message)
	}
}

func TestServerWithHugeAnswers(t *testing.T) {
	w := manage(t, one(misbehaving(t)))
	w.works("big", `{"bytes":100000}`, "bbbb")
	w.fails(upstream.CodeResultTooLarge, "big", `{"bytes":300000}`)
	w.fails(upstream.CodeResultTooLarge, "big", `{"bytes":52428800}`)
	w.works("echo", `{"text":"the session lives"}`, "the session lives")
}

func TestServerWithEndlessLists(t *testing.T) {
	for _, flag := range []string{"-endless", "-endless-empty"} {
		w := manage(t, one(misbehaving(t, flag)))
		page, next, _, err := w.List(t.Context(), "bad", "", false)
		if err != nil || flag == "-endless" && (len(page) != 100 || next != "100") || flag != "-endless" && len(page) != 0 {
			t.Errorf("%s: %d tools, %q, %v", flag, len(page), next, err)
		}
		found, err := w.Check(t.Context(), "bad")
		if err != nil || !slices.ContainsFunc(found, func(f upstream.Finding) bool { return strings.Contains(f.Message, "does not end") }) {
			t.Errorf("%s: %+v, %v", flag, found, err)
		}
	}
}

func TestServerWithHostileTexts(t *testing.T) {
	w := manage(t, one(misbehaving(t, "-hostile")))
	page, _, _, err := w.List(t.Context(), "bad", "", true)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range page {
		if seen[s.Tool] || len(s.Tool) > 128 || len(s.Summary) > 200 {
			t.Errorf("%q: %d bytes", s.Tool, len(s.Summary))
		}
		seen[s.Tool] = true
		for _, r := range s.Tool + s.Summary {
			if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%q has %U", s.Tool+s.Summary, r)
			}
		}
	}
	if !seen["payments[31m"] { // it can be called by the name that is shown
		t.Errorf("got %v", seen)
	}
	w.works("payments[31m", "{}", `"arguments":{}`)
	if !strings.Contains(w.text.String(), "two tools are shown as echo") {
		t.Errorf("the log has %s", w.text)
	}
}

func TestChangedToolIsHidden(t *testing.T) {
	w := manage(t, one(misbehaving(t)))
	w.works("moving", "{}", "moving")
	w.works("move", "{}", "moved") // and the server says so
	until(t, "the tool is hidden", func() bool {
		_, err := w.call("moving", "{}")
		own, ok := errors.AsType[*upstream.Error](err)
		return ok && own.Code == upstream.CodeToolChanged
	})
	found := w.search(t.Context(), upstream.Query{Texts: []string{"moving"}, Limit: 20})
	if slices.ContainsFunc(found.Results, func(f upstream.Found) bool { return f.Tool == "moving" }) {
		t.Errorf("got %+v", found)
	}
	// Another process that has the same project does not call it either, and its approval
	// holds here.
	s := misbehaving(t, "-version", "1+")
	other := manageIn(t, w.dir, one(s))
	changes, err := other.Changes(t.Context(), "bad")
	if err != nil || len(changes) != 1 || changes[0].Tool != "moving" || !strings.Contains(string(changes[0].After), "Version 1+.") {
		t.Fatalf("got %+v, %v", changes, err)
	}
	if err := other.Approve(changes...); err != nil {
		t.Fatal(err)
	}
	w.works("moving", "{}", "moving")
}

// TestServerThatKeepsChanging calls a server that changes a tool without end.
func TestServerThatKeepsChanging(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := manage(t, one(misbehaving(t, "-restless", "-log", log)))
	w.works("echo", `{"text":"x"}`, "echo")
	until(t, "its tools were read again", func() bool { return len(lines(t, log, "list")) >= 2 })
	w.fails(upstream.CodeToolChanged, "moving", "{}")
	w.works("echo", `{"text":"x"}`, "echo")
}

// TestServerWithEverOtherTools: a server that has listed very many tools does not fill
// the file in which those of other servers are pinned too.
func TestServerWithEverOtherTools(t *testing.T) {
	pins := map[string]any{}
	for i := range 10_000 {
		pins[fmt.Sprintf("old_%d", i)] = map[string]any{"hash": "x", "definition": map[string]any{}}
	}
	text, err := json.Marshal(map[string]any{"version": 1, "servers": map[string]any{"bad": pins}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".ktx/upstreams"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ktx/upstreams/pins.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	good := misbehaving(t)
	good.Name = "good"
	w := manageIn(t, dir, upstream.Config{Servers: []upstream.Server{misbehaving(t), good}})
	if e := w.failure(upstream.CodeConfiguration, "echo", `{"text":"x"}`); !strings.Contains(e.Message, "too many different tools") {
		t.Errorf("got %+v", e)
	}
	if _, err := w.Call(t.Context(), upstream.Request{Server: "good", Tool: "echo", Arguments: json.RawMessage(`{"text":"x"}`)}); err != nil {
		t.Error(err)
	}
}

func TestDamagedPinsAreNotForgotten(t *testing.T) {
	w := manage(t, one(misbehaving(t)))
	w.works("echo", `{"text":"x"}`, "echo")
	if err := os.WriteFile(filepath.Join(w.dir, ".ktx/upstreams/pins.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := manageIn(t, w.dir, one(misbehaving(t)))
	other.fails(upstream.CodeConfiguration, "echo", `{"text":"x"}`)
}

func TestProgressIsForwarded(t *testing.T) {
	w := manage(t, one(misbehaving(t)))
	var got []string
	_, err := w.Call(t.Context(), upstream.Request{Server: "bad", Tool: "progress", Progress: func(p float64, message string) { got = append(got, fmt.Sprintf("%g %s", p, message)) }})
	if err != nil || len(got) != 3 || got[2] != "3 step 3" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestCancellationsReachTheServer cancels 200 calls. Each reaches the server.
func TestCancellationsReachTheServer(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := manage(t, one(misbehaving(t, "-log", log)))
	w.works("echo", `{"text":"x"}`, "echo")
	const calls = 200
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range calls {
		wait.Go(func() {
			if _, err := w.Call(ctx, upstream.Request{Server: "bad", Tool: "hang"}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	until(t, "all calls wait", func() bool { return len(lines(t, log, "waiting")) == calls })
	cancel()
	wait.Wait()
	until(t, "all cancellations arrive", func() bool { return len(lines(t, log, "cancelled")) == calls })
	waiting, cancelled := lines(t, log, "waiting "), lines(t, log, "cancelled ")
	for i := range waiting {
		waiting[i], cancelled[i] = strings.TrimPrefix(waiting[i], "waiting "), strings.TrimPrefix(cancelled[i], "cancelled ")
	}
	slices.Sort(waiting)
	slices.Sort(cancelled)
	if !slices.Equal(waiting, cancelled) {
		t.Error("other calls were cancelled than those that waited")
	}
	ended := 0
	for _, e := range w.log.Events(audit.ToolCall) {
		if e.Result.Status == audit.StatusCancelled {
			ended++
		}
	}
	if ended != calls {
		t.Errorf("%d of %d cancellations are recorded", ended, calls)
	}
}

func TestTimeout(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	s := misbehaving(t, "-log", log)
	w := manage(t, one(s))
	w.works("echo", `{"text":"x"}`, "echo")
	s.Timeout = 50 * time.Millisecond
	until(t, "the call times out and the server is told", func() bool {
		s.Timeout *= 2 // the time counts connecting, which on a busy machine may take all of it
		if err := w.Configure(one(s)); err != nil {
			t.Fatal(err)
		}
		_, err := w.call("hang", "{}")
		own, ok := errors.AsType[*upstream.Error](err)
		return ok && own.Code == upstream.CodeTimeout && len(lines(t, log, "cancelled")) > 0
	})
}

func TestCallsPerMinute(t *testing.T) {
	c := one(misbehaving(t))
	c.CallsPerMinute = 3
	w := manage(t, c)
	for range 3 {
		w.works("echo", `{"text":"x"}`, "echo")
	}
	if e := w.failure(upstream.CodeRateLimited, "echo", `{"text":"x"}`); e.RetryAfter <= 0 || !e.Retryable {
		t.Errorf("got %+v", e)
	}
}

func TestEnvironmentIsMinimal(t *testing.T) {
	t.Setenv("KTX_MCP_TOKEN", "secret-of-ktx")
	t.Setenv("LANG", "C")
	s := misbehaving(t)
	s.Env = map[string]upstream.Value{"GIVEN": value("secret-of-env")}
	w := manage(t, one(s))
	w.works("environment", "", `"GIVEN HOME LANG PATH"`)
}

// TestIdleServerIsClosed checks that a server that nobody uses ends, and is started again.
func TestIdleServerIsClosed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	s := misbehaving(t, "-log", log)
	s.Idle = 20 * time.Millisecond
	w := manage(t, one(s))
	w.works("echo", `{"text":"x"}`, "echo")
	until(t, "the connection is closed", func() bool { return w.Servers(t.Context())[0].Status == upstream.StatusDisconnected })
	w.works("echo", `{"text":"x"}`, "echo")
	if n := len(lines(t, log, "started")); n < 2 {
		t.Errorf("started %d times", n)
	}
}

// TestReloadIsAtomic replaces the configuration while calls run: a call sees the rules
// from before or after, and a connection that stays is not opened again.
func TestReloadIsAtomic(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	s := misbehaving(t, "-log", log)
	w := manage(t, one(s))
	w.works("echo", `{"text":"x"}`, "echo")
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := w.Call(t.Context(), upstream.Request{Server: "bad", Tool: "echo", Arguments: json.RawMessage(`{"text":"x"}`)})
				if own, ok := errors.AsType[*upstream.Error](err); err != nil && (!ok || own.Code != upstream.CodeToolDisabled) {
					t.Errorf("got %v", err)
					return
				}
			}
		})
	}
	for i := range 50 {
		c := one(s)
		if i%2 == 0 {
			c.Rules = []upstream.Rule{{Match: []string{"echo"}, Enabled: new(false)}}
		}
		if err := w.Configure(c); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wait.Wait()
	if n := len(lines(t, log, "started")); n != 1 {
		t.Errorf("started %d times", n)
	}
	// A server that is taken out ends.
	if err := w.Configure(upstream.Config{}); err != nil {
		t.Fatal(err)
	}
	w.fails(upstream.CodeServerNotFound, "echo", "{}")
}

// TestOtherServersAreNotHarmed calls a good server while others do all that they can.
func TestOtherServersAreNotHarmed(t *testing.T) {
	good := misbehaving(t)
	good.Name = "good"
	var servers []upstream.Server
	for i, args := range [][]string{{"-hang-initialize"}, {"-flood"}, {"-noise"}, {"-deaf"}, {"-endless"}, {"-restless"}} {
		s := misbehaving(t, args...)
		s.Name, s.Timeout = fmt.Sprintf("bad%d", i), 500*time.Millisecond
		servers = append(servers, s)
	}
	w := manage(t, upstream.Config{Servers: append(servers, good)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wait sync.WaitGroup
	for _, s := range servers {
		for _, tool := range []string{"hang", "big", "die", "invalid"} {
			wait.Go(func() {
				_, _ = w.Call(ctx, upstream.Request{Server: s.Name, Tool: tool, Arguments: json.RawMessage(`{"bytes":52428800}`)})
			})
		}
	}
	for range 50 {
		if _, err := w.Call(t.Context(), upstream.Request{Server: "good", Tool: "echo", Arguments: json.RawMessage(`{"text":"x"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	wait.Wait()
}
