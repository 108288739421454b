package research_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tiktoken-go/tokenizer"

	"github.com/ktxhq/ktx/dialects/sqlite"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/sqlitedb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

var update = flag.Bool("update", false, "rewrite golden files")

const shop = `
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, status TEXT, total NUMERIC, ordered_at TEXT, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO orders SELECT i, 'Customer ' || (i % 120), CASE i % 3 WHEN 0 THEN 'paid' ELSE 'delivered' END, i * 1.5, '2026-01-' || printf('%02d', 1 + i % 28), NULL FROM n;
`

// sqliteConnection returns a connection to a new database with the orders of a
// shop.
func sqliteConnection(t *testing.T, id string) execution.Connection {
	t.Helper()
	path := testdb.SQLiteFile(t, shop)
	return execution.Connection{
		ID: id, Name: "Shop " + id, Engine: "SQLITE", Dialect: sqlite.Dialect{},
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			return sqlitedb.Open(ctx, sqlitedb.Config{Path: path}, guard)
		},
	}
}

// client speaks JSON-RPC to a server, line by line.
type client struct {
	t       *testing.T
	in      *io.PipeWriter
	answers chan map[string]json.RawMessage
	log     *audittest.Log
	logs    *lockedBuffer
	id      int
	ended   chan error
	service *research.Service
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
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

// connect serves the connections, and returns a client that is initialized.
func connect(t *testing.T, conns ...execution.Connection) *client {
	t.Helper()
	c := start(t, conns...)
	c.shakeHands()
	return c
}

func (c *client) shakeHands() {
	c.t.Helper()
	c.call("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "tester", "version": "7"},
	})
	c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

func start(t *testing.T, conns ...execution.Connection) *client {
	t.Helper()
	return startIn(t, t.TempDir(), conns...)
}

// connectIn is connect with the stores of the project in dir.
func connectIn(t *testing.T, dir string, conns ...execution.Connection) *client {
	t.Helper()
	c := startIn(t, dir, conns...)
	c.shakeHands()
	return c
}

func startIn(t *testing.T, dir string, conns ...execution.Connection) *client {
	t.Helper()
	log := &audittest.Log{}
	gateway, err := execution.NewGateway(t.Context(), log, conns...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the session, whose clean-up is added later
		if err := gateway.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	c := serveWith(t, gateway, storesIn(t, dir))
	c.log = log
	return c
}

// serve serves a gateway, which may be nil.
func serve(t *testing.T, gateway *execution.Gateway) *client {
	t.Helper()
	return serveWith(t, gateway, storesOf(t))
}

// serveWith serves a gateway, which may be nil, and stores.
func serveWith(t *testing.T, gateway *execution.Gateway, stores research.Stores) *client {
	t.Helper()
	c := &client{t: t, answers: make(chan map[string]json.RawMessage, 100), logs: &lockedBuffer{}, ended: make(chan error, 1)}
	c.service = research.New(gateway, slog.New(slog.NewTextHandler(c.logs, nil)), stores)
	server, err := c.service.Server("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c.in = inWrite
	go func() {
		c.ended <- server.Run(context.WithoutCancel(t.Context()), &mcp.IOTransport{Reader: inRead, Writer: outWrite})
	}()
	go func() {
		defer close(c.answers)
		lines := bufio.NewReader(outRead)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var m map[string]json.RawMessage
			if err := json.Unmarshal(line, &m); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			c.answers <- m
		}
	}()
	t.Cleanup(func() {
		_ = c.in.Close()
		if err := <-c.ended; err != nil {
			t.Errorf("the session ended with %v", err)
		}
		_ = outWrite.Close()
	})
	return c
}

func (c *client) send(message any) {
	c.t.Helper()
	line, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// patience is how long a test waits for an event before it takes the server for
// hung. No result depends on it.
const patience = 5 * time.Minute

// next returns the next message of the server.
func (c *client) next() map[string]json.RawMessage {
	c.t.Helper()
	select {
	case m, ok := <-c.answers:
		if !ok {
			c.t.Fatal("the session has ended")
		}
		return m
	case <-time.After(patience):
		c.t.Fatal("the server sends no message")
		return nil
	}
}

// call sends a request and returns its response. It drops notifications.
func (c *client) call(method string, params any) map[string]json.RawMessage {
	c.t.Helper()
	c.id++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	for {
		if m := c.next(); string(m["id"]) == fmt.Sprint(c.id) {
			return m
		}
	}
}

// toolResult is the result of tools/call.
type toolResult struct {
	Content []struct{ Type, Text string }
	IsError bool
	Meta    map[string]json.RawMessage `json:"_meta"`

	StructuredContent json.RawMessage
}

func (r toolResult) text() string {
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		return fmt.Sprintf("%d content blocks", len(r.Content))
	}
	return r.Content[0].Text
}

// tool calls a tool with these arguments.
func (c *client) tool(name, arguments string) toolResult {
	c.t.Helper()
	params := map[string]any{"name": name}
	if arguments != "" {
		params["arguments"] = json.RawMessage(arguments)
	}
	m := c.call("tools/call", params)
	var r toolResult
	if err := json.Unmarshal(m["result"], &r); err != nil {
		c.t.Fatalf("%s: %v", m, err)
	}
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestToolsArray compares the bytes of the tools with the golden file. They are
// the same in both eras of the protocol.
func TestToolsArray(t *testing.T) {
	array := func(m map[string]json.RawMessage) []byte {
		var r map[string]json.RawMessage
		if err := json.Unmarshal(m["result"], &r); err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		return r["tools"]
	}
	handshake := array(connect(t, sqliteConnection(t, "a")).call("tools/list", map[string]any{}))
	golden(t, "tools.golden.json", append(handshake, '\n'))
	stateless := start(t, sqliteConnection(t, "a")).call("tools/list", map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "t", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}})
	if !bytes.Equal(array(stateless), handshake) {
		t.Errorf("2026-07-28 differs: %s", stateless)
	}
}

// TestCapabilities checks that the server declares its tools and nothing else.
func TestCapabilities(t *testing.T) {
	c := start(t, sqliteConnection(t, "a"))
	answer := c.call("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "tester", "version": "7"},
	})
	var r struct{ Capabilities json.RawMessage }
	if err := json.Unmarshal(answer["result"], &r); err != nil || string(r.Capabilities) != `{"tools":{}}` {
		t.Errorf("%s, %v", answer, err)
	}
}

