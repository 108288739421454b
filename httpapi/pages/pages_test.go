package pages_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/pages"
	"github.com/ktxhq/ktx/sqlguard"
)

// desk is a server with pages over a real log.
type desk struct {
	server *httpapi.Server
	origin string
	dir    string
	pages  *pages.Pages
}

var nothing = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

// allow allows every statement.
type allow struct{}

func (allow) Check(context.Context, httpapi.CheckRequest) (sqlguard.Verdict, error) {
	return sqlguard.Verdict{Dialect: "test", Allowed: true}, nil
}

// echo stands for the tools of a project, which the command line brings: tests there call
// the real ones over REST. It shows what reaches a tool and what becomes of its answer.
type echo struct{}

func (echo) Tools() (list []pages.Tool) {
	for _, name := range []string{"echo", "discover_data", "sql_execution", "sl_query", "server_list", "search_skills"} {
		list = append(list, pages.Tool{Name: name, Title: name, Input: json.RawMessage(`{"type":"object"}`)})
	}
	return list
}

// wikiText is a page with everything that Markdown has.
const wikiText = "# Revenue\n\n### In *euros*\n\nSee [orders](orders), [the law](https://example.com/law), ![a picture](https://example.com/x.png) and [x](javascript:alert(1)).\n\n" +
	"| a | b |\n|---|--:|\n| 1 | 2 |\n\n1. one\n2. `two`\n\n> said **so**\n\n```sql\nSELECT 1\n```\n\n<b onclick=alert(1)>raw</b> <https://example.com/auto>\n\n---\n\nHOSTILE"

// answers are what real tools answer, in their shapes.
var answers = map[string]string{
	"entity_details":  `{"results":[{"ok":true,"display":"main.orders","kind":"table","comment":"HOSTILE","columns":[{"name":"id","nativeType":"INTEGER","primaryKey":true,"comment":"HOSTILE"},{"name":"HOSTILE","nativeType":"HOSTILE","primaryKey":false,"comment":null}],"foreignKeys":[{"fromColumn":"customer_id","toDb":"main","toTable":"customers","toColumn":"id"}]}]}`,
	"wiki_read":       `{"key":"revenue","summary":"HOSTILE","content":` + strconv.Quote(wikiText) + `,"scope":"GLOBAL"}`,
	"sl_read_source":  `{"sourceName":"orders","yaml":"name: orders\n# HOSTILE","valid":true}`,
	"sql_execution":   `{"headers":["id","HOSTILE"],"rows":[[1,"HOSTILE"],[2,"=1+1"],[9007199254740993,null]],"rowCount":3,"truncated":false,"elapsedMs":1}`,
	"sl_query":        `{"headers":["revenue"],"rows":[["12.50"]],"totalRows":1,"truncated":false,"sql":"SELECT 1"}`,
	"server_list":     `{"servers":[{"name":"HOSTILE","status":"error","lastError":"HOSTILE"}]}`,
	"tool_list":       `{"tools":[{"tool":"HOSTILE","summary":"HOSTILE","readOnly":true,"tags":["HOSTILE"]}],"hidden":0,"nextCursor":"c2"}`,
	"describe_skill":  `{"name":"HOSTILE","description":"HOSTILE","files":[{"path":"SKILL.md","size":3,"digest":"d"}]}`,
	"connection_list": `{}`,
}

// cancelled gets the end of each statement that has the word endless.
var cancelled = make(chan error, 1)

// lastCall is the tool that was called last, and its arguments.
var lastCall atomic.Value

// answering is what texts of strangers the answers have; a test changes it.
var answering atomic.Value

func (echo) Call(ctx context.Context, name string, arguments json.RawMessage, progress func(float64, string)) (json.RawMessage, *pages.ToolError) {
	lastCall.Store(name + " " + string(arguments))
	if progress != nil {
		progress(0.3, "Executing")
	}
	if strings.Contains(string(arguments), "endless") {
		<-ctx.Done()
		cancelled <- ctx.Err()
		return nil, &pages.ToolError{Code: sqlguard.CodeCancelled, JSON: json.RawMessage(`{"code":"cancelled"}`)}
	}
	actor, _ := audit.ActorFrom(ctx)
	if answer := answers[name]; answer != "" {
		text, _ := answering.Load().(string)
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, &pages.ToolError{Code: sqlguard.CodeInternalError}
		}
		if name == "server_list" && text == "many" {
			var list []string
			for i := range 450 {
				list = append(list, fmt.Sprintf(`{"name":"server-%d","status":"ready"}`, i))
			}
			return json.RawMessage(`{"servers":[` + strings.Join(list, ",") + `]}`), nil
		}
		if name == "entity_details" && text == "many columns" {
			var list []string
			for i := range 450 {
				list = append(list, fmt.Sprintf(`{"name":"c%d","nativeType":"TEXT","comment":null}`, i))
			}
			return json.RawMessage(`{"results":[{"ok":true,"display":"main.orders","columns":[` + strings.Join(list, ",") + `]}]}`), nil
		}
		if strings.Contains(string(arguments), "DELETE") {
			v := guardOf("postgres").Check("DELETE FROM t")
			return nil, &pages.ToolError{Code: v.Code, Message: text, Hint: text, Verdict: &v, JSON: json.RawMessage(`{"code":"write_statement"}`)}
		}
		return json.RawMessage(strings.ReplaceAll(answer, "HOSTILE", string(quoted[1:len(quoted)-1]))), nil
	}
	if name != "echo" {
		return nil, &pages.ToolError{Code: sqlguard.CodeNotFound, JSON: json.RawMessage(`{"code":"not_found"}`)}
	}
	return json.RawMessage(`{"caller":"` + actor.Principal + `","arguments":` + string(arguments) + `}`), nil
}

