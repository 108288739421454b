package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// restConfig has two connections, rules for one of them, and principals with different
// rights.
const restConfig = `connections:
  demo:
    driver: sqlite
    path: shop.db
    access: {tables: {deny: [main.customers]}}
  other: {driver: sqlite, path: shop.db}
server:
  tokens:
    - {name: analyst, token: "env:KTX_TEST_ANALYST", connections: [demo], may: [query, pages]}
    - {name: auditor, token: "env:KTX_TEST_AUDITOR", may: [audit, pages]}
    - {name: owner, token: "env:KTX_TEST_OWNER", may: [query, audit, pages]}
`

// restServer starts a server with restConfig. The token of each principal is its name.
func restServer(t *testing.T) (dir, origin string) {
	t.Helper()
	dir = shop(t)
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte(restConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"analyst", "auditor", "owner"} {
		t.Setenv("KTX_TEST_"+strings.ToUpper(who), who)
	}
	return dir, strings.TrimSuffix(serverOf(t, dir).URL, "/mcp")
}

var elapsedMs = regexp.MustCompile(`"elapsedMs":\d+`)

// TestRESTTools: REST gives each principal what MCP gives it, byte for byte.
func TestRESTTools(t *testing.T) {
	dir, origin := restServer(t)
	for _, c := range []struct {
		who, tool, arguments string
		status               int
		has                  string
	}{
		{"analyst", "connection_list", `{}`, 200, `"demo"`},
		{"owner", "connection_list", `{}`, 200, `"other"`},
		{"analyst", "sql_execution", `{"connectionId":"demo","sql":"SELECT count(*) AS n, 9007199254740993 AS big FROM orders"}`, 200, `[[900,"9007199254740993"]]`},
		{"analyst", "sql_execution", `{"connectionId":"demo","sql":"SELECT 1","unknown":true}`, 200, `"notes"`},
		{"analyst", "sql_execution", `{"connectionId":"demo","sql":"SELECT * FROM customers"}`, 422, `relation_not_allowed`},
		{"owner", "sql_execution", `{"connectionId":"other","sql":"SELECT count(*) FROM customers"}`, 200, `"rowCount":1`},
		{"analyst", "sql_execution", `{"connectionId":"other","sql":"SELECT 1"}`, 404, `unknown_connection`},
		{"analyst", "sql_execution", `{"connectionId":"demo","sql":"DELETE FROM orders"}`, 422, `"verdict"`},
		{"analyst", "sql_execution", `{"connectionId":"demo","sql":"SELECT nope FROM orders"}`, 422, `database_error`},
		{"analyst", "sql_execution", `{"connectionId":"demo"}`, 400, `invalid_arguments`},
		{"analyst", "sql_execution", `[1]`, 400, `invalid_arguments`},
		{"analyst", "discover_data", `{"query":"orders"}`, 200, `orders`},
		{"analyst", "entity_details", `{"connectionId":"other","entities":[{"table":"orders"}]}`, 404, `unknown_connection`},
		{"analyst", "wiki_search", `{"query":"revenue"}`, 200, ``},
	} {
		mcp := &client{url: origin + "/mcp", token: c.who}
		mcp.begin(t)
		text := mcp.post(t, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.tool, c.arguments))
		var over struct {
			Result struct {
				StructuredContent json.RawMessage
				IsError           bool
				Meta              struct {
					Error json.RawMessage `json:"ktx/error"`
				} `json:"_meta"`
			}
			Error json.RawMessage
		}
		data := text
		if _, event, ok := strings.Cut(text, "data: "); ok {
			data = event
		}
		if err := json.Unmarshal([]byte(data), &over); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		rest := &client{url: origin + "/v1/tools/" + c.tool, token: c.who}
		got, body, err := rest.do(t.Context(), http.MethodPost, c.arguments, "Accept", "application/json")
		if err != nil || got != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s as %s: %d %s %v, want %d with %s", c.tool, c.arguments, c.who, got, body, err, c.status, c.has)
			continue
		}
		theirs := over.Result.StructuredContent
		if over.Result.IsError {
			theirs = over.Result.Meta.Error
		}
		if over.Error != nil {
			continue // the protocol itself refuses arguments that are no object
		}
		clean := func(b []byte) string { return elapsedMs.ReplaceAllString(strings.TrimSpace(string(b)), "") }
		if clean(theirs) != clean([]byte(body)) {
			t.Errorf("%s %s\nMCP:  %s\nREST: %s", c.tool, c.arguments, theirs, body)
		}
	}
	for name, c := range map[string]struct {
		token, path, body, kind string
		status                  int
	}{
		"nobody":          {"", "sql_execution", `{}`, "application/json", 401},
		"no right":        {"auditor", "sql_execution", `{}`, "application/json", 403},
		"no such tool":    {"owner", "nope", `{}`, "application/json", 404},
		"not listed":      {"owner", "tool_call_write", `{}`, "application/json", 404},
		"no JSON":         {"owner", "sql_execution", `{`, "application/json", 400},
		"a form":          {"owner", "sql_execution", `sql=SELECT+1`, "application/x-www-form-urlencoded", 415},
		"another way out": {"owner", "%2e%2e/check", `{}`, "application/json", 404},
	} {
		rest := &client{url: origin + "/v1/tools/" + c.path, token: c.token}
		if got, body, err := rest.do(t.Context(), http.MethodPost, c.body, "Content-Type", c.kind); err != nil || got != c.status {
			t.Errorf("%s: %d %s %v, want %d", name, got, body, err, c.status)
		}
	}
	want(t, dir, 0, `"name":"rest"`, "audit", "tail", "--json", "-n", "200", "--principal", "analyst")
	want(t, dir, 0, `unknown_tool`, "audit", "tail", "--json", "-n", "200", "--principal", "owner")
}