func TestToolSchemasArePortable(t *testing.T) {
	text, err := os.ReadFile("testdata/tools.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list {
		for _, side := range []string{"inputSchema", "outputSchema"} {
			portable(t, fmt.Sprintf("%s.%s", tool["name"], side), tool[side])
		}
		if hints, ok := tool["annotations"].(map[string]any); !ok || hints["title"] != tool["title"] {
			t.Errorf("%s: its annotations lack the title", tool["name"])
		}
	}
}

// portable checks that a schema uses only the subset of JSON Schema that every
// client reads.
func portable(t *testing.T, path string, value any) {
	t.Helper()
	s, ok := value.(map[string]any)
	if !ok {
		t.Errorf("%s is %T, not a schema object", path, value)
		return
	}
	for _, banned := range []string{"$ref", "oneOf", "allOf", "additionalProperties", "$defs"} {
		if _, found := s[banned]; found {
			t.Errorf("%s uses %s", path, banned)
		}
	}
	// A part of an answer may have one of several types, such as a text or null, and so
	// may an item of a list of arguments, such as the name of a measure or an object.
	if branches, found := s["anyOf"]; found {
		list, ok := branches.([]any)
		if !ok || !strings.Contains(path, ".outputSchema.") && !strings.HasSuffix(path, "[]") {
			t.Errorf("%s uses anyOf", path)
		}
		for i, branch := range list {
			portable(t, fmt.Sprintf("%s(%d)", path, i), branch)
		}
	}
	if kind, found := s["type"]; found {
		if _, ok := kind.(string); !ok {
			t.Errorf("%s: type is %T", path, kind)
		}
	} else if s["anyOf"] == nil {
		t.Errorf("%s has no type", path)
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for name, p := range properties {
			portable(t, path+"."+name, p)
			if m, ok := p.(map[string]any); ok && m["description"] == nil && strings.Contains(path, ".inputSchema") {
				t.Errorf("%s.%s has no description", path, name)
			}
		}
	}
	if items, found := s["items"]; found {
		portable(t, path+"[]", items)
	}
}

