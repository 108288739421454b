package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/research/upstream/upstreamtest"
)

func TestMain(m *testing.M) {
	upstreamtest.Run()
	os.Exit(m.Run())
}

func value(text string) upstream.Value { return func() (string, error) { return text, nil } }

// misbehaving returns the server of upstreamtest, which is called bad.
func misbehaving(t *testing.T, args ...string) upstream.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := upstream.Server{Name: "bad", Command: program, Identity: strings.Join(args, " "), Args: []upstream.Value{value(upstreamtest.Argument)}, Timeout: time.Minute}
	for _, arg := range args {
		s.Args = append(s.Args, value(arg))
	}
	return s
}

// world is a manager with what is around it.
type world struct {
	*upstream.Manager

	t    *testing.T
	dir  string
	log  *audittest.Log
	text *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// refusing refuses SQL that holds the word DELETE. It stands for the guard, which the
// tests of the program use.
type refusing struct{}

func (refusing) Judge(_ context.Context, rule upstream.SQLRule, sql string) (upstream.Judgement, error) {
	j := upstream.Judgement{Connection: audit.Connection{Dialect: rule.Dialect}, Decision: audit.Decision{Verdict: audit.VerdictAllow}}
	if strings.Contains(sql, "DELETE") {
		return j, errors.New("write_statement: DELETE")
	}
	return j, nil
}

func manage(t *testing.T, c upstream.Config) *world {
	t.Helper()
	return manageIn(t, t.TempDir(), c)
}

func manageIn(t *testing.T, dir string, c upstream.Config) *world {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	w := &world{t: t, dir: dir, log: &audittest.Log{}, text: &lockedBuffer{}}
	w.Manager = upstream.New(upstream.Options{Root: root, Log: w.log, Judge: refusing{}, Logger: slog.New(slog.NewTextHandler(w.text, nil)), Version: "test"})
	t.Cleanup(w.Close)
	if err := w.Configure(c); err != nil {
		t.Fatal(err)
	}
	return w
}

func one(s upstream.Server, rules ...upstream.Rule) upstream.Config {
	return upstream.Config{Servers: []upstream.Server{s}, Rules: rules}
}

// call calls a tool of the server "bad", and returns the text of its result.
func (w *world) call(tool, arguments string) (string, error) {
	w.t.Helper()
	answer, err := w.Call(w.t.Context(), upstream.Request{Server: "bad", Tool: tool, Arguments: json.RawMessage(arguments)})
	return string(answer.Result), err
}

// fails calls a tool and expects a code.
func (w *world) fails(code, tool, arguments string) {
	w.t.Helper()
	_ = w.failure(code, tool, arguments)
}

// failure is fails that returns the error.
func (w *world) failure(code, tool, arguments string) *upstream.Error {
	w.t.Helper()
	got, err := w.call(tool, arguments)
	own, ok := errors.AsType[*upstream.Error](err)
	if !ok || own.Code != code {
		w.t.Fatalf("%s %s: got %.200s, %v; want %s", tool, arguments, got, err, code)
	}
	return own
}

// works calls a tool and expects a part of its result.
func (w *world) works(tool, arguments, part string) {
	w.t.Helper()
	got, err := w.call(tool, arguments)
	if err != nil || !strings.Contains(got, part) {
		w.t.Fatalf("%s %s: got %.300s, %v; want %s", tool, arguments, got, err, part)
	}
}

// search searches, again while a server has not told its tools in the time that a search
// waits.
func (w *world) search(ctx context.Context, q upstream.Query) (found upstream.Result) {
	w.t.Helper()
	until(w.t, "the servers have told their tools", func() bool {
		var err error
		if found, err = w.Search(ctx, q); err != nil {
			w.t.Fatal(err)
		}
		return len(found.Missing) == 0
	})
	return found
}

func TestCall(t *testing.T) {
	w := manage(t, one(misbehaving(t)))
	w.works("echo", `{"text":"hi","number":9007199254740993}`, `{"arguments":{"text":"hi","number":9007199254740993}}`)
	// As it is: numbers, members and kinds of content that the SDK does not know.
	got, err := w.call("precise", "")
	if want := `{"content":[{"type":"text","text":"<&>"},{"type":"hologram","depth":3}],"structuredContent":{"n":9007199254740993,"d":1.10},"_meta":{"x/y":1}}`; got != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	answer, err := w.Call(t.Context(), upstream.Request{Server: "bad", Tool: "fail"})
	if err != nil || !answer.Failed || !strings.Contains(string(answer.Result), "it failed") {
		t.Errorf("a result that is an error: %+v, %v", answer, err)
	}
	if e := w.failure(upstream.CodeExecution, "refuse", ""); e.Message != "the server reports an error: no thanks" {
		t.Errorf("got %q", e.Message)
	}
	e := w.failure(upstream.CodeValidation, "echo", `{"number":"x"}`)
	if want := "arguments.number: got string; expected integer\narguments: missing text"; e.Message != want {
		t.Errorf("got %q, want %q", e.Message, want)
	}
	w.fails(upstream.CodeToolNotFound, "ecko", `{}`)
	w.fails(upstream.CodeToolDisabled, "write_note", `{}`)
	w.fails(upstream.CodeValidation, "foreign", `{}`)
	w.fails(upstream.CodeValidation, "bomb", `{}`)
	if _, err := w.Call(t.Context(), upstream.Request{Server: "nobody", Tool: "x"}); !strings.Contains(fmt.Sprint(err), upstream.CodeServerNotFound) {
		t.Errorf("got %v", err)
	}
	w.works("invalid", "", "after the invalid lines")
}

func TestCallIsRecorded(t *testing.T) {
	w := manage(t, one(misbehaving(t), upstream.Rule{Match: []string{"run_sql"}, Server: "bad", SQL: &upstream.SQLRule{Argument: "sql", Dialect: "postgres"}}, upstream.Rule{Match: []string{"*"}, Enabled: new(true)}))
	w.works("run_sql", `{"sql":"SELECT secret-value"}`, "SELECT secret-value")
	w.fails(upstream.CodeSQLRejected, "run_sql", `{"sql":"DELETE secret-value"}`)
	w.fails(upstream.CodeValidation, "run_sql", `{"sql":"SELECT 1","SQL":"DELETE"}`)
	w.fails(upstream.CodeValidation, "run_sql", `{"sql":"SELECT 1","sql":"DELETE"}`)
	w.fails(upstream.CodeValidation, "run_sql", `{"sql":["DELETE"]}`)
	var got []string
	for _, e := range w.log.Events() {
		text, _ := json.Marshal(e)
		if strings.Contains(string(text), "secret-value") {
			t.Errorf("the log has an argument: %s", text)
		}
		if e.Type != audit.ToolCall || e.Tool.Server != "bad" || e.Tool.Name != "run_sql" || len(e.Tool.ArgumentHash) != 64 {
			t.Errorf("got %s", text)
		}
		got = append(got, e.Decision.Verdict+" "+e.Result.Status+" "+e.Result.Code)
	}
	want := []string{"allow  ", " ok ", "reject error SQL_REJECTED", "reject error TOOL_VALIDATION_ERROR", "reject error TOOL_VALIDATION_ERROR", "reject error TOOL_VALIDATION_ERROR"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	w.log.Fail(io.ErrShortWrite)
	if _, err := w.call("run_sql", `{"sql":"SELECT 1"}`); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("a call that cannot be recorded: %v", err)
	}
}

func TestSearchBeforeAnyServerRuns(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(t.TempDir(), "log")
	s := misbehaving(t, "-log", log, "-tools", "450")
	first := manageIn(t, dir, one(s))
	query := upstream.Query{Texts: []string{"schedule a podcast"}, Limit: 5}
	want := first.search(t.Context(), query)
	if len(want.Results) != 5 || !strings.HasPrefix(want.Results[0].Tool, "schedule_podcast") {
		t.Fatalf("got %+v", want.Results)
	}
	first.Close()
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	second := manageIn(t, dir, one(s))
	got, err := second.Search(t.Context(), query)
	if err != nil || len(got.Results) != 5 || got.Results[0].Tool != want.Results[0].Tool {
		t.Errorf("from the cache: %+v, %v", got.Results, err)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("the search started the server")
	}
	if got := second.Servers(t.Context()); got[0].Status != upstream.StatusDisconnected || *got[0].Tools != 468 {
		t.Errorf("got %+v", got)
	}
	// Another identity is another server, whose tools are not known.
	s.Identity += " other"
	third := manageIn(t, dir, one(s))
	if got := third.Servers(t.Context()); got[0].Tools != nil {
		t.Errorf("the cache of another server is used: %+v", got)
	}
}

func TestExactNamesComeFirst(t *testing.T) {
	w := manage(t, one(misbehaving(t, "-tools", "100")))
	for query, want := range map[string][]string{
		"big": {"big exact_name"}, "bad:hang": {"hang exact_name"}, "ECHO": {"echo exact_name"}, "env": {"environment name_prefix"},
		"read_email": {"read_email_31 name_prefix"},
	} {
		found := w.search(t.Context(), upstream.Query{Texts: []string{query}, Limit: 3})
		if len(found.Results) == 0 {
			t.Errorf("%s: %+v", query, found)
			continue
		}
		if got := found.Results[0].Tool + " " + found.Results[0].MatchedOn; got != want[0] {
			t.Errorf("%s: got %s, want %s", query, got, want[0])
		}
	}
	found := w.search(t.Context(), upstream.Query{Texts: []string{"zzzz qqqq"}, Limit: 3})
	if len(found.Results) != 0 || found.Hidden != 3 {
		t.Errorf("got %+v", found)
	}
}

// TestSeveralQueries: the best tool of each query comes before the second best of any.
func TestSeveralQueries(t *testing.T) {
	w := manage(t, one(misbehaving(t, "-tools", "450")))
	texts := []string{"schedule a podcast", "a tool that says something back", "translate an invoice"}
	found := w.search(t.Context(), upstream.Query{Texts: texts, Limit: 3})
	if len(found.Results) != 3 {
		t.Fatalf("got %+v", found)
	}
	for i, want := range []string{"schedule_podcast_", "echo", "translate_invoice_"} {
		if got := found.Results[i].Tool; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", texts[i], got, want)
		}
	}
}