// TestRESTEvents: a client that accepts events gets progress and the answer, and its
// statement ends when it leaves.
func TestRESTEvents(t *testing.T) {
	dir, origin := restServer(t)
	rest := &client{url: origin + "/v1/tools/sql_execution", token: "owner"}
	text := rest.post(t, 200, `{"connectionId":"other","sql":"SELECT 1"}`, "Accept", "text/event-stream")
	if !strings.Contains(text, "event: progress\ndata: {") || !strings.Contains(text, "\n\nevent: result\ndata: {\"headers\"") {
		t.Errorf("events: %s", text)
	}
	// A refusal comes before or after the first progress.
	if got, text, err := rest.do(t.Context(), http.MethodPost, `{"connectionId":"other","sql":"DROP TABLE t"}`, "Accept", "text/event-stream"); err != nil || !strings.Contains(text, `{"code":"ddl_statement"`) || got == 200 && !strings.Contains(text, "event: error\ndata: ") {
		t.Errorf("a refusal: %d %s %v", got, text, err)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	long := `{"connectionId":"other","sql":"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"}`
	left := make(chan struct{})
	go func() {
		defer close(left)
		if got, text, err := rest.do(ctx, http.MethodPost, long, "Accept", "application/json"); err == nil {
			t.Errorf("the statement ended: %d %s", got, text)
		}
	}()
	audited := func(conditions ...string) func() bool {
		return func() bool {
			out, _, _ := ktx(t, dir, append([]string{"audit", "query", "--json"}, conditions...)...)
			return strings.Contains(out, "union all")
		}
	}
	waitFor(t, audited("--verdict", "allow"))
	leave()
	<-left
	waitFor(t, audited("--status", "cancelled"))
}

// TestOpenAPIIsTrue: answers have the schemas that the description of the API gives them.
func TestOpenAPIIsTrue(t *testing.T) {
	_, origin := restServer(t)
	ask := func(path string) any {
		t.Helper()
		got, text, err := (&client{url: origin + path, token: "owner"}).do(t.Context(), http.MethodGet, "", "Accept", "application/json")
		if err != nil || got != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, got, text, err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return value
	}
	for _, call := range []string{`{"connectionId":"other","sql":"SELECT count(*) FROM orders"}`, `{"connectionId":"demo","sql":"SELECT * FROM customers"}`} {
		if _, _, err := (&client{url: origin + "/v1/tools/sql_execution", token: "owner"}).do(t.Context(), http.MethodPost, call); err != nil {
			t.Fatal(err)
		}
	}
	doc := ask("/v1/openapi.json")
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("file:///openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	members := func(v any, path ...string) any {
		for _, name := range path {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		return v
	}
	paths, _ := members(doc, "paths").(map[string]any)
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	asked := 0
	for path := range paths {
		if members(paths, path, "get", "responses", "200", "content", "application/json") == nil {
			continue
		}
		actual := path
		if strings.Contains(path, "{") {
			actual = map[string]string{"/v1/corpus/{id}": "/v1/corpus/KTX-PG-INTO-0001"}[path]
			if actual == "" {
				t.Errorf("%s: the test does not know what to ask", path)
				continue
			}
		}
		schema, err := compiler.Compile("file:///openapi.json#/paths/" + escape.Replace(path) + "/get/responses/200/content/application~1json/schema")
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		asked++
		if err := schema.Validate(ask(actual)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if asked < 7 {
		t.Errorf("only %d routes were asked", asked)
	}
	for _, tool := range []string{"sql_execution", "sl_query", "discover_data", "memory_ingest"} {
		if members(paths, "/v1/tools/"+tool, "post", "requestBody", "content", "application/json", "schema", "properties") == nil {
			t.Errorf("the tool %s is not described", tool)
		}
	}
}

// TestPagesAndRules: pages that call tools show what the rules of the principal permit, of
// real connections.
func TestPagesAndRules(t *testing.T) {
	dir, origin := restServer(t)
	want(t, dir, 0, "", "scan", "--all")
	ask := func(who, method, path, body string) (int, string) {
		t.Helper()
		got, text, err := (&client{url: origin + path, token: who}).do(t.Context(), method, body, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
		if err != nil {
			t.Fatal(err)
		}
		return got, text
	}
	for _, c := range []struct {
		who, method, path, body string
		has, lacks              string
	}{
		{"analyst", "GET", "/explore", "", ">demo<", ">other<"},
		{"owner", "GET", "/explore", "", ">other<", ""},
		{"analyst", "GET", "/explore?connection=demo", "", ">orders<", "customers"},
		{"owner", "GET", "/explore?connection=other", "", ">customers<", ""},
		{"analyst", "GET", "/explore?connection=other", "", "no connection of that name", ">orders<"},
		{"analyst", "GET", "/explore?connection=demo&table=main.customers", "", "Table main.customers", "email"},
		{"analyst", "GET", "/explore?connection=other&table=main.orders", "", "unknown_connection", "ordered_at"},
		{"analyst", "GET", "/explore?q=customers", "", "Found for customers", "main.customers"},
		{"analyst", "GET", "/explore?q=orders&connection=demo", "", ">main.orders<", ""},
		{"analyst", "GET", "/explore?q=orders&connection=other", "", "no connection of that name", ">main.orders<"},
		{"analyst", "GET", "/skills", "", "not_configured", ""},
		{"analyst", "POST", "/query", "connection=demo&sql=SELECT+count(*)+FROM+orders", ">900<", ""},
		{"analyst", "POST", "/query", "connection=demo&sql=SELECT+*+FROM+customers", "relation_not_allowed", "@"},
		{"analyst", "POST", "/query", "connection=other&sql=SELECT+1", "unknown_connection", "<td"},
		{"auditor", "POST", "/query", "connection=demo&sql=SELECT+1", "may not use this page", "<td"},
		{"analyst", "POST", "/playground", "by=connection:demo&sql=SELECT+*+FROM+customers", "relation_not_allowed", ""},
		{"analyst", "POST", "/playground", "by=connection:other&sql=SELECT+1", "broken", "may run"},
		{"analyst", "GET", "/playground", "", "connection demo", "connection other"},
		{"analyst", "GET", "/", "", ">demo<", ">other<"},
	} {
		_, text := ask(c.who, c.method, c.path, c.body)
		if _, page, ok := strings.Cut(text, "<main"); !ok || !strings.Contains(page, c.has) || c.lacks != "" && strings.Contains(page, c.lacks) {
			t.Errorf("%s %s %s as %s: want %q and not %q:\n%s", c.method, c.path, c.body, c.who, c.has, c.lacks, page)
		}
	}
	// The statement of the page is in the log under the principal, and its own page judges
	// it again.
	out := want(t, dir, 0, `"client":"pages"`, "audit", "query", "--principal", "analyst", "--status", "ok", "--json")
	_, rest, _ := strings.Cut(out, `"queryId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if got, text := ask("analyst", "GET", "/audit/"+id, ""); got != http.StatusOK || !strings.Contains(text, "same verdict") {
		t.Errorf("its page: %d %s", got, text)
	}
}

// TestFoundGoesOn: the pages show all skills and all hits, a part at a time. The first hits
// are those of discover_data, in its order.
func TestFoundGoesOn(t *testing.T) {
	dir := shop(t)
	const all = 120
	for i := range all {
		for name, text := range map[string]string{
			fmt.Sprintf("skills/tally-%d/SKILL.md", i): fmt.Sprintf("---\nname: tally-%d\ndescription: How to tally orders, way %d.\n---\n# Tally\n", i, i),
			fmt.Sprintf("wiki/global/tally-%d.md", i):  fmt.Sprintf("---\nsummary: A tally of shop %d\n---\nThe tally of orders.\n", i),
		} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ktx.yaml"), []byte("connections:\n  demo: {driver: sqlite, path: shop.db}\nskills: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	origin := strings.TrimSuffix(serverOf(t, dir).URL, "/mcp")
	get := func(path string) string {
		t.Helper()
		status, text, err := (&client{url: origin + path}).do(t.Context(), http.MethodGet, "", "Accept", "text/html")
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %v %.500s", path, status, err, text)
		}
		return text
	}
	entry, next := regexp.MustCompile(`<bdi>(tally-[0-9]+)</bdi></a>`), regexp.MustCompile(`rel="next" href="([^"#]+)`)
	read := func(path string) (found []string) {
		t.Helper()
		seen := map[string]bool{}
		for path != "" {
			text := get(path)
			for _, m := range entry.FindAllStringSubmatch(text, -1) {
				if seen[m[1]] {
					t.Fatalf("%s has %s again", path, m[1])
				}
				seen[m[1]] = true
				found = append(found, m[1])
			}
			path = ""
			if m := next.FindStringSubmatch(text); m != nil {
				path = html.UnescapeString(m[1])
			}
		}
		return found
	}
	for _, path := range []string{"/skills", "/skills?q=tally", "/explore?q=tally+of+orders"} {
		if found := read(path); len(found) != all {
			t.Errorf("%s: %d of %d", path, len(found), all)
		}
	}
	var answer struct{ Refs []struct{ Kind, ID string } }
	body := (&client{url: origin + "/v1/tools/discover_data"}).post(t, 200, `{"query":"tally of orders","limit":50}`, "Accept", "application/json")
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range answer.Refs {
		if strings.HasPrefix(r.ID, "tally-") {
			want = append(want, r.ID)
		}
	}
	if got := read("/explore?q=tally+of+orders"); len(want) < 30 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("the page begins with %v, discover_data with %v", got[:min(len(got), len(want))], want)
	}
}