// TestTokenBudget counts what a model gets to read of the tools, in o200k
// tokens.
func TestTokenBudget(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	count := func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	text, err := os.ReadFile("testdata/tools.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name, Description string
		InputSchema       json.RawMessage
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, tool := range list {
		n, most := count(tool.Name+tool.Description+string(tool.InputSchema)), 350
		if tool.Name == "sl_query" {
			most = 700
		}
		if all += n; n > most {
			t.Errorf("%s: %d tokens, at most %d", tool.Name, n, most)
		} else {
			t.Logf("%s: %d tokens", tool.Name, n)
		}
	}
	if whole := count(string(text)); all > 2500 || whole > 5500 {
		t.Errorf("all tools: %d tokens, at most 2500; with their output schemas %d, at most 5500", all, whole)
	} else {
		t.Logf("all tools: %d tokens, with their output schemas %d", all, whole)
	}
	dir := t.TempDir()
	demoScan(t, dir, "a")
	c := connectIn(t, dir, sqliteConnection(t, "a"))
	for _, query := range []string{"revenue per customer", "orders", "which products are ordered most by country", "price"} {
		answer := c.tool("discover_data", `{"query":`+jsonText(t, query)+`}`)
		if n := count(answer.text()); n > 1200 || answer.IsError {
			t.Errorf("discover_data %q: %d tokens, at most 1200: %s", query, n, answer.text())
		} else {
			t.Logf("discover_data %q: %d tokens", query, n)
		}
	}
	rows := connect(t, sqliteConnection(t, "a")).tool("sql_execution", `{"connectionId":"a","sql":"SELECT id, customer, status, total, ordered_at, note FROM orders LIMIT 100"}`)
	if n := count(rows.text()); n > 2300 {
		t.Errorf("100 rows of 6 columns: %d tokens, at most 2300", n)
	} else {
		t.Logf("100 rows of 6 columns: %d tokens", n)
	}
}

func TestConnectionList(t *testing.T) {
	r := connect(t, sqliteConnection(t, "b"), sqliteConnection(t, "a")).tool("connection_list", "")
	want := `{"connections":[{"id":"a","name":"Shop a","connectionType":"SQLITE"},{"id":"b","name":"Shop b","connectionType":"SQLITE"}]}`
	if string(r.StructuredContent) != want || r.text() != want || r.IsError {
		t.Errorf("got %+v", r)
	}
	if r := connect(t).tool("connection_list", "{}"); string(r.StructuredContent) != `{"connections":[]}` {
		t.Errorf("without connections: %s", r.StructuredContent)
	}
}

func TestSQLExecution(t *testing.T) {
	c := connect(t, sqliteConnection(t, "a"))
	elapsed := func(text string) string { // the only part that varies
		before, _, found := strings.Cut(text, `"elapsedMs":`)
		if !found {
			return text
		}
		return before + "…"
	}
	for _, test := range []struct{ name, arguments, want string }{
		{
			"values", `{"connectionId":"a","sql":"SELECT 9007199254740993, 1.0, 0.1, NULL, '', 'a<b>&é', x'00ff', 1 AS n, 2 AS n"}`,
			`{"headers":["9007199254740993","1.0","0.1","NULL","''","'a<b>&é'","x'00ff'","n","n"],"headerTypes":["INTEGER","REAL","REAL","NULL","TEXT","TEXT","BLOB","INTEGER","INTEGER"],"rows":[["9007199254740993",1.0,0.1,null,"","a<b>&é","\\x00ff",1,2]],"rowCount":1,"truncated":false,…`,
		},
		{"types", `{"connectionId":"a","sql":"SELECT id, total FROM orders WHERE id = 2"}`, `{"headers":["id","total"],"headerTypes":["INTEGER","NUMERIC"],"rows":[[2,3]],"rowCount":1,"truncated":false,…`},
		{"escapes", `{"connectionId":"a","sql":"SELECT '\ud834\udd1e\\ud800' AS x"}`, `{"headers":["x"],"rows":[["𝄞\\ud800"]],"rowCount":1,"truncated":false,…`},
		{"no rows", `{"connectionId":"a","sql":"SELECT id FROM orders WHERE id < 0"}`, `{"headers":["id"],"headerTypes":["INTEGER"],"rows":[],"rowCount":0,"truncated":false,…`},
		{"maxRows", `{"connectionId":"a","sql":"SELECT id FROM orders ORDER BY id","maxRows":2}`, `{"headers":["id"],"headerTypes":["INTEGER"],"rows":[[1],[2]],"rowCount":2,"truncated":true,"truncatedBy":"rows","notes":["there are more rows than the 2 that are returned: aggregate, narrow the query with WHERE, or page through it: ORDER BY a key, and WHERE the key is greater than the last one; maxRows may be up to 10000"],…`},
		{"maxRows as a string", `{"connectionId":"a","sql":"SELECT id FROM orders ORDER BY id","maxRows":"2"}`, `{"headers":["id"],"headerTypes":["INTEGER"],"rows":[[1],[2]],"rowCount":2,"truncated":true,"truncatedBy":"rows","notes":["there are more rows than the 2 that are returned: aggregate, narrow the query with WHERE, or page through it: ORDER BY a key, and WHERE the key is greater than the last one; maxRows may be up to 10000"],…`},
		{"maxRows as 2.0", `{"connectionId":"a","sql":"SELECT id FROM orders ORDER BY id","maxRows":2.0}`, `{"headers":["id"],"headerTypes":["INTEGER"],"rows":[[1],[2]],"rowCount":2,"truncated":true,"truncatedBy":"rows","notes":["there are more rows than the 2 that are returned: aggregate, narrow the query with WHERE, or page through it: ORDER BY a key, and WHERE the key is greater than the last one; maxRows may be up to 10000"],…`},
		{"exactly maxRows", `{"connectionId":"a","sql":"SELECT id FROM orders WHERE id <= 2","maxRows":2}`, `{"headers":["id"],"headerTypes":["INTEGER"],"rows":[[1],[2]],"rowCount":2,"truncated":false,…`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.t = t
			r := c.tool("sql_execution", test.arguments)
			if got := elapsed(string(r.StructuredContent)); got != strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(test.want, "<", `\u003c`), ">", `\u003e`), "&", `\u0026`) {
				t.Errorf("structured\n%s, want\n%s", got, test.want)
			}
			if got := elapsed(r.text()); got != test.want {
				t.Errorf("text\n%s, want\n%s", got, test.want)
			}
			validate(t, "sql_execution", r.StructuredContent)
		})
	}
	c.t = t
	r := c.tool("sql_execution", `{"connectionId":"a","sql":"SELECT id FROM orders"}`)
	if !strings.Contains(r.text(), `"rowCount":1000,"truncated":true,"truncatedBy":"rows"`) || !strings.Contains(r.text(), "more rows than the 1000") || !strings.Contains(string(r.StructuredContent), "more rows than the 1000") || len(r.Meta["ktx/notes"]) == 0 {
		t.Errorf("default: %.200s, notes %s", r.text()[len(r.text())-100:], r.Meta["ktx/notes"])
	}
	r = c.tool("sql_execution", `{"connectionId":"a","sql":"SELECT 1","maxRows":20000}`)
	if r.IsError || !strings.Contains(string(r.Meta["ktx/notes"]), "maxRows was lowered from 20000 to this connection's limit of 10000") {
		t.Errorf("more rows than the limit: %s, notes %s", r.text(), r.Meta["ktx/notes"])
	}
	r = c.tool("sql_execution", `{"connectionId":"a","sql":"SELECT hex(zeroblob(200)) FROM orders","maxBytes":20000}`)
	if len(r.text()) > 20000 || !strings.Contains(r.text(), `"truncatedBy":"bytes"`) {
		t.Errorf("%d bytes: …%s", len(r.text()), r.text()[max(0, len(r.text())-100):])
	}
}