func guardOf(dialect string) *sqlguard.Guard {
	d, ok := dialects.Lookup(dialect)
	if !ok {
		return nil
	}
	g, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		panic(err)
	}
	return g
}

// judge judges by the default policy. Bob may not use the connection private.
type judge struct{}

func (judge) Connection(ctx context.Context, id, sql string) (report.Reading, error) {
	if actor, _ := audit.ActorFrom(ctx); id != "shop" && (id != "private" || actor.Principal == "bob") {
		return report.Reading{}, errors.New("unknown connection")
	}
	return report.Read(guardOf("postgres"), sql), nil
}

func (judge) Dialect(_ context.Context, name, sql string) (report.Reading, error) {
	if g := guardOf(name); g != nil {
		return report.Read(g, sql), nil
	}
	return report.Reading{}, errors.New("unknown dialect " + name)
}

func (judge) Dialects() []string { return []string{"postgres", "sqlite"} }

// sqliteCases is the corpus of one dialect, with the answers of the guard.
var sqliteCases = sync.OnceValues(func() (*pages.Corpus, error) {
	guard, err := run.NewBuiltin("v1", dialects.All())
	if err != nil {
		return nil, err
	}
	c := &pages.Corpus{Cases: map[string]*corpus.Case{}}
	var cases []corpus.Case
	for _, one := range corpus.Cases() {
		if one.Dialect == "sqlite" {
			cases = append(cases, one)
			c.Cases[one.ID] = &one
		}
	}
	if c.Results, err = run.Run(context.Background(), guard, cases, nil); err != nil {
		return nil, err
	}
	c.Book, err = report.NewBook(report.Report{
		Cases: cases, Results: c.Results, Guard: guard.Describe(), Address: pages.CaseAddress,
		Read: func(one corpus.Case) (report.Reading, bool) { return report.Read(guard.Of(one.Dialect), one.SQL), true },
	})
	return c, err
})

// tokens are the principals of the tests. The token of each is its name.
func tokens() []httpapi.Token {
	return []httpapi.Token{
		{Principal: "ada", Sum: httpapi.Sum("ada")},
		{Principal: "bob", Sum: httpapi.Sum("bob"), May: []httpapi.Right{httpapi.RightPages}},
		{Principal: "eve", Sum: httpapi.Sum("eve"), May: []httpapi.Right{httpapi.RightAudit}},
		{Principal: "root", Sum: httpapi.Sum("root"), May: httpapi.Rights()},
	}
}

