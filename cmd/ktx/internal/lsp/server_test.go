package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ktxhq/ktx/cmd/ktx/internal/lsp"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/fix"
	"github.com/ktxhq/ktx/sqlguard"
)

// check judges a text as PostgreSQL.
func check(t *testing.T) func(context.Context, string, string) (lsp.Checked, error) {
	t.Helper()
	d, _ := dialects.Lookup("postgres")
	guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, path, text string) (lsp.Checked, error) {
		c := sqlcheck.Checker{Stdin: strings.NewReader(text), Whole: true, Today: time.Now(), Choose: func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil }}
		files, err := c.Run(ctx, []sqlcheck.Input{{Path: path, Stdin: true}})
		if err != nil {
			return lsp.Checked{}, err
		}
		out := lsp.Checked{Findings: files[0].Findings, Edits: fix.Text(guard, text)}
		for _, s := range files[0].Statements {
			out.Statements = append(out.Statements, s.Span)
		}
		return out, nil
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	s := lsp.Server{Version: "1", Check: check(t), Today: func() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), ours) }()
	seen := make(chan json.RawMessage, 10)
	client := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			seen <- *r.Params
			return nil, nil //nolint:nilnil // a notification has no result
		}))
	defer func() { _ = client.Close() }()
	call := func(method string, params any) string {
		t.Helper()
		var result json.RawMessage
		if err := client.Call(t.Context(), method, params, &result); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		return string(result)
	}
	tell := func(method string, params any) {
		t.Helper()
		if err := client.Notify(t.Context(), method, params); err != nil {
			t.Fatal(err)
		}
	}
	want := func(got string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("no %s in %s", part, got)
			}
		}
	}
	refused := func(code int64, method string) {
		t.Helper()
		err := client.Call(t.Context(), method, map[string]any{}, nil)
		if e, ok := errors.AsType[*jsonrpc2.Error](err); !ok || e.Code != code {
			t.Errorf("%s: %v, want the code %d", method, err, code)
		}
	}
	refused(-32002, "textDocument/hover")
	want(call("initialize", map[string]any{"capabilities": map[string]any{}}), `"hoverProvider":true`, `"change":2`)
	refused(jsonrpc2.CodeInvalidRequest, "initialize")
	tell("initialized", map[string]any{})
	const uri = "file:///a/q.sql"
	doc := map[string]any{"uri": uri, "version": 1, "languageId": "sql", "text": "SELECT '\U0001F600';\nSELECT '\U0001F600', id FROM t LIMIT 5, 10;\nDROP TABLE t;\n"}
	tell("textDocument/didOpen", map[string]any{"textDocument": doc})
	want(string(<-seen), `"code":"parse_error"`, `"code":"ddl_statement"`, `"source":"ktx"`, `"version":1`, `"start":{"character":0,"line":2}`)
	at := func(line, character int) map[string]any { return map[string]any{"line": line, "character": character} }
	here := func(line, character int) map[string]any {
		return map[string]any{"start": at(line, character), "end": at(line, character)}
	}
	want(call("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": at(2, 2)}), "# ddl_statement", `"kind":"markdown"`)
	if got := call("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": at(0, 2)}); got != "null" {
		t.Error(got)
	}
	// The rewrite begins behind an emoji, which counts as two.
	want(call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": here(1, 28), "context": map[string]any{}}),
		`"newText":"LIMIT 10 OFFSET 5"`, `{"start":{"line":1,"character":23},"end":{"line":1,"character":34}}`, `"kind":"source.fixAll.ktx"`)
	want(call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": here(2, 0), "context": map[string]any{"only": []string{"quickfix"}}}),
		`-- ktx:allow ddl_statement until=2027-01-30 reason=`)
	tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []any{map[string]any{"text": "SELECT 1"}}})
	want(string(<-seen), `"version":2`, `"diagnostics":[]`)
	tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": "file:///a/ktx.yaml", "type": 2}}})
	want(string(<-seen), `"version":2`, `"diagnostics":[]`)
	tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	want(string(<-seen), `"diagnostics":[]`)
	if err := client.Call(t.Context(), "textDocument/formatting", map[string]any{}, nil); err == nil {
		t.Error("formatting is offered")
	}
	call("shutdown", nil)
	refused(jsonrpc2.CodeInvalidRequest, "textDocument/hover")
	tell("exit", nil)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStreamEnds: an editor that goes away ends the server, with an error.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	s := lsp.Server{Check: check(t), Today: time.Now}
	go func() { ended <- s.Serve(t.Context(), ours) }()
	_, _ = io.WriteString(theirs, "Content-Length: 5\r\n\r\nhello")
	_ = theirs.Close()
	if err := <-ended; err == nil {
		t.Error("no error")
	}
}

// TestUnsavedAndCancelled: a text of SQL that was never saved has findings, and a question
// that the editor takes back is answered with RequestCancelled.
func TestUnsavedAndCancelled(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	judge, began, paths := check(t), make(chan struct{}, 9), make(chan string, 9)
	s := lsp.Server{Today: time.Now, Check: func(ctx context.Context, path, text string) (lsp.Checked, error) {
		paths <- path
		if strings.Contains(text, "slow") {
			began <- struct{}{}
			<-ctx.Done()
		}
		return judge(ctx, path, text)
	}}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), ours) }()
	seen := make(chan string, 10)
	client := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(theirs, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			seen <- string(*r.Params)
			return nil, nil //nolint:nilnil // a notification has no result
		}))
	defer func() { _ = client.Close() }()
	tell := func(method string, params any) {
		t.Helper()
		if err := client.Notify(t.Context(), method, params); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	if err := client.Call(t.Context(), "initialize", map[string]any{"rootUri": "file://" + filepath.ToSlash(root)}, nil); err != nil {
		t.Fatal(err)
	}
	open := func(uri, language, text string) {
		tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "languageId": language, "text": text}})
	}
	open("untitled:notes", "plaintext", "DROP TABLE t")
	if got := <-seen; !strings.Contains(got, `"diagnostics":[]`) {
		t.Error(got)
	}
	const uri = "untitled:Untitled-1"
	open(uri, "sql", "SELECT 1")
	if got := <-seen; !strings.Contains(got, `"diagnostics":[]`) {
		t.Error(got)
	}
	if got := <-paths; got != filepath.Join(root, "untitled.sql") {
		t.Error(got)
	}
	change := func(text string) {
		tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []any{map[string]any{"text": text}}})
	}
	change("DROP TABLE t")
	if got := <-seen; !strings.Contains(got, "ddl_statement") {
		t.Error(got)
	}
	change("SELECT 'slow'")
	<-began
	for _, id := range []jsonrpc2.ID{{Num: 7}, {Str: "seven", IsString: true}} {
		waiter, err := client.DispatchCall(t.Context(), "textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": 0, "character": 0}}, jsonrpc2.PickID(id))
		if err != nil {
			t.Fatal(err)
		}
		tell("$/cancelRequest", map[string]any{"id": id})
		var problem *jsonrpc2.Error
		if err := waiter.Wait(t.Context(), nil); !errors.As(err, &problem) || problem.Code != -32800 {
			t.Errorf("%v: %v", id, err)
		}
	}
	tell("$/cancelRequest", map[string]any{"id": 7}) // it is answered
	if err := client.Call(t.Context(), "shutdown", nil, nil); err != nil {
		t.Fatal(err)
	}
	tell("exit", nil)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
