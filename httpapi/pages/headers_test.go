package pages_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/httpapi"
)

// TestEveryAnswerHasItsHeaders asks for everything, also for what is refused or does not
// exist.
func TestEveryAnswerHasItsHeaders(t *testing.T) {
	d := openDesk(t, 1, tokens())
	for _, r := range routes {
		if r.path == "/v1/audit/tail?status=none" {
			r.path = "/v1/audit/tail?status=nothing"
		}
		for _, headers := range [][]string{{}, {bearer("root")}, {bearer("ada"), "Accept: text/html"}, {"Host: evil.example"}, {"Origin: https://evil.example"}} {
			got := d.ask(t, r.method, r.path, "{}", append(headers, "Content-Type: application/json")...)
			csp := got.header.Get("Content-Security-Policy")
			if !strings.HasPrefix(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") ||
				got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("X-Frame-Options") != "DENY" {
				t.Errorf("%s %s %v: %d %v", r.method, r.path, headers, got.status, got.header)
			}
			page := strings.HasPrefix(got.header.Get("Content-Type"), "text/html") && got.header.Get("Location") == ""
			if referrer := got.header.Get("Referrer-Policy"); page && referrer != "same-origin" || !page && referrer != "no-referrer" {
				t.Errorf("%s %s: %s", r.method, r.path, referrer)
			}
			if cache := got.header.Get("Cache-Control"); cache != "no-store" && !strings.HasPrefix(r.path, "/static/") {
				t.Errorf("%s %s: %s", r.method, r.path, cache)
			}
			if got.header.Get("Content-Type") == "application/json" && got.status >= 400 {
				var body map[string]any
				if err := json.Unmarshal([]byte(got.body), &body); err != nil || body["code"] == "" || body["message"] == "" {
					t.Errorf("%s %s: %d %s", r.method, r.path, got.status, got.body)
				}
			}
		}
	}
}

// TestABrowserGetsPages: what a browser asks for is a page, also when it is refused or
// does not exist, and a script gets JSON.
func TestABrowserGetsPages(t *testing.T) {
	d := openDesk(t, 1, tokens())
	cookie := d.login(t, "bob")
	for _, r := range []struct {
		path   string
		status int
		has    string
	}{{"/nothing", 404, "There is nothing at this path"}, {"/audit/none", 404, "There is nothing of that name"}, {"/query", 403, "may not use this page"}, {"/v1/audit/verify", 403, "may not use this path"}} {
		got := d.ask(t, "GET", r.path, "", cookie, "Accept: text/html,*/*")
		if got.status != r.status || !strings.Contains(got.body, r.has) || !strings.Contains(got.body, "<h1>") || !strings.Contains(got.body, "Log out") {
			t.Errorf("%s: %d %.300s", r.path, got.status, got.body)
		}
	}
	if got := d.ask(t, "GET", "/nothing", "", "Accept: text/html"); got.status != http.StatusSeeOther || got.header.Get("Location") != "/login?next=%2Fnothing" {
		t.Errorf("without a login: %d %v", got.status, got.header)
	}
	if got := d.ask(t, "GET", "/nothing", "", cookie); got.status != 404 || got.body != `{"code":"not_found","message":"there is nothing at this path","hint":"MCP is at /mcp","retryable":false}`+"\n" {
		t.Errorf("a script: %d %s", got.status, got.body)
	}
	form := "Content-Type: application/x-www-form-urlencoded"
	if got := d.ask(t, "POST", "/playground", "sql=x", form, "Accept: text/html", "Origin: "+d.origin, "Cookie: ktx_login=gone"); got.status != http.StatusUnauthorized || !strings.Contains(got.body, `href="/login"`) {
		t.Errorf("a form after the login has ended: %d %.300s", got.status, got.body)
	}
	// /metrics and /mcp exist, and a cookie opens neither.
	for _, path := range []string{"/metrics", "/mcp"} {
		if got := d.ask(t, "GET", path, "", cookie, "Accept: text/html"); got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// TestABreakIsOnEveryPage changes an event of the log: every page says so, and every answer
// made from the log.
func TestABreakIsOnEveryPage(t *testing.T) {
	d := openDesk(t, 3, nil)
	answering.Store("files")
	defer answering.Store("")
	files, err := filepath.Glob(filepath.Join(d.dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.ReplaceAll(text, []byte("secret_of_bob"), []byte("secret_of_eve")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range views {
		path := strings.Replace(v.path, "/refused-0", "/ada-0", 1)
		if got := d.ask(t, "GET", path, ""); got.status != 200 || !strings.Contains(got.body, "The chain of the log is broken") {
			t.Errorf("%s: %d, nothing of the break", path, got.status)
		}
	}
	if got := d.ask(t, "GET", "/audit/nothing", ""); !strings.Contains(got.body, "The chain of the log is broken") {
		t.Error("a page of a problem says nothing of the break")
	}
	for _, path := range []string{"/v1/audit/statements", "/v1/audit/events", "/v1/audit/stats"} {
		var body struct{ Chain *struct{ OK bool } }
		if err := json.Unmarshal([]byte(d.ask(t, "GET", path, "").body), &body); err != nil || body.Chain == nil || body.Chain.OK {
			t.Errorf("%s: %+v %v", path, body.Chain, err)
		}
	}
	if got := d.ask(t, "GET", "/audit/verify?queryId=carol-2", ""); !strings.Contains(got.body, "its place cannot be proved") {
		t.Errorf("the place of an event after the break: %.2000s", got.body)
	}
	if got := d.ask(t, "GET", "/audit/verify?queryId=ada-0", ""); !strings.Contains(got.body, "as it was written. Its hash is") {
		t.Errorf("the place of an event before the break: %.2000s", got.body)
	}
}

// TestALoginTakesItsRightsWithIt: a stream ends when its token goes, or may less.
func TestALoginTakesItsRightsWithIt(t *testing.T) {
	for name, left := range map[string][]httpapi.Token{
		"without the token": tokens()[:2],
		"without the right": {{Principal: "root", Sum: httpapi.Sum("root")}},
	} {
		d := openDesk(t, 1, tokens())
		for _, who := range []string{d.login(t, "root"), bearer("root")} {
			if err := d.server.SetTokens(tokens()); err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.origin+"/v1/audit/tail", nil)
			if err != nil {
				t.Fatal(err)
			}
			header, value, _ := strings.Cut(who, ": ")
			r.Header.Set(header, value)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.server.SetTokens(left); err != nil {
				t.Fatal(err)
			}
			var rest bytes.Buffer
			if _, err := rest.ReadFrom(res.Body); err != nil { // ends when the server ends it
				t.Errorf("%s: %v", name, err)
			}
			_ = res.Body.Close()
			if name == "without the token" && header == "Cookie" {
				if got := d.ask(t, "GET", "/audit", "", who); got.status != http.StatusUnauthorized {
					t.Errorf("the cookie: %d", got.status)
				}
				if err := d.server.SetTokens(tokens()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