// validate checks a result against the output schema of its tool.
func validate(t *testing.T, tool string, content json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("schemas", tool+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct{ OutputSchema any }
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("out.json", whole.OutputSchema); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("out.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v", content, err)
	}
}

func TestErrorsAreInBand(t *testing.T) {
	c := connect(t, sqliteConnection(t, "shop"), execution.Connection{
		ID: "lake", Engine: "BIGQUERY", Unavailable: execution.NewError(sqlguard.CodeNoBackend, "only its artifacts can be read", nil),
	})
	for _, test := range []struct {
		name, arguments string
		code            sqlguard.Code
		contains        []string
	}{
		{"refused", `{"connectionId":"shop","sql":"DELETE FROM orders"}`, "write_statement", []string{"write_statement: ", "line 1, column 1", "Hint: "}},
		{"two reasons", `{"connectionId":"shop","sql":"SELECT load_extension('x');\nDROP TABLE orders"}`, "multiple_statements", []string{"load_extension", "line 2, column 1", "DROP"}},
		{"unknown connection", `{"connectionId":"shopp","sql":"SELECT 1"}`, "unknown_connection", []string{"lake, shop", `did you mean "shop"?`}},
		{"no backend", `{"connectionId":"lake","sql":"SELECT 1"}`, "no_backend", nil},
		{"error of the database", `{"connectionId":"shop","sql":"SELECT 1,\n nope FROM orders"}`, "database_error", []string{"no such column: nope", "line 2, column 2"}},
		{"no arguments", ``, "invalid_arguments", []string{"connectionId: missing", "sql: missing", "configured connections: "}},
		{"array", `[1]`, "invalid_arguments", []string{"arguments: an array; expected an object"}},
		{"text", `"x"`, "invalid_arguments", []string{"arguments: a string"}},
		{"all at once, sorted", `{"sql":1,"maxRows":0,"maxBytes":"x"}`, "invalid_arguments", []string{"connectionId: missing; expected a string; for example \"demo\"\nmaxBytes: \"x\"; expected an integer of at least 1024; for example 1024\nmaxRows: 0; expected an integer of at least 1; for example 1\nsql: a number; expected a string"}},
		{"maxRows with a fraction", `{"connectionId":"shop","sql":"SELECT 1","maxRows":1.5}`, "invalid_arguments", []string{`maxRows: "1.5"`}},
		{"half a surrogate pair", `{"connectionId":"shop","sql":"SELECT '\ud800'"}`, "invalid_arguments", []string{"not Unicode"}},
		{"the other half", `{"connectionId":"shop","sql":"SELECT '\udc00\ud800'"}`, "invalid_arguments", []string{"not Unicode"}},
		{"another name", `{"connectionId":"shop","query":"SELECT 1"}`, "invalid_arguments", []string{"sql: missing", `the argument "query" is not known and was ignored`}},
		{"near miss", `{"connection_id":"shop","sql":"SELECT 1"}`, "invalid_arguments", []string{"connection_id: unknown argument, did you mean connectionId?"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.t = t
			r := c.tool("sql_execution", test.arguments)
			if !r.IsError || !strings.HasPrefix(r.text(), string(test.code)+": ") {
				t.Fatalf("got %+v", r)
			}
			for _, want := range test.contains {
				if !strings.Contains(r.text(), want) {
					t.Errorf("%q lacks %q", r.text(), want)
				}
			}
			var meta struct {
				Code, Message string
				Retryable     *bool
				Verdict       json.RawMessage
			}
			if err := json.Unmarshal(r.Meta["ktx/error"], &meta); err != nil || meta.Code != string(test.code) || meta.Message == "" || meta.Retryable == nil {
				t.Errorf("ktx/error: %s (%v)", r.Meta["ktx/error"], err)
			} else if meta.Verdict != nil && *meta.Retryable {
				t.Errorf("a host that sends the refused statement again loops: %s", r.Meta["ktx/error"])
			}
		})
	}
	c.t = t
	r := c.tool("sql_execution", `{"connectionId":"shop","sql":"SELECT 1","colour":"red"}`)
	if r.IsError || !strings.Contains(string(r.Meta["ktx/notes"]), "colour") || !strings.Contains(r.text(), "colour") || !strings.Contains(string(r.StructuredContent), "colour") {
		t.Errorf("unknown argument: %+v", r)
	}
	if m := c.call("tools/call", map[string]any{"name": "no_such_tool"}); !strings.Contains(string(m["error"]), "-32602") {
		t.Errorf("unknown tool: %s", m)
	}
	if e := c.log.Events("query.decision"); len(e) == 0 || e[0].Client.Name != "tester" || e[0].Client.Version != "7" {
		t.Errorf("the client is not in the audit log: %+v", e)
	}
}