// openDesk starts a server whose log has n statements of each of ada, bob and carol.
func openDesk(t *testing.T, n int, tokens []httpapi.Token) *desk {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for _, who := range []string{"ada", "bob", "carol"} {
			write(t, log, who, who+"-"+strconv.Itoa(i), "SELECT secret_of_"+who+" FROM t")
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return serve(t, dir, tokens)
}

func write(t *testing.T, log *audit.Writer, who, id, sql string) {
	t.Helper()
	for _, e := range []audit.Event{
		{
			Type: audit.QueryDecision, QueryID: id, Principal: who, Session: "session-of-" + who, Client: audit.Client{Name: "client-of-" + who},
			Connection: audit.Connection{ID: "shop", Dialect: "postgres"}, SQL: audit.SQL{Normalized: sql, Fingerprint: "f-" + sql, Kind: "select", Tables: []string{"table_of_" + who}},
			Decision: audit.Decision{Verdict: audit.VerdictAllow},
		},
		{Type: audit.QueryFinished, QueryID: id, Principal: who, Result: audit.Result{Status: audit.StatusOK, Rows: 7, ExecMS: 1.5}},
	} {
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func serve(t *testing.T, dir string, tokens []httpapi.Token) *desk {
	t.Helper()
	return serveIndex(t, dir, filepath.Join(t.TempDir(), "index.db"), tokens)
}

func serveIndex(t *testing.T, dir, path string, tokens []httpapi.Token) *desk {
	t.Helper()
	x, err := index.Open(t.Context(), dir, path)
	if err != nil {
		t.Fatal(err)
	}
	p := pages.New(pages.Config{
		Index: x, LogDir: dir, Version: "v1", Logger: slog.New(slog.DiscardHandler), Tools: echo{}, Judge: judge{}, Corpus: sqliteCases,
		Codes: []sqlguard.CodeInfo{{Code: "unknown_source", Title: "Unknown source", Page: "# unknown_source\n\nNo source has this name.\n"}},
		Review: func(context.Context) (*audit.Reviewer, error) {
			return audit.NewReviewer(func(audit.Event) (func(string) (sqlguard.Verdict, error), error) {
				return func(sql string) (sqlguard.Verdict, error) { return guardOf("postgres").Check(sql), nil }, nil
			}), nil
		},
		Artifacts: artifacts{},
		Trust: func(context.Context, string) map[string]pages.Trust {
			text, _ := answering.Load().(string)
			return map[string]pages.Trust{text: {Rule: "rule 1 " + text, Pin: "0123456789abcdef", Since: time.Unix(0, 0)}}
		},
		Connections: func(context.Context) []pages.Connection {
			text, _ := answering.Load().(string)
			if text == "many" {
				var list []pages.Connection
				for i := range 75 {
					list = append(list, pages.Connection{ID: fmt.Sprintf("shop-%d", i), Engine: "POSTGRES", Runs: true})
				}
				return list
			}
			return []pages.Connection{{ID: "shop", Engine: "POSTGRES", Dialect: "postgres", Runs: true, Probed: time.Unix(0, 0), Role: text, Findings: []string{text}, CatalogFailure: text}}
		},
	})
	s, err := httpapi.New(httpapi.Config{
		Host: "127.0.0.1", Tokens: tokens, Stateless: nothing, Checker: allow{}, Log: &audittest.Log{}, Logger: slog.New(slog.DiscardHandler),
		Metrics: httpapi.NewMetrics(func() []httpapi.Queue { return nil }, func() audit.Health { return audit.Health{} }),
		Routes:  p.Routes(), LoginPage: p.Login, ProblemPage: p.Problem,
		HeaderTime: time.Hour, BodyTime: time.Hour, WriteTime: time.Hour, IdleTime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return &desk{server: s, origin: "http://" + l.Addr().String(), dir: dir, pages: p}
}

// artifacts stand for what a project knows of its data.
type artifacts struct{}

func (artifacts) Tables(context.Context, string) ([]pages.Table, string, error) {
	text, _ := answering.Load().(string)
	if text == "many" {
		var list []pages.Table
		for i := range 450 {
			list = append(list, pages.Table{Schema: fmt.Sprintf("s%02d", i%60), Name: fmt.Sprintf("t%d", i), Kind: "table"})
		}
		return list, "2026-01-01T10:00:00Z", nil
	}
	return []pages.Table{
		{Schema: "main", Name: "orders", Kind: "table", Columns: 3, References: []string{"main.customers", "main.products"}},
		{Schema: "main", Name: "customers", Kind: "table", Columns: 3, References: []string{"main.regions", text + "." + text}},
		{Schema: "main", Name: "products", Kind: "table", Columns: 3, References: []string{"main.orders"}}, // a circle
		{Schema: "main", Name: "regions", Kind: "table", Columns: 2, References: []string{"main.regions"}},
		{Schema: text, Name: text, Kind: text, References: []string{text}},
	}, "2026-01-01T10:00:00Z", nil
}

func (artifacts) Profile(context.Context, string, string) ([]pages.ColumnProfile, error) {
	text, _ := answering.Load().(string)
	return []pages.ColumnProfile{{Name: text, Rows: 1000, Nulls: 3, Distinct: 2, Values: []string{text, "b"}}}, nil
}

func (artifacts) Sources(context.Context) ([]pages.Source, error) {
	text, _ := answering.Load().(string)
	list := []pages.Source{{Connection: "shop", Name: "orders", Origin: "file", Description: text, Valid: true, Columns: 3, Measures: 1, Joins: []string{"customers", text}}}
	for i := range 30 {
		list = append(list, pages.Source{Connection: "shop", Name: fmt.Sprintf("source-%d", i), Origin: "file"})
	}
	return list, nil
}

func (artifacts) WikiPages() ([]pages.WikiPage, error) {
	text, _ := answering.Load().(string)
	return []pages.WikiPage{{Key: "revenue", Scope: "GLOBAL", Summary: text}, {Key: text, Scope: text}}, nil
}

func (artifacts) Find(_ context.Context, query, _ string, after, most int) (pages.Found, error) {
	text, _ := answering.Load().(string)
	if query == "broken" {
		return pages.Found{}, errors.New("a file is gone")
	}
	all := []pages.Hit{
		{Kind: "table", ID: "main.orders", Score: 1, About: "id, total", MatchedOn: "name", Connection: "shop", Table: "main.orders"},
		{Kind: "wiki", ID: "revenue", Score: 0.5, About: text, MatchedOn: "body"},
	}
	if query == "many" {
		for i := range 120 {
			all = append(all, pages.Hit{Kind: "sl_measure", ID: fmt.Sprintf("orders.m%d", i), Connection: "shop"})
		}
	}
	all = all[min(after, len(all)):]
	return pages.Found{Hits: all[:min(most, len(all))], More: len(all) > most, Notes: []string{"connection " + text + " has no scan"}}, nil
}

func (artifacts) Skills(_ context.Context, query string, after, most int) (pages.Skills, error) {
	text, _ := answering.Load().(string)
	all := []pages.Skill{{Name: text, Description: text, Category: text, Tier: "gold", Uses: 3}}
	if query == "many" {
		for i := range 120 {
			all = append(all, pages.Skill{Name: fmt.Sprintf("skill-%d", i), Description: "about"})
		}
	}
	all = all[min(after, len(all)):]
	return pages.Skills{Skills: all[:min(most, len(all))], More: max(0, len(all)-most)}, nil
}

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request. Each header is "Name: value".
func (d *desk) ask(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.origin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

func bearer(who string) string { return "Authorization: Bearer " + who }

// login returns the cookie of a principal, as a header.
func (d *desk) login(t *testing.T, who string) string {
	t.Helper()
	got := d.ask(t, "POST", "/login", url.Values{"token": {who}, "next": {"/audit"}}.Encode(), "Content-Type: application/x-www-form-urlencoded", "Origin: "+d.origin)
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/audit" || cookie == "" {
		t.Fatalf("login of %s: %d %v", who, got.status, got.header)
	}
	return "Cookie: " + cookie
}

// routes are all routes, with those that each principal may use: nobody, ada (query),
// bob (pages), eve (audit), root (all).
var routes = []struct {
	method, path string
	want         [5]int
}{
	{"GET", "/health", [5]int{200, 200, 200, 200, 200}},
	{"GET", "/metrics", [5]int{401, 200, 200, 200, 200}},
	{"POST", "/v1/check", [5]int{401, 200, 403, 403, 200}},
	{"POST", "/mcp", [5]int{401, 204, 403, 403, 204}},
	{"GET", "/mcp", [5]int{401, 204, 403, 403, 204}},
	{"DELETE", "/mcp", [5]int{401, 204, 403, 403, 204}},
	{"GET", "/login", [5]int{200, 200, 200, 200, 200}},
	{"POST", "/login", [5]int{401, 401, 401, 401, 401}}, // the form has no token
	{"POST", "/logout", [5]int{401, 303, 303, 303, 303}},
	{"GET", "/", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/audit", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/audit/ada-0", [5]int{401, 403, 404, 403, 200}},
	{"GET", "/audit/bob-0", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/static/style.css", [5]int{200, 200, 200, 200, 200}},
	{"GET", "/v1/audit/statements", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/v1/audit/events", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/v1/audit/stats", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/v1/audit/verify", [5]int{401, 403, 403, 200, 200}},
	{"GET", "/v1/connections", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/audit/verify", [5]int{401, 403, 403, 403, 200}},
	{"GET", "/audit/rejudge", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/audit/rejudge?principal=ada", [5]int{401, 403, 400, 403, 200}},
	{"GET", "/audit/rejudge?queryId=ada-0", [5]int{401, 403, 200, 403, 200}}, // bob sees that nothing was judged
	{"GET", "/principal?name=ada", [5]int{401, 403, 404, 403, 200}},
	{"GET", "/principal?name=bob", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/principal", [5]int{401, 403, 404, 403, 404}},
	{"GET", "/session?id=session-of-ada", [5]int{401, 403, 404, 403, 200}},
	{"GET", "/session?id=session-of-bob", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/corpus", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/corpus/compare", [5]int{401, 403, 200, 403, 200}},
	{"POST", "/corpus/compare", [5]int{401, 403, 400, 403, 400}}, // no file is sent
	{"GET", "/corpus/KTX-LITE-none", [5]int{401, 403, 404, 403, 404}},
	{"GET", "/explain?code=write_statement", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/explain?code=unknown_source", [5]int{401, 403, 200, 403, 200}},
	{"GET", "/explain?code=none", [5]int{401, 403, 404, 403, 404}},
	{"GET", "/playground", [5]int{401, 403, 200, 403, 200}},
	{"POST", "/playground", [5]int{401, 403, 200, 403, 200}}, // the answer says that the form names no policy
	{"GET", "/explore", [5]int{401, 403, 403, 403, 200}},
	{"GET", "/explore?connection=shop", [5]int{401, 403, 403, 403, 200}},
	{"GET", "/query", [5]int{401, 403, 403, 403, 200}},
	{"POST", "/query", [5]int{401, 403, 403, 403, 200}},
	{"GET", "/tools", [5]int{401, 403, 403, 403, 200}},
	{"GET", "/skills", [5]int{401, 403, 403, 403, 200}},
	{"GET", "/v1/corpus", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/v1/corpus/none", [5]int{401, 404, 404, 404, 404}},
	{"GET", "/v1/audit/export?format=jsonl", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/v1/audit/export?format=csv", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/v1/audit/export?format=ocsf", [5]int{401, 200, 200, 200, 200}},
	{"GET", "/v1/audit/tail?status=none", [5]int{401, 400, 400, 400, 400}}, // an answer that goes on has a test of its own
	{"GET", "/v1/openapi.json", [5]int{401, 200, 200, 200, 200}},
	{"POST", "/v1/tools/echo", [5]int{401, 200, 403, 403, 200}},
	{"GET", "/nothing", [5]int{401, 404, 404, 404, 404}},
}

// TestRoutesAndPrincipals asks every route as every principal. Nobody sees anything of
// another principal without the right to.
func TestRoutesAndPrincipals(t *testing.T) {
	d := openDesk(t, 3, tokens())
	for _, r := range routes {
		for i, who := range []string{"", "ada", "bob", "eve", "root"} {
			headers := []string{"Content-Type: application/json"}
			if r.path == "/login" {
				headers = []string{"Content-Type: application/x-www-form-urlencoded"}
			}
			if who != "" {
				headers = append(headers, bearer(who))
			}
			body := ""
			if r.method == "POST" && r.path == "/v1/check" {
				body = `{"dialect":"postgres","sql":"SELECT 1"}`
			}
			got := d.ask(t, r.method, r.path, body, headers...)
			if r.path == "/login" && r.method == "POST" && got.status == http.StatusTooManyRequests {
				got.status = http.StatusUnauthorized
			}
			if got.status != r.want[i] {
				t.Errorf("%s %s as %q: %d, want %d: %.200s", r.method, r.path, who, got.status, r.want[i], got.body)
			}
			for _, other := range []string{"ada", "bob", "carol"} {
				if other != who && who != "eve" && who != "root" && strings.Contains(got.body, "_of_"+other) {
					t.Errorf("%s %s shows %q something of %s", r.method, r.path, who, other)
				}
			}
			if (who == "eve" || who == "root") && r.path == "/v1/audit/statements" && !strings.Contains(got.body, "_of_carol") {
				t.Errorf("%s does not see the statements of carol", who)
			}
		}
	}
}

// TestEveryRouteIsInTheTable compares the routes of the pages with the table above.
func TestEveryRouteIsInTheTable(t *testing.T) {
	p := pages.New(pages.Config{Tools: echo{}})
	for _, route := range p.Routes() {
		prefix, _, variable := strings.Cut(route.Path, "{")
		found := false
		for _, r := range routes {
			path, _, _ := strings.Cut(r.path, "?")
			found = found || r.method == route.Method && (path == route.Path || variable && strings.HasPrefix(r.path, prefix))
		}
		if !found {
			t.Errorf("%s %s is in no row", route.Method, route.Path)
		}
	}
}

// TestEveryRouteIsDescribed compares the routes with the description of the API: every
// route that is no page and no file is in it, and it has no other.
func TestEveryRouteIsDescribed(t *testing.T) {
	d := openDesk(t, 1, nil)
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal([]byte(d.ask(t, "GET", "/v1/openapi.json", "").body), &doc); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for path, operations := range doc.Paths {
		for method := range operations {
			found[strings.ToUpper(method)+" "+path] = true
		}
	}
	want := map[string]bool{"GET /health": true, "GET /metrics": true, "POST /v1/check": true}
	for _, t := range (echo{}).Tools() {
		want["POST /v1/tools/"+t.Name] = true
	}
	for _, route := range pages.New(pages.Config{Tools: echo{}}).Routes() {
		if !route.Page && !route.Form && !route.Open && route.Path != "/v1/tools/{name}" {
			want[route.Method+" "+route.Path] = true
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// TestNothingOfOthers asks for what belongs to another principal by every condition.
func TestNothingOfOthers(t *testing.T) {
	d := openDesk(t, 3, tokens())
	cookie := d.login(t, "bob")
	for _, condition := range []string{
		"text=secret_of_ada", "client=client-of-ada", "session=session-of-ada", "table=table_of_ada", "queryId=ada-0", "fingerprint=f-SELECT+secret_of_ada+FROM+t", "principal=ada", "principal=bob&text=ada",
	} {
		for _, path := range []string{"/v1/audit/statements", "/v1/audit/events", "/v1/audit/stats", "/v1/audit/export?format=jsonl&", "/v1/audit/export?format=csv&", "/v1/audit/export?format=ocsf&", "/audit", "/audit/rejudge", "/"} {
			got := d.ask(t, "GET", strings.TrimSuffix(path, "&")+map[bool]string{true: "&", false: "?"}[strings.HasSuffix(path, "&")]+condition, "", cookie)
			shown := strings.ReplaceAll(got.body, "_of_ada&#34;", "") // the form and the links repeat the condition
			if path == "/audit" || path == "/audit/rejudge" || path == "/" {
				if strings.Contains(got.body, `href="/audit/ada-`) || strings.Contains(got.body, ">table_of_ada<") {
					t.Errorf("%s?%s shows something of ada", path, condition)
				}
				continue
			}
			if got.status == http.StatusOK && (strings.Contains(shown, "ada-") || strings.Contains(shown, "of_ada") || strings.Contains(shown, "of-ada")) {
				t.Errorf("%s?%s shows something of ada: %s", path, condition, got.body)
			}
		}
	}
	var stats struct{ Statements int64 }
	if err := json.Unmarshal([]byte(d.ask(t, "GET", "/v1/audit/stats", "", cookie).body), &stats); err != nil || stats.Statements != 3 {
		t.Errorf("bob has 3 statements, the counts say %d: %v", stats.Statements, err)
	}
}

func TestLogin(t *testing.T) {
	d := openDesk(t, 1, tokens())
	form := "Content-Type: application/x-www-form-urlencoded"
	if got := d.ask(t, "GET", "/audit?status=ok", "", "Accept: text/html"); got.status != http.StatusSeeOther || got.header.Get("Location") != "/login?next=%2Faudit%3Fstatus%3Dok" {
		t.Errorf("a browser without a login: %d %s", got.status, got.header.Get("Location"))
	}
	cookie := d.login(t, "root")
	if got := d.ask(t, "GET", "/audit", "", cookie); got.status != http.StatusOK || !strings.Contains(got.body, "secret_of_carol") {
		t.Errorf("after the login: %d", got.status)
	}
	for _, r := range []struct{ method, path string }{{"POST", "/v1/check"}, {"POST", "/mcp"}, {"GET", "/mcp"}, {"DELETE", "/mcp"}, {"GET", "/metrics"}, {"POST", "/v1/tools/echo"}} {
		if got := d.ask(t, r.method, r.path, "{}", cookie, "Content-Type: application/json"); got.status != http.StatusUnauthorized {
			t.Errorf("%s %s with a cookie: %d", r.method, r.path, got.status)
		}
	}
	for name, headers := range map[string][]string{
		"of another origin":     {form, "Origin: https://evil.example"},
		"of another site":       {form, "Sec-Fetch-Site: cross-site"},
		"of no origin":          {form, "Origin: null"},
		"logout of another one": {form, "Origin: http://127.0.0.1:1"},
	} {
		for _, path := range []string{"/login", "/logout"} {
			if got := d.ask(t, "POST", path, "token=root", append(headers, cookie)...); got.status != http.StatusForbidden {
				t.Errorf("a form %s to %s: %d", name, path, got.status)
			}
		}
	}
	if got := d.ask(t, "POST", "/login", "token=ada", form); got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" || !strings.Contains(got.body, "may not open pages") {
		t.Errorf("a token without the right to open pages: %d %.300s", got.status, got.body)
	}
	for _, next := range []string{"https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\t//evil.example"} {
		if got := d.ask(t, "POST", "/login", url.Values{"token": {"root"}, "next": {next}}.Encode(), form); got.header.Get("Location") != "/" {
			t.Errorf("next %q leads to %q", next, got.header.Get("Location"))
		}
	}
	if got := d.ask(t, "POST", "/logout", "", cookie); got.status != http.StatusSeeOther {
		t.Errorf("logout: %d", got.status)
	}
	if got := d.ask(t, "GET", "/audit", "", cookie); got.status != http.StatusUnauthorized {
		t.Errorf("the cookie after the logout: %d", got.status)
	}
}

func TestALoginEndsWithItsToken(t *testing.T) {
	d := openDesk(t, 1, tokens())
	cookie := d.login(t, "root")
	if err := d.server.SetTokens(tokens()[:2]); err != nil {
		t.Fatal(err)
	}
	if got := d.ask(t, "GET", "/audit", "", cookie); got.status != http.StatusUnauthorized {
		t.Errorf("the cookie of a token that is gone: %d", got.status)
	}
}

// TestTheLoginIsSlowToGuess gives many wrong tokens, and then the right one.
func TestTheLoginIsSlowToGuess(t *testing.T) {
	d := openDesk(t, 1, tokens())
	form := "Content-Type: application/x-www-form-urlencoded"
	tried := map[int]int{}
	for range 30 {
		tried[d.ask(t, "POST", "/login", "token=wrong", form).status]++
	}
	if tried[http.StatusUnauthorized] < 10 || tried[http.StatusTooManyRequests] == 0 {
		t.Errorf("thirty tries: %v", tried)
	}
}

// TestWithoutTokens serves a loopback address, where everyone is local.
func TestWithoutTokens(t *testing.T) {
	d := openDesk(t, 1, nil)
	if got := d.ask(t, "GET", "/audit", ""); got.status != http.StatusOK || !strings.Contains(got.body, "secret_of_carol") || strings.Contains(got.body, "Log out") {
		t.Errorf("without tokens: %d", got.status)
	}
	if got := d.ask(t, "GET", "/login?next=/audit", ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "/audit" {
		t.Errorf("the login without tokens: %d %s", got.status, got.header.Get("Location"))
	}
}

func TestEveryPageHasItsHeaders(t *testing.T) {
	d := openDesk(t, 1, nil)
	for _, path := range []string{"/", "/audit", "/audit/ada-0", "/audit/none", "/audit?status=none", "/audit/verify", "/audit/rejudge", "/principal?name=ada", "/session?id=session-of-ada", "/session?id=none", "/corpus", "/corpus?class=limits", "/corpus/none", "/corpus/compare", "/playground", "/explore", "/explore?q=x", "/query", "/tools", "/skills", "/static/ktx.js", "/static/style.css"} {
		got := d.ask(t, "GET", path, "")
		csp := got.header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, got.header)
		}
		if len(got.body) > 100_000 {
			t.Errorf("%s has %d bytes", path, len(got.body))
		}
		if strings.HasSuffix(path, ".js") && len(got.body) > 30_000 {
			t.Errorf("the script has %d bytes", len(got.body))
		}
	}
}

// hostile are texts that must be shown and nothing else.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `{{.Page}}`, `[x](javascript:alert(1))`, "a\x00b", "\u202Eevil", `' onmouseover='alert(1)`, "javascript:alert(1)",
	strings.Repeat("long ", 20_000),
}

func TestHostileTexts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range hostile {
		e := audit.Event{
			Type: audit.QueryDecision, QueryID: text[:min(len(text), 60)], Principal: text, Session: text, Client: audit.Client{Name: text, Address: text},
			Connection: audit.Connection{ID: text, Dialect: text}, SQL: audit.SQL{Normalized: text, Fingerprint: text, Kind: text, Tables: []string{text}, Functions: []string{text}},
			Decision: audit.Decision{Verdict: audit.VerdictReject, Codes: []string{text}, Policy: text, Parser: text},
		}
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	d := serve(t, dir, nil)
	paths := []string{"/?since=1h", "/audit"}
	for _, text := range hostile {
		id := text[:min(len(text), 60)]
		paths = append(paths, "/audit/"+url.PathEscape(id), "/audit?text="+url.QueryEscape(id), "/audit?principal="+url.QueryEscape(id),
			"/audit/rejudge?principal="+url.QueryEscape(id))
		if len(text) < 1000 { // a longer address is refused
			paths = append(paths, "/principal?name="+url.QueryEscape(text), "/session?id="+url.QueryEscape(text))
		}
	}
	for _, path := range paths {
		got := d.ask(t, "GET", path, "")
		for _, bad := range []string{"<script>", "<img", ` onerror="`, `href="javascript:`, "href='javascript:"} {
			if strings.Contains(got.body, bad) {
				t.Errorf("%.60s: the page holds %s", path, bad)
			}
		}
		if got.status != http.StatusOK {
			t.Errorf("%.60q: %d %.200s", path, got.status, got.body)
		}
	}
}

// TestHostileAnswers shows answers of tools whose every text is from strangers.
func TestHostileAnswers(t *testing.T) {
	d := openDesk(t, 1, nil)
	defer answering.Store("")
	form := "Content-Type: application/x-www-form-urlencoded"
	for _, text := range hostile {
		answering.Store(text)
		for _, ask := range []struct{ method, path, body string }{
			{"GET", "/explore?q=x", ""},
			{"GET", "/explore?connection=shop", ""},
			{"GET", "/explore?connection=shop&table=orders", ""},
			{"GET", "/explore?page=revenue", ""},
			{"GET", "/explore?connection=shop&source=orders", ""},
			{"GET", "/tools", ""},
			{"GET", "/tools?server=x", ""},
			{"GET", "/skills", ""},
			{"GET", "/skills?name=x", ""},
			{"POST", "/query", url.Values{"connection": {"shop"}, "sql": {"SELECT '" + text + "'"}}.Encode()},
			{"POST", "/query", url.Values{"connection": {"shop"}, "sql": {"DELETE '" + text + "'"}}.Encode()},
			{"POST", "/query", url.Values{"connection": {text}, "measures": {text}}.Encode()},
			{"POST", "/playground", url.Values{"by": {"dialect:postgres"}, "sql": {text}}.Encode()},
			{"POST", "/playground", url.Values{"by": {text}, "sql": {text}}.Encode()},
			{"GET", "/corpus?text=" + url.QueryEscape(text[:min(len(text), 60)]), ""},
		} {
			got := d.ask(t, ask.method, ask.path, ask.body, form)
			for _, bad := range []string{"<script>", "<img", ` onerror="`, `href="javascript:`, "href='javascript:", ` onmouseover='`} {
				if strings.Contains(strings.ReplaceAll(got.body, "&#39; onmouseover=", ""), bad) {
					t.Errorf("%s %s: the page holds %s of %.40q", ask.method, ask.path, bad, text)
				}
			}
			if got.status >= 500 {
				t.Errorf("%s %s: %d %.300s", ask.method, ask.path, got.status, got.body)
			}
		}
	}
}

// TestForms sends the forms of pages as browsers do: with a login from our own pages, and
// from others.
func TestForms(t *testing.T) {
	d := openDesk(t, 1, tokens())
	form, cookie := "Content-Type: application/x-www-form-urlencoded", d.login(t, "root")
	for path, body := range map[string]string{
		"/query":      url.Values{"connection": {"shop"}, "sql": {"SELECT 1"}}.Encode(),
		"/playground": url.Values{"by": {"connection:shop"}, "sql": {"SELECT 1"}}.Encode(),
	} {
		if got := d.ask(t, "POST", path, body, form, cookie, "Origin: "+d.origin); got.status != http.StatusOK {
			t.Errorf("%s from our page: %d %.200s", path, got.status, got.body)
		}
		for _, from := range []string{"Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:1"} {
			if got := d.ask(t, "POST", path, body, form, cookie, from); got.status != http.StatusForbidden {
				t.Errorf("%s with %s: %d", path, from, got.status)
			}
		}
	}
	csv := d.ask(t, "POST", "/query", url.Values{"connection": {"shop"}, "sql": {"SELECT 1"}, "as": {"csv"}}.Encode(), form, cookie, "Origin: "+d.origin)
	if want := "2,'=1+1\n9007199254740993,\n"; !strings.HasSuffix(csv.body, want) || !strings.Contains(csv.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("as a file: %q %v", csv.body, csv.header)
	}
	refused := d.ask(t, "POST", "/query", url.Values{"connection": {"shop"}, "sql": {"DELETE FROM t"}}.Encode(), form, cookie, "Origin: "+d.origin)
	if !strings.Contains(refused.body, "<mark>DELETE") {
		t.Errorf("a refusal: %d %.3000s", refused.status, refused.body)
	}
	if got := d.ask(t, "POST", "/playground", url.Values{"by": {"connection:private"}, "sql": {"SELECT 1"}}.Encode(), form, d.login(t, "bob"), "Origin: "+d.origin); strings.Contains(got.body, "may run") || !strings.Contains(got.body, "unknown connection") {
		t.Errorf("another's connection: %d", got.status)
	}
}

// TestRunsAreCompared sends two run files, of which one case differs.
func TestRunsAreCompared(t *testing.T) {
	d := openDesk(t, 1, nil)
	c, err := sqliteCases()
	if err != nil {
		t.Fatal(err)
	}
	results := slices.Clone(c.Results)
	changed := slices.IndexFunc(results, func(r run.Result) bool { return r.Decision == run.Reject && r.Met })
	results[changed].Decision, results[changed].Met = run.Allow, false
	var file, body strings.Builder
	guard, err := run.NewBuiltin("v0", dialects.All())
	if err != nil {
		t.Fatal(err)
	}
	if err := run.WriteFile(&file, nil, guard, results); err != nil {
		t.Fatal(err)
	}
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("before", "run.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, file.String()); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	sent := d.ask(t, "POST", "/corpus/compare", body.String(), "Content-Type: "+form.FormDataContentType())
	if sent.status != http.StatusSeeOther {
		t.Fatalf("%d %.2000s", sent.status, sent.body)
	}
	got := d.ask(t, "GET", sent.header.Get("Location"), "")
	if got.status != http.StatusOK || !strings.Contains(got.body, "1 fixed") || !strings.Contains(got.body, pages.CaseAddress(results[changed].ID)) {
		t.Errorf("%d %.2000s", got.status, got.body)
	}
}

// TestTail follows the log: the client gets what is written from then on, of its own.
func TestTail(t *testing.T) {
	d := openDesk(t, 1, tokens())
	rows, _ := d.rows(t, "/v1/audit/tail", bearer("ada"))
	log, err := audit.Open(d.dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, log, "bob", "bob-new", "SELECT secret_of_bob FROM new")
	write(t, log, "ada", "ada-new", "SELECT secret_of_ada FROM new")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if row := <-rows; row.QueryID != "ada-new" {
		t.Errorf("followed: %+v", row)
	}
}

func TestPagesOfAList(t *testing.T) {
	d := openDesk(t, 30, nil)
	type list struct {
		Rows []audit.Row
		Next int64
	}
	seen, path := map[string]bool{}, "/v1/audit/statements?limit=7"
	for next := int64(-1); next != 0; {
		if next > 0 {
			path = "/v1/audit/statements?limit=7&after=" + strconv.FormatInt(next, 10)
		}
		var l list
		if err := json.Unmarshal([]byte(d.ask(t, "GET", path, "").body), &l); err != nil {
			t.Fatal(err)
		}
		for _, row := range l.Rows {
			if seen[row.QueryID] {
				t.Fatalf("%s is listed twice", row.QueryID)
			}
			seen[row.QueryID] = true
		}
		next = l.Next
	}
	if len(seen) != 90 {
		t.Errorf("%d statements on all pages, want 90", len(seen))
	}
	got := d.ask(t, "GET", "/audit", "")
	if !strings.Contains(got.body, `rel="next"`) {
		t.Error("the page does not lead to the older statements")
	}
	for _, bad := range []string{"limit=0", "limit=100000", "after=x", "since=never", "minRows=-1", "minMs=x", "nope=1", "status=maybe", "text=a&text=b"} {
		if got := d.ask(t, "GET", "/v1/audit/statements?"+bad, ""); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, got.status)
		}
	}
}

// TestActivity shows what a principal did for the first time and how often it was refused,
// and what of it would be refused today.
func TestActivity(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, audit.Config{Sync: audit.SyncOff}, nil)
	if err != nil {
		t.Fatal(err)
	}
	decide := func(ago time.Duration, id, session, table string, verdict string, codes ...string) {
		t.Helper()
		e := audit.Event{
			Time: time.Now().Add(-ago), Type: audit.QueryDecision, QueryID: id, Principal: "ada", Session: session, Connection: audit.Connection{ID: "shop", Dialect: "postgres"},
			SQL: audit.SQL{Normalized: "DELETE FROM " + table, Fingerprint: table, Tables: []string{table}}, Decision: audit.Decision{Verdict: verdict, Codes: codes},
		}
		if err := log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	for i := range 5 {
		decide(time.Duration(20-i)*day, "old-"+strconv.Itoa(i), "old", "known", audit.VerdictAllow)
	}
	for i := range 8 {
		decide(time.Hour, "new-"+strconv.Itoa(i), "new", map[bool]string{true: "fresh", false: "known"}[i > 3], audit.VerdictReject, "write_statement")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	d := serve(t, dir, nil)
	for path, has := range map[string][]string{
		"/principal?name=ada":             {`<bdi>fresh</bdi></a></td><td><strong class="warn">for the first time`, `<bdi>known</bdi></a></td><td>before`, `<dt>refusals in a row, at most</dt><dd>8</dd>`, `8 <strong class="warn">unusual</strong>`, `href="/session?id=new"`},
		"/principal?name=ada&since=365d":  {`<dt>statements</dt><dd>13</dd>`, `has no earlier days`, `href="/session?id=old"`},
		"/principal?name=ada&since=1m":    {`No statement in this period`},
		"/session?id=new":                 {`<bdi>fresh</bdi></a></td><td><strong class="warn">for the first time`, `Of the 1 other session of this principal`, `href="/principal?name=ada"`},
		"/session?id=old":                 {`<dt>tables for the first time</dt><dd>1</dd>`, `<dt>refusals in a row, at most</dt><dd>0</dd>`},
		"/audit/rejudge":                  {`<dt>judged</dt><dd>13</dd>`, `<dt>the same</dt><dd>8</dd>`, `<dt>now refused</dt><dd>5</dd>`, `href="/audit/old-4"`},
		"/audit/rejudge?queryId=old-1":    {`<dt>now refused</dt><dd>1</dd>`},
		"/audit/rejudge?queryId=new-1":    {`No verdict would change`},
		"/audit/rejudge?until=2000-01-01": {`No statement meets these conditions`},
		"/audit/new-1":                    {`href="/principal?name=ada"`, `href="/session?id=new"`, `href="/audit/rejudge?queryId=new-1"`, `href="/corpus?code=write_statement`},
		"/":                               {`href="/principal?name=ada"`},
		"/audit":                          {`href="/principal?name=ada"`},
	} {
		got := d.ask(t, "GET", path, "")
		for _, part := range has {
			if got.status != http.StatusOK || !strings.Contains(got.body, part) {
				t.Errorf("%s: %d, nothing is %s", path, got.status, part)
			}
		}
	}
}

// TestADamagedIndex has a file in the place of the index that is none: it is made anew,
// and the pages and the REST API say so.
func TestADamagedIndex(t *testing.T) {
	const about = "The index of the log was damaged."
	first := openDesk(t, 1, nil)
	if got := first.ask(t, "GET", "/", ""); got.status != http.StatusOK || strings.Contains(got.body, about) {
		t.Errorf("an index without damage: %d %.300s", got.status, got.body)
	}
	path := filepath.Join(t.TempDir(), "index.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("nothing ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := serveIndex(t, first.dir, path, nil)
	for _, path := range []string{"/", "/audit", "/audit/ada-0", "/principal?name=ada"} {
		if got := d.ask(t, "GET", path, ""); got.status != http.StatusOK || !strings.Contains(got.body, about) {
			t.Errorf("%s does not say it: %d %.300s", path, got.status, got.body)
		}
	}
	var said struct {
		Statements int64
		Chain      struct {
			OK          bool
			IndexRemade time.Time
		}
	}
	if err := json.Unmarshal([]byte(d.ask(t, "GET", "/v1/audit/stats", "").body), &said); err != nil || !said.Chain.OK || said.Statements != 3 || time.Since(said.Chain.IndexRemade) > time.Hour {
		t.Errorf("the REST API says %+v, error %v", said, err)
	}
}

// TestColumnsArePaged shows the columns of a table with what the scan counted in each, a
// page of them at a time, and the way back to the schema.
func TestColumnsArePaged(t *testing.T) {
	d := openDesk(t, 1, nil)
	answering.Store("many columns")
	defer answering.Store("")
	got := d.ask(t, "GET", "/explore?connection=shop&table=main.orders", "")
	for _, part := range []string{
		`<a href="/explore">Explore</a>`, `<a href="/explore?connection=shop">shop</a>`, `<a href="/explore?connection=shop&amp;schema=main">main</a>`,
		`<h2 id="columns">450 columns</h2>`, `<td><bdi>c199</bdi></td>`, `href="/explore?columns=c199&amp;connection=shop&amp;table=main.orders#columns">250 more</a>`, `<h2>How tables are joined</h2>`,
	} {
		if got.status != http.StatusOK || !strings.Contains(got.body, part) {
			t.Errorf("%d, nothing is %s", got.status, part)
		}
	}
	if strings.Contains(got.body, "c200<") || strings.Contains(got.body, "<th scope=\"col\">comment</th>") {
		t.Error("a column of the next page, or a heading with nothing below")
	}
	got = d.ask(t, "GET", "/explore?connection=shop&table=main.orders&columns=c399", "")
	if got.status != http.StatusOK || !strings.Contains(got.body, `<td><bdi>c449</bdi></td>`) || strings.Contains(got.body, "c399<") || strings.Contains(got.body, `rel="next"`) {
		t.Errorf("the last page: %d %.2000s", got.status, got.body)
	}
}