// TestPrincipals: servers that a principal may not use are unknown to it, in every way to
// ask for them.
func TestPrincipals(t *testing.T) {
	second := misbehaving(t)
	second.Name = "hidden"
	w := manage(t, upstream.Config{Servers: []upstream.Server{misbehaving(t), second}})
	as := func(servers []string) context.Context {
		return audit.WithActor(t.Context(), audit.Actor{Principal: "p", Upstreams: servers})
	}
	query := upstream.Query{Texts: []string{"echo"}, Limit: 20}
	if all := w.search(as(nil), query); len(all.Results) < 2 {
		t.Fatalf("without a limit: %+v", all)
	}
	one := as([]string{"bad"})
	if got := w.Servers(one); len(got) != 1 || got[0].Name != "bad" {
		t.Errorf("servers: %+v", got)
	}
	found, err := w.Search(one, query)
	if err != nil || len(found.Results) == 0 || found.Hidden != 3 {
		t.Errorf("search: %+v, %v", found, err)
	}
	for _, f := range found.Results {
		if f.Server != "bad" {
			t.Errorf("search: %+v", f)
		}
	}
	if _, err := w.Call(one, upstream.Request{Server: "bad", Tool: "echo", Arguments: json.RawMessage(`{"text":"x"}`)}); err != nil {
		t.Errorf("call: %v", err)
	}
	none := as([]string{})
	if got, err := w.Search(none, upstream.Query{Texts: []string{"ecko zzz"}, Limit: 20}); err != nil || len(got.Results)+got.Hidden+len(got.Suggestions)+len(got.Missing) > 0 {
		t.Errorf("search: %+v, %v", got, err)
	}
	if got := w.Servers(none); len(got) > 0 {
		t.Errorf("servers: %+v", got)
	}
	for name, f := range map[string]func() error{
		"search": func() error {
			_, err := w.Search(one, upstream.Query{Texts: []string{"x"}, Server: "hidden"})
			return err
		},
		"list":    func() error { _, _, _, err := w.List(one, "hidden", "", true); return err },
		"details": func() error { _, err := w.Details(one, "hidden", "echo"); return err },
		"call":    func() error { _, err := w.Call(one, upstream.Request{Server: "hidden", Tool: "echo"}); return err },
		"near":    func() error { _, err := w.Call(one, upstream.Request{Server: "hiden", Tool: "echo"}); return err },
	} {
		e, ok := errors.AsType[*upstream.Error](f())
		if !ok || e.Code != upstream.CodeServerNotFound || strings.Contains(e.Hint, "hidden") {
			t.Errorf("%s: got %+v", name, e)
		}
	}
}

// TestRetiredWhileConnecting: a server is removed from the configuration while ktx
// connects to it for a call that is given up. Its process ends, and the manager can be
// closed.
func TestRetiredWhileConnecting(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		log := filepath.Join(dir, fmt.Sprint(i))
		w := manage(t, one(misbehaving(t, "-log", log)))
		ctx, cancel := context.WithCancel(t.Context())
		called := make(chan struct{})
		go func() {
			defer close(called)
			_, _ = w.Call(ctx, upstream.Request{Server: "bad", Tool: "hang"})
		}()
		time.Sleep(time.Duration(i) * time.Millisecond) // somewhere on the way to the connection
		if err := w.Configure(upstream.Config{}); err != nil {
			t.Fatal(err)
		}
		cancel()
		<-called
		if i%2 == 0 {
			until(t, "the process ends without a close of the manager", func() bool { return !runs(log) })
		}
		w.Close()
		if runs(log) {
			t.Fatalf("round %d: the process runs after the manager was closed", i)
		}
	}
}

// runs reports whether the process that wrote a log is there.
func runs(log string) bool {
	text, err := os.ReadFile(log)
	if err != nil {
		return false
	}
	var pid int
	if _, err := fmt.Sscanf(string(text), "started %d", &pid); err != nil {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