// TestRefusedCallsAreRecorded: calls that no guard sees leave an event with their reason,
// the names that they gave, and the client.
func TestRefusedCallsAreRecorded(t *testing.T) {
	c := connect(t, sqliteConnection(t, "a"))
	c.tool("sql_execution", `{"connectionId":"nope","sql":"SELECT 1"}`)
	c.tool("entity_details", `{"connectionId":"a","entities":7}`)
	c.tool("sql_execution", `{"sql":5}`)
	c.call("tools/call", map[string]any{"name": "drop_everything", "arguments": map[string]any{"table": "orders"}})
	c.tool("sql_execution", `{"connectionId":"a","sql":"SELECT 1"}`)
	c.service.Drain()
	c.tool("connection_list", `{}`)
	c.tool("sql_execution", `{"connectionId":"a","sql":"SELECT 1"}`)
	var got []string
	for _, e := range c.log.Events("call.refused") {
		got = append(got, strings.Join([]string{e.Reason, e.Tool.Name, e.Connection.ID, e.Client.Name}, " "))
	}
	want := []string{
		"unknown_connection  nope tester", "invalid_arguments entity_details  tester", "invalid_arguments sql_execution  tester",
		"unknown_tool drop_everything  tester", "draining connection_list  tester", "draining sql_execution  tester",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgress(t *testing.T) {
	c := connect(t, sqliteConnection(t, "a"))
	stages := func(sql string, token any) []string {
		params := map[string]any{"name": "sql_execution", "arguments": map[string]any{"connectionId": "a", "sql": sql}}
		if token != nil {
			params["_meta"] = map[string]any{"progressToken": token}
		}
		c.id++
		c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": "tools/call", "params": params})
		var got []string
		for {
			m := c.next()
			if string(m["id"]) == fmt.Sprint(c.id) {
				return got
			}
			var p map[string]any
			if err := json.Unmarshal(m["params"], &p); err != nil || string(m["method"]) != `"notifications/progress"` {
				t.Fatalf("%s: %v", m, err)
			}
			if _, found := p["total"]; found {
				t.Errorf("a total is sent: %v", p)
			}
			got = append(got, fmt.Sprintf("%v %v %v", p["progressToken"], p["progress"], p["message"]))
		}
	}
	for _, test := range []struct {
		sql   string
		token any
		want  []string
	}{
		{"SELECT 1", "p", []string{"p 0 Validating SQL", "p 0.3 Executing", "p 1 Fetched 1 rows"}},
		{"SELECT id FROM orders WHERE id < 3", 7, []string{"7 0 Validating SQL", "7 0.3 Executing", "7 1 Fetched 2 rows"}},
		{"DROP TABLE orders", "p", []string{"p 0 Validating SQL"}},
		{"SELECT nope", "p", []string{"p 0 Validating SQL", "p 0.3 Executing"}},
		{"SELECT 1", nil, nil},
	} {
		if got := stages(test.sql, test.token); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.sql, got, test.want)
		}
	}
}

// slow is a query that runs for hours unless it is cancelled.
const slow = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`

func TestCancellationEndsTheStatement(t *testing.T) {
	c := connect(t, sqliteConnection(t, "a"))
	c.send(map[string]any{"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": map[string]any{
		"name": "sql_execution", "arguments": map[string]any{"connectionId": "a", "sql": slow}, "_meta": map[string]any{"progressToken": "p"},
	}})
	for !strings.Contains(string(c.next()["params"]), "Executing") {
		continue
	}
	c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": "slow"}})
	deadline := time.Now().Add(patience)
	for len(c.log.Events("query.cancelled")) == 0 {
		if time.Now().After(deadline) {
			t.Fatalf("the statement was not ended: %+v", c.log.Events())
		}
		time.Sleep(5 * time.Millisecond)
	}
	if r := c.tool("sql_execution", `{"connectionId":"a","sql":"SELECT 1"}`); r.IsError {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestClosedInputEndsTheStatement(t *testing.T) {
	c := connect(t, sqliteConnection(t, "a"))
	c.send(map[string]any{"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": map[string]any{
		"name": "sql_execution", "arguments": map[string]any{"connectionId": "a", "sql": slow}, "_meta": map[string]any{"progressToken": "p"},
	}})
	for !strings.Contains(string(c.next()["params"]), "Executing") {
		continue
	}
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-c.ended:
		c.ended <- err // for the clean-up
	case <-time.After(patience):
		t.Fatal("the session does not end")
	}
}

func TestPanicIsAnInBandError(t *testing.T) {
	c := serve(t, nil) // the handler dereferences a nil pointer
	c.shakeHands()
	r := c.tool("connection_list", "")
	if !r.IsError || !strings.HasPrefix(r.text(), "internal_error: ") || strings.Contains(r.text(), "nil pointer") {
		t.Errorf("got %+v", r)
	}
	_, id, _ := strings.Cut(r.text(), "request ")
	id, _, _ = strings.Cut(id, "\n")
	if id == "" || !strings.Contains(c.logs.String(), id) || !strings.Contains(c.logs.String(), "nil pointer") {
		t.Errorf("the log does not tell of %q: %s", id, c.logs)
	}
}

func TestServiceWithoutMCP(t *testing.T) {
	conn := sqliteConnection(t, "a")
	conn.Limits = execution.Limits{Rows: 5}
	gateway, err := execution.NewGateway(t.Context(), &audittest.Log{}, conn)
	if err != nil {
		t.Fatal(err)
	}
	s := research.New(gateway, slog.New(slog.DiscardHandler), storesOf(t))
	out, err := s.SQLExecution(t.Context(), research.SQLExecutionInput{ConnectionID: "a", SQL: "SELECT id FROM orders", MaxRows: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Rows) != 5 || !out.Truncated || len(out.Notes) == 0 || !strings.Contains(out.Notes[0], "maxRows was lowered from 50 to this connection's limit of 5") {
		t.Errorf("%d rows, notes %q", len(out.Rows), out.Notes)
	}
	if _, err := s.SQLExecution(t.Context(), research.SQLExecutionInput{ConnectionID: "a", SQL: "ATTACH 'x' AS y"}); !isRejected(err) {
		t.Errorf("err = %v", err)
	}
	if err := gateway.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func isRejected(err error) bool {
	_, ok := errors.AsType[*sqlguard.RejectedError](err)
	return ok
}
